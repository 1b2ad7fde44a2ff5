//! The names of agents, and a hash table from names to places.

/// The maximum length in bytes of a name that is stored inline.
const SHORT: usize = 22;

/// The name of an agent. A short name is stored inline, so that a lookup reads no other memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Short(u8, [u8; SHORT]),
    Long(Box<str>),
}

impl Name {
    pub(super) fn new(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            Some(short) => {
                short.copy_from_slice(name.as_bytes());
                Self::Short(name.len() as u8, bytes)
            }
            None => Self::Long(name.into()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(name) => name.as_bytes(),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            // The bytes come from a `str`, so they are valid UTF-8.
            Self::Short(..) => str::from_utf8(self.bytes()).unwrap_or_default(),
            Self::Long(name) => name,
        }
    }
}

/// A hash table from names to places. Names are never removed.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Pairs of hash and place. The length is a power of two, and at least a quarter of the table is empty.
    table: Vec<Option<(u32, u32)>>,
    count: usize,
}

impl Names {
    /// The place of a name with this hash for which `is_it` is true.
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.first(hash)?;
        while let Some((other, place)) = self.table[at] {
            if other == hash && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        None
    }

    /// Adds a name that is not in the table.
    pub(super) fn add(&mut self, hash: u32, place: u32) {
        if self.count >= self.table.len() / 4 * 3 {
            let larger = (2 * self.table.len()).max(8);
            let old = std::mem::replace(&mut self.table, vec![None; larger]);
            old.into_iter().flatten().for_each(|(hash, place)| self.put(hash, place));
        }
        self.put(hash, place);
        self.count += 1;
    }

    fn put(&mut self, hash: u32, place: u32) {
        let Some(mut at) = self.first(hash) else { return };
        while self.table[at].is_some() {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = Some((hash, place));
    }

    fn first(&self, hash: u32) -> Option<usize> {
        Some(hash as usize & self.table.len().checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_come_back() {
        for length in 0..60 {
            let name = "ü".repeat(length / 2) + &"x".repeat(length % 2);
            assert_eq!(Name::new(&name).text(), name);
            assert_eq!(Name::new(&name).bytes(), name.as_bytes());
        }
        assert_eq!(size_of::<Name>(), 24);
    }

    #[test]
    fn what_has_the_same_hash_is_told_apart() {
        let mut names = Names::default();
        assert_eq!(names.find(7, |_| true), None);
        for place in 0..1000 {
            names.add(place % 10, place);
        }
        for place in 0..1000 {
            assert_eq!(names.find(place % 10, |other| other == place), Some(place));
        }
        assert_eq!(names.find(3, |other| other == 1000), None);
    }
}
