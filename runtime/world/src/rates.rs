//! Rate limits: amounts that agents and providers may use in a rolling window of time.
//!
//! ```
//! use chartc_world::{Refusal, RunFile, Whose, Windows};
//!
//! let file = RunFile::parse("rate_limiting: {window_seconds: 10, resources: {actions: {max_per_window: 2}}}").unwrap();
//! let mut windows = Windows::new(&file.rate_limiting);
//! assert!(windows.admit("ada", "", &[("actions", 1)], 0).is_ok());
//! assert!(windows.admit("ada", "", &[("actions", 1)], 4000).is_ok());
//! let refused = windows.admit("ada", "", &[("actions", 1)], 5000);
//! assert_eq!(refused, Err(Refusal::Full { until: 10_000, whose: Whose::Agent }));
//! ```

#[cfg(test)]
mod tests;

use crate::config::{LlmBudget, RateLimiting};
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// The provider whose limits apply to each provider without limits of its own.
const ANY: &str = "*";
/// The minimum number of agents with windows before empty windows are removed. After a removal, the next one waits until the number has
/// doubled.
const SWEEP: usize = 64;

/// The owner of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// One agent.
    Agent,
    /// A provider, whose window all agents share.
    Provider,
}

/// The reason why an amount may not be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room before this time. Later there is room only if no other agent takes it.
    Full {
        /// The time in milliseconds.
        until: Instant,
        /// The owner of the window without room; the agent if both have none.
        whose: Whose,
    },
    /// The amount exceeds what a whole window allows.
    TooLarge {
        /// The name of the resource.
        resource: String,
        /// The requested amount.
        wanted: u64,
        /// The limit of a window.
        most: u64,
        /// The owner of the window.
        whose: Whose,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { until, whose: Whose::Agent } => {
                write!(f, "the agent has used up its window; there is room at {until} ms")
            }
            Self::Full { until, whose: Whose::Provider } => {
                write!(f, "the provider's window is used up; there is room at {until} ms")
            }
            Self::TooLarge { resource, wanted, most, whose } => {
                let whose = match whose {
                    Whose::Agent => "an agent",
                    Whose::Provider => "the provider",
                };
                write!(
                    f,
                    "it can take {wanted} {resource}, and {whose} has {most} in a whole window: raise max_per_window"
                )
            }
        }
    }
}

/// The rolling windows of all agents and providers. They have no clock: callers pass the time, and an earlier time counts as the latest
/// one.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    limits: RateLimiting,
    uses: Uses,
    sweep: usize,
}

/// The contents of all windows, for a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Uses {
    now: Instant,
    /// The number of the next admission.
    next: u64,
    agents: BTreeMap<String, BTreeMap<String, Window>>,
    providers: BTreeMap<String, BTreeMap<String, Window>>,
}

impl Windows {
    /// Empty windows with these limits.
    pub fn new(limits: &RateLimiting) -> Self {
        let limits = if limits.enabled { limits.clone() } else { RateLimiting::default() };
        Self { limits, uses: Uses::default(), sweep: SWEEP }
    }

    /// The smaller of the agent's and the provider's limit for a resource in one window; `None` if neither has one.
    pub fn most(&self, provider: &str, resource: &str) -> Option<u64> {
        let shared = shared(&self.limits, provider).and_then(|(_, most)| most.get(resource));
        self.limits.resources.get(resource).into_iter().chain(shared).min().copied()
    }

    /// Checks that all amounts have room, without taking them.
    ///
    /// # Errors
    /// The reason why they have no room now.
    pub fn room(
        &mut self,
        agent: &str,
        provider: &str,
        amounts: &[(&str, u64)],
        now: Instant,
    ) -> Result<(), Refusal> {
        self.uses.now = self.uses.now.max(now);
        let now = self.uses.now;
        let mut full: Option<(Whose, Instant)> = None;
        let shared = shared(&self.limits, provider);
        let own = (self.limits.window, &self.limits.resources);
        for (whose, found) in [(Whose::Agent, Some(own)), (Whose::Provider, shared)] {
            let Some((length, limits)) = found else { continue };
            for (resource, amount) in amounts {
                let Some(&most) = limits.get(*resource) else { continue };
                if *amount > most {
                    let (resource, wanted) = ((*resource).to_owned(), *amount);
                    return Err(Refusal::TooLarge { resource, wanted, most, whose });
                }
                let rows = match whose {
                    Whose::Agent => self.uses.agents.get_mut(agent),
                    Whose::Provider => self.uses.providers.get_mut(provider),
                };
                let Some(window) = rows.and_then(|rows| rows.get_mut(*resource)) else { continue };
                window.roll(length, now);
                if let Some(until) = window.fits_at(*amount, most, length) {
                    let (first, latest) = full.unwrap_or((whose, until));
                    full = Some((first, latest.max(until)));
                }
            }
        }
        match full {
            Some((whose, until)) => Err(Refusal::Full { until, whose }),
            None => Ok(()),
        }
    }

