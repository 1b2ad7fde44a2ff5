//! What hurts a world, at the command.

use super::running::{lines, traders};
use super::{chartc, folder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// Thinks, and does what it has thought of.
const CHART: &str = r#"
/// Thinks.
chart Thinker {
  param agent_id: Text
  initial open
  state open { llm think { prompt """What now?""" } }
}
"#;

/// One agent for each script, by name.
fn thinkers(name: &str, scripts: &[(&str, Value)]) -> std::path::PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("thinker.chart"), CHART).expect("a file");
    let mut agents = Vec::new();
    for (nth, (id, script)) in scripts.iter().enumerate() {
        let script_file = format!("{nth}.script.yaml");
        std::fs::write(folder.join(&script_file), script.to_string()).expect("a file");
        let llm = format!("script:{script_file}");
        agents.push(json!({"file": "thinker.chart", "id": id, "llm": llm}));
    }
    let run = json!({"execution": {"delay": 1}, "agents": agents});
    std::fs::write(folder.join("run.yaml"), run.to_string()).expect("a file");
    folder
}

fn for_ever(answers: &[Value]) -> Value {
    json!({"answers": {"think": {"then": "repeat", "answers": answers}}})
}

fn hides_nothing(text: &str) {
    let hidden = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}\u{2028}".contains(c));
    assert!(!text.contains(hidden), "{text:?}");
}

#[test]
fn what_agents_write_reaches_no_terminal_raw() {
    let write = |id: &str, ty: &str, content: &str| json!({"action": "write_artifact", "artifact_id": id, "artifact_type": ty, "content": content});
    let script = for_ever(&[
        write("plain\u{202e}gnp.exe", "data", "x"),
        write("escape\u{1b}[31m", "data", "x"),
        write("content", "ty\u{1b}[1m", "\u{1b}]0;title\u{7} \u{202e} \u{0} \u{2028} \u{200b}"),
        write("chart\u{202e}", "chart", "chart \u{1b}[31m\u{202e} {"),
        write("..", "data", "x"),
        write("", "data", "x"),
        write("genesis_ledger", "data", "x"),
        write(&"x".repeat(10_240), "data", "x"),
        json!({"action": "inv\u{1b}[31moke\u{202e}"}),
        json!({"action": "invoke_artifact", "artifact_id": "content", "method": "go\u{1b}", "args": []}),
    ]);
    let folder = thinkers("hidden", &[("n\u{202e}ame", script.clone()), ("..", script)]);
    for format in ["text", "json"] {
        let args = ["run", ".", "--ticks", "10", "--format", format, "--log", "log.jsonl"];
        let output = chartc(&folder, &args).output().expect("it runs");
        let out = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.status.code(), Some(0), "{out}");
        hides_nothing(&out);
        hides_nothing(&String::from_utf8(output.stderr).expect("text"));
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        hides_nothing(&log);
        let acted = lines(&log).into_iter().filter(|line| line["kind"] == "acted").count();
        assert_eq!(acted, 20);
        if format == "json" {
            let end = lines(&out).pop().expect("a last line");
            assert_eq!(end["balances"]["n\u{202e}ame"], 100, "{end}");
        }
    }
}

/// Charts without findings that try to use up the memory of the host, each with the text that stops it.
fn greedy() -> [(&'static str, String, &'static str); 2] {
    // A deadline of 0 ms, and 900 eventless transitions that lead back to it.
    let way: String =
        (0..900).map(|nth| format!("  state s{nth} {{ when n >= 0 -> s{} }}\n", nth + 1)).collect();
    let swings = format!(
        "chart Swings {{\n  event go\n  var n: Int = 0\n  initial a\n  state a {{ after 0ms if n >= 0 -> s0 }}\n{way}  state s900 {{ when n >= 0 -> a }}\n}}\n"
    );
    let all = |line: &dyn Fn(u32) -> String| (0..60).map(line).collect::<String>();
    let grows = format!(
        "chart Grows {{\n  event go\n{}  initial a\n  state a {{ after 1ms if len(t0) < 500000 -> a {{ {} }} }}\n}}\n",
        all(&|nth| format!("  var t{nth}: Text = \"0123456789\"\n")),
        all(&|nth| format!("t{nth} = concat(t{nth}, t{nth})  ")),
    );
    [("swings", swings, "livelock"), ("grows", grows, "would take more than 4000000 bytes")]
}

