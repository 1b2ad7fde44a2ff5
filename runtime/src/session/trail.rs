//! The last transitions that were taken, encoded in a few bytes each.

use chartc_core::arena::TransitionId;
use chartc_core::machine::Instant;
use std::collections::VecDeque;

/// A transition that was taken, and its place in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) at_ms: Instant,
    pub(super) seq: u64,
    pub(super) line: TransitionId,
    /// The alternatives of its guard that held, as bits.
    pub(super) held: u64,
}

/// The last transitions of a chart, the oldest first. Each consists of four numbers in LEB128: the difference of its time to the one before, the
/// difference of its place in the trace, its line, and the alternatives that held.
#[derive(Debug)]
pub(super) struct Trail {
    bytes: VecDeque<u8>,
    len: usize,
    /// Time and place of the newest.
    last: (Instant, u64),
}

impl Trail {
    pub(super) const fn new() -> Self {
        Self { bytes: VecDeque::new(), len: 0, last: (0, 0) }
    }

    /// Adds a transition. If there are `most` already, the oldest is removed.
    pub(super) fn push(&mut self, most: usize, taken: Taken) {
        while self.len > 0 && self.len >= most {
            let mut bytes = std::iter::from_fn(|| self.bytes.pop_front());
            numbers(&mut bytes);
            self.len -= 1;
        }
        let Taken { at_ms, seq, line, held } = taken;
        let later = [at_ms.wrapping_sub(self.last.0), seq.wrapping_sub(self.last.1)];
        for number in later.into_iter().chain([u64::from(line.0), held]) {
            self.write(number);
        }
        self.last = (at_ms, seq);
        self.len += 1;
    }

    /// All of them, the oldest first.
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

    fn packed(&self) -> impl Iterator<Item = [u64; 4]> + '_ {
        let mut bytes = self.bytes.iter().copied();
        (0..self.len).map(move |_| numbers(&mut bytes))
    }

    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push_back((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push_back(number as u8);
    }
}

fn numbers(bytes: &mut impl Iterator<Item = u8>) -> [u64; 4] {
    std::array::from_fn(|_| read(bytes))
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
            let mut trail = Trail::new();
            for taken in &all {
                trail.push(most, *taken);
            }
            let kept: Vec<Taken> = trail.iter().collect();
            assert_eq!(kept, all[all.len().saturating_sub(most)..], "{most}");
        }
    }
}
