//! The command line.
//!
//! Commands differ in their options and share the rest: they find files, check them, select a chart, and end with an exit code.
//! A command is a module with `Args` and `run`. For `chartc check a.chart`:
//!
//! 1. [`parse`] reads the arguments into [`Command::Check`], and [`dispatch`] calls `check::run`.
//! 2. [`files`] turns `a.chart` into a list of files, and the compiler checks them.
//! 3. [`output`] prints the findings. No other module writes to the terminal.
//! 4. `run` returns [`Exit::Findings`]. A wrong use of the command itself is an `Err`, which becomes [`Exit::Usage`].
//!
//! To add a command: one file with `Args` (a doc comment with examples) and `run`, its `mod` line, its variant of [`Command`] and
//! its arm in [`dispatch`].

mod build;
mod check;
mod config;
mod convert;
#[cfg(feature = "run")]
mod crowd;
#[cfg(feature = "providers")]
mod doctor;
#[cfg(feature = "sqlite")]
mod durable;
mod explain;
mod explore;
pub mod files;
mod fix;
mod given;
#[cfg(feature = "run")]
mod glance;
mod graph;
#[cfg(feature = "run")]
mod instance;
#[cfg(feature = "redis")]
mod intake;
#[cfg(feature = "lsp")]
pub mod lsp;
mod manual;
mod new;
#[cfg(feature = "run")]
mod otel;
pub mod output;
pub mod pick;
#[cfg(feature = "run")]
mod prompt;
#[cfg(feature = "run")]
mod replay;
#[cfg(feature = "run")]
mod run;
mod schema;
#[cfg(feature = "run")]
mod screen;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "run")]
mod servers;
mod show;
#[cfg(feature = "run")]
mod signals;
#[cfg(feature = "run")]
mod simulate;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "run")]
mod terminal;
#[cfg(feature = "run")]
mod test;
#[cfg(feature = "mcp")]
mod tools;
#[cfg(feature = "run")]
mod trace;

use chartc_core::visible;
use clap::error::Error;
use clap::{CommandFactory, Parser, Subcommand};
use output::{Exit, Stream, is_coloured};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Check, draw, test and run declarative statecharts of LLM agents, and generate Rust from them.
#[derive(Debug, Parser)]
#[command(
    name = "chartc",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  chartc new my-agent            write a first chart
  chartc check                   check every chart below this folder
  chartc explain C0301           explain a diagnostic, and what to do about it
  chartc show builder.chart      draw a chart in the terminal
  chartc graph builder.chart     draw it for Graphviz or Mermaid
  chartc explore builder.chart   try what a model and a host can do
  chartc prompt builder.chart    show what a model would be sent
  chartc run builder.chart       run it, without a network
  chartc serve support.chart     offer it to programs, over HTTP and MCP
  chartc store runs.db list      list the runs of a store
  chartc tools list --tools T    list the tools of servers
  chartc trace run.jsonl         show what a run decided, when and why
  chartc replay run.jsonl        run it again from its trace
  chartc test                    play the tests of every chart below this folder
  chartc build builder.chart     generate Rust
  chartc fmt                     format every chart below this folder
  chartc convert agent.yaml      convert an agent to a .chart; also *.scxml
  chartc lsp                     serve an editor: the Language Server Protocol on standard input
  chartc schema agent            print the JSON Schema of agent.yaml, for editors

`chartc help COMMAND` has more examples and the exit codes of each command.

Exit codes: 0 clean, 1 diagnostics, 2 wrong usage, 3 internal error, 4 nothing to check"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Check(check::Args),
    Completions(manual::CompletionsArgs),
    Convert(convert::Args),
    #[cfg(feature = "providers")]
    Doctor(doctor::Args),
    Explain(explain::Args),
    Explore(explore::Args),
    Fmt(fix::Args),
    Graph(graph::Args),
    #[cfg(feature = "redis")]
    Intake(Box<intake::Args>),
    #[cfg(feature = "lsp")]
    Lsp(lsp::Args),
    Man(manual::Args),
    New(new::Args),
    #[cfg(feature = "run")]
    Prompt(Box<prompt::Args>),
    #[cfg(feature = "run")]
    Replay(replay::Args),
    #[cfg(feature = "run")]
    Run(Box<run::Args>),
    Schema(schema::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    Show(show::Args),
    #[cfg(feature = "run")]
    Simulate(simulate::Args),
    #[cfg(feature = "sqlite")]
    Store(store::Args),
    #[cfg(feature = "run")]
    Trace(trace::Args),
    #[cfg(feature = "run")]
    Test(test::Args),
    #[cfg(feature = "mcp")]
    Tools(tools::Args),
}

