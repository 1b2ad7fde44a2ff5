//! A run as data, and going on from it.

use super::calls::{Call, Work};
use super::history::Told;
use super::ledger::Saved as Spent;
use super::patience::{self, Failure};
use super::{At, CallPlace, Heard, Kept, Session};
use crate::driver::{OnDoubt, Probe};
use crate::error::RunError;
use crate::executor::Used;
use crate::oracle::{Kind, Question, ready};
use crate::tools::done;
use crate::trace::{self, Line, What};
use chartc_core::family::Member;
use chartc_core::host::{Host, Machine, ToolCall};
use chartc_core::interpreter::{Interpreter, Snapshot};
use chartc_core::machine::{Input, Instant, LimitKind, Outcome, Status};
use serde::{Deserialize, Serialize};

/// Version of the layout of [`Saved`].
const FORMAT: u32 = 3;

/// A run between two inputs: the machine, and what its session knows besides, with each open question as it was put. Whoever answers is
/// no part of it: a script begins anew. What became of calls under way, the driver may know; else [`OnDoubt`] says what is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    format: u32,
    machine: Snapshot,
    now: Instant,
    seq: u64,
    turns: u32,
    calls: u32,
    /// Calls since the last event or turn.
    recent_calls: u32,
    status: Option<Status>,
    limit: Option<LimitKind>,
    failed: Option<String>,
    open: Vec<Open>,
    spent: Spent,
    heard: Heard,
    section: String,
    /// Whose run it is, where it is an agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Kept>,
    used: Vec<(CallPlace, (u32, Vec<Used>))>,
    failures: Vec<(CallPlace, Failure)>,
    complaints: Vec<(CallPlace, (u32, String))>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<(Member, Told)>,
}

/// A call under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Open {
    at: At,
    what: Begun,
}

/// What is waited for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Begun {
    /// The time to put a question again.
    Wait { question: Box<Question>, until: Instant },
    /// Room for a question under the limits.
    Room { question: Box<Question> },
    /// The answer to a question.
    Question { question: Box<Question>, since: Instant },
    /// The result of a tool.
    Tool { call: ToolCall },
}

impl Saved {
    /// The machine; `Interpreter::restore` makes it go on, and refuses that of another chart.
    pub fn machine(&self) -> &Snapshot {
        &self.machine
    }

    /// The last transitions, as the `taken` lines of a trace: those of the chart itself, then those of the charts that it runs; of each the
    /// oldest first.
    pub fn history(&self) -> impl Iterator<Item = Line> {
        self.history.iter().flat_map(|(_, told)| told.lines())
    }

    /// The agent whose run it is, if it is one's.
    pub fn agent(&self) -> Option<&Kept> {
        self.agent.as_ref()
    }

    pub(crate) fn with_agent(self, kept: Kept) -> Self {
        Self { agent: Some(kept), ..self }
    }

    /// When it was taken, on the run's clock. The clock of a session that goes on starts there.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// How the run has ended, if it has.
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// Reads what `serde_json` wrote of it.
    ///
    /// # Errors
    /// Why it cannot be read: it is no snapshot of a run, or one of another version.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            agent: Option<Agent>,
        }
        #[derive(Deserialize)]
        struct Agent {
            version: u32,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|why| format!("it is no snapshot of a run: {why}"))?;
        if head.format != FORMAT {
            return Err(format!("it has format version {}, not {FORMAT}", head.format));
        }
        if let Some(Agent { version }) = head.agent.filter(|agent| agent.version != Kept::VERSION) {
            return Err(format!("its agent has version {version}, not {}", Kept::VERSION));
        }
        serde_json::from_str(text).map_err(|why| format!("it is no snapshot of a run: {why}"))
    }
}

/// A machine whose runs can be saved.
pub trait Saves: Machine {
    /// The state of the machine.
    fn saved(&self) -> Snapshot;
}

impl<H: Host> Saves for Interpreter<'_, H> {
    fn saved(&self) -> Snapshot {
        self.snapshot()
    }
}

impl<M: Saves, T: trace::Sink> Session<M, T> {
    /// The run as it stands; `None` before its start and after its end.
    pub fn save(&self) -> Option<Saved> {
        self.save_all().filter(|saved| saved.status.is_none())
    }

    /// The run as it stands, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        if !self.started {
            return None;
        }
        Some(Saved {
            format: FORMAT,
            machine: self.machine().saved(),
            now: self.clock.now(),
            seq: self.tracer.seq,
            turns: self.turns,
            calls: self.total_calls,
            recent_calls: self.recent_calls,
            status: self.status,
            limit: self.limit,
            failed: self.failed.clone(),
            open: self.calls.iter().filter_map(Call::saved).collect(),
            spent: self.ledger.save(),
            heard: self.heard.clone(),
            section: self.section.clone(),
            agent: None,
            used: self.used.clone().into_iter().collect(),
            failures: self.failures.clone().into_iter().collect(),
            complaints: self.complaints.clone().into_iter().collect(),
            history: self.histories(),
        })
    }
}

