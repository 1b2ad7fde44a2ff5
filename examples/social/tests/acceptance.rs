//! What the chart promises, held by the interpreter and by generated code alike.

use chartc_core::expr::{IntoValue, Map, Value};
use chartc_core::host::{self, Host};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Oracle, Random, Script};
use chartc_runtime::trace::{Line, What};
use social_example::chance::Chance;
use social_example::social::{ByName, Machine, Params, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Finds every post as relevant as its velocity says.
#[derive(Debug, Clone)]
struct Taste;

impl Host for Taste {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        Ok(match (function, arguments) {
            ("relevance", [Value::Map(post), _]) => {
                post.get("velocity").cloned().unwrap_or(Value::None)
            }
            _ => Value::None,
        })
    }
}

/// The thresholds of an agent that runs.
#[derive(Debug, Clone, Copy)]
struct Taken {
    patience: i64,
    bored_at: f64,
    engage_at: f64,
    keen_at: f64,
}

const ADA: Taken = Taken { patience: 3, bored_at: 0.1, engage_at: 0.5, keen_at: 0.9 };

impl Taken {
    fn params(self) -> Params {
        Params {
            patience: Some(self.patience),
            bored_at: Some(self.bored_at),
            engage_at: Some(self.engage_at),
            keen_at: Some(self.keen_at),
            ..Params::new("ada", vec!["rust".into()], "You like to argue.")
        }
    }

    fn named(self) -> Vec<(String, Value)> {
        let rows = [
            ("name", "ada".into_value()),
            ("interests", vec!["rust".to_owned()].into_value()),
            ("personality", "You like to argue.".into_value()),
            ("patience", self.patience.into_value()),
            ("bored_at", self.bored_at.into_value()),
            ("engage_at", self.engage_at.into_value()),
            ("keen_at", self.keen_at.into_value()),
        ];
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn chart() -> Arc<Chart> {
    generated_charts::model("social.chart", include_str!("../../../charts/social.chart"))
}

type Run<M> = Session<M, Vec<Line>>;

/// Does the same with an interpreted and a generated agent, and gives what both of them gave. Their traces are equal, too.
macro_rules! both {
    ($taken:expr, $oracle:expr, |$session:ident| $play:expr) => {{
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let taken: Taken = $taken;
        let oracle = || -> Arc<dyn Oracle> { Arc::new($oracle) };
        let clock = || Arc::new(VirtualClock::new());
        let chart = chart();
        let plan = Plan::new(&chart);
        let machine = Interpreter::new(&plan, Taste, taken.named()).expect("params that fit");
        let mut $session = Session::new(machine, oracle(), clock(), Vec::<Line>::new());
        let interpreted = runtime.block_on(async { $play });
        let (_, a) = $session.into_parts();
        let machine = Machine::new(taken.params(), ByName(Taste)).expect("params that fit");
        let mut $session = Session::new(machine, oracle(), clock(), Vec::<Line>::new());
        let generated = runtime.block_on(async { $play });
        let (_, b) = $session.into_parts();
        assert_eq!(interpreted, generated, "interpreted left, generated right");
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a, b, "interpreted left, generated right");
        }
        assert_eq!(a.len(), b.len());
        (generated, b)
    }};
}

fn script(answers: &str) -> Script {
    let text = format!("answers: {{engage: {{then: repeat, answers: [{answers}]}}}}");
    Script::parse("script", &text, Arc::new(VirtualClock::new())).expect("a script")
}

fn post(velocity: f64) -> Map {
    let fields = [("id", "p".into_value()), ("text", "hello".into_value())];
    let mut post: Map = fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    post.insert("velocity".into(), velocity.into_value());
    [("post".to_owned(), Value::Map(post))].into_iter().collect()
}

async fn tell<M: host::Machine>(session: &mut Run<M>, event: &str) {
    session.send(event, Map::new()).await.expect(event);
}

