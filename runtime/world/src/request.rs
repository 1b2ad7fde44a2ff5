//! Requests of actions to the engine, and notices of events in the world.

pub use chartc_runtime::trace::Cause;

use crate::charts::{Family, Form};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request to the engine that affects other agents. Requests are executed in the order in which actions made them.
#[derive(Debug, Clone)]
pub enum Request {
    /// An agent was invoked: its chart gets the method as an event.
    Deliver {
        /// The agent that gets the event.
        to: String,
        /// The name of the event.
        event: String,
        /// The values of the event's fields, by position.
        arguments: Vec<Value>,
        /// The agent that made the invocation.
        from: String,
    },
    /// A new agent starts. Its account and artifacts exist already.
    Spawn(Spawn),
    /// An agent takes no more turns until it is resumed.
    Pause {
        /// The agent.
        agent: String,
        /// Its owner, who requested it.
        by: String,
    },
    /// A paused agent takes turns again.
    Resume {
        /// The agent.
        agent: String,
    },
    /// An agent stops for good.
    Stop {
        /// The agent.
        agent: String,
    },
}

/// An agent that another agent has made.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The name of the agent, which is also the id of its artifact.
    pub agent: String,
    /// The id of the artifact from which it was made.
    pub artifact: String,
    /// The language of the artifact.
    pub form: Form,
    /// The text of the artifact, which a checkpoint needs to compile it again.
    pub text: String,
    /// The compiled charts.
    pub family: Arc<Family>,
    /// Values for the params of its chart.
    pub params: Map,
    /// The name of the agent that made it.
    pub parent: String,
    /// The generation: 1 if a configured agent made it, 2 if such an agent made it, and so on.
    pub depth: u32,
}

/// An event in the world, for the log and for the artifact `genesis_event_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// The kind: `transferred`, `minted`, `written`, `invoked`, `spawned`, and so on.
    pub event: String,
    /// The details, by name.
    pub data: Map,
}

// Deterministic random numbers, derived from a seed.

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Creates a generator from several numbers, such as a seed and the tick. Each combination has its own sequence.
    pub(crate) fn of(parts: &[u64]) -> Self {
        let mut all = Self(0x9e37_79b9_7f4a_7c15);
        for part in parts {
            all.0 ^= *part;
            all.0 = all.next();
        }
        all
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Shuffles a list (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            // The bias of the modulo is below 2^-32 for lists of fewer than 2^32 items.
            let other = (self.next() % (last as u64 + 1)) as usize;
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_order_and_another_seed_another() {
        let order = |seed| {
            let mut list: Vec<u32> = (0..50).collect();
            Chance::of(&[seed, 7]).shuffle(&mut list);
            list
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_place_is_as_likely_as_another() {
        let mut first = [0_u32; 5];
        for seed in 0..5000 {
            let mut list = [0_usize, 1, 2, 3, 4];
            Chance::of(&[seed]).shuffle(&mut list);
            first[list[0]] += 1;
        }
        assert!(first.iter().all(|n| (900..1100).contains(n)), "{first:?}");
    }
}
