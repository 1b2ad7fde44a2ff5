//! Values and the evaluator: the same semantics for `.chart` expressions, `agent.yaml` conditions and generated code.
//!
//! The problem: agents bring conditions in Python, which must mean the same here, must not crash the host, and must not run for long. The
//! idea: values are JSON values and durations, operations follow Python, an operation without a result is an [`EvalError`], and each
//! evaluation pays for its work from a [`Fuel`]. For example, `score / max(n, 1) >= 0.5 and mood != "bad"` with `score` = 3 and `n` = 4:
//!
//! ```text
//! `score / max(n, 1)`    0.75: Int / Int is a Float, as in Python; a unit of fuel is charged for each node
//! `0.75 >= 0.5`          true, so `and` needs its second operand
//! `mood != "bad"`        `mood` was never set: an error with the reason, and as a guard the whole counts as false
//! ```
//!
//! Generated code calls the functions over values ([`binary`], [`compare`], [`builtin`], [`index`], …) for Json, lists and maps. There,
//! each call has a [`Fuel`] of its own.

mod builtin;
mod convert;
mod eval;
pub mod format;
mod fuel;
pub(crate) mod quick;
mod values;
#[cfg(feature = "serde")]
mod wire;

pub use crate::duration::Duration;
pub use crate::value::{Map, Value};
pub use builtin::{builtin, name as builtin_name};
pub use convert::{
    FromValue, IntoValue, MAX_VALUE_DEPTH, field_text, fit, fit_field, ranged, type_text,
};
pub(crate) use convert::{fit_depth, inside, mismatch, short};
pub use eval::{Environment, Locals, MAX_DEPTH, evaluate, execute, holds, render, same};
pub(crate) use eval::{evaluate_for, render_for};
pub use fuel::{EvalError, Fuel};
pub(crate) use values::in_range;
pub use values::{binary, compare, elements, field, index, list, slice, truth, unary, within};
#[cfg(feature = "serde")]
pub use wire::Level;
