//! The tool TodoWrite: the list of what is to be done.

use super::session::{self, Todo, TodoStatus};
use super::{Footprint, Outcome, OwnVerdict, Permit, Progress, Refusal, Tool, ToolCx, fields};
use crate::words::Class;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Replaces the todo list.
pub struct TodoWrite;

#[derive(Deserialize)]
struct Input {
    todos: Vec<Todo>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "description": "The whole list, in order: it replaces the one before.",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "description": "What is to be done: \"Run the tests\"."},
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        "activeForm": {"type": "string", "description": "The same while it is being done: \"Running the tests\"."}
                    },
                    "required": ["content", "status", "activeForm"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["todos"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> &str {
        "TodoWrite"
    }

    fn search_hint(&self) -> &str {
        "plan task list progress steps"
    }

    fn description(&self) -> &str {
        "Writes down the list of what is to be done and how far each item is. Give the whole list each \
         time. Use it for work of three steps or more, and mark each item as soon as it changes; not \
         for one small step."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::writes([session::todos()])
    }

    fn summary(&self, input: &Value) -> String {
        let items = input["todos"].as_array().map_or(0, Vec::len);
        format!("{items} item{}", if items == 1 { "" } else { "s" })
    }

    async fn validate_input(&self, input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        for (index, todo) in input.todos.iter().enumerate() {
            for (key, text) in [
                ("content", &todo.content),
                ("activeForm", &todo.active_form),
            ] {
                if text.trim().is_empty() {
                    return Err(Refusal::new(
                        Class::InvalidInput,
                        format!("\"todos[{index}].{key}\" is empty. Say what is to be done."),
                    ));
                }
            }
        }
        Ok(())
    }

    /// It touches nothing but the session's own list.
    async fn check_permissions(&self, _input: &Value, _cx: &ToolCx) -> OwnVerdict {
        OwnVerdict::Allow {
            why: "it changes only the session's own list".to_owned(),
        }
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let todos = match fields::read::<Input>(input) {
            Ok(input) => input.todos,
            Err(refusal) => return refusal.into(),
        };
        let old = cx.env.session.set_todos(&cx.world, todos.clone()).await;
        let of = |status| todos.iter().filter(|todo| todo.status == status).count();
        let text = format!(
            "The list is written: {} done, {} being done, {} to do.",
            of(TodoStatus::Completed),
            of(TodoStatus::InProgress),
            of(TodoStatus::Pending)
        );
        Outcome::ok(text).with_data(json!({"oldTodos": old, "newTodos": todos}))
    }
}
