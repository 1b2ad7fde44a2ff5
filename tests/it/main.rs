//! All integration tests.
fn main() {}
