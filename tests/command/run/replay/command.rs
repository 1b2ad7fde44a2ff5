//! `chartc replay`, as a user meets it.

use crate::run::command::{chartc, folder};
use std::path::{Path, PathBuf};
use test_support::project::root;

/// A folder with a chart that we ship, and the trace of its run.
fn recorded(name: &str, more: &[&str]) -> PathBuf {
    let folder = folder(&format!("replay-{name}"));
    for file in ["social.chart", "social.script.yaml", "social.events.jsonl"] {
        let from = root().join("charts").join(file);
        std::fs::copy(from, folder.join(file)).expect("charts can be copied");
    }
    let fixed = [
        "run",
        "social.chart",
        "--llm",
        "script:social.script.yaml",
        "--events",
        "social.events.jsonl",
        "--param",
        "name=ada",
        "--param",
        "interests=[\"rust\"]",
        "--param",
        "personality=kind",
        "--trace",
        "run.jsonl",
    ];
    let (code, _, errors) = chartc(&folder, &[&fixed[..], more].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    folder
}

fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("it is there");
    assert!(text.contains(from), "{from} in {file}");
    std::fs::write(path, text.replace(from, to)).expect("the folder can be written");
}

#[test]
fn a_run_is_the_same_again() {
    let folder = recorded("same", &[]);
    // Nobody is asked: what answered then is not there any more.
    std::fs::remove_file(folder.join("social.script.yaml")).expect("it is there");
    let (code, out, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert_eq!(
        out,
        "run.jsonl: the same again: Social, 171 lines, 5 turns, 4 answers from the trace, 0 model calls\n"
    );
    // From another folder the chart is found beside the trace, or where it is said to be.
    let (above, name) = (folder.parent().expect("a folder"), folder.join("run.jsonl"));
    let name = name.to_str().expect("the target folder is text");
    assert_eq!(chartc(above, &["replay", name]).0, 0);
    let chart = root().join("charts/social.chart");
    let chart = chart.to_str().expect("the project's folder is text");
    assert_eq!(chartc(above, &["replay", name, chart]).0, 0);
}

#[test]
fn another_bound_of_calls_is_in_the_trace() {
    let folder = recorded("bound", &["--calls-per-turn", "7"]);
    let (code, out, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
}

#[test]
fn a_difference_is_shown_from_both_sides() {
    let folder = recorded("different", &[]);
    edit(&folder, "run.jsonl", "\"option\":\"reshare\"", "\"option\":\"like\"");
    let (code, out, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, errors.as_str()), (1, ""), "{out}");
    insta::assert_snapshot!("replay_difference", out);
}

#[test]
fn another_chart_is_refused_unless_one_insists() {
    let folder = recorded("another", &[]);
    edit(&folder, "social.chart", "\"keep scrolling\"", "\"scroll on\"");
    let (code, out, errors) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!((code, out.as_str()), (2, ""));
    let hashes = errors.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 16);
    assert_eq!(hashes.count(), 2, "{errors}");
    for part in ["run of another chart", "social.chart", "chartc replay TRACE FILE"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let (code, out, _) = chartc(&folder, &["replay", "run.jsonl", "--force"]);
    assert_eq!(code, 1);
    // Not the first line, with the hash: the first line of what the run did.
    assert!(out.contains("run.jsonl, line ") && out.contains("- skip: scroll on\" now"), "{out}");
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let folder = recorded("faulty", &[]);
    let text = std::fs::read_to_string(folder.join("run.jsonl")).expect("it is there");
    let lines: Vec<&str> = text.lines().collect();
    for (name, text, code, why) in [
        ("cut.jsonl", text[..text.len() - 20].to_owned(), 2, "cut.jsonl, line "),
        ("short.jsonl", lines[..lines.len() - 3].join("\n"), 1, "trace: (it ends here)"),
        ("headless.jsonl", lines[1..].join("\n"), 2, "does not begin with the `run` line"),
        ("empty.jsonl", String::new(), 2, "does not begin with the `run` line"),
        ("new.jsonl", text.replacen("\"v\":1", "\"v\":9", 1), 2, "version 9"),
        (
            "nowhere.jsonl",
            text.replacen("social.chart", "gone.chart", 1),
            2,
            "gone.chart, which does not exist",
        ),
        (
            "pipe.jsonl",
            text.replacen("\"file\":\"social.chart\"", "\"file\":\"\"", 1),
            2,
            "does not name the file of its chart",
        ),
    ] {
        std::fs::write(folder.join(name), text).expect("the folder can be written");
        let (found, out, errors) = chartc(&folder, &["replay", name]);
        assert!(
            found == code && format!("{out}{errors}").contains(why),
            "{name}: {found} {out}{errors}"
        );
    }
}
