//! The outcome of a turn, for the code that performs the chosen action; and what that code adds to the trace and to prompts.

use super::{At, Session};
use crate::error::RunError;
use crate::settings::Overrides;
use crate::trace::{self, What};
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use serde::{Deserialize, Serialize};

/// The outcome of the steps of the run's own chart since the last turn began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct TurnOutcome {
    /// The actions that `llm` steps have chosen, each with the name of its step, in order.
    pub(crate) actions: Vec<(String, Map)>,
    /// The last failure of a question: its step, its kind, and the reason.
    pub(crate) trouble: Option<(String, QuestionFailure, String)>,
    /// The step whose failure ended the walk.
    pub(crate) failed: Option<String>,
}

/// The kind of failure of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestionFailure {
    /// The call failed.
    Call,
    /// The answer was unusable.
    Answer,
    /// A limit left no room for the call.
    Limit,
}

impl TurnOutcome {
    /// An empty outcome.
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
        &self.extra.heard
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// The host's text at the end of prompts.
    pub(crate) fn section(&self) -> &str {
        &self.extra.section
    }

    /// Restores the outcome and the section of a saved run.
    pub(crate) fn recall(&mut self, heard: TurnOutcome, section: String) {
        self.extra.heard = heard;
        self.extra.section = section;
    }

    /// Sets the text at the end of the prompts of `llm` and `ask` steps, without those of child charts.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn set_section(&mut self, text: String) -> Result<(), RunError> {
        if text == self.extra.section {
            return Ok(());
        }
        self.extra.section.clone_from(&text);
        self.say(What::Section { text })
    }

    /// Replaces settings of the clients in the questions of `llm` and `ask` steps, without those of child charts.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn set_overrides(&mut self, overrides: Overrides) -> Result<(), RunError> {
        if *self.extra.overrides.as_ref().unwrap_or(&Overrides::NONE) == overrides {
            return Ok(());
        }
        let told = overrides.value();
        self.extra.overrides = Some(overrides).filter(|own| !own.is_empty());
        self.say(What::Overrides { overrides: told })
    }

    /// Writes a line about an action of the host.
    pub(crate) fn say(&mut self, what: What) -> Result<(), RunError> {
        self.tracer.put(self.common.clock.now(), "", what)
    }

    /// The section of a question's prompt: empty in child charts.
    pub(super) fn section_of(&self, at: &At) -> &str {
        if at.0.is_empty() { &self.extra.section } else { "" }
    }

    /// What replaces settings in a question: nothing in child charts.
    pub(super) fn overrides_of(&self, at: &At) -> Option<&Overrides> {
        self.extra.overrides.as_ref().filter(|_| at.0.is_empty())
    }

    /// Records that the machine has accepted the answer of a step, with the action if the step asks for one.
    pub(super) fn record_answer(&mut self, at: &At, step: &str, action: Option<Map>) {
        if !at.0.is_empty() {
            return;
        }
        let heard = &self.extra.heard;
        // An answer makes up for an earlier failure of the same step.
        if heard.trouble.as_ref().is_some_and(|(of, ..)| of == step) {
            self.extra.heard.trouble = None;
        }
        if let Some(action) = action {
            self.extra.heard.actions.push((step.to_owned(), action));
        }
    }

    /// Records the failure of a question, for the outcome of the turn.
    pub(super) fn record_question_failure(
        &mut self,
        at: &At,
        step: &str,
        trouble: QuestionFailure,
        why: &str,
    ) {
        if at.0.is_empty() {
            self.extra.heard.trouble = Some((step.to_owned(), trouble, why.to_owned()));
        }
    }
}
