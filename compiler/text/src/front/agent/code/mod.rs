//! From Python's tree to the language's expressions and statements, with types inferred on the way.

mod call;
mod convert;
mod given;
mod scope;
mod statement;
mod ty;
mod walked;

pub(super) use convert::Converter;
pub(super) use given::Given;
pub(super) use scope::{OBSERVABLES, Role, Scope};
pub(super) use statement::is_identity;
pub(super) use ty::Ty;
pub(super) use walked::{Status, Walked};
