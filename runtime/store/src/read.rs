//! Queries about the runs, traces and calls of a store; and forks.
//!
//! **The problem.** Lists, servers and resumed runs read a file that one process writes and that a disk may damage. A damaged row must
//! neither be taken for a state nor hide the runs beside it.
//!
//! **The idea.** Every row ends with a checksum of its other columns. Queries read whole rows (`SELECT *`) and check them (`is_whole`),
//! except for counts and words in messages. A query about one run fails with the name of the damaged part. A query about all runs skips or
//! marks the row: `list` shows it as [`BROKEN`]. Queries for servers read a trace in pieces, and an open question by its id.
//!
//! A fork needs no copy of old states. `fork` replays the trace of the parent up to a line, with its recorded answers, and stores the
//! session that results. Calls without a result at that line become new calls of the fork. All rows are written in one transaction.
//!
//! **Example.** `fork(("ada", 12), ("eva", None), …)`, where lines 11 and 12 set inputs of the turn that line 13 begins:
//!
//! ```text
//! whole_event an event is not cut: position 12 becomes 13
//! rewind     lines 1 to 13 again, without calls; the result must equal the trace
//! put_fork   run `eva`: its lines, the events taken in, the calls that had ended as `copied`; it wakes at once
//! ```

use crate::error::StoreError;
use crate::file::{Store, counted, wall};
use crate::rows::{
    Head, Letter, Mail, PUT_CALL, PUT_EVENT, Stage, is_whole, letters, put, put_line, put_run,
    whole,
};
use chartc_core::host::Machine;
use chartc_runtime::Saved;
use chartc_runtime::journal::{Call, Known, Outcome};
use chartc_runtime::oracle::{Kind, NotOpen, Question, find_open, shortened};
use chartc_runtime::replay::{Rewound, Tape, rewind};
use chartc_runtime::trace::{Line, What};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};

/// The row of a run, without its saved state.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The name of the run.
    pub run: String,
    /// The name of its chart.
    pub chart: String,
    /// `running`; or the status with which it ended; or `stopped`, after an error of the run; or `broken`, if it cannot be restored.
    pub status: String,
    /// The reason why the run cannot continue.
    pub stopped: Option<String>,
    /// The active leaves, as dotted paths, separated by `, `.
    pub state: String,
    /// The number of turns so far.
    pub turns: u32,
    /// The number of model calls so far.
    pub calls: u32,
    /// The cost so far, in millionths of the unit of the prices.
    pub cost: u64,
    /// The steps with calls under way, each with its path of child charts.
    pub waits_for: Vec<String>,
    /// The time of the start, in milliseconds since 1970.
    pub made_ms: i64,
    /// The time of the last change, in milliseconds since 1970.
    pub updated_ms: i64,
    /// The parameters with which the host created the run, as text.
    pub given: String,
}

impl Listed {
    /// The row as JSON, for programs. The cost is in units of the prices here.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "run": self.run,
            "chart": self.chart,
            "state": self.state,
            "status": self.status,
            "turns": self.turns,
            "calls": self.calls,
            "cost": self.cost as f64 / 1e6,
            "waits_for": self.waits_for,
            "stopped": self.stopped,
            "made_ms": self.made_ms,
            "updated_ms": self.updated_ms,
        })
    }

    /// Whether the row is damaged, so that nothing else in it counts.
    pub fn is_damaged(&self) -> bool {
        self.state == UNKNOWN
    }

    /// Milliseconds since the last change.
    pub fn age_ms(&self) -> u64 {
        u64::try_from(wall().saturating_sub(self.updated_ms)).unwrap_or(0)
    }
}

/// The columns of a run's row that are needed to continue it.
pub(crate) struct StoredRun {
    pub(crate) saved: String,
    pub(crate) given: String,
    pub(crate) made_ms: i64,
    /// Whether the run is new or forked and has not been stepped, so that its open calls have no rows yet.
    pub(crate) is_fresh: bool,
}

/// A run that has not ended: its name, the time of its next step, and whether it needs a step at once.
pub(crate) type Waiting = (String, Option<u64>, bool);

/// The stored form of the steps that a run waits for: a JSON list, or nothing.
pub(crate) fn written_steps(steps: &[String]) -> String {
    if steps.is_empty() { String::new() } else { serde_json::json!(steps).to_string() }
}

