//! Checks that an event fits the run to which it is sent.

use super::durable::stored_args;
use super::files::Root;
use super::instance::{InitialValues, instance};
use super::output::complain;
use super::pick::pick_to_run;
use chartc_core::expr::Map;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::{Event, hand_over};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Deny, Script};
use chartc_store::Store;
use std::sync::Arc;

/// Refuses an event that the run's chart does not declare, and data of wrong types. To find out, the event is given to a new run of the
/// chart that calls nobody and is dropped.
pub(super) fn check(store: &Store, run: &str, event: &str, data: &Map) -> miette::Result<()> {
    let listed = store.list().map_err(super::durable::refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run && row.status == "running") else {
        // `Store::post` says why nothing can be sent to this run.
        return Ok(());
    };
    let args = stored_args(&row)?;
    let picked = pick_to_run(&args.file, Some(&row.chart), &Root::default(), 0);
    let Ok(Ok(checked)) = picked else {
        complain(format!(
            "warning: not checked, because the chart `{}` cannot be read from {}; if the event does not fit, the trace of the run says so",
            row.chart, args.file
        ));
        return Ok(());
    };
    let charts = checked.family();
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let given = InitialValues { params: args.params, inputs: Map::new() };
    let machine = instance(&plans, &given, Script::empty())?;
    let mut session = Session::new(machine, Arc::new(Deny), Arc::new(VirtualClock::new()), ());
    for (name, value) in args.inputs.iter() {
        // An input that does not fit any more is reported when the run continues.
        drop(session.input(name, value.clone()));
    }
    let event = Event::new("", event).with(data.clone());
    match hand_over(&mut session, &event) {
        Err(why) if why.is_about_input() => Err(miette::miette!("run `{run}`: {why}")),
        // Any other result depends on the state that the stored run is in.
        Ok(_) | Err(_) => Ok(()),
    }
}
