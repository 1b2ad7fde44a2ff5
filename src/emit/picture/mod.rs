//! What every picture of a chart shows, whatever it is drawn with: the arrows and where they start, the rows of a state, lines in
//! words, looks.

pub(super) mod allow;
pub(super) mod arrow;
pub(super) mod look;
pub(super) mod place;
pub(super) mod rows;
pub(super) mod text;
pub(super) mod words;
