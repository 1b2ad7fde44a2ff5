//! The part of a walk that is the same for all leaves in which a turn may begin.
//!
//! Once an event may have arrived, any leaf may be active. From then on, the walk no longer depends on the leaf in which it began, but only
//! on the step at which this happened and on the final states that may have ended the run before. So this part is computed once, and each
//! leaf adds the part before.

use crate::facts::reach::is_end;
use crate::turn::calls::is_model;
use crate::turn::cost::TurnCost;
use crate::turn::turns::{Walks, attempts, elements};
use crate::turn::walk::Walk;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::StepKind;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The part of a walk from the step on at which any leaf may be active.
pub(super) struct Shared<'w, 'c> {
    walks: &'w Walks<'c>,
    /// The leaves that may be active then: all in which a turn may begin, and what they lead to. Ascending.
    at: Vec<StateId>,
    /// The steps that the walk may still visit then.
    due: BTreeSet<StepId>,
    /// By final state that ends the run and is not in `at`: the steps that may lead to it, ascending.
    ends: BTreeMap<StateId, Vec<StepId>>,
    /// The model steps that certainly call if the run continues, ascending.
    sure: Vec<StepId>,
    /// The model steps with an `ends turn`, ascending.
    stops: Vec<StepId>,
    /// The model steps by their number of further attempts, greatest first.
    ranks: BTreeMap<Reverse<u64>, Vec<StepId>>,
    /// The first part of the walk, if it is the same for all leaves.
    begun: Option<PartialWalk>,
}

/// A walk up to the step at which any leaf may be active.
#[derive(Clone)]
struct PartialWalk {
    /// The step at which any leaf may be active.
    step: StepId,
    /// The final states that may have ended the run before.
    ends: BTreeSet<StateId>,
    /// The minimum number of calls so far.
    least: u64,
    /// Whether an `ends turn` may have ended the turn.
    stops: bool,
}

impl<'w, 'c> Shared<'w, 'c> {
    /// `None` if nothing can be shared: if walks run in parallel, if no event can arrive while a step is under way, or if a step leads to
    /// leaves in which no turn begins.
    pub(super) fn new(walks: &'w Walks<'c>) -> Option<Self> {
        if !walks.interrupted || walks.parallel {
            return None;
        }
        let chart = walks.chart;
        let mut walk = Walk::new(walks, true);
        walks.leaves.iter().for_each(|leaf| walk.enter(*leaf, false));
        let due = std::mem::take(&mut walk.due);
        let at: Vec<StateId> = walk.at.iter().copied().collect();
        let row = |step: &StepId| &chart.steps[step.index()];
        let models: Vec<StepId> = due.iter().copied().filter(|s| is_model(row(s))).collect();
        let sure = models.iter().copied().filter(|s| walks.surely(*s, &walk.at)).collect();
        let stops = models.iter().copied().filter(|s| row(s).ends_turn.is_some()).collect();
        let mut ranks: BTreeMap<Reverse<u64>, Vec<StepId>> = BTreeMap::new();
        for step in &models {
            ranks.entry(Reverse(attempts(&walks.driver(*step)))).or_default().push(*step);
        }
        let outside: Vec<StateId> =
            chart.state_ids().filter(|s| is_end(chart, *s) && !walk.at.contains(s)).collect();
        // Visits each step on its own, to see what it leads to from all leaves.
        let mut ends: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
        for step in &due {
            walk.visit(*step);
            if walk.at.len() > at.len() {
                for end in outside.iter().filter(|end| walk.at.remove(end)) {
                    ends.entry(*end).or_default().push(*step);
                }
            }
            if walk.at.len() > at.len() || !walk.due.is_subset(&due) {
                return None;
            }
            walk.due.clear();
        }
        Some(Self { walks, at, due, ends, sure, stops, ranks, begun: None })
    }

    /// The calls of a turn that begins in a leaf. `None` if the first part of its walk leads outside of the shared part.
    pub(super) fn turn(&mut self, leaf: StateId) -> Option<TurnCost> {
        let begun = match &self.begun {
            Some(begun) => begun.clone(),
            None => {
                let mut walk = Walk::begin(self.walks, leaf, true);
                let last = loop {
                    // If the walk ends before any leaf may be active, nothing is shared.
                    let Some(step) = walk.due.pop_first() else { return Some(walk.total(leaf)) };
                    walk.visit(step);
                    if walk.is_anywhere {
                        break step;
                    }
                };
                self.begun(&walk, last)?
            }
        };
        // If sent events may arrive before the first step, the first part does not depend on the leaf either.
        if self.walks.sends && self.begun.is_none() {
            self.begun = Some(begun.clone());
        }
        let least = self.least(&begun);
        Some(self.most(leaf, &begun, least))
    }

