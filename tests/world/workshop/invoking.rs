//! Charts that are invoked by method.

use super::sound;
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind};
use chartc_world::{Chain, Family, Fuel, MOST_INVOCATIONS, invoke_method};
use std::cell::Cell;
use test_support::project::read;

type Answer = Result<Value, Failure>;

/// Without other artifacts.
fn alone(family: &Family, method: &str, arguments: &[Value]) -> Answer {
    let none = |artifact: &str, _: &str, _: &[Value]| {
        Err(Failure::new(FailureKind::NotFound, format!("no `{artifact}`")))
    };
    invoke_method(family, method, arguments, (Fuel::default(), &chain()), &none)
}

/// Of one invocation.
fn chain() -> Chain {
    Chain::new(8 * Fuel::default().units)
}

fn failure(answer: Answer) -> (FailureKind, String) {
    let failure = answer.expect_err("it fails");
    (failure.kind, failure.why)
}

/// Why an invocation of a sound text has failed.
fn why(text: &str, method: &str) -> String {
    let (kind, why) = failure(alone(&sound(text), method, &[]));
    assert_eq!(kind, FailureKind::InvocationFailed, "{why}");
    why
}

#[test]
fn the_answer_is_what_the_final_state_was_given() {
    let oracle = sound(&read("charts/price_oracle.chart"));
    assert_eq!(alone(&oracle, "quote", &[Value::Int(3)]), Ok(Value::Int(15)));
    assert_eq!(alone(&oracle, "quote", &[Value::Int(10)]), Ok(Value::Int(45)), "a fresh run each");
    let text = "chart A {\n  event go(x: Int)\n  event stop\n  initial a\n  state a {\n    on go(x) -> both(x, \"n\")\n    on stop -> none_at_all\n  }\n  final both(x: Int, y: Text)\n  final none_at_all : partial\n}\n";
    let family = sound(text);
    assert_eq!(alone(&family, "stop", &[]), Ok(Value::None));
    let Ok(Value::Map(both)) = alone(&family, "go", &[Value::Int(1)]) else { panic!("a mapping") };
    assert_eq!(
        (both.get("x"), both.get("y")),
        (Some(&Value::Int(1)), Some(&Value::Text("n".into())))
    );
}

#[test]
fn failures_say_why() {
    let oracle = sound(&read("charts/price_oracle.chart"));
    let told = |method: &str, arguments: &[Value]| failure(alone(&oracle, method, arguments));
    let invocation = |why: &str| (FailureKind::InvocationFailed, why.to_owned());
    assert_eq!(
        told("buy", &[]),
        (FailureKind::NotFound, "there is no method `buy`; there is quote(pieces)".to_owned())
    );
    assert_eq!(told("quote", &[]), invocation("`quote(pieces)` was given 0 arguments"));
    assert_eq!(told("quote", &[Value::Int(0)]), invocation("it ended as error in `declined`"));
    let (kind, text) = told("quote", &[Value::Text("x".into())]);
    assert!(kind == FailureKind::InvocationFailed && text.starts_with("event `quote`: "), "{text}");
    let worker = sound(&read("charts/worker.chart"));
    assert_eq!(
        failure(alone(&worker, "cancel", &[])),
        invocation("`task` has no value: spawn it with one")
    );
}

#[test]
fn a_run_that_does_not_end_has_no_answer() {
    let text = "chart A {\n  event go\n  event other\n  initial a\n  state a {\n    on go -> b\n  }\n  state b { on other -> c }\n  final c\n}\n";
    assert_eq!(why(text, "go"), "it did not end: it is in `b`");
    assert_eq!(why(text, "other"), "nothing handles `other` in `a`");
    let ended = "chart A {\n  event go\n  initial a\n  state a { after 0s -> b  on go -> b }\n  final b\n}\n";
    let told = why(ended, "go");
    assert_eq!(told, "the run had ended in `b` before");
}

#[test]
fn time_passes_at_once_and_is_bounded() {
    let text = |wait: &str| {
        format!(
            "chart A {{\n  event go\n  initial a\n  state a {{ on go -> b }}\n  state b {{ after {wait} -> c(elapsed) }}\n  final c(at: Duration)\n}}\n"
        )
    };
    assert_eq!(alone(&sound(&text("3h")), "go", &[]), Ok(Value::Duration(10_800_000)));
    assert_eq!(why(&text("3d"), "go"), "it did not end: it is in `b`");
}

