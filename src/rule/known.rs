//! Rules about tools that nobody knows: a slip of the pen in a deny rule denies nothing.

use super::NamePattern;
use crate::settings::{Complaint, Origin, Placed, Settings, Severity};

/// The public names of tools (`semantics.md §3.1`), those of older versions too.
const PUBLIC: &[&str] = &[
    "Agent",
    "AgentOutputTool",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "ClaudeDesign",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "LSP",
    "LSTool",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "PushNotification",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "SetGoal",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "SubagentHandback",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "View",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "propose_skills",
];

/// How alike two names are of which one may be meant for the other, from 0 to 1.
const CLOSE: f32 = 0.7;

/// A warning for each deny and ask rule whose tool is neither public nor one of `own`, the
/// names that a run adds. Tools of MCP servers may connect at any time: nothing is said of
/// them.
pub fn about_unknown_tools(settings: &Settings, own: &[&str]) -> Vec<Complaint> {
    let lists = [("deny", &settings.deny), ("ask", &settings.ask)];
    let rules = lists
        .iter()
        .flat_map(|(kind, rules)| rules.iter().map(move |rule| (*kind, rule)));
    rules
        .filter_map(|(kind, rule)| {
            let name = rule.text.split('(').next().unwrap_or_default().trim();
            let known = || PUBLIC.iter().chain(own);
            if name.is_empty() || name.contains("__") || known().any(|known| *known == name) {
                return None;
            }
            let pattern = NamePattern::new(name);
            let is_slip = !known().any(|known| pattern.matches(known));
            is_slip.then(|| unknown(kind, rule, name, known().copied()))
        })
        .collect()
}

fn unknown<'k>(
    kind: &str,
    rule: &Placed,
    name: &str,
    known: impl Iterator<Item = &'k str>,
) -> Complaint {
    let Origin { source, index, .. } = &rule.origin;
    let known: Vec<&str> = known.collect();
    let near = similar::get_close_matches(name, &known, 1, CLOSE);
    Complaint {
        severity: Severity::Warning,
        file: match &rule.origin.file {
            Some(file) => file.clone(),
            None => format!("{source} settings").into(),
        },
        place: rule.origin.line.zip(rule.origin.column),
        path: format!("permissions.{kind}[{index}]"),
        found: format!("`{}`, about a tool that nobody knows", rule.text),
        expected: "the name of a tool: as it stands, the rule restricts nothing".to_owned(),
        hint: near.first().map(|name| format!("did you mean `{name}`?")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, Source, merge};
    use serde_json::json;

    #[test]
    fn a_slip_is_told_and_a_stranger_of_ones_own_is_not() {
        let settings = json!({"permissions": {
            "deny": ["Bsh(rm *)", "Read(.env)", "mcp__gone", "Web*", "deploy"],
            "ask": ["Wirte"],
            "allow": ["Nonsense"],
        }});
        let (settings, _) = merge(vec![Layer::from_value(Source::Project, &settings)]);
        let told: Vec<String> = about_unknown_tools(&settings, &["deploy"])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("permissions.deny[0]") && told[0].contains("`Bash`"),
            "{told:?}"
        );
        assert!(
            told[1].contains("permissions.ask[0]") && told[1].contains("`Write`"),
            "{told:?}"
        );
        assert_eq!(about_unknown_tools(&settings, &[]).len(), 3);
    }
}
