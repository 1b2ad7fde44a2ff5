//! The ring as a table of 8 × 4.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy)]
enum Action {
    Burn,
    Go,
    Refill,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    next: u8,
    action: Action,
}

static CELLS: [[Cell; 4]; 8] = {
    let mut cells = [[Cell { next: 0, action: Action::Go }; 4]; 8];
    let mut state = 0;
    while state < 8 {
        cells[state as usize] = [
            Cell { next: (state + 1) % 8, action: Action::Burn },
            Cell { next: (state + 7) % 8, action: Action::Go },
            Cell { next: (state + 2) % 8, action: Action::Go },
            Cell { next: state, action: Action::Refill },
        ];
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
        let cell = CELLS[self.state as usize][*event as usize];
        match cell.action {
            Action::Burn => {
                if self.fuel <= 0 {
                    return;
                }
                self.fuel -= 1;
                self.count += 1;
            }
            Action::Go => self.count += 1,
            Action::Refill => self.fuel = 2,
        }
        self.state = cell.next;
    }

    fn end(&self) -> End {
        End { leaf: self.state as usize, counters: vec![self.fuel, self.count] }
    }
}
