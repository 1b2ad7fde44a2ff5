//! Names: unknown ones, duplicates, scopes.

use super::{chart, faults, shown};

#[test]
fn unknown_names_are_reported_with_what_was_meant() {
    shown!(faults(
        r#"
type Post { id: Text }
enum Mood { calm angry }
fn score(post: Post) -> Float
do publish(kind: Text)
client fast { model "a:b" temprature 0.1 fallback slow actions odda }
client form { model "a:b" actions "ooda" }
chart Names {
  param patience: Itn = 5
  var post: Post?
  var mood: Mood = Mood.angy
  var other: Moood = Mood.calm
  event sees_post(post: Post)
  pred ready = patience > limit
  initial idel
  state idle {
    on see_post(p) -> browsing
    on sees_post(p) if scor(p) > 0.5 -> browsing.scroling
    on sees_post(p) if p.idd == "a" -> scrolling
    when redy -> idle
    llm think with fats { prompt "{patiense} {post.idd}" } -> browsing
    on done(thinc) -> idle
    on error.exec -> idle
    on limit.warn.cals -> idle
  }
  state browsing {
    initial scrolling
    state scrolling { on sees_post -> idle { publsh("x")  pst = none  raise sees(1) } }
  }
  final end : okay
  component c into thinkk """text"""
  check reach(idle)
  check reaches(browsing.scrol)
}
test "one" for Nams { }
"#
    ));
}

#[test]
fn options_of_a_server_cannot_set_what_requests_set() {
    shown!(faults(
        r#"
client c { model "a:b" options { max_tokens 9 temperature 0.1 messages "x" seed 1 seed 2 t 3s } }
client d { model "a:b" options 3 }
chart Names {
  initial idle
  state idle {}
}
"#
    ));
}

#[test]
fn names_declared_twice_show_both_places() {
    shown!(faults(
        r#"
type A { x: Int  x: Text }
enum A { one }
enum B { one one }
type List { x: Int }
fn f(a: Int, a: Int) -> Int
do f()
fn len(x: Text) -> Int
tool t() -> Json
tool t() -> Json
tools t = any
client c { model "a:b"  model "c:d" }
chart Twice {
  var x: Int = 1
  param x: Int = 2
  pred x = true
  event e(a: Int, a: Int)
  event e
  initial s
  state s {
    llm step { prompt "a" }
    on e(n, n) -> s
  }
  state s { llm step { prompt "b" } }
  client c { model "e:f" }
  limits { turns 3  turns 4 }
}
chart Twice { initial a  state a }
"#
    ));
}

#[test]
fn names_that_are_the_machines_own() {
    shown!(faults(
        r"
chart Reserved {
  event done
  event error.mine
  event limit
  event `turn`
  event donely
  initial a
  state a { on donely -> a }
}
"
    ));
}

#[test]
fn paths_are_sought_among_children_then_outward() {
    let chart = chart(
        r"
chart Paths {
  event go
  initial a
  state a {
    initial x
    on go -> x
    state x { on go -> y }
    state y { initial x  on go -> x  state x { on go -> x } }
  }
  state x { on go -> a.y.x }
}
",
    );
    let targets: Vec<_> = chart
        .transitions
        .iter()
        .map(|t| {
            (chart.state(t.source).path.as_str(), chart.state(t.targets[0].state).path.as_str())
        })
        .collect();
    let expected =
        [("a", "a.x"), ("a.x", "a.y"), ("a.y", "a.y.x"), ("a.y.x", "a.y.x"), ("x", "a.y.x")];
    assert_eq!(targets, expected);
}

#[test]
fn the_first_name_of_a_path_decides() {
    shown!(faults(
        r"
chart First {
  event go
  initial a
  state a {
    initial b
    state b { on go -> b.deep }
  }
  state b { initial deep  state deep }
}
"
    ));
}

#[test]
fn names_inside_hide_names_outside() {
    let chart = chart(
        r"
chart Hiding {
  event go(x: Int)
  var x: Text = ``
  var turns: Text = ``
  var n: Int = 0
  var t: Text = ``
  initial a
  state a { on go(x) if [x for x in [x]] == [x] -> a { n = x  t = turns } }
}
"
        .replace("``", "\"\"")
        .as_str(),
    );
    insta::with_settings!({ omit_expression => true }, { insta::assert_debug_snapshot!(chart.transitions[0].actions) });
}

#[test]
fn what_stands_once_in_its_place() {
    shown!(faults(
        r#"
chart Once {
  meta { author: "a"  author: "b" }
  var v: Int = 0
  initial a
  state a {
    llm think {
      prompt "x"
      returns Int into v
      returns Text
      ends turn
      ends turn if v > 3
    }
  }
}
test "one" for Once { }
test "one" for Once { }
"#
    ));
}

#[test]
fn names_that_lines_and_finals_bind() {
    shown!(faults(
        r#"
type Customer { name: Text }
chart Bound {
  param p: Text = ""
  var id: Text = ""
  var customer: Customer? = none
  event ticket(id: Text, p: Text)
  do tell(why: Text)
  initial a
  state a {
    on ticket(id, p) -> b("{customer}") { id = id  p = p }
    on ticket(other) -> b("x") { id = other }
  }
  final b(why: Text) : stuck { enter { tell(why) } }
}
"#
    ));
}

#[test]
fn the_options_of_a_question_are_guessed_in_its_prompt_only() {
    let text = r#"
chart Guess {
  event e
  initial a
  state a {
    ask choose on e else b { prompt "{optoins}" }
    may one "first" -> b
    may two "second" -> a
  }
  state b { llm tell { prompt "{optoins}" } -> a }
}
"#;
    let done = super::check(text);
    let helps: Vec<Option<&str>> = done
        .diagnostics
        .iter()
        .filter(|d| d.message.contains("optoins"))
        .map(|d| d.help.as_deref())
        .collect();
    assert_eq!(helps, [Some("did you mean `options`?"), None]);
}

#[test]
fn names_of_earlier_versions() {
    shown!(faults(
        r#"
chart Renamed {
  param p renamed_from q: Int = 1
  input i renamed_from j, k: Int
  var v renamed_from p: Int = 0
  var w renamed_from w: Int = 0
  var x renamed_from old: Int = 0
  var y renamed_from old: Int = 0
  initial a
  state a renamed_from b {
    initial c
    state c renamed_from b {}
    state d renamed_from c {}
    history h renamed_from past deep -> c
    llm s renamed_from t { prompt "{p} {i} {v} {w} {x} {y}" }
    code u renamed_from s { v = 1 }
    ask o renamed_from g, g on turn else stay { prompt "{options}" }
    may go "" -> b
  }
  parallel b renamed_from `a/b` { state e renamed_from f {} }
  final z renamed_from a : partial
}
"#
    ));
    let chart = super::chart(
        "chart C {
          var v renamed_from u, t: Int = 0
          initial a
          state a renamed_from b { code s renamed_from r { v = v + 1 } -> z }
          final z renamed_from `a.b`
        }",
    );
    let old: Vec<&str> = chart.renames.iter().map(|rename| rename.old.as_str()).collect();
    assert_eq!(old, ["b", "r", "a.b", "u", "t"]);
}

#[test]
fn states_inside_others_need_their_paths() {
    shown!(faults(
        r#"
chart Nested {
  event go
  initial a
  state a {
    initial one
    state one { on go -> two }
    state two { on go -> b.same }
  }
  state b { initial same  state same { on go -> one } }
  state c { initial same  state same  on go -> missing }
  on go -> same
}
test "paths" for Nested { expect at two  expect at a.two  expect at same }
"#
    ));
}
