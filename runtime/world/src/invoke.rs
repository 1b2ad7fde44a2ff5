//! The interface to the code that runs chart artifacts when they are invoked.

use crate::chain::Chain;
use crate::workshop::Family;
use chartc_core::expr::Value;
use chartc_runtime::agent::{ArtifactHost, Failure, FailureKind};
use std::sync::Arc;

/// The invocation of a method of a chart artifact.
pub struct Invocation<'i> {
    /// The id of the artifact.
    pub artifact: &'i str,
    /// The owner of the artifact. The chart's functions access the world with this agent's rights.
    pub owner: &'i str,
    /// The compiled charts of the artifact.
    pub family: &'i Arc<Family>,
    /// The name of the method, which is an event that the chart declares.
    pub method: &'i str,
    /// The arguments, by position.
    pub arguments: &'i [Value],
    /// The agent that invokes the method.
    pub caller: &'i str,
    /// The maximum number of units of evaluation.
    pub fuel: u64,
    /// The chain of invocations to which this one belongs.
    pub chain: &'i Chain,
    /// The seed of the chart's random decisions, so that equal invocations have equal results.
    pub seed: u64,
    /// The world, for functions of the chart that are methods of other artifacts. Invocations through it count against the depth of the
    /// chain and cost no scrip.
    pub world: Arc<dyn ArtifactHost>,
}

/// Runs chart artifacts when they are invoked.
pub trait Invoke: Send + Sync {
    /// Runs a method until it has a result.
    ///
    /// # Errors
    /// The chart has no such method, gives no result, or exceeds a limit.
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure>;
}

/// An implementation that refuses every invocation.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInvocations;

impl Invoke for NoInvocations {
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure> {
        let why =
            format!("nobody runs charts here, so `{}` cannot be invoked", invocation.artifact);
        Err(Failure::new(FailureKind::InvocationFailed, why))
    }
}
