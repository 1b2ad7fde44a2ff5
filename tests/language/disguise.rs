//! Names and texts that are not what they look like.

use chartc::check;
use chartc::load::Memory;
use chartc::report::short;
use chartc_core::visible;

/// The findings about disguise in a file, each as `line:column code message`.
fn found(path: &str, text: &str) -> Vec<String> {
    let mut done = check(&[path.to_owned()], &Memory::of(path, text));
    done.diagnostics.retain(|d| ["C0011", "C0012"].contains(&d.rule.code));
    let text = short(&done.diagnostics, &done.sources);
    let line = |line: &str| line[path.len() + 1..].replace(" warning[", " ").replace(']', "");
    text.lines().map(line).collect()
}

/// A chart with a state of this name.
fn state(name: &str) -> String {
    format!(
        "chart A {{\n  event go\n  initial a\n  state a {{ on go -> `{name}` }}\n  final `{name}`\n}}\n"
    )
}

#[test]
fn words_of_several_scripts() {
    for (name, says) in [
        ("p\u{430}id", "mixes Latin and Cyrillic letters: it is `p\\u{430}id`"),
        ("r\u{3b5}ad", "mixes Latin and Greek letters"),
        ("done_p\u{430}id", "mixes Latin and Cyrillic"),
        ("\u{43f}\u{430}\u{440}k", "mixes Latin and Cyrillic"),
        ("\u{555}pen", "mixes Latin and Armenian"),
    ] {
        let found = found("a.chart", &state(name));
        assert!(found.len() == 1 && found[0].starts_with("5:9: C0011 state"), "{found:?}");
        assert!(found[0].contains(says), "{found:?}");
    }
}

#[test]
fn names_that_hide_a_character() {
    for name in [
        "a\u{202e}b",
        "a\u{200b}",
        "ap\u{200d}prove",
        "\u{feff}x",
        "x\u{ad}y",
        "x\u{fe0f}",
        "x\u{1b}y",
        "x\u{e0061}",
    ] {
        let found = found("a.chart", &state(name));
        assert!(found.len() == 1 && found[0].starts_with("5:9: C0011 the name"), "{found:?}");
    }
    // Written as an escape it is hidden in what is shown all the same.
    assert_eq!(found("a.chart", &state("a\\u{200b}")).len(), 1);
}

#[test]
fn two_names_that_look_alike() {
    for (name, says) in [
        ("\u{430}", "state `\u{430}` is `\\u{430}` and looks like state `a`"),
        ("\u{ff41}", "looks like state `a`"),
        ("g\u{3bf}", ""),
    ] {
        let found = found("a.chart", &state(name));
        assert!(found.len() == 1 && found[0].starts_with("5:9: C0011 state"), "{name}: {found:?}");
        assert!(found[0].contains(says), "{found:?}");
    }
    let twins = state("caf\u{e9}").replace("event go", "event go\n  event `cafe\u{301}`");
    assert_eq!(found("a.chart", &twins).len(), 1);
}

#[test]
fn names_of_one_script_and_prose_are_fine() {
    for name in [
        "оплачено",
        "оплачено_2",
        "schließen",
        "été",
        "名前",
        "状态_ok",
        "日本語カナ",
        "한국어",
        "שלום",
        "مرحبا_1",
        "می\u{200c}خواهم",
        "हिन्दी",
        "ελληνικά",
        "Δt",
        "x²",
        "👩\u{200d}🚀",
        "done_готово",
        "a-б",
    ] {
        let text =
            state(name).replace("final", "/// Сервис pаy: ελληνικά, עברית \u{200f}!\n  final");
        assert_eq!(found("a.chart", &text), Vec::<String>::new(), "{name}");
    }
    // Letters of ASCII that look alike are the author's own.
    assert_eq!(
        found("a.chart", &state("größe_1").replace("event go", "event go\n  event `größe_l`")),
        Vec::<String>::new()
    );
}

#[test]
fn texts_docs_and_comments() {
    let chart = |text: &str| state("f").replace("event go", text);
    for (text, place) in [
        ("// only \u{202e}admins\n  event go", "2:11"),
        ("/// a \u{2066}doc\n  event go", "2:9"),
        ("param p: Text = \"x\u{202e}\"\n  event go", "2:21"),
        ("param p: Text = \"say\u{e0061}\u{e0062}\"\n  event go", "2:23"),
        ("// \u{1b}[2K\n  event go", "2:6"),
        ("// a\u{200f}b\n  event go", "2:7"),
    ] {
        let found = found("a.chart", &chart(text));
        assert!(found.len() == 1 && found[0].starts_with(&format!("{place}: C0012")), "{found:?}");
    }
    for text in [
        "// עברית\u{200f}!\n  event go",
        "param p: Text = \"x\\u{202e}\"\n  event go",
        "// 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 👩\u{200d}🚀\n  event go",
    ] {
        assert_eq!(found("a.chart", &chart(text)), Vec::<String>::new(), "{text:?}");
    }
    let windows = chart("// ok\n  event go").replace('\n', "\r\n");
    assert_eq!(found("a.chart", &windows), Vec::<String>::new());
}

#[test]
fn other_formats() {
    let yaml = "id: x\n# \u{202e}note\nworkflow:\n  state_machine:\n    states: [work, p\u{430}id]\n    transitions: [work->p\u{430}id]\n  steps:\n  - {name: one, type: llm, in_state: work, prompt: \"Do.\", transition_to: p\u{430}id}\n";
    let yaml = found("agent.yaml", yaml);
    assert!(yaml.iter().any(|f| f.starts_with("2:3: C0012")), "{yaml:?}");
    assert!(yaml.iter().any(|f| f.starts_with("5:20: C0011")), "{yaml:?}");
    let scxml = found(
        "a.scxml",
        "<scxml name=\"A\">\n<!-- \u{202e} -->\n<final id=\"p\u{430}id\"/></scxml>",
    );
    assert!(scxml.iter().any(|f| f.starts_with("2:6: C0012")), "{scxml:?}");
    assert!(scxml.iter().any(|f| f.contains("3:") && f.contains("C0011")), "{scxml:?}");
}

/// A chart that hides characters wherever it may.
const FOUL: &str = "chart Foul {\n  event `p\u{200f}q`\n  var x: Text = \"a\u{202e}b\u{85}\"\n  initial `a\u{202e}b`\n  \
    /// A doc \u{202e} of it\n  state `a\u{202e}b` {\n    llm w {\n      prompt \"\"\"\n        one \u{2066}\n        {x}\n        two\u{1b}\n        \"\"\"\n    }\n    \
    on `p\u{200f}q` -> `مرحبا` { log \"x\u{202e}{x}\u{2066}z\" }\n  }\n  final `مرحبا`\n}\n";

#[test]
fn generated_code_and_pictures_hide_nothing() {
    let path = "a\u{202e}.chart";
    let done = check(&[path.to_owned()], &Memory::of(path, FOUL));
    let [checked] = done.charts.as_slice() else {
        panic!("{}", short(&done.diagnostics, &done.sources))
    };
    for emitter in chartc::emit::EMITTERS {
        let made = (emitter.emit)(checked, &chartc::emit::Options::default()).expect("it can be");
        assert_eq!(visible::hidden(&made).collect::<Vec<_>>(), [], "{}", emitter.name);
    }
    let code = chartc::emit::rust::emit(checked).expect("it can be generated");
    assert!(code.contains("مرحبا = (") && code.contains("\"مرحبا\""), "{code}");
}
