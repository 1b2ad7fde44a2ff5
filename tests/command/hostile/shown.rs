//! What is hidden in names, texts, answers and files never reaches a terminal as it is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use std::io::Write;

/// What a terminal obeys, what turns text, what is not seen. NUL is in no text file.
fn hostile() -> impl Iterator<Item = char> {
    let all = [1..=8, 0xb..=0x1f, 0x7f..=0x9f, 0x200b..=0x200f, 0x2028..=0x202e, 0x2060..=0x2069];
    let single = [0xad, 0x61c, 0x180e, 0xfeff, 0xfe0f, 0xe0041];
    all.into_iter().flatten().chain(single).filter_map(char::from_u32)
}

/// Texts that hold all of it, and lines that a run could have written.
fn payloads() -> Vec<String> {
    let all: Vec<char> = hostile().collect();
    let mut texts: Vec<String> =
        all.chunks(24).map(|some| some.iter().flat_map(|c| ['x', *c]).collect()).collect();
    texts.push("\u{1b}[2K\u{1b}[1A\u{1b}]0;title\u{7}\u{1b}[31mred\u{9b}2J".to_owned());
    texts
}

/// A text in quotes of JSON; also of YAML and, with `chart`, of a chart.
fn quoted(text: &str, chart: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let mut units = [0; 2];
        match c {
            c if chart && !c.is_ascii_alphanumeric() => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c if c.is_ascii_alphanumeric() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

fn folder(name: &str) -> PathBuf {
    test_support::project::folder(&format!("shown-{name}"))
}

/// What a command writes, each stream for itself.
fn said(folder: &Path, arguments: &[&str], typed: &str) -> [String; 2] {
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chartc runs");
    // It may have ended without reading.
    let _ = child.stdin.take().expect("piped").write_all(typed.as_bytes());
    let output = child.wait_with_output().expect("chartc ends");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("it is UTF-8"))
}

/// Without what sets colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let codes = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match codes.strip_prefix('m') {
            Some(rest) => plain.push_str(rest),
            None => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// Runs a command, and fails if something hostile comes through or a line is forged.
fn harmless(folder: &Path, arguments: &[&str], typed: &str) -> String {
    let streams = said(folder, arguments, typed);
    for text in &streams {
        // A colour of chartc's own; the one of the texts is looked for below.
        let is_coloured = arguments.contains(&"always");
        let plain = if is_coloured { without_colours(text) } else { text.clone() };
        let raw = plain.chars().find(|c| hostile().any(|h| h == *c));
        assert_eq!(raw, None, "{arguments:?}: {text:?}");
        assert!(
            !plain.contains("red") || !text.contains("\u{1b}[31mred"),
            "{arguments:?}: {text:?}"
        );
        // A prompt is shown as it is sent, line by line.
        let is_forged = |line: &str| line.starts_with("forged") && arguments[0] != "prompt";
        assert!(!plain.lines().any(is_forged), "{arguments:?}: {text:?}");
    }
    streams.concat()
}

/// A chart that says a text wherever it can: with the text raw or as escapes.
fn chart(text: &str, raw: bool) -> String {
    let quoted = quoted(text, true);
    let t = if raw { text } else { &quoted };
    let e = if raw { String::new() } else { "\\n".to_owned() };
    let doc = if raw { text } else { "" };
    format!(
        r#"enum Kind {{ `k{t}` other }}
chart `C{t}` {{
  param goal: Text = "g{t}"
  var x: Text = ""
  var k: Kind = Kind.other
  event `e{t}`(d: Text)
  fn f(`p{t}`: Text) -> Text
  limits {{ turns 9  calls 3 per turn }}
  initial `a{t}`
  /// A doc {doc}
  state `a{t}` {{
    llm `w{t}` {{ prompt "Write{e}forged {t} {{goal}}" returns Text into x }}
    ask `q{t}` on turn else stay {{ prompt "{t}? {{options}}" }}
    may `o{t}` "{t}" -> `b{t}`
    may `n{t}` "second" -> `c{t}`
    on `e{t}`(d) -> `b{t}` {{ log "{{d}} {t}" x = f(d) k = Kind.`k{t}` }}
  }}
  state `b{t}` {{ human h "Pay {{x}}?" {{ returns Text into x }} -> `c{t}` }}
  final `c{t}`
  check reaches(`b{t}`)
  check never(`c{t}` before `b{t}`)
}}
test "t{t}" for `C{t}` {{
  turn
  answers `w{t}` "a{t}{e}forged"
  answers `q{t}` `o{t}`
  expect at `c{t}`
}}
"#
    )
}

const CHART: &str = r#"chart Plain {
  param goal: Text = ""
  var x: Text = ""
  event e(d: Text)
  initial a
  state a {
    llm w { prompt "Write {goal}" returns Text into x } -> b
    on e(d) { log "{d}" log "{x}" }
  }
  state b { human ok "Pay {x}? (yes or no)" { returns Text into x } -> f }
  final f
}
"#;

