//! Completion and hover in YAML.

use chartc::ide::yaml::{Format, complete, hover, names_in_hole};
use std::fs;
use std::path::{Path, PathBuf};

/// The labels of what is offered at `|`.
fn agent(text: &str) -> Vec<String> {
    let at = text.find('|').expect("a cursor");
    let done = complete(Format::Agent, &text.replacen('|', "", 1), at);
    done.items.into_iter().map(|item| item.label).collect()
}

/// What is written where the item with this label is taken.
fn taken(format: Format, text: &str, label: &str) -> String {
    let at = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    let done = complete(format, &text, at);
    let item = done.items.iter().find(|item| item.label == label).expect("it is offered");
    [&text[..done.replace.start], &item.insert, &text[done.replace.end..]].concat()
}

#[test]
fn states_and_answers() {
    let text =
        "workflow:\n  state_machine: {states: [looking, selling]}\n  steps:\n    - name: a\n";
    let step = |line: &str| agent(&format!("{text}      {line}\n      run_if: x\n"));
    assert_eq!(step("in_state: |"), ["looking", "selling"]);
    assert_eq!(step("in_state: [looking, s|]"), ["looking", "selling"]);
    assert_eq!(step("in_state:\n        - |"), ["looking", "selling"]);
    assert_eq!(step("transition_to: sel|"), ["looking", "selling"]);
    assert_eq!(step("transition_map: {yes: |}"), ["looking", "selling"]);
    assert_eq!(step("transition_map:\n        buy: |"), ["looking", "selling"]);
    let source = "transition_source: {invoke: x, fallback: stay}\n      transition_map:\n        ship: looking\n        |";
    assert_eq!(step(source), ["stay", "continue", "pivot"]);
    assert_eq!(step("prompt: to | it"), [""; 0]);
    let machine =
        "workflow:\n  state_machine:\n    states:\n      - a\n      - b\n    initial_state: |\n";
    assert_eq!(agent(machine), ["a", "b"]);
    let machine = "workflow:\n  state_machine:\n    states: [a, b]\n    transitions:\n";
    assert_eq!(agent(&format!("{machine}      - {{to: |}}")), ["a", "b"]);
    assert_eq!(agent(&format!("{machine}      - {{to: a, from: |")), ["a", "b", "*"]);
}

/// The JSON Schema of the file offers keys and their words.
#[test]
fn keys_and_their_words_are_not_names() {
    let step = "workflow:\n  steps:\n    - name: a\n      ";
    for text in ["|", "id: a\n|", "enabled: |", "id: |", "rag: {|}"] {
        assert_eq!(agent(text), [""; 0], "{text}");
    }
    for line in ["|", "type: |", "on_failure: |", "prompt: |-\n        na|me"] {
        assert_eq!(agent(&format!("{step}{line}")), [""; 0], "{line}");
    }
}

#[test]
fn what_is_taken_goes_on_well() {
    let state = "workflow: {state_machine: {states: [a$b]}, steps: [{in_state: |}]}";
    assert!(taken(Format::Agent, state, "a$b").ends_with(r"{in_state: a\$b}]}"));
}

#[test]
fn placeholders_have_the_names_of_the_agent() {
    let agent = "id: a\ninputs: {mood: calm}\nworkflow:\n  state_machine:\n    states: [on]\n    initial_state: on\n  steps:\n    - name: think\n      type: llm\n      in_state: on\n      run_if: \"RUN\"\n      prompt: |\n        Think of {goal} and {mood}. PROMPT\n";
    let found = |from: &str, to: &str| {
        let marked = agent.replace(from, to).replace("RUN", "balance > 0").replace("PROMPT", "");
        let offset = marked.find('§').expect("a place");
        let text = marked.replace('§', "");
        let files = chartc::load::Memory::of("agent.yaml", &text);
        let done = chartc::check(&["agent.yaml".to_owned()], &files);
        let found = names_in_hole(&done, chartc::span::FileId(0), offset)?;
        let word = text[found.replace].to_owned();
        Some((word, found.items.into_iter().map(|item| item.label).collect::<Vec<_>>()))
    };
    let all = |from: &str, to: &str| {
        let (word, names) = found(from, to).expect("names");
        for wanted in ["mood", "goal", "balance", "artifacts"] {
            assert!(names.iter().any(|name| name == wanted), "{wanted} in {names:?}");
        }
        assert!(!names.contains(&word) && !names.iter().any(|name| name == "turns"), "{names:?}");
        word
    };
    let none = |word: &str| Some((word.to_owned(), Vec::new()));
    assert_eq!(all("PROMPT", "{§"), "");
    assert_eq!(all("PROMPT", "{go§"), "go");
    assert_eq!(all("PROMPT", "and {bal§}"), "bal");
    assert_eq!(all("RUN", "not §"), "");
    // A doubled brace is one of the text; behind a name come its parts.
    assert_eq!(found("PROMPT", "{{§"), none(""));
    assert_eq!(found("PROMPT", "{goal:§}"), none(""));
    assert_eq!(found("PROMPT", "goal§"), none("goal"));
    // Elsewhere there are keys and words, which the JSON Schema has.
    assert_eq!(found("type: llm", "type: §"), None);
}

