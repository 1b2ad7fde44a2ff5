//! Pools against servers: those that many use, and one that misbehaves.

mod hostile;
mod programs;
mod support;
mod well_known;
