//! How long chartc takes and how much memory it needs.
//!
//! ```console
//! cargo run --release -p chartc-bench -- scale            # synthetic charts of 10k to 100k states, in several shapes
//! cargo run --release -p chartc-bench -- scale 5000       # of other sizes
//! cargo run --release -p chartc-bench -- emitter          # generated Rust: time, bytes, rustc; events in the interpreter
//! cargo run --release -p chartc-bench -- chart 1000       # one such chart, as text
//! cargo run --release -p chartc-bench -- table            # the chart of `charts/table.chart`
//! cargo run --release -p chartc-bench -- lints 20000      # what each lint costs on them
//! cargo run --release -p chartc-bench -- folder target/release/chartc    # one call for 200 agents and 200 charts
//! cargo run --release -p chartc-bench -- repository charts/*.chart       # 200 ordinary files
//! cargo run --release -p chartc-bench -- interpreter      # events a second, and what an event costs in charts of any size
//! cargo run --release -p chartc-bench -- turns charts/builder.agent.yaml  # what a turn costs beside the model
//! cargo run --release -p chartc-bench -- store            # events a second into a store of runs, beside plain upserts on the same disk
//! cargo run --release -p chartc-bench -- crowd            # bytes and time of 1,000 to 1,000,000 agents in one process
//! cargo run --release -p chartc-bench -- crowd 1000       # of another number
//! cargo run --release -p chartc-bench -- world target/release/chartc 1000 50000    # bytes and time of agents of one world
//! cargo run --release -p chartc-bench -- editor target/release/chartc    # from a keystroke to its findings
//! cargo run --release -p chartc-bench -- calls target/models/bin/python  # a call of a model, beside the openai package for Python
//! cargo run --release -p chartc-bench -- hostile target/release/chartc   # input that is meant to hurt
//! cargo run --release -p chartc-bench -- growth target/release/chartc    # how each command grows with what it reads; fails on a fault
//! cargo run --release -p chartc-bench -- growth target/release/chartc "when lines"    # with one kind of input
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "it measures, so it reads the clock, arguments and files"
)]

mod agents;
mod calls;
mod child;
mod crowd;
mod dice;
mod editor;
mod emitter;
mod event;
mod folder;
mod grammar;
mod growth;
mod hostile;
mod interpreter;
mod lints;
mod memory;
mod repository;
mod scale;
mod shape;
mod store;
mod synthetic;
mod table;
mod turns;
mod world;

use std::process::ExitCode;

const USAGE: &str = "usage: chartc-bench scale [STATES…] | lints STATES | folder PROGRAM [PROGRAM…] | chart STATES | memory SHAPE STATES | emitted STATES | emitter [STATES…] | interpreter [STATES…] | store [AGENTS…] | crowd [AGENTS…] | world PROGRAM… [AGENTS…] | table | repository FILES… | turns AGENT | calls PYTHON [URL] | editor PROGRAM [STATES…] | hostile PROGRAM | growth PROGRAM [INPUT…]";

fn is_number(word: &str) -> bool {
    word.parse::<usize>().is_ok()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("", &args[..]), |(c, r)| (c.as_str(), r));
    let sizes: Option<Vec<usize>> = rest.iter().map(|a| a.parse().ok()).collect();
    match (command, sizes.as_deref()) {
        ("repository", None) => repository::run(rest),
        ("folder", None) => folder::run(rest),
        ("turns", None) if rest.len() == 1 => match std::fs::read_to_string(&rest[0]) {
            Ok(agent) => turns::run(&agent),
            Err(why) => {
                eprintln!("{}: {why}", rest[0]);
                return ExitCode::FAILURE;
            }
        },
        ("editor", _) if !rest.is_empty() => {
            let sizes: Vec<usize> = rest[1..].iter().filter_map(|a| a.parse().ok()).collect();
            editor::run(&rest[0], if sizes.is_empty() { &[1_000, 10_000] } else { &sizes });
        }
        ("growth", None) if !rest.is_empty() => {
            if !growth::run(&rest[0], &rest[1..]) {
                return ExitCode::FAILURE;
            }
        }
        ("hostile", None) if rest.len() == 1 => hostile::run(&rest[0]),
        ("calls", None) if rest.len() <= 2 => calls::run(&rest[0], rest.get(1).map(String::as_str)),
        ("store", Some([])) => store::run(&[1, 1000, 100_000]),
        ("store", Some(sizes)) => store::run(sizes),
        ("crowd", Some([])) => crowd::run(&[1000, 10_000, 100_000, 1_000_000]),
        ("crowd", Some(sizes)) => crowd::run(sizes),
        ("crowd-alone", _) => crowd::report(rest),
        ("world", None) => {
            let (sizes, programs): (Vec<_>, Vec<_>) = rest.iter().partition(|a| is_number(a));
            let sizes: Vec<usize> = sizes.iter().filter_map(|a| a.parse().ok()).collect();
            let programs: Vec<String> = programs.into_iter().cloned().collect();
            let usual: &[usize] = &[1_000, 10_000, 50_000];
            world::run(&programs, if sizes.is_empty() { usual } else { &sizes });
        }
        ("world-by-hand", Some([agents])) => world::report_by_hand(*agents),
        ("table", Some([])) => print!("{}", table::chart()),
        ("scale", Some([])) => scale::run(&[10_000, 20_000, 50_000, 100_000]),
        ("scale", Some(sizes)) => scale::run(sizes),
        ("chart", Some([states])) => print!("{}", synthetic::chart(*states)),
        ("interpreter", Some([])) => interpreter::run(&[10, 100, 500, 10_000]),
        ("interpreter", Some(sizes)) => interpreter::run(sizes),
        ("memory", None) if rest.len() == 2 => {
            memory::report(&rest[0], rest[1].parse().unwrap_or_default());
        }
        ("lints", Some([states])) => lints::run(*states),
        ("emitted", Some([states])) => memory::report_emit(*states),
        ("emitter", Some([])) => emitter::run(&[10, 100, 500, 10_000]),
        ("emitter", Some(sizes)) => emitter::run(sizes),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
