//! A compact ring buffer of the last transitions of a chart, of a few bytes each.

use chartc_core::arena::TransitionId;
use chartc_core::machine::Instant;

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
