//! What a shell that stays remembers from one command to the next.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// The memory of one shell: variables, functions, its folder. What is in it is the
/// shell's own; cloning gives another handle on the same memory.
#[derive(Clone, Default)]
pub struct ShellMemory(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    kept: Option<Box<dyn Any + Send>>,
    stuck: bool,
}

impl ShellMemory {
    /// Forgets everything: the shell is started anew.
    pub fn clear(&self) {
        *self.lock() = State::default();
    }

    /// Says that a command hangs in the shell, which takes no other until it is cleared.
    pub fn stick(&self) {
        self.lock().stuck = true;
    }

    pub fn is_stuck(&self) -> bool {
        self.lock().stuck
    }

    /// Keeps `state` for the next command.
    #[cfg(feature = "bash")]
    pub(super) fn keep<T: Send + 'static>(&self, state: T) {
        self.lock().kept = Some(Box::new(state));
    }

    /// What was kept, if it is a `T`.
    #[cfg(feature = "bash")]
    pub(super) fn kept<T: Clone + 'static>(&self) -> Option<T> {
        self.lock().kept.as_ref()?.downcast_ref::<T>().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl PartialEq for ShellMemory {
    fn eq(&self, other: &ShellMemory) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ShellMemory {}

impl fmt::Debug for ShellMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ShellMemory")
            .field("kept", &state.kept.is_some())
            .field("stuck", &state.stuck)
            .finish()
    }
}
