//! Our side of a connection: a state machine without I/O and without a clock.

use super::lines::Lines;
use super::message::{Fault, Message};
use super::text::cut;
use super::{ALSO, PROTOCOL};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a connection may cost, in virtual milliseconds and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the first message until the server has answered it.
    pub connect_ms: u64,
    /// One attempt to list the tools.
    pub list_ms: u64,
    /// Attempts to list the tools.
    pub list_tries: u32,
    /// Pages of one list: a server whose cursor never ends is not followed for ever.
    pub pages: u32,
    /// One call, from request to answer.
    pub call_ms: u64,
    /// Bytes of a tool's description and of the server's instructions.
    pub text_bytes: usize,
}

/// The number of a request; never used again on the same connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallNumber(u64);

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    New,
    /// The server has not yet answered the first message.
    Greeting,
    /// It has; its tools are being listed for the first time.
    Listing,
    Ready,
    /// It never answered, refused, or is gone.
    Dead,
}

/// What comes of a request that had no answer as asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The server answered with an error.
    Fault(Fault),
    Timeout {
        after_ms: u64,
    },
    /// The connection is gone, or was never there.
    Dead(String),
    /// Whoever asked wants no answer any more.
    Cancelled,
    /// What came is not what the method gives.
    Malformed(String),
}

pub type Answer = Result<Value, Failure>;

/// What the client tells of.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Greeted {
        protocol: String,
        instructions: Option<String>,
    },
    /// The tools as the server lists them; for the first time, or anew.
    Listed(Vec<Value>),
    /// No list came of all attempts; the old one stands.
    ListFailed(String),
    ListChanged,
    Progress {
        call: CallNumber,
        params: Value,
    },
    /// Exactly one for every request of the caller's.
    Answered {
        call: CallNumber,
        answer: Answer,
    },
    Died(String),
    /// Something that the protocol does not foresee and that was passed over.
    Odd(String),
}

#[derive(Debug)]
enum Purpose {
    Greet,
    List {
        try_no: u32,
        page: u32,
        so_far: Vec<Value>,
    },
    Asked {
        method: &'static str,
    },
}

#[derive(Debug)]
struct Pending {
    purpose: Purpose,
    until: u64,
}

#[derive(Debug)]
pub struct Client {
    limits: Limits,
    state: State,
    next: u64,
    pending: BTreeMap<u64, Pending>,
    /// Requests whose answer nobody waits for any more.
    given_up: BTreeSet<u64>,
    /// Whether the list changed while one was under way.
    list_again: bool,
    lines: Lines,
    out: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
    /// Why there is no connection any more.
    gone: String,
}

impl Client {
    pub fn new(limits: Limits) -> Client {
        Client {
            limits,
            state: State::New,
            next: 0,
            pending: BTreeMap::new(),
            given_up: BTreeSet::new(),
            list_again: false,
            lines: Lines::default(),
            out: VecDeque::new(),
            events: VecDeque::new(),
            gone: "it is not connected".to_owned(),
        }
    }

    pub fn state(&self) -> State {
        self.state
    }