    /// Takes all amounts, or none of them. They count in the windows of the agent and of the provider, as far as these have a limit.
    /// Returns the number of the admission, with which [`Self::settle`] can correct the amounts.
    ///
    /// # Errors
    /// The reason why they have no room now.
    pub fn admit(
        &mut self,
        agent: &str,
        provider: &str,
        amounts: &[(&str, u64)],
        now: Instant,
    ) -> Result<u64, Refusal> {
        self.room(agent, provider, amounts, now)?;
        let ticket = self.uses.next;
        self.uses.next += 1;
        let shared = shared(&self.limits, provider).map(|(_, most)| most);
        let is_bound = |resource: &str| shared.is_some_and(|most| most.contains_key(resource));
        let shared: Vec<bool> = amounts.iter().map(|(resource, _)| is_bound(resource)).collect();
        for ((resource, amount), is_shared) in amounts.iter().zip(shared) {
            if self.limits.resources.contains_key(*resource) {
                let rows = self.uses.agents.entry(agent.to_owned()).or_default();
                let window = rows.entry((*resource).to_owned()).or_default();
                window.take(self.uses.now, ticket, *amount);
            }
            if is_shared {
                let rows = self.uses.providers.entry(provider.to_owned()).or_default();
                let window = rows.entry((*resource).to_owned()).or_default();
                window.take(self.uses.now, ticket, *amount);
            }
        }
        self.sweep();
        Ok(ticket)
    }

    /// Corrects the amount of a resource once it is known. It still counts from the time of the admission.
    pub fn settle(
        &mut self,
        agent: &str,
        provider: &str,
        ticket: u64,
        resource: &str,
        actual: u64,
    ) {
        let rows = [self.uses.agents.get_mut(agent), self.uses.providers.get_mut(provider)];
        for window in rows.into_iter().flatten().filter_map(|rows| rows.get_mut(resource)) {
            window.settle(ticket, actual);
        }
    }

    /// The amount that an agent has used in the window that ends at `now`.
    pub fn used(&mut self, agent: &str, resource: &str, now: Instant) -> u64 {
        let length = self.limits.window;
        let rows = self.uses.agents.get_mut(agent);
        rows.and_then(|rows| rows.get_mut(resource)).map_or(0, |window| {
            window.roll(length, now);
            window.used()
        })
    }

    /// Removes the windows of agents that have used nothing for the length of a window, since agents come and go in long runs.
    fn sweep(&mut self) {
        if self.uses.agents.len() < self.sweep {
            return;
        }
        let (length, now) = (self.limits.window, self.uses.now);
        self.uses.agents.retain(|_, rows| {
            rows.retain(|_, window| {
                window.roll(length, now);
                window.used() > 0
            });
            !rows.is_empty()
        });
        self.sweep = SWEEP.max(self.uses.agents.len() * 2);
    }

    /// The contents of all windows.
    pub fn save(&self) -> Uses {
        self.uses.clone()
    }

    /// Restores the contents of all windows.
    pub fn load(&mut self, uses: Uses) {
        self.uses = uses;
    }
}

/// The length and the limits of the windows of a provider, if it has any.
fn shared<'l>(limits: &'l RateLimiting, name: &str) -> Option<(u64, &'l BTreeMap<String, u64>)> {
    // An empty name stands for a call without a provider, such as a tool.
    let any = || limits.providers.get(ANY).filter(|_| !name.is_empty());
    limits.providers.get(name).or_else(any).map(|provider| (provider.window, &provider.resources))
}

// The budgets of agents for model calls in a run.

/// The amounts that an agent has spent on models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// The number of calls, including those that failed.
    pub llm_calls: u64,
    /// The number of tokens, input and output together.
    pub llm_tokens: u64,
    /// The cost, in millionths of the currency in which prices are given.
    pub cost: u64,
}

impl Spent {
    pub(crate) fn add(&mut self, more: Self) {
        self.llm_calls = self.llm_calls.saturating_add(more.llm_calls);
        self.llm_tokens = self.llm_tokens.saturating_add(more.llm_tokens);
        self.cost = self.cost.saturating_add(more.cost);
    }

    fn take(&mut self, less: Self) {
        self.llm_calls = self.llm_calls.saturating_sub(less.llm_calls);
        self.llm_tokens = self.llm_tokens.saturating_sub(less.llm_tokens);
        self.cost = self.cost.saturating_sub(less.cost);
    }
}

/// The error of an agent whose budget is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of `{agent}` is used up: {spent} of {most} {what}")]
pub struct Exhausted {
    /// The agent whose budget it is.
    pub agent: String,
    /// The amount that is used up: `llm_calls`, `llm_tokens` or `cost`.
    pub what: &'static str,
    /// The amount that is spent, or held for calls under way.
    pub spent: u64,
    /// The limit.
    pub most: u64,
}

/// The budgets of all agents. An agent may think only if every amount is below its limit. The bound of a call is held while the call is
/// under way, and its actual amounts are deducted when they are known. So the last call may exceed the tokens or cost that are left, but
/// never the number of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budgets {
    most: BTreeMap<String, LlmBudget>,
    spent: BTreeMap<String, Spent>,
    /// The amounts held for calls under way.
    held: BTreeMap<String, Spent>,
    /// The agent whose budget another agent uses, by the user's name.
    payers: BTreeMap<String, String>,
}

