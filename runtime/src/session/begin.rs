//! Builds the questions of started steps, and submits them.

use super::calls::{self, Call, Exclusive, MOST_RETRY_AFTER, NextAttempt, Work};
use super::ledger::Admission;
use super::{At, Session, place_of};
use crate::driver::{CallId, CallName};
use crate::error::RunError;
use crate::executor::{self, Beside, Used};
use crate::oracle::{Answer, Asking, Kind, NotOpen, OracleError, Question, find_open};
use crate::trace::{self, What};
use chartc_core::arena::StepId;
use chartc_core::expr::Value;
use chartc_core::host::{Machine, REFUSED};
use chartc_core::machine::{Element, Input, Instant, Outcome, StepKey};
use chartc_core::tables::{FailureKind, StepRowKind};
use std::sync::Arc;

/// The steps and elements that lead to an element of a list; empty if there is none.
pub(super) type ElementPlace = Vec<(StepId, Option<Element>)>;

/// The element for which a call is made. If elements are nested, the outermost one.
fn element_place((member, key): &At) -> ElementPlace {
    if member.is_empty() && key.element.is_none() {
        return ElementPlace::new();
    }
    let way = member.iter().chain([key]).map(|key| (key.step, key.element));
    let mut way: ElementPlace = way.collect();
    let element = way.iter().position(|(_, element)| element.is_some());
    way.truncate(element.map_or(0, |place| place + 1));
    way
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Starts the call of a step: builds its question and admits it.
    pub(super) fn begin(&mut self, at: At) -> Result<(), RunError> {
        if self.common.manual {
            self.extra.calls.push(Call { at, work: Work::Outside });
            return Ok(());
        }
        let now = self.common.clock.now();
        let (member, key) = at.clone();
        let has_complaints = !self.extra.complaints.is_empty();
        let complaint =
            has_complaints.then(|| self.extra.complaints.remove(&place_of(&member, key))).flatten();
        // Complaints and failures are kept by step; those of an earlier start of the step do not concern this attempt.
        let complaint = complaint.filter(|(event, _)| *event == key.event && key.attempt > 1);
        let why = complaint.as_ref().map(|(_, why)| why.as_str());
        let last = self.extra.failures.get(&place_of(&member, key)).cloned();
        let last = last.filter(|last| last.event == key.event && key.attempt > 1);
        let client = last.as_ref().map(|last| last.client.as_str());
        let section = self.section_of(&at).to_owned();
        match self.step_row(&at).map(|row| (row.approves.is_some(), row.tool_lines.len > 0)) {
            Some((true, _)) => self.keep_wanted(&at),
            // No call is wanted while the model is asked.
            Some((_, true)) => drop(self.take_wanted(&at)),
            _ => {}
        }
        let used = self.extra.used.get(&place_of(&member, key));
        let used = used.filter(|(event, _)| *event == key.event).map_or(&[][..], |(_, used)| used);
        let overrides = self.overrides_of(&at).cloned();
        let (overrides, actions) = (overrides.as_ref(), self.common.actions);
        let beside = Beside { section: &section, used, complaint: why, actions, overrides };
        let question = self
            .family
            .with_member(&member, |machine| executor::question(machine, key, client, beside))
            .unwrap_or_else(|| Err("its chart does not run any more".into()));
        // Rendering the prompt may have called host functions, whose notes precede the question.
        let child = self.path(&member);
        self.notes(now, &member, &child)?;
        match question {
            Ok(mut question) => {
                question.child.clone_from(&child);
                question.element = key.element.map(Element::index);
                let is_call = question.kind != Kind::Human;
                // The last attempt was refused for good, and there is no other client: the step fails without another call.
                if is_call && last.as_ref().is_some_and(|last| last.is_hopeless) {
                    self.extra.ready.push_back((at, Input::Unmade(key)));
                    return Ok(());
                }
                if is_call && self.refuse_long_wait(now, &at, &question.step)? {
                    return Ok(());
                }
                self.admit(at, question)?;
            }
            Err(why) => {
                let step = self.step_name(&member, key);
                self.failed_call(now, &at, step, ("prompt", why.clone()), (None, false))?;
                let failed = self.failure(&at, FailureKind::Other, why, false);
                self.extra.ready.push_back((at, Input::Answer(key, failed)));
            }
        }
        Ok(())
    }

    /// Submits a question if there is room under the limits; otherwise lets it wait for room.
    fn admit(&mut self, at: At, mut question: Question) -> Result<(), RunError> {
        if question.kind != Kind::Human {
            let wanted = question.model.max_tokens;
            // Questions are admitted in the order in which they came, so that a large one is not overtaken forever.
            let is_behind =
                self.extra.calls.iter().any(|call| matches!(call.work, Work::AwaitingBudget(..)));
            match self.reserve(&at, &mut question) {
                Admission::Made if is_behind && self.extra.ledger.is_held(&at) => {
                    // There is room, but earlier questions wait: this one gives its hold back and waits behind them.
                    self.extra.ledger.release(&at);
                }
                Admission::Made => {
                    return self.submit(self.extra.calls.len(), at, Arc::new(question));
                }
                Admission::Waits => {}
                Admission::Refused => return Ok(()),
            }
            // `reserve` has reduced the bound to the room of this moment; it is computed again later.
            question.model.max_tokens = wanted;
            let work = Work::AwaitingBudget(Arc::new(question));
            self.extra.calls.push(Call { at, work });
            return Ok(());
        }
        self.submit(self.extra.calls.len(), at, Arc::new(question))
    }

    /// Submits the first question that waits for room, if there is room now. The others wait behind it.
    pub(super) fn admit_next(&mut self) -> Result<bool, RunError> {
        let place =
            self.extra.calls.iter().position(|call| matches!(call.work, Work::AwaitingBudget(..)));
        let Some(place) = place else { return Ok(false) };
        let Call { at, work } = self.extra.calls.remove(place);
        let Work::AwaitingBudget(mut question) = work else { return Ok(false) };
        match self.reserve(&at, Arc::make_mut(&mut question)) {
            Admission::Made => {
                self.submit(place, at, question)?;
            }
            Admission::Waits => {
                self.extra.calls.insert(place, Call { at, work: Work::AwaitingBudget(question) });
                return Ok(false);
            }
            Admission::Refused => {}
        }
        Ok(true)
    }

    /// Submits a question that is paid for, at this place among the calls. After a failure, it is made only when the backoff has passed.
    fn submit(
        &mut self,
        place: usize,
        at: At,
        mut question: Arc<Question>,
    ) -> Result<(), RunError> {
        let now = self.common.clock.now();
        self.name_question(&at, &mut question);
        let (member, key) = at.clone();
        let child = self.path(&member);
        let is_call = question.kind != Kind::Human;
        let not_before = if is_call { self.next_attempt_at(&at, now) } else { None };
        let attempt = key.attempt;
        if let Some(until_ms) = not_before {
            let (step, which) = (question.step.to_string(), self.which(&at));
            self.tracer.put(now, &child, What::Waiting { step, attempt, until_ms, which })?;
        }
        self.trace(now, &child, |run| What::Question {
            id: question.id.clone(),
            step: question.step.to_string(),
            attempt,
            client: run.client_beside(&at, &question.client),
            prompt: question.prompt.clone(),
            options: question.options.iter().map(|o| o.offer.name.to_string()).collect(),
            which: run.which(&at),
        })?;
        match not_before {
            Some(until) => {
                // In a replay, the end of a call is found by the line before it, so the call is made before its waiting time.
                let early = self.common.driver.keeps_time();
                let early = early.then(|| Exclusive::new(self.asking(&at, &question)));
                let work = Work::Waiting(NextAttempt::Question(question, early), until);
                self.extra.calls.insert(place, Call { at, work });
                Ok(())
            }
            None => {
                let asking = self.asking(&at, &question);
                self.put_question(place, at, question, Exclusive::new(asking))
            }
        }
    }

    /// Makes the call at this place, whose waiting time has passed.
    pub(super) fn submit_waiting(&mut self, place: usize) -> Result<(), RunError> {
        let Call { at, work } = self.extra.calls.remove(place);
        match work {
            Work::Waiting(NextAttempt::Question(question, early), _) => {
                let asking = early.unwrap_or_else(|| Exclusive::new(self.asking(&at, &question)));
                self.put_question(place, at, question, asking)?;
            }
            Work::Waiting(NextAttempt::Tool(call, early), _) => {
                let calling = early.unwrap_or_else(|| {
                    let id = self.call_id(&at, true);
                    Exclusive::new(self.common.driver.call(&id, call.clone()))
                });
                let work = Work::Tool(call, calling);
                self.extra.calls.insert(place, Call { at, work });
            }
            _ => {}
        }
        Ok(())
    }

    /// The time of the next attempt after a failed one; `None` if it is made at once.
    fn next_attempt_at(&self, at: &At, now: Instant) -> Option<Instant> {
        let (member, key) = at;
        let last = self.extra.failures.get(&place_of(member, *key))?;
        if last.event != key.event || key.attempt <= 1 || last.is_final {
            return None;
        }
        // The jitter of the backoff is derived from the identity of the attempt, so that equal runs wait equally long.
        let own = [key.step.0, key.leaf.0, key.event, key.attempt];
        let element = key.element.map(Element::index);
        let mark =
            own.iter().chain(&element).fold(0, |mark: u64, part| (mark << 16) ^ u64::from(*part));
        let wait = self.backoff(at).wait(last.count, last.retry_after, mark);
        Some(now.saturating_add(wait)).filter(|at| *at > now)
    }

    /// The waits between the attempts of a step: its own, or those of the host.
    fn backoff(&self, at: &At) -> calls::Backoff {
        let of_host = self.common.backoff;
        let own = self.step_row(at).and_then(|row| row.wait);
        own.map_or(of_host, |[first, most]| calls::Backoff { first, most, ..of_host })
    }

    /// Refuses an attempt before which the provider asks for a longer pause than a run waits: the step fails. Returns whether it does.
    fn refuse_long_wait(&mut self, now: Instant, at: &At, step: &str) -> Result<bool, RunError> {
        let (member, key) = at;
        let last = self.extra.failures.get(&place_of(member, *key));
        let last = last.filter(|last| last.event == key.event && key.attempt > 1 && !last.is_final);
        let wanted = last.and_then(|last| last.retry_after);
        let Some(wanted_ms) = wanted.filter(|wanted| *wanted > MOST_RETRY_AFTER) else {
            return Ok(false);
        };
        let (step, attempt, which) = (step.to_owned(), key.attempt, self.which(at));
        let (child, most_ms) = (self.path(member), MOST_RETRY_AFTER);
        let what = What::NotRetried { step, attempt, wanted_ms, most_ms, which };
        self.tracer.put(now, &child, what)?;
        self.extra.ready.push_back((at.clone(), Input::Unmade(*key)));
        Ok(true)
    }

    /// Asks the driver, with the timeout of the client.
    fn asking(&self, at: &At, question: &Arc<Question>) -> Asking {
        let id = self.call_id(at, false);
        calls::ask_with_timeout(
            &self.common.driver,
            &self.common.clock,
            &id,
            question.clone(),
            self.common.clock.now(),
        )
    }

    /// Adds a call to the list. From now on it counts against the limits.
    fn put_question(
        &mut self,
        place: usize,
        at: At,
        question: Arc<Question>,
        asking: Exclusive<Asking>,
    ) -> Result<(), RunError> {
        if question.kind != Kind::Human {
            self.total_calls += 1;
            let element = element_place(&at);
            let recent = if element.is_empty() {
                &mut self.recent_calls
            } else {
                self.extra.recent_calls.entry(element).or_default()
            };
            *recent += 1;
            if *recent > self.common.max_calls {
                return Err(RunError::TooManyCalls(self.common.max_calls));
            }
        }
        let work = Work::Question(question, asking, self.common.clock.now());
        let calls = &mut self.extra.calls;
        if calls.is_empty() {
            // Exactly one place, because most agents have only one call under way.
            calls.reserve_exact(1);
        }
        calls.insert(place, Call { at, work });
        Ok(())
    }

    /// The name of the client, if it is not the step's own; else empty.
    fn client_beside(&self, (member, key): &At, client: &str) -> String {
        let machine = self.family.member(member);
        let own = machine.is_some_and(|m| m.tables().steps[key.step.index()].client == client);
        if own { String::new() } else { client.to_owned() }
    }
}

