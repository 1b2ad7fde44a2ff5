//! Exploring charts: what `check` lines come to, and runs that show it.

mod point;
mod witness;
