//! `dispatch`: what an event costs, in rounds in which each implementation has its turn.

use crate::streams::LENGTH;
use crate::subjects::{NAMES, Rivals, all};

/// What is asked for.
pub(crate) struct Wanted {
    pub(crate) only: Option<String>,
    pub(crate) machine: Option<String>,
    pub(crate) rounds: Option<usize>,
    /// Drive once, without clock or comparison: for counting instructions.
    pub(crate) events: Option<usize>,
}

/// Medians for one implementation, on one stream.
struct Medians {
    /// Nanoseconds for an event.
    time: f64,
    /// To the hand-written one in the same round.
    ratio: f64,
}

pub(crate) fn run(wanted: &Wanted) {
    if let (Some(only), Some(count)) = (&wanted.only, wanted.events) {
        return once(only, wanted.machine.as_deref(), count);
    }
    let rounds = wanted.rounds.unwrap_or(31);
    println!("{LENGTH} events, {rounds} rounds; medians: ns/event (ratio to hand)");
    println!("{:<11} {:<12} {:>16} {:>16}", "machine", "", "random", "predictable");
    for rivals in all() {
        if wanted.machine.as_deref().is_some_and(|machine| machine != rivals.machine) {
            continue;
        }
        let random = rotate(&rivals, &rivals.mix.random(), rounds);
        let predictable = rotate(&rivals, &rivals.mix.predictable(), rounds);
        for name in NAMES {
            let at = rivals.subjects.iter().position(|subject| subject.name == name);
            let cell = |medians: &[Medians]| {
                at.map_or("-".to_owned(), |at| {
                    format!("{:.2} ({:.2})", medians[at].time, medians[at].ratio)
                })
            };
            if wanted.only.as_deref().is_none_or(|only| only == name || name == "hand") {
                println!(
                    "{:<11} {name:<12} {:>16} {:>16}",
                    rivals.machine,
                    cell(&random),
                    cell(&predictable)
                );
            }
        }
    }
}

/// Every implementation once a round, each round beginning with another one. All have to end alike.
fn rotate(rivals: &Rivals, codes: &[u8], rounds: usize) -> Vec<Medians> {
    let subjects = &rivals.subjects;
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    let mut expected = None;
    for round in 0..=rounds {
        for turn in 0..subjects.len() {
            let at = (round + turn) % subjects.len();
            let (time, end) = (subjects[at].run)(codes, codes.len());
            let expected = expected.get_or_insert_with(|| end.clone());
            assert_eq!(end, *expected, "{}: {} ends elsewhere", rivals.machine, subjects[at].name);
            // The first round fills caches and tables.
            if round > 0 {
                times[at].push(time.as_secs_f64() * 1e9 / codes.len() as f64);
            }
        }
    }
    let hand = times[0].clone();
    let medians = times.into_iter().map(|own| {
        let ratio = median(own.iter().zip(&hand).map(|(own, hand)| own / hand).collect());
        Medians { time: median(own), ratio }
    });
    medians.collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn once(only: &str, machine: Option<&str>, count: usize) {
    let all = all();
    let rivals = all.iter().find(|rivals| Some(rivals.machine) == machine);
    let rivals = rivals.expect("`--only` with `--events` wants `--machine` as well");
    let subject = rivals.subjects.iter().find(|subject| subject.name == only);
    let subject = subject.expect("the implementation has the machine");
    let (_, end) = (subject.run)(&rivals.mix.random(), count.min(LENGTH));
    println!("{end:?}");
}
