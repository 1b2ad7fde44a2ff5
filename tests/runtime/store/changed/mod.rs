//! Runs that one version of a chart has saved, in another version: as a snapshot, and in a store.

mod harmless;
mod refused;
mod renamed;
mod table;

use std::sync::Arc;

use super::*;
use chartc_core::host::Machine as _;
use chartc_core::saved::Comparison;
use chartc_runtime::Saved;
use chartc_runtime::agents::{Engine, Quiet};
use table::{Outcome, Row, Where};

/// What the rows change.
pub(super) const OLD: &str = r#"
type Plan { title: Text  size: Int  note: Text? }
enum Mood { calm angry }
tool look(at: Text) -> Text

chart Part {
  param of: Text
  initial reading
  state reading { llm read { prompt "Read {of}."  returns Text } -> done }
  final done
}

chart Work {
  param most: Int = 3
  event go
  event part
  event rest
  event hand
  event ping(text: Text)
  var word: Text = "owls"
  var plan: Plan = Plan { title: "t", size: 1, note: none }
  var mood: Mood = Mood.calm
  var count: Int = 0
  var said: Text = ""

  initial waiting
  state waiting {
    advice "Wait."
    on go -> work.thinking
    on part -> apart
    on hand -> handing
    after 10m { count = count + 1 }
    after 1h -> late
  }
  state work {
    initial thinking
    state thinking {
      code before { count = count + 1 }
      llm think { prompt "Think of {word}, {most}."  returns Text into said  timeout 30m -> late }
      code behind { count = count + 10 }
      code last { count = count + 100 } -> thought
    }
    state thought {}
    history back -> thought
  }
  parallel apart {
    state left { initial a  state a { on rest -> b }  state b {} }
    state right { initial c  state c { on rest -> d }  state d {} }
  }
  state handing {
    run part Part(word) { done -> handed }
  }
  state handed {}
  state late {}
  state soon {}
  on ping(text) { word = text }
}
"#;

/// A world that keeps what was paid for, and answers where it may.
#[derive(Default)]
struct Books {
    paid: Mutex<Vec<String>>,
    answers: Mutex<bool>,
}

impl Books {
    fn pays(&self, id: &CallId) -> bool {
        self.paid.lock().expect("one thread").push(id.to_string());
        *self.answers.lock().expect("one thread")
    }

    fn count(&self) -> usize {
        self.paid.lock().expect("one thread").len()
    }
}

impl Driver for Books {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        if self.pays(id) {
            ready(Ok(Answer::from("\"fine\"".to_owned())))
        } else {
            Box::pin(pending())
        }
    }

    fn call(&self, id: &CallId, _: ToolCall) -> Calling {
        if self.pays(id) { done(Ok(Value::Text("seen".into()))) } else { Box::pin(pending()) }
    }

    fn probe(&self, id: &CallId) -> Probe {
        if self.paid.lock().expect("one thread").contains(&id.to_string()) {
            return Probe::Answered(Ok(Answer::from("\"kept\"".to_owned())));
        }
        Probe::NotMade
    }

    fn name(&self) -> String {
        "books".into()
    }
}

fn changed(row: &Row) -> String {
    let mut text = OLD.to_owned();
    for (from, to) in row.changes {
        assert!(text.contains(from), "{}: `{from}` is not in the chart", row.what);
        text = text.replacen(from, to, 1);
    }
    text
}

type Own<'p> = Session<Machine<'p>, Vec<Line>>;

/// Leads a run of the old version to a place.
async fn lead(session: &mut Own<'_>, to: Where) {
    session.start().await.expect("it starts");
    let event = match to {
        Where::Waiting | Where::LongWaiting => None,
        Where::Thinking => Some("go"),
        Where::Apart => Some("part"),
        Where::Handing => Some("hand"),
    };
    if let Some(event) = event {
        session.send(event, Map::new()).await.expect("it is taken");
        session.begin_turn().await.expect("it begins");
    }
    let minutes = if to == Where::LongWaiting { 20 } else { 5 };
    session.advance(minutes * 60_000).await.expect("time passes");
}

