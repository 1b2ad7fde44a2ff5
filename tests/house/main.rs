//! The house rules that a program can check: who may import whom, how much code there is, and what names and texts must hold.
#![allow(clippy::disallowed_methods, reason = "tests read the repository and its environment")]

mod architecture;
mod budget;
mod imports;
mod layers;
mod licences;
mod predicates;
mod printing;
mod versions;
