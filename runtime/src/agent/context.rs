//! The context that an agent's record and its world give: inputs by the names that agents know.

use crate::world::{Entry, Record, View};
use chartc_core::expr::{Map, Value};

/// Every name that is given, with its value at the beginning of a turn. `tick` is the number of the turn that is to begin.
pub(super) fn context(
    record: &Record,
    view: &View,
    memory: &Map,
    tick: u32,
) -> Vec<(&'static str, Value)> {
    let int = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let text = |text: &str| Value::Text(text.to_owned());
    let entries =
        |of: &std::collections::VecDeque<Entry>| Value::List(of.iter().map(Entry::value).collect());
    let rate = record.success_rate();
    let percent = format!("{}/{} ({:.0}%)", record.succeeded, record.taken, 100.0 * rate);
    let mut all = vec![
        ("agent_id", text(&record.agent)),
        ("tick", Value::Int(i64::from(tick))),
        ("balance", Value::Int(view.balance)),
        ("artifacts", Value::List(view.artifacts.clone())),
        ("my_artifacts", Value::List(view.own.clone())),
        ("last_action_result", text(&record.last)),
        ("action_history", Value::Text(record.told())),
        ("action_history_length", int(record.history.len() as u64)),
        ("actions_taken", int(record.taken)),
        ("successful_actions", int(record.succeeded)),
        ("failed_actions", int(record.taken - record.succeeded)),
        ("success_rate", Value::Text(percent)),
        ("success_rate_numeric", Value::Float(rate)),
        ("artifacts_completed", int(record.written)),
        ("other_agents", Value::List(view.others.clone())),
        ("working_memory", Value::Map(memory.clone())),
        ("quotas", Value::Map(quotas(view))),
        ("recent_events", entries(&record.history)),
        ("recent_failures", entries(&record.failures)),
    ];
    // What an agent keeps in mind under these names it is told under them.
    for name in ["strategic_goal", "current_subgoal"] {
        if let Some(Value::Text(said)) = memory.get(name) {
            all.push((name, text(said)));
        }
    }
    if let Some(Value::Map(progress)) = memory.get("subgoal_progress") {
        all.push(("subgoal_progress", Value::Map(progress.clone())));
    }
    all
}

fn quotas(view: &View) -> Map {
    let mut quotas = Map::new();
    if let Some((used, most)) = view.disk {
        let int = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        quotas.insert("disk_used".into(), int(used));
        quotas.insert("disk_quota".into(), int(most));
    }
    quotas
}
