//! The walk of a turn from each leaf: the steps that may run, how often, and those that no walk reaches.
//!
//! **The problem.** The number of model calls of a turn depends on the way that the walk takes: steps run in document order, each at most
//! once, but outcomes, options and events change the active leaf meanwhile. Following every way would take exponential time.
//!
//! **The idea.** A `Walk` keeps the set of all leaves that may be active so far, and the steps that are due in any of them. `Walk::visit`
//! takes the first due step, and adds all leaves to which its outcomes may lead. Leaves are never removed, so the walk contains every real
//! one:
//!
//! - The maximum counts every visited step. If turns have a limit of calls, `Walk::total` gives it to the steps with the most attempts.
//! - The minimum counts a step only if it runs in every leaf that may be active by then (`Walks::surely`).
//!
//! Once an event may have arrived, any leaf may be active, and walks from different leaves continue alike. `Shared` computes this part
//! once. `unreached` finds steps whose state an earlier step always exits.
//!
//! **Example.**
//!
//! ```text
//! limits { calls 2 per turn }
//! initial plan
//! state plan { llm think { prompt "…" } -> act }
//! state act { llm do_it { prompt "…" } }
//! ```
//!
//! 1. The walk from `plan` begins with the leaf `plan` and the due step `think`.
//! 2. `think` runs in all leaves: the minimum is 1. Its outcome may lead to `act`, so the leaves are `plan` and `act`, and `do_it` is due.
//! 3. `do_it` does not run in `plan`, where the run still is if `think` has failed. So the minimum stays 1, and the maximum is 2.
//!
//! If the text of `act` stood before that of `plan`, the walk would have passed `do_it` already, and the maximum would be 1.

use super::calls::{is_model, region};
use super::{Driver, TurnCost};
use crate::analysis::facts::Facts;
use crate::analysis::facts::reach::{
    entered_by_default, entries, exclusive, is_end, is_history, is_leaf,
};
use crate::analysis::facts::usage::is_where;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Action, Chart, Failure, StateKind, Step, StepKind, Transition, Trigger};
use std::cmp::Reverse;
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

// The part of a walk that is the same for all leaves in which a turn may begin.
//
// Once an event may have arrived, any leaf may be active. From then on, the walk no longer depends on the leaf in which it began, but only
// on the step at which this happened and on the final states that may have ended the run before. So this part is computed once, and each
// leaf adds the part before.

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

// The steps and transitions that may take part in the walks of turns, by state.

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
    /// Whether the chart sends or defers events, which may arrive before each step.
    pub(super) sends: bool,
}

