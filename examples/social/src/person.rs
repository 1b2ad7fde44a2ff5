//! Who the agents are, and how they judge what they read: the host functions of the chart.

use crate::chance::Chance;
use crate::social::{Host, Params, Post};

/// What posts are about and people care for.
pub const TOPICS: [&str; 12] = [
    "rust", "space", "chess", "baking", "birds", "jazz", "trains", "gardens", "maps", "films",
    "rivers", "robots",
];

const FIRST: [&str; 10] = ["ada", "ben", "cleo", "dan", "eve", "finn", "gus", "hana", "ivo", "jo"];
const LAST: [&str; 10] =
    ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "rowan"];
const MANNERS: [&str; 5] = [
    "You like to argue.",
    "You are kind to everybody.",
    "You make jokes about everything.",
    "You only speak when you know better.",
    "You ask questions.",
];

/// How many in a hundred a post reaches.
const REACH: usize = 8;

/// The params of an agent: its own, made of the seed and its number.
pub fn person(seed: u64, number: usize) -> Params {
    let mut chance = Chance::of(seed, &format!("person {number}"));
    let (first, last) = (FIRST[number % 10], LAST[number / 10 % 10]);
    let name =
        if number < 100 { format!("{first}-{last}") } else { format!("{first}-{last}-{number}") };
    let mut interests: Vec<String> = Vec::new();
    while interests.len() < 2 + number % 3 {
        let topic = *chance.one(&TOPICS);
        if !interests.iter().any(|known| known == topic) {
            interests.push(topic.to_owned());
        }
    }
    let percent = |x: f64| (x * 100.0).round() / 100.0;
    Params {
        patience: Some(2 + chance.below(5) as i64),
        bored_at: Some(percent(chance.between(0.05, 0.3))),
        engage_at: Some(percent(chance.between(0.35, 0.6))),
        keen_at: Some(percent(chance.between(0.7, 0.95))),
        ..Params::new(name, interests, *chance.one(&MANNERS))
    }
}

/// What an agent did in public.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// `post`, `like`, `reply` or `reshare`.
    pub kind: String,
    /// The post that it is about; none for one of the agent's own.
    pub post: Option<Post>,
}

/// An agent's side of the chart.
#[derive(Debug, Clone)]
pub struct Person {
    seed: u64,
    /// What it has done since somebody looked last.
    pub acts: Vec<Act>,
}

impl Person {
    /// Somebody whose taste is made of the seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, acts: Vec::new() }
    }

    /// Whether a post comes to this one's eyes: nobody reads everything.
    pub fn meets(&self, post: &Post) -> bool {
        Chance::of(!self.seed, &post.id).percent(REACH)
    }

    /// How much a post matters to somebody with these interests, from 0 to 1. The same for the same, as conditions ask for it as
    /// often as they like.
    pub fn judge(&self, post: &Post, interests: &[String]) -> f64 {
        let about = post.text.split([' ', ',', '.']);
        let hits = about.filter(|word| interests.iter().any(|topic| topic == word)).count();
        let mood = Chance::of(self.seed, &post.id).between(-0.15, 0.2);
        (0.1 + 0.4 * hits as f64 + 0.02 * post.velocity.min(10.0) + mood).clamp(0.0, 1.0)
    }
}

impl Host for Person {
    fn relevance(&mut self, post: Option<&Post>, interests: &[String]) -> Result<f64, String> {
        Ok(post.map_or(0.0, |post| self.judge(post, interests)))
    }

    fn publish(&mut self, kind: &str, post: Option<&Post>) -> Result<(), String> {
        self.acts.push(Act { kind: kind.to_owned(), post: post.cloned() });
        Ok(())
    }
}
