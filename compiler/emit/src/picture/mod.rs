//! What the pictures of a chart have in common, independent of the format: arrows and their origins, the rows of a state, the words for a
//! transition, and looks.

pub(super) mod allow;
pub(super) mod arrow;
pub(super) mod look;
pub(super) mod place;
pub(super) mod rows;
pub(super) mod text;
pub(super) mod words;
