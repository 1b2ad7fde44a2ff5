//! The internal queue: a ring, of fixed size without an allocator, otherwise growing up to a bound.

use super::Occurrence;

/// The storage of a ring. The owner keeps its head and length.
#[derive(Debug)]
pub enum Places<'c> {
    /// A fixed capacity.
    Fixed(&'c mut [Occurrence]),
    /// A growing capacity, up to a bound.
    #[cfg(feature = "alloc")]
    Growing(&'c mut alloc::vec::Vec<Occurrence>, usize),
}

impl Places<'_> {
    /// The occurrence at a position.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Occurrence {
        self.all()[place as usize]
    }

    /// The position after another.
    #[inline]
    pub(crate) fn after(&self, place: u32) -> u32 {
        (place + 1) % self.all().len() as u32
    }

    fn all(&self) -> &[Occurrence] {
        match self {
            Self::Fixed(places) => places,
            #[cfg(feature = "alloc")]
            Self::Growing(places, _) => places,
        }
    }

    /// Appends an occurrence to the ring; false if it is full.
    pub(crate) fn push(&mut self, head: &mut u32, len: &mut u32, occurrence: Occurrence) -> bool {
        let end = *len as usize;
        #[cfg(feature = "alloc")]
        if let Self::Growing(places, bound) = self
            && end == places.len()
        {
            places.rotate_left(*head as usize);
            *head = 0;
            places.resize((2 * end + 8).min(*bound), Occurrence::Turn);
        }
        let places = match self {
            Self::Fixed(places) => &mut **places,
            #[cfg(feature = "alloc")]
            Self::Growing(places, _) => places,
        };
        if end >= places.len() {
            return false;
        }
        let tail = (*head as usize + end) % places.len();
        places[tail] = occurrence;
        *len += 1;
        true
    }
}

/// Storage in an array.
#[derive(Debug, Clone)]
pub(super) struct Few<const Q: usize>(pub(super) [Occurrence; Q]);

impl<const Q: usize> Few<Q> {
    #[inline]
    pub(super) fn lend(&mut self) -> Places<'_> {
        Places::Fixed(&mut self.0)
    }
}

/// Storage in a vector.
#[cfg(feature = "alloc")]
#[derive(Debug)]
pub(super) struct Many {
    pub(super) places: alloc::vec::Vec<Occurrence>,
    pub(super) bound: usize,
}

#[cfg(feature = "alloc")]
impl Many {
    pub(super) const fn new(bound: usize) -> Self {
        Self { places: alloc::vec::Vec::new(), bound }
    }

    #[inline]
    pub(super) fn lend(&mut self) -> Places<'_> {
        Places::Growing(&mut self.places, self.bound)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::{Few, Many, Occurrence, Places};
    use crate::arena::EventId;

    fn fill(mut places: Places<'_>, bound: u32) {
        let (mut head, mut len, mut taken) = (0, 0, 0);
        let event = |n| Occurrence::Event(EventId(n));
        for n in 0..bound {
            assert!(places.push(&mut head, &mut len, event(n)));
        }
        assert!(!places.push(&mut head, &mut len, event(99)));
        for n in bound..4 * bound {
            assert_eq!(places.at(head), event(taken));
            head = places.after(head);
            len -= 1;
            taken += 1;
            assert!(places.push(&mut head, &mut len, event(n)));
        }
    }

    #[test]
    fn a_ring_keeps_the_order_up_to_its_bound() {
        fill(Few([Occurrence::Turn; 5]).lend(), 5);
        fill(Many::new(5).lend(), 5);
        fill(Many::new(100).lend(), 100);
    }

    #[test]
    fn a_ring_that_has_wrapped_keeps_its_order_when_it_grows() {
        let mut queue = Many::new(1000);
        let mut places = queue.lend();
        let (mut head, mut len, mut next) = (0, 0, 0);
        for n in 0..200 {
            assert!(places.push(&mut head, &mut len, Occurrence::Event(EventId(n))));
            if n % 3 == 0 {
                assert_eq!(places.at(head), Occurrence::Event(EventId(next)));
                head = places.after(head);
                len -= 1;
                next += 1;
            }
        }
        assert_eq!(len, 200 - next);
    }
}
