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

use super::picture::{
    self, Arrow, BORDER, FAINT, LIT, LIT_BORDER, LabelRow, Look, Origin, Permit, PictureNode,
    Places, Rows, above, arrows, final_colours, indent, paragraph, short, wrap,
};
use crate::emit::{Emitter, Options, OutputKind};
use crate::lower::SourceMap;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, State, StateKind, Status};
use chartc_core::visible;
use std::collections::BTreeSet;

/// The emitter of `chartc graph --format dot`.
pub const EMITTER: Emitter = Emitter {
    name: "dot",
    extension: "dot",
    kind: OutputKind::Picture,
    emit: |checked, options| Ok(dot(checked.chart(), checked.map(), options)),
};

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
    let edges = self::edges(&places, options);
    let lit = Lit { states: &options.highlight, above: above(chart, &options.highlight) };
    let sketch = Sketch { chart, places: &places, rows: &rows, lit };
    let mut out = format!("digraph {} {{\n{HEAD}", quoted(&chart.name));
    out.push_str(&format!("  label={};\n", heading(chart)));
    if !rows.at(StateId(0)).is_empty() {
        let label = whole(rows.at(StateId(0)), "<i>in every state</i>", false);
        out.push_str(&format!(
            "  chart [label={label}, shape=note, style=filled, fillcolor=\"#fffbeb\", color=\"#a16207\"];\n"
        ));
    }
    sketch.states(&mut out, &edges.any());
    pointers(&mut out, &places);
    edges.write(&mut out, &places, with_ids);
    if options.legend {
        out.push_str(&legend());
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
        whole(self.rows.at(id), &title(chart, id), true),
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
        let label = whole(self.rows.at(id), &title(chart, id), false);
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
            hint(&format!("any state of {inside}"))
        ));
    }
}

fn tooltip(state: &State) -> String {
    if state.doc.is_empty() {
        return hint(&state.path);
    }
    hint(&format!("{}\n{}", state.path, state.doc))
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
            let is_beside = picture::is_beside_dot(chart, id, to);
            let length = if is_beside { ", minlen=0" } else { "" };
            let (from, to) = (from.name(), to_node.name());
            out.push_str(&format!("  {from} -> {to} [color=\"{look}\"{length}{lhead}];\n"));
        }
    }
}

// The edges of the picture, and their DOT.

/// The maximum number of lines in a label. Beyond it, a second edge is drawn beside the first.
const LINES: usize = 9;

/// The look of an edge, apart from its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stroke {
    colour: &'static str,
    style: &'static str,
    /// The shape at the head.
    head: &'static str,
    /// The shape at the tail.
    tail: &'static str,
    /// The width of the pen in tenths of a point; 0 is the default.
    pen: u32,
}

/// The end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    State(StateId),
    /// A bar with this number, from which further edges lead to the targets.
    Fork(u32),
}

type Ends = (Origin, End, Stroke);
type Edge = picture::Edge<Ends>;

/// All edges except those from initial dots and histories.
struct Edges {
    lines: picture::Edges<Ends>,
    /// The transitions with several targets: for each an edge leads to a bar, and from the bar edges to the targets.
    forks: Vec<(TransitionId, Vec<StateId>, &'static str)>,
}

impl Edges {
    /// The ids of the edges, each with a transition that the edge shows.
    fn ids(&self) -> Vec<(String, TransitionId)> {
        let branches = self.forks.iter().flat_map(|(transition, targets, _)| {
            (0..targets.len()).map(|branch| (branch_id(*transition, branch), *transition))
        });
        let edges = self.lines.all.iter().enumerate().flat_map(|(nth, edge)| {
            edge.transitions.iter().map(move |transition| (edge_id(nth), *transition))
        });
        edges.chain(branches).collect()
    }

    /// The compounds whose `*` is the tail of an edge.
    fn any(&self) -> BTreeSet<StateId> {
        let any = |e: &Edge| match e.ends.0 {
            Origin::Any(state) => Some(state),
            Origin::State(_) => None,
        };
        self.lines.all.iter().filter_map(any).collect()
    }

