//! Direct code for charts whose configurations are all known. The steps for an occurrence in each configuration are then known at compile
//! time: which transitions are tried, which states are exited and entered, and which blocks run, in order. Without parallels and histories
//! the active leaf is the whole configuration.
//!
//! The step algorithm itself computes all this ([`chartc_core::semantics::unroll`]); this module only writes it as code.

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
    /// Whether the chart has direct code.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.shape, Shape::Direct(_))
    }

    /// The parameter through which the chart's code reads the machine; direct code needs none.
    pub(super) fn view(&self, body: &Fragment) -> Option<String> {
        (!self.is_direct()).then(|| body.parameter("view", Use::View))
    }

    /// The configurations of a chart with direct code.
    fn configurations(&self) -> &[Vec<StateId>] {
        match &self.shape {
            Shape::Direct(all) => all,
            Shape::Shared(_) => &[],
        }
    }

    /// The name of a configuration: that of its leaf if every configuration has a single leaf.
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

    /// Whether further microsteps may follow the first: by raised events, completions, errors or eventless transitions.
    fn is_queueing(&self) -> bool {
        shape::raises(self.chart)
            || self.chart.transitions.iter().any(|transition| match &transition.trigger {
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

    /// Whether a transition reads a field of the current event or answer.
    pub(super) fn is_binding(&self) -> bool {
        shape::reads_fields(self.chart)
    }
}
