//! Draws a chart as a Mermaid `stateDiagram-v2`, which repository pages and wikis render.
//!
//! The picture shows what `emit::draw::dot` shows, as far as Mermaid's grammar permits. Edges have no colours, so the words and signs of a label
//! give the kind of the transition, and options of the model start at a diamond. A history is a small state called `H` or `H*`. A comment
//! lists what cannot be drawn and what was shortened. For example:
//!
//! ```text
//! state a {                                state "a" as a
//!   ask m on turn else stay { … }          a : ask m on turn else stay
//!   may buy "to pay" -> b                  state may1 <<choice>>
//!   on stop -> c                           a --> may1 : ask m
//! }                                        may1 --> b : may buy<br/>“to pay”
//!                                          a --> c : stop
//! ```

use super::picture::{
    self, Arrow, BORDER, FAINT, LIT, LIT_BORDER, LabelRow, Look, Origin, Permit, Places, Rows,
    above, arrows, final_colours, indent, paragraph, short, wrap,
};
use crate::emit::{Emitter, Options, OutputKind};
use crate::lower::SourceMap;
use crate::notation;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{Chart, Starts, StateKind, Status, StepKind, Trigger};
use chartc_core::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The emitter of `chartc graph --format mermaid`.
pub const EMITTER: Emitter = Emitter {
    name: "mermaid",
    extension: "mmd",
    kind: OutputKind::Picture,
    emit: |checked, options| Ok(mermaid(checked.chart(), checked.map(), options)),
};

/// The number of characters beyond which Mermaid draws nothing with its default `maxTextSize`.
const LARGEST: usize = 50_000;

/// Draws the chart as Mermaid.
pub fn mermaid(chart: &Chart, map: &SourceMap, options: &Options) -> String {
    let places = Places::new(chart, map);
    let rows = Rows::new(&places);
    let names = self::names(chart);
    let (arrows, permits) = arrows(&places);
    let edges = Edges::new(&places, &names, &arrows, options);
    let sketch = Sketch { places: &places, rows: &rows, names: &names, edges: &edges, options };
    let mut body = String::new();
    sketch.states(&mut body);
    edges.write(&mut body);
    for permit in permits {
        body.push_str("  ");
        body.push_str(&comment(&permitted(&places, &permit)));
    }
    sketch.classes(&mut body);
    let mut out = head(chart);
    let size = out.chars().count() + body.chars().count();
    if size > LARGEST {
        out.push_str("  ");
        out.push_str(&comment(&format!(
            "{size} characters: Mermaid draws {LARGEST} unless its `maxTextSize` says otherwise; `--format dot` has no such bound"
        )));
    }
    out + &body
}

/// Writes the title, the kind of diagram, and the chart's documentation as its description.
fn head(chart: &Chart) -> String {
    let title = serde_json::to_string(&chart.name).unwrap_or_default();
    let mut out = format!("---\ntitle: {title}\n---\nstateDiagram-v2\n");
    out.push_str(&format!("  accTitle: {}\n", escaped(&chart.name)));
    let doc = paragraph(&chart.doc);
    if !doc.trim().is_empty() {
        out.push_str(&format!("  accDescr: {}\n", escaped(&doc)));
    }
    out
}

// The states, nested as in the chart, and their looks.

/// The maximum number of characters of one line in a state.
const WIDTH: usize = 36;
/// The maximum number of characters of a name.
const LONGEST_NAME: usize = 76;
/// The sources from which states are drawn.
struct Sketch<'c> {
    places: &'c Places<'c>,
    rows: &'c Rows,
    names: &'c [String],
    edges: &'c Edges,
    options: &'c Options,
}

