//! Makes the parts of a run from the command line: values, answers, memory and world.

pub(super) use super::files::{read, read_made};
pub(super) use super::given::PairKind;

use super::files;
use super::given::given;
use super::output::complain;
use super::terminal::Person;
use crate::chart_compiler::Compiler;
use crate::setup::{self, Answerers, Backends};
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_core::visible;
use chartc_runtime::agent::{
    Artifacts, CONTEXT, Life, LongTerm, Profile, Record, SavedAgent, SharedRecord, WorldFile,
};
use chartc_runtime::cassette::CassetteSink;
use chartc_runtime::clock::Clock;
use chartc_runtime::memory::{InProcess, Memory, MemoryError, Rag};
use chartc_runtime::oracle::Script;
use chartc_runtime::{Saved, machine};
pub(super) use chartc_world::has_turns;
use chartc_world::{Family, Methods, NewAgent, Settings, World, starting_scrip};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The values of params and inputs that the command line sets.
#[derive(Clone)]
pub(super) struct InitialValues {
    pub(super) params: Map,
    pub(super) inputs: Map,
}

/// Reads `name=value` pairs for the params or the inputs of a chart. Every param without a default must be among them.
pub(super) fn values(chart: &Chart, kind: PairKind, pairs: &[String]) -> miette::Result<Map> {
    let map = given(chart, kind, pairs)?;
    let missing = chart.variables.iter().filter(|row| {
        kind == PairKind::Param
            && kind.is(&row.kind)
            && row.default.is_none()
            && map.get(&row.name).is_none()
    });
    let missing: Vec<String> = missing.map(|row| format!("--param {}=VALUE", row.name)).collect();
    if !missing.is_empty() {
        return Err(miette::miette!(
            "`{}` has params without a value: add {}",
            chart.name,
            missing.join(" ")
        ));
    }
    Ok(map)
}

/// What answers the run of a chart and its child charts, with a person at this terminal.
pub(super) fn backends(
    charts: &[&Chart],
    answerers: Answerers<'_>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<Backends> {
    setup::backends(charts, answerers, Arc::new(Person), clock, &complain)
}

/// Reads the data of an event: a JSON object, or nothing.
#[cfg(feature = "sqlite")]
pub(super) fn values_of_event(data: Option<&str>) -> miette::Result<Map> {
    let Some(data) = data else { return Ok(Map::new()) };
    match serde_json::from_str(data) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(_) | Err(_) => {
            Err(miette::miette!("`{data}` is not the data of an event: give a JSON object"))
        }
    }
}

/// Makes the machine of the first chart, with its params. The other charts are its child charts.
pub(super) fn instance<H: Host>(
    plans: &Arc<[Plan]>,
    given: &InitialValues,
    host: H,
) -> miette::Result<Interpreter<H>> {
    machine(plans, &given.params, host, None).map_err(|fault| miette::miette!("{fault}"))
}

/// Whether the chart's metadata contain `enabled: false`, `no` or `off`.
pub(super) fn is_disabled(chart: &Chart) -> bool {
    let enabled = chart.meta.iter().find(|(key, _)| key == "enabled").map(|(_, value)| value);
    match enabled {
        Some(Value::Bool(enabled)) => !enabled,
        // YAML 1.2 reads `no` and `off` as text, YAML 1.1 as false.
        Some(Value::Text(word)) => matches!(word.to_ascii_lowercase().as_str(), "no" | "off"),
        Some(
            Value::None
            | Value::Int(_)
            | Value::Float(_)
            | Value::Duration(_)
            | Value::List(_)
            | Value::Map(_),
        )
        | None => false,
    }
}

// `--record DIR`: the folder that calls are recorded into.

/// A folder that calls are recorded into.
struct Folder(PathBuf);

impl CassetteSink for Folder {
    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        files::write(&self.0.join(name), &visible::json(text)).map_err(|fault| fault.to_string())
    }
}

/// Prepares a folder for recording: creates it if necessary, and deletes the calls of an earlier run.
pub(super) fn shelf(folder: &Path) -> miette::Result<Box<dyn CassetteSink>> {
    files::make_folder(folder)?;
    for name in setup::recorded(folder)? {
        files::remove(&folder.join(name))?;
    }
    Ok(Box::new(Folder(folder.to_owned())))
}

// Opens the memory of `run --memory`.

/// The word that stands for a memory without a file.
const NO_FILE: &str = ":memory:";

/// Opens the memory of the agent that the chart describes. `agent` is the name of the agent in its world, if it has one.
pub(super) fn open_memory(
    file: &Path,
    chart: &Chart,
    variables: Vec<(String, Value)>,
    agent: Option<String>,
) -> miette::Result<LongTerm> {
    let rag = Rag::of(&chart.meta).map_err(|why| miette::miette!("`{}`: {why}", chart.name))?;
    let values: Map = variables.into_iter().collect();
    let told: &[&str] = if agent.is_some() { CONTEXT } else { &[] };
    let name = agent.unwrap_or_else(|| memory_name(chart, &values));
    if let Some(rag) = &rag
        && rag.enabled
    {
        let known = |name: &&str| {
            values.get(name).is_some() || ALWAYS.contains(name) || told.contains(name)
        };
        let strange: Vec<&str> =
            rag.query.names().into_iter().filter(|name| !known(name)).collect();
        if !strange.is_empty() {
            let names = strange.join("`, `");
            complain(format!(
                "warning: rag.query_template of `{}` uses `{names}`, which adds nothing to the query: neither the chart nor the agent's record declares it",
                chart.name
            ));
        }
    }
    let memory: Arc<dyn Memory> = if file == Path::new(NO_FILE) {
        Arc::new(InProcess::new())
    } else {
        files::check(file)?;
        if file.metadata().is_ok_and(|known| !known.is_file()) {
            return Err(miette::miette!(
                "{}: memories need a regular file, or `{NO_FILE}`",
                file.display()
            ));
        }
        stored(file, &name).map_err(|why| miette::miette!("{why}"))?
    };
    Ok(LongTerm::new(memory, rag, &name))
}

