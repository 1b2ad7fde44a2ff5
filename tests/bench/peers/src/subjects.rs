//! Who is compared: implementations by machine.

use crate::machine::{End, Machine, drive};
use crate::streams::Mix;
use crate::{dense, effects, generated, hand, interpreted, rust_fsm, smlang, statig, tuned};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What drives one implementation: the time that the first `count` events of the codes took, and where it ended.
pub(crate) type Run = fn(codes: &[u8], count: usize) -> (Duration, End);

/// An implementation.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
}

/// One of the four machines, and all who have it.
pub(crate) struct Rivals {
    /// As its chart is called.
    pub(crate) machine: &'static str,
    pub(crate) mix: Mix,
    /// The hand-written one first.
    pub(crate) subjects: Vec<Subject>,
}

/// The names of all implementations, in the order of the tables.
pub(crate) const NAMES: [&str; 9] = [
    "hand",
    "dense",
    "effects",
    "tuned",
    "statig",
    "smlang",
    "rust-fsm",
    "generated",
    "interpreted",
];

fn run<M: Machine>(codes: &[u8], count: usize) -> (Duration, End) {
    let events: Vec<M::Event> = codes.iter().map(|code| M::event(*code)).collect();
    let mut machine = M::new();
    let events = black_box(&events[..count]);
    let begin = Instant::now();
    drive(black_box(&mut machine), events);
    (begin.elapsed(), machine.end())
}

fn subject<M: Machine>(name: &'static str) -> Subject {
    Subject { name, run: run::<M> }
}

/// All of them.
pub(crate) fn all() -> [Rivals; 4] {
    [
        Rivals {
            machine: "ring",
            mix: Mix(&[1, 1, 1, 1]),
            subjects: vec![
                subject::<hand::ring::Ring>("hand"),
                subject::<dense::ring::Ring>("dense"),
                subject::<effects::ring::Ring>("effects"),
                subject::<tuned::ring::Ring>("tuned"),
                subject::<statig::ring::Ring>("statig"),
                subject::<smlang::ring::Ring>("smlang"),
                subject::<generated::Ring>("generated"),
                subject::<interpreted::Ring>("interpreted"),
            ],
        },
        Rivals {
            machine: "hierarchy",
            mix: Mix(&[70, 15, 10, 5]),
            subjects: vec![
                subject::<hand::hierarchy::Hierarchy>("hand"),
                subject::<dense::hierarchy::Hierarchy>("dense"),
                subject::<effects::hierarchy::Hierarchy>("effects"),
                subject::<tuned::hierarchy::Hierarchy>("tuned"),
                subject::<statig::hierarchy::Hierarchy>("statig"),
                subject::<smlang::hierarchy::Hierarchy>("smlang"),
                subject::<rust_fsm::hierarchy::Hierarchy>("rust-fsm"),
                subject::<generated::Hierarchy>("generated"),
                subject::<interpreted::Hierarchy>("interpreted"),
            ],
        },
        Rivals {
            machine: "parallel",
            mix: Mix(&[1, 1, 1, 1]),
            subjects: vec![
                subject::<hand::parallel::Regions>("hand"),
                subject::<dense::parallel::Regions>("dense"),
                subject::<tuned::parallel::Regions>("tuned"),
                subject::<statig::parallel::Regions>("statig"),
                subject::<smlang::parallel::Regions>("smlang"),
                subject::<rust_fsm::parallel::Regions>("rust-fsm"),
                subject::<generated::Regions>("generated"),
                subject::<interpreted::Regions>("interpreted"),
            ],
        },
        Rivals {
            machine: "table",
            mix: Mix(&[1; 16]),
            subjects: vec![
                subject::<hand::table::Table>("hand"),
                subject::<dense::table::Table>("dense"),
                subject::<statig::table::Machine64>("statig"),
                subject::<smlang::table::Table>("smlang"),
                subject::<rust_fsm::table::Table>("rust-fsm"),
                subject::<generated::Table>("generated"),
                subject::<interpreted::Table>("interpreted"),
            ],
        },
    ]
}
