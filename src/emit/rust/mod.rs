//! Rust source for a chart: static tables, typed data and the chart's guards and actions, run by the step algorithm of
//! `chartc-core` that the interpreter runs too.

mod ident;
