//! Tools of `llm` steps in a run: what the model is told, what is kept of it, who may say what.

use super::*;
use chartc_runtime::Saved;

const CHART: &str = "
type Report { title: Text, score: Int }
/// Finds pages.
tool web.search(query: Text) -> Json
tool web.open(url: Text) -> Text
tool mail.send(to: Text) -> Bool
tools reading = web.*
chart Reporter {
  var kept: Json = none
  initial work
  state work {
    llm report {
      prompt \"Report.\"  tools reading calls 2  retry 1 then fail
      returns Report into kept
      doubt retry
      error -> failed
    } -> done
  }
  final done
  final failed : error
}";

const SCRIPT: &str = r#"
answers:
  report:
    - {tool: web.search, arguments: {query: owls}}
    - '<think>The page.</think> {"tool": "web.open", "arguments": {"url": "a.b"}, "reasoning": "it may say more"}'
    - {title: Owls, score: 5}
tools:
  web.search: [{hits: [a.b]}]
  web.open: [{fail: not found}]
"#;

fn prompts(lines: &[Line]) -> Vec<String> {
    let prompts = lines.iter().filter_map(|line| match &line.what {
        What::Question { prompt, .. } => Some(prompt.clone()),
        _ => None,
    });
    prompts.collect()
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

fn session(plan: &Plan, script: &str) -> Session<Interpreter<Script>, Vec<Line>> {
    let clock = Arc::new(VirtualClock::new());
    let script = Arc::new(Script::parse("script", script, clock.clone()).expect("a script"));
    let machine = Interpreter::new(plan, Script::empty(), []).expect("no params");
    Session::new(machine, script.clone(), clock, Vec::new()).with_tools(script)
}

#[test]
fn the_model_is_told_what_it_called_and_what_came_of_it() {
    let chart = chart(CHART);
    let plan = Plan::new(&chart);
    let mut session = session(&plan, SCRIPT);
    wait(session.turn()).expect("it runs");
    assert_eq!(session.calls(), 3);
    let (machine, lines) = session.into_parts();
    let kept = machine_value(&machine, "kept");
    assert_eq!(kept, r#"{"title":"Owls","score":5}"#);
    let prompts = prompts(&lines);
    assert!(prompts[0].contains("- web.search(query: Text): Finds pages."), "{}", prompts[0]);
    assert!(!prompts[0].contains("mail.send"), "{}", prompts[0]);
    assert!(!prompts[0].contains("Called so far"), "{}", prompts[0]);
    assert!(prompts[1].contains(r#"- web.search({"query":"owls"}) = {"hits":["a.b"]}"#));
    let last = &prompts[2];
    assert!(last.contains(r#"- web.open({"url":"a.b"}) failed: not found"#), "{last}");
    assert!(last.ends_with("No further call is possible: answer now."), "{last}");
    assert!(!last.contains("you may call tools"), "{last}");
}

fn machine_value<M: chartc_core::host::Machine>(machine: &M, name: &str) -> String {
    let all = machine.variables();
    let (_, value) = all.iter().find(|(n, _)| n == name).expect("a variable");
    serde_json::to_string(value).expect("data")
}

#[test]
fn what_is_no_call_is_an_answer_and_what_is_not_offered_is_refused() {
    let cases = [
        // (answer, what the trace says of it)
        (r#"{"tool": "mail.send", "arguments": {"to": "ada"}}"#, "may not be called"),
        (r#"{"tool": "web.serch", "arguments": {"query": "x"}}"#, "is no option"),
        (r#"{"tool": "web.search"}"#, "query"),
        ("web.search", "there is no JSON"),
        (r#"I would not call {"tool": "web.search", "arguments": {"query": "x"}}"#, "take it back"),
    ];
    for (answer, why) in cases {
        let chart = chart(CHART);
        let plan = Plan::new(&chart);
        let answers = serde_json::json!({"answers": {"report": [{"text": answer}, {"title": "t", "score": 1}]}});
        let mut session = session(&plan, &answers.to_string());
        wait(session.turn()).expect("it runs");
        let (_, lines) = session.into_parts();
        let prompts = prompts(&lines);
        assert_eq!(prompts.len(), 2, "{answer}");
        assert!(prompts[1].contains(why), "{answer}: {}", prompts[1]);
        let called = lines.iter().any(|line| matches!(line.what, What::ToolCall { .. }));
        assert!(!called, "{answer}");
    }
}

#[test]
fn a_run_that_was_saved_between_calls_tells_the_same() {
    let chart = chart(CHART);
    let plan = Plan::new(&chart);
    let slow = SCRIPT
        .replace("- {title: Owls, score: 5}", "- {answer: {title: Owls, score: 5}, after: 9s}");
    let mut begun = session(&plan, &slow);
    wait(begun.begin_turn()).expect("it begins");
    wait(begun.advance(1000)).expect("it waits");
    let saved = begun.save().expect("it goes on").text().expect("data");
    let saved = Saved::read(&saved).expect("one");
    let whole = prompts(&begun.into_parts().1);
    assert_eq!(whole.len(), 3);
    let clock = Arc::new(VirtualClock::starting_at(saved.now()));
    let rest = "answers: {report: [{title: Owls, score: 5}]}";
    let script = Arc::new(Script::parse("rest", rest, clock.clone()).expect("a script"));
    let machine =
        Interpreter::resume(&plan, [], Script::empty(), saved.machine()).expect("this chart");
    let mut session = Session::new(machine, script, clock, Vec::new());
    session.resume(&saved).expect("it goes on");
    wait(session.settle()).expect("it runs");
    let (machine, lines) = session.into_parts();
    assert_eq!(prompts(&lines), whole[2..], "the question is put again as it was");
    assert_eq!(machine_value(&machine, "kept"), r#"{"title":"Owls","score":5}"#);
}
