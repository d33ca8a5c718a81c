//! Hooks: what they are told, what their ends mean, and that no order of ending and no
//! nonsense on their stdout changes a decision.

use proptest::prelude::*;
use rehearsal::hooks::{
    HookCx, HookEvent, HookInput, HookRun, Hooks, LacksProgram, Occasion, PreOutcome, ScriptedHook,
    ToolFacts, Verdict, combine_post, combine_pre, run, stdin,
};
use rehearsal::profile::{HookRewriteWinner, Profile};
use rehearsal::shell::VirtualShell;
use rehearsal::sim::{InOrder, Random, Sim, SimConfig};
use rehearsal::words::{Behavior, Mode};
use rehearsal::world::{Answer, Answers, MemoryFs, World};
use serde_json::{Value, json};
use std::sync::Arc;

const SEED: &str = "seed";
/// A profile in which JSON on stdout decides whatever the exit code, but for 2.
const JSON_DECIDES: &str = "claude-code-2.1.197";

/// A run with hooks and nothing else.
struct Stage {
    sim: Sim,
    cx: HookCx,
    hooks: Hooks,
}

impl Stage {
    /// Handlers of one event for every tool; `scripted` says what some of them do.
    fn new(profile: &str, handlers: Value, scripted: Vec<ScriptedHook>) -> Stage {
        Stage::on(
            Sim::new(SimConfig::new(InOrder)),
            profile,
            handlers,
            scripted,
        )
    }

    fn on(sim: Sim, profile: &str, config: Value, scripted: Vec<ScriptedHook>) -> Stage {
        let fs = MemoryFs::new(Default::default());
        fs.put_dir("/work", 0o755, 0).expect("a folder");
        let world = World::new(sim.clone(), Arc::new(fs), 0, 1, Vec::new());
        let answers = scripted.into_iter().map(|value| Answer {
            has_matcher: value.command.is_some(),
            value,
            times: None,
            optional: true,
            label: String::new(),
        });
        let cx = HookCx {
            world,
            shell: Arc::new(VirtualShell::new(Arc::default())),
            profile: Arc::new(Profile::by_name(profile).expect("a profile")),
            cwd: "/work".to_owned(),
            results_dir: "/results".to_owned(),
            env: Vec::new(),
            scripted: Arc::new(Answers::new(answers.collect())),
        };
        let mut hooks = Hooks::default();
        assert_eq!(hooks.add(&config, "project"), Vec::<String>::new());
        Stage { sim, cx, hooks }
    }

    fn run(&self, event: HookEvent) -> Result<Vec<HookRun>, LacksProgram> {
        let told = stdin(&HookInput {
            event,
            session_id: "s1",
            cwd: "/work",
            mode: Mode::Default,
            tool: Some(ToolFacts {
                name: "Bash",
                input: &json!({"command": "rm -rf /"}),
                use_id: Some("toolu_1"),
            }),
            facts: Vec::new(),
        });
        let occasion = Occasion {
            event,
            tool: "Bash",
            number: 1,
            first_sub: event.first_sub(),
        };
        let handlers = self.hooks.matching(event, &["Bash"]);
        self.sim
            .run(run(&handlers, &occasion, &told, &self.cx))
            .expect("a run")
    }
}

/// The settings of command handlers for one event.
fn commands(event: &str, commands: &[&str]) -> Value {
    let hooks: Vec<_> = commands
        .iter()
        .map(|command| json!({"type": "command", "command": command, "timeout": 5}))
        .collect();
    json!({event: [{"matcher": "*", "hooks": hooks}]})
}

fn ran(profile: &str, command: &str) -> HookRun {
    let stage = Stage::new(profile, commands("PreToolUse", &[command]), Vec::new());
    let mut runs = stage.run(HookEvent::PreToolUse).expect("no complaint");
    runs.remove(0)
}

