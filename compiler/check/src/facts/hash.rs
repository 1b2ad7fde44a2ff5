//! A fast hash for maps whose keys no attacker chooses, so that protection against crafted collisions is not needed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map that is only looked up, never iterated: its order is arbitrary, and no output may depend on it.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Hashes word by word: rotates, xors and multiplies.
#[derive(Default)]
pub(crate) struct Quick(u64);

impl Quick {
    const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.word(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.word(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn finish(&self) -> u64 {
        // The multiplication mixes the low bits least, and the table indexes by them: fold the high bits in.
        self.0 ^ (self.0 >> 29)
    }
}
