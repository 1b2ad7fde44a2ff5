//! Converts Python's syntax tree to expressions and statements of the language, and infers types.
//!
//! The problem: Python's variables have no declared types and may be unset, `and` returns an operand, and a list is a condition. In a
//! chart, each variable has a type and a value. The idea: convert expressions together with their types ([`ty::Ty`], joined over all
//! assignments), follow which variables are set on the way ([`walked::Walked`]), and write as code what Python does silently. For example,
//! with `n` an Int, `items` a list, and `mood` set only in some branch before:
//!
//! ```text
//! if items and n > 2:                     if bool(items) and n > 2 {
//!     mood = context.get('mood', 'ok')      mood = mood ?? "ok"      (`mood` may be unset: the chart decides)
//!     n = n / 2                             n = n / 2                (Int / Int is a Float: so is the variable `n`)
//!                                         }
//! ```

mod call;
mod convert;
mod given;
mod scope;
mod statement;
mod ty;
mod walked;

pub(super) use convert::Converter;
pub(super) use given::InputUse;
pub(super) use scope::{AMOUNTS, OBSERVABLES, Role, Scope};
pub(super) use statement::is_identity;
pub(super) use ty::Ty;
pub(super) use walked::{Status, Walked};
