//! Tells those who follow runs that there is more to read.

use std::sync::Arc;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Runs that may be told at once before those who follow are behind; then they look at everything.
const BEHIND: usize = 1024;

/// Tells of runs whose traces have grown.
#[derive(Clone, Debug)]
pub struct Feed(broadcast::Sender<Arc<str>>);

impl Default for Feed {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Feed {
    /// Tells that the trace of a run has grown, after the commit.
    pub fn grown(&self, run: &str) {
        // Without anybody who follows there is nobody to tell.
        drop(self.0.send(run.into()));
    }

    pub(crate) fn follow(&self, run: &str) -> Follower {
        Follower { run: run.into(), told: self.0.subscribe() }
    }
}

/// Follows one run.
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
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}
