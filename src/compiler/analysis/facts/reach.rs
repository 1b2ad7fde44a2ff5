//! The graph of possible moves, the states that a run can enter and when a line can act, and the shortest ways there.
//!
//! **The problem.** Nearly every finding asks where runs can go: is this state ever entered, can this line be taken, what leads back here?
//! The exact answer depends on the data of all runs, and the analysis of a large chart has to take about linear time.
//!
//! **The idea.** Ignore the data, except for guards that never hold, and over-approximate:
//!
//! 1. A [`ScopeCondition`] is necessary for a transition or step to act: some state of `within` is active, and none of `except`. It
//!    combines the source state, `from`, `in(…)` in the guard, the questions that offer an option, and the transition table.
//! 2. [`Reach`] searches breadth first from the start. A state that becomes active releases the transitions that may act in it, and a
//!    transition enters its targets with their defaults. Each state keeps the first cause, so [`witness`] reads the shortest run backwards.
//! 3. [`Moves`] has the reachable states and transitions as a graph, to search in both directions and to find cycles.
//!
//! A state that is not found is never entered. One that is found may still be unreachable, as guards on the way are not combined.
//!
//! **Example.**
//!
//! ```text
//! initial idle
//! state idle { on go -> work }
//! state work {
//!   initial draft
//!   on stop if in(check) -> done
//!   state draft { on ready -> check }
//!   state check { on retry -> draft }
//! }
//! ```
//!
//! The guard confines `on stop` to `check`. So the search takes `go` to `draft` and `ready` to `check`; only now may `stop` act. The
//! witness of `done` is `go` in `idle`, `ready` in `draft`, `stop` in `check`.

