//! Charts whose steps are written out. Where all configurations are known, so is what an occurrence does in each of them when the
//! code is made: which lines are tried, what is left, run and entered, in which order. Without parallels and histories the active
//! leaf is the whole configuration.
//!
//! All of that is asked of the step algorithm itself ([`chartc_core::semantics::unroll`]); here it is only written as code.

mod cell;
mod configuration;
mod core;
mod dispatch;
mod pool;
mod rows;
mod shape;
mod uniform;

pub(super) use core::{emit, new};
pub(super) use shape::{Form, Shape};

use super::Context;
use super::code::{Fragment, Use};
use chartc_core::arena::StateId;
use chartc_core::model::Trigger;

impl Context<'_> {
    /// The steps of the chart are written out.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.shape, Shape::Direct(_))
    }

    /// The parameter by which code of the chart reads the machine: code that is written out needs none.
    pub(super) fn view(&self, body: &Fragment) -> Option<String> {
        (!self.is_direct()).then(|| body.parameter("view", Use::View))
    }

    /// The configurations, if the steps are written out.
    fn configurations(&self) -> &[Vec<StateId>] {
        match &self.shape {
            Shape::Direct(all) => all,
            Shape::Shared(_) => &[],
        }
    }

    /// The name of a configuration: of its leaf, if all have one.
    fn configuration(&self, nth: usize) -> String {
        match &self.configurations()[nth][..] {
            [leaf] if !self.has_parallels() => {
                let name = self.names.states[leaf.index()].as_deref().unwrap_or_default();
                format!("Configuration::{name}")
            }
            _ => format!("Configuration::C{nth}"),
        }
    }

    /// The name of the configuration with these active leaves.
    fn within(&self, leaves: &[StateId]) -> String {
        self.configuration(self.nth(leaves))
    }

    /// The number of the configuration with these active leaves.
    fn nth(&self, leaves: &[StateId]) -> usize {
        let found = self.configurations().binary_search_by(|one| one.as_slice().cmp(leaves));
        found.unwrap_or_else(|_| unreachable!("all configurations are known"))
    }

    fn has_parallels(&self) -> bool {
        self.configurations().iter().any(|leaves| leaves.len() > 1)
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
