//! Draws a chart as a Graphviz digraph.
//!
//! The problem: Graphviz draws flat graphs, ranks nodes by edges, and joins no edge to a cluster. The idea: a compound is a cluster with a
//! dot that points at its initial state, and an edge to a compound ends at a node inside it and is clipped at the cluster's border; regions
//! of a parallel are dashed clusters. A transition from a compound to one of its descendants, and every `from *` transition, starts at one
//! `*` in that compound. Transitions without a target are listed in the state's label. The picture is in document order, and the text is
//! linear in the size of the chart. For example:
//!
//! ```text
//! chart D {                                i0 [shape=circle, …];
//!   initial a                              s1 [label=<<b>a</b>>, tooltip="a"];
//!   state a { on go -> b }                 subgraph cluster2 {
//!   state b { initial c  state c {} }        i2 [shape=circle, …];
//! }                                          s3 [label=<<b>c</b>>, tooltip="b.c"];
//!                                          }
//!                                          i0 -> s1 [color="#475569"];
//!                                          i2 -> s3 [color="#475569"];
//!                                          s1 -> i2 [label=" go \l", …, lhead=cluster2];
//! ```

mod arrow;
mod edge;
mod label;
mod legend;
mod style;
mod text;

use super::picture::look::{BORDER, FAINT, LIT, LIT_BORDER, above, final_colours};
use super::picture::place::{self, PictureNode, Places};
use super::picture::rows::Rows;
use super::picture::text::{paragraph, short, wrap};
use super::{Emitter, Options, OutputKind};
use chartc_check::lower::SourceMap;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, State, StateKind};
use edge::Edges;
use std::collections::BTreeSet;
use style::{HEAD, cluster_fill};
use text::{html, quoted};

/// The emitter of `chartc graph --format dot`.
pub const EMITTER: Emitter = Emitter {
    name: "dot",
    extension: "dot",
    kind: OutputKind::Picture,
    emit: |checked, options| Ok(dot(checked.chart(), checked.map(), options)),
};

/// The maximum depth of indentation. Deeper nesting is not indented further, so that the text stays linear in the size of the chart.
const INDENT: usize = 12;

/// Draws the chart as DOT.
pub fn dot(chart: &Chart, map: &SourceMap, options: &Options) -> String {
    draw(chart, map, options, false).0
}

/// Draws the chart as DOT whose edges have ids. Also returns each id with a transition that the edge shows: several transitions may
/// share an edge, and one may have several edges.
pub fn with_ids(
    chart: &Chart,
    map: &SourceMap,
    options: &Options,
) -> (String, Vec<(String, TransitionId)>) {
    let (out, edges) = draw(chart, map, options, true);
    (out, edges.ids())
}

fn draw(chart: &Chart, map: &SourceMap, options: &Options, with_ids: bool) -> (String, Edges) {
    let places = Places::new(chart, map);
    let rows = Rows::new(&places);
    let edges = arrow::edges(&places, options);
    let lit = Lit { states: &options.highlight, above: above(chart, &options.highlight) };
    let sketch = Sketch { chart, places: &places, rows: &rows, lit };
    let mut out = format!("digraph {} {{\n{HEAD}", quoted(&chart.name));
    out.push_str(&format!("  label={};\n", heading(chart)));
    if !rows.at(StateId(0)).is_empty() {
        let label = label::whole(rows.at(StateId(0)), "<i>in every state</i>", false);
        out.push_str(&format!(
            "  chart [label={label}, shape=note, style=filled, fillcolor=\"#fffbeb\", color=\"#a16207\"];\n"
        ));
    }
    sketch.states(&mut out, &edges.any());
    pointers(&mut out, &places);
    edges.write(&mut out, &places, with_ids);
    if options.legend {
        out.push_str(&legend::legend());
    }
    out.push_str("}\n");
    (out, edges)
}

fn heading(chart: &Chart) -> String {
    let name = html(&chart.name);
    let doc = paragraph(&chart.doc);
    let mut out = format!("<<font point-size=\"16\"><b>{name}</b></font>");
    if !doc.is_empty() {
        let doc = wrap(&short(&doc, 300), 76);
        for line in doc {
            out.push_str(&format!(
                "<br align=\"left\"/><font color=\"{BORDER}\">{}</font>",
                html(&line)
            ));
        }
    }
    out.push_str("<br align=\"left\"/>>");
    out
}

/// The sources from which states are drawn.
struct Sketch<'c> {
    chart: &'c Chart,
    places: &'c Places<'c>,
    rows: &'c Rows,
    lit: Lit<'c>,
}

/// The highlighted states, and their ancestors.
struct Lit<'c> {
    states: &'c BTreeSet<StateId>,
    above: BTreeSet<StateId>,
}

impl Lit<'_> {
    /// The attributes that override the colours of a state.
    fn attributes(&self, id: StateId) -> String {
        if self.states.contains(&id) {
            format!(", fillcolor=\"{LIT}\", color=\"{LIT_BORDER}\", penwidth=3")
        } else if self.above.contains(&id) {
            format!(", color=\"{LIT_BORDER}\", penwidth=3")
        } else {
            String::new()
        }
    }
}

