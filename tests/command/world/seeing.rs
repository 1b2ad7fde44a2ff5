//! `chartc trace` and `chartc replay` of the log of a world.

use super::{chartc, folder};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Calls a listener, and is glad of its thanks.
const CALLER: &str = r#"
chart Caller {
  param agent_id: Text
  event thanks
  initial calling
  on thanks -> glad
  state calling { llm call { prompt """Call.""" } -> waiting }
  state waiting { after 2 turns -> calling }
  state glad {
    initial smiling
    state smiling { after 1 turns -> waving }
    state waving { after 2 turns -> calling }
  }
}
"#;
const CALLS: &str = "
answers:
  call:
    then: repeat
    answers:
      - {action: invoke_artifact, artifact_id: listener_1, method: hello, args: []}
      - {action: invoke_artifact, artifact_id: listener_2, method: hello, args: []}
";
/// Thanks one caller after the other.
const LISTENER: &str = r#"
chart Listener {
  param agent_id: Text
  event hello
  initial idle
  state idle { on hello -> thinking }
  state thinking { llm thank { prompt """Thank.""" } -> idle }
}
"#;
const THANKS: &str = "
answers:
  thank:
    then: repeat
    answers:
      - {action: invoke_artifact, artifact_id: caller_1, method: thanks, args: []}
      - {action: invoke_artifact, artifact_id: caller_2, method: thanks, args: []}
      - {action: invoke_artifact, artifact_id: caller_3, method: thanks, args: []}
";
const RUN: &str = "
execution: {ticks: 30}
agents:
  - {file: caller.chart, id: caller, count: 3, llm: 'script:caller.script.yaml'}
  - {file: listener.chart, id: listener, count: 2, llm: 'script:listener.script.yaml'}
";

