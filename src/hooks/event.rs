//! What hooks run for, and what differs between those events.

/// What a hook runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    SessionStart,
    UserPromptSubmit,
    PreToolUse,
    PermissionRequest,
    PermissionDenied,
    PostToolUse,
    PostToolUseFailure,
    PostToolBatch,
    Stop,
}

/// What exit code 2 does (`semantics.md §2.4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnExit2 {
    /// It blocks what is about to happen, or says to the model what is wrong with what has.
    Blocks,
    /// stderr is shown to the user, and nothing else.
    TellsUser,
    /// It means no more than any other code.
    AsAnyCode,
}

impl HookEvent {
    pub const ALL: &'static [HookEvent] = &[
        HookEvent::SessionStart,
        HookEvent::UserPromptSubmit,
        HookEvent::PreToolUse,
        HookEvent::PermissionRequest,
        HookEvent::PermissionDenied,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
        HookEvent::PostToolBatch,
        HookEvent::Stop,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "SessionStart",
            HookEvent::UserPromptSubmit => "UserPromptSubmit",
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PermissionRequest => "PermissionRequest",
            HookEvent::PermissionDenied => "PermissionDenied",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::PostToolUseFailure => "PostToolUseFailure",
            HookEvent::PostToolBatch => "PostToolBatch",
            HookEvent::Stop => "Stop",
        }
    }

    pub fn from_word(word: &str) -> Option<HookEvent> {
        HookEvent::ALL
            .iter()
            .copied()
            .find(|event| event.as_str() == word)
    }

    /// Whether it happens to one call, so that a matcher is over the tool's name and a
    /// condition over the call.
    pub fn is_of_a_call(self) -> bool {
        !matches!(
            self,
            HookEvent::SessionStart
                | HookEvent::UserPromptSubmit
                | HookEvent::PostToolBatch
                | HookEvent::Stop
        )
    }

    /// Whether a matcher means anything; else it is ignored (`semantics.md §2.2`).
    pub fn takes_matcher(self) -> bool {
        self.is_of_a_call() || self == HookEvent::SessionStart
    }

    /// Whether plain text on stdout is context for the model.
    pub(super) fn plain_text_is_context(self) -> bool {
        matches!(self, HookEvent::SessionStart | HookEvent::UserPromptSubmit)
    }

    pub(super) fn on_exit_2(self) -> OnExit2 {
        match self {
            HookEvent::SessionStart => OnExit2::TellsUser,
            HookEvent::PermissionRequest | HookEvent::PermissionDenied => OnExit2::AsAnyCode,
            _ => OnExit2::Blocks,
        }
    }

    /// The number of the first handler that runs for this event of a call; an actor is
    /// told by it from those of the call's other events.
    pub fn first_sub(self) -> u32 {
        match self {
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure => 1_000,
            HookEvent::PermissionRequest => 2_000,
            HookEvent::PermissionDenied => 3_000,
            _ => 0,
        }
    }
}

/// Events that settings may name and no part of this runtime raises (`semantics.md §2.1`).
pub(super) const NEVER_RAISED: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PostCompact",
    "PostModelSwitch",
    "PreCompact",
    "PreModelSwitch",
    "PreSkillShellCommand",
    "SessionEnd",
    "Setup",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reads_back_and_none_is_also_never_raised() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::from_word(event.as_str()), Some(*event));
            assert!(!NEVER_RAISED.contains(&event.as_str()), "{event:?}");
        }
        assert_eq!(HookEvent::ALL.len() + NEVER_RAISED.len(), 34);
    }
}
