//! Texts: escapes, indentation, placeholders, and where each stands.

use super::{parse, report};
use chartc::source::Source;
use chartc_compiler::syntax::{ChartItem, Item, StateItem, Template, TemplatePart};

/// The parts of a text as it would be written in a chart: `text`, `{placeholder|format}`, `!what is bad`; after each the source
/// that its span covers.
fn parts(written: &str) -> Vec<String> {
    let text = format!("chart C {{\n    advice {written}\n}}\n");
    let source = Source::new("a.chart", text.as_str());
    let (file, found) = parse(&text);
    assert!(found.is_empty(), "{found:?}");
    let template = advice(&file.items[0].node).expect("a chart with advice");
    assert_eq!(source.slice(template.span), written);
    template
        .parts
        .iter()
        .map(|part| match part {
            TemplatePart::Text(text, span) => format!("{text:?} {:?}", source.slice(*span)),
            TemplatePart::Hole(hole) => {
                let (whole, expr) = (source.slice(hole.span), source.slice(hole.expr.span));
                let (spec, at) = (&hole.spec.node, source.slice(hole.spec.span));
                assert_eq!(spec, at);
                format!("hole {whole:?} {expr:?} {spec:?}")
            }
            TemplatePart::Bad { text, why, span } => {
                format!("bad {text:?} {:?}: {why}", source.slice(*span))
            }
        })
        .collect()
}

fn advice(item: &Item) -> Option<&Template> {
    let Item::Chart(chart) = item else { return None };
    let ChartItem::State(StateItem::Advice(text)) = &chart.items.first()?.node else { return None };
    Some(text)
}

