//! Drives the calls of one batch. Whatever becomes of a call (a panic, an interrupt, a
//! sibling's failure), its result is owed and is paid.

use super::{Owed, Paid, Plan, facts};
use crate::pipeline::{
    CallLog, Carried, Desk, Finished, Parsed, Requested, Times, Turnstile, Word, perform, prepare,
};
use crate::profile::SiblingFailure;
use crate::sim::{ActorId, Died, Group};
use crate::tools::ToolCx;
use crate::trace::{self, Event};
use crate::wire::{self, Content, Message, ToolUse};
use crate::words::{CallId, Class, Lane, Policy, Step};
use crate::world::World;
use serde_json::value::RawValue;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How batches are driven.
pub struct Batch {
    pub world: World,
    pub desk: Arc<Desk>,
    pub policy: Policy,
    /// Calls in flight together; none is no limit.
    pub max_concurrency: Option<u64>,
    /// The rank that the next call of the run to complete will have.
    completions: Arc<AtomicU32>,
}

/// One call that the model asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub id: CallId,
    pub tool_use: ToolUse,
    /// The message that holds it.
    pub asked_in: Option<Arc<Message>>,
    /// The call must not run, and why: it was cut short on its way here.
    pub cut: Option<String>,
}

/// One call that has its result.
#[derive(Debug)]
pub struct DoneCall {
    pub paid: Paid,
    pub tool: Arc<str>,
    /// Its rank among the completions of the run, from 1.
    pub completed: u32,
    /// What happened to it, in canonical order.
    pub events: Vec<(u64, Event)>,
}

/// A batch that has all its results, in call order.
#[derive(Debug)]
pub struct Done {
    pub calls: Vec<DoneCall>,
    pub interrupted: bool,
}

/// The calls in flight, by their places: what became of each, and its rank.
type InFlight = Group<(Finished, u32)>;

/// A place in the batch: the promise, and what is known of its fulfilment.
struct Seat {
    owed: Option<Owed>,
    tool_use: ToolUse,
    log: CallLog,
    parsed: Option<Parsed>,
    paid: Option<(Paid, u32)>,
}

impl Batch {
    pub fn new(
        world: World,
        desk: Arc<Desk>,
        policy: Policy,
        max_concurrency: Option<u64>,
    ) -> Batch {
        Batch {
            world,
            desk,
            policy,
            max_concurrency,
            completions: Arc::default(),
        }
    }

    /// Runs the calls of one assistant message; every one of them has its result after.
    pub async fn run(&self, asked: Vec<Asked>) -> Done {
        let turnstile = Arc::new(Turnstile::new(asked.len()));
        let mut seats = Vec::with_capacity(asked.len());
        for (place, call) in asked.into_iter().enumerate() {
            seats.push(self.seat(place, call, &turnstile).await);
        }
        let mut interrupted = self.desk.interrupt.is_raised();
        if !interrupted && !self.failed(&seats) {
            interrupted = self.drive(&mut seats, &turnstile).await;
        }
        self.pay_the_rest(&mut seats, interrupted);
        Done {
            calls: seats.into_iter().filter_map(Seat::done).collect(),
            interrupted,
        }
    }

    /// Takes on one promise, and brings the call as far as the plan needs: through
    /// lookup and parse, or to its end in one of them.
    async fn seat(&self, place: usize, asked: Asked, turnstile: &Arc<Turnstile>) -> Seat {
        let Asked {
            id,
            tool_use,
            asked_in,
            cut,
        } = asked;
        let actor = self.world.actor(ActorId::call(id.number));
        let actor = actor.stamped(actor.now_unix_ms());
        let log = CallLog::default();
        let now = actor.now_ms();
        let mut seat = Seat {
            owed: Some(Owed::new(id.clone())),
            tool_use: tool_use.clone(),
            log: log.clone(),
            parsed: None,
            paid: None,
        };
        log.push(now, Event::Call(self.call_event(&id, &tool_use)));
        if let Some(why) = cut {
            self.cut_off(&mut seat, Step::Lookup, Class::CutCall, &why);
            turnstile.pass(place);
            return seat;
        }
        let carried = Carried {
            cx: ToolCx {
                parent: asked_in,
                call: id.clone(),
                world: actor,
                env: self.desk.env.clone(),
            },
            id,
            place,
            turnstile: turnstile.clone(),
            tool_name: tool_use.name.clone(),
            raw_input: tool_use.input.clone(),
            log,
            times: Times::default(),
            asked_ms: now,
            footprint: None,
            contexts: Vec::new(),
            stop_agent: None,
        };
        let interrupt = self.desk.interrupt.clone();
        let prepared = tokio::select! {
            biased;
            prepared = prepare(Requested::new(carried), &self.desk) => Some(prepared),
            () = interrupt.raised() => None,
        };
        match prepared {
            Some(Ok(parsed)) => {
                seat.parsed = Some(parsed);
            }
            Some(Err(stopped)) => {
                self.pay(&mut seat, *stopped);
                turnstile.pass(place);
            }
            None => {}
        }
        seat
    }

