//! The rows below a state: its blocks, its steps with their outcomes, its transitions.

use crate::picture::allow::Table;
use crate::picture::look::Look;
use crate::picture::place::Places;
use crate::picture::{rows as blocks, words};
use chartc_check::notation;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, Failure, Otherwise, StepKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// A row below a state, in its columns.
pub(super) struct OutlineRow {
    /// The keyword of the trigger, or of the kind of row.
    pub(super) word: &'static str,
    pub(super) look: Option<Look>,
    /// The trigger and the guard.
    pub(super) left: String,
    /// The arrow with the targets, and the actions.
    pub(super) right: String,
}

/// The sources from which rows are written.
#[derive(Clone, Copy)]
struct Context<'c> {
    chart: &'c Chart,
    counts: &'c Names<'c>,
    table: Option<&'c Table<'c>>,
}

/// The rows of every state, in document order as far as the model keeps it.
pub(super) fn rows(places: &Places<'_>, counts: &Names<'_>) -> Vec<Vec<OutlineRow>> {
    let chart = places.chart;
    let table = Table::new(chart);
    let context = Context { chart, counts, table: table.as_ref() };
    let mut rows: Vec<Vec<OutlineRow>> = Vec::with_capacity(chart.states.len());
    for state in &chart.states {
        let own = blocks::blocks(chart, state, usize::MAX).into_iter();
        rows.push(
            own.map(|b| OutlineRow {
                word: b.word,
                look: b.look,
                left: b.text,
                right: String::new(),
            })
            .collect(),
        );
    }
    let mut outcomes = BTreeSet::new();
    for index in 0..chart.steps.len() {
        let step = StepId::at(index);
        for home in places.homes(step) {
            let own = steps(&context, step, *home, &mut outcomes);
            rows[home.index()].extend(own);
        }
    }
    let (of, copies) = places.copies();
    for (index, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(index);
        if outcomes.contains(&id) || copies.contains(&id) {
            continue;
        }
        let (at, each) = match of.get(&id) {
            Some(writer) => (*writer, "each "),
            None => (transition.source, ""),
        };
        let mut row = transition_row(&context, transition, transition.source);
        if !each.is_empty() {
            row.left = format!("{} {}", row.word, row.left);
            row.word = "each";
        }
        rows[at.index()].push(row);
    }
    for permission in &chart.permissions {
        let path = |s: StateId| notation::path(&chart.state(s).path);
        let from = permission.from.map_or_else(|| "*".to_string(), path);
        let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
        let guard = guard.map(|g| format!(" if {g}")).unwrap_or_default();
        rows[0].push(OutlineRow {
            word: "allow",
            look: None,
            left: format!("{from}{guard}"),
            right: format!("→ {}", path(permission.to)),
        });
    }
    rows
}

/// The rows of a step and its outcomes. The first `done`, or the `else` of a question, shares the row of the step itself.
fn steps(
    context: &Context<'_>,
    id: StepId,
    home: StateId,
    shown: &mut BTreeSet<TransitionId>,
) -> Vec<OutlineRow> {
    let chart = context.chart;
    let step = &chart.steps[id.index()];
    let row = blocks::step(chart, id, |guard| format!("  if {guard}"));
    let mut first =
        OutlineRow { word: row.word, look: row.look, left: row.text, right: String::new() };
    let mut transitions: Vec<TransitionId> = step.outcomes.clone();
    if let StepKind::Ask { otherwise: Otherwise::Take(transition), .. } = step.kind {
        transitions.push(transition);
    }
    if let Failure::Take(transition) = step.failure.then {
        transitions.push(transition);
    }
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for id in transitions {
        if !seen.insert(id) {
            continue;
        }
        shown.insert(id);
        let transition = chart.transition(id);
        let mut row = transition_row(context, transition, home);
        // A condition in the step's row belongs to the step, so an outcome with a guard gets a row of its own.
        let joins = matches!(transition.trigger, Trigger::StepDone(_) | Trigger::StepElse(_))
            && transition.guard.is_none();
        if joins && first.right.is_empty() && rows.is_empty() && !row.right.is_empty() {
            let is_else = matches!(transition.trigger, Trigger::StepElse(_));
            first.left.push_str(if is_else { ", else" } else { "" });
            first.right = row.right;
        } else {
            let name = notation::name(&step.name);
            let rest = row.left.strip_prefix(&name).unwrap_or(&row.left).trim_start().to_string();
            row.left = format!("  {rest}");
            rows.push(row);
        }
    }
    rows.insert(0, first);
    rows
}

/// The path of a state as seen from `from`: relative to their common ancestor, or the whole path if its first name is ambiguous.
pub(super) fn seen(chart: &Chart, counts: &Names<'_>, from: StateId, state: StateId) -> String {
    let mut top = state;
    for above in chart.ancestors(state).skip(1) {
        if above.0 == 0 || chart.contains(above, from) {
            break;
        }
        top = above;
    }
    let top = chart.state(top);
    if counts.get(top.name.as_str()) != Some(&1) {
        return chart.state(state).path.clone();
    }
    let above = top.path.len() - top.name.len();
    chart.state(state).path.get(above..).unwrap_or_default().to_string()
}

/// For each name, the number of states that have it.
pub(super) type Names<'c> = BTreeMap<&'c str, u32>;

/// Counts the states of each name in a chart.
pub(super) fn names(chart: &Chart) -> Names<'_> {
    let mut names = Names::new();
    for state in chart.states.iter().skip(1) {
        *names.entry(&state.name).or_default() += 1;
    }
    names
}

fn transition_row(context: &Context<'_>, transition: &Transition, home: StateId) -> OutlineRow {
    let Context { chart, counts, table } = *context;
    let (word, mut left) = words::head(chart, transition);
    if let Some(text) = words::told(chart, transition) {
        left.push_str(&format!("  “{}”", text.replace('\n', " ")));
    }
    if let Some(guard) = words::guard(chart, transition) {
        left.push_str(&format!("  if {guard}"));
    }
    if let Some(scope) = &transition.scope {
        let names = |ids: &[StateId]| {
            let names: Vec<&str> = ids.iter().map(|s| chart.state(*s).path.as_str()).collect();
            names.join(" | ")
        };
        if scope.wildcard {
            left.push_str("  from *");
        } else {
            left.push_str(&format!("  from {}", names(&scope.any_of)));
        }
        let except = words::excepted(chart, transition);
        if !except.is_empty() {
            left.push_str(&format!(" except {}", except.join(" | ")));
        }
    }
    let mut right = Vec::new();
    if !transition.targets.is_empty() {
        let target = |t: &chartc_core::model::Target| {
            let payload = notation::payload(transition);
            let arguments: Vec<String> =
                (t.arguments.iter()).map(|a| notation::expression_in(chart, a, &payload)).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            format!("{}{arguments}", seen(chart, counts, home, t.state))
        };
        let targets: Vec<String> = transition.targets.iter().map(target).collect();
        right.push(format!("→ {}", targets.join(", ")));
    }
    if !transition.actions.is_empty() {
        right.push(format!("{{ {} }}", words::actions(chart, transition)));
    }
    let is_bound = crate::picture::allow::is_bound(transition);
    if let Some(table) = table.filter(|_| is_bound)
        && transition.targets.iter().any(|t| table.forbids(home, t.state))
    {
        right.push("⊘ denied: no allow line".to_string());
    }
    OutlineRow {
        word,
        look: Some(Look::from_trigger(&transition.trigger)),
        left,
        right: right.join("  "),
    }
}
