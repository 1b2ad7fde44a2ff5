//! Saves and resumes sessions.
//!
//! The hard part is calls under way. The driver is asked (`probe`) what became of each: an answer is used, a call that was not made is
//! made, and of any other call it is unknown whether it took effect. Then the chart decides: `doubt retry` makes the call again,
//! otherwise its step is in doubt. A replay cannot probe, so it reads the decision from the next lines of the trace.

use super::begin::ElementPlace;
use super::calls::{Call, Work};
use super::doubt::DOUBT;
use super::history::SavedHistory;
use super::lazy_box::Exclusive;
use super::ledger::Bill;
use super::retry;
use super::saved::{FORMAT, Open, PendingCall, Saved};
use super::waiting::is_usage_of;
use super::{At, Session};
use crate::driver::Probe;
use crate::error::RunError;
use crate::oracle::{Kind, Question, ready};
use crate::tools::done;
use crate::trace::{self, Line, What};
use chartc_core::family::MemberPath;
use chartc_core::host::Machine;
use std::sync::Arc;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The complete state of the run; `None` before its start, after its end, and for a machine that cannot be saved.
    pub fn save(&self) -> Option<Saved> {
        self.save_all().filter(|saved| saved.status.is_none())
    }

    /// The complete state of the run, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        if !self.started {
            return None;
        }
        let open = self.extra.busy.calls.iter().filter_map(|call| {
            let (at, what) = (self.call_site(&call.at)?, call.saved()?);
            Some(Open { at, what, named: self.extra.rare.old_names.get(&call.at).cloned() })
        });
        let used = self
            .extra
            .rare
            .used
            .iter()
            .filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let failures = self.extra.rare.failures.iter();
        let failures = failures.filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let complaints = self.extra.rare.complaints.iter();
        let complaints =
            complaints.filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let history = self.histories().into_iter();
        let history =
            history.filter_map(|(member, lines)| Some((self.named_path(&member)?, lines)));
        let own_calls = (self.recent_calls > 0).then(|| (ElementPlace::new(), self.recent_calls));
        let own_calls = own_calls.into_iter();
        let element_calls = self.extra.rare.recent_calls.clone().into_iter();
        Some(Saved {
            format: FORMAT,
            machine: self.family.save()?,
            now: self.common.clock.now(),
            seq: self.tracer.seq,
            turns: self.turns,
            calls: self.total_calls,
            answered: self.answered,
            recent_calls: own_calls.chain(element_calls).collect(),
            status: self.status,
            limit: self.extra.rare.limit,
            failed: self.extra.rare.failed.clone(),
            open: open.collect(),
            spent: self.spent_by_name(),
            heard: self.extra.rare.heard.clone(),
            section: self.extra.rare.section.clone(),
            agent: None,
            used: used.collect(),
            failures: failures.collect(),
            complaints: complaints.collect(),
            history: history.collect(),
        })
    }
}

fn copy(question: &Question) -> Box<Question> {
    Box::new(question.clone())
}

impl Call {
    fn saved(&self) -> Option<PendingCall> {
        Some(match &self.work {
            Work::Outside => return None,
            Work::Waiting(question, until, _) => {
                PendingCall::Wait { question: copy(question), until: *until }
            }
            Work::AwaitingBudget(question) => PendingCall::Room { question: copy(question) },
            Work::Question(question, _, since) => {
                PendingCall::Question { question: copy(question), since: *since }
            }
            Work::Tool(call, _) => PendingCall::Tool { call: call.clone() },
        })
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Resumes a saved run. The session's machine, interpreted or generated, must be new; it takes over the saved state, so its params do
    /// not matter. The session's clock must start at [`Saved::now`]. Calls that were under way keep their ids. If the driver knows their
    /// outcome, they continue with it. Otherwise they are made again if the chart allows that, or are in doubt.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn resume(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.started = true;
        self.tracer.seq = saved.seq;
        let tables = self.family.root().tables();
        let what = What::Resumed {
            chart: tables.name.to_owned(),
            hash: format!("{:016x}", tables.hash),
            oracle: self.common.driver.name(),
        };
        self.tracer.put(self.common.clock.now(), "", what)?;
        self.restore(saved)
    }