fn read_steps(text: &str) -> Vec<String> {
    // Earlier versions separated the names with commas, which a name may contain.
    let split = || text.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if text.starts_with('[') {
        serde_json::from_str(text).unwrap_or_else(|_| split())
    } else {
        split()
    }
}

/// Reads a row of the table `run`, which may be damaged.
fn listed(row: &rusqlite::Row<'_>) -> rusqlite::Result<Listed> {
    Ok(whole(row, listed_whole)?.unwrap_or_else(|| damaged(row)))
}

fn listed_whole(row: &rusqlite::Row<'_>) -> rusqlite::Result<Listed> {
    let (status, stopped): (String, Option<String>) = (row.get(3)?, row.get(4)?);
    let is_broken = Store::is_broken(&status, stopped.as_deref());
    Ok(Listed {
        run: row.get(0)?,
        chart: row.get(1)?,
        given: row.get(2)?,
        status: if is_broken { BROKEN.into() } else { status },
        stopped,
        state: row.get(5)?,
        turns: row.get(6)?,
        calls: row.get(7)?,
        cost: row.get::<_, i64>(8)? as u64,
        waits_for: read_steps(&row.get::<_, String>(9)?),
        made_ms: row.get(12)?,
        updated_ms: row.get(13)?,
    })
}

/// The listing of a damaged row. Any column may be wrong, the name included.
fn damaged(row: &rusqlite::Row<'_>) -> Listed {
    Listed {
        run: shown(row, 0),
        chart: shown(row, 1),
        status: BROKEN.into(),
        stopped: Some("its row is not as it was written; put a backup back".into()),
        state: UNKNOWN.into(),
        turns: 0,
        calls: 0,
        cost: 0,
        waits_for: Vec::new(),
        made_ms: 0,
        updated_ms: 0,
        given: String::new(),
    }
}

/// A column as text, for messages. The row may be damaged.
pub fn shown(row: &rusqlite::Row<'_>, nth: usize) -> String {
    match row.get_ref(nth) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(_) | Err(_) => "?".into(),
    }
}

/// The state of a run whose row is damaged.
const UNKNOWN: &str = "?";

/// The status of a run that has not ended and cannot be restored.
pub(crate) const BROKEN: &str = "broken";

