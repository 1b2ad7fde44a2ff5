//! Where an agent is, by its name: an index of places into the slots, which have the names.

/// Places by the hashes of names. A name is never taken out.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Hash and place; the length is a power of two, and a quarter is empty.
    table: Vec<Option<(u32, u32)>>,
    count: usize,
}

impl Names {
    /// The place under a hash that is the one of the name, as `is_it` tells.
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

    /// Adds one that is not there.
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
