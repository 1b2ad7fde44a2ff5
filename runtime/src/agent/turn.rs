//! Sets the context before a turn, and performs the chosen action after it.
//!
//! **The problem.** A chart knows nothing of a world. It has inputs, and an `llm` step that answers with an action. The values for the
//! inputs come from the world and from the record of the agent. Some are long to compute, some were written by the agent itself and may be
//! anything. A turn may choose several actions, or fail after choosing one.
//!
//! **The idea.** [`CONTEXT`] lists the names that an agent may know. `set_context` computes those that the chart declares as inputs, cuts
//! them to the declared type (`declared`), and sets the ones that have changed, so that the trace shows only changes. After the turn, `act`
//! performs at most one action: the last, and none if the turn has failed. Everything that is not done is noted in the trace. The result
//! goes into the record, from which the next context is made.
//!
//! **Example.** A chart with `input balance: Int` and `input last_action_result: Text`, in a turn in which two steps choose:
//!
//! ```text
//! set_context   balance was 100 and is 95: set; last_action_result has not changed: not set
//! turn          step `plan` chooses write_artifact, step `check` chooses read_artifact
//! act           a note: `write_artifact` of step `plan` is not done; the world performs read_artifact
//!               the line `acted`, and an entry in the record
//! ```

use super::{Agent, Life, Profile};
use crate::error::RunError;
use crate::session::{QuestionFailure, Session, TurnOutcome};
use crate::settings::{Overrides, inputs_of};
use crate::trace::{self, What};
use crate::world::{
    self, Action, ArtifactHost, Done, EVENTS, Entry, Failure, FailureKind, Record, SharedRecord,
    View, When, extract, is_action, look, mapping,
};
use chartc_core::expr::{Duration, Map, Value};
use chartc_core::host::Machine;
use chartc_core::model::{Type, TypeDef, TypeKind};
use chartc_core::tables::StepRowKind;
use std::collections::VecDeque;

/// The subject of the trace's lines about working memory.
const MEMORY: &str = crate::world::WORKING_MEMORY;
/// The subject of the trace's lines about the agent's record.
const RECORD: &str = "record";

/// The names of the context whose values the agent writes itself.
const KEPT_IN_MIND: [&str; 4] = [MEMORY, "strategic_goal", "current_subgoal", "subgoal_progress"];

