//! The history of a run: the last transitions of each chart, as many as its `trace` line says.

use super::Session;
use crate::trace::{self, Line, What};
use chartc_core::arena::TransitionId;
use chartc_core::family::MemberPath;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, StepKey};
use chartc_core::tables::{Tables, Text};
use serde::{Deserialize, Serialize};

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

/// The last transitions of a run and its child charts.
#[derive(Debug)]
pub(super) struct History {
    own: TransitionRing,
    /// The transitions of child charts, in the order of their first transitions. Most runs have none.
    #[allow(
        clippy::box_collection,
        reason = "a `Vec` would take three times the memory in runs without children"
    )]
    others: Option<Box<Vec<(MemberPath, TransitionRing)>>>,
}

impl History {
    pub(super) const fn new() -> Self {
        Self { own: TransitionRing::new(), others: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.others.is_none()
    }

    /// The transitions of each chart, those of the run's own chart first.
    fn iter(&self) -> impl Iterator<Item = (&[StepKey], &TransitionRing)> {
        let others = self.others.iter().flat_map(|others| others.iter());
        let own: (&[StepKey], &TransitionRing) = (&[], &self.own);
        [own]
            .into_iter()
            .chain(others.map(|(member, transition_ring)| (&member[..], transition_ring)))
    }

    fn put(&mut self, member: &[StepKey], most: usize, taken: Taken) {
        if member.is_empty() {
            return self.own.push(most, taken);
        }
        let others = self.others.get_or_insert_default();
        let place = others.iter().position(|(of, _)| of == member).unwrap_or_else(|| {
            others.push((member.to_vec(), TransitionRing::new()));
            others.len() - 1
        });
        others[place].1.push(most, taken);
    }

    /// Forgets the transitions of a child chart that has ended.
    pub(super) fn forget(&mut self, member: &[StepKey]) {
        if let Some(others) = &mut self.others {
            others.retain(|(of, _)| of != member);
        }
        self.others.take_if(|others| others.is_empty());
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
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
        let kept = self.extra.history.iter().find(|(of, _)| *of == &member[..]);
        let (Some(machine), Some((_, kept))) = (self.family.member(member), kept) else {
            return Vec::new();
        };
        let (tables, child) = (machine.tables(), self.path(member));
        let line = |taken: Taken| Line {
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
        let told = |(member, kept): (&[StepKey], &TransitionRing)| {
            let machine = self.family.member(member)?;
            let (tables, child) = (machine.tables(), self.path(member));
            let (mut ids, mut lines, mut taken) = (Vec::new(), Vec::new(), Vec::new());
            for Taken { at_ms, seq, line, held } in kept.iter() {
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
        let kept =
            self.extra.history.iter().filter(|(_, transition_ring)| !transition_ring.is_empty());
        let mut all: Vec<(MemberPath, SavedHistory)> = kept.filter_map(told).collect();
        // Paths compare element by element, so a parent precedes its children.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    /// Adds a transition to the history. `before` is the number of lines that precede its line and are not yet counted in `seq`.
    pub(super) fn remember(
        &mut self,
        at_ms: Instant,
        member: &MemberPath,
        before: u64,
        (line, held): (TransitionId, u64),
    ) {
        let most = if member.is_empty() {
            self.most(self.family.root().tables())
        } else {
            let Some(machine) = self.family.member(member) else { return };
            self.most(machine.tables())
        };
        if most > 0 {
            let seq = self.tracer.seq + before + 1;
            self.extra.history.put(member, most, Taken { at_ms, seq, line, held });
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
                    self.extra.history.put(member, most, taken);
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

// A compact ring buffer of the last transitions of a chart, of a few bytes each.

/// A transition that was taken, with the number of its trace line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) at_ms: Instant,
    pub(super) seq: u64,
    pub(super) line: TransitionId,
    /// The alternatives of its guard that held, as a bit mask.
    pub(super) held: u64,
}

/// The last transitions of a chart, oldest first. Each is stored as four numbers in LEB128: the time since the previous transition, the
/// distance from its trace line, the id, and the alternatives of the guard that held.
#[derive(Debug)]
pub(super) struct TransitionRing {
    /// The ring buffer. Its length is 0 or a power of two.
    ring: Vec<u8>,
    /// The position of the oldest byte, and the number of bytes. The position is not wrapped; [`TransitionRing::place`] does that.
    start: u32,
    used: u32,
    len: u32,
    /// The time and the trace line of the newest transition.
    last: (Instant, u64),
}

/// The maximum number of bytes per number.
const LONGEST: usize = 10;

impl TransitionRing {
    pub(super) const fn new() -> Self {
        Self { ring: Vec::new(), start: 0, used: 0, len: 0, last: (0, 0) }
    }

    /// Adds a transition. If there are already `most`, the oldest is removed.
    pub(super) fn push(&mut self, most: usize, taken: Taken) {
        while self.len > 0 && self.len as usize >= most {
            self.drop_first();
        }
        let Taken { at_ms, seq, line, held } = taken;
        // Wrapping differences can represent any two times, also ones that go back.
        let later = [at_ms.wrapping_sub(self.last.0), seq.wrapping_sub(self.last.1)];
        let numbers = [later[0], later[1], line.0.into(), held];
        if self.ring.len() < self.used as usize + 4 * LONGEST {
            // Each number takes one byte per 7 bits, at least one.
            let needed =
                numbers.iter().map(|number| (70 - number.leading_zeros()) / 7).map(|n| n.max(1));
            self.reserve(needed.sum());
        }
        // The common case: all four numbers are below 128, and their place does not wrap around.
        let short = (numbers[0] | numbers[1] | numbers[2] | numbers[3]) < 0x80;
        let at = self.place(self.used);
        if let (true, Some(places)) = (short, self.ring.get_mut(at..at + 4)) {
            places.copy_from_slice(&numbers.map(|number| number as u8));
            self.used += 4;
        } else {
            for number in numbers {
                self.write(number);
            }
        }
        self.last = (at_ms, seq);
        self.len += 1;
    }

    /// All transitions, oldest first. The first one's time follows from the newest by subtracting all differences.
    pub(super) fn iter(&self) -> impl Iterator<Item = Taken> + '_ {
        let before = |(at_ms, seq): (Instant, u64), [later, further, ..]: [u64; 4]| {
            (at_ms.wrapping_sub(later), seq.wrapping_sub(further))
        };
        let (mut at_ms, mut seq) = self.packed().fold(self.last, before);
        self.packed().map(move |[later, further, line, held]| {
            (at_ms, seq) = (at_ms.wrapping_add(later), seq.wrapping_add(further));
            let line = TransitionId(u32::try_from(line).unwrap_or(u32::MAX));
            Taken { at_ms, seq, line, held }
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The index in the ring of a byte, counted from the oldest.
    fn place(&self, nth: u32) -> usize {
        self.start.wrapping_add(nth) as usize & (self.ring.len().wrapping_sub(1))
    }

    fn write(&mut self, mut number: u64) {
        loop {
            let (byte, at) = (number as u8 & 0x7f, self.place(self.used));
            number >>= 7;
            self.ring[at] = if number == 0 { byte } else { byte | 0x80 };
            self.used += 1;
            if number == 0 {
                break;
            }
        }
    }

    fn drop_first(&mut self) {
        self.len -= 1;
        let at = self.place(0);
        if let Some([a, b, c, d]) = self.ring.get(at..at + 4)
            && (a | b | c | d) < 0x80
        {
            self.start = self.start.wrapping_add(4);
            self.used -= 4;
            return;
        }
        let mut numbers = 4;
        while numbers > 0 && self.used > 0 {
            let byte = self.ring[self.place(0)];
            numbers -= u32::from(byte < 0x80);
            self.start = self.start.wrapping_add(1);
            self.used -= 1;
        }
    }

    /// Makes room for `more` bytes.
    fn reserve(&mut self, more: u32) {
        let wanted = self.used as usize + more as usize;
        if wanted <= self.ring.len() {
            return;
        }
        let mut ring = vec![0; wanted.next_power_of_two().max(8)];
        for (byte, place) in self.bytes().zip(&mut ring) {
            *place = byte;
        }
        (self.ring, self.start) = (ring, 0);
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.used).map(|nth| self.ring[self.place(nth)])
    }

    fn packed(&self) -> impl Iterator<Item = [u64; 4]> + '_ {
        let mut bytes = self.bytes();
        (0..self.len).map(move |_| std::array::from_fn(|_| read(&mut bytes)))
    }
}

fn read(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let mut number = 0;
    for (byte, shift) in bytes.zip((0..64).step_by(7)) {
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_come_back_as_they_were() {
        let all: Vec<Taken> = (0..300_u64)
            .map(|n| Taken {
                at_ms: n * n * 1_000_003,
                seq: n * 7 + 1,
                line: TransitionId(if n % 3 == 0 { u32::MAX } else { n as u32 }),
                held: if n % 5 == 0 { u64::MAX - n } else { 0 },
            })
            .collect();
        for most in [1, 2, 100, 299, 300, 1000] {
            let mut transition_ring = TransitionRing::new();
            for taken in &all {
                transition_ring.push(most, *taken);
            }
            let kept: Vec<Taken> = transition_ring.iter().collect();
            assert_eq!(kept, all[all.len().saturating_sub(most)..], "{most}");
        }
    }
}
