//! What the names of grown charts mean. Only what a text names is declared in it, so that texts are short.

/// What is declared outside of the chart if it is named in the text or a later row: the name and its declaration.
pub const OUTSIDE: &[(&str, &str)] = &[
    ("P", "type P { a: Int b: Text? }"),
    ("E", "enum E { x y z }"),
    ("a.b", "tool a.b(q: Text, n: Int) -> Json"),
    ("a.c", "tool a.c(q: Text) -> List(Text)"),
    ("all_of_a", "tool a.d() -> P\ntools all_of_a = a.*"),
    (" c", "client c { model \"test:none\" retry 1 }"),
    ("act(", "do act(a: Int)"),
    ("is_it", "fn is_it(a: Int) -> Bool else false"),
    ("num", "fn num() -> Int"),
];

/// The same in the chart.
pub const INSIDE: &[(&str, &str)] = &[
    (" go", "event go"),
    ("stop", "event stop(n0: Int, t0: Text)"),
    ("deep", "event deep.one\n event deep.two(p0: P)"),
    ("b1", "var b1: Bool = false"),
    ("n1", "var n1: Int = 7"),
    ("n2", "var n2: Int = 0 per turn"),
    ("f1", "var f1: Float = 1.5"),
    ("t1", "var t1: Text = \"\""),
    ("l9", "var l9: List(Int) = [1, 2]"),
    ("m1", "var m1: Map(Text, Int) = {}"),
    ("o1", "var o1: Int? = none"),
    ("j1", "var j1: Json = none"),
    ("p1", "var p1: P = P { a: 1, b: none }"),
    ("e1", "var e1: E = E.x"),
    ("d1", "var d1: Duration = 3s"),
    ("i1", "input i1: Int = 0"),
    ("i2", "input i2: Bool = false"),
    ("r1", "param r1: Int in 1..9 = 3"),
    ("w1", "pred w1 = i2 and turns > 2"),
    ("w2", "pred w2 = w1 or i2"),
];

/// Where they stand in what grows.
pub const PLACES: (char, char) = ('\u{1}', '\u{2}');
