//! The results of a turn's steps, for the code that performs the chosen actions, and what that code adds to the trace and to prompts.

use super::{At, Session};
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use serde::{Deserialize, Serialize};

/// The results of the steps of the chart itself since its last turn began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct TurnOutcome {
    /// The actions that `llm` steps have chosen, each with its step, in order.
    pub(crate) actions: Vec<(String, Map)>,
    /// The last failure of a question: its step, its kind, and the reason.
    pub(crate) trouble: Option<(String, QuestionFailure, String)>,
    /// The step whose failure ended the walk.
    pub(crate) failed: Option<String>,
}

/// What can go wrong with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestionFailure {
    /// The call failed.
    Call,
    /// The answer could not be used.
    Answer,
    /// A limit left no room for the call.
    Limit,
}

impl TurnOutcome {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self { actions: Vec::new(), trouble: None, failed: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { actions, trouble, failed } = self;
        actions.is_empty() && trouble.is_none() && failed.is_none()
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    pub(crate) fn turn_outcome(&self) -> &TurnOutcome {
        &self.extra.rare.heard
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// The section of prompts that is the host's.
    pub(crate) fn section(&self) -> &str {
        &self.extra.rare.section
    }

    /// Takes back what a saved run had heard and been told.
    pub(crate) fn recall(&mut self, heard: TurnOutcome, section: String) {
        self.extra.rare.heard = heard;
        self.extra.rare.section = section;
    }

    /// Sets what the prompts of `llm` and `ask` steps of the chart itself end with, from now on.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn set_section(&mut self, text: String) -> Result<(), RunError> {
        if text == self.extra.rare.section {
            return Ok(());
        }
        self.extra.rare.section.clone_from(&text);
        self.say(What::Section { text })
    }

    /// Writes what the host has done.
    pub(crate) fn say(&mut self, what: What) -> Result<(), RunError> {
        self.tracer.put(self.common.clock.now(), "", what)
    }

    /// The section of a question's prompt.
    pub(super) fn section_of(&self, at: &At) -> &str {
        if at.0.is_empty() { &self.extra.rare.section } else { "" }
    }

    /// The machine has taken the answer of a step, which named an action if the step wants one.
    pub(super) fn record_answer(&mut self, at: &At, step: &str, action: Option<Map>) {
        if !at.0.is_empty() {
            return;
        }
        let heard = &self.extra.rare.heard;
        if heard.trouble.as_ref().is_some_and(|(of, ..)| of == step) {
            self.extra.rare.heard.trouble = None;
        }
        if let Some(action) = action {
            self.extra.rare.heard.actions.push((step.to_owned(), action));
        }
    }

    /// Something went wrong with a question.
    pub(super) fn record_question_failure(
        &mut self,
        at: &At,
        step: &str,
        trouble: QuestionFailure,
        why: &str,
    ) {
        if at.0.is_empty() {
            self.extra.rare.heard.trouble = Some((step.to_owned(), trouble, why.to_owned()));
        }
    }
}