impl Call {
    fn saved(&self) -> Option<Open> {
        let what = match &self.work {
            Work::Outside => return None,
            Work::Waiting(question, until, _) => {
                Begun::Wait { question: question.clone(), until: *until }
            }
            Work::Room(question) => Begun::Room { question: question.clone() },
            Work::Question(question, _, since) => {
                Begun::Question { question: question.clone(), since: *since }
            }
            Work::Tool(call, _) => Begun::Tool { call: call.clone() },
        };
        Some(Open { at: self.at.clone(), what })
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Goes on where a run was saved. The session's machine is the one that was restored from it, its clock starts at
    /// [`Saved::now`], and nothing was done with it yet. Calls that were under way go on under their old names, as [`OnDoubt`] says.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go_on(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.started = true;
        self.tracer.seq = saved.seq;
        let tables = self.family.root().tables();
        let what = What::Resumed {
            chart: tables.name.to_owned(),
            hash: format!("{:016x}", tables.hash),
            oracle: self.driver.name(),
        };
        self.tracer.put(self.clock.now(), "", what)?;
        self.take_over(saved)
    }

    /// Like [`Session::go_on`], without a line in the trace: it goes on as if it had never been interrupted.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn take_over(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.started = true;
        self.tracer.seq = self.tracer.seq.max(saved.seq);
        self.turns = saved.turns;
        self.total_calls = saved.calls;
        self.recent_calls = saved.recent_calls;
        self.status = saved.status;
        self.limit = saved.limit;
        self.failed.clone_from(&saved.failed);
        self.heard = saved.heard.clone();
        self.section.clone_from(&saved.section);
        self.ledger.load(&saved.spent);
        self.recall_history(&saved.history);
        self.used = saved.used.iter().cloned().collect();
        self.failures = saved.failures.iter().cloned().collect();
        self.complaints = saved.complaints.iter().cloned().collect();
        for Open { at, what } in &saved.open {
            // Where its chart does not run, nothing waits for it.
            if self.family.member(&at.0).is_some() {
                self.resume(at.clone(), what.clone())?;
            }
        }
        Ok(())
    }

    /// Goes on with a call that was under way: with what came of it, if that is known.
    fn resume(&mut self, at: At, what: Begun) -> Result<(), RunError> {
        let work = match what {
            Begun::Wait { question, until } => Work::Waiting(question, until, None),
            Begun::Room { question } => Work::Room(question),
            Begun::Question { question, since } => {
                let id = self.call_id(&at, false);
                match self.driver.probe(&id) {
                    Probe::Answered(answer) => Work::Question(question, ready(answer), since),
                    Probe::NotMade => {
                        let put = *question.clone();
                        let asking = patience::asked(&self.driver, &self.clock, &id, put, since);
                        Work::Question(question, asking, since)
                    }
                    Probe::Unknown | Probe::Returned(_) => {
                        let (now, prices) = (self.clock.now(), question.model.prices);
                        // It may have been billed.
                        let charge = self.settle_call(now, &at, prices, None, true)?;
                        let charge = charge.map(|charge| (at.clone(), Input::Charge(at.1, charge)));
                        self.ready.extend(charge);
                        if question.kind == Kind::Human || self.on_doubt == OnDoubt::Retry {
                            return self.begin(at);
                        }
                        return self.doubts(at);
                    }
                }
            }
            Begun::Tool { call } => {
                let id = self.call_id(&at, true);
                match (self.driver.probe(&id), self.on_doubt) {
                    (Probe::Returned(result), _) => Work::Tool(call, done(result)),
                    (Probe::NotMade, _) => {
                        let calling = self.driver.call(&id, call.clone());
                        Work::Tool(call, calling)
                    }
                    (Probe::Unknown | Probe::Answered(_), OnDoubt::Retry) => {
                        return self.begin_call(at);
                    }
                    (Probe::Unknown | Probe::Answered(_), OnDoubt::Ask) => return self.doubts(at),
                }
            }
        };
        self.calls.push(Call { at, work });
        Ok(())
    }

    fn doubts(&mut self, at: At) -> Result<(), RunError> {
        let about = self.step_path(&at);
        let text = "it is not known whether its call was made".to_owned();
        self.tracer.put(self.clock.now(), "", What::HostNote { about, text })?;
        let key = at.1;
        self.ready.push_back((at, Input::Answer(key, Outcome::Doubt)));
        Ok(())
    }
}
