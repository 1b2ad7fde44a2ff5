//! A session under the control of an engine, which must commit everything before any call is made.
//!
//! The problem: a normal session makes its calls at once, so a crash could lose a call, or the state that made it. The idea: nothing here
//! runs by itself. The session's clock stands still during a step, and its driver only writes a plan. One step of an engine:
//!
//! ```text
//! begin(now)              sets the clock of the step
//! end(id, outcome)        hands over the result of a call, or fire(event)
//! step()                  the session continues as far as possible; its calls go into the plan
//! take() -> Left          new trace lines, planned and dropped calls, the saved state: the engine commits all of it in one transaction
//! made(driver, id, call)  only now the engine makes the planned calls
//! wake()                  the time at which the session must be stepped again
//! ```

mod call;
mod moment;
mod planner;
mod run;

pub use call::{Call, Outcome};
pub use planner::{Known, Planned, made};
pub use run::{Journal, Left, Making, Stepped};