    /// Whether a failure has put an end to the batch.
    fn failed(&self, seats: &[Seat]) -> bool {
        self.desk.env.profile.sibling_failure == SiblingFailure::CancelRest
            && seats.iter().any(|seat| {
                seat.paid
                    .as_ref()
                    .is_some_and(|(paid, _)| paid.finished.outcome.is_error())
            })
    }

    /// Runs the calls as the plan lets them; `true` if an interrupt cut them off.
    async fn drive(&self, seats: &mut [Seat], turnstile: &Arc<Turnstile>) -> bool {
        let mut plan = Plan::new(self.policy);
        let mut placed = 0;
        let mut live = Group::new();
        let interrupt = self.desk.interrupt.clone();
        let mut raised = pin!(interrupt.raised());
        loop {
            self.advance(&mut plan, &mut placed, seats, turnstile, &mut live)
                .await;
            if live.live().len() == 0 {
                return false;
            }
            let (place, ended) = tokio::select! {
                biased;
                ended = live.next() => ended,
                words = turnstile.words() => {
                    self.hear(&mut plan, words);
                    continue;
                }
                () = &mut raised => {
                    self.cancel(&live, seats);
                    return true;
                }
            };
            turnstile.pass(place);
            plan.ended(place);
            match ended {
                Ok((finished, rank)) => seats[place].pay(finished, rank),
                Err(died) => self.died(&mut seats[place], died),
            }
            if self.failed(seats) {
                self.cancel(&live, seats);
                return false;
            }
        }
    }

    /// Places what can be placed and starts what may start, in call order.
    async fn advance(
        &self,
        plan: &mut Plan,
        placed: &mut usize,
        seats: &mut [Seat],
        turnstile: &Arc<Turnstile>,
        live: &mut InFlight,
    ) {
        let cap = self
            .max_concurrency
            .map_or(usize::MAX, |cap| cap.max(1) as usize);
        loop {
            while plan.is_open() && *placed < seats.len() {
                let seat = &seats[*placed];
                let facts = facts::of(seat.parsed.as_ref(), &self.desk, self.policy).await;
                if facts.is_settled(self.policy) {
                    turnstile.pass(*placed);
                }
                plan.push(facts);
                if plan.awaits_permission(*placed) {
                    turnstile.watch(*placed);
                }
                *placed += 1;
            }
            if plan.take_resumed() {
                turnstile.go_on();
            }
            let Some(place) = (live.live().len() < cap)
                .then(|| plan.next_ready())
                .flatten()
            else {
                return;
            };
            match seats[place].parsed.take() {
                Some(parsed) => self.start(parsed, turnstile, live),
                // It ended on its way here.
                None => plan.ended(place),
            }
        }
    }

    /// Takes in what calls that others wait for turned out to be.
    fn hear(&self, plan: &mut Plan, words: Vec<(usize, Word)>) {
        for (place, word) in words {
            match word {
                Word::Rewritten(known) => plan.rewritten(place, &facts::known(known, &self.world)),
                Word::Permitted(known) => plan.permitted(place, facts::known(known, &self.world)),
            }
        }
    }

    /// Starts a call as an actor of its own.
    fn start(&self, mut parsed: Parsed, turnstile: &Arc<Turnstile>, live: &mut InFlight) {
        parsed.got_slot(self.world.sim().now_ms());
        let desk = self.desk.clone();
        let completions = self.completions.clone();
        let (number, place) = (parsed.carried().id.number, parsed.carried().place);
        let turnstile = turnstile.clone();
        live.spawn(self.world.sim(), ActorId::call(number), place, async move {
            let finished = perform(parsed, &desk).await;
            turnstile.pass(place);
            (finished, completions.fetch_add(1, Ordering::Relaxed) + 1)
        });
    }

    /// Stops what is in flight. An operation that was announced is never granted.
    fn cancel(&self, live: &InFlight, seats: &[Seat]) {
        for place in live.live() {
            if let Some(owed) = &seats[place].owed {
                self.world.sim().cancel(ActorId::call(owed.call().number));
                self.desk.hooks.cancel(&self.world, owed.call().number);
            }
        }
    }