/// The context at the beginning of a turn.
pub(super) struct Known {
    /// The values by their names: those that the chart declares, or all names if memories are recalled.
    context: Map,
    /// The complete working memory.
    memory: Map,
    /// The reason why there is no working memory.
    missing: Option<&'static str>,
}

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Sets the inputs of the context that the chart declares, except those that the host has set and those that already have this value.
    /// Returns `None` without a world.
    pub(super) fn set_context(&mut self) -> Result<Option<Known>, RunError> {
        let Some(Life { world, record, profile, turns }) = &self.life else { return Ok(None) };
        let agent = record.with(|record| record.agent.clone());
        let is_set = |name: &str| profile.inputs.contains_key(name) && !self.given.contains(name);
        // The query for memories may use any name of the context, declared or not.
        let recalls = self.memory.is_some();
        let reads = |name: &str| recalls || is_set(name);
        let view = world.view_of(&agent, &reads);
        let config = &profile.working_memory;
        let (memory, missing) = match record.with(|record| memory(&view, record)) {
            Ok(memory) if config.enabled => (memory, None),
            Ok(_) => (Map::new(), None),
            Err(why) => (Map::new(), Some(why).filter(|_| config.enabled)),
        };
        let place = RunProgress { turn: self.session.turns() + 1, turns: *turns };
        let all =
            record.with(|record| context(record, &view, &config.bounded(&memory), place, &reads));
        let now: Map = self.session.machine().variables().into_iter().collect();
        let mut notes = Vec::new();
        for (name, value) in &all {
            let Some(ty) = profile.inputs.get(*name).filter(|_| is_set(name)) else { continue };
            let value = declared(value.clone(), ty, &profile.types);
            // Unchanged inputs are not set again, so that the trace shows only changes.
            if now.get(name).is_some_and(|now| is_same(now, &value)) {
                continue;
            }
            match self.session.input(name, value) {
                Ok(()) => {}
                // The agent has written this value itself and may have written anything. So it does not end the run: the input keeps its
                // old value.
                Err(why @ RunError::Input { .. }) if KEPT_IN_MIND.contains(name) => {
                    notes.push(format!("not set: {why}"));
                }
                Err(why) => return Err(of_the_record(why)),
            }
        }
        let refused = follow_record(&mut self.session, profile, &view)?;
        // A trace begins with the line of the start, so nothing can be written before.
        if self.session.is_started() {
            let notes = notes.into_iter().map(|text| (MEMORY, text));
            for (about, text) in notes.chain(refused.map(|why| (RECORD, why))) {
                self.session.say(What::HostNote { about: about.into(), text })?;
            }
        }
        let context = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Some(Known { context, memory, missing }))
    }

    /// Follows the agent's record before an event: its chart may ask a model without a turn.
    pub(super) fn follow(&mut self) -> Result<(), RunError> {
        let Some(Life { world, record, profile, .. }) = &self.life else { return Ok(()) };
        let steps = &self.session.machine().tables().steps;
        if !steps.iter().any(|step| matches!(step.kind, StepRowKind::Llm | StepRowKind::Ask { .. }))
        {
            return Ok(());
        }
        let agent = record.with(|record| record.agent.clone());
        let view = world.view_of(&agent, &|_| false);
        match follow_record(&mut self.session, profile, &view)? {
            Some(text) => self.session.say(What::HostNote { about: RECORD.into(), text }),
            None => Ok(()),
        }
    }

    /// Sets the context, the section about working memory in the prompts, and notes about that memory in the trace. Returns the context.
    pub(super) fn tell(&mut self) -> Result<Map, RunError> {
        let known = self.set_context()?;
        let (Some(Known { context, memory, missing }), Some(life)) = (known, &self.life) else {
            return Ok(Map::new());
        };
        let Life { record, profile, .. } = life;
        let config = &profile.working_memory;
        let (section, is_cut) = config.section(&memory);
        let is_read = profile.inputs.contains_key(MEMORY) && !self.given.contains(MEMORY);
        let is_cut = is_cut || (is_read && config.bounded(&memory) != memory);
        let size = if is_cut { world::size(&memory) } else { 0 };
        // Each problem is noted once, and again when it changes.
        let (was_mindless, was_cut) = record.with(|record| {
            let was_mindless = std::mem::replace(&mut record.is_mindless, missing.is_some());
            (was_mindless, std::mem::replace(&mut record.cut_from, size))
        });
        let mut notes = Vec::new();
        if let Some(why) = missing.filter(|_| config.warn_on_missing && !was_mindless) {
            notes.push(format!("there is no working memory: {why}"));
        }
        if is_cut && was_cut != size {
            let most = config.max_size_bytes;
            notes.push(format!("the working memory of {size} bytes is cut to {most}"));
        }
        for text in notes {
            self.session.say(What::HostNote { about: MEMORY.into(), text })?;
        }
        self.session.set_section(section)?;
        Ok(context)
    }

    /// Performs the action that the turn has chosen, and records the result for the next turn.
    pub(super) async fn act(&mut self) -> Result<(), RunError> {
        let heard = self.session.turn_outcome().clone();
        let Some(Life { world, record, .. }) = &self.life else { return Ok(()) };
        let turn = self.session.turns();
        let chosen: Vec<&(String, Map)> =
            heard.actions.iter().filter(|(_, answer)| is_action(answer)).collect();
        let failure = failure(&heard, chosen.is_empty());
        // Of several actions in one turn, only the last is performed.
        let done = if failure.is_some() { None } else { chosen.last().copied() };
        for (step, answer) in chosen.iter().take(chosen.len() - usize::from(done.is_some())) {
            let why = if failure.is_some() {
                "the turn has failed"
            } else {
                "a later step has chosen another action"
            };
            let text = format!("`{}` of step `{step}` is not done: {why}", word(answer));
            self.session.say(What::HostNote { about: "action".into(), text })?;
        }
        if let Some((step, failure)) = failure {
            let when = when(world.as_ref(), record, turn);
            record.with(|record| record.not_act(when, &step, &failure));
            let (failed, why) = (failure.kind.word().to_owned(), failure.why);
            return self.session.say(What::NotActed { step, failed, why });
        }
        let Some((step, answer)) = done else { return Ok(()) };
        let (step, word) = (step.clone(), word(answer));
        let agent = record.with(|record| record.agent.clone());
        let read = Action::read(answer);
        let (action, result, unused) = match read {
            Ok((action, unused)) => {
                let result = world.act(&agent, &action).await;
                (Some(action), result, unused)
            }
            Err(failure) => (None, Err(failure), Vec::new()),
        };
        // The time after the action, which may have caused events of its own.
        let when = when(world.as_ref(), record, turn);
        record.with(|record| record.act(when, &word, action.as_ref(), &result));
        if !unused.is_empty() {
            let text = format!("of `{word}` nothing was made of {}", unused.join(", "));
            self.session.say(What::HostNote { about: "action".into(), text })?;
        }
        let (value, changes, failed, why) = match result {
            Ok(Done { value, changes }) => (value, changes, String::new(), String::new()),
            Err(Failure { kind, why }) => (Value::None, Vec::new(), kind.word().to_owned(), why),
        };
        let reasoning = world::reason(answer).unwrap_or_default();
        let (action, arguments) = (word, Value::Map(without_reasons(answer)));
        let what = What::Acted { step, action, arguments, reasoning, value, changes, failed, why };
        self.session.say(what)
    }
}

