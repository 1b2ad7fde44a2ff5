//! The edges of the picture, and their DOT.

use super::text::{label, quoted};
use crate::picture::place::{Origin, PictureNode, Places};
use chartc_core::arena::{StateId, TransitionId};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of lines in a label. Beyond it, a second edge is drawn beside the first.
const LINES: usize = 9;

/// The look of an edge, apart from its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) style: &'static str,
    /// The shape at the head.
    pub(super) head: &'static str,
    /// The shape at the tail.
    pub(super) tail: &'static str,
    /// The width of the pen in tenths of a point; 0 is the default.
    pub(super) pen: u32,
}

/// The end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    State(StateId),
    /// A bar with this number, from which further edges lead to the targets.
    Fork(u32),
}

struct Edge {
    /// The transitions that the edge shows; none for a permission.
    transitions: Vec<TransitionId>,
    origin: Origin,
    end: End,
    stroke: Stroke,
    label: Vec<String>,
    tooltip: Vec<String>,
}

/// All edges except those from initial dots and histories. Transitions between the same states with the same look share an edge.
#[derive(Default)]
pub(super) struct Edges {
    lines: Vec<Edge>,
    forks: Vec<(TransitionId, Vec<StateId>, &'static str)>,
    last: BTreeMap<(Origin, End, Stroke), usize>,
}

impl Edges {
    /// Adds a transition with one target, or a permission.
    pub(super) fn add(
        &mut self,
        transition: Option<TransitionId>,
        origin: Origin,
        target: StateId,
        stroke: Stroke,
        label: Vec<String>,
        tooltip: String,
    ) {
        let end = End::State(target);
        let like = self.last.get(&(origin, end, stroke)).map(|i| &mut self.lines[*i]);
        if let Some(edge) = like.filter(|e| e.label.len() + label.len() <= LINES) {
            edge.transitions.extend(transition);
            edge.label.extend(label);
            edge.tooltip.push(tooltip);
            return;
        }
        self.last.insert((origin, end, stroke), self.lines.len());
        let transitions = transition.into_iter().collect();
        self.lines.push(Edge { transitions, origin, end, stroke, label, tooltip: vec![tooltip] });
    }

    /// Adds a transition with several targets: an edge to a bar, and from the bar an edge to each target.
    pub(super) fn fork(
        &mut self,
        transition: TransitionId,
        origin: Origin,
        targets: Vec<StateId>,
        stroke: Stroke,
        label: Vec<String>,
        tooltip: String,
    ) {
        self.forks.push((transition, targets, stroke.colour));
        let stroke = Stroke { head: "none", ..stroke };
        let (transitions, end) = (vec![transition], End::Fork(transition.0));
        self.lines.push(Edge { transitions, origin, end, stroke, label, tooltip: vec![tooltip] });
    }

    /// The ids of the edges, each with a transition that the edge shows.
    pub(super) fn ids(&self) -> Vec<(String, TransitionId)> {
        let branches = self.forks.iter().flat_map(|(transition, targets, _)| {
            (0..targets.len()).map(|branch| (branch_id(*transition, branch), *transition))
        });
        let edges = self.lines.iter().enumerate().flat_map(|(nth, edge)| {
            edge.transitions.iter().map(move |transition| (edge_id(nth), *transition))
        });
        edges.chain(branches).collect()
    }

    /// The compounds whose `*` is the tail of an edge.
    pub(super) fn any(&self) -> BTreeSet<StateId> {
        let any = |e: &Edge| match e.origin {
            Origin::Any(state) => Some(state),
            Origin::State(_) => None,
        };
        self.lines.iter().filter_map(any).collect()
    }