use super::conditions::is_impossible;
use super::ranges::Ranges;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{
    Action, BinaryOp, Chart, Expr, ExprKind, Observable, Starts, StateKind, Step, StepKind,
    Transition, TransitionKind, Trigger, UnaryOp,
};
use chartc_core::structure;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Bfs, Dfs, Reversed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::OnceLock;

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
pub(crate) fn entered_with(chart: &Chart, targets: &[StateId], domain: StateId) -> Vec<StateId> {
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
pub(crate) fn entered_by_default(chart: &Chart, state: StateId) -> Vec<StateId> {
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
pub(crate) fn surely_enters(chart: &Chart, entries: &[StateId], state: StateId) -> bool {
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

// The graph of possible moves: how states lead to each other over transitions.

/// A graph of what a chart can do in any configuration. It over-approximates: an edge may be impossible in every run, but a node that
/// no path reaches is unreachable.
///
/// A state has two nodes, because entering it by default has consequences that being active has not: `on go -> work` in `idle` is
/// `Active(idle)` → `Transition(go)` → `Entered(work)`, which leads to `Active(work)` and to the `Entered` node of its initial child.
#[derive(Debug, Clone)]
pub struct Moves {
    graph: DiGraph<(), (), u32>,
    /// The number of states, which determines the index of each node.
    states: usize,
    /// Computed when first asked for.
    components: OnceLock<Components>,
}

/// The strongly connected components of the graph, which contain its cycles.
#[derive(Debug, Clone)]
struct Components {
    /// In reverse topological order.
    nodes: Vec<Vec<GraphNode>>,
    /// By index of the node: the number of its component.
    numbers: Vec<usize>,
}

/// The meaning of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphNode {
    /// The state is active.
    Active(StateId),
    /// The state is entered by default.
    Entered(StateId),
    /// The transition is taken.
    Transition(TransitionId),
    /// A transition that can act in this state, outside the states that it excludes, is taken. Without this node, each leaf would need
    /// an edge to each such transition.
    Any(StateId),
}

/// The maximum number of transitions with excluded states, per state, whose exclusions the graph represents. If there are more, every
/// leaf leads to all of them, which is less exact but keeps the graph linear.
const MOST_OPEN: usize = 64;

impl Moves {
    /// Builds the graph of the reachable states and transitions. Takes time linear in their number.
    pub fn new(chart: &Chart, places: &ScopeConditions, reach: &Reach) -> Self {
        let states = chart.states.len();
        let mut build = Build { chart, places, reach, edges: Vec::new(), open: BTreeMap::new() };
        build.add_transitions();
        build.states();
        let mut edges = build.edges;
        edges.sort_unstable();
        edges.dedup();
        let nodes = 3 * states + chart.transitions.len();
        let mut graph = DiGraph::with_capacity(nodes, edges.len());
        for _ in 0..nodes {
            graph.add_node(());
        }
        graph.extend_with_edges(edges);
        Self { graph, states, components: OnceLock::new() }
    }

    /// By state: whether a path leads from it to one of `goals`.
    pub fn leads_to(&self, goals: impl IntoIterator<Item = StateId>) -> Vec<bool> {
        let reversed = Reversed(&self.graph);
        let mut search = Dfs::empty(reversed);
        let mut leads = vec![false; self.states];
        for goal in goals {
            search.move_to(self.index(GraphNode::Active(goal)));
            while let Some(node) = search.next(reversed) {
                if let Some(place) = leads.get_mut(node.index()) {
                    *place = true;
                }
            }
        }
        leads
    }

    /// By state: the number of edges of the shortest path to the goal; `u32::MAX` if none leads there.
    pub(crate) fn distances(&self, goal: StateId) -> Vec<u32> {
        let reversed = Reversed(&self.graph);
        let mut search = Bfs::new(reversed, self.index(GraphNode::Active(goal)));
        let mut distances = vec![u32::MAX; self.nodes()];
        while let Some(node) = search.next(reversed) {
            let near = self.graph.neighbors(node).map(|next| distances[next.index()]).min();
            distances[node.index()] = near.map_or(0, |near| near.saturating_add(1));
        }
        distances[self.place(GraphNode::Active(goal))] = 0;
        distances.truncate(self.states);
        distances
    }

    /// The successors of a node, in no particular order.
    pub fn next(&self, node: GraphNode) -> impl Iterator<Item = GraphNode> + '_ {
        self.graph.neighbors(self.index(node)).map(|n| self.node(n))
    }

    /// The transitions on the shortest path from one of the nodes `from` to a goal, over at least one edge. `goes_on` decides which edges
    /// may be on the path.
    pub(crate) fn path(
        &self,
        from: &[GraphNode],
        goes_on: impl Fn(GraphNode, GraphNode) -> bool,
        is_goal: impl Fn(GraphNode) -> bool,
    ) -> Option<Vec<TransitionId>> {
        let mut before: Vec<Option<GraphNode>> = vec![None; self.nodes()];
        let mut open: VecDeque<GraphNode> = from.iter().copied().collect();
        while let Some(node) = open.pop_front() {
            for next in self.next(node).filter(|next| goes_on(node, *next)) {
                let known = &mut before[self.place(next)];
                if known.is_some() {
                    continue;
                }
                *known = Some(node);
                if is_goal(next) {
                    return Some(self.back(&before, next, from));
                }
                open.push_back(next);
            }
        }
        None
    }

    /// The transitions on the path that leads from one of the nodes `from` to the goal.
    fn back(
        &self,
        before: &[Option<GraphNode>],
        goal: GraphNode,
        from: &[GraphNode],
    ) -> Vec<TransitionId> {
        let mut transitions = Vec::new();
        let mut at = before[self.place(goal)];
        while let Some(node) = at {
            if let GraphNode::Transition(transition) = node {
                transitions.push(transition);
            }
            at = before[self.place(node)].filter(|_| !from.contains(&node));
        }
        transitions.reverse();
        transitions
    }

    /// The strongly connected components, in reverse topological order: the first has no successors.
    pub fn components(&self) -> &[Vec<GraphNode>] {
        &self.all_components().nodes
    }

    /// The number of the component of a node, by which [`Self::components`] lists it.
    pub(crate) fn component(&self, node: GraphNode) -> usize {
        self.all_components().numbers[self.place(node)]
    }

    fn all_components(&self) -> &Components {
        self.components.get_or_init(|| {
            let mut numbers = vec![usize::MAX; self.nodes()];
            let mut nodes = Vec::new();
            for (number, found) in kosaraju_scc(&self.graph).into_iter().enumerate() {
                for node in &found {
                    numbers[node.index()] = number;
                }
                nodes.push(found.into_iter().map(|node| self.node(node)).collect());
            }
            Components { nodes, numbers }
        })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.node_count()
    }

    /// The index of a node, below [`Self::nodes`].
    pub fn place(&self, node: GraphNode) -> usize {
        number(self.states, node)
    }

    fn index(&self, node: GraphNode) -> NodeIndex<u32> {
        NodeIndex::new(number(self.states, node))
    }

    fn node(&self, index: NodeIndex<u32>) -> GraphNode {
        let i = index.index();
        match i / self.states {
            0 => GraphNode::Active(StateId::at(i)),
            1 => GraphNode::Entered(StateId::at(i - self.states)),
            2 => GraphNode::Any(StateId::at(i - 2 * self.states)),
            _ => GraphNode::Transition(TransitionId::at(i - 3 * self.states)),
        }
    }
}

fn number(states: usize, node: GraphNode) -> usize {
    match node {
        GraphNode::Active(state) => state.index(),
        GraphNode::Entered(state) => states + state.index(),
        GraphNode::Any(state) => 2 * states + state.index(),
        GraphNode::Transition(transition) => 3 * states + transition.index(),
    }
}

struct Build<'c> {
    chart: &'c Chart,
    places: &'c ScopeConditions,
    reach: &'c Reach,
    edges: Vec<(u32, u32)>,
    /// By state: the transitions that can act in it, except in some of its descendants.
    open: BTreeMap<StateId, Vec<TransitionId>>,
}

