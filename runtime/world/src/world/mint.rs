//! What the auctioneer does to a world.

use super::World;
use crate::state::{State, Tried};

impl World {
    /// Does something to the books of the mint, and sees to it that everything adds up afterwards.
    pub(crate) fn auction<T>(&self, act: impl FnOnce(&mut State) -> Tried<T>) -> Tried<T> {
        self.change(act)
    }
}
