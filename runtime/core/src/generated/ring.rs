//! Queues and slots for the payloads of events. With an allocator they take memory only while they are not empty. Without one they are
//! arrays.

#[cfg(not(feature = "alloc"))]
pub use few::{Ring, Slots};
#[cfg(feature = "alloc")]
pub use growing::{Ring, Slots};

#[cfg(not(feature = "alloc"))]
mod few {
    /// A queue of at most `N` items.
    #[derive(Debug, Clone)]
    pub struct Ring<T, const N: usize> {
        items: [Option<T>; N],
        head: usize,
        len: usize,
    }

    impl<T, const N: usize> Ring<T, N> {
        /// An empty queue.
        pub const fn new() -> Self {
            Self { items: [const { None }; N], head: 0, len: 0 }
        }

        /// The number of items.
        pub const fn len(&self) -> usize {
            self.len
        }

        /// Whether the queue is empty.
        pub const fn is_empty(&self) -> bool {
            self.len == 0
        }

        /// Appends an item; drops it if there is no room.
        pub fn push_back(&mut self, item: T) {
            if self.len < N {
                self.items[(self.head + self.len) % N] = Some(item);
                self.len += 1;
            }
        }

        /// Takes the oldest item; `None` if the queue is empty.
        pub fn pop_front(&mut self) -> Option<T> {
            let item = self.items.get_mut(self.head)?.take()?;
            self.head = (self.head + 1) % N;
            self.len -= 1;
            Some(item)
        }
    }

    impl<T, const N: usize> Default for Ring<T, N> {
        fn default() -> Self {
            Self::new()
        }
    }

    /// Slots for `N` items.
    #[derive(Debug, Clone)]
    pub struct Slots<T, const N: usize>([Option<T>; N]);

    impl<T, const N: usize> Slots<T, N> {
        /// Slots that are all empty.
        pub const fn new() -> Self {
            Self([const { None }; N])
        }

        /// Puts an item into a slot.
        pub fn put(&mut self, slot: usize, item: T) {
            if let Some(place) = self.0.get_mut(slot) {
                *place = Some(item);
            }
        }

        /// Takes the item out of a slot.
        pub fn take(&mut self, slot: usize) -> Option<T> {
            self.0.get_mut(slot)?.take()
        }
    }

    impl<T, const N: usize> Default for Slots<T, N> {
        fn default() -> Self {
            Self::new()
        }
    }
}

#[cfg(feature = "alloc")]
mod growing {
    use super::super::{Box, Vec, VecDeque};

    /// An empty queue releases its memory if an item takes more than a quarter of this number of bytes, or if there is room for more than
    /// four times this number of items.
    const KEPT: usize = 64;