impl Store {
    /// All runs, ordered by name. A damaged row is listed as `broken`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        self.list_after("", u32::MAX)
    }

    /// At most `most` runs whose names come after `name`, ordered by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list_after(&self, name: &str, most: u32) -> Result<Vec<Listed>, StoreError> {
        self.listed("SELECT * FROM run WHERE name > ?1 ORDER BY name LIMIT ?2", (name, most))
    }

    /// The runs that have not ended, ordered by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list_unfinished(&self) -> Result<Vec<Listed>, StoreError> {
        self.listed("SELECT * FROM run WHERE status = 'running' ORDER BY name", [])
    }

    fn listed(&self, read: &str, of: impl Params) -> Result<Vec<Listed>, StoreError> {
        let mut rows = self.connection.prepare(read).map_err(|error| self.fault(error))?;
        let rows = rows.query_map(of, listed).map_err(|error| self.fault(error))?;
        rows.map(|row| row.map_err(|error| self.fault(error))).collect()
    }

    /// The saved session of a run, with the parameters with which it was created.
    pub(crate) fn saved(&self, run: &str) -> Result<Option<StoredRun>, StoreError> {
        let read = self.connection.prepare_cached("SELECT * FROM run WHERE name = ?1");
        let row = |row: &rusqlite::Row<'_>| {
            whole(row, |row| {
                // Only a fork wakes at the time of its last step.
                let (wake, now): (Option<i64>, i64) = (row.get(10)?, row.get(11)?);
                let is_fresh = wake == Some(now);
                let (saved, given, made_ms) = (row.get(14)?, row.get(2)?, row.get(12)?);
                Ok(StoredRun { saved, given, made_ms, is_fresh })
            })
        };
        let found = read.and_then(|mut read| read.query_row([run], row).optional());
        match found.map_err(|error| self.fault(error))? {
            None => Ok(None),
            Some(Some(kept)) => Ok(Some(kept)),
            Some(None) => Err(self.damaged("its saved state", run)),
        }
    }

    /// The session of a run as of its last commit; `None` before its first step.
    ///
    /// # Errors
    /// The row is damaged, or its saved state cannot be parsed.
    pub fn session(&self, run: &str) -> Result<Option<Saved>, StoreError> {
        let text = self.saved(run)?.map(|kept| kept.saved).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|why| StoreError::Run { run: run.to_owned(), why: why.to_string() })
    }

    /// All lines of a run's trace.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn lines(&self, run: &str) -> Result<Vec<Line>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self
            .connection
            .prepare("SELECT * FROM line WHERE run = ?1 ORDER BY seq")
            .map_err(fault)?;
        let rows = rows.query_map([run], |row| whole(row, |row| row.get(2))).map_err(fault)?;
        let mut lines = Vec::new();
        for row in rows {
            lines.push(self.line(run, lines.len() as u64 + 1, row.map_err(fault)?)?);
        }
        Ok(lines)
    }

    /// Parses the text of line `seq` of a trace; `None` for a damaged row. No checksum shows that a row was deleted, but the next row then
    /// has another number than `seq`.
    fn line(&self, run: &str, seq: u64, text: Option<String>) -> Result<Line, StoreError> {
        let line = text.and_then(|text| serde_json::from_str::<Line>(&text).ok());
        let line = line.filter(|line| line.seq == seq);
        line.ok_or_else(|| self.damaged(&format!("line {seq} of its trace"), run))
    }

    /// The stored state of a run's calls, by their ids, without those that were cancelled or copied from the parent of a fork.
    pub(crate) fn known(&self, run: &str) -> Result<BTreeMap<String, Known>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows =
            self.connection.prepare("SELECT * FROM call WHERE run = ?1").map_err(fault)?;
        let rows = rows
            .query_map([run], |row| {
                let read = |row: &rusqlite::Row<'_>| {
                    Ok((row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(4)?))
                };
                Ok(whole(row, read)?.ok_or_else(|| shown(row, 1)))
            })
            .map_err(fault)?;
        let mut known = BTreeMap::new();
        for row in rows {
            let damaged = |id: &str| self.damaged(&format!("its call `{id}`"), run);
            let (id, stage, outcome) = row.map_err(fault)?.map_err(|id| damaged(&id))?;
            let outcome: Option<String> = outcome;
            let damaged = || damaged(&id);
            let what = match (Stage::of(&stage), outcome) {
                (Some(Stage::Planned), _) => Known::NotMade,
                (Some(Stage::Started | Stage::Doubt), _) => Known::Started,
                (Some(Stage::Done), Some(outcome)) => {
                    let outcome: Outcome = serde_json::from_str(&outcome).map_err(|_| damaged())?;
                    Known::Ended(outcome)
                }
                (Some(Stage::Cancelled | Stage::Copied), _) => continue,
                (Some(Stage::Done) | None, _) => return Err(damaged()),
            };
            known.insert(id, what);
        }
        Ok(known)
    }

    /// The calls of a run that have ended, in the order in which they were planned. A fork's list begins with the calls that it has
    /// copied from its parent.
    ///
    /// # Errors
    /// The file cannot be read, or a call is damaged.
    pub fn made(&self, run: &str) -> Result<Vec<Call>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Option<String>>> {
            let mut rows = self
                .connection
                .prepare("SELECT * FROM call WHERE run = ?1 AND stage IN ('copied', 'done', 'cancelled') ORDER BY rowid")?;
            rows.query_map([run], |row| whole(row, |row| row.get(3)))?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        let call = |text: &Option<String>| serde_json::from_str(text.as_ref()?).ok();
        let calls: Option<Vec<Call>> = rows.iter().map(call).collect();
        calls.ok_or_else(|| self.damaged("a call", run))
    }

    /// The runs that have not ended, each with the time of its next step; and the names of the runs with damaged rows. A run needs a step
    /// at once if it has open calls, or if it could not be continued before.
    pub(crate) fn running(&self) -> Result<(Vec<Waiting>, Vec<String>), StoreError> {
        let read = || -> rusqlite::Result<_> {
            let mut rows = self.connection.prepare("SELECT * FROM run WHERE status = 'running'")?;
            let mut rows = rows.query([])?;
            let (mut all, mut damaged) = (Vec::new(), Vec::new());
            while let Some(row) = rows.next()? {
                if !is_whole(row)? {
                    damaged.push(shown(row, 0));
                } else {
                    let wake = row.get::<_, Option<i64>>(10)?.map(|at| at as u64);
                    let is_open = row.get_ref(9)? != ValueRef::Text(b"");
                    all.push((row.get(0)?, wake, is_open || row.get_ref(4)? != ValueRef::Null));
                }
            }
            Ok((all, damaged))
        };
        read().map_err(|error| self.fault(error))
    }

    /// The time on the clock of one run, or the latest time of all: the time of the last commit. With real time, the time that has passed
    /// since on the computer's clock is added, whether or not a process was running. A clock that was set back adds nothing.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn moment(&self, run: Option<&str>, is_real: bool) -> Result<u64, StoreError> {
        self.moment_at(run, if is_real { wall() } else { 0 })
    }

    fn moment_at(&self, run: Option<&str>, wall: i64) -> Result<u64, StoreError> {
        let read = || -> rusqlite::Result<i64> {
            let since = |now: i64, updated| now.saturating_add(wall.saturating_sub(updated).max(0));
            // A run that has ended needs no time any more.
            let which =
                if run.is_some() { "name = ?1" } else { "?1 IS NULL AND status = 'running'" };
            let mut rows = self.connection.prepare(&format!("SELECT * FROM run WHERE {which}"))?;
            let mut rows = rows.query([run])?;
            let mut latest = 0;
            while let Some(row) = rows.next()? {
                // A damaged row is skipped: a wrong time in it would move the clock of all runs.
                if is_whole(row)? {
                    latest = latest.max(since(row.get(11)?, row.get(13)?));
                }
            }
            if run.is_some() {
                return Ok(latest);
            }
            let clock = "SELECT value FROM meta WHERE key = 'clock'";
            let clock = self.connection.query_row(clock, [], |row| Ok(shown(row, 0))).optional()?;
            let clock = clock.as_deref().and_then(|text| text.split_once(' '));
            let clock = clock.and_then(|(now, at)| Some((now.parse().ok()?, at.parse().ok()?)));
            Ok(clock.map_or(latest, |(now, updated)| latest.max(since(now, updated))))
        };
        read().map(|now| now as u64).map_err(|error| self.fault(error))
    }
}