/// A folder with the log of a world in which agents call each other.
fn talk(name: &str) -> PathBuf {
    let folder = folder(&format!("seeing-{name}"));
    for (file, text) in [
        ("caller.chart", CALLER),
        ("caller.script.yaml", CALLS),
        ("listener.chart", LISTENER),
        ("listener.script.yaml", THANKS),
        ("run.yaml", RUN),
    ] {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    let run = ["run", ".", "--seed", "1", "--log", "log.jsonl"];
    let done = chartc(&folder, &run).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

/// Exit code, output, errors, at 80 columns.
fn ran(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = chartc(folder, args);
    let command = command.env("COLUMNS", "80").env("LC_ALL", "en_US.UTF-8");
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn shown(folder: &Path, args: &[&str]) -> String {
    let (code, out, errors) = ran(folder, &[&["trace"], args].concat());
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{args:?}: {out}");
    out
}

#[track_caller]
fn json(folder: &Path, args: &[&str]) -> Value {
    let out = shown(folder, &[args, &["--format", "json"]].concat());
    serde_json::from_str(&out).expect("JSON")
}

/// The errors of a call that is refused, on one line.
#[track_caller]
fn refused(folder: &Path, args: &[&str]) -> String {
    let (code, out, errors) = ran(folder, args);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {errors}");
    errors.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn a_log_is_shown_at_a_glance_and_from_all_sides() {
    let folder = talk("views");
    for (name, args) in [
        ("overview", &["log.jsonl"][..]),
        ("distribution", &["log.jsonl", "--distribution"]),
        ("cascade", &["log.jsonl", "--cascade", "listener_1"]),
        ("cascades", &["log.jsonl", "--cascades"]),
        ("plot", &["log.jsonl", "--plot"]),
        ("plot_ascii", &["log.jsonl", "--plot", "--ascii"]),
        ("summary", &["log.jsonl", "--summary"]),
    ] {
        let text = shown(&folder, args);
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(80), "{name}: {longest:?}\n{text}");
        assert!(name != "plot_ascii" || text.is_ascii(), "{text}");
        insta::assert_snapshot!(format!("seeing_{name}"), text);
    }
    let coloured = shown(&folder, &["log.jsonl", "--plot", "--color", "always"]);
    assert!(coloured.contains("\x1b[36m"), "{coloured}");
}

#[test]
fn the_numbers_are_those_of_the_run() {
    let folder = talk("numbers");
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let rows: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    let overview = json(&folder, &["log.jsonl"]);
    assert_eq!((&overview["version"], &overview["agents"]), (&1.into(), &5.into()));
    assert_eq!(overview["turns"], kind("turn"));
    assert_eq!(overview["questions"], kind("question"));
    assert_eq!(overview["actions"]["invoke_artifact"]["calls"], kind("acted"));
    let caused = rows.iter().filter(|row| row["by"]["agent"].is_string()).count();
    assert!(caused > 20, "{caused}");
    assert_eq!(overview["cascades"]["effects"], caused);
    let sums = json(&folder, &["log.jsonl", "--cascades"]);
    let edges = sums["edges"].as_array().expect("edges").iter();
    assert_eq!(edges.filter_map(|edge| edge["count"].as_u64()).sum::<u64>(), caused as u64);
    // A state, its parent, and the sum of a chart.
    let agents = |state: &str| {
        let found = json(&folder, &["log.jsonl", "--agents-in", state, "--at", "12"]);
        let agents = found["agents"].as_array().expect("agents").clone();
        assert_eq!(found["count"], agents.len());
        agents.iter().map(|agent| agent.as_str().expect("a name").to_owned()).collect()
    };
    let (glad, smiling, waving): (Vec<String>, Vec<String>, Vec<String>) =
        (agents("glad"), agents("Caller.glad.smiling"), agents("waving"));
    assert!(!glad.is_empty() && glad.len() == smiling.len() + waving.len(), "{glad:?}");
    let there = json(&folder, &["log.jsonl", "--distribution", "--at", "12"]);
    let series = json(&folder, &["log.jsonl", "--plot"]);
    assert_eq!(series["unit"], "ticks");
    let moments = series["series"].as_array().expect("moments");
    let then = moments.iter().find(|moment| moment["at"] == 12).expect("tick 12");
    for chart in there["charts"].as_array().expect("charts") {
        for row in chart["states"].as_array().expect("states") {
            let mut places = then["counts"].as_array().expect("counts").iter();
            let is = |p: &&Value| p["chart"] == chart["chart"] && p["state"] == row["state"];
            let count =
                places.find(is).map_or(0, |place| place["count"].as_u64().expect("a count"));
            assert_eq!(row["count"], count, "{row}");
        }
    }
    // The totals of the ticks are those that the log has.
    let all = json(&folder, &["log.jsonl", "--summary"]);
    assert_eq!(all["ticks"]["ticks"], 30);
    let total = |name: &str| -> u64 {
        let ticks = rows.iter().filter(|row| row["event"] == "tick_summary");
        ticks.filter_map(|row| row["data"][name].as_u64()).sum()
    };
    assert_eq!(all["ticks"]["actions_executed"], total("actions_executed"));
    assert_eq!(all["charts"]["Caller"]["runs"], 3);
}

#[test]
fn one_agent_of_a_log_is_a_trace_like_any_other() {
    let folder = talk("agent");
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let own = log.lines().filter_map(|line| {
        let mut row: serde_json::Map<String, Value> = serde_json::from_str(line).expect("a line");
        let is_own = row.get("agent").is_some_and(|agent| agent == "caller_2");
        row.remove("agent");
        row.remove("by");
        is_own.then(|| serde_json::to_string(&row).expect("a line"))
    });
    let own: Vec<String> = own.collect();
    std::fs::write(folder.join("own.jsonl"), own.join("\n")).expect("a file");
    for view in [
        &[][..],
        &["--why"],
        &["--turn", "3"],
        &["--step", "call"],
        &["--format", "mermaid"],
        &["--summary"],
        &["--summary", "--format", "json"],
    ] {
        let of_log = shown(&folder, &[&["log.jsonl", "--agent", "caller_2"], view].concat());
        assert_eq!(of_log, shown(&folder, &[&["own.jsonl"], view].concat()), "{view:?}");
    }
    let said = refused(&folder, &["trace", "log.jsonl", "--agent", "caler_2"]);
    assert!(said.contains("has no agent `caler_2`; did you mean `caller_2`?"), "{said}");
    let replay = ["replay", "log.jsonl", "caller.chart", "--agent", "caller_2"];
    let (code, out, errors) = ran(&folder, &replay);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("the same again: Caller"), "{out}");
    let said = refused(&folder, &["replay", "log.jsonl"]);
    assert!(said.contains("add --agent NAME"), "{said}");
}

#[test]
fn what_cannot_be_shown_is_refused_with_what_to_do() {
    let folder = talk("refused");
    for (args, word) in [
        (&["--agents-in", "glda"][..], "did you mean `glad`?"),
        (&["--cascade", "listner_1"], "did you mean `listener_1`?"),
        (&["--distribution", "--at", "31"], "has no tick 31: its last is 30"),
        (&["--distribution", "--at", "soon"], "neither a tick nor a time"),
        (&["--at", "3"], "--at needs --agents-in or --distribution"),
        (&["--why"], "add --agent NAME"),
        (&["--format", "mermaid"], "add --agent NAME"),
        (&["--plot", "--distribution"], "cannot be used with"),
        (&["--plot", "--summary"], "--summary is a view of its own"),
        (&["log.jsonl"], "cannot be combined"),
    ] {
        let said = refused(&folder, &[&["trace", "log.jsonl"], args].concat());
        assert!(said.contains(word), "{args:?}: {said}");
    }
    // The trace of one run is no log, and one file is not both.
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let line = log.lines().next().expect("a line");
    let one = line.replacen(r#""agent":"caller_1","#, "", 1);
    std::fs::write(folder.join("one.jsonl"), format!("{one}\n")).expect("a file");
    let said = refused(&folder, &["trace", "one.jsonl", "--plot"]);
    assert!(said.contains("one.jsonl is the trace of one run"), "{said}");
    for (mixed, word) in [
        (format!("{line}\n{one}\n"), "line 2 names no agent, but other lines do"),
        (format!("{one}\n{line}\n"), "line 2 names an agent"),
    ] {
        std::fs::write(folder.join("mixed.jsonl"), mixed).expect("a file");
        let said = refused(&folder, &["trace", "mixed.jsonl"]);
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_last_line_that_was_cut_off_hides_nothing_else() {
    let folder = talk("cut");
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let whole = shown(&folder, &["log.jsonl", "--distribution"]);
    let cut = format!("{log}{{\"agent\":\"caller_1\",\"v\":1,\"seq\":9");
    std::fs::write(folder.join("log.jsonl"), cut).expect("a file");
    let (code, out, errors) = ran(&folder, &["trace", "log.jsonl", "--distribution"]);
    assert_eq!((code, out), (Some(1), whole));
    let last = format!("line {} (the last one, cut off)", log.lines().count() + 1);
    assert!(errors.contains(&last) && errors.contains("the rest is shown"), "{errors}");
}
