//! The ids of the events that an agent has taken, with its replies.
//!
//! An id of up to 15 bytes is stored as it is. Of a longer id, 120 bits of its hash under the engine's key are stored. If an agent
//! remembers 10,000 ids, a new id collides with one of them with a probability of 10^-32. Without the key, nobody can raise it.

use crate::agents::{Reply, SEEN};
use chartc_core::machine::{Instant, Receipt};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hash128, SipHasher24};
use std::hash::{BuildHasher, RandomState};

/// The receipts, by the numbers that encode them.
const RECEIPTS: [Receipt; 5] =
    [Receipt::Handled, Receipt::Unhandled, Receipt::Busy, Receipt::Closed, Receipt::Refused];
/// The first of the bits that an [`Id`] leaves free for a receipt.
const SHIFT: u32 = 61;
const LOWER: u64 = (1 << SHIFT) - 1;
/// The value in place of the length if the id is stored as a hash.
const HASHED: u64 = 16 << 56;
/// If an agent has more ids than this, it has an index of them.
const FEW: usize = 16;
/// The bits of an index entry that hold a place.
const PLACE: u16 = (1 << 14) - 1;
const _: () = assert!(SEEN < PLACE as usize);

/// An id in 125 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id([u64; 2]);

impl Id {
    pub(super) fn of(key: Key, id: &str) -> Self {
        if id.len() < 16 {
            let mut bytes = [0; 16];
            bytes[..id.len()].copy_from_slice(id.as_bytes());
            bytes[15] = id.len() as u8;
            let (words, _) = bytes.as_chunks::<8>();
            return Self([u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]);
        }
        let [first, second] = key.hash(id.as_bytes());
        Self([first, second & (u64::MAX >> 8) | HASHED])
    }

    /// The position in an index at which a search begins.
    fn place(self) -> usize {
        (self.mixed() >> 32) as usize
    }

    /// The two bits of the hash in an index entry, already in position. Three of four other ids differ in them.
    fn mark(self) -> u16 {
        (self.mixed() >> 48) as u16 & !PLACE
    }

    fn mixed(self) -> u64 {
        let mixed = self.0[0] ^ self.0[1].rotate_left(29);
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// An id and the reply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The highest bits hold the receipt.
    id: [u64; 2],
    at: Instant,
}

impl Entry {
    fn new(Id([first, second]): Id, reply: Reply) -> Self {
        let receipt = RECEIPTS.iter().position(|known| *known == reply.receipt).unwrap_or(0);
        Self { id: [first, second | (receipt as u64) << SHIFT], at: reply.at }
    }

    fn id(self) -> Id {
        Id([self.id[0], self.id[1] & LOWER])
    }

    fn reply(self) -> Reply {
        let receipt = RECEIPTS.get((self.id[1] >> SHIFT) as usize).copied();
        Reply { receipt: receipt.unwrap_or(Receipt::Refused), at: self.at, is_repeated: true }
    }
}

/// The ids that an agent remembers.
#[derive(Debug, Default)]
pub(super) enum Ids {
    #[default]
    None,
    One(Entry),
    Many(Box<Many>),
}

#[derive(Debug, Default)]
pub(super) struct Many {
    /// The entries. Once full, a ring buffer.
    ring: Vec<Entry>,
    /// The place of the oldest entry in a full ring.
    oldest: u16,
    /// A hash table. An entry is a place in the ring plus 1, below two bits of the hash. Forgotten ids stay in it until it is rebuilt.
    index: Vec<u16>,
    used: usize,
}

impl Ids {
    /// The reply to an event that was taken under this id.
    pub(super) fn reply(&self, id: Id) -> Option<Reply> {
        let entry = match self {
            Self::None => None,
            Self::One(entry) => Some(entry).filter(|entry| entry.id() == id),
            Self::Many(many) => many.find(id),
        };
        entry.map(|entry| entry.reply())
    }

    /// Remembers the reply to a new id. If there would be more than `most` ids, the oldest is forgotten.
    pub(super) fn remember(&mut self, id: Id, reply: Reply, most: usize) {
        let entry = Entry::new(id, reply);
        match self {
            Self::None | Self::One(_) if most < 2 => {
                *self = if most == 0 { Self::None } else { Self::One(entry) };
            }
            Self::None => *self = Self::One(entry),
            Self::One(first) => {
                let mut many = Box::<Many>::default();
                many.add(*first, most);
                many.add(entry, most);
                *self = Self::Many(many);
            }
            Self::Many(many) => many.add(entry, most),
        }
    }

    /// The entries as numbers, the oldest first.
    pub(super) fn save(&self) -> Vec<[u64; 3]> {
        let number = |entry: &Entry| [entry.id[0], entry.id[1], entry.at];
        match self {
            Self::None => Vec::new(),
            Self::One(entry) => vec![number(entry)],
            Self::Many(many) => {
                let (new, old) = many.ring.split_at(many.oldest.into());
                old.iter().chain(new).map(number).collect()
            }
        }
    }

    /// Reads what [`Ids::save`] returned.
    pub(super) fn load(saved: &[[u64; 3]], most: usize) -> Self {
        let mut ids = Self::None;
        for [first, second, at] in saved.iter().skip(saved.len().saturating_sub(most)) {
            let entry = Entry { id: [*first, *second], at: *at };
            ids.remember(entry.id(), entry.reply(), most);
        }
        ids
    }
}

impl Many {
    fn find(&self, id: Id) -> Option<&Entry> {
        if self.index.is_empty() {
            return self.ring.iter().find(|entry| entry.id() == id);
        }
        let mut at = id.place() & (self.index.len() - 1);
        while let Some(place) = (self.index[at] & PLACE).checked_sub(1) {
            // Compares the two bits first, because reading the ring is another access to memory.
            if self.index[at] & !PLACE == id.mark() {
                let entry = &self.ring[usize::from(place)];
                if entry.id() == id {
                    return Some(entry);
                }
            }
            at = (at + 1) & (self.index.len() - 1);
        }
        None
    }

