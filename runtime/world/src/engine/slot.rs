//! One agent in the engine: its loop, its mail, and one step of its work.

use super::Lines;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::RunError;
use chartc_runtime::agent::Agent;
use chartc_runtime::trace::Cause;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Wake, Waker};
use std::thread::{Builder, Scope, available_parallelism};
use tokio::runtime::Handle;

/// The phase of an agent's loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// It has not begun a turn yet.
    Starting,
    /// A turn is under way.
    Running,
    /// It waits for its next turn, which begins at this time at the latest; `None` if only an event can wake it.
    Sleeping(Option<Instant>),
    /// It takes no turns until it is resumed.
    Paused(String),
    /// It finishes its turn and takes no more.
    Stopping,
    /// Its chart has ended, or it was stopped.
    Stopped,
    /// It cannot continue, for this reason.
    Broken(String),
}

impl Loop {
    /// Its name.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Sleeping(_) => "sleeping",
            Self::Paused(_) => "paused",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Broken(_) => "broken",
        }
    }

    /// The reason why it is paused or broken.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Paused(why) | Self::Broken(why) => Some(why),
            _ => None,
        }
    }

    /// The reason why it cannot continue, if it is broken.
    pub fn broken(&self) -> Option<&str> {
        match self {
            Self::Broken(why) => Some(why),
            _ => None,
        }
    }

    /// Whether it will take no more turns.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Stopped | Self::Broken(_))
    }
}

/// An event for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mail {
    pub(crate) event: String,
    pub(crate) data: Map,
    pub(crate) cause: Cause,
}

/// Tells the engine that an agent can continue.
pub(super) struct AgentWaker {
    pub(super) index: usize,
    pub(super) woken: Arc<super::ReadyQueue>,
}

impl Wake for AgentWaker {
    fn wake(self: Arc<Self>) {
        self.woken.put(self.index);
    }
}

/// An agent, and what the engine knows about it.
pub(super) struct Slot<M> {
    pub(super) name: Arc<str>,
    pub(super) kind: Origin,
    pub(super) agent: Agent<M, Lines>,
    pub(super) lines: Lines,
    pub(super) mode: Loop,
    pub(super) mail: VecDeque<Mail>,
    /// Whether it begins a turn when it next continues.
    pub(super) wants_turn: bool,
    /// The number of consecutive failed turns.
    pub(super) failures: u32,
    /// Whether its chart does anything in a turn.
    pub(super) has_turns: bool,
    /// The provider that answers it.
    pub(super) provider: Arc<str>,
    pub(super) flag: Arc<AgentWaker>,
    /// Whether it has changed since it was last saved.
    pub(super) is_changed: bool,
    /// The reason why the run of the world must end: no model has answered any agent yet, and none can be asked.
    pub(super) no_model: Option<String>,
    pub(super) meter: Option<Meter>,
    pub(super) used: Use,
}

impl<M: Machine> Slot<M> {
    /// Continues as far as possible at this moment. Only this agent's own data is used, so agents can continue in parallel.
    pub(super) fn go(&mut self, now: Instant) {
        if self.mode.is_over() {
            self.mail.clear();
            return;
        }
        self.is_changed = true;
        let before = self.meter.map(|meter| (meter, meter().0));
        let done = self.steps(now);
        if let Some((meter, before)) = before {
            let (after, memory_bytes) = meter();
            self.used.cpu_us += after.saturating_sub(before);
            self.used.memory_bytes = memory_bytes;
        }
        if let Err(why) = done {
            self.mode = Loop::Broken(why.to_string());
            if let RunError::NoModel { .. } = why {
                self.no_model = Some(format!("{}: {why}", self.name));
            }
        }
    }

    fn steps(&mut self, now: Instant) -> Result<(), RunError> {
        let waker = Waker::from(self.flag.clone());
        let mut cx = Context::from_waker(&waker);
        self.agent.enter()?;
        self.agent.work(now, &mut cx)?;
        while let Some(mail) = self.mail.pop_front() {
            self.lines.set_cause(Some(mail.cause.clone()));
            let receipt = self.agent.post_event(&mail.event, mail.data.clone());
            self.lines.set_cause(None);
            match receipt {
                // The agent is in a turn. Its mail keeps its order, and this event is tried again later.
                Ok(Receipt::Busy) => {
                    self.mail.push_front(mail);
                    break;
                }
                Ok(_) => {}
                // An event that does not fit is the sender's fault, and is in the log.
                Err(why) if why.is_about_input() => {}
                Err(why) => return Err(why),
            }
            self.agent.work(now, &mut cx)?;
        }
        if self.wants_turn && self.agent.session().status().is_none() {
            self.wants_turn = false;
            if self.agent.begin_turn()? == Receipt::Busy {
                self.wants_turn = true;
            }
            self.used.turns += u64::from(!self.wants_turn);
            self.agent.work(now, &mut cx)?;
        }
        Ok(())
    }

