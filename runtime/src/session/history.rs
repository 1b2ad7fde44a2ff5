//! The last transitions of each chart of a run, as many as its `trace` line says.

use super::Session;
use super::trail::{Taken, Trail};
use crate::trace::{self, Line, What};
use chartc_core::arena::TransitionId;
use chartc_core::family::Member;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, StepKey};
use chartc_core::tables::Tables;
use serde::{Deserialize, Serialize};

/// The history of a chart in a saved run: each transition in words once, for it is saved with every step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Told {
    child: String,
    lines: Vec<What>,
    /// When they were taken, their places in the trace, and in `lines`.
    taken: Vec<(Instant, u64, usize)>,
}

impl Told {
    /// As the lines of the trace.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        self.taken.iter().filter_map(|(at_ms, seq, nth)| {
            let (child, what) = (self.child.clone(), self.lines.get(*nth)?.clone());
            Some(Line { v: trace::VERSION, seq: *seq, at_ms: *at_ms, child, what })
        })
    }
}

/// Transitions by chart, in the order of the charts' first ones.
#[derive(Debug, Default)]
pub(super) struct History(Vec<(Member, Trail)>);

impl History {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, member: &[StepKey]) -> Option<&Trail> {
        self.0.iter().find(|(of, _)| of == member).map(|(_, trail)| trail)
    }

    fn put(&mut self, member: &Member, most: usize, taken: Taken) {
        let place = self.0.iter().position(|(of, _)| of == member).unwrap_or_else(|| {
            // Most runs have one chart.
            self.0.reserve_exact(1);
            self.0.push((member.clone(), Trail::default()));
            self.0.len() - 1
        });
        self.0[place].1.push(most, taken);
    }

    /// Forgets a chart that has ended.
    pub(super) fn forget(&mut self, member: &[StepKey]) {
        self.0.retain(|(of, _)| of != member);
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The last transitions of the chart, as the `taken` lines of its trace, the oldest first: as many as its `trace` line says, 100 unless it
    /// has one.
    pub fn history(&self) -> Vec<Line> {
        self.history_of(&Member::new())
    }

    /// How many transitions of a chart are kept.
    fn most(&self, tables: &Tables<'_>) -> usize {
        let most = tables.history_kept.into_iter().chain(self.common.history).min();
        most.map_or(usize::MAX, |most| most as usize)
    }

    fn history_of(&self, member: &Member) -> Vec<Line> {
        let (Some(machine), Some(kept)) =
            (self.family.member(member), self.extra.history.of(member))
        else {
            return Vec::new();
        };
        let (tables, child) = (machine.tables(), self.path(member));
        let line = |taken: Taken| Line {
            v: trace::VERSION,
            seq: taken.seq,
            at_ms: taken.at_ms,
            child: child.clone(),
            what: trace::taken(&tables, taken.line, taken.held),
        };
        kept.iter().map(line).collect()
    }

    /// The history of every chart that runs, a chart before those that it runs.
    pub(super) fn histories(&self) -> Vec<(Member, Told)> {
        let told = |(member, kept): &(Member, Trail)| {
            let machine = self.family.member(member)?;
            let (tables, child) = (machine.tables(), self.path(member));
            let (mut ids, mut lines, mut taken) = (Vec::new(), Vec::new(), Vec::new());
            for Taken { at_ms, seq, line, held } in kept.iter() {
                let known = ids.iter().position(|known| *known == (line, held));
                let nth = known.unwrap_or_else(|| {
                    ids.push((line, held));
                    lines.push(trace::taken(&tables, line, held));
                    lines.len() - 1
                });
                taken.push((at_ms, seq, nth));
            }
            Some((member.clone(), Told { child, lines, taken }))
        };
        let kept = self.extra.history.0.iter().filter(|(_, trail)| !trail.is_empty());
        let mut all: Vec<(Member, Told)> = kept.filter_map(told).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    /// A transition was taken; its line in the trace is the next one.
    pub(super) fn remember(
        &mut self,
        at_ms: Instant,
        member: &Member,
        (line, held): (TransitionId, u64),
    ) {
        let Some(machine) = self.family.member(member) else { return };
        let (most, seq) = (self.most(&machine.tables()), self.tracer.seq + 1);
        if most > 0 {
            self.extra.history.put(member, most, Taken { at_ms, seq, line, held });
        }
    }

    /// Takes back what a saved run remembered.
    pub(super) fn recall_history(&mut self, saved: &[(Member, Told)]) {
        for (member, told) in saved {
            let Some(machine) = self.family.member(member) else { continue };
            let tables = machine.tables();
            let most = self.most(&tables);
            let lines: Vec<_> = told.lines.iter().map(|what| transition(&tables, what)).collect();
            for (at_ms, seq, nth) in &told.taken {
                if let (Some(Some((line, held))), true) = (lines.get(*nth), most > 0) {
                    let (line, held) = (*line, *held);
                    let taken = Taken { at_ms: *at_ms, seq: *seq, line, held };
                    self.extra.history.put(member, most, taken);
                }
            }
        }
    }
}

/// Which transition a `taken` line tells of, and which alternatives of its guard held.
fn transition(tables: &Tables<'_>, what: &What) -> Option<(TransitionId, u64)> {
    let What::Taken { line, held } = what else { return None };
    let state = tables.states.iter().find(|state| state.path == line.state)?;
    let nth = line.nth.checked_sub(1).filter(|nth| *nth < state.transitions.len)?;
    let id = TransitionId(state.transitions.start + nth);
    let texts = tables.transitions[id.index()].alternatives.of(tables.name_pool);
    let is_held = |(nth, text): (usize, &&str)| {
        let is_told = held.iter().any(|told| told == text);
        u64::from(is_told).checked_shl(nth as u32).unwrap_or(0)
    };
    Some((id, texts.iter().enumerate().map(is_held).sum()))
}
