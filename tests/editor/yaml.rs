//! Completion and hover in YAML.

use chartc::ide::yaml::{CompletionItem, Format, ItemKind, complete, hover, names_in_hole};
use std::fs;
use std::path::{Path, PathBuf};

/// What is offered at `|`.
fn offered(format: Format, text: &str) -> Vec<CompletionItem> {
    let at = text.find('|').expect("a cursor");
    complete(format, &text.replacen('|', "", 1), at).items
}

fn labels(format: Format, text: &str) -> Vec<String> {
    offered(format, text).into_iter().map(|item| item.label).collect()
}

fn agent(text: &str) -> Vec<String> {
    labels(Format::Agent, text)
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
fn keys_by_indentation_those_that_are_needed_first() {
    assert_eq!(agent("|")[0], "id");
    assert_eq!(agent("id: a\n|")[0], "enabled");
    assert!(!agent("id: a\n|").contains(&"id".to_owned()));
    assert_eq!(agent("id: a\nworkflow:\n  |")[..2], ["steps", "state_machine"]);
    assert_eq!(agent("id: a\nworkflow:\n  st|\n  steps: []\n")[0], "state_machine");
    let step = "id: a\nworkflow:\n  steps:\n    - name: x\n      type: llm\n      |";
    assert_eq!(agent(step)[..3], ["prompt", "transition_to", "in_state"]);
    assert!(!agent(step).contains(&"transition_map".to_owned()), "an llm step has none");
    assert_eq!(agent(&step.replace("llm", "code"))[..3], ["code", "action", "transition_to"]);
    // Below the step, and beside `steps`.
    assert_eq!(agent(&format!("{step}\n    - |").replacen('|', "", 1))[..2], ["name", "type"]);
    assert!(
        agent("id: a\nworkflow:\n  steps:\n  - name: x\n  |").contains(&"calls_per_turn".into())
    );
    assert!(agent("id: a\nworkflow:\n  steps:\n  - name: x\n|").contains(&"llm_model".into()));
}

#[test]
fn keys_in_braces() {
    let machine = "workflow:\n  state_machine:\n    states: [a, b]\n    transitions:\n";
    assert_eq!(agent(&format!("{machine}      - {{|}}"))[..2], ["to", "from"]);
    assert_eq!(agent(&format!("{machine}      - {{to: a, |}}"))[..2], ["from", "condition"]);
    assert_eq!(agent(&format!("{machine}      - {{to: |}}")), ["a", "b"]);
    assert_eq!(agent(&format!("{machine}      - {{to: a, from: |")), ["a", "b", "*"]);
    let invoke = format!("{machine}      - {{to: a, condition: {{invoke: x, |");
    assert_eq!(agent(&invoke), ["method", "args", "fallback"]);
    assert_eq!(agent("rag: {|}"), ["enabled", "limit", "query_template"]);
    assert_eq!(agent("rag: {\n  enabled: true,\n  |\n}\nid: a\n"), ["limit", "query_template"]);
}

#[test]
fn words_and_states() {
    let text =
        "workflow:\n  state_machine: {states: [looking, selling]}\n  steps:\n    - name: a\n";
    let step = |line: &str| agent(&format!("{text}      {line}\n      run_if: x\n"));
    assert_eq!(step("type: |"), ["llm", "code", "transition"]);
    assert_eq!(step("type: l|"), ["llm", "code", "transition"]);
    assert_eq!(step("on_failure: |"), ["retry", "skip", "fail"]);
    assert_eq!(step("in_state: |"), ["looking", "selling"]);
    assert_eq!(step("in_state: [looking, s|]"), ["looking", "selling"]);
    assert_eq!(step("in_state:\n        - |"), ["looking", "selling"]);
    assert_eq!(step("transition_to: sel|"), ["looking", "selling"]);
    assert_eq!(step("transition_map: {yes: |}"), ["looking", "selling"]);
    assert_eq!(step("transition_map:\n        buy: |"), ["looking", "selling"]);
    let source = "transition_source: {invoke: x, fallback: stay}\n      transition_map:\n        ship: looking\n        |";
    assert_eq!(step(source), ["stay", "continue", "pivot"]);
    assert_eq!(agent("enabled: |"), ["true", "false"]);
    assert_eq!(agent("id: |"), [""; 0]);
    assert_eq!(step("prompt: to | it"), [""; 0]);
    assert_eq!(step("prompt: |-\n        na|me").len(), 0);
    let machine =
        "workflow:\n  state_machine:\n    states:\n      - a\n      - b\n    initial_state: |\n";
    assert_eq!(agent(machine), ["a", "b"]);
}

#[test]
fn what_is_taken_goes_on_well() {
    assert_eq!(taken(Format::Agent, "wor|", "workflow"), "workflow:\n  ");
    assert_eq!(taken(Format::Agent, "id|: a", "id"), "id: a");
    assert_eq!(taken(Format::Run, "execution:\n  ti|", "ticks"), "execution:\n  ticks: ");
    assert_eq!(taken(Format::Agent, "workflow: {|}", "steps"), "workflow: {steps: [$1]}");
    let machine = "workflow: {state_machine: {states: [a$b]}, steps: [{|}]}";
    assert!(taken(Format::Agent, machine, "transition_map").contains(r"{transition_map: {$1\}}"));
    assert!(taken(Format::Agent, machine, "prompt").contains("{prompt: }"));
    let state = machine.replace('|', "in_state: |");
    assert!(taken(Format::Agent, &state, "a$b").ends_with(r"{in_state: a\$b}]}"));
    let steps = "workflow:\n  steps:\n    - |";
    let snippets = offered(Format::Agent, steps);
    let snippets: Vec<_> = snippets.iter().filter(|item| item.kind == ItemKind::Snippet).collect();
    assert_eq!(snippets.len(), 3);
    for item in snippets {
        let lines: Vec<&str> = item.insert.lines().collect();
        let step = lines.join("\n      ").replace("${", "").replace('}', "");
        let text = format!(
            "id: a\nworkflow:\n  state_machine: {{states: ['2:state', '5:state']}}\n  steps:\n    - {step}\n"
        );
        let files = chartc::load::Memory::of("agent.yaml", &text);
        let found = chartc::check(&["agent.yaml".to_owned()], &files).diagnostics;
        let odd =
            found.iter().any(|d| matches!(d.rule.code, "C0001" | "C0004" | "C0005" | "C0101"));
        assert!(!odd, "{text}\n{found:?}");
    }
}

#[test]
fn run_files_and_components() {
    assert_eq!(labels(Format::Run, "agents:\n  - |")[..2], ["file", "id"]);
    assert_eq!(
        labels(Format::Run, "execution: {resource_exhaustion_policy: |}"),
        ["skip", "block"]
    );
    let provider = "rate_limiting:\n  providers:\n    openai:\n      |";
    assert_eq!(labels(Format::Run, provider), ["window_seconds", "resources"]);
    assert_eq!(labels(Format::Component, "name: x\n|")[..2], ["inject_into", "prompt_fragment"]);
    assert_eq!(labels(Format::Component, "inject_into:\n  - {|}")[..2], ["step", "if"]);
    assert_eq!(labels(Format::Component, "at: |"), ["start", "end", "replace"]);
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
    // Elsewhere there are keys and words.
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
    for folder in ["charts", "examples", "tests/it/fixtures"] {
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

/// The places of keys in a text, where hover knows them.
fn keys(format: Format, text: &str) -> Vec<std::ops::Range<usize>> {
    let before_colon = text.match_indices(':').filter_map(|(colon, _)| {
        let word = text[..colon].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        (!word.is_empty()).then_some(colon - 1)
    });
    let known = before_colon.filter_map(|offset| hover(format, text, offset));
    known.map(|hover| hover.at).filter(|at| text[at.end..].starts_with(':')).collect()
}

#[test]
fn each_key_of_each_file_is_offered_where_it_was() {
    let (mut count, mut files_read) = (0, 0);
    for (format, text) in files() {
        let memory = chartc::load::Memory::of("agent.yaml", &text);
        let found = chartc::check(&["agent.yaml".to_owned()], &memory).diagnostics;
        // Several documents, or a key twice.
        if format == Format::Agent
            && found.iter().any(|d| ["C0001", "C0103"].contains(&d.rule.code))
        {
            continue;
        }
        let conflicts = found.iter().any(|d| d.rule.code == "C0006");
        files_read += 1;
        for at in keys(format, &text) {
            let key = &text[at.clone()];
            if key.starts_with("motivation") {
                continue;
            }
            let without = [&text[..at.start], &text[at.end..]].concat();
            let done = complete(format, &without, at.start);
            let is_there = |item: &CompletionItem| item.label == key;
            // What means nothing beside the type of its step is not offered.
            let ignored = conflicts && !matches!(key, "name" | "type" | "in_state" | "run_if");
            assert!(done.items.iter().any(is_there) || ignored, "{key} in\n{without}");
            count += usize::from(done.items.iter().any(is_there));
            // The rest of the line is gone, too.
            let end = text[at.end..].find('\n').map_or(text.len(), |end| at.end + end);
            let start = text[..at.start].rfind('\n').map_or(0, |start| start + 1);
            let is_block = text[start..at.start].chars().all(|c| matches!(c, ' ' | '-'));
            let follows = text[end..].lines().nth(1).unwrap_or_default();
            let indent = follows.len() - follows.trim_start().len();
            if is_block && indent <= at.start - start {
                let without = [&text[..at.start], &text[end..]].concat();
                let done = complete(format, &without, at.start);
                assert!(done.items.iter().any(is_there) || ignored, "{key} is gone in\n{without}");
            }
        }
    }
    println!("{count} keys in {files_read} files");
    assert!(count > 800 && files_read > 20, "{count} keys in {files_read} files");
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
