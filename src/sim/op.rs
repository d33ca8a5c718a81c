//! What an actor announces before it touches the world, and when two such
//! operations conflict.

use std::fmt;
use std::sync::Arc;

/// What kind of actor acts. The order is the order in which ready actors are polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActorKind {
    /// The agent loop itself.
    Agent,
    /// A call on its way through the pipeline.
    Call,
    /// A hook that runs for a call or for the session.
    Hook,
    /// An MCP server.
    Mcp,
    /// The person at the keyboard.
    User,
    /// Someone who is not the agent and changes the world.
    Outside,
}

/// The stable id of an actor: kind, number (a call's number, an outside change's
/// index) and sub-number (a hook's index within its call). Written `a`, `c3`, `h3.0`, `o1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId {
    pub kind: ActorKind,
    pub number: u32,
    pub sub: u32,
}

impl ActorId {
    /// The agent loop.
    pub const AGENT: ActorId = ActorId {
        kind: ActorKind::Agent,
        number: 0,
        sub: 0,
    };

    /// The actor of call `number`.
    pub const fn call(number: u32) -> ActorId {
        ActorId {
            kind: ActorKind::Call,
            number,
            sub: 0,
        }
    }

    /// The `sub`-th hook handler that runs for call `number` (0 for the session).
    pub const fn hook(number: u32, sub: u32) -> ActorId {
        ActorId {
            kind: ActorKind::Hook,
            number,
            sub,
        }
    }

    /// The `number`-th outside change of the scenario, from 0.
    pub const fn outside(number: u32) -> ActorId {
        ActorId {
            kind: ActorKind::Outside,
            number,
            sub: 0,
        }
    }

    /// Reads what `Display` writes, and nothing else.
    pub fn parse(text: &str) -> Option<ActorId> {
        let kind = match text.as_bytes().first()? {
            b'a' => ActorKind::Agent,
            b'c' => ActorKind::Call,
            b'h' => ActorKind::Hook,
            b'm' => ActorKind::Mcp,
            b'u' => ActorKind::User,
            b'o' => ActorKind::Outside,
            _ => return None,
        };
        let rest = &text[1..];
        let (number, sub) = match rest.split_once('.') {
            Some((number, sub)) => (number.parse().ok()?, sub.parse().ok()?),
            None if rest.is_empty() => (0, 0),
            None => (rest.parse().ok()?, 0),
        };
        let id = ActorId { kind, number, sub };
        // One spelling an actor: `c01`, `c+1` and `c1.0` are none.
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == ActorId::AGENT {
            return f.write_str("a");
        }
        let letter = match self.kind {
            ActorKind::Agent => 'a',
            ActorKind::Call => 'c',
            ActorKind::Hook => 'h',
            ActorKind::Mcp => 'm',
            ActorKind::User => 'u',
            ActorKind::Outside => 'o',
        };
        write!(f, "{letter}{}", self.number)?;
        if self.kind == ActorKind::Hook || self.sub != 0 {
            write!(f, ".{}", self.sub)?;
        }
        Ok(())
    }
}

/// A thing of the world that operations touch. Paths are absolute and normal, and
/// name a file by one spelling only: links followed, one case if case does not count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// The content and metadata of the file at a path.
    File(Arc<str>),
    /// The entry called `.1` of the folder `.0`.
    Entry(Arc<str>, Arc<str>),
    /// Everything at and below a folder.
    Subtree(Arc<str>),
    /// What the agent knows of the file at a path.
    FileState(Arc<str>),
    ShellSession,
    User,
    Grants,
    Classifier,
    /// The MCP server of a name.
    Mcp(Arc<str>),
    /// A named piece of session state (`todos`, `loaded_tools`).
    Session(Arc<str>),
    /// A place among the calls in flight. Places are given in the order of calls,
    /// whatever the schedule, so taking one is in no conflict with taking another.
    Slot,
    /// The announcement that call `.0` has reached step number `.1` (0 to 6).
    StepOf(u32, u8),
}

/// How an operation touches its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    Read,
    Write,
    ReplaceIf,
    Create,
    Remove,
    List,
    Stat,
    Ask,
    Start,
}

impl OpKind {
    /// The word used in traces.
    pub fn as_str(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::ReplaceIf => "replace_if",
            OpKind::Create => "create",
            OpKind::Remove => "remove",
            OpKind::List => "list",
            OpKind::Stat => "stat",
            OpKind::Ask => "ask",
            OpKind::Start => "start",
        }
    }

    /// Whether the operation can change its resource.
    pub fn writes(self) -> bool {
        !matches!(self, OpKind::Read | OpKind::List | OpKind::Stat)
    }
}

