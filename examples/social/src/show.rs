//! What a researcher reads.

use crate::World;
use crate::social::State;
use chartc_runtime::trace::Sink;
use std::fmt::Write;

/// Characters of a line of names.
const WIDTH: usize = 90;

/// The agents as they are made.
pub fn people<T: Sink>(world: &World<T>, seed: u64) -> String {
    let mut out = format!(
        "{} agents of charts/social.chart, seed {seed}. Three of them:\n",
        world.agents.len()
    );
    for agent in world.agents.iter().take(3) {
        let data = agent.session.machine().data();
        let _ = writeln!(
            out,
            "  {:<10} reads on for {} turns about {}; bored at {}, engages at {}, keen at {}. {}",
            data.name,
            data.patience,
            data.interests.join(", "),
            data.bored_at,
            data.engage_at,
            data.keen_at,
            data.personality
        );
    }
    out
}

/// How many agents are in each state after a round, and who is at work.
pub fn round<T: Sink>(world: &World<T>, number: u32) -> String {
    let mut out = format!("round {number:>2}");
    for (state, count) in world.state_distribution() {
        let name = state.name().rsplit('.').next().unwrap_or_default();
        let _ = write!(out, "  {name} {count:>2}");
    }
    out.push('\n');
    for (what, state) in
        [("composing", State::ActiveComposing), ("engaging", State::ActiveEngaging)]
    {
        let who = world.who(state);
        if !who.is_empty() {
            let _ = writeln!(out, "          {what}: {}", names(&who));
        }
    }
    out
}

/// What came of it.
pub fn summary<T: Sink>(world: &World<T>) -> String {
    let (calls, decisions) = (world.calls(), world.decisions());
    let mut out = format!(
        "{decisions} posts were decided on: {calls} by the model, {} were clear without it.\n",
        decisions.saturating_sub(calls)
    );
    let done: Vec<String> =
        world.done.iter().map(|(kind, times)| format!("{kind} {times}")).collect();
    let _ = writeln!(out, "What they did: {}.", done.join(", "));
    if let Some(post) = world.feed.fastest() {
        let _ = writeln!(
            out,
            "The post of the day, at velocity {:.1}: \"{}\"",
            post.velocity, post.text
        );
    }
    out
}

/// As many names as a line holds, and how many more there are.
fn names(who: &[&str]) -> String {
    let mut out = String::new();
    for (i, name) in who.iter().enumerate() {
        if i > 0 && out.chars().count() + name.chars().count() > WIDTH {
            let _ = write!(out, " and {} more", who.len() - i);
            return out;
        }
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{name}");
    }
    out
}
