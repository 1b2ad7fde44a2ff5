//! Worlds, from outside.

mod campaign;
mod charts;
mod door;
mod hostile;
mod makers;
mod memory;
mod snapshot;
mod view;
