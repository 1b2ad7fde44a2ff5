//! Edges of the picture, and how they are written.

use super::text::{label, quoted};
use crate::emit::picture::place::{Node, Origin, Places};
use chartc_core::arena::StateId;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of a label before another edge is drawn beside the first.
const LINES: usize = 9;

/// How an edge looks, apart from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) style: &'static str,
    /// Shape where it arrives.
    pub(super) head: &'static str,
    /// Shape where it starts.
    pub(super) tail: &'static str,
    /// Tenths of a point; 0 is as usual.
    pub(super) pen: u32,
}

/// Where an edge goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    State(StateId),
    /// To the bar from which edges go on to these states; its number.
    Fork(u32),
}

struct Edge {
    origin: Origin,
    end: End,
    stroke: Stroke,
    label: Vec<String>,
    tooltip: Vec<String>,
}

/// All edges but those of dots and histories. Lines between the same states that look alike share one.
#[derive(Default)]
pub(super) struct Edges {
    lines: Vec<Edge>,
    forks: Vec<(u32, Vec<StateId>, &'static str)>,
    last: BTreeMap<(Origin, End, Stroke), usize>,
}

impl Edges {
    /// Adds a line with one target.
    pub(super) fn add(
        &mut self,
        origin: Origin,
        target: StateId,
        stroke: Stroke,
        label: Vec<String>,
        tooltip: String,
    ) {
        let end = End::State(target);
        let like = self.last.get(&(origin, end, stroke)).map(|i| &mut self.lines[*i]);
        if let Some(edge) = like.filter(|e| e.label.len() + label.len() <= LINES) {
            edge.label.extend(label);
            edge.tooltip.push(tooltip);
            return;
        }
        self.last.insert((origin, end, stroke), self.lines.len());
        self.lines.push(Edge { origin, end, stroke, label, tooltip: vec![tooltip] });
    }

    /// Adds a line with several targets: an edge to a bar, and one from there to each.
    pub(super) fn fork(
        &mut self,
        number: u32,
        origin: Origin,
        targets: Vec<StateId>,
        stroke: Stroke,
        label: Vec<String>,
        tooltip: String,
    ) {
        self.forks.push((number, targets, stroke.colour));
        let stroke = Stroke { head: "none", ..stroke };
        let end = End::Fork(number);
        self.lines.push(Edge { origin, end, stroke, label, tooltip: vec![tooltip] });
    }

    /// The compounds whose `*` an edge starts at.
    pub(super) fn any(&self) -> BTreeSet<StateId> {
        let any = |e: &Edge| match e.origin {
            Origin::Any(state) => Some(state),
            Origin::State(_) => None,
        };
        self.lines.iter().filter_map(any).collect()
    }

    /// As lines of DOT.
    pub(super) fn write(&self, out: &mut String, places: &Places<'_>) {
        for (number, targets, colour) in &self.forks {
            out.push_str(&format!(
                "  f{number} [shape=box, style=filled, fillcolor=\"{colour}\", color=\"{colour}\", label=\"\", width=0.5, height=0.05, fixedsize=true];\n"
            ));
            for target in targets {
                let end = places.rim(*target).name();
                let lhead = clip("lhead", places.is_cluster(*target).then_some(*target));
                out.push_str(&format!("  f{number} -> {end} [color=\"{colour}\"{lhead}];\n"));
            }
        }
        for edge in &self.lines {
            edge.write(out, places);
        }
    }
}

impl Edge {
    /// Graphviz ranks by direction, so an edge that goes up the document is written from its head to its tail: the picture reads
    /// in document order.
    fn write(&self, out: &mut String, places: &Places<'_>) {
        let (Origin::State(source) | Origin::Any(source)) = self.origin;
        let (is_upwards, end, at_end) = match self.end {
            End::Fork(number) => (false, format!("f{number}"), None),
            End::State(target) => {
                // Graphviz clips at a cluster's border only edges that come from outside.
                let is_outside = !places.chart.contains(target, source);
                let at_end = (is_outside && places.is_cluster(target)).then_some(target);
                let is_upwards = target < source;
                let is_below = is_upwards && is_outside;
                let node = if is_below {
                    places.bottom(target)
                } else if is_outside {
                    places.rim(target)
                } else {
                    places.top(target)
                };
                (is_upwards, node.name(), at_end)
            }
        };
        let (start, at_start) = match self.origin {
            Origin::Any(state) => (Node::Any(state), None),
            Origin::State(state) => {
                let node = if is_upwards { places.rim(state) } else { places.bottom(state) };
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
            "  {from} -> {to} [label={}, color=\"{colour}\", fontcolor=\"{colour}\", style={style}, tooltip={}{}{}{}{}];\n",
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
    /// How wide it is, as an attribute.
    fn width(self) -> String {
        match self.pen {
            0 => String::new(),
            pen => format!(", penwidth={}.{}", pen / 10, pen % 10),
        }
    }

    /// Shapes of both ends, as attributes; swapped for an edge that is written backwards.
    fn ends(self, is_backwards: bool) -> String {
        let (head, tail) =
            if is_backwards { (self.tail, self.head) } else { (self.head, self.tail) };
        match (head, tail) {
            ("normal", "none") => String::new(),
            _ => format!(", dir=both, arrowhead={head}, arrowtail={tail}"),
        }
    }
}

/// The attribute that cuts an edge at a cluster's border.
fn clip(end: &str, cluster: Option<StateId>) -> String {
    cluster.map(|c| format!(", {end}=cluster{}", c.0)).unwrap_or_default()
}
