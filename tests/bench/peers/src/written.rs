//! The large table as Rust, for those who write a line for each cell.

use crate::table::{EVENTS, STATES};
use std::fmt::Write;

type Targets = [[usize; EVENTS]; STATES];

/// Names and texts of the files.
pub(crate) fn files(targets: &Targets) -> [(&'static str, String); 5] {
    [
        ("table_hand.rs", hand(targets)),
        ("table_cells.rs", cells(targets)),
        ("table_statig.rs", statig(targets)),
        ("table_smlang.rs", smlang(targets)),
        ("table_rust_fsm.rs", rust_fsm(targets)),
    ]
}

fn names(letter: &str, count: usize) -> String {
    (0..count).map(|i| format!("{letter}{i},")).collect()
}

fn all(targets: &Targets) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    targets.iter().enumerate().flat_map(|(state, row)| {
        row.iter().enumerate().map(move |(event, target)| (state, event, *target))
    })
}

const DERIVE: &str = "#[derive(Debug, Clone, Copy, PartialEq, Eq)]\n";

fn hand(targets: &Targets) -> String {
    let mut text = format!(
        "{DERIVE}pub(crate) enum State {{ {} }}\n{DERIVE}pub(crate) enum Event {{ {} }}\n",
        names("S", STATES),
        names("E", EVENTS)
    );
    text.push_str("fn next(state: State, event: Event) -> State {\nmatch (state, event) {\n");
    for (state, event, target) in all(targets) {
        let _ = writeln!(text, "(State::S{state}, Event::E{event}) => State::S{target},");
    }
    text.push_str("}\n}\n");
    let _ = writeln!(
        text,
        "const EVENTS: [Event; {EVENTS}] = [{}];",
        (0..EVENTS).map(|e| format!("Event::E{e},")).collect::<String>()
    );
    text
}

fn cells(targets: &Targets) -> String {
    format!("static CELLS: [[u8; {EVENTS}]; {STATES}] = {targets:?};\n")
}

fn statig(targets: &Targets) -> String {
    let mut text = format!("{DERIVE}pub(crate) enum Event {{ {} }}\n", names("E", EVENTS));
    text.push_str("#[derive(Default)]\npub(crate) struct Table;\n");
    text.push_str("#[state_machine(initial = \"State::s0()\", state(derive(Debug, Clone, Copy)))]\nimpl Table {\n");
    for (state, row) in targets.iter().enumerate() {
        let _ = writeln!(
            text,
            "#[state]\nfn s{state}(event: &Event) -> Outcome<State> {{\nmatch event {{"
        );
        for (event, target) in row.iter().enumerate() {
            let _ = writeln!(text, "Event::E{event} => Transition(State::s{target}()),");
        }
        text.push_str("}\n}\n");
    }
    text.push_str("}\n");
    events(&mut text, "Event");
    text
}

fn smlang(targets: &Targets) -> String {
    let mut text = String::from(
        "statemachine! {\nderive_states: [Debug, Clone, Copy],\nderive_events: [Debug, Clone, Copy],\ntransitions: {\n",
    );
    for (state, event, target) in all(targets) {
        let star = if state == 0 && event == 0 { "*" } else { "" };
        let _ = writeln!(text, "{star}S{state} + E{event} = S{target},");
    }
    text.push_str("}\n}\n");
    events(&mut text, "Events");
    text
}

fn rust_fsm(targets: &Targets) -> String {
    let mut text =
        String::from("state_machine! {\n#[derive(Debug, Clone, Copy)]\npub(crate) table(S0)\n");
    for (state, row) in targets.iter().enumerate() {
        let _ = writeln!(text, "S{state} => {{");
        for (event, target) in row.iter().enumerate() {
            let _ = writeln!(text, "E{event} => S{target},");
        }
        text.push_str("},\n");
    }
    text.push_str("}\n");
    events(&mut text, "table::Input");
    text
}

/// The events by their numbers.
fn events(text: &mut String, name: &str) {
    let list: String = (0..EVENTS).map(|e| format!("{name}::E{e},")).collect();
    let _ = writeln!(text, "const EVENTS: [{name}; {EVENTS}] = [{list}];");
}
