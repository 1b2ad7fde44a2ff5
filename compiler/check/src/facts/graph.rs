//! The graph of possible moves: how states lead to each other over transitions.

use crate::facts::reach::{
    Reach, entered_by_default, entries, is_end, is_history, is_leaf, restored,
};
use crate::facts::scope::ScopeConditions;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Bfs, Dfs, Reversed};
use std::collections::BTreeMap;

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
        Self { graph, states }
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
    pub fn distances(&self, goal: StateId) -> Vec<u32> {
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

    /// The strongly connected components, in reverse topological order: the first has no successors.
    pub fn components(&self) -> Vec<Vec<GraphNode>> {
        let found = petgraph::algo::kosaraju_scc(&self.graph);
        found.into_iter().map(|c| c.into_iter().map(|n| self.node(n)).collect()).collect()
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
