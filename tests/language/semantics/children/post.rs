//! Events that charts send to the charts that they run, and to the one that runs them.

use super::Tree;
use chartc::load::Memory;

/// `Main` runs `Child`, with these lines in its state `a`; the child has these in its own, and both note what they hear.
fn pair(main: &str, child: &str) -> Tree {
    Tree::of(&format!(
        "do note(text: Text)
         chart Child {{
           event ask(n: Int) event told(n: Int) event end initial a
           state a {{ {child} on end -> over }}
           final over {{ enter {{ note(\"over\") }} }}
         }}
         chart Main {{
           event ask(n: Int) event told(n: Int) event end event go event stop
           initial idle
           state idle {{ on go -> a }}
           state a {{ run c Child() at entry events none {main} on stop -> idle }}
         }}"
    ))
}

impl Tree {
    pub(super) fn said(&self) -> String {
        let all = std::mem::take(&mut *self.host.0.borrow_mut());
        let all = all.iter().map(|note| note.trim_start_matches("note(").trim_end_matches(')'));
        all.collect::<Vec<_>>().join(" · ")
    }
}

#[test]
fn events_go_up_and_down_and_are_handled_after_what_sent_them() {
    let mut tree = pair(
        "enter { send ask(1) to c note(\"sent\") } on told(n) { note(\"told {n}\") send ask(n) to c note(\"more\") }",
        "on ask(n) if n < 3 { note(\"asked {n}\") send told(n + 1) to parent note(\"answered\") }
         on ask(n) { note(\"enough\") }",
    );
    tree.send("go");
    let said =
        "sent · asked 1 · answered · told 2 · more · asked 2 · answered · told 3 · more · enough";
    assert_eq!(tree.said(), said);
}

#[test]
fn what_is_sent_in_the_last_moment_comes_before_the_end_is_told() {
    let mut tree = pair(
        "on told(n) { note(\"told {n}\") } on done(c) { note(\"done\") } on end { send end to c }",
        "exit { send told(1) to parent }",
    );
    tree.send("go").send("end");
    assert_eq!(tree.said(), "over · told 1 · done");
}

#[test]
fn an_event_for_a_chart_that_does_not_run_is_lost_and_recorded() {
    let mut tree = pair("on told(n) { send ask(n) to c } on end { send end to c }", "");
    tree.send("go").send("end");
    assert!(tree.since().ends_with(
        "posted end to c · c: event end · c: -a · c: +over · c: -over · c: ended ok · done c"
    ));
    tree.send_with("told", 3);
    assert_eq!(tree.since(), "event told · posted ask to c · undelivered ask to c");
}

#[test]
fn an_outermost_chart_has_no_parent() {
    let mut tree = Tree::of(
        "chart Main { event go event up var n: Int = 0 initial a
         state a { on go { send up to parent send up to parent after 2s n = n + 1 } } }",
    );
    tree.send("go").at(2000);
    assert_eq!(tree.var("n"), "1", "no fault");
    let lost = "posted up to parent · undelivered up to parent";
    assert_eq!(tree.since(), format!("+a · event go · {lost} · {lost}"));
}

#[test]
fn a_chart_that_is_stopped_says_nothing_more() {
    let mut tree = pair("on told(n) { note(\"told\") }", "exit { send told(1) to parent }");
    tree.send("go");
    tree.since();
    tree.send("stop");
    assert_eq!(tree.said(), "");
    assert_eq!(
        tree.since(),
        "event stop · -a · +idle · c: posted told to parent · c: -a · c: ended canceled · c: undelivered told to parent"
    );
}

#[test]
fn events_for_others_wait_and_are_taken_back() {
    let mut tree = pair(
        "enter { send ask(1) to c after 5s  send ask(2) to c after 3s as soon  send ask(3) to c after 4s as soon }
         on end { cancel soon }",
        "on ask(n) { note(\"asked {n}\") }",
    );
    tree.send("go").at(3000);
    assert_eq!(tree.said(), "asked 2");
    tree.send("end").restart();
    tree.at(9000);
    assert_eq!(tree.said(), "asked 1");
}

#[test]
fn nobody_else_is_offered_what_was_sent_to_one() {
    let mut tree = Tree::of(
        "do note(text: Text)
         chart Low { event x initial a state a { on x { note(\"low\") } } }
         chart Middle { event x initial a state a { run low Low() at entry } }
         chart Main { event x event go initial a
           state a { run middle Middle() at entry on go { send x to middle } } }",
    );
    tree.send("go");
    assert_eq!(tree.said(), "");
    tree.send("x");
    assert_eq!(tree.said(), "low");
}

#[test]
fn an_event_goes_to_the_right_one_of_two() {
    let mut tree = Tree::of(
        "do note(text: Text)
         chart Child { param name: Text event x initial a state a { on x { note(name) } } }
         chart Main { event go event x initial a
           state a { run one Child(\"one\") at entry run two Child(\"two\") at entry
             on go { send x to two send x to one } } }",
    );
    tree.send("go");
    assert_eq!(tree.said(), "two · one");
}

pub(super) fn found(text: &str) -> Vec<String> {
    let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", text));
    done.diagnostics
        .iter()
        .map(|d| {
            let place = &text[d.span.start as usize..d.span.end as usize];
            format!("{} {place}: {} ({})", d.rule.code, d.message, d.help.as_deref().unwrap_or(""))
        })
        .collect()
}

#[test]
fn what_cannot_reach_anybody_is_a_finding() {
    let text = "
        chart Child { event ask(n: Int) event told(text: Text) event late event left initial a
          state a { on ask(n) { send told(\"x\") to parent  send late to parent  send left to parent } } }
        chart Main { event asks event ask(m: Int) event told(n: Int) event laet initial a
          state a {
            run c Child() at entry
            human h \"?\"
            on laet -> a  on asks { send asks to c  send ask(1) to c  send asks to d  send asks to h }
          } }";
    assert_eq!(
        found(text),
        [
            "C0401 told: `told` has other data in `Main` (both declare the event with the same names, types and ranges)",
            "C0102 late: `Main` has no event `late` (did you mean `laet`?)",
            "C0102 left: `Main` has no event `left` ()",
            "C0102 asks: `Child` has no event `asks` (did you mean `ask`?)",
            "C0401 ask: `ask` has other data in `Child` (both declare the event with the same names, types and ranges)",
            "C0102 d: no `run` step `d` ()",
            "C0202 h: `h` runs no chart, and takes no events (events go to the chart itself, to a `run` step, or to `parent`)",
        ]
    );
}

#[test]
fn who_is_passed_all_events_gets_no_copy_of_its_own() {
    let mut tree = Tree::of(
        "do note(text: Text)
         chart Child { param name: Text event x event y initial a
           state a { on x { note(\"{name} x\") } on y { send x to parent } } }
         chart Main { event x event y initial a
           state a {
             run one Child(\"one\") at entry events all
             run two Child(\"two\") at entry events all
             on x { note(\"main x\") }
             on y { send y to one }
           } }",
    );
    tree.send("x");
    assert_eq!(tree.said(), "main x · one x · two x");
    // Both get a copy of `y`, and `one` another one: each of the three comes back as an `x`, which the other one hears too.
    tree.send("y");
    let said = tree.said();
    let count = |what: &str| said.matches(what).count();
    assert_eq!((count("main x"), count("one x"), count("two x")), (3, 1, 2), "{said}");
}

#[test]
fn charts_that_write_to_each_other_without_end_are_stopped() {
    let mut tree = pair(
        "enter { send ask(1) to c } on told(n) { send ask(n) to c }",
        "on ask(n) { send told(n + 1) to parent }",
    );
    tree.send("go");
    let seen = tree.since();
    let (before, after) = seen.split_once("livelock").expect("it is recorded");
    assert!(before.matches("posted ask to c").count() > 4_000, "there is room for many");
    assert!(after.contains("undelivered"), "what is one too many is lost");
    tree.send_with("told", 1);
    assert!(tree.since().contains("livelock"), "another input has as much room");
    tree.send("stop");
    assert_eq!(tree.leaves(), ["idle"], "nothing is left over");
}