// Tool calls: those that a model has chosen, and those of `call` steps.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Starts a tool call.
    pub(super) fn begin_call(&mut self, at: At) -> Result<(), RunError> {
        if self.common.manual {
            self.extra.calls.push(Call { at, work: Work::Outside });
            return Ok(());
        }
        let now = self.common.clock.now();
        let (member, key) = &at;
        let call = self.family.with_member(member, |machine| machine.call(*key));
        let (child, step) = (self.path(member), self.step_name(member, *key));
        self.notes(now, member, &child)?;
        let Some(Ok(call)) = call else {
            let why = "its arguments cannot be computed".to_owned();
            self.failed_call(now, &at, step, ("arguments", why.clone()), (None, false))?;
            let key = at.1;
            let failed = self.failure(&at, FailureKind::Other, why, false);
            self.extra.ready.push_back((at, Input::Answer(key, failed)));
            return Ok(());
        };
        if self.refuse_long_wait(now, &at, &step)? {
            return Ok(());
        }
        let not_before = self.next_attempt_at(&at, now);
        if let Some(until_ms) = not_before {
            let (step, attempt, which) = (step.clone(), key.attempt, self.which(&at));
            self.tracer.put(now, &child, What::Waiting { step, attempt, until_ms, which })?;
        }
        let (tool, arguments) = (call.tool.clone(), call.arguments.iter().cloned().collect());
        let arguments = Value::Map(arguments);
        drop(self.take_wanted(&at));
        self.uses(&at, Used::begun(&tool, &arguments));
        self.tracer.put(
            now,
            &child,
            What::ToolCall { step, tool, arguments, which: self.which(&at) },
        )?;
        let call_now = || {
            let id = self.call_id(&at, true);
            Exclusive::new(self.common.driver.call(&id, call.clone()))
        };
        let work = match not_before {
            Some(until) => {
                // As for a question: in a replay, the call is made before its waiting time.
                let early = self.common.driver.keeps_time().then(call_now);
                Work::Waiting(NextAttempt::Tool(call, early), until)
            }
            None => {
                let calling = call_now();
                Work::Tool(call, calling)
            }
        };
        self.extra.calls.push(Call { at, work });
        Ok(())
    }

    /// The id of a call; an empty one if the driver does not use ids.
    pub(super) fn call_id(&self, at: &At, is_tool: bool) -> CallId {
        if self.common.driver.reads_ids() { self.name_of(at, is_tool) } else { CallId::default() }
    }

    /// The id of a call.
    pub(super) fn name_of(&self, (member, key): &At, is_tool: bool) -> CallId {
        let used = if self.extra.used.is_empty() {
            None
        } else {
            self.extra.used.get(&place_of(member, *key))
        };
        let used = used.filter(|(event, _)| *event == key.event).map(|(_, used)| used);
        // Open calls do not count, so that a call which is made again gets the same number.
        let nth = used.map_or(0, |used| used.iter().filter(|one| !one.is_open()).count());
        let nth = u32::try_from(nth).unwrap_or(u32::MAX);
        let name = |member: &[StepKey], key: StepKey| {
            let tables = self.family.member(member).map(|machine| machine.tables());
            let row = tables.and_then(|t| {
                Some((t.states.get(key.leaf.index())?, t.steps.get(key.step.index())?))
            });
            let (state, step) = row.map_or(("", ""), |(state, step)| (&*state.path, &*step.name));
            CallName {
                state: state.into(),
                step: step.into(),
                event: key.event,
                attempt: key.attempt,
                element: key.element.map(Element::index),
            }
        };
        let mut path: Vec<CallName> =
            (0..member.len()).map(|i| name(&member[..i], member[i])).collect();
        let mut own = name(member, *key);
        // A call keeps its id when the run continues in a version of the chart in which the step has another name.
        if !self.extra.old_names.is_empty()
            && let Some(old) = self.extra.old_names.get(&(member.clone(), *key))
        {
            for (name, (state, step)) in path.iter_mut().chain([&mut own]).zip(old.names()) {
                (name.state, name.step) = (state.into(), step.into());
            }
        }
        CallId { run: self.run.clone().unwrap_or_default(), path, name: own, nth, is_tool }
    }

    /// Keeps a tool call of an `llm` step for its next prompt. It replaces a call that was under way when the run was saved.
    fn uses(&mut self, (member, key): &At, used: Used) {
        if !matches!(self.kind(member, *key), Some(StepRowKind::Llm)) {
            return;
        }
        let place = place_of(member, *key);
        let (event, all) = self.extra.used.entry(place).or_insert_with(|| (key.event, Vec::new()));
        if *event != key.event {
            (*event, *all) = (key.event, Vec::new());
        }
        all.retain(|one| !one.is_open());
        all.push(used);
    }

    /// Adds the result to the kept call.
    fn used_up(&mut self, (member, key): &At, result: &Result<Value, OracleError>) {
        let place = place_of(member, *key);
        let last = self.extra.used.get_mut(&place).and_then(|(_, all)| all.last_mut());
        if let Some(last) = last.filter(|last| last.is_open()) {
            match result {
                Ok(value) => last.ends(Ok(value)),
                Err(why) => last.ends(Err(&why.to_string())),
            }
        }
    }

    /// Keeps the tool call that a person is asked about, in case they refuse it.
    fn keep_wanted(&mut self, at: &At) {
        let (member, key) = at;
        let call = self.family.with_member(member, |machine| machine.call(*key));
        let Some(Ok(call)) = call else { return };
        let arguments = Value::Map(call.arguments.into_iter().collect());
        let used = Used::begun(&call.tool, &arguments);
        self.extra.used.insert(place_of(member, *key), (key.event, vec![used]));
    }

    /// Takes the tool call of this step that a person was asked about.
    fn take_wanted(&mut self, (member, key): &At) -> Option<Used> {
        if self.extra.used.is_empty() {
            return None;
        }
        let tables = self.family.member(member)?.tables();
        let lines = tables.steps[key.step.index()].tool_lines.of(&tables.tool_lines).iter();
        let asked: Vec<StepId> = lines.filter_map(|line| line.asks).collect();
        let mut found = None;
        for step in asked {
            let place = place_of(member, StepKey { step, ..*key });
            found = self.extra.used.remove(&place).and_then(|(_, mut all)| all.pop()).or(found);
        }
        found
    }

    /// Tells the next prompt of the model that its tool call has failed: a person has refused it, or its result does not fit.
    pub(super) fn call_failed(&mut self, at: &At) {
        match self.take_wanted(at) {
            Some(mut used) => {
                used.ends(Err(REFUSED));
                self.uses(at, used);
            }
            None => self.used_in_vain(at),
        }
    }

    /// Marks the kept call as failed, because the machine has found that its result does not have the declared type.
    fn used_in_vain(&mut self, (member, key): &At) {
        let place = place_of(member, *key);
        if let Some(last) = self.extra.used.get_mut(&place).and_then(|(_, all)| all.last_mut()) {
            last.fails("what it returned does not fit its type");
        }
    }

    /// Passes the result of a tool call to the machine.
    pub(super) fn returned(
        &mut self,
        now: Instant,
        (member, key): At,
        tool: &str,
        result: Result<Value, OracleError>,
    ) -> Result<(), RunError> {
        let child = self.path(&member);
        let (step, tool) = (self.step_name(&member, key), tool.to_owned());
        let which = self.which(&(member.clone(), key));
        self.used_up(&(member.clone(), key), &result);
        match result {
            Ok(value) => {
                if !self.extra.failures.is_empty() {
                    self.extra.failures.remove(&place_of(&member, key));
                }
                let what = What::ToolResult { step, tool, value: value.clone(), which };
                self.tracer.put(now, &child, what)?;
                drop(self.apply_to(member, Input::Answer(key, Outcome::Done(vec![value])))?);
                // Only `answer` reports a misfit to the host; here the machine's note is enough.
                self.extra.misfit = None;
                Ok(())
            }
            Err(error) => {
                let why = error.to_string();
                let kind = error.kind().word().to_owned();
                let at = (member, key);
                let doubt = self.is_in_doubt(&at, Some(&tool), &error);
                let (of, retry_after_ms) = (step.clone(), error.retry_after());
                let what = What::ToolFailed {
                    step: of,
                    tool,
                    error: kind,
                    why,
                    retry_after_ms,
                    doubt,
                    which,
                };
                self.tracer.put(now, &child, what)?;
                if error.is_fatal() {
                    return Err(RunError::Oracle { step, error });
                }
                if !doubt {
                    self.keep_tool_failure(&at, &error);
                }
                let failed = self.failure(&at, error.kind(), error.to_string(), doubt);
                drop(self.apply_to(at.0, Input::Answer(key, failed))?);
                Ok(())
            }
        }
    }
}

