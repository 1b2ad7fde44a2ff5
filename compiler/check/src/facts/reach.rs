//! Which states are reachable, and by which transitions.

use crate::facts::scope::{ScopeConditions, is_final};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind, Transition, TransitionKind};
use chartc_core::structure;
use std::collections::{BTreeMap, VecDeque};

/// How a state is first entered, over the fewest transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The run starts in it.
    Start,
    /// A transition enters it.
    Transition(TransitionId),
    /// It is entered along with this state: as its initial child, region, history default, child or parent.
    With(StateId),
}

/// The reachable states and transitions.
#[derive(Debug, Clone)]
pub struct Reach {
    /// By state: how it is first entered; `None` if never. For a history: how it is first targeted.
    pub causes: Vec<Option<Cause>>,
    /// By transition: the first state in which it can be taken; `None` if it never can.
    pub actors: Vec<Option<StateId>>,
}

impl Reach {
    /// Searches breadth first over transitions, so that the causes form shortest paths. Linear in states, transitions, and
    /// targets times depth.
    pub fn compute(chart: &Chart, places: &ScopeConditions) -> Self {
        ReachSearch::new(chart, places).run()
    }

    /// Likewise for the part of a run before it enters `barred`, with what the last transition of that part enters.
    pub fn before(chart: &Chart, places: &ScopeConditions, barred: StateId) -> Self {
        ReachSearch { barred: Some(barred), ..ReachSearch::new(chart, places) }.run()
    }

    /// Whether the state can be active (or, for a history, be targeted).
    pub fn can_enter(&self, state: StateId) -> bool {
        self.causes[state.index()].is_some()
    }

    /// Whether the transition can be taken.
    pub fn can_take(&self, transition: TransitionId) -> bool {
        self.actors[transition.index()].is_some()
    }

    /// Leaves that can be active, ascending: atomic states, and final states below the top level.
    pub fn leaves<'c>(&'c self, chart: &'c Chart) -> impl Iterator<Item = StateId> + 'c {
        chart.state_ids().filter(|s| self.can_enter(*s) && is_leaf(chart, *s))
    }
}

/// Whether the state can be a leaf of a stable configuration: atomic, or a final state below the top level.
pub fn is_leaf(chart: &Chart, state: StateId) -> bool {
    match chart.state(state).kind {
        StateKind::Atomic => true,
        StateKind::Final { .. } => !is_end(chart, state),
        StateKind::Compound { .. } | StateKind::Parallel | StateKind::History { .. } => false,
    }
}

/// Whether entering the state ends the run.
pub fn is_end(chart: &Chart, state: StateId) -> bool {
    is_final(chart, state) && chart.state(state).parent == Some(StateId::at(0))
}

/// The transition domain: all states that the transition exits are its descendants. `None` if it is targetless.
pub fn domain(chart: &Chart, transition: &Transition) -> Option<StateId> {
    if transition.targets.is_empty() {
        return None;
    }
    let is_internal = transition.kind == TransitionKind::Internal;
    let holds = |s| transition.targets.iter().all(|t| s != t.state && chart.contains(s, t.state));
    Some(structure::domain(chart, transition.source, is_internal, holds))
}

/// Every state that a transition enters by default: its targets, and the regions entered with them.
pub fn entries(chart: &Chart, transition: &Transition) -> Vec<StateId> {
    let Some(domain) = domain(chart, transition) else { return Vec::new() };
    let targets: Vec<StateId> = transition.targets.iter().map(|t| t.state).collect();
    entered_with(chart, &targets, domain)
}

/// Targets below `domain`, and the regions entered with them.
pub fn entered_with(chart: &Chart, targets: &[StateId], domain: StateId) -> Vec<StateId> {
    let mut entries = Vec::new();
    for target in targets {
        entries.push(*target);
        let taken = |child| targets.iter().any(|t| chart.contains(child, *t));
        regions(chart, *target, domain, taken, &mut entries);
    }
    entries
}

/// Adds the regions of each parallel between `domain` and `target`, except those for which `taken` holds because they contain a
/// target.
fn regions(
    chart: &Chart,
    target: StateId,
    domain: StateId,
    taken: impl Fn(StateId) -> bool,
    entries: &mut Vec<StateId>,
) {
    let between = chart.ancestors(target).skip(1).take_while(|s| *s != domain);
    for parallel in between.filter(|s| matches!(chart.state(*s).kind, StateKind::Parallel)) {
        entries.extend(structure::regions(chart, parallel).filter(|c| !taken(*c)));
    }
}