/// The text, if it is nothing else.
fn plain(written: &str) -> String {
    let (file, _) = parse(&format!("chart C {{\n    advice {written}\n}}\n"));
    let parts = advice(&file.items[0].node).map(|t| t.parts.clone()).unwrap_or_default();
    match parts.as_slice() {
        [] => String::new(),
        [TemplatePart::Text(text, _)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn escapes_of_one_line() {
    assert_eq!(plain(r#""a\"b\\c\nd\te\u{e9}{{x}}""#), "a\"b\\c\nd\te\u{e9}{x}");
}

#[test]
fn texts_in_placeholders_of_one_line() {
    let written = r#""a {x ?? "no\"ne"} b""#;
    let hole = r#"{x ?? "no\"ne"}"#;
    let inner = &hole[1..hole.len() - 1];
    assert_eq!(
        parts(written),
        [r#""a " "a ""#.to_owned(), format!("hole {hole:?} {inner:?} \"\""), r#"" b" " b""#.into()]
    );
    let hole = r#"{f("{y ?? "z"}", ["{{"]):>3}"#;
    let inner = r#"f("{y ?? "z"}", ["{{"])"#;
    assert_eq!(parts(&format!("\"{hole}\"")), [format!("hole {hole:?} {inner:?} \">3\"")]);
}

/// A quote that cannot begin an operand ends the text, so a stray brace takes in nothing behind it.
#[test]
fn a_stray_brace_ends_with_its_text() {
    for text in [
        r#"test "a {" for C { expect prompt of s contains "}" }"#,
        r#"client c { stop "{" other "}" }"#,
        r#"chart D { meta { open: "{" close: "}" pattern: "x{2" end: "y}" } initial a state a }"#,
    ] {
        let (_, found) = parse(text);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    let why = "this `{` opens no placeholder: the text ends before its `}`";
    assert_eq!(
        parts(r#""a { b""#),
        [r#""a " "a ""#.to_owned(), format!("bad \"{{\" \"{{\": {why}"), r#"" b" " b""#.to_owned()]
    );
}

#[test]
fn a_block_takes_backslashes_as_they_are() {
    assert_eq!(plain(r#""""C:\new "quoted" {{x}}""""#), r#"C:\new "quoted" {x}"#);
}

#[test]
fn indentation_that_all_lines_share() {
    assert_eq!(
        plain("\"\"\"\n      one\n        two\n\n      three\n      \"\"\""),
        "one\n  two\n\nthree"
    );
}

#[test]
fn the_closing_quotes_count_as_a_line() {
    assert_eq!(plain("\"\"\"\n      one\n    \"\"\""), "  one");
}

#[test]
fn a_block_that_begins_behind_its_quotes() {
    assert_eq!(plain("\"\"\"one\n      two\n      three\"\"\""), "one\ntwo\nthree");
}

#[test]
fn blank_lines_at_the_ends_of_a_block() {
    assert_eq!(plain("\"\"\"\n\n      one\n\n      \"\"\""), "\none\n");
}

#[test]
fn a_block_with_nothing_in_it() {
    assert_eq!(plain("\"\"\"\"\"\""), "");
    assert_eq!(plain("\"\"\"\n    \"\"\""), "");
    assert_eq!(plain("\"\""), "");
}

#[test]
fn tabs_and_blanks_do_not_mix() {
    assert_eq!(plain("\"\"\"\n\t one\n\t  two\n\t \"\"\""), "one\n two");
    assert_eq!(plain("\"\"\"\n\tone\n  two\n\t\"\"\""), "\tone\n  two");
}

#[test]
fn placeholders_have_their_places() {
    assert_eq!(
        parts(r#""a {balance:+.0f} b {x[1].y ?? 2}""#),
        [
            r#""a " "a ""#,
            r#"hole "{balance:+.0f}" "balance" "+.0f""#,
            r#"" b " " b ""#,
            r#"hole "{x[1].y ?? 2}" "x[1].y ?? 2" """#,
        ]
    );
}

#[test]
fn placeholders_of_a_block_have_their_places() {
    assert_eq!(
        parts("\"\"\"\n      a {x}\n      b { y : >3}\n      \"\"\""),
        [
            r#""a " "a ""#,
            r#"hole "{x}" "x" """#,
            r#""\nb " "\n      b ""#,
            r#"hole "{ y : >3}" "y" " >3""#,
        ]
    );
}

#[test]
fn quotes_in_a_placeholder() {
    assert_eq!(
        parts(r#""""{post.text ?? "a } page"} end""""#),
        [
            r#"hole "{post.text ?? \"a } page\"}" "post.text ?? \"a } page\"" """#,
            r#"" end" " end""#
        ]
    );
    assert_eq!(
        parts(r#""{a ?? \"x\\ny\" + b} end""#),
        [r#"hole "{a ?? \\\"x\\\\ny\\\" + b}" "a ?? \\\"x\\\\ny\\\" + b" """#, r#"" end" " end""#]
    );
}

#[test]
fn braces_in_a_placeholder() {
    assert_eq!(parts(r#""""{ {"a": {"b": 1}}["a"]}""""#).len(), 1);
    assert_eq!(parts(r#""{{{x}}}""#), [r#""{" "{{""#, r#"hole "{x}" "x" """#, r#""}" "}}""#]);
}

#[test]
fn what_is_no_placeholder() {
    assert_eq!(
        parts(r#""""a { b } c {"k": 1} {} {x!r} {x y}: {""""#),
        [
            r#""a " "a ""#,
            r#"hole "{ b }" "b" """#,
            r#"" c " " c ""#,
            r#"bad "{\"k\": 1}" "{\"k\": 1}": this placeholder shows no value: doubled braces stand for themselves"#,
            r#"" " " ""#,
            r#"bad "{}" "{}": this placeholder is empty"#,
            r#"" " " ""#,
            r#"bad "{x!r}" "{x!r}": this placeholder cannot be read: expected an operator, found `!`"#,
            r#"" " " ""#,
            r#"bad "{x y}" "{x y}": this placeholder cannot be read: expected an operator, found `y`"#,
            r#"": " ": ""#,
            r#"bad "{" "{": this `{` opens no placeholder: its line has no `}` for it"#,
        ]
    );
}

#[test]
fn literals_and_comments_are_no_placeholders() {
    assert_eq!(
        parts(r#""""{3}{ {"k": 1} }{a // b}{a:%d//%m}""""#),
        [
            r#"bad "{3}" "{3}": this placeholder shows no value: doubled braces stand for themselves"#,
            r#"bad "{ {\"k\": 1} }" "{ {\"k\": 1} }": this placeholder shows no value: doubled braces stand for themselves"#,
            r#"bad "{a // b}" "{a // b}": `//` begins a comment: whole division is `div`"#,
            r#"hole "{a:%d//%m}" "a" "%d//%m""#,
        ]
    );
}

#[test]
fn json_over_several_lines() {
    assert_eq!(
        parts("\"\"\"\n      {\n        \"k\": {x}\n      }\n      \"\"\""),
        [
            r#"bad "{" "{": this `{` opens no placeholder: its line has no `}` for it"#,
            r#""\n  \"k\": " "\n        \"k\": ""#,
            r#"hole "{x}" "x" """#,
            r#""\n" "\n""#,
            r#"bad "}" "}": this `}` closes no placeholder"#,
        ]
    );
}

#[test]
fn braces_behind_one_that_stays_open() {
    assert_eq!(
        parts(r#""a { b {x} } {y}""#),
        [
            r#""a " "a ""#,
            r#"bad "{ b {x} }" "{ b {x} }": this placeholder cannot be read: expected an operator, found `{`"#,
            r#"" " " ""#,
            r#"hole "{y}" "y" """#,
        ]
    );
    assert_eq!(
        parts(r#""a { b {x} { {y}""#),
        [
            r#""a " "a ""#,
            r#"bad "{" "{": this `{` opens no placeholder: the text ends before its `}`"#,
            r#"" b " " b ""#,
            r#"hole "{x}" "x" """#,
            r#"" " " ""#,
            r#"bad "{" "{": this `{` opens no placeholder: the text ends before its `}`"#,
            r#"" " " ""#,
            r#"hole "{y}" "y" """#,
        ]
    );
}

/// Comments, tabs, carriage returns and marks of byte order are as good as spaces between any two tokens.
#[test]
fn blanks_of_all_kinds() {
    let spaced = "    chart    C    {    var    `a//b`    :    Text    =    \"//    \\t\"\n    state    s    {    \
        on    e    (    x    )    if    not    x    in    [    1    ,    - 2    ]    and    x    not    in    P    {    q    :    1    }    \
        ->    t    reenter    {    y    =    f    (    x    )    }    }    final    t    }\n";
    let kinds = ["\t\t\t\t", " \r  ", " \r\n ", "\u{feff} ", "//c\n", "// \n"];
    // What stands in back-quotes and quotes stays as it is.
    let text = spaced.find("\"//").map(|at| at..at + "\"//    \\t\"".len()).expect("it is there");
    let plain = parse(spaced);
    assert!(plain.1.is_empty(), "{}", report(spaced));
    for kind in kinds {
        let between = |part: &str| part.replace("    ", kind);
        let other =
            [&between(&spaced[..text.start]), &spaced[text.clone()], &between(&spaced[text.end..])];
        let other = other.concat();
        let (file, found) = parse(&other);
        assert!(found.is_empty(), "{kind:?}: {}", report(&other));
        if matches!(kind, "\t\t\t\t" | " \r  ") {
            assert_eq!(format!("{:?}", file.items), format!("{:?}", plain.0.items), "{kind:?}");
        }
    }
}

/// As between all other words.
#[test]
fn a_comment_between_not_and_in() {
    for gap in [" ", "\n\t", " // why\n", "\u{feff} "] {
        let text = format!("chart C {{\n  pred p = 1 not{gap}in [2]\n}}\n");
        assert_eq!(report(&text), "");
    }
    let text = "chart C {\n  pred p = 1 not // why\n}\n";
    assert!(
        report(text).starts_with("2:14: expected an operator, found `not`\n"),
        "{}",
        report(text)
    );
}

/// `name` looks for reserved words only behind some first letters.
#[test]
fn every_reserved_word_is_no_name() {
    let grammar = include_str!("../../../grammar/expression.pest");
    let rule = grammar.split("\nreserved = _{").nth(1).and_then(|rest| rest.split('}').next());
    let words = rule.expect("there are reserved words").split('"').skip(1).step_by(2);
    assert!(words.clone().count() > 10);
    for word in words {
        let text = format!("chart C {{\n  state {word} {{ }}\n}}\n");
        let told = report(&text);
        let wanted = format!("2:9: expected a name, found `{word}`\n");
        assert!(told.starts_with(&wanted), "{told}");
    }
}
