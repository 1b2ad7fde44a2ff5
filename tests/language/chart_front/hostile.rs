//! Texts that nobody writes: no panic, no overflow, no time without end.

use super::{parse, report};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The one finding of a text: its message and the text that it marks, with its offset.
fn only(text: &str) -> (String, usize) {
    let (_, found) = parse(text);
    assert_eq!(
        found.len(),
        1,
        "{:?}",
        found.iter().map(|d| &d.message).take(5).collect::<Vec<_>>()
    );
    (found[0].message.clone(), found[0].span.start as usize)
}

fn chart(inner: &str) -> String {
    format!("chart C {{\n{inner}\n}}\n")
}

/// Time that this thread has spent computing, where the system tells; else the time that has passed since the first call.
fn spent() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|t| t.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// The least time of a few readings.
fn time(text: &str) -> Duration {
    let one = || {
        let start = spent();
        parse(text);
        spent().saturating_sub(start)
    };
    (0..3).map(|_| one()).min().unwrap_or_default()
}

/// Four times the text takes nearer to four times the time than to sixteen times.
fn grows_linearly(what: &str, size: usize, text: impl Fn(usize) -> String) {
    let (small, large) = (time(&text(size)), time(&text(size * 4)));
    let most = small * 8 + Duration::from_millis(20);
    assert!(large < most, "{what}: {small:?}, then {large:?}");
}

#[test]
fn states_nested_without_end() {
    let open = "state s {".repeat(30_000);
    let (message, at) = only(&format!("chart C {{{open}{}}}", "}".repeat(30_000)));
    assert_eq!(message, "brackets nest deeper than 64");
    assert_eq!(at, "chart C {".len() + "state s {".len() * 64 - 1);
}

#[test]
fn states_nested_as_deep_as_may_be() {
    let text = format!("chart C {{{}{}}}", "state s {".repeat(63), "}".repeat(63));
    assert_eq!(report(&text), "");
}

#[test]
fn parentheses_nested_without_end() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{\"a\":", "}"), ("f(", ")"), ("x[", "]")] {
        let test = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let (message, _) = only(&chart(&format!("when {test} -> a")));
        assert_eq!(message, "brackets nest deeper than 64", "{open}");
    }
}

#[test]
fn parentheses_nested_as_deep_as_may_be() {
    let test = format!("{}1{}", "(".repeat(63), ")".repeat(63));
    assert_eq!(report(&chart(&format!("when {test} -> a"))), "");
}

/// Reads and prints in a thread with a megabyte of stack.
fn in_a_small_thread(text: String) -> String {
    let work = move || {
        let (file, found) = parse(&text);
        assert!(found.is_empty(), "{:?}", found.first().map(|d| &d.message));
        chartc_compiler::syntax::print::print(&file)
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work);
    thread.expect("a thread starts").join().expect("it ends")
}

#[test]
fn a_megabyte_of_stack_is_enough_for_the_deepest_text() {
    let states = format!("chart C {{{}{}}}", "state s {".repeat(63), "}".repeat(63));
    assert!(in_a_small_thread(states).contains("state s"));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{\"a\":", "}"), ("f(", ")"), ("x[", "]"), ("(-", ")")]
    {
        let times = if open.ends_with('-') { 58 } else { 62 };
        let deep = format!("{}1{}", open.repeat(times), close.repeat(times));
        assert!(in_a_small_thread(chart(&format!("when {deep} -> a"))).contains("when"), "{open}");
    }
    for block in ["code c", "enter"] {
        for open in ["if a {", "for x in a {"] {
            let nested = format!("{block} {{ {} x = 1 {} }}", open.repeat(62), "}".repeat(62));
            assert!(in_a_small_thread(chart(&nested)).contains("x = 1"), "{block} {open}");
        }
    }
    let lists = format!("meta {{ a: {}{} }}", "[".repeat(62), "]".repeat(62));
    assert!(in_a_small_thread(chart(&lists)).contains("meta"));
    let types = format!("var x: {}Int{} = 1", "List(".repeat(62), ")".repeat(62));
    assert!(in_a_small_thread(chart(&types)).contains("var"));
    let chain = format!("pred p = {}a", "a ** ".repeat(118));
    assert!(in_a_small_thread(chart(&chain)).contains("**"));
}

#[test]
fn operators_nested_without_brackets() {
    let forms = [
        ("not ".repeat(3_000), "a".to_owned()),
        ("-".repeat(3_000), "a".to_owned()),
        ("a ** ".repeat(3_000), "a".to_owned()),
        ("a ?? ".repeat(3_000), "a".to_owned()),
        ("a + ".repeat(3_000), "a".to_owned()),
        ("a".to_owned(), ".b".repeat(3_000)),
        ("a".to_owned(), "[0]".repeat(3_000)),
        ("if a then b else ".repeat(3_000), "a".to_owned()),
        ("a ** -".repeat(3_000), "a".to_owned()),
    ];
    for (head, tail) in forms {
        let text = chart(&format!("when {head}{tail} -> a"));
        let (_, found) = parse(&text);
        let all: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
        assert!(all.iter().all(|m| *m == "this expression nests deeper than 120"), "{all:?}");
        assert!(!all.is_empty(), "{}", &head[..4.min(head.len())]);
    }
}

