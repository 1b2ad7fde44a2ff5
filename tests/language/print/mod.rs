//! Printed charts: they read back as the same syntax, and print as themselves.

use crate::chart_front::{agents, charts, design};
use chartc::source::Source;
use chartc_compiler::front;
use chartc_compiler::syntax::print::print;
use chartc_compiler::syntax::source::{FileId, Ident, Span, Spanned};
use chartc_compiler::syntax::{
    self, BinaryOp, CompareOp, Entry, Expr, ExprKind, Hole, Template, TemplatePart, UnaryOp,
};
use proptest::prelude::*;

fn parse(text: &str) -> syntax::File {
    let mut found = Vec::new();
    let file = front::parse(FileId(0), &Source::new("a.chart", text), &mut found);
    let found: Vec<_> = found.iter().map(|d| (&d.message, d.span.start)).collect();
    assert!(found.is_empty(), "{found:?} in\n{text}");
    file
}

/// The tree without its spans.
fn shape(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut parts = text.split("Span { file: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

/// The text of a file that reads back as it was and prints as itself.
fn stable(text: &str) -> String {
    let file = parse(text);
    let printed = print(&file);
    let again = parse(&printed);
    assert_eq!(shape(&again), shape(&file), "printed\n{printed}");
    assert_eq!(print(&again), printed);
    printed
}

/// What a chart with these lines prints as, the lines alone.
fn lines(text: &str) -> String {
    let printed = stable(&format!("chart C {{\n{text}\n}}\n"));
    let inner = printed.lines().skip(1).filter(|l| *l != "}");
    inner.map(|l| l.strip_prefix("  ").unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

#[test]
fn shipped_charts_and_those_of_the_design() {
    for path in charts() {
        stable(&std::fs::read_to_string(&path).expect("a chart can be read"));
    }
    for text in design() {
        stable(&text);
    }
}

#[test]
fn stray_braces_on_lines_with_a_carriage_return() {
    for text in [
        "a {b\rc\nd} e",
        "{b\r\r\nc}",
        "{\r\r\n}\r",
        "\r\r\n{\n}\r\r\n",
        "\n\"{\r \n \r}\"\n",
        "={a~b\r\nc}\r",
    ] {
        stable(&format!("chart C {{ state s {{ llm l {{ prompt \"\"\"{text}\"\"\" }} }} }}\n"));
    }
    let whole = print(&parse("chart C { state s { llm l { prompt \"\"\"a\rb\n\"\"\" } } }\n"));
    assert!(whole.contains("\"a\\rb\""), "{whole}");
}

#[test]
fn shipped_charts_are_formatted() {
    for path in charts() {
        let text = std::fs::read_to_string(&path).expect("a chart can be read");
        assert_eq!(print(&parse(&text)), text, "chartc fmt {}", path.display());
    }
}

#[test]
fn options_stand_below_each_other() {
    assert_eq!(
        lines(
            "may a \"x\" -> b\nmay longer \"xyz\" if c -> d // e\nmay call s -> b\nmay f\n\nmay g \"x\" -> b"
        ),
        "may a      \"x\"        -> b\nmay longer \"xyz\" if c -> d  // e\nmay call s            -> b\nmay f\n\nmay g \"x\" -> b"
    );
    // Where that is too wide, a text may reach into the column of the conditions; a condition may not reach into that of the texts.
    let (long, name) = ("y".repeat(60), "z".repeat(60));
    assert_eq!(
        lines(&format!("may a \"{long}\" -> b\nmay longer \"x\" if {name} -> c")),
        format!("may a      \"{long}\"      -> b\nmay longer \"x\" if {name} -> c")
    );
    let text = format!("may a \"{long}\" if b -> b\nmay longer \"x\" if {name} -> c");
    assert_eq!(lines(&text), text);
}

/// A comment before any line is still there when the chart is printed.
#[test]
fn no_comment_is_lost() {
    let whole = include_str!("everything.chart");
    let all: Vec<&str> = whole.lines().collect();
    for at in 0..all.len() {
        let mut lines = all.clone();
        let longer = format!("{} // kept", lines[at]);
        if at % 2 == 0 {
            lines.insert(at, "// kept");
        } else {
            lines[at] = &longer;
        }
        let text = lines.join("\n");
        let mut found = Vec::new();
        let file = front::parse(FileId(0), &Source::new("a.chart", text.as_str()), &mut found);
        assert!(found.is_empty(), "{text}");
        let printed = print(&file);
        let count = |text: &str| text.matches("// kept").count();
        assert_eq!(count(&printed), count(&text), "{at}: {printed}");
    }
}

#[test]
fn everything() {
    insta::assert_snapshot!(stable(include_str!("everything.chart")));
}

/// What another front end makes is printed as a chart that reads back.
#[test]
fn agents_as_charts() {
    for (name, text) in agents() {
        let mut found = Vec::new();
        let source = Source::new("agent.yaml", text);
        let mut file = chartc_compiler::front::parse(FileId(0), &source, &mut found);
        // Only an agent says of its states where they are meant without a line.
        file.followed.clear();
        // What an agent may name without a word about it, a chart declares or does not have.
        for noted in &mut file.items {
            if let syntax::Item::Chart(chart) = &mut noted.node {
                chart.supplied.clear();
            }
        }
        let printed = print(&file);
        let again = parse(&printed);
        assert_eq!(print(&again), printed, "{name}");
        assert_eq!(but_reasons(&again), but_reasons(&file), "{name} printed\n{printed}");
    }
}

/// Each front end has its own words for why a brace is no placeholder.
fn but_reasons(tree: &impl std::fmt::Debug) -> String {
    let text = shape(tree);
    let mut parts = text.split(", why: \"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once("\", span").map_or("", |(_, rest)| rest));
    }
    out
}

#[test]
fn names_that_need_quotes() {
    assert_eq!(
        lines("state `turn` {\n  state `Idle`\n  state `a b`\n  on go -> `Idle`, `plain`\n}"),
        "state `turn` {\n  state Idle\n  state `a b`\n  on go -> Idle, plain\n}"
    );
    assert_eq!(lines(r"state `a\`b\\c\u{7d}`"), r"state `a\`b\\c\u{7d}`");
    assert_eq!(lines("may `call`\nmay call x"), "may `call`\nmay call x");
    assert_eq!(lines("on `done`(x)\non done(x)"), "on `done`(x)\non done(x)");
}

#[test]
fn operators_keep_their_parentheses() {
    for test in [
        "(a or b) and c",
        "a or b and c",
        "not (a and b)",
        "not a and b",
        "(not a) == b",
        "(a < b) == c",
        "a < b == c",
        "a - (b - c) - d",
        "a ** b ** c",
        "(a ** b) ** c",
        "(-a) ** b",
        "-a ** -b",
        "--a",
        "(a ?? b) ?? c",
        "a ?? b ?? c + 1",
        "(a + b).c[d][e:][:f][:]",
        "(if a then b else c) + 1",
        "if (if a then b else c) then (if d then e else f) else if g then h else i",
        "a in b and a not in c",
        "a div b % c / d",
        "[x for x in xs if x] == [] and {} == {\"a\": {\"b\": 1}}",
        "E.a == e.a and is_a(x, \"int\") and in(s.t)",
        "[x + y for x in xs if x for y in f(x) if y for z in [[y] for y in z]]",
        "1_000 + 50_000 - 1_234_567 > 1000 and 5 > 0",
        "1.5e300 > 0.1 and 250ms < 90s and 2h > 60s and 9223372036854775807 > 0",
    ] {
        assert_eq!(lines(&format!("pred p = {test}")), format!("pred p = {test}"));
    }
}

#[test]
fn texts_in_placeholders_keep_plain_quotes() {
    for text in [
        r#""{x ?? "none"}""#,
        r#""{if x == "a" then "b" else f("{c ?? "d"}")} {{}} \"{m["k"]}\"""#,
        r#""{join(xs, ", "):>10} {"- " + x}""#,
        r#""{{\"a\": {x ?? "}"}}}""#,
        r#""""a {f("b {f("\"")}")}""""#,
    ] {
        assert_eq!(lines(&format!("advice {text}")), format!("advice {text}"));
    }
    // The quotes of earlier versions are read, and printed as plain ones.
    assert_eq!(
        lines(r#"advice "{x ?? \"none\"} {f(\"{y ?? \\\"z\\\"}\")}""#),
        r#"advice "{x ?? "none"} {f("{y ?? "z"}")}""#
    );
}

#[test]
fn a_name_before_an_empty_block_is_no_record() {
    assert_eq!(
        lines("when `Idle` { }\nwhen x == P { } { }"),
        "when `Idle` { }\nwhen x == P { } { }"
    );
}

#[test]
fn what_is_no_placeholder_is_printed_as_written() {
    let text = "chart C {\n  advice \"a { b {x y} }} {{\"\n  advice \"\"\"\n    {\n      \"k\": {x!r}\n    }\n    \"\"\"\n}\n";
    let file = parse(text);
    let printed = print(&file);
    assert_eq!(shape(&parse(&printed)), shape(&file), "{printed}");
    assert!(printed.contains("{x y}") && printed.contains("{x!r}"), "{printed}");
}

#[test]
fn what_could_not_be_read_is_found_again() {
    let printed = print(&predicate(boxed(ExprKind::Bad)));
    let mut found = Vec::new();
    let source = Source::new("a.chart", printed.as_str());
    let again = front::parse(FileId(0), &source, &mut found);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "an expression is missing here");
    assert_eq!(print(&again), printed);
}

#[test]
fn a_text_that_a_block_cannot_carry() {
    let block = |text: &str| {
        let span = Span::default();
        let parts = vec![TemplatePart::Text(text.to_owned(), span)];
        let text = Template { parts, span, block: true };
        let expr = Expr { kind: ExprKind::Text(text), span };
        print(&predicate(expr)).lines().skip(1).take(3).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(block("a\"\"\"b"), "  pred p = \"a\\\"\\\"\\\"b\"\n}");
    assert_eq!(block("a\r\nb"), "  pred p = \"a\\r\\nb\"\n}");
    assert_eq!(block("a\"b"), "  pred p = \"\"\"a\"b\"\"\"\n}");
    assert_eq!(block("say \"b\""), "  pred p = \"\"\"\n    say \"b\"\n    \"\"\"");
}

/// A chart with one predicate.
fn predicate(expr: Expr) -> syntax::File {
    let span = Span::default();
    let noted =
        |node| syntax::Noted { trivia: syntax::Trivia::default(), doc: String::new(), node, span };
    let name = |name: &str| Ident::new(name.to_owned(), span);
    let predicate = syntax::Predicate { name: name("p"), expr };
    let chart = syntax::Chart {
        name: name("C"),
        renamed: Vec::new(),
        items: vec![syntax::Noted {
            trivia: syntax::Trivia::default(),
            doc: String::new(),
            node: syntax::ChartItem::Predicate(predicate),
            span,
        }],
        end: Vec::new(),
        supplied: Vec::new(),
    };
    syntax::File { items: vec![noted(syntax::Item::Chart(chart))], ..syntax::File::new(FileId(0)) }
}

fn name() -> impl Strategy<Value = String> {
    const ODD: &[&str] = &["turn", "Idle", "a b", "x`y", "in\"{", "état", "call", "\\"];
    prop_oneof![4 => "[a-c]{1,3}", 1 => proptest::sample::select(ODD).prop_map(str::to_owned)]
}

fn ident() -> impl Strategy<Value = Ident> {
    name().prop_map(|name| Ident::new(name, Span::default()))
}

/// Texts with all that matters to a printer.
fn text() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a", " ", "  b", "\n", "\n\n", "\"", "\"\"\"", "{", "}", "{x}", "\\", "\\n", "\t", "\r",
        "é", "//", "`", "\u{7}",
    ];
    proptest::collection::vec(proptest::sample::select(PIECES), 1..8).prop_map(|p| p.concat())
}

fn boxed(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn template(holes: impl Strategy<Value = Expr>) -> impl Strategy<Value = Template> {
    let spec = proptest::sample::select(&["", ".0f", " >3", "%H:%M"][..]);
    let hole = (holes, spec).prop_map(|(expr, spec)| {
        // A literal alone is no placeholder.
        let expr =
            boxed(ExprKind::Field(Box::new(expr), Ident::new("f".to_owned(), Span::default())));
        let spec = Spanned::new(spec.to_owned(), Span::default());
        TemplatePart::Hole(Box::new(Hole { expr, spec, span: Span::default() }))
    });
    let part = (text(), proptest::option::of(hole)).prop_map(|(text, hole)| {
        std::iter::once(TemplatePart::Text(text, Span::default())).chain(hole).collect::<Vec<_>>()
    });
    (part, any::<bool>()).prop_map(|(parts, block)| Template {
        parts,
        span: Span::default(),
        block,
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let literal = prop_oneof![
        Just(ExprKind::None),
        any::<bool>().prop_map(ExprKind::Bool),
        (0..=i64::MAX).prop_map(ExprKind::Int),
        (1_000..=i64::MAX).prop_map(ExprKind::GroupedInt),
        (0.0..1e300).prop_map(ExprKind::Float),
        (0..10_000_000_u64).prop_map(ExprKind::Duration),
        name().prop_map(ExprKind::Name),
        text().prop_map(|text| ExprKind::Text(Template {
            parts: vec![TemplatePart::Text(text, Span::default())],
            span: Span::default(),
            block: false,
        })),
    ]
    .prop_map(boxed);
    literal.prop_recursive(5, 40, 3, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let many = proptest::collection::vec(inner.clone(), 0..3);
        let unary = proptest::sample::select(&[UnaryOp::Not, UnaryOp::Negate][..]);
        let binary = proptest::sample::select(
            &[
                BinaryOp::And,
                BinaryOp::Or,
                BinaryOp::Add,
                BinaryOp::Subtract,
                BinaryOp::Multiply,
                BinaryOp::Divide,
                BinaryOp::FloorDivide,
                BinaryOp::Modulo,
                BinaryOp::Power,
            ][..],
        );
        let compare = proptest::sample::select(
            &[CompareOp::Equal, CompareOp::Less, CompareOp::In, CompareOp::NotIn][..],
        );
        let option = || proptest::option::of(one.clone());
        let record = proptest::sample::select(&["Post", "odd"][..]);
        prop_oneof![
            (one.clone(), ident()).prop_map(|(of, f)| ExprKind::Field(of, f)),
            (one.clone(), one.clone()).prop_map(|(of, i)| ExprKind::Index(of, i)),
            (one.clone(), option(), option()).prop_map(|(of, a, b)| ExprKind::Slice(of, a, b)),
            (ident(), many.clone()).prop_map(|(f, a)| ExprKind::Call(f, a)),
            (unary, one.clone()).prop_map(|(op, of)| ExprKind::Unary(op, of)),
            (binary, one.clone(), one.clone()).prop_map(|(op, a, b)| ExprKind::Binary(op, a, b)),
            (one.clone(), proptest::collection::vec((compare, inner.clone()), 1..3))
                .prop_map(|(a, rest)| ExprKind::Compare(a, rest)),
            (one.clone(), one.clone(), one.clone()).prop_map(|(a, b, c)| ExprKind::If(a, b, c)),
            (one.clone(), one.clone()).prop_map(|(a, b)| ExprKind::Default(a, b)),
            many.clone().prop_map(ExprKind::List),
            proptest::collection::vec((inner.clone(), inner.clone()), 0..3).prop_map(|all| {
                ExprKind::Map(all.into_iter().map(|(key, value)| Entry { key, value }).collect())
            }),
            (record, proptest::collection::vec((ident(), inner.clone()), 1..3))
                .prop_map(|(r, f)| ExprKind::Record(Ident::new(r.to_owned(), Span::default()), f)),
            (one.clone(), ident(), one.clone(), option()).prop_map(
                |(item, name, source, filter)| {
                    ExprKind::Comprehension { item, name, source, filter }
                }
            ),
            proptest::collection::vec((ident(), one.clone(), option()), 2..4)
                .prop_flat_map(move |sources| inner_of(one.clone(), sources)),
            template(inner.clone()).prop_map(ExprKind::Text),
        ]
        .prop_map(boxed)
    })
}

/// A comprehension over several sources, the outermost first.
fn inner_of(
    item: impl Strategy<Value = Box<Expr>>,
    sources: Vec<(Ident, Box<Expr>, Option<Box<Expr>>)>,
) -> impl Strategy<Value = ExprKind> {
    item.prop_map(move |item| {
        let mut kind = item.kind;
        for (nth, (name, source, filter)) in sources.iter().cloned().rev().enumerate() {
            kind = ExprKind::Comprehension { item: Box::new(boxed(kind)), name, source, filter };
            if nth > 0 {
                kind = ExprKind::Flattened(Box::new(boxed(kind)));
            }
        }
        kind
    })
}

/// Whether a text is a block is a matter of what it can carry, and of where it stands.
fn shape_but_blocks(tree: &impl std::fmt::Debug) -> String {
    shape(tree).replace("block: true", "block: false")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_expression(expr in expr()) {
        let file = predicate(expr);
        let printed = print(&file);
        let mut found = Vec::new();
        let source = Source::new("a.chart", printed.as_str());
        let again = front::parse(FileId(0), &source, &mut found);
        prop_assert!(found.is_empty(), "{:?} in\n{}", found.first().map(|d| &d.message), printed);
        prop_assert_eq!(shape_but_blocks(&again), shape_but_blocks(&file), "printed\n{}", printed);
        prop_assert_eq!(print(&again), print(&parse(&print(&again))));
    }
}