    /// Writes the edges as lines of DOT.
    fn write(&self, out: &mut String, places: &Places<'_>, with_ids: bool) {
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
        for (nth, edge) in self.lines.all.iter().enumerate() {
            // A permission is no transition, so nothing looks for its edge.
            let id = if edge.transitions.is_empty() { String::new() } else { id(edge_id(nth)) };
            write(edge, out, places, &id);
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

/// Writes the edge. Graphviz ranks nodes by the direction of edges, so an edge that leads up the document is written from its head to
/// its tail, and the picture stays in document order.
fn write(edge: &Edge, out: &mut String, places: &Places<'_>, id: &str) {
    let (origin, end, stroke) = edge.ends;
    let (Origin::State(source) | Origin::Any(source)) = origin;
    let (is_upwards, end, at_end) = match end {
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
    let (start, at_start) = match origin {
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
    let Stroke { colour, style, .. } = stroke;
    out.push_str(&format!(
        "  {from} -> {to} [label={}, color=\"{colour}\", fontcolor=\"{colour}\", style={style}, tooltip={}{}{}{}{}{id}];\n",
        label(&edge.label),
        hint(&edge.notes.join("\n")),
        stroke.ends(is_upwards),
        stroke.width(),
        clip("ltail", ltail),
        clip("lhead", lhead),
    ));
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

// Turns arrows into edges, each with its look.

/// All edges in document order, then an edge for each `allow` line that no transition uses.
fn edges(places: &Places<'_>, options: &Options) -> Edges {
    let (arrows, permits) = arrows(places);
    let mut edges = Edges { lines: picture::Edges::new(LINES), forks: Vec::new() };
    for arrow in arrows {
        one(places, options, &arrow, &mut edges);
    }
    for permit in permits {
        edges.lines.add(faint(places, permit));
    }
    edges
}

fn one(places: &Places<'_>, options: &Options, arrow: &Arrow, edges: &mut Edges) {
    let chart = places.chart;
    let transition = chart.transition(arrow.transition);
    let look = Look::from_trigger(&transition.trigger);
    let parts = picture::parts(chart, arrow, options, "denied: no allow line");
    let label = parts.iter().flat_map(|part| wrap(part, picture::WIDTH)).collect();
    let mut stroke = Stroke {
        colour: look.colour(),
        style: if look == Look::Otherwise { "dotted" } else { "solid" },
        head: "normal",
        tail: if look.is_choice() { "odiamond" } else { "none" },
        pen: 0,
    };
    if transition.scope.as_ref().is_some_and(|s| s.wildcard) {
        stroke.style = "dashed";
    }
    if arrow.is_denied {
        stroke = Stroke { colour: Look::Error.colour(), style: "dashed", head: "tee", ..stroke };
    }
    if let Some(times) = options.times(arrow.transition) {
        stroke.pen = pen(options, times);
        if times == 0 {
            stroke.colour = FAINT;
        }
    }
    let (transitions, notes) = (vec![arrow.transition], vec![picture::whole(chart, transition)]);
    if let [target] = transition.targets.as_slice() {
        let ends = (arrow.origin, End::State(target.state), stroke);
        edges.lines.add(Edge { ends, transitions, label, notes });
        return;
    }
    let targets = transition.targets.iter().map(|t| t.state).collect();
    edges.forks.push((arrow.transition, targets, stroke.colour));
    let end = End::Fork(arrow.transition.0);
    let ends = (arrow.origin, end, Stroke { head: "none", ..stroke });
    edges.lines.all.push(Edge { ends, transitions, label, notes });
}

/// The width of the pen in tenths of a point, from 10 to 60: the transition that was taken most often gets the widest.
fn pen(options: &Options, times: u64) -> u32 {
    let most = options.taken.iter().flat_map(|taken| taken.values()).max().copied().unwrap_or(0);
    10 + (times * 50).checked_div(most).unwrap_or(0) as u32
}

/// The edge of a permission that no transition uses.
fn faint(places: &Places<'_>, permit: Permit) -> Edge {
    let stroke = Stroke { colour: FAINT, style: "dotted", head: "open", tail: "none", pen: 0 };
    let guard = permit.guard.map(|g| format!(" [{g}]")).unwrap_or_default();
    let label = wrap(&format!("allow{guard}"), picture::WIDTH);
    let to = &places.chart.state(permit.target).path;
    let ends = (permit.origin, End::State(permit.target), stroke);
    let notes = vec![format!("allow -> {to}{guard}")];
    Edge { ends, transitions: Vec::new(), label, notes }
}

// The label of a state: its name and rows.

/// The maximum number of characters of one line in a state's label.
const WIDTH: usize = 38;

/// The HTML-like label of a state in its angle brackets, `title` first.
fn whole(rows: &[LabelRow], title: &str, flush_left: bool) -> String {
    if rows.is_empty() {
        return format!("<{title}>");
    }
    let align = if flush_left { "left" } else { "center" };
    let mut out = format!(
        "<<table border=\"0\" cellborder=\"0\" cellpadding=\"2\" cellspacing=\"0\"><tr><td align=\"{align}\">{title}</td></tr>"
    );
    if !flush_left {
        out.push_str("<hr/>");
    }
    for row in rows {
        let colour = row.look.map_or(BORDER, Look::colour);
        let (open, close) = cell(row.is_many, colour);
        out.push_str(&open);
        let lead = if row.word.is_empty() { String::new() } else { format!("{} ", row.word) };
        let lines = wrap(&format!("{lead}{}", row.text), WIDTH);
        for (n, line) in lines.iter().enumerate() {
            let (word, rest) = match line.strip_prefix(lead.trim_end()) {
                Some(rest) if n == 0 && !lead.is_empty() => (lead.trim_end(), rest),
                _ => ("", line.as_str()),
            };
            if n > 0 {
                out.push_str("<br/>&nbsp;&nbsp;");
            }
            if lead.is_empty() {
                out.push_str(&format!("<font color=\"{colour}\">{}</font>", html(rest)));
                continue;
            }
            if !word.is_empty() {
                let word = html(word);
                out.push_str(&format!("<font color=\"{colour}\"><b>{word}</b></font>"));
            }
            out.push_str(&html(rest));
        }
        out.push_str(close);
    }
    out.push_str("</table>>");
    out
}

/// The tags around the text of a row. A step for each element of a list looks like a stack of boxes.
fn cell(is_many: bool, colour: &str) -> (String, &'static str) {
    const TEXT: &str = "align=\"left\" balign=\"left\"";
    if !is_many {
        let open = format!("<tr><td {TEXT}><font point-size=\"9\">");
        return (open, "</font></td></tr>");
    }
    // Each box below shows two of its sides.
    let below = format!(
        "<td border=\"1\" sides=\"RB\" cellpadding=\"2\"><table border=\"0\" cellborder=\"0\" cellpadding=\"2\" cellspacing=\"0\" color=\"{colour}\"><tr>"
    );
    let open = format!(
        "<tr><td align=\"left\"><table border=\"0\" cellborder=\"0\" cellpadding=\"0\" cellspacing=\"0\" color=\"{colour}\"><tr>{below}{below}<td {TEXT} border=\"1\"><font point-size=\"9\">"
    );
    (open, "</font></td></tr></table></td></tr></table></td></tr></table></td></tr>")
}

/// The name of a state, as the first line of its label shows it.
fn title(chart: &Chart, id: StateId) -> String {
    let state = chart.state(id);
    let name = wrap(&state.name, WIDTH).iter().map(|l| html(l)).collect::<Vec<_>>().join("<br/>");
    let bold = format!("<b>{name}</b>");
    match &state.kind {
        StateKind::Parallel => {
            format!("{bold}<font color=\"{BORDER}\" point-size=\"9\"> parallel</font>")
        }
        StateKind::Final { params, status } => {
            let mut out = bold;
            if !params.is_empty() {
                let params = html(&short(&picture::params(params), WIDTH));
                out.push_str(&format!("<font point-size=\"9\">{params}</font>"));
            }
            if *status != Status::Ok {
                out.push_str(&format!("<br/><font point-size=\"9\">{}</font>", status.word()));
            }
            out
        }
        StateKind::History { deep, .. } => (if *deep { "H*" } else { "H" }).to_string(),
        StateKind::Atomic | StateKind::Compound { .. } => bold,
    }
}

// The legend, which explains the colours and signs.

const SIGNS: [(&str, &str); 5] = [
    ("*", "any state around it"),
    ("┄┄▶", "from *, or not permitted"),
    ("H, H*", "history, deep history"),
    ("┌┄┐", "region of a parallel"),
    ("╔═╗", "final state"),
];

/// A node with one line for each look.
fn legend() -> String {
    let mut out = String::from(
        "  legend [shape=plain, style=\"\", label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" color=\"#94a3b8\">",
    );
    for (look, text) in Look::ALL {
        let colour = look.colour();
        let arrow = match look {
            Look::Choice => "◇─▶",
            Look::Otherwise => "◇┄▶",
            Look::Event | Look::When | Look::Clock | Look::Done | Look::Error => "──▶",
        };
        row(&mut out, colour, arrow, text);
    }
    for (sign, text) in SIGNS {
        row(&mut out, "black", sign, text);
    }
    out.push_str("</table>>];\n");
    out
}

fn row(out: &mut String, colour: &str, sign: &str, text: &str) {
    out.push_str(&format!(
        "<tr><td><font color=\"{colour}\" point-size=\"9\">{sign}</font></td><td align=\"left\"><font point-size=\"9\">{text}</font></td></tr>"
    ));
}

// The default styles of a digraph.

/// The fill of a cluster; it alternates with the depth, so that nested clusters can be told apart.
const fn cluster_fill(depth: usize) -> &'static str {
    if depth.is_multiple_of(2) { "#f8fafc" } else { "#eef2f7" }
}

/// The head of a digraph, with the default attributes.
const HEAD: &str = "  compound=true;
  graph [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, labelloc=t, labeljust=l, nodesep=0.4, ranksep=0.55];
  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#475569\", margin=\"0.12,0.06\"];
  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, arrowsize=0.7];
";

// Escapes texts for Graphviz.

/// Writes a text as a quoted DOT string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape_into(&mut out, text, "\\n", BACKSLASH);
    out.push('"');
    out
}

/// Writes a text as a quoted DOT string for a tooltip.
fn hint(text: &str) -> String {
    let mut out = String::from("\"");
    // Graphviz replaces `\N` and the like twice in tooltips: what the first time leaves is read again.
    escape_into(&mut out, text, "\\n", r"\\\\");
    out.push('"');
    out
}

/// A backslash in a text in which Graphviz replaces `\N` and the like once.
const BACKSLASH: &str = r"\\";

/// Writes lines as a quoted DOT label: each line is flush left, one blank from the edge.
fn label(lines: &[String]) -> String {
    let mut out = String::from("\"");
    for line in lines {
        out.push(' ');
        escape_into(&mut out, line, " ", BACKSLASH);
        out.push_str(" \\l");
    }
    out.push('"');
    out
}

fn escape_into(out: &mut String, text: &str, line_end: &str, backslash: &str) {
    for c in visible::text(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str(backslash),
            // Graphviz reads HTML entities in plain strings, too.
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str(line_end),
            '\t' => out.push(' '),
            c => out.push(c),
        }
    }
}

/// Escapes a text for an HTML-like label.
fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\\' => out.push_str(BACKSLASH),
            c if matches!(c, '\n' | '\t') || is_no_xml(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Whether XML 1.0 forbids this character, although `char` allows it.
fn is_no_xml(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_string() {
        assert_eq!(quoted("a\"b\\c\nd\u{7}&lt;"), r#""a\"b\\c\nd\\u{7}&amp;lt;""#);
        assert_eq!(hint("a\\b\nc"), r#""a\\\\b\nc""#);
        assert_eq!(html("<b a=\"1\">&\u{0}"), "&lt;b a=&quot;1&quot;&gt;&amp;\\\\u{0}");
    }
}
