//! Runs that were saved and go on.

use std::sync::Arc;

use super::*;
use crate::random::Random;
use chartc_core::expr::Map;
use chartc_runtime::Saved;
use chartc_runtime::oracle::{Answer, Asking, Kind, OracleError, Question, ready};
use chartc_runtime::replay::{Tape, replay};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Answers by what it is asked alone, so that it has no state to save.
struct ByWords;

impl Oracle for ByWords {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let mut hasher = DefaultHasher::new();
        (&question.prompt, question.attempt).hash(&mut hasher);
        let draw = hasher.finish();
        ready(match question.kind {
            _ if draw.is_multiple_of(7) => Err(OracleError::Connection("dropped".into())),
            Kind::Ask => {
                let option = &question.options[draw as usize / 7 % question.options.len()];
                Ok(Answer::from(option.offer.name.to_string()))
            }
            Kind::Llm | Kind::Human => Ok(Answer::from(r#"{"action": "noop"}"#.to_owned())),
        })
    }

    fn name(&self) -> String {
        "by words".into()
    }
}

type Own<'p> = Session<Interpreter<Script>, Vec<Line>>;

fn begun<'p>(plan: &'p Plan, params: &[(&str, Value)]) -> Own<'p> {
    let params: Map =
        params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let machine = Interpreter::new(plan, Script::empty(), params).expect("params that fit");
    Session::new(machine, Arc::new(ByWords), Arc::new(VirtualClock::new()), Vec::new())
}

/// Through text and back, as a file would hold it.
fn resumed<'p>(plan: &'p Plan, saved: &Saved) -> Own<'p> {
    let text = saved.text().expect("it is data");
    let saved = Saved::read(&text).expect("it is one");
    let machine =
        Interpreter::resume(plan, [], Script::empty(), saved.machine()).expect("of this chart");
    let clock = Arc::new(VirtualClock::starting_at(saved.now()));
    let mut session = Session::new(machine, Arc::new(ByWords), clock, Vec::new());
    session.resume(&saved).expect("it goes on");
    session
}