/// One touch of the world, announced before it is granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    pub resource: Resource,
    pub kind: OpKind,
}

impl Op {
    /// Whether the order of the two operations can matter: one of them changes
    /// something that the other one touches. Symmetric; two reads never conflict.
    ///
    /// What a write does to the mtime of the folder around it does not count, and
    /// neither do folders that are made on the way to a file: only an operation on
    /// the folder's own entry says that it is made.
    pub fn conflicts(&self, other: &Op) -> bool {
        (self.kind.writes() && self.resource.reaches(&other.resource))
            || (other.kind.writes() && other.resource.reaches(&self.resource))
    }
}

impl Resource {
    /// Whether a change of this could be seen by who touches `other`.
    fn reaches(&self, other: &Resource) -> bool {
        use Resource::{Entry, File, Slot, Subtree};
        match (self, other) {
            (Slot, Slot) => false,
            // A subtree sees a change anywhere in it, and what happens to one of
            // the folders above it happens to it.
            (File(_) | Entry(..) | Subtree(_), Subtree(folder)) => {
                self.is_in(folder) || other.is_at_or_below(self)
            }
            // What becomes of a name decides about everything below it too: it may
            // be, or become, a link, a folder or a file.
            (File(_) | Entry(..) | Subtree(_), File(_) | Entry(..)) => other.is_at_or_below(self),
            _ => self == other,
        }
    }

    /// The same resource at the path that its own path leads to, by `real`.
    pub fn led(&self, real: &dyn Fn(&str) -> Option<String>) -> Option<Resource> {
        Some(match self {
            Resource::File(path) => Resource::File(real(path)?.into()),
            Resource::FileState(path) => Resource::FileState(real(path)?.into()),
            Resource::Subtree(path) => Resource::Subtree(real(path)?.into()),
            _ => return None,
        })
    }

    /// The pieces of the path: a folder and a name below it, which may be empty.
    fn path(&self) -> Option<(&str, &str)> {
        match self {
            Resource::File(path) | Resource::Subtree(path) => Some((path, "")),
            Resource::Entry(folder, name) => Some((folder, name)),
            _ => None,
        }
    }

    /// Whether this path is `above` or lies below it.
    fn is_at_or_below(&self, above: &Resource) -> bool {
        let (Some(inner), Some(outer)) = (self.path(), above.path()) else {
            return false;
        };
        starts_with(inner, outer)
    }

    /// Whether this path is `folder` or lies below it.
    fn is_in(&self, folder: &str) -> bool {
        self.path()
            .is_some_and(|inner| starts_with(inner, (folder, "")))
    }
}

/// The names of a path, from the root down.
fn names<'a>((folder, name): (&'a str, &'a str)) -> impl Iterator<Item = &'a str> {
    folder
        .split('/')
        .chain(std::iter::once(name))
        .filter(|name| !name.is_empty())
}

