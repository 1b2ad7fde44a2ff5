//! `chartc trace` and `chartc graph --trace`, as a user meets them.

use super::command::{chartc, folder};
use super::root;
use serde_json::Value as Json;
use std::path::PathBuf;

/// A folder with the trace of the run of `charts/support.chart` that is shipped with it.
fn support(name: &str) -> PathBuf {
    let folder = folder(&format!("seeing-{name}"));
    let kept = folder.join("run.jsonl");
    let kept = kept.to_str().expect("the target folder is text");
    let fixed = ["run", "charts/support.chart", "--llm", "script:charts/support.script.yaml"];
    let more =
        ["--events", "charts/support.events.jsonl", "--param", "signature=R", "--trace", kept];
    let (code, _, errors) = chartc(root(), &[&fixed[..], &more].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    folder
}

#[track_caller]
fn shown(folder: &std::path::Path, arguments: &[&str]) -> String {
    let (code, out, errors) = chartc(folder, &[&["trace"], arguments].concat());
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}: {out}");
    out
}

#[test]
fn decisions_reasons_and_totals() {
    let folder = support("views");
    let table = shown(&folder, &["run.jsonl"]);
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    insta::assert_snapshot!("trace_table", table);
    insta::assert_snapshot!("trace_why", shown(&folder, &["run.jsonl", "--why"]));
    insta::assert_snapshot!("trace_summary", shown(&folder, &["run.jsonl", "--summary"]));
    insta::assert_snapshot!("trace_mermaid", shown(&folder, &["run.jsonl", "--format", "mermaid"]));
    let turn = shown(&folder, &["run.jsonl", "--turn", "5"]);
    assert!(turn.contains("crm.refund") && !turn.contains("kb.search"), "{turn}");
    let step = shown(&folder, &["run.jsonl", "--step", "satisfied"]);
    assert!(
        step.contains("again") && step.contains("close") && !step.contains("approve"),
        "{step}"
    );
    assert!(shown(&folder, &["run.jsonl", "--turn", "99"]).contains("there is no turn 99"));
    let coloured = shown(&folder, &["run.jsonl", "--color", "always"]);
    assert!(coloured.contains("\x1b[31m") && !table.contains('\x1b'), "{coloured}");
}

