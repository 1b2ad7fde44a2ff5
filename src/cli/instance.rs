//! Makes the parts of a run from the command line: values, the oracle, the machine.

use super::cassette::replaying;
pub(super) use super::files::read;
pub(super) use super::given::PairKind;
use super::given::given;
use super::live::{self, is_live};
use super::output::complain;
use super::terminal::Person;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{AskOn, Chart, StepKind, Transition, Trigger};
use chartc_core::plan::Plan;
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::oracle::{Deny, First, Oracle, Random, Replaying, Script};
use chartc_runtime::tools::{NoTools, Tools};
use chartc_text::diagnostic::nearest;
use std::path::Path;
use std::sync::Arc;

/// The values of params and inputs that the command line sets.
#[derive(Clone)]
pub(super) struct InitialValues {
    pub(super) params: Map,
    pub(super) inputs: Map,
}

/// The oracles, tools and host functions of a run.
pub(super) struct Backends {
    pub(super) oracle: Arc<dyn Oracle>,
    /// The oracle of `human` steps; `None` if `oracle` answers them, too.
    pub(super) people: Option<Arc<dyn Oracle>>,
    pub(super) tools: Arc<dyn Tools>,
    pub(super) host: Script,
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

/// Makes the oracles and tools that `--llm`, `--human` and `--functions` choose, for a chart and its child charts.
pub(super) fn oracle(
    charts: &[&Chart],
    (llm, model): (Option<&str>, Option<&str>),
    human: Option<&str>,
    functions_file: Option<&Path>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<Backends> {
    let mut host = match functions_file {
        Some(path) => Some(script_of(charts, path, clock.clone())?),
        None => None,
    };
    let mut tools: Arc<dyn Tools> = Arc::new(NoTools);
    let mut recorded: Option<Arc<Replaying>> = None;
    let oracle: Arc<dyn Oracle> = match llm.map(|word| word.split_once(':').unwrap_or((word, ""))) {
        None | Some(("deny", "")) => Arc::new(Deny),
        Some(("human", "")) => Arc::new(Person),
        Some(_) if is_live(llm) => live::oracle(charts, llm.unwrap_or_default(), model)?,
        Some(("first", "")) => {
            tools = Arc::new(First);
            Arc::new(First)
        }
        Some(("random", seed)) => {
            let random = Arc::new(Random::new(match seed {
                "" => 0,
                seed => seed.parse().map_err(|_| {
                    miette::miette!("`{seed}` is not a seed: random:SEED takes a whole number")
                })?,
            }));
            tools = random.clone();
            random
        }
        Some(("replay", folder)) if !folder.is_empty() => {
            let replaying = Arc::new(replaying(Path::new(folder), clock.clone())?);
            recorded = Some(replaying.clone());
            replaying
        }
        Some(("script", file)) if !file.is_empty() => {
            let script = script_of(charts, Path::new(file), clock.clone())?;
            host.get_or_insert_with(|| script.clone());
            Arc::new(script)
        }
        Some(_) => {
            return Err(miette::miette!(
                "`{}` is not a valid value of --llm: use script:FILE, replay:DIR, first, random:SEED, human, deny, clients, PROVIDER:MODEL or a URL",
                llm.unwrap_or_default()
            ));
        }
    };
    let people: Option<Arc<dyn Oracle>> = match human {
        // A model must not answer for a person, so without `--human` a real model leaves these steps to the terminal.
        None if is_live(llm) => Some(Arc::new(Person)),
        None => None,
        Some("terminal") => Some(Arc::new(Person)),
        Some(word) => match word.strip_prefix("script:").filter(|file| !file.is_empty()) {
            Some(file) => Some(Arc::new(script_of(charts, Path::new(file), clock.clone())?)),
            None => {
                return Err(miette::miette!(
                    "`{word}` is not a valid value of --human: use terminal, script:FILE, or, with --store, later"
                ));
            }
        },
    };
    // Tools come from `--functions` or the script of `--llm`, but a replay answers them from the recording.
    if let Some(script) = &host {
        tools = Arc::new(script.clone());
    }
    if let Some(recorded) = recorded {
        tools = recorded;
    }
    Ok(Backends { oracle, people, tools, host: host.unwrap_or_else(Script::empty) })
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

/// Reads the host functions of a script; without a file there are none.
pub(super) fn functions(charts: &[&Chart], file: Option<&Path>) -> miette::Result<Script> {
    match file {
        Some(path) => script_of(charts, path, Arc::new(VirtualClock::new())),
        None => Ok(Script::empty()),
    }
}

/// Makes the machine of the first chart, with its params. The other charts are its child charts.
pub(super) fn instance<'p, H: Host>(
    plans: &'p [Plan<'p>],
    given: &InitialValues,
    host: H,
) -> miette::Result<Interpreter<'p, H>> {
    Interpreter::new(&plans[0], host, given.params.clone())
        .map(|machine| machine.with_charts(plans))
        .map_err(|fault| miette::miette!("{fault}"))
}

/// Reads a script, and warns about names in it that the charts do not have.
pub(super) fn script_of(
    charts: &[&Chart],
    path: &Path,
    clock: Arc<dyn Clock>,
) -> miette::Result<Script> {
    let name = path.display().to_string();
    let script = Script::parse(&name, &read(path)?, clock)
        .map_err(|fault| miette::miette!("{name}: {fault}"))?;
    let of = |names: fn(&Chart) -> Vec<String>| -> Vec<String> {
        charts.iter().flat_map(|chart| names(chart)).collect()
    };
    let steps = of(|chart| {
        let asking = chart.steps.iter().filter(|step| asks(&step.kind));
        asking.map(|step| step.name.clone()).collect()
    });
    let functions = of(|chart| chart.functions.iter().map(|f| f.name.clone()).collect());
    let tools = of(|chart| chart.tools.iter().map(|t| t.name.clone()).collect());
    for stranger in script.strangers(&steps, &functions, &tools) {
        let known = steps.iter().chain(&functions).chain(&tools).map(String::as_str);
        let hint = nearest(&stranger, known).map(|n| format!("; did you mean `{n}`?"));
        complain(format!(
            "warning: {name} answers `{stranger}`, which `{}` never asks{}",
            charts[0].name,
            hint.unwrap_or_default()
        ));
    }
    Ok(script)
}

/// Whether a step asks a model or a person.
fn asks(kind: &StepKind) -> bool {
    match kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(..) => false,
    }
}

/// Whether anything in the chart depends on turns.
pub(super) fn has_turns(chart: &Chart) -> bool {
    let walks = chart.steps.iter().any(|step| match &step.kind {
        StepKind::Ask { on, .. } => *on == AskOn::Turn,
        StepKind::Run(run) => !run.on_entry,
        _ => true,
    });
    let moves = |line: &Transition| {
        matches!(
            &line.trigger,
            Trigger::Turn | Trigger::AnyOccurrence | Trigger::AfterTurns(_) | Trigger::When
        )
    };
    walks || chart.transitions.iter().any(moves)
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
