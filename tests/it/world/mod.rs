//! Many agents in one world.

mod census;
