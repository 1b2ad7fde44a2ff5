//! Parts of a session that are absent most of the time, in boxes that are reused.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// The number of boxes of each kind that a thread keeps for reuse.
const KEPT: usize = 4;

/// Empty boxes.
pub(super) type Pool<P> = RefCell<Vec<Box<P>>>;

/// Parts that are absent most of the time.
pub(super) trait Parts: Default + 'static {
    /// The value that absent parts have.
    fn nothing() -> &'static Self;

    /// Whether the parts equal [`Parts::nothing`], so that they can be dropped.
    fn is_nothing(&self) -> bool;

    /// Calls `act` with the thread's boxes for reuse. A thread that is ending has none: returns `None`.
    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R>;
}

/// Parts that take only a pointer while they are absent. They are present from the first write until [`LazyBox::release_if_empty`] finds nothing in them.
pub(super) struct LazyBox<P: Parts>(Option<Box<P>>);

impl<P: Parts> LazyBox<P> {
    /// Absent parts.
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

/// A value that is accessed only through `&mut`. That makes it `Sync` without locking.
pub(super) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