/// The states that are entered along with a state that is entered by default: its initial states, its regions, or, for a history, its
/// default. What a history has recorded is in [`restored`].
pub fn entered_by_default(chart: &Chart, state: StateId) -> Vec<StateId> {
    match &chart.state(state).kind {
        StateKind::Atomic | StateKind::Final { .. } => Vec::new(),
        StateKind::Compound { initial } => entered_with(chart, initial, state),
        StateKind::Parallel => structure::regions(chart, state).collect(),
        StateKind::History { default, .. } => {
            let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
            entered_with(chart, default, parent)
        }
    }
}

/// The states that a shallow history may restore, each with what it enters by default. Empty for other states.
pub fn restored(chart: &Chart, history: StateId) -> impl Iterator<Item = StateId> + '_ {
    let is_shallow = matches!(chart.state(history).kind, StateKind::History { deep: false, .. });
    let parent = chart.state(history).parent.filter(|_| is_shallow);
    parent.into_iter().flat_map(|parent| structure::regions(chart, parent))
}

/// Whether entering these states by default enters `state` or a state inside it, whatever histories have recorded.
pub fn surely_enters(chart: &Chart, entries: &[StateId], state: StateId) -> bool {
    closure(chart, entries, |s| !is_history(chart, s)).iter().any(|s| chart.contains(state, *s))
}

/// The states with everything that is entered by default along with those for which `follows` holds.
fn closure(chart: &Chart, entries: &[StateId], follows: impl Fn(StateId) -> bool) -> Vec<StateId> {
    let mut found: Vec<StateId> = entries.to_vec();
    let mut at = 0;
    while let Some(state) = found.get(at).copied() {
        at += 1;
        if follows(state) {
            for entered in
                entered_by_default(chart, state).into_iter().chain(restored(chart, state))
            {
                if !found.contains(&entered) {
                    found.push(entered);
                }
            }
        }
    }
    found
}

/// Whether a state is a history.
pub fn is_history(chart: &Chart, state: StateId) -> bool {
    matches!(chart.state(state).kind, StateKind::History { .. })
}

enum WorkItem {
    Active(StateId, Cause),
    Default(StateId, Cause),
    Transition(TransitionId),
}

struct ReachSearch<'c> {
    chart: &'c Chart,
    places: &'c ScopeConditions,
    causes: Vec<Option<Cause>>,
    defaulted: Vec<bool>,
    actors: Vec<Option<StateId>>,
    /// Transitions by each state of their places.
    starting: Vec<Vec<TransitionId>>,
    /// Transitions that wait for a leaf that they do not exclude, by each state of their places.
    waiting: BTreeMap<StateId, Vec<TransitionId>>,
    /// Parents whose children a shallow history may restore.
    remembered: Vec<bool>,
    /// Nothing that happens after this state is entered counts.
    barred: Option<StateId>,
    /// By state: whether it is entered along with the barred one, and how.
    along: Vec<Option<Cause>>,
    now: VecDeque<WorkItem>,
    later: VecDeque<WorkItem>,
}

impl<'c> ReachSearch<'c> {
    fn new(chart: &'c Chart, places: &'c ScopeConditions) -> Self {
        let count = chart.states.len();
        let mut starting = vec![Vec::new(); count];
        for (i, place) in places.transitions.iter().enumerate() {
            for state in &place.within {
                starting[state.index()].push(TransitionId::at(i));
            }
        }
        Self {
            chart,
            places,
            causes: vec![None; count],
            defaulted: vec![false; count],
            actors: vec![None; chart.transitions.len()],
            starting,
            waiting: BTreeMap::new(),
            remembered: vec![false; count],
            barred: None,
            along: vec![None; count],
            now: VecDeque::new(),
            later: VecDeque::new(),
        }
    }

    fn run(mut self) -> Reach {
        let root = StateId::at(0);
        if !self.stop_at_barred(&[root], Cause::Start) {
            self.default(root, Cause::Start);
        }
        while let Some(item) = self.now.pop_front().or_else(|| self.later.pop_front()) {
            match item {
                WorkItem::Active(state, cause) => self.active(state, cause),
                WorkItem::Default(state, cause) => self.default(state, cause),
                WorkItem::Transition(transition) => self.take_transition(transition),
            }
        }
        let both = self.causes.into_iter().zip(self.along);
        Reach { causes: both.map(|(cause, along)| cause.or(along)).collect(), actors: self.actors }
    }

