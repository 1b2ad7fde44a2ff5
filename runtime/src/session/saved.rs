//! The saved form of a session.
//!
//! **The problem.** A run may have to continue in another process, after an edit of its chart, while calls are under way. Whether such a
//! call was made, or took effect, may be unknown, and making it twice may cost money or send a letter twice.
//!
//! **The idea.** [`Saved`] has the machine and all data of the session. Steps, states and child charts are named, not numbered
//! ([`CallSite`]), so that another version of the chart can find them; data about parts that are gone is dropped. `resume` restores the
//! data and then decides about each open call. The driver's `probe` says what is known of it. If nothing is known, the chart decides. The
//! id of a call stays the same, so that a driver with a journal recognizes it.
//!
//! Oracles are not saved. The text form has a checksum against damage, which is no protection against forgery.
//!
//! **Example.** A run was saved while the question of `triage` was open, with 400 tokens held for it:
//!
//! | `probe` | what `resume` does |
//! |---|---|
//! | Answered | uses the answer |
//! | NotMade | asks the same question, under the same id |
//! | Unknown | counts the 400 tokens as spent; with `doubt retry`, asks again; otherwise the step gets Outcome::Doubt |

use super::begin::ElementPlace;
use super::calls::{self, Call, Exclusive, Failure, NextAttempt, Work, is_usage_of};
use super::history::SavedHistory;
use super::ledger::{self, Bill};
use super::{At, CallPlace, Session, TurnOutcome};
use crate::budget::{Amount, Prices, Usage};
use crate::driver::Probe;
use crate::error::RunError;
use crate::executor::Used;
use crate::oracle::{Kind, Question, ready};
use crate::settings::Overrides;
use crate::tools::done;
use crate::trace::{self, Line, What};
use crate::world::{Record, WorkingMemory};
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::family::MemberPath;
use chartc_core::host::{Machine, ToolCall};
use chartc_core::machine::{DOUBT, Instant, LimitKind, Status, StepKey};
use chartc_core::saved::{self, Comparison, Key};
use chartc_core::tables::{StepRow, StepRowKind, Tables};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The version of the format of [`Saved`].
pub(super) const FORMAT: u32 = 3;

/// A run between two inputs, as data: the state of the machine and of its session, with each open question as it was asked. The state of
/// oracles is not included: a script starts from its beginning. On resuming, the driver may know the outcome of calls that were under
/// way; if it does not, the chart decides.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    pub(super) format: u32,
    pub(super) machine: saved::Saved,
    pub(super) now: Instant,
    pub(super) seq: u64,
    pub(super) turns: u32,
    pub(super) calls: u32,
    /// Whether a model has answered a question in this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) answered: bool,
    /// Whether child charts have their turn during that of their parent. Earlier versions gave it to them after that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) concurrent_children: bool,
    /// The numbers of calls since the last event or turn, by the element for which they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) recent_calls: Vec<(ElementPlace, u32)>,
    pub(super) status: Option<Status>,
    pub(super) limit: Option<LimitKind>,
    pub(super) failed: Option<String>,
    pub(super) open: Vec<Open>,
    pub(super) spent: Spent,
    pub(super) heard: TurnOutcome,
    pub(super) section: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) overrides: Option<Overrides>,
    /// The agent of the run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<SavedAgent>,
    pub(super) used: Vec<(CallSite, (u32, Vec<Used>))>,
    pub(super) failures: Vec<(CallSite, Failure)>,
    pub(super) complaints: Vec<(CallSite, (u32, String))>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<(NamedPath, SavedHistory)>,
}

/// A call under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) at: CallSite,
    pub(super) what: PendingCall,
    /// The name of the step when the call was made, if the step has another name now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) named: Option<CallSite>,
}

/// The state of a call that is under way, with its data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PendingCall {
    /// The question waits for the time of its next attempt.
    Wait { question: Box<Question>, until: Instant },
    /// The question waits for room under the limits.
    Room { question: Box<Question> },
    /// The question was asked at this time.
    Question { question: Box<Question>, since: Instant },
    /// The tool was called, or waits for the time of its next attempt.
    Tool {
        call: ToolCall,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Instant>,
    },
}

impl Saved {
    /// The saved machine. [`Interpreter::resume`](chartc_core::interpreter::Interpreter::resume) restores an interpreted one,
    /// [`Session::resume`](super::Session::resume) any other.
    pub fn machine(&self) -> &saved::Saved {
        &self.machine
    }

    /// Compares the saved run with a version of its chart and child charts. `charts` has the tables of all of these.
    pub fn compare(&self, charts: &[&Tables]) -> Comparison {
        self.machine.compare_all(charts)
    }

