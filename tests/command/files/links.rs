//! What belongs to an agent, and what a trace names.

use super::{CHART, SECRET, folder, run, write};
use std::os::unix::fs::symlink;

const AGENT: &str = "id: builder\ncomponents:\n  behaviors: [frugal]\nworkflow:\n  steps:\n    - name: act\n      type: llm\n      prompt: \"Act. {system_prompt}\"\n";
const FRUGAL: &str =
    "name: frugal\ntype: behavior\nprompt_fragment: \"Spend little.\"\ninject_into: [act]\n";

#[test]
fn components_are_searched_for_above_the_root_but_not_through_links() {
    let folder = folder("components");
    let behaviors = folder.join("_components/behaviors");
    write(&behaviors.join("frugal.yaml"), FRUGAL);
    write(&folder.join("agents/one/chartc.toml"), "");
    write(&folder.join("agents/one/agent.yaml"), AGENT);
    let agent = folder.join("agents/one");
    let (code, said) = run(&agent, &["check", "--format", "short", "agent.yaml"]);
    assert!(code == Some(0) && !said.contains("C0013"), "{said}");

    let secret = folder.join("secret.yaml");
    write(&secret, &format!("name: {SECRET}\n"));
    std::fs::remove_file(behaviors.join("frugal.yaml")).expect("it was made");
    symlink(&secret, behaviors.join("frugal.yaml")).expect("links can be made");
    let (code, said) = run(&agent, &["check", "agent.yaml"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("C0013") && !said.contains(SECRET), "{said}");
}

#[test]
fn a_system_prompt_is_no_way_out() {
    let folder = folder("system-prompt");
    let agent = folder.join("one");
    write(&agent.join("chartc.toml"), "");
    write(&agent.join("agent.yaml"), &AGENT.replace("components:\n  behaviors: [frugal]\n", ""));
    write(&folder.join("private.md"), SECRET);
    write(&agent.join(".env"), SECRET);
    for (target, code) in [
        ("../private.md", "C0013"),
        (".env", "C0013"),
        ("/dev/ptmx", "C0013"),
        ("/proc/self/environ", "C0013"),
        ("nowhere.md", "C0002"),
    ] {
        let link = agent.join("system_prompt.md");
        let _ = std::fs::remove_file(&link);
        symlink(target, &link).expect("links can be made");
        for arguments in [
            &["check", "agent.yaml"][..],
            #[cfg(feature = "run")]
            &["prompt", "agent.yaml"],
        ] {
            let (exit, said) = run(&agent, arguments);
            assert_eq!(exit, Some(1), "{target}: {said}");
            assert!(said.contains(code) && !said.contains(SECRET), "{target}: {said}");
        }
    }
}

#[test]
#[cfg(feature = "run")]
fn a_trace_names_no_chart_outside() {
    let folder = folder("replayed");
    let inner = folder.join("p");
    write(&inner.join("chartc.toml"), "");
    write(&inner.join("it.chart"), CHART);
    write(&folder.join("outside.chart"), CHART);
    write(&inner.join("private"), SECRET);
    write(&inner.join("secrets.yaml"), &format!("key: {SECRET}\n"));
    let (code, said) = run(&inner, &["run", "it.chart", "--trace", "t.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(run(&inner, &["replay", "t.jsonl"]).0, Some(0));
    let trace = std::fs::read_to_string(inner.join("t.jsonl")).expect("it was written");
    for other in ["../outside.chart", "/dev/ptmx", "private", "secrets.yaml", "/proc/self/environ"]
    {
        write(&inner.join("t.jsonl"), &trace.replace("it.chart", other));
        let (code, said) = run(&inner, &["replay", "t.jsonl"]);
        assert_eq!(code, Some(2), "{other}: {said}");
        assert!(said.contains("name it: chartc replay") && !said.contains(SECRET), "{said}");
    }
    assert_eq!(run(&inner, &["replay", "t.jsonl", "../outside.chart"]).0, Some(0));
}
