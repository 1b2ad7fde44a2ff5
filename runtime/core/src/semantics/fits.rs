//! Compares the registers of a saved run with a version of its chart: the parts that the version lacks, and the changes for the run.

use super::named::{Named, kind_of};
use super::number::Numbers;
use super::rearm;
use super::version::{Change, Comparison, Difference};
use crate::arena::{StateId, StepId};
use crate::store::{WalkStage, bits};
use crate::tables::{StateRowKind, Tables};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Named {
    /// Compares the registers with a version of their chart that has not saved them.
    pub(crate) fn compare(&self, numbers: &Numbers<'_>) -> Comparison {
        let tables = numbers.tables;
        let mut found = Comparison::default();
        let active = self.compare_active(numbers, &mut found.differences);
        let open = self.compare_open(numbers, &mut found.differences);
        self.compare_walks(numbers, &mut found.differences);
        if self.sends.len() > tables.sends as usize {
            found.differences.push(Difference::Sends(self.sends.len(), tables.sends as usize));
        }
        self.add_renames(numbers, &mut found.changes);
        for (path, recorded) in &self.history {
            let is_kept = numbers.state(path).is_ok()
                && recorded.iter().all(|path| numbers.state(path).is_ok());
            if !is_kept {
                found.changes.push(Change::Forgotten(path.clone()));
            }
        }
        found.changes.extend(rearm::other(self, numbers, &active, &open).changes);
        found
    }

    /// Compares the active states. Returns the set of those that this version has.
    fn compare_active(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) -> Vec<u64> {
        let tables = numbers.tables;
        let mut active = alloc::vec![0; bits::words(tables.states.len())];
        for path in &self.active {
            match numbers.state(path) {
                Ok(state) => bits::insert(&mut active, state.index()),
                Err(_) => found.push(Difference::State(path.clone())),
            }
        }
        let mut counts: BTreeMap<StateId, usize> = BTreeMap::new();
        for state in bits::iter(&active).filter(|state| *state != 0) {
            *counts.entry(tables.states[state].parent).or_default() += 1;
        }
        // A state whose active children all are unknown to this version needs no further difference: they have been reported.
        let had = self.active.iter().filter(|path| !path.is_empty());
        let had = had.map(|path| path.rsplit_once('.').map_or("", |(above, _)| above));
        let had: BTreeSet<StateId> = had.filter_map(|path| numbers.state(path).ok()).collect();
        let finals: BTreeSet<StateId> =
            self.finals.iter().filter_map(|path| numbers.state(path).ok()).collect();
        for state in bits::iter(&active).map(StateId::at) {
            let row = tables.state(state);
            let below = counts.get(&state).copied().unwrap_or(0);
            let path = || row.path.to_string();
            if below == 0 && had.contains(&state) {
                continue;
            }
            match row.kind {
                StateRowKind::Atomic | StateRowKind::History { .. } => {}
                StateRowKind::Compound(_) if below == 0 => found.push(Difference::Nested(path())),
                // Only a parallel state can have several active children, so it was one.
                StateRowKind::Compound(_) if below > 1 => found.push(Difference::Apart(path())),
                StateRowKind::Compound(_) => {}
                StateRowKind::Parallel if below == 0 => found.push(Difference::Nested(path())),
                StateRowKind::Parallel => {
                    for region in regions(tables, state) {
                        let known = tables.state(region).path;
                        if !bits::has(&active, region.index()) {
                            found.push(Difference::Region(path(), known.to_string()));
                        }
                    }
                }
                StateRowKind::Final(_) if finals.contains(&state) => {}
                StateRowKind::Final(_) => found.push(Difference::Final(path())),
            }
        }
        active
    }

    /// Compares the steps that are under way. Returns those that this version has.
    fn compare_open(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) -> BTreeSet<StepId> {
        let tables = numbers.tables;
        let pending = self.steps.values().filter_map(|counts| counts.pending.as_ref());
        let asked = self.questions.iter().map(|asked| &asked.key);
        let fans = self.fans.values().flat_map(|fan| &fan.open);
        // A step with several open elements is reported once.
        let (mut open, mut told) = (BTreeSet::new(), BTreeSet::new());
        for key in pending.chain(asked).chain(fans) {
            let Ok(step) = numbers.step(&key.step) else {
                if told.insert(&key.step) {
                    found.push(Difference::Step(key.step.clone()));
                }
                continue;
            };
            open.insert(step);
            let row = &tables.steps[step.index()];
            let Ok(leaf) = numbers.state(&key.leaf) else { continue };
            if !tables.contains(row.state, leaf) && told.insert(&key.step) {
                found.push(Difference::Moved(row.name.to_string(), key.leaf.clone()));
            }
        }
        for (name, was) in &self.kinds {
            let Ok(step) = numbers.step(name) else { continue };
            let is = kind_of(tables, step);
            if was != is {
                found.push(Difference::Kind(name.clone(), was.clone(), is.to_string()));
            }
        }
        open
    }

    /// Compares the order of steps in the walks that are not over.
    fn compare_walks(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) {
        for walk in self.walks.values().filter(|walk| walk.stage == WalkStage::Open) {
            let order = walk.order.iter().filter_map(|name| {
                let step = numbers.step(name).ok()?;
                Some((step, name))
            });
            let mut last: Option<(StepId, &String)> = None;
            for (step, name) in order {
                if let Some((before, first)) = last
                    && step < before
                {
                    found.push(Difference::Order(first.clone(), name.clone()));
                    break;
                }
                last = Some((step, name));
            }
        }
    }

    /// Adds the new names of active states and of steps to the changes.
    fn add_renames(&self, numbers: &Numbers<'_>, found: &mut Vec<Change>) {
        for path in &self.active {
            if let Ok(state) = numbers.state(path)
                && numbers.tables.state(state).path != path
            {
                let now = numbers.tables.state(state).path.to_string();
                found.push(Change::State(path.clone(), now));
            }
        }
        for name in self.steps.keys() {
            if let Ok(step) = numbers.step(name)
                && numbers.tables.steps[step.index()].name != name
            {
                let now = numbers.tables.steps[step.index()].name.to_string();
                found.push(Change::Step(name.clone(), now));
            }
        }
    }
}

/// The regions of a parallel state.
fn regions<'t>(tables: &'t Tables<'_>, state: StateId) -> impl Iterator<Item = StateId> + 't {
    let below = state.index() + 1..tables.state(state).end.index();
    below.map(StateId::at).filter(move |child| {
        let row = tables.state(*child);
        row.parent == state && !matches!(row.kind, StateRowKind::History { .. })
    })
}
