//! One construct in every kind of picture.

use chartc::emit::Options;
use chartc::emit::draw::dot::dot;
use chartc::emit::draw::mermaid::mermaid;
use chartc::emit::draw::outline::{OutlineLayout, outline};
use chartc::load::Memory;

#[track_caller]
fn has(picture: &str, line: &str) {
    assert!(picture.lines().any(|l| l.contains(line)), "no line has {line:?} in\n{picture}");
}

#[test]
fn sent_events_and_lines_on_everything() {
    let text = "chart S {
  event go
  initial a
  state a { enter { send go after 5s as timer } on go -> b { send go  cancel timer } }
  state b { on ** -> a }
}
";
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let [one] = done.charts.as_slice() else { panic!("one chart") };
    let (chart, map, options) = (one.chart(), one.map(), Options::default());

    let picture = mermaid(chart, map, &options);
    has(&picture, "a : enter send go after 5s as timer");
    has(&picture, "a --> b : go<br/>/ send go#59; cancel timer");
    has(&picture, "b --> a : on #42;#42;");

    let picture = dot(chart, map, &options);
    has(&picture, "</b></font> send go after 5s as timer</font>");
    has(&picture, "s1 -> s2 [label=\" go \\l / send go; cancel timer \\l\"");
    has(&picture, "[label=\" on ** \\l\"");

    insta::assert_snapshot!(outline(chart, map, &options, &OutlineLayout::default()), @r"
    S
    ├─● a
    │     enter   send go after 5s as timer
    │     on      go          → b  { send go; cancel timer }
    └─○ b
          on      **          → a
    ");
}

#[test]
fn work_for_each_element() {
    let text = "tool look(q: Text) -> Text
chart S {
  param qs: List(Text)
  initial a
  state a {
    call find each q in qs look(q) { 4 at a time  up to 20  enough 3  else none  done -> b }
    human sure each q in qs \"{q}?\"
  }
  final b
}
";
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let [one] = done.charts.as_slice() else { panic!("one chart") };
    let (chart, map, options) = (one.chart(), one.map(), Options::default());

    let picture = mermaid(chart, map, &options);
    has(&picture, "a : ⧉ call find each q in qs look");
    has(&picture, "a : ⧉ human sure each q in qs");

    // A stack of boxes: two of the sides of those below.
    let picture = dot(chart, map, &options);
    assert_eq!(picture.matches("sides=\"RB\"").count(), 4, "{picture}");
    has(&picture, "<b>human</b></font> sure each q in qs</font></td></tr></table></td></tr>");

    insta::assert_snapshot!(outline(chart, map, &options, &OutlineLayout::default()), @r"
    S
    ├─● a
    │     call    find each q in qs look (up to 20, enough 3, 4 at a time, else none)  → b
    │     human   sure each q in qs
    └─◉ b  final
    ");
}
