//! Hand-written: enums and `match`. What all others are measured by.

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod ring;
pub(crate) mod table;
