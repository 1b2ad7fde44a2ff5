//! The context of an agent: the inputs that its record and its world provide, by their fixed names.

use crate::world::{EVENTS, Entry, Record, View, look};
use chartc_core::expr::{Duration, Map, Value};
use std::collections::VecDeque;

/// All names of the context, whether a chart declares them or not.
pub const CONTEXT: &[&str] = &[
    "agent_id",
    "tick",
    "event_number",
    "balance",
    "balances",
    "artifacts",
    "my_artifacts",
    "last_action_result",
    "action_history",
    "action_history_length",
    "actions_taken",
    "successful_actions",
    "failed_actions",
    "success_rate",
    "success_rate_numeric",
    "revenue_earned",
    "artifacts_completed",
    "other_agents",
    "economic_context",
    "working_memory",
    "quotas",
    "mint_submissions",
    "recent_events",
    "recent_failures",
    "time_remaining",
    "time_remaining_seconds",
    "duration_seconds",
    "progress_percent",
    "strategic_goal",
    "current_subgoal",
    "subgoal_progress",
];

/// The progress of a run, in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunProgress {
    /// The number of the turn that is about to begin, from 1.
    pub(super) turn: u32,
    /// The total number of turns of the run, if the host knows it.
    pub(super) turns: Option<u32>,
}

/// The context at the beginning of a turn: the names for which `reads` holds, with their values.
pub(super) fn context(
    record: &Record,
    view: &View,
    memory: &Map,
    place: RunProgress,
    reads: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Value)> {
    let rate = record.success_rate();
    let tick = u64::from(view.tick.unwrap_or(place.turn));
    // A world without events of its own has no event numbers; its ticks serve as such.
    let event = if view.event_number == 0 { tick } else { view.event_number };
    let mut all = Vec::new();
    // The values are closures, so that those that nothing reads are not computed.
    let mut put = |name: &'static str, value: &dyn Fn() -> Value| {
        if reads(name) {
            all.push((name, value()));
        }
    };
    put("agent_id", &|| text(&record.agent));
    put("tick", &|| int(tick));
    put("event_number", &|| int(event));
    put("balance", &|| Value::Int(view.balance));
    put("balances", &|| Value::Map(view.balances.clone()));
    put("artifacts", &|| Value::List(view.artifacts.clone()));
    put("my_artifacts", &|| Value::List(view.own.clone()));
    put("last_action_result", &|| text(&record.last));
    put("action_history", &|| Value::Text(record.told()));
    put("action_history_length", &|| int(record.history.len() as u64));
    put("actions_taken", &|| int(record.taken));
    put("successful_actions", &|| int(record.succeeded));
    put("failed_actions", &|| int(record.taken - record.succeeded));
    put("success_rate", &|| {
        Value::Text(format!("{}/{} ({:.0}%)", record.succeeded, record.taken, 100.0 * rate))
    });
    put("success_rate_numeric", &|| Value::Float(rate));
    put("revenue_earned", &|| Value::Float(view.earned as f64));
    put("artifacts_completed", &|| int(record.written));
    put("other_agents", &|| Value::List(view.others.clone()));
    put("economic_context", &|| Value::Text(economy(record, view)));
    put("working_memory", &|| Value::Map(memory.clone()));
    put("quotas", &|| Value::Map(quotas(view)));
    put("mint_submissions", &|| Value::List(view.submissions.clone()));
    put("recent_events", &|| recent(record, view));
    put("recent_failures", &|| entries(record, &record.failures));
    all.extend(time(view, place).into_iter().filter(|(name, _)| reads(name)));
    // The agent sets these in its working memory; they are also available as inputs of their own.
    for name in ["strategic_goal", "current_subgoal"] {
        if let Some(Value::Text(said)) = memory.get(name).filter(|_| reads(name)) {
            all.push((name, text(said)));
        }
    }
    if let Some(Value::Map(progress)) =
        memory.get("subgoal_progress").filter(|_| reads("subgoal_progress"))
    {
        all.push(("subgoal_progress", Value::Map(progress.clone())));
    }
    all
}

