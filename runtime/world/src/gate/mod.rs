//! The gate: calls of models and tools wait here until the windows of their agent and of their provider have room.
//!
//! A call of a [`Gated`] driver takes a ticket. The engine calls [`Gate::admit`] when no agent can continue, so the set of tickets is the
//! same each time the run is repeated. Tickets are granted in an order that does not depend on threads.
//!
//! Each provider has a queue, which is served in rounds. Each waiting agent has one ticket in a round, so an agent with many calls does not
//! delay the others. If a call is too large for the room that is left, smaller calls of other agents do not overtake it.
//!
//! ```text
//! tickets    ada 1, ada 2, ada 3, ben 4            a window with room for 2 calls
//! queue      round 0: ada 1, ben 4   round 1: ada 2   round 2: ada 3
//! admit      grants ada 1 and ben 4; returns the time at which the window has room again
//! admit      at that time: grants ada 2 and ada 3
//! ```

mod driver;
mod queue;
#[cfg(test)]
mod tests;

pub use driver::Gated;

use crate::config::{LlmBudget, RateLimiting};
use crate::rates::{Budgets, Exhausted, Refusal, Spent, Uses, Whose, Windows};
use chartc_core::machine::Instant;
use chartc_runtime::budget::Prices;
use chartc_runtime::oracle::OracleError;
use queue::Queue;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The gate of all agents. Clones share its state.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Mutex<State>>);

/// The reason why an agent may not think now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// Its budget is used up for the rest of the run.
    #[error("{0}")]
    Budget(Exhausted),
    /// A window has no room.
    #[error("{0}")]
    Rate(Refusal),
}

/// The counts of a gate, for a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counted {
    uses: Uses,
    spent: BTreeMap<String, Spent>,
    /// The calls under way. After a restart they are made again, and are admitted at once because they already count.
    #[serde(default)]
    open: Vec<Open>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_answered: bool,
}

#[derive(Debug)]
struct State {
    windows: Windows,
    budgets: Budgets,
    bounded: BTreeSet<String>,
    is_limited: bool,
    tickets: BTreeMap<u64, Ticket>,
    /// The tickets that are not in a queue yet.
    fresh: Vec<u64>,
    queues: BTreeMap<String, Queue>,
    /// The calls under way, by agent and id.
    open: BTreeMap<(String, String), Open>,
    /// The calls that were under way at the checkpoint and have not been made again yet.
    again: BTreeMap<(String, String), Open>,
    /// Whether a model has answered any agent so far.
    has_answered: bool,
    /// The number of the next ticket. The tickets of one agent ascend in the order of its calls. The order among agents depends on threads,
    /// so it must not decide anything.
    next: u64,
}

/// A call under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    agent: String,
    call: String,
    provider: String,
    number: u64,
    bound: Spent,
    prices: Prices,
}