    fn died(&self, seat: &mut Seat, died: Died) {
        let (class, text) = match died {
            Died::Panicked(what) => (Class::Internal, format!("{BROKEN} ({what})")),
            Died::Cancelled => (Class::Interrupted, INTERRUPTED.to_owned()),
        };
        self.cut_off(seat, seat.log.cut_in(), class, &text);
    }

    /// Pays what no step paid: calls that were cut off, or never began.
    fn pay_the_rest(&self, seats: &mut [Seat], interrupted: bool) {
        for seat in seats.iter_mut().filter(|seat| seat.owed.is_some()) {
            let began = seat.parsed.is_none();
            let (class, text) = match (interrupted, began) {
                (true, true) => (Class::Interrupted, INTERRUPTED),
                (true, false) => (Class::Interrupted, INTERRUPTED_BEFORE),
                (false, true) => (Class::CancelledSibling, CANCELLED),
                (false, false) => (Class::CancelledSibling, CANCELLED_BEFORE),
            };
            self.cut_off(seat, seat.log.cut_in(), class, text);
        }
    }

    /// Pays a call that no step ended, and says so in its events.
    fn cut_off(&self, seat: &mut Seat, step: Step, class: Class, text: &str) {
        let Some(call) = seat.owed.as_ref().map(|owed| owed.call().id.clone()) else {
            return;
        };
        seat.log.push(
            self.world.sim().now_ms(),
            Event::Step(cut_event(call, step, class)),
        );
        self.pay(seat, Finished::cut_off(step, class, text, Times::default()));
    }

    /// The events of a call that the agent does not keep, because its message is not kept.
    pub fn discarded(&self, id: &CallId, tool_use: &ToolUse, text: &str) -> Vec<Event> {
        let mut finished = Finished::cut_off(Step::Lookup, Class::CutCall, text, Times::default());
        let content = finished.take_content();
        vec![
            Event::Call(self.call_event(id, tool_use)),
            Event::Step(cut_event(id.id.clone(), Step::Lookup, Class::CutCall)),
            Event::Result(result_event(id, &finished, &content, self.rank())),
        ]
    }

    fn call_event(&self, id: &CallId, tool_use: &ToolUse) -> trace::Call {
        let input = match serde_json::from_str::<&RawValue>(&tool_use.input) {
            Ok(raw) => raw.to_owned().into(),
            Err(_) => wire::raw::of(&*tool_use.input),
        };
        let found = self.desk.pool.lookup(&tool_use.name);
        let lane = found.map_or(Lane::Own, |entry| entry.lane());
        trace::Call {
            call: id.id.clone(),
            turn: id.turn,
            tool: tool_use.name.clone(),
            lane,
            input,
        }
    }

    fn pay(&self, seat: &mut Seat, finished: Finished) {
        let rank = self.rank();
        seat.pay(finished, rank);
    }

    fn rank(&self) -> u32 {
        self.completions.fetch_add(1, Ordering::Relaxed) + 1
    }
}

const BROKEN: &str = "the tool broke in a way that it should not, and what it was to do may be half \
    done: look before trying again";
const INTERRUPTED: &str = "the user interrupted this call while it ran. What it \
    was to do may be half done: look before trying again.";
const INTERRUPTED_BEFORE: &str =
    "the user interrupted before this call ran. Nothing of it was done.";
const CANCELLED: &str = "another call of the same message failed and this one \
    was stopped while it ran. Look what is done before trying again.";
const CANCELLED_BEFORE: &str = "another call of the same message failed, so \
    this one did not run. Nothing of it was done: send it again if it is still wanted.";

impl Seat {
    fn pay(&mut self, finished: Finished, rank: u32) {
        if let Some(owed) = self.owed.take() {
            self.paid = Some((owed.pay(finished), rank));
        }
    }

    fn done(self) -> Option<DoneCall> {
        let (paid, completed) = self.paid?;
        Some(DoneCall {
            paid,
            tool: self.tool_use.name,
            completed,
            events: self.log.take(),
        })
    }
}

fn cut_event(call: Arc<str>, step: Step, class: Class) -> trace::StepEvent {
    trace::StepEvent {
        call,
        step,
        verdict: trace::Verdict::Stop,
        class: Some(class),
        detail: None,
        queued_ms: 0,
        took_ms: 0,
    }
}

/// The last event of a call, whose result has `content`.
pub fn result_event(
    call: &CallId,
    finished: &Finished,
    content: &Content,
    completed: u32,
) -> trace::CallResult {
    trace::CallResult {
        call: call.id.clone(),
        class: finished.outcome.class,
        flags: finished.outcome.flags.clone(),
        is_error: finished.outcome.is_error(),
        content: content.to_raw(),
        full_chars: finished.full_chars,
        saved_to: finished.saved_to.clone(),
        completed,
        run_ms: finished.times.running_ms,
    }
}
