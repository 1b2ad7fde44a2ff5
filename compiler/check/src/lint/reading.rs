//! Wording of findings about data: the places where a value is read and set, and the run that does not set it.

use super::{Context, words};
use crate::facts::usage::expressions;
use crate::facts::uses::{assigned, own_walk, takes_payload, walk};
use crate::turn::dataflow::Value;
use crate::turn::flow::{By, Site};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Chart, ChoiceKind, ExprKind, Step, StepKind, TemplatePart, Trigger, Type,
};
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The span of a read, and its description.
pub(super) fn place(context: &Context<'_>, site: Site) -> (Span, String) {
    let Context { chart, map, .. } = context;
    let of = |id: StepId, what: &str| format!("{what} of {}", words::step(chart, id));
    match site {
        Site::Transition(id) => {
            let spans = map.transition(id);
            (
                spans.guard.unwrap_or(spans.trigger),
                format!("the condition of {}", words::transition(chart, id)),
            )
        }
        Site::Moves(id) => (map.transition(id).whole, words::transition(chart, id)),
        Site::State(id) => (map.state(id).name, format!("a block of {}", words::state(chart, id))),
        Site::Guard(id) => {
            (map.step(id).guard.unwrap_or(map.step(id).name), of(id, "the condition"))
        }
        Site::Prompt(id, part) => {
            let spans = map.step(id);
            (spans.prompt_parts.get(part).copied().unwrap_or(spans.name), of(id, "the prompt"))
        }
        Site::Injection(id, component) => (
            map.components.get(component.index()).copied().unwrap_or(map.step(id).name),
            of(id, "a component in the prompt"),
        ),
        Site::Fragment(id, component, part) => {
            let parts = map.component_parts.get(component.index());
            let span = parts.and_then(|parts| parts.get(part)).copied();
            (span.unwrap_or(map.step(id).name), of(id, "a component in the prompt"))
        }
        Site::Code(id) => (map.step(id).name, of(id, "the code")),
        Site::Arguments(id) => (map.step(id).name, words::step(chart, id)),
        Site::EndsTurn(id) => (map.step(id).name, of(id, "`ends turn`")),
        Site::Permission(row, id) => {
            let mover = chart.transition(id).trigger.step();
            let mover =
                mover.map_or_else(|| words::transition(chart, id), |s| words::step(chart, s));
            (map.permissions[row], format!("what permits the move of {mover}"))
        }
    }
}

/// The place where the prompt or the question of a step shows a variable; the name of the step if it does not.
pub(super) fn shown_at(context: &Context<'_>, step: StepId, id: VarId) -> Span {
    let Context { chart, map, .. } = context;
    let spans = map.step(step);
    let shows = |part: &TemplatePart| {
        let mut found = false;
        if let TemplatePart::Hole { expr, .. } = part {
            walk(chart, expr, &mut |e| found |= e.kind == ExprKind::Variable(id));
        }
        found
    };
    let nth = chart.own_prompt(step).and_then(|text| text.parts.iter().position(shows));
    let part = nth.and_then(|nth| spans.prompt_parts.get(nth).copied());
    part.or(spans.list).unwrap_or(spans.name)
}

/// The step to which the site of a read belongs.
pub(super) fn step_of(chart: &Chart, site: Site) -> Option<StepId> {
    match site {
        Site::Guard(id)
        | Site::Prompt(id, _)
        | Site::Injection(id, _)
        | Site::Fragment(id, ..)
        | Site::Code(id)
        | Site::Arguments(id)
        | Site::EndsTurn(id) => Some(id),
        Site::Permission(_, id) => chart.transition(id).trigger.step(),
        Site::Transition(_) | Site::Moves(_) | Site::State(_) => None,
    }
}

/// Describes a value in a message.
pub(super) fn name(chart: &Chart, value: Value) -> String {
    match value {
        Value::Variable(id) => format!("`{}`", chart.variables[id.index()].name),
        Value::Answer(id) => format!("the answer of {}", words::step(chart, id)),
    }
}

