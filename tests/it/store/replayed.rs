//! A hundred runs of the shipped charts in one store, each run again from its trace.

use super::*;
use crate::project::root;
use crate::run::command::chartc;
use chartc_runtime::trace::What;
use rusqlite::{Connection, params};

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
fn a_hundred_stored_runs_are_the_same_again() {
    let file = fresh("hundred");
    let store = file.to_str().expect("a path");
    let mut names = Vec::new();
    for (chart, more, count) in RUNS {
        for nth in 0..count {
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
    assert_eq!(names.len(), 100);
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
    println!("100 runs: {lines} lines, {answers} answers");
    assert!(lines > 4000 && answers > 300, "{lines} lines, {answers} answers");
    let (code, out, err) = chartc(root(), &["store", store, "check"]);
    assert_eq!(code, 0, "{out}{err}");
    a_changed_line_differs(&file, &names[0]);
}

/// A line that says something else, with and without the checksum of its row.
fn a_changed_line_differs(file: &Path, name: &str) {
    let store = file.to_str().expect("a path");
    let lines = Store::open(file).and_then(|store| store.lines(name)).expect("as written");
    let nth =
        lines.iter().position(|line| matches!(line.what, What::Answer { .. })).expect("an answer");
    let seq = lines[nth].seq as i64;
    let text = serde_json::to_string(&lines[nth]).expect("JSON");
    let changed = text.replacen("\"text\":\"", "\"text\":\"no ", 1);
    assert_ne!(text, changed);
    let connection = Connection::open(file).expect("a database");
    let put = |text: &str, sum: i64| {
        let update = "UPDATE line SET text = ?3, sum = ?4 WHERE run = ?1 AND seq = ?2";
        let count = connection.execute(update, params![name, seq, text, sum]).expect("a row");
        assert_eq!(count, 1);
    };
    put(&changed, checksum(&[name.as_bytes(), &seq.to_le_bytes(), changed.as_bytes()]));
    let (code, out, err) = chartc(root(), &["replay", "--store", store, name]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("differs") && out.contains("trace: "), "{out}{err}");
    put(&changed, checksum(&[name.as_bytes(), &seq.to_le_bytes(), text.as_bytes()]));
    let (code, out, err) = chartc(root(), &["replay", "--store", store, name]);
    let why = format!("line {seq} of its trace is not as it was written");
    assert!(code == 1 && err.contains(&why), "{code} {out}{err}");
    put(&text, checksum(&[name.as_bytes(), &seq.to_le_bytes(), text.as_bytes()]));
    let (code, out, err) = chartc(root(), &["replay", "--store", store, name]);
    assert_eq!(code, 0, "{out}{err}");
}

/// The checksum of a row, as the store makes it.
fn checksum(columns: &[&[u8]]) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut word = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    };
    for bytes in columns {
        word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            word(u64::from_le_bytes(eight));
        }
    }
    hash as i64
}