#[test]
fn every_end_of_a_hook_has_its_meaning() {
    let deny = "{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}}";
    let allow = "{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}";
    let said = |behavior| Verdict::Said(behavior);
    // Command; what it means under `seed`; under a profile in which JSON decides.
    let table = [
        ("true".to_owned(), Verdict::None, Verdict::None),
        ("echo plain text".to_owned(), Verdict::None, Verdict::None),
        (
            format!("echo '{deny}'"),
            said(Behavior::Deny),
            said(Behavior::Deny),
        ),
        (
            format!("echo '{allow}'"),
            said(Behavior::Allow),
            said(Behavior::Allow),
        ),
        (
            "echo why >&2; exit 2".to_owned(),
            Verdict::Block,
            Verdict::Block,
        ),
        (
            format!("echo '{allow}'; exit 2"),
            Verdict::Block,
            Verdict::Block,
        ),
        (
            "echo '{broken'; exit 2".to_owned(),
            Verdict::Block,
            Verdict::Garbage,
        ),
        (
            "echo oops >&2; exit 1".to_owned(),
            Verdict::Failed,
            Verdict::Failed,
        ),
        (
            format!("echo '{deny}'; exit 1"),
            Verdict::Failed,
            said(Behavior::Deny),
        ),
        (
            format!("echo '{allow}'; exit 3"),
            Verdict::Failed,
            said(Behavior::Allow),
        ),
        (
            "echo '{broken'".to_owned(),
            Verdict::Garbage,
            Verdict::Garbage,
        ),
        (
            "echo '{\"continue\": \"no\"}'".to_owned(),
            Verdict::Garbage,
            Verdict::Garbage,
        ),
        ("sleep 6".to_owned(), Verdict::Timeout, Verdict::Timeout),
        (
            "exit 127".to_owned(),
            Verdict::CannotStart,
            Verdict::CannotStart,
        ),
    ];
    for (command, seed, json_decides) in table {
        assert_eq!(ran(SEED, &command).verdict, seed, "{command}");
        assert_eq!(
            ran(JSON_DECIDES, &command).verdict,
            json_decides,
            "{command}"
        );
    }
}

#[test]
fn the_user_is_told_of_what_goes_wrong_and_the_call_goes_on() {
    for (command, quoted) in [
        ("echo oops >&2; exit 1", "exit 1: oops"),
        ("sleep 6", "did not end within 5000 ms"),
        ("echo '{broken'", "begins like JSON"),
        (
            "echo '{\"continue\": 1}'",
            "continue: expected true or false",
        ),
    ] {
        let run = ran(SEED, command);
        let notice = run.notice.clone().unwrap_or_default();
        assert!(
            notice.contains(quoted) && notice.contains("project[0]"),
            "{notice}"
        );
        let outcome = combine_pre(&[run], HookRewriteWinner::FirstRegistered);
        assert_eq!(outcome, PreOutcome::default());
    }
    assert_eq!(
        ran(SEED, "echo '{\"systemMessage\": \"look\"}'")
            .notice
            .as_deref(),
        Some("look")
    );
}

#[test]
fn exit_2_gives_the_reason_that_the_json_has_or_else_stderr() {
    let reason = |command: &str| {
        combine_pre(&[ran(SEED, command)], HookRewriteWinner::FirstRegistered).reason
    };
    assert_eq!(
        reason("echo no such luck >&2; exit 2").as_deref(),
        Some("no such luck")
    );
    let block = "echo '{\"decision\": \"block\", \"reason\": \"json\"}'; echo stderr >&2; exit 2";
    assert_eq!(reason(block).as_deref(), Some("json"));
    let allow = "echo '{\"decision\": \"approve\", \"reason\": \"fine\"}'; echo stderr >&2; exit 2";
    assert_eq!(reason(allow).as_deref(), Some("stderr"));
}

#[test]
fn a_hook_reads_the_call_as_json_and_may_rewrite_its_input() {
    let command = "jq -c '{hookSpecificOutput: {updatedInput: {command: (.tool_input.command + \" #\" \
                   + .hook_event_name + .tool_use_id)}, additionalContext: .cwd}}'";
    let outcome = combine_pre(&[ran(SEED, command)], HookRewriteWinner::FirstRegistered);
    let rewritten = json!({"command": "rm -rf / #PreToolUsetoolu_1"});
    assert_eq!(outcome.updated_input, Some(rewritten));
    assert_eq!(
        (outcome.verdict, outcome.contexts),
        (None, vec!["/work".to_owned()])
    );
}

