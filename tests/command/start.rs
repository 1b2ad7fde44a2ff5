//! The way in: a new chart that works with every command, and shells that complete them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    test_support::project::folder(&format!("start-{name}"))
}

fn chartc(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(line.split(' '))
        .current_dir(folder)
        .env("COLUMNS", "100")
        .output()
        .expect("chartc starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_new_chart_works_with_every_command() {
    let folder = folder("new");
    let made = out(&chartc(&folder, "new my-agent"));
    assert_eq!(
        made,
        "wrote my_agent.chart and my_agent.script.yaml

Next:
  chartc run my_agent.chart --llm script:my_agent.script.yaml
  chartc show my_agent.chart
  chartc check my_agent.chart
"
    );
    assert_eq!(out(&chartc(&folder, "check")), "no findings in 1 file\n");
    // The commands that it names.
    for line in made.lines().filter_map(|l| l.strip_prefix("  chartc ")) {
        if cfg!(not(feature = "run")) && line.starts_with("run ") {
            continue;
        }
        let output = chartc(&folder, line);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
        if line.starts_with("run ") {
            let end = "done: ended ok (4 turns, 4 model calls)\n";
            assert!(out(&output).ends_with(end), "{}", out(&output));
        }
    }
    for line in [
        "fmt --check",
        "graph my_agent.chart",
        "build my_agent.chart",
        "graph my_agent.chart --format mermaid",
    ] {
        let output = chartc(&folder, line);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder("twice");
    let script = folder.join("helper.script.yaml");
    std::fs::write(&script, "mine").expect("it is the test's own");
    let again = chartc(&folder, "new Helper");
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&again.stderr),
        "error: helper.script.yaml already exists\nhelp: choose another name, or remove it first\n"
    );
    assert!(!folder.join("helper.chart").exists(), "one without the other");
    assert_eq!(std::fs::read_to_string(&script).ok().as_deref(), Some("mine"));
    let other = chartc(&folder, "new Helper --dir nowhere");
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&other.stderr), "error: there is no folder nowhere\n");
    assert_eq!(chartc(&folder, "new a/b").status.code(), Some(2));
}

#[test]
fn shells_complete_the_commands() {
    let folder = folder("shells");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = chartc(&folder, &format!("completions {shell}"));
        assert_eq!(output.status.code(), Some(0), "{shell}");
        for word in ["simulate", "explain", "highlight", "show"] {
            let is_there = out(&output).contains(word);
            assert!(
                is_there || (word == "simulate" && cfg!(not(feature = "run"))),
                "{shell} {word}"
            );
        }
    }
    assert_eq!(chartc(&folder, "completions tcsh").status.code(), Some(2));
    let script = folder.join("chartc.bash");
    std::fs::write(&script, out(&chartc(&folder, "completions bash"))).expect("it can be written");
    let bash = Command::new("bash").arg("-n").arg(&script).stdin(Stdio::null()).output();
    match bash {
        Ok(output) => {
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
        Err(_) => eprintln!("skipped, not found: bash"),
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = folder("manual");
    assert_eq!(chartc(&folder, "man --out pages/man1").status.code(), Some(0));
    let page = |name: &str| std::fs::read_to_string(folder.join("pages/man1").join(name));
    let help = out(&chartc(&folder, "help"));
    let (_, listed) = help.split_once("Commands:\n").expect("help lists the commands");
    // A long description goes on in lines that begin farther right.
    let lines = listed.lines().take_while(|l| !l.is_empty());
    let commands = lines.filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
    let commands = commands.filter_map(|l| l.split_whitespace().next());
    let mut pages = vec!["chartc.1".to_owned()];
    for command in commands.filter(|c| *c != "help") {
        let name = format!("chartc-{command}.1");
        let text = page(&name).expect("it was written");
        assert_eq!(text, out(&chartc(&folder, &format!("man {command}"))));
        let title = format!(".TH \"CHARTC-{}\" 1", command.to_uppercase());
        for part in [title.as_str(), ".SH OPTIONS", ".SH EXAMPLES", &format!("chartc {command}")] {
            assert!(text.contains(part), "{name} lacks {part}:\n{text}");
        }
        pages.push(name);
    }
    assert_eq!(page("chartc.1").expect("it was written"), out(&chartc(&folder, "man")));
    let mut written: Vec<_> = (std::fs::read_dir(folder.join("pages/man1")).expect("it was made"))
        .map(|entry| entry.expect("readable").file_name().into_string().expect("a name"))
        .collect();
    written.sort();
    pages.sort();
    assert_eq!(written, pages);

    // The lines of the exit codes stand as they do in the help.
    let check = page("chartc-check.1").expect("it was written");
    let (_, exits) = check.split_once(".SH \"EXIT STATUS\"\n").expect("it tells its exit codes");
    assert_eq!(exits.lines().next(), Some(".nf"), "{exits}");
    let unknown = chartc(&folder, "man chek");
    assert_eq!(unknown.status.code(), Some(2));
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(said, "error: no command `chek`\nhelp: `chartc help` lists the commands\n");
    assert_eq!(chartc(&folder, "man check --out pages").status.code(), Some(2));
}
