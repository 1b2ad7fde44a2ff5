//! What is found at a place, and why a name cannot be changed.

use super::renaming::applied;
use chartc::Compilation;
use chartc::ide::names::{self, Note, Refusal, Renaming};
use chartc::load::Memory;
use chartc::span::{FileId, Span};

const TOOLS: &str = "/// What is found.
type Hit { title: Text  score: Float }
enum Mood { calm angry }
tool web.search(query: Text) -> List(Hit)
tool web.read(url: Text) -> Text
tools all_web = web.*
fn weigh(hit: Hit) -> Float
";

const CHILD: &str = "import \"tools.chart\"
chart Asker {
  param topic: Text
  event user.stop
  initial asking
  state asking {
    on user.stop -> done
    llm answer { prompt \"About {topic}\"  returns Text }
    on done(answer) as said -> done
  }
  final done
}
";

const MAIN: &str = "import \"tools.chart\"
import \"asker.chart\"
chart Desk {
  event user.say(text: Text)
  event user.stop
  var hits: List(Hit) = []
  var mood: Mood = Mood.calm
  var last: Text = \"\"
  pred is_loud = mood == Mood.angry and last != \"\"
  initial idle
  state idle {
    on user.say(text) if len(text) > 0 -> busy.looking { last = text  mood = Mood.angry }
    on user -> over(0)
  }
  state busy {
    initial looking
    state looking {
      run ask Asker(topic: last)
      call find web.search(last) { returns List(Hit) into hits }
      code sum { for hit in hits { last = \"{hit.title} {last}\" } }
      when is_loud and streak(all_web.query) > 2 -> over(1)
      on done(find) -> over(len([hit for hit in hits if weigh(hit) > 0.5]))
      enter { send user.stop after 5s as alarm }
      exit { cancel alarm }
    }
  }
  final over(count: Int)
  check reaches(busy.looking)
}
test \"asks\" for Desk {
  send user.say(\"x\")
  answers ask/answer \"yes\"
  expect at busy.looking
  expect result.count == 0
}
";

fn files() -> Memory {
    let all = [("tools.chart", TOOLS), ("asker.chart", CHILD), ("main.chart", MAIN)];
    Memory(all.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
}

fn compiled(files: &Memory, root: &str) -> Compilation {
    chartc_compiler::compile::check_indexed(&[root.to_owned()], files, 0)
}

/// The file of this name.
fn file(done: &Compilation, name: &str) -> FileId {
    let found = done.sources.iter().find(|(_, source)| source.name == name);
    found.expect("the file was read").0
}

/// The place inside of the first `words`, where `name` stands.
fn place(done: &Compilation, in_file: &str, words: &str, name: &str) -> (FileId, usize) {
    let id = file(done, in_file);
    let text = &done.sources.get(id).text;
    let at = text.find(words).unwrap_or_else(|| panic!("no {words} in {in_file}"));
    (id, at + words.find(name).expect("the name is among the words"))
}

/// The spans with the words of their lines before them.
fn shown(done: &Compilation, spans: &[Span]) -> Vec<String> {
    let show = |span: &Span| {
        let source = done.sources.get(span.file);
        let place = source.position(span.start);
        format!("{}:{} {}", source.name, place.line, source.slice(*span))
    };
    spans.iter().map(show).collect()
}

fn references(done: &Compilation, in_file: &str, words: &str, name: &str) -> Vec<String> {
    let (file, at) = place(done, in_file, words, name);
    shown(done, &names::references(done, file, at, true))
}

#[test]
fn the_charts_of_these_tests_are_sound() {
    let done = compiled(&files(), "main.chart");
    let found: Vec<_> = done.diagnostics.iter().map(|found| &found.message).collect();
    let errors =
        done.diagnostics.iter().filter(|f| f.severity == chartc::diagnostic::Severity::Error);
    assert_eq!(errors.count(), 0, "{found:?}");
}

#[test]
fn names_are_found_in_every_file() {
    let done = compiled(&files(), "main.chart");
    let all = |file: &str, words: &str, name: &str| references(&done, file, words, name);
    assert_eq!(
        all("main.chart", "-> busy.looking", "looking"),
        [
            "main.chart:12 looking",
            "main.chart:16 looking",
            "main.chart:17 looking",
            "main.chart:28 looking",
            "main.chart:33 looking"
        ]
    );
    assert_eq!(
        all("main.chart", "Asker(topic", "topic"),
        ["main.chart:18 topic", "asker.chart:3 topic", "asker.chart:8 topic"]
    );
    assert_eq!(
        all("main.chart", "hit.title", "title"),
        ["main.chart:20 title", "tools.chart:2 title"]
    );
    assert_eq!(
        all("main.chart", "mood == Mood.angry", "angry"),
        ["main.chart:9 angry", "main.chart:12 angry", "tools.chart:3 angry"]
    );
    assert_eq!(
        all("main.chart", "all_web.query", "query"),
        ["main.chart:21 query", "tools.chart:4 query"]
    );
    assert_eq!(
        all("tools.chart", "web.search", "web"),
        ["main.chart:19 web", "tools.chart:4 web", "tools.chart:5 web", "tools.chart:6 web"]
    );
    // One event for both charts, because it passes from one to the other by its name.
    assert_eq!(
        all("main.chart", "event user.stop", "stop"),
        ["main.chart:5 stop", "main.chart:23 stop", "asker.chart:4 stop", "asker.chart:7 stop"]
    );
    assert_eq!(
        all("main.chart", "cancel alarm", "alarm"),
        ["main.chart:23 alarm", "main.chart:24 alarm"]
    );
    assert_eq!(
        all("main.chart", "ask/answer", "answer"),
        ["main.chart:32 answer", "asker.chart:8 answer", "asker.chart:9 answer"]
    );
    assert_eq!(
        all("main.chart", "result.count", "count"),
        ["main.chart:27 count", "main.chart:34 count"]
    );
    assert_eq!(all("asker.chart", "as said", "said"), ["asker.chart:9 said"]);
    let (id, at) = place(&done, "main.chart", "hit in hits {", "hit");
    assert_eq!(shown(&done, &names::references(&done, id, at, false)), ["main.chart:20 hit"]);
    let (id, at) = place(&done, "main.chart", "\"asker.chart", "asker");
    assert_eq!(names::definition(&done, id, at), [Span::new(file(&done, "asker.chart"), 0, 0)]);
}

#[test]
fn what_is_written_to_is_told_apart() {
    let done = compiled(&files(), "main.chart");
    let (id, at) = place(&done, "main.chart", "last != ", "last");
    let found = names::highlights(&done, id, at);
    let lines: Vec<_> = found
        .iter()
        .map(|one| (done.sources.get(id).position(one.at.start).line, one.is_write))
        .collect();
    assert_eq!(
        lines,
        [(8, true), (9, false), (12, true), (18, false), (19, false), (20, true), (20, false)]
    );
}

/// What renaming `name` among `words` gives.
fn rename(
    files: &Memory,
    root: &str,
    (words, name): (&str, &str),
    new: &str,
) -> Result<Renaming, Refusal> {
    let done = compiled(files, root);
    let (file, at) = place(&done, root, words, name);
    names::rename(&done, file, at, new, &[], files)
}

/// The lines that a rename changes.
fn changed(files: &Memory, root: &str, place: (&str, &str), new: &str) -> Vec<String> {
    let renaming = rename(files, root, place, new).unwrap_or_else(|why| panic!("{why}"));
    let after = applied(files, &renaming);
    let mut lines = Vec::new();
    for (name, text) in &after.0 {
        let pairs = text.lines().zip(files.0[name].lines());
        lines.extend(pairs.filter(|(new, old)| new != old).map(|(new, _)| new.trim().to_owned()));
    }
    lines
}

#[test]
fn a_keyword_is_written_in_back_quotes() {
    let files = Memory::of(
        "a.chart",
        "chart A {\n  event e\n  initial a\n  state a { on e -> b }\n  final b\n  check reaches(b)\n}\n",
    );
    assert_eq!(
        changed(&files, "a.chart", ("final b", "b"), "stay"),
        ["state a { on e -> `stay` }", "final `stay`", "check reaches(`stay`)"]
    );
}

#[test]
fn a_name_that_is_taken_or_captured_is_refused() {
    let files = Memory::of(
        "a.chart",
        "chart A {
  event e
  var n: Int = 0
  var ns: List(Int) = []
  var most: Int = 3
  initial outer
  state outer {
    initial a
    state a { on e -> b { n = len([one for one in ns if one > most]) } }
    state x { on e -> a }
    on e -> x
  }
  state b { }
}
",
    );
    let refused = |place: (&str, &str), new: &str| {
        rename(&files, "a.chart", place, new).expect_err("it is refused")
    };
    // `-> b` in `a` would go to the inner state.
    let why = refused(("state x", "x"), "b");
    assert!(matches!(&why, Refusal::Captures(place) if place.line == 9), "{why:?}");
    let why = refused(("one for", "one"), "most");
    assert!(matches!(&why, Refusal::Captures(place) if place.line == 9), "{why:?}");
    let why = refused(("var n:", "n:"), "most");
    assert!(matches!(&why, Refusal::Breaks(..)), "{why:?}");
    assert_eq!(refused(("var n:", "n:"), "n"), Refusal::Same);
    assert_eq!(refused(("var n:", "n:"), "N"), Refusal::Spelling("lower_snake"));
    assert_eq!(refused(("var n:", "n:"), "n m"), Refusal::Spelling("lower_snake"));
    assert_eq!(refused(("chart A", "A"), "a"), Refusal::Spelling("UpperCamel"));
    assert_eq!(refused(("initial outer", "initial"), "a"), Refusal::NoName);
    assert!(rename(&files, "a.chart", ("state x", "x"), "y").is_ok());
}

#[test]
fn only_whole_texts_are_renamed() {
    let mut files = files();
    let broken = CHILD.replace("initial asking", "initial initial {");
    files.0.insert("asker.chart".to_owned(), broken);
    let why =
        rename(&files, "main.chart", ("Asker(", "Asker"), "Other").expect_err("it is refused");
    assert!(matches!(&why, Refusal::Syntax(place) if place.file == "asker.chart"), "{why:?}");
    let done = compiled(&self::files(), "main.chart");
    let (id, at) = place(&done, "main.chart", "state idle", "idle");
    let why = names::rename(&done, id, at, "calm", &[], &Memory::of("main.chart", TOOLS));
    assert_eq!(why, Err(Refusal::Stale("main.chart".to_owned())));
    let (id, at) = place(&done, "main.chart", "\"asker.chart", "asker");
    assert_eq!(names::prepare_rename(&done, id, at), Err(Refusal::Import));
}

#[test]
fn files_that_were_not_compiled_are_renamed_too() {
    let files = files();
    let done = compiled(&files, "tools.chart");
    let (id, at) = place(&done, "tools.chart", "title: Text", "title");
    let others = ["main.chart".to_owned(), "asker.chart".to_owned()];
    let renaming = names::rename(&done, id, at, "head", &others, &files).expect("it is free");
    let edited: Vec<_> = renaming.edits.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(edited, ["tools.chart", "main.chart"]);
    assert_eq!(renaming.notes, [Note::Outside]);
}

#[test]
fn saved_runs_are_mentioned() {
    let renaming = rename(&files(), "main.chart", ("state busy", "busy"), "working").expect("free");
    assert_eq!(renaming.notes, [Note::Saved]);
}

const AGENT: &str = "id: Guide
workflow:
  state_machine:
    states: [idle, \"busy\", 'over']
    initial_state: idle
    transitions:
    - {from: idle, to: busy}
    - {from: \"busy\", to: over}
  steps:
  - name: judge
    type: transition
    in_state: [idle, busy]
    prompt: \"Answer with one of: idle, over\"
    transition_map:
      idle: busy
      over: over
";

#[test]
fn a_state_of_an_agent_is_renamed_where_it_is_a_state() {
    let files = Memory::of("agent.yaml", AGENT);
    let lines = |place: (&str, &str), new: &str| changed(&files, "agent.yaml", place, new);
    assert_eq!(
        lines(("states: [idle", "idle"), "waiting"),
        [
            "states: [waiting, \"busy\", 'over']",
            "initial_state: waiting",
            "- {from: waiting, to: busy}",
            "in_state: [waiting, busy]"
        ]
    );
    assert_eq!(
        lines(("in_state: [idle, busy", "busy"), "at-work"),
        [
            "states: [idle, \"at-work\", 'over']",
            "- {from: idle, to: at-work}",
            "- {from: \"at-work\", to: over}",
            "in_state: [idle, at-work]",
            "idle: at-work"
        ]
    );
    let why =
        rename(&files, "agent.yaml", ("states: [idle", "idle"), "a: b").expect_err("it is refused");
    assert!(matches!(why, Refusal::Spelling(_)), "{why:?}");
    let why =
        rename(&files, "agent.yaml", ("states: [idle", "idle"), "over").expect_err("it is refused");
    assert!(matches!(why, Refusal::Breaks(..) | Refusal::Captures(_)), "{why:?}");
}

#[test]
fn a_name_with_escapes_is_refused() {
    let text = AGENT.replace("in_state: [idle, busy]", "in_state: [\"\\x69dle\", busy]");
    let files = Memory::of("agent.yaml", &text);
    let why = rename(&files, "agent.yaml", ("states: [idle", "idle"), "waiting")
        .expect_err("it is refused");
    assert!(matches!(&why, Refusal::Unwritten(place) if place.line == 12), "{why:?}");
    assert!(why.to_string().contains("agent.yaml:12"), "{why}");
}

const MACHINE: &str = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" initial=\"idle\" name=\"Door\">
  <state id=\"idle\"><transition event=\"push\" target='open'/></state>
  <state id=\"open\"><transition event=\"push\" cond=\"In('open')\" target=\"idle\"/></state>
</scxml>
";

#[test]
fn a_state_of_a_document_is_renamed_in_its_attributes() {
    let files = Memory::of("door.scxml", MACHINE);
    assert_eq!(
        changed(&files, "door.scxml", ("id=\"open", "open"), "wide-open"),
        [
            "<state id=\"idle\"><transition event=\"push\" target='wide-open'/></state>",
            "<state id=\"wide-open\"><transition event=\"push\" cond=\"In('wide-open')\" target=\"idle\"/></state>"
        ]
    );
    let why =
        rename(&files, "door.scxml", ("id=\"open", "open"), "a\"b").expect_err("it is refused");
    assert!(matches!(why, Refusal::Spelling(_)), "{why:?}");
}
