//! Pictures: what a DOT says of each construct, and that Graphviz takes every one that we can make.
//!
//! `PICTURE=write cargo test picture` draws the README's picture anew; it needs Graphviz.

use chartc::emit::Options;
use chartc::emit::draw::dot::{dot, with_ids};
use chartc::load::Memory;
use std::io::Write;
use std::process::{Command, Stdio};
use test_support::project::{corpus, number, read, root};

/// The DOT of each chart of a text that has no errors but those of constructs that do not run yet.
fn draw_all(path: &str, text: &str) -> Vec<(String, String)> {
    let done = chartc::check(&[path.to_owned()], &Memory::of(path, text));
    (done.charts.iter())
        .map(|c| {
            (
                c.chart().name.clone(),
                dot(c.chart(), c.map(), &Options { legend: true, ..Options::default() }),
            )
        })
        .collect()
}

fn draw(text: &str) -> String {
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let problems = chartc::report::short(&done.diagnostics, &done.sources);
    match done.charts.as_slice() {
        [one] => dot(one.chart(), one.map(), &Options::default()),
        charts => panic!("{} charts; {problems}", charts.len()),
    }
}

/// What Graphviz says of a text; `None` where it is not installed.
fn graphviz(text: &str, format: &str) -> Option<(bool, Vec<u8>, String)> {
    let mut dot = Command::new("dot")
        .arg(format!("-T{format}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = dot.stdin.take().expect("it is piped");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = dot.wait_with_output().expect("dot ends");
    // A dot that fails does not read all of it.
    let _ = writer.join().expect("the writer does not panic");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.success(), output.stdout, errors))
}

/// Lines of the DOT that hold all of `parts`.
#[track_caller]
fn has(dot: &str, parts: &[&str]) {
    let found = dot.lines().any(|l| parts.iter().all(|p| l.contains(p)));
    assert!(found, "no line has {parts:?} in\n{dot}");
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
fn a_history_with_actions_is_a_box_that_holds_them() {
    let dot = draw(
        "chart Counter {
  var x: Int = 0
  event go
  event leave
  initial p
  on go -> p.with
  on leave -> p.without
  parallel p {
    history with deep -> a.a2, b.b2 { x = x + 1 }
    history without -> a.a2
    state a { initial a1 { x = x + 2 } state a1 state a2 }
    state b { initial b1 state b1 state b2 }
  }
}",
    );
    has(&dot, &["H*", ">first</b>", "x = x + 1", "tooltip=\"p.with\""]);
    has(&dot, &[">initial</b>", "x = x + 2", "tooltip=\"p.a\""]);
    let round = |l: &&str| l.contains("fixedsize") && l.contains("tooltip=\"p.");
    let round: Vec<&str> = dot.lines().filter(round).collect();
    assert!(matches!(round[..], [one] if one.contains("p.without")), "{round:?}");
    let Some((ok, _, errors)) = graphviz(&dot, "svg") else {
        return println!("skipped, not found: dot");
    };
    assert!(ok && errors.is_empty(), "{errors}");
}

#[test]
fn wildcard_is_one_node_and_not_expanded() {
    let text = draw(
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
    has(&text, &["any0 -> s6", "stop", "except b", "style=dashed"]);
    has(&text, &["s1 -> i3", "lhead=cluster3"]);
    has(&text, &["s2 -> i3", "lhead=cluster3"]);
    assert_eq!(text.matches("-> s6").count(), 1, "{text}");
}

#[test]
fn each_deadline_is_drawn_once() {
    let text = draw(
        "chart E {
  event go
  initial idle
  state idle { on go -> busy }
  state busy {
    initial x
    each after 3 turns -> idle
    state x { on go -> y }
    state y
    state z
  }
}
",
    );
    has(&text, &["each ◷ after 3 turns", "lhead=cluster2"]);
    assert_eq!(text.matches("after 3 turns \\l").count(), 1, "{text}");
}

#[test]
fn choices_leave_from_a_diamond() {
    let text = draw(
        "chart C {
  initial a
  state a {
    ask pick on turn else b { prompt \"\"\"{options}\"\"\" }
    may left \"go left\" -> b
    may right(why: Text) \"go right\" -> c
    may wait \"do nothing\"
  }
  state b  state c
}
",
    );
    has(&text, &["s1 -> s2", "may left", "“go left”", "arrowtail=odiamond"]);
    has(&text, &["s1 -> s3", "may right(why)"]);
    has(&text, &["s1 -> s2", "else (pick)", "style=dotted"]);
    has(&text, &["s1 [", "ask", "pick on turn", "may wait"]);
}

