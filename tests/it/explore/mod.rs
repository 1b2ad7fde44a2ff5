//! Exploring charts: what `check` lines come to, and runs that show it.

mod brute;
mod finite;
mod point;
mod witness;
