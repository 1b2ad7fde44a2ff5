//! The history of a run: the last transitions of each chart, as many as its `trace` line says.

use super::Session;
use crate::trace::{self, Line, What};
use chartc_core::arena::TransitionId;
use chartc_core::family::MemberPath;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, StepKey};
use chartc_core::tables::{Tables, Text};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The history of a chart in a saved run. It is saved with every step, so the text of a repeated transition is stored only once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedHistory {
    child: String,
    lines: Vec<What>,
    /// For each transition: the time, the number of the trace line, and the index in `lines`.
    taken: Vec<(Instant, u64, usize)>,
}

impl SavedHistory {
    /// The history as lines of the trace.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.taken.iter().filter_map(|(at_ms, seq, nth)| {
            let (child, what) = (self.child.clone(), self.lines.get(*nth)?.clone());
            Some(Line { v: trace::VERSION, seq: *seq, at_ms: *at_ms, child, what })
        })
    }
}

/// The last transitions of each chart of a run, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    own: VecDeque<Taken>,
    /// Those of child charts, in the order of their first transitions.
    others: Vec<(MemberPath, VecDeque<Taken>)>,
}

impl History {
    /// The transitions of each chart, those of the run's own chart first.
    fn iter(&self) -> impl Iterator<Item = (&[StepKey], &VecDeque<Taken>)> {
        let own: (&[StepKey], _) = (&[], &self.own);
        [own].into_iter().chain(self.others.iter().map(|(member, kept)| (&member[..], kept)))
    }

    /// Adds a transition of a chart. If there are already `most`, the oldest is removed.
    fn put(&mut self, member: &[StepKey], most: usize, taken: Taken) {
        let kept = if member.is_empty() {
            &mut self.own
        } else {
            let place = self.others.iter().position(|(of, _)| of == member);
            let place = place.unwrap_or_else(|| {
                self.others.push((member.to_vec(), VecDeque::new()));
                self.others.len() - 1
            });
            &mut self.others[place].1
        };
        if kept.len() >= most {
            kept.pop_front();
        } else if kept.len() == kept.capacity() {
            // Most agents take few transitions, and there may be a million agents.
            kept.reserve_exact(kept.len().max(1));
        }
        kept.push_back(taken);
    }

    /// Forgets the transitions of a child chart that has ended.
    pub(super) fn forget(&mut self, member: &[StepKey]) {
        self.others.retain(|(of, _)| of != member);
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The last transitions of the chart, as the `taken` lines of its trace, oldest first. The chart's `trace` line sets their number;
    /// the default is 100.
    pub fn history(&self) -> Vec<Line> {
        self.history_of(&MemberPath::new())
    }

    /// The maximum number of transitions that are kept for a chart.
    fn most(&self, tables: &Tables) -> usize {
        let most = tables.history_kept.into_iter().chain(self.common.history).min();
        most.map_or(usize::MAX, |most| most as usize)
    }

    fn history_of(&self, member: &MemberPath) -> Vec<Line> {
        let kept = self.history.iter().find(|(of, _)| of == member);
        let (Some(machine), Some((_, kept))) = (self.family.member(member), kept) else {
            return Vec::new();
        };
        let (tables, child) = (machine.tables(), self.path(member));
        let line = |taken: &Taken| Line {
            v: trace::VERSION,
            seq: taken.seq,
            at_ms: taken.at_ms,
            child: child.clone(),
            what: trace::taken(tables, taken.line, taken.held),
        };
        kept.iter().map(line).collect()
    }

    /// The histories of all running charts. A parent precedes its children.
    pub(super) fn histories(&self) -> Vec<(MemberPath, SavedHistory)> {
        let told = |(member, kept): (&[StepKey], &VecDeque<Taken>)| {
            let machine = self.family.member(member)?;
            let (tables, child) = (machine.tables(), self.path(member));
            let (mut ids, mut lines, mut taken) = (Vec::new(), Vec::new(), Vec::new());
            for Taken { at_ms, seq, line, held } in kept.iter().copied() {
                let known = ids.iter().position(|known| *known == (line, held));
                let nth = known.unwrap_or_else(|| {
                    ids.push((line, held));
                    lines.push(trace::taken(tables, line, held));
                    lines.len() - 1
                });
                taken.push((at_ms, seq, nth));
            }
            Some((member.to_vec(), SavedHistory { child, lines, taken }))
        };
        let kept = self.history.iter().filter(|(_, kept)| !kept.is_empty());
        let mut all: Vec<(MemberPath, SavedHistory)> = kept.filter_map(told).collect();
        // Paths compare element by element, so a parent precedes its children.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    /// Adds a transition to the history, before its line is written.
    pub(super) fn remember(
        &mut self,
        at_ms: Instant,
        member: &MemberPath,
        (line, held): (TransitionId, u64),
    ) {
        let most = if member.is_empty() {
            self.most(self.family.root().tables())
        } else {
            let Some(machine) = self.family.member(member) else { return };
            self.most(machine.tables())
        };
        if most > 0 {
            let seq = self.tracer.seq + 1;
            self.history.put(member, most, Taken { at_ms, seq, line, held });
        }
    }

    /// Restores the histories of a saved run.
    pub(super) fn recall_history(&mut self, saved: &[(MemberPath, SavedHistory)]) {
        for (member, told) in saved {
            let Some(machine) = self.family.member(member) else { continue };
            let tables = machine.tables();
            let most = self.most(tables);
            let lines: Vec<_> = told.lines.iter().map(|what| transition(tables, what)).collect();
            for (at_ms, seq, nth) in &told.taken {
                if let (Some(Some((line, held))), true) = (lines.get(*nth), most > 0) {
                    let (line, held) = (*line, *held);
                    let taken = Taken { at_ms: *at_ms, seq: *seq, line, held };
                    self.history.put(member, most, taken);
                }
            }
        }
    }
}

/// The transition of a `taken` line, with the alternatives of its guard that held as a bit mask.
fn transition(tables: &Tables, what: &What) -> Option<(TransitionId, u64)> {
    let What::Taken { line, held } = what else { return None };
    let state = tables.states.iter().find(|state| state.path == line.state)?;
    let nth = line.nth.checked_sub(1).filter(|nth| *nth < state.transitions.len)?;
    let id = TransitionId(state.transitions.start + nth);
    let texts = tables.transitions[id.index()].alternatives.of(&tables.name_pool);
    let is_held = |(nth, text): (usize, &Text)| {
        let is_told = held.iter().any(|told| *text == *told);
        u64::from(is_told).checked_shl(nth as u32).unwrap_or(0)
    };
    Some((id, texts.iter().enumerate().map(is_held).sum()))
}

/// A transition that was taken, with the number of its trace line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken {
    at_ms: Instant,
    seq: u64,
    line: TransitionId,
    /// The alternatives of its guard that held, as a bit mask.
    held: u64,
}