impl Build<'_> {
    fn edge(&mut self, from: GraphNode, to: GraphNode) {
        let states = self.chart.states.len();
        self.edges.push((number(states, from) as u32, number(states, to) as u32));
    }

    fn add_transitions(&mut self) {
        let (chart, places, reach) = (self.chart, self.places, self.reach);
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            if !reach.can_take(id) {
                continue;
            }
            let place = places.transition(id);
            for state in place.within.iter().filter(|s| reach.can_enter(**s)) {
                if place.except.is_empty() {
                    self.edge(GraphNode::Active(*state), GraphNode::Transition(id));
                } else {
                    self.open.entry(*state).or_default().push(id);
                    self.edge(GraphNode::Any(*state), GraphNode::Transition(id));
                }
            }
            for state in entries(chart, transition) {
                self.edge(GraphNode::Transition(id), GraphNode::Entered(state));
            }
        }
    }

    fn states(&mut self) {
        let (chart, reach) = (self.chart, self.reach);
        let mut parallels: Vec<Option<StateId>> = vec![None; chart.states.len()];
        for state in chart.state_ids() {
            let row = chart.state(state);
            if let Some(parent) = row.parent {
                let inside = matches!(chart.state(parent).kind, StateKind::Parallel);
                parallels[state.index()] =
                    if inside { Some(parent) } else { parallels[parent.index()] };
            }
            if !reach.can_enter(state) {
                continue;
            }
            // A history is never active itself.
            if !is_history(chart, state) {
                self.edge(GraphNode::Entered(state), GraphNode::Active(state));
            }
            // While a parallel is active, all states inside it may be, whichever leaf the search has come from.
            if let Some(parallel) = parallels[state.index()] {
                self.edge(GraphNode::Active(parallel), GraphNode::Active(state));
            }
            if is_end(chart, state) {
                continue;
            }
            // An active state implies that its ancestors are active, whose transitions may then be taken.
            if let Some(parent) = row.parent
                && !is_history(chart, state)
            {
                self.edge(GraphNode::Active(state), GraphNode::Active(parent));
            }
            if is_leaf(chart, state) {
                self.exceptions(state);
            }
            self.entry(state);
        }
    }

    /// Adds edges from a leaf to those transitions with excluded states that can act in it.
    fn exceptions(&mut self, leaf: StateId) {
        if self.open.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for place in self.chart.ancestors(leaf) {
            let Some(transitions) = self.open.get(&place) else { continue };
            if transitions.len() > MOST_OPEN {
                found.push(GraphNode::Any(place));
                continue;
            }
            let out =
                |l: &&TransitionId| !self.places.transition(**l).excludes_leaf(self.chart, leaf);
            let holding: Vec<_> = transitions.iter().filter(out).copied().collect();
            // If no transition excludes this leaf, one edge stands for all of them.
            if holding.len() == transitions.len() {
                found.push(GraphNode::Any(place));
            } else {
                found.extend(holding.into_iter().map(GraphNode::Transition));
            }
        }
        for node in found {
            self.edge(GraphNode::Active(leaf), node);
        }
    }

    /// Adds edges to what the state enters by default, and, for a history, to what it may restore.
    fn entry(&mut self, state: StateId) {
        let (chart, reach) = (self.chart, self.reach);
        for entered in entered_by_default(chart, state) {
            self.edge(GraphNode::Entered(state), GraphNode::Entered(entered));
        }
        for child in restored(chart, state).filter(|c| reach.can_enter(*c)) {
            self.edge(GraphNode::Entered(state), GraphNode::Entered(child));
        }
        // A deep history restores any configuration below its parent, that is, any of its leaves.
        if let StateKind::History { deep: true, .. } = chart.state(state).kind
            && let Some(parent) = chart.state(state).parent
        {
            for inner in (parent.0 + 1..chart.state(parent).end.0).map(StateId) {
                if reach.can_enter(inner) && is_leaf(chart, inner) {
                    self.edge(GraphNode::Entered(state), GraphNode::Active(inner));
                }
            }
        }
    }
}

