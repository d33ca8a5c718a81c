//! The names that recorded runtimes gave their tools over time (`semantics.md §3.1`,
//! `data/README §2`).

/// Old names and the ones that took their place.
const ALIASES: &[(&str, &str)] = &[
    ("Task", "Agent"),
    ("View", "Read"),
    ("LSTool", "LS"),
    ("BashOutput", "TaskOutput"),
    ("AgentOutputTool", "TaskOutput"),
    ("KillBash", "TaskStop"),
    ("KillShell", "TaskStop"),
    ("bash", "Bash"),
];

/// The name a tool has now; its own if it was never renamed.
pub fn canonical(tool: &str) -> &str {
    let alias = ALIASES.iter().find(|(old, _)| *old == tool);
    alias.map_or(tool, |(_, new)| new)
}

/// Whether a tool runs commands of a shell.
pub fn is_shell(tool: &str) -> bool {
    matches!(canonical(tool), "Bash" | "PowerShell")
}

/// Whether a tool is of an MCP server.
pub fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

/// Whether a call of a tool may change any file in a way that its result does not tell:
/// commands, agents, other servers' tools, skills (which may run commands).
pub fn is_opaque(tool: &str) -> bool {
    !matches!(
        canonical(tool),
        "Read"
            | "Write"
            | "Edit"
            | "MultiEdit"
            | "NotebookEdit"
            | "Glob"
            | "Grep"
            | "LS"
            | "LSP"
            | "TodoWrite"
            | "TaskCreate"
            | "TaskUpdate"
            | "TaskGet"
            | "TaskList"
            | "TaskOutput"
            | "ToolSearch"
            | "WebFetch"
            | "WebSearch"
            | "AskUserQuestion"
            | "EnterPlanMode"
            | "ExitPlanMode"
            | "ScheduleWakeup"
            | "ListMcpResourcesTool"
            | "ReadMcpResourceTool"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_lead_to_new_ones() {
        assert_eq!(canonical("Task"), "Agent");
        assert_eq!(canonical("Read"), "Read");
        assert!(is_shell("bash") && is_shell("PowerShell") && !is_shell("Read"));
        assert!(is_opaque("Task") && is_opaque("mcp__a__b") && !is_opaque("Grep"));
    }
}
