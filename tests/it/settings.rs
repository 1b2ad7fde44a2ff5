//! Which `chartc.toml` governs a file, and what it says.

use crate::team::{HIDDEN, Watch, fed, folder, run};

const ALLOW: &str = "[lints]\nshadowed-line = \"allow\"\n";
const DENY: &str = "[lints]\nshadowed-line = \"deny\"\n";

/// Exit code, and the findings as `file level`.
fn check(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let all: Vec<&str> = ["check", "--format", "short"].iter().chain(arguments).copied().collect();
    let (code, out, _) = run(folder, &all);
    (code, out.lines().map(brief).collect())
}

/// The file of a finding, and its level and code.
fn brief(line: &str) -> String {
    let (place, rest) = line.split_once(": ").expect("a finding");
    let file = place.split(':').next().unwrap_or_default();
    format!("{file} {}", rest.split(' ').next().unwrap_or_default())
}

#[test]
fn two_projects_in_one_call_have_settings_of_their_own() {
    let here = folder(
        "settings-two",
        &[
            ("one/chartc.toml", ALLOW),
            ("one/a.chart", HIDDEN),
            ("two/chartc.toml", DENY),
            ("two/a.chart", HIDDEN),
        ],
    );
    let denied = (Some(1), vec!["two/a.chart error[C0302]".to_owned()]);
    assert_eq!(check(&here, &[]), denied);
    assert_eq!(check(&here, &["one/a.chart", "two/a.chart"]), denied);
    assert_eq!(check(&here.join("one"), &["../two", "."]).0, Some(1));
    assert_eq!(check(&here, &["one"]), (Some(0), vec![]));
    // Options override all of them.
    let all = ["one/a.chart warning[C0302]", "two/a.chart warning[C0302]"];
    assert_eq!(check(&here, &["--warn", "C0302"]), (Some(0), all.map(str::to_owned).to_vec()));
}

#[test]
fn the_nearest_settings_are_taken_and_no_others() {
    let here = folder(
        "settings-nested",
        &[
            ("chartc.toml", DENY),
            ("a.chart", HIDDEN),
            ("in/b.chart", HIDDEN),
            ("in/own/chartc.toml", "[check]\ntests = false\n"),
            ("in/own/deep/c.chart", HIDDEN),
        ],
    );
    let found =
        ["a.chart error[C0302]", "in/b.chart error[C0302]", "in/own/deep/c.chart warning[C0302]"];
    assert_eq!(check(&here, &[]).1, found);
    assert_eq!(
        check(&here.join("in/own/deep"), &[]),
        (Some(0), vec!["c.chart warning[C0302]".to_owned()])
    );
}

#[cfg(unix)]
#[test]
fn a_linked_folder_has_the_settings_of_the_place_that_it_leads_to() {
    let here = folder(
        "settings-link",
        &[("one/chartc.toml", DENY), ("two/chartc.toml", ALLOW), ("two/in/a.chart", HIDDEN)],
    );
    std::os::unix::fs::symlink("../two/in", here.join("one/link")).expect("a link is made");
    assert_eq!(check(&here.join("one"), &["link"]), (Some(0), vec![]));
}

#[test]
fn each_project_says_what_fails() {
    let here = folder(
        "settings-fail-on",
        &[
            ("one/chartc.toml", "[check]\nfail-on = \"warning\"\n"),
            ("one/a.chart", HIDDEN),
            ("two/chartc.toml", ""),
            ("two/a.chart", HIDDEN),
        ],
    );
    assert_eq!(check(&here, &["two"]).0, Some(0));
    assert_eq!(check(&here, &["one", "two"]).0, Some(1));
    assert_eq!(check(&here, &["one", "two", "--fail-on", "error"]).0, Some(0));
    let (_, out, _) = run(&here, &["check", "--format", "junit"]);
    let suites: Vec<&str> = out.split("<testsuite ").skip(1).collect();
    let fails: Vec<bool> = suites.iter().map(|suite| suite.contains("<failure")).collect();
    assert_eq!(fails, [true, false], "{out}");
}

#[test]
fn each_project_says_how_many_states_are_explored() {
    let chart = "chart A {
  event go
  var n: Int = 0
  initial a
  state a { on go if n < 20 { n = n + 1 } on go -> b }
  final b
  check always_reaches(b)
}
";
    let here = folder(
        "settings-explore",
        &[
            ("one/chartc.toml", "[check]\nexplore = 5\n"),
            ("one/a.chart", chart),
            ("two/chartc.toml", ""),
            ("two/a.chart", chart),
        ],
    );
    assert_eq!(check(&here, &[]).1, ["one/a.chart note[C0391]"]);
    assert_eq!(check(&here, &["--explore", "1000"]).1, [""; 0]);
}

