//! Who runs a chart artifact that is invoked.

use crate::chain::Chain;
use crate::workshop::Family;
use chartc_core::expr::Value;
use chartc_runtime::agent::{ArtifactHost, Failure, FailureKind};
use std::sync::Arc;

/// An invocation of a chart artifact.
pub struct Invocation<'i> {
    /// Its id.
    pub artifact: &'i str,
    /// Who owns it: its functions look at the world with the rights of the owner.
    pub owner: &'i str,
    /// Its charts.
    pub family: &'i Arc<Family>,
    /// The method: an event that the chart declares.
    pub method: &'i str,
    /// By position.
    pub arguments: &'i [Value],
    /// Who invokes it.
    pub caller: &'i str,
    /// How many steps it may take.
    pub fuel: u64,
    /// The invocation that this one is part of.
    pub chain: &'i Chain,
    /// What the chart leaves to chance follows from this alone.
    pub seed: u64,
    /// The world, for functions of the chart that are methods of other artifacts. What it asks there counts against the depth of
    /// invocations, and pays nothing.
    pub world: Arc<dyn ArtifactHost>,
}

/// Runs charts that are invoked by a method.
pub trait Invoke: Send + Sync {
    /// Runs the chart until it has an answer.
    ///
    /// # Errors
    /// The chart has no such method, gives no answer, or takes more than it may.
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure>;
}

/// Runs none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInvocations;

impl Invoke for NoInvocations {
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure> {
        let why =
            format!("nobody runs charts here, so `{}` cannot be invoked", invocation.artifact);
        Err(Failure::new(FailureKind::InvocationFailed, why))
    }
}
