//! The lists of steps with an `each`, in a snapshot.

use super::super::data::{Data, Gathering};
use super::{RestoreError, Snapshot, keep};
use crate::arena::StepId;
use crate::expr::{Value, fit};
use crate::model::Type;
use crate::plan::Plan;
use crate::saved::StoredValue;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// A step with an `each`, its elements, and the answers so far.
pub(super) type Saved = (StepId, Vec<StoredValue>, Vec<Option<StoredValue>>);

pub(super) fn kept(data: &Data) -> Vec<Saved> {
    let saved = data.more.fans.iter().map(|(step, Gathering { elements, answers })| {
        let answers = answers.iter().map(|one| one.clone().map(StoredValue)).collect();
        (*step, keep(elements), answers)
    });
    saved.collect()
}

/// The lists of a snapshot, converted to their types. Fails unless they fit the chart and the registers.
pub(super) fn restored(
    plan: &Plan<'_>,
    snapshot: &Snapshot,
) -> Result<BTreeMap<StepId, Gathering>, RestoreError> {
    let chart = plan.chart();
    let mut fans = BTreeMap::new();
    for (step, elements, answers) in &snapshot.gathered {
        let each = chart.steps.get(step.index()).and_then(|step| step.each.as_ref());
        let Some(each) = each.filter(|_| elements.len() == answers.len()) else {
            return Err(RestoreError::Data(format!("step {} has no such list", step.0)));
        };
        let fitted = |value: &Value, ty: &Type| {
            fit(value.clone(), ty, &chart.types).map_err(RestoreError::Data)
        };
        let element = inside(&each.list.ty);
        let elements = elements.iter().map(|StoredValue(value)| fitted(value, element));
        let elements = elements.collect::<Result<_, _>>()?;
        let answers = answers.iter().map(|one| match one {
            Some(StoredValue(value)) => fitted(value, &each.returns).map(Some),
            None => Ok(None),
        });
        fans.insert(*step, Gathering { elements, answers: answers.collect::<Result<_, _>>()? });
    }
    // A step that is under way needs its list, because the registers count its elements.
    let is_whole = |(step, size): (StepId, u32)| {
        size == 0 || fans.get(&step).is_some_and(|fan| fan.elements.len() == size as usize)
    };
    if snapshot.machine.fans(&plan.tables()).into_iter().all(is_whole) {
        Ok(fans)
    } else {
        Err(RestoreError::Data("the list of a step is missing".into()))
    }
}

/// The type of a list's elements.
fn inside(list: &Type) -> &Type {
    match list {
        Type::List(element) => element,
        _ => &Type::Json,
    }
}
