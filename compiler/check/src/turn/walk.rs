//! The walk of a turn that begins in a given leaf: the steps that may run, and their model calls.
//!
//! Works with the set of leaves that may be active. Visiting a step adds the leaves that its outcomes may enter, and the steps of new
//! leaves become due if they come later in document order. The set only grows, which over-approximates: a leaf stays in it after it has
//! been exited.

use crate::facts::reach::{entered_by_default, entries, is_history, is_leaf};
use crate::facts::scope::exclusive;
use crate::turn::calls::is_model;
use crate::turn::cost::{Driver, TurnCost};
use crate::turn::turns::{Walks, attempts, elements};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, StateKind, StepKind};
use std::collections::{BTreeMap, BTreeSet};

/// The model calls of a turn that begins in a leaf.
pub(super) fn turn(walks: &Walks<'_>, leaf: StateId) -> TurnCost {
    let mut walk = Walk::begin(walks, leaf, false);
    while let Some(step) = walk.due.pop_first() {
        walk.visit(step);
    }
    walk.total(leaf)
}

/// A walk in progress: the leaves that may be active, the steps that are due, and the calls so far.
pub(super) struct Walk<'w, 'c> {
    walks: &'w Walks<'c>,
    /// The leaves that may be active.
    pub(super) at: BTreeSet<StateId>,
    /// The steps that the walk may still visit, in document order.
    pub(super) due: BTreeSet<StepId>,
    /// The last step that was visited; the walk does not go back before it.
    pub(super) past: Option<StepId>,
    /// The visited steps, instead of `past`, if the walks of several regions run in parallel, so that the order of their steps is unknown.
    passed: BTreeSet<StepId>,
    /// Whether any leaf may be active.
    pub(super) is_anywhere: bool,
    /// Whether to set only [`Self::is_anywhere`] then, without adding all leaves to `at`.
    is_lazy: bool,
    /// The states whose questions may be open.
    asked: BTreeSet<StateId>,
    /// The number of leaves in `at` when options were last chosen. If it has grown, options may lead further.
    chosen: usize,
    /// The visited steps that call a model.
    drivers: Vec<Driver>,
    /// The minimum number of calls so far.
    pub(super) least: u64,
    /// Whether an `ends turn` may have ended the turn.
    pub(super) stops: bool,
}

impl<'w, 'c> Walk<'w, 'c> {
    /// A walk in which no leaf is active yet.
    pub(super) fn new(walks: &'w Walks<'c>, is_lazy: bool) -> Self {
        Self {
            walks,
            at: BTreeSet::new(),
            due: BTreeSet::new(),
            past: None,
            passed: BTreeSet::new(),
            is_anywhere: false,
            is_lazy,
            asked: BTreeSet::new(),
            chosen: 0,
            drivers: Vec::new(),
            least: 0,
            stops: false,
        }
    }

    /// The walk of a turn that begins in a leaf. Empty if no step calls a model.
    pub(super) fn begin(walks: &'w Walks<'c>, leaf: StateId, is_lazy: bool) -> Self {
        let mut walk = Self::new(walks, is_lazy);
        if !walks.calls {
            return walk;
        }
        walk.enter(leaf, true);
        // The turn begins in several leaves, one for each region: all that can be active together with this one.
        if walks.parallel {
            let beside = |l: &&StateId| !exclusive(walks.chart, leaf, **l);
            walks.leaves.iter().filter(beside).for_each(|l| walk.enter(*l, true));
        }
        // A sent event may arrive before the first step and lead anywhere.
        if walks.sends {
            walks.leaves.iter().for_each(|l| walk.enter(*l, true));
        }
        walk
    }

    /// Visits a step that was due: counts its calls, and adds what it leads to.
    pub(super) fn visit(&mut self, step: StepId) {
        let walks = self.walks;
        self.pass(step);
        let row = &walks.chart.steps[step.index()];
        if is_model(row) {
            self.drivers.push(walks.driver(step));
            if !self.stops && walks.surely(step, &self.at) {
                self.least += 1;
            }
            self.stops |= row.ends_turn.is_some();
            if matches!(row.kind, StepKind::Ask { .. }) {
                self.ask(row.state);
            }
            // While the model answers, events may arrive.
            if walks.interrupted {
                self.enter_any();
            }
        }
        for transition in walks.ends.get(&step).into_iter().flatten() {
            if !walks.facts.scopes.transition(*transition).within.is_empty() {
                self.take(*transition);
            }
        }
        if walks.interrupted && matches!(row.kind, StepKind::Call(..)) {
            self.enter_any();
        }
        if walks.parallel {
            // A question of one region may be asked only after another region has moved.
            self.choose();
        }
    }

