//! The states that a run can enter, and the transitions by which it enters them first.
//!
//! A breadth-first search: entering a state makes the transitions that can act in it available, and taking one of these enters its
//! targets with everything that is entered by default along with them. Guards do not matter here; `scope` has already removed the
//! transitions whose guard cannot hold.

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
    /// The state is entered along with this one: as its initial child, region, history default, child or parent.
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

    /// Like [`Self::compute`], for the part of a run before it enters `barred`. The last transition of that part may enter `barred`
    /// together with other states; those count as entered.
    pub fn before(chart: &Chart, places: &ScopeConditions, barred: StateId) -> Self {
        ReachSearch { barred: Some(barred), ..ReachSearch::new(chart, places) }.run()
    }

    /// Whether the state can become active (or, for a history, be the target of a transition).
    pub fn can_enter(&self, state: StateId) -> bool {
        self.causes[state.index()].is_some()
    }

    /// Whether the transition can be taken.
    pub fn can_take(&self, transition: TransitionId) -> bool {
        self.actors[transition.index()].is_some()
    }

    /// The leaves that can be active, ascending: atomic states, and final states below the top level.
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

/// The transition domain, whose active descendants the transition exits. `None` for a targetless transition.
pub fn domain(chart: &Chart, transition: &Transition) -> Option<StateId> {
    if transition.targets.is_empty() {
        return None;
    }
    let is_internal = transition.kind == TransitionKind::Internal;
    let holds = |s| transition.targets.iter().all(|t| s != t.state && chart.contains(s, t.state));
    Some(structure::domain(chart, transition.source, is_internal, holds))
}

/// The states that a transition enters by default: its targets, and the regions that are entered with them.
pub fn entries(chart: &Chart, transition: &Transition) -> Vec<StateId> {
    let Some(domain) = domain(chart, transition) else { return Vec::new() };
    let targets: Vec<StateId> = transition.targets.iter().map(|t| t.state).collect();
    entered_with(chart, &targets, domain)
}

/// The targets, and the regions below `domain` that are entered with them.
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

/// The states that are entered along with a state that is entered by default: its initial states or its regions; for a history, its
/// default. The states that a history may restore instead are in [`restored`].
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

/// The children that a shallow history may restore; each enters its own defaults. Empty for other states.
pub fn restored(chart: &Chart, history: StateId) -> impl Iterator<Item = StateId> + '_ {
    let is_shallow = matches!(chart.state(history).kind, StateKind::History { deep: false, .. });
    let parent = chart.state(history).parent.filter(|_| is_shallow);
    parent.into_iter().flat_map(|parent| structure::regions(chart, parent))
}

/// Whether entering these states by default enters `state` or one of its descendants, whatever the histories have recorded.
pub fn surely_enters(chart: &Chart, entries: &[StateId], state: StateId) -> bool {
    closure(chart, entries, |s| !is_history(chart, s)).iter().any(|s| chart.contains(state, *s))
}

/// These states, and all that is entered by default along with them. Stops at states for which `follows` is false.
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

/// An entry of the queues of the search.
enum WorkItem {
    /// The state becomes active; its defaults are not entered.
    Active(StateId, Cause),
    /// The state is entered by default.
    Default(StateId, Cause),
    /// The transition is taken.
    Transition(TransitionId),
}

struct ReachSearch<'c> {
    chart: &'c Chart,
    places: &'c ScopeConditions,
    causes: Vec<Option<Cause>>,
    /// By state: whether it has been entered by default.
    defaulted: Vec<bool>,
    actors: Vec<Option<StateId>>,
    /// By state: the transitions that can act in it or in its descendants. Taken out when the state becomes active.
    starting: Vec<Vec<TransitionId>>,
    /// By state: its transitions that exclude some leaves and have not found a leaf yet in which they can act.
    waiting: BTreeMap<StateId, Vec<TransitionId>>,
    /// By state: whether a shallow history may restore any of its children.
    remembered: Vec<bool>,
    /// A state that the run has not entered yet; the search does not continue behind it.
    barred: Option<StateId>,
    /// By state: how it is entered by the same transition as the barred state.
    along: Vec<Option<Cause>>,
    // Two queues: everything that a transition enters is handled before the next transition, so that paths are counted in transitions.
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

    /// Whether the state is the barred one or inside it.
    fn bars(&self, state: StateId) -> bool {
        self.barred.is_some_and(|barred| self.chart.contains(barred, state))
    }

    /// If entering these states surely enters the barred one, records which others are entered along with it, and returns `true`. The
    /// search does not continue from any of them.
    fn stop_at_barred(&mut self, entries: &[StateId], cause: Cause) -> bool {
        let chart = self.chart;
        if !self.barred.is_some_and(|barred| surely_enters(chart, entries, barred)) {
            return false;
        }
        for entered in closure(chart, entries, |_| true) {
            // The leaves that a deep history restores were active before, so the search has found them already.
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
            // Only a history gets here past `stop_at_barred`. It may restore another state, so the parent counts as entered.
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
        // Nothing is taken after the end of the run.
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

    /// Tries the waiting transitions again now that this state is active. For a leaf, tries those of its ancestors in this leaf; for any
    /// other state, tries its own in the leaves that were found before it.
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

    /// Takes the waiting transitions of `place` that do not exclude the leaf; the others keep waiting.
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
        // A shallow history restores any child that has been active; those that become active later are handled in `active`.
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
