//! Pictures for Mermaid: what they say of each construct, and what Mermaid's own parser makes of every one that we can make.

use chartc::Checked;
use chartc::emit::Options;
use chartc::emit::draw::mermaid::mermaid;
use chartc::load::Memory;
use chartc_core::model::StateKind;
use chartc_core::visible;
use serde_json::Value;
use std::collections::BTreeMap;
use test_support::mermaid::parsed;
use test_support::project::{blocks, corpus, flagship, read, root};

fn charts(path: &str, text: &str) -> Vec<Checked> {
    chartc::check(&[path.to_owned()], &Memory::of(path, text)).charts
}

#[track_caller]
fn only(text: &str) -> Checked {
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let problems = chartc::report::short(&done.diagnostics, &done.sources);
    match done.charts.as_slice() {
        [one] => one.clone(),
        charts => panic!("{} charts; {problems}", charts.len()),
    }
}

#[track_caller]
fn draw(text: &str) -> String {
    let one = only(text);
    mermaid(one.chart(), one.map(), &Options::default())
}

#[track_caller]
fn has(picture: &str, line: &str) {
    let found = picture.lines().any(|l| l.trim() == line);
    assert!(found, "no line is {line:?} in\n{picture}");
}

/// The first line of a node: its name.
fn title(node: &Value) -> String {
    let first = |v: &Value| match v {
        Value::String(text) => text.split("<br").next().unwrap_or_default().to_string(),
        _ => String::new(),
    };
    first(&node["label"])
}

/// Asserts that Mermaid sees the states of the chart, each in its parent, and every edge that is written.
fn compare(name: &str, checked: &Checked, picture: &str, seen: &Value) {
    assert_eq!(seen["error"], Value::Null, "{name}: {}\n{picture}", seen["error"]);
    let nodes = seen["nodes"].as_array().expect("nodes");
    let by_id: BTreeMap<&str, &Value> =
        nodes.iter().map(|n| (n["id"].as_str().expect("an id"), n)).collect();
    // A state as the titles from the outside in.
    let path = |node: &Value| {
        let mut titles = vec![title(node)];
        let mut above = node["inside"].as_str().unwrap_or_default();
        while let Some(node) = by_id.get(above) {
            if node["shape"] != "divider" {
                titles.push(title(node));
            }
            above = node["inside"].as_str().unwrap_or_default();
        }
        titles.reverse();
        titles
    };
    let mut drawn: Vec<Vec<String>> = nodes.iter().map(path).collect();
    let chart = checked.chart();
    for id in chart.state_ids().skip(1) {
        let is_flat = |s: chartc_core::arena::StateId| {
            matches!(chart.state(s).kind, StateKind::Parallel)
                && chart
                    .children(s)
                    .all(|c| matches!(chart.state(c).kind, StateKind::History { .. }))
        };
        let above = chart.ancestors(id).filter(|s| s.0 > 0 && (*s == id || !is_flat(*s)));
        let mut wanted: Vec<String> = above
            .map(|s| match &chart.state(s).kind {
                StateKind::Parallel => format!("{} ∥ parallel", chart.state(s).name),
                StateKind::History { deep: true, .. } => "H*".to_string(),
                StateKind::History { .. } => "H".to_string(),
                StateKind::Final { params, .. } if !params.is_empty() => {
                    let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
                    format!("{}({})", chart.state(s).name, names.join(", "))
                }
                _ => chart.state(s).name.clone(),
            })
            .map(|title| visible::text(&title).into_owned())
            .collect();
        wanted.reverse();
        let at = drawn.iter().position(|d| *d == wanted);
        let Some(at) = at else { panic!("{name}: {wanted:?} is not in {drawn:?}\n{picture}") };
        drawn.remove(at);
    }
    let edges = seen["edges"].as_array().expect("edges").len();
    assert_eq!(edges, picture.matches(" --> ").count(), "{name}: edges\n{picture}");
}

#[test]
fn builder_chart() {
    insta::assert_snapshot!(draw(&read("charts/builder.chart")));
}

