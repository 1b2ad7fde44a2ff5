//! Findings about data that is read before it is set, or set and never read.
//!
//! The problem: a variable has an initial value, so a prompt that reads it too early shows `""` or `0` without an error. The idea:
//! `READ_BEFORE_SET` puts into words what the analysis of turns has found (`early`): a reading in the walk before the only step that sets
//! the value. `UNREAD_VARIABLE` reports variables that no part of the chart reads. `MISFIT_INPUT` compares the types of inputs with what a
//! world supplies under their names; a new value of the world needs a row in `SUPPLIED`.
//!
//! The second half has the wording that several lints of data share: the place of a reading (`place`), the places that set a value
//! (`Setters`), and the run that does not set it (`way`, `past`); and where findings about an `agent.yaml` point (`way_in`, `way_out`),
//! whose states are only names in a list. For example:
//!
//! ```text
//! limits { calls 2 per turn }
//! var draft: Text = "" per turn
//! llm review { prompt "What is wrong with {draft}?" }
//! llm write { prompt "Write."  returns Text into draft }
//! ```
//!
//! A turn comes to `review` before `write`, and `draft` begins afresh in each turn. So the prompt of `review` always shows the empty text.

use super::{Context, Lint, words};
use crate::analysis::facts::reach::Cause;
use crate::analysis::facts::usage::{Usage, assigned, expressions, takes_payload, walk};
use crate::analysis::turn::calls::{Early, ReadingPart, Value, early};
use crate::analysis::turn::flow::{By, Site};
use crate::rules;
use crate::rules::misfit_input::told;
use crate::rules::read_before_set::keep;
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::Span;
use Shape::{Anything, Bool, Float, Int, List, Map, Record, Text};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::{self, Environment, Fuel, Value as Data, evaluate, type_text};
use chartc_core::model::{
    Chart, ChoiceKind, ExprKind, Step, StepKind, TemplatePart, Trigger, Type, TypeDef, TypeKind,
    Variable, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of reads that are reported for a chart.
pub(super) const MOST: usize = 200;

// Variables of a turn that are read before the turn sets them.

pub(super) static READ_BEFORE_SET: Lint =
    Lint { rule: &rules::READ_BEFORE_SET, needs_whole: true, run: find_read_before_set };

fn find_read_before_set(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        let mut found = rules::READ_BEFORE_SET.at(place.unwrap_or(spans.name), message).help(help);
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
        guard.is_some_and(|guard| expr::holds(guard, &defaults, &Fuel::default()) == Ok(false))
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

// Variables that are set and never read.

pub(super) static UNREAD_VARIABLE: Lint =
    Lint { rule: &rules::UNREAD_VARIABLE, needs_whole: true, run: find_unread_variable };

fn find_unread_variable(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    let usage = Usage::new(chart);
    for (i, variable) in chart.variables.iter().enumerate() {
        if may_be_identity(variable) && !usage.seen[i] {
            let message = format!("nothing in the chart reads the param `{}`", variable.name);
            let found = rules::UNREAD_VARIABLE.at(map.variables[i], message);
            diagnostics.push(found.help("remove it, unless the host reads it"));
        }
        let var = match variable.kind {
            VariableKind::Var { per_turn } => !per_turn || is_yaml(context),
            VariableKind::Param { .. } | VariableKind::Input | VariableKind::Asked => false,
        };
        if var && usage.set[i] && !usage.read[i] {
            let but = if usage.seen[i] { " but to set itself" } else { "" };
            let message =
                format!("`{}` is set, and nothing in the chart reads it{but}", variable.name);
            let found = rules::UNREAD_VARIABLE.at(map.variables[i], message);
            diagnostics.push(found.help("remove it, unless the host reads it"));
        }
    }
}

// Inputs that cannot hold what a world supplies under their name.

pub(super) static MISFIT_INPUT: Lint =
    Lint { rule: &rules::MISFIT_INPUT, needs_whole: false, run: find_misfit_input };

/// The shape of the values that a world supplies under a name.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Int,
    Float,
    Text,
    Bool,
    List(&'static Shape),
    /// A map with any keys.
    Map(&'static Shape),
    /// A value that the agent has written, of any type.
    Anything,
    /// A record: the fields that are always there, and those that may be missing.
    Record(&'static [(&'static str, Shape)], &'static [(&'static str, Shape)]),
}

/// The events of a world.
const EVENTS: Shape = List(&Record(
    &[
        ("number", Int),
        ("tick", Int),
        ("event", Text),
        ("by", Text),
        ("action", Text),
        ("artifact_id", Text),
        ("success", Bool),
    ],
    &[
        ("error", Text),
        ("result", Text),
        ("method", Text),
        ("type", Text),
        ("why", Text),
        ("from", Text),
        ("to", Text),
        ("agent", Text),
        ("resource", Text),
        ("winner", Text),
        ("amount", Int),
        ("bytes", Int),
        ("price", Int),
        ("bid", Int),
        ("auction", Int),
    ],
));

const ARTIFACTS: Shape =
    List(&Record(&[("id", Text), ("type", Text), ("created_by", Text), ("executable", Bool)], &[]));

const SUBMISSIONS: Shape =
    List(&Record(&[("artifact_id", Text), ("agent", Text), ("bid", Int)], &[]));

