//! Sets up the world of `run --world`: its file, the agent that acts in it, and the functions that it implements.

use super::instance::{InitialValues, read};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::model::Chart;
use chartc_runtime::Saved;
use chartc_runtime::agent::{Artifacts, Life, Profile, Record, SavedAgent, SharedRecord, World};
use chartc_runtime::oracle::Script;
use chartc_text::diagnostic::nearest;
use std::path::Path;
use std::sync::Arc;

/// The host functions of a run: those of a script, or those of a world before those of a script.
pub(super) enum Functions {
    Script(Script),
    Artifacts(Artifacts<Script>),
}

impl Host for Functions {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match self {
            Self::Script(host) => host.call(function, arguments),
            Self::Artifacts(host) => host.call(function, arguments),
        }
    }
}

/// Reads the file of `--world`.
pub(super) fn open(path: &Path) -> miette::Result<World> {
    let name = path.display();
    World::parse(&read(path)?).map_err(|fault| {
        let near = fault.stranger.as_ref().and_then(|(key, known)| {
            nearest(key, known.iter().map(String::as_str)).map(|near| near.to_owned())
        });
        match near {
            Some(near) => miette::miette!("{name}: {fault}; did you mean `{near}`?"),
            None => miette::miette!("{name}: {fault}"),
        }
    })
}

/// Makes the host functions of a chart and its child charts and, if there is a world, the agent in it.
pub(super) fn live(
    world: Option<World>,
    charts: &[&Chart],
    given: &InitialValues,
    saved: Option<&Saved>,
    script: Script,
) -> miette::Result<(Functions, Option<Life>)> {
    let Some(world) = world else { return Ok((Functions::Script(script), None)) };
    let agent = match saved.and_then(Saved::agent).map(SavedAgent::name) {
        Some(name) => name.to_owned(),
        None => name(&world, charts[0], given),
    };
    let fault = |why: String| miette::miette!("`{}`: {why}", charts[0].name);
    let profile = Profile::of(charts[0]).map_err(|why| fault(why.to_string()))?;
    if let Some(scrip) = starting_scrip(charts[0]) {
        world.endow(&agent, scrip);
    }
    let record = SharedRecord::new(Record::new(&agent));
    let world = Arc::new(world);
    let functions = Artifacts::new(world.clone(), record.clone(), charts, script)
        .map_err(|why| fault(why.to_string()))?;
    Ok((Functions::Artifacts(functions), Some(Life::new(world, record, profile))))
}

/// The scrip that an `agent.yaml` gives its agent at the start, under either of two keys.
fn starting_scrip(chart: &Chart) -> Option<i64> {
    let is_it = |key: &str| key == "starting_scrip" || key == "starting_credits";
    match chart.meta.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value) {
        Some(Value::Int(scrip)) => Some(*scrip),
        Some(Value::Float(scrip)) => Some(*scrip as i64),
        Some(_) | None => None,
    }
}

/// The name of the agent: that of the world, else the `agent_id` input, else the `agent_id` param, else the `id` of the `agent.yaml`, else
/// the chart's name.
fn name(world: &World, chart: &Chart, given: &InitialValues) -> String {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        Some(_) | None => None,
    };
    let of = |map: &Map| text(map.get("agent_id"));
    let id = || text(chart.meta.iter().find(|(key, _)| key == "id").map(|(_, value)| value));
    let named = world.agent().map(str::to_owned);
    named
        .or_else(|| of(&given.inputs))
        .or_else(|| of(&given.params))
        .or_else(id)
        .unwrap_or_else(|| chart.name.clone())
}
