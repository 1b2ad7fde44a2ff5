//! Limits that are computed from params, amounts that charts read, and calls that wait for what others give back.

use std::sync::Arc;

use super::*;
use chartc_core::host::Machine;
use chartc_runtime::Saved;
use chartc_runtime::oracle::{Asking, Question};
use std::sync::Mutex;

const THRIFTY: &str = r#"
chart Thrifty {
  param most: Int = 3
  param budget: Float = 1.0
  var said: Text = ""
  var here: Int = 0
  client small { model "openai:small"  max_tokens 100  input_price 1.0  output_price 2.0 }
  defaults { retry 0 then fail }
  limits { calls most * 2 warn most  cost budget  turns most * 5 }
  on limit.warn.calls { here = calls_here }
  initial writing
  state writing {
    llm write with small { prompt "{calls} calls, {tokens} tokens, {cost} in all; here {calls_here}, {tokens_here}, {cost_here}"  returns Text into said }
    when tokens_here > 2000 -> resting
  }
  state resting { on turn -> writing }
}
"#;

const TEN: &str = "answers: {write: {then: repeat, answers: [{answer: {text: yes}, usage: {input: 600, output: 100}}]}}";

fn prompts(lines: &[Line]) -> Vec<String> {
    let rows = lines.iter().filter_map(|line| match &line.what {
        What::Question { prompt, .. } => Some(prompt.lines().next().unwrap_or_default().to_owned()),
        _ => None,
    });
    rows.collect()
}

