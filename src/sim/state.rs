//! What the scheduler knows: who lives, what is announced, what was chosen.

use super::clock::Timers;
use super::joined::{Died, End};
use super::{ActorId, Op, Schedule, SimError, Strategy};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::Waker;

/// An actor's future with its waker and the place for its value.
pub(super) struct Task {
    pub future: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub waker: Waker,
    pub end: std::sync::Arc<dyn End>,
}

/// One live actor.
#[derive(Default)]
pub(super) struct Live {
    /// Absent while it is polled, and for the root, which the driver holds.
    pub task: Option<Task>,
    /// The operation granted to it last, and in whose name it was announced.
    pub last: Option<(ActorId, Op)>,
    /// It was cancelled while it was polled.
    pub cancelled: bool,
}

/// An announced operation that is not granted yet.
struct Announced {
    /// In whose name.
    actor: ActorId,
    /// The order of announcing.
    ticket: u64,
    op: Op,
    /// The actor in whose future it was announced, for reports.
    by: ActorId,
    waker: Waker,
}

/// The state of one simulation.
pub(super) struct State {
    strategy: Box<dyn Strategy>,
    pub timers: Timers,
    pub actors: BTreeMap<ActorId, Live>,
    /// Sorted by actor, then by ticket. Only the first of each actor can be granted:
    /// what one actor announces is granted in that order, so that a schedule needs
    /// no more than the actor's id.
    announced: Vec<Announced>,
    next_ticket: u64,
    pub schedule: Schedule,
    /// Whose future is being polled.
    pub polling: ActorId,
    /// A panic that nobody waits for.
    pub orphan: Option<(ActorId, String)>,
    pub running: bool,
    /// The run has ended: who is spawned now is never polled.
    pub ended: bool,
}

impl State {
    pub fn new(strategy: Box<dyn Strategy>) -> State {
        State {
            strategy,
            timers: Timers::default(),
            actors: BTreeMap::new(),
            announced: Vec::new(),
            next_ticket: 0,
            schedule: Schedule::default(),
            polling: ActorId::AGENT,
            orphan: None,
            running: false,
            ended: false,
        }
    }

    fn place_of(&self, actor: ActorId, ticket: u64) -> Result<usize, usize> {
        self.announced
            .binary_search_by(|a| (a.actor, a.ticket).cmp(&(actor, ticket)))
    }

    /// Notes an operation as announced and gives its ticket.
    pub fn announce(&mut self, actor: ActorId, op: Op, waker: &Waker) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let place = self.announced.partition_point(|a| a.actor <= actor);
        let entry = Announced {
            actor,
            ticket,
            op,
            by: self.polling,
            waker: waker.clone(),
        };
        self.announced.insert(place, entry);
        ticket
    }

    /// Whether an announced operation still waits; `waker` is then woken at its grant.
    pub fn still_waits(&mut self, actor: ActorId, ticket: u64, waker: &Waker) -> bool {
        match self.place_of(actor, ticket) {
            Ok(place) => {
                let entry = &mut self.announced[place];
                if !entry.waker.will_wake(waker) {
                    entry.waker = waker.clone();
                }
                true
            }
            Err(_) => false,
        }
    }

    /// Takes an announcement back, if it is not granted yet.
    pub fn withdraw(&mut self, actor: ActorId, ticket: u64) -> Option<Waker> {
        let place = self.place_of(actor, ticket).ok()?;
        Some(self.announced.remove(place).waker)
    }

    /// Grants one announced operation and gives the waker of who announced it.
    pub fn grant(&mut self) -> Result<Option<Waker>, SimError> {
        let (Some(first), Some(last)) = (self.announced.first(), self.announced.last()) else {
            return Ok(None);
        };
        // Sorted: if the ends are one actor's, all are, and there is nothing to choose.
        let place = if first.actor == last.actor {
            0
        } else {
            self.choose()?
        };
        let granted = self.announced.remove(place);
        if let Some(live) = self.actors.get_mut(&granted.by) {
            live.last = Some((granted.actor, granted.op));
        }
        Ok(Some(granted.waker))
    }

    /// Asks the strategy which actor goes on; gives the place of its first announcement.
    fn choose(&mut self) -> Result<usize, SimError> {
        let mut places: Vec<usize> = Vec::with_capacity(self.announced.len());
        let mut enabled: Vec<(ActorId, &Op)> = Vec::with_capacity(self.announced.len());
        for (place, entry) in self.announced.iter().enumerate() {
            if enabled
                .last()
                .is_none_or(|(actor, _)| *actor != entry.actor)
            {
                places.push(place);
                enabled.push((entry.actor, &entry.op));
            }
        }
        let chosen = self.strategy.choose(&enabled).map_err(SimError::Schedule)?;
        match (places.get(chosen), enabled.get(chosen)) {
            (Some(&place), Some(&(actor, _))) => {
                self.schedule.choices.push(actor);
                Ok(place)
            }
            _ => Err(SimError::Schedule(format!(
                "the strategy chose number {chosen} of {}",
                enabled.len()
            ))),
        }
    }

    /// Asks the strategy whether it is content with where the run ended.
    pub fn finish(&mut self) -> Result<(), SimError> {
        self.strategy.finish().map_err(SimError::Schedule)
    }

    /// What each live actor did last and until when it sleeps, in the order of ids.
    pub fn report(&self) -> Vec<(ActorId, String)> {
        let line = |(&id, live): (&ActorId, &Live)| {
            let mut text = match &live.last {
                None => "nothing".to_owned(),
                Some((actor, op)) if *actor == id => op.to_string(),
                Some((actor, op)) => format!("{op} as {actor}"),
            };
            if let Some(at_ms) = self.timers.sleeps_until_ms(id) {
                text.push_str(&format!(", sleeps until {at_ms} ms"));
            }
            (id, text)
        };
        self.actors.iter().map(line).collect()
    }

    /// Takes an actor out for being cancelled. One that is being polled is only marked;
    /// the driver drops it when the poll returns. The root cannot be cancelled.
    pub fn take_for_cancel(&mut self, id: ActorId) -> Option<Task> {
        let live = self.actors.get_mut(&id)?;
        if live.task.is_some() {
            return self.actors.remove(&id).and_then(|live| live.task);
        }
        live.cancelled = id != ActorId::AGENT;
        None
    }
}

/// Drops an actor's future, then says to who waits for it why there is no value.
/// Gives what a destructor said if it panicked.
pub(super) fn bury(task: Task, why: Died) -> (bool, Option<String>) {
    let Task { future, waker, end } = task;
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(future)));
    drop(waker);
    let heard = end.died(why);
    let said = dropped
        .err()
        .map(|payload| super::joined::panic_message(&*payload));
    (heard, said)
}