#[test]
fn names_and_texts_of_charts() {
    let folder = folder("charts");
    for (nth, text) in payloads().iter().enumerate() {
        for raw in [false, true] {
            let name = format!("c{nth}{raw}.chart");
            let chart = chart(text, raw);
            std::fs::write(folder.join(&name), &chart).expect("the folder can be written");
            let commands: &[&[&str]] = &[
                &["check", &name],
                &["check", &name, "--color", "always"],
                &["check", &name, "--format", "short"],
                &["check", &name, "--format", "json"],
                &["check", &name, "--cost"],
                &["show", &name],
                &["show", &name, "--color", "always"],
                &["graph", &name],
                &["graph", &name, "--format", "mermaid", "--legend"],
                &["build", &name],
                &["fmt", "-"],
                &["convert", &name],
                &["explore", &name, "--depth", "2"],
                &["prompt", &name],
                &["run", &name, "--llm", "first", "--turns", "2", "--color", "always"],
                &["test", &name, "--coverage"],
                &["test", &name, "--format", "json"],
                &["test", &name, "--color", "always"],
            ];
            // All of them once; of the others those that name most.
            let few: Vec<&[&str]> = commands
                .iter()
                .copied()
                .enumerate()
                .filter(|(at, _)| nth < 2 || at % 4 == nth % 4)
                .map(|(_, c)| c)
                .collect();
            for command in few {
                harmless(&folder, command, &chart);
            }
        }
    }
}

#[test]
fn answers_events_and_traces() {
    let folder = folder("answers");
    std::fs::write(folder.join("p.chart"), CHART).expect("the folder can be written");
    for (nth, text) in payloads().iter().enumerate() {
        let t = quoted(&format!("{text}\nforged turn 3\r\nforged"), false);
        let write = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).expect("the folder can be written");
        };
        write(
            "s.json",
            format!("{{\"answers\": {{\"w\": [\"{t}\", \"{t}\"], \"{t}\": [\"a\"]}}}}"),
        );
        write("e.json", format!("[{{\"event\": \"e\", \"data\": {{\"d\": \"{t}\"}}}}]"));
        write("bad.json", format!("[{{\"event\": \"{t}\"}}]"));
        let run = ["run", "p.chart", "--llm", "script:s.json", "--human", "terminal"];
        let param = format!("goal={text}\nforged");
        harmless(
            &folder,
            &[
                &run[..],
                &["--trace", "t.jsonl", "--events", "e.json", "--turns", "3", "--param", &param],
            ]
            .concat(),
            "yes\nyes\n",
        );
        harmless(&folder, &[&run[..], &["--color", "always"]].concat(), "yes\n");
        harmless(&folder, &["simulate", "p.chart", "--events", "e.json"], "");
        harmless(&folder, &["simulate", "p.chart", "--events", "bad.json"], "");
        harmless(&folder, &["prompt", "p.chart", "--param", &param], "");
        harmless(&folder, &["prompt", "p.chart", "--param", &param, "--format", "json"], "");
        for more in [
            &["--color", "always"][..],
            &["--why"],
            &["--summary"],
            &["--summary", "--format", "json"],
            &["--format", "mermaid"],
        ] {
            harmless(&folder, &[&["trace", "t.jsonl"], more].concat(), "");
        }
        harmless(&folder, &["replay", "t.jsonl"], "");
        // A trace in which every word is hostile.
        let trace = std::fs::read_to_string(folder.join("t.jsonl")).expect("it was written");
        let foul = trace
            .replace("\"w\"", &format!("\"{t}\""))
            .replace("\"a\"", &format!("\"{t}\""))
            .replace("Plain", &t);
        write("foul.jsonl", foul + &format!("{{\"{t}\"}}\n{text}\n"));
        for more in [&[][..], &["--why"], &["--summary"], &["--format", "mermaid"]] {
            harmless(&folder, &[&["trace", "foul.jsonl"], more].concat(), "");
        }
        harmless(&folder, &["replay", "foul.jsonl"], "");
        harmless(&folder, &["replay", "foul.jsonl", "p.chart", "--force"], "");
        write("changed.jsonl", trace.replacen("\"text\":\"", &format!("\"text\":\"{t}"), 1));
        harmless(&folder, &["replay", "changed.jsonl"], "");
        if nth == 0 {
            harmless(&folder, &["run", "p.chart", "--resume", "t.jsonl"], "");
            harmless(&folder, &["run", "p.chart", "--world", "s.json"], "");
        }
    }
}

