//! The in-world pipe: a client and a scripted server joined in virtual time.
//!
//! A server is connected before the session begins, on a time line of its own: the pool
//! has to stand before the first request. From then on whoever waits for an answer
//! carries the messages: to send and to take delivery is each an announced operation on
//! the server, so that a schedule decides what comes first.

use super::client::{Answer, CallNumber, Client, Event, Failure, Limits, State};
use super::server::{Script, Sent, Server};
use crate::sim::{OpKind, Resource};
use crate::world::Actor;
use futures_util::future::{Either, select};
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Connected {
    pub instructions: Option<String>,
    pub tools: Vec<Value>,
    /// What went wrong on the way and was passed over.
    pub odd: Vec<String>,
    pub took_ms: u64,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unconnected {
    pub why: String,
    pub took_ms: u64,
}

/// A connection to a scripted server.
pub struct Link {
    name: Arc<str>,
    wire: Mutex<Wire>,
    delivered: Notify,
}

struct Wire {
    client: Client,
    server: Server,
    /// What is there for those that wait.
    answers: BTreeMap<CallNumber, Answer>,
    progress: BTreeMap<CallNumber, Vec<Value>>,
    /// What nobody waits for, with its time.
    told: Vec<(u64, Event)>,
    /// How long it took to connect: the wire's time is so much ahead of the session's.
    ahead_ms: u64,
}

impl Wire {
    /// Carries what is there to be carried at `now`; whether there was anything.
    fn carry(&mut self, now: u64) -> bool {
        let mut moved = false;
        loop {
            while let Some(bytes) = self.client.output() {
                moved = true;
                self.server.receive(&bytes, now);
            }
            match self.server.output(now) {
                Some(Sent::Bytes(bytes)) => self.client.receive(&bytes, now),
                Some(Sent::Closed) => self.client.closed("the server is gone"),
                None => {
                    self.client.time_is(now);
                    break;
                }
            }
            moved = true;
        }
        // What a deadline had the client say.
        while let Some(bytes) = self.client.output() {
            moved = true;
            self.server.receive(&bytes, now);
        }
        while let Some(event) = self.client.event() {
            match event {
                Event::Answered { call, answer } => {
                    self.answers.insert(call, answer);
                }
                Event::Progress { call, params } => {
                    self.progress.entry(call).or_default().push(params);
                }
                other => self.told.push((now.saturating_sub(self.ahead_ms), other)),
            }
        }
        moved
    }

    /// When there is something to carry next.
    fn next(&self) -> Option<u64> {
        let times = [self.server.due(), self.client.deadline()];
        times.into_iter().flatten().min()
    }
}

impl Link {
    /// Connects to a server and lists its tools.
    ///
    /// # Errors
    /// If the server refuses, dies, or does not answer in time.
    pub fn connect(
        name: &str,
        script: Script,
        limits: Limits,
    ) -> Result<(Arc<Link>, Connected), Unconnected> {
        let mut wire = Wire {
            client: Client::new(limits),
            server: Server::new(script),
            answers: BTreeMap::new(),
            progress: BTreeMap::new(),
            told: Vec::new(),
            ahead_ms: 0,
        };
        let mut now = 0;
        wire.client.connect(now);
        loop {
            wire.carry(now);
            match (wire.client.state(), wire.next()) {
                (State::Ready | State::Dead, _) | (_, None) => break,
                (_, Some(next)) => now = next.max(now),
            }
        }
        let mut connected = Connected {
            instructions: None,
            tools: Vec::new(),
            odd: Vec::new(),
            took_ms: now,
        };
        for (_, event) in std::mem::take(&mut wire.told) {
            match event {
                Event::Greeted { instructions, .. } => connected.instructions = instructions,
                Event::Listed(tools) => connected.tools = tools,
                Event::ListFailed(why) => connected.odd.push(format!("no list of tools: {why}")),
                Event::Odd(what) => connected.odd.push(what),
                Event::Died(why) => return Err(Unconnected { why, took_ms: now }),
                Event::ListChanged | Event::Progress { .. } | Event::Answered { .. } => {}
            }
        }
        wire.ahead_ms = now;
        wire.server.session_began(now);
        let link = Link {
            name: name.into(),
            wire: Mutex::new(wire),
            delivered: Notify::new(),
        };
        Ok((Arc::new(link), connected))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn lock(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What happened on the connection since this was asked last, with its time.
    pub fn told(&self) -> Vec<(u64, Event)> {
        std::mem::take(&mut self.lock().told)
    }

    /// Calls a tool and waits for its one outcome. If the caller stops waiting, the
    /// server is told.
    pub async fn call(
        &self,
        actor: &Actor,
        kind: OpKind,
        tool: &str,
        arguments: &Value,
        progress: &(dyn Fn(Value) + Send + Sync),
    ) -> Answer {
        let ask = |client: &mut Client, now| client.call(tool, arguments, now);
        self.request(actor, kind, &ask, progress).await
    }

    /// All resources of the server, page by page.
    ///
    /// # Errors
    /// As those of a call.
    pub async fn resources(&self, actor: &Actor) -> Result<Vec<Value>, Failure> {
        const PAGES_MAX: usize = 100;
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let ask = |client: &mut Client, now| client.list_resources(cursor.as_deref(), now);
            let page = self.request(actor, OpKind::Read, &ask, &|_| {}).await?;
            all.extend(page["resources"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(all),
            }
        }
        Err(Failure::Malformed(format!(
            "more than {PAGES_MAX} pages of resources"
        )))
    }

    /// The contents of one resource.
    pub async fn read_resource(&self, actor: &Actor, uri: &str) -> Answer {
        let ask = |client: &mut Client, now| client.read_resource(uri, now);
        self.request(actor, OpKind::Read, &ask, &|_| {}).await
    }

    async fn request(
        &self,
        actor: &Actor,
        kind: OpKind,
        ask: &(dyn Fn(&mut Client, u64) -> CallNumber + Send + Sync),
        progress: &(dyn Fn(Value) + Send + Sync),
    ) -> Answer {
        let resource = || Resource::Mcp(self.name.clone());
        actor.op(resource(), kind).await;
        let waiting = {
            let mut wire = self.lock();
            let now = actor.now_ms().saturating_add(wire.ahead_ms);
            // First what came before: a server may be gone by now.
            wire.carry(now);
            let number = ask(&mut wire.client, now);
            Waiting { link: self, number }
        };
        loop {
            let delivered = self.delivered.notified();
            let mut delivered = pin!(delivered);
            // Named before anybody else can deliver.
            delivered.as_mut().enable();
            let (moved, answer, said, sleep_ms) = {
                let mut wire = self.lock();
                let now = actor.now_ms().saturating_add(wire.ahead_ms);
                let moved = wire.carry(now);
                let said = wire.progress.remove(&waiting.number).unwrap_or_default();
                let answer = wire.answers.remove(&waiting.number);
                let next = wire.next().map(|next| next.saturating_sub(now).max(1));
                (moved, answer, said, next)
            };
            // Only then: two that wake each other for nothing would do so for ever.
            if moved {
                self.delivered.notify_waiters();
            }
            said.into_iter().for_each(progress);
            if let Some(answer) = answer {
                return answer;
            }
            let Some(sleep_ms) = sleep_ms else {
                // Whatever is asked has a deadline, so there is always something to come.
                return Err(Failure::Dead("nothing is to come".to_owned()));
            };
            let sleep = pin!(actor.sleep_ms(sleep_ms));
            match select(sleep, delivered).await {
                // Time has come: to take delivery is a touch of the server.
                Either::Left(_) => actor.op(resource(), kind).await,
                Either::Right(_) => {}
            }
        }
    }
}

/// A request that somebody waits for; one that is dropped before its answer is taken back.
struct Waiting<'a> {
    link: &'a Link,
    number: CallNumber,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut wire = self.link.lock();
        wire.client
            .cancel(self.number, "nobody waits for it any more");
        wire.answers.remove(&self.number);
        wire.progress.remove(&self.number);
    }
}
