//! Invocations that lead to invocations.

use chartc_runtime::agent::{Failure, FailureKind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Invocations that one action, condition or prompt may lead to.
pub const MOST_INVOCATIONS: u32 = 64;
/// How deep invocations may lead to invocations, whatever a world allows: each takes a part of the thread's stack.
pub const MOST_DEPTH: u32 = 16;

/// An invocation and all that it leads to, so that charts that invoke each other come to an end. There is one for each action, condition and
/// prompt.
#[derive(Debug)]
pub struct Chain {
    depth: AtomicU32,
    invocations: AtomicU32,
    units: AtomicU64,
}

impl Chain {
    /// With this many units of evaluation for all together.
    pub const fn new(units: u64) -> Self {
        let (depth, invocations) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { depth, invocations, units: AtomicU64::new(units) }
    }

    /// How many invocations are under way.
    pub fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// One more begins.
    pub(crate) fn enter(&self) -> Result<(), Failure> {
        if self.depth() >= MOST_DEPTH {
            let why = format!("artifacts invoke artifacts {MOST_DEPTH} deep at most");
            return Err(Failure::new(FailureKind::InvocationFailed, why));
        }
        if self.invocations.load(Ordering::Relaxed) >= MOST_INVOCATIONS {
            let why = format!("it leads to more than {MOST_INVOCATIONS} invocations");
            return Err(Failure::new(FailureKind::InvocationFailed, why));
        }
        self.depth.fetch_add(1, Ordering::Relaxed);
        self.invocations.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// One has ended.
    pub(crate) fn leave(&self) {
        self.depth.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes units, at most `wanted`.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let units = wanted.min(self.units.load(Ordering::Relaxed));
        self.units.fetch_sub(units, Ordering::Relaxed);
        units
    }

    /// Gives back those that were not used.
    pub(crate) fn give(&self, units: u64) {
        self.units.fetch_add(units, Ordering::Relaxed);
    }
}
