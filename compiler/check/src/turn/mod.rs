//! What may happen within one turn and between turns: an abstraction of the step algorithm of `chartc-core`.

pub mod calls;
pub mod cheapest;
pub mod cost;
pub mod dataflow;
pub mod flow;
pub mod money;
mod shared;
mod turns;
pub mod unreached;
mod walk;
