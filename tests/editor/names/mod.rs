//! What names mean, and renaming them.

mod corpus;
mod places;
mod random;
mod renaming;
mod tokens;
