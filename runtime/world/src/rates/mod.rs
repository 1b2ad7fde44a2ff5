//! Rates: what agents and providers may use in a rolling window.
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

/// The provider whose windows hold for each that has none of its own.
const ANY: &str = "*";
/// Empty windows are looked for when there are twice as many windows as at the last time, and at least so many.
const SWEEP: usize = 64;

/// Whose window it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// One agent's.
    Agent,
    /// That of a provider, which all agents share.
    Provider,
}

/// Why something may not be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room before this time, and then only if nobody else takes it.
    Full {
        /// The time.
        until: Instant,
        /// The window without room; the agent's, if that has none, either.
        whose: Whose,
    },
    /// It is more than a whole window has.
    TooLarge {
        /// Of what.
        resource: String,
        /// How much it is.
        wanted: u64,
        /// How much a window has.
        most: u64,
        /// The window.
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

/// The rolling windows of all agents and providers. They know no clock: the time is given, and never goes back.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    limits: RateLimiting,
    uses: Uses,
    sweep: usize,
}

/// What is in the windows, for a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Uses {
    now: Instant,
    /// Of the next admission.
    next: u64,
    agents: BTreeMap<String, BTreeMap<String, Window>>,
    providers: BTreeMap<String, BTreeMap<String, Window>>,
}

impl Windows {
    /// Empty windows.
    pub fn new(limits: &RateLimiting) -> Self {
        let limits = if limits.enabled { limits.clone() } else { RateLimiting::default() };
        Self { limits, uses: Uses::default(), sweep: SWEEP }
    }

    /// The most of a resource in one window of an agent and in one of a provider; the smaller of both.
    pub fn most(&self, provider: &str, resource: &str) -> Option<u64> {
        let shared = shared(&self.limits, provider).and_then(|(_, most)| most.get(resource));
        self.limits.resources.get(resource).into_iter().chain(shared).min().copied()
    }

    /// Whether there is room for all amounts. Nothing is taken.
    ///
    /// # Errors
    /// Why not now.
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

    /// Takes all amounts or none. They count in the windows of the agent and in those of the provider, where these have a limit. The result
    /// is the number under which [`Self::settle`] corrects them.
    ///
    /// # Errors
    /// Why not now.
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

    /// Corrects what was taken of a resource, when it is known. It counts from when it was admitted.
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

    /// What an agent has used in the window that ends now.
    pub fn used(&mut self, agent: &str, resource: &str, now: Instant) -> u64 {
        let length = self.limits.window;
        let rows = self.uses.agents.get_mut(agent);
        rows.and_then(|rows| rows.get_mut(resource)).map_or(0, |window| {
            window.roll(length, now);
            window.used()
        })
    }

    /// Forgets agents that have used nothing for a window: agents come and go.
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

    /// What is in the windows.
    pub fn save(&self) -> Uses {
        self.uses.clone()
    }

    /// Goes on with what was in the windows.
    pub fn load(&mut self, uses: Uses) {
        self.uses = uses;
    }
}

/// The windows of a provider.
fn shared<'l>(limits: &'l RateLimiting, name: &str) -> Option<(u64, &'l BTreeMap<String, u64>)> {
    let any = || limits.providers.get(ANY).filter(|_| !name.is_empty());
    limits.providers.get(name).or_else(any).map(|provider| (provider.window, &provider.resources))
}
