//! How the tests reach a world.

use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Event, Field, Type};
use chartc_core::plan::Plan;
use chartc_runtime::agent::{Action, ArtifactHost, Done, Failure, FailureKind};
use chartc_world::{
    Family, Finding, Form, Invocation, Invoke, NewAgent, Read, Settings, Workshop, World,
};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A workshop of texts such as `echo fail import:ID`: a chart with these events. `bad` is an error.
pub(crate) struct Words;

impl Workshop for Words {
    fn build(
        &self,
        id: &str,
        _: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>> {
        let mut findings = Vec::new();
        let mut chart = Chart::empty("Words");
        for (at, word) in text.split_whitespace().enumerate() {
            let mut fault = |why: String| {
                let (code, line, column) = ("C0001".to_owned(), 1, at + 1);
                findings.push(Finding { code, line, column, text: why });
            };
            match word.split_once(':') {
                Some(("import", other)) => {
                    if read(other).is_none() {
                        fault(format!("there is no `{other}` for `{id}`"));
                    }
                }
                _ if word == "bad" => fault("it is bad".into()),
                _ => chart.events.push(event(word)),
            }
        }
        if findings.is_empty() {
            Ok(Arc::new(Family { plans: [Plan::new(&Arc::new(chart))].into() }))
        } else {
            Err(findings)
        }
    }
}

fn event(name: &str) -> Event {
    let field =
        Field { name: "said".into(), ty: Type::Optional(Box::new(Type::Text)), range: None };
    Event { name: name.to_owned(), doc: String::new(), fields: vec![field] }
}

/// A chart with these events, each with an optional text.
pub(crate) fn family(events: &[&str]) -> Arc<Family> {
    let mut chart = Chart::empty("Agent");
    chart.events = events.iter().map(|name| event(name)).collect();
    Arc::new(Family { plans: [Plan::new(&Arc::new(chart))].into() })
}

/// Runs no chart: `echo` gives its argument, `again` invokes the artifact itself, everything else fails.
pub(crate) struct Echo;

impl Invoke for Echo {
    fn invoke(&self, it: &Invocation<'_>) -> Result<Value, Failure> {
        match it.method {
            "echo" => Ok(it.arguments[0].clone()),
            "again" => it.world.invoke(it.caller, it.artifact, "again", it.arguments),
            method => Err(Failure::new(FailureKind::InvocationFailed, format!("`{method}` fails"))),
        }
    }
}

/// A world with these agents, each with 100 scrip, a workshop and somebody who runs charts.
pub(crate) fn world(names: &[&str]) -> World {
    with(Settings::default(), names)
}

pub(crate) fn with(settings: Settings, names: &[&str]) -> World {
    let world = empty(settings);
    for name in names {
        world.add_agent(agent(name)).expect("the name is free");
    }
    world
}

pub(crate) fn empty(settings: Settings) -> World {
    World::new(settings).with_workshop(Arc::new(Words)).with_invoke(Arc::new(Echo))
}

pub(crate) fn agent(name: &str) -> NewAgent {
    NewAgent { name: name.to_owned(), family: Some(family(&["hear"])), ..NewAgent::default() }
}

/// What comes of an action, or the failure's name and reason.
pub(crate) fn act(world: &World, agent: &str, action: &Action) -> Result<Done, String> {
    match pin!(world.act(agent, action)).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => {
            if let Err(why) = world.audit() {
                panic!("{agent}: {action:?}: {why}");
            }
            done.map_err(|failure| failure.to_string())
        }
        Poll::Pending => panic!("a world in memory waits for nothing"),
    }
}

/// Arguments are JSON.
pub(crate) fn invoke(
    world: &World,
    agent: &str,
    artifact: &str,
    method: &str,
    arguments: &str,
) -> Result<Value, String> {
    let Ok(Value::List(arguments)) = serde_json::from_str(arguments) else {
        panic!("{arguments} is no list");
    };
    let (artifact, method) = (artifact.to_owned(), method.to_owned());
    act(world, agent, &Action::Invoke { artifact, method, arguments }).map(|done| done.value)
}

pub(crate) fn write(
    world: &World,
    agent: &str,
    id: &str,
    ty: &str,
    content: &str,
) -> Result<Vec<String>, String> {
    let content = Value::Text(content.to_owned());
    let ty = Some(ty.to_owned()).filter(|ty| !ty.is_empty());
    let action = Action::Write { artifact: id.to_owned(), ty, content };
    act(world, agent, &action).map(|done| done.changes)
}

pub(crate) fn read(world: &World, agent: &str, id: &str) -> Result<Value, String> {
    act(world, agent, &Action::Read { artifact: id.to_owned() }).map(|done| done.value)
}

/// A value as JSON.
pub(crate) fn json(value: &Value) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}

pub(crate) fn map(text: &str) -> Map {
    serde_json::from_str(text).expect("an object")
}
