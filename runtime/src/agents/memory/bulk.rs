//! Firing many events in one call.

use super::shard::SHARDS;
use super::work::WORTH_A_THREAD;
use super::{EngineError, Event, Home, Memory, Reply};
use crate::trace;
use chartc_core::host::Machine;
use std::sync::mpsc;

/// An event with the home of its agent and the place for the reply.
type Fired<'a, N> = (Home, &'a (N, Event), &'a mut Result<Reply, EngineError>);

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Fires many events and returns the replies in the order of the events. The events of each agent are handled in their order. With one
    /// thread, all events are handled in their order; with several, each thread handles those of its own agents.
    pub fn fire_many<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        // With few events, starting threads costs more than it saves.
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
        // Placeholders: every one of them is overwritten below.
        replies.resize_with(events.len(), || {
            Err(EngineError::Away { agent: String::new(), why: String::new() })
        });
        let size = events.len().div_ceil(self.threads);
        let count = events.len().div_ceil(size);
        let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel()).unzip();
        let parts = events.chunks(size).zip(replies.chunks_mut(size)).zip(from).enumerate();
        let parts: Vec<_> = parts.map(|(nth, part)| (nth, part, to.clone())).collect();
        // A receiver ends once all senders are dropped.
        drop(to);
        on_threads(parts.into_iter(), |(nth, ((events, replies), from), to)| {
            // Each thread first sorts its part of the events by shard, and sends them to the threads that own the shards.
            let room = 2 * events.len() / SHARDS;
            let mut shards: Vec<Vec<Fired<'_, N>>> =
                (0..SHARDS).map(|_| Vec::with_capacity(room)).collect();
            for (event, reply) in events.iter().zip(replies) {
                let home = self.home(event.0.as_ref());
                shards[home.shard].push((home, event, reply));
            }
            let own = |nth: usize| nth * SHARDS / count..(nth + 1) * SHARDS / count;
            for (other, to) in to.into_iter().enumerate().rev() {
                // Sending fails only if the other thread has panicked.
                let _ = to.send((nth, shards.split_off(own(other).start)));
            }
            // Then it fires the events for its own shards, in their original order.
            let mut sent: Vec<(usize, Vec<Vec<Fired<'_, N>>>)> = from.into_iter().collect();
            sent.sort_unstable_by_key(|(nth, _)| *nth);
            for (place, shard) in self.shards[own(nth)].iter().enumerate() {
                let mut agents = shard.agents();
                for (_, shards) in &mut sent {
                    for (home, (agent, event), reply) in shards[place].drain(..) {
                        *reply = self.take(&mut agents, home, agent.as_ref(), event);
                    }
                }
            }
        });
        replies
    }
}

/// Processes each part on a thread of its own, the first on the present thread, and returns the results in order.
pub(super) fn on_threads<P: Send, R: Send>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    // Calls may need the tokio runtime of the caller.
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
        let others = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    })
}
