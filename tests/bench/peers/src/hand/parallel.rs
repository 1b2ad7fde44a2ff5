//! Three regions, as one would write them: an enum for each, and a match over the event that moves those it concerns.

use crate::machine::{End, Machine};

macro_rules! region {
    ($name:ident: $a:ident $b:ident $c:ident $d:ident) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $a,
            $b,
            $c,
            $d,
        }

        impl $name {
            fn next(self) -> Self {
                match self {
                    Self::$a => Self::$b,
                    Self::$b => Self::$c,
                    Self::$c => Self::$d,
                    Self::$d => Self::$a,
                }
            }
        }
    };
}

region!(P: P0 P1 P2 P3);
region!(Q: Q0 Q1 Q2 Q3);
region!(R: R0 R1 R2 R3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Step1,
    Step2,
    Step3,
    All,
}

pub(crate) struct Regions {
    p: P,
    q: Q,
    r: R,
    count: i64,
}

impl Machine for Regions {
    type Event = Event;

    fn new() -> Self {
        Self { p: P::P0, q: Q::Q0, r: R::R0, count: 0 }
    }

    fn event(code: u8) -> Event {
        [Event::Step1, Event::Step2, Event::Step3, Event::All][code as usize]
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Step1 => {
                self.p = self.p.next();
                self.count += 1;
            }
            Event::Step2 => {
                self.q = self.q.next();
                self.count += 1;
            }
            Event::Step3 => {
                self.r = self.r.next();
                self.count += 1;
            }
            Event::All => {
                self.p = self.p.next();
                self.q = self.q.next();
                self.r = self.r.next();
                self.count += 3;
            }
        }
    }

    fn end(&self) -> End {
        let leaf = 16 * self.p as usize + 4 * self.q as usize + self.r as usize;
        End { leaf, counters: vec![self.count] }
    }
}
