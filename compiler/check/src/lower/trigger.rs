//! Lowers the trigger of a line: its first words.

use super::context::Cx;
use super::expr::{self, Bound, Env, Options};
use super::uses::NameKind;
use super::{paths, structure, tools, transition};
use chartc_core::arena::{StepId, ToolSetId, TransitionId, VarId};
use chartc_core::model::{
    Choice, ChoiceKind, Expr, StateKind, StepKind, Trigger, Type, VariableKind,
};
use chartc_text::rules::duplicate_name;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::{Ident, Span, Spanned};
use chartc_text::syntax::{self, Deadline, Done, EventPattern, LineKind, MayKind};

/// The result of lowering a trigger.
pub(super) struct ResolvedTrigger {
    /// The trigger; `None` if it could not be resolved, so that the line is dropped.
    pub(super) trigger: Option<Trigger>,
    /// The place of the words of the trigger.
    pub(super) span: Span,
    /// The condition of a `when` line.
    pub(super) condition: Option<(Expr, Span)>,
    /// The option of a `may` line, with the place of its name. The trigger gets its id when the transition is added.
    pub(super) choice: Option<(Choice, Span)>,
    /// The arguments of an option, which its guard cannot read.
    pub(super) after_choice: Vec<Bound>,
    /// Whether the line is `each after`.
    pub(super) each: bool,
}

/// Lowers the trigger of a line, and adds the names that it binds to `env`.
pub(super) fn of(
    cx: &mut Cx<'_>,
    env: &mut Env,
    line: &syntax::Line,
    whole: Span,
) -> ResolvedTrigger {
    let mut found = ResolvedTrigger {
        trigger: None,
        span: whole,
        condition: None,
        choice: None,
        after_choice: Vec::new(),
        each: false,
    };
    match &line.kind {
        LineKind::On(pattern) => {
            found.span = Span { end: pattern_end(pattern, whole), ..whole };
            found.trigger = event(cx, env, pattern);
        }
        LineKind::When(condition) => {
            let lowered = expr::condition(cx, env, condition);
            found.span = Span { end: condition.span.end, ..whole };
            found.condition = Some((lowered, condition.span));
            found.trigger = Some(Trigger::When);
        }
        LineKind::After { each, deadline } => {
            found.each = *each;
            let (trigger, span) = match deadline {
                Deadline::Time(bound) => {
                    (Trigger::After(expr::expect(cx, env, bound, &Type::Duration)), bound.span)
                }
                Deadline::Turns(bound) => {
                    (Trigger::AfterTurns(expr::expect(cx, env, bound, &Type::Int)), bound.span)
                }
            };
            found.span = Span { end: span.end, ..whole };
            found.trigger = Some(trigger);
        }
        LineKind::May(may) => option(cx, env, may, &mut found),
    }
    found
}

fn pattern_end(pattern: &EventPattern, whole: Span) -> u32 {
    match pattern {
        EventPattern::Any(span)
        | EventPattern::Everything(span)
        | EventPattern::Turn(span)
        | EventPattern::Machine(Spanned { span, .. }) => span.end,
        EventPattern::Event(path, names) => names.last().map_or(path.span.end, |n| n.span.end + 1),
        EventPattern::Done(done) | EventPattern::Error(done) | EventPattern::Doubt(done) => {
            done.binding.as_ref().map_or(done.subject.span.end + 1, |n| n.span.end)
        }
    }
    .min(whole.end)
}

