use super::*;
use std::task::{Context, Poll, Waker};

fn script(text: &str) -> Script {
    Script::parse("s.yaml", text, Arc::new(VirtualClock::new())).expect(text)
}

fn ask(script: &Script, step: &str) -> Result<String, OracleError> {
    let mut asking =
        script.ask(Question { step: step.to_owned().into(), ..Question::default() }.into());
    match asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.map(|a| a.text),
        Poll::Pending => Ok("(waits)".into()),
    }
}

#[test]
fn answers_come_in_the_order_of_the_list() {
    let script = script(
        "answers:\n  s: [ship, {a: 1}, {text: 'x y'}, {option: f, data: {q: 2}}, {fail: empty}, {answer: {text: t}}]\n",
    );
    assert_eq!(ask(&script, "s").as_deref(), Ok("ship"));
    assert_eq!(ask(&script, "s").as_deref(), Ok(r#"{"a":1}"#));
    assert_eq!(ask(&script, "s").as_deref(), Ok("x y"));
    assert_eq!(ask(&script, "s").as_deref(), Ok(r#"{"choice":"f","arguments":{"q":2}}"#));
    assert_eq!(ask(&script, "s"), Err(OracleError::Empty));
    assert_eq!(ask(&script, "s").as_deref(), Ok(r#"{"text":"t"}"#));
}

#[test]
fn a_used_up_list_is_an_error_unless_it_says_otherwise() {
    let script = script(
        "answers:\n  a: [x]\n  b: {answers: [x, y], then: repeat}\n  c: {answers: [x, y], then: last}\n",
    );
    let said = |step: &str| {
        (0..4).map(|_| ask(&script, step).unwrap_or_else(|e| e.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(
        said("a")[1],
        "s.yaml has only 1 answers for step `a`, and no `then: repeat` or `then: last`"
    );
    assert_eq!(said("b"), ["x", "y", "x", "y"]);
    assert_eq!(said("c"), ["x", "y", "y", "y"]);
    assert!(
        ask(&script, "d")
            .is_err_and(|e| e.is_fatal() && e.to_string().contains("no answers for step `d`"))
    );
}

#[test]
fn an_answer_with_after_is_there_later() {
    let clock = VirtualClock::new();
    let script = Script::parse(
        "s",
        "answers: {s: [{answer: x, after: 5s}, {timeout: 1m}]}",
        Arc::new(clock.clone()),
    )
    .expect("a script");
    let mut asking = script.ask(Question { step: "s".into(), ..Question::default() }.into());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(asking.as_mut().poll(&mut cx).is_pending());
    assert!(clock.jump());
    assert_eq!(clock.now(), 5000);
    assert!(asking.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn functions_have_one_result_or_a_list() {
    let mut script = script(
        "functions:\n  a: 0.5\n  b: [1, {fail: gone}]\n  c: {results: [[1, 2]], then: repeat}\n  d:\n",
    );
    assert_eq!(script.call("a", &[]), Ok(Value::Float(0.5)));
    assert_eq!(script.call("a", &[]), Ok(Value::Float(0.5)));
    assert_eq!(script.call("b", &[]), Ok(Value::Int(1)));
    assert_eq!(script.call("b", &[]), Err("gone".into()));
    assert!(script.call("b", &[]).is_err());
    assert_eq!(script.call("c", &[]), Ok(Value::List(vec![Value::Int(1), Value::Int(2)])));
    assert_eq!(script.call("d", &[]), Ok(Value::None));
    assert!(script.call("e", &[]).is_err_and(|e| e.contains("`e`")));
}

#[test]
fn functions_have_results_by_their_arguments() {
    let mut script = script(
        "functions:\n  f:\n    cases:\n      - {given: [{id: a}, [1]], result: 1}\n      - {given: [{id: a}], result: 2}\n      - {given: [null], fail: gone}\n      - {given: [2.0], result: {fail: late}}\n  g: {cases: [{result: 7}]}\n",
    );
    let post = |id: &str| {
        let fields = [("id", id), ("text", "hello")];
        Value::Map(fields.iter().map(|(k, v)| ((*k).into(), Value::Text((*v).into()))).collect())
    };
    let one = Value::List(vec![Value::Int(1)]);
    assert_eq!(script.call("f", &[post("a"), one.clone()]), Ok(Value::Int(1)));
    assert_eq!(script.call("f", &[post("a"), Value::None]), Ok(Value::Int(2)));
    assert_eq!(script.call("f", &[Value::None]), Err("gone".into()));
    assert_eq!(script.call("f", &[Value::Int(2)]), Err("late".into()));
    let nothing = "s.yaml has no case of `f` that fits its arguments";
    assert_eq!(script.call("f", &[post("b"), one]), Err(nothing.into()));
    assert_eq!(script.call("g", &[]), Ok(Value::Int(7)));
}

#[test]
fn cases_that_cannot_be_read() {
    for (case, why) in [
        ("{given: {a: 1}, result: 2}", "`given` is a list"),
        ("{given: [1]}", "says one of `result` and `fail`"),
        ("{given: [1], result: 1, fail: x}", "says one of `result` and `fail`"),
        ("{with: [1], result: 1}", "`with` is unknown"),
        ("7", "is a mapping with `given` and `result`"),
    ] {
        let text = format!("functions: {{f: {{cases: [{case}]}}}}");
        let fault = Script::parse("s", &text, Arc::new(VirtualClock::new())).expect_err(case);
        assert!(fault.0.starts_with("`functions.f`, case 1 ") && fault.0.contains(why), "{fault}");
    }
}

#[test]
fn a_faulty_script_says_where() {
    for (text, why) in [
        ("[1]", "a script is a mapping"),
        ("answer: {}", "`answer` is unknown"),
        ("answers: {s: ship}", "`answers.s` is a list"),
        ("answers: {s: {answers: [x], then: again}}", "`then: again` is unknown"),
        ("answers: {s: [x, {after: soon, answer: y}]}", "`answers.s`, entry 2 wants a time"),
        ("answers: {s: [{text: a, fail: b}]}", "entry 1 says one of"),
        ("answers: {s: {answers: [], then: last}}", "nothing can be repeated"),
    ] {
        let got = Script::parse("s", text, Arc::new(VirtualClock::new())).expect_err(text);
        assert!(got.0.contains(why), "{text}: {got}");
    }
}

#[test]
fn answers_that_no_step_asks_for_are_told() {
    let script = script("answers: {a: [x], b: [y]}\nfunctions: {f: 1}");
    assert_eq!(script.strangers(&["a".into()], &[], &[]), ["b", "f"]);
}

#[test]
fn a_script_goes_on_where_it_was() {
    let text = "answers:
  a: [x, y, z]
  b: {answers: [x, y], then: repeat}
  slow: [{answer: one, after: 5s}, two, three]
functions: {f: [1, 2], always: {cases: [{result: 9}]}}
tools: {t: [{answer: 7, after: 2s}, 8]}
";
    let first = script(text);
    for step in ["a", "a", "b", "b", "b"] {
        ask(&first, step).expect("an answer");
    }
    assert_eq!(first.clone().call("f", &[]), Ok(Value::Int(1)));
    let mut waits = first.ask(Question { step: "slow".into(), ..Question::default() }.into());
    let calling = first.tool("t", &[]);
    assert_eq!(ask(&first, "slow").as_deref(), Ok("two"));
    let saved = serde_json::to_string(&first.save()).expect("JSON");
    assert_eq!(
        saved,
        r#"{"answers":{"a":[2],"b":[3],"slow":[2,0,5000]},"functions":{"f":[1]},"tools":{"t":[1,0,2000]}}"#
    );
    let saved = serde_json::from_str(&saved).expect("JSON");
    let clock = VirtualClock::starting_at(3000);
    let next = Script::parse("s.yaml", text, Arc::new(clock.clone())).expect(text);
    next.load(&saved).expect("the same script");
    assert_eq!(next.save(), saved, "what is to be given again is not lost");
    assert_eq!(ask(&next, "a").as_deref(), Ok("z"));
    assert_eq!(ask(&next, "b").as_deref(), Ok("y"));
    let mut again = next.ask(Question { step: "slow".into(), ..Question::default() }.into());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(again.as_mut().poll(&mut cx).is_pending(), "the one that was not there");
    assert!(clock.jump() && again.as_mut().poll(&mut cx).is_ready());
    assert_eq!(clock.now(), 5000, "it comes when it was due");
    assert_eq!(ask(&next, "slow").as_deref(), Ok("three"));
    assert_eq!(next.clone().call("f", &[]), Ok(Value::Int(2)));
    // What has come, or is not waited for, is used up.
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    assert!(first.clock.jump());
    assert!(waits.as_mut().poll(&mut cx).is_ready());
    drop(calling);
    let saved = serde_json::to_string(&first.save()).expect("JSON");
    assert!(saved.contains(r#""slow":[2]"#) && saved.contains(r#""t":[1]"#), "{saved}");
    let why = script("answers: {a: [x]}").load(&next.save()).expect_err("another one");
    assert_eq!(why, "it is of another script: this one has no answers of `b`");
}