/// Sets what the agent's record in its world says of its chart's inputs and of how it asks. Returns why it does not; the agent then stays
/// as it was.
fn follow_record<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    profile: &Profile,
    view: &View,
) -> Result<Option<String>, RunError> {
    let Some(content) = view.record.as_ref().and_then(mapping) else { return Ok(None) };
    let takes_prompt = profile.inputs.contains_key("system_prompt");
    let tables = session.machine().tables();
    let found = Overrides::read(&content, tables, &view.models, takes_prompt)
        .and_then(|own| Ok((own, inputs_of(&content, &profile.inputs, &profile.types, CONTEXT)?)));
    let (overrides, inputs) = match found {
        Ok(found) => found,
        Err(why) => return Ok(Some(format!("not followed: {why}"))),
    };
    if !inputs.is_empty() {
        let now: Map = session.machine().variables().into_iter().collect();
        for (name, value) in inputs {
            if now.get(&name).is_none_or(|now| !is_same(now, &value)) {
                session.input(&name, value)?;
            }
        }
    }
    // The questions of the start are asked as the chart says: a trace begins with the line of the start.
    if session.is_started() {
        session.set_overrides(overrides)?;
    }
    Ok(None)
}

/// The present time for the record, in turns and, if the world has them, in ticks and event numbers.
fn when(world: &dyn ArtifactHost, record: &SharedRecord, turn: u32) -> When {
    let agent = record.with(|record| record.agent.clone());
    let view = world.view_of(&agent, &|_| false);
    When { turn, tick: view.tick, number: view.event_number }
}

/// The working memory: the one in the agent's artifact in the world; if there is none, the one in the record.
pub(super) fn memory(view: &View, record: &Record) -> Result<Map, &'static str> {
    let found = match &view.record {
        Some(content) => extract(content),
        None => Err("the world has no record of the agent"),
    };
    match found {
        // Without a memory in the world, the one that the run itself keeps counts.
        Err(_) if !record.working_memory.is_empty() => Ok(record.working_memory.clone()),
        found => found,
    }
}