    /// A queue of at most `N` items.
    #[derive(Debug, Clone)]
    #[allow(
        clippy::box_collection,
        reason = "it is absent most of the time, and then takes one word"
    )]
    pub struct Ring<T, const N: usize>(Option<Box<VecDeque<T>>>);

    impl<T, const N: usize> Ring<T, N> {
        /// An empty queue.
        pub const fn new() -> Self {
            Self(None)
        }

        /// The number of items.
        #[inline]
        pub fn len(&self) -> usize {
            self.0.as_ref().map_or(0, |items| items.len())
        }

        /// Whether the queue is empty.
        #[inline]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Appends an item; drops it if there is no room.
        pub fn push_back(&mut self, item: T) {
            let items = self.0.get_or_insert_default();
            if items.len() < N {
                items.push_back(item);
            }
        }

        /// Takes the oldest item; `None` if the queue is empty.
        #[inline]
        pub fn pop_front(&mut self) -> Option<T> {
            let items = self.0.as_mut()?;
            let item = items.pop_front()?;
            if size_of::<T>() > KEPT / 4 && items.is_empty() || items.capacity() > 4 * KEPT {
                self.give_up();
            }
            Some(item)
        }

        /// Releases the memory if the queue is empty.
        fn give_up(&mut self) {
            self.0 = self.0.take().filter(|items| !items.is_empty());
        }
    }

    impl<T, const N: usize> Default for Ring<T, N> {
        fn default() -> Self {
            Self::new()
        }
    }

    /// Slots for `N` items.
    #[derive(Debug, Clone)]
    pub struct Slots<T, const N: usize>(Option<Box<Held<T>>>);

    #[derive(Debug, Clone)]
    struct Held<T> {
        places: Vec<Option<T>>,
        count: usize,
    }

    impl<T, const N: usize> Slots<T, N> {
        /// Slots that are all empty.
        pub const fn new() -> Self {
            Self(None)
        }

        /// Puts an item into a slot. A slot from `N` on is ignored.
        pub fn put(&mut self, slot: usize, item: T) {
            if slot >= N {
                return;
            }
            let held =
                self.0.get_or_insert_with(|| Box::new(Held { places: Vec::new(), count: 0 }));
            let needed = held.places.len().max(slot + 1);
            held.places.resize_with(needed, || None);
            if held.places[slot].replace(item).is_none() {
                held.count += 1;
            }
        }

        /// The item in a slot.
        pub fn get(&self, slot: usize) -> Option<&T> {
            self.0.as_ref()?.places.get(slot)?.as_ref()
        }

        /// Takes the item out of a slot. The memory is released when all slots are empty.
        pub fn take(&mut self, slot: usize) -> Option<T> {
            let held = self.0.as_mut()?;
            let item = held.places.get_mut(slot)?.take()?;
            held.count -= 1;
            if held.count == 0 {
                self.0 = None;
            }
            Some(item)
        }
    }

    impl<T, const N: usize> Default for Slots<T, N> {
        fn default() -> Self {
            Self::new()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::{Ring, Slots};

        #[test]
        fn a_queue_keeps_its_order_and_its_bound_and_is_small_when_empty() {
            let mut ring = Ring::<[u64; 4], 3>::new();
            assert_eq!(size_of_val(&ring), size_of::<usize>());
            for round in 0..3 {
                (0..5).for_each(|n| ring.push_back([n + round; 4]));
                assert_eq!(ring.len(), 3);
                for n in 0..3 {
                    assert_eq!(ring.pop_front(), Some([n + round; 4]));
                }
                assert!(ring.is_empty() && ring.0.is_none());
                assert_eq!(ring.pop_front(), None);
            }
        }

        #[test]
        fn places_are_independent_and_take_no_room_when_empty() {
            let mut slots = Slots::<u32, 4>::new();
            slots.put(3, 30);
            slots.put(0, 1);
            slots.put(3, 31);
            slots.put(4, 40);
            assert_eq!((slots.get(3), slots.get(0), slots.get(4)), (Some(&31), Some(&1), None));
            assert_eq!((slots.take(3), slots.take(3), slots.take(4)), (Some(31), None, None));
            assert!(slots.0.is_some());
            assert_eq!(slots.take(0), Some(1));
            assert!(slots.0.is_none());
        }
    }
}

// Storage for the data of the current event, choice or answer. With an allocator it is boxed, so that an idle machine has only a null
// pointer.

/// An optional value, boxed if there is an allocator.
#[derive(Debug, Clone)]
pub struct Held<T>(
    #[cfg(feature = "alloc")] Option<super::Box<T>>,
    #[cfg(not(feature = "alloc"))] Option<T>,
);

impl<T> Held<T> {
    /// No value.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Replaces the value.
    #[inline]
    pub fn set(&mut self, value: Option<T>) {
        #[cfg(feature = "alloc")]
        let value = value.map(super::Box::new);
        self.0 = value;
    }

    /// Takes the value.
    pub fn take(&mut self) -> Option<T> {
        #[cfg(feature = "alloc")]
        return self.0.take().map(|value| *value);
        #[cfg(not(feature = "alloc"))]
        return self.0.take();
    }

    /// The value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        #[cfg(feature = "alloc")]
        return self.0.as_deref();
        #[cfg(not(feature = "alloc"))]
        return self.0.as_ref();
    }
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self::new()
    }
}
