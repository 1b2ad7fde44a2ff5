//! The waiting sent events: in an array, or in memory that is allocated only while events wait.

use super::Sent;

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
