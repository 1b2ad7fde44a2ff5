//! Data that takes no memory until it is first written.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

/// A type with an empty value that can be shared.
pub(super) trait Nothing: Default + 'static {
    /// The empty value.
    fn nothing() -> &'static Self;
    /// Whether this is the empty value.
    fn is_nothing(&self) -> bool;
}

/// A value that reads as the empty one until it is first written.
pub(super) struct Lazily<T>(Option<Box<T>>);

impl<T> Lazily<T> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Changes the value if it was written before; an empty value stays empty.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut T)) {
        if let Some(written) = self.written() {
            change(written);
        }
    }

    /// The value, mutable; `None` if it was never written.
    pub(super) fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Nothing> Lazily<T> {
    /// Stores a value, without memory if it is empty.
    pub(super) fn of(written: T) -> Self {
        Self((!written.is_nothing()).then(|| Box::new(written)))
    }
}

impl<T: Nothing> Deref for Lazily<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(written) => written,
            None => T::nothing(),
        }
    }
}

impl<T: Nothing> DerefMut for Lazily<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Clone> Clone for Lazily<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}
