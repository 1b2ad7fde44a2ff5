//! `chartc tools`, and `chartc run --tools`: against a server that misbehaves as it is told, `runtime/adapters/tests/hostile.py`.

mod keys;
#[cfg(target_os = "linux")]
mod processes;

use crate::run::command::{chartc, folder};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const CHART: &str = r#"
/// Says it again.
tool h.echo(text: Text, shout: Bool?) -> Text
tool h.add(a: Int, b: Int) -> Int
tool sh.date() -> Text

chart Calls {
  var said: Text = ""
  var sum: Int = 0
  initial saying
  state saying { call say h.echo("hi", true) { done -> adding { said = say } error -> lost } }
  state adding { call add h.add(2, 3) { done -> dating { sum = add } error -> lost } }
  state dating { call date sh.date() { error -> lost } -> told }
  final told(text: Text = "{said} {sum}")
  final lost : error
}
"#;

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("skipped, not found: python3");
    }
    found
}

/// A folder with a chart and a configuration: the server `h` in a mode, and what else is to stand there.
fn project(name: &str, mode: &str, more: &str) -> Option<PathBuf> {
    if !has_python() {
        return None;
    }
    let folder = folder(&format!("tools-{name}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/adapters/tests/hostile.py");
    let args = json!([script, mode, folder.join("told")]);
    let tools = format!("[servers.h]\ncommand = \"python3\"\nargs = {args}\n{more}\n");
    std::fs::write(folder.join("tools.toml"), tools).expect("a file");
    std::fs::write(folder.join("calls.chart"), CHART).expect("a file");
    Some(folder)
}

fn told(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("told")).unwrap_or_default()
}

const DATE: &str = "[tools.\"sh.date\"]\ncommand = [\"echo\", \"today\"]";

#[test]
fn servers_make_the_calls_of_a_run() {
    let Some(folder) = project("run", "good", DATE) else { return };
    let run = ["run", "calls.chart", "--tools", "tools.toml", "--trace", "t.jsonl"];
    let (code, out, err) = chartc(&folder, &run);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("h.echo returned \"HI\"") && out.contains("h.add returned 5"), "{out}");
    assert!(out.contains("sh.date returned \"today\""), "{out}");
    assert_eq!(told(&folder).matches("call ").count(), 2, "{}", told(&folder));
    assert!(told(&folder).ends_with("end of input\n"), "{}", told(&folder));
    // The trace has all that was brought: nothing is called again.
    let (code, out, err) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(told(&folder).matches("call ").count(), 2);
    // So has a recording.
    let record = ["run", "calls.chart", "--tools", "tools.toml", "--record", "calls"];
    assert_eq!(chartc(&folder, &record).0, 0);
    let (code, out, _) = chartc(&folder, &["run", "calls.chart", "--llm", "replay:calls"]);
    assert!(code == 0 && out.contains("h.add returned 5"), "{out}");
    assert_eq!(told(&folder).matches("call ").count(), 4);
}

