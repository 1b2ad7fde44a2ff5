//! Which `chartc.toml` governs a file, and what it says.

use crate::team::{HIDDEN, Watch, fed, folder, run};
use std::path::PathBuf;

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
    let watch = Watch::new(&here, &[]);
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

#[test]
fn watching_notices_settings_of_files_that_are_named_or_imported() {
    let tools = "// \u{200f}\ntool look() -> Bool\n";
    let chart = format!("import \"lib/tools.chart\"\n{HIDDEN}");
    let here = folder("settings-watch-named", &[("a.chart", &chart), ("lib/tools.chart", tools)]);
    let watch = Watch::new(&here, &["a.chart"]);
    watch.wait("lib/tools.chart:1:4: warning[C0012]");
    std::fs::write(here.join("lib/chartc.toml"), "[lints]\nC0012 = \"deny\"\n").expect("writable");
    watch.wait("lib/tools.chart:1:4: error[C0012]");
    std::fs::write(here.join("chartc.toml"), DENY).expect("writable");
    watch.wait("a.chart:5:26: error[C0302]");
}

const EXCLUDE: &str = "[check]\nexclude = [\"vendor/\", \"*.draft.chart\", \"/in/a.chart\"]\n";

/// Found are `a.chart` and `in/deep/in/a.chart`.
fn excluding(name: &str) -> PathBuf {
    let names = [
        "a.chart",
        "b.draft.chart",
        "in/a.chart",
        "in/b.draft.chart",
        "in/deep/in/a.chart",
        "in/vendor/a.chart",
        "vendor/a.chart",
    ];
    let files = names.map(|name| (name, HIDDEN));
    folder(name, &[&[("chartc.toml", EXCLUDE)], &files[..]].concat())
}

