//! Turns of runs: one after the other as long as something happens in them.

use crate::feed::Feed;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError, Event};
use chartc_runtime::trace::{Line, What};
use chartc_store::{Sqlite, StoreError};
use tokio::sync::watch;

/// Makes turns of runs.
pub(crate) struct Driver {
    pub(crate) engine: Sqlite,
    pub(crate) feed: Feed,
    pub(crate) run: String,
    /// The number of the last line of the trace, while the run waits for somebody.
    pub(crate) at_rest: watch::Sender<Option<u64>>,
}

/// Why no more turns are made: the run has ended, cannot go on, or its engine has ended. Whoever reads the run is told.
struct Over;

impl From<StoreError> for Over {
    fn from(_: StoreError) -> Self {
        Self
    }
}

impl From<EngineError> for Over {
    fn from(_: EngineError) -> Self {
        Self
    }
}

impl Driver {
    /// Makes the turns that were not made before. After one in which nothing happened, and while a person is asked, the next one waits for
    /// news.
    pub(crate) async fn drive(self, turns: u32) {
        for nth in 1..=turns {
            if self.turn(&format!("turn:{nth}")).await.is_err() {
                break;
            }
        }
        // The last turn may still be at work.
        drop(self.engine.settled(&self.run).await);
        self.at_rest.send_replace(Some(u64::MAX));
    }

    async fn turn(&self, id: &str) -> Result<(), Over> {
        let run = &self.run;
        if self.engine.has(run, id).await? {
            return Ok(());
        }
        loop {
            self.engine.settled(run).await?;
            if self.engine.read(run).await?.is_none_or(|state| state.status.is_some()) {
                return Err(Over);
            }
            let seen = self.last().await?;
            let reply = self.engine.fire(run, Event::turn(id)).await?;
            self.engine.settled(run).await?;
            let (seen, is_idle) = self.looked(seen).await?;
            let is_taken = reply.receipt != Receipt::Busy;
            if is_idle || !is_taken {
                self.news(seen).await?;
            }
            if is_taken {
                return Ok(());
            }
        }
    }

    /// Waits until the trace is longer.
    async fn news(&self, seen: u64) -> Result<(), Over> {
        let mut follower = self.feed.follow(&self.run);
        while self.last().await? == seen {
            self.at_rest.send_replace(Some(seen));
            if !follower.more().await {
                return Err(Over);
            }
        }
        self.at_rest.send_replace(None);
        Ok(())
    }

    /// The number of the last line of the trace.
    async fn last(&self) -> Result<u64, Over> {
        let run = self.run.clone();
        let last = self.engine.look(move |store| store.last_line(&run)).await??;
        Ok(last.map_or(0, |line| line.seq))
    }

    /// The number of the last line, and whether the run waits for somebody: nothing but a turn is in the lines since then, or a person is
    /// asked.
    async fn looked(&self, since: u64) -> Result<(u64, bool), Over> {
        let run = self.run.clone();
        let looked = self.engine.look(move |store| {
            let is_asked = !store.asked(&run)?.is_empty();
            let (mut seq, mut is_empty) = (since, true);
            loop {
                let lines = store.lines_after(&run, seq, 256)?;
                let Some(last) = lines.last() else { break };
                seq = last.seq;
                is_empty &= lines.iter().all(is_nothing);
            }
            Ok::<_, StoreError>((seq, is_asked || is_empty))
        });
        Ok(looked.await??)
    }
}

/// Whether a line only says that there was a turn.
fn is_nothing(line: &Line) -> bool {
    matches!(
        line.what,
        What::Turn { .. }
            | What::TurnEnded { .. }
            | What::Skipped { .. }
            | What::WalkEnded { .. }
            | What::Section { .. }
    )
}
