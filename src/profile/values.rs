//! The closed sets of values that parameters take, one enum a set.

use super::parameter::choices;

choices! {
    /// What a character is where a limit counts characters.
    CharUnit {
        /// A UTF-16 code unit, as `.length` of a JavaScript string counts.
        Utf16 = "utf16",
        /// A Unicode scalar value.
        Scalar = "scalar",
    }
}

choices! {
    /// What becomes of a result over its limit.
    OverLimit {
        /// It is saved whole; the conversation keeps a preview and the path.
        Save = "save",
        /// Its middle is cut out where it stands; the rest is lost.
        Cut = "cut",
        /// The call fails.
        Error = "error",
    }
}

choices! {
    /// How much of a file one Read without a range gives.
    ReadResult {
        /// What is over the result limit comes as a first page, never saved.
        PageOverLimit = "page_over_limit",
        /// All of it; over the token cap the call fails.
        TokenCapError = "token_cap_error",
        /// What is over the token cap comes as a first page.
        PageOverTokenCap = "page_over_token_cap",
    }
}

choices! {
    /// How Read numbers lines.
    ReadLineFormat {
        /// `12⇥text`
        NumberTab = "number_tab",
        /// `    12→text`, the number padded to six columns.
        PaddedArrow = "padded_arrow",
    }
}

choices! {
    /// Where the preview of a saved result may end.
    PreviewCut {
        /// After any whole character.
        Char = "char",
        /// After the last line end that fits, if there is one.
        Newline = "newline",
    }
}

choices! {
    /// What the model sees of the output of a command that failed.
    FailedShellOutput {
        /// The same as of one that did not.
        AsAny = "as_any",
        /// Over [`FailedShellOutput::HEAD_CHARS`] and [`FailedShellOutput::TAIL_CHARS`] together, only its two ends.
        HeadTail = "head_5000_tail_5000",
    }
}

impl FailedShellOutput {
    /// How much of the beginning stays, in the profile's character unit.
    pub const HEAD_CHARS: u64 = 5_000;
    /// How much of the end stays, in the profile's character unit.
    pub const TAIL_CHARS: u64 = 5_000;
}

choices! {
    /// By what a file counts as changed since it was read.
    StaleBy {
        Content = "content",
        Mtime = "mtime",
        /// A newer mtime makes it suspect, other content makes it stale.
        MtimeThenContent = "mtime_then_content",
    }
}

choices! {
    /// What an Edit of a file that changed since it was read does.
    StaleEdit {
        Refuse = "refuse",
        /// It applies if `old_string` still matches exactly once (or all are to be replaced).
        ApplyIfUnique = "apply_if_unique",
    }
}

choices! {
    /// What a tool does whose demand on the file state is not met.
    Unmet {
        Refuse = "refuse",
        /// It goes on.
        Apply = "apply",
    }
}

choices! {
    /// For what a Read of a part of a file counts as having read it.
    PartialReadCounts {
        /// For an Edit inside the lines that were shown; not for a Write.
        EditsInRange = "edits_in_range",
        /// For an Edit anywhere and for a Write.
        Both = "both",
        /// For nothing.
        Nothing = "nothing",
    }
}

choices! {
    /// The step that refuses a Read of a file that does not exist.
    MissingFileReadStep {
        Validate = "validate",
        Execute = "execute",
    }
}

choices! {
    /// What mode `dontAsk` does to tools.
    DontAsk {
        /// The pool keeps only tools that are read-only for every input.
        PoolReadOnly = "pool_read_only",
        /// All are listed; what would ask is denied at call time.
        DenyAtCall = "deny_at_call",
    }
}

choices! {
    /// In which order the layers decide.
    PermissionOrder {
        /// Deny, ask and allow rules; mode; hook; classifier; user. Any deny decides.
        RulesFirst = "rules_first",
        /// A hook's verdict ends it; only where it has none, rules, mode, classifier, user.
        HookFirst = "hook_first",
        /// Hook verdict (a deny ends it), deny rules, ask rules, safety, mode, allow rules, classifier, user.
        HookThenRules = "hook_then_rules",
    }
}

choices! {
    /// What mode `bypassPermissions` does not let pass.
    Bypass {
        AllButDeny = "all_but_deny",
        AllButDenyAndAsk = "all_but_deny_and_ask",
    }
}

choices! {
    /// What an ask is where nobody can be asked.
    NoUser {
        Deny = "deny",
    }
}

choices! {
    /// Whether the workspace is trusted: what may only permit counts from the project's
    /// settings if it is.
    ProjectTrust {
        Trusted = "trusted",
        /// The project's allow rules and additional folders do not count; its deny and
        /// ask rules do.
        Untrusted = "untrusted",
    }
}

choices! {
    /// What an input that a hook rewrote goes through.
    HookRewriteChecked {
        /// Parse, validate, and the rules judge it.
        ParseValidateRules = "parse_validate_rules",
        /// The same, and deny rules judge the input before it too.
        ParseValidateRulesBoth = "parse_validate_rules_both",
        /// Nothing: the decision was made about the input before it.
        Nothing = "none",
    }
}

choices! {
    /// Whose rewritten input holds where several hooks rewrite.
    HookRewriteWinner {
        FirstRegistered = "first_registered",
        LastFinished = "last_finished",
        /// The last to finish has the last word, also if it rewrites nothing.
        LastFinishedEvenWithout = "last_finished_even_without",
    }
}

