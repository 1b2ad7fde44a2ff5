//! Checks that the run which waits for a person's answer can use it.

use super::durable::{made, refused, stored_args};
use super::files::Root;
use super::instance::InitialValues;
use super::output::complain;
use super::pick::pick_to_run;
use chartc_core::expr::Map;
use chartc_core::plan::Plan;
use chartc_runtime::driver::{Free, Parts};
use chartc_runtime::oracle::{Deny, Question, Script};
use chartc_runtime::stepped::Stepped;
use chartc_runtime::tools::NoTools;
use chartc_runtime::trace::{Line, Origin, What};
use chartc_store::{Listed, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Refuses an answer to a question that is not open, or that the step cannot use. Such an answer is not stored and costs no attempt. To
/// find out, the answer is given to a copy of the run that calls nobody and is dropped.
pub(super) fn check(store: &Store, run: &str, id: &str, answer: &str) -> miette::Result<()> {
    let listed = store.list().map_err(refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run && row.status == "running") else {
        // `Store::post` says why nothing can be sent to this run.
        return Ok(());
    };
    let question = store.question(run, id).map_err(|why| {
        if !matches!(why, StoreError::NotOpen { .. }) {
            return refused(why);
        }
        miette::miette!(
            help = "an answer names its question by the id, which changes when the question is asked again; nothing was stored",
            "{why}"
        )
    })?;
    let Some(why) = objection(store, &row, &question, answer)? else { return Ok(()) };
    let form = question.wanted_of_a_person();
    let expected = match form.as_str() {
        "" => String::new(),
        schema if schema == question.schema => format!("expected: JSON of the schema {schema}; "),
        form => format!("expected: {form}; "),
    };
    Err(miette::miette!(
        help = format!("{expected}nothing was stored"),
        "run `{run}`: the answer to `{}` cannot be used: {why}",
        question.line()
    ))
}

/// The reason why the run cannot use the answer now, if it cannot.
fn objection(
    store: &Store,
    row: &Listed,
    question: &Question,
    answer: &str,
) -> miette::Result<Option<String>> {
    let Some(saved) = store.session(&row.run).map_err(refused)? else { return Ok(None) };
    let args = stored_args(row)?;
    let picked = pick_to_run(&args.file, Some(&row.chart), &Root::default(), 0);
    let Ok(Ok(checked)) = picked else {
        complain(format!(
            "warning: not checked, because the chart `{}` cannot be read from {}; if the answer does not fit, the trace of the run says so",
            row.chart, args.file
        ));
        return Ok(None);
    };
    let charts = checked.family();
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let given = InitialValues { params: args.params, inputs: Map::new() };
    let nobody = Parts { oracle: Arc::new(Deny), people: None, tools: Arc::new(NoTools) };
    // In real time, time has passed while no process had the run open.
    let first = store.lines_after(&row.run, 0, 1).map_err(refused)?.pop();
    let is_real =
        first.is_some_and(|line| matches!(line.what, What::Run { clock, .. } if clock == "real"));
    let now = store.moment(Some(&row.run), is_real).map_err(refused)?;
    let copy = Stepped::new(
        (&row.run, &row.given),
        Some(&saved),
        saved.now(),
        (Arc::new(Free(nobody)), BTreeMap::new()),
        |making| made(making, &plans, &given, Script::empty(), Origin::default()),
    );
    // A run that does not fit its chart any more reports it when it continues.
    let Ok(mut copy) = copy else { return Ok(None) };
    if !copy.session().asked().any(|open| open.id == question.id) {
        return Ok(None);
    }
    // First let deadlines fire that have passed by now: one of them may have withdrawn the question.
    copy.begin(now);
    copy.step();
    if copy.reply(&question.id, answer.to_owned()).is_err() {
        return Ok(Some("a deadline has passed, and the question is not open any more".into()));
    }
    copy.step();
    Ok(copy.take().lines.into_iter().find_map(|line| unusable(line, question)))
}

/// The reason in a trace line for which the answer to this question cannot be used.
fn unusable(line: Line, question: &Question) -> Option<String> {
    let What::Unusable { step, why, which, .. } = line.what else { return None };
    let is_it = (&*step, &*line.child, which.element)
        == (&*question.step, &*question.child, question.element);
    is_it.then_some(why)
}