/// Names that the query of every agent may use.
const ALWAYS: [&str; 3] = ["agent_id", "tick", "_current_state"];

/// The name of the agent: the variable `agent_id`, else the `id` of an `agent.yaml`, else the name of the chart.
fn memory_name(chart: &Chart, values: &Map) -> String {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        Some(_) | None => None,
    };
    let id = || text(chart.meta.iter().find(|(key, _)| key == "id").map(|(_, value)| value));
    text(values.get("agent_id")).or_else(id).unwrap_or_else(|| chart.name.clone())
}

#[cfg(feature = "sqlite")]
fn stored(file: &Path, name: &str) -> Result<Arc<dyn Memory>, MemoryError> {
    Ok(Arc::new(chartc_store::memory::Store::open(file)?.agent(name)?))
}

#[cfg(not(feature = "sqlite"))]
fn stored(file: &Path, _name: &str) -> Result<Arc<dyn Memory>, MemoryError> {
    Err(MemoryError::Refused {
        place: file.display().to_string(),
        why: format!(
            "cannot be opened: this chartc was built without the feature `sqlite`, and supports only `--memory {NO_FILE}`"
        ),
    })
}

// Sets up the world of `run --world`: its file, the agent that acts in it, and the functions that it implements.

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

/// The text of the file of `--world`, and what it says.
pub(super) struct WorldText(String, WorldFile);

/// Reads the file of `--world`.
pub(super) fn open_world(path: &Path) -> miette::Result<WorldText> {
    let (name, text) = (path.display(), read_made(path)?);
    let file = WorldFile::parse(&text).map_err(|fault| {
        let near = fault.stranger.as_ref().and_then(|(key, known)| {
            nearest(key, known.iter().map(String::as_str)).map(|near| near.to_owned())
        });
        match near {
            Some(near) => miette::miette!("{name}: {fault}; did you mean `{near}`?"),
            None => miette::miette!("{name}: {fault}"),
        }
    })?;
    Ok(WorldText(text, file))
}

/// Makes the host functions of a chart and its child charts and, if there is a world, the agent in it.
pub(super) fn live(
    world: Option<WorldText>,
    charts: &[&Chart],
    given: &InitialValues,
    saved: Option<&Saved>,
    script: Script,
) -> miette::Result<(Functions, Option<Life>)> {
    let Some(WorldText(text, file)) = world else { return Ok((Functions::Script(script), None)) };
    let name = match saved.and_then(Saved::agent).map(SavedAgent::name) {
        Some(name) => name.to_owned(),
        None => agent_name(&file, charts[0], given),
    };
    let fault = |why: String| miette::miette!("`{}`: {why}", charts[0].name);
    let profile = Profile::of(charts[0]).map_err(|why| fault(why.to_string()))?;
    let disk = file.disk.everybody.unwrap_or(Settings::UNLIMITED);
    let settings = Settings { disk, starting_scrip: 0, ..Settings::default() };
    let world = World::parse(&text, settings).map_err(|why| fault(why.to_string()))?;
    let world = world.with_workshop(Arc::new(Compiler)).with_invoke(Arc::new(Methods));
    let plans = charts.iter().map(|chart| Plan::new(&Arc::new(Chart::clone(chart)))).collect();
    let new = NewAgent {
        name: name.clone(),
        scrip: starting_scrip(charts[0]).map(|scrip| scrip.max(0)),
        disk: file.disk.of(&name),
        family: Some(Arc::new(Family { plans })),
        ..NewAgent::default()
    };
    world.add_agent(new).map_err(|why| fault(why.to_string()))?;
    let (world, record) = (world.alone(), SharedRecord::new(Record::new(&name)));
    let functions = Artifacts::new(world.clone(), record.clone(), charts, script)
        .map_err(|why| fault(why.to_string()))?;
    Ok((Functions::Artifacts(functions), Some(Life::new(world, record, profile))))
}

/// The name of the agent: that of the world, else the `agent_id` input, else the `agent_id` param, else the `id` of the `agent.yaml`, else
/// the chart's name.
fn agent_name(world: &WorldFile, chart: &Chart, given: &InitialValues) -> String {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        Some(_) | None => None,
    };
    let of = |map: &Map| text(map.get("agent_id"));
    let id = || text(chart.meta.iter().find(|(key, _)| key == "id").map(|(_, value)| value));
    let named = world.agent.clone();
    named
        .or_else(|| of(&given.inputs))
        .or_else(|| of(&given.params))
        .or_else(id)
        .unwrap_or_else(|| chart.name.clone())
}
