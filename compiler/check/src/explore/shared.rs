//! The data that all explorations of one chart share, computed when they are first needed.

use super::Search;
use super::bounded::Bounds;
use super::hints::Hints;
use super::host::Anything;
use super::moves::Moves;
use super::read::Read;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::shown;
use chartc_core::arena::{StepId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::cell::OnceCell;
use std::rc::Rc;

/// A chart with its tables, the actions of its host, and the values on which its moves depend.
pub(super) struct ExploreContext<'c> {
    pub(super) chart: &'c Chart,
    pub(super) relevant: Rc<Relevant<'c>>,
    plan: OnceCell<Plan<'c>>,
    moves: OnceCell<Moves<'c>>,
    /// Whether guards that bound the turns may hold at any time: see [`super::bounded`].
    pub(super) is_unbounded: bool,
}

impl<'c> ExploreContext<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        Self::with_relevant(chart, Relevant::new(chart), false)
    }

    /// A context in which the guards of `bounds` may hold at any time. `None` if anything else reads the number of turns.
    pub(super) fn unbounded(chart: &'c Chart, bounds: &Bounds<'c>) -> Option<Self> {
        let relevant = Relevant::without(chart, &bounds.conditions());
        (relevant.counters.turns == Read::Never).then(|| Self::with_relevant(chart, relevant, true))
    }

    fn with_relevant(chart: &'c Chart, relevant: Relevant<'c>, is_unbounded: bool) -> Self {
        let (plan, moves) = (OnceCell::new(), OnceCell::new());
        Self { chart, relevant: Rc::new(relevant), plan, moves, is_unbounded }
    }

    /// The tables on which a machine runs.
    pub(super) fn plan(&self) -> &Plan<'c> {
        self.plan.get_or_init(|| Plan::new(self.chart))
    }

    /// The actions that are tried, with all values.
    pub(super) fn moves(&self) -> &Moves<'c> {
        self.moves.get_or_init(|| self.moves_with(&[]))
    }

    /// The actions that are tried, with only the given values of params and inputs.
    pub(super) fn moves_with(&self, given: &[(VarId, Value)]) -> Moves<'c> {
        Moves::new(self.chart, &self.relevant, given, None)
    }

    /// The actions that a survey tries: also with values that literals suggest, and with child charts as black boxes.
    pub(super) fn survey_moves(&self, search: &Search) -> Moves<'c> {
        let hints = Rc::new(Hints::new(self.chart));
        let mut moves = Moves::new(self.chart, &self.relevant, &search.given, Some(hints));
        moves.children.clone_from(&search.children);
        let open = search.children.iter().filter(|(_, child)| !child.is_whole);
        let named = |step: &StepId| format!("unbounded {}", shown(self.chart, Slot::Answer(*step)));
        moves.reasons.extend(open.map(|(step, _)| named(step)));
        moves
    }

    /// A host whose functions return every possible result.
    pub(super) fn host(&self) -> Anything {
        Anything::new(self.chart, &self.relevant)
    }
}
