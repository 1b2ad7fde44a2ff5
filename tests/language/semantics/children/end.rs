//! What the end of a chart means for the step that runs it, and how it is stopped.

use super::{FETCH, LOADING, Tree, main};

#[test]
fn the_answer_is_what_the_final_was_given() {
    let mut tree = main(LOADING);
    tree.send("go").send_with("got", 4);
    assert_eq!(
        (tree.var("seen"), tree.var("why")),
        ("{'n': 4, 'from': 'u'}".into(), String::new())
    );
    assert_eq!(tree.leaves(), ["idle"]);
}

#[test]
fn the_answer_is_of_the_type_that_the_step_returns() {
    let text = |returns: &str| {
        format!(
            "type Got {{ n: Int  from: Text }}{FETCH}
chart Main {{
  event got(n: Int)
  var kept: Got? = none
  var seen: Int = 0
  initial a
  state a {{
    run fetch Fetch(\"u\") at entry {{ returns {returns} error -> bad }}
    on done(fetch) as v {{ seen = v.n + 1 }}
  }}
  state bad
}}"
        )
    };
    let mut tree = Tree::of(&text("Got into kept"));
    tree.send_with("got", 4);
    assert_eq!((tree.var("seen"), tree.var("kept")), ("5".into(), "{'n': 4, 'from': 'u'}".into()));
    // One that does not fit is an error.
    let mut tree = Tree::of(&text("Int").replace("v.n", "v"));
    tree.send_with("got", 4);
    assert_eq!(tree.leaves(), ["bad"]);
}

#[test]
fn another_status_than_ok_or_partial_is_an_error_that_says_so() {
    for (end, why) in [
        ("ok", ""),
        ("partial", ""),
        ("stuck", "`Child`: it ended with status stuck"),
        ("limit", "`Child`: it ended with status limit"),
        ("canceled", "`Child`: it ended with status canceled"),
        ("error", "`Child`: it ended with status error"),
    ] {
        let tree = Tree::of(&format!(
            "chart Child {{ initial a  state a {{ when true -> b }}  final b : {end} }}
chart Main {{
  event go
  var why: Text = \"\"
  initial a
  state a {{
    run c Child() at entry
    on done(c) -> b
    on error(c) as w -> b {{ why = w }}
  }}
  state b {{ on go -> a }}
}}"
        ));
        assert_eq!((tree.var("why").as_str(), tree.leaves()), (why, vec!["b".to_owned()]), "{end}");
    }
}

#[test]
fn a_chart_that_can_do_nothing_more_is_an_error() {
    let tree = Tree::of(
        "chart Child { initial a  state a { when true -> b }  state b }
chart Main {
  event go
  var why: Text = \"\"
  initial a
  state a { run c Child() at entry  on error(c) as w -> b { why = w } }
  state b { on go -> a }
}",
    );
    assert_eq!(tree.var("why"), "`Child`: it can do nothing more");
    assert_eq!(tree.leaves(), ["b"]);
}

#[test]
fn a_chart_that_its_error_moves_on_lives() {
    let tree = Tree::of(
        "chart Child { event go  initial a  state a { on error.stuck.dead -> b }  state b { on go -> a } }
chart Main {
  event go
  initial a
  state a { run c Child() at entry  on error(c) -> b }
  state b { on go -> a }
}",
    );
    assert_eq!(tree.leaves(), ["a", "c: b"]);
}

#[test]
fn leaving_the_state_stops_the_chart_and_its_exit_blocks_run() {
    let mut tree = main(LOADING);
    tree.send("go").since();
    tree.send("stop");
    assert_eq!(
        tree.since(),
        "event stop · -loading · +idle · fetch: -waiting · fetch: ended canceled"
    );
    assert_eq!(tree.host.0.borrow().as_slice(), ["note(left u)"]);
    assert_eq!(tree.leaves(), ["idle"]);
}

#[test]
fn a_stopped_chart_has_no_share_in_the_turn_that_stopped_it() {
    let mut tree = Tree::of(
        "chart Child { initial a state a { on turn -> b } state b { on turn -> a } }
chart Main {
  event go
  initial idle
  state idle { on go -> busy }
  state busy { run child Child() at entry  on turn -> idle }
}",
    );
    tree.send("go").since();
    tree.turn();
    assert_eq!(tree.leaves(), ["idle"]);
    let told = tree.since();
    assert!(told.contains("child: ended canceled") && !told.contains("child: +b"), "{told}");
}

#[test]
fn the_end_of_the_run_stops_all() {
    let mut tree = main(
        r#"
  initial a
  state a { run fetch Fetch("u") at entry  on go -> b }
  final b
"#,
    );
    tree.send("go");
    assert_eq!(tree.leaves(), ["b"]);
    assert_eq!(tree.host.0.borrow().as_slice(), ["note(left u)"]);
}

#[test]
fn a_timeout_stops_the_chart() {
    let mut tree = main(
        r#"
  initial a
  state a { run fetch Fetch("u") at entry { timeout 3s { why = "slow" } } }
"#,
    );
    tree.since();
    tree.at(3000);
    assert_eq!(tree.since(), "fetch: -waiting · fetch: ended canceled");
    assert_eq!((tree.var("why"), tree.leaves()), ("slow".into(), vec!["a".into()]));
}
