//! Nodes of a directed graph that lie on a cycle.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Whether each node lies on a cycle. `next` lists the successors of each node. Takes linear time in nodes and edges, and does not recurse.
pub(super) fn on(next: &[Vec<usize>]) -> Vec<bool> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in next {
        graph.add_node(());
    }
    for (from, all) in next.iter().enumerate() {
        graph.extend_with_edges(all.iter().map(|to| (NodeIndex::new(from), NodeIndex::new(*to))));
    }
    let mut found = vec![false; next.len()];
    for component in kosaraju_scc(&graph) {
        for node in &component {
            // A component of one node is a cycle only if the node is its own successor.
            found[node.index()] = component.len() > 1 || next[node.index()].contains(&node.index());
        }
    }
    found
}
