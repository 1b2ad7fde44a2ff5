//! What a turn's steps have said, for whoever acts on it; and what whoever does that has to say in the trace and in prompts.

use super::{At, Session};
use crate::error::RunError;
use crate::executor::Understood;
use crate::oracle::{Kind, Question};
use crate::trace::{self, What};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Outcome;
use serde::{Deserialize, Serialize};

/// What the steps of the chart itself have said since its last turn began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// The actions that `llm` steps have answered with, in order, with their steps.
    pub(crate) actions: Vec<(String, Map)>,
    /// What went wrong last with a question: its step, and why.
    pub(crate) trouble: Option<(String, Trouble, String)>,
    /// The step that ended the walk in failure.
    pub(crate) failed: Option<String>,
}

/// What can go wrong with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    /// The call failed.
    Call,
    /// The answer could not be used.
    Answer,
    /// A limit left no room for the call.
    Limit,
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// The section of prompts that is the host's.
    pub(crate) fn section(&self) -> &str {
        &self.section
    }

    /// Takes back what a saved run had heard and been told.
    pub(crate) fn recall(&mut self, heard: Heard, section: String) {
        self.heard = heard;
        self.section = section;
    }

    /// Sets what the prompts of `llm` and `ask` steps of the chart itself end with, from now on.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn set_section(&mut self, text: String) -> Result<(), RunError> {
        if text == self.section {
            return Ok(());
        }
        self.section.clone_from(&text);
        self.say(What::Section { text })
    }

    /// Writes what the host has done.
    pub(crate) fn say(&mut self, what: What) -> Result<(), RunError> {
        self.tracer.put(self.clock.now(), "", what)
    }

    /// The section of a question's prompt.
    pub(super) fn section_of(&self, at: &At) -> &str {
        if at.0.is_empty() { &self.section } else { "" }
    }

    /// The machine has taken an answer.
    pub(super) fn hear(&mut self, at: &At, question: &Question, understood: &Understood) {
        if !at.0.is_empty() {
            return;
        }
        if self.heard.trouble.as_ref().is_some_and(|(step, ..)| *step == question.step) {
            self.heard.trouble = None;
        }
        if question.kind == Kind::Llm
            && question.schema.is_empty()
            && let Outcome::Done(values) = &understood.outcome
        {
            // What is no object names no action.
            let answer = if let Some(Value::Map(answer)) = values.first() {
                answer.clone()
            } else {
                Map::new()
            };
            self.heard.actions.push((question.step.clone(), answer));
        }
    }

    /// Something went wrong with a question.
    pub(super) fn trouble(&mut self, at: &At, step: &str, trouble: Trouble, why: &str) {
        if at.0.is_empty() {
            self.heard.trouble = Some((step.to_owned(), trouble, why.to_owned()));
        }
    }
}
