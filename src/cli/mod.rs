//! The command line.
//!
//! To add a command: one file with `Args` (a doc comment with examples) and `run`, its `mod` line, its variant of [`Command`] and
//! its arm in [`dispatch`]. A command returns how it ended ([`Exit`]); what the user did wrong with the command itself is an `Err`.

pub mod files;
pub mod output;
pub mod pick;

mod build;
mod check;
mod convert;
#[cfg(feature = "run")]
mod ending;
mod explain;
mod fmt;
mod graph;
mod highlight;
#[cfg(feature = "run")]
mod instance;
mod levels;
#[cfg(feature = "run")]
mod run;
#[cfg(feature = "run")]
mod screen;
mod show;
#[cfg(feature = "run")]
mod simulate;

use clap::{Parser, Subcommand};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Compiles declarative statecharts of LLM agents: checks them, draws them, generates Rust, runs them.
#[derive(Debug, Parser)]
#[command(
    name = "chartc",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  chartc check                       check every chart below this folder
  chartc check builder.chart         check one file
  chartc explain C0301               what a finding means and what to do
  chartc graph builder.chart         a picture, for Graphviz
  chartc build builder.chart         Rust
  chartc fmt                         write every chart the one way
  chartc convert agent.yaml          the same agent as a .chart

Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 a fault of chartc, 4 nothing to check"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Check(check::Args),
    Convert(convert::Args),
    Explain(explain::Args),
    Fmt(fmt::Args),
    Graph(graph::Args),
    #[cfg(feature = "run")]
    Run(Box<run::Args>),
    Show(show::Args),
    #[cfg(feature = "run")]
    Simulate(simulate::Args),
}

fn dispatch(command: Command) -> miette::Result<Exit> {
    match command {
        Command::Build(args) => build::run(args),
        Command::Check(args) => check::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Graph(args) => graph::run(args),
        #[cfg(feature = "run")]
        Command::Run(args) => run::run(*args),
        Command::Show(args) => show::run(args),
        #[cfg(feature = "run")]
        Command::Simulate(args) => simulate::run(args),
    }
}

/// How a command ended; the number is the exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to complain about.
    Clean = 0,
    /// Findings at or above the level asked for, or a run that did not end well.
    Findings = 1,
    /// The command was used wrongly.
    Usage = 2,
    /// A fault of chartc itself.
    Internal = 3,
    /// No file to work on.
    Nothing = 4,
}

/// Parses the arguments of the process, runs the command, gives the exit code.
pub fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => guarded(|| dispatch(cli.command)),
        Err(help) => {
            // Help and version are errors to clap; printing them fails only when nobody reads.
            let _ = help.print();
            if help.use_stderr() { Exit::Usage } else { Exit::Clean }
        }
    };
    ExitCode::from(exit as u8)
}

/// Runs a command; a panic becomes a message and [`Exit::Internal`].
fn guarded(command: impl FnOnce() -> miette::Result<Exit>) -> Exit {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no message");
        output::complain(&format!(
            "internal error: {what}{place}\nthis is a fault of chartc {}, not of your chart; \
             please report it together with the file and the command",
            env!("CARGO_PKG_VERSION")
        ));
    }));
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(fault)) => {
            output::complain(&format!("error: {fault}"));
            if let Some(help) = fault.help() {
                output::complain(&format!("help: {help}"));
            }
            Exit::Usage
        }
        Err(_) => Exit::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Internal);
    }

    #[test]
    fn every_help_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "{} lacks examples", command.get_name());
        }
    }
}