choices! {
    /// What a hook's exit code other than 0 and 2 means.
    HookOtherExit {
        /// The user is told; the call goes on.
        Notice = "notice",
        GoOn = "go_on",
        /// The call goes on, unless there is JSON on stdout, which decides.
        JsonDecides = "json_decides",
    }
}

choices! {
    /// What becomes of the call when a hook does not come to an end of its own.
    HookFailed {
        /// The user is told; the call goes on.
        Notice = "notice",
        GoOn = "go_on",
        /// As if the hook had asked.
        Ask = "ask",
        /// As if the hook had refused.
        Deny = "deny",
    }
}

choices! {
    /// What exit code 2 of a hook means.
    HookExit2 {
        /// It blocks, whatever stands on stdout.
        Blocks = "blocks",
        /// It blocks, unless stdout begins like JSON and is none that a hook may print.
        UnlessInvalidJson = "unless_invalid_json",
        /// It blocks, unless stdout is JSON: then that decides.
        UnlessJson = "unless_json",
    }
}

choices! {
    /// When `continue: false` of a hook before a call ends the agent.
    HookContinueFalse {
        /// At once: the call does not run.
        BeforeCall = "before_call",
        /// When the call has run.
        AfterCall = "after_call",
    }
}

choices! {
    /// Which decisions a hook before a call may make.
    HookDecisions {
        All = "all",
        /// Any other is an error of the hook's, and the call goes on.
        DenyOnly = "deny_only",
    }
}

choices! {
    /// Which hooks of one event run together.
    HooksTogether {
        /// All, each to its end.
        All = "all",
        /// One after the other, until one refuses.
        UntilDeny = "until_deny",
    }
}

choices! {
    /// Of which tools a hook may replace the output.
    HookOutputRewrite {
        AnyTool = "any_tool",
        McpOnly = "mcp_only",
    }
}

choices! {
    /// Which calls a hook may defer.
    HookDefer {
        AnyCall = "any_call",
        /// A call that is alone in its message; else it is ignored, and the user told.
        OnlyCall = "only_call",
    }
}

choices! {
    /// Which post-hooks run for a call that failed while it ran.
    PostHookOnError {
        /// PostToolUse, told of the error.
        PostToolUse = "post_tool_use",
        PostToolUseFailure = "post_tool_use_failure",
    }
}

choices! {
    /// What the failure of one call means for the others of its batch.
    SiblingFailure {
        Isolate = "isolate",
        /// Those that did not end yet are cancelled.
        CancelRest = "cancel_rest",
    }
}

choices! {
    /// In which order the results of a batch go back.
    ResultOrder {
        Call = "call",
        Completion = "completion",
    }
}

choices! {
    /// Which tools are listed by name only until they are loaded.
    Deferred {
        /// Those that say so.
        ShouldDefer = "should_defer",
        Nothing = "none",
        Mcp = "mcp",
        McpAndSomeBuiltIn = "mcp_and_some_built_in",
    }
}

choices! {
    /// How long a loaded tool can be called.
    LoadedToolsLast {
        /// Until the agent next stops.
        Turn = "turn",
        Session = "session",
    }
}

choices! {
    /// Where the schema of a loaded tool comes to stand.
    LoadedSchema {
        /// In the result of the search; the tools block never changes.
        Result = "result",
        /// At the end of the tools block, in the order of loading.
        ToolsBlock = "tools_block",
        /// As `tools_block`, marked `defer_loading`; the result holds `tool_reference` blocks.
        ToolReference = "tool_reference",
    }
}

choices! {
    /// What becomes of a call of a deferred tool that was not loaded.
    UnloadedCall {
        /// It ends in parse.
        Refuse = "refuse",
        /// It goes on; if its input does not fit, the error shows the schema.
        RunIfItFits = "run_if_it_fits",
    }
}

choices! {
    /// A feature that a flag of the scenario switches.
    Feature {
        /// Agents that start others; without it there is no Agent.
        ForkSubagent = "fork_subagent",
        /// The agent works inside a read-eval-print loop.
        Repl = "repl",
    }
}

choices! {
    /// What `"2"` is where a number is demanded.
    NumericStrings {
        Refuse = "refuse",
        Coerce = "coerce",
    }
}

choices! {
    /// What a second Read of an unchanged file gives.
    RereadUnchanged {
        Text = "text",
        /// One line that refers to the first.
        Stub = "stub",
    }
}

choices! {
    /// What becomes of a call that `max_tokens` cut.
    CutCall {
        ErrorResultGoOn = "error_result_go_on",
        ErrorResultEnd = "error_result_end",
        GoOn = "go_on",
    }
}

choices! {
    /// What `pause_turn` does.
    PauseTurn {
        /// The content goes back as it is, `pause_poll_ms` later, `pause_turn_max` times at most.
        SendBack = "send_back",
        End = "end",
    }
}

choices! {
    /// Which tools are sent with `strict`.
    StrictDefault {
        /// Every one whose schema is in the subset that can be enforced, without a limit.
        AllInSubset = "all_in_subset",
        Off = "off",
    }
}

choices! {
    /// An invariant of the system, named as in scenarios and reports.
    Invariant {
        OneResultPerCall = "one_result_per_call",
        NothingBeforeValid = "nothing_before_valid",
        DenyWins = "deny_wins",
        NoLostUpdate = "no_lost_update",
        NoLostOutput = "no_lost_output",
        NoConflictInFlight = "no_conflict_in_flight",
        StableTools = "stable_tools",
        NoAmbient = "no_ambient",
        NoEscape = "no_escape",
        NoSecret = "no_secret",
    }
}
