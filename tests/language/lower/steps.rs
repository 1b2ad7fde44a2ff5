//! Steps, questions, outcomes, and what does not run yet.

use super::{faults, shown};

#[test]
fn questions() {
    shown!(faults(
        r#"
client c { model "a:b" }
chart Questions {
  var n: Int = 0
  event go(a: Int)
  initial a
  state a {
    ask missing_else on turn { prompt "{options}" }
    ask dotted on any.thing else stay { prompt "x" }
    ask machine on error.execution else stay { prompt "x" }
    ask unknown on gone else nowhere { prompt "x" }
    ask items with c on turn always else stay {
      prompt "one"
      prompt "two"
      retry 2 then skip
      returns Int into n
      done -> a
      error -> a
    }
    may x -> a
    human k "x" with c
  }
}
"#
    ));
}

#[test]
fn outcomes_and_answers() {
    shown!(faults(
        r#"
type Plan { title: Text }
chart Outcomes {
  var plan: Plan? = none
  var title: Text = ""
  var n: Int = 0
  param p: Int = 1
  initial a
  defaults { retry 2 then -> gone }
  state a {
    llm think {
      prompt "x"
      returns Plan into plan
      done if think.title == "x" -> b { title = think.title }
      done if thinc.title == "x" -> b
      error -> b { title = think.title }
      timeout 30 -> b
      timeout 30s -> b
      doubt -> b
      ends turn if think.title
      retry 1 then skip
      retry 2
    } -> nowhere
    llm wrong { prompt "{think.title} {think.titel}"  returns Plan into title }
    llm other { prompt "x"  returns Int into p }
    llm json { prompt "{json.action} {other}"  ends turn if json.action != "noop" }
    on done(think) as v -> b { title = v.title  n = v }
    on error(think) as why -> b { title = why  n = why }
    on done(a) as v -> b
  }
  state b
}
"#
    ));
}

#[test]
fn what_does_not_run_yet_is_refused() {
    shown!(faults(
        r#"
tool web.search(query: Text) -> Json
tool web.read(url: Text) -> Text
tools search = web.* - web.read
tools more = search | web.serch | none_such.*
tools rest = any - web.* - undeclared - any
chart Later {
  var v: Json = none
  event go
  initial a
  pred stuck = streak(tool) > 1 or streak(search.query) > 2 or streak(nothing.query) > 1 or streak() > 1
  limits { tokens 100  cost 2.5 }
  state a {
    call c web.search("x") -> a
    call d web.serch("x")
    call e web.search(1)
    human h "what?"
    run r Child(1)
    run s Later(1)
    llm t { prompt "x" tools search  tools serch }
    may call search into v -> a
    may call web into n
    on go { send go after 3s as x  cancel x  send go after 3 }
    on error.stuck.loop -> a
    on error.limit.tokens -> a
    on limit.warn.cost -> a
    on error.stuck.* -> a
  }
}
"#
    ));
}

#[test]
fn texts_that_may_be_cut_off() {
    shown!(faults(
        r#"
chart Cut {
  initial a
  state a {
    llm one { prompt "x"  returns Text  cut ok }
    llm two { prompt "x"  cut ok  returns Text  cut ok }
    llm three { prompt "x"  returns Int  cut ok }
    llm four { prompt "x"  cut ok }
    ask five on turn else stay { prompt "{options}"  cut ok }
    human six "what?" { cut ok }
    llm seven { prompt "x"  returns Text  cut }
    may go "" -> b
  }
  state b
}
"#
    ));
    let chart = super::chart(
        "chart C { initial a state a { llm t { prompt \"x\"  cut ok  returns Text } -> b llm u { prompt \"x\" } -> b } final b }",
    );
    assert_eq!(chart.steps.iter().map(|step| step.accepts_cut).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn calls_that_may_be_made_twice() {
    shown!(faults(
        r#"
tool web.search(query: Text) -> Json idempotent
chart Twice {
  initial a
  state a {
    llm one { prompt "x"  doubt retry }
    llm two { prompt "x"  doubt retry  doubt -> b }
    llm three { prompt "x"  doubt retry  doubt retry }
    llm four { prompt "x"  doubt retry 2 }
    ask five on turn else stay { prompt "{options}"  doubt retry }
    call six web.search("x") { doubt retry  done -> b }
    call ten web.search("x") { doubt -> b  done -> b }
    on doubt(one) -> b
    on doubt(ten) -> b
    human seven "what?" { doubt retry }
    run eight Twice() { doubt retry }
    llm nine { prompt "x"  doubt  retry 2 }
    may go "" -> b
  }
  state b
}
"#
    ));
    let chart = super::chart(
        "tool t(q: Text) -> Json idempotent
        tool u() -> Json
        chart C {
          initial a
          state a {
            call one t(\"x\") -> b
            call two u() { doubt retry } -> b
            call three u() -> b
          }
          final b
        }",
    );
    assert_eq!(chart.tools.iter().map(|tool| tool.idempotent).collect::<Vec<_>>(), [true, false]);
    let doubts: Vec<bool> =
        (0..3).map(|n| chart.may_doubt(chartc_core::arena::StepId(n))).collect();
    assert_eq!(doubts, [false, false, true]);
}

#[test]
fn tools_of_steps_that_cannot_be_meant() {
    shown!(faults(
        r#"
tool web.search(query: Text) -> Json
tools reading = web.*
tools none_left = reading - web.*
chart Tools {
  initial a
  state a {
    llm one { prompt "x"  tools reading calls 0 }
    llm two { prompt "x"  tools none_left }
    llm three { prompt "x"  tools web.serch calls 99999999999 }
    llm four { prompt "x"  tools any calls 1  tools web.search }
    ask q on turn else stay { prompt "{options}"  tools reading }
    human h "what?" { tools reading }
    may rest "" -> a
  }
}
"#
    ));
}

/// What is missing may stand in what cannot be read: only the first is reported.
#[test]
fn a_question_that_a_syntax_error_cuts_off() {
    shown!(faults(
        r#"
client c { model "a:b" }
chart Cut {
  initial a
  state a {
    ask one on turn with c else stay { prompt "{options}" }
    may x "one" -> b
    may y "two" -> b
  }
  state b {
    ask two on turn { prompt "{options}" }
    may z "one" -> c
    may w "two" -> a
    nothing of this
  }
  final c
}
"#
    ));
}
