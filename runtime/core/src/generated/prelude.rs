//! The items that generated code uses by their short names.

#[cfg(feature = "alloc")]
pub use crate::expr::{IntoValue as _, Map, Value};
#[cfg(feature = "alloc")]
pub use crate::generated::{Box, String, ToString, Vec, VecDeque, calls};
pub use crate::generated::{Duration, direct, ops};
pub use crate::{arena, generated, machine, program, semantics, store, tables};
#[cfg(feature = "alloc")]
pub use crate::{expr, family, host, model, saved};
