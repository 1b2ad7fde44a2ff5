//! A run stopped between two inputs goes on as if nothing had happened.

use super::{Doubling, Log, Run, chart, create, start, text};
use chartc_core::arena::{ChoiceId, EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Outcome};
use chartc_core::plan::Plan;
use chartc_core::saved::{Saved, Unfit};

const CHART: &str = r#"
chart Stopped {
  param name: Text
  input rate: Float = 0.5
  event go(how: Text, wait: Duration)
  event back
  var how: Text? = none
  var wait: Duration = 1m
  var any: Json = none
  var turn_count: Int = 0 per turn
  fn double(n: Int) -> Int
  code count { turn_count = turn_count + 1  any = [rate, wait, {"$x": rate}] }
  initial work
  parallel work {
    state left {
      initial l1
      state l1 { on go(_, w) -> l2 { wait = w } }
      state l2 {
        after wait -> l1
        llm think { prompt "{how ?? name}" returns Int }
        on done(think) as n if double(n) > 2 -> l3
      }
      state l3
    }
    state right {
      initial r1
      state r1 { on go -> r2 }
      state r2 {
        ask choose on turn else stay { prompt "{options}" }
        may one -> r1
        may two(why: Text) -> r3 { how = why }
      }
      state r3 { on back -> over("done by {how ?? name}", turns) }
      history h deep -> r1
    }
  }
  final over(text: Text, turns: Int)
}
"#;

/// Everything that can be seen of a machine.
fn seen(machine: &mut Interpreter<Doubling>) -> String {
    let states = 0..machine.tables().states.len() as u32;
    let active: Vec<_> = states.filter(|s| machine.is_active(StateId(*s))).collect();
    let pending = machine.pending();
    let prompts: Vec<_> = pending.iter().map(|key| machine.prompt(*key)).collect();
    format!(
        "{active:?} {:?} {prompts:?} {:?} {:?} {:?} {:?} {}",
        pending,
        machine.variables(),
        machine.result(),
        machine.enabled_events(),
        machine.next_deadline(),
        machine.is_walking(),
    )
}

/// Gives the same input to both machines and compares all they do.
fn give_both(a: &mut Run, b: &mut Run, input: &Input<Vec<Value>>, now: u64) {
    for run in [&mut *a, &mut *b] {
        run.try_give(input.clone(), now).expect("an input that fits");
    }
    assert_eq!(a.log.effects, b.log.effects);
    assert_eq!(a.log.records, b.log.records);
    assert_eq!(a.machine.take_notes(), b.machine.take_notes());
    assert_eq!(seen(&mut a.machine), seen(&mut b.machine));
}

/// The next input, made from where a run stands.
type Move<'m> = &'m dyn Fn(&Run) -> Input<Vec<Value>>;

/// Answers what is pending: `think` with a number, `choose` with `two`.
fn reply(run: &Run, number: i64) -> Input<Vec<Value>> {
    let key = *run.machine.pending().first().expect("something is pending");
    let outcome = if run.machine.tables().steps[key.step.index()].name == "think" {
        Outcome::Done(vec![Value::Int(number)])
    } else {
        Outcome::Choice(ChoiceId(1), vec![text("why not")])
    };
    Input::Answer(key, outcome)
}

