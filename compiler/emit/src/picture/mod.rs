//! The parts of pictures that do not depend on the format: arrows and their origins, the rows of a state, the words for a transition, and
//! looks.
//!
//! For example, of `state a { on go -> b  on tick { n = n + 1 } }` all formats draw an arrow from `a` to `b` with the words `go`, and list
//! `tick / n = n + 1` as a row in `a`. They differ in how they write a node, an edge and a label.

pub(super) mod allow;
pub(super) mod arrow;
pub(super) mod look;
pub(super) mod place;
pub(super) mod rows;
pub(super) mod text;
pub(super) mod words;
