//! Keyed hashes. Without the key, nobody can construct two texts with the same hash.

use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hash128, SipHasher24};
use std::hash::{BuildHasher, RandomState};

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
