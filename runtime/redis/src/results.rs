//! Handling the outcomes of deliveries.

use crate::delivery::{DeliveryOutcome, InFlight, deliver, longer};
use crate::entry::{Entry, Raw};
use crate::notice::Notice;
use crate::session::Session;
use chartc_runtime::agents::Engine;
use std::time::Duration;
use tokio::time::sleep;

impl<E: Engine + Sync> Session<'_, E> {
    /// Records the outcome of a delivery, and delivers the agent's next entry.
    pub(crate) fn land(
        &mut self,
        flight: InFlight,
        outcome: DeliveryOutcome,
        tell: &mut impl FnMut(Notice),
    ) {
        let InFlight { shard: nth, lease, entry, waited } = flight;
        let agent = entry.agent.clone();
        match &outcome {
            DeliveryOutcome::Away(_) => {}
            DeliveryOutcome::Taken { .. } | DeliveryOutcome::Busy | DeliveryOutcome::Dead(_) => {
                self.is_away = false;
            }
        }
        // The stream was lost meanwhile, and the new owner delivers the entry again.
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.lease == lease) else {
            return;
        };
        shard.in_flight -= 1;
        let next = match outcome {
            DeliveryOutcome::Taken { is_repeated } => {
                if is_repeated {
                    self.counts.repeated += 1;
                } else {
                    self.counts.applied += 1;
                }
                shard.done.push(entry.id);
                if entry.is_of_turns() {
                    self.waits.remove(&(nth, agent.clone()));
                }
                shard.queues.done(&agent)
            }
            DeliveryOutcome::Dead(reason) => {
                shard.dead.push((Raw { id: entry.id, fields: Some(entry.fields) }, reason));
                shard.queues.done(&agent)
            }
            DeliveryOutcome::Busy if entry.is_of_turns() => {
                self.counts.busy += 1;
                let wait = self.waits.entry((nth, agent.clone())).or_default();
                *wait = longer(*wait);
                let (wait, agent) = (*wait, agent.clone());
                self.retries.push(Box::pin(async move {
                    sleep(wait).await;
                    (nth, lease, agent)
                }));
                shard.queues.defer(entry)
            }
            // Only turns are deferred. An event for a busy agent is delivered again, and so is every event while the engine is unreachable.
            DeliveryOutcome::Busy | DeliveryOutcome::Away(_) => {
                if let DeliveryOutcome::Away(why) = outcome
                    && !std::mem::replace(&mut self.is_away, true)
                {
                    tell(Notice::EngineAway(why));
                }
                if !self.is_stopping && !shard.is_leaving {
                    shard.in_flight += 1;
                    let flight = InFlight { shard: nth, lease, entry, waited: longer(waited) };
                    self.flights.push(Box::pin(deliver(self.engine, flight)));
                }
                return;
            }
        };
        self.send_next(nth, next);
    }

    /// Tries a deferred turn again.
    pub(crate) fn retry(&mut self, nth: usize, lease: u64, agent: &str) {
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.lease == lease) else {
            return;
        };
        let next = shard.queues.undefer(agent);
        self.send_next(nth, next);
    }

    /// Delivers the next entry of an agent, unless the stream is to be released: then the entry stays pending in Redis for the next owner.
    fn send_next(&mut self, nth: usize, next: Option<Entry>) {
        let Some(shard) = self.shards.get_mut(&nth) else { return };
        let Some(entry) = next.filter(|_| !self.is_stopping && !shard.is_leaving) else { return };
        shard.in_flight += 1;
        let flight = InFlight { shard: nth, lease: shard.lease, entry, waited: Duration::ZERO };
        self.flights.push(Box::pin(deliver(self.engine, flight)));
    }
}
