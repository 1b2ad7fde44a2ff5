//! The agents of `examples/`, with a script in place of the model and with real tools.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::project::{files, read, root};

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    test_support::project::folder(&format!("agents-{name}"))
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn chartc(args: &[&str], env: &[(&str, &Path)]) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    let output = command.current_dir(root()).args(args).envs(env.iter().copied()).output();
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

/// The configuration of the reader, with the server that is installed for tests instead of one from the registry.
fn tools(name: &str) -> Option<String> {
    let server = "target/tools/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    if !root().join(server).exists() || !has("node") {
        eprintln!("skipped, not found: {server}, or node");
        return None;
    }
    let shipped = read("examples/reader/tools.toml");
    let lines: Vec<String> = shipped
        .lines()
        .map(|line| match line {
            "command = \"npx\"" => "command = \"node\"".to_owned(),
            line if line.starts_with("args = [\"-y\"") => {
                let server = root().join(server).display().to_string();
                format!("args = [{server:?}, \"docs\"]")
            }
            "cwd = \".\"" => {
                let folder = root().join("examples/reader").display().to_string();
                format!("cwd = {folder:?}")
            }
            line => line.to_owned(),
        })
        .collect();
    assert!(!lines.iter().any(|line| line.contains("npx")), "{lines:?}");
    let file = folder(name).join("tools.toml");
    std::fs::write(&file, lines.join("\n")).expect("the folder can be written");
    Some(file.display().to_string())
}

const READER: &str = "examples/reader/reader.chart";
const RETURNED: &str = "question=How long can an order be returned?";

#[test]
fn they_have_no_findings_and_their_properties_are_proved() {
    let (output, text) = chartc(&["check", "examples/reader", "examples/reviewer"], &[]);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, "no findings in 2 files\n");
}

#[test]
fn the_reader_answers_from_files() {
    let Some(tools) = tools("found") else { return };
    let script = "script:examples/reader/found.script.yaml";
    let args = ["run", READER, "--llm", script, "--tools", &tools, "--param", RETURNED];
    let (output, text) = chartc(&args, &[]);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("files.read_text_file returned \"# Refunds"), "{text}");
    assert!(text.contains("{\"text\":\"Within 30 days.\",\"sources\":[\"refunds.md\""), "{text}");
}

#[test]
fn the_reader_stops_at_the_third_search_in_vain() {
    let Some(tools) = tools("lost") else { return };
    let script = "script:examples/reader/lost.script.yaml";
    let question = "question=Who founded the company?";
    let args = ["run", READER, "--llm", script, "--tools", &tools, "--param", question];
    let (output, text) = chartc(&args, &[]);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.matches("index.search returned []").count(), 3, "{text}");
    assert!(text.contains("not_found: ended partial (3 turns, 3 model calls"), "{text}");
    let tried = "{\"tried\":[\"founder\",\"company history\",\"who started it\"]}\n";
    assert!(text.ends_with(tried), "{text}");
}

#[test]
fn the_reader_answers_from_recorded_calls_without_tools() {
    let args = ["run", READER, "--llm", "replay:examples/reader/calls", "--param", RETURNED];
    let (output, text) = chartc(&args, &[]);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("answered: ended ok (2 turns, 2 model calls"), "{text}");
}

#[test]
fn the_reviewer_posts_what_a_person_approves() {
    if !has("git") || !has("node") {
        eprintln!("skipped, not found: git, or node");
        return;
    }
    let folder = folder("reviewed");
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(&folder).args(args).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let write = |text: &str| std::fs::write(folder.join("shop.py"), text).expect("it is written");
    git(&["init", "-q", "."]);
    write("def price(price, discount):\n    return price - discount\n");
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"]);
    write("def price(price, discount):\n    return price + discount\n");
    let file = folder.join("review.md");
    let script = "script:examples/reviewer/review.script.yaml";
    let chart = "examples/reviewer/reviewer.chart";
    let args = ["run", chart, "--llm", script, "--tools", "examples/reviewer/tools.toml"];
    let env = [("REVIEW_REPOSITORY", folder.as_path()), ("REVIEW_FILE", file.as_path())];
    let (output, text) = chartc(&args, &env);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("deciding -> wishing"), "{text}");
    assert!(text.contains("posted: ended ok (4 turns, 2 model calls"), "{text}");
    let posted = std::fs::read_to_string(file).expect("it was posted");
    let comment = "- shop.py:2: `price + discount` adds the discount: take it away\n\n";
    assert_eq!(posted, comment);
}

/// Runs `chartc check` in a folder; exit code and output.
fn check(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["check", "--format", "short"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("chartc runs");
    (output.status.code(), String::from_utf8(output.stdout).expect("chartc prints text"))
}

#[test]
fn components_of_real_folders() {
    let folder = folder("components");
    for kept in files("tests/language/fixtures/shop", "") {
        let path = folder.join(kept.trim_start_matches("tests/language/fixtures/"));
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("writable");
        std::fs::write(path, read(kept)).expect("writable");
    }
    let note = "note[C0105] no step `bid`: the fragment does not go there\n";
    let found = check(&folder, &[]);
    let at = "shop/_components/goals/grow.yaml:3:21: ";
    assert_eq!(found, (Some(0), format!("{at}{note}")), "from above");
    let found = check(&folder.join("shop/seller"), &["agent.yaml"]);
    let at = "../_components/goals/grow.yaml:3:21: ";
    assert_eq!(found, (Some(0), format!("{at}{note}")), "from the agent's own folder");
    let grow = folder.join("shop/_components/goals/grow.yaml");
    std::fs::write(grow, b"\xff").expect("writable");
    let (code, text) = check(&folder, &["shop"]);
    assert_eq!(code, Some(1));
    let wanted = "`../_components/goals/grow.yaml` cannot be read: it is not UTF-8 (byte 0)";
    assert!(text.contains("shop/seller/agent.yaml:5:11: error[C0002]"), "{text}");
    assert!(text.contains(wanted), "{text}");
}