impl Sketch<'_> {
    /// Writes all states, with their diamonds and bars.
    fn states(&self, out: &mut String) {
        let chart = self.places.chart;
        let rows = self.rows.at(StateId(0));
        if !rows.is_empty() || chart.states.len() == 1 {
            plain(out, 0, "s0", "in every state", rows);
        }
        let mut open = vec![StateId(0)];
        for id in chart.state_ids().skip(1) {
            // The descendants of a state lie between it and its `end`.
            while let Some(closed) = open.pop_if(|o| o.0 > 0 && chart.state(*o).end <= id) {
                self.close(out, closed, open.len());
            }
            let scope = open.last().copied().unwrap_or(StateId(0));
            if self.is_further_region(scope, id) {
                out.push_str(&format!("{}--\n", indent(open.len() - 1)));
            }
            if self.places.is_cluster(id) {
                let title = self.title(id);
                let mut lines = vec![title];
                lines.extend(self.rows.at(id).iter().map(|r| escaped(&whole(r))));
                let (pad, name) = (indent(open.len() - 1), &self.names[id.index()]);
                out.push_str(&format!("{pad}state \"{}\" as {name} {{\n", lines.join("<br/>")));
                open.push(id);
            } else {
                let title = self.title(id);
                let name = &self.names[id.index()];
                plain(out, open.len() - 1, name, &title, self.rows.at(id));
                self.diamond(out, Origin::State(id), open.len() - 1);
            }
        }
        while let Some(closed) = open.pop() {
            self.close(out, closed, open.len());
        }
        for fork in &self.edges.forks {
            out.push_str(&format!("  state {fork} <<fork>>\n"));
        }
    }

    fn diamond(&self, out: &mut String, origin: Origin, depth: usize) {
        if self.edges.diamonds.contains(&origin) {
            out.push_str(&format!("{}state {} <<choice>>\n", indent(depth), diamond(origin)));
        }
    }

    /// Writes what follows the children of a compound: its small nodes, the edges of initial, final and history states, and its brace.
    fn close(&self, out: &mut String, id: StateId, depth: usize) {
        let chart = self.places.chart;
        let pad = indent(depth);
        if self.edges.any.contains(&id) {
            out.push_str(&format!("{pad}state \"any state\" as {}\n", numbered("any", id)));
        }
        self.diamond(out, Origin::Any(id), depth);
        if let StateKind::Compound { initial } = &chart.state(id).kind {
            for (first, inside) in self.drawn_targets(id, initial) {
                let label = if inside.is_empty() { inside } else { format!(" : {inside}") };
                out.push_str(&format!("{pad}[*] --> {first}{label}\n"));
            }
        }
        for child in chart.children(id) {
            let name = &self.names[child.index()];
            match &chart.state(child).kind {
                StateKind::Final { .. } => out.push_str(&format!("{pad}{name} --> [*]\n")),
                StateKind::History { default, .. } => {
                    for (first, inside) in self.drawn_targets(id, default) {
                        let comma = if inside.is_empty() { "" } else { ", " };
                        let label = format!("the first time{comma}{inside}");
                        out.push_str(&format!("{pad}{name} --> {first} : {label}\n"));
                    }
                }
                StateKind::Atomic | StateKind::Compound { .. } | StateKind::Parallel => {}
            }
        }
        if id.0 > 0 {
            out.push_str(&format!("{}}}\n", indent(depth - 1)));
            self.diamond(out, Origin::State(id), depth - 1);
        }
    }

    /// The names of the nodes at which edges to `targets` end if they are written inside `scope`, each with the targets that are further
    /// inside. An edge that names a state from outside of its parent would make Mermaid take the state out of the parent, so such an edge
    /// ends at the child of `scope` that contains the target.
    fn drawn_targets(&self, scope: StateId, targets: &[StateId]) -> BTreeMap<&str, String> {
        let chart = self.places.chart;
        let mut drawn: BTreeMap<&str, String> = BTreeMap::new();
        for target in targets {
            let child = chart.ancestors(*target).take_while(|s| *s != scope).last();
            let child = child.unwrap_or(*target);
            let inside = drawn.entry(self.names[child.index()].as_str()).or_default();
            if child != *target {
                let comma = if inside.is_empty() { "in " } else { ", " };
                *inside += &format!("{comma}{}", escaped(&chart.state(*target).name));
            }
        }
        drawn
    }

    /// Whether a separator is written before this region.
    fn is_further_region(&self, scope: StateId, id: StateId) -> bool {
        let chart = self.places.chart;
        let is_region = |s: StateId| !matches!(chart.state(s).kind, StateKind::History { .. });
        matches!(chart.state(scope).kind, StateKind::Parallel)
            && self.places.is_cluster(scope)
            && is_region(id)
            && chart.children(scope).find(|c| is_region(*c)) != Some(id)
    }

    /// The escaped name of a state, as it is shown.
    fn title(&self, id: StateId) -> String {
        let state = self.places.chart.state(id);
        let name = escaped(&short(&state.name, LONGEST_NAME));
        match &state.kind {
            StateKind::Parallel => format!("{name} ∥ parallel"),
            StateKind::Final { params, status } => {
                let mut out = name;
                if !params.is_empty() {
                    out.push_str(&escaped(&short(&picture::params(params), WIDTH)));
                }
                if *status != Status::Ok {
                    out.push_str(&format!("<br/>{}", status.word()));
                }
                out
            }
            // `#42;` is Mermaid's escape of `*`.
            StateKind::History { deep: true, .. } => "H#42;".to_string(),
            StateKind::History { .. } => "H".to_string(),
            StateKind::Atomic | StateKind::Compound { .. } => name,
        }
    }

    /// Writes the classes, and the nodes to which each class applies.
    fn classes(&self, out: &mut String) {
        let mut members: Vec<(Class, Vec<String>)> = Vec::new();
        let mut put = |class: Class, name: String| match members
            .iter_mut()
            .find(|(other, _)| *other == class)
        {
            Some((_, names)) => names.push(name),
            None => members.push((class, vec![name])),
        };
        let chart = self.places.chart;
        let lit = &self.options.highlight;
        let above = above(chart, lit);
        let works = works(self.places);
        if !self.rows.at(StateId(0)).is_empty() {
            put(Class::Everywhere, "s0".to_string());
        }
        for id in chart.state_ids().skip(1) {
            let class = match &chart.state(id).kind {
                // The first class that applies wins, so that a highlight hides all others.
                _ if lit.contains(&id) => Some(Class::Active),
                _ if above.contains(&id) => Some(Class::Around),
                StateKind::Final { status, .. } => Some(Class::Final(*status)),
                StateKind::History { .. } => Some(Class::History),
                StateKind::Atomic if self.edges.diamonds.contains(&Origin::State(id)) => {
                    Some(Class::Asks)
                }
                StateKind::Atomic => works[id.index()],
                StateKind::Compound { .. } | StateKind::Parallel => None,
            };
            if let Some(class) = class {
                put(class, self.names[id.index()].clone());
            }
        }
        for scope in &self.edges.any {
            put(Class::Any, numbered("any", *scope));
        }
        for origin in &self.edges.diamonds {
            put(Class::Choice, diamond(*origin));
        }
        if self.options.legend {
            out.push_str("  state \"what the looks mean\" as legend {\n");
            for class in Class::ALL {
                let name = format!("legend_{}", class.name());
                out.push_str(&format!("    state \"{}\" as {name}\n", class.meaning()));
                put(class, name);
            }
            out.push_str("  }\n");
        }
        for (class, _) in &members {
            out.push_str(&format!("  classDef {} {}\n", class.name(), class.style()));
        }
        for (class, members) in &members {
            out.push_str(&format!("  class {} {}\n", members.join(","), class.name()));
        }
    }
}

