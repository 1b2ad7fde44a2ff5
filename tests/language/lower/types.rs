//! Types of expressions, templates, actions, declarations.

use super::{chart, faults, shown};

#[test]
fn conditions_are_bool() {
    shown!(faults(
        r#"
fn anything() -> Json
chart Conditions {
  var n: Int = 0
  var t: Text? = none
  var j: Json = none
  var b: Bool? = none
  var s: Text = ""
  event go
  initial a
  state a {
    on go if n -> a
    on go if j -> a
    on go if bool(j) -> a
    on go if t -> a
    on go if b ?? false -> a
    on go if not t -> a
    on go if n > 1 and anything() -> a
    on go if nothing and n -> a
    when n > 1 if t == none -> a
  }
}
"#
    ));
}

#[test]
fn what_may_be_missing_is_tested_first() {
    shown!(faults(
        r#"
type Author { name: Text  age: Int? }
type Post { author: Author?  text: Text }
chart Optional {
  var post: Post? = none
  var t: Text = ""
  var n: Int = 0
  var list: List(Int?) = [1, none]
  event go(p: Post?)
  initial a
  state a {
    on go if post.text == "x" -> a { t = post.text }
    on go if post != none and post.text == "x" -> a { t = post.text }
    on go if post == none or post.text == "x" -> a { t = post.text }
    on go if post.author.name == none -> a { t = post.author.name ?? "" }
    on go if post.author.age != none -> a { n = post.author.age  t = post.author.name }
    on go(p) if p != none -> a { post = p  t = post.text }
    on go(p) -> a { post = p  t = post.text }
    on go(p) -> a { t = (if p != none then p.text else "")  t = (if p == none then p.text else p.text) }
    on go if not (post == none) -> a { t = post.text  post = none  t = post.text }
    on go { n = len([x for x in list if x != none])  n = sum([x for x in list if x != none]) }
    on go { n = list[0]  n = list[0] ?? 1  t = post ?? "x"  n = post.author.age ?? 1.5 }
    on go { log "{post.text} {post.text ?? t}" }
    code c {
      if post != none { t = post.text } else { t = post.text }
      t = post.text
      if post == none { post = Post { text: "" } }
      t = post.text
      for x in list { t = post.text  post = none }
      t = post.text
    }
  }
}
"#
    ));
}

#[test]
fn operators() {
    shown!(faults(
        r#"
enum Mood { calm angry }
enum Other { calm }
type R { a: Int }
chart Operators {
  var n: Int = 1
  var x: Float = 1
  var t: Text = "a" + 1
  var d: Duration = 3s + 2
  var m: Mood = "calm"
  var o: Other = Other.calm
  var l: List(Int) = [1, 2.5, "a"]
  var l2: List(Float) = [1, 2]
  var l3: List(Float) = l
  var map: Map(Text, Int) = {"a": 1, "b": "c"}
  var r: R = R { a: "x"  b: 2 }
  var r2: R = R { }
  var r3: R = Mood { a: 1 }
  var j: Json = [1, "a", {"b": none}]
  event go
  initial a
  state a {
    on go if n == "a" or m == "calm" or m == o or n == x or n == none -> a
    on go if t < 1 or m < m or d > 3 or 1 < n < 2.5 -> a
    on go if n in t or "a" in t or n in l or t in l or t in map or n in n -> a
    on go { n = 7 / 2  x = 7 / 2  n = 7 div 2  x = n ** 2  n = n ** 2  n = n ** n  n = 1 + 2.5 }
    on go { n = -t  n = l[0]  n = l["a"]  n = map["a"]  t = t[0:2]  n = n[0]  t = n.field  n = map.a }
    on go { x = if n > 1 then 1 else 2.5  t = if n > 1 then "a" else 2  j = if n > 1 then "a" else 2 }
    on go { n = j  t = j.a[0].b  n = j + 1  x = n  d = 2 * d  t = t * 3 }
  }
}
"#
    ));
}

#[test]
fn functions_and_their_arguments() {
    shown!(faults(
        r#"
fn pure(a: Int, b: Text?) -> Text else 3
fn other(a: Float) -> Float else 1
do effect(a: Float)
chart Calls {
  var n: Int = 0
  var x: Float = 0.0
  var t: Text = pure(1, none)
  var l: List(Text) = []
  var j: Json = none
  event go(a: Int, b: Text?)
  initial a
  state a {
    on go { effect(1)  effect("a")  effect()  pure(1, "a")  len(l)  nothing(1) }
    on go { t = pure(1)  t = pure(1, "b")  t = pure("a", none)  t = effect(1) }
    on go { n = len(n)  n = len(t, t)  n = max(1, 2)  n = max(l)  n = max(1, 2.5)  x = min(1, 2.5)  n = max(t, 1) }
    on go { n = round(x)  x = round(x, 2)  n = round(t)  n = sum(l)  n = sum([1, 2])  x = abs(x)  n = abs(x) }
    on go { l = sorted(l)  l = set(l)  l = [lower(w) for w in l]  t = upper(n)  t = concat(n, x, t)  t = str(l) }
    on go { n = int("3")  x = float(n)  n = int(l)  t = get({"a": "b"}, "a")  t = get({"a": "b"}, "a", "c")  t = get(l, "a") }
    on go if is_a(j, "int") or is_a(j, "integer") or any(l) or starts_with(t, n) -> a
    on go if in(a) and in(nowhere) and in(n + 1) and turns_in(a) > 1 -> a
    on go(a, b) { raise go(1, none)  raise go("a")  raise go(a, b) }
    on go(a, b, c) { n = 1 }
    on go { n = [k for k in j]  l = [k for k in {"a": 1}]  l = [c for c in t]  l = [c for c in n] }
  }
}
"#
    ));
}

