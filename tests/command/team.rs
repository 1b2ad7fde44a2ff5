//! What a team and its CI servers ask of `chartc check`: baselines, statistics, fixes in files, names of files.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

const FAULTY: &str = "chart A {
  event open
  initial a
  state a { on opne -> b }
  state b { on open -> a }
}
";
/// It has the warning C0302 in line 4.
pub(crate) const HIDDEN: &str = "chart B {
  event open
  initial a
  state a { on open -> b on open -> b }
  state b { on open -> a }
}
";

pub(crate) fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = test_support::project::folder(&format!("team-{name}"));
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    folder
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.args(arguments).current_dir(folder).env("COLUMNS", "100");
    command
}

/// The exit code, standard output, standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    told(&command(folder, arguments).output().expect("chartc starts"))
}

pub(crate) fn fed(folder: &Path, arguments: &[&str], text: &str) -> (Option<i32>, String, String) {
    let mut command = command(folder, arguments);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("chartc starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(text.as_bytes()).expect("it is read");
    drop(stdin);
    told(&child.wait_with_output().expect("it ends"))
}

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

#[test]
fn a_baseline_covers_what_it_lists_and_nothing_else() {
    let here = folder("baseline", &[("in/a.chart", HIDDEN), ("in/b.chart", FAULTY)]);
    let (code, _, said) = run(&here, &["check", "--write-baseline", "known.json"]);
    assert_eq!((code, said.contains("2 findings in known.json")), (Some(0), true), "{said}");
    let (code, out, said) = run(&here, &["check", "--format", "short", "--baseline", "known.json"]);
    assert_eq!((code, out.as_str(), said.as_str()), (Some(0), "", ""));
    // From another folder, with lines inserted, and for a part of the files.
    std::fs::write(here.join("in/a.chart"), format!("\n// new\n\n{HIDDEN}")).expect("writable");
    let inner = here.join("in");
    let given = ["check", "--format", "short", "--baseline", "../known.json", "a.chart"];
    assert_eq!(run(&inner, &given), (Some(0), String::new(), String::new()));
    // A second equal finding is not covered; one that is gone is reported.
    let twice =
        HIDDEN.replace("on open -> b on open -> b", "on open -> b on open -> b on open -> b");
    std::fs::write(here.join("in/a.chart"), twice).expect("writable");
    std::fs::write(here.join("in/b.chart"), FAULTY.replace("opne", "open")).expect("writable");
    let (_, out, said) = run(&here, &["check", "--format", "short", "--baseline", "known.json"]);
    assert!(out.contains("C0302"), "{out}");
    assert!(said.contains("gone: in/b.chart: C0102 no event `opne`"), "{said}");
    assert!(said.contains("--write-baseline known.json"), "{said}");
    // A deleted file's findings are gone, too.
    std::fs::remove_file(here.join("in/b.chart")).expect("it is there");
    let (_, _, said) = run(&here, &["check", "--baseline", "known.json", "in/a.chart"]);
    assert!(said.contains("gone: in/b.chart"), "{said}");
}

#[test]
fn no_baseline_covers_syntax() {
    let here = folder("firm", &[("a.chart", "chart A { stat x }\n")]);
    let (code, out, _) = run(&here, &["check", "--write-baseline", "k.json", "--format", "short"]);
    assert_eq!((code, out.contains("C0001")), (Some(1), true), "{out}");
    let (code, out, _) = run(&here, &["check", "--baseline", "k.json", "--format", "short"]);
    assert_eq!((code, out.contains("C0001")), (Some(1), true), "{out}");
}

#[test]
fn what_is_no_baseline_is_refused() {
    let files =
        [("a.chart", FAULTY), ("b.json", "{}"), ("c.json", "{\"version\":9,\"findings\":[]}")];
    let here = folder("faulty-baseline", &files);
    for (file, why) in
        [("b.json", "is no baseline"), ("c.json", "version 9"), ("d.json", "no such file")]
    {
        let (code, out, said) = run(&here, &["check", "--baseline", file]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(said.contains(why) && said.contains("--write-baseline"), "{said}");
    }
}

#[test]
fn statistics_count_each_rule() {
    let here = folder("statistics", &[("a.chart", FAULTY), ("b.chart", HIDDEN)]);
    let (code, out, _) = run(&here, &["check", "--statistics"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("1  C0102  error    unknown-name, 1 with a safe fix\n"), "{out}");
    assert!(out.ends_with("2  total, 1 with a safe fix\n"), "{out}");
    let (_, out, _) = run(&here, &["check", "--statistics", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!((&value["total"], &value["fixable"]), (&2.into(), &1.into()));
    assert_eq!(value["rules"].as_array().map(Vec::len), Some(2));
}

#[test]
fn files_are_fixed_in_place() {
    let here = folder("fix", &[("a.chart", ""), ("b.chart", HIDDEN)]);
    let marked = format!("\u{feff}{}", FAULTY.replace('\n', "\r\n"));
    std::fs::write(here.join("a.chart"), &marked).expect("writable");
    let (code, out, said) = run(&here, &["check", "--diff", "--format", "short"]);
    assert_eq!((code, said.contains("would fix 1 finding in 1 file")), (Some(1), true), "{said}");
    assert!(out.contains("-  state a { on opne -> b }\n+  state a { on open -> b }\n"), "{out}");
    assert_eq!(read(here.join("a.chart")), marked);
    let (code, out, said) = run(&here, &["check", "--fix", "--format", "short"]);
    assert_eq!((code, said.contains("fixed 1 finding in 1 file")), (Some(0), true), "{said}");
    assert!(out.contains("C0302") && !out.contains("C0102"), "{out}");
    assert_eq!(read(here.join("a.chart")), marked.replace("opne", "open"));
    assert_eq!(read(here.join("b.chart")), HIDDEN);
    let (_, _, said) = run(&here, &["check", "--fix"]);
    assert!(!said.contains("fixed"), "{said}");
}

/// On a terminal, both streams are one: what was fixed comes after the findings that are left.
#[test]
fn what_was_fixed_comes_last() {
    let here = folder("fix-last", &[("a.chart", FAULTY), ("b.chart", HIDDEN)]);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let status = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["check", "--fix", "--format", "short"])
        .current_dir(&here)
        .stdout(writer.try_clone().expect("a pipe"))
        .stderr(writer)
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).expect("it is text");
    assert!(text.contains("C0302") && text.ends_with("fixed 1 finding in 1 file\n"), "{text}");
}

#[test]
fn what_a_setting_turns_off_is_not_fixed() {
    let agent = "id: x\nllm_model: m\nstarting_credits: 3\nworkflow:\n  steps:\n    - name: s\n      type: llm\n      prompt: hello\n";
    let here = folder("fix-off", &[("agent.yaml", agent)]);
    run(&here, &["check", "--fix", "--allow", "C0405"]);
    assert_eq!(read(here.join("agent.yaml")), agent);
    run(&here, &["check", "--fix"]);
    assert_eq!(read(here.join("agent.yaml")), agent.replace("credits", "scrip"));
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let here = folder("fix-stdin", &[("x.chart", "")]);
    let (code, out, said) = fed(&here, &["check", "--fix", "-"], FAULTY);
    assert_eq!((code, out), (Some(0), FAULTY.replace("opne", "open")), "{said}");
    // Also under the name of a file, which stays as it is; what is left goes elsewhere, and settings count.
    let both = format!("{FAULTY}{HIDDEN}");
    let given = ["check", "--fix", "--stdin-filename", "x.chart", "--deny", "C0302", "-"];
    let (code, out, said) = fed(&here, &given, &both);
    assert_eq!((code, out), (Some(1), both.replace("opne", "open")), "{said}");
    assert!(said.contains("error[C0302]"), "{said}");
    assert_eq!(read(here.join("x.chart")), "");
    let (code, out, _) = fed(&here, &["check", "--unsafe-fixes", "-"], FAULTY);
    assert_eq!((code, out.as_str()), (Some(2), ""));
}

#[test]
fn standard_input_is_read_as_the_file_that_it_is_named() {
    let here =
        folder("named", &[("lib/tools.chart", "tool look() -> Bool\n"), ("lib/a.chart", "old")]);
    let chart = "import \"tools.chart\"\nchart A {\n  event go\n  initial a\n  state a { on go -> a2 }\n}\n";
    let given = ["check", "--stdin-filename", "lib/a.chart", "--format", "short", "-"];
    let (code, out, _) = fed(&here, &given, chart);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("lib/a.chart:5:22: error[C0102]"), "{out}");
    let given = ["check", "--stdin-filename", "x/agent.yaml", "--format", "short", "-"];
    let (_, out, _) = fed(&here, &given, "idd: x\nworkflow: {}\n");
    assert!(out.contains("x/agent.yaml:1:1: ") && out.contains("`idd`"), "{out}");
    let (code, _, said) = run(&here, &["check", "--stdin-filename", "a.chart", "lib"]);
    assert_eq!((code, said.contains("has no meaning without `-`")), (Some(2), true), "{said}");
}

#[test]
fn files_that_are_no_charts_are_named_and_not_parsed() {
    let text = "# A page\n\n```\nchart A { stat }\n```\n";
    let here =
        folder("others", &[("README.md", text), ("data.yaml", "a: [1\n"), ("a.chart", HIDDEN)]);
    let (code, out, said) = run(&here, &["check", "--format", "short", "README.md"]);
    assert_eq!((code, out.as_str()), (Some(4), ""));
    assert!(said.starts_with("README.md is no chart: chartc reads *.chart"), "{said}");
    let (code, out, said) = run(&here, &["check", "--format", "short", "README.md", "a.chart"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("C0302") && !out.contains("README"), "{out}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn junit_is_written_also_when_charts_have_errors() {
    let here = folder("junit", &[("a.chart", FAULTY)]);
    let (code, out, _) = run(&here, &["test", "--format", "junit", "--junit", "r.xml"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("<?xml") && out.contains("type=\"C0102\""), "{out}");
    assert_eq!(read(here.join("r.xml")), out);
    let test = "test \"one\" for A { send open  expect at b }\n";
    let sound = format!("{}{test}", FAULTY.replace("opne", "open"));
    std::fs::write(here.join("a.chart"), sound).expect("writable");
    let (code, out, said) = run(&here, &["test", "--format", "junit"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert!(out.contains("<testcase name=\"one\""), "{out}");
}

#[test]
fn fmt_shows_what_would_change() {
    let here = folder("fmt", &[("a.chart", &FAULTY.replace("  state b", "state   b"))]);
    let (code, out, _) = run(&here, &["fmt", "--check", "--diff"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("-state   b { on open -> a }\n"), "{out}");
    assert_eq!(read(here.join("a.chart")), FAULTY.replace("  state b", "state   b"));
}

/// `chartc check --watch` in a folder, until it is dropped.
pub(crate) struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    pub(crate) fn new(folder: &Path, paths: &[&str]) -> Self {
        let options = ["check", "--watch", "--format", "short"];
        let mut command = command(folder, &[&options, paths].concat());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let out = child.stdout.take().expect("it is piped");
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a line with this text.
    pub(crate) fn wait(&self, wanted: &str) {
        while !self.lines.recv_timeout(Duration::from_mins(1)).expect("it comes").contains(wanted) {
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

#[test]
fn watching_checks_again_when_a_file_changes() {
    let here = folder("watch", &[("a.chart", HIDDEN)]);
    let watch = Watch::new(&here, &[]);
    let wait = |wanted| watch.wait(wanted);
    wait("a.chart:4:26: warning[C0302]");
    std::fs::write(here.join("a.chart"), FAULTY).expect("writable");
    wait("a.chart:4:16: error[C0102]");
    std::fs::write(here.join("b.chart"), format!("\n{FAULTY}")).expect("writable");
    wait("b.chart:5:16: error[C0102]");
    std::fs::write(here.join("chartc.toml"), "[lints]\nunheard = \"deny\"\n").expect("writable");
    std::fs::remove_file(here.join("chartc.toml")).expect("it is there");
    std::fs::remove_file(here.join("b.chart")).expect("it is there");
    wait("----");
}
