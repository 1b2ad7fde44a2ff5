//! Documents on the command line.

use std::process::Command;
use test_support::project::root;

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
    for (document, word) in [("charts/orders.scxml", "asking"), ("charts/refunds.scxml", "by_hand")]
    {
        for arguments in [
            &["check", document][..],
            &["show", document],
            &["graph", document],
            &["graph", "--format", "mermaid", document],
            &["build", document],
            &["convert", document],
        ] {
            let (code, said) = chartc(arguments);
            assert_eq!(code, Some(0), "{arguments:?}: {said}");
            assert!(arguments[0] == "check" || said.contains(word), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn the_orders_are_run() {
    let (code, said) =
        chartc(&["run", "charts/orders.scxml", "--events", "charts/orders.events.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!("run_orders", said);
}

#[test]
fn an_invoked_document_is_a_chart_for_every_command() {
    let document = "charts/refunds.scxml";
    for command in ["show", "graph", "build"] {
        let (code, said) = chartc(&[command, document, "--chart", "Refund"]);
        assert_eq!(code, Some(0), "{command}: {said}");
        assert!(said.contains("waiting") && !said.contains("by_hand"), "{command}: {said}");
    }
    let (_, converted) = chartc(&["convert", document]);
    assert_eq!(converted.matches("\nchart ").count(), 2, "{converted}");
    let (_, built) = chartc(&["build", document]);
    let modules = |name: &str| built.contains(&format!("pub mod {name} {{"));
    assert!(modules("refunds") && modules("refund") && built.contains("pub use refunds::*;"));
}

#[test]
fn the_refunds_are_run_and_simulated() {
    let arguments = ["charts/refunds.scxml", "--events", "charts/refunds.events.jsonl"];
    let (code, said) = chartc(&[&["run"], &arguments[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!("run_refunds", said);
    let (code, said) = chartc(&[&["simulate"], &arguments[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!("simulate_refunds", said);
}
