//! Puts the questions of started steps.

use super::calls::{Call, Work, failure};
use super::patience::{self, MOST_RETRY_AFTER};
use super::{At, Session, place_of};
use crate::driver::Probe;
use crate::error::RunError;
use crate::executor::{self, Beside};
use crate::oracle::{Asking, Kind, Question, ready};
use crate::trace::{self, What};
use chartc_core::host::Machine;
use chartc_core::machine::{Element, Input};

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Puts the question of a started step.
    pub(super) fn begin(&mut self, at: At) -> Result<(), RunError> {
        if self.manual {
            self.calls.push(Call { at, work: Work::Outside });
            return Ok(());
        }
        let now = self.clock.now();
        let (member, key) = at.clone();
        let complaint = self.complaints.remove(&place_of(&member, key));
        let complaint = complaint.filter(|(event, _)| *event == key.event && key.attempt > 1);
        let why = complaint.as_ref().map(|(_, why)| why.as_str());
        let last = self.failures.get(&place_of(&member, key)).cloned();
        let last = last.filter(|last| last.event == key.event && key.attempt > 1);
        let client = last.as_ref().map(|last| last.client.as_str());
        let section = self.section_of(&at).to_owned();
        let used = self.used.get(&place_of(&member, key));
        let used = used.filter(|(event, _)| *event == key.event).map_or(&[][..], |(_, used)| used);
        let beside = Beside { section: &section, used, complaint: why };
        let question = self
            .family
            .with_member(&member, |machine| executor::question(machine, key, client, beside))
            .unwrap_or_else(|| Err("its chart does not run any more".into()));
        let child = self.path(&member);
        self.notes(now, &member, &child)?;
        match question {
            Ok(mut question) => {
                question.child.clone_from(&child);
                question.element = key.element.map(Element::index);
                let is_call = question.kind != Kind::Human;
                let wanted = last.as_ref().filter(|last| is_call && !last.is_final);
                let wanted = wanted.and_then(|last| last.retry_after);
                if let Some(wanted_ms) = wanted.filter(|wanted| *wanted > MOST_RETRY_AFTER) {
                    let (step, attempt) = (question.step.clone(), key.attempt);
                    let (most_ms, which) = (MOST_RETRY_AFTER, self.which(&at));
                    let what = What::NotRetried { step, attempt, wanted_ms, most_ms, which };
                    self.tracer.put(now, &child, what)?;
                    self.ready.push_back((at, Input::Unmade(key)));
                    return Ok(());
                }
                if is_call && !self.reserve(&at, &mut question) {
                    return Ok(());
                }
                let not_before = last.filter(|last| is_call && !last.is_final).map(|last| {
                    let own = [key.step.0, key.leaf.0, key.event, key.attempt];
                    let element = key.element.map(Element::index);
                    let mark = own
                        .iter()
                        .chain(&element)
                        .fold(0, |mark: u64, part| (mark << 16) ^ u64::from(*part));
                    now.saturating_add(self.backoff.wait(last.count, last.retry_after, mark))
                });
                let not_before = not_before.filter(|at| *at > now);
                if let Some(until_ms) = not_before {
                    let (step, attempt) = (question.step.clone(), key.attempt);
                    self.tracer.put(
                        now,
                        &child,
                        What::Waiting { step, attempt, until_ms, which: self.which(&at) },
                    )?;
                }
                let options = question.options.iter().map(|o| o.offer.name.clone()).collect();
                self.tracer.put(
                    now,
                    &child,
                    What::Question {
                        step: question.step.clone(),
                        attempt: key.attempt,
                        client: self.client_beside(&at, &question.client),
                        prompt: question.prompt.clone(),
                        options,
                        which: self.which(&at),
                    },
                )?;
                match not_before {
                    Some(until) => {
                        // What is recorded is found by what came right before it.
                        let early = self.driver.keeps_time().then(|| self.asking(&at, &question));
                        let work = Work::Waiting(Box::new(question), until, early);
                        self.calls.push(Call { at, work });
                    }
                    None => {
                        let (asking, place) = (self.asking(&at, &question), self.calls.len());
                        self.put_question(place, at, Box::new(question), asking)?;
                    }
                }
            }
            Err(why) => {
                let step = self.step_name(&member, key);
                self.failed_call(now, &at, step, "prompt", why.clone(), None)?;
                let input = Input::Answer(key, failure(why));
                self.ready.push_back((at, input));
            }
        }
        Ok(())
    }

    /// Puts the question that has waited at this place among the calls.
    pub(super) fn put_waiting(&mut self, place: usize) -> Result<(), RunError> {
        let Call { at, work } = self.calls.remove(place);
        if let Work::Waiting(question, _, early) = work {
            let asking = early.unwrap_or_else(|| self.asking(&at, &question));
            self.put_question(place, at, question, asking)?;
        }
        Ok(())
    }

    /// The answer to a question, unless that is known already.
    fn asking(&mut self, at: &At, question: &Question) -> Asking {
        match self.probed.take() {
            Some(Probe::Answered(answer)) => ready(answer),
            Some(Probe::Unknown | Probe::NotMade | Probe::Returned(_)) | None => {
                let id = self.call_id(at, false);
                patience::asked(&self.driver, &self.clock, &id, question.clone())
            }
        }
    }

    /// A question is put: from now on it counts as a call.
    fn put_question(
        &mut self,
        place: usize,
        at: At,
        question: Box<Question>,
        asking: Asking,
    ) -> Result<(), RunError> {
        if question.kind != Kind::Human {
            self.total_calls += 1;
            self.recent_calls += 1;
        }
        if self.recent_calls > self.max_calls {
            return Err(RunError::TooManyCalls(self.max_calls));
        }
        self.calls.insert(place, Call { at, work: Work::Question(question, asking) });
        Ok(())
    }

    /// The name of a client that is not the step's own.
    fn client_beside(&self, (member, key): &At, client: &str) -> String {
        let machine = self.family.member(member);
        let own = machine.is_some_and(|m| m.tables().steps[key.step.index()].client == client);
        if own { String::new() } else { client.to_owned() }
    }
}
