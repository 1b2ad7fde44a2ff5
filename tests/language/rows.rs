//! Every kind of fault of names and of structure: its code, what is underlined, the second place, and a cure.

use chartc::load::Memory;
use std::collections::BTreeMap;

/// The text of a chart, or of an agent if it begins with `id:`; then for each finding its code, what it underlines, what it
/// underlines second (empty if nothing), and how its help begins.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str, &'static str, &'static str)],
);

const NAMES: &[Row] = &[
    (
        "state",
        "initial a  state a { on go -> bb }  state b { on go -> a }",
        &[("C0102", "bb", "", "did you mean `b`")],
    ),
    ("event", "initial a  state a { on goo -> a }", &[("C0102", "goo", "", "did you mean `go`")]),
    (
        "variable",
        "var count: Int = 0  initial a  state a { on go if cuont > 1 -> a }",
        &[("C0102", "cuont", "", "did you mean `count`")],
    ),
    (
        "variable in a prompt",
        "var count: Int = 0  initial a  state a { llm x { prompt \"{cuont}\" } -> a }",
        &[("C0402", "cuont", "", "did you mean `count`")],
    ),
    (
        "tool",
        "tool find() -> Json  tools some = fnid  initial a  state a { on go -> a }",
        &[("C0102", "fnid", "", "did you mean `find`")],
    ),
    (
        "client",
        "client big { model \"a:b\" fallback smal }  client small { model \"a:b\" }  initial a  state a { on go -> a }",
        &[("C0102", "smal", "", "did you mean `small`")],
    ),
    (
        "step in a component",
        "initial a  state a { llm think { prompt \"x\" } -> a }  component c into thnik \"y\"",
        &[("C0102", "thnik", "", "did you mean `think`")],
    ),
    (
        "step",
        "initial a  state a { llm think { prompt \"x\" } on done(thinkk) -> a }",
        &[("C0102", "thinkk", "", "did you mean `think`")],
    ),
    (
        "function",
        "do send_mail(to: Text)  initial a  state a { on go { sendmail(\"x\") } }",
        &[("C0102", "sendmail", "", "did you mean `send_mail`")],
    ),
    (
        "id of a `send`",
        "initial a  state a { on go { send go after 5s as timer  cancel tmier } }",
        &[("C0102", "tmier", "", "did you mean `timer`")],
    ),
    (
        "id of a `send` below, and one of none",
        "initial a  state a { enter { cancel later  cancel zzz }  on go { send go as later } }",
        &[("C0102", "zzz", "", "")],
    ),
    ("duplicate", "initial a  state a { on go -> a }  state a", &[("C0103", "a", "a", "")]),
    (
        "clash in Rust",
        "initial a  state a { initial b  state b { on go -> a_b } }  state a_b { on go -> a }",
        &[("C0502", "a_b", "b", "rename one")],
    ),
    (
        "missing initial",
        "state a { on go -> b }  state b { on go -> a }",
        &[("C0201", "T", "", "add `initial a`")],
    ),
    (
        "unknown initial",
        "initial aa  state a { on go -> a }",
        &[("C0102", "aa", "", "did you mean `a`")],
    ),
    (
        "unknown keys and words",
        "id: x\nworkflow:\n  steps:\n    - {name: look, type: lmm, prompt: x, run_iff: tick > 1}\n",
        &[
            ("C0101", "lmm", "", "did you mean `llm`"),
            ("C0101", "run_iff", "", "did you mean `run_if`"),
        ],
    ),
    (
        "names of an agent",
        "id: x\nworkflow:\n  state_machine: {states: [one, two], initial_state: onne}\n  steps:\n    - {name: look, type: llm, prompt: x, in_state: one, transition_to: twoo, run_if: tikc > 1}\n",
        &[
            ("C0102", "onne", "", "did you mean `one`"),
            ("C0102", "twoo", "", "did you mean `two`"),
            ("C0102", "tikc", "", "did you mean `tick`"),
        ],
    ),
];