    fn add(&mut self, entry: Entry, most: usize) {
        let place = if self.ring.len() < most {
            if self.ring.len() == self.ring.capacity() {
                // Grows by half: most agents take a limited number of events, so doubling would waste memory.
                let more = (self.ring.len() / 2).max(2).min(most - self.ring.len());
                self.ring.reserve_exact(more);
            }
            self.ring.push(entry);
            self.ring.len() - 1
        } else {
            let place = usize::from(self.oldest);
            self.ring[place] = entry;
            self.oldest = ((place + 1) % most) as u16;
            place
        };
        if self.ring.len() <= FEW {
            return;
        }
        if self.used >= self.index.len() / 4 * 3 {
            // Rebuilding removes the forgotten ids.
            self.used = 0;
            self.index = vec![0; (2 * self.ring.len()).next_power_of_two()];
            (0..self.ring.len()).for_each(|place| self.point_to(place));
        } else {
            self.point_to(place);
        }
    }

    fn point_to(&mut self, place: usize) {
        let mut at = self.ring[place].id().place() & (self.index.len() - 1);
        while self.index[at] != 0 {
            at = (at + 1) & (self.index.len() - 1);
        }
        self.index[at] = (place as u16 + 1) | self.ring[place].id().mark();
        self.used += 1;
    }
}

// Keyed hashes. Without the key, nobody can construct two texts with the same hash.

/// The key of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64, pub(super) u64);

impl Key {
    /// A random key.
    pub(super) fn random() -> Self {
        let random = RandomState::new();
        Self(random.hash_one(0), random.hash_one(1))
    }

    /// A hash for a table that also compares the texts: SipHash-1-3, as in the maps of the standard library.
    pub(super) fn place(self, text: &[u8]) -> u64 {
        SipHasher13::new_with_keys(self.0, self.1).hash(text)
    }

    /// A hash of 128 bits that is stored instead of the text: SipHash-2-4.
    pub(super) fn hash(self, text: &[u8]) -> [u64; 2] {
        let Hash128 { h1, h2 } = SipHasher24::new_with_keys(self.0, self.1).hash(text);
        [h1, h2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key(1, 2);

    fn reply(at: Instant) -> Reply {
        Reply { receipt: RECEIPTS[at as usize % 5], at, is_repeated: false }
    }

    /// Short ids, and long ones that differ at one place.
    fn id(nth: u64) -> Id {
        let long = if nth.is_multiple_of(2) { "an id that is too long to be kept " } else { "" };
        Id::of(KEY, &format!("{long}{nth}"))
    }

    #[test]
    fn each_id_has_the_reply_that_it_was_given_until_it_is_the_oldest_of_too_many() {
        let seen = SEEN as u64;
        let mut ids = Ids::default();
        for nth in 0..3 * seen {
            assert_eq!(ids.reply(id(nth)), None, "{nth}");
            ids.remember(id(nth), reply(nth), SEEN);
            if nth < 40 || nth % 997 == 0 {
                for old in (0..=nth).rev().take(SEEN + 20) {
                    let wanted = Reply { is_repeated: true, ..reply(old) };
                    let wanted = Some(wanted).filter(|_| nth - old < seen);
                    assert_eq!(ids.reply(id(old)), wanted, "{old} of {nth}");
                }
            }
        }
        let again = Ids::load(&ids.save(), SEEN);
        assert_eq!(again.save(), ids.save());
        assert_eq!(again.save().len(), SEEN);
        assert!(again.reply(id(2 * seen)).is_some() && again.reply(id(2 * seen - 1)).is_none());
    }

    #[test]
    fn a_smaller_bound_is_kept() {
        for most in 0..5 {
            let mut ids = Ids::default();
            for nth in 0..20 {
                ids.remember(id(nth), reply(nth), most);
                let kept = (0..20).filter(|old| ids.reply(id(*old)).is_some()).collect::<Vec<_>>();
                assert_eq!(kept, ((nth + 1).saturating_sub(most as u64)..=nth).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn ids_of_any_length_are_told_apart() {
        let texts = (0..40).map(|length| "x".repeat(length));
        let zeros = (1..40).map(|length| "\0".repeat(length));
        let texts: Vec<String> = texts.chain(zeros).collect();
        for (a, one) in texts.iter().enumerate() {
            for (b, other) in texts.iter().enumerate() {
                assert_eq!(Id::of(KEY, one) == Id::of(KEY, other), a == b, "{one:?} {other:?}");
            }
        }
        assert_ne!(Id::of(KEY, &texts[30]), Id::of(Key(1, 3), &texts[30]));
    }

    #[test]
    fn few_ids_take_few_bytes() {
        assert_eq!(size_of::<Ids>(), 32);
        let mut ids = Ids::default();
        for nth in 0..=9 {
            ids.remember(id(nth), reply(nth), SEEN);
        }
        let Ids::Many(many) = ids else { panic!("ten are many") };
        assert!(many.ring.capacity() <= 16 && many.index.is_empty());
    }
}

#[cfg(test)]
mod hash_tests {
    use super::*;

    /// The first two test vectors of the authors.
    #[test]
    fn it_is_the_hash_of_its_authors() {
        let key = Key(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let wanted = ["a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45"];
        for (length, wanted) in wanted.into_iter().enumerate() {
            let text: Vec<u8> = (0..length as u8).collect();
            let hash = key.hash(&text).map(u64::to_le_bytes).concat();
            let found: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, wanted);
        }
    }
}
