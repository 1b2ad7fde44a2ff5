//! From the text of a chart to its model, everything that is wrong with it, pictures and Rust.
//!
//! [`front`] parses text into [`syntax`], [`lower`] resolves it to the model of `chartc-core`, [`analysis`] establishes facts about every
//! run, [`explore`] tries runs, [`lint`] reports what they show, and [`emit`] draws and generates. [`compile`] runs all stages. [`rules`]
//! is the catalogue of everything that can be wrong. Users of the compiler depend on the crate `chartc`, which exports what they need; the
//! interfaces here change with its needs. For example, `state a { on go -> b }`, where no state has the name `b`:
//!
//! ```text
//! front     State { name: a, items: [On { go, target: [b] }] }
//! lower     C0101 there is no state `b`, at the span of `b`; the chart is not checked further
//! ```

pub mod allow;
pub mod analysis;
pub mod compile;
pub mod confusables;
pub mod emit;
pub mod explore;
pub mod fix;
pub mod front;
pub mod lint;
pub mod lower;
pub mod notation;
pub mod rules;
pub mod spelling;
pub mod syntax;