const STRUCTURE: &[Row] = &[
    (
        "unreachable state",
        "initial a  state a { on go -> a }  state b { on go -> a }",
        &[("C0203", "b", "", "nothing leads here")],
    ),
    (
        "final with lines",
        "initial a  state a { on go -> f }  final f { on go -> a }",
        &[("C0202", "on go -> a", "f", "a final state is never left")],
    ),
    (
        "compound without initial",
        "initial a  state a { state b { on go -> b } }",
        &[("C0201", "a", "", "add `initial b`")],
    ),
    (
        "two children of one compound",
        "initial a  state a { on go -> c.x, c.y }  state c { initial x  state x { on go -> y }  state y { on go -> x } }",
        &[("C0202", "c.y", "c.x", "the targets of one line must be in different regions")],
    ),
    (
        "region and outside",
        "initial a  state a { on go -> p.l, b }  state b { on go -> a }  parallel p { state l { on go -> a }  state r }",
        &[("C0202", "p.l", "b", "the targets of one line must be in different regions")],
    ),
    (
        "useless history",
        "initial a  state a { on go -> c }  state c { initial x  state x { on go -> y }  state y { on go -> a }  history h -> x }",
        &[("C0204", "h", "", "lead to it where `c` should continue")],
    ),
    (
        "history without default",
        "initial a  state a { initial x  state x { on go -> y }  state y { on go -> x }  history h }",
        &[("C0001", "}", "", "`-> state` says what is entered")],
    ),
    (
        "wildcard without effect",
        "initial a  from * { on go -> a }  state a { on stop { log \"x\" } }",
        &[("C0303", "*", "", "name a state that can be active")],
    ),
    (
        "wildcard from a final",
        "initial a  from f { on go -> a }  state a { on go -> f }  final f",
        &[("C0303", "f", "f", "leave it out")],
    ),
    (
        "wildcard into itself",
        "initial a  from a | b { on stop -> b }  state a { on go -> b }  state b { on go -> a }",
        &[("C0206", "b", "a | b", "leave `b` out of `from`")],
    ),
    (
        "region reset",
        "initial p  parallel p { state l { initial x  state x { on go -> y }  state y  on stop -> l }  state r { initial z  state z { on go -> w }  state w } }",
        &[("C0205", "l", "r", "lead to a state inside `p.l`")],
    ),
    (
        "from that matches nothing",
        "initial a  state a { on go -> a  from b { on stop -> a } }  state b",
        &[("C0202", "b", "b", "name a state inside `a`")],
    ),
];

fn check(rows: &[Row]) {
    for (name, text, expected) in rows {
        let agent = text.starts_with("id:");
        let file = if agent { "agent.yaml" } else { "a.chart" };
        let whole = if agent {
            (*text).to_owned()
        } else {
            format!("chart T {{\n  event go  event stop\n  {text}\n}}\n")
        };
        let done = chartc::check(&[file.to_owned()], &Memory::of(file, &whole));
        let source = done.sources.iter().next().expect("there is one source").1;
        // A fault may have another in its train: each that is expected has to be there, and no other of its code.
        let mut by_code: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (code, span, second, help) in *expected {
            by_code.entry(code).or_default().push(format!("|{span}| |{second}| {help}"));
        }
        for (code, expected) in by_code {
            let of = done.diagnostics.iter().filter(|d| d.rule.code == code);
            let found: Vec<String> = of
                .zip(&expected)
                .map(|(d, wanted)| {
                    let second = d.related.first().map_or("", |(span, _)| source.slice(*span));
                    let start = wanted.rsplit("| ").next().unwrap_or_default();
                    let help = d.help.as_deref().unwrap_or_default();
                    let help = if help.starts_with(start) { start } else { help };
                    format!("|{}| |{second}| {help}", source.slice(d.span))
                })
                .collect();
            assert_eq!(found, expected, "{name}: {code} in\n{whole}");
            let count = done.diagnostics.iter().filter(|d| d.rule.code == code).count();
            assert_eq!(count, expected.len(), "{name}: {code} in\n{whole}");
        }
    }
}

#[test]
fn names() {
    check(NAMES);
}

#[test]
fn structure() {
    check(STRUCTURE);
}