    /// The bounds on the calls of the whole walk. The limit of calls is given to the steps with the most attempts first.
    pub(super) fn total(self, leaf: StateId) -> TurnCost {
        let Self { walks, mut drivers, at, least, .. } = self;
        let elsewhere =
            |d: &Driver| !walks.facts.scopes.step(d.step).may_hold_in(walks.chart, leaf);
        // The limit counts calls, not attempts.
        drivers.sort_by_key(|d| (std::cmp::Reverse(attempts(d)), elsewhere(d), d.step));
        let mut worst = 0_u64;
        let mut left: BTreeMap<StateId, u64> = BTreeMap::new();
        let cap = walks.cap();
        drivers.retain_mut(|driver| {
            let row = &walks.chart.steps[driver.step.index()];
            driver.times = 0;
            for (region, most) in walks.times(row, &at) {
                let left = left.entry(region).or_insert(cap);
                driver.times += elements(row).saturating_mul(most.min(*left));
                *left -= most.min(*left);
            }
            worst = worst.saturating_add(driver.calls());
            driver.times > 0
        });
        TurnCost { leaf, least: least.min(cap), worst, drivers }
    }

    /// Records that a step was visited.
    fn pass(&mut self, step: StepId) {
        if self.walks.parallel {
            self.passed.insert(step);
        } else {
            self.past = Some(step);
        }
    }

    /// Records that any leaf may be active.
    fn enter_any(&mut self) {
        if !std::mem::replace(&mut self.is_anywhere, true) && !self.is_lazy {
            self.walks.leaves.iter().for_each(|leaf| self.enter(*leaf, false));
        }
    }

    /// Records that a transition may be taken: enters its targets.
    fn take(&mut self, transition: TransitionId) {
        let chart = self.walks.chart;
        let mut leaves = Vec::new();
        for entered in entries(chart, chart.transition(transition)) {
            leaves_of(chart, entered, &mut leaves);
        }
        for leaf in leaves {
            self.enter(leaf, false);
        }
    }

    /// Records that the question of a state may be open.
    fn ask(&mut self, state: StateId) {
        if !self.walks.parallel {
            self.asked.clear();
        }
        self.asked.insert(state);
        self.chosen = 0;
        self.choose();
    }

    /// Chooses every option of the open questions, also in the leaves that options lead to.
    fn choose(&mut self) {
        let Walks { chart, choices, .. } = self.walks;
        while std::mem::replace(&mut self.chosen, self.at.len()) != self.at.len() {
            let below = |s: &StateId| self.at.range(*s..chart.state(*s).end);
            let mut transitions = BTreeSet::new();
            for above in self.asked.iter().flat_map(below).flat_map(|leaf| chart.ancestors(*leaf)) {
                transitions.extend(choices.get(&above).into_iter().flatten().copied());
            }
            for transition in transitions {
                self.take(transition);
            }
        }
    }

    /// Adds the leaf and everything that transitions enter from there by themselves. `first` is true at the beginning of the turn, when
    /// `on turn` transitions are taken, too.
    pub(super) fn enter(&mut self, leaf: StateId, first: bool) {
        let Walks { chart, steps, moving, starting, facts, .. } = self.walks;
        let mut open = vec![leaf];
        while let Some(state) = open.pop() {
            if !facts.reach.can_enter(state) || is_history(chart, state) || !self.at.insert(state) {
                continue;
            }
            for above in chart.ancestors(state) {
                let past = self.past;
                let later = steps
                    .get(&above)
                    .into_iter()
                    .flatten()
                    .filter(|s| past.is_none_or(|p| **s > p) && !self.passed.contains(s));
                let covers = |s: &&StepId| !facts.scopes.step(**s).excludes_leaf(chart, state);
                self.due.extend(later.filter(covers));
                let turn = first.then(|| starting.get(&above)).flatten();
                for transition in moving.get(&above).into_iter().chain(turn).flatten() {
                    for entered in entries(chart, chart.transition(*transition)) {
                        leaves_of(chart, entered, &mut open);
                    }
                }
            }
        }
    }
}

/// Adds the leaves that entering a state may activate. A history may restore any leaf of its parent.
fn leaves_of(chart: &Chart, state: StateId, found: &mut Vec<StateId>) {
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        match &chart.state(state).kind {
            StateKind::Atomic | StateKind::Final { .. } => found.push(state),
            StateKind::Compound { .. } | StateKind::Parallel => {
                open.extend(entered_by_default(chart, state));
            }
            StateKind::History { .. } => {
                let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
                let all = (parent.0..chart.state(parent).end.0).map(StateId);
                found.extend(all.filter(|s| is_leaf(chart, *s)));
            }
        }
    }
}
