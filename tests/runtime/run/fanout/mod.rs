//! Steps that do their work for each element of a list: against what the language says of them, run again, and gone on with.

mod world;

use super::replay::world::again;
use chartc::Checked;
use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::{JsonLines, Line, What};
use chartc_runtime::{Saved, Session};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use world::{Books, Comes, Course, Expected, PAUSE, Says, World, answer_of, expected};

/// A chart with one step of a kind.
fn chart(kind: &str, says: Says) -> Checked {
    let (work, one) = match kind {
        "llm" => {
            ("llm work each n in xs with quick { prompt \"n={n}\"  returns Int  doubt retry", "Int")
        }
        "call" => ("call work each n in xs look(n) {", "Int"),
        "human" => ("human work each n in xs \"n={n}\" { returns Int", "Int"),
        _ => ("run work each n in xs Part(n) { returns Found", "Found"),
    };
    let Says { at_a_time, retries, lost, enough, .. } = says;
    let enough = enough.map_or(String::new(), |enough| format!("enough {enough}"));
    let maybe = if lost == "none" { "?" } else { "" };
    let text = format!(
        r#"
tool look(n: Int) -> Int idempotent
type Found {{ said: Int }}
client quick {{ model "m:quick"  timeout 2s }}

chart Part {{
  param n: Int
  initial asking
  state asking {{
    llm ask with quick {{ prompt "n={{n}}"  returns Int  retry 0  doubt retry  done -> good(ask)  error -> bad }}
  }}
  final good(said: Int)
  final bad : error
}}

chart Fan {{
  param xs: List(Int)
  event stop
  var all: List({one}{maybe}) = []
  initial working
  state working {{
    {work}
      {at_a_time} at a time  retry {retries}  else {lost}  {enough}
      done -> done {{ all = work }}
      error -> failed
    }}
    on stop -> stopped
  }}
  final done
  final failed : error
  final stopped : partial
}}
"#
    );
    let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", &text));
    let found: Vec<&str> = done.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let main = done.charts.into_iter().find(|one| one.chart().name == "Fan");
    main.unwrap_or_else(|| panic!("{found:#?}\n{text}"))
}

type Run<'p> = Session<Interpreter<Script>, JsonLines<Vec<u8>>>;

/// One that begins anew, or goes on.
fn session<'p>(
    plans: &'p Arc<[Plan]>,
    size: usize,
    course: Course,
    books: &Arc<Mutex<Books>>,
    saved: Option<&Saved>,
) -> Run<'p> {
    let clock = Arc::new(VirtualClock::starting_at(saved.map_or(0, Saved::now)));
    let host = Script::empty();
    let machine = if let Some(saved) = saved {
        Interpreter::resume(&plans[0], plans.clone(), host, saved.machine()).expect("of it")
    } else {
        let xs = (0..size).map(|n| Value::Int(i64::try_from(n).expect("small"))).collect();
        let params = [("xs".to_owned(), Value::List(xs))];
        Interpreter::new(&plans[0], host, params)
            .expect("params that fit")
            .with_charts(plans.clone())
    };
    let world = Arc::new(World { clock: clock.clone(), course, books: books.clone() });
    let mut session =
        Session::new(machine, world.clone(), clock, JsonLines(Vec::new())).with_tools(world);
    // Where nobody asks for a pause, there is none.
    session = session.with_backoff(chartc_runtime::Backoff::NONE);
    if let Some(saved) = saved {
        session.resume(saved).expect("it goes on");
    }
    session
}

/// One turn, stopped in the middle where that is asked for.
async fn play(session: &mut Run<'_>, stop: Option<u64>) {
    match stop {
        None => drop(session.turn().await.expect("no fault of the host")),
        Some(at) => {
            session.begin_turn().await.expect("no fault of the host");
            session.advance(at).await.expect("no fault of the host");
            session.send("stop", Map::new()).await.expect("no fault of the host");
        }
    }
}

fn text(session: Run<'_>) -> String {
    String::from_utf8(session.into_parts().1.0).expect("JSON is text")
}