#[test]
fn charts_that_agents_write_take_no_memory_of_the_host() {
    for (name, text, why) in greedy() {
        let write = json!({"action": "write_artifact", "artifact_id": name, "artifact_type": "chart", "content": text});
        let spawn = json!({"action": "invoke_artifact", "artifact_id": "genesis_ledger", "method": "spawn_principal", "args": [name]});
        let eve = json!({"answers": {"think": {"then": "last", "answers": [write, spawn, {"action": "noop"}]}}});
        let ada = for_ever(&[json!({"action": "noop"})]);
        let folder = thinkers(name, &[("ada", ada), ("eve", eve)]);
        let args = ["run", ".", "--ticks", "6", "--format", "json", "--log", "log.jsonl"];
        let output = chartc(&folder, &args).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        assert!(log.contains(why), "{name}: {:.2000}", &log[log.len().saturating_sub(2000)..]);
        // 10,000 lines, perhaps in each of the ticks.
        assert!(log.len() < 16 << 20, "{name}: {} bytes", log.len());
        let end = lines(&told).pop().expect("a last line");
        assert!(end["loops"]["ada"] != "broken" && end["loops"]["eve"] != "broken", "{end}");
        let turns = lines(&log).into_iter();
        let turns = turns.filter(|line| line["kind"] == "turn" && line["agent"] == "ada").count();
        assert_eq!(turns, 6, "{name}: the others go on");
    }
}

#[test]
fn one_agent_whose_script_fails_stops_no_other() {
    let good = for_ever(&[json!({"action": "noop"})]);
    let bad = json!({"answers": {"think": ["fail: no way"]}});
    let folder =
        thinkers("broken", &[("bad", bad), ("good", good), ("none", json!({"answers": {}}))]);
    for ends in [["--ticks", "6"], ["--duration", "6"]] {
        let output = chartc(&folder, &["run", ".", ends[0], ends[1]]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        let all = lines(&String::from_utf8_lossy(&output.stdout));
        let end = all.last().expect("a last line");
        let broken: Vec<&String> = end["broken"].as_object().expect("names").keys().collect();
        assert_eq!(broken, ["bad", "none"], "{end}");
        let last = &all[all.len() - 2];
        assert_eq!(last["actions_by_type"]["noop"], 1, "the good one goes on: {last}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("bad could not go on") && told.contains("none could not"), "{told}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_log_replaces_no_file_that_the_run_needs() {
    let folder = traders("apart");
    let run = |log: &str| {
        let args = ["run", ".", "--ticks", "2", "--store", "w.db", "--log", log];
        let output = chartc(&folder, &args).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run("log.jsonl").0, Some(0));
    for log in ["trader.chart", "./run.yaml", "trader.script.yaml", "w.db"] {
        let before = std::fs::read(folder.join(log)).expect("a file");
        let (code, told) = run(log);
        assert_eq!(code, Some(2), "{log}: {told}");
        assert!(told.contains("which the run needs"), "{told}");
        assert!(std::fs::read(folder.join(log)).expect("a file") == before, "{log}");
    }
}

/// Sends a signal to a run that nobody waits for; its exit code.
#[cfg(all(unix, feature = "sqlite"))]
fn interrupted(folder: &Path, ends: [&str; 2], times: usize) -> Option<i32> {
    let args = ["run", ".", ends[0], ends[1], "--log", "log.jsonl", "--store", "w.db"];
    let mut child = chartc(folder, &args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let out = BufReader::new(child.stdout.take().expect("an output"));
    let mut all = out.lines();
    for _ in 0..3 {
        all.next().expect("a summary").expect("text");
    }
    for _ in 0..times {
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill").args(["-INT", &id]).status();
        assert!(kill.expect("there is kill").success());
    }
    // It ends, and what it still says fits.
    for line in all {
        serde_json::from_str::<Value>(&line.expect("text")).expect("a whole line");
    }
    child.wait().expect("it has ended").code()
}

#[cfg(all(unix, feature = "sqlite"))]
#[test]
fn an_interrupted_run_ends_soon_and_goes_on_later() {
    let forever = for_ever(&[json!({"action": "noop"})]);
    for ends in [["--ticks", "4000000"], ["--duration", "40000000"]] {
        let folder = thinkers("interrupted", &[("a", forever.clone()), ("b", forever.clone())]);
        assert_eq!(interrupted(&folder, ends, 1), Some(0));
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        assert!(log.ends_with('\n'));
        let before = lines(&log).len();
        assert_eq!(interrupted(&folder, ends, 1), Some(0), "it goes on, and ends again");
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        assert!(lines(&log).len() > before);
        let code = interrupted(&folder, ends, 2);
        // The second one may come when the first has ended it already.
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        assert!(log.ends_with('\n') && lines(&log).len() > before);
    }
}
