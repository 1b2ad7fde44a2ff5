//! Charts that run charts, with answers from a script.

use super::{Ran, Run};
use chartc::load::Memory;
use chartc_core::interpreter::Interpreter;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::{Line, Origin, What};
use chartc_runtime::{RunError, Session};
use std::sync::Arc;

const REVIEW: &str = r#"
tool web.read(url: Text) -> Text

chart Reading {
  param url: Text
  event hurry
  var text: Text = ""
  initial fetching
  state fetching { call page web.read(url) { returns Text into text  done -> judging  error -> failed } }
  state judging {
    llm judge { prompt """Is it good? {text}"""  returns Bool  done if judge -> good(text)  done -> bad }
    on hurry -> bad
  }
  final good(text: Text)
  final bad : stuck
  final failed : error
}

chart Review {
  event hurry
  var seen: Json = none
  var why: Text = ""
  initial reading
  state reading {
    run read Reading("https://example.org")
    on done(read) as v  -> done { seen = v }
    on error(read) as w -> again { why = w }
  }
  state again { on turn -> reading }
  final done
}
"#;

/// Runs the last chart of a text against a script.
fn family(
    files: &[(&str, &str)],
    script: &str,
    play: impl AsyncFnOnce(&mut Run<'_>) -> Result<(), RunError>,
) -> Ran {
    family_from(files, script, Origin::default(), play)
}

fn family_from(
    files: &[(&str, &str)],
    script: &str,
    origin: Origin,
    play: impl AsyncFnOnce(&mut Run<'_>) -> Result<(), RunError>,
) -> Ran {
    let mut memory = Memory::default();
    for (name, text) in files {
        memory.0.insert((*name).to_owned(), (*text).to_owned());
    }
    let done = chartc::check(&[files[0].0.to_owned()], &memory);
    let found: Vec<_> = done.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let main = done.charts.last().unwrap_or_else(|| panic!("{found:#?}"));
    let plans = main.plans();
    let clock = Arc::new(VirtualClock::new());
    let script = Script::parse("script", script, clock.clone()).expect("a script");
    let machine = Interpreter::new(&plans[0], script.clone(), []).expect("no params");
    let tools = Arc::new(script.clone());
    let machine = machine.with_charts(plans.clone());
    let session = Session::new(machine, Arc::new(script), clock, Vec::new());
    let mut session = session.with_tools(tools).with_origin(origin);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let error = runtime.block_on(play(&mut session)).err().map(|e| e.to_string());
    let states = session.configuration();
    let status = session.status().map(chartc_core::machine::Status::word);
    let (_, lines) = session.into_parts();
    Ran { lines, states, status, error }
}

const GOOD: &str = "answers: {judge: [true]}\ntools: {web.read: [a page]}";

#[test]
fn tools_and_models_of_a_chart_that_is_run_are_those_of_the_run() {
    let ran = family(&[("t.chart", REVIEW)], GOOD, async |s| s.run_turns(3).await.map(drop));
    assert_eq!((ran.error.clone(), ran.status), (None, Some("ok")));
    let own = |child: &str, kind: fn(&What) -> bool| {
        ran.lines.iter().filter(|line| line.child == child && kind(&line.what)).count()
    };
    assert_eq!(own("read", |what| matches!(what, What::ToolCall { .. })), 1);
    assert_eq!(own("read", |what| matches!(what, What::Question { .. })), 1);
    assert_eq!(own("", |what| matches!(what, What::Question { .. })), 0);
    assert_eq!(own("read", |what| matches!(what, What::Run { .. })), 1);
    // Read back as it was written.
    let text: Vec<String> =
        ran.lines.iter().map(|line| serde_json::to_string(line).expect("JSON")).collect();
    assert_eq!(chartc_runtime::trace::read(&text.join("\n")).expect("a trace"), ran.lines);
}

#[test]
fn an_event_is_passed_on_while_the_model_thinks() {
    let slow = "answers: {judge: [{answer: true, after: 5s}]}\ntools: {web.read: [a page]}";
    let ran = family(&[("t.chart", REVIEW)], slow, async |session| {
        session.begin_turn().await?;
        session.advance(1000).await?;
        session.send("hurry", chartc_core::expr::Map::new()).await?;
        session.settle().await
    });
    assert_eq!(ran.error, None);
    assert_eq!(ran.states, ["again"]);
    let passed = |line: &&Line| matches!(line.what, What::PassedOn { .. });
    assert_eq!(ran.lines.iter().filter(passed).count(), 1);
    let given_up =
        |line: &&Line| line.child == "read" && matches!(line.what, What::Cancelled { .. });
    assert_eq!(ran.lines.iter().filter(given_up).count(), 1);
}

#[test]
fn a_chart_of_an_imported_file_is_run() {
    let child = REVIEW.split("chart Review").next().expect("the first chart");
    let own = format!(
        "import \"reading.chart\"\nchart Review{}",
        REVIEW.split("chart Review").last().expect("the second")
    );
    let files = [("main.chart", own.as_str()), ("reading.chart", child)];
    let ran = family(&files, GOOD, async |s| s.run_turns(3).await.map(drop));
    assert_eq!((ran.error, ran.status), (None, Some("ok")));
}

const WHILE_THE_PARENT_WAITS: &str = r#"
chart Helper {
  var text: Text = ""
  initial thinking
  state thinking { llm think { prompt "Think."  returns Text into text } -> thought(text) }
  final thought(text: Text)
}

chart Desk {
  var left: Text = ""
  var right: Text = ""
  var help: Json = none
  initial work
  parallel work {
    state a {
      initial one
      state one {
        run early Helper()
        llm left { prompt "Left?"  returns Text into left }
        on done(early) as found { help = found }
      }
    }
    state b { initial two  state two { llm right { prompt "Right?"  returns Text into right } } }
  }
}
"#;

const SLOW: &str = "answers:
  think: [{answer: deep, after: 4s}]
  left: [{answer: l, after: 5s}]
  right: [{answer: r, after: 5s}]
";

/// The times of the questions, each with the path of its chart.
fn questions(lines: &[Line]) -> Vec<(String, u64)> {
    let questions = lines.iter().filter_map(|line| match &line.what {
        What::Question { step, .. } => Some((format!("{}/{step}", line.child), line.at_ms)),
        _ => None,
    });
    questions.collect()
}

#[test]
fn a_child_calls_its_model_while_the_regions_of_its_parent_wait_for_theirs() {
    let ran = family(&[("t.chart", WHILE_THE_PARENT_WAITS)], SLOW, async |session| {
        session.turn().await.map(drop)
    });
    assert_eq!(ran.error, None);
    let mut asked = questions(&ran.lines);
    asked.sort();
    let at_once = |step: &str| (step.to_owned(), 0);
    assert_eq!(asked, [at_once("/left"), at_once("/right"), at_once("early/think")]);
    let ended = |line: &&Line| line.child.is_empty() && matches!(line.what, What::TurnEnded { .. });
    assert_eq!(ran.lines.iter().find(ended).map(|line| line.at_ms), Some(5000));
}

#[test]
fn a_run_of_an_earlier_version_gives_children_their_turn_after_that_of_the_parent() {
    let origin = Origin { children_last: true, ..Default::default() };
    let start = async |session: &mut Run<'_>| {
        session.turn().await?;
        session.settle().await
    };
    let ran = family_from(&[("t.chart", WHILE_THE_PARENT_WAITS)], SLOW, origin, start);
    assert_eq!(ran.error, None);
    let think = questions(&ran.lines).into_iter().find(|(step, _)| step == "early/think");
    assert_eq!(think, Some(("early/think".to_owned(), 5000)));
}
