//! Tokens, money and patience: what calls may take, and what happens when they fail.

use std::sync::Arc;

use super::*;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_runtime::Backoff;
use chartc_runtime::budget::{Amount, Budget, Caps, Usage};
use chartc_runtime::oracle::{Answer, Asking, OracleError, Question};
use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

const WRITER: &str = r#"
chart Writer {
  client small { model "openai:small"  max_tokens 100  timeout 10s  input_price 1.0  output_price 2.0 }
  limits { tokens 10000 warn 3000  turns 50 }
  var warned: Int = 0
  defaults { retry 0 then fail }
  initial writing
  on limit.warn.tokens { warned = warned + 1 }
  state writing {
    llm write with small { prompt "Write." }
  }
}
"#;

/// What the writer's call can take at most: the prompt, the form of the answer, and the answer.
const BOUND: u64 = 6 + 640 + 480 + 100;

fn took(lines: &[Line]) -> Vec<(u64, bool)> {
    let rows = lines.iter().filter_map(|line| match &line.what {
        What::Usage { input_tokens, output_tokens, assumed, .. } => {
            Some((input_tokens + output_tokens, *assumed))
        }
        _ => None,
    });
    rows.collect()
}

#[test]
fn a_limit_of_tokens_is_never_passed() {
    let script = "answers: {write: {then: repeat, answers: [{answer: {action: noop}, usage: {input: 600, output: 100}}]}}";
    let ran = run(&chart(WRITER), &[], script, None, async |session| {
        session.run_turns(40).await?;
        let warned = session.machine().variables().into_iter().find(|(name, _)| name == "warned");
        assert_eq!(warned, Some(("warned".into(), Value::Int(1))), "told once");
        assert_eq!(session.summary().map(|s| s.contains("limit of tokens")), Some(true));
        Ok(())
    });
    assert_eq!((ran.error.as_ref(), ran.status), (None, Some("limit")));
    // A call is made as long as what it can take at most still fits in.
    let calls = (10_000 - BOUND) / 700 + 1;
    assert_eq!(took(&ran.lines), vec![(700, false); calls as usize]);
    assert_eq!(ran.of(&["error"]), [r#"{"error":"limit.tokens","kind":"error"}"#]);
}

#[test]
fn what_nobody_says_counts_as_what_was_held() {
    let script = "answers: {write: {then: repeat, answers: [{action: noop}]}}";
    let ran = run(&chart(WRITER), &[], script, None, async |session| {
        session.run_turns(40).await.map(drop)
    });
    assert_eq!(ran.status, Some("limit"));
    assert_eq!(took(&ran.lines), vec![(BOUND, true); (10_000 / BOUND) as usize]);
}

#[test]
fn a_line_may_handle_a_limit_and_the_step_has_failed() {
    let text = WRITER.replace(
        "state writing {",
        "on limit.tokens -> tired\n  state tired {}\n  state writing {",
    );
    let script = "answers: {write: {then: repeat, answers: [{action: noop}]}}";
    let ran = run(&chart(&text), &[], script, None, async |session| {
        session.run_turns(16).await.map(drop)
    });
    assert_eq!((ran.status, ran.states), (None, vec!["tired".to_owned()]));
    let stays =
        WRITER.replace("state writing {", "on limit.tokens { warned = 100 }\n  state writing {");
    let ran = run(&chart(&stays), &[], script, None, async |session| {
        let mut failed = None;
        for _ in 0..16 {
            failed = session.turn().await?.failed;
        }
        assert_eq!(failed.as_deref(), Some("write"));
        Ok(())
    });
    assert_eq!(ran.status, None);
}

#[test]
fn calls_that_are_not_billed_give_back_what_was_held() {
    let script = "answers: {write: {then: repeat, answers: [{fail: rate_limited}, {fail: server}, {fail: connection}]}}";
    let text = WRITER.replace("turns 50", "turns 6");
    let ran =
        run(&chart(&text), &[], script, None, async |session| session.run_turns(6).await.map(drop));
    // Of a lost connection nobody knows.
    assert_eq!(took(&ran.lines), vec![(BOUND, true); 2]);
}

#[test]
fn money_is_held_by_the_prices_of_the_client() {
    let text = WRITER
        .replace("tokens 10000 warn 3000", "cost 0.01")
        .replace("on limit.warn.tokens", "on limit.warn.cost");
    let script = "answers: {write: {then: repeat, answers: [{answer: {action: noop}, usage: {input: 600, output: 100}}]}}";
    let ran = run(&chart(&text), &[], script, None, async |session| {
        session.run_turns(40).await?;
        // 600 * 1 + 100 * 2 millionths a call; held is the price of all that is sent and of 100 tokens.
        let held = (BOUND - 100) + 100 * 2;
        assert_eq!(session.spent().cost, Some((10_000 - held) / 800 * 800 + 800));
        Ok(())
    });
    assert_eq!(ran.status, Some("limit"));
    assert_eq!(ran.of(&["error"]), [r#"{"error":"limit.cost","kind":"error"}"#]);
}

#[test]
fn limits_of_states_count_what_is_spent_inside() {
    let text = r#"
chart Two {
  limits { turns 50 }
  initial one
  state one {
    limits { tokens 4000 }
    on limit.tokens -> two
    llm first { prompt "One." }
  }
  state two {
    llm second { prompt "Two." }
  }
}
"#;
    let script = "
answers:
  first: {then: repeat, answers: [{answer: {action: noop}, usage: {input: 1050, output: 100}}]}
  second: {then: repeat, answers: [{answer: {action: noop}, usage: {input: 1050, output: 100}}]}
";
    let asked: Arc<Mutex<Vec<Option<u64>>>> = Arc::default();
    struct Spy(Script, Arc<Mutex<Vec<Option<u64>>>>);
    impl Oracle for Spy {
        fn ask(&self, question: Arc<Question>) -> Asking {
            self.1.lock().expect("one thread").push(question.model.max_tokens);
            self.0.ask(question)
        }

        fn name(&self) -> String {
            "spy".into()
        }
    }
    let answers = Script::parse("s", script, Arc::new(VirtualClock::new())).expect("a script");
    let spy: Arc<dyn Oracle> = Arc::new(Spy(answers, asked.clone()));
    let ran = run(&chart(text), &[], script, Some(spy), async |session| {
        session.run_turns(5).await.map(drop)
    });
    assert_eq!(ran.states, ["two"]);
    // Without `max_tokens` an answer may be as long as there is room for: 4000 less 1124 for the prompt and the form, and what was spent.
    assert_eq!(asked.lock().expect("one thread")[..4], [Some(2876), Some(1726), Some(576), None]);
}

/// Says by a seed what it took, or nothing, or fails; ends after some polls, so that calls of many agents interleave.
struct Random {
    seed: AtomicU64,
}

impl Oracle for Random {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let draw = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let draw = (draw ^ (draw >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8;
        let most = question.model.max_tokens.expect("a limit bounds it");
        let usage = Usage {
            input_tokens: draw % question.token_bound() + 1,
            output_tokens: (draw >> 16) % (most + 1),
            cost: None,
        };
        let answer = match draw >> 40 & 7 {
            0 => Ok(Answer { text: r#"{"action": "noop"}"#.into(), usage: None, cut: false }),
            1 => Err(OracleError::Connection("dropped".into())),
            2 => Err(OracleError::RateLimited { retry_after: Some(20) }),
            3 => Ok(Answer { text: "I do not know".into(), usage: Some(usage), cut: false }),
            _ => {
                Ok(Answer { text: r#"{"action": "noop"}"#.into(), usage: Some(usage), cut: false })
            }
        };
        let mut polls = draw >> 48 & 7;
        Box::pin(poll_fn(move |cx| {
            if polls == 0 {
                return Poll::Ready(answer.clone());
            }
            polls -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    fn name(&self) -> String {
        "random".into()
    }
}

#[test]
fn fifty_agents_never_spend_more_than_they_share() {
    let text = WRITER
        .replace("retry 0", "retry 2")
        // Time would pass at once, and no two calls be under way.
        .replace("  timeout 10s", "")
        .replace("tokens 10000 warn 3000", "tokens 30000")
        .replace("on limit.warn.tokens", "on limit.warn.calls");
    let chart = chart(&text);
    let plan = Plan::new(&chart);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for (seed, tokens) in [(1, 200_000), (2, 600_000), (3, 5_000), (4, 747)] {
        let caps = Caps { tokens: Some(tokens), cost: Some(tokens * 2) };
        let budget = Budget::new(caps);
        let oracle: Arc<dyn Oracle> = Arc::new(Random { seed: AtomicU64::new(seed) });
        let one = async |nth: usize| {
            let machine = Interpreter::new(&plan, Script::empty(), Map::new()).expect("no params");
            let clock = Arc::new(VirtualClock::new());
            let mut session = Session::new(machine, oracle.clone(), clock, Vec::new())
                .with_backoff(Backoff { seed: nth as u64, ..Backoff::default() })
                .with_budget(budget.clone());
            for _ in 0..50 {
                session.turn().await.expect("no fault of the host");
                let spent = budget.spent();
                assert!(spent.tokens <= tokens && spent.cost <= tokens * 2, "{spent:?}");
                if session.status().is_some() {
                    break;
                }
            }
            let own = session.spent();
            assert!(own.input_tokens + own.output_tokens <= 30_000, "{own:?}");
            (session.status().map(|s| s.word()), own)
        };
        let ended = runtime.block_on(async {
            let mut all: Vec<_> = (0..50).map(|nth| Box::pin(one(nth))).collect();
            let mut ended = vec![None; all.len()];
            poll_fn(|cx| {
                let mut waits = false;
                for (agent, end) in all.iter_mut().zip(&mut ended) {
                    if end.is_none() {
                        match agent.as_mut().poll(cx) {
                            Poll::Ready(done) => *end = Some(done),
                            Poll::Pending => waits = true,
                        }
                    }
                }
                if waits { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            ended
        });
        let sum = ended.iter().flatten().fold(Amount::default(), |sum, (_, own)| {
            let tokens = own.input_tokens + own.output_tokens;
            sum.plus(Amount { tokens, cost: own.cost.unwrap_or(0) })
        });
        assert_eq!(budget.spent(), sum, "what agents have spent is what the budget says");
        let limited = ended.iter().flatten().filter(|(how, _)| *how == Some("limit")).count();
        assert_eq!(limited, 50, "seed {seed}: all come to an end by it");
    }
}

#[test]
fn an_attempt_after_a_failure_waits_and_one_after_nonsense_does_not() {
    let text = WRITER.replace("retry 0", "retry 3");
    let script = "answers: {write: [{fail: server}, {text: what}, {fail: rate_limited, retry_after: 7s}, {action: noop}]}";
    let ran = run(&chart(&text), &[], script, None, async |session| session.turn().await.map(drop));
    assert_eq!(ran.error, None);
    let starts: Vec<u64> = ran
        .lines
        .iter()
        .filter(|line| matches!(line.what, What::Question { .. }))
        .map(|line| line.at_ms)
        .collect();
    let waits: Vec<u64> = ran
        .lines
        .iter()
        .filter_map(|line| match line.what {
            What::Waiting { until_ms, .. } => Some(until_ms - line.at_ms),
            _ => None,
        })
        .collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert!((250..=500).contains(&waits[0]), "{waits:?}");
    assert_eq!(waits[1], 7000);
    assert_eq!(starts, [0, 0, waits[0], waits[0]], "a question is written when its wait begins");
    assert_eq!(ran.lines.last().map(|l| l.at_ms), Some(waits[0] + 7000));
}

#[test]
fn a_failed_client_hands_over_to_the_one_it_falls_back_to() {
    let text = WRITER.replace("timeout 10s", "timeout 10s  fallback big").replace(
        "  limits {",
        "  client big { model \"openai:big\"  max_tokens 10  input_price 1.0 }\n  limits {",
    );
    let script = "answers: {write: [{timeout: 1m}, {action: noop}]}";
    let ran = run(&chart(&text), &[], script, None, async |session| session.turn().await.map(drop));
    let asked: Vec<(u64, String)> = ran
        .lines
        .iter()
        .filter_map(|line| match &line.what {
            What::Question { client, .. } => Some((line.at_ms, client.clone())),
            _ => None,
        })
        .collect();
    // The client's own timeout of ten seconds ends the first call; the other is asked at once.
    assert_eq!(asked, [(0, String::new()), (10_000, "big".to_owned())]);
    assert_eq!(ran.of(&["done"]).len(), 1);
}
