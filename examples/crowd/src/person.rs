//! Who the agents are, and how they judge what they read: the host functions of the chart.

use crate::chance;
use crate::social::{Host, Params, Post};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What posts are about and people care for.
pub const TOPICS: [&str; 12] = [
    "rust", "space", "chess", "baking", "birds", "jazz", "trains", "gardens", "maps", "films",
    "rivers", "robots",
];

const MANNERS: [&str; 4] = [
    "You like to argue.",
    "You are kind to everybody.",
    "You make jokes about everything.",
    "You ask questions.",
];

/// The params of an agent: its own, made of the seed and its number.
pub fn params(seed: u64, number: usize) -> Params {
    let own = |what: u64| [seed, number as u64, what];
    let first = chance::number(&own(0)) as usize;
    let interests = [TOPICS[first % 12], TOPICS[(first + 1 + first / 12 % 11) % 12]];
    let between = |low: f64, high: f64, what| low + (high - low) * chance::share(&own(what));
    Params {
        patience: Some(2 + (first / 200 % 5) as i64),
        bored_at: Some(between(0.05, 0.3, 1)),
        engage_at: Some(between(0.35, 0.6, 2)),
        keen_at: Some(between(0.7, 0.95, 3)),
        ..Params::new(
            number.to_string(),
            interests.map(str::to_owned).to_vec(),
            *chance::one(&MANNERS, &own(4)),
        )
    }
}

/// How often something was done in public.
#[derive(Debug, Default)]
pub struct Done {
    counts: [AtomicU64; 4],
}

impl Done {
    /// The kinds that the chart has.
    pub const KINDS: [&str; 4] = ["post", "like", "reply", "reshare"];

    /// How often each kind was done.
    pub fn counts(&self) -> [u64; 4] {
        std::array::from_fn(|kind| self.counts[kind].load(Relaxed))
    }
}

/// An agent's side of the chart.
#[derive(Debug, Clone)]
pub struct Person {
    seed: u64,
    done: Arc<Done>,
}

impl Person {
    /// Somebody whose taste is made of the seed and the number.
    pub fn new(seed: u64, number: usize, done: Arc<Done>) -> Self {
        Self { seed: chance::number(&[seed, number as u64]), done }
    }
}

impl Host for Person {
    /// The same for the same, as conditions ask for it as often as they like.
    fn relevance(&mut self, post: Option<&Post>, interests: &[String]) -> Result<f64, String> {
        let Some(post) = post else { return Ok(0.0) };
        let hits = interests.iter().filter(|topic| post.text.contains(topic.as_str())).count();
        let mood = chance::share(&[self.seed, chance::text(&post.id)]) * 0.35 - 0.15;
        Ok((0.1 + 0.4 * hits as f64 + 0.02 * post.velocity + mood).clamp(0.0, 1.0))
    }

    fn publish(&mut self, kind: &str, _: Option<&Post>) -> Result<(), String> {
        let kind = Done::KINDS.iter().position(|known| *known == kind);
        let count = kind.and_then(|kind| self.done.counts.get(kind));
        count.ok_or("nobody knows this kind")?.fetch_add(1, Relaxed);
        Ok(())
    }
}
