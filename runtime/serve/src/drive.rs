//! Drives runs: makes one turn after the other as long as something happens, and waits otherwise.

use crate::feed::Feed;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError, Event};
use chartc_runtime::trace::{Line, What};
use chartc_store::{Sqlite, StoreError};
use tokio::sync::watch;

/// Makes the turns of one run.
pub(crate) struct Driver {
    pub(crate) engine: Sqlite,
    pub(crate) feed: Feed,
    pub(crate) run: String,
    /// While the run waits for an event or a person, the number of the last line of its trace; `u64::MAX` after the last turn.
    pub(crate) at_rest: watch::Sender<Option<u64>>,
}

/// No further turns can be made: the run has ended or failed, or the engine has stopped. Readers of the run learn the reason from the
/// store.
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
    /// Makes turns `1..=turns`, except those that an earlier process made. After a turn in which nothing happened, and while a person is
    /// asked, the next turn waits until the trace grows.
    pub(crate) async fn drive(self, turns: u32) {
        for nth in 1..=turns {
            if self.turn(&format!("turn:{nth}")).await.is_err() {
                break;
            }
        }
        // The last turn may still have calls under way.
        drop(self.engine.settled(&self.run).await);
        self.at_rest.send_replace(Some(u64::MAX));
    }

    async fn turn(&self, id: &str) -> Result<(), Over> {
        let run = &self.run;
        // The id makes the turn event idempotent: after a restart, turns that were made before are skipped here.
        if self.engine.has(run, id).await? {
            return Ok(());
        }
        // `Busy`: the turn was not taken in. Wait until something happens in the run, then send it again.
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

    /// Waits until the trace has more lines than `seen`.
    async fn news(&self, seen: u64) -> Result<(), Over> {
        // Subscribe before the comparison: a line that is committed in between would otherwise be missed.
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

    /// The number of the last line of the trace, 0 if there is none.
    async fn last(&self) -> Result<u64, Over> {
        let run = self.run.clone();
        let last = self.engine.look(move |store| store.last_line(&run)).await??;
        Ok(last.map_or(0, |line| line.seq))
    }

    /// Returns the number of the last line, and whether the run waits: either all lines after `since` only record a turn, or a person is
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

/// Whether a line only records that a turn took place.
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
