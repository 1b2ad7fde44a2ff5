//! What a user of the generated builder relies on.

use builder_example::builder::{Answer, ByName, Choice, Data, Inputs, Machine, Params, State};
use chartc_core::expr::Value;
use chartc_core::host;
use chartc_core::machine::{Effect, Record, Sink, Status, StepKey};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use generated_charts::compare::{Fickle, compare, covered};
use generated_charts::model;
use std::sync::Arc;

const CHART: &str = include_str!("../../../charts/builder.chart");

/// Keeps the step that waits for an answer.
#[derive(Default)]
struct Waiting(Option<StepKey>);

impl Sink for Waiting {
    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => self.0 = Some(key),
            Effect::Cancel(_) | Effect::Ended(_) => self.0 = None,
        }
    }

    fn record(&mut self, _: Record) {}
}

/// A machine that has been walked to `state` by answers alone.
fn walked_to(state: State) -> Machine<()> {
    let mut machine = Machine::new(Params::new("ada"), ()).expect("no param is bounded");
    let mut sink = Waiting::default();
    machine.start(0, &mut sink);
    let nothing = Value::None;
    let answers = [
        Answer::Observe(nothing.clone()),
        Answer::Ideate(nothing.clone()),
        Answer::Implement(nothing.clone()),
        Answer::Test(nothing),
    ];
    for answer in answers {
        if machine.is_in(state) {
            break;
        }
        machine.turn(0, &mut sink);
        let key = sink.0.take().expect("a model step was started");
        machine.answer(key, answer, 0, &mut sink);
    }
    assert!(machine.configuration().eq([state]));
    machine
}

#[tokio::test]
async fn a_scripted_builder_ships() {
    let script = include_str!("../../../charts/builder.script.yaml");
    let oracle = Script::parse("builder", script, Arc::new(VirtualClock::new()));
    let oracle = Arc::new(oracle.expect("the script is well-formed"));
    let (states, status) = builder_example::run("ada", oracle, 50).await.expect("the run ends");
    assert_eq!(states.last().map(String::as_str), Some("shipping"));
    assert_eq!(status, Some(Status::Ok));
    assert_eq!(states.iter().filter(|s| *s == "observing").count(), 1, "{states:?}");
}

#[test]
fn should_pivot_leads_to_observing_from_any_other_state() {
    for state in [State::Ideating, State::Implementing, State::Testing, State::Reflecting] {
        let mut machine = walked_to(state);
        let mut sink = Waiting::default();
        machine.set_inputs(Inputs { successes: Some(1), total: Some(5), ..Inputs::default() });
        machine.turn(0, &mut sink);
        assert!(machine.is_in(State::Observing), "from {state}");
        let Data { seen, should_pivot, .. } = *machine.data();
        assert_eq!((seen, should_pivot), (5, false), "from {state}");
    }
}

#[test]
fn a_good_record_leads_nowhere_by_itself() {
    let mut machine = walked_to(State::Testing);
    machine.set_inputs(Inputs { successes: Some(4), total: Some(5), ..Inputs::default() });
    machine.turn(0, &mut Waiting::default());
    assert!(machine.is_in(State::Testing));
}

#[test]
fn the_model_is_offered_what_is_legal() {
    let mut machine = walked_to(State::Reflecting);
    let mut sink = Waiting::default();
    machine.turn(0, &mut sink);
    let key = sink.0.expect("the question was put");
    let offers: Vec<String> = machine.options(key).map(|option| option.to_string()).collect();
    assert_eq!(offers, ["continue", "pivot", "ship"]);
    let prompt = host::Machine::prompt(&mut machine, key).expect("it can be rendered");
    assert!(prompt.starts_with("Success rate: 0%"), "{prompt}");
    machine.choose(key, Choice::Ship, 0, &mut sink);
    assert_eq!(machine.ended(), Some(Status::Ok));
}

#[test]
fn names_are_those_of_the_chart() {
    assert_eq!("reflecting".parse(), Ok(State::Reflecting));
    assert!("Reflecting".parse::<State>().is_err());
    assert_eq!(State::ALL.len(), 6);
}

#[test]
fn the_interpreter_gives_the_same_traces() {
    fn make<'c>(
        params: &[(String, Value)],
        host: Fickle<'c>,
    ) -> Result<Box<dyn host::Machine + 'c>, String> {
        let [(_, Value::Text(agent_id))] = params else { unreachable!("the chart has one param") };
        let machine = Machine::new(Params::new(agent_id.as_str()), ByName(host));
        machine.map(|machine| Box::new(machine) as _).map_err(|why| why.to_string())
    }
    let chart = model("builder.chart", CHART);
    let coverage = compare(&chart, &make, 1000, 60);
    covered(&chart, &coverage, &[]);
}
