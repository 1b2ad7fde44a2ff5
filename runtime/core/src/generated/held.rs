//! Storage for the data of the current event, choice or answer. With an allocator it is boxed, so that an idle machine has only a null
//! pointer.

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
