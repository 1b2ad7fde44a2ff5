//! The hierarchy as a table of 8 leaves × 4 events.

use crate::machine::{End, Machine};

/// Next leaf, and what is added to each counter.
type Cell = (u8, [i8; 4]);

const NOTHING: [i8; 4] = [0; 4];
const COUNT: [i8; 4] = [1, 0, 0, 0];
const LOCAL: [i8; 4] = [0, 1, 0, 0];
const CROSS: [i8; 4] = [0, 0, 1, 1];
const ENTER: [i8; 4] = [0, 0, 1, 0];
const LEAVE: [i8; 4] = [0, 0, 0, 1];

/// Events: tick, next, switch, halt. Leaves: a1 a2 a3 b1 b2 b3 c1 d.
static CELLS: [[Cell; 4]; 8] = [
    [(0, LOCAL), (1, NOTHING), (3, CROSS), (7, LEAVE)],
    [(1, COUNT), (2, NOTHING), (3, CROSS), (7, LEAVE)],
    [(2, COUNT), (0, NOTHING), (3, CROSS), (7, LEAVE)],
    [(4, LOCAL), (4, NOTHING), (6, CROSS), (7, LEAVE)],
    [(4, COUNT), (5, NOTHING), (6, CROSS), (7, LEAVE)],
    [(5, COUNT), (3, NOTHING), (6, CROSS), (7, LEAVE)],
    [(6, COUNT), (5, CROSS), (0, CROSS), (7, LEAVE)],
    [(7, COUNT), (0, ENTER), (7, NOTHING), (7, NOTHING)],
];

pub(crate) struct Hierarchy {
    state: u8,
    counters: [i64; 4],
}

impl Machine for Hierarchy {
    type Event = u8;

    fn new() -> Self {
        Self { state: 0, counters: [0, 0, 1, 0] }
    }

    fn event(code: u8) -> u8 {
        code
    }

    fn handle(&mut self, event: &u8) {
        let (next, added) = CELLS[self.state as usize][*event as usize];
        for (counter, more) in self.counters.iter_mut().zip(added) {
            *counter += more as i64;
        }
        self.state = next;
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: self.counters.to_vec() }
    }
}
