//! Runs the crowd and draws a bar for each round; `--help` says how.

#![allow(clippy::disallowed_methods, reason = "a program reads its arguments and the time")]

use crowd_example::options::{HELP, Options};
use crowd_example::{World, show};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has closed the pipe.
        Err(why) if why.is::<std::io::Error>() => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let is_coloured = out.is_terminal();
    let start = Instant::now();
    let mut world = World::new(options, &mut |done, all| progress("made", done, all)).await?;
    writeln!(
        out,
        "{} agents of charts/social.chart, seed {}, made in {:.1} s",
        show::grouped(options.agents as u64),
        options.seed,
        start.elapsed().as_secs_f64()
    )?;
    let states = world.state_distribution();
    writeln!(out, "{}\n", show::legend(&states, is_coloured))?;
    let start = Instant::now();
    let mut asked = 0;
    for number in 1..=options.rounds {
        let what = format!("round {number}:");
        world.round(&mut |done, all| progress(&what, done, all)).await?;
        let states = world.state_distribution();
        let all = world.stand_in.asked();
        writeln!(out, "{}", show::round(number, &states, all - asked, is_coloured))?;
        asked = all;
    }
    let seconds = start.elapsed().as_secs_f64();
    let states = world.state_distribution();
    writeln!(out, "\n{}", show::summary(&states, world.done.counts()).trim_end())?;
    let fired = world.fired - options.agents as u64;
    writeln!(
        out,
        "{} events and turns, {} questions in {seconds:.1} s: {} a second",
        show::grouped(fired),
        show::grouped(asked),
        show::grouped((fired as f64 / seconds.max(0.001)) as u64)
    )?;
    // Exiting frees the memory of a million agents at once.
    std::mem::forget(world);
    Ok(())
}

/// Shows progress on a terminal.
fn progress(what: &str, done: usize, all: usize) {
    let mut err = std::io::stderr();
    if all >= 100_000 && err.is_terminal() {
        let percent = 100 * done / all;
        let end = if done == all { "\r\x1b[K" } else { "" };
        // Progress that cannot be shown is not an error.
        drop(write!(err, "\r{what} {percent} %{end}"));
        drop(err.flush());
    }
}
