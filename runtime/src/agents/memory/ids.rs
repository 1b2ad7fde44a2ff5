//! The ids of the events that an agent has taken, with its replies.

use crate::agents::Reply;
use chartc_core::machine::Receipt;
use indexmap::IndexMap;
use siphasher::sip128::{Hash128, SipHasher24};

/// The ids that an agent remembers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// In the order of the events. The first `forgotten` ids count as unknown.
    replies: IndexMap<Box<str>, Reply>,
    forgotten: usize,
    /// The long ids of a snapshot that an earlier version wrote, which kept only their hashes.
    hashed: Option<Box<HashedIds>>,
}

impl Ids {
    /// The ids of a snapshot, the oldest first.
    pub(super) fn of(saved: Vec<(Box<str>, Reply)>, hashed: Option<HashedIds>) -> Self {
        Self { replies: saved.into_iter().collect(), forgotten: 0, hashed: hashed.map(Box::new) }
    }

    /// The reply to an event that was taken under this id.
    pub(super) fn reply(&self, id: &str) -> Option<Reply> {
        let hashed = || self.hashed.as_ref()?.reply(id);
        let known = self.replies.get_full(id).filter(|(at, ..)| *at >= self.forgotten);
        let reply = known.map(|(.., reply)| *reply).or_else(hashed)?;
        Some(Reply { is_repeated: true, ..reply })
    }

    /// Remembers the reply to a new id. If there would be more than `most` ids, the oldest is forgotten.
    pub(super) fn remember(&mut self, id: &str, reply: Reply, most: usize) {
        if most == 0 {
            return;
        }
        if self.replies.len() - self.forgotten >= most {
            self.forgotten += 1;
        }
        // Removing one id moves all others, so many are removed together.
        if self.forgotten >= most || self.replies.contains_key(id) {
            self.replies.drain(..self.forgotten);
            self.forgotten = 0;
        }
        // Most agents of a large population have taken few events.
        if self.replies.is_empty() {
            self.replies.reserve_exact(1);
        }
        self.replies.insert(id.into(), reply);
    }

    /// The ids, the oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Reply)> {
        self.replies.iter().skip(self.forgotten).map(|(id, reply)| (&**id, reply))
    }

    pub(super) fn hashed(&self) -> Option<&HashedIds> {
        self.hashed.as_deref()
    }
}

// Ids in snapshots of version 1: an id of up to 15 bytes as it is, its length behind it; of a longer one the keyed hash.

/// The receipts, by the numbers that encode them in the highest bits of an id.
const RECEIPTS: [Receipt; 5] =
    [Receipt::Handled, Receipt::Unhandled, Receipt::Busy, Receipt::Closed, Receipt::Refused];
const SHIFT: u32 = 61;
/// The value in place of the length if the id is a hash.
const HASHED: u64 = 16;

/// Long ids of which only the hashes under a key are known.
#[derive(Debug, Clone)]
pub(super) struct HashedIds {
    pub(super) key: (u64, u64),
    /// The hash, with the receipt in its highest bits, and the time.
    pub(super) ids: Vec<[u64; 3]>,
}

impl HashedIds {
    fn reply(&self, id: &str) -> Option<Reply> {
        let (first, second) = self.key;
        let Hash128 { h1, h2 } = SipHasher24::new_with_keys(first, second).hash(id.as_bytes());
        let wanted = [h1, h2 & (u64::MAX >> 8) | HASHED << 56];
        let mut ids = self.ids.iter();
        ids.find(|[first, second, _]| [*first, second & low_bits()] == wanted).map(reply)
    }
}

const fn low_bits() -> u64 {
    (1 << SHIFT) - 1
}

fn reply([_, second, at]: &[u64; 3]) -> Reply {
    let receipt = RECEIPTS.get((second >> SHIFT) as usize).copied();
    let receipt = receipt.unwrap_or(Receipt::Refused);
    Reply { receipt, at: *at, is_repeated: false, content: None }
}

/// Reads the ids of a snapshot of version 1.
pub(super) fn read_packed(key: (u64, u64), packed: Vec<[u64; 3]>) -> Ids {
    let is_hashed = |[_, second, _]: &[u64; 3]| (second & low_bits()) >> 56 == HASHED;
    let (hashed, short): (Vec<_>, Vec<_>) = packed.into_iter().partition(is_hashed);
    let text = |[first, second, _]: &[u64; 3]| {
        let bytes = [first.to_le_bytes(), (second & low_bits()).to_le_bytes()].concat();
        let length = usize::from(bytes[15]).min(15);
        String::from_utf8_lossy(&bytes[..length]).into_owned().into_boxed_str()
    };
    let short = short.iter().map(|id| (text(id), reply(id))).collect();
    Ids::of(short, (!hashed.is_empty()).then_some(HashedIds { key, ids: hashed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_at(at: u64) -> Reply {
        Reply { receipt: RECEIPTS[at as usize % 5], at, is_repeated: false, content: Some(at) }
    }

    #[test]
    fn each_id_has_its_reply_until_it_is_the_oldest_of_too_many() {
        for most in 0..5 {
            let mut ids = Ids::default();
            for nth in 0..20_u64 {
                assert_eq!(ids.reply(&nth.to_string()), None, "{nth}");
                ids.remember(&nth.to_string(), reply_at(nth), most);
                for old in 0..=nth {
                    let wanted = Reply { is_repeated: true, ..reply_at(old) };
                    let wanted = Some(wanted).filter(|_| nth - old < most as u64);
                    assert_eq!(ids.reply(&old.to_string()), wanted, "{old} of {nth}");
                }
                assert_eq!(ids.all().count(), most.min(nth as usize + 1), "{nth}");
            }
        }
    }

    #[test]
    fn a_forgotten_id_that_comes_again_is_the_newest() {
        let mut ids = Ids::default();
        for (at, id) in ["a", "b", "c", "d", "a"].iter().enumerate() {
            ids.remember(id, reply_at(at as u64), 3);
        }
        assert_eq!(ids.all().map(|(id, _)| id).collect::<Vec<_>>(), ["c", "d", "a"]);
        assert_eq!(ids.reply("a").map(|reply| reply.at), Some(4));
        assert_eq!(ids.reply("b"), None);
    }

    /// As version 1 wrote them: `a` at 7, handled; 15 letters at 8, refused; and a long id at 9, unhandled.
    #[test]
    fn ids_of_earlier_snapshots_are_known() {
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let packed = |text: &str, receipt: u64, at: u64| {
            let mut bytes = [0; 16];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            bytes[15] = text.len() as u8;
            let word =
                |half: usize| u64::from_le_bytes(bytes[half..half + 8].try_into().expect("8"));
            [word(0), word(8) | receipt << SHIFT, at]
        };
        let long = "an id that is too long to be kept";
        let Hash128 { h1, h2 } = SipHasher24::new_with_keys(key.0, key.1).hash(long.as_bytes());
        let hashed = [h1, h2 & (u64::MAX >> 8) | 16 << 56 | 1 << SHIFT, 9];
        let all = vec![packed("a", 0, 7), packed("fifteen letters", 4, 8), hashed];
        let ids = read_packed(key, all);
        for (id, receipt, at) in [
            ("a", Receipt::Handled, 7),
            ("fifteen letters", Receipt::Refused, 8),
            (long, Receipt::Unhandled, 9),
        ] {
            assert_eq!(
                ids.reply(id),
                Some(Reply { receipt, at, is_repeated: true, content: None }),
                "{id}"
            );
        }
        assert_eq!(ids.reply("b"), None);
        assert_eq!(ids.reply("another id that is too long to keep"), None);
    }
}
