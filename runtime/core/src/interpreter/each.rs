//! The lists of steps with an `each`, and the answers for their elements.

use super::data::Gathering;
use super::program::Runner;
use crate::arena::StepId;
use crate::expr::{self, Value, evaluate};
use crate::host::Host;
use crate::machine::{Element, Fault, StepKey};
use crate::program::View;
use crate::wording;
use alloc::vec::Vec;

impl<H: Host> Runner<'_, H> {
    /// The element of a list that an attempt is for.
    pub(super) fn element_of(&self, key: StepKey) -> Option<Value> {
        let element = key.element?.index() as usize;
        self.data.more.fans.get(&key.step)?.elements.get(element).cloned()
    }

    /// Evaluates and stores the list of a step. Returns the number of elements.
    ///
    /// # Errors
    /// The list cannot be evaluated, or has more than `most` elements. The error has the reason, unless a note has it.
    pub(super) fn begin_list(
        &mut self,
        step: StepId,
        most: u32,
        view: &View<'_>,
    ) -> Result<u32, Option<Vec<Value>>> {
        let chart = self.chart;
        let Some(each) = &chart.steps[step.index()].each else { return Err(None) };
        let fuel = self.fuel();
        let list = evaluate(&each.list, &self.context(view, None), &fuel);
        self.burn(&fuel);
        let elements =
            self.explain(list.and_then(expr::list), || wording::list_of(view.tables, step));
        let elements = elements.map_err(|Fault| None)?;
        let size = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        if size > most {
            return Err(Some(alloc::vec![Value::Text(wording::too_many(size, most))]));
        }
        let answers = alloc::vec![None; elements.len()];
        self.data.more.fans.insert(step, Gathering { elements, answers });
        Ok(size)
    }

    /// Stores the answer of an element.
    pub(super) fn keep_element(&mut self, step: StepId, element: Element, answer: Vec<Value>) {
        let fan = self.data.more.fans.get_mut(&step);
        if let Some(place) = fan.and_then(|fan| fan.answers.get_mut(element.index() as usize)) {
            *place = Some(answer.into_iter().next().unwrap_or_default());
        }
    }

    /// Takes the answers in the order of the elements. A missing answer becomes `none` if `with_none` is set, and is left out otherwise.
    pub(super) fn gather(&mut self, step: StepId, with_none: bool) -> Option<Vec<Value>> {
        let answers = self.data.more.fans.remove(&step)?.answers;
        let all = if with_none {
            answers.into_iter().map(Option::unwrap_or_default).collect()
        } else {
            answers.into_iter().flatten().collect()
        };
        Some(alloc::vec![Value::List(all)])
    }
}
