//! Names and texts as long as a file: no table is widened, or breaks, for them.

use super::{folder, run, write};

fn chart(state: &str, event: &str, test: &str, ask: &str) -> String {
    format!(
        "chart A {{\n  event {event}\n  limits {{ calls 9 }}\n  initial {state}\n  state {state} {{\n    \
         ask {ask} on turn else f {{ prompt \"Which?\" }}\n    may go \"go\" -> f\n    on {event} -> f\n  }}\n  final f\n}}\n\
         test \"{test}\" for A {{ send {event}  expect at f }}\n"
    )
}

#[test]
fn long_names_in_tables() {
    for length in [65_535, 65_536, 200_000] {
        let long = "n".repeat(length);
        let folder = folder(&format!("long-{length}"));
        write(&folder.join("state.chart"), &chart(&long, "e", "t", "q"));
        write(&folder.join("event.chart"), &chart("a", &long, "t", "q"));
        write(&folder.join("test.chart"), &chart("a", "e", &long, "q"));
        write(&folder.join("ask.chart"), &chart("a", "e", "t", &long));
        let events = format!("[{{\"event\": \"{long}\"}}, {{\"event\": \"e\"}}]");
        write(&folder.join("events.json"), &events);
        for file in ["state.chart", "event.chart", "test.chart", "ask.chart"] {
            for command in [
                &["check", file][..],
                &["check", "--cost", file],
                &["show", file],
                &["graph", file],
                &["fmt", "--check", file],
                #[cfg(feature = "run")]
                &["test", "--coverage", file],
                #[cfg(feature = "run")]
                &["simulate", file, "--events", "events.json"],
                #[cfg(feature = "run")]
                &["run", file, "--llm", "first", "--turns", "2", "--trace", "t.jsonl"],
                #[cfg(feature = "run")]
                &["trace", "t.jsonl"],
                #[cfg(feature = "run")]
                &["trace", "--summary", "t.jsonl"],
            ] {
                let (code, said) = run(&folder, command);
                assert!(matches!(code, Some(0..=2)), "{command:?} {length}: {code:?} {said:.300}");
                assert!(said.len() < 12 * length, "{command:?} {length}: {} bytes", said.len());
            }
        }
    }
}

#[test]
fn a_long_name_is_cut_in_the_table_of_costs() {
    let folder = folder("long-cost");
    write(&folder.join("a.chart"), &chart(&"n".repeat(70_000), "e", "t", "q"));
    let (code, said) = run(&folder, &["check", "--cost", "a.chart"]);
    assert_eq!(code, Some(0), "{said:.300}");
    let cut = format!("  {}…      0      1  q 1\n", "n".repeat(79));
    assert!(said.contains(&cut), "{said:.2000}");
}

#[test]
fn the_differences_of_a_long_text_take_no_longer_than_its_lines() {
    let folder = folder("long-diff");
    // Each line changes, and each is another one.
    let lines: String = (0..60_000).map(|nth| format!("      // {nth} is a number\n")).collect();
    let chart = format!("chart A {{\n{lines}  initial a\n  state a\n}}\n");
    write(&folder.join("a.chart"), &chart);
    let (code, said) = run(&folder, &["fmt", "--diff", "a.chart"]);
    assert_eq!(code, Some(1), "{said:.500}");
    assert!(said.contains("\n-      // 0 is a number\n"), "{said:.500}");
    assert!(said.contains("\n+  // 59999 is a number\n"), "{said:.500}");
}
