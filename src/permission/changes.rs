//! What answers change for the decisions to come: rules, folders, the mode.

use super::auto::is_broad;
use super::{Permissions, Working, lock};
use crate::rule::{Anchors, RuleSet, compile};
use crate::settings::{PermissionUpdate, Placed, Settings, SettingsChange};
use crate::sim::{OpKind, Resource};
use crate::tools::ToolCx;
use crate::words::Mode;
use crate::world::{Fs, normalize};
use std::sync::Arc;

/// What rules and folders are made from, so that they can be made anew.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub settings: Settings,
    pub anchors: Anchors,
    pub results_dir: String,
}

impl Basis {
    /// The rules without those that mode `auto` sets aside; none if there are no such, or
    /// the mode is another.
    pub fn narrow(&self, mode: Mode, fs: &dyn Fs) -> Option<Arc<RuleSet>> {
        let is_narrow = |rule: &Placed| !is_broad(&rule.text);
        if mode != Mode::Auto || self.settings.allow.iter().all(is_narrow) {
            return None;
        }
        let mut settings = self.settings.clone();
        settings.allow.retain(is_narrow);
        Some(Arc::new(compile(&settings, &self.anchors, fs).0))
    }

    fn working(&self, fs: &dyn Fs) -> Working {
        let (cwd, home) = (&self.anchors.cwd, &self.anchors.home);
        let absolute = |text: &str| match text.strip_prefix("~/") {
            Some(rest) => normalize(home, rest),
            None => normalize(cwd, text),
        };
        let dirs = self.settings.additional_directories.iter();
        let dirs: Vec<String> = dirs.map(|dir| absolute(&dir.text)).collect();
        Working::new(cwd, &dirs, &self.results_dir, fs)
    }
}

/// Rules and folders as they are now.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub rules: Arc<RuleSet>,
    pub working: Arc<Working>,
}

impl Permissions {
    /// Applies updates in their order, in the name of a call: one operation on what is
    /// granted. Gives what was done and what was not, each in a person's words.
    pub async fn apply(&self, updates: &[PermissionUpdate], cx: &ToolCx) -> Vec<String> {
        if updates.is_empty() {
            return Vec::new();
        }
        cx.world.op(Resource::Grants, OpKind::Write).await;
        let fs = cx.world.world().fs();
        let applied = updates
            .iter()
            .map(|update| match self.change(update, &**fs) {
                Ok(()) => update.to_string(),
                Err(why) => format!("not {update}: {why}"),
            });
        applied.collect()
    }

    fn change(&self, update: &PermissionUpdate, fs: &dyn Fs) -> Result<(), String> {
        if let SettingsChange::SetMode(mode) = update.change {
            if mode == Mode::BypassPermissions && !self.bypass_available {
                return Err("the session did not begin with it".to_owned());
            }
            *lock(&self.mode) = mode;
            let basis = lock(&self.basis);
            *lock(&self.narrow) = basis.as_ref().and_then(|basis| basis.narrow(mode, fs));
            return Ok(());
        }
        let mut basis = lock(&self.basis);
        let Some(basis) = basis.as_mut() else {
            return Err("these permissions were made without settings".to_owned());
        };
        let mut settings = basis.settings.clone();
        settings.apply(update);
        let (rules, complaints) = compile(&settings, &basis.anchors, fs);
        // A denial that cannot be understood must not be lost in silence, and an
        // allowance that cannot be must not pass for one.
        let known = compile(&basis.settings, &basis.anchors, fs).1;
        if let Some(new) = complaints.iter().find(|one| !known.contains(one)) {
            return Err(format!("found {}, expected {}", new.found, new.expected));
        }
        basis.settings = settings;
        *lock(&self.narrow) = basis.narrow(self.mode(), fs);
        let current = Current {
            rules: Arc::new(rules),
            working: Arc::new(basis.working(fs)),
        };
        *lock(&self.current) = current;
        Ok(())
    }
}
