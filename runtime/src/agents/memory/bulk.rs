//! Many events in one call.

use super::shard::SHARDS;
use super::{EngineError, Event, Home, Memory, Reply};
use crate::trace;
use chartc_core::host::Machine;

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Fires many events and returns the replies in the order of the events. The events of each agent are handled in their order. With one
    /// thread, all events are handled in their order; with several, each thread handles those of its own agents.
    pub fn fire_many<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        let taken = if self.threads == 1 {
            let taken = events.iter().map(|(agent, event)| {
                let agent = agent.as_ref();
                let home = self.home(agent);
                self.take(&mut self.shards[home.shard].agents(), home, agent, event)
            });
            taken.collect()
        } else {
            self.fire_apart(events)
        };
        self.waiting.wake();
        taken
    }

    fn fire_apart<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        let mut shards: Vec<Vec<(usize, Home)>> = vec![Vec::new(); SHARDS];
        for (nth, (agent, _)) in events.iter().enumerate() {
            let home = self.home(agent.as_ref());
            shards[home.shard].push((nth, home));
        }
        let take_all = |part: &[Vec<(usize, Home)>]| {
            let mut taken = Vec::new();
            for shard in part {
                let Some((_, first)) = shard.first() else { continue };
                let mut agents = self.shards[first.shard].agents();
                for (nth, home) in shard {
                    let (agent, event) = &events[*nth];
                    taken.push((*nth, self.take(&mut agents, *home, agent.as_ref(), event)));
                }
            }
            taken
        };
        let tokio = tokio::runtime::Handle::try_current().ok();
        let mut replies: Vec<Option<Result<Reply, EngineError>>> = Vec::new();
        replies.resize_with(events.len(), || None);
        std::thread::scope(|scope| {
            let parts = shards.chunks(SHARDS.div_ceil(self.threads));
            let threads: Vec<_> = parts
                .map(|part| {
                    scope.spawn(|| {
                        let _entered = tokio.as_ref().map(tokio::runtime::Handle::enter);
                        take_all(part)
                    })
                })
                .collect();
            for thread in threads {
                match thread.join() {
                    Ok(taken) => taken.into_iter().for_each(|(nth, reply)| {
                        replies[nth] = Some(reply);
                    }),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        // Each event is in one shard.
        replies.into_iter().flatten().collect()
    }
}
