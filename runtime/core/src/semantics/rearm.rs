//! Deadlines of a saved run in another version of its chart. Armed deadlines keep their due time. The deadlines of new transitions count
//! from the entry of their state or the start of their step.

use super::named::{Line, Named, lines};
use super::number::Numbers;
use super::version::{Change, Timed};
use crate::arena::{StateId, StepId};
use crate::store::bits;
use crate::tables::Tables;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The kind of a transition with a deadline. Only transitions of the same state and kind are matched between versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TimerKind {
    After,
    AfterTurns,
    Timeout(StepId),
}

/// A transition of the version that saved the run.
struct Old {
    /// The time or turn at which it is due; `None` if it has fired.
    due: Option<u64>,
    /// Its targets; `None` if they were not saved, or if one of them does not exist any more.
    to: Option<Vec<StateId>>,
}

/// The deadlines in this version.
pub(super) struct Deadlines {
    pub(super) due: Vec<u64>,
    /// The slots of new transitions, which must be armed.
    pub(super) added: Vec<u32>,
    pub(super) changes: Vec<Change>,
}

/// The deadlines in the version that saved them, by slot.
pub(super) fn same(named: &Named, tables: &Tables<'_>) -> Vec<u64> {
    let armed: BTreeMap<_, u64> = (named.deadlines.iter())
        .map(|one| ((one.state.as_str(), one.kind.as_str(), one.nth), one.due))
        .collect();
    let mut due = alloc::vec![u64::MAX; tables.deadlines()];
    for line in lines(tables) {
        if let Some(at) = armed.get(&(line.state, line.kind.as_str(), line.nth)) {
            due[line.slot as usize] = *at;
        }
    }
    due
}

/// The deadlines in another version. `active` are the active states, and `open` the steps under way, that this version has.
pub(super) fn other(
    named: &Named,
    numbers: &Numbers<'_>,
    active: &[u64],
    open: &BTreeSet<StepId>,
) -> Deadlines {
    let tables = numbers.tables;
    let mut new: BTreeMap<(StateId, TimerKind), Vec<Line<'_>>> = BTreeMap::new();
    for line in lines(tables) {
        let kind = match (line.step, line.kind.as_str()) {
            (Some(step), _) => TimerKind::Timeout(step),
            (None, AFTER_TURNS) => TimerKind::AfterTurns,
            (None, _) => TimerKind::After,
        };
        new.entry((line.source, kind)).or_default().push(line);
    }
    let mut old: BTreeMap<(StateId, TimerKind), Vec<Old>> = BTreeMap::new();
    let mut lost = Vec::new();
    let armed = named.deadlines.iter();
    let armed = armed.map(|one| (&one.state, &one.kind, Some(one.due), one.to.as_ref()));
    let passed = named.passed.iter().map(|one| (&one.state, &one.kind, None, Some(&one.to)));
    for (state, kind, due, to) in armed.chain(passed) {
        let Ok(source) = numbers.state(state) else { continue };
        let Some(kind) = kind_of(kind, numbers) else {
            // A step that is under way and does not exist any more is reported elsewhere.
            continue;
        };
        let to = to.and_then(|to| to.iter().map(|path| numbers.state(path).ok()).collect());
        if new.contains_key(&(source, kind)) {
            old.entry((source, kind)).or_default().push(Old { due, to });
        } else if due.is_some() {
            lost.push((source, kind));
        }
    }
    let mut found = Deadlines {
        due: alloc::vec![u64::MAX; tables.deadlines()],
        added: Vec::new(),
        changes: Vec::new(),
    };
    for ((source, kind), lines) in new {
        let mut old = old.remove(&(source, kind)).unwrap_or_default();
        let mut rest = Vec::new();
        // Transitions with equal targets are matched first, so that a reordering does not exchange their deadlines.
        for line in lines {
            match old.iter().position(|one| one.to.as_deref() == Some(line.targets)) {
                Some(at) => set(&mut found.due, line.slot, old.remove(at).due),
                None => rest.push(line),
            }
        }
        // Transitions whose old targets are unknown are matched by their order.
        let mut unknown =
            old.extract_if(.., |one| one.to.is_none()).collect::<Vec<_>>().into_iter();
        for line in rest {
            let is_live = match kind {
                TimerKind::After | TimerKind::AfterTurns => bits::has(active, source.index()),
                TimerKind::Timeout(step) => open.contains(&step),
            };
            if let Some(one) = unknown.next() {
                set(&mut found.due, line.slot, one.due);
            } else if is_live {
                found.added.push(line.slot);
                found.changes.push(Change::Armed(path(tables, source), timed(tables, kind)));
            }
        }
        // The transitions without a match are gone, which matters only for armed deadlines.
        let gone = old.iter().chain(unknown.as_slice()).filter(|one| one.due.is_some());
        lost.extend(gone.map(|_| (source, kind)));
    }
    let lost = lost.into_iter();
    let lost = lost.map(|(state, kind)| Change::Disarmed(path(tables, state), timed(tables, kind)));
    found.changes.extend(lost);
    found
}

fn set(due: &mut [u64], slot: u32, at: Option<u64>) {
    if let (Some(at), Some(place)) = (at, due.get_mut(slot as usize)) {
        *place = at;
    }
}

const AFTER: &str = "after";
const AFTER_TURNS: &str = "after turns";

fn kind_of(kind: &str, numbers: &Numbers<'_>) -> Option<TimerKind> {
    match kind {
        AFTER => Some(TimerKind::After),
        AFTER_TURNS => Some(TimerKind::AfterTurns),
        timeout => {
            let step = timeout.strip_prefix("timeout ")?;
            numbers.step(step).ok().map(TimerKind::Timeout)
        }
    }
}

fn timed(tables: &Tables<'_>, kind: TimerKind) -> Timed {
    match kind {
        TimerKind::After => Timed::After,
        TimerKind::AfterTurns => Timed::AfterTurns,
        TimerKind::Timeout(step) => Timed::Timeout(tables.steps[step.index()].name.to_string()),
    }
}

fn path(tables: &Tables<'_>, state: StateId) -> String {
    tables.state(state).path.to_string()
}