/// The request of a call.
#[derive(Debug, Clone)]
struct Wish {
    agent: String,
    /// The id of the call.
    call: String,
    /// The provider; empty if the call needs none.
    provider: String,
    amounts: Vec<(&'static str, u64)>,
    /// The amounts to hold of the agent's budget.
    bound: Spent,
    prices: Prices,
}

#[derive(Debug)]
struct Ticket {
    wish: Wish,
    verdict: Option<Result<u64, OracleError>>,
    waker: Option<Waker>,
    /// The position in the queue of its provider.
    place: Option<queue::QueuePosition>,
}

impl Gate {
    /// A gate with these limits, at which nothing has been used.
    pub fn new(limits: &RateLimiting) -> Self {
        let is_limited =
            limits.enabled && !(limits.resources.is_empty() && limits.providers.is_empty());
        Self(Arc::new(Mutex::new(State {
            windows: Windows::new(limits),
            budgets: Budgets::default(),
            bounded: BTreeSet::new(),
            is_limited,
            tickets: BTreeMap::new(),
            fresh: Vec::new(),
            queues: BTreeMap::new(),
            open: BTreeMap::new(),
            again: BTreeMap::new(),
            has_answered: false,
            next: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the budget of an agent for the run.
    pub fn set_budget(&self, agent: &str, most: LlmBudget) {
        let mut state = self.state();
        state.budgets.set(agent, most);
        if most == LlmBudget::default() {
            state.bounded.remove(agent);
        } else {
            state.bounded.insert(agent.to_owned());
        }
    }

    /// Lets `agent` use the budget of `with`, which has usually spawned it. Otherwise agents could increase their budgets by spawning.
    pub fn share_budget(&self, agent: &str, with: &str) {
        let mut state = self.state();
        state.budgets.share(agent, with);
        if state.bounded.contains(with) {
            state.bounded.insert(agent.to_owned());
        }
    }

    /// Checks that an agent may think now: it has some budget left, and the windows have room for a call.
    ///
    /// # Errors
    /// The reason why it may not.
    pub fn ensure_can_call(&self, agent: &str, provider: &str, now: Instant) -> Result<(), Closed> {
        let mut state = self.state();
        state.budgets.check(agent).map_err(Closed::Budget)?;
        let least = [("llm_calls", 1), ("llm_tokens", 1)];
        state.windows.room(agent, provider, &least, now).map_err(Closed::Rate)
    }

    /// Takes an amount of a resource that needs no call, such as `actions`.
    ///
    /// # Errors
    /// The reason why there is no room. Nothing was taken.
    pub fn take(
        &self,
        agent: &str,
        resource: &str,
        amount: u64,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.state().windows.admit(agent, "", &[(resource, amount)], now).map(|_| ())
    }

    /// Grants the tickets that have room, and wakes their futures. The engine calls it when no agent can continue. `order` returns the
    /// position of an agent among the others. Returns the time at which there may be room for more; `None` if no call waits for room.
    pub fn admit<K: Ord>(&self, now: Instant, order: impl Fn(&str) -> K) -> Option<Instant> {
        let mut state = self.state();
        let (next, woken) = state.admit(now, order);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        next
    }

    /// The number of calls that wait.
    pub fn waiting(&self) -> usize {
        self.state().tickets.values().filter(|ticket| ticket.verdict.is_none()).count()
    }

    /// The amounts that an agent has spent on models.
    pub fn spent(&self, agent: &str) -> Spent {
        self.state().budgets.spent(agent)
    }

    /// The counts for a checkpoint. Waiting calls are not part of it, because they are made again after a restart.
    pub fn save(&self) -> Counted {
        let state = self.state();
        let open = state.open.values().chain(state.again.values()).cloned().collect();
        let has_answered = state.has_answered;
        Counted { uses: state.windows.save(), spent: state.budgets.save(), open, has_answered }
    }

    /// Restores the counts of a checkpoint.
    pub fn load(&self, counted: Counted) {
        let mut state = self.state();
        state.windows.load(counted.uses);
        state.budgets.load(counted.spent);
        state.has_answered = counted.has_answered;
        let key = |open: &Open| (open.agent.clone(), open.call.clone());
        state.again = counted.open.into_iter().map(|open| (key(&open), open)).collect();
    }
}

impl State {
    fn ticket(&mut self, wish: Wish) -> u64 {
        let id = self.next;
        self.next += 1;
        // Without limits that apply to the agent, its calls need not wait.
        let is_free = !self.is_limited && !self.bounded.contains(&wish.agent);
        let again = self.again.remove(&(wish.agent.clone(), wish.call.clone()));
        let mut ticket = Ticket { wish, verdict: None, waker: None, place: None };
        if let Some(Open { provider, number, bound, prices, .. }) = again {
            // The call was admitted before the checkpoint, and counts already.
            self.budgets.hold(&ticket.wish.agent, bound);
            ticket.wish = Wish { provider, bound, prices, ..ticket.wish };
            ticket.verdict = Some(Ok(number));
        } else if is_free {
            self.budgets.hold(&ticket.wish.agent, ticket.wish.bound);
            ticket.verdict = Some(Ok(u64::MAX));
        } else {
            self.fresh.push(id);
        }
        self.tickets.insert(id, ticket);
        id
    }

    fn admit<K: Ord>(
        &mut self,
        now: Instant,
        order: impl Fn(&str) -> K,
    ) -> (Option<Instant>, Vec<Waker>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|id| self.tickets.contains_key(id));
        // The numbers of tickets depend on threads across agents, so the order of agents comes first.
        fresh.sort_by_cached_key(|id| (order(&self.tickets[id].wish.agent), *id));
        for id in fresh {
            let Some(ticket) = self.tickets.get_mut(&id) else { continue };
            let queue = self.queues.entry(ticket.wish.provider.clone()).or_default();
            ticket.place = Some(queue.push(&ticket.wish.agent, id));
        }
        let (mut next, mut woken) = (None, Vec::new());
        let mut queues = std::mem::take(&mut self.queues);
        for queue in queues.values_mut() {
            let until = self.serve(queue, now, &mut woken);
            next = next.into_iter().chain(until).min();
        }
        queues.retain(|_, queue| !queue.is_empty());
        self.queues = queues;
        (next, woken)
    }

    /// Grants the tickets of a queue that have room. Without room in its own windows, only the agent waits; without room in the provider's
    /// windows, the whole queue does.
    fn serve(
        &mut self,
        queue: &mut Queue,
        now: Instant,
        woken: &mut Vec<Waker>,
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut held_up = BTreeSet::new();
        let mut after = None;
        while let Some((place, id)) = queue.next(after) {
            after = Some(place);
            let Some(ticket) = self.tickets.get_mut(&id) else { continue };
            let Wish { agent, provider, amounts, bound, .. } = &ticket.wish;
            if held_up.contains(agent) {
                continue;
            }
            let is_model = bound.llm_calls > 0;
            let checked = if is_model { self.budgets.check(agent) } else { Ok(()) };
            let verdict = match checked {
                Err(exhausted) => Err(OracleError::Denied(exhausted.to_string())),
                Ok(()) => match self.windows.admit(agent, provider, amounts, now) {
                    Ok(number) => Ok(number),
                    Err(Refusal::Full { until, whose }) => {
                        next = next.into_iter().chain([until]).min();
                        match whose {
                            Whose::Agent => held_up.insert(agent.clone()),
                            Whose::Provider => break,
                        };
                        continue;
                    }
                    Err(never @ Refusal::TooLarge { .. }) => {
                        Err(OracleError::Denied(never.to_string()))
                    }
                },
            };
            if verdict.is_ok() {
                self.budgets.hold(agent, *bound);
            }
            queue.served(place);
            ticket.place = None;
            ticket.verdict = Some(verdict);
            woken.extend(ticket.waker.take());
        }
        next
    }

    /// Withdraws the ticket of a future that was dropped.
    fn withdraw(&mut self, id: u64) {
        let Some(ticket) = self.tickets.remove(&id) else { return };
        if let (Some(place), Some(queue)) =
            (ticket.place, self.queues.get_mut(&ticket.wish.provider))
        {
            queue.remove(place);
        }
        if let Some(Ok(number)) = ticket.verdict {
            // The call was not made, so it uses nothing.
            self.settle(&ticket.wish, number, Some(Spent::default()));
            for (resource, _) in &ticket.wish.amounts {
                let Wish { agent, provider, .. } = &ticket.wish;
                self.windows.settle(agent, provider, number, resource, 0);
            }
        }
    }

    /// Records that an admitted call begins.
    fn begin(&mut self, wish: &Wish, number: u64) {
        let Wish { agent, call, provider, bound, prices, .. } = wish.clone();
        let key = (agent.clone(), call.clone());
        self.open.insert(key, Open { agent, call, provider, number, bound, prices });
    }

    /// Records that a call has ended. If its actual amounts are unknown, those that were held for it count.
    fn settle(&mut self, wish: &Wish, number: u64, actual: Option<Spent>) {
        self.open.remove(&(wish.agent.clone(), wish.call.clone()));
        let actual = actual.unwrap_or(wish.bound);
        self.budgets.settle(&wish.agent, wish.bound, actual);
        if wish.bound.llm_calls > 0 {
            let Wish { agent, provider, .. } = wish;
            self.windows.settle(agent, provider, number, "llm_tokens", actual.llm_tokens);
        }
    }
}