#[test]
fn limits_follow_params() {
    for (most, budget, calls, error) in [
        (1, 1.0, 2, "limit.calls"),
        (3, 1.0, 6, "limit.calls"),
        (0, 1.0, 0, "limit.calls"),
        (3, 0.002, 2, "limit.cost"),
        (3, 0.0, 0, "limit.cost"),
    ] {
        let params = [("most", Value::Int(most)), ("budget", Value::Float(budget))];
        let ran = run(&chart(THRIFTY), &params, TEN, None, async |session| {
            session.run_turns(20).await.map(drop)
        });
        assert_eq!(ran.status, Some("limit"), "{most} {budget}");
        assert_eq!(prompts(&ran.lines).len(), calls, "{most} {budget}");
        assert_eq!(ran.of(&["error"]), [format!(r#"{{"error":"{error}","kind":"error"}}"#)]);
    }
}

#[test]
fn a_limit_below_zero_is_refused_before_anything_runs() {
    let chart = chart(THRIFTY);
    let plan = Plan::new(&chart);
    for (name, value, why) in [
        ("most", Value::Int(-1), "limit of calls of `Thrifty`: it is negative"),
        ("most", Value::Int(i64::MAX), "limit of calls of `Thrifty`: "),
        ("budget", Value::Float(-0.5), "limit of cost of `Thrifty`: it is negative"),
        ("budget", Value::Float(f64::NAN), "limit of cost of `Thrifty`: it is negative"),
    ] {
        let made = Interpreter::new(&plan, Script::empty(), [(name.to_owned(), value.clone())]);
        let error = made.err().map(|why| why.0).unwrap_or_default();
        assert!(error.starts_with(why), "{name} {value:?}: {error}");
    }
}

#[test]
fn prompts_and_conditions_read_what_calls_took() {
    let params = [("most", Value::Int(4))];
    let ran = run(&chart(THRIFTY), &params, TEN, None, async |session| {
        session.run_turns(5).await?;
        let here = session.machine().variables().into_iter().find(|(name, _)| name == "here");
        assert_eq!(here, Some(("here".into(), Value::Int(1))), "the fourth call is its first here");
        Ok(())
    });
    assert_eq!(
        prompts(&ran.lines),
        [
            "1 calls, 0 tokens, 0.0 in all; here 1, 0, 0.0",
            "2 calls, 700 tokens, 0.0008 in all; here 2, 700, 0.0008",
            "3 calls, 1400 tokens, 0.0016 in all; here 3, 1400, 0.0016",
            "4 calls, 2100 tokens, 0.0024 in all; here 1, 0, 0.0",
            "5 calls, 2800 tokens, 0.0032 in all; here 2, 700, 0.0008",
        ]
    );
}

#[test]
fn a_cancelled_call_is_charged_and_conditions_see_it() {
    let text = r#"
chart Hasty {
  client small { model "openai:small"  max_tokens 100  input_price 1.0  output_price 2.0 }
  initial writing
  state writing {
    llm write with small { prompt "Write."  returns Text } -> done
    after 1s -> waiting
  }
  state waiting { when cost > 0.0 and tokens_here == 0 -> warned }
  state warned {}
  final done
}
"#;
    // Without a limit nobody knows what it took: it is charged with nothing.
    let script = "answers: {write: [{text: late, after: 9s}]}";
    let play = async |session: &mut Run<'_>| session.run_turns(1).await.map(drop);
    assert_eq!(run(&chart(text), &[], script, None, play).states, ["waiting"]);
    let limited = text.replace("  initial writing", "  limits { tokens 9000 }\n  initial writing");
    assert_eq!(run(&chart(&limited), &[], script, None, play).states, ["warned"]);
}

#[test]
fn a_saved_run_keeps_its_limits_and_amounts() {
    let chart = chart(THRIFTY);
    let plan = Plan::new(&chart);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let clock: Arc<VirtualClock> = Arc::new(VirtualClock::new());
    let script = Script::parse("s", TEN, clock.clone()).expect("a script");
    let params = [("most".to_owned(), Value::Int(2))];
    let machine = Interpreter::new(&plan, script.clone(), params).expect("params that fit");
    let mut session = Session::new(machine, Arc::new(script.clone()), clock.clone(), Vec::new());
    runtime.block_on(session.run_turns(2)).expect("no fault");
    let saved = session.save().expect("it runs");
    let text = saved.text().expect("it is data");
    let saved = Saved::read(&text).expect("it is one");
    let machine = Interpreter::resume(&plan, [], script.clone(), saved.machine()).expect("it fits");
    let mut session = Session::new(machine, Arc::new(script), clock, Vec::new());
    session.resume(&saved).expect("it goes on");
    runtime.block_on(session.run_turns(9)).expect("no fault");
    assert_eq!(session.status().map(|s| s.word()), Some("limit"));
    let (_, lines) = session.into_parts();
    assert_eq!(
        prompts(&lines),
        [
            "3 calls, 1400 tokens, 0.0016 in all; here 3, 1400, 0.0016",
            "4 calls, 2100 tokens, 0.0024 in all; here 1, 0, 0.0",
        ]
    );
}

/// A list of questions under a limit of tokens. Each call may take 3 for the prompt, 100 for its answer, and the form.
pub(super) const MANY: &str = r#"
chart Many {
  param limit: Int
  var list: List(Int) = [0, 1, 2, 3, 4, 5, 6, 7]
  var out: List(Text) = []
  event stop
  client small { model "openai:small"  max_tokens 100  timeout 9s  input_price 1.0  output_price 2.0 }
  limits { tokens limit  cost 1.0 }
  initial asking
  state asking {
    llm ask each n in list with small { prompt "n={n}"  returns Text into out  retry 1  up to 50  50 at a time  else skip  done -> done  error -> failed }
    on stop -> stopped
  }
  state stopped {}
  final done
  final failed : error
}
"#;

/// When questions were put and answered.
fn told(lines: &[Line]) -> Vec<String> {
    let told = lines.iter().filter_map(|line| match &line.what {
        What::Question { prompt, .. } => {
            Some(format!("{} {}?", line.at_ms, prompt.lines().next().unwrap_or_default()))
        }
        What::Answer { which, .. } => Some(format!("{} {:?}", line.at_ms, which.element?)),
        _ => None,
    });
    told.collect()
}

#[test]
fn calls_wait_for_what_others_give_back() {
    let chart = chart(MANY);
    let script = "answers: {ask: {then: repeat, answers: [{answer: {text: yes}, after: 1s, usage: {input: 40, output: 10}}]}}";
    let bound = bound_of_one(&chart, script);
    // Three of them have room at first; each that ends gives back all but 50.
    let limit = Value::Int(i64::try_from(3 * bound + 99).expect("small"));
    let ran = run(&chart, &[("limit", limit)], script, None, async |session| {
        session.turn().await.map(drop)
    });
    assert_eq!((ran.error.as_ref(), ran.status), (None, Some("ok")));
    let told = told(&ran.lines);
    assert_eq!(told[..3], ["0 n=0?", "0 n=1?", "0 n=2?"]);
    assert!(told[3].starts_with("1000 "), "{told:?}");
    let asked: Vec<&String> = told.iter().filter(|line| line.ends_with('?')).collect();
    let order: Vec<bool> = (0..8).map(|n| asked[n].ends_with(&format!("n={n}?"))).collect();
    assert_eq!((asked.len(), order), (8, vec![true; 8]), "first come, first served: {told:?}");
    assert_eq!(ran.of(&["error"]), [] as [&str; 0]);
}

#[test]
fn a_call_does_not_overtake_one_that_waits() {
    let long = "x".repeat(300);
    let text = MANY.replace(
        "List(Int) = [0, 1, 2, 3, 4, 5, 6, 7]",
        &format!("List(Text) = [\"a\", \"{long}\", \"b\"]"),
    );
    let script = "answers: {ask: {then: repeat, answers: [{answer: {text: yes}, after: 1s, usage: {input: 40, output: 10}}]}}";
    // Room for two of the short ones, or for the long one.
    let limit = Value::Int(i64::try_from(2 * bound_of_one(&chart(MANY), script)).expect("small"));
    let ran = run(&chart(&text), &[("limit", limit)], script, None, async |session| {
        session.turn().await.map(drop)
    });
    let asked: Vec<String> = told(&ran.lines).into_iter().filter(|l| l.ends_with('?')).collect();
    assert_eq!(asked, ["0 n=a?".to_owned(), format!("1000 n={long}?"), "2000 n=b?".to_owned()]);
}

#[test]
fn a_call_that_waited_in_vain_is_no_call() {
    let text = MANY.replace("on stop -> stopped", "after 500ms -> stopped");
    let script = "answers: {ask: {then: repeat, answers: [{answer: yes, after: 1s}]}}";
    let limit = Value::Int(i64::try_from(3 * bound_of_one(&chart(MANY), script)).expect("small"));
    let ran = run(&chart(&text), &[("limit", limit)], script, None, async |session| {
        session.turn().await?;
        assert_eq!(session.machine().standing().cells.counts[0].calls, 3, "five were not made");
        Ok(())
    });
    assert_eq!((ran.states, prompts(&ran.lines).len()), (vec!["stopped".to_owned()], 3));
}

#[test]
fn conditions_see_each_attempt_and_each_element() {
    let text =
        THRIFTY.replace("retry 0 then", "retry 3 then").replace("tokens_here > 2000", "tokens > 0");
    let script = "answers: {write: {then: repeat, answers: [{fail: connection}]}}";
    let ran = run(&chart(&text), &[], script, None, async |session| session.turn().await.map(drop));
    assert_eq!((ran.states, prompts(&ran.lines).len()), (vec!["resting".to_owned()], 1));
    let text = MANY.replace("on stop ->", "when tokens > 0 ->");
    let script = format!(
        "answers: {{ask: [{{answer: yes, after: 1s}}{}]}}",
        ", {answer: yes, after: 7s}".repeat(7)
    );
    let limit = [("limit", Value::Int(90_000))];
    let ran = run(&chart(&text), &limit, &script, None, async |s| s.turn().await.map(drop));
    assert_eq!(
        (ran.states, ran.lines.last().map(|l| l.at_ms)),
        (vec!["stopped".into()], Some(1000))
    );
}

/// What a call of the chart can take at most.
fn bound_of_one(chart: &Arc<Chart>, script: &str) -> u64 {
    let seen: Arc<Mutex<u64>> = Arc::default();
    struct Spy(Script, Arc<Mutex<u64>>);
    impl Oracle for Spy {
        fn ask(&self, question: Arc<Question>) -> Asking {
            let most = question.model.max_tokens.expect("bounded");
            *self.1.lock().expect("one thread") = question.token_bound() + most;
            self.0.ask(question)
        }

        fn name(&self) -> String {
            "spy".into()
        }
    }
    let answers = Script::parse("s", script, Arc::new(VirtualClock::new())).expect("a script");
    let spy: Arc<dyn Oracle> = Arc::new(Spy(answers, seen.clone()));
    let limit = Value::Int(1_000_000);
    run(chart, &[("limit", limit)], script, Some(spy), async |session| {
        session.turn().await.map(drop)
    });
    let seen = *seen.lock().expect("one thread");
    assert!(seen > 100);
    seen
}
