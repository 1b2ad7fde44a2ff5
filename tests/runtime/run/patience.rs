//! Calls that wait after a failure: how long, and that they do not count before they are made.

use super::*;
use chartc_runtime::MOST_RETRY_AFTER;
use std::sync::Arc;

fn told(ran: &Ran) -> (Vec<u64>, Vec<(u64, u64)>) {
    let waits = ran.lines.iter().filter_map(|line| match &line.what {
        What::Waiting { until_ms, .. } => Some(until_ms - line.at_ms),
        _ => None,
    });
    let refused = ran.lines.iter().filter_map(|line| match &line.what {
        What::NotRetried { wanted_ms, most_ms, .. } => Some((*wanted_ms, *most_ms)),
        _ => None,
    });
    (waits.collect(), refused.collect())
}

fn writer(client: &str, rest: &str) -> Arc<Chart> {
    chart(&format!(
        "client small {{ model \"m:s\"  max_tokens 9  {client} }}
client big {{ model \"m:b\"  max_tokens 9 }}
chart Writer {{
  {rest}
  initial writing
  state writing {{
    llm write with small {{ prompt \"Write.\" retry 4 error -> late }} -> done
    after 1m -> late
  }}
  state late {{ llm rest with small {{ prompt \"Rest.\" }} -> done }}
  final done
}}"
    ))
}

#[test]
fn a_provider_that_wants_too_long_a_rest_is_not_asked_again() {
    for (wanted, ms) in [("8760000h", 8_760_000 * 3_600_000), ("301s", 301_000)] {
        for fault in ["rate_limited", "server"] {
            let script = format!(
                "answers: {{write: [{{fail: {fault}, retry_after: {wanted}}}, {{action: noop}}], rest: [{{action: noop}}]}}"
            );
            let ran = run(&writer("", "limits { calls 2 }"), &[], &script, None, async |session| {
                session.turn().await?;
                assert_eq!((session.calls(), session.configuration()), (1, vec!["late".into()]));
                session.turn().await?;
                assert_eq!(session.calls(), 2, "the attempt that was not made does not count");
                Ok(())
            });
            assert_eq!((ran.error.as_ref(), ran.status), (None, Some("ok")), "{wanted}");
            assert_eq!(told(&ran), (vec![], vec![(ms, MOST_RETRY_AFTER)]), "{wanted}");
            assert!(ran.lines.iter().all(|line| line.at_ms == 0), "nothing was waited for");
        }
    }
}

#[test]
fn what_is_asked_for_within_reason_is_waited_for() {
    let script = "answers: {write: [{fail: rate_limited, retry_after: 20s}, {action: noop}]}";
    let ran =
        run(&writer("", ""), &[], script, None, async |session| session.turn().await.map(drop));
    assert_eq!((ran.status, told(&ran)), (Some("ok"), (vec![20_000], vec![])));
}

#[test]
fn a_fallback_is_asked_whatever_the_first_one_wants() {
    let script = "answers: {write: [{fail: rate_limited, retry_after: 9000h}, {action: noop}]}";
    let ran = run(&writer("fallback big", ""), &[], script, None, async |session| {
        session.turn().await.map(drop)
    });
    assert_eq!((ran.status, told(&ran)), (Some("ok"), (vec![], vec![])));
}

#[test]
fn an_attempt_that_waits_is_no_call_yet() {
    let script = "answers: {write: [{fail: rate_limited, retry_after: 2m}, {action: noop}], rest: [{action: noop}]}";
    // Two calls are allowed: the first one, and that of the other state.
    let ran = run(&writer("", "limits { calls 2 }"), &[], script, None, async |session| {
        session.begin_turn().await?;
        session.advance(30_000).await?;
        assert_eq!(session.calls(), 1, "it waits");
        session.advance(30_000).await?;
        assert_eq!((session.calls(), session.configuration()), (1, vec!["late".into()]));
        session.turn().await?;
        assert_eq!(session.calls(), 2);
        Ok(())
    });
    assert_eq!((ran.error.as_ref(), ran.status), (None, Some("ok")));
    assert_eq!(ran.of(&["cancelled"]).len(), 1);
}

#[test]
fn an_attempt_that_waits_takes_no_tokens() {
    let rest = "limits { tokens 2000 }";
    let script = "answers: {write: [{fail: rate_limited, retry_after: 2m}], rest: [{answer: {action: noop}, usage: {input: 1, output: 1}}]}";
    let ran = run(&writer("", rest), &[], script, None, async |session| {
        session.begin_turn().await?;
        session.advance(30_000).await?;
        let saved = serde_json::to_value(session.save().expect("it runs")).expect("data");
        let account = &saved["spent"]["accounts"][0][2];
        assert_eq!(account["tokens"], 0, "{saved}");
        session.advance(30_000).await?;
        session.turn().await?;
        assert_eq!(session.spent().input_tokens, 1);
        Ok(())
    });
    assert_eq!((ran.error.as_ref(), ran.status), (None, Some("ok")));
}
