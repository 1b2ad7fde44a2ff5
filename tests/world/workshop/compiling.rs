//! What is compiled, and what the writer is told.

use super::{built, refused, sound};
use chartc::chart_compiler::{MOST_ARTIFACTS, MOST_BYTES, MOST_FINDINGS};
use chartc_world::{Form, NOT_ALLOWED, methods, open_params, restrict, used};
use std::collections::BTreeSet;
use test_support::project::read;

const DOOR: &str = "chart Door {\n  event open\n  initial closed\n  state closed { on open -> opened }\n  final opened\n}\n";

fn chart(name: &str) -> String {
    format!("chart {name} {{\n  event go\n  initial a\n  state a {{ on go -> b }}\n  final b\n}}\n")
}

#[test]
fn the_charts_that_we_ship_for_it_are_sound() {
    let family = sound(&read("charts/price_oracle.chart"));
    let told: Vec<String> = methods(family.root()).iter().map(ToString::to_string).collect();
    assert_eq!((told, open_params(family.root())), (vec!["quote(pieces)".to_owned()], vec![]));
    let family = sound(&read("charts/worker.chart"));
    assert_eq!(open_params(family.root()), ["task"]);
}

#[test]
fn errors_have_places() {
    let text = DOOR.replace("on open", "on opne");
    let found = refused("door", Form::Chart, &text, &[]);
    assert_eq!(found, ["4:21: C0102: no event `opne`; did you mean `open`?"]);
    let text = "id: ada\nworkflow:\n  steps:\n    - name: look\n      type: llm\n      prompt: \"{balence}\"\n";
    let found = refused("ada", Form::Agent, text, &[]);
    assert_eq!(
        found,
        ["6:17: C0402: nothing in scope is named `balence`; did you mean `balance`?"]
    );
}

#[test]
fn an_agent_is_one_whatever_the_artifact_is_called() {
    let text = "id: ada\nworkflow:\n  steps:\n    - name: look\n      type: llm\n      prompt: \"{balance}\"\n";
    for id in ["ada", "ada.chart", "a/b", "../ada", "agent.yaml"] {
        let family = built(id, Form::Agent, text, &[]).expect("it is sound");
        assert_eq!(family.root().name, "Ada", "{id}");
    }
}

#[test]
fn tests_and_properties_are_not_run() {
    let text = format!(
        "{}test \"never\" for Door {{\n  expect at opened\n}}\n",
        DOOR.replace("  final opened\n", "  final opened\n  check never(closed before opened)\n")
    );
    assert_eq!(sound(&text).root().name, "Door");
}

#[test]
fn the_chart_of_the_artifacts_name_runs_else_the_first() {
    let text = chart("Other") + &chart("PriceOracle");
    let named = |id: &str| built(id, Form::Chart, &text, &[]).expect("sound").root().name.clone();
    assert_eq!([named("price_oracle"), named("shop")], ["PriceOracle", "Other"]);
}

#[test]
fn a_chart_comes_with_those_that_it_runs_and_no_others() {
    let text = "import \"fetch\"\nchart Reader {\n  initial loading\n  state loading {\n    run f Fetch at entry -> read\n  }\n  final read\n}\n";
    let fetch = chart("Fetch") + &chart("Unused");
    let family = built("reader", Form::Chart, text, &[("fetch", &fetch)]).expect("it is sound");
    let names: Vec<&str> = family.charts().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names, ["Reader", "Fetch"]);
}

#[test]
fn what_the_writer_may_not_read_is_a_finding_at_the_import() {
    let text = format!("import \"secret\"\n{DOOR}");
    let found = refused("door", Form::Chart, &text, &[]);
    assert_eq!(
        found,
        [
            "1:8: C0002: `secret` cannot be read: there is no artifact `secret` that its writer may read"
        ]
    );
    for name in ["../../etc/passwd", "/etc/passwd", "charts/support.chart", ""] {
        let text = format!("import \"{name}\"\n{DOOR}");
        let found = refused("door", Form::Chart, &text, &[]);
        assert!(found.len() == 1 && found[0].starts_with("1:8: C00"), "{name}: {found:?}");
    }
}

#[test]
fn an_error_in_an_import_leads_to_it() {
    let lib = chart("Lib").replace("event go", "evnt go");
    let text = format!("// mine\nimport \"lib\"\n{DOOR}");
    let found = refused("door", Form::Chart, &text, &[("lib", &lib)]);
    assert!(found[0].starts_with("2:8: C0001: in `lib`, 2:3: "), "{found:?}");
}

#[test]
fn imports_in_a_cycle_are_told_and_end() {
    let (one, two) =
        (format!("import \"two\"\n{}", chart("One")), format!("import \"one\"\n{}", chart("Two")));
    let found = refused("one", Form::Chart, &one, &[("two", &two)]);
    assert!(found.iter().any(|line| line.contains("C0003")), "{found:?}");
    // An artifact that names itself gets the text that is being written, not the one that is there.
    let own = format!("import \"own\"\n{}", chart("Own"));
    assert!(refused("own", Form::Chart, &own, &[("own", "chart")])[0].contains("C0003"));
}

