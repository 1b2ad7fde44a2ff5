//! What every run of a chart has in common: facts about its data and states, and what can happen within one turn.

pub mod facts;
pub mod turn;
