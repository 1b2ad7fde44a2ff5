//! The internal queue of raised events and other occurrences: a ring buffer. Without an allocator its size is fixed; with one it grows up
//! to a bound. Between two inputs it is empty and takes almost no memory.

use super::{Occurrence, Sent};

/// The capacity of a growing ring without memory on the heap.
#[cfg(feature = "alloc")]
const FEW: usize = 2;

/// The places of a ring buffer. The engine keeps its head and length.
#[derive(Debug)]
pub enum Places<'c> {
    /// A ring of fixed capacity.
    Fixed(&'c mut [Occurrence]),
    /// A ring that grows up to a bound.
    #[cfg(feature = "alloc")]
    Growing(&'c mut Growing, usize),
}

impl Places<'_> {
    /// The occurrence at a position.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Occurrence {
        self.all()[place as usize]
    }

    /// The position after the given one.
    #[inline]
    pub(crate) fn after(&self, place: u32) -> u32 {
        (place + 1) % self.all().len() as u32
    }

    fn all(&self) -> &[Occurrence] {
        match self {
            Self::Fixed(places) => places,
            #[cfg(feature = "alloc")]
            Self::Growing(ring, _) => ring.all(),
        }
    }

    /// Appends an occurrence to the ring. Returns false if the ring is full.
    pub(crate) fn push(&mut self, head: &mut u32, len: &mut u32, occurrence: Occurrence) -> bool {
        let end = *len as usize;
        let places = match self {
            Self::Fixed(places) => &mut **places,
            #[cfg(feature = "alloc")]
            Self::Growing(ring, bound) => {
                if end == ring.all().len() {
                    ring.grow(head, *bound);
                }
                ring.all_mut()
            }
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

/// A ring that grows. Its bound is stored with the owner.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone)]
pub struct Growing {
    few: [Occurrence; FEW],
    /// All places, once `few` does not suffice.
    #[allow(
        clippy::box_collection,
        reason = "it is absent most of the time, and then takes one word"
    )]
    many: Option<alloc::boxed::Box<alloc::vec::Vec<Occurrence>>>,
}

#[cfg(feature = "alloc")]
impl Growing {
    pub(super) const fn new() -> Self {
        Self { few: [Occurrence::Turn; FEW], many: None }
    }

    fn all(&self) -> &[Occurrence] {
        match &self.many {
            Some(many) => many,
            None => &self.few,
        }
    }

    fn all_mut(&mut self) -> &mut [Occurrence] {
        match &mut self.many {
            Some(many) => many,
            None => &mut self.few,
        }
    }

    /// Makes room in a full ring, and moves its first occurrence to index 0.
    #[cold]
    fn grow(&mut self, head: &mut u32, bound: usize) {
        let few = &self.few;
        let places = self.many.get_or_insert_with(|| alloc::boxed::Box::new(few.to_vec()));
        // New places are appended, so the order must not wrap around the old end.
        places.rotate_left(*head as usize);
        *head = 0;
        places.resize((4 * places.len()).min(bound), Occurrence::Turn);
    }

    #[inline(always)]
    pub(super) const fn has_grown(&self) -> bool {
        self.many.is_some()
    }

    /// Releases the memory of an empty ring.
    pub(super) fn shrink(&mut self) {
        self.many = None;
    }
}

/// The internal queue of a store in arrays. With an allocator, it grows up to `Q` places.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone)]
pub(super) struct Queue<const Q: usize>(Growing);

#[cfg(feature = "alloc")]
impl<const Q: usize> Queue<Q> {
    pub(super) const fn new() -> Self {
        Self(Growing::new())
    }

    #[inline]
    pub(super) fn lend(&mut self) -> Places<'_> {
        Places::Growing(&mut self.0, Q)
    }

    #[inline(always)]
    pub(super) const fn has_grown(&self) -> bool {
        self.0.has_grown()
    }

    pub(super) fn shrink(&mut self) {
        self.0.shrink();
    }
}

/// The internal queue of a store in arrays: `Q` places.
#[cfg(not(feature = "alloc"))]
#[derive(Debug, Clone)]
pub(super) struct Queue<const Q: usize>([Occurrence; Q]);

#[cfg(not(feature = "alloc"))]
impl<const Q: usize> Queue<Q> {
    pub(super) const fn new() -> Self {
        Self([Occurrence::Turn; Q])
    }