impl Budgets {
    /// Lets `agent` use the budget of `with`, which has usually spawned it.
    pub fn share(&mut self, agent: &str, with: &str) {
        // Stored with the final payer, so that chains of agents need no search.
        let payer = self.payer(with).to_owned();
        self.payers.insert(agent.to_owned(), payer);
    }

    /// The agent whose budget and windows `agent` uses.
    pub(crate) fn payer<'a>(&'a self, agent: &'a str) -> &'a str {
        self.payers.get(agent).map_or(agent, String::as_str)
    }

    /// Sets the limits of an agent for the run. Empty limits remove them.
    pub fn set(&mut self, agent: &str, most: LlmBudget) {
        if most == LlmBudget::default() {
            self.most.remove(agent);
        } else {
            self.most.insert(agent.to_owned(), most);
        }
    }

    /// The amounts that an agent has spent; those of the payer if it shares a budget.
    pub fn spent(&self, agent: &str) -> Spent {
        let agent = self.payer(agent);
        self.spent.get(agent).copied().unwrap_or_default()
    }

    /// Checks that every amount of an agent is below its limit.
    ///
    /// # Errors
    /// The first amount that has reached its limit.
    pub fn check(&self, agent: &str) -> Result<(), Exhausted> {
        let agent = self.payer(agent);
        let Some(most) = self.most.get(agent) else { return Ok(()) };
        let mut taken = self.spent(agent);
        taken.add(self.held.get(agent).copied().unwrap_or_default());
        let rows = [
            ("llm_calls", taken.llm_calls, most.llm_calls),
            ("llm_tokens", taken.llm_tokens, most.llm_tokens),
            ("cost", taken.cost, most.cost),
        ];
        for (what, spent, most) in rows {
            if let Some(most) = most.filter(|most| spent >= *most) {
                return Err(Exhausted { agent: agent.to_owned(), what, spent, most });
            }
        }
        Ok(())
    }

    /// Holds the bound of a call that begins.
    pub fn hold(&mut self, agent: &str, bound: Spent) {
        let agent = self.payer(agent).to_owned();
        self.held.entry(agent).or_default().add(bound);
    }

    /// Releases the bound of a call that has ended, and deducts what it actually took.
    pub fn settle(&mut self, agent: &str, bound: Spent, actual: Spent) {
        let agent = self.payer(agent).to_owned();
        if let Some(held) = self.held.get_mut(&agent) {
            held.take(bound);
            if *held == Spent::default() {
                self.held.remove(&agent);
            }
        }
        self.spent.entry(agent).or_default().add(actual);
    }

    /// The amounts spent by all agents, without those held for calls under way.
    pub fn save(&self) -> BTreeMap<String, Spent> {
        self.spent.clone()
    }

    /// Restores the amounts spent by all agents.
    pub fn load(&mut self, spent: BTreeMap<String, Spent>) {
        self.spent = spent;
        // Calls under way are made again after a restart, and are then held again.
        self.held.clear();
    }
}

// One rolling window of one resource.

/// The uses within the last window's length. A use counts from its time until exactly that length later, when it no longer counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Window {
    uses: VecDeque<Use>,
    sum: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Use {
    at: Instant,
    /// The number of the admission. The uses are in ascending order of it.
    ticket: u64,
    amount: u64,
}

impl Window {
    /// Removes uses that are no longer within the window.
    fn roll(&mut self, length: u64, now: Instant) {
        while let Some(first) = self.uses.front()
            && first.at.saturating_add(length) <= now
        {
            self.sum -= first.amount;
            self.uses.pop_front();
        }
    }

    /// The earliest time at which `amount` will fit below `most`; `None` if it fits now. The window must have been rolled to the current
    /// time.
    fn fits_at(&self, amount: u64, most: u64, length: u64) -> Option<Instant> {
        let mut over = self.sum.saturating_add(amount).saturating_sub(most);
        if over == 0 {
            return None;
        }
        let last = self.uses.back().map_or(0, |last| last.at);
        // Uses leave the window in order, so the answer is the end of the use with which enough has left.
        let mut until = last;
        for row in &self.uses {
            until = row.at;
            if row.amount >= over {
                break;
            }
            over -= row.amount;
        }
        Some(until.saturating_add(length))
    }

    /// Records a use.
    fn take(&mut self, at: Instant, ticket: u64, amount: u64) {
        if amount > 0 {
            self.sum = self.sum.saturating_add(amount);
            self.uses.push_back(Use { at, ticket, amount });
        }
    }

    /// Corrects the amount of a use, if it is still within the window.
    fn settle(&mut self, ticket: u64, actual: u64) {
        if let Ok(index) = self.uses.binary_search_by_key(&ticket, |row| row.ticket) {
            let row = &mut self.uses[index];
            self.sum = (self.sum - row.amount).saturating_add(actual);
            row.amount = actual;
            if actual == 0 {
                self.uses.remove(index);
            }
        }
    }

    fn used(&self) -> u64 {
        self.sum
    }
}
