//! Charts whose steps are written out. In a chart without parallels the active leaf says the whole configuration, so what an
//! occurrence does there is known when the code is made: which lines are tried, what is left, run and entered, in which order.
//!
//! All of that is asked of the step algorithm itself ([`chartc_core::semantics::unroll`]); here it is only written as code.

mod cell;
mod core;
mod dispatch;
mod pool;
mod shape;
mod uniform;

pub(super) use core::{emit, new};
pub(super) use shape::Shape;

use super::Context;
use chartc_core::arena::StateId;
use chartc_core::model::{StateKind, Trigger};

impl Context<'_> {
    /// The steps of the chart are written out.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.shape, Shape::Direct)
    }

    /// The parameter by which code of the chart reads the machine: code that is written out needs none.
    pub(super) fn view(&self, body: &str) -> Option<&'static str> {
        if self.is_direct() {
            return None;
        }
        Some(if super::body::mentions(body, "view") { "view" } else { "_view" })
    }

    /// The leaves, in document order.
    fn leaves(&self) -> impl Iterator<Item = StateId> + '_ {
        let rows = self.chart.states.iter().enumerate();
        rows.filter(|(_, row)| match row.kind {
            StateKind::Atomic | StateKind::Final { .. } => true,
            StateKind::Compound { .. } | StateKind::Parallel | StateKind::History { .. } => false,
        })
        .map(|(i, _)| StateId::at(i))
    }

    /// The name of a leaf.
    fn leaf(&self, id: StateId) -> String {
        format!("Leaf::{}", self.names.states[id.index()].as_deref().unwrap_or_default())
    }

    /// Whether lines wait for something that comes by the internal queue, or may go round.
    fn is_queueing(&self) -> bool {
        shape::raises(self.chart)
            || self.chart.transitions.iter().any(|line| match &line.trigger {
                Trigger::When | Trigger::StateDone(_) | Trigger::Error(_) => true,
                Trigger::Event(_)
                | Trigger::AnyEvent
                | Trigger::AnyOccurrence
                | Trigger::Turn
                | Trigger::After(_)
                | Trigger::AfterTurns(_)
                | Trigger::Choice(_)
                | Trigger::StepDone(_)
                | Trigger::StepError(_)
                | Trigger::StepTimeout(..)
                | Trigger::StepDoubt(_)
                | Trigger::StepElse(_)
                | Trigger::LimitWarn(_) => false,
            })
    }

    /// Some line reads a field of what is being handled.
    pub(super) fn is_binding(&self) -> bool {
        shape::reads_fields(self.chart)
    }
}