    /// The last transitions, as the `taken` lines of a trace: those of the run's own chart, then those of its child charts; each oldest
    /// first.
    pub fn history(&self) -> impl Iterator<Item = Line> {
        self.history.iter().flat_map(|(_, told)| told.lines())
    }

    /// The agent of the run, if there is one.
    pub fn agent(&self) -> Option<&SavedAgent> {
        self.agent.as_ref()
    }

    pub(crate) fn with_agent(self, kept: SavedAgent) -> Self {
        Self { agent: Some(kept), ..self }
    }

    /// The time of the snapshot on the run's clock. The clock of a session that continues the run must start there.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The number of turns so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The status with which the run has ended; `None` if it has not.
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// The run as JSON text with a checksum, for [`Saved::read`].
    ///
    /// # Errors
    /// A value cannot be serialised.
    pub fn text(&self) -> serde_json::Result<String> {
        let run = serde_json::to_string(self)?;
        let sum = checksum(run.as_bytes());
        Ok(format!("{{\"format\":{FORMAT},\"sum\":\"{sum:016x}\",\"run\":{run}}}"))
    }

    /// Parses the result of [`Saved::text`].
    ///
    /// # Errors
    /// The text is no snapshot of a run, has another version, or is damaged.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            sum: Option<String>,
            run: Option<serde_json::Value>,
        }
        let none = |why: serde_json::Error| format!("it is no snapshot of a run: {why}");
        let Head { format, sum, run } = serde_json::from_str(text).map_err(none)?;
        if format != FORMAT {
            return Err(format!("it has format version {format}, not {FORMAT}"));
        }
        let (Some(sum), Some(run)) = (sum, run) else {
            return Err("it is no snapshot of a run: `sum` or `run` is missing".into());
        };
        // The version is checked first, because other versions may have other fields.
        let version = run.get("agent").and_then(|agent| agent.get("version"));
        let version =
            version.and_then(serde_json::Value::as_u64).unwrap_or(SavedAgent::VERSION.into());
        if version != u64::from(SavedAgent::VERSION) {
            return Err(format!("its agent has version {version}, not {}", SavedAgent::VERSION));
        }
        let saved: Self = serde_json::from_value(run).map_err(none)?;
        // The checksum is computed from a new serialisation, so that a text which was only reformatted stays valid.
        let again = serde_json::to_string(&saved).map_err(none)?;
        if sum != format!("{:016x}", checksum(again.as_bytes())) {
            return Err("it is damaged: it does not have the checksum that it says".into());
        }
        Ok(saved)
    }
}

/// A checksum (FNV-1a, 64 bits). It detects damage, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

