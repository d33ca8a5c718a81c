//! A scripted server: what it is asked and the time go in, what it says and when comes out.

use super::lines::Lines;
use super::message::{Fault, Message};
use super::{ALSO, PROTOCOL};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How a server answers a call of one of its tools.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The result as the protocol has it: `content`, `structuredContent`, `isError`, `_meta`.
    Result(Value),
    Fault(Fault),
    Never,
    /// It dies instead.
    Dies,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedTool {
    /// As it is listed: `name`, `description`, `inputSchema`, `annotations`, `_meta`.
    pub definition: Value,
    pub reply: Reply,
    /// From the call to the answer, or to the death.
    pub latency_ms: u64,
    /// What it tells of its progress, and how long after the call.
    pub progress: Vec<(u64, Value)>,
}

/// What a server does of its own accord.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Dies,
    /// From now on it has these tools, and says so.
    Lists(Vec<ScriptedTool>),
    /// So many notifications that nobody asked for.
    Floods(u32),
    /// Bytes, whatever they are.
    Says(Vec<u8>),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pub instructions: Option<String>,
    pub tools: Vec<ScriptedTool>,
    /// Each as it is listed (`uri`, `name`), with its contents as they are read.
    pub resources: Vec<(Value, Vec<Value>)>,
    /// How many tools or resources fit on one page of a list; all if not given.
    pub page: Option<usize>,
    /// From the first message until its answer; never if not given.
    pub greets_after_ms: Option<u64>,
    /// Why it refuses the handshake, if it does.
    pub refuses: Option<String>,
    /// Whether a call that is taken back is answered all the same.
    pub deaf_to_cancel: bool,
    /// Virtual milliseconds after [`Server::session_began`].
    pub changes: Vec<(u64, Change)>,
}

/// What comes from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    Bytes(Vec<u8>),
    /// It is gone: nothing comes any more.
    Closed,
}

#[derive(Debug)]
enum Planned {
    Send(Sent),
    Change(Change),
}

#[derive(Debug)]
pub struct Server {
    script: Script,
    lines: Lines,
    /// By due time, then in order of planning.
    planned: BTreeMap<(u64, u64), Planned>,
    /// The planned answers by the request's id as JSON.
    answers: BTreeMap<String, Vec<(u64, u64)>>,
    count: u64,
    is_gone: bool,
}

impl Server {
    pub fn new(script: Script) -> Server {
        Server {
            script,
            lines: Lines::default(),
            planned: BTreeMap::new(),
            answers: BTreeMap::new(),
            count: 0,
            is_gone: false,
        }
    }

    /// From here on the times of [`Script::changes`] count.
    pub fn session_began(&mut self, now: u64) {
        for (after_ms, change) in std::mem::take(&mut self.script.changes) {
            self.plan(now.saturating_add(after_ms), Planned::Change(change));
        }
    }