    /// Writes the edges as lines of DOT.
    pub(super) fn write(&self, out: &mut String, places: &Places<'_>, with_ids: bool) {
        let id =
            |id: String| if with_ids { format!(", id={}", quoted(&id)) } else { String::new() };
        for (transition, targets, colour) in &self.forks {
            let number = transition.0;
            out.push_str(&format!(
                "  f{number} [shape=box, style=filled, fillcolor=\"{colour}\", color=\"{colour}\", label=\"\", width=0.5, height=0.05, fixedsize=true];\n"
            ));
            for (branch, target) in targets.iter().enumerate() {
                let id = id(branch_id(*transition, branch));
                let end = places.border(*target).name();
                let lhead = clip("lhead", places.is_cluster(*target).then_some(*target));
                out.push_str(&format!("  f{number} -> {end} [color=\"{colour}\"{lhead}{id}];\n"));
            }
        }
        for (nth, edge) in self.lines.iter().enumerate() {
            // A permission is no transition, so nothing looks for its edge.
            let id = if edge.transitions.is_empty() { String::new() } else { id(edge_id(nth)) };
            edge.write(out, places, &id);
        }
    }
}

/// The id of an edge.
fn edge_id(nth: usize) -> String {
    format!("e{nth}")
}

/// The id of an edge from a bar to one of its targets.
fn branch_id(transition: TransitionId, branch: usize) -> String {
    format!("f{}_{branch}", transition.0)
}

impl Edge {
    /// Writes the edge. Graphviz ranks nodes by the direction of edges, so an edge that leads up the document is written from its head to
    /// its tail, and the picture stays in document order.
    fn write(&self, out: &mut String, places: &Places<'_>, id: &str) {
        let (Origin::State(source) | Origin::Any(source)) = self.origin;
        let (is_upwards, end, at_end) = match self.end {
            End::Fork(number) => (false, format!("f{number}"), None),
            End::State(target) => {
                // Graphviz clips an edge at a cluster's border only if the edge comes from outside.
                let is_outside = !places.chart.contains(target, source);
                let at_end = (is_outside && places.is_cluster(target)).then_some(target);
                let is_upwards = target < source;
                let is_below = is_upwards && is_outside;
                let node = if is_below {
                    places.bottom(target)
                } else if is_outside {
                    places.border(target)
                } else {
                    places.top(target)
                };
                (is_upwards, node.name(), at_end)
            }
        };
        let (start, at_start) = match self.origin {
            Origin::Any(state) => (PictureNode::Any(state), None),
            Origin::State(state) => {
                let node = if is_upwards { places.border(state) } else { places.bottom(state) };
                (node, places.is_cluster(state).then_some(state))
            }
        };
        let start = start.name();
        let (from, ltail, to, lhead) = if is_upwards {
            (&end, at_end, &start, at_start)
        } else {
            (&start, at_start, &end, at_end)
        };
        let Stroke { colour, style, .. } = self.stroke;
        out.push_str(&format!(
            "  {from} -> {to} [label={}, color=\"{colour}\", fontcolor=\"{colour}\", style={style}, tooltip={}{}{}{}{}{id}];\n",
            label(&self.label),
            quoted(&self.tooltip.join("\n")),
            self.stroke.ends(is_upwards),
            self.stroke.width(),
            clip("ltail", ltail),
            clip("lhead", lhead),
        ));
    }
}

impl Stroke {
    /// The width of the pen as an attribute.
    fn width(self) -> String {
        match self.pen {
            0 => String::new(),
            pen => format!(", penwidth={}.{}", pen / 10, pen % 10),
        }
    }

    /// The shapes of both ends as attributes, swapped for an edge that is written backwards.
    fn ends(self, is_backwards: bool) -> String {
        let (head, tail) =
            if is_backwards { (self.tail, self.head) } else { (self.head, self.tail) };
        match (head, tail) {
            ("normal", "none") => String::new(),
            _ => format!(", dir=both, arrowhead={head}, arrowtail={tail}"),
        }
    }
}

/// The attribute that clips an edge at a cluster's border; empty without a cluster.
fn clip(end: &str, cluster: Option<StateId>) -> String {
    cluster.map(|c| format!(", {end}=cluster{}", c.0)).unwrap_or_default()
}