// Saves and resumes sessions.
//
// The hard part is calls under way. The driver is asked (`probe`) what became of each: an answer is used, a call that was not made is
// made, and of any other call it is unknown whether it took effect. Then the chart decides: `doubt retry` makes the call again,
// otherwise its step is in doubt. A replay cannot probe, so it reads the decision from the next lines of the trace.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Whether a chart runs others, which have their turn during its own.
    pub(super) fn has_concurrent_children(&self, tables: &Tables) -> bool {
        let runs = |row: &StepRow| matches!(row.kind, StepRowKind::Run { .. });
        !self.family.children_last() && tables.steps.iter().any(runs)
    }

    /// The complete state of the run; `None` before its start, after its end, and for a machine that cannot be saved.
    pub fn save(&self) -> Option<Saved> {
        self.save_all().filter(|saved| saved.status.is_none())
    }

    /// The complete state of the run, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        if !self.started {
            return None;
        }
        let open = self.extra.calls.iter().filter_map(|call| {
            let (at, what) = (self.call_site(&call.at)?, call.saved()?);
            Some(Open { at, what, named: self.extra.old_names.get(&call.at).cloned() })
        });
        let used = self
            .extra
            .used
            .iter()
            .filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let failures = self.extra.failures.iter();
        let failures = failures.filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let complaints = self.extra.complaints.iter();
        let complaints =
            complaints.filter_map(|(p, one)| Some((self.site_of_place(p)?, one.clone())));
        let history = self.histories().into_iter();
        let history =
            history.filter_map(|(member, lines)| Some((self.named_path(&member)?, lines)));
        let own_calls = (self.recent_calls > 0).then(|| (ElementPlace::new(), self.recent_calls));
        let own_calls = own_calls.into_iter();
        let element_calls = self.extra.recent_calls.clone().into_iter();
        Some(Saved {
            format: FORMAT,
            machine: self.family.save()?,
            now: self.common.clock.now(),
            seq: self.tracer.seq,
            turns: self.turns,
            calls: self.total_calls,
            answered: self.answered,
            concurrent_children: self.has_concurrent_children(self.family.root().tables()),
            recent_calls: own_calls.chain(element_calls).collect(),
            status: self.status,
            limit: self.extra.limit,
            failed: self.extra.failed.clone(),
            open: open.collect(),
            spent: self.spent_by_name(),
            heard: self.extra.heard.clone(),
            section: self.extra.section.clone(),
            overrides: self.extra.overrides.clone(),
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
            Work::Waiting(NextAttempt::Question(question, _), until) => {
                PendingCall::Wait { question: copy(question), until: *until }
            }
            Work::Waiting(NextAttempt::Tool(call, _), until) => {
                PendingCall::Tool { call: call.clone(), until: Some(*until) }
            }
            Work::AwaitingBudget(question) => PendingCall::Room { question: copy(question) },
            Work::Question(question, _, since) => {
                PendingCall::Question { question: copy(question), since: *since }
            }
            Work::Tool(call, _) => PendingCall::Tool { call: call.clone(), until: None },
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
            chart: String::from(&tables.name),
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
        self.family.set_children_last(!saved.concurrent_children);
        // In another version of the chart, elements and steps have other numbers, so these counts start again.
        if saved.machine.is_of(self.family.root().tables()) {
            let (own, of_elements) =
                saved.recent_calls.iter().cloned().partition::<Vec<_>, _>(|(e, _)| e.is_empty());
            self.recent_calls = own.first().map_or(0, |(_, calls)| *calls);
            self.extra.recent_calls = of_elements.into_iter().collect();
        }
        self.status = saved.status;
        self.extra.limit = saved.limit;
        self.extra.failed.clone_from(&saved.failed);
        self.extra.heard = saved.heard.clone();
        self.extra.section.clone_from(&saved.section);
        self.extra.overrides.clone_from(&saved.overrides);
        self.take_spent(&saved.spent);
        let history: Vec<(MemberPath, SavedHistory)> = (saved.history.iter())
            .filter_map(|(way, lines)| Some((self.member_at(way)?, lines.clone())))
            .collect();
        self.recall_history(&history);
        let used = saved.used.iter();
        self.extra.used =
            used.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        let failures = saved.failures.iter();
        self.extra.failures =
            failures.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        let complaints = saved.complaints.iter();
        self.extra.complaints =
            complaints.filter_map(|(s, one)| Some((self.place_at(s)?, one.clone()))).collect();
        for Open { at: spot, what, named } in &saved.open {
            // If the child chart of the call does not exist any more, nothing waits for the call.
            if let Some(at) = self.at(spot) {
                let named = named.as_ref().unwrap_or(spot);
                if self.call_site(&at).as_ref() != Some(named) {
                    self.extra.old_names.insert(at.clone(), named.clone());
                }
                self.resume_call(at, what.clone())?;
            }
        }
        Ok(())
    }

    /// Continues a call that was under way, with its outcome if that is known.
    fn resume_call(&mut self, at: At, what: PendingCall) -> Result<(), RunError> {
        let work = match what {
            PendingCall::Wait { question, until } => {
                Work::Waiting(NextAttempt::Question(question.into(), None), until)
            }
            PendingCall::Tool { call, until: Some(until) } => {
                Work::Waiting(NextAttempt::Tool(call, None), until)
            }
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
                        let asking = calls::ask_with_timeout(
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
            PendingCall::Tool { call, until: None } => return self.resume_tool_call(at, call),
        };
        self.extra.calls.push(Call { at, work });
        Ok(())
    }

    fn resume_tool_call(&mut self, at: At, call: ToolCall) -> Result<(), RunError> {
        let id = self.call_id(&at, true);
        let calling = match self.common.driver.probe(&id) {
            Probe::Returned(result) => done(result),
            Probe::NotMade => self.common.driver.call(&id, call.clone()),
            Probe::Unknown | Probe::Answered(_) => {
                if self.retries_doubt(&at, Some(&call.tool)) {
                    return self.begin_call(at);
                }
                return self.doubts(at);
            }
        };
        self.extra.calls.push(Call { at, work: Work::Tool(call, Exclusive::new(calling)) });
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
        for call in std::mem::take(&mut self.extra.calls) {
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
                self.extra.calls.push(call);
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

// Identifies steps and states by name in a saved run, because another version of the chart numbers them differently.

/// The path of a member: the `run` steps that lead to it.
pub(super) type NamedPath = Vec<Key>;

/// A step of a member, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallSite {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    way: NamedPath,
    key: Key,
}

/// The accounts of a run, by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Spent {
    /// The amounts that states have spent, and whether their soft limits have been reported.
    accounts: Vec<(NamedPath, String, Amount, [bool; 2])>,
    /// The amounts that are held for calls under way, with their states.
    held: Vec<(CallSite, Usage, Prices, Vec<String>)>,
    total: Usage,
}

impl CallSite {
    /// The names of leaf and step: first those of the steps that lead to it, then its own.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.way.iter().chain([&self.key]).map(Key::names)
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    pub(super) fn named_path(&self, member: &MemberPath) -> Option<NamedPath> {
        let keys = (0..member.len()).map(|i| {
            let machine = self.family.member(&member[..i])?;
            Some(Key::of(machine.tables(), &member[i]))
        });
        keys.collect()
    }

    /// The member at a path, if it is running.
    pub(super) fn member_at(&self, way: &NamedPath) -> Option<MemberPath> {
        let mut member = MemberPath::new();
        for key in way {
            let machine = self.family.member(&member)?;
            let key = key.number(machine.tables())?;
            member.push(key);
        }
        self.family.member(&member).map(|_| member)
    }

    pub(super) fn call_site(&self, (member, key): &At) -> Option<CallSite> {
        let machine = self.family.member(member)?;
        Some(CallSite { way: self.named_path(member)?, key: Key::of(machine.tables(), key) })
    }

    pub(super) fn at(&self, spot: &CallSite) -> Option<At> {
        let member = self.member_at(&spot.way)?;
        let machine = self.family.member(&member)?;
        let key = spot.key.number(machine.tables())?;
        Some((member, key))
    }

    pub(super) fn site_of_place(&self, place: &CallPlace) -> Option<CallSite> {
        let (member, step, leaf, element) = place.clone();
        self.call_site(&(member, StepKey { step, leaf, event: 0, attempt: 1, element }))
    }

    pub(super) fn place_at(&self, spot: &CallSite) -> Option<CallPlace> {
        let (member, key) = self.at(spot)?;
        Some((member, key.step, key.leaf, key.element))
    }

    fn path_of(&self, member: &MemberPath, state: StateId) -> Option<String> {
        let machine = self.family.member(member)?;
        Some(machine.tables().states.get(state.index())?.path.to_string())
    }

    fn state_at(&self, member: &MemberPath, path: &str) -> Option<StateId> {
        let machine = self.family.member(member)?;
        let found = machine.tables().states.iter().position(|row| row.path == path);
        found.map(StateId::at)
    }

    pub(super) fn spent_by_name(&self) -> Spent {
        let ledger::Saved { accounts, held, total } = self.extra.ledger.save();
        let accounts = accounts.into_iter().filter_map(|(member, state, spent, warned)| {
            Some((self.named_path(&member)?, self.path_of(&member, state)?, spent, warned))
        });
        let held = held.into_iter().filter_map(|(at, bound, prices, states)| {
            let states = states.iter().filter_map(|state| self.path_of(&at.0, *state)).collect();
            Some((self.call_site(&at)?, bound, prices, states))
        });
        Spent { accounts: accounts.collect(), held: held.collect(), total }
    }

    /// Restores the accounts. Those of states that the chart no longer has are ignored.
    pub(super) fn take_spent(&mut self, spent: &Spent) {
        let Spent { accounts, held, total } = spent;
        let accounts = accounts.iter().filter_map(|(way, path, spent, warned)| {
            let member = self.member_at(way)?;
            let state = self.state_at(&member, path)?;
            Some((member, state, *spent, *warned))
        });
        let held = held.iter().filter_map(|(spot, bound, prices, paths)| {
            let at = self.at(spot)?;
            let states = paths.iter().filter_map(|path| self.state_at(&at.0, path)).collect();
            Some((at, *bound, *prices, states))
        });
        let saved =
            ledger::Saved { accounts: accounts.collect(), held: held.collect(), total: *total };
        self.extra.ledger.load(&saved, self.common.budget.as_ref());
    }
}

// The saved form of an agent.

/// The saved form of an agent without its run: configuration, record, memory, and the state of its world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedAgent {
    pub(crate) version: u32,
    pub(crate) working_memory: WorkingMemory,
    pub(crate) record: Record,
    pub(crate) given: BTreeSet<String>,
    pub(crate) is_open: bool,
    pub(crate) heard: TurnOutcome,
    pub(crate) section: String,
    pub(crate) world: Value,
}

impl SavedAgent {
    /// The version of the format. A snapshot with another version cannot be read.
    pub const VERSION: u32 = 1;

    /// The name of the agent in its world.
    pub fn name(&self) -> &str {
        &self.record.agent
    }
}
