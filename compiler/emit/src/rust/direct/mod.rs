//! Writes direct code, for charts whose configurations are all known when the code is written.
//!
//! The problem: the step algorithm finds out at run time which transitions to try and which states to exit and enter, although the answer
//! for an occurrence in a configuration is always the same. The idea: the step algorithm itself computes all answers beforehand
//! ([`chartc_core::semantics::unroll`]), and this module only writes them as code. For example:
//!
//! ```text
//! chart D {                                            match self.configuration {
//!   event go                                               Configuration::A => {
//!   initial a                                                  direct::taken(sink, 0);
//!   state a { on go -> b }                                     direct::exited(sink, 1);
//!   state b {                                                  direct::entered(sink, 2);
//!     initial c                                                direct::entered(sink, 3);
//!     state c { on go -> a }                                   self.configuration = Configuration::BC;
//!   }                                                          true
//! }                                                        }
//!                                                          Configuration::BC => { … }
//!                                                      }
//! ```
//!
//! `shape` decides which charts have direct code. Without parallels the active leaf is the whole configuration, and the code is a `match`
//! (`dispatch`, whose arms are `cell`s); with parallels the steps are data (`rows`).

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

    /// Returns the parameter through which a method of the chart reads the machine; direct code has none.
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

    /// Names a configuration: after its leaf if every configuration has a single leaf, otherwise by its number.
    fn configuration(&self, nth: usize) -> String {
        match &self.configurations()[nth][..] {
            [leaf] if !self.has_parallels() => {
                let name = self.names.states[leaf.index()].as_deref().unwrap_or_default();
                format!("Configuration::{name}")
            }
            _ => format!("Configuration::C{nth}"),
        }
    }

    /// Returns the name of the configuration with these active leaves.
    fn within(&self, leaves: &[StateId]) -> String {
        self.configuration(self.nth(leaves))
    }

    /// Returns the number of the configuration with these active leaves.
    fn nth(&self, leaves: &[StateId]) -> usize {
        // `configuration::all` returns the configurations in this order.
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
