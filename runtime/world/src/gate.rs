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

#[cfg(test)]
mod tests;

use crate::config::{LlmBudget, RateLimiting};
use crate::rates::{Budgets, Exhausted, Refusal, Spent, Uses, Whose, Windows};
use chartc_core::host::ToolCall;
use chartc_core::machine::Instant;
use chartc_runtime::budget::{OUTPUT, Prices};
use chartc_runtime::driver::{CallId, Driver, Probe};
use chartc_runtime::oracle::{Answer, Asking, Kind, OracleError, Question};
use chartc_runtime::tools::Calling;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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
    place: Option<QueuePosition>,
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

    /// Lets `agent` use the budget and the windows of `with`, which has usually spawned it. Otherwise agents could increase them by spawning.
    pub fn share_limits(&self, agent: &str, with: &str) {
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
        let payer = state.budgets.payer(agent).to_owned();
        state.windows.room(&payer, provider, &least, now).map_err(Closed::Rate)
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
        let mut state = self.state();
        let payer = state.budgets.payer(agent).to_owned();
        state.windows.admit(&payer, "", &[(resource, amount)], now).map(|_| ())
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
            let payer = self.budgets.payer(agent);
            let is_model = bound.llm_calls > 0;
            let checked = if is_model { self.budgets.check(agent) } else { Ok(()) };
            let verdict = match checked {
                Err(exhausted) => Err(OracleError::Denied(exhausted.to_string())),
                Ok(()) => match self.windows.admit(payer, provider, amounts, now) {
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
                let payer = self.budgets.payer(agent);
                self.windows.settle(payer, provider, number, resource, 0);
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
            let payer = self.budgets.payer(&wish.agent);
            self.windows.settle(payer, &wish.provider, number, "llm_tokens", actual.llm_tokens);
        }
    }
}

// A driver whose calls wait at the gate.

/// A driver whose calls of models and tools wait until the gate admits them. Questions to people do not wait.
pub struct Gated<D: ?Sized> {
    gate: Gate,
    /// The agent that makes the calls; `None` if it has the name of the run.
    agent: Option<Arc<str>>,
    provider: Arc<str>,
    inner: Arc<D>,
}

impl<D: Driver + ?Sized> Gated<D> {
    /// A driver for the calls of one agent. `provider` is the one for models without a provider in their names; `*` if it is unknown.
    pub fn new(gate: Gate, agent: &str, provider: &str, inner: Arc<D>) -> Self {
        Self { agent: Some(agent.into()), ..Self::of_runs(gate, provider, inner) }
    }

    /// A driver for the calls of many agents. The name of a run is that of its agent: see
    /// [`Session::with_run`](chartc_runtime::Session::with_run).
    pub fn of_runs(gate: Gate, provider: &str, inner: Arc<D>) -> Self {
        Self { gate, agent: None, provider: provider.into(), inner }
    }

    fn agent(&self, id: &CallId) -> String {
        self.agent.as_ref().unwrap_or(&id.run).to_string()
    }

    fn wish(&self, id: &CallId, question: &mut Question) -> Wish {
        let provider = match question.model.model.split_once(':') {
            Some((provider, _)) => provider.to_owned(),
            None => self.provider.to_string(),
        };
        let input = question.token_bound();
        let most = self.gate.state().windows.most(&provider, "llm_tokens");
        if let (None, Some(room)) =
            (question.model.max_tokens, most.and_then(|most| most.checked_sub(input)))
            && room < OUTPUT
            && room > 0
        {
            // No one has limited the length of the answer, so it may be as long as a whole window allows. With the default, the call would
            // never fit.
            question.model.max_tokens = Some(room);
        }
        let output = question.model.max_tokens.unwrap_or(OUTPUT);
        let prices = question.model.prices;
        let llm_tokens = input.saturating_add(output);
        let cost = prices.of(input, output);
        Wish {
            agent: self.agent(id),
            call: id.to_string(),
            provider,
            amounts: vec![("llm_calls", 1), ("llm_tokens", llm_tokens)],
            bound: Spent { llm_calls: 1, llm_tokens, cost },
            prices,
        }
    }

    fn waits(&self, wish: Wish) -> Waits {
        let id = self.gate.state().ticket(wish);
        Waits { gate: self.gate.clone(), id: Some(id) }
    }
}

