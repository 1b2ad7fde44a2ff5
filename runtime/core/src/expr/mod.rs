//! Values and the evaluator: one meaning for `.chart` expressions, `agent.yaml` conditions and generated code.

mod value;
#[cfg(feature = "serde")]
mod wire;

pub use value::{Map, Value};