    /// The state of a walk that has passed `step`. `None` if it has leaves or due steps that the shared part does not foresee.
    fn begun(&self, walk: &Walk<'_, '_>, step: StepId) -> Option<PartialWalk> {
        let is_leaf = |state: &StateId| self.at.binary_search(state).is_ok();
        let ends: BTreeSet<StateId> = walk.at.iter().copied().filter(|s| !is_leaf(s)).collect();
        let is_foreseen = ends.iter().all(|end| is_end(self.walks.chart, *end))
            && walk.due.is_subset(&self.due)
            && self.due.contains(&step);
        is_foreseen.then_some(PartialWalk { step, ends, least: walk.least, stops: walk.stops })
    }

    /// The minimum number of calls of the whole walk.
    fn least(&self, begun: &PartialWalk) -> u64 {
        let (walks, first, cap) = (self.walks, begun.step, self.walks.cap());
        let mut least = begun.least;
        if begun.stops {
            return least.min(cap);
        }
        // Calls are certain up to the first later step that may end the turn.
        let stop = self.stops.get(self.stops.partition_point(|step| *step <= first));
        let from = self.sure.partition_point(|step| *step <= first);
        for step in &self.sure[from..] {
            if least >= cap || stop.is_some_and(|stop| step > stop) {
                break;
            }
            let place = walks.facts.scopes.step(*step);
            let entered = |steps: &Vec<StepId>| {
                let next = steps.get(steps.partition_point(|step| *step <= first));
                next.is_some_and(|next| next < step)
            };
            // As in `Walks::surely`: the step must run in everything that may be active by then, final states included.
            let later = self.ends.iter().filter(|(_, steps)| entered(steps)).map(|(end, _)| end);
            if begun.ends.iter().chain(later).all(|end| place.may_hold_in(walks.chart, *end)) {
                least += 1;
            }
        }
        least.min(cap)
    }

    /// The maximum number of calls of the whole walk, with the steps that make them.
    fn most(&self, leaf: StateId, begun: &PartialWalk, least: u64) -> TurnCost {
        let Walks { chart, steps, facts, .. } = self.walks;
        let first = begun.step;
        // Of steps with equally many attempts, those that may run in the leaf come first. The order is that of `Walk::total`.
        let above = chart.ancestors(leaf).flat_map(|state| steps.get(&state).into_iter().flatten());
        let here = |step: &StepId| {
            let place = facts.scopes.step(*step);
            *step >= first && self.due.contains(step) && place.may_hold_in(chart, leaf)
        };
        let own: BTreeSet<StepId> = above.copied().filter(here).collect();
        let (mut worst, mut drivers, mut left) = (0_u64, Vec::new(), self.walks.cap());
        for rank in self.ranks.values() {
            let from = rank.partition_point(|step| *step < first);
            let rest = &rank[from..];
            let mine = own.iter().filter(|step| rest.binary_search(step).is_ok());
            for step in mine.chain(rest.iter().filter(|step| !own.contains(step))) {
                if left == 0 {
                    return TurnCost { leaf, least, worst, drivers };
                }
                let mut driver = self.walks.driver(*step);
                let most = self.times(*step, begun).min(left);
                driver.times = elements(&chart.steps[step.index()]).saturating_mul(most);
                left -= most;
                worst = worst.saturating_add(driver.calls());
                if driver.times > 0 {
                    drivers.push(driver);
                }
            }
        }
        TurnCost { leaf, least, worst, drivers }
    }

    /// The maximum number of calls of a step without retries: a question is asked in each leaf that may be active.
    fn times(&self, step: StepId, begun: &PartialWalk) -> u64 {
        let chart = self.walks.chart;
        let row = &chart.steps[step.index()];
        if !matches!(row.kind, StepKind::Ask { .. }) {
            return 1;
        }
        let end = chart.state(row.state).end;
        let before = |state: StateId| self.at.partition_point(|leaf| *leaf < state);
        let later = self.ends.iter().filter(|(_, steps)| steps.last() > Some(&begun.step));
        let ended = later.map(|(end, _)| *end).chain(begun.ends.iter().copied());
        let ended: BTreeSet<StateId> = ended.filter(|s| chart.contains(row.state, *s)).collect();
        (before(end) - before(row.state) + ended.len()) as u64
    }
}
