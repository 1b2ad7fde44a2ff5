//! What the lamp does on a computer.
#![allow(clippy::disallowed_methods, reason = "the test starts the example")]

use std::process::Command;

#[test]
fn it_goes_out_after_five_minutes() {
    let output = Command::new(env!("CARGO_BIN_EXE_lamp-example")).output().expect("it runs");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "\
glows with 0 %
glows with 30 %
glows with 100 %
sleeps until 301000 ms
glows with 0 %
"
    );
}