#[test]
fn allow_lines_are_faint_and_what_they_forbid_is_denied() {
    let text = draw(
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
    assert_eq!(text.matches("label=\" allow").count(), 1, "{text}");
    has(&text, &["s1 -> s3", "allow", "style=dotted"]);
    has(&text, &["s2 -> s3", "two", "denied", "arrowhead=tee"]);
    assert_eq!(text.matches("denied").count(), 1, "{text}");
}

#[test]
fn lines_that_look_alike_share_an_edge() {
    let text = draw(
        "chart S {
  event go  event stop
  initial a
  state a { on go -> b  on stop -> b  after 5s -> b }
  state b
}
",
    );
    has(&text, &["s1 -> s2", " go \\l stop \\l"]);
    assert_eq!(text.matches("s1 -> s2").count(), 2, "{text}");
}

/// Editors find the line of an arrow by the arrow's id.
#[test]
fn every_arrow_has_an_id_of_its_own_and_knows_its_lines() {
    let shared = "chart A {\n  event x\n  event y\n  initial a\n  state a { on x -> b  on y -> b }\n  parallel b { state c { initial c1  state c1  state c2 } state d { initial d1  state d1  state d2 } on x -> c.c2, d.d2 }\n}\n";
    for (path, text) in corpus().into_iter().chain([("a.chart".to_owned(), shared.to_owned())]) {
        let done = chartc::check(std::slice::from_ref(&path), &Memory::of(&path, &text));
        for one in &done.charts {
            let options = Options::default();
            let (with, edges) = with_ids(one.chart(), one.map(), &options);
            let mut bare = with.clone();
            for (id, _) in &edges {
                let attribute = format!(", id=\"{id}\"");
                assert_eq!(with.matches(&attribute).count(), 1, "{id} in {path}");
                bare = bare.replace(&attribute, "");
            }
            assert_eq!(bare, dot(one.chart(), one.map(), &options), "{path}");
        }
    }
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", shared));
    let (_, edges) = with_ids(done.charts[0].chart(), done.charts[0].map(), &Options::default());
    let edges: Vec<(&str, u32)> = edges.iter().map(|(id, line)| (id.as_str(), line.0)).collect();
    assert_eq!(edges, [("e0", 0), ("e0", 1), ("e1", 2), ("f2_0", 2), ("f2_1", 2)]);
}

#[test]
fn highlighted_states_and_those_around_them_stand_out() {
    let text = "chart H {\n  initial a\n  state a { initial b  state b  state c }\n}\n";
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let one = &done.charts[0];
    let highlight = one.chart().state_ids().filter(|s| one.chart().state(*s).name == "b").collect();
    let text = dot(one.chart(), one.map(), &Options { highlight, ..Options::default() });
    has(&text, &["s2 [", "fillcolor=\"#fde68a\"", "penwidth=3"]);
    has(&text, &["graph [", "<b>a</b>", "color=\"#b45309\", penwidth=3"]);
    assert_eq!(text.matches("penwidth=3").count(), 2, "{text}");
}