#[test]
fn formats_by_name_and_text() {
    for (path, text, format) in [
        ("a/agent.yaml", "", Some(Format::Agent)),
        ("x.agent.yml", "", Some(Format::Agent)),
        ("x.yaml", "id: a\nworkflow:\n", Some(Format::Agent)),
        ("a/_components/goals/x.yaml", "", Some(Format::Component)),
        ("run.yaml", "", Some(Format::Run)),
        ("world.yaml", "execution: {}\n", Some(Format::Run)),
        ("script.yaml", "answers: {}\n", None),
        ("agent.chart", "", None),
    ] {
        assert_eq!(Format::from_path(path, text), format, "{path}");
    }
}

#[test]
fn hover_tells_what_keys_and_words_mean() {
    let text = "id: a\nworkflow:\n  steps:\n    - {name: x, type: llm, prompt: hi}\n";
    let at = |word: &str| hover(Format::Agent, text, text.find(word).expect("a word") + 1);
    let key = at("prompt").expect("a key");
    assert_eq!(&text[key.at.clone()], "prompt");
    assert!(key.text.contains("placeholders"), "{}", key.text);
    let word = at("llm").expect("a word");
    assert!(word.text.starts_with("`llm`: Asks the model"), "{}", word.text);
    assert!(at("type").expect("a key").text.contains("- `transition`: "));
    assert_eq!(at("hi"), None);
    let old = hover(Format::Agent, "starting_credits: 1\n", 3).expect("a key");
    assert!(old.text.contains("write `starting_scrip`"), "{}", old.text);
}

/// All YAML files below a folder.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

/// The agents, components and run files of the project, and those of the shared folder.
fn files() -> Vec<(Format, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["charts", "examples", "tests/language/fixtures"] {
        below(&root.join(folder), &mut paths);
    }
    let shared =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    if shared.is_dir() {
        below(&shared.join("agent_yaml/files"), &mut paths);
    } else {
        eprintln!("skipped, not found: {}", shared.display());
    }
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a text");
    let texts = paths.iter().map(|path| (path.to_string_lossy().into_owned(), read(path)));
    texts.filter_map(|(path, text)| Some((Format::from_path(&path, &text)?, text))).collect()
}

#[test]
fn no_text_and_no_offset_is_too_broken() {
    let mut state = 7_u64;
    let mut chance = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most.max(1)
    };
    const PIECES: [&str; 14] =
        ["{", "}", "[", "]", ": ", "- ", "\n", "  ", "|\n", "'", "\"", "é😀", "&a ", "#"];
    for (format, text) in files() {
        let text: String = text.chars().take(1500).collect();
        for _ in 0..12 {
            let mut broken: Vec<char> = text.chars().take(chance(text.len())).collect();
            for _ in 0..chance(6) {
                let at = chance(broken.len() + 1);
                let piece = PIECES[chance(PIECES.len())];
                broken.splice(at..(at + chance(3)).min(broken.len()), piece.chars());
            }
            let broken: String = broken.into_iter().collect();
            for _ in 0..40 {
                let at = chance(broken.len() + 3);
                let done = complete(format, &broken, at);
                assert!(broken.get(done.replace).is_some());
                let shown = hover(format, &broken, at);
                assert!(shown.is_none_or(|shown| broken.get(shown.at).is_some()));
            }
        }
    }
    for hostile in
        ["[".repeat(50_000), "- ".repeat(50_000), "{a: ".repeat(20_000), "a:\n ".repeat(5000)]
    {
        complete(Format::Agent, &hostile, hostile.len());
        hover(Format::Agent, &hostile, hostile.len() / 2);
    }
}