/// Adds to the error about an input of the context what the author of the chart can do.
fn of_the_record(error: RunError) -> RunError {
    match error {
        RunError::Input { name, why } => {
            let cure = "the agent's record sets it: declare it so, or give it a value";
            RunError::Input { name, why: format!("{why}; {cure}") }
        }
        error @ (RunError::UnknownEvent { .. }
        | RunError::Event { .. }
        | RunError::Start(_)
        | RunError::Oracle { .. }
        | RunError::NoModel { .. }
        | RunError::TooManyCalls(_)
        | RunError::NoProgress(_)
        | RunError::Memory(_)
        | RunError::Trace(_)) => error,
    }
}

/// The fields of an action without the model's reasons, of which the trace has its own field.
fn without_reasons(answer: &Map) -> Map {
    let is_argument = |name: &str| name != "action" && !world::REASONS.contains(&name);
    let all = answer.iter().filter(|(name, _)| is_argument(name));
    all.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The name of the action in an answer; empty if there is none.
pub(super) fn word(answer: &Map) -> String {
    match answer.get("action") {
        Some(Value::Text(word)) => word.clone(),
        Some(_) | None => String::new(),
    }
}

/// The reason why a turn has chosen no action: a step that failed, or a limit that left no room for a call.
fn failure(heard: &TurnOutcome, is_idle: bool) -> Option<(String, Failure)> {
    let kind = |trouble: QuestionFailure| match trouble {
        QuestionFailure::Call => FailureKind::LlmError,
        QuestionFailure::Answer => FailureKind::IntentRejected,
        QuestionFailure::Limit => FailureKind::InsufficientLlmTokens,
    };
    let last = heard.trouble.as_ref();
    match (&heard.failed, last) {
        (Some(step), Some((of, trouble, why))) if step == of => {
            Some((step.clone(), Failure::new(kind(*trouble), why.as_str())))
        }
        (Some(step), _) => {
            let failure = Failure::new(FailureKind::StepFailed, format!("step `{step}` failed"));
            Some((step.clone(), failure))
        }
        (None, Some((step, QuestionFailure::Limit, why))) if is_idle => {
            Some((step.clone(), Failure::new(FailureKind::InsufficientLlmTokens, why.as_str())))
        }
        (None, _) => None,
    }
}

/// Whether two values are equal. An `Int` and a `Float` of the same number are.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

// The context of an agent: the inputs that its record and its world provide, by their fixed names.

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
    put("economic_context", &|| text(&view.economy));
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

/// The quotas of the world, with the disk of the agent beside them under names of its own.
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

// Projects values of the world to the types that a chart declares, as a chart may declare fewer fields than the world provides.

/// Removes the fields of records that the type does not declare. A value that does not fit otherwise is left as it is; setting the input
/// reports it.
pub(super) fn declared(value: Value, ty: &Type, types: &[TypeDef]) -> Value {
    match (ty, value) {
        (Type::Optional(inner), value) => declared(value, inner, types),
        (Type::List(inner), Value::List(items)) => {
            Value::List(items.into_iter().map(|item| declared(item, inner, types)).collect())
        }
        (Type::Map(inner), Value::Map(map)) => {
            let entries = map.into_iter().map(|(key, item)| (key, declared(item, inner, types)));
            Value::Map(entries.collect())
        }
        (Type::Named(id), Value::Map(mut map)) => {
            match types.get(id.index()).map(|def| &def.kind) {
                Some(TypeKind::Record(fields)) => {
                    let fields = fields.iter().filter_map(|field| {
                        let value = std::mem::take(map.get_mut(&field.name)?);
                        Some((field.name.clone(), declared(value, &field.ty, types)))
                    });
                    Value::Map(fields.collect::<Map>())
                }
                Some(TypeKind::Enum(_)) | None => Value::Map(map),
            }
        }
        (_, value) => value,
    }
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
        let view = View { economy: "booming".to_owned(), ..view };
        assert_eq!(told(&view, place).get("economic_context"), Some(&text("booming")));
    }
}
