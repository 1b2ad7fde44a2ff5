//! Dense tables: `[state][event]` gives the next state and an action, and a `match` over the action does it.

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod ring;
pub(crate) mod table;
