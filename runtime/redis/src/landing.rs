//! What becomes of an event that was fired.

use crate::entry::{Entry, Raw};
use crate::flight::{Flight, Landing, fly, longer};
use crate::notice::Notice;
use crate::session::Session;
use chartc_runtime::agents::Engine;
use std::time::Duration;
use tokio::time::sleep;

impl<E: Engine + Sync> Session<'_, E> {
    /// Notes what came of an event, and sends the agent's next one on its way.
    pub(crate) fn land(&mut self, flight: Flight, landing: Landing, tell: &mut impl FnMut(Notice)) {
        let Flight { shard: nth, tenure, entry, waited } = flight;
        let agent = entry.agent.clone();
        match &landing {
            Landing::Away(_) => {}
            Landing::Taken { .. } | Landing::Busy | Landing::Dead(_) => self.is_away = false,
        }
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.tenure == tenure) else {
            return;
        };
        shard.flying -= 1;
        let next = match landing {
            Landing::Taken { is_repeated } => {
                if is_repeated {
                    self.counts.repeated += 1;
                } else {
                    self.counts.applied += 1;
                }
                shard.done.push(entry.id);
                if entry.is_of_turns() {
                    self.waits.remove(&(nth, agent.clone()));
                }
                shard.lanes.done(&agent)
            }
            Landing::Dead(reason) => {
                shard.dead.push((Raw { id: entry.id, fields: Some(entry.fields) }, reason));
                shard.lanes.done(&agent)
            }
            Landing::Busy if entry.is_of_turns() => {
                self.counts.busy += 1;
                let wait = self.waits.entry((nth, agent.clone())).or_default();
                *wait = longer(*wait);
                let (wait, agent) = (*wait, agent.clone());
                self.retries.push(Box::pin(async move {
                    sleep(wait).await;
                    (nth, tenure, agent)
                }));
                shard.lanes.park(entry)
            }
            Landing::Busy | Landing::Away(_) => {
                if let Landing::Away(why) = landing
                    && !std::mem::replace(&mut self.is_away, true)
                {
                    tell(Notice::EngineAway(why));
                }
                if !self.is_stopping && !shard.is_leaving {
                    shard.flying += 1;
                    let flight = Flight { shard: nth, tenure, entry, waited: longer(waited) };
                    self.flights.push(Box::pin(fly(self.engine, flight)));
                }
                return;
            }
        };
        self.go_on(nth, next);
    }

    /// It is time to try a turn again.
    pub(crate) fn retry(&mut self, nth: usize, tenure: u64, agent: &str) {
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.tenure == tenure) else {
            return;
        };
        let next = shard.lanes.unpark(agent);
        self.go_on(nth, next);
    }

    /// Sends the next event of an agent on its way. What is not sent when the stream is to be left stays pending.
    fn go_on(&mut self, nth: usize, next: Option<Entry>) {
        let Some(shard) = self.shards.get_mut(&nth) else { return };
        let Some(entry) = next.filter(|_| !self.is_stopping && !shard.is_leaving) else { return };
        shard.flying += 1;
        let flight = Flight { shard: nth, tenure: shard.tenure, entry, waited: Duration::ZERO };
        self.flights.push(Box::pin(fly(self.engine, flight)));
    }
}
