//! Charts that run charts, with answers from a script.

use super::{Ran, Run};
use chartc::load::Memory;
use chartc_core::interpreter::Interpreter;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::What;
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
    let mut session = Session::new(machine, Arc::new(script), clock, Vec::new()).with_tools(tools);
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
    let passed = |line: &&chartc_runtime::trace::Line| matches!(line.what, What::PassedOn { .. });
    assert_eq!(ran.lines.iter().filter(passed).count(), 1);
    let given_up = |line: &&chartc_runtime::trace::Line| {
        line.child == "read" && matches!(line.what, What::Cancelled { .. })
    };
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
