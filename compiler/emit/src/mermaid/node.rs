//! The states, nested as in the chart, and their looks.

use super::edge::{Edges, diamond};
use super::names::numbered;
use super::text::escaped;
use crate::Options;
use crate::picture::look::{BORDER, FAINT, LIT, LIT_BORDER, Look, above, final_colours};
use crate::picture::place::{Origin, Places};
use crate::picture::rows::{LabelRow, Rows};
use crate::picture::text::{short, wrap};
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{Chart, StateKind, Status, StepKind};
use std::collections::BTreeMap;

/// The maximum number of characters of one line in a state.
const WIDTH: usize = 36;
/// The maximum number of characters of a name.
const LONG: usize = 76;
/// The maximum depth of indentation. Deeper nesting is not indented further, so that the text stays linear in the size of the chart.
const INDENT: usize = 12;

/// The sources from which states are drawn.
pub(super) struct Sketch<'c> {
    pub(super) places: &'c Places<'c>,
    pub(super) rows: &'c Rows,
    pub(super) names: &'c [String],
    pub(super) edges: &'c Edges,
    pub(super) options: &'c Options,
}

impl Sketch<'_> {
    /// Writes all states, with their diamonds and bars.
    pub(super) fn states(&self, out: &mut String) {
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
        let name = escaped(&short(&state.name, LONG));
        match &state.kind {
            StateKind::Parallel => format!("{name} ∥ parallel"),
            StateKind::Final { params, status } => {
                let params: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
                let mut out = name;
                if !params.is_empty() {
                    out.push_str(&escaped(&short(&format!("({})", params.join(", ")), WIDTH)));
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
    pub(super) fn classes(&self, out: &mut String) {
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

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(INDENT) + 1)
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