impl<D: Driver + ?Sized + 'static> Driver for Gated<D> {
    fn ask(&self, id: &CallId, mut question: Arc<Question>) -> Asking {
        // A recording already contains the waits.
        if question.kind == Kind::Human || self.inner.keeps_time() {
            return self.inner.ask(id, question);
        }
        let wish = self.wish(id, Arc::make_mut(&mut question));
        let (waits, inner, id) = (self.waits(wish), self.inner.clone(), id.clone());
        Box::pin(async move {
            let mut pass = waits.await?;
            let answer = inner.ask(&id, question).await;
            pass.settle(&answer);
            answer
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        if self.inner.keeps_time() {
            return self.inner.call(id, call);
        }
        let waits = self.waits(Wish {
            agent: self.agent(id),
            call: id.to_string(),
            provider: String::new(),
            amounts: vec![("tool_calls", 1)],
            bound: Spent::default(),
            prices: Prices::default(),
        });
        let (inner, id) = (self.inner.clone(), id.clone());
        Box::pin(async move {
            let _pass = waits.await?;
            inner.call(&id, call).await
        })
    }

    fn probe(&self, id: &CallId) -> Probe {
        self.inner.probe(id)
    }

    fn keeps_time(&self) -> bool {
        self.inner.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.gate.state().has_answered || self.inner.has_answered()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

/// A future that resolves when the gate has decided. Dropping it before withdraws the ticket.
struct Waits {
    gate: Gate,
    id: Option<u64>,
}

impl Future for Waits {
    type Output = Result<Pass, OracleError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(id) = self.id else { return Poll::Pending };
        let mut state = self.gate.state();
        let Some(ticket) = state.tickets.get_mut(&id) else { return Poll::Pending };
        if ticket.verdict.is_none() {
            ticket.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let ticket = state.tickets.remove(&id);
        if let Some(Ticket { wish, verdict: Some(Ok(number)), .. }) = &ticket {
            state.begin(wish, *number);
        }
        drop(state);
        self.id = None;
        let Some(Ticket { wish, verdict: Some(verdict), .. }) = ticket else {
            return Poll::Pending;
        };
        Poll::Ready(
            verdict.map(|number| Pass { gate: self.gate.clone(), call: Some((wish, number)) }),
        )
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.gate.state().withdraw(id);
        }
    }
}

/// An admitted call. If it is dropped without an answer, the amounts that were held for it count as used.
struct Pass {
    gate: Gate,
    call: Option<(Wish, u64)>,
}

impl Pass {
    fn settle(&mut self, answer: &Result<Answer, OracleError>) {
        let Some((wish, number)) = self.call.take() else { return };
        let spent = |tokens, cost| Spent { llm_calls: 1, llm_tokens: tokens, cost };
        let actual = match answer {
            Ok(Answer { usage: Some(usage), .. }) => {
                let amount = wish.prices.amount(*usage);
                Some(spent(amount.tokens, amount.cost))
            }
            Ok(Answer { usage: None, .. }) => None,
            Err(error) if error.may_be_billed() => None,
            // Errors before the provider did any work cost nothing.
            Err(_) => Some(spent(0, 0)),
        };
        let mut state = self.gate.state();
        state.has_answered |= answer.is_ok();
        state.settle(&wish, number, actual);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some((wish, number)) = self.call.take() {
            self.gate.state().settle(&wish, number, None);
        }
    }
}

// The calls that wait for one provider.

/// The position of a ticket: its round, and its order of arrival.
type QueuePosition = (u64, u64);

/// A queue that is served in rounds, with one ticket of each agent in a round.
#[derive(Debug, Default)]
struct Queue {
    waiting: BTreeMap<QueuePosition, (String, u64)>,
    /// The round that is being served.
    round: u64,
    arrived: u64,
    /// The last round in which each agent has a ticket.
    last: BTreeMap<String, u64>,
}

impl Queue {
    /// Adds a ticket at the end of the first round in which the agent has none.
    fn push(&mut self, agent: &str, ticket: u64) -> QueuePosition {
        let own = self.last.get(agent).map_or(0, |last| last + 1);
        let place = (self.round.max(own), self.arrived);
        self.arrived += 1;
        self.last.insert(agent.to_owned(), place.0);
        self.waiting.insert(place, (agent.to_owned(), ticket));
        place
    }

    /// The first ticket after a position.
    fn next(&self, after: Option<QueuePosition>) -> Option<(QueuePosition, u64)> {
        let from = after.map_or((0, 0), |(round, arrived)| (round, arrived + 1));
        self.waiting.range(from..).next().map(|(place, (_, ticket))| (*place, *ticket))
    }

    /// Removes a ticket that was granted or refused.
    fn served(&mut self, place: QueuePosition) {
        self.remove(place);
        self.round = self.round.max(place.0);
        // Agents without tickets in the current or later rounds need no entry. They are removed rarely, so the cost per ticket is constant.
        if self.last.len() > 2 * self.waiting.len() + 64 {
            let round = self.round;
            self.last.retain(|_, last| *last >= round);
        }
    }

    fn remove(&mut self, place: QueuePosition) {
        self.waiting.remove(&place);
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
