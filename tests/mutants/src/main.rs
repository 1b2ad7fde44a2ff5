//! Puts single faults into the step semantics and demands that named tests catch each.
//!
//! ```console
//! cargo run -p chartc-mutants                    # all faults
//! cargo run -p chartc-mutants -- entry-order     # some of them
//! cargo run -p chartc-mutants -- --who           # and which other tests of the semantics would catch each
//! ```
//!
//! The workspace's tracked files are copied below `target/mutants`. There every fault of the [`table`] stands beside the right code,
//! behind a switch, so that all of them take one build. Each is then switched on alone for the tests that it names: these must fail,
//! by an assertion of theirs, not by a panic elsewhere and not by hanging. With all switches off they must pass.
#![allow(
    clippy::disallowed_methods,
    reason = "it copies files, starts cargo and tests, and looks at the clock"
)]

mod copy;
mod run;
mod table;

use run::Verdict;
use std::process::ExitCode;
use table::Mutant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match mutate(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every chosen fault is caught.
fn mutate(arguments: &[String]) -> Result<bool, String> {
    let who = arguments.iter().any(|a| a == "--who");
    let names: Vec<&String> = arguments.iter().filter(|a| *a != "--who").collect();
    let all = table::all();
    if let Some(unknown) = names.iter().find(|n| all.iter().all(|m| m.name != n.as_str())) {
        return Err(format!("no fault is called `{unknown}`"));
    }
    let chosen: Vec<&Mutant> =
        all.iter().filter(|m| names.is_empty() || names.iter().any(|n| *n == m.name)).collect();
    let root = copy::workspace(&all)?;
    let tests = run::build(&root)?;
    let mut named: Vec<&str> = chosen.iter().flat_map(|m| m.tests).copied().collect();
    named.sort_unstable();
    named.dedup();
    for (test, verdict) in run::tests(&tests, None, &named)? {
        if verdict != Verdict::Passes {
            return Err(format!("without any fault, `{test}` {}", verdict.words()));
        }
    }
    let mut caught = 0;
    for mutant in &chosen {
        let missed: Vec<String> = run::tests(&tests, Some(mutant.name), mutant.tests)?
            .into_iter()
            .filter(|(_, verdict)| *verdict != Verdict::Fails)
            .map(|(test, verdict)| format!("{test} {}", verdict.words()))
            .collect();
        if missed.is_empty() {
            caught += 1;
            println!("{:<32} caught by {}", mutant.name, mutant.tests.join(", "));
        } else {
            println!("{:<32} NOT CAUGHT: {}", mutant.name, missed.join(", "));
        }
        if who {
            let others = run::tests(&tests, Some(mutant.name), &[])?;
            let others = others.into_iter().filter(|(_, verdict)| *verdict != Verdict::Passes);
            for (test, verdict) in others {
                println!("    {test} {}", verdict.words());
            }
        }
    }
    println!("{caught} of {} faults caught", chosen.len());
    Ok(caught == chosen.len())
}
