//! A session that an engine steps. Nothing of it runs by itself: the engine sets the time, hands results over, lets the session go on as
//! far as possible, and takes what that leaves, to commit it before any call is made.

mod call;
mod moment;
mod planner;
mod run;

pub use call::{Call, Outcome};
pub use planner::{Known, Planned, made};
pub use run::{Journal, Left, Making, Stepped};
