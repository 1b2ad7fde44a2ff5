//! What is shown about names and words.

use chartc::Compilation;
use chartc::ide::hover::{FUNCTIONS, WORDS, describe_word, hover};
use chartc::load::Memory;
use chartc::span::{FileId, Span};
use chartc_compiler::compile::check_indexed;
use chartc_compiler::lower::{ASKED, language_functions, observables};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The files of a folder of this repository, and those below, by their paths.
pub(crate) fn folder(path: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                open.push(name);
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                files.insert(name, text);
            }
        }
    }
    files
}

/// A file of the charts that are shipped, compiled with what it imports.
pub(crate) fn shipped(path: &str) -> Compilation {
    check_indexed(&[path.to_owned()], &Memory(folder("charts")), 0)
}

/// A text, compiled as a file of this name.
pub(crate) fn compiled(name: &str, text: &str) -> Compilation {
    check_indexed(&[name.to_owned()], &Memory::of(name, text), 0)
}

/// The file of the compilation that was asked for.
pub(crate) fn first(done: &Compilation) -> FileId {
    done.files[0].id
}

/// The only place of a text in a file, at its `|`.
pub(crate) fn place(done: &Compilation, mark: &str) -> usize {
    let text = &done.sources.get(first(done)).text;
    let at = mark.find('|').expect("a mark has a `|`");
    let plain = mark.replacen('|', "", 1);
    let found: Vec<usize> = text.match_indices(&plain).map(|(found, _)| found).collect();
    assert!(!found.is_empty(), "`{plain}` is not there");
    found[0] + at
}