#[test]
fn elements_of_sets() {
    shown!(faults(
        r"
type R { a: Int }
enum E { one }
chart Sets {
  var r: List(R) = []
  var o: List(R?) = []
  var l: List(List(Int)) = []
  var m: List(Map(Text, Int)) = []
  var e: List(E) = []
  var j: List(Json) = []
  var t: List(Text?) = []
  event go
  initial a
  state a {
    on go { r = set(r)  o = set(o)  l = set(l)  m = set(m) }
    on go { e = set(e)  j = set(j)  t = set(t) }
  }
}
"
    ));
}

#[test]
fn variables_and_what_may_change_them() {
    shown!(faults(
        r#"
type Loop { a: Loop }
type A { b: B? }
type B { a: List(A)  c: Map(Int, Text) }
chart Variables {
  param low: Int in 5..1
  param p: Int in 1..10 = 11
  param q: Float in 0..1 = 0.5
  param t: Text in 1..2 = "a"
  param early: Int = late
  param late: Int = p + 1
  param wrong: Int = i
  input i: Int = p
  var v: Int
  var self: Int = self
  var here: Int = turns
  var per: Float = q per turn
  pred first = second
  pred second = v > 1
  event go(a: Int)
  initial s
  state s {
    on go(a) { p = 1  i = 2  a = 3  second = true  v = "x"  step = 1  v = turns_here }
    code step { p = 1  for x in [1] { x = 2  v = x }  for y in v { v = 1 } }
  }
}
"#
    ));
}

#[test]
fn placeholders_and_their_formats() {
    shown!(faults(
        r#"
type R { a: Int }
enum E { one }
chart Prompts {
  var n: Int = 0
  var x: Float = 0.0
  var t: Text = "{x:.2f}"
  var l: List(Int) = []
  var j: Json = none
  var r: R? = none
  var e: E = E.one
  var d: Duration = 3s
  initial a
  state a {
    llm good { prompt "{n:,} {n:05d} {n:+.2f} {x:.0%} {x:,.2f} {x:>10} {t:>10} {t:.3} {l} {j:anything} {j:.2f} {e:>4} {d}" }
    llm bad { prompt "{n:.2} {n:s} {x:d} {t:,} {t:d} {l:>3} {x:.} {x:5q} {r} {r.a} {r.a ?? 0:d} {nn} {options} {state} {turns:d}" }
    ask q on turn else stay { prompt "{options} {options:d} {n.x}" }
    may x "say {n:q}" -> a
    advice "{tt}"
    on turn { log "{n" }
    llm braces { prompt "a } b { c {{ok}} {}" }
  }
  component c into good """{options}"""
}
"#
    ));
}

#[test]
fn arguments_of_finals_and_options() {
    shown!(faults(
        r#"
chart Arguments {
  var n: Int = 0
  initial a
  state a {
    ask q on turn else end("x", 1) { prompt "{options}" }
    may one(t: Text, k: Int) "say" if t == "a" -> end(t, k)
    may two(t: Text) -> end(t)
    may three(k: Nope) -> end("a", "b") { n = k }
    may four -> a(1)
    may five { n = missing }
  }
  final end(t: Text, n: Int) : partial
}
"#
    ));
}

#[test]
fn conversions_are_explicit() {
    let chart = chart(
        r"
chart Convert {
  var x: Float = 2
  var n: Int = 1
  initial a
  state a { on turn { x = n  x = n + 0.5  x = n / 2  x = if n > 1 then n else 1.5  x = max(n, x) } }
}
",
    );
    insta::with_settings!({ omit_expression => true }, { insta::assert_debug_snapshot!(chart.transitions[0].actions) });
}

#[test]
fn what_cannot_be_read_is_reported_once() {
    let deep = format!("{}1 > 3", "1 + ".repeat(150));
    let long = ["n"; 200].join(" < ");
    for guard in [deep, long] {
        let text =
            format!("chart A {{ var n: Int = 0 initial a state a {{ on turn if {guard} -> a }} }}");
        let compilation = super::check(&text);
        let found = compilation.diagnostics.iter().filter(|d| d.rule.code.starts_with("C0"));
        assert_eq!(found.count(), 1, "{:?}", compilation.diagnostics);
    }
}

#[test]
fn what_tools_return_is_kept_where_it_fits() {
    shown!(faults(
        "type Hit { title: Text }
tool web.find(query: Text) -> List(Hit)
tool web.read(url: Text) -> Text
tool web.raw(url: Text) -> Json
tools finding = web.find
tools reading = web.read | web.raw
tools web = finding | reading
chart C {
  var hits: List(Hit) = []
  var page: Text = \"\"
  var anything: Json = none
  initial a
  state a {
    ask next on turn else stay { prompt \"{options}\" }
    may call finding into hits
    may call reading into page
    may call web into anything
    may call web into page
    may call any_tool into page
  }
}"
    ));
}