#[test]
fn parallel_with_history() {
    insta::assert_snapshot!(draw(
        "chart Player {
  event power
  event mute
  initial off
  state off { on power -> on.sound.last, on.picture }
  parallel on {
    state picture { initial bright  state bright  state dim  history last deep -> dim }
    state sound {
      initial loud
      state loud { on mute -> quiet }
      state quiet { on mute -> loud }
      history last -> loud
    }
    state clock { after 5m { log \"still on\" } }
    on power -> off
  }
}
"
    ));
}

#[test]
fn deferred_events_stand_in_their_state() {
    let picture = draw(
        "chart C { event a event b.c event go initial s state s { defer a, b  on go -> t } state t { on a -> s on b -> s } }",
    );
    has(&picture, "s : defer a, b.c");
}

#[test]
fn choices_leave_from_a_diamond() {
    let picture = draw(
        "chart C {
  event go
  initial a
  state a {
    ask pick on go else b { prompt \"\"\"{options}\"\"\" }
    may left \"go left\" -> b
    may right(why: Text) \"go right\" -> c
    may wait \"do nothing\"
  }
  state b  state c
}
",
    );
    has(&picture, "state may1 <<choice>>");
    has(&picture, "a --> may1 : go / ask pick");
    has(&picture, "may1 --> b : else (pick)<br/>may left<br/>“go left”");
    has(&picture, "may1 --> c : may right(why)<br/>“go right”");
    has(&picture, "a : may wait");
    has(&picture, "class a asks");
}

#[test]
fn wildcard_is_one_node_and_not_expanded() {
    let picture = draw(
        "chart W {
  event stop
  initial a
  state a  state b  state c { initial d  state d  state e }
  final end
  from * except b { on stop -> end }
  from a | b { on stop -> c }
}
",
    );
    has(&picture, "any0 --> s6 : stop<br/>except b");
    has(&picture, "a --> c : stop");
    has(&picture, "b --> c : stop");
    assert_eq!(picture.matches("--> s6").count(), 1, "{picture}");
}

#[test]
fn line_to_a_state_around_leads_to_what_is_entered() {
    let picture = draw(
        "chart A {
  event go
  initial out
  state out { initial near  state near { on go -> out }  state far { on go -> out } }
}
",
    );
    has(&picture, "far --> near : go<br/>enters out");
    has(&picture, "near --> near : go<br/>enters out");
}