/// The run as a text, and what was paid for so far.
fn saved(row: &Row) -> (String, Arc<Books>) {
    let charts = charts(OLD);
    let plans = plans(&charts);
    let books = Arc::new(Books::default());
    let machine = Interpreter::new(&plans[0], Script::empty(), Map::new()).expect("defaults");
    let clock = Arc::new(VirtualClock::new());
    let mut session =
        Session::new(machine.with_charts(plans.clone()), Arc::new(Deny), clock, Vec::new())
            .with_run("ada")
            .with_driver(books.clone());
    wait(lead(&mut session, row.at));
    (session.save().expect("it goes on").text().expect("data"), books)
}

/// Where the run comes to, what it says, and the value of a variable.
fn shown<T: chartc_runtime::trace::Sink>(
    session: &Session<Machine<'_>, T>,
    variable: &str,
) -> String {
    let states = session.configuration().join(",");
    let variables = session.machine().variables();
    let value = variables.iter().find(|(name, _)| name == variable);
    let value = value.map(|(_, value)| serde_json::to_string(value).expect("data"));
    match value {
        Some(value) => format!("{states} {variable}={value}"),
        None => states,
    }
}

/// How the saved run and the new version fit, as `migrate --check` tells.
fn compared(saved: &Saved, plans: &Arc<[Plan]>) -> Comparison {
    saved.compare(&plans.iter().map(Plan::tables).collect::<Vec<_>>())
}

fn from_snapshot(row: &Row, plans: &Arc<[Plan]>) -> Result<String, String> {
    let (text, books) = saved(row);
    let saved = Saved::read(&text).expect("as written");
    let found = compared(&saved, plans);
    let machine = Interpreter::resume(&plans[0], plans.clone(), Script::empty(), saved.machine());
    let machine = match machine {
        Ok(machine) => machine,
        Err(why) => {
            assert!(!found.differences.is_empty() || row.is_about_values, "{}: {why}", row.what);
            return Err(why.to_string());
        }
    };
    assert_eq!(found.differences, [], "{}", row.what);
    let told: Vec<String> = found.changes.iter().map(ToString::to_string).collect();
    assert_eq!(told, row.told, "{}", row.what);
    let paid = books.count();
    *books.answers.lock().expect("one thread") = true;
    let clock = Arc::new(VirtualClock::starting_at(saved.now()));
    let mut session = Session::new(machine, Arc::new(Deny), clock, Vec::new())
        .with_run("ada")
        .with_driver(books.clone());
    session.resume(&saved).expect("it goes on");
    wait(async {
        for event in row.then.events {
            session.send(event, Map::new()).await.expect("it is taken");
        }
        if row.then.minutes > 0 {
            session.advance(row.then.minutes * 60_000).await.expect("time passes");
        } else {
            session.settle().await.expect("it is answered");
        }
    });
    assert_eq!(books.count(), paid, "{}: {:?}", row.what, books.paid);
    Ok(shown(&session, row.variable))
}

fn from_store(row: &Row, nth: usize, new: &Arc<[Plan]>) -> Result<String, String> {
    let file = fresh(&format!("changed-{nth}"));
    let books = Arc::new(Books::default());
    let old = charts(OLD);
    let old = plans(&old);
    let quiet = || -> Show { Box::new(|_, _| Ok(())) };
    let (handle, mut worker) = engine(&old, &file, books.clone(), quiet()).expect("a store");
    let event = |name: &str| Event::new(name, name);
    wait(async {
        let host = async move {
            let begins = match row.at {
                Where::Waiting | Where::LongWaiting => "inputs",
                Where::Thinking => "go",
                Where::Apart => "part",
                Where::Handing => "hand",
            };
            if begins == "inputs" {
                handle
                    .fire("ada", Event::new("1", chartc_runtime::agents::INPUTS))
                    .await
                    .expect("it begins");
            } else {
                handle.fire("ada", event(begins)).await.expect("it is taken");
                handle.fire("ada", Event::turn("1")).await.expect("it begins");
            }
            let minutes = if row.at == Where::LongWaiting { 20 } else { 5 };
            handle.advance(minutes * 60_000).await.expect("time passes");
            // Virtual time goes on from the last commit.
            let seen = Event::new("seen", chartc_runtime::agents::INPUTS);
            handle.fire("ada", seen).await.expect("it is taken");
        };
        while_worked(&mut worker, host).await.expect("a disk");
    });
    drop(worker);
    let paid = books.count();
    *books.answers.lock().expect("one thread") = true;
    let (handle, mut worker) = match engine(new, &file, books.clone(), quiet()) {
        Ok(both) => both,
        Err(why) => return Err(why.to_string()),
    };
    worker.load("ada").map_err(|why| why.to_string())?;
    wait(async {
        let host = async move {
            for name in row.then.events {
                handle.fire("ada", event(name)).await.expect("it is taken");
            }
            if row.then.minutes > 0 {
                handle.advance(row.then.minutes * 60_000).await.expect("time passes");
            } else {
                handle.quiet().await;
            }
        };
        while_worked(&mut worker, host).await.expect("a disk");
    });
    assert_eq!(books.count(), paid, "{}: {:?}", row.what, books.paid);
    let session = worker.session("ada").expect("it goes on");
    Ok(shown(session, row.variable))
}