#[test]
fn components_are_artifacts() {
    let text = "id: ada\ncomponents:\n  behaviors: [frugal]\nworkflow:\n  steps:\n    - name: look\n      type: llm\n      prompt: Look.\n";
    let frugal = "name: frugal\ntype: behavior\ninject_into: [look]\nprompt_fragment: Spend little of {balance}.\n";
    let family = built("ada", Form::Agent, text, &[("frugal", frugal)]).expect("it is sound");
    assert_eq!(family.root().components[0].name, "frugal");
    let found = refused("ada", Form::Agent, text, &[]);
    assert!(found[0].starts_with("3:15: C0002: "), "{found:?}");
    assert!(found[0].ends_with("there is no artifact `frugal` that its writer may read"));
    let found =
        refused("ada", Form::Agent, text, &[("frugal", &frugal.replace("balance", "balence"))]);
    assert!(found[0].contains("in `frugal`, 4:"), "{found:?}");
}

#[test]
fn nothing_beside_an_agent_belongs_to_it() {
    let text = "id: ada\nworkflow:\n  steps:\n    - name: look\n      type: llm\n      prompt: \"{balance}\"\n";
    let asked = std::cell::RefCell::new(Vec::new());
    let read = |id: &str| {
        asked.borrow_mut().push(id.to_owned());
        None
    };
    let made = chartc_world::Workshop::build(
        &chartc::chart_compiler::Compiler,
        "ada",
        Form::Agent,
        text,
        &read,
    );
    assert!(made.is_ok() && asked.borrow().is_empty(), "{:?}", asked.borrow());
}

#[test]
fn texts_of_which_nothing_runs_are_refused() {
    for (form, text) in [
        (Form::Chart, ""),
        (Form::Chart, "// nothing\n"),
        (Form::Chart, "enum Mood { glad  cross }\n"),
        (Form::Agent, ""),
        (Form::Agent, "# nothing\n"),
        (Form::Agent, "just a text"),
        (Form::Chart, "<scxml/>"),
    ] {
        let found = refused("a", form, text, &[]);
        assert!(!found.is_empty() && found[0].starts_with("1:1: C0"), "{text}: {found:?}");
    }
}

#[test]
fn texts_findings_and_artifacts_are_bounded() {
    let large = format!("{DOOR}// {}\n", "x".repeat(MOST_BYTES));
    assert!(refused("a", Form::Chart, &large, &[])[0].starts_with("1:1: C0002: "));
    let faulty: String =
        (0..200).map(|n| format!("  state s{n} {{ on nothing{n} -> closed }}\n")).collect();
    let faulty = DOOR.replace("  final opened\n", &format!("  final opened\n{faulty}"));
    let found = refused("a", Form::Chart, &faulty, &[]);
    assert_eq!(found.len(), MOST_FINDINGS + 1);
    assert!(found[MOST_FINDINGS].ends_with(" more findings are not told"), "{found:?}");
    // Each imports the next.
    let chain: Vec<(String, String)> = (0..=MOST_ARTIFACTS)
        .map(|n| (format!("a{n}"), format!("import \"a{}\"\n{}", n + 1, chart(&format!("A{n}")))))
        .collect();
    let others: Vec<(&str, &str)> =
        chain.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let found = refused("a0", Form::Chart, &chain[0].1, &others);
    assert!(
        found[0].contains(&format!("one artifact leads to at most {MOST_ARTIFACTS}")),
        "{found:?}"
    );
}

#[test]
fn a_small_text_is_no_large_chart() {
    let states: String = (0..200).map(|n| format!("    state s{n}\n")).collect();
    let lines = |count: usize| -> String {
        (0..count).map(|n| format!("    each after {}s -> end\n", n + 1)).collect()
    };
    let text = |count: usize| {
        format!(
            "chart A {{\n  initial a\n  state a {{\n    initial s0\n{}{states}  }}\n  final end\n}}\n",
            lines(count)
        )
    };
    let told = refused("a", Form::Chart, &text(100), &[]);
    assert!(told.len() == 1 && told[0].starts_with("1:1: too_large: it has 20"), "{told:?}");
    assert_eq!(sound(&text(1)).root().transitions.len(), 200);
}

#[test]
fn tools_and_models_are_part_of_the_spawners() {
    let text = "tool web.read(url: Text) -> Text\nchart Reader {\n  client c { model \"openai:gpt-4o\" }\n  initial a\n  state a { llm look with c { prompt \"Look.\"  tools web.read } -> b }\n  final b\n}\n";
    let family = sound(text);
    let (tools, models) = used(&family);
    assert_eq!(restrict(&family, &tools, &models), Ok(()));
    let none = BTreeSet::new();
    let found = restrict(&family, &none, &none).expect_err("nothing is allowed");
    let told: Vec<(&str, &str)> =
        found.iter().map(|f| (f.code.as_str(), f.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (NOT_ALLOWED, "`Reader` asks the model `openai:gpt-4o`, which its spawner does not"),
            (NOT_ALLOWED, "`Reader` uses the tool `web.read`, which its spawner has not"),
        ]
    );
    assert_eq!(restrict(&family, &tools, &none).expect_err("no model").len(), 1);
}
