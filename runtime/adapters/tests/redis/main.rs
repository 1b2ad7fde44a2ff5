//! Events from a real Redis server, through crashes of either side. The tests need `redis-server` (`REDIS_SERVER` names another one).
#![allow(clippy::disallowed_methods, reason = "tests start programs and look at their files")]

#[path = "../../examples/intake/agents.rs"]
mod agents;
mod exact;
mod ledger;
mod misfits;
mod order;
mod server;
mod turns;
