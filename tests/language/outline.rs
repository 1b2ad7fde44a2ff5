//! Charts drawn in the terminal.

use chartc::Checked;
use chartc::emit::Options;
use chartc::emit::draw::outline::{OutlineLayout, outline};
use chartc::load::Memory;
use chartc_core::arena::StateId;
use std::fmt::Write as _;
use test_support::project::{corpus, read};

const PLAYER: &str = "/// Plays what it is given.
chart Player {
  event power
  event mute
  event failed
  initial off
  state off { on power -> on.sound.last, on.picture }
  parallel on {
    state picture { initial bright  state bright  state dim  history last deep -> dim }
    /// What is heard.
    state sound {
      initial loud
      state loud { on mute -> quiet }
      state quiet { on mute -> loud }
      history last -> loud
    }
    state clock { after 5m { log \"still on\" } }
    each after 2h -> off
    on power -> off
  }
  final broken(why: Text) : error
  from * except off { on failed -> broken(\"it smokes\") }
}
";

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
fn draw(text: &str, layout: &OutlineLayout) -> String {
    let one = only(text);
    outline(one.chart(), one.map(), &Options::default(), layout)
}

fn lit(one: &Checked, paths: &[&str], layout: &OutlineLayout) -> String {
    let chart = one.chart();
    let highlight =
        chart.state_ids().filter(|s| paths.contains(&chart.state(*s).path.as_str())).collect();
    outline(chart, one.map(), &Options { highlight, legend: true, ..Options::default() }, layout)
}

#[test]
fn builder_chart() {
    insta::assert_snapshot!(draw(&read("charts/builder.chart"), &OutlineLayout::default()));
}

#[test]
fn agent_with_a_table() {
    let text = read("charts/builder.agent.yaml");
    let done = chartc::check(&["agent.yaml".to_owned()], &Memory::of("agent.yaml", &text));
    let one = &done.charts[0];
    insta::assert_snapshot!(outline(
        one.chart(),
        one.map(),
        &Options::default(),
        &OutlineLayout { width: 80, ..OutlineLayout::default() }
    ));
}

#[test]
fn parallel_with_history() {
    insta::assert_snapshot!(draw(PLAYER, &OutlineLayout::default()));
}

#[test]
fn narrow_and_in_ascii() {
    insta::assert_snapshot!(draw(
        PLAYER,
        &OutlineLayout { width: 50, ascii: true, ..OutlineLayout::default() }
    ));
}

#[test]
fn highlighted_states_stand_out_with_and_without_colours() {
    let one = only(PLAYER);
    let plain = lit(&one, &["on.sound.loud"], &OutlineLayout::default());
    assert!(plain.contains("▶ loud") && plain.contains("▷ sound") && plain.contains("▷ on"));
    assert_eq!(plain.matches('▶').count(), 2, "once in the legend:\n{plain}");
    assert!(!plain.contains('\u{1b}'));
    let coloured =
        lit(&one, &["on.sound.loud"], &OutlineLayout { colour: true, ..OutlineLayout::default() });
    assert!(coloured.contains("\u{1b}[1;30;43mloud\u{1b}[0m"), "{coloured}");
    assert!(coloured.contains("\u{1b}[1;33msound\u{1b}[0m"), "{coloured}");
    assert!(coloured.contains("\u{1b}[33mafter\u{1b}[0m"), "{coloured}");
}

#[test]
fn part_of_a_chart() {
    let one = only(PLAYER);
    let root = one.chart().state_ids().find(|s| one.chart().state(*s).path == "on.sound");
    let layout = OutlineLayout { root: root.expect("it is a state"), ..OutlineLayout::default() };
    let part = outline(one.chart(), one.map(), &Options::default(), &layout);
    assert_eq!(
        part,
        "┆ sound  What is heard.
├─● loud
│     on      mute        → quiet
├─○ quiet
│     on      mute        → loud
└─H last  history, the first time loud
"
    );
}

#[test]
fn texts_that_move_the_cursor_or_hide() {
    let text = draw(
        "chart Q {
  event go
  initial `a \\u{1b}[2J\\n b`
  state `a \\u{1b}[2J\\n b` { on go -> `日本語` { log \"\\u{202e}x\" } }
  state `日本語` { on go -> `a \\u{1b}[2J\\n b` }
}
",
        &OutlineLayout::default(),
    );
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let ascii = draw(
        "chart Q {\n  initial `ü`\n  state `ü`\n}\n",
        &OutlineLayout { ascii: true, ..OutlineLayout::default() },
    );
    assert_eq!(ascii, "Q\n`-* \\u{fc}\n");
}

#[test]
fn every_chart_fits_every_width() {
    let mut drawn = 0;
    for (path, text) in corpus() {
        let done = chartc::check(std::slice::from_ref(&path), &Memory::of(&path, &text));
        for one in &done.charts {
            for width in [40, 80, 132] {
                let layout = OutlineLayout { width, ascii: true, ..OutlineLayout::default() };
                let text = outline(one.chart(), one.map(), &Options::default(), &layout);
                assert!(text.is_ascii(), "{path}");
                // A name is never cut, nor a line too short for the tree and one word.
                let is_long = |l: &&str| l.len() > width && l.contains("  ");
                let deep = one.chart().states.iter().any(|s| s.path.matches('.').count() > 2);
                assert!(deep || text.lines().find(is_long).is_none(), "{path} {width}:\n{text}");
                assert!(text.lines().all(|l| l == l.trim_end()), "{path}");
            }
            drawn += 1;
        }
    }
    assert!(drawn > 300, "only {drawn} charts of the corpus could be drawn");
}

#[test]
fn large_charts_are_cut_with_a_notice_and_take_linear_space() {
    let chart = |n: usize, deep: bool| {
        let mut text = String::from("chart Large {\n  event go\n  initial s0\n");
        for i in 0..n {
            if deep {
                let _ = write!(text, "state s{i} {{ on go -> s{i} initial s{} ", i + 1);
            } else {
                let _ = writeln!(text, "  state s{i} {{ on go -> s{} }}", (i + 1) % n);
            }
        }
        if deep {
            let _ = write!(text, "state s{n} {}", "}".repeat(n));
        }
        text + "}\n"
    };
    let cut = draw(&chart(1_000, false), &OutlineLayout { states: 10, ..OutlineLayout::default() });
    assert!(cut.ends_with("… 990 more states; --all shows them\n"), "{cut}");
    assert_eq!(cut.lines().count(), 22, "{cut}");
    let [small, large] =
        [500, 4_000].map(|n| draw(&chart(n, false), &OutlineLayout::default()).len());
    assert!(large < small * 9, "{small} bytes for 500 states, {large} for 4000");
    let [small, large] = [25, 50].map(|n| draw(&chart(n, true), &OutlineLayout::default()).len());
    assert!(large < small * 3, "{small} bytes for 25 levels, {large} for 50");
    assert_eq!(StateId(0), OutlineLayout::default().root);
}

#[test]
fn conditions_of_outcomes_and_soft_bounds() {
    let text = "/// Asks, and
/// asks again.
///
/// More than that.
chart C {
  var n: Int = 0
  event go(to: Text, n: Int)
  event more(n: Int)
  limits { calls 9 warn 7  turns 5  time 3h warn 2h }
  initial a
  state a {
    llm s if n > 1 {
      returns Int into n
      done if n > 2 -> b
    } -> a
    on more -> b
  }
  state b { on go(place, count) if count > n -> a { n = count } }
}
";
    insta::assert_snapshot!(draw(text, &OutlineLayout { width: 80, ..OutlineLayout::default() }));
}