/// How many lines of each kind there are, of elements or their charts.
fn counted(lines: &[Line]) -> BTreeMap<&'static str, usize> {
    let mut counted = BTreeMap::new();
    for line in lines {
        let (kind, element) = match &line.what {
            What::Question { which, .. } => ("asked", which.element),
            What::ToolCall { which, .. } => ("asked", which.element),
            What::Cancelled { which, .. } => ("given up", which.element),
            What::Done { element, .. } if line.child.is_empty() => ("good", *element),
            What::Failed { element, .. } if line.child.is_empty() => ("lost", *element),
            _ => continue,
        };
        if element.is_some() || !line.child.is_empty() {
            *counted.entry(kind).or_default() += 1;
        }
    }
    counted
}

/// What the run has come to, against what it should have.
fn holds(what: &str, session: &Run<'_>, kind: &str, lost: &str, expected: &Expected) {
    assert_eq!(session.configuration(), [expected.end], "{what}");
    let all = session.machine().variables().into_iter().find(|(name, _)| name == "all");
    let answers = expected.good.iter().enumerate().filter_map(|(n, good)| {
        let said = i64::try_from(answer_of(n as u64)).expect("small");
        let said = match kind {
            "run" => Value::Map([("said".to_owned(), Value::Int(said))].into_iter().collect()),
            _ => Value::Int(said),
        };
        if *good { Some(said) } else { (lost == "none").then_some(Value::None) }
    });
    let answers = if expected.end == "done" { answers.collect() } else { Vec::new() };
    assert_eq!(all.map(|(_, value)| value), Some(Value::List(answers)), "{what}");
}

/// Plays one case, runs it again from its trace, and goes on with it from its middle.
fn case(kind: &str, size: usize, says: Says, course: Course, stop: Option<u64>) -> usize {
    let what = format!(
        "{kind} {size}, {} at a time, retry {}, else {}, enough {:?}, stop {stop:?}",
        says.at_a_time, says.retries, says.lost, says.enough
    );
    let checked = chart(kind, says);
    let plans = checked.plans();
    let expected = expected(size, says, course, stop);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");

    let books: Arc<Mutex<Books>> = Arc::default();
    let mut whole = session(&plans, size, course, &books, None);
    runtime.block_on(play(&mut whole, stop));
    holds(&what, &whole, kind, says.lost, &expected);
    let calls = {
        let books = books.lock().expect("one thread");
        assert_eq!(books.asked, expected.asked, "{what}");
        assert_eq!(books.open, 0, "{what}: what is given up is dropped");
        assert!(books.most_open <= says.at_a_time, "{what}: {} at once", books.most_open);
        books.asked.len()
    };
    let calls_of_tools = if kind == "call" { calls } else { 0 };
    let people = if kind == "human" { calls } else { 0 };
    assert_eq!(whole.calls() as usize + calls_of_tools + people, calls, "{what}");
    let whole = text(whole);
    let lines = chartc_runtime::trace::read(&whole).expect("a trace");
    let good = expected.good.iter().filter(|good| **good).count();
    let Expected { given_up, unmade, lost, .. } = expected;
    // A question that waits for its time is told of at once.
    let rows = [
        ("asked", calls + unmade),
        ("given up", given_up + unmade),
        ("good", good),
        ("lost", lost),
    ];
    let rows = rows.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted(&lines), rows, "{what}");

    let replayed = again(&checked, &whole).unwrap_or_else(|why| panic!("{what}: {why}"));
    assert_eq!(replayed.lines, lines.len(), "{what}");
    assert_eq!(replayed.answers, calls - given_up, "{what}");
    assert_eq!(books.lock().expect("one thread").asked.len(), calls, "{what}: nobody is asked");

    // Gone on with in the middle, by another process.
    let middle = expected.at / 2 + 7;
    if stop.is_none() && middle < expected.at {
        let books: Arc<Mutex<Books>> = Arc::default();
        let mut first = session(&plans, size, course, &books, None);
        runtime.block_on(async {
            first.begin_turn().await.expect("no fault of the host");
            first.advance(middle).await.expect("no fault of the host");
        });
        let saved = first.save().expect("it runs").text().expect("it is data");
        let saved = Saved::read(&saved).expect("it is one");
        let first = text(first);
        let (asked, answered) = {
            let books = books.lock().expect("one thread");
            assert_eq!(books.asked, expected.asked[..books.asked.len()], "{what}");
            (books.asked.len(), books.answered.clone())
        };
        let mut second = session(&plans, size, course, &books, Some(&saved));
        runtime.block_on(second.settle()).expect("no fault of the host");
        let books = books.lock().expect("one thread");
        // Of an element that has an answer nobody asks again.
        let later = books.asked[asked..].iter().map(|(_, element)| *element);
        let twice: Vec<u64> = later.filter(|n| answered.contains(n)).collect();
        assert_eq!(twice, [0; 0], "{what}: saved at {middle}");
        assert!(books.most_open <= says.at_a_time, "{what}");
        // Calls that were under way are made again, so that another answer may be the last of enough.
        if says.enough.is_none() {
            holds(&format!("{what}, saved at {middle}"), &second, kind, says.lost, &expected);
        }
        drop(books);
        // Both parts are one run, in which the calls that were open were made again.
        let both = first + &text(second);
        let replayed =
            again(&checked, &both).unwrap_or_else(|why| panic!("{what}, saved at {middle}: {why}"));
        assert_eq!(replayed.lines, both.lines().count(), "{what}");
    }
    calls
}

