//! `chartc lsp`: the Language Server Protocol on standard input and output.
//!
//! Typing must never wait for a check, and an answer must fit the text that the user sees. So one thread reads messages and answers,
//! another checks ([`checker`]), and a request waits until its text has been checked as it is. For example:
//!
//! ```text
//! didOpen door.chart         the session gives the checker a job
//! hover                      waits
//! (the check is done)        publishDiagnostics, then the answer to hover
//! didChange door.chart       change 2; a job for the new text
//! didChange door.chart       change 3; the job of change 2 ends early, its result is dropped
//! completion                 waits for the check of change 3
//! ```
//!
//! [`session`] has this logic, [`answer`] one file for each group of requests, and [`crate::editor`] computes the answers.

mod answer;
mod capabilities;
mod checker;
mod findings;
mod places;
mod position;
mod session;
mod texts;
mod transport;

use super::Exit;
use capabilities::Client;
use lsp_server::Connection;
use places::Places;
use session::Session;

/// Serve an editor: the Language Server Protocol on standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc lsp             what an editor starts; docs/editors.md has the settings of many
  chartc lsp --stdio     the same: some editors add this option

The server reads *.chart, agent.yaml, *.agent.yaml and *.scxml, also texts that were never saved. It checks while
you type, and plays tests and explores on save where that takes long. It has the settings of the nearest
chartc.toml, starts no program and opens no connection.

Exit codes: 0 the editor ended it in the agreed way, 1 the editor went away, 2 wrong usage, 3 internal error")]
pub(super) struct Args {
    /// Speak on standard input and output, as it does without
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(args: &Args) -> miette::Result<Exit> {
    let Args { stdio: _ } = args;
    let (connection, threads) = transport::stdio();
    let exit = serve(&connection);
    // Each thread ends when the other end of its channel is dropped.
    drop(connection);
    let ended = threads.join();
    match (exit, ended) {
        (Ok(exit), Ok(())) => Ok(exit),
        (Ok(_), Err(fault)) => Err(miette::miette!("the editor cannot be heard: {fault}")),
        (Err(fault), _) => Err(fault),
    }
}

/// Serves until the client ends the session or closes the connection.
fn serve(connection: &Connection) -> miette::Result<Exit> {
    let Ok((id, params)) = connection.initialize_start() else { return Ok(Exit::Findings) };
    let client = match serde_json::from_value(params) {
        Ok(params) => Client::from_params(params),
        Err(fault) => {
            let why = format!("`initialize` cannot be understood: {fault}");
            let code = lsp_server::ErrorCode::InvalidParams as i32;
            let refusal = lsp_server::Response::new_err(id, code, why.clone());
            drop(connection.sender.send(refusal.into()));
            return Err(miette::miette!("{why}"));
        }
    };
    // Settings, imports and links are relative to the working directory.
    if let Some(folder) = &client.folder {
        drop(std::env::set_current_dir(folder));
    }
    let places = Places::new(super::files::here()?);
    let hello = capabilities::hello(&client);
    if connection.initialize_finish(id, hello).is_err() {
        return Ok(Exit::Findings);
    }
    Session::new(connection.sender.clone(), client, places)?.serve(&connection.receiver)
}