fn checked(nth: usize, row: &Row) {
    let charts = charts(&changed(row));
    let name = if row.what == "the chart" { "Job" } else { "Work" };
    assert_eq!(charts[0].name, name, "{}", row.what);
    let plans = plans(&charts);
    for (kind, came) in
        [("snapshot", from_snapshot(row, &plans)), ("store", from_store(row, nth, &plans))]
    {
        match (row.outcome, came) {
            (Outcome::Loads(end), Ok(came)) => assert_eq!(came, end, "{}, {kind}", row.what),
            (Outcome::Refused(why), Err(said)) => {
                assert!(said.contains(why), "{}, {kind}: {said}", row.what);
            }
            (outcome, came) => panic!("{}, {kind}: {came:?}, not {outcome:?}", row.what),
        }
    }
}

#[test]
fn a_changed_chart_goes_on_with_a_run_or_says_why_not() {
    let rows = [harmless::ROWS, renamed::ROWS, refused::ROWS].concat();
    let failed = rows
        .iter()
        .enumerate()
        .filter(|(nth, row)| std::panic::catch_unwind(|| checked(*nth, row)).is_err());
    assert_eq!(failed.map(|(_, row)| row.what).collect::<Vec<_>>(), [""; 0]);
}

/// Leaves every call open, and keeps the names under which it is asked for.
#[derive(Default)]
struct Silent(Mutex<Vec<String>>);

impl Driver for Silent {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        self.0.lock().expect("one thread").push(id.to_string());
        Box::pin(pending())
    }

    fn call(&self, _: &CallId, _: ToolCall) -> Calling {
        Box::pin(pending())
    }

    fn probe(&self, _: &CallId) -> Probe {
        Probe::NotMade
    }

    fn name(&self) -> String {
        "silent".into()
    }
}

#[test]
fn a_call_keeps_its_name_however_often_the_run_is_saved_after_its_step_was_renamed() {
    let is_it = |row: &&Row| row.what == "a step that is under way";
    let row = renamed::ROWS.iter().find(is_it).expect("it is there");
    let (mut text, books) = saved(row);
    let charts = charts(&changed(row));
    let plans = plans(&charts);
    let old = books.paid.lock().expect("one thread").clone();
    for _ in 0..3 {
        let saved = Saved::read(&text).expect("as written");
        let machine =
            Interpreter::resume(&plans[0], plans.clone(), Script::empty(), saved.machine());
        let driver = Arc::new(Silent::default());
        let clock = Arc::new(VirtualClock::starting_at(saved.now()));
        let mut session: Own<'_> =
            Session::new(machine.expect("it loads"), Arc::new(Deny), clock, Vec::new())
                .with_run("ada")
                .with_driver(driver.clone());
        session.resume(&saved).expect("it goes on");
        assert_eq!(*driver.0.lock().expect("one thread"), old);
        assert_eq!(session.waits_for(), ["muse"]);
        text = session.save().expect("it goes on").text().expect("data");
    }
}
