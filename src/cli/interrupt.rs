//! Handles Ctrl-C, and reads and writes the file from which a run continues.

use super::output::complain;
use super::save;
use chartc_core::host::Machine;
use chartc_core::visible;
use chartc_runtime::Saved;
use chartc_runtime::agent::Agent;
use chartc_runtime::trace::Sink;
use std::cell::Cell;
use std::future::Future;
use std::path::Path;
use std::pin::pin;

/// The effect of Ctrl-C on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// Ends the process, which is the default of the system. Needed while a person types: another handler would run only after Enter.
    Kills,
    /// Stops the run at once.
    Stops,
    /// Lets the turn end, because its calls are paid for. The second Ctrl-C stops the run at once.
    EndsTurn,
}

/// Awaits `work`. Returns `None` if Ctrl-C stopped it. Sets `asked` if no further turn should begin.
pub(super) async fn unless_stopped<R>(
    interrupt: Interrupt,
    asked: &Cell<bool>,
    work: impl Future<Output = R>,
) -> Option<R> {
    if interrupt == Interrupt::Kills {
        return Some(work.await);
    }
    let mut work = pin!(work);
    loop {
        tokio::select! {
            // `biased`: Ctrl-C is looked at first, so that work that is always ready cannot hide it.
            biased;
            _ = tokio::signal::ctrl_c() => {
                if interrupt == Interrupt::Stops || asked.replace(true) {
                    return None;
                }
                complain("the turn runs to its end; press Ctrl-C again to stop at once");
            }
            done = &mut work => return Some(done),
        }
    }
}

/// Reads the file of `--resume`.
pub(super) fn resume(path: &Path) -> miette::Result<Saved> {
    let name = path.display().to_string();
    let text = super::instance::read(path)?;
    Saved::read(&text).map_err(|why| miette::miette!("{name}: {why}"))
}

/// Writes the file of `--snapshot`, and says how to continue if the run was stopped. A run that has ended is not written.
pub(super) fn save<M: Machine, T: Sink>(
    agent: &Agent<M, T>,
    path: &Path,
    file: &str,
    was_stopped: bool,
) -> miette::Result<()> {
    let Some(saved) = agent.save() else { return Ok(()) };
    let text =
        saved.text().map_err(|why| miette::miette!("the snapshot cannot be written: {why}"))?;
    save::write(path, &format!("{}\n", visible::json(&text)))?;
    if was_stopped {
        complain(format!("continue with: chartc run {file} --resume {}", path.display()));
    }
    Ok(())
}