    /// Takes what the client sent, in whatever pieces.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        if self.is_gone {
            return;
        }
        for line in self.lines.take(bytes) {
            // Who sends what is no message gets no answer.
            if let Ok(message) = Message::read(&line) {
                self.take(message, now);
            }
        }
    }

    /// When there is something to take by [`Server::output`], at the latest.
    pub fn due(&self) -> Option<u64> {
        self.planned.first_key_value().map(|((at, _), _)| *at)
    }

    /// What the server has sent by now; nothing after [`Sent::Closed`].
    pub fn output(&mut self, now: u64) -> Option<Sent> {
        loop {
            let first = self.planned.first_entry()?;
            if first.key().0 > now {
                return None;
            }
            match first.remove() {
                Planned::Send(Sent::Closed) | Planned::Change(Change::Dies) => {
                    self.is_gone = true;
                    self.planned.clear();
                    return Some(Sent::Closed);
                }
                Planned::Send(sent) => return Some(sent),
                Planned::Change(Change::Says(bytes)) => return Some(Sent::Bytes(bytes)),
                Planned::Change(Change::Lists(tools)) => {
                    self.script.tools = tools;
                    self.tell("notifications/tools/list_changed", Value::Null, now);
                }
                Planned::Change(Change::Floods(count)) => {
                    for n in 0..count {
                        let params = json!({"level": "info", "data": n});
                        self.tell("notifications/message", params, now);
                    }
                }
            }
        }
    }

    fn plan(&mut self, at: u64, planned: Planned) -> (u64, u64) {
        let key = (at, self.count);
        self.count += 1;
        self.planned.insert(key, planned);
        key
    }

    fn tell(&mut self, method: &str, params: Value, at: u64) -> (u64, u64) {
        let line = Message::notification(method, params).line();
        self.plan(at, Planned::Send(Sent::Bytes(line)))
    }

    fn answer(&mut self, id: Value, result: Result<Value, Fault>, at: u64) -> (u64, u64) {
        let line = Message::Response { id, result }.line();
        self.plan(at, Planned::Send(Sent::Bytes(line)))
    }

    fn take(&mut self, message: Message, now: u64) {
        match message {
            Message::Request { id, method, params } => self.asked(id, &method, &params, now),
            Message::Notification { method, params } => {
                if method == "notifications/cancelled" && !self.script.deaf_to_cancel {
                    let id = params["requestId"].to_string();
                    for key in self.answers.remove(&id).unwrap_or_default() {
                        self.planned.remove(&key);
                    }
                }
            }
            // It asks nothing.
            Message::Response { .. } => {}
        }
    }

    fn asked(&mut self, id: Value, method: &str, params: &Value, now: u64) {
        let result = match method {
            "initialize" => return self.greet(id, params, now),
            "ping" => Ok(json!({})),
            "tools/list" => {
                let all = self.script.tools.iter().map(|tool| tool.definition.clone());
                page(all.collect(), self.script.page, params, "tools")
            }
            "resources/list" => {
                let all = self
                    .script
                    .resources
                    .iter()
                    .map(|(listed, _)| listed.clone());
                page(all.collect(), self.script.page, params, "resources")
            }
            "resources/read" => {
                let has = |(listed, _): &&(Value, Vec<Value>)| listed["uri"] == params["uri"];
                match self.script.resources.iter().find(has) {
                    Some((_, contents)) => Ok(json!({"contents": contents})),
                    None => Err(Fault::new(
                        Fault::RESOURCE_NOT_FOUND,
                        format!("there is no resource {}", params["uri"]),
                    )),
                }
            }
            "tools/call" => return self.call(id, params, now),
            _ => Err(Fault::new(
                Fault::METHOD_NOT_FOUND,
                format!("there is no method {method}"),
            )),
        };
        self.answer(id, result, now);
    }

    fn greet(&mut self, id: Value, params: &Value, now: u64) {
        let Some(after_ms) = self.script.greets_after_ms else {
            return;
        };
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let speaks = ALSO.iter().find(|known| **known == asked);
        let mut result = json!({
            "protocolVersion": speaks.copied().unwrap_or(PROTOCOL),
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "scripted", "version": "1"},
        });
        if !self.script.resources.is_empty() {
            result["capabilities"]["resources"] = json!({});
        }
        if let Some(text) = &self.script.instructions {
            result["instructions"] = json!(text);
        }
        let result = match &self.script.refuses {
            Some(why) => Err(Fault::new(Fault::INVALID_PARAMS, why)),
            None => Ok(result),
        };
        self.answer(id, result, now.saturating_add(after_ms));
    }

    fn call(&mut self, id: Value, params: &Value, now: u64) {
        let has = |tool: &&ScriptedTool| tool.definition["name"] == params["name"];
        let Some(tool) = self.script.tools.iter().find(has).cloned() else {
            let what = format!("there is no tool {}", params["name"]);
            self.answer(id, Err(Fault::new(Fault::INVALID_PARAMS, what)), now);
            return;
        };
        let mut planned = Vec::new();
        let token = &params["_meta"]["progressToken"];
        let wanted = tool.progress.into_iter().filter(|_| !token.is_null());
        for (after_ms, mut said) in wanted {
            if let Value::Object(fields) = &mut said {
                fields.insert("progressToken".to_owned(), token.clone());
            }
            let at = now.saturating_add(after_ms);
            planned.push(self.tell("notifications/progress", said, at));
        }
        let at = now.saturating_add(tool.latency_ms);
        let name = id.to_string();
        match tool.reply {
            Reply::Result(result) => planned.push(self.answer(id, Ok(result), at)),
            Reply::Fault(fault) => planned.push(self.answer(id, Err(fault), at)),
            Reply::Never => {}
            Reply::Dies => {
                self.plan(at, Planned::Send(Sent::Closed));
            }
        }
        self.answers.insert(name, planned);
    }
}

/// One page of a list; the cursor is the place of its first entry.
fn page(all: Vec<Value>, size: Option<usize>, params: &Value, key: &str) -> Result<Value, Fault> {
    let begin = match &params["cursor"] {
        Value::Null => Some(0),
        cursor => cursor.as_str().and_then(|text| text.parse::<usize>().ok()),
    };
    let Some(begin) = begin.filter(|at| *at <= all.len()) else {
        let what = format!("{} is no cursor", params["cursor"]);
        return Err(Fault::new(Fault::INVALID_PARAMS, what));
    };
    let size = size.unwrap_or(all.len()).max(1);
    let end = begin.saturating_add(size).min(all.len());
    let mut result = json!({key: all[begin..end]});
    if end < all.len() {
        result["nextCursor"] = json!(end.to_string());
    }
    Ok(result)
}
