//! The researcher: what its regions and its memory of where it was are good for.

use super::*;
use chartc_core::expr::Map;
use chartc_runtime::data::entries;
use chartc_runtime::simulate::simulate;

/// What brings the work to each of its leaves, and the answers that are open then.
const WAYS: [(&str, &str); 5] = [
    ("gathering.searching", ""),
    ("gathering.reading", r#"{"turn":{}},{"answer":{"title":"a","says":"b"},"step":"search"}"#),
    (
        "drafting.outlining",
        r#"{"turn":{}},{"answer":{"title":"a","says":"b"},"step":"search"},{"answer":"c","step":"read"}"#,
    ),
    (
        "drafting.writing",
        r#"{"turn":{}},{"answer":{"title":"a","says":"b"},"step":"search"},{"answer":"c","step":"read"},
           {"turn":{}},{"answer":"d","step":"plan"}"#,
    ),
    (
        "reviewing",
        r#"{"turn":{}},{"answer":{"title":"a","says":"b"},"step":"search"},{"answer":"c","step":"read"},
           {"turn":{}},{"answer":"d","step":"plan"},{"answer":"e","step":"write"}"#,
    ),
];

/// The configuration after each entry, without what all of them have in front.
fn play(ways: &[&str]) -> Vec<Vec<String>> {
    let chart = shipped("researcher.chart");
    let plan = Plan::new(&chart);
    let params = [("question", Value::Text("why?".into())), ("enough", Value::Int(1))];
    let params = params.map(|(name, value)| (name.to_owned(), value));
    let script = "functions: {tell: , deliver: }";
    let host = Script::parse("host", script, Arc::new(VirtualClock::new())).expect("a script");
    let machine = Interpreter::new(&plan, host, params).expect("params that fit");
    let given: Vec<&str> = ways.iter().copied().filter(|way| !way.is_empty()).collect();
    let entries = entries(&format!("[{}]", given.join(","))).expect("entries");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let seen = runtime.block_on(simulate(machine, &Map::new(), &entries, ())).expect("it plays");
    let short = |path: &String| {
        let path = path.strip_prefix("at_work.").unwrap_or(path);
        path.strip_prefix("work.").unwrap_or(path).to_owned()
    };
    seen.paths.iter().map(|paths| paths.iter().map(short).collect()).collect()
}

fn last(ways: &[&str]) -> Vec<String> {
    play(ways).pop().expect("the start at least")
}

const ASKS: &str = r#"{"event":"asks","data":{"text":"when?"}}"#;
const TIGHT: &str = r#"{"input":{"spent":1.7},"event":"asks","data":{"text":"when?"}}"#;

#[test]
fn a_pause_is_over_exactly_where_it_began() {
    for (leaf, way) in WAYS {
        let paused = [way, TIGHT, r#"{"event":"pause"}"#];
        assert_eq!(last(&paused), ["waiting", "desk.answering", "purse.tight"], "{leaf}");
        let resumed = last(&[&paused[..], &[r#"{"event":"resume"}"#]].concat());
        let leaf = format!("doing.{leaf}");
        assert_eq!(resumed, [leaf.as_str(), "desk.answering", "purse.tight"]);
    }
}

#[test]
fn a_correction_begins_the_present_phase_again() {
    for (leaf, way) in WAYS {
        let corrects = r#"{"event":"corrects","data":{"wish":"shorter"}}"#;
        let rethinks = [way, TIGHT, corrects];
        assert_eq!(last(&rethinks), ["rethinking", "desk.answering", "purse.tight"], "{leaf}");
        let (turn, answered) = (r#"{"turn":{}}"#, r#"{"answer":"soon","step":"answer"}"#);
        let rethink = r#"{"answer":"f","step":"rethink"}"#;
        // Where a turn is still walked, the desk answers in it.
        let rethought = match leaf {
            "gathering.reading" | "drafting.writing" => [answered, turn, rethink],
            _ => [turn, answered, rethink],
        };
        let phase = match leaf.split('.').next() {
            Some("gathering") => "doing.gathering.searching",
            Some("drafting") => "doing.drafting.outlining",
            _ => "doing.reviewing",
        };
        let seen = last(&[&rethinks[..], &rethought].concat());
        assert_eq!(seen, [phase, "desk.listening", "purse.tight"], "{leaf}");
    }
}

#[test]
fn questions_are_answered_while_the_work_waits() {
    let seen = last(&[
        WAYS[3].1,
        r#"{"event":"pause"}"#,
        ASKS,
        r#"{"turn":{}}"#,
        r#"{"answer":"in a minute","step":"answer"}"#,
    ]);
    assert_eq!(seen, ["waiting", "desk.listening", "purse.ample"]);
}

#[test]
fn the_run_is_over_when_the_report_is_there_and_nobody_waits() {
    let hand_over =
        [WAYS[4].1, r#"{"turn":{}}"#, ASKS, r#"{"answer":"hand_over","step":"review"}"#];
    assert_eq!(last(&hand_over), ["delivered", "desk.answering", "purse.counted"]);
    let answered = r#"{"after_ms":120000}"#;
    assert_eq!(last(&[&hand_over[..], &[answered]].concat()), ["reported"]);
    let nobody = [WAYS[4].1, r#"{"turn":{}}"#, r#"{"answer":"hand_over","step":"review"}"#];
    assert_eq!(last(&nobody), ["reported"]);
}

#[test]
fn deadlines() {
    let minutes = |n: u64| format!(r#"{{"after_ms":{}}}"#, n * 60_000);
    assert_eq!(last(&[&minutes(29)])[0], "doing.gathering.searching");
    assert_eq!(last(&[&minutes(30)])[0], "doing.drafting.outlining");
    assert_eq!(last(&[ASKS, &minutes(1)])[1], "desk.answering");
    assert_eq!(last(&[ASKS, &minutes(2)])[1], "desk.listening");
    assert_eq!(last(&[r#"{"event":"pause"}"#, &minutes(24 * 60)]), ["forgotten"]);
}

#[test]
fn the_money_is_used_up() {
    assert_eq!(last(&[r#"{"turn":{"spent":2.0}}"#]), ["out_of_money"]);
}