    fn bars(&self, state: StateId) -> bool {
        self.barred.is_some_and(|barred| self.chart.contains(barred, state))
    }

    /// If entering these states surely enters the barred one, notes what else is entered, but not what follows, and returns `true`.
    fn stop_at_barred(&mut self, entries: &[StateId], cause: Cause) -> bool {
        let chart = self.chart;
        if !self.barred.is_some_and(|barred| surely_enters(chart, entries, barred)) {
            return false;
        }
        for entered in closure(chart, entries, |_| true) {
            // A deep history restores what has been active, and is noted already.
            for state in chart.ancestors(entered) {
                if !self.bars(state) {
                    self.along[state.index()].get_or_insert(cause);
                }
            }
        }
        true
    }

    fn active(&mut self, state: StateId, cause: Cause) {
        if self.bars(state) {
            // A history may lead there, or elsewhere.
            let outside = self.barred.and_then(|barred| self.chart.state(barred).parent);
            self.now.extend(outside.map(|parent| WorkItem::Active(parent, cause)));
            return;
        }
        if self.causes[state.index()].is_some() {
            return;
        }
        self.causes[state.index()] = Some(cause);
        if let Some(parent) = self.chart.state(state).parent {
            self.now.push_back(WorkItem::Active(parent, Cause::With(state)));
            if self.remembered[parent.index()] {
                self.now.push_back(WorkItem::Default(state, Cause::With(parent)));
            }
        }
        if is_end(self.chart, state) {
            return;
        }
        for transition in std::mem::take(&mut self.starting[state.index()]) {
            if self.places.transition(transition).except.is_empty() {
                self.take(transition, state);
            } else {
                self.waiting.entry(state).or_default().push(transition);
            }
        }
        self.wake(state);
    }

    /// Tries the waiting transitions: for a leaf, those of its ancestors; for any other state, its own, in the leaves found
    /// earlier.
    fn wake(&mut self, state: StateId) {
        if self.waiting.is_empty() {
            return;
        }
        if is_leaf(self.chart, state) {
            for place in self.chart.ancestors(state) {
                self.serve(place, state);
            }
        } else if self.waiting.contains_key(&state) {
            let chart = self.chart;
            let below = (state.0..chart.state(state).end.0).map(StateId);
            let ready: Vec<_> =
                below.filter(|s| self.causes[s.index()].is_some() && is_leaf(chart, *s)).collect();
            for leaf in ready {
                self.serve(state, leaf);
            }
        }
    }

    fn serve(&mut self, place: StateId, leaf: StateId) {
        let Some(transitions) = self.waiting.remove(&place) else { return };
        let (ready, waiting): (Vec<_>, Vec<_>) = transitions
            .into_iter()
            .partition(|l| !self.places.transition(*l).excludes_leaf(self.chart, leaf));
        for transition in ready {
            self.take(transition, leaf);
        }
        if !waiting.is_empty() {
            self.waiting.insert(place, waiting);
        }
    }

    fn take(&mut self, transition: TransitionId, actor: StateId) {
        if self.actors[transition.index()].is_none() {
            self.actors[transition.index()] = Some(actor);
            self.later.push_back(WorkItem::Transition(transition));
        }
    }

    fn take_transition(&mut self, id: TransitionId) {
        let (cause, entered) =
            (Cause::Transition(id), entries(self.chart, self.chart.transition(id)));
        if !self.stop_at_barred(&entered, cause) {
            self.now.extend(entered.into_iter().map(|state| WorkItem::Default(state, cause)));
        }
    }

    fn default(&mut self, state: StateId, cause: Cause) {
        let chart = self.chart;
        self.active(state, cause);
        if self.bars(state) {
            return;
        }
        if std::mem::replace(&mut self.defaulted[state.index()], true) {
            return;
        }
        let with = Cause::With(state);
        for entered in entered_by_default(chart, state) {
            self.now.push_back(WorkItem::Default(entered, with));
        }
        if let StateKind::History { deep: false, .. } = chart.state(state).kind
            && let Some(parent) = chart.state(state).parent
            && !std::mem::replace(&mut self.remembered[parent.index()], true)
        {
            for child in restored(chart, state).filter(|c| self.causes[c.index()].is_some()) {
                self.now.push_back(WorkItem::Default(child, with));
            }
        }
    }
}