#[test]
fn comparisons_chain_without_height() {
    let test = format!("{}a", "a < ".repeat(3_000));
    assert_eq!(report(&chart(&format!("when {test} -> a"))), "");
}

#[test]
fn conditions_in_conditions() {
    let found = report(&chart(&format!("when {}a -> b", "if ".repeat(3_000))));
    assert!(found.contains("expected an expression, found `if`"), "{found}");
}

#[test]
fn else_if_without_end() {
    for block in ["code x", "exit"] {
        let branches = " else if a { }".repeat(2_000);
        let text = chart(&format!("{block} {{ if a {{ }}{branches} }}"));
        let (message, _) = only(&text);
        assert_eq!(message, "more than 64 branches in one `if`");
    }
}

#[test]
fn placeholders_nested_without_end() {
    let (file, found) = parse(&chart(&format!("advice \"{{{}\"", "(".repeat(50_000))));
    assert!(found.is_empty(), "left to the next stage");
    assert_eq!(file.items.len(), 1);
    let text = format!("advice \"{{{}1{}}}\"", "(".repeat(50_000), ")".repeat(50_000));
    let (file, _) = parse(&chart(&text));
    let tree = format!("{file:?}");
    assert!(tree.contains("brackets nest too deep in this placeholder"), "{}", tree.len());
}

#[test]
fn texts_in_texts_without_end() {
    let mut text = "x".to_owned();
    for _ in 0..12 {
        text = format!("{{f(\"{text}\")}}").replace('\\', "\\\\").replace('"', "\\\"");
    }
    let (file, _) = parse(&chart(&format!("advice \"{text}\"")));
    assert!(format!("{file:?}").contains("texts are nested deeper than 8"));
}

#[test]
fn what_is_never_closed_takes_linear_time() {
    grows_linearly("braces", 2_000, |n| format!("chart C {{\n{}", "state a {\n".repeat(n)));
    grows_linearly("braces with lines between", 20, |n| {
        let body = "on e -> f\nwhen ( -> g\n".repeat(n);
        format!("chart C {{\n{}", format!("state a {{\n{body}").repeat(30))
    });
    grows_linearly("parentheses", 400, |n| chart(&"when f(a, b\n".repeat(n)));
    grows_linearly("lines", 400, |n| chart(&"on e ->\n".repeat(n)));
    grows_linearly("texts", 400, |n| chart(&"advice \"go on\n".repeat(n)));
    grows_linearly("prompts", 400, |n| chart(&"llm x { prompt \"\"\" \n".repeat(n)));
}

#[test]
fn stray_braces_take_linear_time() {
    for brace in ["{ ", "} ", "{x ", "{\" ", "{{{", "{a} { ", "{(", "{} "] {
        grows_linearly(brace, 2_000, |n| chart(&format!("advice \"\"\"{}\"\"\"", brace.repeat(n))));
    }
}

#[test]
fn one_long_line_takes_linear_time() {
    grows_linearly("items", 400, |n| format!("chart C {{ {} }}", "on e -> f ".repeat(n)));
    grows_linearly("texts", 400, |n| format!("chart C {{ {} }}", "advice \"{\" ".repeat(n)));
    grows_linearly("blank lines", 400, |n| format!("chart C {{ {} }}", "on e\n\n\n".repeat(n)));
    grows_linearly("comments", 400, |n| chart(&"// a\non e // b\n".repeat(n)));
}

#[test]
fn the_first_hundred_errors_are_enough() {
    let (_, found) = parse(&chart(&"when -> a\n".repeat(1_000)));
    assert_eq!(found.len(), 100);
}

#[test]
fn line_ends_of_other_systems() {
    let text = "// c\r\nchart C {\r\n  /// doc\r\n  state a { // d\r\n    advice \"\"\"\r\n      one\r\n\r\n        two\r\n      \"\"\"\r\n  }\r\n}\r\n";
    let (file, found) = parse(text);
    assert!(found.is_empty());
    let tree = format!("{file:?}");
    assert!(tree.contains(r#"Text("one\n\n  two""#), "{tree}");
    assert!(!tree.contains("\\r"), "{tree}");
}

#[test]
fn bytes_that_nobody_types() {
    assert_eq!(report("\u{feff}chart C { }"), "");
    assert!(report("chart C {\n  state \0 { }\n}").contains("expected a name, found `\0`"));
    assert!(report("chart C {\n  state\u{a0}a { }\n}").contains("expected a name, found"));
    assert_eq!(report(""), "");
    assert_eq!(report("// nothing\n"), "");
}

#[test]
fn pieces_of_charts_never_panic() {
    let whole = include_str!("../../../charts/builder.chart");
    for (at, _) in whole.char_indices().step_by(29) {
        parse(&whole[..at]);
        parse(&whole[at..]);
        parse(&format!("{}{}", &whole[..at], whole.get(at + 3..).unwrap_or_default()));
    }
}
