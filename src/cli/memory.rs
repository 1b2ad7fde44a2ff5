//! Opens the memory of `run --memory`.

use super::output::complain;
use super::save;
use chartc_core::expr::{Map, Value};
use chartc_core::model::Chart;
use chartc_runtime::agent::{CONTEXT, LongTerm};
use chartc_runtime::memory::{InProcess, Memory, MemoryError, Rag};
use std::path::Path;
use std::sync::Arc;

/// The word that stands for a memory without a file.
const NO_FILE: &str = ":memory:";

/// Opens the memory of the agent that the chart describes. `agent` is the name of the agent in its world, if it has one.
pub(super) fn open(
    file: &Path,
    chart: &Chart,
    variables: Vec<(String, Value)>,
    agent: Option<String>,
) -> miette::Result<LongTerm> {
    let rag = Rag::of(&chart.meta).map_err(|why| miette::miette!("`{}`: {why}", chart.name))?;
    let values: Map = variables.into_iter().collect();
    let told: &[&str] = if agent.is_some() { CONTEXT } else { &[] };
    let name = agent.unwrap_or_else(|| name(chart, &values));
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
        save::check(file)?;
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
fn name(chart: &Chart, values: &Map) -> String {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        Some(_) | None => None,
    };
    let id = || text(chart.meta.iter().find(|(key, _)| key == "id").map(|(_, value)| value));
    text(values.get("agent_id")).or_else(id).unwrap_or_else(|| chart.name.clone())
}

#[cfg(feature = "sqlite")]
fn stored(file: &Path, name: &str) -> Result<Arc<dyn Memory>, MemoryError> {
    Ok(Arc::new(chartc_memory::Store::open(file)?.agent(name)?))
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
