//! Forks: new runs that start from an earlier point of an existing run.
//!
//! The parent's trace up to that point is replayed with its recorded answers, which makes no calls, and the resulting session is stored
//! under the new name.

use crate::error::StoreError;
use crate::file::{Store, counted, wall};
use crate::read::Listed;
use crate::row::{Stage, is_whole};
use crate::rows::{Head, PUT_CALL, PUT_EVENT, put, put_line, put_run};
use chartc_core::host::Machine;
use chartc_runtime::replay::{Rewound, Tape, rewind};
use chartc_runtime::trace::{Line, What};
use rusqlite::{Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};

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
        let listed = self.list()?;
        let Some(mut parent) = listed.iter().find(|row| row.run == run).cloned() else {
            let why =
                "there is no such run: it was never begun here, or it was pruned with its journal";
            return Err(refused(why.into()));
        };
        if name.is_empty() || listed.iter().any(|row| row.run == name) {
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
        let count = whole(&lines, &taken, count);
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
        let forked = self.list()?.into_iter().find(|row| row.run == name);
        forked.ok_or_else(|| refused(format!("`{name}` was forgotten at once")))
    }

    fn taken(&self, run: &str) -> Result<Vec<Taken>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Taken, bool)>> {
            let mut rows = self.connection.prepare("SELECT * FROM event WHERE run = ?1")?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?), is_whole(row)?))
            };
            rows.query_map([run], row)?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        match rows.iter().find(|(_, is_whole)| !is_whole) {
            Some(((id, ..), _)) => Err(self.damaged(&format!("its event `{id}`"), run)),
            None => Ok(rows.into_iter().map(|(row, _)| row).collect()),
        }
    }

    /// The rows of the calls that had ended by then, including those that the parent has copied from its own parent.
    fn calls<M>(&self, run: &str, rewound: &Rewound<M>) -> Result<Vec<Row>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Row, bool)>> {
            let mut rows = self.connection.prepare("SELECT * FROM call WHERE run = ?1")?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(((row.get(1)?, row.get(3)?, row.get(5)?), is_whole(row)?))
            };
            rows.query_map([run], row)?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        // An id is `RUN/…`. The part after the run's name is the same in the parent and in the fork.
        let within =
            |id: &str| id.split_once('/').map_or_else(String::new, |(_, rest)| rest.into());
        let known: BTreeMap<String, (Row, bool)> =
            rows.into_iter().map(|(row, is_whole)| (within(&row.0), (row, is_whole))).collect();
        let mut calls = Vec::new();
        for id in &rewound.calls {
            match known.get(&within(&id.to_string())) {
                Some((row, true)) => calls.push(row.clone()),
                Some((_, false)) => return Err(self.damaged(&format!("its call `{id}`"), run)),
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
            waits_for: &session.waits_for().join(", "),
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
fn whole(lines: &[Line], taken: &[Taken], count: usize) -> usize {
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