#[test]
fn scripts_answer_for_what_is_not_mapped_and_yield_for_what_is() {
    let Some(folder) = project("beside", "good", "") else { return };
    let script = "functions: {}\ntools:\n  sh.date: [yesterday]\n  h.add: [70]\n";
    std::fs::write(folder.join("results.yaml"), script).expect("a file");
    let run = ["run", "calls.chart", "--tools", "tools.toml"];
    let (code, _, err) = chartc(&folder, &run);
    assert_eq!(code, 1);
    assert!(
        err.contains("calls.chart:5:6: tool `sh.date`: tools.toml maps no tool `sh.date`"),
        "{err}"
    );
    let (code, out, err) = chartc(&folder, &[&run[..], &["--functions", "results.yaml"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("sh.date returned \"yesterday\"") && out.contains("h.add returned 5"),
        "{out}"
    );
    let wanted =
        "warning: tools.toml maps the tool `h.add`, so the results in results.yaml are not used\n";
    assert_eq!(err, wanted);
    let (code, _, err) = chartc(&folder, &[&run[..], &["--llm", "replay:calls"]].concat());
    assert!(code == 2 && err.contains("omit `--tools tools.toml`"), "{err}");
    let (code, _, err) = chartc(&folder, &[&run[..], &["--clock", "virtual"]].concat());
    assert!(code == 2 && err.contains("servers answer in real time"), "{err}");
}

#[test]
fn a_chart_that_does_not_fit_is_not_run() {
    let Some(folder) = project("check", "good", DATE) else { return };
    let check = ["tools", "check", "calls.chart", "--tools", "tools.toml"];
    let (code, out, err) = chartc(&folder, &check);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "no findings in 3 tools\n", ""));
    let wrong = CHART.replace("b: Int) -> Int", "c: Text) -> Bool").replace("h.echo", "h.ecko");
    std::fs::write(
        folder.join("calls.chart"),
        wrong.replace("sum: Int = 0", "sum: Bool = false").replace("(2, 3)", "(2, \"3\")"),
    )
    .expect("a file");
    let wanted = "\
calls.chart:3:6: tool `h.ecko`: the server `h` has no tool `ecko` (tools.toml:1)
  help: did you mean `echo`?
calls.chart:4:6: tool `h.add`: the server knows no parameter `c` of it (tools.toml:1)
  help: its parameters are: a, b
calls.chart:4:6: tool `h.add`: the server requires the parameter `b`, of type Int (tools.toml:1)
  help: add it to `tool h.add`
calls.chart:4:6: tool `h.add`: the result is Bool in the chart, and Int on the server (tools.toml:1)
  help: `-> Text` takes the words of any result, `-> Json` any structure
";
    let (code, out, err) = chartc(&folder, &check);
    assert_eq!((code, err.as_str()), (1, ""));
    assert_eq!(out, format!("{wanted}4 findings in 3 tools\n"));
    let (code, out, _) = chartc(&folder, &[&check[..], &["--format", "json"]].concat());
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(code, 1);
    assert_eq!(told["findings"][2]["kind"], "missing_parameter");
    assert_eq!(told["findings"][2]["line"], 4);
    assert_eq!(told["findings"][2]["configured"], json!({"file": "tools.toml", "line": 1}));
    let (code, out, err) = chartc(&folder, &["run", "calls.chart", "--tools", "tools.toml"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with(wanted), "{err}");
    assert!(!self::told(&folder).contains("call "), "{}", self::told(&folder));
}

#[test]
fn servers_are_listed() {
    let Some(folder) = project("list", "malformed", DATE) else { return };
    let list = ["tools", "list", "--tools", "tools.toml"];
    let (code, out, err) = chartc(&folder, &list);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.starts_with(
            "h (tools.toml:1): 1 tool\n  h.echo(text: Text) -> Text\n      Does echo.\n"
        ),
        "{out}"
    );
    assert!(
        out.contains("  warning: the tool `a` is left out: it has no `inputSchema`\n"),
        "{out}"
    );
    assert!(out.ends_with("sh.date: a command or an HTTP endpoint\n"), "{out}");
    let (_, out, _) = chartc(&folder, &[&list[..], &["h", "--format", "json"]].concat());
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(told["servers"][0]["tools"][0]["name"], "h.echo");
    let (code, _, err) = chartc(&folder, &[&list[..], &["g"]].concat());
    assert!(code == 2 && err.contains("has no server `g`"), "{err}");
    let Some(folder) = project("absent", "exits", "") else { return };
    let (code, out, err) = chartc(&folder, &list);
    assert_eq!((code, err.as_str()), (1, "h: no database\n"));
    let wanted =
        "h (tools.toml:1): cannot be started: it ended with exit status 3; it wrote: no database\n";
    assert_eq!(out, wanted);
}

