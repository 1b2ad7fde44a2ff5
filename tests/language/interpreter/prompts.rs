//! What a model is shown.

use super::{chart, start, text};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Fault, Input};
use chartc_core::plan::Plan;

const ASKING: &str = r#"
chart Asking {
  param name: Text
  var n: Int = 1234
  var rate: Float = 0.25
  var list: List(Text) = ["a", "it's"]
  component manners into choose at start, think if n > 2000 at start """Be polite."""
  component hint into choose at end """Hint for {name}."""
  component instead into think at replace """Only {n:,}."""
  initial a
  state a {
    advice "Advice for {name}."
    ask choose on turn else stay {
      prompt """
        {name:>4}: {n:,} {rate:.0%} {list} {state} {health}
        {advice}
        {options}
        """
    }
    may go "go on" -> b
    may tell(what: Text, times: Int?) "tell {name}" -> b
    may never "not now" if n > 5000 -> b
    may quiet -> b
  }
  state b {
    llm think { prompt "Think." }
  }
}
"#;

#[test]
fn a_question_with_components_and_options() {
    let chart = chart(ASKING);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("name", text("Ann"))]);
    run.give(Input::Turn, 0);
    let prompt = run.machine.prompt(run.open()).expect("a prompt that renders");
    let expected = " Ann: 1,234 25% ['a', \"it's\"] a STUCK\n\
                    Advice for Ann.\n\
                    - go: go on\n\
                    - tell(what: Text, times: Int?): tell Ann\n\
                    - quiet";
    assert_eq!(prompt.trim_end(), format!("Be polite.\n\n{expected}\n\nHint for Ann."));
}

#[test]
fn components_replace_the_prompt_or_stay_away() {
    let chart = chart(ASKING);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("name", text("Ann"))]);
    run.give(Input::Turn, 0);
    run.choose(run.open(), "go", Vec::new());
    run.give(Input::Turn, 0);
    assert_eq!(run.machine.prompt(run.open()).as_deref(), Ok("Only 1,234."));
}

#[test]
fn offers_are_the_enabled_options() {
    let chart = chart(ASKING);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("name", text("Ann"))]);
    run.give(Input::Turn, 0);
    let offers = run.machine.options(run.open());
    let names: Vec<_> = offers.iter().map(|offer| &*offer.name).collect();
    assert_eq!(names, ["go", "tell", "quiet"]);
    assert_eq!(offers[1].text, "tell Ann");
    assert_eq!(offers[2].text, "");
}

#[test]
fn a_placeholder_without_a_value_fails_the_prompt() {
    let chart = chart(
        r#"chart C { input n: Int initial a state a { llm think { prompt "{n:d} of {10 / n:.1f}" } } }"#,
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    assert_eq!(run.machine.prompt(run.open()), Err(Fault));
    assert_eq!(run.machine.take_notes(), ["prompt of `think`: `n` has no value yet"]);
    run.machine.set_input("n", Value::Int(0)).expect("an Int");
    assert_eq!(run.machine.prompt(run.open()), Err(Fault));
    assert_eq!(run.machine.take_notes(), ["prompt of `think`: division by zero"]);
    run.machine.set_input("n", Value::Int(4)).expect("an Int");
    assert_eq!(run.machine.prompt(run.open()).as_deref(), Ok("4 of 2.5"));
}

#[test]
fn a_key_of_nothing() {
    use chartc_core::arena::{StateId, StepId};
    use chartc_core::machine::{Outcome, Receipt, StepKey};
    let chart = chart(ASKING);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("name", text("Ann"))]);
    run.give(Input::Turn, 0);
    let open = run.open();
    for key in [
        StepKey { leaf: StateId(99), ..open },
        StepKey { step: StepId(99), ..open },
        StepKey { event: 99, ..open },
    ] {
        let input = Input::Answer(key, Outcome::Done(vec![Value::None]));
        assert_ne!(run.try_give(input, 0), Ok(Receipt::Handled));
        let _ = run.machine.options(key);
    }
    let nowhere = StepKey { leaf: StateId(99), ..open };
    assert_eq!(run.machine.prompt(nowhere), Err(Fault));
    assert_eq!(run.machine.prompt(StepKey { step: StepId(99), ..open }), Err(Fault));
    assert_eq!(run.machine.options(nowhere), []);
}

#[test]
fn the_last_result_is_the_text_of_the_last_answer() {
    let chart = chart(
        r#"chart C { initial a
           state a { llm think { prompt "{last_result}|" returns List(Text) } } }"#,
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    assert_eq!(run.machine.prompt(run.open()).as_deref(), Ok("|"));
    run.answer(run.open(), Value::List(vec![text("a")]));
    run.give(Input::Turn, 0);
    assert_eq!(run.machine.prompt(run.open()).as_deref(), Ok("['a']|"));
}
