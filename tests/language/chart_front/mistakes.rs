//! What people get wrong, and what they are told.

use super::report;

/// What people get wrong, one to a text.
const MISTAKES: &[(&str, &str)] = &[
    ("a word that begins nothing", "chart C {\n  initial a\n  stat a { }\n}"),
    (
        "several words that begin nothing",
        "chart C {\n  fn f() -> Int from shop \"price\"\n  state a {\n    llm x {\n      tool shop\n      promt \"Say: \\\"onn\\\"\"\n      \
         timout 30s { retrys 3 }\n      retrys 3 // done\n    }\n    onn go -> b\n    nothing alike\n    whne x -> b\n  }\n}",
    ),
    ("a state without a name", "chart C {\n  state { }\n  state b { }\n}"),
    ("a reserved word for a name", "chart C {\n  state turn { }\n}"),
    ("a name in the wrong spelling", "chart builder {\n  state Idle { }\n}"),
    ("an arrow without a target", "chart C {\n  on e ->\n  state b\n}"),
    (
        "letters of other scripts",
        "chart C {\n  initial café\n  state café { on go -> p\u{430}id if x == naïve }\n}",
    ),
    ("a fat arrow", "chart C {\n  on e => b\n  state b\n}"),
    ("an assignment for a comparison", "chart C {\n  when x = 1 -> b\n  state b\n}"),
    (
        "operators of other languages",
        "chart C {\n  when a && b -> c\n  when a || b -> c\n  when !a -> c\n}",
    ),
    ("a variable without a type", "chart C {\n  var x = 1\n  var y: Int = 2\n}"),
    (
        "a declaration in a state",
        "chart C {\n  state a {\n    var x: Int = 1\n    on e -> b\n  }\n}",
    ),
    ("a line outside the chart", "chart C {\n  state a { }\n  }\n  state b { }\n}\n"),
    ("a brace that is missing", "chart C {\n  state a {\n    on e -> b\n  state b { }\n}\n"),
    ("a text that is not closed", "chart C {\n  state a { advice \"go on }\n  state b { }\n}"),
    (
        "a prompt that is not closed",
        "chart C {\n  state a {\n    llm x { prompt \"\"\"\n      Go on.\n    }\n  }\n}",
    ),
    ("a missing parenthesis", "chart C {\n  when max(a, b > 3 -> c\n  state c\n}"),
    ("a unit that is none", "chart C {\n  after 30sec -> b\n  state b\n}"),
    ("an ask without its event", "chart C {\n  ask x else stay { prompt \"?\" }\n}"),
    (
        "a client behind the event",
        "chart C {\n  ask x on turn with c else stay { prompt \"?\" }\n}",
    ),
    (
        "a name for the error of a step",
        "chart C {\n  llm x { prompt \"Go\" error as why -> b }\n  state b\n}",
    ),
    ("a step's line in the state", "chart C {\n  state a {\n    llm x\n    prompt \"Go\"\n  }\n}"),
    ("a line in a step", "chart C {\n  llm x {\n    prompt \"Go\"\n    on e -> b\n  }\n}"),
    ("an action that is none", "chart C {\n  enter { x == 1 }\n  exit { log 3 }\n}"),
    (
        "several errors in one file",
        "chart C {\n  var a Int\n  state b {\n    on -> c\n    when -> d\n    llm e { prompt 3 }\n  }\n  check reaches()\n  check reaches(b c d)\n}",
    ),
    ("a comment of another language", "chart C {\n  # a comment\n  state b\n}"),
    ("a string in single quotes", "chart C {\n  advice 'go'\n}"),
    ("curly quotes", "chart C {\n  advice “go”\n}"),
    ("a semicolon", "chart C {\n  initial a;\n  state a { }\n}"),
    ("actions in commas", "chart C {\n  enter { x = 1, y = 2; z = 3 }\n}"),
    ("a setting with a colon", "client c { model \"a:b\" retry: 1 }"),
    ("an action before its condition", "chart C {\n  enter { x = 1 if y else 2 }\n}"),
    ("a branch without braces", "chart C {\n  enter { if x y = 1 }\n}"),
    ("an assignment that adds", "chart C {\n  enter { seen += 1 }\n}"),
    ("a number that is too large", "chart C {\n  var x: Int = 99999999999999999999\n}"),
    ("an escape that is none", "chart C {\n  advice \"a\\d\"\n}"),
    ("text at the end of a line", "chart C {\n  on e -> b please\n  state b\n}"),
    ("two question marks", "chart C {\n  var x: Int?? = none\n  var y: List = []\n}"),
    ("a field without a comma", "chart C {\n  fn f(a: Int b: Int) -> Int\n}"),
    ("a method without its name", "chart C {\n  fn f() -> Int from \"shop\"\n  state a\n}"),
    ("an effect with a method", "chart C {\n  do f() from \"shop\" \"sell\"\n  state a\n}"),
    ("code that calls", "chart C {\n  code x {\n    y = 1\n    f(y)\n    z = 2\n  }\n}"),
    ("a limit without a number", "chart C {\n  limits { calls turns 20 }\n}"),
    ("a client in commas", "client c { model: \"a:b\", retry: 1 }"),
    (
        "a history without its default",
        "chart C {\n  state a {\n    history h\n    history d deep\n  }\n}",
    ),
    ("a `from` with a state", "chart C {\n  from * {\n    state x { }\n    on e -> x\n  }\n}"),
];

#[test]
fn mistakes() {
    let mut out = String::new();
    for (name, text) in MISTAKES {
        let found = report(text);
        assert!(!found.is_empty(), "{name}: nothing was found in\n{text}");
        out.push_str(&format!("## {name}\n{found}\n"));
    }
    insta::assert_snapshot!(out);
}