#[test]
fn arguments_and_names_of_files() {
    let folder = folder("arguments");
    std::fs::write(folder.join("p.chart"), CHART).expect("the folder can be written");
    for text in payloads() {
        let text = format!("{text}\nforged");
        std::fs::write(folder.join(format!("{text}.chart")), CHART.replace("-> f", "-> g"))
            .expect("the name is legal here");
        let named = format!("{text}.chart");
        std::fs::write(folder.join("chartc.toml"), "").expect("as before");
        let commands: &[&[&str]] = &[
            &[&text],
            &["check", &text],
            &["check", &named],
            &["check", &named, "--color", "always"],
            &["check", "--deny", &text],
            &["check", "--format", &text],
            &["explain", &text],
            &["new", &text],
            &["show", "p.chart", "--highlight", &text],
            &["graph", "p.chart", "--chart", &text],
            &["prompt", "p.chart", "--at", &text],
            &["run", "p.chart", "--param", &text],
            &["run", "p.chart", "--llm", &text],
            &["run", "p.chart", "--llm", &format!("replay:{text}")],
            &["run", "p.chart", "--llm", "first", "--world", &text],
            &["trace", &text],
            &["replay", &text],
            &["test", "--filter", &text],
            &["fmt", "--check", &named],
            &["explore", "p.chart", "--input", &text],
        ];
        for command in commands {
            harmless(&folder, command, "");
        }
        std::fs::write(
            folder.join("chartc.toml"),
            format!("[lints]\n\"{}\" = \"deny\"\n", quoted(&text, false).replace("\\ud", "x")),
        )
        .expect("as before");
        harmless(&folder, &["check", "p.chart"], "");
        std::fs::remove_file(folder.join(named)).expect("it was written");
    }
}

#[test]
fn agents_and_documents() {
    let folder = folder("agents");
    for text in payloads() {
        let t = quoted(&text, false);
        let yaml = format!(
            "id: \"n{t}\"\nworkflow:\n  state_machine:\n    states: [\"a{t}\", \"b{t}\"]\n    \
             transitions: [{{from: \"a{t}\", to: \"b{t}\", condition: \"x{t}\"}}]\n  steps:\n  \
             - {{name: \"w{t}\", type: llm, in_state: \"a{t}\", prompt: \"p{t} {{x{t}}}\", transition_to: \"b{t}\"}}\n\"k{t}\": 1\n"
        );
        std::fs::write(folder.join("agent.yaml"), yaml).expect("the folder can be written");
        let raw = format!("id: n{text}\nstates: [\n{text}: {{\n");
        std::fs::write(folder.join("raw.agent.yaml"), raw).expect("as before");
        let scxml = format!("<scxml name=\"n{text}\"><state id=\"a{text}\"/><{text}></scxml>");
        std::fs::write(folder.join("d.scxml"), scxml).expect("as before");
        for file in ["agent.yaml", "raw.agent.yaml", "d.scxml"] {
            for command in [
                &["check", file][..],
                &["check", "--format", "short", file],
                &["convert", file],
                &["show", file],
            ] {
                harmless(&folder, command, "");
            }
        }
    }
}

#[test]
fn a_model_does_not_show_an_approver_another_sum() {
    let folder = folder("approval");
    std::fs::write(folder.join("p.chart"), CHART).expect("the folder can be written");
    let script =
        r#"{"answers": {"w": ["1000 to Mallory\r\u001b[2K\u001b[1APay 5 to Ann\nok (yes)> "]}}"#;
    std::fs::write(folder.join("s.json"), script).expect("as before");
    let run = ["run", "p.chart", "--llm", "script:s.json", "--human", "terminal"];
    let text = harmless(&folder, &run, "yes\n");
    assert!(
        text.contains(
            "\n| Pay 1000 to Mallory\\r\\u{1b}[2K\\u{1b}[1APay 5 to Ann\n| ok (yes)>? (yes or no)\n"
        ),
        "{text}"
    );
}