// The shortest run that reaches a state, in the over-approximation of [`Reach`].

/// A run over the fewest transitions. It is not decided whether all guards on it can hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The transitions in the order taken, each with the state in which it is taken and a state that it enters.
    pub hops: Vec<(StateId, TransitionId, StateId)>,
}

/// The shortest run that enters the state; `None` if no run does.
pub fn witness(reach: &Reach, state: StateId) -> Option<Witness> {
    let mut hops = Vec::new();
    let mut at = state;
    loop {
        match reach.causes[at.index()]? {
            Cause::Start => break,
            Cause::With(other) => at = other,
            Cause::Transition(transition) => {
                let actor = reach.actors[transition.index()]?;
                hops.push((actor, transition, at));
                at = actor;
            }
        }
    }
    hops.reverse();
    Some(Witness { hops })
}

// Scope conditions: the states in which a transition or a step can act.
//
// They combine what is known before any run is considered: the source state, `from` and `except`, `in(state)` in guards, guards that
// can never hold, the questions that offer an option, and the transition table. For example, `on stop if in(work.a) -> done` in `work`
// can act only while `work.a` is active.

/// A necessary condition for acting: some state of `within` is active, and no state of `except`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeCondition {
    /// Ascending. Empty if acting is impossible. A state and its descendant are both listed only if the chart names both.
    pub within: Vec<StateId>,
    /// Excluded states, all descendants of states in `within`.
    pub except: Vec<StateId>,
    /// Whether the real condition also involves a state of another region. Then acting is impossible elsewhere, but not certain here.
    pub is_approximate: bool,
}

impl ScopeCondition {
    /// Whether acting is possible while the leaf is active.
    pub(crate) fn may_hold_in(&self, chart: &Chart, leaf: StateId) -> bool {
        self.within.iter().any(|s| chart.contains(*s, leaf)) && !self.excludes_leaf(chart, leaf)
    }

    /// Whether a guard tests for states that are never active here, so that it is false whatever the variables are.
    pub(crate) fn is_closed_by(&self, chart: &Chart, guard: &Expr) -> bool {
        let mut rest = self.clone();
        rest.confine(chart, guard);
        rest.within.is_empty() && !self.within.is_empty()
    }

    /// Whether a guard holds here whatever the variables are.
    pub fn is_opened_by(&self, chart: &Chart, guard: &Expr) -> bool {
        // By the data, or by the states: `decide` takes any `in(…)` to be true or false, and `is_closed_by` knows nothing of the data.
        let opposite = ExprKind::Unary(UnaryOp::Not, Box::new(guard.clone()));
        is_impossible(chart, &[(guard, false)])
            || self.is_closed_by(chart, &Expr { kind: opposite, ty: guard.ty.clone() })
    }

    /// The condition that one state is active.
    pub fn in_state(state: StateId) -> Self {
        Self { within: vec![state], ..Self::default() }
    }

    /// Whether the leaf is inside an excluded state.
    pub(crate) fn excludes_leaf(&self, chart: &Chart, leaf: StateId) -> bool {
        self.except.iter().any(|s| chart.contains(*s, leaf))
    }

    /// Adds the condition that some state of `to` is active.
    fn narrow(&mut self, chart: &Chart, to: &[StateId]) {
        self.is_approximate |= self.within.iter().any(|s| to.iter().any(|t| apart(chart, *s, *t)));
        self.within = meet(chart, &self.within, to);
    }

    /// Adds the condition that none of these states is active.
    fn exclude(&mut self, chart: &Chart, states: &[StateId]) {
        if states.is_empty() && self.except.is_empty() {
            return;
        }
        self.is_approximate |=
            self.within.iter().any(|s| states.iter().any(|e| apart(chart, *s, *e)));
        self.except.extend(states);
        self.except.sort_unstable();
        self.except.dedup();
        // Keeps the invariants: no state of `within` is excluded entirely, and every exclusion is inside some state of `within`.
        self.within.retain(|s| !self.except.iter().any(|e| chart.contains(*e, *s)));
        let within = &self.within;
        self.except.retain(|e| within.iter().any(|s| chart.contains(*s, *e)));
    }

