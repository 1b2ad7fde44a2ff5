//! Summaries of the charts of `run` steps: the ways in which each may end. An exploration of the parent uses them instead of the charts.

use super::hints::Hints;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{all, some};
use crate::explore::child::{can_fail, fits};
use chartc_core::arena::{StateId, StepId};
use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Field, StateKind, Status, StepKind};
use std::collections::BTreeMap;

/// The maximum number of combinations of values that are tried for one final state. If there are more, only some are tried.
const MOST: usize = 32;

/// The possible ends of a child chart.
#[derive(Debug, Clone)]
pub struct ChildSummary {
    /// The answers that are tried.
    pub answers: Vec<Value>,
    /// Whether any other possible answer has the same effect as one of these.
    pub is_whole: bool,
    /// Whether the child may fail.
    pub fails: bool,
}

/// The summaries by `run` step. `children` are the charts that are known; an unknown chart may give any answer, and may fail.
pub(super) fn child_summaries(
    chart: &Chart,
    children: &[&Chart],
) -> BTreeMap<StepId, ChildSummary> {
    let mut found = BTreeMap::new();
    let mut failing: BTreeMap<&str, bool> = BTreeMap::new();
    let mut read = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        let id = StepId::at(i);
        let mut known = children.iter().copied().chain([chart]);
        let Some(child) = known.find(|child| child.name == run.chart) else {
            let nothing = ChildSummary { answers: vec![Value::None], is_whole: false, fails: true };
            found.insert(id, nothing);
            continue;
        };
        let (relevant, hints) =
            read.get_or_insert_with(|| (Relevant::new(chart), Hints::new(chart)));
        let is_read = relevant.slots.contains(&Slot::Answer(id));
        let (answers, is_whole) = answers(child, is_read.then_some((&*hints, Slot::Answer(id))));
        let fails = !fits(chart, step, child)
            || *failing.entry(&child.name).or_insert_with(|| can_fail(child));
        found.insert(id, ChildSummary { answers, is_whole, fails });
    }
    found
}

/// The possible answers of a chart, for each final state with values of its params; and whether these stand for all. `read` is `Some` if
/// the parent's moves depend on the answer.
fn answers(child: &Chart, read: Option<(&Hints, Slot)>) -> (Vec<Value>, bool) {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for state in child.states.iter().filter(|state| state.parent == Some(StateId(0))) {
        let StateKind::Final { params, status: Status::Ok | Status::Partial } = &state.kind else {
            continue;
        };
        let values = |field: &Field| {
            let mut values = some(child, &field.ty);
            match read {
                None => values.truncate(1),
                Some((hints, slot)) if all(child, &field.ty, 0).is_none() => {
                    is_whole = false;
                    for value in hints.field(child, slot, &field.name, &field.ty) {
                        if values.len() < MOST && !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                Some(_) => {}
            }
            values
        };
        let columns: Vec<Vec<Value>> = params.iter().map(values).collect();
        let count = columns.iter().try_fold(1_usize, |n, values| n.checked_mul(values.len()));
        is_whole &= count.is_some_and(|count| count <= MOST);
        for row in rows(&columns) {
            let names = params.iter().map(|field| field.name.clone());
            let answer = Value::Map(names.zip(row).collect::<Map>());
            if !found.contains(&answer) {
                found.push(answer);
            }
        }
    }
    (found, is_whole)
}

/// All combinations, if there are at most [`MOST`]. Otherwise each value with the first ones of the other columns, and all nth values
/// together.
fn rows(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let count = columns.iter().try_fold(1_usize, |n, values| n.checked_mul(values.len()));
    if count.is_some_and(|count| count <= MOST) {
        let mut rows = vec![Vec::new()];
        for values in columns {
            let longer = |row: &Vec<Value>| {
                let row = row.clone();
                values.iter().map(move |v| row.iter().cloned().chain([v.clone()]).collect())
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        return rows;
    }
    let first: Vec<Value> = columns.iter().map(|values| values[0].clone()).collect();
    let mut rows = vec![first.clone()];
    for (nth, values) in columns.iter().enumerate() {
        for value in values.iter().skip(1) {
            let mut row = first.clone();
            row[nth] = value.clone();
            rows.push(row);
        }
    }
    let longest = columns.iter().map(Vec::len).max().unwrap_or_default();
    for nth in 1..longest {
        rows.push(columns.iter().map(|values| values[nth % values.len()].clone()).collect());
    }
    rows
}
