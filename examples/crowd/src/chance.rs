//! Pseudo-random numbers that depend only on their arguments, not on the order of the calls or on the thread.

/// A pseudo-random number computed from other numbers.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
pub fn number(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |mixed: u64, part| {
        let mut z = mixed.wrapping_add(*part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// A text as an argument of [`number`].
pub fn text(text: &str) -> u64 {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A number from 0 up to 1.
pub fn share(parts: &[u64]) -> f64 {
    (number(parts) >> 11) as f64 / (1_u64 << 53) as f64
}

/// One of several; there is at least one.
pub fn one<'a, T>(of: &'a [T], parts: &[u64]) -> &'a T {
    &of[(number(parts) % of.len() as u64) as usize]
}
