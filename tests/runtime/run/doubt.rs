//! Calls that end without an answer: which are made again, when, and which are in doubt.

use super::engine::{machine, wait};
use super::*;
use chartc_core::expr::Map;
use chartc_core::host::{Machine as _, ToolCall};
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Answer, Asking, First, OracleError, Question};
use chartc_runtime::replay::{Tape, replay};
use chartc_runtime::tools::Calling;
use chartc_runtime::trace::Sink;
use chartc_runtime::{Backoff, MOST_RETRY_AFTER};
use std::sync::Mutex;

/// Fails its first calls with these errors, in order; the later ones succeed. Counts all.
#[derive(Default)]
struct Service {
    errors: Mutex<Vec<OracleError>>,
    made: Mutex<usize>,
    result: Option<Value>,
    hangs: bool,
}

impl Service {
    fn failing(errors: &[OracleError]) -> Arc<Self> {
        Arc::new(Self { errors: Mutex::new(errors.to_vec()), ..Self::default() })
    }

    fn made(&self) -> usize {
        *self.made.lock().expect("one thread")
    }

    fn next(&self) -> Option<OracleError> {
        *self.made.lock().expect("one thread") += 1;
        let mut errors = self.errors.lock().expect("one thread");
        if errors.is_empty() { None } else { Some(errors.remove(0)) }
    }
}

impl Driver for Service {
    fn ask(&self, _: &CallId, _: Arc<Question>) -> Asking {
        let end = self.next().map_or_else(|| Ok(Answer::from("\"fine\"".to_owned())), Err);
        Box::pin(std::future::ready(end))
    }

    fn call(&self, _: &CallId, _: ToolCall) -> Calling {
        let end = self.next();
        if self.hangs {
            return Box::pin(std::future::pending());
        }
        let result = self.result.clone().unwrap_or_else(|| Value::Text("sent".into()));
        Box::pin(std::future::ready(end.map_or(Ok(result), Err)))
    }

    fn name(&self) -> String {
        "service".into()
    }
}

/// A chart that pays with a tool, after which comes `TOOL`; `LINES` stand in its step.
const PAY: &str = "
tool pay() -> Text TOOL
chart Pay {
  var said: Text = \"\"
  initial a
  state a { call paid pay() { LINES } -> end }
  final end(said: Text = said)
  final unsure : partial
  final failed(said: Text = said) : error
}";

/// Keeps the trace of a session.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Line>>>);

impl Sink for Kept {
    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        self.0.lock().expect("one thread").push(line.clone());
        Ok(())
    }
}

fn session(text: &str, service: &Arc<Service>, kept: &Kept) -> Session<Interpreter<Script>, Kept> {
    let plan = Plan::new(&chart(text));
    let clock = Arc::new(VirtualClock::new());
    Session::new(machine(&plan, &Map::new()), Arc::new(First), clock, kept.clone())
        .with_driver(service.clone())
}

/// Plays one turn: where the run is then, and its trace.
fn turn(text: &str, service: &Arc<Service>) -> (String, Vec<Line>) {
    let kept = Kept::default();
    let mut session = session(text, service, &kept);
    wait(session.turn()).expect("it runs");
    let lines = kept.0.lock().expect("one thread").clone();
    (session.configuration().join(","), lines)
}

fn pay(tool: &str, lines: &str) -> String {
    PAY.replace("TOOL", tool).replace("LINES", lines)
}

fn unanswered() -> [OracleError; 4] {
    [
        OracleError::Timeout(5),
        OracleError::Connection("reset".into()),
        OracleError::Endless,
        OracleError::Aborted("no JSON".into()),
    ]
}

#[test]
fn a_call_that_may_have_taken_effect_is_made_again_only_where_that_is_harmless() {
    for error in unanswered() {
        for (tool, lines, end, made) in [
            ("", "retry 2", "a", 1),
            ("", "retry 2  doubt -> unsure", "unsure", 1),
            ("", "retry 2  doubt -> unsure  error -> failed", "unsure", 1),
            ("", "retry 2  error -> failed", "failed", 1),
            ("", "retry 2  doubt retry", "end", 3),
            ("idempotent", "retry 2  doubt -> unsure", "end", 3),
            ("idempotent", "retry 1  error -> failed", "failed", 2),
        ] {
            let service = Service::failing(&[error.clone(), error.clone()]);
            let (at, lines_of_trace) = turn(&pay(tool, lines), &service);
            assert_eq!((at.as_str(), service.made()), (end, made), "{error}: {tool} {lines}");
            let doubts = lines_of_trace
                .iter()
                .filter(|line| matches!(line.what, What::ToolFailed { doubt: true, .. }))
                .count();
            assert_eq!(doubts, usize::from(made == 1), "{error}: {tool} {lines}");
        }
    }
}

#[test]
fn a_call_that_was_refused_is_made_again() {
    for error in [
        OracleError::Unreachable("no server".into()),
        OracleError::RateLimited { retry_after: None },
        OracleError::Server { status: 500, why: String::new(), retry_after: None },
        OracleError::Other("no such owl".into()),
    ] {
        let service = Service::failing(&[error.clone(), error.clone()]);
        let (at, _) = turn(&pay("", "retry 2  doubt -> unsure"), &service);
        assert_eq!((at.as_str(), service.made()), ("end", 3), "{error}");
    }
}

#[test]
fn the_reason_of_a_doubt_reaches_the_error_line() {
    let service = Service::failing(&[OracleError::Timeout(5)]);
    let text = pay("", "retry 2")
        .replace("-> end }", "-> end  on error(paid) as why -> failed { said = why } }");
    let mut session = session(&text, &service, &Kept::default());
    wait(session.turn()).expect("it runs");
    assert_eq!(session.configuration(), ["failed"]);
    let said = session.machine().variables().remove(0).1;
    assert_eq!(said, Value::Text("no answer after 5 ms".into()));
}

