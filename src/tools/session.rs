//! What a session remembers between calls: the shell's working folder, the todo list,
//! and which deferred tools were loaded.

use crate::shell::ShellMemory;
use crate::sim::{OpKind, Resource};
use crate::words::CallId;
use crate::world::Actor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// How far one item of the todo list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// One item of the todo list, with the keys of the tool's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    pub content: String,
    pub status: TodoStatus,
    /// How the item reads while it is being done.
    pub active_form: String,
}

#[derive(Default)]
struct State {
    /// Absolute and normal; none until a command has changed it.
    shell_cwd: Option<String>,
    todos: Vec<Todo>,
    /// The name of each loaded tool by the call that loaded it and its place among
    /// what that call loaded: the order of loading, whatever order calls ran in.
    loaded: BTreeMap<(u32, u32), Arc<str>>,
}

/// The memory of a session. Cloning it gives another handle on the same memory.
/// Every access is an operation on one resource.
#[derive(Clone, Default)]
pub struct Session {
    state: Arc<Mutex<State>>,
    shell: ShellMemory,
}

/// The resource of the todo list.
pub fn todos() -> Resource {
    Resource::Session("todos".into())
}

/// The resource of the set of loaded tools.
pub fn loaded_tools() -> Resource {
    Resource::Session("loaded_tools".into())
}

impl Session {
    /// The shell's working folder, if a command has changed it.
    pub async fn shell_cwd(&self, actor: &Actor) -> Option<String> {
        actor.op(Resource::ShellSession, OpKind::Read).await;
        self.lock().shell_cwd.clone()
    }

    pub async fn set_shell_cwd(&self, actor: &Actor, cwd: String) {
        actor.op(Resource::ShellSession, OpKind::Write).await;
        self.lock().shell_cwd = Some(cwd);
    }

    /// The memory of the published tool's shell; who uses it announces that.
    pub fn shell_memory(&self) -> &ShellMemory {
        &self.shell
    }

    /// Replaces the todo list and gives back the old one.
    pub async fn set_todos(&self, actor: &Actor, new: Vec<Todo>) -> Vec<Todo> {
        actor.op(todos(), OpKind::Write).await;
        std::mem::replace(&mut self.lock().todos, new)
    }

    /// Marks tools as loaded by `call`, in the order in which it found them.
    ///
    /// Announced as a read: what several searches of a batch load is the same in any
    /// order of them.
    pub async fn load_tools(&self, actor: &Actor, call: &CallId, names: &[Arc<str>]) {
        actor.op(loaded_tools(), OpKind::Read).await;
        let mut state = self.lock();
        for (rank, name) in names.iter().enumerate() {
            let key = (call.number, rank as u32);
            let first = state.loaded.iter().find(|(_, known)| *known == name);
            match first.map(|(key, _)| *key) {
                Some(known) if known <= key => continue,
                Some(known) => {
                    state.loaded.remove(&known);
                }
                None => {}
            }
            state.loaded.insert(key, name.clone());
        }
    }

    /// The names of the loaded tools in the order of loading, for building a request:
    /// nobody's operation.
    pub fn loaded_tools(&self) -> Vec<Arc<str>> {
        self.lock().loaded.values().cloned().collect()
    }

    /// Whether a tool was loaded, for parsing a call: nobody's operation.
    pub fn is_loaded(&self, name: &str) -> bool {
        self.lock().loaded.values().any(|known| **known == *name)
    }

    /// Forgets what was loaded, at the end of a turn or after a compaction.
    pub fn unload_tools(&self) {
        self.lock().loaded.clear();
    }

    /// The todo list, for looking at it: nobody's operation.
    pub fn todos(&self) -> Vec<Todo> {
        self.lock().todos.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}
