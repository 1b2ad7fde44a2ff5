//! Charts that are run for each element of a list.

use super::Tree;

/// `Main` runs a chart for each of these numbers, some at a time.
fn fan(numbers: &str, at_a_time: u32, child: &str, main: &str) -> Tree {
    Tree::of(&format!(
        "do note(text: Text)
         chart Child {{
           param n: Int
           event ask(n: Int) event told(n: Int) event end initial a
           state a {{ {child} on end -> over(n) }}
           final over(n: Int)
         }}
         chart Main {{
           event ask(n: Int) event told(n: Int) event end event go event stop
           var seen: Json = none
           initial idle
           state idle {{ on go -> a }}
           state a {{
             run dig each n in {numbers} Child(n) {{ {at_a_time} at a time  retry 0 then skip  done -> idle {{ seen = dig }} }}
             {main}
             on stop -> idle
           }}
         }}"
    ))
}

#[test]
fn a_chart_that_begins_when_another_has_ended_has_a_turn_at_once() {
    let mut tree = fan("[0, 1, 2]", 2, "code c { }", "");
    tree.send("go");
    tree.since();
    tree.turn();
    assert_eq!(
        tree.since(),
        "turn 1 · started dig · started dig[0] · started dig[1] · turn 1 ended · dig[0]: +a · dig[1]: +a · \
         dig[0]: turn 1 · dig[0]: started c · dig[0]: done c · dig[0]: turn 1 ended · \
         dig[1]: turn 1 · dig[1]: started c · dig[1]: done c · dig[1]: turn 1 ended"
    );
    // The first one that handles it is the first.
    tree.send("end");
    assert_eq!(
        tree.since(),
        "event end · refused end · dig[0]: event end · dig[0]: -a · dig[0]: +over · dig[0]: -over · dig[0]: ended ok · \
         done dig[0] · started dig[2] · dig[2]: +a · dig[2]: turn 1 · dig[2]: started c · dig[2]: done c · dig[2]: turn 1 ended"
    );
    tree.restart();
    tree.send("end").send("end");
    assert_eq!(tree.var("seen"), "[{'n': 0}, {'n': 1}, {'n': 2}]");
    assert_eq!(tree.leaves(), ["idle"]);
}

#[test]
fn an_event_goes_to_the_chart_of_one_element_or_to_all() {
    let mut tree = fan(
        "[5, 6, 7]",
        2,
        "on ask(m) { note(\"{n} asked {m}\") send told(n) to parent }",
        "on told(n) { note(\"told {n}\") }
         on ask(n) { send ask(n) to dig[n] send ask(n) to dig[n] after 3s }",
    );
    tree.send("go").turn();
    tree.since();
    tree.send_with("ask", 1);
    assert_eq!(tree.said(), "6 asked 1 · told 6");
    assert_eq!(
        tree.since(),
        "event ask · posted ask to dig[1] · dig[1]: event ask · dig[1]: posted told to parent · event told"
    );
    // What waits is for the same one, also in a run that goes on.
    tree.restart();
    tree.at(3000);
    assert_eq!(tree.said(), "6 asked 1 · told 6");
    tree.since();
    // The third one has not begun, and there is no fourth.
    for absent in [2, 3] {
        tree.send_with("ask", absent);
        let lost = format!("undelivered ask to dig[{absent}]");
        assert_eq!(tree.since(), format!("event ask · posted ask to dig[{absent}] · {lost}"));
    }
    tree.send_with("ask", -1);
    assert_eq!(tree.since(), "event ask · error");
    assert_eq!(tree.said(), "");
    let mut tree = fan(
        "[5, 6, 7]",
        2,
        "on ask(m) { note(\"{n} asked {m}\") }",
        "on ask(n) { send ask(n) to dig }",
    );
    tree.send("go").turn();
    tree.since();
    tree.send_with("ask", 9);
    assert_eq!(tree.said(), "5 asked 9 · 6 asked 9");
    assert_eq!(
        tree.since(),
        "event ask · posted ask to dig · dig[0]: event ask · dig[1]: event ask"
    );
}

#[test]
fn only_elements_have_an_index() {
    let found = super::post::found(
        "chart Child { event x initial a state a { on x -> b } final b }
         chart Main { event x event y(t: Text) initial a
           state a { run one Child() at entry run all each n in [1] Child()
             on x { send x to one[0] } on y(t) { send x to all[t] } } }",
    );
    assert_eq!(
        found,
        [
            "C0202 0: `one` runs one chart, and has no elements (leave the index out)",
            "C0401 t: expected `Int`, found `Text` ()",
        ]
    );
}