#[test]
fn texts_cannot_break_out() {
    let text = draw(
        "/// A <b>\"doc\"</b> & more \\
chart Q {
  event go
  var note: Text = \"\"
  initial `a \"b\" <c>`
  state `a \"b\" <c>` {
    may `x]; }` \"say \\\"<&\\\\\" -> z
    on go if note == \"a\\\"];\\n}}\" -> z { log \"<table>\\\\\" }
    ask q on turn else stay { prompt \"\"\"{options}\"\"\" }
  }
  state z { advice \"<br> & {note}\" }
}
",
    );
    if let Some((good, _, errors)) = graphviz(&text, "svg") {
        assert!(good && errors.is_empty(), "{errors}\n{text}");
    }
    has(&text, &["a &quot;b&quot; &lt;c&gt;"]);
}

#[test]
fn a_wide_chart_is_drawn_in_linear_space() {
    let chart = |n: usize| {
        let mut text = String::from("chart Wide {\n  event go\n  initial s0\n");
        for i in 0..n {
            text.push_str(&format!("  state s{i} {{ on go -> s{} }}\n", (i + 1) % n));
        }
        text.push_str("  from * { on go -> s0 }\n}\n");
        draw(&text).len()
    };
    let (small, large) = (chart(500), chart(4_000));
    assert!(large < small * 9, "{small} bytes for 500 states, {large} for 4000");
}

/// One chart in four, and all of them with `CHARTC_PICTURES=1`.
#[test]
fn graphviz_takes_every_picture() {
    let (mut drawn, mut seen) = (0, 0);
    let each = number("CHARTC_PICTURES", 4_usize);
    for (path, text) in corpus() {
        for (name, picture) in draw_all(&path, &text) {
            seen += 1;
            if seen % each != 0 {
                continue;
            }
            // One at a time: Graphviz may break over hundreds of pictures in one process.
            let Some((good, svg, errors)) = graphviz(&picture, "svg") else {
                eprintln!("skipped: Graphviz is not installed");
                return;
            };
            assert!(good && errors.is_empty(), "{path} {name}: {errors}\n{picture}");
            assert!(svg.ends_with(b"</svg>\n"), "{path} {name}: no picture");
            drawn += 1;
        }
    }
    assert!(seen > 300 && drawn >= seen / each, "only {drawn} of {seen} charts could be drawn");
}

/// POSIX cksum of a text: enough to tell which DOT a picture was made from.
fn cksum(text: &[u8]) -> u32 {
    let length = std::iter::successors(Some(text.len()), |n| Some(n >> 8)).take_while(|n| *n > 0);
    let mut sum = 0_u32;
    for byte in text.iter().copied().chain(length.map(|n| (n & 0xff) as u8)) {
        sum ^= u32::from(byte) << 24;
        for _ in 0..8 {
            sum = if sum & 0x8000_0000 == 0 { sum << 1 } else { (sum << 1) ^ 0x04c1_1db7 };
        }
    }
    !sum
}

#[test]
fn cksum_is_that_of_posix() {
    assert_eq!(cksum(b"123456789"), 930_766_865);
}

#[test]
fn picture_of_the_readme_is_up_to_date() {
    let text = draw(&read("charts/builder.chart"));
    let stamp = format!("<!-- of a DOT with cksum {} -->", cksum(text.as_bytes()));
    let path = root().join("docs/builder.svg");
    if std::env::var_os("PICTURE").is_some_and(|v| v == "write") {
        let (_, svg, _) = graphviz(&text, "svg").expect("Graphviz is installed");
        let svg = String::from_utf8(svg).expect("SVG is text");
        std::fs::write(&path, format!("{}\n{stamp}\n", svg.trim_end())).expect("docs/ exists");
    }
    let svg = read("docs/builder.svg");
    assert!(
        svg.trim_end().ends_with(&stamp),
        "docs/builder.svg is not of charts/builder.chart: PICTURE=write cargo test picture"
    );
}

#[test]
fn names_with_a_backslash_are_drawn_as_they_are() {
    let names = ["\\N", "\\G", "\\E", "\\T", "\\H", "\\L", "a\\nb", "\\\\N", "&#92;N"];
    let quoted = |name: &str| format!("`{}`", name.replace('\\', "\\\\"));
    let states: String = names
        .iter()
        .map(|name| format!("  state {} {{ on go -> {} }}\n", quoted(name), quoted(names[0])))
        .collect();
    let text = format!("chart A {{\n  event go\n  initial {}\n{states}}}\n", quoted(names[0]));
    let Some((is_fine, svg, said)) = graphviz(&draw(&text), "svg") else {
        eprintln!("skipped, not found: Graphviz");
        return;
    };
    let svg = String::from_utf8(svg).expect("SVG is text");
    assert!(is_fine, "{said}");
    let shown = svg.replace("&#92;", "\\").replace("&#160;", " ").replace("&amp;", "&");
    for name in names {
        // Both in the picture and in what the pointer shows.
        assert!(shown.contains(&format!(">{name}</text>")), "{name}: {shown}");
        assert!(shown.contains(&format!("xlink:title=\"{name}\"")), "{name}: {shown}");
    }
}
