//! The steps and transitions that may take part in the walks of turns, by state.

use crate::facts::Facts;
use crate::facts::reach::is_end;
use crate::facts::uses::is_where;
use crate::turn::calls::{is_model, region};
use crate::turn::cost::Driver;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Action, AskOn, Chart, StateKind, Step, StepKind, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// An index of a chart for the walks of its turns, computed once.
pub(crate) struct Walks<'c> {
    pub(super) chart: &'c Chart,
    pub(super) facts: &'c Facts,
    /// The leaves in which a turn may begin, ascending.
    pub leaves: Vec<StateId>,
    /// By state of the scope condition: the steps that call a model, set data, or have transitions on their outcomes.
    pub(super) steps: BTreeMap<StateId, Vec<StepId>>,
    /// By state of the scope condition: the transitions that a macrostep may take by itself, without `on turn`.
    pub(super) moving: BTreeMap<StateId, Vec<TransitionId>>,
    /// By state of the scope condition: the `on turn` transitions.
    pub(super) starting: BTreeMap<StateId, Vec<TransitionId>>,
    /// By state of the scope condition: the `may` transitions.
    pub(super) choices: BTreeMap<StateId, Vec<TransitionId>>,
    /// By step: the transitions on its outcomes.
    pub(super) ends: BTreeMap<StepId, Vec<TransitionId>>,
    /// By state: the maximum number of leaves inside it that can be active together.
    width: Vec<u64>,
    /// Whether the chart has a parallel, so that several walks run at once.
    pub(super) parallel: bool,
    /// Whether events may arrive while a step is under way.
    pub(super) interrupted: bool,
    /// Whether any step calls a model.
    pub(super) calls: bool,
    /// Whether the chart sends events, which may arrive before each step.
    pub(super) sends: bool,
}

impl<'c> Walks<'c> {
    pub(crate) fn new(chart: &'c Chart, facts: &'c Facts) -> Self {
        let leaves = facts.reach.leaves(chart).filter(|s| !is_end(chart, *s)).collect();
        let mut steps: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
        for (i, step) in chart.steps.iter().enumerate() {
            if is_model(step) || !step.outcomes.is_empty() || matches!(step.kind, StepKind::Code(_))
            {
                for state in &facts.scopes.steps[i].within {
                    steps.entry(*state).or_default().push(StepId::at(i));
                }
            }
        }
        let (mut raises, mut sends) = (false, false);
        let mut look = |block: &Vec<Action>| {
            Action::walk(block, &mut |action| {
                raises |= matches!(action, Action::Raise(..));
                sends |= matches!(action, Action::Send { .. });
            });
        };
        chart.blocks().for_each(&mut look);
        let outside = |t: &Trigger| {
            matches!(
                t,
                Trigger::Event(_) | Trigger::AnyEvent | Trigger::After(_) | Trigger::AnyOccurrence
            )
        };
        let beside = |s: &Step| matches!(s.kind, StepKind::Human(_) | StepKind::Run(..));
        let waits = |s: &Step| matches!(s.kind, StepKind::Ask { on: AskOn::Event(_), .. });
        let interrupted = chart.transitions.iter().any(|t| outside(&t.trigger))
            || chart.steps.iter().any(|s| beside(s) || waits(s) || s.tools.is_some());
        let (mut moving, mut starting) = (BTreeMap::new(), BTreeMap::new());
        let mut choices = BTreeMap::new();
        let mut ends: BTreeMap<StepId, Vec<TransitionId>> = BTreeMap::new();
        for (i, transition) in chart.transitions.iter().enumerate() {
            let transitions: &mut BTreeMap<StateId, Vec<TransitionId>> = match transition.trigger {
                Trigger::Turn => &mut starting,
                Trigger::Event(_) | Trigger::AnyEvent if raises => &mut moving,
                Trigger::When
                | Trigger::AnyOccurrence
                | Trigger::StateDone(_)
                | Trigger::Error(_)
                | Trigger::LimitWarn(_) => &mut moving,
                Trigger::Choice(_) => &mut choices,
                Trigger::StepDone(step)
                | Trigger::StepError(step)
                | Trigger::StepElse(step)
                | Trigger::StepTimeout(step, _)
                | Trigger::StepDoubt(step) => {
                    ends.entry(step).or_default().push(TransitionId::at(i));
                    continue;
                }
                // The host and the clock act between turns, or while a step is under way: see `interrupted`.
                _ => continue,
            };
            for state in &facts.scopes.transitions[i].within {
                transitions.entry(*state).or_default().push(TransitionId::at(i));
            }
        }
        let calls = chart.steps.iter().any(is_model);
        let mut width = vec![0; chart.states.len()];
        // From the last state to the first, so that the widths of children are known.
        for i in (0..chart.states.len()).rev() {
            let id = StateId::at(i);
            let children = chart.children(id).map(|c| width[c.index()]);
            width[i] = match chart.state(id).kind {
                StateKind::Atomic => 1,
                StateKind::Compound { .. } => children.max().unwrap_or(1),
                StateKind::Parallel => children.sum(),
                StateKind::Final { .. } | StateKind::History { .. } => 0,
            };
        }
        let parallel = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        Self {
            chart,
            facts,
            leaves,
            steps,
            moving,
            starting,
            choices,
            ends,
            width,
            parallel,
            interrupted,
            calls,
            sends,
        }
    }

