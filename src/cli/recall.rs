//! The memory of an agent whose run is in a store. The memory agrees with the run whenever the process ends.

use super::durable::Driven;
use super::instance::{InitialValues, instance};
use super::memory;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::agent::LongTerm;
use chartc_runtime::agents::{Engine, Event, INPUTS, Quiet};
use chartc_runtime::oracle::Script;
use chartc_store::Sqlite;
use std::path::Path;

/// Opens the memory of an agent whose run is in a store. It must be a file.
pub(super) fn open(
    file: &Path,
    chart: &Chart,
    plans: &[Plan<'_>],
    params: &Map,
) -> miette::Result<LongTerm> {
    if file == Path::new(":memory:") {
        return Err(miette::miette!(
            help = "give it a file: --memory agents.db",
            "a memory that ends with the process does not go with --store: the run would remember less than it has done"
        ));
    }
    let given = InitialValues { params: params.clone(), inputs: Map::new() };
    let variables = instance(plans, &given, Script::empty())?.variables();
    memory::open(file, chart, variables, None)
}

/// The name of the input that holds the memories that an agent recalls.
pub(super) const MEMORIES: &str = "memories";

/// Adds the recalled memories to the event of a turn. They are part of the event, so that both are committed together.
pub(super) async fn recall(
    engine: &Sqlite,
    run: &str,
    memory: Option<&LongTerm>,
    turn: &mut Event,
) -> Result<(), Driven> {
    let Some(memory) = memory.filter(|_| turn.data.get(MEMORIES).is_none()) else { return Ok(()) };
    let read = async || engine.read(run).await.map_err(|why| Driven::Run(why.to_string()));
    let mut state = read().await?;
    // What is recalled depends on the state, so the run has to exist before its first turn.
    if state.is_none() {
        let begin = engine.fire(run, Event::new("begin", INPUTS)).await;
        begin.map_err(|why| Driven::Run(why.to_string()))?;
        engine.quiet().await;
        state = read().await?;
    }
    let Some(state) = state.filter(|state| state.status.is_none()) else { return Ok(()) };
    let recalled = memory.recalled(&state).map_err(|why| Driven::Run(why.to_string()))?;
    if let Some(memories) = recalled {
        turn.data.insert(MEMORIES.to_owned(), memories);
    }
    Ok(())
}