/// Writes a state without children. Its title is escaped already.
fn plain(out: &mut String, depth: usize, name: &str, title: &str, rows: &[LabelRow]) {
    let pad = indent(depth);
    out.push_str(&format!("{pad}state \"{title}\" as {name}\n"));
    for row in rows {
        for (n, line) in wrap(&whole(row), WIDTH).iter().enumerate() {
            let lead = if n > 0 { "#160;#160;" } else { "" };
            out.push_str(&format!("{pad}{name} : {lead}{}\n", escaped(line)));
        }
    }
}

fn whole(row: &LabelRow) -> String {
    let sign = if row.is_many { "⧉ " } else { "" };
    match row.word {
        "" => row.text.clone(),
        word => format!("{sign}{word} {}", row.text),
    }
}

/// For each state, the class of the work in it: a question to the model, or steps.
fn works(places: &Places<'_>) -> Vec<Option<Class>> {
    let chart: &Chart = places.chart;
    let mut works = vec![None; chart.states.len()];
    for (index, step) in chart.steps.iter().enumerate() {
        let class = match step.kind {
            StepKind::Ask { .. } => Class::Asks,
            StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => {
                Class::Works
            }
            StepKind::Code(_) => continue,
        };
        for home in places.homes(StepId::at(index)) {
            let own = &mut works[home.index()];
            // A question takes precedence over other steps.
            if *own != Some(Class::Asks) {
                *own = Some(class);
            }
        }
    }
    works
}

