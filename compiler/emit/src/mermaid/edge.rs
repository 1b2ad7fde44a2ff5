//! The edges, and the small nodes that they need: `any state`, the diamonds of choices, and the bars of transitions with several targets.

use super::names::numbered;
use super::text::{comment, escaped};
use crate::Options;
use crate::picture::arrow::{Arrow, Permit};
use crate::picture::place::{Origin, Places};
use crate::picture::text::short;
use crate::picture::words;
use chartc_check::notation;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{AskOn, Chart, StateKind, StepKind, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of characters of one part of a label.
const LONG: usize = 90;
/// The maximum number of parts of a label. Beyond it, a second edge is drawn beside the first.
const PARTS: usize = 8;

struct Edge {
    from: String,
    to: String,
    label: Vec<String>,
    /// The full texts of transitions that the label shortens.
    cut: Vec<String>,
}

/// All edges except those of initial, final and history states.
pub(super) struct Edges {
    lines: Vec<Edge>,
    last: BTreeMap<(String, String), usize>,
    /// The compounds with an `any state` node.
    pub(super) any: BTreeSet<StateId>,
    /// The origins from which options of the model start.
    pub(super) diamonds: BTreeSet<Origin>,
    /// The names of the bars.
    pub(super) forks: Vec<String>,
}

impl Edges {
    /// Collects the edges in time linear in the size of the chart.
    pub(super) fn new(
        places: &Places<'_>,
        names: &[String],
        arrows: &[Arrow],
        options: &Options,
    ) -> Self {
        let chart = places.chart;
        let is_choice =
            |a: &&Arrow| matches!(chart.transition(a.transition).trigger, Trigger::Choice(_));
        let mut edges = Self {
            lines: Vec::new(),
            last: BTreeMap::new(),
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
            edges.line(places, names, arrow, options.times(arrow.transition));
        }
        edges
    }

    fn line(&mut self, places: &Places<'_>, names: &[String], arrow: &Arrow, times: Option<u64>) {
        let chart = places.chart;
        let transition = chart.transition(arrow.transition);
        let mut label = words::parts(chart, transition, arrow.is_each);
        label.extend(arrow.permits.iter().map(|condition| format!("allow [{condition}]")));
        if arrow.is_denied {
            label.push("⊘ denied: no allow line".to_string());
        }
        label.extend(times.map(|times| format!("{times}×")));
        let is_cut = label.iter().any(|part| part.contains('…') || part.chars().count() > LONG);
        let cut = is_cut.then(|| words::whole(chart, transition));
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
        let ends = (from, to);
        let like = self.last.get(&ends).map(|i| &mut self.lines[*i]);
        if let Some(edge) = like.filter(|e| e.label.len() + label.len() <= PARTS) {
            edge.label.extend(label);
            edge.cut.extend(cut);
            return;
        }
        self.last.insert(ends.clone(), self.lines.len());
        let (from, to) = ends;
        self.lines.push(Edge { from, to, label, cut: cut.into_iter().collect() });
    }

    /// Writes the edges as lines of Mermaid, each after comments with the texts that were cut.
    pub(super) fn write(&self, out: &mut String) {
        for edge in &self.lines {
            for line in &edge.cut {
                out.push_str(&format!("  {}", comment(&format!("in full: {line}"))));
            }
            let parts = edge.label.iter().map(|part| escaped(&short(part, LONG)));
            let label = parts.collect::<Vec<_>>().join("<br/>");
            let colon = if label.is_empty() { "" } else { " : " };
            out.push_str(&format!("  {} --> {}{colon}{label}\n", edge.from, edge.to));
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
pub(super) fn diamond(origin: Origin) -> String {
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
    if let StepKind::Ask { on: AskOn::Event(events), .. } = &chart.steps[step.index()].kind {
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
pub(super) fn permitted(places: &Places<'_>, permit: &Permit) -> String {
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