#[test]
fn models_do_not_answer() {
    // Nobody answers, also not where a chart that runs asks.
    let text = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n  state b {\n    run k Kid at entry\n    on done(k)  -> c(\"somebody\")\n    on error(k) -> c(\"nobody\")\n    after 1h    -> c(\"late\")\n  }\n  final c(who: Text)\n}\nchart Kid {\n  event start\n  initial a\n  state a {\n    enter { send start }\n    ask h on start else failed { prompt \"{options}\" }\n    may x \"x\" -> b\n    may y \"y\" -> b\n  }\n  final b\n  final failed : error\n}\n";
    assert_eq!(alone(&sound(text), "go", &[]), Ok(Value::Text("nobody".into())));
    let asks = "chart A {\n  event go\n  initial a\n  state a {\n    ask what on go else c(\"else\") { prompt \"{options}\" }\n    may x \"x\" -> c(\"the model\")\n    may y \"y\" -> c(\"the model\")\n  }\n  final c(who: Text)\n}\n";
    assert_eq!(alone(&sound(asks), "go", &[]), Ok(Value::Text("else".into())));
}

#[test]
fn endless_runs_come_back() {
    // Deadlines without end, events without end, moves without end, and work without end.
    let ticking = "chart A {\n  event go\n  var n: Int = 0\n  initial a\n  state a { on go -> b }\n  state b { after 1ms -> b reenter { n = n + 1 } }\n}\n";
    assert_eq!(why(ticking, "go"), "it takes more steps than an invocation may");
    let sending =
        "chart A {\n  event go\n  initial a\n  state a { on go { send go  send go } }\n}\n";
    let told = why(sending, "go");
    assert!(told.starts_with("it "), "{told}");
    let raising = "chart A {\n  event go\n  event again(n: Int)\n  initial a\n  state a {\n    on go { raise again(0) }\n    on again(n) if n >= 0 { raise again(n + 1) }\n  }\n}\n";
    let told = why(raising, "go");
    assert!(told.starts_with("it "), "{told}");
    let working = "chart A {\n  event go\n  var xs: List(Int) = [1]\n  initial a\n  state a { on go -> b }\n  state b {\n    enter { xs = xs + xs  send go }\n    on go -> b reenter\n  }\n}\n";
    let told = why(working, "go");
    assert_eq!(told, "it takes more work than an invocation may");
}

#[test]
fn functions_from_artifacts_ask_the_world() {
    let text = "fn price(n: Int) -> Int from \"oracle\" \"quote\"\nfn lost() -> Int from \"gone\" \"x\" else 7\ndo shout(text: Text)\nchart A {\n  event go(n: Int)\n  initial a\n  state a { on go(n) -> b(price(n) + lost()) }\n  final b(sum: Int)\n}\n";
    let family = sound(text);
    let oracle = sound(&read("charts/price_oracle.chart"));
    let chain = chain();
    let asked = Cell::new(0);
    let ask = |artifact: &str, method: &str, arguments: &[Value]| {
        asked.set(asked.get() + 1);
        match artifact {
            "oracle" => {
                invoke_method(&oracle, method, arguments, (Fuel::default(), &chain), &|_, _, _| {
                    unreachable!("it has no functions")
                })
            }
            _ => Err(Failure::new(FailureKind::NotFound, "gone")),
        }
    };
    let told = invoke_method(&family, "go", &[Value::Int(3)], (Fuel::default(), &chain), &ask);
    assert_eq!((told, asked.get(), chain.depth()), (Ok(Value::Int(22)), 2, 0));
}

#[test]
fn artifacts_that_invoke_each_other_come_back() {
    // It asks itself twice, each time twice again.
    let text = "fn other() -> Int from \"a\" \"go\"\nchart A {\n  event go\n  initial a\n  state a {\n    on go if other() + other() > 0 -> b(1)\n    on go -> b(0)\n  }\n  final b(n: Int)\n}\n";
    let family = sound(text);
    let chain = chain();
    let count = Cell::new(0);
    fn round(family: &Family, chain: &Chain, count: &Cell<u32>) -> Answer {
        let ask = |_: &str, _: &str, _: &[Value]| {
            count.set(count.get() + 1);
            round(family, chain, count)
        };
        invoke_method(family, "go", &[], (Fuel::default(), chain), &ask)
    }
    let told = round(&family, &chain, &count);
    assert_eq!(told, Ok(Value::Int(0)), "the deepest ones fail, which the guards take for false");
    assert!(count.get() <= 2 * MOST_INVOCATIONS, "{}", count.get());
    assert_eq!(chain.depth(), 0);
}
