//! Values and the evaluator: the same semantics for `.chart` expressions, `agent.yaml` conditions and generated code.
//!
//! Generated code calls the functions over values ([`binary`], [`compare`], [`builtin`], [`index`], …) for Json, lists and maps; each call
//! has its own [`Fuel`] there.

mod access;
mod action;
mod builtin;
mod compare;
mod convert;
mod eval;
mod fit;
pub mod format;
mod fuel;
mod operate;
pub mod python;
pub(crate) mod quick;
mod template;
#[cfg(feature = "serde")]
mod wire;

pub use crate::duration::Duration;
pub use crate::value::{Map, Value};
pub use access::{elements, field, index, list, slice};
pub use action::{Locals, execute};
pub use builtin::{builtin, name as builtin_name};
pub use compare::{compare, truth, within};
pub use convert::{FromValue, IntoValue};
pub(crate) use convert::{inside, mismatch};
pub(crate) use eval::evaluate_for;
pub use eval::{Environment, MAX_DEPTH, evaluate, holds, same};
pub use fit::{MAX_VALUE_DEPTH, fit, type_text};
pub(crate) use fit::{fit_depth, short};
pub use fuel::{EvalError, Fuel};
pub use operate::{binary, unary};
pub use template::render;
pub(crate) use template::render_for;
