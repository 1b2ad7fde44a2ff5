//! The auction of the mint.
