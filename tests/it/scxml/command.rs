//! Documents on the command line.

use crate::project::root;
use std::process::Command;

fn chartc(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments)
        .current_dir(root())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .expect("chartc starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("it prints text"))
}

#[test]
fn the_orders_are_simulated() {
    let (code, said) =
        chartc(&["simulate", "charts/orders.scxml", "--events", "charts/orders.events.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!("simulate_orders", said);
}

#[test]
fn every_command_takes_a_document() {
    let orders = "charts/orders.scxml";
    for arguments in [
        &["check", orders][..],
        &["show", orders],
        &["graph", orders],
        &["graph", "--format", "mermaid", orders],
        &["build", orders],
        &["convert", orders],
    ] {
        let (code, said) = chartc(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(arguments[0] == "check" || said.contains("asking"), "{arguments:?}: {said}");
    }
}