/// The shapes of the values that a world supplies, by name.
const SUPPLIED: [(&str, Shape); 31] = [
    ("agent_id", Text),
    ("tick", Int),
    ("event_number", Int),
    ("balance", Int),
    ("balances", Map(&Int)),
    ("artifacts", ARTIFACTS),
    ("my_artifacts", List(&Text)),
    ("last_action_result", Text),
    ("action_history", Text),
    ("action_history_length", Int),
    ("actions_taken", Int),
    ("successful_actions", Int),
    ("failed_actions", Int),
    ("success_rate", Text),
    ("success_rate_numeric", Float),
    ("revenue_earned", Float),
    ("artifacts_completed", Int),
    ("other_agents", List(&Text)),
    ("economic_context", Text),
    ("working_memory", Map(&Anything)),
    ("quotas", Map(&Int)),
    ("mint_submissions", SUBMISSIONS),
    ("recent_events", EVENTS),
    ("recent_failures", EVENTS),
    ("time_remaining", Text),
    ("time_remaining_seconds", Float),
    ("duration_seconds", Float),
    ("progress_percent", Float),
    ("strategic_goal", Text),
    ("current_subgoal", Text),
    ("subgoal_progress", Map(&Anything)),
];

/// The names of the values that a world supplies to agents.
pub fn supplied() -> impl Iterator<Item = &'static str> {
    SUPPLIED.iter().map(|(name, _)| *name)
}

fn find_misfit_input(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // A chart without `llm` steps does not act, so no world runs it.
    if !chart.steps.iter().any(|step| step.kind == StepKind::Llm) {
        return;
    }
    for (i, variable) in chart.variables.iter().enumerate() {
        let found = SUPPLIED.iter().find(|(name, _)| *name == variable.name);
        let (Some((name, shape)), VariableKind::Input) = (found, &variable.kind) else { continue };
        if let Err(why) = holds(&variable.ty, *shape, &chart.types) {
            let why = if why.is_empty() { why } else { format!(": {why}") };
            let ty = type_text(&variable.ty, &chart.types);
            let cure = format!(
                "declare it as `{}`, or give an input of your own another name",
                usual(*shape)
            );
            diagnostics.push(told(name, &ty, &words(*shape), &why, map.variables[i]).help(cure));
        }
    }
}

/// Checks that a type holds all values of a shape. The error says what does not fit; it is empty if the types say it all.
fn holds(ty: &Type, shape: Shape, types: &[TypeDef]) -> Result<(), String> {
    let fits = |fits: bool| if fits { Ok(()) } else { Err(String::new()) };
    match (ty, shape) {
        (Type::Json, _) => Ok(()),
        (Type::Optional(inner), _) => holds(inner, shape, types),
        (Type::Int | Type::Float, Int) | (Type::Float, Float) => Ok(()),
        (Type::Text, Text) | (Type::Bool, Bool) => Ok(()),
        (Type::List(inner), List(item)) | (Type::Map(inner), Map(item)) => {
            holds(inner, *item, types)
        }
        (Type::Map(inner), Record(always, sometimes)) => {
            let mut all = always.iter().chain(sometimes);
            all.try_for_each(|(_, field)| holds(inner, *field, types))
        }
        (Type::Named(id), Record(always, sometimes)) => {
            let kind = types.get(id.index()).map(|def| &def.kind);
            let Some(TypeKind::Record(fields)) = kind else { return fits(false) };
            fields.iter().try_for_each(|field| {
                let is_optional = matches!(field.ty, Type::Optional(_));
                let of = |all: &[(&str, Shape)]| {
                    all.iter().find(|(name, _)| *name == field.name).map(|(_, shape)| *shape)
                };
                let shape = match (of(always), of(sometimes)) {
                    (Some(shape), _) => shape,
                    (None, _) if !is_optional => {
                        return Err(format!("`{}` is not always there", field.name));
                    }
                    (None, Some(shape)) => shape,
                    (None, None) => return Ok(()),
                };
                let wrong = |_| format!("`{}` is {}", field.name, words(shape));
                holds(&field.ty, shape, types).map_err(wrong)
            })
        }
        // An agent may have written any values into the fields, or left them out.
        (Type::Named(id), Map(_)) => {
            let kind = types.get(id.index()).map(|def| &def.kind);
            let Some(TypeKind::Record(fields)) = kind else { return fits(false) };
            fits(fields.iter().all(|field| matches!(field.ty, Type::Optional(_) | Type::Json)))
        }
        // Values that an agent writes are not known before, so they may fit.
        (_, Anything) => Ok(()),
        (
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_)
            | Type::Named(_),
            _,
        ) => fits(false),
    }
}

/// Describes a shape in words.
fn words(shape: Shape) -> String {
    match shape {
        Int => "a whole number".into(),
        Float => "a number".into(),
        Text => "a text".into(),
        Bool => "true or false".into(),
        Anything => "anything".into(),
        List(Record(always, _)) => {
            let names: Vec<&str> = always.iter().map(|(name, _)| *name).collect();
            format!("a list of records with {}", names.join(", "))
        }
        List(Text) => "a list of texts".into(),
        List(_) => "a list".into(),
        Map(_) | Record(..) => "a mapping".into(),
    }
}

/// The type that findings suggest for a shape.
fn usual(shape: Shape) -> &'static str {
    match shape {
        Int => "Int",
        Float => "Float",
        Text => "Text",
        Bool => "Bool",
        Anything => "Json",
        List(Text) => "List(Text)",
        List(_) => "List(Json)",
        Map(Int) => "Map(Text, Int)",
        Map(_) | Record(..) => "Map(Text, Json)",
    }
}

// Wording of findings about data: the places where a value is read and set, and the run that does not set it.

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
        expr.walk(&mut |e| {
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

/// Whether a param may identify the instance to the host: it has no default, and its type is Text or Json.
pub(super) fn may_be_identity(variable: &Variable) -> bool {
    let param = matches!(variable.kind, VariableKind::Param { .. });
    param && matches!(variable.ty, Type::Text | Type::Json) && variable.default.is_none()
}