// Queries about a single run: its row, its open questions, and parts of its trace.

/// The number of bytes after which a batch of lines ends.
const PIECE: usize = 64 * 1024;

impl Store {
    /// Finds the row of a run, in the same form as [`Store::list`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn find(&self, run: &str) -> Result<Option<Listed>, StoreError> {
        let read = self.connection.prepare_cached("SELECT * FROM run WHERE name = ?1");
        let found = read.and_then(|mut read| read.query_row([run], listed).optional());
        found.map_err(|error| self.fault(error))
    }

    /// The number of runs that have not ended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn unfinished(&self) -> Result<u64, StoreError> {
        let read = "SELECT count(*) FROM run WHERE status = 'running'";
        let count = self.connection.query_row(read, [], |row| row.get::<_, i64>(0));
        count.map(|count| count as u64).map_err(|error| self.fault(error))
    }

    /// The lines of a run's trace after line `seq`: at most `most`, and no further ones after 64 KiB.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn lines_after(&self, run: &str, seq: u64, most: u32) -> Result<Vec<Line>, StoreError> {
        let seq = i64::try_from(seq).unwrap_or(i64::MAX);
        let read = "SELECT * FROM line WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        let lines = self.some_lines(run, read, (run, seq, most))?;
        let missing =
            (1..).map(|nth| seq as u64 + nth).zip(&lines).find(|(seq, line)| *seq != line.seq);
        match missing {
            Some((seq, _)) => Err(self.damaged(&format!("line {seq} of its trace"), run)),
            None => Ok(lines),
        }
    }

    /// The last line of a run's trace.
    ///
    /// # Errors
    /// The file cannot be read, or the line is damaged.
    pub fn last_line(&self, run: &str) -> Result<Option<Line>, StoreError> {
        let read = "SELECT * FROM line WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
        self.some_lines(run, read, [run]).map(|mut lines| lines.pop())
    }

    /// The line with which a run has ended; `None` before. Later lines record results that came too late.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn ending(&self, run: &str) -> Result<Option<Line>, StoreError> {
        let mut before = i64::MAX;
        let read = "SELECT * FROM line WHERE run = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 64";
        loop {
            let lines = self.some_lines(run, read, (run, before))?;
            let Some(first) = lines.last() else { return Ok(None) };
            before = i64::try_from(first.seq).unwrap_or(0);
            let is_end =
                |line: &Line| line.child.is_empty() && matches!(line.what, What::Ended { .. });
            if let Some(end) = lines.into_iter().find(is_end) {
                return Ok(Some(end));
            }
        }
    }

    fn some_lines(&self, run: &str, read: &str, of: impl Params) -> Result<Vec<Line>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self.connection.prepare_cached(read).map_err(fault)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?));
        let rows = rows.query_map(of, |row| Ok(whole(row, read)?.ok_or_else(|| shown(row, 1))));
        let (mut lines, mut bytes) = (Vec::new(), 0);
        for row in rows.map_err(fault)? {
            let damaged = |seq: &str| self.damaged(&format!("line {seq} of its trace"), run);
            let (seq, text): (i64, String) = row.map_err(fault)?.map_err(|seq| damaged(&seq))?;
            bytes += text.len();
            lines.push(self.line(run, seq as u64, Some(text))?);
            if bytes >= PIECE {
                break;
            }
        }
        Ok(lines)
    }

    /// The open questions of a run to people, in the order in which they were asked.
    ///
    /// # Errors
    /// The file cannot be read, or a call is damaged.
    pub fn asked(&self, run: &str) -> Result<Vec<Question>, StoreError> {
        let fault = |error| self.fault(error);
        let read = "SELECT * FROM call WHERE run = ?1 AND stage = 'planned' ORDER BY planned";
        let mut rows = self.connection.prepare_cached(read).map_err(fault)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(3)?));
        let rows = rows.query_map([run], |row| whole(row, read));
        let mut asked = Vec::new();
        for row in rows.map_err(fault)? {
            let row: Option<(String, String)> = row.map_err(fault)?;
            let (id, text) = row.ok_or_else(|| self.damaged("a call", run))?;
            match serde_json::from_str(&text).ok() {
                Some(Call::Question(mut question)) if question.kind == Kind::Human => {
                    // Earlier versions stored the question without its id.
                    question.name(&id);
                    asked.push(*question);
                }
                Some(Call::Question(_) | Call::Tool(_)) => {}
                None => return Err(self.damaged("a call", run)),
            }
        }
        Ok(asked)
    }

    /// Finds an open question of a run to a person by its [id](Question::id). A question with an answer in the inbox is not open.
    ///
    /// # Errors
    /// There is no such open question, or the file cannot be read.
    pub fn question(&self, run: &str, id: &str) -> Result<Question, StoreError> {
        let fault = |error| self.fault(error);
        let replied = letters(&self.connection, |of| of == run).map_err(fault)?;
        let is_replied = |question: &Question| {
            let named =
                |mail: &Mail| matches!(&mail.letter, Letter::Reply(id, _) if *id == question.id);
            replied.iter().any(named)
        };
        let asked = self.asked(run)?;
        let open = asked.iter().filter(|question| !is_replied(question));
        match find_open(open.map(|question| (question, question)), id) {
            Ok(question) => Ok(question.clone()),
            Err(why) => {
                let became = became(&self.connection, run, id).map_err(fault)?;
                let why = NotOpen { became, ..why };
                Err(StoreError::NotOpen { run: run.to_owned(), why })
            }
        }
    }
}