impl<'c> Walks<'c> {
    pub(crate) fn new(chart: &'c Chart, facts: &'c Facts) -> Self {
        let leaves = facts.reach.leaves(chart).filter(|s| !is_end(chart, *s)).collect();
        let (mut raises, mut sends) = (false, chart.defers());
        let mut look = |block: &Vec<Action>| {
            Action::walk(block, &mut |action| {
                raises |= matches!(action, Action::Raise(..));
                sends |= matches!(action, Action::Send { .. });
            });
        };
        chart.blocks().for_each(&mut look);
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
        let parallel = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        Self {
            chart,
            facts,
            leaves,
            steps: steps_within(chart, facts),
            moving,
            starting,
            choices,
            ends,
            width: widths(chart),
            parallel,
            interrupted: is_interrupted(chart),
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
        let retries = row.failure.retry.times;
        Driver {
            step,
            times,
            retries: u64::from(retries),
            tools: row.tools.map_or(0, |tools| u64::from(tools.calls)),
            of_client: retries > 0 && client == Some(row.failure.retry),
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
            StepKind::Llm => row.is_walked() && row.each.is_none(),
            _ => false,
        };
        let everywhere = || at.iter().all(|leaf| place.may_hold_in(self.chart, *leaf));
        kind && !self.parallel
            && !place.is_approximate
            && row.guard.as_ref().is_none_or(is_where)
            && everywhere()
    }
}

/// By state of the scope condition: the steps that call a model, set data, or have transitions on their outcomes.
fn steps_within(chart: &Chart, facts: &Facts) -> BTreeMap<StateId, Vec<StepId>> {
    let mut steps: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
    for (i, step) in chart.steps.iter().enumerate() {
        if is_model(step) || !step.outcomes.is_empty() || matches!(step.kind, StepKind::Code(_)) {
            for state in &facts.scopes.steps[i].within {
                steps.entry(*state).or_default().push(StepId::at(i));
            }
        }
    }
    steps
}

/// By state: the maximum number of leaves inside it that can be active together.
fn widths(chart: &Chart) -> Vec<u64> {
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
    width
}

/// Whether events may arrive while a step is under way.
fn is_interrupted(chart: &Chart) -> bool {
    let outside = |t: &Trigger| {
        matches!(
            t,
            Trigger::Event(_) | Trigger::AnyEvent | Trigger::After(_) | Trigger::AnyOccurrence
        )
    };
    let beside = |s: &Step| matches!(s.kind, StepKind::Human(_) | StepKind::Run(..));
    chart.transitions.iter().any(|t| outside(&t.trigger))
        || chart.steps.iter().any(|s| beside(s) || s.is_on_event() || s.tools.is_some())
}

/// The number of further attempts of one call: retries, and calls after tools.
pub(super) fn attempts(driver: &Driver) -> u64 {
    driver.retries.saturating_add(driver.tools)
}

/// The maximum number of model calls that count as one call of a step: the elements of its `each`, or 1.
pub(super) fn elements(row: &Step) -> u64 {
    row.each.as_ref().map_or(1, |each| u64::from(each.most))
}

// Steps whose state is never active when the walk of a turn reaches them.
//
// For example, a state with `llm a { … } -> next` and, below it, `llm b { … }`: the walk reaches `b` only after `a`, whose outcome has
// exited the state.

/// A step that never runs, because an earlier one exits its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreached {
    /// The step that never runs.
    pub step: StepId,
    /// The state in which it would run.
    pub state: StateId,
    /// An earlier step of that state. It always runs, and afterwards the walk has ended or the state has been exited.
    pub after: StepId,
    /// The transition of that step that exits the state.
    pub transition: TransitionId,
}

/// The steps that never run, ascending. A walk visits each step at most once, in document order. So if an earlier step always exits the
/// state and nothing in between re-enters it, the later step never runs. Linear in steps and transitions.
pub fn unreached(chart: &Chart, facts: &Facts) -> Vec<Unreached> {
    let mut found = Vec::new();
    let mut by_state: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
    for (i, place) in facts.scopes.steps.iter().enumerate() {
        if let [state] = place.within[..]
            && chart.steps[i].approves.is_none()
            && state != StateId::at(0)
            && facts.reach.can_enter(state)
        {
            by_state.entry(state).or_default().push(StepId::at(i));
        }
    }
    by_state.retain(|_, steps| steps.len() > 1);
    if by_state.is_empty() {
        return found;
    }
    let back = Entering::new(chart);
    for (state, steps) in by_state {
        // The last step so far after which the state has been exited.
        let mut gone: Option<(StepId, TransitionId)> = None;
        for id in steps {
            if let Some((after, transition)) = gone
                && chart.steps[id.index()].is_walked()
                && !back.between(chart, state, after, id)
            {
                found.push(Unreached { step: id, state, after, transition });
                continue;
            }
            if let Some(transition) = leaves(chart, facts, state, id) {
                gone = Some((id, transition));
            }
        }
    }
    found.sort_by_key(|f| f.step);
    found
}