fn starts_with(path: (&str, &str), prefix: (&str, &str)) -> bool {
    let mut path = names(path);
    names(prefix).all(|name| path.next() == Some(name))
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::File(path) => write!(f, "file:{path}"),
            Resource::Entry(folder, name) if folder.ends_with('/') => {
                write!(f, "entry:{folder}{name}")
            }
            Resource::Entry(folder, name) => write!(f, "entry:{folder}/{name}"),
            Resource::Subtree(path) => write!(f, "tree:{path}"),
            Resource::FileState(path) => write!(f, "file_state:{path}"),
            Resource::ShellSession => f.write_str("shell"),
            Resource::User => f.write_str("user"),
            Resource::Grants => f.write_str("grants"),
            Resource::Classifier => f.write_str("classifier"),
            Resource::Mcp(server) => write!(f, "mcp:{server}"),
            Resource::Session(name) => write!(f, "session:{name}"),
            Resource::Slot => f.write_str("slot"),
            Resource::StepOf(call, step) => write!(f, "step:c{call}.{step}"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(kind: OpKind, resource: Resource) -> Op {
        Op { resource, kind }
    }
    fn file(kind: OpKind, path: &str) -> Op {
        op(kind, Resource::File(path.into()))
    }
    fn entry(kind: OpKind, folder: &str, name: &str) -> Op {
        op(kind, Resource::Entry(folder.into(), name.into()))
    }
    fn tree(kind: OpKind, path: &str) -> Op {
        op(kind, Resource::Subtree(path.into()))
    }
    fn check(a: &Op, b: &Op, conflict: bool) {
        assert_eq!(a.conflicts(b), conflict, "{a} / {b}");
        assert_eq!(b.conflicts(a), conflict, "{b} / {a}");
    }

    #[test]
    fn ids_read_back_in_one_spelling_only() {
        let mcp = ActorId {
            kind: ActorKind::Mcp,
            number: 2,
            sub: 1,
        };
        for id in [
            ActorId::AGENT,
            ActorId::call(3),
            ActorId::hook(3, 0),
            ActorId::outside(1),
            mcp,
        ] {
            assert_eq!(ActorId::parse(&id.to_string()), Some(id));
        }
        for odd in [
            "", "x1", "c", "c01", "c+1", "c1.0", "h3", "a0", "c1.2.3", "c-1",
        ] {
            assert_eq!(ActorId::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn files_and_entries() {
        use OpKind::*;
        check(&file(Read, "/w/a"), &file(Write, "/w/a"), true);
        check(&file(Read, "/w/a"), &file(Read, "/w/a"), false);
        check(&file(ReplaceIf, "/w/a"), &file(ReplaceIf, "/w/a"), true);
        check(&file(Write, "/w/a"), &file(Write, "/w/ab"), false);
        check(&entry(Create, "/w", "a"), &entry(Create, "/w", "b"), false);
        check(&entry(Create, "/w", "a"), &entry(Create, "/w", "a"), true);
        check(&file(Write, "/w/a"), &entry(Create, "/w", "a"), true);
        check(&file(Stat, "/w/a"), &entry(Remove, "/w", "a"), true);
        check(&file(Write, "/a"), &entry(Create, "/", "a"), true);
        // Removing a folder or a link takes away what is read through it.
        check(&file(Read, "/w/d/a"), &entry(Remove, "/w", "d"), true);
        // The mtime of a folder does not count.
        check(&file(Write, "/w/a"), &file(Stat, "/w"), false);
        check(&entry(Create, "/w", "a"), &file(Stat, "/w"), false);
    }

    #[test]
    fn subtrees() {
        use OpKind::*;
        check(&tree(List, "/w"), &entry(Create, "/w/d", "a"), true);
        check(&tree(List, "/w"), &file(Write, "/w/d/a"), true);
        check(&tree(List, "/w"), &entry(Remove, "/w", "a"), true);
        check(&tree(List, "/"), &entry(Remove, "/w", "a"), true);
        check(&tree(List, "/w"), &file(Read, "/w/a"), false);
        check(&tree(List, "/w"), &entry(Create, "/ww", "a"), false);
        check(&tree(List, "/w"), &entry(Remove, "/", "w"), true);
        check(&tree(List, "/w/d"), &entry(Create, "/w", "a"), false);
        check(&tree(Remove, "/w/d"), &file(Read, "/w/d/a"), true);
        check(&tree(Remove, "/w/d"), &tree(List, "/w"), true);
        check(&tree(Remove, "/w/d"), &tree(List, "/w/d/e"), true);
        check(&tree(Remove, "/w/d"), &tree(List, "/w/e"), false);
        check(&tree(List, "/w"), &tree(List, "/w"), false);
    }

    #[test]
    fn what_is_no_path() {
        use OpKind::*;
        let state = |kind, path: &str| op(kind, Resource::FileState(path.into()));
        check(&state(Write, "/w/a"), &state(Read, "/w/a"), true);
        check(&state(Write, "/w/a"), &state(Write, "/w/b"), false);
        check(&state(Write, "/w/a"), &file(Write, "/w/a"), false);
        check(&state(Write, "/w/a"), &tree(List, "/w"), false);
        check(&op(Ask, Resource::User), &op(Ask, Resource::User), true);
        check(
            &op(Ask, Resource::User),
            &op(Ask, Resource::Classifier),
            false,
        );
        check(
            &op(Start, Resource::Slot),
            &op(Start, Resource::Slot),
            false,
        );
        let mcp = |name: &str| op(Write, Resource::Mcp(name.into()));
        check(&mcp("x"), &mcp("x"), true);
        check(&mcp("x"), &mcp("y"), false);
    }

    #[test]
    fn operations_read_as_sentences() {
        let text = |op: Op| op.to_string();
        assert_eq!(
            text(file(OpKind::ReplaceIf, "/w/a")),
            "replace_if file:/w/a"
        );
        assert_eq!(text(entry(OpKind::Create, "/", "a")), "create entry:/a");
        assert_eq!(text(entry(OpKind::Create, "/w", "a")), "create entry:/w/a");
        let step = op(OpKind::Start, Resource::StepOf(3, 2));
        assert_eq!(text(step), "start step:c3.2");
    }
}
