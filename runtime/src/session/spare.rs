//! Boxes for what a session has only now and then, taken from a few that are kept for reuse.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Boxes that a thread keeps for reuse, of each kind.
const KEPT: usize = 4;

/// Boxes without content.
pub(super) type Pool<P> = RefCell<Vec<Box<P>>>;

/// Parts that are absent most of the time.
pub(super) trait Parts: Default + 'static {
    /// What absent parts are read as.
    fn nothing() -> &'static Self;

    /// Whether they may be absent.
    fn is_nothing(&self) -> bool;

    /// Does something with the thread's boxes for reuse; nothing in a thread that ends, which has none any more.
    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R>;
}

/// Parts that take no space while they are empty: a pointer. They are there from the first write until [`Spare::rest`].
pub(super) struct Spare<P: Parts>(Option<Box<P>>);

impl<P: Parts> Spare<P> {
    /// Absent.
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Whether there is nothing in it.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.as_ref().is_none_or(|parts| parts.is_nothing())
    }

    /// Gives the box back if there is nothing in it.
    pub(super) fn rest(&mut self) {
        if let Some(parts) = self.0.take_if(|parts| parts.is_nothing()) {
            P::with_pool(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < KEPT {
                    pool.push(parts);
                }
            });
        }
    }

    /// The parts, if they are there.
    pub(super) fn get_mut(&mut self) -> Option<&mut P> {
        self.0.as_deref_mut()
    }
}

impl<P: Parts> Default for Spare<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Parts> Deref for Spare<P> {
    type Target = P;

    fn deref(&self) -> &P {
        match &self.0 {
            Some(parts) => parts,
            None => P::nothing(),
        }
    }
}

impl<P: Parts> DerefMut for Spare<P> {
    fn deref_mut(&mut self) -> &mut P {
        self.0.get_or_insert_with(|| {
            P::with_pool(|pool| pool.borrow_mut().pop()).flatten().unwrap_or_default()
        })
    }
}

/// A value that is reached by `&mut` alone, so that it may be part of what threads share.
pub(super) struct Alone<T>(Mutex<T>);

impl<T> Alone<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
