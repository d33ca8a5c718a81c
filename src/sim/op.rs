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

    /// Reads what `Display` writes.
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
        if rest.is_empty() {
            return Some(ActorId {
                kind,
                number: 0,
                sub: 0,
            });
        }
        let (number, sub) = match rest.split_once('.') {
            Some((number, sub)) => (number.parse().ok()?, sub.parse().ok()?),
            None => (rest.parse().ok()?, 0),
        };
        Some(ActorId { kind, number, sub })
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.kind {
            ActorKind::Agent => return f.write_str("a"),
            ActorKind::Call => 'c',
            ActorKind::Hook => 'h',
            ActorKind::Mcp => 'm',
            ActorKind::User => 'u',
            ActorKind::Outside => 'o',
        };
        write!(f, "{letter}{}", self.number)?;
        if self.kind == ActorKind::Hook {
            write!(f, ".{}", self.sub)?;
        }
        Ok(())
    }
}

/// A thing of the world that operations touch. Paths are absolute and normal.
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
    /// A place among the calls in flight.
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
