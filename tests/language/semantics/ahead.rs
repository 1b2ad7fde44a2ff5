//! What is worked out ahead of a run changes nothing: indexes of lines, routes, compiled conditions, deadlines in order.

use super::Sim;
use chartc_core::host::Machine;
use std::fmt::Write;

cases! { "ahead.cases":
    a_state_with_many_lines_tries_them_in_the_order_they_are_written
    many_lines_with_an_event_left_out_are_tried_in_order
    a_count_that_overflows_ends_its_block_with_an_error
}

#[test]
fn many_deadlines_fire_in_the_order_they_are_due_and_of_those_at_one_time_in_document_order() {
    let due = [7, 3, 9, 3, 12, 1, 9, 5, 2, 3, 11, 4];
    let mut text = "chart T { event drop var l: Text = \"\" initial p parallel p {".to_owned();
    for (i, seconds) in due.iter().enumerate() {
        let drop = if i % 4 == 1 { format!("on drop -> c{i}") } else { String::new() };
        let _ = write!(
            text,
            "state r{i} {{ initial a{i} state a{i} {{ after {seconds}s -> b{i} {{ l = concat(l, \" {i}\") }} {drop} }}
             state b{i} state c{i} }}"
        );
    }
    text += "} }";
    let mut sim = Sim::of(&text);
    sim.play("send drop; at 100000");
    let mut left: Vec<usize> = (0..due.len()).filter(|i| i % 4 != 1).collect();
    left.sort_by_key(|i| due[*i]);
    let expected: String = left.iter().map(|i| format!(" {i}")).collect();
    assert_eq!(sim.var("l"), expected);
    assert_eq!(sim.machine.next_deadline(), None);
}

/// A condition inside of a comprehension is not compiled: both have to say the same.
#[test]
fn compiled_conditions_hold_when_the_evaluator_says_so() {
    for (condition, holds) in [
        ("n > 2", true),
        ("n >= 4", false),
        ("n != 3", false),
        ("n + 2 * n - 1 == 8", true),
        ("-n < -2 and n % 2 == 1", true),
        ("(0 - 7) div 2 == -4 and (0 - 7) % 3 == 2", true),
        ("x < 2.5", false),
        ("x * 2.0 - 1.0 == 4.0", true),
        ("not b", false),
        ("b and not (n == 3 or x == 0.0)", false),
        ("if b then n == 3 else n == 4", true),
        ("kind == Kind.two", true),
        ("kind != Kind.two", false),
        ("in(s) and not in(other)", true),
        ("small or b", true),
        ("n div 0 == 1 or b", false),
        ("n + 9223372036854775807 > 0", false),
        ("b or n div 0 == 1", true),
    ] {
        let mut sim = Sim::of(&format!(
            "enum Kind {{ one two }}
             chart T {{ event e event f var n: Int = 3 var x: Float = 2.5 var b: Bool = true
               var kind: Kind = Kind.two var l: Text = \"\" pred small = n < 3 initial s
               state s {{
                 on e if {condition} {{ l = concat(l, \"compiled\") }}
                 on f if len([0 for i in [1] if {condition}]) == 1 {{ l = concat(l, \" evaluated\") }}
                 on * if n < 0 -> other
               }}
               state other }}"
        ));
        sim.play("send e; send f");
        assert_eq!(sim.var("l"), if holds { "compiled evaluated" } else { "" }, "{condition}");
    }
}