#[test]
fn allow_lines_that_nothing_follows_are_told_in_comments() {
    let picture = draw(
        "chart A {
  initial a
  state a { llm one { prompt \"\"\"x\"\"\" } -> b }
  state b { llm two { prompt \"\"\"x\"\"\" } -> c }
  state c
  allow a -> b
  allow a -> c
}
",
    );
    has(&picture, "b --> c : ✓ two<br/>⊘ denied#58; no allow line");
    has(&picture, "%% not drawn, as no line makes this move: allow a -> c");
}

#[test]
fn long_guard_is_cut_and_stands_in_a_comment() {
    let guard = (0..30).map(|i| format!("n > {i}")).collect::<Vec<_>>().join(" and ");
    let picture = draw(&format!(
        "chart L {{\n  event go\n  input n: Int = 0\n  initial a\n  state a {{ on go if {guard} -> b }}\n  final b\n}}\n"
    ));
    has(&picture, &format!("%% in full: go if {guard} -> b"));
    let label = picture.lines().find(|l| l.contains("a --> b")).expect("it is drawn");
    assert!(label.chars().count() < 220 && label.ends_with('…'), "{label}");
}

#[test]
fn too_large_for_the_default_bound() {
    let mut text = String::from("chart Wide {\n  event go\n  initial s0\n");
    for i in 0..2_000 {
        text.push_str(&format!("  state s{i} {{ on go -> s{} }}\n", (i + 1) % 2_000));
    }
    text.push_str("}\n");
    let picture = draw(&text);
    assert!(picture.contains("characters: Mermaid draws 50000 unless"), "it is not told");
    assert!(picture.len() < 400_000, "{} characters", picture.len());
}

/// Every pair of these as a name, a guard's text and an option's text.
const NASTY: &[&str] = &[
    "direction TB",
    "<<fork>>",
    "[[choice]]",
    "%%{init: {}}%%",
    "end note",
    "--",
    "-->",
    "note",
    "state x",
    ":::",
    "#35;",
    "ﬂ°°35¶ß",
    "\"",
    "'",
    ";",
    ":",
    "{",
    "}",
    "a\\b`c`",
    "</b>",
    "&lt;",
    "*a*",
    "__b__",
    "1. c",
    "- d",
    "[*]",
    "$$x$$",
    "a@b.example",
    "www.example.org",
    "classDef a",
    "style x:#fff;",
    "ż日本🎉",
    "\u{2028}",
    "|",
    "~~e~~",
    "~",
];

#[test]
fn texts_cannot_break_out() {
    let mut names: Vec<String> = NASTY.iter().map(ToString::to_string).collect();
    for (i, a) in NASTY.iter().enumerate() {
        names.push(format!("{a}{}", NASTY[(i * 7 + 3) % NASTY.len()]));
        names.push(format!("x {a} {}", NASTY[(i * 5 + 1) % NASTY.len()]));
    }
    let mut text =
        String::from("chart `A%%{init}%% \"b\"` {\n  var note: Text = \"\"\n  event go\n");
    let written = |name: &str| name.replace('\\', "\\\\").replace('`', "\\`");
    text.push_str(&format!("  initial `{}`\n", written(&names[0])));
    for (i, name) in names.iter().enumerate() {
        let next = written(&names[(i + 1) % names.len()]);
        let quoted: String = name
            .chars()
            .flat_map(|c| match c {
                '"' | '\\' => vec!['\\', c],
                '{' | '}' => vec![c, c],
                c => vec![c],
            })
            .collect();
        text.push_str(&format!(
            "  state `{}` {{\n    on go if note == \"{quoted}\" -> `{next}`\n    enter {{ log \"{quoted}\" }}\n  }}\n",
            written(name)
        ));
    }
    text.push_str("}\n");
    let one = only(&text);
    let picture = mermaid(one.chart(), one.map(), &Options::default());
    let Some(seen) = parsed(&[("nasty".into(), picture.clone())]) else { return };
    let seen = &seen[0];
    assert_eq!(seen["error"], Value::Null, "{}\n{picture}", seen["error"]);
    let titles: Vec<String> = (seen["nodes"].as_array().expect("nodes").iter())
        .filter(|n| n["rows"][0].as_str().is_some_and(|row| row.starts_with("enter log \"")))
        .filter_map(|n| Some(n["label"].as_str()?.to_string()))
        .collect();
    for (i, name) in names.iter().enumerate() {
        assert_eq!(titles[i].trim(), visible::text(name.trim()), "\n{picture}");
    }
    assert_eq!(seen["edges"].as_array().map(Vec::len), Some(names.len() + 1));
}

#[test]
fn highlighted_states_and_those_around_them_stand_out() {
    let one = only(
        "chart H {
  initial a
  state a { initial b  state b { initial c  state c  state d } }
}
",
    );
    let id = |path: &str| {
        let is_it = |id: &_| one.chart().state(*id).path == path;
        one.chart().state_ids().find(is_it).expect("it is a state")
    };
    let highlight = [id("a.b.c"), id("a.b")].into_iter().collect();
    let picture = mermaid(one.chart(), one.map(), &Options { highlight, ..Options::default() });
    has(&picture, "class b,c active");
    has(&picture, "class a around");
}

#[test]
fn picture_in_the_readme_is_up_to_date() {
    let readme = read("README.md");
    let picture = draw(&flagship());
    let shown = blocks(&readme, "mermaid").into_iter().map(|b| b.1).next().expect("it is shown");
    if shown != picture && std::env::var_os("PICTURE").is_some_and(|v| v == "write") {
        let block = |text: &str| format!("```mermaid\n{text}```\n");
        let text = readme.replace(&block(&shown), &block(&picture));
        std::fs::write(root().join("README.md"), text).expect("README can be written");
        return;
    }
    assert_eq!(shown, picture, "PICTURE=write cargo test picture");
}

#[test]
fn mermaid_takes_every_picture() {
    let mut drawn = Vec::new();
    for (path, text) in corpus() {
        for checked in charts(&path, &text) {
            // Every other one with all that can be added.
            let mut options = Options { legend: drawn.len() % 2 == 1, ..Options::default() };
            if options.legend {
                options.highlight.extend(checked.chart().state_ids().skip(1).take(2));
            }
            let picture = mermaid(checked.chart(), checked.map(), &options);
            drawn.push((format!("{path} {}", checked.chart().name), picture, checked));
        }
    }
    assert!(drawn.len() > 300, "only {} charts of the corpus could be drawn", drawn.len());
    let pictures: Vec<(String, String)> =
        drawn.iter().map(|(name, picture, _)| (name.clone(), picture.clone())).collect();
    let Some(seen) = parsed(&pictures) else { return };
    assert_eq!(seen.len(), drawn.len());
    for (seen, (name, picture, checked)) in seen.iter().zip(&drawn) {
        compare(name, checked, picture, seen);
    }
}
