//! `charts/phases.chart`: tools per state, repetition, advice, forced ends.

use super::{Ran, Run, run, shipped};
use chartc_core::expr::Value;
use chartc_runtime::RunError;
use chartc_runtime::trace::What;

/// Runs the chart with a script; tools return what the script says.
fn phases(script: &str, play: impl AsyncFnOnce(&mut Run<'_>) -> Result<(), RunError>) -> Ran {
    let chart = shipped("phases.chart");
    run(&chart, &[("goal", Value::Text("find the needle".into()))], script, None, play)
}

async fn turns(session: &mut Run<'_>, count: u32) -> Result<(), RunError> {
    session.run_turns(count).await.map(drop)
}

const NOTHING: &str = "
tools:
  context.fts_search: {hits: 0}
  context.memory_search: {hits: 0}
";

fn searches(queries: &[(&str, &str)]) -> String {
    let answers: String = queries
        .iter()
        .map(|(tool, query)| {
            format!("    - {{tool: context.{tool}_search, arguments: {{query: {query}}}}}\n")
        })
        .collect();
    format!("answers:\n  next:\n{answers}{NOTHING}")
}

#[test]
fn the_second_identical_query_is_stuck() {
    let ran =
        phases(&searches(&[("fts", "needle"), ("fts", "needle")]), async |s| turns(s, 2).await);
    assert_eq!(ran.error, None);
    assert_eq!(ran.moves(), ["run.searching", "may call search", "run.stuck.search"]);
    assert_eq!(ran.states, ["run.stuck.search"]);
}

#[test]
fn the_trace_says_why_it_is_stuck() {
    let stuck = |queries: &[(&str, &str)]| {
        let ran = phases(&searches(queries), async |s| turns(s, queries.len() as u32).await);
        assert_eq!(ran.states, ["run.stuck.search"]);
        let held = ran.lines.into_iter().filter_map(|line| match line.what {
            What::Taken { line, held } if line.trigger == "when" => Some(held),
            _ => None,
        });
        held.flatten().collect::<Vec<_>>()
    };
    assert_eq!(stuck(&[("fts", "needle"), ("fts", "needle")]), ["streak(search.query) >= 2"]);
    let other = [("fts", "needle"), ("fts", "haystack"), ("fts", "barn")];
    assert_eq!(stuck(&other), ["streak(tool) >= 3"]);
    let both = [("fts", "needle"), ("fts", "haystack"), ("fts", "haystack")];
    assert_eq!(stuck(&both), ["streak(tool) >= 3", "streak(search.query) >= 2"]);
}

#[test]
fn equal_queries_of_two_tools_of_the_set_are_a_repetition() {
    let script = searches(&[("fts", "needle"), ("memory", "needle")]);
    let ran = phases(&script, async |s| turns(s, 2).await);
    assert_eq!(ran.states, ["run.stuck.search"]);
}

#[test]
fn the_third_call_in_a_row_of_one_tool_is_stuck() {
    let queries = [("fts", "needle"), ("fts", "haystack"), ("fts", "barn")];
    let ran = phases(&searches(&queries[..2]), async |s| turns(s, 2).await);
    assert_eq!(ran.states, ["run.searching"]);
    let ran = phases(&searches(&queries), async |s| turns(s, 3).await);
    assert_eq!(ran.states, ["run.stuck.search"]);
    // Another tool in between is another streak, which neither tool nor query repeats.
    let queries = [("fts", "needle"), ("memory", "haystack"), ("fts", "barn")];
    let ran = phases(&searches(&queries), async |s| turns(s, 3).await);
    assert_eq!(ran.states, ["run.searching"]);
}

#[test]
fn another_option_in_between_breaks_the_streak() {
    let script = format!(
        "answers:
  next:
    - {{tool: context.fts_search, arguments: {{query: needle}}}}
    - {{choice: reason, thought: nothing yet}}
    - decide
    - {{tool: context.fts_search, arguments: {{query: needle}}}}
{NOTHING}"
    );
    let ran = phases(&script, async |s| turns(s, 4).await);
    assert_eq!((ran.error, ran.states), (None, vec!["run.searching".to_owned()]));
}

#[test]
fn the_advice_is_sent_and_ten_seconds_later_it_gives_up() {
    let mut script = searches(&[("fts", "needle"), ("fts", "needle")]);
    // A question in the stuck state that is never answered.
    script = script.replace("tools:", "    - {answer: finish, after: 1h}\ntools:");
    let ran = phases(&script, async |s| {
        turns(s, 2).await?;
        s.begin_turn().await?;
        s.advance(9_999).await?;
        assert_eq!(s.configuration(), ["run.stuck.search"]);
        s.advance(1).await
    });
    assert_eq!(ran.error, None);
    let asked = ran.of(&["question"]);
    let last = asked.last().expect("questions were put");
    for part in ["Current Phase: run.stuck.search", "Status: STUCK", "Searched 2 times. Try:"] {
        assert!(last.contains(part), "{part} in {last}");
    }
    assert!(asked[0].contains("Status: HEALTHY"), "{}", asked[0]);
    assert!(asked[1].contains("Last result: {'hits': 0}"), "{}", asked[1]);
    let end = ran.of(&["ended"]);
    assert_eq!(ran.status, Some("stuck"));
    assert!(end[0].contains("Agent stuck: Searched 2 times. Try: finish"), "{end:?}");
}

#[test]
fn each_stuck_state_has_a_cause_of_its_own() {
    let refine = "    - {choice: refine, thought: more}\n".repeat(5);
    let analysing = format!(
        "answers:
  next:
    - {{tool: context.fts_search, arguments: {{query: needle}}}}
    - {{choice: reason, thought: hm}}
{refine}{NOTHING}"
    );
    let ran = phases(&analysing, async |s| turns(s, 8).await);
    assert_eq!(ran.states, ["run.stuck.analyze"]);

    // Three tools that fail.
    let deciding = "
answers:
  next:
    - {tool: context.fts_search, arguments: {query: needle}}
    - {choice: reason, thought: hm}
    - decide
    - {tool: context.memory_search, arguments: {query: a}}
    - {tool: context.fts_search, arguments: {query: b}}
    - {tool: context.memory_search, arguments: {query: c}}
tools:
  context.fts_search: [{hits: 0}, {fail: no network}]
  context.memory_search: [{fail: no network}, {fail: no network}]
";
    let ran = phases(deciding, async |s| turns(s, 5).await);
    assert_eq!(ran.states, ["run.deciding"], "a tool that fails leaves the state as it is");
    let ran = phases(deciding, async |s| turns(s, 6).await);
    assert_eq!((ran.error, ran.states), (None, vec!["run.stuck.decide".to_owned()]));

    // No answer for a minute.
    let waiting = searches(&[("fts", "needle")])
        .replace("tools:", "    - {answer: finish, after: 1h}\ntools:");
    let ran = phases(&waiting, async |s| {
        turns(s, 1).await?;
        s.begin_turn().await?;
        s.advance(59_999).await?;
        assert_eq!(s.configuration(), ["run.searching"]);
        s.advance(1).await
    });
    assert_eq!(ran.states, ["run.stuck.search"]);
    // The model's own minute is over at the same moment.
    assert!(!ran.of(&["cancelled", "dropped"]).is_empty(), "the open question is given up");
}

#[test]
fn a_tool_outside_the_permission_of_the_state_is_refused_and_asked_again() {
    let script = "
answers:
  next:
    - {tool: context.fts_search, arguments: {query: needle}}
    - {choice: reason, thought: hm}
    - {tool: context.fts_search, arguments: {query: straw}}
    - decide
tools:
  context.fts_search: [{hits: 1}]
";
    let ran = phases(script, async |s| turns(s, 3).await);
    assert_eq!(
        (ran.error.as_deref(), ran.states.as_slice()),
        (None, &["run.deciding".to_owned()][..])
    );
    assert_eq!(
        ran.of(&["forbidden"]),
        [
            r#"{"kind":"forbidden","state":"run.analyzing","step":"next","tool":"context.fts_search"}"#
        ]
    );
    let again = ran.of(&["question"]).pop().expect("asked again");
    assert!(
        again.contains("the tool `context.fts_search` may not be called in `run.analyzing`"),
        "{again}"
    );
    assert!(again.contains(r#""attempt":2"#), "{again}");
    assert_eq!(ran.of(&["tool_call"]).len(), 1, "the forbidden call was not made");
}

#[test]
fn asked_for_what_does_not_exist_it_stops_at_the_repeat() {
    // A model that asks the same for ever.
    let script = format!(
        "answers:
  next:
    then: repeat
    answers: [{{tool: context.fts_search, arguments: {{query: unicorn}}}}]
{NOTHING}"
    );
    let ran = phases(&script, async |s| {
        for _ in 0..25 {
            s.turn().await?;
            s.advance(10_000).await?;
        }
        Ok(())
    });
    assert_eq!((ran.error.as_deref(), ran.status), (None, Some("stuck")));
    assert_eq!(ran.of(&["tool_call"]).len(), 2, "it searched twice, then nothing more");
}

#[test]
fn a_tool_that_fails_each_time_and_a_model_that_goes_on_end_at_the_third_call() {
    let script = "
answers:
  next:
    then: repeat
    answers: [{tool: context.fts_search, arguments: {query: hacker.txt}}]
tools:
  context.fts_search: {then: repeat, answers: [{fail: no such file}]}
";
    let ran = phases(script, async |s| turns(s, 25).await);
    assert_eq!((ran.error.as_deref(), ran.status), (None, Some("stuck")));
    assert_eq!(ran.of(&["question"]).len(), 3);
    let end = ran.of(&["ended"]);
    assert!(end[0].contains("Agent stuck: Searched 2 times."), "{end:?}");
    assert!(end[0].contains("no such file"), "{end:?}");
}

#[test]
fn the_last_turn_ends_with_a_summary() {
    let chart = shipped("phases.chart");
    let params = [("goal", Value::Text("x".into())), ("max_steps", Value::Int(2))];
    let script = searches(&[("fts", "a"), ("fts", "b")]);
    let ran = run(&chart, &params, &script, None, async |s| turns(s, 5).await);
    assert_eq!(ran.status, Some("stuck"));
    let end = ran.of(&["ended"]);
    assert!(end[0].contains("Reached the maximum of 2 steps."), "{end:?}");
}

#[test]
fn an_answer_without_meaning_fails_with_a_reason() {
    let script = format!("answers: {{next: [what, what]}}\n{NOTHING}");
    let ran = phases(&script, async |s| turns(s, 3).await);
    assert_eq!((ran.status, ran.of(&["ended"]).len()), (Some("error"), 1));
    assert!(ran.of(&["ended"])[0].contains("no usable answer"));
}