fn int(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn entries(record: &Record, of: &VecDeque<Entry>) -> Value {
    Value::List(of.iter().map(|entry| entry.value(&record.agent)).collect())
}

/// The time that has passed and the time that is left: by the world's clock, else by turns. Empty if the run has no known end.
fn time(view: &View, place: RunProgress) -> Vec<(&'static str, Value)> {
    let seconds = |millis: u64| Value::Float(millis as f64 / 1000.0);
    let percent = |passed: f64, whole: f64| {
        let share = if whole > 0.0 { (passed / whole).min(1.0) } else { 1.0 };
        ("progress_percent", Value::Float((1000.0 * share).round() / 10.0))
    };
    if let Some((passed, whole)) = view.time {
        let left = whole.saturating_sub(passed);
        let shown = if left < 1000 { left } else { left - left % 1000 };
        vec![
            ("time_remaining", Value::Text(Duration(shown).to_string())),
            ("time_remaining_seconds", seconds(left)),
            ("duration_seconds", seconds(whole)),
            percent(passed as f64, whole as f64),
        ]
    } else if let Some(turns) = place.turns {
        // `turn` is about to begin, so it still counts as left.
        let left = u64::from(turns.saturating_sub(place.turn.saturating_sub(1)));
        let noun = if left == 1 { "turn" } else { "turns" };
        vec![
            ("time_remaining", Value::Text(format!("{left} {noun}"))),
            percent(f64::from(place.turn.saturating_sub(1)), f64::from(turns)),
        ]
    } else {
        Vec::new()
    }
}

/// The world's description of the economy; without one, a sentence made from the balances.
fn economy(record: &Record, view: &View) -> String {
    if !view.economy.is_empty() || view.balances.is_empty() {
        return view.economy.clone();
    }
    let scrip = |value: &Value| if let Value::Int(scrip) = value { *scrip } else { 0 };
    let others: Vec<i64> = view
        .balances
        .iter()
        .filter(|(name, _)| *name != record.agent.as_str())
        .map(|(_, value)| scrip(value))
        .collect();
    let ahead = others.iter().filter(|scrip| **scrip > view.balance).count();
    let sum = others.iter().fold(view.balance, |sum, scrip| sum.saturating_add(*scrip));
    let agents = others.len() + 1;
    format!("{sum} scrip among {agents} agents; you have {}, rank {}", view.balance, ahead + 1)
}

/// The latest events: those of the world, with the agent's own actions taken from its record, because the world's events lack actions
/// that failed or only read.
fn recent(record: &Record, view: &View) -> Value {
    let own = record.history.iter().map(|entry| (entry.number, entry.value(&record.agent)));
    let others = view.recent_events.iter().filter_map(|event| {
        let (number, is_own_action) = look(event, &record.agent);
        (!is_own_action).then(|| (number, event.clone()))
    });
    let mut all: Vec<(u64, Value)> = others.chain(own).collect();
    all.sort_by_key(|(number, _)| *number);
    let first = all.len().saturating_sub(EVENTS);
    Value::List(all.into_iter().skip(first).map(|(_, event)| event).collect())
}

fn quotas(view: &View) -> Map {
    let mut quotas = Map::new();
    if let Some((used, most)) = view.disk {
        quotas.insert("disk_used".into(), int(used));
        quotas.insert("disk_quota".into(), int(most));
    }
    for (name, left) in view.quotas.iter() {
        quotas.insert(name.into(), left.clone());
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(view: &View, place: RunProgress) -> Map {
        let known = context(&Record::new("ada"), view, &Map::new(), place, &|_| true);
        known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn map(rows: &[(&str, i64)]) -> Map {
        rows.iter().map(|(name, n)| ((*name).to_owned(), Value::Int(*n))).collect()
    }

    #[test]
    fn time_is_that_of_the_world_else_that_of_the_turns() {
        let names =
            ["time_remaining", "time_remaining_seconds", "duration_seconds", "progress_percent"];
        let of = |time, turn, turns| {
            let told = told(&View { time, ..View::default() }, RunProgress { turn, turns });
            names.map(|name| told.get(name).cloned())
        };
        assert_eq!(of(None, 3, None), [None, None, None, None], "nobody knows an end");
        let float = |x| Some(Value::Float(x));
        let said = |of: &str| Some(text(of));
        assert_eq!(
            of(Some((15_250, 60_000)), 3, Some(4)),
            [said("44s"), float(44.75), float(60.0), float(25.4)]
        );
        assert_eq!(
            of(Some((90_000, 60_000)), 3, None),
            [said("0s"), float(0.0), float(60.0), float(100.0)]
        );
        assert_eq!(of(None, 1, Some(4)), [said("4 turns"), None, None, float(0.0)]);
        assert_eq!(of(None, 4, Some(4)), [said("1 turn"), None, None, float(75.0)]);
    }

    #[test]
    fn every_name_that_is_given_is_listed() {
        let mut memory = Map::new();
        memory.insert("strategic_goal".into(), text("win"));
        memory.insert("current_subgoal".into(), text("build"));
        memory.insert("subgoal_progress".into(), Value::Map(Map::new()));
        let view = View { time: Some((1, 2)), ..View::default() };
        let place = RunProgress { turn: 1, turns: None };
        let given = context(&Record::new("ada"), &view, &memory, place, &|_| true);
        let names: Vec<&str> = given.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, CONTEXT);
    }

    #[test]
    fn a_world_with_ticks_and_events_counts_them_itself() {
        let place = RunProgress { turn: 3, turns: None };
        let of = |view: &View| {
            let told = told(view, place);
            ["tick", "event_number"].map(|name| told.get(name).cloned())
        };
        assert_eq!(of(&View::default()), [Some(int(3)), Some(int(3))]);
        let view = View { tick: Some(7), event_number: 40, ..View::default() };
        assert_eq!(of(&view), [Some(int(7)), Some(int(40))]);
    }

    #[test]
    fn what_the_world_knows_of_its_economy_is_told() {
        let place = RunProgress { turn: 1, turns: None };
        let balances = map(&[("ada", 5), ("bob", 9), ("carl", 2)]);
        let view = View {
            balance: 5,
            balances: balances.clone(),
            disk: Some((10, 100)),
            quotas: map(&[("compute", 3), ("llm_tokens", 400)]),
            submissions: vec![text("poem")],
            recent_events: vec![text("minted")],
            earned: 4,
            ..View::default()
        };
        let first = told(&view, place);
        assert_eq!(first.get("balances"), Some(&Value::Map(balances)));
        let rows = [("disk_used", 10), ("disk_quota", 100), ("compute", 3), ("llm_tokens", 400)];
        assert_eq!(first.get("quotas"), Some(&Value::Map(map(&rows))));
        assert_eq!(first.get("mint_submissions"), Some(&Value::List(vec![text("poem")])));
        assert_eq!(first.get("recent_events"), Some(&Value::List(vec![text("minted")])));
        assert_eq!(first.get("revenue_earned"), Some(&Value::Float(4.0)));
        let words = "16 scrip among 3 agents; you have 5, rank 2";
        assert_eq!(first.get("economic_context"), Some(&text(words)));
        let view = View { economy: "booming".to_owned(), ..view };
        assert_eq!(told(&view, place).get("economic_context"), Some(&text("booming")));
    }
}