/// Describes how a question that is no longer open has ended, for a message.
pub(crate) fn became(
    connection: &Connection,
    run: &str,
    question: &str,
) -> rusqlite::Result<Option<String>> {
    if !Question::is_id(question) {
        return Ok(None);
    }
    let answered = |text: &str| Some(format!("was answered: {}", shortened(text)));
    for mail in letters(connection, |of| of == run)? {
        if let Letter::Reply(id, text) = mail.letter
            && id == question
        {
            return Ok(answered(&text));
        }
    }
    let read = "SELECT * FROM call WHERE run = ?1 AND stage IN ('done', 'cancelled')";
    let mut rows = connection.prepare_cached(read)?;
    let mut rows = rows.query([run])?;
    while let Some(row) = rows.next()? {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(3)?, row.get(4)?));
        let row: Option<(String, String, Option<String>)> = whole(row, read)?;
        let Some((id, call, outcome)) = row else { continue };
        let Ok(Call::Question(mut asked)) = serde_json::from_str(&call) else { continue };
        asked.name(&id);
        if asked.id != question {
            continue;
        }
        let outcome = outcome.unwrap_or_default();
        return Ok(match serde_json::from_str(&outcome) {
            Ok(Outcome::Answer(Ok(answer))) => answered(&answer.text),
            Ok(Outcome::Answer(Err(_)) | Outcome::Result(_)) => None,
            Err(_) => Some("was withdrawn, because its step ended or its state was left".into()),
        });
    }
    Ok(None)
}