/// One row for each event: what exit 2 is, and whether plain text is context.
#[test]
fn exit_2_and_plain_text_mean_what_the_event_says() {
    let blocks = [
        HookEvent::PreToolUse,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
        HookEvent::PostToolBatch,
        HookEvent::UserPromptSubmit,
        HookEvent::Stop,
    ];
    let of = |event: HookEvent, command: &str| {
        let stage = Stage::new(SEED, commands(event.as_str(), &[command]), Vec::new());
        stage.run(event).expect("no complaint").remove(0)
    };
    for event in HookEvent::ALL.iter().copied() {
        let run = of(event, "echo why >&2; exit 2");
        let expected = match event {
            HookEvent::SessionStart => Verdict::None,
            _ if blocks.contains(&event) => Verdict::Block,
            _ => Verdict::Failed,
        };
        assert_eq!(run.verdict, expected, "{event:?}");
        assert_eq!(
            run.notice.is_some(),
            expected != Verdict::Block,
            "{event:?}"
        );
        let context = of(event, "echo text").output.additional_context;
        let is_context = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
        assert_eq!(context, is_context.then(|| "text".to_owned()), "{event:?}");
        let failed = of(event, "echo text; exit 1");
        assert_eq!(
            (failed.verdict, failed.output.additional_context),
            (Verdict::Failed, None)
        );
    }
}

#[test]
fn exit_2_beside_json_is_the_profile_s() {
    let allow = "echo '{\"decision\": \"approve\"}'; exit 2";
    let broken = "echo '{broken'; exit 2";
    for (profile, of_allow, of_broken) in [
        (SEED, Verdict::Block, Verdict::Block),
        (JSON_DECIDES, Verdict::Block, Verdict::Garbage),
        (
            "claude-code-2.0.76",
            Verdict::Said(Behavior::Allow),
            Verdict::Garbage,
        ),
    ] {
        assert_eq!(ran(profile, allow).verdict, of_allow, "{profile}");
        assert_eq!(ran(profile, broken).verdict, of_broken, "{profile}");
    }
}

#[test]
fn a_hundred_megabytes_are_no_decision() {
    for (exit, expected) in [(0, Verdict::Garbage), (2, Verdict::Block)] {
        let flood = ScriptedHook {
            event: None,
            tool: None,
            command: None,
            exit,
            status: None,
            stdout: "x".repeat(100 << 20),
            stderr: String::new(),
            delay_ms: 0,
        };
        let stage = Stage::new(SEED, commands("PreToolUse", &["flood"]), vec![flood]);
        let runs = stage.run(HookEvent::PreToolUse).expect("no complaint");
        assert_eq!(runs[0].verdict, expected);
    }
}

#[test]
fn hooks_run_side_by_side_and_each_to_its_end() {
    let stage = Stage::new(
        SEED,
        commands(
            "PreToolUse",
            &[
                "sleep 4; touch slow; exit 2",
                "sleep 1; touch fast",
                "sleep 9",
            ],
        ),
        Vec::new(),
    );
    let runs = stage.run(HookEvent::PreToolUse).expect("no complaint");
    let took: Vec<_> = runs.iter().map(|run| run.took_ms).collect();
    assert_eq!(took, [4_000, 1_000, 5_000]);
    assert_eq!(stage.sim.now_ms(), 5_000);
    for file in ["/work/slow", "/work/fast"] {
        assert!(stage.cx.world.fs().stat(file).is_ok(), "{file}");
    }
}

#[test]
fn a_program_that_the_shell_lacks_is_a_complaint_and_no_outcome() {
    for lacking in [
        "python3 check.py",
        "./check.sh || true",
        "git diff --quiet; exit 2",
    ] {
        let stage = Stage::new(SEED, commands("PreToolUse", &["true", lacking]), Vec::new());
        let lacks = stage.run(HookEvent::PreToolUse).expect_err(lacking);
        assert!(lacks.hook.starts_with("project[1]"), "{lacks}");
        assert!(lacks.to_string().contains("commands:"), "{lacks}");
    }
}

#[test]
fn a_scripted_outcome_takes_the_place_of_the_command() {
    let scripted = |command: &str, exit, delay_ms| ScriptedHook {
        event: None,
        tool: None,
        command: Some(command.into()),
        exit,
        status: None,
        stdout: String::new(),
        stderr: "scripted\n".to_owned(),
        delay_ms,
    };
    let stage = Stage::new(
        SEED,
        commands("PreToolUse", &["python3 a.py", "python3 b.py"]),
        vec![scripted("*a.py", 2, 30), scripted("*b.py", 0, 60_000)],
    );
    let runs = stage.run(HookEvent::PreToolUse).expect("no complaint");
    assert_eq!((runs[0].verdict, runs[0].took_ms), (Verdict::Block, 30));
    assert_eq!(
        (runs[1].verdict, runs[1].took_ms),
        (Verdict::Timeout, 5_000)
    );
}

