//! A limit of 0: nothing may be spent.

use std::sync::Arc;

use super::*;

/// A chart whose `ask` goes to a client with these prices, and with this limit, in the chart or in its state.
fn limited(limit: &str, prices: &str, in_state: bool, lines: &str) -> Arc<Chart> {
    let limits = format!("limits {{ {limit} }}");
    let (whole, state) = if in_state { ("", limits.as_str()) } else { (limits.as_str(), "") };
    chart(&format!(
        "client c {{ model \"m:m\"  max_tokens 50  {prices} }}
chart Frugal {{
  {whole}
  {lines}
  initial a
  state a {{
    {state}
    ask q with c on turn else stay {{ prompt \"{{options}}\" retry 2 }}
    may go \"go on\" -> f
    may wait \"stay\" -> a reenter
  }}
  state saved
  final f
}}"
    ))
}

const PRICED: &str = "input_price 10 output_price 10";
const ANSWERS: &str = "answers: {q: {then: repeat, answers: [{answer: go}]}}";

#[test]
fn no_call_is_made_and_the_run_ends() {
    for (limit, kind) in [
        ("cost 0", "cost"),
        ("cost 0.0", "cost"),
        ("cost 0e3", "cost"),
        ("cost 0.0000001", "cost"),
        ("tokens 0", "tokens"),
        ("calls 0", "calls"),
    ] {
        for in_state in [false, true] {
            let chart = limited(limit, PRICED, in_state, "");
            let ran = run(&chart, &[], ANSWERS, None, async |session| {
                session.run_turns(3).await?;
                assert_eq!(session.calls(), 0, "{limit}");
                Ok(())
            });
            assert_eq!((ran.error.as_ref(), ran.status), (None, Some("limit")), "{limit}");
            assert_eq!(ran.of(&["question"]), [""; 0], "{limit}");
            let error = format!(r#"{{"error":"limit.{kind}","kind":"error"}}"#);
            assert_eq!(ran.of(&["error"]), [error], "{limit}");
            let line = format!("on limit.{kind} -> saved");
            let chart = limited(limit, PRICED, in_state, &line);
            let ran = run(&chart, &[], ANSWERS, None, async |s| s.run_turns(3).await.map(drop));
            assert_eq!(ran.of(&["question"]), [""; 0], "{limit}");
            assert_eq!((ran.status, ran.states), (None, vec!["saved".to_owned()]), "{limit}");
        }
    }
}

#[test]
fn only_what_is_known_to_be_free_costs_nothing() {
    let ends = |prices: &str| {
        let chart = limited("cost 0", prices, false, "");
        run(&chart, &[], ANSWERS, None, async |s| s.run_turns(3).await.map(drop)).status
    };
    assert_eq!(ends("input_price 0 output_price 0"), Some("ok"));
    for unknown in ["", "input_price 0", "output_price 0"] {
        assert_eq!(ends(unknown), Some("limit"), "{unknown}");
    }
}

#[test]
fn a_client_without_prices_is_not_asked_again_when_its_provider_has_billed_too_much() {
    use chartc_runtime::budget::Usage;
    use chartc_runtime::oracle::{Answer, Asking, Question, ready};
    struct Dear;
    impl Oracle for Dear {
        fn ask(&self, _: Arc<Question>) -> Asking {
            let usage = Usage { input_tokens: 1, output_tokens: 1, cost: Some(2_000_000) };
            ready(Ok(Answer { text: "wait".into(), usage: Some(usage), cut: false }))
        }

        fn name(&self) -> String {
            "dear".into()
        }
    }
    let chart = limited("cost 1.5", "", false, "");
    let ran =
        run(&chart, &[], "{}", Some(Arc::new(Dear)), async |s| s.run_turns(5).await.map(drop));
    assert_eq!((ran.status, ran.of(&["question"]).len()), (Some("limit"), 1));
}

#[test]
fn what_a_bound_cannot_be() {
    for (limit, message) in [
        ("turns 0", "a limit of 0 turns allows nothing"),
        ("time 0s", "a limit of 0 time allows nothing"),
        ("cost -1", "`cost` cannot be negative"),
        ("calls -1", "`calls` cannot be negative"),
        ("tokens -1", "`tokens` cannot be negative"),
        ("cost 1 warn 0", "a soft bound of 0 cost is reached before anything happens"),
        ("calls 5 warn 0", "a soft bound of 0 calls is reached before anything happens"),
        ("time 5s warn 0s", "a soft bound of 0 time is reached before anything happens"),
    ] {
        let text = format!("chart T {{ limits {{ {limit} }} initial a state a }}");
        let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", &text));
        let found = done.diagnostics.iter().map(|d| d.message.as_str());
        assert!(found.clone().any(|m| m == message), "{limit}: {:?}", found.collect::<Vec<_>>());
    }
}
