//! What a check makes of several charts and files.

use chartc::Compilation;
use chartc::load::Memory;
use std::collections::BTreeMap;

fn check(files: &[(&str, &str)]) -> Compilation {
    let texts: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    chartc::check(&[files[0].0.to_owned()], &Memory(texts))
}

/// Names of the charts without errors.
fn sound(done: &Compilation) -> Vec<&str> {
    done.charts.iter().map(|c| c.chart().name.as_str()).collect()
}

fn codes(done: &Compilation) -> Vec<&str> {
    done.diagnostics.iter().map(|d| d.rule.code).collect()
}

const GOOD: &str = "chart Good { initial a  state a { on turn -> b }  final b }\n";
const BAD: &str = "chart Bad { initial a  state a { on turn -> c }  final b }\n";

#[test]
fn fault_of_one_chart_leaves_the_others() {
    let done = check(&[("a.chart", &format!("{GOOD}{BAD}chart Third {{ initial a  final a }}\n"))]);
    assert_eq!(sound(&done), ["Good", "Third"]);
    assert_eq!(codes(&done), ["C0102"]);
}

#[test]
fn fault_beside_the_charts_is_of_all() {
    let done = check(&[("a.chart", &format!("{GOOD}type T {{ a: Nothing }}\n{GOOD}"))]);
    assert!(sound(&done).is_empty());
}

#[test]
fn fault_of_an_import_is_of_the_importer_unless_it_is_in_a_chart() {
    let main = format!("import \"b.chart\"\n{GOOD}");
    let done = check(&[("a.chart", &main), ("b.chart", "type T { a: Nothing }\n")]);
    assert!(sound(&done).is_empty());
    let unclosed = "chart Open { initial a  state a {\n";
    let done = check(&[("a.chart", &main), ("b.chart", unclosed)]);
    assert!(sound(&done).is_empty(), "it is not known where the chart ends");
}

#[test]
fn what_a_misspelt_word_declares_is_not_told_of() {
    let text = "chart C {\n  evnt go\n  vra n: Int = 0\n  initial b\n  stat b { on go if n > 0 -> c }\n  state c { on go -> b  on g -> b }\n  final e\n}\n";
    let told = |text: &str| {
        let done = check(&[("a.chart", text)]);
        let told = |d: &chartc::diagnostic::Diagnostic| {
            let source = done.sources.get(d.span.file);
            format!(
                "{} {} {}",
                source.position(d.span.start).line,
                d.rule.code,
                source.slice(d.span)
            )
        };
        (done.diagnostics.iter().map(told).collect::<Vec<_>>(), sound(&done).len())
    };
    let own = ["2 C0001 evnt", "3 C0001 vra", "5 C0001 stat", "6 C0102 g"].map(str::to_owned);
    assert_eq!(told(text), (own.to_vec(), 0));
    // Another chart does not know the names, spelt well or not.
    let (all, sound) = told(&format!("{text}{}", BAD.replace("-> c", "-> e")));
    assert_eq!(
        (all[..4].to_vec(), all[4..].to_vec(), sound),
        (own.to_vec(), vec!["9 C0102 e".to_owned()], 0)
    );
    let (all, sound) = told(&format!("{text}{BAD}", BAD = BAD.replace("-> c", "-> b  on go -> b")));
    assert_eq!((all.last().map(String::as_str), sound), (Some("9 C0102 go"), 0));
}

#[test]
fn chart_that_is_declared_twice() {
    let done = check(&[("a.chart", &format!("{GOOD}{GOOD}"))]);
    assert_eq!(sound(&done), ["Good"]);
    assert_eq!(codes(&done), ["C0103"]);
}

#[test]
fn files_without_anything() {
    for (name, text) in [
        ("a.chart", ""),
        ("a.chart", "\n// later\n/// much later\n"),
        ("agent.yaml", ""),
        ("agent.yaml", "# later\n---\n"),
        ("<stdin>", " \n"),
    ] {
        assert_eq!(codes(&check(&[(name, text)])), ["C0007"], "{name}: {text:?}");
    }
    let importing = format!("import \"b.chart\"\n{GOOD}");
    let done = check(&[("a.chart", &importing), ("b.chart", "// nothing yet\n")]);
    assert_eq!(codes(&done), ["C0007"]);
    assert_eq!(sound(&done), ["Good"]);
}