    #[inline]
    pub(super) fn lend(&mut self) -> Places<'_> {
        Places::Fixed(&mut self.0)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::{Growing, Occurrence, Places};
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
        fill(Places::Fixed(&mut [Occurrence::Turn; 5]), 5);
        fill(Places::Growing(&mut Growing::new(), 5), 5);
        fill(Places::Growing(&mut Growing::new(), 100), 100);
    }

    #[test]
    fn a_ring_that_has_wrapped_keeps_its_order_when_it_grows() {
        let mut queue = Growing::new();
        let (mut head, mut len, mut next) = (0, 0, 0);
        for n in 0..200 {
            let mut places = Places::Growing(&mut queue, 1000);
            assert!(places.push(&mut head, &mut len, Occurrence::Event(EventId(n))));
            if n % 3 == 0 {
                assert_eq!(places.at(head), Occurrence::Event(EventId(next)));
                head = places.after(head);
                len -= 1;
                next += 1;
            }
        }
        assert_eq!(len, 200 - next);
        assert!(queue.has_grown());
        queue.shrink();
        assert_eq!(queue.all().len(), super::FEW);
    }
}

// The waiting sent events: in an array, or in memory that is allocated only while events wait.

/// The entries for sent events. The engine keeps the number of those that wait.
#[derive(Debug)]
pub enum Sends<'c> {
    /// A fixed capacity.
    Fixed(&'c mut [Sent]),
    /// A growing capacity. The limit is that of the chart.
    #[cfg(feature = "alloc")]
    Growing(&'c mut Waiting),
}

/// The entries for sent events; `None` while no event waits.
#[cfg(feature = "alloc")]
#[allow(clippy::box_collection, reason = "it is absent most of the time, and then takes one word")]
pub(super) type Waiting = Option<alloc::boxed::Box<alloc::vec::Vec<Sent>>>;

/// The sent events of a store in arrays. With an allocator, they take memory only while some wait.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone)]
pub(super) struct Slots<const N: usize>(Waiting);

#[cfg(feature = "alloc")]
impl<const N: usize> Slots<N> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    #[inline]
    pub(super) fn all(&self) -> &[Sent] {
        self.0.as_ref().map_or(&[], |waiting| waiting)
    }

    #[inline]
    pub(super) fn lend(&mut self) -> Sends<'_> {
        Sends::Growing(&mut self.0)
    }

    #[inline(always)]
    pub(super) const fn has_grown(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn shrink(&mut self) {
        self.0 = None;
    }
}

/// The sent events of a store in arrays.
#[cfg(not(feature = "alloc"))]
#[derive(Debug, Clone)]
pub(super) struct Slots<const N: usize>([Sent; N]);

#[cfg(not(feature = "alloc"))]
impl<const N: usize> Slots<N> {
    pub(super) const fn new() -> Self {
        let mut sends = [Sent::free(0); N];
        let mut slot = 0;
        while slot < N {
            sends[slot] = Sent::free(slot as u32);
            slot += 1;
        }
        Self(sends)
    }

    #[inline]
    pub(super) fn all(&self) -> &[Sent] {
        &self.0
    }

    #[inline]
    pub(super) fn lend(&mut self) -> Sends<'_> {
        Sends::Fixed(&mut self.0)
    }
}

impl Sends<'_> {
    /// The entries that exist: those of waiting events, then free ones.
    pub(crate) fn all(&mut self) -> &mut [Sent] {
        match self {
            Self::Fixed(places) => places,
            #[cfg(feature = "alloc")]
            Self::Growing(waiting) => waiting.as_mut().map_or(&mut [], |waiting| waiting),
        }
    }

    /// The slot of the free entry behind the `len` waiting events, which is created if necessary; `None` if `most` events wait.
    pub(crate) fn free(&mut self, len: u32, most: u32) -> Option<u32> {
        #[cfg(feature = "alloc")]
        if let Self::Growing(waiting) = self
            && len < most
        {
            let waiting = waiting.get_or_insert_default();
            if waiting.len() == len as usize {
                // The entries have the slots below `len`, so this slot is new.
                waiting.push(Sent::free(len));
            }
        }
        let free = self.all().get(len as usize).filter(|_| len < most)?;
        Some(free.slot)
    }
}