/// Lets an agent read a post of this relevance, up to its decision; where it is then.
async fn decide<M: host::Machine>(session: &mut Run<M>, relevance: f64) -> Vec<String> {
    tell(session, "start_browsing").await;
    session.send("sees_post", post(relevance)).await.expect("a post");
    assert_eq!(session.configuration(), ["active.evaluating"]);
    tell(session, "decides").await;
    session.configuration()
}

/// The events that the chart would handle now.
fn enabled<M: host::Machine>(session: &mut Run<M>) -> Vec<String> {
    let enabled = host::Machine::enabled_events(session.machine_mut());
    let tables = session.machine().tables();
    enabled.iter().map(|id| tables.events[id.index()].name.to_string()).collect()
}

/// The options of each question that was put.
fn questions(lines: &[Line]) -> Vec<Vec<String>> {
    let asked = lines.iter().filter_map(|line| match &line.what {
        What::Question { options, .. } => Some(options.clone()),
        _ => None,
    });
    asked.collect()
}

#[test]
fn the_model_is_asked_between_the_thresholds_and_nowhere_else() {
    let other = Taken { bored_at: 0.25, engage_at: 0.3, keen_at: 0.35, ..ADA };
    let never = Taken { bored_at: 0.5, engage_at: 0.5, keen_at: 0.5, ..ADA };
    for taken in [ADA, other, never] {
        let edges = [taken.bored_at, taken.engage_at, taken.keen_at];
        let steps = (0..=20).map(|n| f64::from(n) / 20.0);
        let near = edges.iter().flat_map(|edge| [edge - 1e-9, *edge, edge + 1e-9]);
        for relevance in steps.chain(near) {
            let (states, lines) = both!(taken, script("skip"), |s| decide(&mut s, relevance).await);
            let asked = questions(&lines);
            let case = format!("{relevance} with {taken:?}");
            if relevance >= taken.keen_at {
                assert_eq!(
                    (states, asked.len()),
                    (vec!["active.composing".to_owned()], 0),
                    "{case}"
                );
            } else if relevance <= taken.bored_at {
                assert_eq!(
                    (states, asked.len()),
                    (vec!["active.scrolling".to_owned()], 0),
                    "{case}"
                );
            } else {
                assert_eq!(
                    (states, asked.len()),
                    (vec!["active.scrolling".to_owned()], 1),
                    "{case}"
                );
                let legal: &[&str] = if relevance >= taken.engage_at {
                    &["compose", "like", "reply", "reshare", "skip"]
                } else {
                    &["compose", "skip"]
                };
                assert_eq!(asked[0], legal, "{case}");
            }
        }
    }
}

#[test]
fn an_option_that_is_not_legal_now_is_no_answer() {
    let play = |answers: &str| {
        let (states, lines) = both!(ADA, script(answers), |s| decide(&mut s, 0.3).await);
        (states.join(" "), questions(&lines).len())
    };
    // The client's `retry 1` asks once more; then it is the `else`.
    assert_eq!(play("like"), ("active.scrolling".to_owned(), 2));
    assert_eq!(play("like, compose"), ("active.composing".to_owned(), 2));
    assert_eq!(play("compose"), ("active.composing".to_owned(), 1));
}

#[test]
fn fifty_turns_by_chance_reach_every_state_and_ask_the_model() {
    let (counts, lines) = both!(ADA, Random::new(3), |session| {
        let mut chance = Chance::new(3);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        tell(&mut session, "start_browsing").await;
        for _ in 0..50 {
            // What the host does in a turn: a few things that the chart handles now.
            for _ in 0..=chance.below(4) {
                let event = chance.one(&enabled(&mut session)).clone();
                let velocity = chance.between(0.0, 1.0);
                let data = if event == "sees_post" { post(velocity) } else { Map::new() };
                session.send(&event, data).await.expect("an event that is enabled");
                for state in session.configuration() {
                    *counts.entry(state).or_default() += 1;
                }
            }
            session.turn().await.expect("a turn");
        }
        counts
    });
    let asked = questions(&lines).len();
    println!("{counts:?}, {asked} questions");
    let basic = |state: &State| !matches!(state, State::Active | State::ActiveEngaging);
    let mut states: Vec<&str> = State::ALL.iter().filter(|s| basic(s)).map(|s| s.name()).collect();
    states.sort_unstable();
    assert_eq!(counts.keys().map(String::as_str).collect::<Vec<_>>(), states);
    assert!(asked >= 1);
}