#[test]
fn declarations_are_added_once() {
    let Some(folder) = project("add", "good", "") else { return };
    let add = |what: &str, to: &str| {
        chartc(&folder, &["tools", "add", what, "--tools", "tools.toml", "--to", to])
    };
    let (code, out, err) = add("h.place", "new.chart");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let text = || std::fs::read_to_string(folder.join("new.chart")).expect("it was written");
    let wanted = "\
enum HPlaceKind { hill  lake }
type HPlaceNear { name: Text  height: Float? }
type HPlaceResult { name: Text  height: Float? }
/// Does place.
tool h.place(kind: HPlaceKind, near: HPlaceNear?) -> HPlaceResult
";
    assert_eq!(text(), wanted);
    let (code, out, err) = add("h", "new.chart");
    assert_eq!(code, 0, "{err}");
    assert_eq!(err, "new.chart declares `h.place` already: it stays as it is\n");
    assert_eq!(out.lines().count(), 18, "{out}");
    assert!(
        text().starts_with(wanted)
            && text().contains("tool h.`get-sum`(values: List(Float)) -> Text"),
        "{}",
        text()
    );
    let (code, out, _) = add("h", "new.chart");
    assert_eq!((code, out.as_str()), (0, ""), "nothing is left to add");
    assert_eq!(chartc(&folder, &["fmt", "--check", "new.chart"]).0, 0);
    std::fs::write(
        folder.join("new.chart"),
        text() + "chart C { initial s state s { may call any } }",
    )
    .expect("a file");
    let (code, out, _) = chartc(&folder, &["tools", "check", "new.chart", "--tools", "tools.toml"]);
    assert_eq!((code, out.as_str()), (0, "no findings in 19 tools\n"), "what is added fits");
    let (code, _, err) = add("h.ecko", "new.chart");
    assert!(code == 2 && err.contains("did you mean `h.echo`?"), "{err}");
    assert_eq!(add("h", "new.txt").0, 2);
    std::fs::write(folder.join("broken.chart"), "chart {").expect("a file");
    assert_eq!(add("h", "broken.chart").0, 1);
    assert_eq!(std::fs::read_to_string(folder.join("broken.chart")).expect("a file"), "chart {");
}

#[test]
fn hostile_names_become_declarations_and_nothing_else() {
    let Some(folder) = project("evil", "evil-text", "") else { return };
    let add = ["tools", "add", "h", "--tools", "tools.toml", "--to", "new.chart"];
    let (code, out, err) = chartc(&folder, &add);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out}");
    let text = std::fs::read_to_string(folder.join("new.chart")).expect("it was written");
    let code = text.lines().filter(|line| !line.starts_with("///") && !line.is_empty());
    let wanted = [
        r"tool h.`x\`) -> Text\ntool`(`a\n\`b`: Text?) -> Text",
        "tool h.empty(``: Text) -> Text",
        "tool h.loose(`else`: Json, any: Json?) -> Text",
    ];
    assert_eq!(code.collect::<Vec<_>>(), wanted, "{text}");
    std::fs::write(
        folder.join("new.chart"),
        text + "chart C { initial s state s { may call any } }",
    )
    .expect("a file");
    let (code, out, _) = chartc(&folder, &["tools", "check", "new.chart", "--tools", "tools.toml"]);
    assert_eq!((code, out.as_str()), (0, "no findings in 3 tools\n"));
    let (code, out, err) = chartc(&folder, &["tools", "list", "--tools", "tools.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out}");
}

