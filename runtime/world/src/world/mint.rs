//! The access of the auctioneer to a world.

use super::World;
use crate::state::{State, Tried};

impl World {
    /// Changes the state of the auctions, and then checks the books.
    pub(crate) fn auction<T>(&self, act: impl FnOnce(&mut State) -> Tried<T>) -> Tried<T> {
        self.change(act)
    }
}
