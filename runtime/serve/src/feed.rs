//! A notification channel: tells subscribers that the trace of a run has grown.

use std::sync::Arc;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// The capacity of the channel, in notifications. A subscriber that falls further behind reads the trace of its run to be sure.
const BEHIND: usize = 1024;

/// The sender of notifications about traces that have grown. Clones share one channel.
#[derive(Clone, Debug)]
pub struct Feed(broadcast::Sender<Arc<str>>);

impl Default for Feed {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Feed {
    /// Announces that the trace of `run` has grown. Call it after the commit, so that subscribers find the new lines.
    pub fn grown(&self, run: &str) {
        // An error only means that there are no subscribers.
        drop(self.0.send(run.into()));
    }

    pub(crate) fn follow(&self, run: &str) -> Follower {
        Follower { run: run.into(), told: self.0.subscribe() }
    }
}

/// A subscription to one run.
pub(crate) struct Follower {
    run: Arc<str>,
    told: broadcast::Receiver<Arc<str>>,
}

impl Follower {
    /// Resolves when the trace may have grown; `false` if it never will again.
    pub(crate) async fn more(&mut self) -> bool {
        loop {
            match self.told.recv().await {
                Ok(run) if run == self.run => return true,
                Ok(_) => {}
                // Notifications were lost, perhaps one for this run.
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}
