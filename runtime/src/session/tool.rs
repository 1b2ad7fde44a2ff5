//! Tool calls: those that a model has chosen, and those of `call` steps.

use super::answers::failure;
use super::calls::{Call, Work};
use super::lazy_box::Exclusive;
use super::{At, Session, place_of};
use crate::driver::{CallId, CallName};
use crate::error::RunError;
use crate::executor::Used;
use crate::oracle::OracleError;
use crate::trace::{self, What};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Element, Input, Instant, Outcome, StepKey};
use chartc_core::tables::StepRowKind;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Starts a tool call.
    pub(super) fn begin_call(&mut self, at: At) -> Result<(), RunError> {
        if self.common.manual {
            self.extra.busy.calls.push(Call { at, work: Work::Outside });
            return Ok(());
        }
        let now = self.common.clock.now();
        let (member, key) = &at;
        let call = self.family.with_member(member, |machine| machine.call(*key));
        let (child, step) = (self.path(member), self.step_name(member, *key));
        self.notes(now, member, &child)?;
        let Some(Ok(call)) = call else {
            let why = "its arguments cannot be computed".to_owned();
            self.failed_call(now, &at, step, "arguments", why.clone(), None)?;
            let key = at.1;
            self.extra.busy.ready.push_back((at, Input::Answer(key, failure(why))));
            return Ok(());
        };
        let id = self.call_id(&at, true);
        let (tool, arguments) = (call.tool.clone(), call.arguments.iter().cloned().collect());
        let arguments = Value::Map(arguments);
        self.uses(&at, Used::begun(&tool, &arguments));
        self.tracer.put(
            now,
            &child,
            What::ToolCall { step, tool, arguments, which: self.which(&at) },
        )?;
        let calling = self.common.driver.call(&id, call.clone());
        self.extra.busy.calls.push(Call { at, work: Work::Tool(call, Exclusive::new(calling)) });
        Ok(())
    }

    /// The id of a call; an empty one if the driver does not use ids.
    pub(super) fn call_id(&self, at: &At, is_tool: bool) -> CallId {
        if self.common.driver.reads_ids() { self.name_of(at, is_tool) } else { CallId::default() }
    }

    /// The id of a call.
    pub(super) fn name_of(&self, (member, key): &At, is_tool: bool) -> CallId {
        let used = if self.extra.rare.used.is_empty() {
            None
        } else {
            self.extra.rare.used.get(&place_of(member, *key))
        };
        let used = used.filter(|(event, _)| *event == key.event).map(|(_, used)| used);
        // Open calls do not count, so that a call which is made again gets the same number.
        let nth = used.map_or(0, |used| used.iter().filter(|one| !one.is_open()).count());
        let nth = u32::try_from(nth).unwrap_or(u32::MAX);
        let name = |member: &[StepKey], key: StepKey| {
            let tables = self.family.member(member).map(|machine| machine.tables());
            let row = tables.and_then(|t| {
                Some((*t.states.get(key.leaf.index())?, *t.steps.get(key.step.index())?))
            });
            let (state, step) = row.map_or(("", ""), |(state, step)| (state.path, step.name));
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
        if !self.extra.rare.old_names.is_empty()
            && let Some(old) = self.extra.rare.old_names.get(&(member.clone(), *key))
        {
            for (name, (state, step)) in path.iter_mut().chain([&mut own]).zip(old.names()) {
                (name.state, name.step) = (state.into(), step.into());
            }
        }
        CallId { run: self.extra.run.clone().unwrap_or_default(), path, name: own, nth, is_tool }
    }

    /// Keeps a tool call of an `llm` step for its next prompt. It replaces a call that was under way when the run was saved.
    fn uses(&mut self, (member, key): &At, used: Used) {
        if !matches!(self.kind(member, *key), Some(StepRowKind::Llm)) {
            return;
        }
        let place = place_of(member, *key);
        let (event, all) =
            self.extra.rare.used.entry(place).or_insert_with(|| (key.event, Vec::new()));
        if *event != key.event {
            (*event, *all) = (key.event, Vec::new());
        }
        all.retain(|one| !one.is_open());
        all.push(used);
    }

    /// Adds the result to the kept call.
    fn used_up(&mut self, (member, key): &At, result: &Result<Value, OracleError>) {
        let place = place_of(member, *key);
        let last = self.extra.rare.used.get_mut(&place).and_then(|(_, all)| all.last_mut());
        if let Some(last) = last.filter(|last| last.is_open()) {
            match result {
                Ok(value) => last.ends(Ok(value)),
                Err(why) => last.ends(Err(&why.to_string())),
            }
        }
    }

    /// Marks the kept call as failed, because the machine has found that its result does not have the declared type.
    pub(super) fn used_in_vain(&mut self, (member, key): &At) {
        let place = place_of(member, *key);
        if let Some(last) = self.extra.rare.used.get_mut(&place).and_then(|(_, all)| all.last_mut())
        {
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
                let what = What::ToolResult { step, tool, value: value.clone(), which };
                self.tracer.put(now, &child, what)?;
                drop(self.apply_to(member, Input::Answer(key, Outcome::Done(vec![value])))?);
                // Only `answer` reports a misfit to the host; here the machine's note is enough.
                self.extra.busy.misfit = None;
                Ok(())
            }
            Err(error) => {
                let why = error.to_string();
                let kind = error.kind().word().to_owned();
                let what = What::ToolFailed { step: step.clone(), tool, error: kind, why, which };
                self.tracer.put(now, &child, what)?;
                if error.is_fatal() {
                    return Err(RunError::Oracle { step, error });
                }
                drop(self.apply_to(member, Input::Answer(key, failure(error.to_string())))?);
                Ok(())
            }
        }
    }
}
