//! `error.stuck.loop`: the same tool call of a model, three times in a row.

use super::Sim;

const TOOLS: &str = "
tool web.find(query: Text) -> Json
tool web.read(url: Text) -> Text
tools web = web.find | web.read
";

fn chart(lines: &str) -> String {
    format!(
        "{TOOLS}chart T {{
  event go
  initial a
  state a {{
    ask choose on go else stay {{ prompt \"{{options}}\" }}
    may call web
    may rest \"rest\"
  }}
  state b
  {lines}
}}"
    )
}

const NAMED: &str = "on error.stuck.loop -> b";

/// Calls a tool as often as it has outcomes: whether it succeeds.
fn calls<'s>(sim: &'s mut Sim, tool: &str, argument: &str, outcomes: &[bool]) -> &'s mut Sim {
    for succeeds in outcomes {
        sim.send("go").call("choose", tool, &[argument]);
        if *succeeds {
            sim.done("choose", "\"x\"");
        } else {
            sim.fail("choose");
        }
    }
    sim
}

#[test]
fn the_third_equal_call_in_a_row_is_a_loop_whatever_comes_of_it() {
    for outcomes in [[true; 3], [false; 3], [true, false, true]] {
        let mut sim = Sim::of(&chart(NAMED));
        calls(&mut sim, "web.find", "\"x\"", &outcomes[..2]);
        assert_eq!(sim.leaves(), ["a"], "{outcomes:?}");
        calls(&mut sim, "web.find", "\"x\"", &outcomes[2..]);
        assert_eq!(sim.leaves(), ["b"], "{outcomes:?}");
        assert!(sim.trace().contains("stuck loop"), "{}", sim.trace());
    }
}

#[test]
fn other_arguments_another_tool_and_another_option_begin_anew() {
    let mut sim = Sim::of(&chart(NAMED));
    calls(&mut sim, "web.find", "\"x\"", &[true; 2]);
    calls(&mut sim, "web.find", "\"y\"", &[true; 2]);
    calls(&mut sim, "web.read", "\"y\"", &[true; 2]);
    calls(&mut sim, "web.find", "\"y\"", &[true; 2]);
    sim.send("go").choose("choose", "rest");
    calls(&mut sim, "web.find", "\"x\"", &[true]);
    calls(&mut sim, "web.find", "\"y\"", &[true; 2]);
    assert_eq!(sim.leaves(), ["a"]);
    calls(&mut sim, "web.find", "\"y\"", &[true]);
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn only_a_chart_that_names_loops_is_told_of_them() {
    let silent = |lines: &str| {
        let mut sim = Sim::of(&chart(lines));
        calls(&mut sim, "web.find", "\"x\"", &[true; 3]);
        (sim.leaves(), sim.trace().contains("stuck loop"))
    };
    let stays = (vec!["a".to_owned()], false);
    assert_eq!(silent(""), stays);
    assert_eq!(silent("on error.* -> b"), stays);
    assert_eq!(silent("on error.stuck.dead -> b"), stays);
    let moves = (vec!["b".to_owned()], true);
    assert_eq!(silent("on error.stuck.* -> b"), moves);
    assert_eq!(silent("on error.* -> b  on error.stuck.loop { }"), moves);
}

#[test]
fn a_loop_that_goes_on_is_told_again_every_third_call() {
    let text = chart("var n: Int = 0\n  on error.stuck.loop { n = n + 1 }");
    let mut sim = Sim::of(&text);
    for (calls_made, told) in [(2, "0"), (1, "1"), (2, "1"), (1, "2")] {
        calls(&mut sim, "web.find", "\"x\"", &vec![true; calls_made]);
        assert_eq!(sim.var("n"), told);
    }
}

#[test]
fn the_repeated_value_is_that_which_streak_counts() {
    let text = chart(
        "var told: Json = none\n  on error.stuck.loop { told = [repeated(web.query), repeated(web.find.query), repeated(web.url)] }",
    );
    let mut sim = Sim::of(&text);
    calls(&mut sim, "web.find", "\"needle\"", &[true; 3]);
    assert_eq!(sim.var("told"), "['needle', 'needle', None]");
    calls(&mut sim, "web.read", "\"there\"", &[true; 3]);
    assert_eq!(sim.var("told"), "[None, None, 'there']");
}