#[test]
fn totals_of_several_traces_add_up() {
    let folder = support("totals");
    let json = |files: &[&str]| -> Json {
        let out = shown(&folder, &[files, &["--summary", "--format", "json"]].concat());
        serde_json::from_str(&out).expect("JSON")
    };
    let (one, two) = (json(&["run.jsonl"]), json(&["run.jsonl", "run.jsonl"]));
    assert_eq!(one["version"], 1);
    let (one, two) = (&one["charts"]["Support"], &two["charts"]["Support"]);
    for field in ["runs", "turns", "questions", "retries", "time_ms", "forbidden"] {
        let count = one[field].as_u64().expect("a count");
        assert!(count > 0 && two[field] == count * 2, "{field}: {count} {}", two[field]);
    }
    assert_eq!((&one["ended"]["ok"], &one["stuck_rate"]), (&1.into(), &0.0.into()));
    // Time is that of the states in it: the chart's own states share it among them.
    let state = |path: &str| one["states"][path]["time_ms"].as_u64().expect("milliseconds");
    let leaves = ["idle", "held", "open.waiting", "open.researching"];
    assert_eq!(leaves.iter().map(|path| state(path)).sum::<u64>(), state(""), "{one}");
    let taken: u64 = one["transitions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|t| t["taken"].as_u64().expect("a count"))
        .sum();
    let lines = std::fs::read_to_string(folder.join("run.jsonl")).expect("it is there");
    assert_eq!(taken, lines.matches("\"kind\":\"taken\"").count() as u64);
    // A run that ended stuck, and one whose head and end are lost.
    let line = |seq: u32, rest: &str| format!("{{\"v\":1,\"seq\":{seq},\"at_ms\":0,{rest}}}\n");
    let head = r#""kind":"run","chart":"Support","hash":"0","oracle":"x","variables":{}"#;
    let end = r#""kind":"ended","status":"stuck","result":{}"#;
    std::fs::write(folder.join("stuck.jsonl"), line(1, head) + &line(2, end))
        .expect("a folder of its own");
    let both = json(&["run.jsonl", "stuck.jsonl"]);
    assert_eq!(both["charts"]["Support"]["stuck_rate"], 0.5);
}

#[test]
fn what_can_be_read_of_a_broken_trace_is_shown() {
    let folder = support("broken");
    let text = std::fs::read_to_string(folder.join("run.jsonl")).expect("it is there");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[9] = "not a line";
    let last = lines.len() - 1;
    let cut = &lines[last][..20];
    lines[last] = cut;
    std::fs::write(folder.join("broken.jsonl"), lines.join("\n")).expect("a folder of its own");
    let (code, out, errors) = chartc(&folder, &["trace", "broken.jsonl"]);
    assert_eq!(code, 1, "{errors}");
    for part in [
        "broken.jsonl, line 10: ",
        &format!("broken.jsonl, line {}: ", last + 1),
        "the rest is shown",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert!(out.contains("classify") && out.contains("open.approving"), "{out}");
    // A line that is gone leaves a gap.
    let gone: Vec<&str> =
        text.lines().enumerate().filter(|(i, _)| *i != 30).map(|(_, l)| l).collect();
    std::fs::write(folder.join("gap.jsonl"), gone.join("\n")).expect("a folder of its own");
    let (code, _, errors) = chartc(&folder, &["trace", "gap.jsonl"]);
    assert!(
        code == 1 && errors.contains("line 30 of the run is followed by line 32"),
        "{code} {errors}"
    );
    std::fs::write(folder.join("other.txt"), "hello\n").expect("a folder of its own");
    for (arguments, why) in [
        (&["other.txt"][..], "other.txt contains no line of a trace"),
        (&["none.jsonl"], "there is no such file"),
        (&["run.jsonl", "--format", "json"], "--format json needs --summary"),
        (&["run.jsonl", "gap.jsonl", "--format", "mermaid"], "draws one run"),
        (&["run.jsonl", "--summary", "--turn", "3"], "cannot be combined with --turn"),
    ] {
        let (code, _, errors) = chartc(&folder, &[&["trace"], arguments].concat());
        assert!(code == 2 && errors.contains(why), "{arguments:?}: {code} {errors}");
    }
}

#[test]
fn a_picture_weighs_lines_by_how_often_they_were_taken() {
    let folder = support("graph");
    let chart = root().join("charts/support.chart");
    let chart = chart.to_str().expect("the project's folder is text");
    let graph = |more: &[&str]| {
        let (code, out, errors) = chartc(&folder, &[&["graph", chart], more].concat());
        assert_eq!((code, errors.as_str()), (0, ""), "{more:?}");
        out
    };
    let edge = |picture: &str, words: &str| -> String {
        let mut lines = picture.lines().filter(|l| l.contains(" -> ") && l.contains(words));
        lines.next().unwrap_or_else(|| panic!("no {words} in {picture}")).to_owned()
    };
    assert!(!edge(&graph(&[]), "tooltip=\"hold ->").contains("penwidth"));
    let once = graph(&["--trace", "run.jsonl"]);
    let hold = edge(&once, "tooltip=\"hold ->");
    assert!(hold.contains("1×") && hold.contains("penwidth=2.6"), "{hold}");
    let never = edge(&once, "tooltip=\"withdrawn ->");
    assert!(
        never.contains("0×") && never.contains("#94a3b8") && never.contains("penwidth=1.0"),
        "{never}"
    );
    let twice = graph(&["--trace", "run.jsonl", "--trace", "run.jsonl"]);
    assert!(edge(&twice, "tooltip=\"hold ->").contains("2×"), "{twice}");
    assert!(graph(&["--trace", "run.jsonl", "--format", "mermaid"]).contains("hold<br/>1×"));
    let other = root().join("charts/social.chart");
    let other = other.to_str().expect("the project's folder is text");
    let (code, _, errors) = chartc(&folder, &["graph", other, "--trace", "run.jsonl"]);
    assert!(
        code == 2 && errors.contains("is a run of Support, not of `Social`"),
        "{code} {errors}"
    );
}

/// Children of regions, one after another and at the same time, that hear from their parent, tell it and remind themselves.
const FAMILY: &str = r#"
chart Kid {
  event found(text: Text)
  event hint(text: Text)
  event ping
  var heard: Text = ""
  initial working
  state working {
    on hint(text) { heard = text  send found(text) to parent  send found("again") to parent }
    on ping -> telling
  }
  state telling { enter { send ping after 2s } on ping -> end }
  final end(heard: Text = heard)
}
chart Boss {
  event found(text: Text)
  event hint(text: Text)
  event ping
  var heard: Text = ""
  initial both
  parallel both {
    state left {
      initial busy
      state busy {
        run one Kid() at entry { done -> over }
        on hint(text) { send hint("first {text}") to one  send hint("second") to two }
      }
      state over
    }
    state right {
      initial busy
      state busy {
        run two Kid() at entry { done -> over }
        on found(text) { heard = text }
      }
      state over
    }
  }
}
"#;

#[test]
fn messages_between_charts_are_drawn_from_their_senders() {
    let folder = folder("seeing-family");
    std::fs::write(folder.join("family.chart"), FAMILY).expect("a folder of its own");
    let events = r#"[{"event":"hint","data":{"text":"x"}},{"event":"ping"},{"event":"ping","after_ms":5000}]"#;
    std::fs::write(folder.join("events.json"), events).expect("a folder of its own");
    let run = ["run", "family.chart", "--events", "events.json", "--trace", "run.jsonl"];
    let (code, _, errors) = chartc(&folder, &run);
    assert_eq!((code, errors.as_str()), (0, ""));
    let picture = shown(&folder, &["run.jsonl", "--format", "mermaid"]);
    insta::assert_snapshot!("trace_mermaid_family", picture);
    // The order of the trace stands for the order of what is drawn: a message becomes one event.
    let found = picture.lines().filter(|line| line.contains("->>chart: found"));
    let from: Vec<&str> = found.filter_map(|line| line.trim().split("->>").next()).collect();
    assert_eq!(from, ["run_one", "run_one", "run_two", "run_two"], "{picture}");
}

/// A chart for each element of a list, whose turns take time.
const EACH: &str = r#"
chart Kid {
  param q: Text
  event found(text: Text)
  var said: Text = ""
  initial working
  state working {
    llm write { prompt "{q}"  returns Text  done -> told { said = write } }
  }
  state told {
    enter { send found(said) to parent }
    human sure "Is {said} right?" { returns Bool  done -> end }
  }
  final end(text: Text = said)
}
chart Boss {
  event found(text: Text)
  var heard: List(Text) = []
  initial digging
  state digging {
    run dig each q in ["a", "b"] Kid(q) { done -> over }
    on found(text) { heard = heard + [text] }
  }
  final over
}
"#;

#[test]
fn turns_in_which_a_child_acts_are_told() {
    let folder = folder("seeing-each");
    std::fs::write(folder.join("each.chart"), EACH).expect("a folder of its own");
    let script = "answers: {write: [{answer: one, after: 5s}, {answer: two, after: 3s}], sure: [true, {answer: true, after: 4s}]}";
    std::fs::write(folder.join("script.yaml"), script).expect("a folder of its own");
    let run = ["run", "each.chart", "--llm", "script:script.yaml", "--turns", "3"];
    let (code, screen, errors) = chartc(&folder, &[&run[..], &["--trace", "run.jsonl"]].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!("screen_each", screen);
    insta::assert_snapshot!("trace_table_each", shown(&folder, &["run.jsonl"]));
    insta::assert_snapshot!(
        "trace_mermaid_each",
        shown(&folder, &["run.jsonl", "--format", "mermaid"])
    );
    let (code, _, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    // The outermost chart does nothing in the turn.
    let chart =
        EACH.replacen(r#"dig each q in ["a", "b"] Kid(q) {"#, r#"dig Kid("a") at entry {"#, 1);
    std::fs::write(folder.join("each.chart"), chart).expect("a folder of its own");
    let (_, screen, _) = chartc(&folder, &[&run[..], &["--trace", "run.jsonl"]].concat());
    let table = shown(&folder, &["run.jsonl"]);
    for told in [screen, table] {
        assert!(!told.contains("nothing") && told.contains("ended ok"), "{told}");
    }
    let first = shown(&folder, &["run.jsonl", "--turn", "1"]);
    // A person's answer comes when the turn has ended.
    assert!(first.contains("dig/write") && !first.contains("dig/sure"), "{first}");
}

#[test]
fn messages_to_elements_are_drawn() {
    let folder = folder("seeing-elements");
    let chart = r#"
chart Kid {
  param q: Text
  event hint(n: Int)
  event end
  initial working
  state working { on hint(n) { log "{q} {n}" }  on end -> over }
  final over
}
chart Boss {
  event hint(n: Int)
  event end
  event all
  initial digging
  state digging {
    run dig each q in ["a", "b"] Kid(q) { done -> over }
    on hint(n) { send hint(n) to dig[n] }
    on all { send end to dig }
  }
  final over
}
"#;
    std::fs::write(folder.join("elements.chart"), chart).expect("a folder of its own");
    let events = r#"[{"event":"turn"},{"event":"hint","data":{"n":1}},{"event":"hint","data":{"n":2}},{"event":"all"}]"#;
    std::fs::write(folder.join("events.json"), events).expect("a folder of its own");
    let run = ["run", "elements.chart", "--events", "events.json", "--trace", "run.jsonl"];
    let (code, screen, errors) = chartc(&folder, &run);
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!("screen_elements", screen);
    let picture = shown(&folder, &["run.jsonl", "--format", "mermaid"]);
    insta::assert_snapshot!("trace_mermaid_elements", picture);
    let (code, _, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn mermaid_takes_the_sequences() {
    let folder = support("sequence");
    let charts = super::replay::world::charts();
    let mut pictures =
        vec![("support".to_owned(), shown(&folder, &["run.jsonl", "--format", "mermaid"]))];
    for (seed, checked) in charts.iter().enumerate() {
        let text = super::replay::world::record(checked, seed as u64, false);
        std::fs::write(folder.join("any.jsonl"), text).expect("a folder of its own");
        let picture = shown(&folder, &["any.jsonl", "--format", "mermaid"]);
        pictures.push((checked.chart().name.clone(), picture));
    }
    let Some(seen) = test_support::mermaid::parsed(&pictures) else { return };
    for ((name, text), seen) in pictures.iter().zip(&seen) {
        assert_eq!(seen["error"], Json::Null, "{name}\n{text}");
        let drawn = text
            .lines()
            .filter(|line| line.contains("->>") || line.contains("--x") || line.contains("Note "));
        assert_eq!(seen["messages"], drawn.count(), "{name}\n{text}");
    }
}
