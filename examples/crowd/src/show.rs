//! The distribution over states, as a bar for each round.

use crate::person::Done;
use crate::social::State;
use std::fmt::Write;

/// Letters of a bar.
pub const WIDTH: usize = 64;

/// The letter, the colour and the name of a basic state.
fn look(state: State) -> (char, u8, &'static str) {
    match state {
        State::Idle => ('i', 240, "idle"),
        State::Active | State::ActiveEngaging => (' ', 0, ""),
        State::ActiveScrolling => ('s', 25, "scrolling"),
        State::ActiveEvaluating => ('e', 94, "evaluating"),
        State::ActiveComposing => ('c', 128, "composing"),
        State::ActiveEngagingLike => ('l', 124, "liking"),
        State::ActiveEngagingReply => ('r', 30, "replying"),
        State::ActiveEngagingReshare => ('h', 28, "resharing"),
        State::ActiveResting => ('z', 58, "resting"),
    }
}

fn painted(text: &str, colour: u8, is_coloured: bool) -> String {
    if is_coloured { format!("\x1b[48;5;{colour}m\x1b[97m{text}\x1b[0m") } else { text.to_owned() }
}

/// What the letters mean.
pub fn legend(states: &[(State, usize)], is_coloured: bool) -> String {
    let words = states.iter().map(|(state, _)| {
        let (letter, colour, name) = look(*state);
        format!("{} {name}", painted(&letter.to_string(), colour, is_coloured))
    });
    words.collect::<Vec<_>>().join("  ")
}

/// A bar of [`WIDTH`] letters. Each state has its share of them, as near as whole letters come; one with agents has a letter where there is
/// room.
pub fn bar(states: &[(State, usize)], is_coloured: bool) -> String {
    let all: usize = states.iter().map(|(_, count)| count).sum();
    let (mut bar, mut so_far, mut drawn) = (String::new(), 0, 0);
    for (state, count) in states {
        so_far += count;
        let end = (so_far * WIDTH + all / 2).checked_div(all).unwrap_or(0);
        let (letter, colour, _) = look(*state);
        let letters = letter.to_string().repeat(end - drawn);
        if !letters.is_empty() {
            bar += &painted(&letters, colour, is_coloured);
        }
        drawn = end;
    }
    bar
}

/// A round as a line.
pub fn round(number: u32, states: &[(State, usize)], asked: u64, is_coloured: bool) -> String {
    format!("{number:>4} |{}| {:>9} asked", bar(states, is_coloured), grouped(asked))
}

/// How many are in each state in the end, and what was done.
pub fn summary(states: &[(State, usize)], done: [u64; 4]) -> String {
    let all: usize = states.iter().map(|(_, count)| count).sum();
    let mut out = String::new();
    for (state, count) in states {
        let (_, _, name) = look(*state);
        let share = 100.0 * *count as f64 / all.max(1) as f64;
        let _ = writeln!(out, "{name:<11} {:>11} {share:>5.1} %", grouped(*count as u64));
    }
    let done = Done::KINDS.iter().zip(done).map(|(kind, n)| format!("{kind} {}", grouped(n)));
    let _ = writeln!(out, "What they did: {}.", done.collect::<Vec<_>>().join(", "));
    out
}

/// A number with commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
