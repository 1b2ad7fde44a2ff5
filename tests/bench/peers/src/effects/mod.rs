//! Dense tables whose effects are data too: `[state][event]` gives the next state and what is added to each counter. Only machines
//! whose actions are sums can be written so.

pub(crate) mod hierarchy;
pub(crate) mod ring;