#[test]
fn after_a_call_blocking_adds_a_reason_and_undoes_nothing() {
    let stage = Stage::new(
        SEED,
        commands(
            "PostToolUse",
            &[
                "echo lint failed >&2; exit 2",
                "echo '{\"decision\": \"block\", \"reason\": \"untested\"}'",
                "echo '{\"hookSpecificOutput\": {\"additionalContext\": \"note\", \"updatedToolOutput\": \"short\"}}'",
                "echo '{\"continue\": false, \"stopReason\": \"enough\"}'",
                "exit 2",
            ],
        ),
        Vec::new(),
    );
    let runs = stage.run(HookEvent::PostToolUse).expect("no complaint");
    let outcome = combine_post(&runs, HookRewriteWinner::FirstRegistered);
    assert_eq!(outcome.contexts, ["lint failed", "untested", "note"]);
    assert_eq!(outcome.updated_output, Some(json!("short")));
    assert_eq!(outcome.stop.as_deref(), Some("enough"));
}

/// What one scripted hook does.
#[derive(Debug, Clone)]
struct Does {
    exit: i32,
    stdout: String,
    delay_ms: u64,
}

/// Runs hooks that do these things, under a strategy of its own, and combines them.
fn outcome_of(does: &[Does], seed: u64, profile: &str) -> PreOutcome {
    let names: Vec<String> = (0..does.len()).map(|n| format!("hook-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let scripted = does
        .iter()
        .zip(&names)
        .map(|(does, name)| ScriptedHook {
            event: Some(HookEvent::PreToolUse),
            tool: Some("Bash".into()),
            command: Some((*name).into()),
            exit: does.exit,
            status: None,
            stdout: does.stdout.clone(),
            stderr: String::new(),
            delay_ms: does.delay_ms,
        })
        .collect();
    let sim = Sim::new(SimConfig::new(Random::new(seed)));
    let stage = Stage::on(sim, profile, commands("PreToolUse", &names), scripted);
    let runs = stage.run(HookEvent::PreToolUse).expect("no complaint");
    combine_pre(&runs, stage.cx.profile.hook_rewrite_winner)
}

#[test]
fn of_two_decisions_the_stronger_holds_in_either_order() {
    let strongest_first = [
        Behavior::Deny,
        Behavior::Defer,
        Behavior::Ask,
        Behavior::Allow,
    ];
    let says = |behavior: Behavior| Does {
        exit: 0,
        stdout: json!({"hookSpecificOutput": {
            "permissionDecision": behavior.as_str(),
            "permissionDecisionReason": format!("because {behavior}"),
        }})
        .to_string(),
        delay_ms: 0,
    };
    for (at, stronger) in strongest_first.into_iter().enumerate() {
        for weaker in strongest_first.into_iter().skip(at) {
            for pair in [[stronger, weaker], [weaker, stronger]] {
                let outcome = outcome_of(&pair.map(says), 0, SEED);
                assert_eq!(outcome.verdict, Some(stronger), "{pair:?}");
                assert_eq!(outcome.reason, Some(format!("because {stronger}")));
            }
        }
    }
}

/// JSON that a hook might print: decisions in both forms, right and wrong, and noise.
fn stdouts() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "allow", "deny", "ask", "defer", "block", "approve", "ALLOW", "", "yes",
    ]);
    let decision = prop::option::of(prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(json!(["allow"])),
    ]);
    let object = (
        decision.clone(),
        decision,
        prop::option::of(any::<bool>()),
        any::<u8>(),
    )
        .prop_map(|(modern, legacy, go_on, n)| {
            let mut specific = json!({"updatedInput": {"n": n}});
            if let Some(word) = modern {
                specific["permissionDecision"] = word;
            }
            let mut object = json!({"hookSpecificOutput": specific});
            if let Some(word) = legacy {
                object["decision"] = word;
            }
            if let Some(go_on) = go_on {
                object["continue"] = go_on.into();
            }
            object.to_string()
        });
    let word_alone = word.prop_map(str::to_owned);
    let broken = object
        .clone()
        .prop_map(|text| text[..text.len() - 1].to_owned());
    prop_oneof![
        4 => object,
        1 => broken,
        1 => word_alone,
        1 => "\\PC{0,20}",
        1 => "\\{\\PC{0,20}",
    ]
}

