//! Many events in one call.

use super::shard::SHARDS;
use super::work::WORTH_A_THREAD;
use super::{EngineError, Event, Home, Memory, Reply};
use crate::trace;
use chartc_core::host::Machine;

/// An event, the home of its agent, and where the reply goes.
type Fired<'a, N> = (Home, &'a (N, Event), &'a mut Result<Reply, EngineError>);

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Fires many events and returns the replies in the order of the events. The events of each agent are handled in their order. With one
    /// thread, all events are handled in their order; with several, each thread handles those of its own agents.
    pub fn fire_many<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        let taken = if self.threads == 1 || events.len() < WORTH_A_THREAD {
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
        let mut replies = Vec::new();
        replies.resize_with(events.len(), || {
            Err(EngineError::Away { agent: String::new(), why: String::new() })
        });
        // Each thread assigns a part of the events to the shards of their agents.
        let size = events.len().div_ceil(self.threads);
        let parts = events.chunks(size).zip(replies.chunks_mut(size));
        let assigned = self.on_threads(parts, |(events, replies)| {
            let room = 2 * events.len() / SHARDS;
            let mut shards: Vec<Vec<Fired<'_, N>>> =
                (0..SHARDS).map(|_| Vec::with_capacity(room)).collect();
            for (event, reply) in events.iter().zip(replies) {
                let home = self.home(event.0.as_ref());
                shards[home.shard].push((home, event, reply));
            }
            shards
        });
        // Then each one fires those of some of the shards, in their order.
        let mut shards: Vec<Vec<Vec<Fired<'_, N>>>> = (0..SHARDS).map(|_| Vec::new()).collect();
        for part in assigned {
            shards.iter_mut().zip(part).for_each(|(shard, events)| shard.push(events));
        }
        let size = SHARDS.div_ceil(self.threads);
        let parts = shards.chunks_mut(size).zip(self.shards.chunks(size));
        self.on_threads(parts, |(events, shards)| {
            for (events, shard) in events.iter_mut().zip(shards) {
                let mut agents = shard.agents();
                for (home, (agent, event), reply) in events.drain(..).flatten() {
                    *reply = self.take(&mut agents, home, agent.as_ref(), event);
                }
            }
        });
        replies
    }

    /// Does each part of some work on its own thread, and returns what comes of them, in order.
    pub(super) fn on_threads<P: Send, R: Send>(
        &self,
        parts: impl Iterator<Item = P>,
        work: impl Fn(P) -> R + Sync,
    ) -> Vec<R> {
        // Calls may need the caller's executor.
        let tokio = tokio::runtime::Handle::try_current().ok();
        let (work, tokio) = (&work, &tokio);
        let mut parts = parts;
        std::thread::scope(|scope| {
            let own = parts.next();
            let threads: Vec<_> = parts
                .map(|part| {
                    scope.spawn(move || {
                        let _entered = tokio.as_ref().map(tokio::runtime::Handle::enter);
                        work(part)
                    })
                })
                .collect();
            let own = own.map(work);
            let others = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            own.into_iter().chain(others).collect()
        })
    }
}