/// A class of nodes with the same look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A state in which the model is asked to choose.
    Asks,
    /// A state in which a step calls a model, a tool, a person or a child chart.
    Works,
    Choice,
    Any,
    History,
    Everywhere,
    /// A final state, with its status.
    Final(Status),
    /// A highlighted state.
    Active,
    /// An ancestor of a highlighted state.
    Around,
}

impl Class {
    const ALL: [Self; 7] = [
        Self::Works,
        Self::Asks,
        Self::Choice,
        Self::Any,
        Self::History,
        Self::Everywhere,
        Self::Final(Status::Ok),
    ];

    fn name(self) -> String {
        match self {
            Self::Asks => "asks".into(),
            Self::Works => "works".into(),
            Self::Choice => "choice".into(),
            Self::Any => "any".into(),
            Self::History => "history".into(),
            Self::Everywhere => "everywhere".into(),
            Self::Final(status) => format!("final_{}", status.word()),
            Self::Active => "active".into(),
            Self::Around => "around".into(),
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Asks => "the model chooses",
            Self::Works => "steps do work",
            Self::Choice => "the model's options",
            Self::Any => "any state around it",
            Self::History => "H, H#42; as it was left",
            Self::Everywhere => "in every state",
            Self::Final(_) => "the end",
            Self::Active => "active",
            Self::Around => "around what is active",
        }
    }

    fn style(self) -> String {
        let (done, choice) = (Look::Done.colour(), Look::Choice.colour());
        match self {
            Self::Asks => format!("fill:#ede9fe,stroke:{choice},color:#1e293b"),
            Self::Works => format!("fill:#f0fdf4,stroke:{done},color:#1e293b"),
            Self::Choice => format!("fill:#ede9fe,stroke:{choice},color:#1e293b"),
            Self::Any => {
                format!("fill:#ffffff,stroke:{BORDER},color:#1e293b,stroke-dasharray:4 3")
            }
            Self::History => format!("fill:#ffffff,stroke:{FAINT},color:#1e293b"),
            Self::Everywhere => "fill:#fffbeb,stroke:#a16207,color:#1e293b".into(),
            Self::Final(status) => {
                let (fill, stroke) = final_colours(status);
                format!("fill:{fill},stroke:{stroke},color:#1e293b,stroke-width:3px")
            }
            Self::Active => {
                format!("fill:{LIT},stroke:{LIT_BORDER},color:#1e293b,stroke-width:4px")
            }
            Self::Around => format!("stroke:{LIT_BORDER},stroke-width:4px"),
        }
    }
}

// The edges, and the small nodes that they need: `any state`, the diamonds of choices, and the bars of transitions with several targets.

/// The maximum number of characters of one part of a label.
const LONGEST_PART: usize = 90;
/// The maximum number of parts of a label. Beyond it, a second edge is drawn beside the first.
const PARTS: usize = 8;

type Edge = picture::Edge<(String, String)>;

/// All edges except those of initial, final and history states. Their notes are the full texts of transitions that a label shortens.
struct Edges {
    lines: picture::Edges<(String, String)>,
    /// The compounds with an `any state` node.
    any: BTreeSet<StateId>,
    /// The origins from which options of the model start.
    diamonds: BTreeSet<Origin>,
    /// The names of the bars.
    forks: Vec<String>,
}

