//! What a world supplies, and what charts declare of it.

use super::command::{chartc, folder};

/// What `check` holds the inputs of a chart against is what a world supplies.
#[test]
fn check_knows_each_name_that_a_world_supplies() {
    let known: Vec<&str> = chartc_compiler::lint::data::supplied().collect();
    assert_eq!(known, chartc_runtime::agent::CONTEXT);
}

/// A chart that declares fewer fields than there are runs in both worlds; one that declares others is told before.
#[test]
fn a_chart_may_declare_less_than_a_world_supplies() {
    let chart = |event: &str| {
        format!(
            "type Event {{ {event} }}\nchart Looker {{\n  input recent_events: List(Event) = []\n  initial open\n  state open {{ llm look {{ prompt \"{{recent_events}}\" }} }}\n}}\n"
        )
    };
    let folder = folder("fewer");
    let answers = "answers: {look: {then: repeat, answers: [{action: read_artifact, artifact_id: shop}, {action: write_artifact, artifact_id: a, content: x}]}}";
    std::fs::write(folder.join("answers.yaml"), answers).expect("a file");
    std::fs::write(folder.join("world.yaml"), "artifacts: {shop: {content: gold}}")
        .expect("a file");
    std::fs::write(
        folder.join("run.yaml"),
        "agents: [{file: looker.chart, id: ada, llm: \"script:answers.yaml\"}]",
    )
    .expect("a file");
    std::fs::write(folder.join("looker.chart"), chart("by: Text  success: Bool  error: Text?"))
        .expect("a file");
    let (code, out, errors) = chartc(&folder, &["check", "looker.chart"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    let alone = [
        "run",
        "looker.chart",
        "--llm",
        "script:answers.yaml",
        "--world",
        "world.yaml",
        "--turns",
        "3",
    ];
    let many = ["run", ".", "--ticks", "3", "--format", "text", "--log", "log.jsonl"];
    for args in [alone.as_slice(), many.as_slice()] {
        let (code, out, errors) = chartc(&folder, args);
        assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    }
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    assert!(log.contains(r#"{"by":"ada","success":true,"error":null}"#), "{log}");
    for wrong in ["kind: Text", "success: Text", "error: Text"] {
        std::fs::write(folder.join("looker.chart"), chart(wrong)).expect("a file");
        let (_, out, errors) = chartc(&folder, &["check", "looker.chart"]);
        assert!(format!("{out}{errors}").contains("C0438"), "{wrong}: {out}{errors}");
    }
}

/// The events that an agent knows of have the same fields in a world of its own as in one of many agents.
#[test]
fn events_have_one_shape_in_every_world() {
    let folder = folder("one-shape");
    let chart = "chart Looker {\n  input recent_events: List(Json) = []\n  initial open\n  state open { llm look { prompt \"{recent_events}\" } }\n}\n";
    let answers = "answers: {look: {then: last, answers: [{action: write_artifact, artifact_id: a, content: x}, {action: read_artifact, artifact_id: a}, {action: read_artifact, artifact_id: none}, {action: noop}]}}";
    for (name, text) in [
        ("looker.chart", chart),
        ("answers.yaml", answers),
        ("world.yaml", "agent: ada\n"),
        ("run.yaml", "agents: [{file: looker.chart, id: ada, llm: \"script:answers.yaml\"}]"),
    ] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let alone = ["run", "looker.chart", "--llm", "script:answers.yaml", "--world", "world.yaml"];
    let alone = [&alone[..], &["--turns", "5", "--trace", "alone.jsonl"]].concat();
    let many = ["run", ".", "--ticks", "5", "--log", "many.jsonl"];
    let mut shapes = Vec::new();
    for (args, log) in [(alone.as_slice(), "alone.jsonl"), (many.as_slice(), "many.jsonl")] {
        let (code, out, errors) = chartc(&folder, args);
        assert_eq!((code, errors.as_str()), (0, ""), "{out}");
        let log = std::fs::read_to_string(folder.join(log)).expect("a log");
        let lines = log.lines().map(serde_json::from_str::<serde_json::Value>);
        let lines = lines.map(|line| line.expect("JSON"));
        let seen = lines.filter(|line| line["kind"] == "input" && line["name"] == "recent_events");
        let seen = seen.fold(None, |_, line| Some(line)).expect("it looks");
        let own = seen["value"].as_array().expect("a list").iter();
        let own = own.filter(|event| event["by"] == "ada" && event["action"] != "");
        let shape = own.map(|event| {
            let fields: Vec<String> =
                event.as_object().expect("a record").keys().cloned().collect();
            (event["event"].clone(), event["action"].clone(), event["success"].clone(), fields)
        });
        shapes.push(shape.collect::<Vec<_>>());
    }
    assert_eq!(shapes[0].len(), 3, "{shapes:#?}");
    assert_eq!(shapes[0], shapes[1]);
}