// Forks: new runs that start from an earlier point of an existing run.
//
// The parent's trace up to that point is replayed with its recorded answers, which makes no calls, and the resulting session is stored
// under the new name.

/// A row of a call: its permanent id, the call as JSON, and the stamp of its plan.
type Row = (String, String, i64);

/// An event that a run has taken in: its id, the reply, the time, and the number of the last trace line before it.
type Taken = (String, String, i64, i64);

impl Store {
    /// Creates the run `name` from the state that `run` had after line `at` of its trace. The trace is replayed up to that line, without
    /// any calls. Calls that had no result by then become new calls of the fork. The fork gets whole steps and whole events, so it may
    /// contain some lines after `at`. `given` replaces the parent's parameters, which are kept with `None`. `machine` creates a machine
    /// with [`Tape::host`] and with the params among [`Tape::variables`].
    ///
    /// # Errors
    /// There is no such run or line, the name is taken, the replay differs from the trace, or the file cannot be written.
    pub fn fork<M: Machine>(
        &self,
        (run, at): (&str, u64),
        (name, given): (&str, Option<&str>),
        machine: impl FnOnce(&Tape) -> Result<M, String>,
    ) -> Result<Listed, StoreError> {
        let refused = |why: String| StoreError::Run { run: run.to_owned(), why };
        let Some(mut parent) = self.find(run)? else {
            let why =
                "there is no such run: it was never begun here, or it was pruned with its journal";
            return Err(refused(why.into()));
        };
        if name.is_empty() || self.find(name)?.is_some() {
            return Err(refused(format!(
                "`{name}` cannot be the name of a fork: it is taken or empty"
            )));
        }
        let lines = self.lines(run)?;
        let taken = self.taken(run)?;
        let count = usize::try_from(at).ok().filter(|at| (1..=lines.len()).contains(at));
        let Some(count) = count else {
            let last = lines.len();
            return Err(refused(format!(
                "its journal has no position {at}: give one from 1 to {last}"
            )));
        };
        let count = whole_event(&lines, &taken, count);
        let text = lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n");
        let tape = Tape::read(&text.collect::<String>()).map_err(|why| refused(why.to_string()))?;
        let machine = machine(&tape).map_err(refused)?;
        let rewound = rewind(&tape, machine, run, count);
        let rewound = rewound.map_err(|why| refused(format!("it is not the same again, {why}")))?;
        let taken = taken.into_iter().filter(|(.., seq)| *seq < count as i64).collect();
        let calls = self.calls(run, &rewound)?;
        if let Some(given) = given {
            given.clone_into(&mut parent.given);
        }
        self.put_fork(&parent, name, &rewound, (taken, calls))?;
        self.find(name)?.ok_or_else(|| refused(format!("`{name}` was forgotten at once")))
    }

    fn taken(&self, run: &str) -> Result<Vec<Taken>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Result<Taken, String>>> {
            let mut rows = self.connection.prepare("SELECT * FROM event WHERE run = ?1")?;
            let taken =
                |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
            let row = |row: &rusqlite::Row<'_>| Ok(whole(row, taken)?.ok_or_else(|| shown(row, 1)));
            rows.query_map([run], row)?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        let damaged = |id: String| self.damaged(&format!("its event `{id}`"), run);
        rows.into_iter().map(|row| row.map_err(damaged)).collect()
    }

