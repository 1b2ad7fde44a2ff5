//! The hierarchy as a table of 8 leaves × 4 events.

use crate::machine::{End, Machine};

#[derive(Debug, Clone, Copy)]
enum Action {
    Nothing,
    Count,
    Local,
    Cross,
    Enter,
    Leave,
}

use Action::{Count, Cross, Enter, Leave, Local, Nothing};

const A1: u8 = 0;
const A2: u8 = 1;
const A3: u8 = 2;
const B1: u8 = 3;
const B2: u8 = 4;
const B3: u8 = 5;
const C1: u8 = 6;
const D: u8 = 7;

/// Events: tick, next, switch, halt.
static CELLS: [[(u8, Action); 4]; 8] = [
    [(A1, Local), (A2, Nothing), (B1, Cross), (D, Leave)],
    [(A2, Count), (A3, Nothing), (B1, Cross), (D, Leave)],
    [(A3, Count), (A1, Nothing), (B1, Cross), (D, Leave)],
    [(B2, Local), (B2, Nothing), (C1, Cross), (D, Leave)],
    [(B2, Count), (B3, Nothing), (C1, Cross), (D, Leave)],
    [(B3, Count), (B1, Nothing), (C1, Cross), (D, Leave)],
    [(C1, Count), (B3, Cross), (A1, Cross), (D, Leave)],
    [(D, Count), (A1, Enter), (D, Nothing), (D, Nothing)],
];

pub(crate) struct Hierarchy {
    state: u8,
    count: i64,
    local: i64,
    entered: i64,
    left: i64,
}

impl Machine for Hierarchy {
    type Event = u8;

    fn new() -> Self {
        Self { state: A1, count: 0, local: 0, entered: 1, left: 0 }
    }

    fn event(code: u8) -> u8 {
        code
    }

    fn handle(&mut self, event: &u8) {
        let (next, action) = CELLS[self.state as usize][*event as usize];
        match action {
            Nothing => {}
            Count => self.count += 1,
            Local => self.local += 1,
            Cross => {
                self.left += 1;
                self.entered += 1;
            }
            Enter => self.entered += 1,
            Leave => self.left += 1,
        }
        self.state = next;
    }

    fn end(&self) -> End {
        let counters = vec![self.count, self.local, self.entered, self.left];
        End { leaf: self.state as usize, counters }
    }
}
