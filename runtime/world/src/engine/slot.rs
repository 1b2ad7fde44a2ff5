//! One agent in the engine: its loop, its mail, and one step of its work.

use super::kept::Origin;
use super::lines::Lines;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::RunError;
use chartc_runtime::agent::Agent;
use chartc_runtime::trace::Cause;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

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
    pub(super) woken: Arc<super::ready_queue::ReadyQueue>,
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
}

impl<M: Machine> Slot<M> {
    /// Continues as far as possible at this moment. Only this agent's own data is used, so agents can continue in parallel.
    pub(super) fn go(&mut self, now: Instant) {
        if self.mode.is_over() {
            self.mail.clear();
            return;
        }
        self.is_changed = true;
        if let Err(why) = self.steps(now) {
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
            self.agent.work(now, &mut cx)?;
        }
        Ok(())
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