impl Edges {
    /// Collects the edges in time linear in the size of the chart.
    fn new(places: &Places<'_>, names: &[String], arrows: &[Arrow], options: &Options) -> Self {
        let chart = places.chart;
        let is_choice =
            |a: &&Arrow| matches!(chart.transition(a.transition).trigger, Trigger::Choice(_));
        let mut edges = Self {
            lines: picture::Edges::new(PARTS),
            any: BTreeSet::new(),
            diamonds: arrows.iter().filter(is_choice).map(|a| a.origin).collect(),
            forks: Vec::new(),
        };
        for arrow in arrows {
            if let Origin::Any(scope) = arrow.origin {
                edges.any.insert(scope);
            }
        }
        let asks = asks(places);
        for origin in edges.diamonds.clone() {
            let (Origin::Any(state) | Origin::State(state)) = origin;
            let label = asks[state.index()].map(|step| question(chart, step));
            edges.add(start(names, origin), diamond(origin), label.into_iter().collect(), None);
        }
        for arrow in arrows {
            edges.line(places, names, arrow, options);
        }
        edges
    }

    fn line(&mut self, places: &Places<'_>, names: &[String], arrow: &Arrow, options: &Options) {
        let chart = places.chart;
        let transition = chart.transition(arrow.transition);
        let mut label = picture::parts(chart, arrow, options, "⊘ denied: no allow line");
        let is_cut =
            label.iter().any(|part| part.contains('…') || part.chars().count() > LONGEST_PART);
        let cut = is_cut.then(|| picture::whole(chart, transition));
        let else_of_ask = if let Trigger::StepElse(step) = transition.trigger {
            matches!(chart.steps[step.index()].kind, StepKind::Ask { .. })
        } else {
            false
        };
        let is_asked = matches!(transition.trigger, Trigger::Choice(_))
            || (else_of_ask && self.diamonds.contains(&arrow.origin));
        let from = if is_asked { diamond(arrow.origin) } else { start(names, arrow.origin) };
        let (Origin::Any(source) | Origin::State(source)) = arrow.origin;
        let mut ends = Vec::new();
        for target in &transition.targets {
            // Mermaid draws no edge to a state from inside of it, so the edge leads to the states that are entered there.
            if chart.contains(target.state, source) && has_children(chart, target.state) {
                label.push(format!("enters {}", chart.state(target.state).name));
                ends.push(names[entered(chart, target.state).index()].clone());
            } else {
                ends.push(names[target.state.index()].clone());
            }
        }
        if let [end] = ends.as_slice() {
            self.add(from, end.clone(), label, cut);
            return;
        }
        let bar = format!("fork{}", arrow.transition.0);
        if self.forks.last() != Some(&bar) {
            self.forks.push(bar.clone());
            for end in ends {
                self.add(bar.clone(), end, Vec::new(), None);
            }
        }
        self.add(from, bar, label, cut);
    }

    fn add(&mut self, from: String, to: String, label: Vec<String>, cut: Option<String>) {
        let (ends, notes) = ((from, to), cut.into_iter().collect());
        self.lines.add(Edge { ends, transitions: Vec::new(), label, notes });
    }

    /// Writes the edges as lines of Mermaid, each after comments with the texts that were cut.
    fn write(&self, out: &mut String) {
        for edge in &self.lines.all {
            for line in &edge.notes {
                out.push_str(&format!("  {}", comment(&format!("in full: {line}"))));
            }
            let parts = edge.label.iter().map(|part| escaped(&short(part, LONGEST_PART)));
            let label = parts.collect::<Vec<_>>().join("<br/>");
            let colon = if label.is_empty() { "" } else { " : " };
            let (from, to) = &edge.ends;
            out.push_str(&format!("  {from} --> {to}{colon}{label}\n"));
        }
    }
}

/// The name of the node at which an origin starts.
fn start(names: &[String], origin: Origin) -> String {
    match origin {
        Origin::State(state) => names[state.index()].clone(),
        Origin::Any(scope) => numbered("any", scope),
    }
}

/// The name of the diamond at which the model's options start.
fn diamond(origin: Origin) -> String {
    match origin {
        Origin::State(state) => numbered("may", state),
        Origin::Any(scope) => numbered("anymay", scope),
    }
}

