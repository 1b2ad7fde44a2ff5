//! The parser alone, made of the same grammar: what chartc's time is measured against.

#![allow(missing_docs, unreachable_pub, reason = "generated; the grammar files carry the docs")]

use pest_derive::Parser;

#[derive(Parser)]
#[grammar = "../../grammar/expression.pest"]
#[grammar = "../../grammar/chart.pest"]
pub(crate) struct Grammar;