    /// The maximum number of model calls of the walk of one region.
    pub(super) fn cap(&self) -> u64 {
        self.chart.calls_per_turn.map_or(u64::MAX, u64::from)
    }

    /// The step as a contribution to the cost of a turn, with as many runs as it may have anywhere.
    pub(crate) fn driver(&self, step: StepId) -> Driver {
        let row = &self.chart.steps[step.index()];
        let times = match &row.each {
            Some(each) => u64::from(each.most),
            None if matches!(row.kind, StepKind::Ask { .. }) => {
                self.width[row.state.index()].max(1)
            }
            None => 1,
        };
        let client = row.client.and_then(|c| self.chart.clients[c.index()].retry);
        let retries = row.failure.retries;
        Driver {
            step,
            times,
            retries: u64::from(retries),
            tools: row.tools.map_or(0, |tools| u64::from(tools.calls)),
            of_client: retries > 0 && client == Some(retries),
        }
    }

    /// By region: the maximum number of calls of a step without retries. A question may be asked in each leaf, because an option that leads
    /// from one leaf to a later one makes the walk ask there again.
    pub(super) fn times(&self, row: &Step, at: &BTreeSet<StateId>) -> BTreeMap<StateId, u64> {
        let mut most: BTreeMap<StateId, u64> = BTreeMap::new();
        if matches!(row.kind, StepKind::Ask { .. }) {
            let end = self.chart.state(row.state).end;
            for leaf in at.range(row.state..end) {
                *most.entry(region(self.chart, *leaf)).or_default() += 1;
            }
        } else {
            most.insert(region(self.chart, row.state), 1);
        }
        most
    }

    /// Whether the step certainly calls a model in every leaf of `at`, those that may be active when the walk reaches it.
    pub(super) fn surely(&self, step: StepId, at: &BTreeSet<StateId>) -> bool {
        let (row, place) = (&self.chart.steps[step.index()], self.facts.scopes.step(step));
        let kind = match &row.kind {
            // The list of an `each` may be empty.
            StepKind::Llm => row.each.is_none(),
            _ => false,
        };
        let everywhere = || at.iter().all(|leaf| place.may_hold_in(self.chart, *leaf));
        kind && !self.parallel
            && !place.is_approximate
            && row.guard.as_ref().is_none_or(is_where)
            && everywhere()
    }
}

/// The number of further attempts of one call: retries, and calls after tools.
pub(super) fn attempts(driver: &Driver) -> u64 {
    driver.retries.saturating_add(driver.tools)
}

/// The maximum number of model calls that count as one call of a step: the elements of its `each`, or 1.
pub(super) fn elements(row: &Step) -> u64 {
    row.each.as_ref().map_or(1, |each| u64::from(each.most))
}