fn dispatch(command: Command) -> miette::Result<Exit> {
    match command {
        Command::Build(args) => build::run(args),
        Command::Check(args) => check::run(args),
        Command::Completions(args) => manual::run_completions(args, Cli::command()),
        Command::Convert(args) => convert::run(args),
        #[cfg(feature = "providers")]
        Command::Doctor(args) => doctor::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Fmt(args) => fix::run(args),
        Command::Graph(args) => graph::run(args),
        #[cfg(feature = "redis")]
        Command::Intake(args) => intake::run(*args),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => lsp::run(&args),
        Command::Man(args) => manual::run_man(args, Cli::command()),
        Command::New(args) => new::run(args),
        #[cfg(feature = "run")]
        Command::Prompt(args) => prompt::run(*args),
        #[cfg(feature = "run")]
        Command::Replay(args) => replay::run(args),
        #[cfg(feature = "run")]
        Command::Run(args) => run::run(*args),
        Command::Schema(args) => schema::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Show(args) => show::run(args),
        #[cfg(feature = "run")]
        Command::Simulate(args) => simulate::run(args),
        #[cfg(feature = "sqlite")]
        Command::Store(args) => store::run(args),
        #[cfg(feature = "run")]
        Command::Trace(args) => trace::run(args),
        #[cfg(feature = "run")]
        Command::Test(args) => test::run(args),
        #[cfg(feature = "mcp")]
        Command::Tools(args) => tools::run(args),
    }
}

/// Parses the arguments of the process, runs the command, and returns the exit code.
pub fn main() -> ExitCode {
    let exit = match parse::<Cli>() {
        Ok(cli) => guarded(|| dispatch(cli.command)),
        // clap reports `--help` and `--version` as errors that belong on standard output.
        Err(told) if told.use_stderr() => {
            output::complain_report(&shown(&told, output::Stream::Error));
            Exit::Usage
        }
        Err(told) => {
            let text = shown(&told, output::Stream::Output);
            guarded(|| output::print_coloured(&text).map(|()| Exit::Clean))
        }
    };
    ExitCode::from(exit as u8)
}

/// Runs a command. A panic becomes a message and [`Exit::Internal`].
fn guarded(command: impl FnOnce() -> miette::Result<Exit>) -> Exit {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no message");
        output::complain(format!("internal error: {what}{place}"));
        output::complain(format!(
            "this is an error in chartc {}, not in your chart; please report it with the file and the command",
            env!("CARGO_PKG_VERSION")
        ));
    }));
    // The process ends after a panic, so nothing can observe state that was left inconsistent.
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(fault)) => {
            output::complain(format!("error: {fault}"));
            if let Some(help) = fault.help() {
                output::complain(format!("help: {help}"));
            }
            Exit::Usage
        }
        Err(_) => Exit::Internal,
    }
}

// Parses the arguments of the process.

/// Parses the arguments of the process.
///
/// # Errors
/// The message of clap, with hidden characters of the arguments escaped.
#[allow(clippy::disallowed_methods, reason = "here the arguments are read")]
fn parse<C: Parser>() -> Result<C, Error> {
    let given: Vec<OsString> = std::env::args_os().collect();
    C::try_parse_from(&given).map_err(|told| again::<C>(&given).unwrap_or(told))
}

/// Parses the same arguments once more with hidden characters escaped, because clap repeats arguments verbatim in its messages.
fn again<C: Parser>(given: &[OsString]) -> Option<Error> {
    let shown = given.iter().map(|word| visible::line(&word.to_string_lossy()).into_owned());
    C::try_parse_from(shown).err()
}

/// The message of clap, with colours if `stream` shows them.
fn shown(told: &Error, stream: Stream) -> String {
    let text = told.render();
    if is_coloured(stream) { text.ansi().to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Internal);
    }

    /// The command lines of the examples in a help text: what follows `chartc`, up to a comment or a pipe.
    fn examples(help: &str) -> Vec<Vec<String>> {
        let after = help.split_once("Examples:\n").map(|(_, after)| after).unwrap_or_default();
        let lines = after.lines().take_while(|l| l.starts_with("  "));
        let command = |line: &str| {
            let (_, line) = line.split_once("chartc ")?;
            let line = line.split("  ").next()?.split(" | ").next()?.split(" >").next()?;
            Some(line.split_whitespace().map(ToOwned::to_owned).collect())
        };
        lines.filter_map(command).collect()
    }

    #[test]
    fn every_help_has_examples_that_are_command_lines() {
        let mut all = Cli::command();
        all.build();
        let helps = std::iter::once(&mut all.clone())
            .chain(all.get_subcommands_mut())
            .filter(|c| c.get_name() != "help")
            .map(|c| (c.get_name().to_owned(), c.render_long_help().to_string()))
            .collect::<Vec<_>>();
        for (name, help) in helps {
            let examples = examples(&help);
            assert!(examples.len() > 1, "{name} lacks examples:\n{help}");
            for words in examples {
                // Commands of features that this build lacks do not exist in it.
                let without = ["replay", "run", "simulate", "store", "test", "tools", "trace"];
                let is_left_out = words.first().is_some_and(|w| without.contains(&w.as_str()));
                if cfg!(not(feature = "run")) && is_left_out {
                    continue;
                }
                let line = std::iter::once("chartc").chain(words.iter().map(String::as_str));
                if let Err(fault) = Cli::try_parse_from(line) {
                    panic!("an example of {name} is wrong: {words:?}\n{fault}");
                }
            }
        }
    }
}
