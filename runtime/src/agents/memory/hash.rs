//! A keyed hash of 128 bits: who does not know the key cannot make two texts that have the same one.

use std::hash::{BuildHasher, RandomState};

/// The key of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64, pub(super) u64);

impl Key {
    /// One that nobody knows.
    pub(super) fn random() -> Self {
        let random = RandomState::new();
        Self(random.hash_one(0), random.hash_one(1))
    }

    /// The hash of a text. Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012, with its output of 128 bits.
    pub(super) fn hash(self, text: &[u8]) -> [u64; 2] {
        let mut v = [
            self.0 ^ 0x736f_6d65_7073_6575,
            self.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            self.0 ^ 0x6c79_6765_6e65_7261,
            self.1 ^ 0x7465_6462_7974_6573,
        ];
        let mut absorb = |word: u64| {
            v[3] ^= word;
            rounds(&mut v, 2);
            v[0] ^= word;
        };
        let (words, rest) = text.as_chunks::<8>();
        for word in words {
            absorb(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        last[7] = text.len() as u8;
        absorb(u64::from_le_bytes(last));
        v[2] ^= 0xee;
        rounds(&mut v, 4);
        let first = v[0] ^ v[1] ^ v[2] ^ v[3];
        v[1] ^= 0xdd;
        rounds(&mut v, 4);
        [first, v[0] ^ v[1] ^ v[2] ^ v[3]]
    }
}

fn rounds(v: &mut [u64; 4], count: usize) {
    for _ in 0..count {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two of the vectors that the authors give.
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