    /// Begins the handshake.
    pub fn connect(&mut self, now: u64) {
        if self.state != State::New {
            return;
        }
        self.state = State::Greeting;
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "rehearsal", "version": env!("CARGO_PKG_VERSION")},
        });
        let until = now.saturating_add(self.limits.connect_ms);
        self.send("initialize", params, Purpose::Greet, until);
    }

    /// Asks for a tool to run.
    pub fn call(&mut self, tool: &str, arguments: &Value, now: u64) -> CallNumber {
        let token = self.next;
        self.ask(
            "tools/call",
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}),
            now,
        )
    }

    /// Asks for a page of the resources.
    pub fn list_resources(&mut self, cursor: Option<&str>, now: u64) -> CallNumber {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        self.ask("resources/list", params, now)
    }

    pub fn read_resource(&mut self, uri: &str, now: u64) -> CallNumber {
        self.ask("resources/read", json!({"uri": uri}), now)
    }

    fn ask(&mut self, method: &'static str, params: Value, now: u64) -> CallNumber {
        let until = now.saturating_add(self.limits.call_ms);
        if matches!(self.state, State::Ready | State::Listing) {
            return CallNumber(self.send(method, params, Purpose::Asked { method }, until));
        }
        let call = CallNumber(self.next);
        self.next += 1;
        let answer = Err(Failure::Dead(self.gone.clone()));
        self.events.push_back(Event::Answered { call, answer });
        call
    }

    /// Takes a request back. Its one answer is [`Failure::Cancelled`]; what the server
    /// says of it later is passed over.
    pub fn cancel(&mut self, call: CallNumber, reason: &str) {
        let asked = |pending: &Pending| matches!(pending.purpose, Purpose::Asked { .. });
        if self.pending.get(&call.0).is_some_and(asked) {
            self.pending.remove(&call.0);
            self.give_up(call.0, reason);
            let answer = Err(Failure::Cancelled);
            self.events.push_back(Event::Answered { call, answer });
        }
    }

    fn give_up(&mut self, id: u64, reason: &str) {
        self.given_up.insert(id);
        let params = json!({"requestId": id, "reason": reason});
        self.notify("notifications/cancelled", params);
    }

    /// Takes what the server sent, in whatever pieces.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        if self.state == State::New {
            return;
        }
        for line in self.lines.take(bytes) {
            if self.state == State::Dead {
                return;
            }
            match Message::read(&line) {
                Ok(message) => self.take(message, now),
                Err(what) => self.events.push_back(Event::Odd(what)),
            }
        }
    }

    /// The server is gone.
    pub fn closed(&mut self, why: &str) {
        if self.state == State::Dead {
            return;
        }
        self.state = State::Dead;
        why.clone_into(&mut self.gone);
        for (id, pending) in std::mem::take(&mut self.pending) {
            if matches!(pending.purpose, Purpose::Asked { .. }) {
                self.events.push_back(Event::Answered {
                    call: CallNumber(id),
                    answer: Err(Failure::Dead(why.to_owned())),
                });
            }
        }
        self.events.push_back(Event::Died(why.to_owned()));
    }

    /// When [`Client::time_is`] has something to do, at the latest.
    pub fn deadline(&self) -> Option<u64> {
        self.pending.values().map(|pending| pending.until).min()
    }

    /// Ends what has waited too long.
    pub fn time_is(&mut self, now: u64) {
        let due = |(id, pending): (&u64, &Pending)| (pending.until <= now).then_some(*id);
        let late: Vec<u64> = self.pending.iter().filter_map(due).collect();
        for id in late {
            let Some(pending) = self.pending.remove(&id) else {
                continue;
            };
            match pending.purpose {
                Purpose::Greet => {
                    let ms = self.limits.connect_ms;
                    self.closed(&format!("it did not answer within {ms} ms"));
                }
                Purpose::List { try_no, .. } => {
                    self.give_up(id, "it took too long");
                    let ms = self.limits.list_ms;
                    self.listing_failed(try_no, &format!("no list within {ms} ms"), now);
                }
                Purpose::Asked { .. } => {
                    self.give_up(id, "it took too long");
                    let after_ms = self.limits.call_ms;
                    self.events.push_back(Event::Answered {
                        call: CallNumber(id),
                        answer: Err(Failure::Timeout { after_ms }),
                    });
                }
            }
        }
    }

    /// The next bytes for the server.
    pub fn output(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn send(&mut self, method: &str, params: Value, purpose: Purpose, until: u64) -> u64 {
        let id = self.next;
        self.next += 1;
        self.pending.insert(id, Pending { purpose, until });
        self.out
            .push_back(Message::request(id, method, params).line());
        id
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.out
            .push_back(Message::notification(method, params).line());
    }

    fn take(&mut self, message: Message, now: u64) {
        match message {
            Message::Response { id, result } => self.answered(&id, result, now),
            Message::Notification { method, params } => self.told(&method, params, now),
            Message::Request { id, method, .. } => {
                let result = match method.as_str() {
                    "ping" => Ok(json!({})),
                    _ => Err(Fault::new(
                        Fault::METHOD_NOT_FOUND,
                        format!("this client offers no {}", cut(&method, 100)),
                    )),
                };
                self.out.push_back(Message::Response { id, result }.line());
            }
        }
    }

    fn told(&mut self, method: &str, params: Value, now: u64) {
        match method {
            "notifications/tools/list_changed" => self.list_changed(now),
            "notifications/progress" => {
                let token = params["progressToken"].as_u64();
                let live = |id: &u64| self.pending.contains_key(id);
                match token.filter(live) {
                    Some(id) => self.events.push_back(Event::Progress {
                        call: CallNumber(id),
                        params,
                    }),
                    None => self.odd("progress of a request that is not under way"),
                }
            }
            // What a server logs, or tells of things that are not used here.
            _ => {}
        }
    }

    fn odd(&mut self, what: &str) {
        self.events.push_back(Event::Odd(what.to_owned()));
    }

    fn list_changed(&mut self, now: u64) {
        let is_list = |pending: &Pending| matches!(pending.purpose, Purpose::List { .. });
        match self.state {
            State::Ready | State::Listing => {
                self.events.push_back(Event::ListChanged);
                // A flood of these costs one list after the one that is under way.
                if self.pending.values().any(is_list) {
                    self.list_again = true;
                } else {
                    self.list(1, now);
                }
            }
            _ => self.odd("a changed list before the handshake is done"),
        }
    }

    fn list(&mut self, try_no: u32, now: u64) {
        let until = now.saturating_add(self.limits.list_ms);
        let (page, so_far) = (1, Vec::new());
        let purpose = Purpose::List {
            try_no,
            page,
            so_far,
        };
        self.send("tools/list", json!({}), purpose, until);
    }

    fn listing_failed(&mut self, try_no: u32, why: &str, now: u64) {
        if try_no < self.limits.list_tries {
            return self.list(try_no + 1, now);
        }
        self.events.push_back(Event::ListFailed(why.to_owned()));
        self.listed(now);
    }

    /// A list is at its end, well or not.
    fn listed(&mut self, now: u64) {
        self.state = State::Ready;
        if std::mem::take(&mut self.list_again) {
            self.list(1, now);
        }
    }

    fn answered(&mut self, id: &Value, result: Result<Value, Fault>, now: u64) {
        let Some(number) = id.as_u64() else {
            return self.odd("an answer with an id that was never given out");
        };
        let Some(Pending { purpose, until }) = self.pending.remove(&number) else {
            let what = match self.given_up.remove(&number) {
                true => "a late answer to a request that was given up",
                false => "an answer to a request that is not under way",
            };
            return self.odd(what);
        };
        match purpose {
            Purpose::Greet => self.greeted(result, now),
            Purpose::List {
                try_no,
                page,
                so_far,
            } => {
                self.list_page(try_no, page, so_far, until, result, now);
            }
            Purpose::Asked { method } => {
                let answer = result.map_err(Failure::Fault);
                let answer = answer.and_then(|value| shaped(method, value));
                let call = CallNumber(number);
                self.events.push_back(Event::Answered { call, answer });
            }
        }
    }

    fn greeted(&mut self, result: Result<Value, Fault>, now: u64) {
        let result = match result {
            Ok(result) => result,
            Err(fault) => return self.closed(&format!("it refused: {}", cut(&fault.message, 200))),
        };
        let protocol = result["protocolVersion"].as_str().unwrap_or_default();
        if protocol != PROTOCOL && !ALSO.contains(&protocol) {
            let named = cut(protocol, 40);
            return self.closed(&format!(
                "it speaks protocol {named:?}, which is not known here"
            ));
        }
        let instructions = result["instructions"].as_str();
        self.events.push_back(Event::Greeted {
            protocol: protocol.to_owned(),
            instructions: instructions.map(|text| cut(text, self.limits.text_bytes)),
        });
        self.notify("notifications/initialized", Value::Null);
        match result["capabilities"]["tools"].is_object() {
            true => {
                self.state = State::Listing;
                self.list(1, now);
            }
            false => {
                self.events.push_back(Event::Listed(Vec::new()));
                self.listed(now);
            }
        }
    }

    fn list_page(
        &mut self,
        try_no: u32,
        page: u32,
        mut so_far: Vec<Value>,
        until: u64,
        result: Result<Value, Fault>,
        now: u64,
    ) {
        let mut result = match result {
            Ok(result) => result,
            Err(fault) => return self.listing_failed(try_no, &cut(&fault.message, 200), now),
        };
        let tools = result.get_mut("tools").map(Value::take);
        let Some(Value::Array(tools)) = tools else {
            return self.listing_failed(try_no, "a list without tools", now);
        };
        for tool in tools {
            match offered(tool, self.limits.text_bytes) {
                Some(tool) => so_far.push(tool),
                None => self.odd("a listed tool without a name or an object as its schema"),
            }
        }
        match result["nextCursor"].as_str() {
            None => {
                self.events.push_back(Event::Listed(so_far));
                self.listed(now);
            }
            Some(_) if page >= self.limits.pages => {
                let pages = self.limits.pages;
                self.listing_failed(try_no, &format!("more than {pages} pages"), now);
            }
            Some(cursor) => {
                let page = page + 1;
                let purpose = Purpose::List {
                    try_no,
                    page,
                    so_far,
                };
                self.send("tools/list", json!({"cursor": cursor}), purpose, until);
            }
        }
    }
}

/// A listed tool with its description brought to size, if it is one.
fn offered(mut tool: Value, text_bytes: usize) -> Option<Value> {
    let is_tool = tool["name"].as_str().is_some_and(|name| !name.is_empty())
        && tool["inputSchema"].is_object();
    if !is_tool {
        return None;
    }
    if let Some(text) = tool["description"].as_str() {
        tool["description"] = cut(text, text_bytes).into();
    }
    Some(tool)
}

/// What a method gives, as the protocol has it.
fn shaped(method: &str, value: Value) -> Answer {
    let fits = match method {
        // Either may be left out where the other is there.
        "tools/call" => {
            let blocks = value["content"].as_array();
            let is_block = |block: &Value| block["type"].is_string();
            let blocks_fit = match blocks {
                Some(blocks) => blocks.iter().all(is_block),
                None => value["content"].is_null() && value["structuredContent"].is_object(),
            };
            blocks_fit && (value["isError"].is_null() || value["isError"].is_boolean())
        }
        "resources/list" => value["resources"].is_array(),
        "resources/read" => value["contents"].is_array(),
        _ => true,
    };
    match fits {
        true => Ok(value),
        false => Err(Failure::Malformed(format!("no result of {method}"))),
    }
}
