//! What an event costs: generated code and the interpreter beside hand-written code and other libraries, on four machines.
//!
//! ```console
//! cargo run --profile bench -p chartc-peers --features peers -- dispatch     # nanoseconds, and ratios to what is written by hand
//! cargo run --profile bench -p chartc-peers --features peers -- callgrind    # instructions
//! cargo run --profile bench -p chartc-peers --features peers -- xstate       # the interpreter beside XState
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "it measures, so it reads the clock, arguments and files"
)]

mod callgrind;
mod dense;
#[path = "../../src/dice.rs"]
mod dice;
mod dispatch;
mod effects;
mod generated;
mod hand;
mod interpreted;
mod machine;
mod processor;
mod rust_fsm;
mod smlang;
mod statig;
mod streams;
mod subjects;
#[path = "../../src/table.rs"]
#[allow(dead_code, reason = "its text is for the build script")]
mod table;
mod tuned;
mod xstate;

use dispatch::Wanted;
use std::process::ExitCode;

const USAGE: &str = "usage: chartc-peers dispatch [--only IMPLEMENTATION] [--machine MACHINE] [--rounds N | --events N] | callgrind [--machine MACHINE] | xstate [--rounds N]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first().map(|(command, rest)| (command.as_str(), rest)) {
        Some(("dispatch", rest)) => wanted(rest).map(|wanted| dispatch::run(&wanted)),
        Some(("callgrind", rest)) => {
            wanted(rest).map(|wanted| callgrind::run(wanted.machine.as_deref()))
        }
        Some(("xstate", rest)) => {
            wanted(rest).map(|wanted| xstate::run(wanted.rounds.unwrap_or(7)))
        }
        Some(_) | None => None,
    };
    if done.is_none() {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn wanted(args: &[String]) -> Option<Wanted> {
    let mut wanted = Wanted { only: None, machine: None, rounds: None, events: None };
    for pair in args.chunks(2) {
        let [option, value] = pair else { return None };
        match option.as_str() {
            "--only" => wanted.only = Some(value.clone()),
            "--machine" => wanted.machine = Some(value.clone()),
            "--rounds" => wanted.rounds = Some(value.parse().ok().filter(|rounds| *rounds > 0)?),
            "--events" => wanted.events = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(wanted)
}
