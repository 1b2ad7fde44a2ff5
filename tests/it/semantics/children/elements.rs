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