#[test]
fn a_result_of_another_type_comes_from_a_tool_that_has_run() {
    for (tool, lines, end, made) in [
        ("", "retry 2", "a", 1),
        ("", "retry 2  doubt -> unsure", "unsure", 1),
        ("idempotent", "retry 2  error -> failed", "failed", 3),
    ] {
        let service = Arc::new(Service { result: Some(Value::Int(3)), ..Service::default() });
        let (at, _) = turn(&pay(tool, lines), &service);
        assert_eq!((at.as_str(), service.made()), (end, made), "{tool} {lines}");
    }
}

#[test]
fn a_model_is_asked_again_as_often_as_its_step_may_and_then_is_in_doubt() {
    let text = "client c { model \"x:y\"  retry 1 }
        chart Ask {
          var said: Text = \"\"
          initial a
          state a { llm think with c { prompt \"?\"  returns Text into said  LINES } -> end }
          final end(said: Text = said)
          final unsure : partial
        }";
    for (lines, errors, end, made) in [
        ("doubt -> unsure", 1, "end", 2),
        ("doubt -> unsure", 2, "unsure", 2),
        ("doubt retry", 2, "a", 2),
        ("retry 0  doubt -> unsure", 1, "unsure", 1),
    ] {
        let errors = vec![OracleError::Timeout(5); errors];
        let service = Service::failing(&errors);
        let (at, _) = turn(&text.replace("LINES", lines), &service);
        assert_eq!((at.as_str(), service.made()), (end, made), "{lines}");
    }
}

#[test]
fn a_timeout_without_a_target_puts_the_call_in_doubt() {
    let run = |text: &str| {
        let service = Arc::new(Service { hangs: true, ..Service::default() });
        let mut session = session(text, &service, &Kept::default());
        for _ in 0..7 {
            if session.status().is_none() {
                wait(session.turn()).expect("it runs");
            }
        }
        (session.configuration().join(","), service.made())
    };
    assert_eq!(run(&pay("", "timeout 1s  doubt -> unsure")), ("unsure".into(), 1));
    assert_eq!(run(&pay("", "timeout 1s  error -> failed")), ("failed".into(), 1));
    assert_eq!(run(&pay("", "timeout 1s -> unsure")), ("unsure".into(), 1));
    // A call that may be made twice is made in each turn.
    assert_eq!(run(&pay("idempotent", "timeout 1s  doubt -> unsure")), ("a".into(), 7));
}

/// The times of the lines of one kind.
fn times(lines: &[Line], is: impl Fn(&What) -> bool) -> Vec<u64> {
    lines.iter().filter(|line| is(&line.what)).map(|line| line.at_ms).collect()
}

#[test]
fn a_tool_that_failed_waits_before_it_is_called_again() {
    let text = pay("", "retry 2");
    let other = || OracleError::Other("no such owl".into());
    let service = Service::failing(&[other(), other()]);
    let (_, lines) = turn(&text, &service);
    let waits = times(&lines, |what| matches!(what, What::Waiting { .. }));
    let ends = times(&lines, |what| matches!(what, What::ToolFailed { .. }));
    let returned = times(&lines, |what| matches!(what, What::ToolResult { .. }));
    assert_eq!((waits.len(), ends[0], returned.len()), (2, 0, 1), "{lines:#?}");
    // Half of the backoff is fixed: 250 and 500 ms.
    assert!(ends[1] >= 250 && returned[0] >= ends[1] + 500, "{ends:?} {returned:?}");

    let limited = OracleError::RateLimited { retry_after: Some(7_000) };
    let (_, lines) = turn(&text, &Service::failing(&[limited]));
    let returned = times(&lines, |what| matches!(what, What::ToolResult { .. }));
    assert_eq!(returned, [7_000]);

    let never = OracleError::RateLimited { retry_after: Some(MOST_RETRY_AFTER + 1) };
    let service = Service::failing(&[never]);
    let (at, lines) = turn(&text, &service);
    assert_eq!((at.as_str(), service.made()), ("a", 1));
    assert!(lines.iter().any(|line| matches!(line.what, What::NotRetried { .. })), "{lines:#?}");
}

#[test]
fn traces_with_doubts_and_waits_are_replayed_and_so_are_those_before_there_were_any() {
    let texts = |lines: &[Line]| {
        let lines = lines.iter().map(|line| serde_json::to_string(line).expect("data") + "\n");
        lines.collect::<String>()
    };
    let again = |text: &str, trace: &str| {
        let plan = Plan::new(&chart(text));
        let tape = Tape::read(trace).expect("a trace");
        let log = tape.host();
        let machine = Interpreter::new(&plan, log, Map::new()).expect("no params");
        replay(&tape, machine).map(drop)
    };
    let limited = || OracleError::RateLimited { retry_after: Some(1_000) };
    let text = pay("", "retry 2  doubt -> unsure");
    for errors in [vec![OracleError::Timeout(5)], vec![limited(), limited()]] {
        let (_, lines) = turn(&text, &Service::failing(&errors));
        again(&text, &texts(&lines)).expect("it is the same");
    }
    // Earlier versions called again at once, whatever the error was.
    let service = Service::failing(&[OracleError::RateLimited { retry_after: None }]);
    let kept = Kept::default();
    let mut session = session(&text, &service, &kept).with_backoff(Backoff::NONE);
    wait(session.turn()).expect("it runs");
    let old = texts(&kept.0.lock().expect("one thread")).replace("rate_limited", "timeout");
    assert!(old.contains("\"timeout\"") && !old.contains("waiting"), "{old}");
    again(&text, &old).expect("it is as it was");
}
