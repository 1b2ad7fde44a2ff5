//! From the text of a chart to its syntax and back, and the words of every finding.
//!
//! [`load`] reads files with what they import, [`front`] parses them into [`syntax`], [`mod@print`] writes syntax as `.chart` text.
//! [`rules`] is the catalogue of everything that can be wrong; a [`diagnostic`] is one finding of a rule at a [`span`] of a
//! [`source`]. Users of the compiler depend on the crate `chartc`, which exports what they need; the interfaces here change with its needs.

pub mod confusables;
pub mod diagnostic;
pub mod fix;
pub mod front;
pub mod keys;
pub mod load;
pub mod print;
pub mod rules;
pub mod source;
pub mod span;
pub mod syntax;