fn shown(done: &Compilation, marks: &[&str]) -> String {
    let one = |mark: &&str| {
        let found = hover(done, first(done), place(done, mark));
        let text = found.map_or("nothing".into(), |found| {
            format!("[{}]\n\n{}", done.sources.get(first(done)).slice(found.span), found.markdown)
        });
        format!("=== {mark}\n{text}\n")
    };
    marks.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn names_of_a_chart() {
    let done = shipped("charts/support.chart");
    insta::assert_snapshot!(shown(
        &done,
        &[
            "chart Sup|port",
            "state re|searching",
            "| open {\n    initial sorting",
            "history bef|ore",
            "-> handing_o|ver",
            "final escal|ated",
            "event rep|ly",
            "on reply(te|xt)",
            "draft: Te|xt",
            "var dra|ft",
            "param tri|es",
            "fails_here >= tri|es",
            "llm class|ify",
            "ask ne|xt on turn",
            "human app|rove",
            "may wri|te",
            "may call know|ledge",
            "crm.cust|omer(",
            "tools rec|ords",
            "type Cust|omer",
            "Kind.sp|am",
            "customer.na|me else",
            "send_r|eply(address",
            "when repeats_|itself",
            "about {subj|ect}",
        ]
    ));
}

#[test]
fn words_of_the_language() {
    let done = shipped("charts/support.chart");
    insta::assert_snapshot!(shown(
        &done,
        &[
            "|llm classify",
            "re|try 2 then",
            "{opt|ions}",
            "fails_|here >=",
            "{if customer != none then st|r(",
            "streak(to|ol)",
            "strea|k(tool)",
            "look|ed up",
            "// What com|es",
            "var id: Tex|t",
            "always_rea|ches(",
        ]
    ));
}

#[test]
fn names_of_an_agent() {
    let done = shipped("charts/builder.agent.yaml");
    insta::assert_snapshot!(shown(
        &done,
        &[
            "You are {agent|_id}",
            "{rat|e:.0%}",
            "in_state: [idea|ting",
            "[observ|ing,",
            "name: idea|te",
            "run_if: should_|pivot",
            "name: refl|ect",
            "id: buil|der"
        ]
    ));
}

#[test]
fn names_of_an_scxml_document() {
    let done = shipped("charts/orders.scxml");
    let text = &done.sources.get(first(&done)).text;
    let at = text.find("<state id=\"").expect("a state") + "<state id=\"".len();
    let found = hover(&done, first(&done), at).expect("a state is known");
    insta::assert_snapshot!(found.markdown);
}

#[test]
fn a_step_shows_what_its_model_is_sent() {
    let text = "client quick { model \"openai:small\" actions ooda }
component tone into write if hurry at start \"Be brief.\"
component rules into write \"Rules: {goal}\"
chart A {
  param goal: Text
  var hurry: Bool = false
  var names: List(Text) = []
  initial a
  state a {
    llm write with quick { prompt \"\"\"Write about {goal}, {{not}} {goal:>10}.\"\"\" } -> b
  }
  state b {
    llm greet each who in names { prompt \"Greet {who}.\"  returns Text  up to 3 } -> c
  }
  final c
}
";
    let done = compiled("a.chart", text);
    insta::assert_snapshot!(shown(
        &done,
        &["llm wri|te", "llm gre|et", "component ru|les", "client qui|ck"]
    ));
}

#[test]
fn a_test_knows_its_chart() {
    let done = shipped("charts/support.test.chart");
    let text = &done.sources.get(first(&done)).text;
    let at = text.find("for Support").expect("a test") + 4;
    let found = hover(&done, first(&done), at).expect("the chart is known");
    assert!(found.markdown.starts_with("```chart\nchart Support\n```"), "{}", found.markdown);
}

#[test]
fn handlers_of_any_event_and_of_enclosing_states_are_shown() {
    let text = "chart A {
  event go
  event stop
  initial a
  state a {
    initial b
    on * -> c
    state b { on go -> c }
  }
  final c
}
";
    let done = compiled("a.chart", text);
    let go = shown(&done, &["event g|o"]);
    assert!(go.contains("- `a.b` `on go`") && go.contains("- `a` `on *`"), "{go}");
    let stop = shown(&done, &["event st|op"]);
    assert!(!stop.contains("`on go`") && stop.contains("- `a` `on *`"), "{stop}");
    let inner = shown(&done, &["state |b"]);
    assert!(inner.contains("**Also left by enclosing states**\n\n- `a` `on *` → `c`"), "{inner}");
    assert!(!shown(&done, &["final |c"]).contains("enclosing"));
}

#[test]
fn what_stands_outside_charts_is_known() {
    let tools = "/// Finds pages.
tool web.search(query: Text) -> List(Text)
tools reading = web.*
client quick { model \"a:b\" }
";
    let alone = compiled("tools.chart", tools);
    insta::assert_snapshot!(shown(&alone, &["web.sea|rch", "rea|ding", "qui|ck", "que|ry"]));
    let chart = "import \"tools.chart\"
chart A {
  initial a
  state a {
    ask next on turn else stay { prompt \"{options}\" }
    may call reading
    may stop \"it is done\" -> b
  }
  final b
}
";
    let files = [("tools.chart", tools), ("a.chart", chart)];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let done = check_indexed(&["a.chart".to_owned()], &Memory(files.into()), 0);
    insta::assert_snapshot!(shown(&done, &["tools|.chart", "call rea|ding", "ne|xt on"]));
}

#[test]
fn a_name_is_not_taken_for_a_word() {
    let text = "chart A {
  event time
  initial a
  state a {
    enter { send time after 5s as retry }
    exit { cancel retry }
    on time -> final_one
  }
  final final_one
}
";
    let done = compiled("a.chart", text);
    insta::assert_snapshot!(shown(
        &done,
        &["event ti|me", "cancel ret|ry", "as ret|ry", "after 5|s"]
    ));
}

#[test]
fn a_code_in_a_comment_is_explained() {
    let text =
        "chart A {\n  initial a\n  // chartc: allow(C0301, shadowed-line) so be it\n  state a\n}\n";
    let done = compiled("a.chart", text);
    insta::assert_snapshot!(shown(&done, &["C03|01", "shadowed-|line", "so |be it"]));
    let other = compiled("a.chart", &text.replace("chartc:", "about"));
    assert_eq!(shown(&other, &["C03|01"]), "=== C03|01\nnothing\n");
}

#[test]
fn text_of_users_stays_text() {
    let text = "/// **Bold** `code` <b>\u{202e}\n/// # title\nchart A {
  /// 1. [a](b)
  event `a\\`b`
  initial a
  state a {
    llm write { prompt \"\"\"
      ```
      # {{x}} \u{202e}
      ````
      \"\"\" } -> b
    on `a\\`b` -> b
  }
  final b
}
";
    let done = compiled("a.chart", text);
    let all = shown(&done, &["chart |A", "event `|a", "llm wri|te", "state |a", "final |b"]);
    assert!(!all.contains('\u{202e}'), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn long_lists_are_cut() {
    let lines: String = (0..20).map(|n| format!("    on e{n} -> b\n")).collect();
    let events: String = (0..20).map(|n| format!("  event e{n}\n")).collect();
    let text =
        format!("chart A {{\n{events}  initial a\n  state a {{\n{lines}  }}\n  final b\n}}\n");
    let done = compiled("a.chart", &text);
    let found = hover(&done, first(&done), place(&done, "final |b")).expect("a state is known");
    assert!(found.markdown.contains("- … and 8 more"), "{}", found.markdown);
}

/// The words that the grammar has: `kw_` rules and those that it takes for names.
fn grammar() -> BTreeSet<String> {
    let text = fs::read_to_string("grammar/chart.pest").expect("the grammar")
        + &fs::read_to_string("grammar/expression.pest").expect("the grammar");
    let rules = text.lines().filter(|line| line.starts_with("kw_"));
    let words = rules.map(|line| line.split('"').nth(1).expect("a word").to_owned());
    words.collect()
}

#[test]
fn every_word_of_the_grammar_is_explained() {
    let all = grammar();
    assert!(all.len() > 90, "{} words", all.len());
    let reserved = chartc_core::model::RESERVED.iter().map(|word| (*word).to_owned());
    let missing: Vec<String> =
        all.into_iter().chain(reserved).filter(|w| describe_word(w).is_none()).collect();
    assert_eq!(missing, Vec::<String>::new());
    let mut names: Vec<&str> = WORDS.iter().map(|word| word.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a word has two entries");
    for word in WORDS.iter() {
        assert!(!word.text.is_empty() && !word.example.is_empty(), "`{}` says nothing", word.name);
        assert!(word.example.contains(word.name), "the example of `{}` lacks it", word.name);
    }
}

#[test]
fn every_function_is_explained() {
    let known: Vec<&str> = FUNCTIONS.iter().map(|known| known.name).collect();
    let all: BTreeSet<&str> =
        language_functions().chain(observables().map(|(name, _)| name)).chain([ASKED]).collect();
    assert_eq!(known.iter().copied().collect::<BTreeSet<_>>(), all);
    assert_eq!(known.len(), all.len(), "a function has two entries");
}

#[test]
fn examples_of_words_can_be_read() {
    let places: [(&str, &str); 4] = [
        ("", ""),
        ("chart A {\n", "\n}\n"),
        ("chart A {\n state s {\n", "\n}\n}\n"),
        ("chart A {\n state s {\n llm x {\n", "\n}\n}\n}\n"),
    ];
    for word in WORDS.iter() {
        let reads = places.iter().any(|(before, behind)| {
            let done = compiled("a.chart", &format!("{before}{}{behind}", word.example));
            let codes = ["C0001", "C0101"];
            !done.diagnostics.iter().any(|found| codes.contains(&found.rule.code))
        });
        assert!(reads, "the example of `{}` cannot be read", word.name);
    }
}

/// Asks about every place of a file, but of a name only about its first and its last.
fn everywhere(done: &Compilation, from: usize) -> usize {
    let file = first(done);
    let mut known: Option<Span> = None;
    let mut found = 0;
    for offset in from..=done.sources.get(file).text.len() + 2 {
        if known
            .is_some_and(|span| (span.start as usize) < offset && offset + 1 < span.end as usize)
        {
            continue;
        }
        let shown = hover(done, file, offset);
        found += usize::from(shown.is_some());
        known = shown.map(|shown| shown.span);
    }
    found
}

#[test]
fn no_place_of_a_shipped_chart_is_too_much() {
    let files = folder("charts");
    let is_chart = |name: &&String| {
        let name = name.to_lowercase();
        name.ends_with(".chart") || name.ends_with(".scxml") || name.ends_with("agent.yaml")
    };
    let mut found = 0;
    for name in files.keys().filter(is_chart) {
        found +=
            everywhere(&check_indexed(std::slice::from_ref(name), &Memory(files.clone()), 0), 0);
    }
    assert!(found > 10_000, "{found} places");
}

#[test]
fn no_place_of_a_broken_chart_is_too_much() {
    let mut files = folder("charts");
    for name in ["charts/support.chart", "charts/builder.agent.yaml", "charts/orders.scxml"] {
        let whole = files[name].clone();
        for part in 1..12 {
            let end = whole.floor_char_boundary(whole.len() * part / 12 + part);
            files.insert(name.to_owned(), whole[..end].to_owned());
            let done = check_indexed(&[name.to_owned()], &Memory(files.clone()), 0);
            everywhere(&done, end.saturating_sub(200));
        }
    }
}
