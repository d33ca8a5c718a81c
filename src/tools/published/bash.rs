//! `bash_20250124`: one shell that stays, with its variables and its folder, until it is
//! started anew (`protocol.md §7`).

use crate::sim::{OpKind, Resource};
use crate::tools::bash as built_in;
use crate::tools::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, fields,
};
use crate::wire::ToolDef;
use crate::words::Class;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

pub(super) const TYPE: &str = "bash_20250124";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line to run; not needed with restart."},
            "restart": {"type": "boolean", "description": "Starts the shell anew instead."},
        },
        "additionalProperties": false,
    })
});

#[derive(Deserialize)]
struct Input {
    command: Option<String>,
    #[serde(default)]
    restart: Option<bool>,
}

/// The one shell of a session, which remembers it.
pub(super) struct Bash;

impl Input {
    fn command(&self) -> Option<&str> {
        match self.restart {
            Some(true) => None,
            _ => self.command.as_deref(),
        }
    }
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &str {
        "bash"
    }

    /// Rules and hooks about Bash speak of it too.
    fn aliases(&self) -> Vec<&str> {
        vec!["Bash"]
    }

    fn description(&self) -> &str {
        "Runs a command line in a shell that keeps its variables and its folder from call to call. \
         Use it to run programs; not to keep something running in the background."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn published(&self) -> Option<ToolDef> {
        Some(ToolDef::vendor(TYPE, "bash"))
    }

    fn strict(&self) -> bool {
        false
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::PerInput
    }

    fn is_read_only(&self, input: &Value) -> bool {
        fields::read::<Input>(input)
            .is_ok_and(|input| input.command().is_some_and(built_in::line_is_read_only))
    }

    fn is_destructive(&self, input: &Value) -> bool {
        fields::read::<Input>(input)
            .is_ok_and(|input| input.command().is_some_and(built_in::line_destroys))
    }

    /// Each command may leave variables behind for the next.
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::exclusive()
    }

    fn rule_subject(&self, _cx: &ToolCx, input: &Value) -> RuleSubject {
        match fields::read::<Input>(input) {
            Ok(input) => input.command().map_or(RuleSubject::None, |command| {
                RuleSubject::Command(command.to_owned())
            }),
            Err(_) => RuleSubject::None,
        }
    }

    fn summary(&self, input: &Value) -> String {
        let command = input["command"].as_str().unwrap_or("restart");
        crate::tools::units::one_line(command, crate::tools::SUMMARY_UNITS)
    }

    async fn validate_input(&self, input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        if input.restart == Some(true) {
            return Ok(());
        }
        match input.command.as_deref() {
            None => Err(Refusal::new(
                Class::InvalidInput,
                "neither a command nor a restart is given. Say which one.",
            )),
            Some(command) => built_in::check_line(command),
        }
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let input: Input = match fields::read(input) {
            Ok(input) => input,
            Err(refusal) => return refusal.into(),
        };
        let memory = cx.env.session.shell_memory();
        match input.command() {
            None => {
                cx.world.op(Resource::ShellSession, OpKind::Write).await;
                memory.clear();
                Outcome::ok(
                    "The shell was started anew: its variables and its folder are those of the beginning.",
                )
            }
            Some(command) if memory.is_stuck() => Outcome::error(
                Class::ToolError,
                format!(
                    "the shell still hangs in an earlier command, so {} did not run. Call with restart: true first.",
                    crate::tools::units::one_line(command, crate::tools::SUMMARY_UNITS)
                ),
            ),
            Some(command) => built_in::run_remembering(cx, command, memory).await,
        }
    }
}