impl Sketch<'_> {
    /// Writes nodes and clusters, nested like the states.
    fn states(&self, out: &mut String, any: &BTreeSet<StateId>) {
        let chart = self.chart;
        let mut open: Vec<StateId> = vec![StateId(0)];
        scope(out, chart, StateId(0), 0, any);
        for id in order(chart) {
            while open.len() > 1 && open.last().is_some_and(|o| !chart.contains(*o, id)) {
                open.pop();
                out.push_str(&format!("{}}}\n", indent(open.len() - 1)));
            }
            if self.places.is_cluster(id) {
                self.cluster(out, id, open.len() - 1);
                scope(out, chart, id, open.len(), any);
                open.push(id);
            } else {
                self.node(out, id, open.len() - 1);
            }
        }
        while open.len() > 1 {
            open.pop();
            out.push_str(&format!("{}}}\n", indent(open.len() - 1)));
        }
    }

    /// Writes the head of a cluster, with its brace.
    fn cluster(&self, out: &mut String, id: StateId, depth: usize) {
        let chart = self.chart;
        let state = chart.state(id);
        let is_parallel = matches!(state.kind, StateKind::Parallel);
        let look = match (is_parallel, is_region(chart, state)) {
            (true, false) => "style=\"rounded,filled\", penwidth=2",
            (true, true) => "style=\"rounded,filled,dashed\", penwidth=2",
            (false, true) => "style=\"rounded,filled,dashed\", penwidth=1",
            (false, false) => "style=\"rounded,filled\", penwidth=1",
        };
        let pad = indent(depth);
        out.push_str(&format!("{pad}subgraph cluster{} {{\n", id.0));
        out.push_str(&format!(
        "{pad}  graph [label={}, {look}, fillcolor=\"{}\", color=\"{BORDER}\"{}, tooltip={}];\n",
        label::whole(self.rows.at(id), &label::title(chart, id), true),
        cluster_fill(depth),
        self.lit.attributes(id),
        tooltip(state),
    ));
    }

    /// Writes a state without children.
    fn node(&self, out: &mut String, id: StateId, depth: usize) {
        let (chart, state) = (self.chart, self.chart.state(id));
        let pad = indent(depth);
        let name = PictureNode::State(id).name();
        let label = label::whole(self.rows.at(id), &label::title(chart, id), false);
        let look = match &state.kind {
            StateKind::Final { status, .. } => {
                let (fill, border) = final_colours(*status);
                format!(", peripheries=2, fillcolor=\"{fill}\", color=\"{border}\"")
            }
            StateKind::History { .. } if self.rows.at(id).is_empty() => {
                ", shape=circle, fixedsize=true, width=0.34, margin=0".to_string()
            }
            // A circle has no room for the default actions of a history, so it is drawn as a box.
            StateKind::History { .. }
            | StateKind::Atomic
            | StateKind::Compound { .. }
            | StateKind::Parallel => {
                let look =
                    if is_region(chart, state) { ", style=\"rounded,filled,dashed\"" } else { "" };
                look.to_string()
            }
        };
        out.push_str(&format!(
            "{pad}{name} [label={label}{look}{}, tooltip={}];\n",
            self.lit.attributes(id),
            tooltip(state)
        ));
    }
}

/// The states except the root in document order, each before its descendants. Regions of a parallel are in reverse order, because
/// Graphviz lays out clusters without edges between them from right to left.
fn order(chart: &Chart) -> Vec<StateId> {
    let mut found = Vec::with_capacity(chart.states.len());
    let mut open = vec![StateId(0)];
    while let Some(id) = open.pop() {
        found.push(id);
        let from = open.len();
        open.extend(chart.children(id));
        if !matches!(chart.state(id).kind, StateKind::Parallel) {
            open[from..].reverse();
        }
    }
    found.remove(0);
    found
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(INDENT) + 1)
}

fn is_region(chart: &Chart, state: &State) -> bool {
    state.parent.is_some_and(|p| matches!(chart.state(p).kind, StateKind::Parallel))
        && !matches!(state.kind, StateKind::History { .. })
}

/// Writes the dot of a compound, and its `*` if an edge starts there.
fn scope(out: &mut String, chart: &Chart, id: StateId, depth: usize, any: &BTreeSet<StateId>) {
    let pad = indent(depth);
    if matches!(chart.state(id).kind, StateKind::Compound { .. }) {
        let dot = PictureNode::Initial(id).name();
        out.push_str(&format!(
            "{pad}{dot} [shape=circle, style=filled, fillcolor=\"{BORDER}\", label=\"\", width=0.12, fixedsize=true];\n"
        ));
    }
    if any.contains(&id) {
        let any = PictureNode::Any(id).name();
        let inside = if id.0 == 0 { "the chart" } else { &chart.state(id).path };
        out.push_str(&format!(
            "{pad}{any} [shape=circle, label=<<b>*</b>>, width=0.26, fixedsize=true, margin=0, tooltip={}];\n",
            quoted(&format!("any state of {inside}"))
        ));
    }
}

fn tooltip(state: &State) -> String {
    if state.doc.is_empty() {
        return quoted(&state.path);
    }
    quoted(&format!("{}\n{}", state.path, state.doc))
}

/// Writes the edges from each dot to the initial state, and from each history to its default.
fn pointers(out: &mut String, places: &Places<'_>) {
    let chart = places.chart;
    for id in chart.state_ids() {
        let (from, all, look) = match &chart.state(id).kind {
            StateKind::Compound { initial } => (PictureNode::Initial(id), initial, BORDER),
            StateKind::History { default, .. } => (PictureNode::State(id), default, FAINT),
            StateKind::Atomic | StateKind::Parallel | StateKind::Final { .. } => continue,
        };
        for to in all.iter().copied() {
            let (to_node, lhead) = if places.is_cluster(to) && !chart.contains(to, id) {
                (places.border(to), format!(", lhead=cluster{}", to.0))
            } else {
                (places.top(to), String::new())
            };
            let is_beside = place::is_beside_dot(chart, id, to);
            let length = if is_beside { ", minlen=0" } else { "" };
            let (from, to) = (from.name(), to_node.name());
            out.push_str(&format!("  {from} -> {to} [color=\"{look}\"{length}{lhead}];\n"));
        }
    }
}