#[test]
fn what_is_excluded_is_left_out_of_folders() {
    let here = excluding("exclude-folders");
    let files = |arguments: &[&str]| {
        let found = check(&here, arguments).1;
        found.iter().map(|line| line.replace(" warning[C0302]", "")).collect::<Vec<_>>()
    };
    let all = ["a.chart", "in/deep/in/a.chart"];
    assert_eq!(files(&[]), all);
    assert_eq!(files(&["a.chart", "in"]), all);
    assert_eq!(files(&["--force-exclude"]), all);
    // What is named counts, unless that is forced.
    assert_eq!(files(&["vendor"]), ["vendor/a.chart"]);
    assert_eq!(files(&["b.draft.chart", "in/a.chart"]), ["b.draft.chart", "in/a.chart"]);
    assert_eq!(files(&["a.chart", "b.draft.chart", "vendor", "--force-exclude"]), ["a.chart"]);
    let none = (Some(0), vec![]);
    assert_eq!(check(&here, &["vendor/a.chart", "--force-exclude"]), none);
    let (code, out, said) =
        run(&here, &["check", "--force-exclude", "in/a.chart", "--format=json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("a whole report");
    assert_eq!((code, &value["diagnostics"], said.as_str()), (Some(0), &serde_json::json!([]), ""));
}

#[test]
fn a_folder_that_is_excluded_is_left_out_with_its_own_settings() {
    let here = excluding("exclude-nested");
    std::fs::write(here.join("vendor/chartc.toml"), DENY).expect("writable");
    let all = ["a.chart warning[C0302]", "in/deep/in/a.chart warning[C0302]"];
    assert_eq!(check(&here, &[]).1, all);
    assert_eq!(check(&here, &["--force-exclude", "vendor/a.chart"]), (Some(0), vec![]));
    // Who works in it checks it.
    let own = vec!["a.chart error[C0302]".to_owned()];
    let vendor = here.join("vendor");
    assert_eq!(check(&vendor, &[]), (Some(1), own.clone()));
    assert_eq!(check(&vendor, &["--force-exclude", "a.chart"]), (Some(1), own));
    // What is wrong in it does not matter to others.
    std::fs::write(vendor.join("chartc.toml"), "[lint]").expect("writable");
    assert_eq!(check(&here, &[]).1, all);
}

#[cfg(feature = "run")]
#[test]
fn tests_that_are_excluded_are_not_played_beside_a_file_that_is_named() {
    let test = "import \"a.chart\"\ntest \"wrong\" for B { expect at b }\n";
    let here = folder("exclude-tests", &[("a.chart", HIDDEN), ("a.test.chart", test)]);
    assert_eq!(check(&here, &["a.chart"]).0, Some(1));
    let exclude = "[check]\nexclude = [\"*.test.chart\"]\n";
    std::fs::write(here.join("chartc.toml"), exclude).expect("writable");
    assert_eq!(check(&here, &["a.chart"]).0, Some(0));
    assert_eq!(check(&here, &["a.chart", "a.test.chart"]).0, Some(1));
}

#[test]
fn standard_input_that_is_excluded_stays_as_it_is() {
    let here = excluding("exclude-stdin");
    let broken = HIDDEN.replace("initial", "intial");
    let given = |more: &[&'static str]| {
        let all = ["check", "--stdin-filename", "vendor/new.chart", "-"];
        let (code, out, _) = fed(&here, &[&all, more].concat(), &broken);
        (code, out)
    };
    assert_eq!(given(&["--format=short"]).0, Some(1));
    assert_eq!(given(&["--format=short", "--force-exclude"]), (Some(0), String::new()));
    assert_eq!(given(&["--fix", "--force-exclude"]), (Some(0), broken.clone()));
    assert_eq!(given(&["--fix", "--diff", "--force-exclude"]), (Some(0), String::new()));
    assert_ne!(given(&["--fix"]).1, broken);
}

#[test]
fn hooks_leave_out_what_is_excluded() {
    #[derive(serde::Deserialize)]
    struct Hook {
        entry: String,
    }
    let hooks: Vec<Hook> =
        serde_yaml::from_str(&test_support::project::read(".pre-commit-hooks.yaml"))
            .expect("hooks");
    let here = excluding("exclude-hooks");
    let mut seen = 0;
    for hook in hooks.iter().filter(|hook| hook.entry.starts_with("chartc check")) {
        let given: Vec<&str> = hook.entry.split(' ').skip(1).chain(["--deny=warnings"]).collect();
        let code = |file| run(&here, &[&given[..], &[file]].concat()).0;
        assert_eq!((code("a.chart"), code("vendor/a.chart")), (Some(1), Some(0)), "{}", hook.entry);
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn levels_for_paths_override_those_for_all() {
    // By name, the second table comes before the first.
    let settings = "[lints]\nwarnings = \"deny\"
[per-path.\"old/**\"]\nC0302 = \"allow\"\nwarnings = \"warn\"
[per-path.\"*.new.chart\"]\nshadowed-line = \"warn\"
[per-path.\"nothing/**\"]\nC0302 = \"allow\"
";
    let names =
        ["a.chart", "b.new.chart", "old/c.chart", "old/in/d.new.chart", "other/old/e.chart"];
    let files = names.map(|name| (name, HIDDEN));
    let here = folder("per-path", &[&[("chartc.toml", settings)], &files[..]].concat());
    let found = [
        "a.chart error[C0302]",
        "b.new.chart error[C0302]",
        "old/in/d.new.chart warning[C0302]",
        "other/old/e.chart error[C0302]",
    ];
    assert_eq!(check(&here, &[]).1, found);
    // Patterns are relative to the folder of the `chartc.toml`.
    assert_eq!(check(&here.join("old"), &[]).1, ["in/d.new.chart warning[C0302]"]);
    // Options override them.
    assert_eq!(check(&here, &["--deny", "C0302"]).1.len(), names.len());
    assert_eq!(check(&here, &["--warn", "warnings"]).0, Some(0));
    // A file has the tables of its own `chartc.toml` alone.
    std::fs::write(here.join("old/chartc.toml"), DENY).expect("writable");
    assert_eq!(check(&here.join("old"), &["c.chart"]).1, ["c.chart error[C0302]"]);
}

#[test]
fn levels_for_all_paths_but_some() {
    let settings = "[per-path.\"!new/\"]\nC0302 = \"allow\"\n";
    let files = [("chartc.toml", settings), ("a.chart", HIDDEN), ("new/in/b.chart", HIDDEN)];
    let here = folder("per-path-others", &files);
    assert_eq!(check(&here, &[]).1, ["new/in/b.chart warning[C0302]"]);
}

#[test]
fn levels_for_paths_count_for_imports_and_standard_input() {
    let settings = "[per-path.\"lib/\"]\nC0302 = \"deny\"\nC0012 = \"deny\"\n";
    let chart = format!("import \"lib/tools.chart\"\n{HIDDEN}");
    let tools = "// \u{200f}\ntool look() -> Bool\n";
    let files = [("chartc.toml", settings), ("a.chart", &chart), ("lib/tools.chart", tools)];
    let here = folder("per-path-imports", &files);
    let found = ["a.chart warning[C0302]", "lib/tools.chart error[C0012]"];
    assert_eq!(check(&here, &["a.chart"]).1, found);
    let given = ["check", "--format", "short", "--stdin-filename", "lib/b.chart", "-"];
    let (code, out, _) = fed(&here, &given, HIDDEN);
    assert_eq!((code, brief(out.trim_end()).as_str()), (Some(1), "lib/b.chart error[C0302]"));
}