/// For each state, the innermost question that is asked in it, by a step of its own or of an ancestor.
fn asks(places: &Places<'_>) -> Vec<Option<StepId>> {
    let chart = places.chart;
    let mut asks = vec![None; chart.states.len()];
    for (index, step) in chart.steps.iter().enumerate() {
        if matches!(step.kind, StepKind::Ask { .. }) {
            for home in places.homes(StepId::at(index)) {
                asks[home.index()].get_or_insert(StepId::at(index));
            }
        }
    }
    for id in chart.state_ids() {
        if let (None, Some(parent)) = (asks[id.index()], chart.state(id).parent) {
            asks[id.index()] = asks[parent.index()];
        }
    }
    asks
}

fn question(chart: &Chart, step: StepId) -> String {
    let name = notation::name(notation::step_name(chart, step));
    if let Starts::OnEvent(events) = &chart.steps[step.index()].starts {
        format!("{} / ask {name}", notation::event_pattern(chart, events))
    } else {
        format!("ask {name}")
    }
}

fn has_children(chart: &Chart, state: StateId) -> bool {
    chart.state(state).end.0 > state.0 + 1
}

/// The leaf that is entered with a state; for a parallel, the leaf of its first region.
fn entered(chart: &Chart, state: StateId) -> StateId {
    let mut at = state;
    loop {
        at = match &chart.state(at).kind {
            StateKind::Compound { initial: all } | StateKind::History { default: all, .. } => {
                match all.first() {
                    Some(first) => *first,
                    None => return at,
                }
            }
            StateKind::Parallel => match chart.children(at).next() {
                Some(first) => first,
                None => return at,
            },
            StateKind::Atomic | StateKind::Final { .. } => return at,
        };
    }
}

/// A comment on an `allow` line that no transition uses.
fn permitted(places: &Places<'_>, permit: &Permit) -> String {
    let path = |s: StateId| match s.0 {
        0 => "*".to_string(),
        _ => notation::path(&places.chart.state(s).path),
    };
    let (Origin::Any(from) | Origin::State(from)) = permit.origin;
    let guard = permit.guard.as_ref().map(|g| format!(" if {g}")).unwrap_or_default();
    format!(
        "not drawn, as no line makes this move: allow {} -> {}{guard}",
        path(from),
        path(permit.target)
    )
}

// The names of states in the text: their own names where Mermaid accepts them.

/// The maximum length of a name, in bytes, that is used unchanged.
const LONGEST_KEPT: usize = 40;

/// Words of Mermaid's grammar, and names with a meaning in JavaScript.
const WORDS: &[&str] = &[
    "acc",
    "as",
    "class",
    "classdef",
    "click",
    "constructor",
    "default",
    "direction",
    "end",
    "hide",
    "href",
    "left",
    "note",
    "of",
    "prototype",
    "right",
    "root",
    "scale",
    "state",
    "style",
    "tostring",
    "valueof",
    "hasownproperty",
    "acctitle",
    "accdescr",
    "statediagram",
];

