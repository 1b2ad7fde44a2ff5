//! Three regions as one table of 64 configurations × 4 events.

use crate::machine::{End, Machine};

/// Which regions an event moves.
#[derive(Debug, Clone, Copy)]
enum Action {
    One,
    All,
}

static CELLS: [[(u8, Action); 4]; 64] = {
    let mut cells = [[(0, Action::One); 4]; 64];
    let mut state = 0;
    while state < 64 {
        let (p, q, r) = (state / 16, state / 4 % 4, state % 4);
        let (p1, q1, r1) = ((p + 1) % 4, (q + 1) % 4, (r + 1) % 4);
        cells[state as usize] = [
            (16 * p1 + 4 * q + r, Action::One),
            (16 * p + 4 * q1 + r, Action::One),
            (16 * p + 4 * q + r1, Action::One),
            (16 * p1 + 4 * q1 + r1, Action::All),
        ];
        state += 1;
    }
    cells
};

pub(crate) struct Regions {
    state: u8,
    count: i64,
}

impl Machine for Regions {
    type Event = u8;

    fn new() -> Self {
        Self { state: 0, count: 0 }
    }

    fn event(code: u8) -> u8 {
        code
    }

    fn handle(&mut self, event: &u8) {
        let (next, action) = CELLS[self.state as usize][*event as usize];
        match action {
            Action::One => self.count += 1,
            Action::All => self.count += 3,
        }
        self.state = next;
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: vec![self.count] }
    }
}
