//! Processes ended calls: reads answers and passes them to the machine, and keeps failures for the next attempt.

use super::ledger::Bill;
use super::{At, QuestionFailure, Session, place_of};
use crate::error::RunError;
use crate::executor;
use crate::oracle::{Answer, Kind, OracleError, Question};
use crate::trace::{self, What};
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Machine, Mismatch};
use chartc_core::machine::{Input, Instant, Outcome};
use chartc_core::tables::StepRowKind;
use std::sync::Arc;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Reads the answer of an ended call and passes it to the machine.
    pub(super) fn ended(
        &mut self,
        now: Instant,
        at: At,
        question: &Arc<Question>,
        answer: Result<Answer, OracleError>,
    ) -> Result<(), RunError> {
        let key = at.1;
        let bill = Bill::of(&answer, question.model.max_tokens);
        let cut = bill.cut;
        let charge = self.settle_call(now, &at, question.model.prices, bill)?;
        // The charge comes before the answer, so that guards which read amounts already see it.
        if let Some(charge) = charge {
            drop(self.apply_to(at.0.clone(), Input::Charge(key, charge))?);
        }
        let text = match answer {
            Ok(answer) => {
                self.answered |= question.kind != Kind::Human;
                if !self.extra.rare.failures.is_empty() {
                    self.extra.rare.failures.remove(&place_of(&at.0, key));
                }
                answer.text
            }
            Err(error) => {
                let nobody = self.keep_failure(&at, question, &error);
                let (kind, why, wait) =
                    (error.kind().word(), error.to_string(), error.retry_after());
                self.failed_call(now, &at, question.step.to_string(), kind, why, wait)?;
                if let Some(why) = nobody {
                    return Err(RunError::NoModel { step: question.step.to_string(), why });
                }
                if error.is_fatal() {
                    return Err(RunError::Oracle { step: question.step.to_string(), error });
                }
                self.extra
                    .busy
                    .ready
                    .push_back((at, Input::Answer(key, failure(error.to_string()))));
                return Ok(());
            }
        };
        let read = if cut {
            executor::cut(question, &text, self.accepts_cut(&at))
        } else {
            executor::outcome(question, &text)
        };
        let understood = match read {
            Ok(understood) => understood,
            Err(why) => {
                return self.unusable(now, at, question, text, (why.ambiguous, why.why));
            }
        };
        let child = self.path(&at.0);
        self.trace(now, &child, |run| {
            let (option, value) = match executor::chosen(question, &understood.outcome) {
                Some((name, list)) if list.is_empty() => (Some(name), Value::None),
                Some((name, list)) => (Some(name), Value::List(list)),
                None => match &understood.outcome {
                    Outcome::Done(values) => (None, values.first().cloned().unwrap_or_default()),
                    _ => (None, Value::None),
                },
            };
            What::Answer {
                id: question.id.clone(),
                step: question.step.to_string(),
                attempt: key.attempt,
                text: text.clone(),
                rung: understood.rung.word().into(),
                repairs: understood.repairs.clone(),
                option,
                value,
                which: run.which(&at),
            }
        })?;
        let action = action(question, &understood.outcome);
        self.extra.busy.last_answer = Some((text, question.clone()));
        let receipt = self.apply_to(at.0.clone(), Input::Answer(key, understood.outcome))?;
        // `misfit` takes the text away if the machine finds that the answer does not fit.
        let Some((text, _)) = self.extra.busy.last_answer.take() else { return Ok(()) };
        match receipt {
            Ok(_) => {
                self.record_answer(&at, &question.step, action);
                Ok(())
            }
            Err(Mismatch(why)) => {
                let now = self.common.clock.now();
                self.unusable(now, at, question, text, (false, why))
            }
        }
    }

    /// Whether the step accepts an answer that was cut off (`cut ok`).
    fn accepts_cut(&self, (member, key): &At) -> bool {
        let machine = self.family.member(member);
        let step = machine.and_then(|machine| machine.tables().steps.get(key.step.index()));
        step.is_some_and(|step| step.accepts_cut)
    }

    /// Records an answer that the machine has found unfit. The machine itself has already gone on.
    pub(super) fn misfit(&mut self, at: &At, why: &str) -> Result<(), RunError> {
        if matches!(self.kind(&at.0, at.1), Some(StepRowKind::Run { .. })) {
            // The result of a child chart is nobody's answer; a note of the machine says what is wrong with it.
            return Ok(());
        }
        let Some((text, question)) = self.extra.busy.last_answer.take() else {
            self.extra.busy.misfit = Some(why.to_owned());
            return Ok(());
        };
        self.complain(at, why);
        self.record_question_failure(at, &question.step, QuestionFailure::Answer, why);
        self.write_unusable(self.common.clock.now(), at, &question, text, (false, why.to_owned()))
    }

    /// Keeps the reason why an answer was unusable, for the prompt of the next attempt.
    pub(super) fn complain(&mut self, (member, key): &At, why: &str) {
        let place = place_of(member, *key);
        self.extra.rare.complaints.insert(place, (key.event, why.to_owned()));
    }

    fn unusable(
        &mut self,
        now: Instant,
        at: At,
        question: &Question,
        text: String,
        (ambiguous, why): (bool, String),
    ) -> Result<(), RunError> {
        self.complain(&at, &why);
        self.record_question_failure(&at, &question.step, QuestionFailure::Answer, &why);
        self.write_unusable(now, &at, question, text, (ambiguous, why))?;
        let key = at.1;
        self.extra.busy.ready.push_back((at, Input::Answer(key, Outcome::Unusable)));
        Ok(())
    }

    fn write_unusable(
        &mut self,
        now: Instant,
        at: &At,
        question: &Question,
        text: String,
        (ambiguous, why): (bool, String),
    ) -> Result<(), RunError> {
        let (child, step, attempt) = (self.path(&at.0), question.step.to_string(), at.1.attempt);
        let (id, which) = (question.id.clone(), self.which(at));
        let what = What::Unusable { id, step, attempt, text, ambiguous, why, which };
        self.tracer.put(now, &child, what)
    }

    pub(super) fn failed_call(
        &mut self,
        now: Instant,
        at: &At,
        step: String,
        error: &str,
        why: String,
        retry_after_ms: Option<u64>,
    ) -> Result<(), RunError> {
        self.record_question_failure(at, &step, QuestionFailure::Call, &why);
        let (error, attempt) = (error.to_owned(), at.1.attempt);
        let child = self.path(&at.0);
        let what =
            What::CallFailed { step, attempt, error, why, retry_after_ms, which: self.which(at) };
        self.tracer.put(now, &child, what)
    }
}

/// The action with which an `llm` step without a declared type has answered. An answer that is no object gives an action without a name.
fn action(question: &Question, outcome: &Outcome<Vec<Value>>) -> Option<Map> {
    let Outcome::Done(values) = outcome else { return None };
    if question.kind != Kind::Llm || !question.schema.is_empty() {
        return None;
    }
    let Some(Value::Map(answer)) = values.first() else { return Some(Map::new()) };
    Some(answer.clone())
}

pub(super) fn failure(why: String) -> Outcome<Vec<Value>> {
    Outcome::Failed(vec![Value::Text(why)])
}
