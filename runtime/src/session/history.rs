//! The last transitions of each chart of a run, as many as its `trace` line says.

use super::Session;
use crate::trace::{self, Line, What};
use chartc_core::arena::TransitionId;
use chartc_core::family::Member;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_core::tables::Tables;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A transition that was taken, and its place in the trace.
#[derive(Debug, Clone, Copy)]
struct Taken {
    at_ms: Instant,
    seq: u64,
    line: TransitionId,
    /// The alternatives of its guard that held, as bits.
    held: u64,
}

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

/// Transitions by chart, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    kept: BTreeMap<Member, VecDeque<Taken>>,
    /// Of the transition that is told next: the alternatives of its guard that hold, as bits.
    pub(super) next: Option<(TransitionId, u64)>,
}

impl History {
    fn put(&mut self, member: &Member, most: Option<u32>, taken: Taken) {
        let most = most.map_or(usize::MAX, |most| most as usize);
        if most == 0 {
            return;
        }
        let kept = self.kept.entry(member.clone()).or_default();
        while kept.len() >= most {
            kept.pop_front();
        }
        kept.push_back(taken);
    }

    /// Forgets a chart that has ended.
    pub(super) fn forget(&mut self, member: &Member) {
        self.kept.remove(member);
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The last transitions of the chart, as the `taken` lines of its trace, the oldest first: as many as its `trace` line says, 100 unless it
    /// has one.
    pub fn history(&self) -> Vec<Line> {
        self.history_of(&Member::new())
    }

    fn history_of(&self, member: &Member) -> Vec<Line> {
        let (Some(machine), Some(kept)) =
            (self.family.member(member), self.history.kept.get(member))
        else {
            return Vec::new();
        };
        let (tables, child) = (machine.tables(), self.path(member));
        let line = |taken: &Taken| Line {
            v: trace::VERSION,
            seq: taken.seq,
            at_ms: taken.at_ms,
            child: child.clone(),
            what: trace::taken(&tables, taken.line, taken.held),
        };
        kept.iter().map(line).collect()
    }

    /// The history of every chart that runs.
    pub(super) fn histories(&self) -> Vec<(Member, Told)> {
        let told = |(member, kept): (&Member, &VecDeque<Taken>)| {
            let machine = self.family.member(member)?;
            let (tables, child) = (machine.tables(), self.path(member));
            let (mut ids, mut lines, mut taken) = (Vec::new(), Vec::new(), Vec::new());
            for Taken { at_ms, seq, line, held } in kept {
                let known = ids.iter().position(|known| *known == (*line, *held));
                let nth = known.unwrap_or_else(|| {
                    ids.push((*line, *held));
                    lines.push(trace::taken(&tables, *line, *held));
                    lines.len() - 1
                });
                taken.push((*at_ms, *seq, nth));
            }
            Some((member.clone(), Told { child, lines, taken }))
        };
        self.history
            .kept
            .iter()
            .filter_map(told)
            .filter(|(_, told)| !told.taken.is_empty())
            .collect()
    }

    /// A transition was taken; its line in the trace is the next one.
    pub(super) fn remember(
        &mut self,
        at_ms: Instant,
        member: &Member,
        (line, held): (TransitionId, u64),
    ) {
        let Some(machine) = self.family.member(member) else { return };
        let (most, seq) = (machine.tables().history_kept, self.tracer.seq + 1);
        self.history.put(member, most, Taken { at_ms, seq, line, held });
    }

    /// Takes back what a saved run remembered.
    pub(super) fn recall_history(&mut self, saved: &[(Member, Told)]) {
        for (member, told) in saved {
            let Some(machine) = self.family.member(member) else { continue };
            let tables = machine.tables();
            let lines: Vec<_> = told.lines.iter().map(|what| transition(&tables, what)).collect();
            for (at_ms, seq, nth) in &told.taken {
                if let Some(Some((line, held))) = lines.get(*nth) {
                    let (line, held) = (*line, *held);
                    let taken = Taken { at_ms: *at_ms, seq: *seq, line, held };
                    self.history.put(member, tables.history_kept, taken);
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
