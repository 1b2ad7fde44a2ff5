//! The command line as a user meets it: which files are checked, exit codes, what goes where.

use chartc_core::visible;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CLEAN: &str = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n  final b\n}\n";
const BROKEN: &str = "chart B {\n  event go\n  initial a\n  state a { on go -> nowhere }\n}\n";
const WARNED: &str = "chart C {\n  event go\n  initial a\n  state a { on go -> b }\n  state b\n}\n";

/// A fresh folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = test_support::project::folder(&format!("cli-{name}"));
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("as before");
        std::fs::write(path, text).expect("as before");
    }
    folder
}

fn chartc(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.args(arguments).current_dir(folder).env_remove("NO_COLOR").env("COLUMNS", "100");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    chartc(folder, arguments).output().expect("chartc starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Exit code and the files that have findings, in the order printed.
fn check(folder: &Path, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let all: Vec<&str> = ["check", "--format", "short"].iter().chain(arguments).copied().collect();
    let output = run(folder, &all);
    let text = out(&output);
    let files = text.lines().map(|l| l.split(':').next().unwrap_or_default().to_owned()).collect();
    (output.status.code(), files)
}

#[test]
fn a_project_says_how_it_takes_findings() {
    let folder = folder(
        "config",
        &[
            ("chartc.toml", "[check]\nfail-on = \"warning\"\n"),
            ("a.chart", WARNED),
            ("sub/chartc.toml", "[lints]\nundriven-state = \"allow\"\n"),
            ("sub/b.chart", WARNED),
            ("wrong/chartc.toml", "[lints]\nundriven-stat = \"allow\"\n"),
            ("wrong/c.chart", WARNED),
        ],
    );
    assert_eq!(check(&folder, &["a.chart"]).0, Some(1));
    // What is said with the command counts for more.
    assert_eq!(check(&folder, &["a.chart", "--fail-on", "error"]).0, Some(0));
    assert_eq!(check(&folder, &["a.chart", "--allow", "C0301"]), (Some(0), vec![]));
    let sub = folder.join("sub");
    assert_eq!(check(&sub, &[]), (Some(0), vec![]));
    assert_eq!(check(&sub, &["--deny", "C0301"]).0, Some(1));
    let output = run(&folder.join("wrong"), &["check"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    insta::assert_snapshot!(errors(&output));
}

#[test]
fn one_broken_file_does_not_hide_the_others() {
    let folder =
        folder("several", &[("a.chart", CLEAN), ("b.chart", BROKEN), ("z/c.chart", BROKEN)]);
    let (code, files) = check(&folder, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(files, ["b.chart", "z/c.chart"]);
}

#[test]
fn exit_codes() {
    let folder = folder(
        "codes",
        &[
            ("a.chart", CLEAN),
            ("w.chart", WARNED),
            ("empty/readme.txt", ""),
            ("nothing.chart", "// later\n"),
            ("agent.yaml", ""),
        ],
    );
    let code = |arguments: &[&str]| run(&folder, arguments).status.code();
    assert_eq!(code(&["check", "a.chart"]), Some(0));
    assert_eq!(code(&["check", "w.chart"]), Some(0));
    assert_eq!(code(&["check", "w.chart", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["check", "w.chart", "--deny", "warnings"]), Some(1));
    assert_eq!(code(&["check", "w.chart", "--deny", "undriven-state"]), Some(1));
    assert_eq!(code(&["check", "w.chart", "--deny", "warnings", "--allow", "C0301"]), Some(0));
    assert_eq!(code(&["check", "w.chart", "--format", "xml"]), Some(2));
    assert_eq!(code(&["check", "w.chart", "--deny", "C9999"]), Some(2));
    assert_eq!(code(&["chek"]), Some(2));
    assert_eq!(code(&["check", "empty"]), Some(4));
    assert_eq!(code(&["check", "nothing.chart"]), Some(4));
    assert_eq!(code(&["check", "nothing.chart", "agent.yaml"]), Some(4));
    assert_eq!(code(&["check", "nothing.chart", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["check", "nothing.chart", "a.chart"]), Some(0));
    assert_eq!(code(&["--version"]), Some(0));
}

#[test]
fn ignored_hidden_and_other_files_are_left_out() {
    let folder = folder(
        "ignored",
        &[
            (".gitignore", "built/\n"),
            ("built/b.chart", BROKEN),
            (".hidden/b.chart", BROKEN),
            ("ci.yaml", "on: push\n"),
            ("b.chart.txt", BROKEN),
            ("seen/b.chart", BROKEN),
        ],
    );
    assert_eq!(check(&folder, &["."]).1, ["seen/b.chart"]);
    assert_eq!(check(&folder, &["built/b.chart"]).1, ["built/b.chart"]);
}

#[test]
fn a_file_named_twice_is_checked_once() {
    let folder = folder("twice", &[("x/b.chart", BROKEN)]);
    assert_eq!(check(&folder, &["x/b.chart", "./x/../x/b.chart", "x"]).1, ["x/b.chart"]);
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    let folder = folder("links", &[("x/b.chart", BROKEN)]);
    std::os::unix::fs::symlink("..", folder.join("x/up")).expect("links can be made");
    std::os::unix::fs::symlink("b.chart", folder.join("x/c.chart")).expect("links can be made");
    assert_eq!(check(&folder, &[]).1, ["x/b.chart", "x/c.chart"]);
}

#[test]
fn what_cannot_be_read_is_a_finding() {
    let folder = folder("unreadable", &[("b.chart", BROKEN)]);
    std::fs::write(folder.join("bytes.chart"), [0xFF, 0xFE, b'a']).expect("it is the test's own");
    std::fs::write(folder.join("nul.chart"), [b'a', 0]).expect("it is the test's own");
    let output =
        run(&folder, &["check", "--format", "short", "bytes.chart", "nul.chart", "gone.chart"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        out(&output),
        "bytes.chart:1:1: error[C0002] `bytes.chart` cannot be read: it is not UTF-8 (byte 0)\n\
         nul.chart:1:1: error[C0002] `nul.chart` cannot be read: it is not a text file\n\
         gone.chart:1:1: error[C0002] `gone.chart` cannot be read: there is no such file\n"
    );
}

#[test]
fn standard_input() {
    let folder = folder("stdin", &[]);
    let mut child = chartc(&folder, &["check", "-", "--format", "short"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("chartc starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(BROKEN.as_bytes()).expect("chartc reads it");
    drop(input);
    let output = child.wait_with_output().expect("chartc ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("<stdin>:4:22: error[C0102]"), "{}", out(&output));
}

#[test]
fn an_agent_on_standard_input() {
    let folder = folder("agent-stdin", &[("a.txt", "id: builder\nworkflw:\n  steps: []\n")]);
    let input = std::fs::File::open(folder.join("a.txt")).expect("it was just written");
    let output = chartc(&folder, &["check", "-", "--format", "short"])
        .stdin(Stdio::from(input))
        .output()
        .expect("chartc starts");
    assert!(out(&output).contains("<stdin>:2:1: warning[C0101]"), "{}", out(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let folder = folder("pipe", &[("b.chart", &BROKEN.repeat(500))]);
    let mut child = chartc(&folder, &["check", "b.chart"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chartc starts");
    let mut some = [0; 16];
    let mut pipe = child.stdout.take().expect("it is piped");
    pipe.read_exact(&mut some).expect("chartc prints");
    drop(pipe);
    let output = child.wait_with_output().expect("chartc ends");
    assert_eq!((output.status.code(), errors(&output).as_str()), (Some(1), ""));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = folder("colour", &[("b.chart", BROKEN)]);
    let coloured = |arguments: &[&str]| out(&run(&folder, arguments)).contains('\u{1b}');
    assert!(!coloured(&["check", "b.chart"]), "a pipe is no terminal");
    assert!(coloured(&["check", "b.chart", "--color", "always"]));
    assert!(!coloured(&["check", "b.chart", "--color", "never"]));
}

#[test]
fn the_summary_counts() {
    let folder = folder("summary", &[("a.chart", CLEAN), ("b.chart", BROKEN), ("w.chart", WARNED)]);
    let last =
        |arguments: &[&str]| out(&run(&folder, arguments)).lines().last().map(ToOwned::to_owned);
    assert_eq!(last(&["check", "a.chart"]).as_deref(), Some("no findings in 1 file"));
    assert_eq!(last(&["check"]).as_deref(), Some("1 error, 1 warning in 3 files"));
}

#[test]
fn explain_prints_the_page() {
    let folder = folder("explain", &[]);
    for rule in chartc_compiler::rules::RULES {
        for word in [rule.code, rule.name] {
            let output = run(&folder, &["explain", word]);
            assert_eq!(output.status.code(), Some(0), "{word}");
            let shown = out(&output);
            assert!(shown.starts_with(&format!("{} {} (", rule.code, rule.name)), "{word}");
            assert!(!shown.contains("```"), "{word}: {shown}");
            // Every word of the page is there.
            let words = |text: &str| -> Vec<String> {
                let kept = text.replace("**", "").replace('│', "");
                kept.split_whitespace().map(ToOwned::to_owned).collect()
            };
            let fences = |line: &&str| !line.starts_with("```") && !line.is_empty();
            let page: Vec<&str> = rule.page.lines().filter(fences).collect();
            let page = visible::text(&page.join("\n")).into_owned();
            let mut printed = words(&shown).into_iter();
            for word in words(page.trim_start_matches("# ")) {
                assert!(printed.any(|w| w == word), "{word} is missing or out of order: {shown}");
            }
        }
    }
    let list = out(&run(&folder, &["explain", "--list"]));
    assert_eq!(list.lines().count(), chartc_compiler::rules::RULES.len());
    let unknown = run(&folder, &["explain", "shadowd-line"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("did you mean `shadowed-line`?"), "{}", errors(&unknown));
}

#[test]
fn fmt_writes_charts_the_one_way() {
    let untidy = "chart A { event go\n initial a\n state a { on   go->b }  // c\n\n\n final b }";
    let tidy =
        "chart A {\n  event go\n  initial a\n  state a { on go -> b }  // c\n\n  final b\n}\n";
    let broken = "chart B {\n  state a { on go => b }\n}\n";
    let all =
        [("a.chart", untidy), ("b.chart", broken), ("c.chart", tidy), ("agent.yaml", "id: a\n")];
    let folder = folder("fmt", &all);
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).expect("it was written");

    let checked = run(&folder, &["fmt", "--check", "."]);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(out(&checked), "a.chart\n");
    assert!(errors(&checked).contains("an arrow is `->`"));
    assert_eq!(text("a.chart"), untidy);

    assert_eq!(run(&folder, &["fmt", "a.chart", "c.chart"]).status.code(), Some(0));
    assert_eq!((text("a.chart").as_str(), text("c.chart").as_str()), (tidy, tidy));
    assert_eq!(run(&folder, &["fmt", "--check", "a.chart"]).status.code(), Some(0));

    assert_eq!(run(&folder, &["fmt", "b.chart"]).status.code(), Some(1));
    assert_eq!(text("b.chart"), broken);
    assert_eq!(run(&folder, &["fmt", "agent.yaml"]).status.code(), Some(4));
    assert_eq!(run(&folder, &["fmt", "none.chart"]).status.code(), Some(2));
}

#[test]
fn fmt_of_standard_input_goes_to_standard_output() {
    let folder = folder("fmt-stdin", &[]);
    let mut started = chartc(&folder, &["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("chartc starts");
    let mut input = started.stdin.take().expect("it is piped");
    input.write_all(b"chart A{}").expect("chartc reads");
    drop(input);
    let output = started.wait_with_output().expect("chartc ends");
    assert_eq!(out(&output), "chart A { }\n");
}

#[test]
fn convert_prints_a_chart_and_tells_what_it_could_not_read() {
    let good = "id: a\nworkflow:\n  steps:\n    - {name: say, type: llm, prompt: \"Hello.\"}\n";
    let faulty = good.replace("Hello.", "Hello {nobody}.");
    let folder = folder(
        "convert",
        &[
            ("good.yaml", good),
            ("faulty.yaml", &faulty),
            ("broken.yaml", "a: [\n"),
            ("empty.yaml", ""),
        ],
    );
    let good = run(&folder, &["convert", "good.yaml", "-o", "good.chart"]);
    assert_eq!(
        (good.status.code(), out(&good), errors(&good)),
        (Some(0), String::new(), String::new())
    );
    assert_eq!(run(&folder, &["check", "good.chart"]).status.code(), Some(0));
    let again = run(&folder, &["convert", "good.chart"]);
    let written = std::fs::read_to_string(folder.join("good.chart")).expect("it was written");
    assert_eq!(out(&again), written);
    let faulty = run(&folder, &["convert", "faulty.yaml"]);
    assert_eq!(faulty.status.code(), Some(1));
    assert!(out(&faulty).contains("prompt \"Hello {nobody}.\""));
    assert!(errors(&faulty).contains("nobody"));
    let broken = run(&folder, &["convert", "broken.yaml"]);
    assert_eq!((broken.status.code(), out(&broken)), (Some(1), String::new()));
    assert_eq!(run(&folder, &["convert", "empty.yaml"]).status.code(), Some(4));
    assert_eq!(run(&folder, &["convert", "nowhere"]).status.code(), Some(1));
}

#[test]
fn pictures_by_format_and_by_ending() {
    let folder = folder("formats", &[("a.chart", CLEAN)]);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(first(&out(&run(&folder, &["graph", "a.chart"]))), "digraph \"A\" {");
    assert_eq!(first(&out(&run(&folder, &["graph", "a.chart", "--format", "mermaid"]))), "---");
    for (file, head) in
        [("a.mmd", "---"), ("a.dot", "digraph \"A\" {"), ("a.gv", "digraph \"A\" {")]
    {
        assert_eq!(run(&folder, &["graph", "a.chart", "-o", file]).status.code(), Some(0));
        let text = std::fs::read_to_string(folder.join(file)).expect("it was written");
        assert_eq!(first(&text), head, "{file}");
    }
    assert_eq!(run(&folder, &["graph", "a.chart", "--format", "rust"]).status.code(), Some(2));
}

#[test]
fn highlighted_states_are_found_by_path_or_by_its_end() {
    let text = "chart H {
  initial player
  state player { initial off  state off  state on { initial loud  state loud  state off } }
}
";
    let folder = folder("highlight", &[("h.chart", text)]);
    let lit = |state: &str| run(&folder, &["graph", "h.chart", "--highlight", state]);
    assert!(out(&lit("player.on.loud")).contains("penwidth=3"));
    assert!(out(&lit("loud")).contains("penwidth=3"));
    assert!(out(&lit("on.off")).contains("penwidth=3"));
    let fault = |state: &str| {
        let output = lit(state);
        assert_eq!(output.status.code(), Some(2));
        errors(&output)
    };
    assert_eq!(fault("lod"), "error: H has no state `lod`; did you mean `loud`?\n");
    assert_eq!(
        fault("off"),
        "error: H has several states `off`: `player.off`, `player.on.off`; give the whole path\n"
    );
    assert_eq!(fault(""), "error: H has no state ``\n");
}

#[test]
fn a_chart_is_shown_as_wide_as_the_terminal_and_without_colours_elsewhere() {
    let folder = folder("show", &[("a.chart", CLEAN)]);
    let shown = out(&run(&folder, &["show", "a.chart"]));
    assert_eq!(shown, "A\n├─● a\n│     on      go          → b\n└─◉ b  final\n");
    assert!(out(&run(&folder, &["show", "a.chart", "--color", "always"])).contains("\u{1b}[1ma"));
    assert!(out(&run(&folder, &["show", "a.chart", "--ascii"])).is_ascii());
    assert_eq!(out(&run(&folder, &["show", "a.chart", "--state", "b"])), "◉ b  final\n");
    assert_eq!(run(&folder, &["show", "a.chart", "--state", "c"]).status.code(), Some(2));
    let many: String = (0..600).map(|n| format!("  state s{n}\n")).collect();
    let text = format!("chart M {{\n  initial s0\n{many}}}\n");
    std::fs::write(folder.join("m.chart"), text).expect("it is the test's own");
    let shown = out(&run(&folder, &["show", "m.chart"]));
    assert!(shown.ends_with("… 100 more states; --all shows them\n"), "{shown}");
    assert_eq!(out(&run(&folder, &["show", "m.chart", "--all"])).lines().count(), 601);
}
