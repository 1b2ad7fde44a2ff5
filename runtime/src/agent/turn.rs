//! Sets the context before a turn, and performs the chosen action after it.

use super::context::{RunProgress, context};
use super::shape::declared;
use super::{Agent, Life};
use crate::error::RunError;
use crate::session::{QuestionFailure, TurnOutcome};
use crate::trace::{self, What};
use crate::world::{
    self, Action, ArtifactHost, Done, Failure, FailureKind, Record, SharedRecord, View, When,
    extract, is_action,
};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;

/// The subject of the trace's lines about working memory.
const MEMORY: &str = "working_memory";

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
        // A trace begins with the line of the start, so nothing can be written before.
        if self.session.is_started() {
            for text in notes {
                self.session.say(What::HostNote { about: MEMORY.into(), text })?;
            }
        }
        let context = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Some(Known { context, memory, missing }))
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
        let arguments = Value::Map(without_reasons(answer));
        self.session.say(What::Acted { step, action: word, arguments, value, changes, failed, why })
    }
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

/// The fields of an action without the model's reasons, which the trace already has in the answer.
fn without_reasons(answer: &Map) -> Map {
    let is_argument = |name: &str| name != "action" && !world::REASONS.contains(&name);
    let all = answer.iter().filter(|(name, _)| is_argument(name));
    all.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

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
