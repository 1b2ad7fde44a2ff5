//! The engines side by side, and what crashes leave. The tests need a Restate server: `RESTATE_SERVER` names one, or `runtime/deploy/restate/server` has installed it.
#![allow(clippy::disallowed_methods, reason = "tests start programs and look at their files")]

mod cases;
#[path = "../../examples/serve/drivers.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with the example")]
mod drivers;
mod engines;
mod ledger;
mod node;
mod worlds;
