//! The engines side by side, and what crashes leave. Some tests need a Redis server, and some
//! a Restate server: `RESTATE_SERVER` names one, or `runtime/deploy/restate/server` has installed it.
#![allow(clippy::disallowed_methods, reason = "tests start programs and look at their files")]

mod cases;
#[path = "../../examples/serve/drivers.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with the example")]
mod drivers;
mod engines;
mod ledger;
mod node;
#[path = "../redis/server.rs"]
#[allow(dead_code, reason = "shared with the tests of Redis")]
mod redis_server;
mod worlds;