#[test]
fn a_run_that_was_saved_goes_on_as_if_it_had_not_been() {
    let limited = "
chart Limited {
  client c { model \"m:m\"  max_tokens 100  retry 2 }
  limits { tokens 20000 warn 5000  turns 30 }
  var warned: Int = 0
  var rounds: Int = 0
  on limit.warn.tokens { warned = warned + 1 }
  code count { rounds = rounds + 1 }
  initial a
  state a { ask go with c on turn always else stay { prompt \"Round {rounds}. {options}\" }  may stay_here \"no\"  may move \"yes\" -> b }
  state b { after 3s -> a  llm think with c { prompt \"Think {rounds}.\" } }
}
";
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    type Case = (Arc<Chart>, Vec<(&'static str, Value)>);
    let cases: [Case; 3] = [
        (shipped("builder.chart"), vec![("agent_id", Value::Text("ada".into()))]),
        (shipped("phases.chart"), vec![("goal", Value::Text("owls".into()))]),
        (chart(limited), vec![]),
    ];
    for (chart, params) in &cases {
        let plan = Plan::new(chart);
        let step = async |session: &mut Own<'_>| {
            session.turn().await.expect("no fault of the host");
            session.advance(1500).await.expect("no fault of the host");
        };
        let mut whole = begun(&plan, params);
        let mut parted = begun(&plan, params);
        let mut kept: Vec<Line> = Vec::new();
        let turns = 25;
        runtime.block_on(async {
            for _ in 0..turns {
                step(&mut whole).await;
            }
            for _ in 0..turns {
                step(&mut parted).await;
                let Some(saved) = parted.save() else { break };
                let next = resumed(&plan, &saved);
                kept.extend(std::mem::replace(&mut parted, next).into_parts().1);
            }
        });
        assert!(chart.name != "Limited" || whole.spent().input_tokens > 0, "{:?}", whole.spent());
        assert_eq!(whole.configuration(), parted.configuration(), "{}", chart.name);
        assert_eq!(whole.spent(), parted.spent(), "{}", chart.name);
        assert_eq!((whole.turns(), whole.calls()), (parted.turns(), parted.calls()));
        kept.extend(parted.into_parts().1);
        let seqs: Vec<u64> = kept.iter().map(|line| line.seq).collect();
        assert_eq!(seqs, (1..=kept.len() as u64).collect::<Vec<_>>(), "no line is lost");
        let told = |lines: Vec<Line>| -> Vec<(u64, What)> {
            let own = lines.into_iter().filter(|l| !matches!(l.what, What::Resumed { .. }));
            own.map(|line| (line.at_ms, line.what)).collect()
        };
        let (_, lines) = whole.into_parts();
        // Turns after the end are told of by the one that was not parted.
        let lines =
            told(lines).into_iter().filter(|(_, what)| !matches!(what, What::NotTaken { .. }));
        assert_eq!(lines.collect::<Vec<_>>(), told(kept), "{}", chart.name);
    }
}

#[test]
fn a_call_that_was_under_way_is_made_again() {
    let text = "
chart Slow {
  client c { model \"m:m\"  max_tokens 100 }
  limits { tokens 2000 }
  initial a
  state a { ask go with c on turn always else stay { prompt \"Now? {options}\"  doubt retry }  may move \"yes\" -> b }
  state b {}
}
";
    let chart = chart(text);
    let plan = Plan::new(&chart);
    let clock = Arc::new(VirtualClock::new());
    let script = "answers: {go: [{answer: move, after: 1m}]}";
    let script = Script::parse("s", script, clock.clone()).expect("a script");
    let machine = Interpreter::new(&plan, Script::empty(), Map::new()).expect("no params");
    let mut session = Session::new(machine, Arc::new(script), clock, Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        session.begin_turn().await.expect("it begins");
        session.advance(10_000).await.expect("time passes");
        let mut second = resumed(&plan, &session.save().expect("it runs"));
        let (_, mut both) = session.into_parts();
        let attempts = |lines: &[Line]| -> Vec<u32> {
            let asked = lines.iter().filter_map(|line| match line.what {
                What::Question { attempt, .. } => Some(attempt),
                _ => None,
            });
            asked.collect()
        };
        second.settle().await.expect("it is answered");
        assert_eq!(second.configuration(), ["b"]);
        // Of the first nobody knows what it took: all that was held for it counts, beside the second.
        let spent = second.spent();
        let one = spent.input_tokens + spent.output_tokens;
        assert!(one > 100, "{spent:?}");
        let (_, lines) = second.into_parts();
        assert_eq!(attempts(&lines), [1], "under its old key");
        both.extend(lines);
        assert_eq!(replayed(&plan, &both), both.len());
    });
}

/// How many lines of a trace come again in the same way.
fn replayed(plan: &Plan, lines: &[Line]) -> usize {
    let text: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).expect("data")).collect();
    let tape = Tape::read(&text.join("\n")).expect("a trace");
    let machine = Interpreter::new(plan, tape.host(), Map::new()).expect("no params");
    replay(&tape, machine).unwrap_or_else(|why| panic!("{why}\n{text:#?}")).lines
}

#[test]
fn a_run_with_a_call_in_doubt_is_run_again_from_its_trace() {
    let text = "
chart Unsure {
  client c { model \"m:m\"  max_tokens 100  input_price 1.0  output_price 2.0 }
  limits { tokens 30000 }
  initial a
  state a {
    llm think each n in [1, 2, 3] with c { prompt \"Think {n}.\"  returns Int  2 at a time  else skip  DOUBT done -> b }
  }
  state b { llm more with c { prompt \"More at {tokens}?\"  returns Int } -> c }
  state unsure {}
  final c
}
";
    for (doubt, ends) in [("doubt -> unsure", "unsure"), ("", "c")] {
        let chart = chart(&text.replace("DOUBT", doubt));
        let plan = Plan::new(&chart);
        let clock = Arc::new(VirtualClock::new());
        let script = "answers: {think: [{answer: 1, after: 1m}, {fail: server, after: 1s}, {answer: 3, after: 1m}]}";
        let script = Script::parse("s", script, clock.clone()).expect("a script");
        let machine = Interpreter::new(&plan, Script::empty(), Map::new()).expect("no params");
        let mut first = Session::new(machine, Arc::new(script), clock, Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            first.begin_turn().await.expect("it begins");
            first.advance(10_000).await.expect("time passes");
            let saved = first.save().expect("it runs");
            let (_, mut both) = first.into_parts();
            let script = "answers: {think: {then: repeat, answers: [7]}, more: [8]}";
            let clock = Arc::new(VirtualClock::starting_at(saved.now()));
            let script = Arc::new(Script::parse("s", script, clock.clone()).expect("a script"));
            let machine = Interpreter::resume(&plan, [], Script::empty(), saved.machine());
            let mut second =
                Session::new(machine.expect("of this chart"), script, clock, Vec::new());
            second.resume(&saved).expect("it goes on");
            second.settle().await.expect("it is answered");
            if second.status().is_none() {
                second.turn().await.expect("it goes on");
            }
            assert_eq!(second.configuration(), [ends]);
            both.extend(second.into_parts().1);
            assert_eq!(replayed(&plan, &both), both.len(), "{doubt}");
        });
    }
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let builder = shipped("builder.chart");
    let plan = Plan::new(&builder);
    let mut session = begun(&plan, &[("agent_id", Value::Text("ada".into()))]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(session.turn()).expect("it runs");
    let saved = session.save().expect("it runs");
    let text = saved.text().expect("it is data");
    let whole = serde_json::to_string(&saved).expect("it is data");
    let mut random = Random::new(7);
    for nth in 0..500 {
        let mut bytes = text.clone().into_bytes();
        if nth % 5 == 0 {
            bytes.truncate(random.below(bytes.len()));
        } else {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let Ok(damaged) = String::from_utf8(bytes) else { continue };
        if let Ok(read) = Saved::read(&damaged) {
            let read = serde_json::to_string(&read).expect("it is data");
            assert_eq!(read, whole, "accepted: {damaged}");
        }
    }
}

#[test]
fn snapshots_of_others_are_refused() {
    let builder = shipped("builder.chart");
    let plan = Plan::new(&builder);
    let mut session = begun(&plan, &[("agent_id", Value::Text("ada".into()))]);
    assert!(session.save().is_none(), "it has not begun");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(session.start()).expect("it starts");
    let saved = session.save().expect("it runs");
    let changed = named("b.chart", "chart Builder { initial a  state a {} }");
    let other = Plan::new(&changed);
    let error =
        Interpreter::resume(&other, [], Script::empty(), saved.machine()).err().expect("another");
    let said = error.to_string();
    assert!(said.contains("the state `observing`, which is active, is gone"), "{said}");
    for (text, why) in [
        ("{}", "no snapshot"),
        ("what", "no snapshot"),
        (r#"{"format": 9}"#, "format version 9"),
        (r#"{"format": 1}"#, "format version 1"),
    ] {
        assert!(Saved::read(text).expect_err("not one").contains(why), "{text}");
    }
}