const GOOD: Course = |_, _| Comes::Good;
const SOME_TWICE: Course = |n, attempt| match (n % 5, attempt) {
    (2, 1) => Comes::Fails,
    (4, 1) => Comes::Junk,
    _ => Comes::Good,
};
const SOME_LATE: Course = |n, _| if n % 7 == 4 { Comes::Never } else { Comes::Good };
const SOME_NOT: Course = |n, attempt| match (n % 6, attempt) {
    (1, _) => Comes::Fails,
    (3, 1) => Comes::Fails,
    (5, _) => Comes::Junk,
    _ => Comes::Good,
};

/// Plays all cases of a kind of step; how many calls that took.
fn lists_of(kind: &str) -> usize {
    // Models and tools are left alone after a failure, as long as they ask for.
    let pause = if matches!(kind, "llm" | "call") { PAUSE } else { 0 };
    let says = Says { at_a_time: 8, retries: 1, lost: "fail", enough: None, pause };
    let (skip, none) = (Says { lost: "skip", ..says }, Says { lost: "none", ..says });
    let enough = Says { enough: Some(3), at_a_time: 5, ..skip };
    let cases: [(Says, Course, Option<u64>); 10] = [
        (says, GOOD, None),
        (says, SOME_TWICE, None),
        (Says { retries: 0, ..says }, SOME_LATE, None),
        (Says { retries: 0, ..skip }, SOME_LATE, None),
        (Says { retries: 0, ..none }, SOME_LATE, None),
        (skip, SOME_NOT, None),
        (Says { retries: 0, at_a_time: 3, ..none }, SOME_NOT, None),
        (enough, SOME_NOT, None),
        (says, GOOD, Some(107)),
        (skip, SOME_NOT, Some(263)),
    ];
    let mut calls = 0;
    for size in [0, 1, 8, 1000] {
        for (says, course, stop) in cases {
            if size > 0 || stop.is_none() {
                calls += case(kind, size, says, course, stop);
            }
        }
    }
    calls
}

#[test]
fn models_for_each_element() {
    assert!(lists_of("llm") > 6000);
}

#[test]
fn tools_for_each_element() {
    assert!(lists_of("call") > 6000);
}

#[test]
fn people_for_each_element() {
    assert!(lists_of("human") > 6000);
}

#[test]
fn charts_for_each_element() {
    assert!(lists_of("run") > 6000);
}

#[test]
fn a_thousand_at_once() {
    for kind in ["llm", "run"] {
        let says = Says { at_a_time: 1000, retries: 1, lost: "none", enough: None, pause: 0 };
        assert_eq!(case(kind, 1000, says, |_, _| Comes::Good, None), 1000);
    }
}