#[test]
fn the_last_fifty_transitions_are_remembered() {
    for presses in [24, 25, 26, 60] {
        let (history, lines) = both!(ADA, script("skip"), |session| {
            for _ in 0..presses {
                tell(&mut session, "start_browsing").await;
                for _ in 0..ADA.patience {
                    session.turn().await.expect("a turn");
                }
                assert_eq!(session.configuration(), ["idle"]);
            }
            session.history()
        });
        let taken = lines.iter().filter(|line| matches!(line.what, What::Taken { .. }));
        let taken: Vec<Line> = taken.cloned().collect();
        assert!(taken.len() >= 2 * presses, "{}", taken.len());
        // The chart says `trace 50`.
        assert_eq!(history, taken[taken.len().saturating_sub(50)..]);
    }
}

/// Goes to a leaf of `active` in which nothing has happened yet, waits, and tells after which turns it is idle.
fn times_out(patience: i64, leaf: &str, answer: &str, events: &[&str]) {
    let taken = Taken { patience, ..ADA };
    let (idle, _) = both!(taken, script(answer), |session| {
        for event in events {
            let data = if *event == "sees_post" { post(0.7) } else { Map::new() };
            session.send(event, data).await.expect("an event of the chart");
        }
        assert_eq!(session.configuration(), [leaf]);
        let mut idle = Vec::new();
        for turn in 1..=patience + 1 {
            session.turn().await.expect("a turn");
            if session.configuration() == ["idle"] {
                idle.push(turn);
            } else {
                assert_eq!(session.configuration(), [leaf], "in turn {turn}");
            }
        }
        idle
    });
    assert_eq!(idle, [patience, patience + 1], "from {leaf}, patience {patience}");
}

const READ: [&str; 3] = ["start_browsing", "sees_post", "decides"];

#[test]
fn scrolling_times_out() {
    for patience in [1, 3, 5] {
        times_out(patience, "active.scrolling", "skip", &["start_browsing"]);
    }
}

#[test]
fn evaluating_times_out() {
    times_out(3, "active.evaluating", "skip", &READ[..2]);
}

#[test]
fn composing_times_out() {
    times_out(3, "active.composing", "compose", &READ);
}

#[test]
fn engaging_by_a_like_times_out() {
    times_out(3, "active.engaging.like", "like", &READ);
}

#[test]
fn engaging_by_a_reply_times_out() {
    times_out(3, "active.engaging.reply", "reply", &READ);
}

#[test]
fn engaging_by_a_reshare_times_out() {
    times_out(3, "active.engaging.reshare", "reshare", &READ);
}

#[test]
fn resting_times_out() {
    times_out(3, "active.resting", "skip", &["start_browsing", "feed_empty"]);
}

#[test]
fn those_are_all_the_leaves_of_active() {
    let chart = chart();
    let leaves = chart
        .states
        .iter()
        .filter(|state| state.path.starts_with("active.") && state.path != "active.engaging");
    assert_eq!(leaves.count(), 7);
}

#[test]
fn patience_begins_again_in_every_leaf() {
    let (states, _) = both!(ADA, script("reply"), |session| {
        let mut states = Vec::new();
        for event in ["start_browsing", "sees_post", "decides", "finishes"] {
            let data = if event == "sees_post" { post(0.7) } else { Map::new() };
            session.send(event, data).await.expect("an event of the chart");
            for _ in 0..2 {
                session.turn().await.expect("a turn");
            }
            states.extend(session.configuration());
        }
        states
    });
    let expected =
        ["active.scrolling", "active.evaluating", "active.engaging.reply", "active.scrolling"];
    assert_eq!(states, expected);
}