/// Whether a step sets the value.
fn sets(step: &Step, value: Value) -> bool {
    let Value::Variable(id) = value else { return false };
    let code = matches!(&step.kind, StepKind::Code(actions) if assigned(actions).contains(&id));
    code || step.into == Some(id)
}

/// The places where the variables of a chart are set.
pub(super) struct Setters(BTreeMap<VarId, Vec<Span>>);

impl Setters {
    /// Collects the places in one pass over the chart.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let Context { chart, map, .. } = context;
        let mut found: BTreeMap<VarId, Vec<Span>> = BTreeMap::new();
        let mut add = |ids: BTreeSet<VarId>, place: Span| {
            for id in ids {
                found.entry(id).or_default().push(place);
            }
        };
        for (i, step) in chart.steps.iter().enumerate() {
            let place = map.step(StepId::at(i)).name;
            if let StepKind::Code(actions) = &step.kind {
                add(assigned(actions), place);
            }
            add(step.into.into_iter().collect(), place);
        }
        for (i, transition) in chart.transitions.iter().enumerate() {
            let place = map.transition(TransitionId::at(i)).whole;
            if let Trigger::Choice(choice) = transition.trigger
                && let ChoiceKind::Call(_, Some(into)) = chart.choices[choice.index()].kind
            {
                add([into].into(), place);
            }
            add(assigned(&transition.actions), place);
        }
        for (i, state) in chart.states.iter().enumerate() {
            let blocks = state.entry.iter().chain(&state.exit).chain([&state.default_actions]);
            blocks.for_each(|block| add(assigned(block), map.state(StateId::at(i)).name));
        }
        for places in found.values_mut() {
            places.sort_unstable_by_key(|s| (s.file, s.start));
            places.dedup();
        }
        Self(found)
    }

    /// The distinct spans where the value is set, in document order.
    pub(super) fn places(&self, context: &Context<'_>, value: Value) -> Vec<Span> {
        match value {
            Value::Answer(id) => vec![context.map.step(id).name],
            Value::Variable(id) => self.0.get(&id).cloned().unwrap_or_default(),
        }
    }
}

/// Describes the parts of a run that matter for the value.
pub(super) fn way(chart: &Chart, value: Value, way: &[By]) -> String {
    let mut told: Vec<String> = Vec::new();
    for by in way {
        match *by {
            By::Transition(from, id, to) if moves(chart, id) => {
                let by = words::transition(chart, id);
                if told.is_empty() {
                    told.push(format!("in {}", words::state(chart, from)));
                }
                told.push(format!("{by} leads to {}", words::state(chart, to)));
            }
            By::Skipped(id) if is_setter(chart, id, value) => {
                told.push(format!("{} is skipped", words::step(chart, id)));
            }
            By::Failed(id) if is_setter(chart, id, value) => {
                told.push(format!("{} fails", words::step(chart, id)));
            }
            By::Done(id) if sets(&chart.steps[id.index()], value) => {
                told.push(format!("{} runs without setting it", words::step(chart, id)));
            }
            _ => {}
        }
    }
    // Repeated cycles are described once.
    told.dedup();
    if told.is_empty() { "at the start of the run".into() } else { told.join(", ") }
}

fn is_setter(chart: &Chart, id: StepId, value: Value) -> bool {
    value == Value::Answer(id) || sets(&chart.steps[id.index()], value)
}

/// Whether the transition has a target.
fn moves(chart: &Chart, id: TransitionId) -> bool {
    !chart.transition(id).targets.is_empty()
}

/// The last place where the run passes by the step that sets the value, with a label.
pub(super) fn past(
    context: &Context<'_>,
    value: Value,
    way: &[By],
) -> Option<(Span, &'static str)> {
    let Context { chart, map, .. } = context;
    way.iter().rev().find_map(|by| match *by {
        By::Skipped(id) if is_setter(chart, id, value) => {
            Some((map.step(id).guard.unwrap_or(map.step(id).name), "skipped unless this holds"))
        }
        By::Failed(id) if is_setter(chart, id, value) => {
            Some((map.step(id).name, "it fails, and the walk goes on"))
        }
        By::Transition(_, id, _) if moves(chart, id) => {
            Some((map.transition(id).whole, "this goes past it"))
        }
        _ => None,
    })
}

