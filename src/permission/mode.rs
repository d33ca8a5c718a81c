//! Layer 2: the permission mode (`semantics.md §1.8`).

use super::Verdict;
use crate::profile::{Bypass, PermissionOrder};
use crate::words::{Behavior, Mode};

/// What the mode looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub mode: Mode,
    pub order: PermissionOrder,
    /// Whether the call changes nothing.
    pub read_only: bool,
    /// Whether a rule or a hook has said something of the call.
    pub touched: bool,
    pub place: Place,
    /// Whether the call is a command of the shell.
    pub is_command: bool,
    /// What it would remove and nothing but the user allows, in words.
    pub critical: Option<&'a str>,
    /// Whether mode `bypassPermissions` passes what would be asked about.
    pub bypass: Bypass,
    /// Whether the session has granted it.
    pub granted: bool,
}

/// Where the files lie that a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is not about files, or nothing is known of them.
    None,
    /// It reads below the working folders.
    ReadsInside,
    /// It reads elsewhere.
    ReadsOutside,
    /// It reads files of which only the shell knows the names, where rules keep some from
    /// being read.
    ReadsUnsure,
    /// It changes files below the working folders and nothing else.
    EditsInside,
    /// It changes files of which one is protected.
    EditsProtected,
    /// It changes files elsewhere.
    EditsOutside,
    /// A command that changes files, and may do more.
    EditsAmongOthers,
}

impl Place {
    fn edits(self) -> bool {
        matches!(
            self,
            Place::EditsInside
                | Place::EditsProtected
                | Place::EditsOutside
                | Place::EditsAmongOthers
        )
    }
}

/// What the mode says. `dontAsk` says nothing here: it denies what would be asked, and
/// only [`super::order`] knows what that is.
pub(super) fn verdict(facts: &Facts<'_>) -> Verdict {
    let Facts { mode, place, .. } = *facts;
    let seed = facts.order == PermissionOrder::RulesFirst;
    let asks_even_so = facts.critical.is_some() && facts.bypass != Bypass::AllButDeny;
    if mode == Mode::BypassPermissions && !asks_even_so {
        return Verdict::new(Behavior::Allow, "bypass", "everything passes but a deny");
    }
    if mode == Mode::Plan && place.edits() {
        // The recorded runtime asks; here a plan changes no file, whoever is asked.
        let behavior = if seed { Behavior::Deny } else { Behavior::Ask };
        return Verdict::new(behavior, "plan", "while a plan is made, no file is changed");
    }
    if let Some(what) = facts.critical {
        let what = what.to_owned();
        return match mode {
            // The classifier decides.
            Mode::Auto => Verdict::none(what),
            _ => Verdict::new(Behavior::Ask, CRITICAL, what),
        };
    }
    if place == Place::EditsProtected && !seed && !facts.granted {
        return match mode {
            // The classifier decides.
            Mode::Auto => Verdict::none(PROTECTED),
            _ => Verdict::new(Behavior::Ask, "protected", PROTECTED),
        };
    }
    if mode == Mode::AcceptEdits && place == Place::EditsInside {
        let why = "the mode accepts edits in the working folders";
        return Verdict::new(Behavior::Allow, "accept_edits", why);
    }
    if mode == Mode::Auto && place == Place::EditsInside && !facts.is_command {
        let why = "the mode lets files in the working folders be edited";
        return Verdict::new(Behavior::Allow, "auto_edit", why);
    }
    if facts.read_only && !matches!(place, Place::ReadsOutside | Place::ReadsUnsure) {
        if facts.touched {
            return Verdict::none("it changes nothing, but a rule or a hook speaks of it");
        }
        return Verdict::new(Behavior::Allow, "read_only", "it changes nothing");
    }
    Verdict::none(match (mode, place) {
        (_, Place::ReadsOutside) => "it reads outside the working folders",
        (_, Place::ReadsUnsure) => "it may read files that rules keep from being read",
        (Mode::AcceptEdits, Place::EditsOutside) => "it changes files outside the working folders",
        (Mode::AcceptEdits, Place::EditsProtected) => PROTECTED,
        _ => "",
    })
}

/// The reason of an ask that neither an allow rule nor a hook's allow answers.
pub(super) const CRITICAL: &str = "critical_removal";

const PROTECTED: &str = "it changes a file that configures other programs";
