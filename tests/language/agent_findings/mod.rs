//! What `check` says of an `agent.yaml` that does something else than it seems to: where, by which code, in which words; and that it is
//! silent where that is mended. What such an agent becomes is in Rust.

mod given;
mod names;
mod spending;

use crate::listed;
use chartc::load::Memory;
use test_support::cases::{Form, compare};

#[track_caller]
fn found(file: &str) {
    let path = format!("tests/language/agent_findings/{file}.cases");
    compare(&path, Form::File("agent.yaml"), &listed::with_notes);
}

#[test]
fn workflow_found() {
    found("workflow");
}

#[test]
fn given_found() {
    found("given");
}

#[test]
fn names_found() {
    found("names");
}

#[test]
fn spending_found() {
    found("spending");
}

/// An agent with these items of `workflow`.
fn agent(workflow: &str) -> String {
    format!("id: a\nworkflow:\n{workflow}")
}

#[test]
fn a_name_that_only_the_context_has_is_an_input() {
    let step = |code: &str, prompt: &str| {
        agent(&format!(
            "  steps:\n    - {{name: c, type: code, code: \"{code}\"}}\n    - {{name: o, type: llm, prompt: '{prompt}'}}\n"
        ))
    };
    let inputs = |text: &str| -> Vec<String> {
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
        let printed = chartc_compiler::syntax::print::print(&done.files[0]);
        // Code of one line stands behind its brace.
        let lines = printed.lines().map(|l| l.trim().trim_start_matches("code c { "));
        lines
            .map(|l| l.trim_end_matches(" }"))
            .filter(|l| l.starts_with("input ") || l.starts_with("y = "))
            .map(str::to_owned)
            .collect()
    };
    for (code, wanted) in [
        ("y = locals().get('x', 3)", &["input x: Int = 3", "y = x"][..]),
        ("y = locals().get('x', 3) < 0.5", &["input x: Float = 3", "y = x < 0.5"]),
        ("y = locals().get('x', [])", &["input x: List(Json) = []", "y = x"]),
        ("y = locals().get('x')", &["input x: Json = none", "y = x"]),
        ("x = locals().get('x', 'a')\\ny = x", &["input x: Text = \"a\"", "y = x"]),
        (
            "y = locals().get('x', 1) + locals().get('x', 2)",
            &["input x: Int? = none", "y = (x ?? 1) + (x ?? 2)"],
        ),
        ("y = 'x' in locals()", &["input x: Json = none", "y = x != none"]),
        ("x = 1\\ny = locals().get('x', 3)", &["y = x"]),
    ] {
        let text = step(code, "{y}");
        assert_eq!(inputs(&text), wanted, "{code}");
    }
}

#[test]
fn run_if_may_ask_the_host() {
    let text = agent(
        "  steps:\n    - {name: s, type: llm, prompt: Go., run_if: {invoke: shop, method: open, args: ['{balance}'], fallback: false}}\n",
    );
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    assert!(printed.contains("llm s if bool(shop_open(\"{balance}\")) {"), "{printed}");
}