/// The first step whose answer has the variable's type and is neither kept nor read.
pub(super) fn thrown_away(chart: &Chart, id: VarId) -> Option<StepId> {
    let mut read = BTreeSet::new();
    expressions(chart, &mut |_, expr| {
        own_walk(expr, &mut |e| {
            if let ExprKind::Answer(step) = e.kind {
                read.insert(step);
            }
        });
    });
    let ty = &chart.variables[id.index()].ty;
    let wanted = if let Type::Optional(inner) = ty { inner } else { ty };
    let steps = chart.steps.iter().enumerate().map(|(i, step)| (StepId::at(i), step));
    let gives = |step: &Step| {
        let own = match &step.kind {
            StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => true,
            StepKind::Ask { .. } | StepKind::Code(_) => false,
        };
        let done = |transition: &TransitionId| {
            let transition = chart.transition(*transition);
            matches!(transition.trigger, Trigger::StepDone(_)) && takes_payload(transition)
        };
        own && step.into.is_none() && step.returns == *wanted && !step.outcomes.iter().any(done)
    };
    steps.filter(|(id, _)| !read.contains(id)).find(|(_, step)| gives(step)).map(|(id, _)| id)
}

/// Whether the chart is an `agent.yaml`.
pub(super) fn is_yaml(context: &Context<'_>) -> bool {
    let name = &context.sources.get(context.map.file).name;
    [".yaml", ".yml"].iter().any(|end| name.ends_with(end))
}

/// The place where findings report a state that runs cannot leave. In an `agent.yaml`, its row in the table if the move of a step is
/// forbidden, else the last step that runs in it. In a chart, or without such a step, the state itself.
pub(super) fn way_out(context: &Context<'_>, state: StateId) -> Span {
    let Context { chart, facts, map, .. } = context;
    let own = map.state(state).name;
    if !is_yaml(context) {
        return own;
    }
    let rows = chart.permissions.iter().zip(&map.permissions);
    let row = rows.filter(|(row, _)| row.from == Some(state)).map(|(_, span)| *span).next();
    let is_forbidden = facts.scopes.forbidden.iter().any(|from| from.contains(&state));
    if let Some(row) = row.filter(|_| is_forbidden) {
        return row;
    }
    last_step(context, state).map_or(own, |id| map.step(id).name)
}

/// The place where findings report a state that is never entered. In an `agent.yaml` whose table permits entering it, the target of a step
/// in the state that the row names, or else the row. Otherwise the state itself.
pub(super) fn way_in(context: &Context<'_>, state: StateId) -> Span {
    let Context { chart, facts, map, .. } = context;
    let own = map.state(state).name;
    if !is_yaml(context) {
        return own;
    }
    let mut rows = chart.permissions.iter().zip(&map.permissions);
    let Some((row, span)) = rows.find(|(row, _)| row.to == state && row.from != Some(state)) else {
        return own;
    };
    let from = row.from.filter(|from| facts.reach.can_enter(*from));
    let target = from.and_then(|from| last_step(context, from)).and_then(|id| {
        let mut transitions = chart.steps[id.index()].outcomes.iter();
        transitions.find_map(|transition| map.transition(*transition).targets.first().copied())
    });
    target.unwrap_or(*span)
}

/// The last step that runs in a state; one that runs nowhere else is preferred.
fn last_step(context: &Context<'_>, state: StateId) -> Option<StepId> {
    let Context { chart, facts, .. } = context;
    let steps = || (0..chart.steps.len()).rev().map(StepId::at);
    let own = |id: &StepId| facts.scopes.step(*id).within == [state];
    let here = |id: &StepId| facts.scopes.step(*id).may_hold_in(chart, state);
    steps().find(own).or_else(|| steps().find(here))
}

/// The transition to which the site of a read belongs.
pub(super) fn transition_of(site: Site) -> Option<TransitionId> {
    match site {
        Site::Transition(id) | Site::Moves(id) => Some(id),
        _ => None,
    }
}
