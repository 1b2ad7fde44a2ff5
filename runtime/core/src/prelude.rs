//! What generated code calls by its short name.

pub use crate::duration::Duration;
#[cfg(feature = "alloc")]
pub use crate::expr::{IntoValue as _, Map, Value};
#[cfg(feature = "alloc")]
pub use crate::generated::{Box, String, ToString, Vec, VecDeque};
pub use crate::{
    arena, direct, generated, machine, ops, outbox, program, semantics, store, tables,
};
#[cfg(feature = "alloc")]
pub use crate::{calls, drive, expr, family, model};