    /// Adds the condition that the guard may hold.
    fn guard(&mut self, chart: &Chart, ranges: &Ranges, guard: Option<&Expr>) {
        let Some(guard) = guard else { return };
        if ranges.forbid(chart, guard) {
            self.within.clear();
            return;
        }
        self.confine(chart, guard);
    }

    /// Narrows the condition by the states that the guard tests for.
    fn confine(&mut self, chart: &Chart, guard: &Expr) {
        if let Some(states) = confines(chart, guard) {
            self.narrow(chart, &states);
        }
        self.exclude(chart, &excludes(chart, guard, true));
    }
}

/// The scope conditions of all transitions and steps of a chart.
#[derive(Debug, Clone)]
pub struct ScopeConditions {
    /// By transition. Empty if the guard cannot hold, the step cannot run, no question offers the option, or the transition table forbids
    /// the move everywhere.
    pub transitions: Vec<ScopeCondition>,
    /// By transition: the states in which it could act if the transition table did not forbid the move from there.
    pub forbidden: Vec<Vec<StateId>>,
    /// By row of the transition table: whether some step or option makes a move that the row permits.
    pub used: Vec<bool>,
    /// By step.
    pub steps: Vec<ScopeCondition>,
    /// Questions that are never asked, with the transitions that always take their event or the turn. Their scope condition is empty.
    pub unput: BTreeMap<StepId, Vec<TransitionId>>,
}

impl ScopeConditions {
    /// Computes the conditions from scopes, guards, steps and permissions.
    pub fn new(chart: &Chart, ranges: &Ranges) -> Self {
        let mut steps: Vec<ScopeCondition> = chart
            .steps
            .iter()
            .map(|step| {
                let mut place = ScopeCondition::in_state(step.state);
                place.guard(chart, ranges, step.guard.as_ref());
                place
            })
            .collect();
        // Steps come first: transitions on their outcomes and options of questions inherit their conditions.
        let unput = unput(chart, &mut steps);
        let mut table = Table::new(chart);
        let asks = asks(chart, &steps);
        let interrupted = is_interrupted(chart);
        let mut transitions = Vec::with_capacity(chart.transitions.len());
        let mut forbidden = Vec::with_capacity(chart.transitions.len());
        for transition in &chart.transitions {
            let mut place = transition_scope(chart, transition, &steps, interrupted);
            place.guard(chart, ranges, transition.guard.as_ref());
            if matches!(transition.trigger, Trigger::Choice(_)) {
                place.within = offered(chart, &place.within, &asks);
            }
            let moves = transition.trigger.step().is_some()
                || matches!(transition.trigger, Trigger::Choice(_));
            let refused =
                if moves { table.apply(chart, transition, &mut place) } else { Vec::new() };
            transitions.push(place);
            forbidden.push(refused);
        }
        Self { transitions, forbidden, used: table.used, steps, unput }
    }

    /// The states in which a transition can act.
    pub fn transition(&self, id: TransitionId) -> &ScopeCondition {
        &self.transitions[id.index()]
    }

    /// The states in which a step can run.
    pub fn step(&self, id: StepId) -> &ScopeCondition {
        &self.steps[id.index()]
    }
}

/// Clears the conditions of questions and of steps on events that never start, and returns them with the transitions that take their
/// event.
fn unput(chart: &Chart, steps: &mut [ScopeCondition]) -> BTreeMap<StepId, Vec<TransitionId>> {
    let mut found = BTreeMap::new();
    let may_miss = |step: &Step| step.is_on_event() || matches!(step.kind, StepKind::Ask { .. });
    if !chart.steps.iter().any(may_miss) {
        return found;
    }
    let takers = Takers::new(chart);
    for i in 0..steps.len() {
        if let Some(by) = takers.before(chart, StepId::at(i), steps) {
            steps[i].within.clear();
            found.insert(StepId::at(i), by);
        }
    }
    found
}

/// The condition that the `from` of a transition describes. Without a `from`: that its source is active.
pub fn scope(chart: &Chart, transition: &Transition) -> ScopeCondition {
    let mut place = ScopeCondition::in_state(transition.source);
    if let Some(scope) = &transition.scope {
        if !scope.any_of.is_empty() {
            place.narrow(chart, &scope.any_of);
        }
        place.exclude(chart, &scope.none_of);
    }
    place
}