fn event(cx: &mut Cx<'_>, env: &mut Env, pattern: &EventPattern) -> Option<Trigger> {
    match pattern {
        EventPattern::Any(_) => Some(Trigger::AnyEvent),
        EventPattern::Everything(_) => Some(Trigger::AnyOccurrence),
        EventPattern::Turn(_) => Some(Trigger::Turn),
        EventPattern::Event(path, names) => {
            refuse_twice(cx, names);
            let (trigger, bound) = transition::payload(cx, path, names);
            env.payload = bound;
            let known = !matches!(&trigger, Trigger::Event(events) if events.is_empty());
            known.then_some(trigger)
        }
        EventPattern::Done(done) => match subject(cx, env, done)? {
            DoneSubject::Step(step) => {
                if let Some(name) = &done.binding {
                    let ty = cx.chart.steps[step.index()].returns.clone();
                    bind(cx, env, name, ty);
                }
                env.answer = Some(step);
                Some(Trigger::StepDone(step))
            }
            DoneSubject::State(state) => {
                if let Some(name) = &done.binding {
                    bind(cx, env, name, Type::Json);
                    let message = "a state that is done has no value to bind";
                    cx.report(ILLEGAL_STRUCTURE.at(name.span, message));
                }
                let kind = &cx.chart.state(state).kind;
                if !matches!(kind, StateKind::Compound { .. } | StateKind::Parallel) {
                    let message =
                        format!("`{}` has no final child and is never done", done.subject.text());
                    cx.report(ILLEGAL_STRUCTURE.at(done.subject.span, message));
                    return None;
                }
                Some(Trigger::StateDone(state))
            }
        },
        EventPattern::Error(done) => {
            let step = only_step(cx, env, done, "fails")?;
            if let Some(name) = &done.binding {
                bind(cx, env, name, Type::Text);
            }
            Some(Trigger::StepError(step))
        }
        EventPattern::Doubt(done) => {
            let step = only_step(cx, env, done, "is in doubt")?;
            if let Some(name) = &done.binding {
                bind(cx, env, name, Type::Json);
                cx.report(ILLEGAL_STRUCTURE.at(name.span, "a doubt has no value to bind"));
            }
            Some(Trigger::StepDoubt(step))
        }
        EventPattern::Machine(text) => machine(cx, text),
    }
}

/// Binds the value of an answer, a failure or a doubt.
fn bind(cx: &mut Cx<'_>, env: &mut Env, name: &Ident, ty: Type) {
    cx.record_binding(name, &ty);
    env.payload = vec![Bound::local(name, ty)];
}

fn refuse_twice(cx: &mut Cx<'_>, names: &[Ident]) {
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = names[..index].iter().find(|n| n.node == name.node) {
            cx.report(duplicate_name::bound_twice(&name.node, name.span, first.span));
        }
    }
}

enum DoneSubject {
    Step(StepId),
    State(chartc_core::arena::StateId),
}

/// Resolves the name in `done(X)`, `error(X)` or `doubt(X)`: a step or a state. Reports a name that is both.
fn subject(cx: &mut Cx<'_>, env: &Env, done: &Done) -> Option<DoneSubject> {
    let path = &done.subject;
    let step = match path.names.as_slice() {
        [name] => cx.names.steps.get(&name.node).copied(),
        _ => None,
    };
    let Some((step, place)) = step else {
        if paths::find(cx, env.state, path).is_none()
            && let [name] = path.names.as_slice()
        {
            let known: Vec<String> = cx.names.steps.keys().cloned().collect();
            let states = cx.chart.ancestors(env.state).flat_map(|s| cx.chart.children(s));
            let states: Vec<String> = states.map(|s| cx.chart.state(s).name.clone()).collect();
            let known = known.iter().chain(&states).map(String::as_str);
            cx.unknown("step or state", &name.node, name.span, known);
            return None;
        }
        return paths::state(cx, env.state, path).map(DoneSubject::State);
    };
    cx.record_use(path.span, place, NameKind::Step);
    if let Some(state) = paths::find(cx, env.state, path) {
        let other = cx.map.states[state.index()].name;
        cx.report(duplicate_name::step_and_state(&path.text(), path.span, place, other));
    }
    Some(DoneSubject::Step(step))
}

fn only_step(cx: &mut Cx<'_>, env: &Env, done: &Done, verb: &str) -> Option<StepId> {
    match subject(cx, env, done)? {
        DoneSubject::Step(step) => Some(step),
        DoneSubject::State(_) => {
            let message = format!("`{}` is a state; only a step {verb}", done.subject.text());
            cx.report(ILLEGAL_STRUCTURE.at(done.subject.span, message));
            None
        }
    }
}

/// The errors that the machine itself raises, without the word `error`.
const ERRORS: [&str; 9] = [
    "execution",
    "livelock",
    "limit.calls",
    "limit.tokens",
    "limit.cost",
    "limit.time",
    "limit.turns",
    "stuck.dead",
    "stuck.loop",
];

/// The errors that the machine itself reports, without the word `error`.
pub fn machine_errors() -> impl Iterator<Item = &'static str> {
    ERRORS.into_iter()
}

/// The limits that can have a soft bound.
const WARNINGS: [&str; 5] = ["calls", "tokens", "cost", "time", "turns"];

