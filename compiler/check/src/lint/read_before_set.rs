//! Variables of a turn that are read before the turn sets them.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use crate::facts::reach::Cause;
use crate::turn::dataflow::{Early, ReadingPart, Value, early};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate, holds};
use chartc_core::model::{Chart, StepKind, Trigger};
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::{READ_BEFORE_SET, read_before_set::keep};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &READ_BEFORE_SET, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let all = early(chart, facts);
    let stuck = if is_yaml(context) { stuck(context, &all) } else { None };
    for Early { step, reading, value, setter } in all {
        let spans = map.step(step);
        let (place, what) = match reading {
            ReadingPart::Guard => (spans.guard, "the condition"),
            ReadingPart::Prompt(part) => (spans.prompt_parts.get(part).copied(), "the prompt"),
            ReadingPart::Injection(id) => (map.components.get(id.index()).copied(), "a component"),
            ReadingPart::Fragment(id, part) => {
                let parts = map.component_parts.get(id.index());
                (parts.and_then(|parts| parts.get(part)).copied(), "a component in the prompt")
            }
            ReadingPart::Code => (None, "the code"),
            ReadingPart::Transition(transition) => (map.transition(transition).guard, "an outcome"),
            ReadingPart::Permission(row) => {
                (map.permissions.get(row).copied(), "what permits the move")
            }
        };
        let name = match value {
            Value::Variable(id) => format!("`{}`", chart.variables[id.index()].name),
            Value::Answer(id) => format!("the answer of `{}`", chart.steps[id.index()].name),
        };
        let (reader, later) = (&chart.steps[step.index()].name, &chart.steps[setter.index()].name);
        let apart = runs_apart(context, step, setter);
        let message = if setter == step {
            format!("{name} is not there yet in {what} of `{reader}` itself")
        } else if apart {
            format!(
                "{what} of `{reader}` reads {name}, which only `{later}` sets, and that runs in other states"
            )
        } else {
            format!(
                "{what} of `{reader}` reads {name}, which only `{later}` sets, later in the turn"
            )
        };
        let kept = stuck.as_ref().filter(
            |(_, rows)| matches!(reading, ReadingPart::Permission(row) if rows.contains(&row)),
        );
        let message = match kept {
            Some((state, _)) => {
                format!("{message}: the agent stays in {} for ever", words::state(chart, *state))
            }
            None => message,
        };
        // Variables that an agent's code sets are cleared at the end of the turn, unless it says which to keep.
        let or = match value {
            Value::Variable(id) if is_yaml(context) => {
                format!("; {}", keep(&chart.variables[id.index()].name))
            }
            Value::Answer(_) if is_yaml(context) => String::new(),
            Value::Variable(_) | Value::Answer(_) => ", or keep the value over the turns".into(),
        };
        let cure = if setter == step {
            format!("set it in `{reader}` before it is read")
        } else if apart {
            format!("let `{later}` run before `{reader}`, in its states too")
        } else {
            format!("put `{later}` before `{reader}`")
        };
        let help = format!("it is always the default here: {cure}{or}");
        let mut found = READ_BEFORE_SET.at(place.unwrap_or(spans.name), message).help(help);
        // An agent that never leaves its initial state does nothing that it is for.
        if kept.is_some() {
            found.severity = Severity::Error;
        }
        if matches!(reading, ReadingPart::Permission(_)) {
            found = found.related(spans.name, format!("{} needs it", words::step(chart, step)));
        }
        // The cause is the order of the steps, whichever step reads the value.
        let value = match value {
            Value::Variable(id) => map.variables[id.index()],
            Value::Answer(id) => map.step(id).name,
        };
        let found = found.because(map.step(setter).name).because(value);
        diagnostics.push(found.related(map.step(setter).name, "set here"));
    }
}

/// Whether the first step acts in some leaf, but never in one in which the other acts.
fn runs_apart(context: &Context<'_>, one: StepId, other: StepId) -> bool {
    let Context { chart, facts, .. } = context;
    let covers = |step: StepId, leaf: StateId| facts.scopes.step(step).may_hold_in(chart, leaf);
    let mut own = facts.reach.leaves(chart).filter(|leaf| covers(one, *leaf)).peekable();
    own.peek().is_some() && !own.any(|leaf| covers(other, leaf))
}

/// The initial state of the agent, with the permissions that are its only way out and that are never given because their
/// variables are set too late; `None` if another way leads out.
fn stuck(context: &Context<'_>, all: &[Early]) -> Option<(StateId, BTreeSet<usize>)> {
    let Context { chart, facts, .. } = context;
    // A state that is entered with another one has the cause of that one.
    let begins = |leaf: &StateId| {
        let mut cause = facts.reach.causes[leaf.index()];
        while let Some(Cause::With(outer)) = cause {
            cause = facts.reach.causes[outer.index()];
        }
        cause == Some(Cause::Start)
    };
    let first = facts.reach.leaves(chart).find(begins)?;
    let defaults = Defaults::new(chart, all);
    let read = |id: StepId, row: usize| {
        all.iter()
            .any(|e| e.step == id && matches!(e.reading, ReadingPart::Permission(r) if r == row))
    };
    let closed = |row: usize| {
        let guard = chart.permissions[row].guard.as_ref();
        guard.is_some_and(|guard| holds(guard, &defaults, &Fuel::default()) == Ok(false))
    };
    let mut rows = BTreeSet::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let place = facts.scopes.transition(TransitionId::at(i));
        let out = transition.targets.iter().find(|target| !chart.contains(target.state, first));
        let (Some(target), true) = (out, place.may_hold_in(chart, first)) else { continue };
        let asks = |id: &StepId| {
            matches!(chart.steps[id.index()].kind, StepKind::Ask { .. })
                && facts.scopes.step(*id).may_hold_in(chart, first)
        };
        let movers: Vec<StepId> = match (&transition.trigger, transition.trigger.step()) {
            (Trigger::Choice(_), _) => {
                (0..chart.steps.len()).map(StepId::at).filter(asks).collect()
            }
            (_, Some(step)) => vec![step],
            // A transition without a step or an option needs no permission.
            (_, None) => return None,
        };
        for (row, permission) in chart.permissions.iter().enumerate() {
            if permission.to != target.state
                || permission.from.is_some_and(|from| !chart.contains(from, first))
            {
                continue;
            }
            if !closed(row) || !movers.iter().all(|mover| read(*mover, row)) {
                return None;
            }
            rows.insert(row);
        }
    }
    (!rows.is_empty()).then_some((first, rows))
}

/// The default values of the variables that are set too late; all other variables are unknown.
struct Defaults(BTreeMap<VarId, Data>);

impl Defaults {
    fn new(chart: &Chart, all: &[Early]) -> Self {
        let mut found = Self(BTreeMap::new());
        for early in all {
            let Value::Variable(id) = early.value else { continue };
            let default = chart.variables[id.index()].default.as_ref();
            let value = default
                .and_then(|expr| evaluate(expr, &Self(BTreeMap::new()), &Fuel::default()).ok());
            found.0.extend(value.map(|value| (id, value)));
        }
        found
    }
}

impl Environment for Defaults {
    fn variable(&self, id: VarId) -> Option<&Data> {
        self.0.get(&id)
    }
}