/// Whether anything besides the walk may change the configuration while a step is under way, such as an event, a deadline, or the
/// result of a tool that a step calls.
fn is_interrupted(chart: &Chart) -> bool {
    let outside = |t: &Trigger| {
        matches!(
            t,
            Trigger::Event(_)
                | Trigger::AnyEvent
                | Trigger::AnyOccurrence
                | Trigger::After(_)
                | Trigger::Error(_)
                | Trigger::LimitWarn(_)
        )
    };
    let beside = |k: &StepKind| matches!(k, StepKind::Human(_) | StepKind::Run(..));
    chart.transitions.iter().any(|t| outside(&t.trigger))
        || chart.steps.iter().any(|s| beside(&s.kind) || s.is_on_event() || s.tools.is_some())
}

/// Whether a step may end although its condition no longer holds. In general it may, because a step is canceled only when its state is
/// exited. But a question ends with its leaf, and code takes no time.
fn outlives(chart: &Chart, step: StepId, interrupted: bool) -> bool {
    match &chart.steps[step.index()].kind {
        StepKind::Code(_) | StepKind::Ask { .. } => false,
        _ => interrupted,
    }
}

/// The condition of a transition without its guard: its scope, the condition of its step, or the completion of its state.
fn transition_scope(
    chart: &Chart,
    transition: &Transition,
    steps: &[ScopeCondition],
    interrupted: bool,
) -> ScopeCondition {
    let mut place = scope(chart, transition);
    if let Some(id) = transition.trigger.step() {
        let step = &steps[id.index()];
        if step.within.is_empty() || !outlives(chart, id, interrupted) {
            place.is_approximate |= step.is_approximate;
            place.narrow(chart, &step.within);
            place.exclude(chart, &step.except);
        }
    }
    if let Trigger::StateDone(state) = transition.trigger {
        if matches!(chart.state(state).kind, StateKind::Compound { .. }) {
            let ends: Vec<_> = chart.children(state).filter(|c| is_final(chart, *c)).collect();
            place.narrow(chart, &ends);
        } else {
            place.narrow(chart, &[state]);
        }
    }
    place
}

/// Whether a state is final.
pub fn is_final(chart: &Chart, state: StateId) -> bool {
    matches!(chart.state(state).kind, StateKind::Final { .. })
}

