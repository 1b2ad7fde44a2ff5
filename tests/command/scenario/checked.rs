//! Names and types in tests are checked with the rest, each with its place and what may have been meant.

use super::{DESK, chartc, folder};
use chartc::diagnostic::Severity;
use chartc::load::Memory;

/// What `chartc check` says of a test of [`DESK`] with this body: the words that are marked, and why.
fn faults(body: &str) -> String {
    let text = format!("{DESK}\ntest \"it\" for Desk {{\n{body}\n}}\n");
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &text));
    let mut shown = String::new();
    for one in done.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        let marked = done.sources.get(one.span.file).slice(one.span);
        shown.push_str(&format!("{marked}\n  {} {}\n", one.rule.code, one.message));
        if let Some(help) = &one.help {
            shown.push_str(&format!("  {help}\n"));
        }
    }
    shown
}

#[test]
fn unknown_names() {
    let body = "given limt = 3.0\ngiven fn vipp = true\nat sortin\nset hours = 3\nsend knok(\"a\")\nanswers nex drop\n\
                answers next dropp\nanswers next shop.ordr(\"a\")\nfails next timout\ntool shop.orders returns none\n\
                expect at slepping\nexpect nam == \"a\"\nexpect offered drp\nexpect called tel\nexpect asked nxt\n\
                expect prompt of nxt contains \"\"\nexpect advise contains \"\"\nexpect denied -> idl\nexpect ended";
    insta::assert_snapshot!(faults(body));
}

#[test]
fn wrong_types() {
    let body = "given limit = 300.0\ngiven name = 3\ngiven fn vip = 1\ngiven fn vip(1) = true\ngiven fn tell = true\n\
                send knock\nsend knock(1)\nset name = \"a\"\nwait 3\nanswers next note\nanswers next note(1)\n\
                answers next shop.order\nanswers approve drop\nanswers approve 3\nanswers sum \"three\"\n\
                tool shop.order returns 3\nexpect name\nexpect calls == \"one\"\nexpect hour contains \"\"\n\
                expect called tell(1)\nexpect called tell";
    insta::assert_snapshot!(faults(body));
}

#[test]
fn what_stands_in_the_wrong_place() {
    let body =
        "given hour = 3\ngiven hour = 4\nsend knock(\"a\")\ngiven name = \"b\"\nat idle\nat over";
    insta::assert_snapshot!(faults(body));
}

#[test]
fn a_param_that_is_not_given() {
    let folder = folder("param");
    let text = "chart P { param who: Text  param n: Int = 1  initial a  state a }\ntest \"it\" for P { expect at a }\n";
    std::fs::write(folder.join("it.chart"), text).expect("the folder can be written");
    let (found, code) = chartc(&folder, &["test", "it.chart"]);
    assert_eq!(code, 1, "{found}");
    assert!(found.contains("this test gives no value for the param `who`"), "{found}");
}

#[test]
fn what_cannot_be_read() {
    let folder = folder("syntax");
    let text = "chart P { initial a  state a }\ntest \"it\" for P {\n  expekt at a\n  expect at\n  answers a\n  turns\n}\n";
    std::fs::write(folder.join("it.chart"), text).expect("the folder can be written");
    let (found, code) = chartc(&folder, &["check", "--format", "short", "it.chart"]);
    assert_eq!(code, 1, "{found}");
    insta::assert_snapshot!(found);
}
