//! The ring as a table of 8 × 4 × whether there is fuel.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy)]
struct Cell {
    next: u8,
    count: i8,
    /// What is kept of the fuel, as a mask, and what is added to it then.
    keep: i8,
    fuel: i8,
}

static CELLS: [[[Cell; 2]; 4]; 8] = {
    let stay = Cell { next: 0, count: 0, keep: -1, fuel: 0 };
    let mut cells = [[[stay; 2]; 4]; 8];
    let mut state = 0;
    while state < 8 {
        let stay = Cell { next: state, ..stay };
        let burn = Cell { next: (state + 1) % 8, count: 1, fuel: -1, ..stay };
        let prev = Cell { next: (state + 7) % 8, count: 1, ..stay };
        let skip = Cell { next: (state + 2) % 8, count: 1, ..stay };
        let refill = Cell { keep: 0, fuel: 2, ..stay };
        cells[state as usize] = [[stay, burn], [prev, prev], [skip, skip], [refill, refill]];
        state += 1;
    }
    cells
};

pub(crate) struct Ring {
    state: u8,
    fuel: i64,
    count: i64,
}

impl Machine for Ring {
    type Event = u8;

    fn new() -> Self {
        Self { state: 0, fuel: 2, count: 0 }
    }

    fn event(code: u8) -> u8 {
        code
    }

    fn handle(&mut self, event: &u8) {
        let cell = CELLS[self.state as usize][*event as usize][(self.fuel > 0) as usize];
        self.fuel = (self.fuel & cell.keep as i64) + cell.fuel as i64;
        self.count += cell.count as i64;
        self.state = cell.next;
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: vec![self.fuel, self.count] }
    }
}