    /// Like [`Session::resume`], without a line in the trace: the run continues as if it had not been interrupted.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn restore(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.family.load(&saved.machine).map_err(|why| RunError::Start(why.to_string()))?;
        self.started = true;
        // `max`, because `resume` has already written a line after the saved ones.
        self.tracer.seq = self.tracer.seq.max(saved.seq);
        self.turns = saved.turns;
        self.total_calls = saved.calls;
        self.answered = saved.answered;
        // In another version of the chart, elements and steps have other numbers, so these counts start again.
        if saved.machine.is_of(self.family.root().tables()) {
            let (own, of_elements) =
                saved.recent_calls.iter().cloned().partition::<Vec<_>, _>(|(e, _)| e.is_empty());
            self.recent_calls = own.first().map_or(0, |(_, calls)| *calls);
            self.extra.rare.recent_calls = of_elements.into_iter().collect();
        }
        self.status = saved.status;
        self.extra.rare.limit = saved.limit;
        self.extra.rare.failed.clone_from(&saved.failed);
        self.extra.rare.heard = saved.heard.clone();
        self.extra.rare.section.clone_from(&saved.section);
        self.take_spent(&saved.spent);
        let history: Vec<(MemberPath, SavedHistory)> = (saved.history.iter())
            .filter_map(|(way, lines)| Some((self.member_at(way)?, lines.clone())))
            .collect();
        self.recall_history(&history);
        let used = saved.used.iter();
        self.extra.rare.used =
            used.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        let failures = saved.failures.iter();
        self.extra.rare.failures =
            failures.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        let complaints = saved.complaints.iter();
        self.extra.rare.complaints =
            complaints.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        for Open { at: spot, what, named } in &saved.open {
            // If the child chart of the call does not exist any more, nothing waits for the call.
            if let Some(at) = self.at(spot) {
                let named = named.as_ref().unwrap_or(spot);
                if self.call_site(&at).as_ref() != Some(named) {
                    self.extra.rare.old_names.insert(at.clone(), named.clone());
                }
                self.resume_call(at, what.clone())?;
            }
        }
        Ok(())
    }

    /// Continues a call that was under way, with its outcome if that is known.
    fn resume_call(&mut self, at: At, what: PendingCall) -> Result<(), RunError> {
        let work = match what {
            PendingCall::Wait { question, until } => Work::Waiting(question.into(), until, None),
            PendingCall::Room { question } => Work::AwaitingBudget(question.into()),
            PendingCall::Question { question, .. } if self.forget_chain(&at) => {
                // No model had answered: the run starts with the first client of the chain again, and nothing is charged.
                let (now, prices) = (self.common.clock.now(), question.model.prices);
                self.settle_call(now, &at, prices, Bill::nothing(false))?;
                return self.begin(at);
            }
            PendingCall::Question { question, since } => {
                let mut question: Arc<Question> = question.into();
                // Earlier versions saved questions to people without ids.
                self.name_question(&at, &mut question);
                let id = self.call_id(&at, false);
                match self.common.driver.probe(&id) {
                    Probe::Answered(answer) => {
                        Work::Question(question, Exclusive::new(ready(answer)), since)
                    }
                    Probe::NotMade => {
                        let put = question.clone();
                        let asking = retry::ask_with_timeout(
                            &self.common.driver,
                            &self.common.clock,
                            &id,
                            put,
                            since,
                        );
                        Work::Question(question, Exclusive::new(asking), since)
                    }
                    Probe::Unknown | Probe::Returned(_) => {
                        // The call may have been made and charged, so its hold counts as spent.
                        self.settle_unknown(self.common.clock.now(), &at, question.model.prices)?;
                        if question.kind == Kind::Human || self.retries_doubt(&at, None) {
                            return self.begin(at);
                        }
                        return self.doubts(at);
                    }
                }
            }
            PendingCall::Tool { call } => {
                let id = self.call_id(&at, true);
                match self.common.driver.probe(&id) {
                    Probe::Returned(result) => Work::Tool(call, Exclusive::new(done(result))),
                    Probe::NotMade => {
                        let calling = self.common.driver.call(&id, call.clone());
                        Work::Tool(call, Exclusive::new(calling))
                    }
                    Probe::Unknown | Probe::Answered(_) => {
                        if self.retries_doubt(&at, Some(&call.tool)) {
                            return self.begin_call(at);
                        }
                        return self.doubts(at);
                    }
                }
            }
        };
        self.extra.busy.calls.push(Call { at, work });
        Ok(())
    }

    /// Repeats in a replay what [`Session::resume`] did. `line` is the `resumed` line of the trace; `next` returns the lines after it,
    /// which show what became of each call that was under way.
    pub(crate) fn replay_resume(
        &mut self,
        line: What,
        next: impl Fn(usize) -> Option<Line>,
    ) -> Result<(), RunError> {
        self.tracer.put(self.common.clock.now(), "", line)?;
        self.replay_restore(next)
    }

    /// Repeats in a replay what [`Session::restore`] did to the calls under way, as the `next` lines show. Does nothing if they show
    /// nothing.
    pub(crate) fn replay_restore(
        &mut self,
        next: impl Fn(usize) -> Option<Line>,
    ) -> Result<(), RunError> {
        for call in std::mem::take(&mut self.extra.busy.calls) {
            let (child, step) = (self.path(&call.at.0), self.step_name(&call.at.0, call.at.1));
            let (about, which) = (self.step_path(&call.at), self.which(&call.at));
            let attempt = call.at.1.attempt;
            // The line about the interrupted call may be preceded by its `usage` line.
            let is_usage = next(0).is_some_and(|line| {
                let (step, which) = (step.clone(), which.clone());
                line.child == child && is_usage_of(&line.what, &step, attempt, &which)
            });
            let told = next(usize::from(is_usage));
            let is_own = told.as_ref().is_some_and(|line| line.child == child);
            let (is_again, is_doubted) = match told.map(|line| line.what) {
                Some(
                    What::Question { step: of, attempt: nth, which: one, .. }
                    | What::Waiting { step: of, attempt: nth, which: one, .. }
                    | What::NotRetried { step: of, attempt: nth, which: one, .. },
                ) => (is_own && (of, nth, one) == (step, attempt, which), false),
                Some(What::ToolCall { step: of, which: one, .. }) => {
                    (is_own && (of, one) == (step, which), false)
                }
                Some(What::HostNote { about: of, text }) => (false, of == about && text == DOUBT),
                _ => (false, false),
            };
            let is_made = matches!(call.work, Work::Question(..) | Work::Tool(..));
            if !is_made || !(is_again || is_doubted) {
                self.extra.busy.calls.push(call);
                continue;
            }
            let Call { at, work } = call;
            let is_tool = matches!(work, Work::Tool(..));
            if let Work::Question(question, ..) = work {
                let (now, prices) = (self.common.clock.now(), question.model.prices);
                if self.forget_chain(&at) {
                    self.settle_call(now, &at, prices, Bill::nothing(false))?;
                } else {
                    self.settle_unknown(now, &at, prices)?;
                }
            }
            match (is_doubted, is_tool) {
                (true, _) => self.doubts(at)?,
                (false, true) => self.begin_call(at)?,
                (false, false) => self.begin(at)?,
            }
        }
        Ok(())
    }
}