    /// Why it is idle; `None` if it would go on.
    pub(super) fn idle(&self) -> Option<String> {
        let session = self.agent.session();
        let waits = session.waits_for();
        match (&self.mode, session.status()) {
            (Loop::Broken(why), _) => Some(format!("broken, {why}")),
            (_, Some(status)) => Some(format!("ended {}", status.word())),
            (Loop::Paused(why), _) => Some(format!("paused, {why}")),
            _ if !waits.is_empty() => Some(format!("waits for {}", waits.join(", "))),
            _ => None,
        }
    }

    /// Whether it is a part of the world instead of an agent.
    pub(super) const fn is_service(&self) -> bool {
        matches!(self.kind, Origin::Service)
    }

    /// Whether the turn's thinking is finished.
    pub(super) fn has_thought(&self) -> bool {
        self.agent.has_thought()
    }

    /// The next time at which time alone changes something.
    pub(super) fn next_change(&self) -> Option<Instant> {
        if self.mode.is_over() { None } else { self.agent.session().next_change() }
    }
}

// The threads on which agents think.

pub(super) type Share<M> = Vec<(usize, Box<Slot<M>>)>;

/// The threads. With a single one, agents run on the engine's own thread.
pub struct WorkerPool<M> {
    hands: Vec<Sender<(Instant, Share<M>)>>,
    done: Option<Receiver<Share<M>>>,
}

/// The number of threads for a number that a user gives; 0 means one for each processor.
pub fn workers(wanted: usize) -> usize {
    match wanted {
        0 => available_parallelism().map_or(1, usize::from),
        some => some.min(256),
    }
}

impl<M: Machine + Send> WorkerPool<M> {
    /// Only the engine's own thread.
    pub fn alone() -> Self {
        Self { hands: Vec::new(), done: None }
    }

    /// This number of threads, which end with the scope. Calls of models need the runtime of `handle`.
    ///
    /// # Errors
    /// The operating system cannot start so many threads.
    pub fn within<'scope>(
        scope: &'scope Scope<'scope, '_>,
        count: usize,
        handle: &Handle,
    ) -> io::Result<Self>
    where
        M: 'scope,
    {
        if count <= 1 {
            return Ok(Self::alone());
        }
        let (finished, done) = channel();
        let hand = |_| {
            let (give, take) = channel::<(Instant, Share<M>)>();
            let (finished, handle) = (finished.clone(), handle.clone());
            Builder::new().spawn_scoped(scope, move || {
                let _within = handle.enter();
                while let Ok((now, mut share)) = take.recv() {
                    go(&mut share, now);
                    if finished.send(share).is_err() {
                        break;
                    }
                }
            })?;
            Ok(give)
        };
        let hands = (0..count).map(hand).collect::<io::Result<_>>()?;
        Ok(Self { hands, done: Some(done) })
    }

    /// Lets agents continue, and returns them in the order of their numbers.
    pub(super) fn go(&self, mut all: Share<M>, now: Instant) -> Share<M> {
        let Some(done) = self.done.as_ref().filter(|_| all.len() > 1) else {
            go(&mut all, now);
            return all;
        };
        let each = all.len().div_ceil(self.hands.len());
        let mut out = Vec::with_capacity(all.len());
        let mut given = 0;
        for hand in &self.hands {
            let rest = all.split_off(each.min(all.len()));
            let share = std::mem::replace(&mut all, rest);
            if share.is_empty() {
                break;
            }
            // A thread ends only with this pool, because `go` catches the panics of agents.
            match hand.send((now, share)) {
                Ok(()) => given += 1,
                Err(back) => {
                    let (_, mut share) = back.0;
                    go(&mut share, now);
                    out.append(&mut share);
                }
            }
        }
        for _ in 0..given {
            if let Ok(mut share) = done.recv() {
                out.append(&mut share);
            }
        }
        out.sort_unstable_by_key(|(index, _)| *index);
        out
    }
}

/// Lets agents continue. If the code of one panics, that agent is broken, and the others continue.
fn go<M: Machine>(share: &mut Share<M>, now: Instant) {
    for (_, slot) in share {
        if catch_unwind(AssertUnwindSafe(|| slot.go(now))).is_err() {
            slot.mode = Loop::Broken("its code has panicked".into());
        }
    }
}

/// What the processor and the memory have been used for an agent, as far as they were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Use {
    /// The turns that have begun.
    pub turns: u64,
    /// The time of the processor, in microseconds.
    pub cpu_us: u64,
    /// The memory of the process after its last piece of work, in bytes. All agents share it.
    pub memory_bytes: u64,
}

/// Measures the calling thread: its time of the processor since it began, in microseconds, and the memory of its process, in bytes.
pub type Meter = fn() -> (u64, u64);

/// The origin of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Origin {
    /// The run file names it; this is its number there.
    Configured(usize),
    /// Another agent has made it.
    Spawned,
    /// It is part of the world.
    Service,
}
