//! What every exploration of one chart begins with.

use super::host::Anything;
use super::moves::Moves;
use super::relevant::Relevant;
use chartc_core::arena::VarId;
use chartc_core::expr::Value;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::cell::OnceCell;
use std::rc::Rc;

/// A chart with its tables, and what its moves depend on.
pub(super) struct Ground<'c> {
    pub(super) chart: &'c Chart,
    pub(super) relevant: Rc<Relevant<'c>>,
    plan: OnceCell<Plan<'c>>,
    moves: OnceCell<Moves<'c>>,
}

impl<'c> Ground<'c> {
    pub(super) fn of(chart: &'c Chart) -> Self {
        let relevant = Rc::new(Relevant::of(chart));
        Self { chart, relevant, plan: OnceCell::new(), moves: OnceCell::new() }
    }

    /// The tables that a machine runs on.
    pub(super) fn plan(&self) -> &Plan<'c> {
        self.plan.get_or_init(|| Plan::new(self.chart))
    }

    /// What is tried at every point, with all values.
    pub(super) fn moves(&self) -> &Moves<'c> {
        self.moves.get_or_init(|| self.given(&[]))
    }

    /// The same with values of params and inputs in place of all that they may have.
    pub(super) fn given(&self, given: &[(VarId, Value)]) -> Moves<'c> {
        Moves::of(self.chart, &self.relevant, given)
    }

    /// A host whose functions give anything.
    pub(super) fn host(&self) -> Anything {
        Anything::of(self.chart, &self.relevant)
    }
}