#[test]
fn what_servers_write_goes_to_the_log() {
    let Some(folder) = project("log", "good", "env = { TOKEN = \"${CHARTC_TEST_TOKEN:-tok}\" }")
    else {
        return;
    };
    let chart = "tool h.flood(lines: Int) -> Text\nchart F { initial a state a { call f h.flood(3) -> b } final b }";
    std::fs::write(folder.join("f.chart"), chart).expect("a file");
    let run = ["run", "f.chart", "--tools", "tools.toml"];
    let (code, _, err) = chartc(&folder, &run);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.starts_with("h: line 0 zzz") && err.ends_with("h: \\u{1b}[2J\u{fffd} no newline\n"),
        "{err}"
    );
    let (code, _, err) = chartc(&folder, &[&run[..], &["--tools-log", "log.txt"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let log = std::fs::read_to_string(folder.join("log.txt")).expect("a log");
    assert_eq!(log.lines().count(), 4, "{log}");
    assert!(log.ends_with("h: \\u{1b}[2J\u{fffd} no newline\n"), "{log}");
}

#[test]
fn an_unset_variable_stops_before_anything_is_started() {
    let env = "env = { TOKEN = \"${CHARTC_TEST_UNSET}\" }";
    let Some(folder) = project("unset", "good", env) else { return };
    let (code, _, err) = chartc(&folder, &["tools", "list", "--tools", "tools.toml"]);
    assert_eq!(code, 2);
    let wanted = "error: tools.toml:4: servers.h.env.TOKEN: the variable `CHARTC_TEST_UNSET` is not set\n\
                  help: set CHARTC_TEST_UNSET, or write a default: ${CHARTC_TEST_UNSET:-…}\n";
    assert_eq!(err, wanted);
    assert_eq!(told(&folder), "");
}

#[test]
fn a_call_is_taken_back_when_its_step_is_left() {
    let Some(folder) = project("left", "good", "") else { return };
    let chart = "tool h.hang() -> Text\ntool h.echo(text: Text) -> Text\nchart F { initial a\n\
        state a { call f h.hang() { timeout 500ms -> b } }\n\
        state b { call e h.echo(\"after\") { error -> lost } -> c }\nfinal c\nfinal lost : error }";
    std::fs::write(folder.join("f.chart"), chart).expect("a file");
    let (code, out, err) = chartc(&folder, &["run", "f.chart", "--tools", "tools.toml"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("h.echo returned \"after\""), "{out}");
    let told = told(&folder);
    assert!(told.contains("cancelled the call was given up"), "{told}");
    assert_eq!(told.matches("start ").count(), 1, "the same server answers: {told}");
}

#[test]
fn a_model_chooses_among_tools_of_servers() {
    let Some(folder) = project("offered", "good", "") else { return };
    let chart = r#"
tool h.echo(text: Text, shout: Bool?) -> Text
tool h.fail() -> Text
chart F {
  var said: Json = none
  initial asking
  ask next on turn else stay { prompt "{options} {last_result}" }
  may stop "enough" -> done
  state asking { may call any into said }
  final done
}
"#;
    std::fs::write(folder.join("f.chart"), chart).expect("a file");
    let script = "answers:\n  next:\n    - '{\"tool\": \"h.echo\", \"arguments\": {\"text\": \"hi\", \"shout\": true}}'\n    - '{\"tool\": \"h.fail\"}'\n    - stop\n";
    std::fs::write(folder.join("s.yaml"), script).expect("a file");
    let run = ["run", "f.chart", "--tools", "tools.toml", "--llm", "script:s.yaml", "--turns", "9"];
    let (code, out, err) = chartc(&folder, &run);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("h.echo returned \"HI\""), "{out}");
    assert!(out.contains("no such page; data: {\"code\":404}"), "{out}");
    assert!(out.contains("done: ended ok"), "{out}");
}

#[test]
fn the_configurations_of_the_page_are_sound() {
    let page = test_support::project::read("docs/tools.md");
    let mut count = 0;
    for (kind, end) in [("```toml\n", "toml"), ("```json\n", "json")] {
        for block in page.split(kind).skip(1) {
            let text = block.split("```").next().unwrap_or_default();
            let variables = |name: &str| Some(format!("value of {name}"));
            let name = format!("page.{end}");
            let read =
                chartc_adapters::tools::Configuration::read(&name, text, Path::new(""), &variables);
            read.unwrap_or_else(|fault| panic!("{fault} ({})\n{text}", fault.help));
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}
