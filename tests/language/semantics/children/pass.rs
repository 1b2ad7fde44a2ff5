//! What goes into a child besides its params, and what comes out of it.

use super::Tree;
use chartc_core::host::Machine;

#[test]
fn a_final_computes_what_it_ends_with_after_its_enter_blocks() {
    let mut tree = Tree::of(
        r#"
chart Count {
  event go
  var n: Int = 1
  initial a
  state a { on go -> over { n = n + 1 }  exit { n = n * 10 } }
  final over(n: Int = n * 2, by: Text = "n is {n}") { enter { n = n + 3 } }
}
chart Main {
  event go
  var seen: Json = none
  initial counting
  state counting { run count Count() at entry  on done(count) as v -> over { seen = v } }
  final over(seen: Json = seen["n"])
}"#,
    );
    tree.send("go");
    // Left as 10, one more on the line, three more in the final.
    assert_eq!(tree.var("seen"), "{'n': 28, 'by': 'n is 14'}");
    let result = tree.family.root().result();
    assert_eq!(super::shown(&result[0].1), "28");
}

#[test]
fn what_a_final_cannot_compute_is_an_error_and_the_run_ends_all_the_same() {
    let mut tree = Tree::of(
        r"
chart Main {
  event go
  var xs: List(Int) = []
  initial a
  state a { on go -> over }
  final over(first: Int = xs[0])
}",
    );
    tree.send("go");
    assert_eq!(tree.since(), "+a · event go · -a · +over · error · -over · ended ok");
    assert_eq!(tree.family.root().result(), []);
}

/// Which of three charts, each of which counts `poke`s, get how many.
fn poked(own: &str) -> (String, String) {
    let counting = "initial a  state a { on poke { n = n + 1 note(\"{name} {n}\") }  on late { note(\"{name} late\") } }";
    let mut tree = Tree::of(&format!(
        "do note(text: Text)
         chart Below {{ param name: Text event poke event late var n: Int = 0 {counting} }}
         chart Middle {{
           param name: Text event poke event late var n: Int = 0 initial a
           state a {{ run below Below(\"{{name}}/below\") at entry {own} }}
         }}
         chart Main {{
           event poke event late var n: Int = 0 initial a
           state a {{
             run first Middle(\"none\") at entry events none
             run second Middle(\"rest\") at entry
             run third Middle(\"all\") at entry events all
             on poke {{ note(\"main\") }}
           }}
         }}"
    ));
    let poked = tree.send("poke").said();
    (poked, tree.send("late").said())
}
#[test]
fn a_child_is_passed_the_rest_of_the_events_or_all_or_none() {
    let (poked, late) = poked("");
    // What `main` handles goes only where all goes; `all` does not handle it and passes it on.
    assert_eq!(poked, "main · all/below 1");
    assert_eq!(late, "rest/below late · all/below late");
}

#[test]
fn a_child_that_is_passed_nothing_leaves_those_below_it_without_as_well() {
    let (poked, late) = poked("events none");
    assert_eq!((poked.as_str(), late.as_str()), ("main", ""));
    let (poked, late) = self::poked("events all");
    assert_eq!(poked, "main · all/below 1");
    assert_eq!(late, "rest/below late · all/below late");
}
