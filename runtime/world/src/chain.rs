//! Bounds for invocations that cause further invocations.

use chartc_runtime::agent::{Failure, FailureKind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The maximum number of invocations that one action, condition or prompt may cause.
pub const MOST_INVOCATIONS: u32 = 64;
/// The maximum depth of nested invocations, whatever the settings of a world allow. Each level takes a part of the thread's stack.
pub const MOST_DEPTH: u32 = 16;

/// The budget that an invocation shares with all that it causes, so that charts that invoke each other terminate. Each action, condition
/// and prompt has its own.
#[derive(Debug)]
pub struct Chain {
    depth: AtomicU32,
    invocations: AtomicU32,
    units: AtomicU64,
}

impl Chain {
    /// A chain with this many units of evaluation for all its invocations together.
    pub const fn new(units: u64) -> Self {
        let (depth, invocations) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { depth, invocations, units: AtomicU64::new(units) }
    }

    /// The number of nested invocations under way.
    pub fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// Begins a nested invocation.
    ///
    /// # Errors
    /// The chain is too deep, or has had too many invocations.
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

    /// Ends a nested invocation.
    pub(crate) fn leave(&self) {
        self.depth.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes units of evaluation from the budget: `wanted`, or all that are left if they are fewer.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let units = wanted.min(self.units.load(Ordering::Relaxed));
        self.units.fetch_sub(units, Ordering::Relaxed);
        units
    }

    /// Returns unused units to the budget.
    pub(crate) fn give(&self, units: u64) {
        self.units.fetch_add(units, Ordering::Relaxed);
    }
}