/// Resolves the pattern of an event that the machine itself raises: `error.…`, `limit.…` or `limit.warn.…`.
fn machine(cx: &mut Cx<'_>, text: &Spanned<String>) -> Option<Trigger> {
    let (below, known, make): (&str, &[&str], fn(String) -> Trigger) =
        if let Some(below) = text.node.strip_prefix("limit.warn") {
            (below, &WARNINGS, Trigger::LimitWarn)
        } else {
            (text.node.strip_prefix("error").unwrap_or(&text.node), &ERRORS, Trigger::Error)
        };
    let pattern = below.strip_prefix('.').unwrap_or(if below.is_empty() { "*" } else { below });
    let stem = pattern.strip_suffix(".*").unwrap_or(pattern);
    // A pattern matches the errors of which it is a dotted prefix: `limit` matches `limit.calls`.
    let matches = pattern == "*"
        || known
            .iter()
            .any(|k| *k == stem || k.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.')));
    if !matches {
        let head = text.node.strip_suffix(pattern).unwrap_or_default();
        let full: Vec<String> = known.iter().map(|k| format!("{head}{k}")).collect();
        cx.unknown("event", &text.node, text.span, full.iter().map(String::as_str));
        return None;
    }
    Some(make(pattern.to_owned()))
}

fn option(cx: &mut Cx<'_>, env: &mut Env, may: &syntax::May, found: &mut ResolvedTrigger) {
    let (name, kind) = match &may.kind {
        MayKind::Option(name, params) => {
            cx.record_choice(name);
            let fields = structure::fields(cx, params, NameKind::Param);
            env.hidden = fields.iter().map(|f| f.name.clone()).collect();
            let all = fields.iter().zip(params);
            found.after_choice = all
                .map(|(field, param)| Bound {
                    name: field.name.clone(),
                    ty: field.ty.clone(),
                    place: Some((param.name.span, NameKind::Param)),
                })
                .collect();
            ((name.node.clone(), name.span), Some(ChoiceKind::Option(fields)))
        }
        MayKind::Call(set, into) => {
            let known = tools::named(cx, &set.names);
            let into = into.as_ref().and_then(|name| {
                let kept = variable(cx, name, &Type::Json)?;
                known.is_none_or(|set| keeps(cx, set, kept, name)).then_some(kept)
            });
            ((set.text(), set.span), known.map(|id| ChoiceKind::Call(id, into)))
        }
    };
    let (name, place) = name;
    found.span = Span { end: place.end, ..found.span };
    let text = may.text.as_ref().map(|text| expr::template(cx, env, text, Options::No).0);
    let Some(kind) = kind else { return };
    let transition = TransitionId(0);
    found.choice = Some((Choice { name, text, transition, kind }, place));
    // A placeholder: `transition::add` replaces it when the choice gets its id.
    found.trigger = Some(Trigger::When);
}

/// Whether a variable can keep what every tool of a set returns; reports the first tool for which it cannot.
fn keeps(cx: &mut Cx<'_>, set: ToolSetId, kept: VarId, name: &Ident) -> bool {
    let want = cx.chart.variables[kept.index()].ty.clone();
    let mut tools =
        cx.chart.tool_sets[set.index()].tools.iter().map(|id| &cx.chart.tools[id.index()]);
    let Some(tool) = tools.find(|tool| !expr::accepts(&tool.result, &want)) else { return true };
    let finding = TYPE_ERROR
        .at(
            name.span,
            format!(
                "`{}` is {}, `{}` returns {}",
                name.node,
                cx.a(&want),
                tool.name,
                cx.a(&tool.result)
            ),
        )
        .help(format!(
            "a `var {}: Json` keeps what any tool returns; or offer the tools in lines of their own",
            name.node
        ));
    cx.report(finding);
    false
}

/// The `var` with this name, if it can keep a value of type `ty`; reports any other.
pub(super) fn variable(cx: &mut Cx<'_>, name: &Ident, ty: &Type) -> Option<VarId> {
    let Some((id, place)) = cx.names.variables.get(&name.node).copied() else {
        let known: Vec<String> = cx.names.variables.keys().cloned().collect();
        cx.unknown("variable", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    cx.record_use(name.span, place, NameKind::Variable);
    let declared = &cx.chart.variables[id.index()];
    if !matches!(declared.kind, VariableKind::Var { .. }) {
        super::block::refuse_write(cx, id, name.span, place);
        return None;
    }
    let want = declared.ty.clone();
    if !expr::accepts(ty, &want) {
        let message = format!("`{}` is {}, the answer is {}", name.node, cx.a(&want), cx.a(ty));
        cx.report(TYPE_ERROR.at(name.span, message).related(place, "declared here"));
        return None;
    }
    Some(id)
}

/// Whether a step asks a question whose answer is an option.
pub(super) fn is_ask(kind: &StepKind) -> bool {
    matches!(kind, StepKind::Ask { .. })
}