// Open questions to people, and the host's answers to them.

impl Call {
    /// The question to a person for which this call waits.
    fn asked(&self) -> Option<&Question> {
        match &self.work {
            Work::Question(question, ..) if question.kind == Kind::Human => Some(question),
            _ => None,
        }
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The open questions to people, in the order in which they were asked.
    pub fn asked(&self) -> impl Iterator<Item = &Question> {
        self.extra.calls.iter().filter_map(Call::asked)
    }

    /// Answers the open question to a person that has this [id](Question::id). The driver's own call for it is dropped. Returns the
    /// permanent id of that call. The effects of the answer begin with the next call of
    /// [`go_as_far_as_possible`](Self::go_as_far_as_possible) or [`settle`](Self::settle).
    ///
    /// # Errors
    /// See [`RunError`]. The inner error means that no open question has this id; nothing has changed then.
    pub fn reply(
        &mut self,
        question: &str,
        text: String,
    ) -> Result<Result<String, NotOpen>, RunError> {
        let calls = self.extra.calls.iter().enumerate();
        let open = calls.filter_map(|(index, call)| Some((index, call.asked()?)));
        let index = match find_open(open, question) {
            Ok(index) => index,
            Err(why) => return Ok(Err(why)),
        };
        let Call { at, work } = self.extra.calls.remove(index);
        let name = self.name_of(&at, false).to_string();
        let now = self.submit_earlier_retries()?;
        if let Work::Question(question, ..) = work {
            self.ended(now, at, &question, Ok(Answer::from(text)))?;
        }
        Ok(Ok(name))
    }

    /// Gives a question to a person its id. Questions to models get none.
    pub(super) fn name_question(&self, at: &At, question: &mut Arc<Question>) {
        if question.kind == Kind::Human && question.id.is_empty() {
            let call = self.name_of(at, false).to_string();
            Arc::make_mut(question).name(&call);
        }
    }
}
