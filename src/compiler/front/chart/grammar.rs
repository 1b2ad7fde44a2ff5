//! The parser that pest generates from `grammar/*.pest`.

#![allow(missing_docs, unreachable_pub, reason = "generated; the grammar files carry the docs")]

use pest_derive::Parser;

#[derive(Parser)]
#[grammar = "expression.pest"]
#[grammar = "chart.pest"]
pub(crate) struct Grammar;
