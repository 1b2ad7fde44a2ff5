//! What goes on around a turn.

use super::action::{Action, is_deed};
use super::context::context;
use super::host::{Done, Failure, FailureKind};
use super::{Agent, Life, extract};
use crate::drive::{Heard, Trouble};
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::drive::Machine;
use chartc_core::expr::{Map, Value};

/// What a line of the trace is about that tells of working memory.
const MEMORY: &str = "working_memory";

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Tells the chart what the agent knows: the inputs of its context that it declares and that the host has not given, and the section
    /// of its prompts. Then it is told what the agent remembers. The whole context comes back.
    pub(super) fn tell(&mut self) -> Result<Map, RunError> {
        let Some(Life { world, record, profile }) = &self.life else { return Ok(Map::new()) };
        let agent = record.with(|record| record.agent.clone());
        let view = world.view(&agent);
        let config = &profile.working_memory;
        let found = match &view.record {
            Some(content) => extract(content),
            None => Err("the world has no record of the agent"),
        };
        let (memory, missing) = record.with(|record| {
            let own = &record.working_memory;
            let (memory, missing) = match found {
                Ok(memory) => (memory, None),
                Err(_) if !own.is_empty() => (own.clone(), None),
                Err(why) => (Map::new(), Some(why)),
            };
            let is_news = missing.is_some() && !record.is_mindless;
            record.is_mindless = missing.is_some();
            (memory, missing.filter(|_| is_news))
        });
        if let Some(why) = missing.filter(|_| config.enabled && config.warn_on_missing) {
            let text = format!("there is no working memory: {why}");
            self.session.say(What::HostNote { about: MEMORY.into(), text })?;
        }
        let memory = if config.enabled { memory } else { Map::new() };
        let bounded = config.bounded(&memory);
        let is_known = |name: &str| profile.inputs.contains(name) && !self.given.contains(name);
        let now: Map = self.session.machine().variables().into_iter().collect();
        let tick = self.session.turns() + 1;
        let all = record.with(|record| context(record, &view, &bounded, tick));
        let (section, is_cut) = config.section(&memory);
        let is_cut = is_cut || (bounded != memory && is_known(MEMORY));
        let size = if is_cut { super::working::size(&memory) } else { 0 };
        let told = record.with(|record| std::mem::replace(&mut record.cut_from, size));
        if is_cut && told != size {
            let most = config.max_size_bytes;
            let text = format!("the working memory of {size} bytes is cut to {most}");
            self.session.say(What::HostNote { about: MEMORY.into(), text })?;
        }
        for (name, value) in &all {
            if is_known(name) && !now.get(name).is_some_and(|now| is_same(now, value)) {
                self.session.input(name, value.clone())?;
            }
        }
        self.session.set_section(section)?;
        Ok(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Does what the turn has chosen, and keeps what came of it for the next one.
    pub(super) async fn act(&mut self) -> Result<(), RunError> {
        let heard = self.session.heard().clone();
        let Some(Life { world, record, .. }) = &self.life else { return Ok(()) };
        let turn = self.session.turns();
        let chosen: Vec<&(String, Map)> =
            heard.actions.iter().filter(|(_, answer)| is_deed(answer)).collect();
        let failure = failure(&heard, chosen.is_empty());
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
            record.with(|record| record.not_act(turn, &step, &failure));
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
        record.with(|record| record.act(turn, &word, action.as_ref(), &result));
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

/// What goes with an action: the model's reasons are in its answer.
fn without_reasons(answer: &Map) -> Map {
    let is_argument = |name: &str| name != "action" && !super::action::REASONS.contains(&name);
    let all = answer.iter().filter(|(name, _)| is_argument(name));
    all.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

pub(super) fn word(answer: &Map) -> String {
    match answer.get("action") {
        Some(Value::Text(word)) => word.clone(),
        Some(_) | None => String::new(),
    }
}

/// Why a turn has brought no action: the step that ended it in failure, or the limit that left no room for a call.
fn failure(heard: &Heard, is_idle: bool) -> Option<(String, Failure)> {
    let kind = |trouble: Trouble| match trouble {
        Trouble::Call => FailureKind::LlmError,
        Trouble::Answer => FailureKind::IntentRejected,
        Trouble::Limit => FailureKind::InsufficientLlmTokens,
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
        (None, Some((step, Trouble::Limit, why))) if is_idle => {
            Some((step.clone(), Failure::new(FailureKind::InsufficientLlmTokens, why.as_str())))
        }
        (None, _) => None,
    }
}

/// Equal, or the same number.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}
