//! Servers that many use.