/// Finds a unique name for every state: its own, else its path, else a number.
fn names(chart: &Chart) -> Vec<String> {
    let count = picture::names(chart);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = Vec::with_capacity(chart.states.len());
    for id in chart.state_ids() {
        let state = chart.state(id);
        let own = (count.get(state.name.as_str()) == Some(&1)).then(|| state.name.clone());
        let long = || {
            let is_short = state.path.len() <= LONGEST_KEPT;
            let path = if is_short { state.path.replace('.', "_") } else { String::new() };
            (!count.contains_key(path.as_str())).then_some(path)
        };
        let name = own
            .or_else(long)
            .filter(|name| id.0 > 0 && is_plain(name) && !taken.contains(name))
            .unwrap_or_else(|| numbered("s", id));
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// A name that consists of letters and a state's number. No state has such a name as its own.
fn numbered(letters: &str, id: StateId) -> String {
    format!("{letters}{}", id.0)
}

fn is_plain(name: &str) -> bool {
    let head = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    let all = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let lower = name.to_ascii_lowercase();
    let letters = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = letters.len() < lower.len() && letters.len() < 7 && !letters.contains('_');
    let is_mermaids = lower.ends_with("_start") || lower.ends_with("_end");
    head && all
        && name.len() <= LONGEST_KEPT
        && !is_numbered
        && !is_mermaids
        && !WORDS.contains(&lower.as_str())
}

// Escapes texts for Mermaid. Its grammar reads a label up to certain characters, then reads the result as Markdown and HTML.

/// Escapes the text of a label: characters that Mermaid, its Markdown or HTML would interpret become entities such as `#58;`.
fn escaped(text: &str) -> String {
    let text = visible::text(text.trim());
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut is_number = true;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        // `- a`, `+ a` and `1. a` at the beginning would become lists.
        let is_list = match c {
            '-' | '+' => before.is_none(),
            '.' | ')' => is_number && before.is_some(),
            _ => false,
        };
        is_number &= c.is_ascii_digit();
        match c {
            _ if is_list || is_special(c, before, next) => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '\n' | '\t' => out.push(' '),
            c => out.push(c),
        }
        before = Some(c);
    }
    if out.is_empty() {
        // The grammar permits no empty label, so it becomes a blank.
        out.push_str("#160;");
    }
    defused(out)
}

fn is_special(c: char, before: Option<char>, next: Option<char>) -> bool {
    match c {
        '#' | ';' | ':' | '{' | '}' | '%' | '\\' | '`' | '*' | '~' | '$' | '@' | '|' => true,
        // Mermaid uses these characters for entities while it parses.
        '\u{fb02}' | '¶' => true,
        // An underscore inside of a word does not mean emphasis.
        '_' => ![before, next].iter().all(|n| n.is_some_and(char::is_alphanumeric)),
        // `[text](address)` and `[[fork]]`.
        '[' => next == Some('['),
        ']' => matches!(next, Some('(' | '[' | ']')),
        // `www.` would start a link.
        '.' => matches!(before, Some('w' | 'W')),
        _ => false,
    }
}

/// Breaks the word `direction`, which Mermaid looks for before two letters anywhere in a line.
fn defused(text: String) -> String {
    const WORD: &str = "direction";
    let lower = text.to_ascii_lowercase();
    if !lower.contains(WORD) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = 0;
    for (at, _) in lower.match_indices(WORD) {
        let (head, last) = (at + WORD.len() - 1, at + WORD.len());
        out.push_str(&text[rest..head]);
        let _ = write!(out, "#{};", text.as_bytes()[head]);
        rest = last;
    }
    out.push_str(&text[rest..]);
    out
}

/// Writes a comment on one line, which Mermaid ignores.
fn comment(text: &str) -> String {
    let mut out = String::from("%% ");
    let mut before = ' ';
    for c in visible::text(text).chars() {
        // `%%{` would start a directive, wherever it occurs.
        if c == '%' && before == '%' {
            out.push(' ');
        }
        out.push(if matches!(c, '\n' | '\t') { ' ' } else { c });
        before = c;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_the_grammar_become_entities() {
        assert_eq!(escaped("a: \"b\"; #c {d}"), "a#58; #quot;b#quot;#59; #35;c #123;d#125;");
        assert_eq!(escaped(" \n "), "#160;");
        assert_eq!(escaped("a\nb\u{2028}c\td"), "a b#92;u#123;2028#125;c d");
        assert_eq!(escaped("x -> y, p --> q"), "x -#gt; y, p --#gt; q");
        assert_eq!(escaped("zażółć ✓ 日本"), "zażółć ✓ 日本");
    }

    #[test]
    fn markdown_and_html_stay_text() {
        assert_eq!(escaped("**b** <i> a & b"), "#42;#42;b#42;#42; #lt;i#gt; a #amp; b");
        assert_eq!(escaped("snake_case _em_"), "snake_case #95;em#95;");
        assert_eq!(escaped("1. one"), "1#46; one");
        assert_eq!(escaped("- one - two"), "#45; one - two");
        assert_eq!(escaped("[a](b) [c]"), "[a#93;(b) [c]");
        assert_eq!(escaped("see www.example"), "see www#46;example");
    }

    #[test]
    fn words_of_the_grammar_are_no_words() {
        assert_eq!(escaped("Direction TB"), "Directio#110; TB");
        assert_eq!(escaped("x [[fork]]"), "x #91;[fork#93;]");
    }

    #[test]
    fn no_comment_is_a_directive() {
        assert_eq!(comment("50%%%{init}%%"), "%% 50% % %{init}% %\n");
        assert_eq!(comment("a\nb"), "%% a b\n");
    }
}
