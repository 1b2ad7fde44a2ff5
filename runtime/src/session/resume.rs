//! A run as data, and going on from it.

use super::ledger::{Ledger, Saved as Spent};
use super::{At, Kept, Session, place_of};
use crate::driver::{OnDoubt, Probe};
use crate::error::RunError;
use crate::executor::Used;
use crate::trace::{self, Line, What};
use chartc_core::family::Member;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::{Interpreter, Snapshot};
use chartc_core::machine::{Input, Instant, LimitKind, Outcome};
use chartc_core::tables::TriggerRow;
use serde::{Deserialize, Serialize};

/// What the trace says of a call in doubt.
const DOUBT: &str = "it is not known whether its call was made";

/// Version of the layout of [`Saved`].
const FORMAT: u32 = 1;

/// A run between two inputs: the machine, and what its session knows besides. Whoever answers is no part of it: a script begins
/// anew. Of calls that were under way the driver may know what came; else [`OnDoubt`] says whether they are made again, and what they took
/// counts, by what was held for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    format: u32,
    machine: Snapshot,
    now: Instant,
    seq: u64,
    turns: u32,
    calls: u32,
    limit: Option<LimitKind>,
    open: Vec<At>,
    spent: Spent,
    /// Whose run it is, where it is an agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Kept>,
    #[serde(default)]
    used: Vec<(At, Vec<Used>)>,
    /// Those of `open` whose calls waited for their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<At>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<(Member, Vec<Line>)>,
}

impl Saved {
    /// The machine; `Interpreter::restore` makes it go on, and refuses that of another chart.
    pub fn machine(&self) -> &Snapshot {
        &self.machine
    }

    /// The last transitions, as the `taken` lines of a trace: those of the chart itself, then those of the charts that it runs; of each the
    /// oldest first.
    pub fn history(&self) -> impl Iterator<Item = &Line> {
        self.history.iter().flat_map(|(_, lines)| lines)
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

impl<H: Host, T: trace::Sink> Session<Interpreter<'_, H>, T> {
    /// The run as it stands; `None` before its start and after its end.
    pub fn save(&self) -> Option<Saved> {
        if !self.started || self.status.is_some() {
            return None;
        }
        let (open, waiting) = self.under_way();
        Some(Saved {
            format: FORMAT,
            machine: self.machine().snapshot(),
            now: self.clock.now(),
            seq: self.tracer.seq,
            turns: self.turns,
            calls: self.total_calls,
            limit: self.limit,
            spent: self.ledger.save(&waiting),
            agent: None,
            used: self.used_by(&open),
            waiting,
            history: self.histories(),
            open,
        })
    }

    /// Goes on where a run was saved. The session's machine is the one that was restored from it, its clock starts at
    /// [`Saved::now`], and nothing was done with it yet. Calls that were under way go on under their old keys, as [`OnDoubt`] says.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go_on(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.started = true;
        self.tracer.seq = saved.seq;
        self.turns = saved.turns;
        self.total_calls = saved.calls;
        self.limit = saved.limit;
        self.ledger.load(&saved.spent);
        self.recall_history(&saved.history);
        for ((member, key), used) in &saved.used {
            self.used.insert(place_of(member, *key), (key.event, used.clone()));
        }
        let tables = self.family.root().tables();
        let what = What::Resumed {
            chart: tables.name.to_owned(),
            hash: format!("{:016x}", tables.hash),
            oracle: self.driver.name(),
        };
        self.tracer.put(self.clock.now(), "", what)?;
        for at in &saved.open {
            let is_call = self.family.with_member(&at.0, |machine| machine.call(at.1).is_ok());
            // Its chart does not run: nothing waits for it.
            let Some(is_call) = is_call else { continue };
            let was_made = !saved.waiting.contains(at);
            self.resume(at.clone(), is_call, was_made)?;
        }
        Ok(())
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// What the models of these steps have called.
    fn used_by(&self, open: &[At]) -> Vec<(At, Vec<Used>)> {
        let used = open.iter().filter_map(|(member, key)| {
            let (event, used) = self.used.get(&place_of(member, *key))?;
            (*event == key.event).then(|| ((member.clone(), *key), used.clone()))
        });
        used.collect()
    }

    /// Goes on with a call that was under way: with what came of it, if that is known.
    fn resume(&mut self, at: At, is_call: bool, was_made: bool) -> Result<(), RunError> {
        let id = self.call_id(&at, is_call);
        let has_line = self.has_doubt_line(&at);
        let probe = if was_made { self.driver.probe(&id) } else { Probe::NotMade };
        let is_doubted = match (&probe, self.on_doubt) {
            (Probe::Unknown, OnDoubt::Lines) => has_line,
            (Probe::Unknown, OnDoubt::Ask) => true,
            (Probe::Unknown, OnDoubt::Retry)
            | (Probe::NotMade | Probe::Answered(_) | Probe::Returned(_), _) => false,
        };
        if is_doubted {
            return self.doubts(at);
        }
        self.probed = Some(probe);
        let begun = if is_call { self.begin_call(at) } else { self.begin(at) };
        self.probed = None;
        begun
    }

    /// It is for the chart to decide what is done about a call.
    fn doubts(&mut self, at: At) -> Result<(), RunError> {
        let (about, text) = (self.step_path(&at), DOUBT.to_owned());
        self.tracer.put(self.clock.now(), "", What::HostNote { about, text })?;
        let key = at.1;
        self.ready.push_back((at, Input::Answer(key, Outcome::Doubt)));
        Ok(())
    }

    /// Does to a run what happens to one that is saved here and goes on: calls under way are begun again, but for those in doubt. `line` is that
    /// of the trace.
    pub(crate) fn goes_on_here(
        &mut self,
        line: What,
        is_doubted: impl Fn(&What) -> bool,
    ) -> Result<(), RunError> {
        let (open, waiting) = self.under_way();
        let used = self.used_by(&open).into_iter();
        let used = used.map(|((member, key), used)| (place_of(&member, key), (key.event, used)));
        self.used = used.collect();
        let spent = self.ledger.save(&waiting);
        let shared = self.ledger.shared.take();
        self.ledger = Ledger::default();
        self.ledger.shared = shared;
        self.ledger.load(&spent);
        self.calls.clear();
        self.ready.clear();
        self.failures.clear();
        self.complaints.clear();
        self.recent_calls.clear();
        self.tracer.put(self.clock.now(), "", line)?;
        for at in open {
            let is_call = self.family.with_member(&at.0, |machine| machine.call(at.1).is_ok());
            let about = self.step_path(&at);
            match is_call {
                None => {}
                Some(_) if is_doubted(&What::HostNote { about, text: DOUBT.into() }) => {
                    self.doubts(at)?;
                }
                Some(true) => self.begin_call(at)?,
                Some(false) => self.begin(at)?,
            }
        }
        Ok(())
    }

    /// Calls under way, and those of them that were not made yet.
    fn under_way(&self) -> (Vec<At>, Vec<At>) {
        let waiting = self.calls.iter().filter(|call| !call.is_made());
        (self.open(), waiting.map(|call| call.at.clone()).collect())
    }

    fn has_doubt_line(&self, (member, key): &At) -> bool {
        let Some(machine) = self.family.member(member) else { return false };
        let lines = machine.tables().transitions.iter();
        lines.into_iter().any(|line| line.trigger == TriggerRow::StepDoubt(key.step))
    }
}
