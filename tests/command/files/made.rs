//! Traces and snapshots of any size can be read.

use super::{folder, run, write};

/// Each turn passes 327,680 letters to a function.
const TALKS: &str = "chart Talks {
  var text: Text = \"0123456789\"
  do note(text: Text)
  initial a
  state a {
    on turn if len(text) < 300000 { text = concat(text, text) }
    on turn { note(text) }
  }
}
";

#[test]
fn a_trace_and_a_snapshot_of_any_size_are_read() {
    let folder = folder("made");
    write(&folder.join("talks.chart"), TALKS);
    write(&folder.join("none.yaml"), "functions: {note: [none]}\n");
    let begin = ["run", "talks.chart", "--functions", "none.yaml", "--turns", "90"];
    let (code, said) = run(&folder, &[&begin[..], &["--trace", "t.jsonl"]].concat());
    assert_eq!(code, Some(0), "{said:.500}");
    let size = std::fs::metadata(folder.join("t.jsonl")).expect("a trace").len();
    assert!(size > 16 << 20, "{size} bytes");
    for (command, wanted) in [
        (&["trace", "t.jsonl", "--summary"][..], "on turn"),
        (&["trace", "t.jsonl"], "on turn"),
        (&["replay", "t.jsonl", "talks.chart"], "the same again"),
        (&["graph", "talks.chart", "--trace", "t.jsonl"], "digraph"),
    ] {
        let (code, said) = run(&folder, command);
        assert_eq!(code, Some(0), "{command:?}: {said:.500}");
        assert!(said.contains(wanted), "{command:?}: {said:.500}");
    }
}

#[test]
fn a_snapshot_that_was_written_is_taken_back() {
    let folder = folder("snapshot");
    let names: Vec<String> = (0..50).map(|nth| format!("t{nth}")).collect();
    let all = |line: &dyn Fn(&String) -> String| names.iter().map(line).collect::<String>();
    let chart = format!(
        "chart Keeps {{\n{}  initial a\n  state a {{\n    on turn if len(t0) < 400000 {{ {} }}\n  }}\n}}\n",
        all(&|name| format!("  var {name}: Text = \"0123456789\"\n")),
        all(&|name| format!("{name} = concat({name}, {name}) ")),
    );
    write(&folder.join("keeps.chart"), &chart);
    let begin = ["run", "keeps.chart", "--turns", "20", "--snapshot", "s.json"];
    let (code, said) = run(&folder, &begin);
    assert_eq!(code, Some(0), "{said:.500}");
    let size = std::fs::metadata(folder.join("s.json")).expect("a snapshot").len();
    assert!(size > 16 << 20, "{size} bytes");
    let (code, said) = run(&folder, &["run", "keeps.chart", "--turns", "1", "--resume", "s.json"]);
    assert_eq!(code, Some(0), "{said:.500}");
    assert!(said.contains("21 turns"), "{said:.500}");
}
