//! The `chartc` command.
fn main() {}