fn hooks_that(exits: impl Strategy<Value = i32>) -> impl Strategy<Value = Does> {
    (exits, stdouts(), 0..50_u64).prop_map(|(exit, stdout, delay_ms)| Does {
        exit,
        stdout,
        delay_ms,
    })
}

/// Whether this stdout clearly says one of `words`, and nothing that no hook may say.
fn may_say(stdout: &str, words: &[&str]) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(stdout) else {
        return false;
    };
    let modern = &value["hookSpecificOutput"]["permissionDecision"];
    [modern, &value["decision"]]
        .iter()
        .any(|said| said.as_str().is_some_and(|said| words.contains(&said)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// deny > defer > ask > allow, and nothing but a rewrite by the last to finish
    /// hangs on who finished when.
    #[test]
    fn no_order_of_ending_changes_an_outcome(
        does in prop::collection::vec(hooks_that(prop::sample::select(vec![0, 0, 0, 1, 2])), 0..6),
        delays in prop::collection::vec(0..50_u64, 6),
        seeds in any::<(u64, u64)>(),
    ) {
        let first = outcome_of(&does, seeds.0, SEED);
        let mut later = does.clone();
        for (does, delay_ms) in later.iter_mut().zip(delays) {
            does.delay_ms = delay_ms;
        }
        prop_assert_eq!(&first, &outcome_of(&later, seeds.1, SEED));
        // The order of registration moves neither the verdict nor whether the agent stops.
        let mut backwards = does.clone();
        backwards.reverse();
        let backwards = outcome_of(&backwards, seeds.0, SEED);
        prop_assert_eq!(first.verdict, backwards.verdict);
        prop_assert_eq!(first.stop.is_some(), backwards.stop.is_some());

        let one = outcome_of(&does, seeds.0, JSON_DECIDES);
        let other = outcome_of(&later, seeds.1, JSON_DECIDES);
        let rewrites = (one.updated_input.is_some(), other.updated_input.is_some());
        prop_assert_eq!(rewrites.0, rewrites.1);
        let less = |outcome: PreOutcome| PreOutcome { updated_input: None, ..outcome };
        prop_assert_eq!(less(one), less(other));
    }

    /// Exit 2 denies, whatever is on stdout, whoever else runs.
    #[test]
    fn exit_2_denies_whatever_the_json_says(
        mut does in prop::collection::vec(hooks_that(0..4), 0..4),
        blocks in hooks_that(Just(2)),
        at in any::<prop::sample::Index>(),
        newest in any::<bool>(),
    ) {
        does.insert(at.index(does.len() + 1), blocks);
        // The profiles between took what is no JSON of a hook for more than its exit.
        let profile = if newest { "claude-code-2.1.332" } else { SEED };
        prop_assert_eq!(outcome_of(&does, 0, profile).verdict, Some(Behavior::Deny));
    }

    /// A decision is only ever one that a hook printed in so many words and was entitled to.
    #[test]
    fn nothing_is_decided_by_accident(
        hook in hooks_that(prop::sample::select(vec![0, 0, 1, 3, 127, 255])),
        json_decides in any::<bool>(),
    ) {
        let profile = if json_decides { JSON_DECIDES } else { SEED };
        let outcome = outcome_of(std::slice::from_ref(&hook), 0, profile);
        let entitled = hook.exit == 0 || json_decides;
        let words: &[&str] = match outcome.verdict {
            None => return Ok(()),
            Some(Behavior::Allow) => &["allow", "approve"],
            Some(Behavior::Deny) => &["deny", "block"],
            Some(Behavior::Ask) => &["ask"],
            Some(Behavior::Defer) => &["defer"],
        };
        prop_assert!(entitled && may_say(&hook.stdout, words), "{:?} of {:?}", outcome, hook);
    }

    /// And what a hook said in so many words, with exit 0 and nothing wrong beside it, counts.
    #[test]
    fn a_clear_decision_counts(
        word in prop::sample::select(vec!["allow", "deny", "ask", "defer"]),
        space in "[ \n\t]{0,3}",
    ) {
        let stdout = json!({"hookSpecificOutput": {"permissionDecision": word}});
        let does = Does { exit: 0, stdout: format!("{space}{stdout}\n"), delay_ms: 0 };
        prop_assert_eq!(outcome_of(&[does], 0, SEED).verdict, Behavior::from_word(word));
    }
}
