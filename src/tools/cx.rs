//! What a call may use while it is validated and run.

use super::{FileStates, Pool, Session};
use crate::profile::Profile;
use crate::rule::RuleSet;
use crate::shell::Shell;
use crate::words::CallId;
use crate::world::Actor;
use std::sync::Arc;

/// The surroundings of one call. Cheap to clone.
#[derive(Clone)]
pub struct ToolCx {
    pub call: CallId,
    /// The assistant message that asked for the call, whole, where there is one.
    pub parent: Option<Arc<crate::wire::Message>>,
    /// The hands of this call's actor on the world.
    pub world: Actor,
    pub env: Arc<ToolEnv>,
}

/// What the calls of a run share.
pub struct ToolEnv {
    pub profile: Arc<Profile>,
    /// The working folder the run began in; absolute and normal.
    pub cwd: String,
    /// The folder `~` stands for.
    pub home: String,
    /// Folders besides `cwd` that count as inside; absolute and normal.
    pub additional_dirs: Vec<String>,
    /// Where large results are saved: `{results_dir}/{tool_use_id}.txt`. No Glob, Grep or LS looks here.
    pub results_dir: String,
    /// The environment of commands besides `HOME` and `PWD`; sorted by name.
    pub shell_env: Vec<(String, String)>,
    pub files: FileStates,
    pub session: Session,
    pub shell: Arc<dyn Shell>,
    /// Latency in virtual ms by tool name; 0 for those not named.
    pub latency_ms: std::collections::BTreeMap<String, u64>,
    pub pool: std::sync::OnceLock<Arc<Pool>>,
    /// The rules of the settings: what one of them denies to be read, no search shows.
    pub rules: Arc<RuleSet>,
}

impl ToolCx {
    /// The absolute, normal form of a path as the model wrote it: `~` and
    /// relative paths made absolute.
    pub fn absolute(&self, path: &str) -> String {
        let home = &self.env.home;
        match path.strip_prefix('~') {
            Some("") => crate::world::normalize("/", home),
            Some(rest) if rest.starts_with('/') => {
                crate::world::normalize("/", &format!("{home}{rest}"))
            }
            _ => crate::world::normalize(&self.env.cwd, path),
        }
    }
}
