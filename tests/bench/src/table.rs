//! The machine `table`: 64 states in which each of 16 events leads to a random state, the same at every call.

use crate::dice::Dice;
use std::fmt::Write;

/// States, `s0` first.
pub(crate) const STATES: usize = 64;
/// Events, `e0` first.
pub(crate) const EVENTS: usize = 16;

/// Row by row, where each event leads: `[state][event]`.
pub(crate) fn targets() -> [[usize; EVENTS]; STATES] {
    let mut dice = Dice(64);
    std::array::from_fn(|_| std::array::from_fn(|_| dice.below(STATES)))
}

/// Its chart, as `chartc fmt` writes it.
pub(crate) fn chart() -> String {
    let mut text = String::from(
        "/// A total table of 64 states and 16 events, drawn at random: `chartc-bench table` writes it.\nchart Table {\n",
    );
    for event in 0..EVENTS {
        let _ = writeln!(text, "  event e{event}");
    }
    text.push_str("\n  initial s0\n");
    for (state, row) in targets().iter().enumerate() {
        let _ = writeln!(text, "  state s{state} {{");
        for (event, target) in row.iter().enumerate() {
            let _ = writeln!(text, "    on e{event} -> s{target}");
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}
