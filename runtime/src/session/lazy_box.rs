//! Boxes for parts of a session that are absent most of the time.
//!
//! With many idle sessions, memory per session matters: an absent part takes one pointer. As parts come and go with every event, a thread
//! keeps a few empty boxes for reuse, which saves allocations.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// The maximum number of boxes of each type that a thread keeps for reuse.
const KEPT: usize = 4;

/// The boxes of a thread for reuse.
pub(super) type Pool<P> = RefCell<Vec<Box<P>>>;

/// A group of fields that are absent most of the time.
pub(super) trait Parts: Default + 'static {
    /// The value that absent parts have.
    fn nothing() -> &'static Self;

    /// Whether the parts equal [`Parts::nothing`], so that they can be dropped.
    fn is_nothing(&self) -> bool;

    /// Calls `act` with the boxes of the present thread; `None` if the thread is ending.
    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R>;
}

/// Parts that take one pointer while they are absent. The first write creates them, and [`LazyBox::release_if_empty`] removes them.
pub(super) struct LazyBox<P: Parts>(Option<Box<P>>);

impl<P: Parts> LazyBox<P> {
    /// Creates absent parts.
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Whether the parts are absent or empty.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.as_ref().is_none_or(|parts| parts.is_nothing())
    }

    /// Gives the box back if the parts are empty.
    pub(super) fn release_if_empty(&mut self) {
        if let Some(parts) = self.0.take_if(|parts| parts.is_nothing()) {
            P::with_pool(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < KEPT {
                    pool.push(parts);
                }
            });
        }
    }

    /// The parts, if they are present.
    pub(super) fn get_mut(&mut self) -> Option<&mut P> {
        self.0.as_deref_mut()
    }
}

impl<P: Parts> Default for LazyBox<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Parts> Deref for LazyBox<P> {
    type Target = P;

    fn deref(&self) -> &P {
        match &self.0 {
            Some(parts) => parts,
            None => P::nothing(),
        }
    }
}

impl<P: Parts> DerefMut for LazyBox<P> {
    fn deref_mut(&mut self) -> &mut P {
        self.0.get_or_insert_with(|| {
            P::with_pool(|pool| pool.borrow_mut().pop()).flatten().unwrap_or_default()
        })
    }
}

/// A value that is accessed only through `&mut`, which makes it `Sync` without locking.
pub(super) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