#[test]
fn faulty_files_are_not_called_empty() {
    for (name, text) in [("a.chart", "}"), ("agent.yaml", "- a"), ("agent.yaml", "a: [")] {
        let done = check(&[(name, text)]);
        assert!(!codes(&done).contains(&"C0007"), "{name}: {text:?}");
        assert!(!codes(&done).is_empty(), "{name}: {text:?}");
    }
}

/// Lines of an action block, each with the comment that is taken for a division, if one is.
#[test]
fn comments_that_read_like_divisors() {
    for (line, lost) in [
        ("x = n // 2", true),
        ("x = n + 1 // 2", true),
        ("x = (n + 1) // 2", true),
        ("x = max(n, 1) // max(x, 1)", true),
        ("x = n // x", true),
        ("x = n // x + 1", true),
        ("x = n // (x)", true),
        ("x = 10 // 3", true),
        ("x = n //2", true),
        ("x = 0 // n", false),
        ("x = n // half", false),
        ("x = n // not used", false),
        ("x = n // see below", false),
        ("x = n // 2 at least", false),
        ("x = n // reset(now)", false),
        ("x = n // (half of it)", false),
        ("x = n // a.b", false),
        ("x = n // \"two\"", false),
        ("x = n // x?", false),
        ("x = n // 2.", false),
        ("x = n /// 2", false),
        ("x = n\n// 2", false),
        ("t = \"n\" // 2", false),
        ("log \"n\" // 2", false),
        ("x = n div 2 // 3rd part", false),
    ] {
        let text = format!(
            "chart A {{\n  input n: Int = 0\n  var x: Int = 0\n  var t: Text = \"\"\n  initial a\n  \
             state a {{ on turn {{\n{line}\n}} }}\n}}\n"
        );
        let done = check(&[("a.chart", &text)]);
        let expected: &[&str] = if lost { &["C0008"] } else { &[] };
        // Not every line uses all that is declared.
        let found: Vec<&str> = codes(&done).into_iter().filter(|c| *c != "C0411").collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn check_lines_are_decided_in_each_chart_whatever_is_wrong_elsewhere() {
    let wrong = |name: &str| {
        format!(
            "chart {name} {{ event go  initial a  state a {{ on go -> b }}  final b  check never(a before b) }}\n"
        )
    };
    let both = format!("{}{BAD}{}", wrong("One"), wrong("Other"));
    assert_eq!(codes(&check(&[("a.chart", &both)])), ["C0390", "C0102", "C0390"]);
    let texts = [("a.chart", wrong("One")), ("b.chart", wrong("Other"))];
    let texts: BTreeMap<String, String> = texts.map(|(name, text)| (name.to_owned(), text)).into();
    let paths: Vec<String> = texts.keys().cloned().collect();
    assert_eq!(codes(&chartc::check(&paths, &Memory(texts))), ["C0390", "C0390"]);
}

#[test]
fn a_client_beside_charts_that_none_uses() {
    let clients =
        "client cheap { model \"ollama:mistral\" }\nclient dear { model \"ollama:big\" }\n";
    let chart = |used: &str| {
        format!(
            "chart A {{ initial a  state a {{ llm x with dear {{ prompt \"Plan.\" }} -> b  \
             llm y with {used} {{ prompt \"Do.\" }} -> b }}  final b }}\n"
        )
    };
    let unused = |done: &Compilation| -> Vec<String> {
        let all = done.diagnostics.iter().filter(|d| d.rule.code == "C0411");
        all.map(|d| d.message.clone()).collect()
    };
    let (one, both) = (chart("dear"), chart("cheap"));
    let done = check(&[("a.chart", &format!("{clients}{one}"))]);
    assert_eq!(unused(&done), ["nothing uses the client `cheap`"]);
    let done = check(&[("a.chart", &format!("{clients}{both}"))]);
    assert_eq!(unused(&done), [""; 0]);
    // What is imported may be there for others.
    let done = check(&[("a.chart", &format!("import \"b.chart\"\n{one}")), ("b.chart", clients)]);
    assert_eq!(unused(&done), [""; 0]);
}