    /// The rows of the calls that had ended by then, including those that the parent has copied from its own parent.
    fn calls<M>(&self, run: &str, rewound: &Rewound<M>) -> Result<Vec<Row>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, Option<Row>)>> {
            let mut rows = self.connection.prepare("SELECT * FROM call WHERE run = ?1")?;
            let call = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(3)?, row.get(5)?));
            rows.query_map([run], |row| Ok((shown(row, 1), whole(row, call)?)))?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        // An id is `RUN/…`. The part after the run's name is the same in the parent and in the fork.
        let within =
            |id: &str| id.split_once('/').map_or_else(String::new, |(_, rest)| rest.into());
        let known: BTreeMap<String, Option<Row>> =
            rows.into_iter().map(|(id, row)| (within(&id), row)).collect();
        let mut calls = Vec::new();
        for id in &rewound.calls {
            match known.get(&within(&id.to_string())) {
                Some(Some(row)) => calls.push(row.clone()),
                Some(None) => return Err(self.damaged(&format!("its call `{id}`"), run)),
                // The call was dropped before it was stored.
                None => {}
            }
        }
        Ok(calls)
    }

    fn put_fork<M: Machine>(
        &self,
        parent: &Listed,
        name: &str,
        Rewound { session, lines, .. }: &Rewound<M>,
        (taken, calls): (Vec<Taken>, Vec<Row>),
    ) -> Result<(), StoreError> {
        let refused = |why: String| StoreError::Run { run: parent.run.clone(), why };
        let saved =
            session.save_all().ok_or_else(|| refused("its state cannot be saved".into()))?;
        let kept = serde_json::to_string(&saved).map_err(|why| refused(why.to_string()))?;
        let head = Head {
            chart: &parent.chart,
            given: &parent.given,
            status: session.status().map_or("running", |status| status.word()),
            stopped: None,
            state: &session.configuration().join(", "),
            turns: session.turns(),
            calls: session.calls(),
            cost: session.spent().cost.unwrap_or(0),
            waits_for: &written_steps(&session.waits_for()),
            // Wakes at once, so that the worker plans the calls that are open in the fork.
            wake: session.status().is_none().then(|| saved.now()),
            now: saved.now(),
            made_ms: wall(),
            saved: &kept,
        };
        let put_it = || -> rusqlite::Result<bool> {
            let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            // Checked again inside the transaction: another process may have created a run of this name since.
            let is_there = "SELECT EXISTS (SELECT 1 FROM run WHERE name = ?1)";
            if tx.query_row(is_there, [name], |row| row.get::<_, bool>(0))? {
                return Ok(false);
            }
            for line in lines {
                put_line(&tx, name, line.seq, &serde_json::to_string(line).unwrap_or_default())?;
            }
            for (id, reply, at, seq) in &taken {
                put(&tx, PUT_EVENT, params![name, id, reply, at, seq])?;
            }
            for (id, call, planned) in &calls {
                let stage = Stage::Copied.word();
                put(&tx, PUT_CALL, params![name, id, stage, call, None::<&str>, planned])?;
            }
            put_run(&tx, name, &head)?;
            counted(&tx)?;
            tx.commit().map(|()| true)
        };
        if put_it().map_err(|error| self.fault(error))? {
            return Ok(());
        }
        Err(refused(format!("`{name}` cannot be the name of a fork: it is taken")))
    }
}

/// Extends `count` to the end of an event. An event that sets several inputs writes one line for each, and one for its turn.
fn whole_event(lines: &[Line], taken: &[Taken], count: usize) -> usize {
    let begins: BTreeSet<i64> = taken.iter().map(|(.., seq)| *seq).collect();
    let goes_on = |count: usize| match (lines.get(count - 1), lines.get(count)) {
        (Some(Line { what: What::Input { .. }, .. }), Some(next)) => {
            let is_of_it =
                matches!(next.what, What::Input { .. } | What::Turn { .. } | What::NotTaken { .. });
            is_of_it && !begins.contains(&(count as i64))
        }
        _ => false,
    };
    (count..=lines.len()).find(|count| !goes_on(*count)).unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Safety;
    use crate::rows::{PUT_RUN, put};

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a folder of the test's own")]
    fn time_passes_while_nobody_is_there_but_not_backwards() {
        let folder = std::env::temp_dir().join(format!("chartc-moment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let store = Store::own(&folder.join("s.db"), Safety::Process).expect("a store");
        for (run, now, updated) in [("a", 5000, 1_000_000), ("b", 70_000, 990_000)] {
            let none = None::<i64>;
            let row = rusqlite::params![
                run, "", "", "running", none, "", 0, 0, 0, "", none, now, 0, updated, ""
            ];
            put(&store.connection, PUT_RUN, row).expect("a row");
        }
        let at = |run, wall| store.moment_at(run, wall).expect("it can be read");
        assert_eq!(at(Some("a"), 1_000_000 + 3_600_000), 5000 + 3_600_000);
        assert_eq!(at(Some("a"), 1_000_000 - 3_600_000), 5000, "the clock was set back");
        assert_eq!(at(Some("b"), 1_000_000), 80_000);
        assert_eq!((at(None, 1_000_000), at(None, 0), at(Some("c"), 1)), (80_000, 70_000, 0));
        drop(store);
        std::fs::remove_dir_all(folder).expect("it is the test's own");
    }
}