/// A transition on the step's outcome, if the step runs whenever its state is active, and the walk continues only after the state has
/// been exited. `None` otherwise.
fn leaves(chart: &Chart, facts: &Facts, state: StateId, id: StepId) -> Option<TransitionId> {
    let step = &chart.steps[id.index()];
    let awaited = match &step.kind {
        StepKind::Llm | StepKind::Call(..) | StepKind::Code(_) => true,
        StepKind::Ask { .. } | StepKind::Human(_) | StepKind::Run(..) => false,
    };
    let place = facts.scopes.step(id);
    let always = step.guard.as_ref().is_none_or(is_where)
        && place.except.is_empty()
        && !place.is_approximate;
    if !step.is_walked() || !awaited || !always || step.failure.then == Failure::Skip {
        return None;
    }
    let mut sure = None;
    let failing = match step.failure.then {
        Failure::Take(transition) => Some(transition),
        Failure::Fail | Failure::Skip => None,
    };
    for transition in step.outcomes.iter().copied().chain(failing) {
        let row = chart.transition(transition);
        // Every transition must exit the state, whichever outcome the step has.
        let away = !row.targets.is_empty()
            && permitted(chart, state, row)
            && outside(chart, state, transition);
        if !away {
            return None;
        }
        if matches!(row.trigger, Trigger::StepDone(_)) && row.guard.is_none() {
            sure = sure.or(Some(transition));
        }
    }
    sure
}

/// Whether the transition table permits the move from the state whatever the variables are.
fn permitted(chart: &Chart, state: StateId, transition: &Transition) -> bool {
    let rows = &chart.permissions;
    let permits = |target: StateId| {
        rows.iter().any(|row| {
            let from = row.from.is_none_or(|from| chart.contains(from, state));
            from && row.to == target && row.guard.is_none()
        })
    };
    rows.is_empty() || transition.targets.iter().all(|target| permits(target.state))
}

/// Whether the transition exits the state without entering it again.
fn outside(chart: &Chart, state: StateId, transition: TransitionId) -> bool {
    entries(chart, chart.transition(transition))
        .iter()
        .all(|target| !touches(chart, *target, state))
}

/// Whether entering `target` may activate `state`.
fn touches(chart: &Chart, target: StateId, state: StateId) -> bool {
    let target = if is_history(chart, target) {
        chart.state(target).parent.unwrap_or(StateId::at(0))
    } else {
        target
    };
    chart.contains(target, state) || chart.contains(state, target)
}

/// The states that transitions may enter during a walk.
struct Entering {
    /// By step: the states that transitions on its outcomes enter.
    steps: BTreeMap<StepId, Vec<StateId>>,
    /// The states that other transitions enter.
    others: Vec<StateId>,
    /// The questions, ascending. Their options enter the states of `chosen`.
    asks: Vec<StepId>,
    /// The states that options enter.
    chosen: Vec<StateId>,
}

impl Entering {
    fn new(chart: &Chart) -> Self {
        let (mut steps, mut others) = (BTreeMap::<StepId, Vec<StateId>>::new(), Vec::new());
        let mut chosen = Vec::new();
        for transition in &chart.transitions {
            let entered = entries(chart, transition);
            if matches!(transition.trigger, Trigger::Choice(_)) {
                chosen.extend(entered);
            } else if let Some(step) = transition.trigger.step() {
                steps.entry(step).or_default().extend(entered);
            } else {
                others.extend(entered);
            }
        }
        let asks = chart.steps.iter().enumerate();
        let asks = asks.filter(|(_, s)| matches!(s.kind, StepKind::Ask { .. }));
        for entered in [&mut others, &mut chosen] {
            entered.sort_unstable();
            entered.dedup();
        }
        Self { steps, others, asks: asks.map(|(i, _)| StepId::at(i)).collect(), chosen }
    }

    /// Whether the state may be entered again between two steps of a walk.
    fn between(&self, chart: &Chart, state: StateId, after: StepId, until: StepId) -> bool {
        let any = |entered: &[StateId]| entered.iter().any(|t| touches(chart, *t, state));
        let waits = |s: &StepId| {
            let step = &chart.steps[s.index()];
            !step.is_walked() || matches!(step.kind, StepKind::Human(_) | StepKind::Run(..))
        };
        // Steps outside of the walk may end at any time. Meanwhile, the walks of other regions continue.
        let own = region(chart, state);
        let other = |s: &StepId| region(chart, chart.steps[s.index()].state) != own;
        let beside = |id: &StepId| waits(id) || other(id) || (after < *id && *id < until);
        any(&self.others)
            || self.steps.iter().any(|(id, entered)| beside(id) && any(entered))
            || self.asks.iter().any(beside) && any(&self.chosen)
    }
}
