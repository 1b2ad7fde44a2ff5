//! Answers in place of a model: a pseudo-random option, always the same for the same prompt.

use crate::chance;
use chartc_runtime::oracle::{Answer, Asking, Oracle, Question, ready};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The stand-in, shared by all agents.
#[derive(Debug)]
pub struct StandIn {
    seed: u64,
    asked: AtomicU64,
}

impl StandIn {
    /// A stand-in with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, asked: AtomicU64::new(0) }
    }

    /// The number of questions so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Relaxed)
    }
}

impl Oracle for StandIn {
    fn ask(&self, question: Arc<Question>) -> Asking {
        self.asked.fetch_add(1, Relaxed);
        let taken = chance::number(&[self.seed, chance::text(&question.prompt)]);
        let nth = taken as usize % question.options.len().max(1);
        let name = question.options.get(nth).map_or("", |option| &*option.offer.name);
        ready(Ok(Answer::from(name.to_owned())))
    }

    fn name(&self) -> String {
        "stand-in".into()
    }
}