#[test]
fn stopped_anywhere() {
    let chart = chart(CHART);
    let plan = Plan::new(&chart);
    let mut whole = create(&plan, &[("name", text("Ann"))]).expect("params that fit");
    whole.machine.set_input("rate", Value::Float(f64::NAN)).expect("a Float");
    let go = |how: &str| Input::Event(EventId(0), vec![text(how), Value::Duration(500)]);
    let mut reached = Vec::new();
    // What to do next depends on what is pending, so inputs are made as the run goes.
    let script: [(u64, Move<'_>); 15] = [
        (0, &|_| Input::Start),
        (0, &|_| Input::Turn),
        (0, &|_| go("fast")),
        (0, &|_| Input::Turn),
        (0, &|run| reply(run, 1)),
        (100, &|_| Input::Turn),
        (100, &|run| Input::Answer(run.machine.pending()[0], Outcome::Unusable)),
        (700, &|_| Input::Tick),
        (800, &|_| go("slow")),
        (900, &|_| Input::Turn),
        (900, &|run| reply(run, 5)),
        (900, &|_| Input::Turn),
        (900, &|run| reply(run, 5)),
        (900, &|_| Input::Event(EventId(1), vec![])),
        (900, &|_| Input::Turn),
    ];
    for (now, input) in script {
        let saved = whole.machine.save();
        let json = serde_json::to_string(&saved).expect("a saved machine is data");
        let read: Saved = serde_json::from_str(&json).expect("what was written");
        let machine = Interpreter::resume(&plan, [], Doubling::default(), &read)
            .unwrap_or_else(|e| panic!("after {reached:?}: {e}\n{json}"));
        let mut restored = Run { machine, log: Log::default() };
        let again = serde_json::to_string(&restored.machine.save());
        assert_eq!(again.expect("a saved machine is data"), json);
        let input = input(&whole);
        give_both(&mut whole, &mut restored, &input, now);
        reached.push(whole.at().join(" "));
    }
    assert_eq!(
        reached,
        [
            "work.left.l1 work.right.r1",
            "work.left.l1 work.right.r1",
            "work.left.l2 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l1 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l2 work.right.r2",
            "work.left.l3 work.right.r2",
            "work.left.l3 work.right.r2",
            "work.left.l3 work.right.r3",
            "over",
            "over",
        ]
    );
    let result = whole.machine.result();
    assert_eq!(result[0], ("text".to_owned(), text("done by why not")));
}

#[test]
fn another_chart_is_refused() {
    let chart_one = chart("chart C { var n: Int = 1 initial a state a state b }");
    let chart_two = chart("chart D { var n: Int = 1 initial a state a state b }");
    let (one, two) = (Plan::new(&chart_one), Plan::new(&chart_two));
    let saved = start(&one, &[]).machine.save().expect("it can be saved");
    assert!(Interpreter::resume(&one, [], Doubling::default(), &saved).is_ok());
    let error = Interpreter::resume(&two, [], Doubling::default(), &saved).err();
    assert_eq!(error, Some(Unfit::OtherChart("C".to_owned())));
}

/// The error of a machine in `a` that was saved and had a part of its JSON replaced.
fn tampered(chart_text: &str, from: &str, to: &str) -> Option<Unfit> {
    let chart = chart(chart_text);
    let plan = Plan::new(&chart);
    let json = serde_json::to_string(&start(&plan, &[]).machine.save()).expect("data");
    assert!(json.contains(from), "{json}");
    let saved: Saved = serde_json::from_str(&json.replacen(from, to, 1)).expect("data");
    Interpreter::resume(&plan, [], Doubling::default(), &saved).err()
}

#[test]
fn what_the_chart_cannot_be_in_is_refused() {
    const TEXT: &str = "chart C { param n: Int in 1..3 = 1 initial a state a state b }";
    assert_eq!(
        tampered(TEXT, r#""n":1"#, r#""n":"x""#),
        Some(Unfit::Data("`n`: expected Int, found Text".to_owned()))
    );
    assert_eq!(
        tampered(TEXT, r#""n":1"#, r#""n":4"#),
        Some(Unfit::Data("param `n`: 4 is not in 1..3".to_owned()))
    );
    assert_eq!(
        tampered(TEXT, r#""n":1"#, r#""m":1"#),
        Some(Unfit::Data("no value for `n`".to_owned()))
    );
    assert_eq!(tampered(TEXT, r#"{"format":1"#, r#"{"format":9"#), Some(Unfit::Format(9)));
    // Both leaves at once.
    assert_eq!(
        tampered(TEXT, r#""active":["","a"]"#, r#""active":["","a","b"]"#),
        Some(Unfit::Registers(chartc_core::semantics::RestoreError::IllegalConfiguration))
    );
}

/// Replaces the nth number of a JSON text.
fn with_number(json: &str, nth: usize, number: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut at = 0;
    let mut seen = 0;
    while let Some(start) = json[at..].find(is_digit).map(|i| at + i) {
        let end = json[start..].find(|c| !is_digit(c)).map_or(json.len(), |i| start + i);
        let in_name = json[..start].ends_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !in_name {
            if seen == nth {
                return Some(format!("{}{number}{}", &json[..start], &json[end..]));
            }
            seen += 1;
        }
        at = end;
    }
    None
}

#[test]
fn tampered_anywhere() {
    let chart = chart(CHART);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("name", text("Ann"))]);
    let go = Input::Event(EventId(0), vec![text("far"), Value::Duration(500)]);
    let mut restored = 0;
    for input in [go.clone(), Input::Turn] {
        run.give(input, 0);
        let json = serde_json::to_string(&run.machine.save()).expect("a saved machine is data");
        for nth in 0.. {
            if with_number(&json, nth, "0").is_none() {
                break;
            }
            for number in ["0", "1", "7", "63", "4294967295", "18446744073709551615"] {
                let changed = with_number(&json, nth, number).expect("seen above");
                let Ok(saved) = serde_json::from_str::<Saved>(&changed) else { continue };
                let Ok(machine) = Interpreter::resume(&plan, [], Doubling::default(), &saved)
                else {
                    continue;
                };
                restored += 1;
                let mut other = Run { machine, log: Log::default() };
                // Whatever it does now, it does not panic.
                for input in [Input::Tick, go.clone(), Input::Turn, Input::Turn] {
                    let _ = other.try_give(input, 1000);
                    for key in other.machine.pending() {
                        let _ = seen(&mut other.machine);
                        let outcome = Outcome::Choice(ChoiceId(0), Vec::new());
                        let _ = other.try_give(Input::Answer(key, outcome), 1000);
                        let outcome = Outcome::Done(vec![Value::Int(1)]);
                        let _ = other.try_give(Input::Answer(key, outcome), 1000);
                    }
                }
            }
        }
    }
    assert!(restored > 100, "only {restored} of the changed machines could be restored");
}
