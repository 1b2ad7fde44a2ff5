//! Calls of servers on this machine, those that behave and those that do not.

#![allow(clippy::disallowed_methods, reason = "a test runs itself again with another environment")]

mod forms;
mod loopback;
mod patience;
mod requests;
mod server;
mod wires;
