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

mod budget;
#[cfg(test)]
mod tests;
mod window;

pub use budget::{Budgets, Exhausted, Spent};

use crate::config::RateLimiting;
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use window::Window;

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
