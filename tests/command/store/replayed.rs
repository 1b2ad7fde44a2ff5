//! A hundred runs of the shipped charts in one store, each run again from its trace.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::trace::What;
use row::{changed, sealed};
use test_support::project::root;

/// A chart, with what its runs are given besides, and how many runs there are.
const RUNS: [(&str, &str, usize); 13] = [
    ("builder.chart", "--param agent_id=ada --turns 12", 14),
    ("builder.chart", "--llm script:charts/builder.script.yaml --param agent_id=ada", 1),
    ("builder.agent.yaml", "--turns 10", 12),
    ("phases.chart", "--param goal=owls --turns 12", 12),
    ("support.chart", "--param signature=Ada --events charts/support.events.jsonl", 8),
    ("researcher.chart", "--param question=why --turns 8", 10),
    ("retrieval.chart", "--param question=why --turns 6", 8),
    ("debate.chart", "--chart Debate --param topic=owls --turns 6", 8),
    (
        "social.chart",
        "--param name=ada --param interests=[\"owls\"] --param personality=calm --events charts/social.events.jsonl",
        7,
    ),
    ("alpha_2.chart", "--events charts/alpha_2.events.jsonl", 6),
    ("beta_2.chart", "--events charts/beta_2.events.jsonl", 6),
    ("orders.scxml", "--events charts/orders.events.jsonl", 4),
    ("refunds.scxml", "--events charts/refunds.events.jsonl", 4),
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ')
}

#[test]
fn stored_runs_are_the_same_again() {
    assert_eq!(are_the_same_again("some", 6), 22);
}

#[test]
#[ignore = "it starts 200 processes: `.ci/nightly` runs it"]
fn a_hundred_stored_runs_are_the_same_again() {
    assert_eq!(are_the_same_again("hundred", 1), 100);
}

/// Of each chart one run in `each`, at least one. Returns how many.
fn are_the_same_again(name: &str, each: usize) -> usize {
    let file = fresh(name);
    let store = file.to_str().expect("a path");
    let mut names = Vec::new();
    for (chart, more, count) in RUNS {
        for nth in 0..count.div_ceil(each) {
            let name = format!("{chart}-{}", names.len());
            let (path, who) = (format!("charts/{chart}"), format!("random:{nth}"));
            let mut run = vec!["run", &path, "--store", store, "--run", &name, "--color", "never"];
            run.extend(words(more));
            if !more.contains("--llm") {
                run.extend(["--llm", &who]);
            }
            let (code, out, err) = chartc(root(), &run);
            // A run may end in failure; it is stored all the same.
            assert!(code == 0 || code == 1, "{run:?}: {code} {out}{err}");
            names.push(name);
        }
    }
    let (mut lines, mut answers) = (0, 0);
    for name in &names {
        let (code, out, err) = chartc(root(), &["replay", "--store", store, name]);
        assert!(code == 0 && out.contains("0 model calls"), "{name}: {code} {out}{err}");
        let number = |word: &str| {
            let before = out.split(word).next().expect("it is there");
            before.rsplit(' ').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0)
        };
        lines += number(" lines");
        answers += number(" answers");
    }
    println!("{} runs: {lines} lines, {answers} answers", names.len());
    assert!(
        lines > 40 * names.len() && answers > 3 * names.len(),
        "{lines} lines, {answers} answers"
    );
    let (code, out, err) = chartc(root(), &["store", store, "check"]);
    assert_eq!(code, 0, "{out}{err}");
    a_changed_line_differs(&file, &names[0]);
    names.len()
}

/// A line that says something else, with and without the checksum of its row.
fn a_changed_line_differs(file: &Path, name: &str) {
    let store = file.to_str().expect("a path");
    let again = || chartc(root(), &["replay", "--store", store, name]);
    let lines = Store::open(file).and_then(|store| store.lines(name)).expect("as written");
    let answer = lines.iter().find(|line| matches!(line.what, What::Answer { .. }));
    let seq = answer.expect("an answer").seq;
    let which = format!("run = '{name}' AND seq = {seq}");
    let put = |from: &str, to: &str| {
        let sql = format!("UPDATE line SET text = replace(text, '{from}', '{to}') WHERE {which}");
        assert_eq!(changed(file, &sql), 1);
    };
    put("\"text\":\"", "\"text\":\"no ");
    let (code, out, err) = again();
    let why = format!("line {seq} of its trace is not as it was written");
    assert!(code == 1 && err.contains(&why), "{code} {out}{err}");
    sealed(file, "line", &which);
    let (code, out, err) = again();
    assert!(code == 1 && out.contains("differs") && out.contains("trace: "), "{code} {out}{err}");
    put("\"text\":\"no ", "\"text\":\"");
    sealed(file, "line", &which);
    let (code, out, err) = again();
    assert_eq!(code, 0, "{out}{err}");
}