/// The states in which a question may be open, ascending.
fn asks(chart: &Chart, steps: &[ScopeCondition]) -> Vec<StateId> {
    let mut states: Vec<StateId> = chart
        .steps
        .iter()
        .zip(steps)
        .filter(|(step, _)| matches!(step.kind, StepKind::Ask { .. }))
        .flat_map(|(_, place)| place.within.iter().copied())
        .collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// The parts of `within` in which a question may be open: a state entirely if the question belongs to it or an ancestor, otherwise its
/// descendants that have a question.
fn offered(chart: &Chart, within: &[StateId], asks: &[StateId]) -> Vec<StateId> {
    let mut parts = Vec::new();
    // `asks` is ascending, and the descendants of a state are a contiguous range of ids.
    for state in within {
        if chart.ancestors(*state).any(|a| asks.binary_search(&a).is_ok()) {
            parts.push(*state);
        } else {
            let from = asks.partition_point(|a| a < state);
            let below = asks[from..].iter().take_while(|a| chart.contains(*state, **a));
            parts.extend(below.copied());
        }
    }
    parts
}

/// The transition table, by the state that a row permits to enter: the index of the row, and the state to leave (`None` for any).
struct Table {
    rows: BTreeMap<StateId, Vec<(usize, Option<StateId>)>>,
    /// By row: whether some move needs it.
    used: Vec<bool>,
}

impl Table {
    fn new(chart: &Chart) -> Self {
        let mut rows: BTreeMap<StateId, Vec<(usize, Option<StateId>)>> = BTreeMap::new();
        for (row, permission) in chart.permissions.iter().enumerate() {
            let guard = permission.guard.as_ref();
            // A permission whose guard never holds permits nothing.
            if !guard.is_some_and(|g| is_impossible(chart, &[(g, true)])) {
                rows.entry(permission.to).or_default().push((row, permission.from));
            }
        }
        Self { rows, used: vec![false; chart.permissions.len()] }
    }

    /// Narrows the condition of a move to where the table permits it. Returns the states in which the table forbids it entirely.
    fn apply(
        &mut self,
        chart: &Chart,
        transition: &Transition,
        place: &mut ScopeCondition,
    ) -> Vec<StateId> {
        if self.used.is_empty() {
            return Vec::new();
        }
        let mut refused = Vec::new();
        for target in &transition.targets {
            let rows = self.rows.get(&target.state).map_or(&[][..], Vec::as_slice);
            for (row, from) in rows {
                let meets = from.is_none_or(|from| !meet(chart, &place.within, &[from]).is_empty());
                self.used[*row] |= meets && !place.within.is_empty();
            }
            if rows.iter().any(|(_, from)| from.is_none()) {
                continue;
            }
            let from: Vec<StateId> = rows.iter().filter_map(|(_, from)| *from).collect();
            refused.extend(
                place.within.iter().filter(|s| meet(chart, &[**s], &from).is_empty()).copied(),
            );
            place.narrow(chart, &from);
        }
        refused
    }
}

/// The states in which one of `left` and one of `right` can be active together, ascending. Of two such states, the inner one; of two in
/// different regions, the one of `left`.
pub fn meet(chart: &Chart, left: &[StateId], right: &[StateId]) -> Vec<StateId> {
    let mut both = Vec::new();
    for a in left {
        for b in right {
            if chart.contains(*a, *b) {
                both.push(*b);
            } else if chart.contains(*b, *a) || !exclusive(chart, *a, *b) {
                both.push(*a);
            }
        }
    }
    both.sort_unstable();
    both.dedup();
    both
}

/// Whether two states are in different regions of the same parallel.
fn apart(chart: &Chart, a: StateId, b: StateId) -> bool {
    !chart.contains(a, b) && !chart.contains(b, a) && !exclusive(chart, a, b)
}

/// Whether two states can never be active together, because they are in different children of a compound.
pub fn exclusive(chart: &Chart, a: StateId, b: StateId) -> bool {
    let common = chart.ancestors(a).find(|s| chart.contains(*s, b));
    common.is_some_and(|s| s != a && s != b && !matches!(chart.state(s).kind, StateKind::Parallel))
}

/// States of which at least one is active whenever the condition holds. `None` if the condition implies no such set.
fn confines(chart: &Chart, guard: &Expr) -> Option<Vec<StateId>> {
    if let ExprKind::Observable(Observable::In(state)) = &guard.kind {
        Some(vec![*state])
    } else if let ExprKind::Predicate(id) = &guard.kind {
        confines(chart, &chart.predicates[id.index()].expr)
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &guard.kind {
        match (confines(chart, a), confines(chart, b)) {
            (Some(a), Some(b)) => Some(meet(chart, &a, &b)),
            (one, other) => one.or(other),
        }
    } else if let ExprKind::Binary(BinaryOp::Or, a, b) = &guard.kind {
        Some([confines(chart, a)?, confines(chart, b)?].concat())
    } else {
        None
    }
}

/// States that are all inactive whenever the condition has this value.
fn excludes(chart: &Chart, guard: &Expr, value: bool) -> Vec<StateId> {
    let joined = if value { BinaryOp::And } else { BinaryOp::Or };
    if let ExprKind::Observable(Observable::In(state)) = &guard.kind {
        if value { Vec::new() } else { vec![*state] }
    } else if let ExprKind::Predicate(id) = &guard.kind {
        excludes(chart, &chart.predicates[id.index()].expr, value)
    } else if let ExprKind::Unary(UnaryOp::Not, inner) = &guard.kind {
        excludes(chart, inner, !value)
    } else if let ExprKind::Binary(op, a, b) = &guard.kind
        && *op == joined
    {
        [excludes(chart, a, value), excludes(chart, b, value)].concat()
    } else {
        Vec::new()
    }
}

// Questions that are never asked because a transition always takes their event, or the turn, first.

/// The transitions that take an event regardless of its data: they have no guard and no `from`.
pub struct Takers {
    /// By event and source state: the first transition that names the event.
    own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>>,
    /// By source state: the first transition for any event.
    any: BTreeMap<StateId, TransitionId>,
    /// By source state: the first transition for the `turn` event.
    turn: BTreeMap<StateId, TransitionId>,
}

impl Takers {
    /// Collects the unguarded transitions that can act everywhere in their source state.
    pub fn new(chart: &Chart) -> Self {
        let mut own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>> = BTreeMap::new();
        let (mut any, mut turn) = (BTreeMap::new(), BTreeMap::new());
        let always =
            |transition: &Transition| transition.scope.is_none() && transition.guard.is_none();
        let transitions = chart.transitions.iter().enumerate();
        for (i, transition) in transitions.filter(|(_, transition)| always(transition)) {
            let id = TransitionId::at(i);
            if matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence) {
                any.entry(transition.source).or_insert(id);
            }
            if matches!(transition.trigger, Trigger::Turn | Trigger::AnyOccurrence) {
                turn.entry(transition.source).or_insert(id);
            }
            if let Trigger::Event(events) = &transition.trigger {
                for event in events {
                    own.entry(*event).or_default().entry(transition.source).or_insert(id);
                }
            }
        }
        Self { own, any, turn }
    }

    /// The transitions that keep a question, or a step on an event, from its start: in every leaf where it could start, one of them takes
    /// its event, and transitions have priority. `None` if it may start in some leaf, or waits for nothing that transitions take.
    pub fn before(
        &self,
        chart: &Chart,
        step: StepId,
        places: &[ScopeCondition],
    ) -> Option<Vec<TransitionId>> {
        let row = &chart.steps[step.index()];
        let place = &places[step.index()];
        let mut by = BTreeSet::new();
        match &row.starts {
            Starts::OnEvent(events) => {
                for event in events {
                    let own = self.own.get(event);
                    if own.is_none() && self.any.is_empty() {
                        return None;
                    }
                    let takes = |state: StateId| {
                        let own = own.and_then(|transitions| transitions.get(&state));
                        own.or_else(|| self.any.get(&state)).copied()
                    };
                    everywhere(chart, place, &takes, &mut by)?;
                }
            }
            Starts::OnEntry => return None,
            Starts::InTurn => {
                if !matches!(row.kind, StepKind::Ask { .. }) || self.turn.is_empty() {
                    return None;
                }
                let takes = |state: StateId| self.turn.get(&state).copied();
                everywhere(chart, place, &takes, &mut by)?;
                // A turn may begin in another state, and earlier steps of its walk may lead here. So those must be kept from running, too.
                for earlier in &places[..step.index()] {
                    everywhere(chart, earlier, &takes, &mut BTreeSet::new())?;
                }
                // A sent event can change the state between two steps of a walk, after the `turn` event.
                if sends(chart) {
                    return None;
                }
            }
        }
        (!by.is_empty()).then(|| by.into_iter().collect())
    }

    /// The transition that takes every event of this name while the leaf is active.
    pub fn of_event(&self, chart: &Chart, leaf: StateId, event: EventId) -> Option<TransitionId> {
        let own = self.own.get(&event);
        let takes = |state: StateId| {
            own.and_then(|transitions| transitions.get(&state))
                .or_else(|| self.any.get(&state))
                .copied()
        };
        // A state that defers the event hides the transitions of its ancestors.
        let ends = |state: &StateId| {
            takes(*state).is_some() || chart.state(*state).defers.contains(&event)
        };
        chart.ancestors(leaf).find(ends).and_then(takes)
    }

    /// The transition that takes every `turn` event while the leaf is active.
    pub fn of_turn(&self, chart: &Chart, leaf: StateId) -> Option<TransitionId> {
        chart.ancestors(leaf).find_map(|state| self.turn.get(&state)).copied()
    }
}

/// Whether the chart sends or defers events, which may be delivered in the middle of a walk.
fn sends(chart: &Chart) -> bool {
    chart.defers()
        || chart.bodies().any(|actions| {
            let mut sends = false;
            Action::walk(actions, &mut |action| sends |= matches!(action, Action::Send { .. }));
            sends
        })
}

/// Adds to `by` the transitions that take the event in each leaf of the scope condition; `None` if none takes it in some leaf.
fn everywhere(
    chart: &Chart,
    place: &ScopeCondition,
    takes: &dyn Fn(StateId) -> Option<TransitionId>,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    for top in &place.within {
        if let Some(transition) = chart.ancestors(*top).find_map(takes) {
            by.insert(transition);
        } else {
            below(chart, *top, place, takes, by)?;
        }
    }
    Some(())
}

/// Adds to `by` the transitions that take the event in each leaf below `top`; `None` if none takes it in some leaf.
fn below(
    chart: &Chart,
    top: StateId,
    place: &ScopeCondition,
    takes: &dyn Fn(StateId) -> Option<TransitionId>,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    // State ids follow document order, so a subtree is skipped by jumping to its end.
    let mut at = top;
    while at < chart.state(top).end {
        if is_history(chart, at) || is_end(chart, at) || place.except.contains(&at) {
            at = chart.state(at).end;
        } else if let Some(transition) = takes(at) {
            by.insert(transition);
            at = chart.state(at).end;
        } else if is_leaf(chart, at) {
            return None;
        } else {
            at = StateId(at.0 + 1);
        }
    }
    Some(())
}
