//! Bit sets over slices of 64-bit words; the bit at index `i` is bit `i % 64` of word `i / 64`.

/// The number of words for `bits` bits.
#[inline]
pub const fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// Whether bit `i` is set; false beyond the end.
#[inline]
pub fn has(set: &[u64], i: usize) -> bool {
    set.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
}

/// Sets bit `i`, which must be within the set.
#[inline]
pub fn insert(set: &mut [u64], i: usize) {
    set[i / 64] |= 1 << (i % 64);
}

/// Sets bit `i`, unless it is beyond the end.
#[inline]
pub fn add(set: &mut [u64], i: usize) {
    if let Some(word) = set.get_mut(i / 64) {
        *word |= 1 << (i % 64);
    }
}

/// Clears bit `i`, which must be within the set.
#[inline]
pub fn remove(set: &mut [u64], i: usize) {
    set[i / 64] &= !(1 << (i % 64));
}

/// Clears bit `i`, unless it is beyond the end.
#[inline]
pub fn drop(set: &mut [u64], i: usize) {
    if let Some(word) = set.get_mut(i / 64) {
        *word &= !(1 << (i % 64));
    }
}

/// Clears every bit.
#[inline]
pub fn clear(set: &mut [u64]) {
    set.fill(0);
}

/// The set bits, ascending.
pub fn iter(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let end = set.len() * 64;
    let next = move |from: usize| first_in(set, from, end);
    core::iter::successors(next(0), move |found| next(found + 1))
}

/// The first set bit in `from..to`; `to` must not exceed the set.
#[inline]
pub fn first_in(set: &[u64], from: usize, to: usize) -> Option<usize> {
    let mut i = from;
    while i < to {
        let word = set[i / 64] >> (i % 64);
        if word != 0 {
            let found = i + word.trailing_zeros() as usize;
            // The last word may have bits behind the range.
            return (found < to).then_some(found);
        }
        i = (i / 64 + 1) * 64;
    }
    None
}

/// Whether two sets have a bit in common.
pub fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(x, y)| x & y != 0)
}