#[cfg(feature = "run")]
#[test]
fn each_project_says_whether_tests_are_played() {
    let test = "import \"a.chart\"\ntest \"wrong\" for B { expect at b }\n";
    let mut files = vec![("one/chartc.toml", "[check]\ntests = false\n"), ("two/chartc.toml", "")];
    for folder in ["one", "two"] {
        files.push(([folder, "/a.chart"].concat().leak(), HIDDEN));
        files.push(([folder, "/a.test.chart"].concat().leak(), test));
    }
    let here = folder("settings-tests", &files);
    let failed = |arguments: &[&str]| {
        let found = check(&here, arguments).1;
        found.into_iter().filter(|found| found.contains("C0601")).collect::<Vec<_>>()
    };
    assert_eq!(failed(&[]), ["two/a.test.chart error[C0601]"]);
    assert_eq!(failed(&["one/a.chart", "two/a.chart"]), ["two/a.test.chart error[C0601]"]);
    assert_eq!(failed(&["--no-tests"]), [""; 0]);
}

#[test]
fn standard_input_has_the_settings_of_the_file_that_it_is_named() {
    let here = folder("settings-stdin", &[("chartc.toml", ALLOW), ("in/chartc.toml", DENY)]);
    let told = |more: &[&str]| {
        let given = ["check", "--format", "short"].iter().chain(more).copied();
        let (code, out, _) = fed(&here, &given.collect::<Vec<_>>(), HIDDEN);
        (code, out.lines().map(brief).collect::<Vec<_>>())
    };
    assert_eq!(told(&["-"]), (Some(0), vec![]));
    let denied = |file: &str| (Some(1), vec![format!("{file} error[C0302]")]);
    assert_eq!(told(&["--stdin-filename", "in/a.chart", "-"]), denied("in/a.chart"));
    assert_eq!(told(&["--stdin-filename", "in/new/a.chart", "-"]), denied("in/new/a.chart"));
}

#[test]
fn an_imported_file_has_its_own_settings() {
    let tools = "// \u{200f}\ntool look() -> Bool\n";
    let here = folder(
        "settings-imports",
        &[
            ("chartc.toml", ""),
            ("a.chart", &format!("import \"lib/tools.chart\"\n{HIDDEN}")),
            ("lib/tools.chart", tools),
        ],
    );
    let found = |level: &str| {
        ["a.chart warning[C0302]".to_owned(), format!("lib/tools.chart {level}[C0012]")]
    };
    assert_eq!(check(&here, &["a.chart"]), (Some(0), found("warning").to_vec()));
    let own = "[lints]\nC0302 = \"allow\"\nC0012 = \"deny\"\n";
    std::fs::write(here.join("lib/chartc.toml"), own).expect("writable");
    assert_eq!(check(&here, &["a.chart"]), (Some(1), found("error").to_vec()));
}

#[test]
fn what_one_project_turns_off_is_fixed_in_the_other() {
    let agent = "id: x\nllm_model: m\nstarting_credits: 3\nworkflow:\n  steps:\n    - name: s\n      type: llm\n      prompt: hello\n";
    let off = "[lints]\nC0405 = \"allow\"\n";
    let here = folder(
        "settings-fix",
        &[
            ("one/chartc.toml", off),
            ("one/agent.yaml", agent),
            ("two/chartc.toml", ""),
            ("two/agent.yaml", agent),
        ],
    );
    run(&here, &["check", "--fix"]);
    let read = |file: &str| std::fs::read_to_string(here.join(file)).expect("it is there");
    assert_eq!(read("one/agent.yaml"), agent);
    assert_eq!(read("two/agent.yaml"), agent.replace("credits", "scrip"));
}

#[test]
fn what_is_wrong_with_any_of_them_is_said_with_its_place() {
    let here = folder(
        "settings-wrong",
        &[
            ("chartc.toml", ""),
            ("a.chart", HIDDEN),
            ("in/chartc.toml", "[lint]\n"),
            ("in/a.chart", HIDDEN),
        ],
    );
    assert_eq!(check(&here, &["a.chart"]).0, Some(0));
    let (code, out, said) = run(&here, &["check"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    let told = "error: in/chartc.toml:1:2: unknown key `lint`\nhelp: did you mean `lints`?\n";
    assert_eq!(said, told);
}

#[test]
fn watching_notices_settings_that_appear_change_and_go() {
    let here = folder("settings-watch", &[("chartc.toml", DENY), ("in/a.chart", HIDDEN)]);
    let watch = Watch::new(&here);
    watch.wait("in/a.chart:4:26: error[C0302]");
    std::fs::write(here.join("in/chartc.toml"), "").expect("writable");
    watch.wait("in/a.chart:4:26: warning[C0302]");
    std::fs::write(here.join("in/chartc.toml"), DENY).expect("writable");
    watch.wait("in/a.chart:4:26: error[C0302]");
    // What is wrong with settings can be mended.
    std::fs::write(here.join("in/chartc.toml"), "[lint]\n").expect("writable");
    watch.wait("----");
    std::fs::write(here.join("in/chartc.toml"), "").expect("writable");
    watch.wait("in/a.chart:4:26: warning[C0302]");
    std::fs::remove_file(here.join("in/chartc.toml")).expect("it is there");
    watch.wait("in/a.chart:4:26: error[C0302]");
}
