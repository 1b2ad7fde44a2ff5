//! Signals that ask the process to end, and what work does about them.
//!
//! Calls that are paid for must not be lost because somebody stops the process. The first signal lets work come to a point at which
//! nothing is under way; a second one, or [`GRACE`], ends it at once.

use super::output::complain;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

/// The maximum time that work gets after the first signal. Supervisors such as Kubernetes kill a process after 30 seconds.
pub(super) const GRACE: Duration = Duration::from_secs(25);

/// Resolves on Ctrl-C and, on Unix, on SIGTERM and SIGHUP, with the number of the signal.
#[cfg(unix)]
pub(super) async fn signal() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};
    async fn wait(kind: SignalKind) {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // Without a handler the signal ends the process as usual.
            Err(_) => std::future::pending().await,
        }
    }
    tokio::select! {
        () = wait(SignalKind::terminate()) => 15,
        () = wait(SignalKind::hangup()) => 1,
        () = wait(SignalKind::interrupt()) => 2,
    }
}

/// Resolves on Ctrl-C, with the number of the signal.
#[cfg(not(unix))]
pub(super) async fn signal() -> i32 {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    2
}

/// Resolves when work that was asked to end has to end at once: on another signal, or after [`GRACE`].
pub(super) async fn out_of_patience() {
    tokio::select! {
        _ = signal() => {}
        () = tokio::time::sleep(GRACE) => complain("stopped at once: it took too long"),
    }
}

/// Awaits `work`. At the first signal, `ask` tells it to end. Returns `None` if it did not end in time.
pub(super) async fn unless_stopped<R>(
    ask: impl FnOnce(),
    work: impl Future<Output = R>,
) -> Option<R> {
    let mut work = pin!(work);
    tokio::select! {
        // `biased`: the signal is looked at first, so that work which is always ready cannot hide it.
        biased;
        _ = signal() => {}
        done = &mut work => return Some(done),
    }
    ask();
    tokio::select! {
        biased;
        () = out_of_patience() => None,
        done = &mut work => Some(done),
    }
}
