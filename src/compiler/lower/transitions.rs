//! Lowers lines with a trigger: the trigger itself, then guard, targets and actions.
//!
//! The problem: each part of a line sees other names, and knows more than the part before it. The trigger binds the data of its event. The
//! guard of an option is evaluated before the model has chosen its arguments. Targets and actions may rely on the guard. The idea: one
//! `Env` goes through the parts in the order in which the engine evaluates them:
//!
//! 1. `of` lowers the trigger, and binds its names.
//! 2. `tail` lowers the guard, adds what it implies to the `Env`, reveals the arguments of an option, and lowers targets and actions.
//! 3. `draft` joins both, and `own` or `from` adds the transition. `from` first gives it the scope of its `from … { }`.
//!
//! If the trigger or a target cannot be resolved, there is no transition. `Cx::dropped` then says that the model lacks something, so that
//! lints which need the whole chart are silent. The events of the machine are in `ERRORS` and `WARNINGS`.
//!
//! For example, in `may rate(points: Int) "how good it is" if is_open -> closed { score = points }` the name `points` is hidden while
//! `is_open` is lowered, and visible in the target and the actions.

use super::context::{Cx, NameKind, NodeKind};
use super::expr::{self, Bound, Env, Options};
use super::nodes::{Beside, Draft, Neighbour, add, idle_when};
use super::paths::{self, find, in_two_regions, is_history, refuse_apart};
use super::{TransitionSpans, actions, declare, tools};
use crate::rules::{
    ILLEGAL_STRUCTURE, TYPE_ERROR, duplicate_name, illegal_structure, needless_except,
};
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{self, Deadline, Done, EventPattern, LineKind, MayKind, Noted};
use chartc_core::arena::{StateId, StepId, ToolSetId, TransitionId, VarId};
use chartc_core::model::{
    BinaryOp, Choice, ChoiceKind, Expr, ExprKind, Scope, StateKind, StepKind, Target, Transition,
    TransitionKind, Trigger, Type, VariableKind,
};

/// The lowered tail of a line.
pub(super) struct Tail {
    pub(super) guard: Option<Expr>,
    pub(super) targets: Vec<Target>,
    pub(super) kind: TransitionKind,
    pub(super) actions: Vec<chartc_core::model::Action>,
    pub(super) guard_span: Option<Span>,
    pub(super) target_spans: Vec<Span>,
}

/// Adds a transition from the body of `source`, or stores one that is copied to every leaf below.
pub(super) fn own(
    cx: &mut Cx<'_>,
    source: StateId,
    line: &syntax::Line,
    span: Span,
    beside: Beside<'_>,
) {
    let Some(draft) = draft(cx, source, line, span, beside) else {
        cx.dropped = true;
        return;
    };
    if draft.each {
        cx.nodes[source.index()].each.push((draft.transition, draft.spans));
    } else {
        add(cx, draft);
    }
}

/// Lowers a line; `None` if it has an error that leaves no transition.
pub(super) fn draft(
    cx: &mut Cx<'_>,
    source: StateId,
    line: &syntax::Line,
    span: Span,
    beside: Beside<'_>,
) -> Option<Draft> {
    let name = cx.chart.state(source).name.clone();
    if let NodeKind::Final(..) = cx.nodes[source.index()].kind {
        let declared = cx.map.state(source).name;
        cx.report(illegal_structure::line_in_final(&name, span, declared));
        return None;
    }
    let mut env = Env::at(source);
    let found = of(cx, &mut env, line, span);
    let own_guard = found.condition.as_ref().map(|(expr, _)| expr.clone());
    if let Some(test) = &own_guard {
        env.learn(test, true);
    }
    let tail = tail(cx, &mut env, &found.after_choice, source, &line.tail)?;
    // A `when` line that does nothing would be taken again and again.
    if matches!(line.kind, syntax::LineKind::When(_))
        && tail.targets.is_empty()
        && tail.actions.is_empty()
        && line.tail.actions.as_ref().is_none_or(|b| b.actions.is_empty())
    {
        cx.report(idle_when(span, beside.before));
        return None;
    }
    let guard_span = match (&found.condition, tail.guard_span) {
        (Some((_, a)), Some(b)) => Some(a.to(b)),
        (Some((_, a)), None) => Some(*a),
        (None, b) => b,
    };
    let transition = Transition {
        source,
        trigger: found.trigger?,
        bound: env.payload.into_iter().map(|bound| bound.name).filter(|n| !n.is_empty()).collect(),
        scope: None,
        guard: both(own_guard, tail.guard),
        targets: tail.targets,
        kind: tail.kind,
        actions: tail.actions,
    };
    let spans = TransitionSpans {
        whole: span,
        trigger: found.span,
        from: None,
        guard: guard_span,
        targets: tail.target_spans,
        next: beside.next,
    };
    Some(Draft { transition, spans, choice: found.choice, each: found.each })
}

fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let kind = ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b));
            Some(Expr { kind, ty: Type::Bool })
        }
        (a, b) => a.or(b),
    }
}

/// Lowers what follows a trigger. `None` if a target does not exist or the targets cannot be active together.
pub(super) fn tail(
    cx: &mut Cx<'_>,
    env: &mut Env,
    after_choice: &[Bound],
    source: StateId,
    written: &syntax::Tail,
) -> Option<Tail> {
    let guard = written.guard.as_ref().map(|g| expr::condition(cx, env, g));
    if let Some(test) = &guard {
        env.learn(test, true);
    }
    // The arguments of an option exist once it is chosen: targets and actions can read them, the guard cannot.
    env.hidden.clear();
    env.payload.extend(after_choice.iter().cloned());
    let targets = targets(cx, env, &written.targets);
    let actions = written.actions.as_ref().map(|b| actions::actions(cx, env, b));
    let (targets, target_spans) = targets?;
    let kind = kind(cx, source, written, &targets);
    Some(Tail {
        guard,
        targets,
        kind,
        actions: actions.unwrap_or_default(),
        guard_span: written.guard.as_ref().map(|g| g.span),
        target_spans,
    })
}

/// Resolves targets; `None` if one is missing or they cannot be active together.
pub(super) fn targets(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &[syntax::Target],
) -> Option<(Vec<Target>, Vec<Span>)> {
    let mut found = Vec::new();
    let mut complete = true;
    for target in written {
        match paths::state(cx, env.state, &target.path) {
            Some(state) => {
                let arguments = final_arguments(cx, env, state, target);
                found.push((Target { state, arguments }, target.path.span));
            }
            None => {
                for argument in &target.arguments {
                    expr::expr(cx, env, argument, None);
                }
                complete = false;
            }
        }
    }
    let places: Vec<_> = found.iter().map(|(t, span)| (t.state, *span)).collect();
    let together = refuse_apart(cx, &places);
    (complete && together).then(|| found.into_iter().unzip())
}

fn final_arguments(
    cx: &mut Cx<'_>,
    env: &mut Env,
    state: StateId,
    target: &syntax::Target,
) -> Vec<Expr> {
    let path = cx.chart.state(state).path.clone();
    if let StateKind::Final { params, .. } = cx.chart.state(state).kind.clone() {
        let what = format!("final `{path}`");
        let span = target.path.span;
        if let NodeKind::Final(_, values, _) = cx.nodes[state.index()].kind
            && values.iter().any(Option::is_some)
        {
            refuse_computed(cx, env, state, target);
            return Vec::new();
        }
        return expr::arguments(cx, env, &what, &params, &target.arguments, span);
    }
    for argument in &target.arguments {
        expr::expr(cx, env, argument, None);
    }
    if let (Some(first), Some(last)) = (target.arguments.first(), target.arguments.last()) {
        let finding = TYPE_ERROR
            .at(first.span.to(last.span), format!("`{path}` takes no arguments"))
            .help("only a final state has parameters; keep the value in a `var`");
        cx.report(finding);
    }
    Vec::new()
}

/// Reports arguments for a final state that computes its own values.
fn refuse_computed(cx: &mut Cx<'_>, env: &mut Env, state: StateId, target: &syntax::Target) {
    for argument in &target.arguments {
        expr::expr(cx, env, argument, None);
    }
    if let (Some(first), Some(last)) = (target.arguments.first(), target.arguments.last()) {
        let path = &cx.chart.state(state).path;
        let finding = TYPE_ERROR
            .at(first.span.to(last.span), format!("`{path}` computes what it ends with"))
            .help("leave the arguments out, or the `= …` where the final is declared")
            .related(cx.map.state(state).name, "declared here");
        cx.report(finding);
    }
}

/// Determines the kind of a transition by its source and targets: internal, external or targetless.
pub(super) fn kind(
    cx: &mut Cx<'_>,
    source: StateId,
    written: &syntax::Tail,
    targets: &[Target],
) -> TransitionKind {
    let place = written.targets.last().map(|t| t.path.span);
    if targets.is_empty() {
        if written.reenter
            && let Some(span) = written.guard.as_ref().map(|g| g.span)
        {
            cx.report(ILLEGAL_STRUCTURE.at(span, "`reenter` needs a target"));
        }
        return TransitionKind::Targetless;
    }
    let compound = matches!(cx.chart.state(source).kind, StateKind::Compound { .. });
    let below = targets.iter().all(|t| t.state != source && cx.chart.contains(source, t.state));
    if source.0 == 0 {
        if let (true, Some(span)) = (written.reenter, place) {
            let finding = ILLEGAL_STRUCTURE
                .at(span, "a line of the chart itself cannot `reenter`")
                .help("the chart is never left; its active states are exited in any case");
            cx.report(finding);
        }
        return TransitionKind::Internal;
    }
    if compound && below && !written.reenter {
        TransitionKind::Internal
    } else {
        TransitionKind::External
    }
}

/// The trigger for the events of a path, and the names bound to the events' fields.
pub(super) fn payload(
    cx: &mut Cx<'_>,
    path: &syntax::Path,
    names: &[crate::syntax::source::Ident],
) -> (Trigger, Vec<Bound>) {
    let events = declare::events_of(cx, path);
    let mut bound = Vec::new();
    for (nth, name) in names.iter().enumerate() {
        let mut ty = None;
        for id in &events {
            let event = &cx.chart.events[id.index()];
            let Some(field) = event.fields.get(nth) else {
                let count = event.fields.len();
                let plural = if count == 1 { "" } else { "s" };
                let message = format!("event `{}` has {count} field{plural}", event.name);
                cx.report(TYPE_ERROR.at(name.span, message).label("a name too many"));
                ty = None;
                break;
            };
            match &ty {
                None => ty = Some(field.ty.clone()),
                Some(known) if *known == field.ty => {}
                Some(known) => {
                    let (a, b) = (cx.a(known), cx.a(&field.ty));
                    let message = format!("this is {a} in one event and {b} in another");
                    let help = format!("`{}` means several events", path.text());
                    cx.report(TYPE_ERROR.at(name.span, message).help(help));
                    break;
                }
            }
        }
        match &ty {
            Some(ty) => cx.record_binding(name, ty),
            // The fields of an unknown event are not known.
            None => cx.record_declaration(name, NameKind::Local),
        }
        bound.push(Bound::local(name, ty.unwrap_or(Type::Json)));
    }
    (Trigger::Event(events), bound)
}

// Lowers the trigger of a line: its first words.

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
            let (trigger, bound) = payload(cx, path, names);
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

pub(super) fn refuse_twice(cx: &mut Cx<'_>, names: &[Ident]) {
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = names[..index].iter().find(|n| n.node == name.node) {
            cx.report(duplicate_name::bound_twice(&name.node, name.span, first.span));
        }
    }
}

/// The step or state that a pattern such as `done(X)` names.
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
const ERRORS: [&str; 10] = [
    "execution",
    "livelock",
    "limit.calls",
    "limit.tokens",
    "limit.cost",
    "limit.time",
    "limit.turns",
    "stuck.dead",
    "stuck.loop",
    "stuck.timeout",
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
    // A pattern also matches the errors whose dotted names begin with it: `limit` matches `limit.calls`.
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
    env.asked = expr::asked::offering(cx, env.state);
    let (name, kind) = match &may.kind {
        MayKind::Option(name, params) => {
            cx.record_choice(name);
            let fields = declare::fields(cx, params, NameKind::Param);
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
            let known = tools::set_of(cx, set);
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
    // A placeholder: `nodes::add` replaces it when the choice gets its id.
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
        actions::refuse_write(cx, id, name.span, place);
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

/// Adds the transitions of a `from … { }`.
pub(super) fn from(cx: &mut Cx<'_>, source: StateId, from: &syntax::From) {
    let Some(scope) = scope(cx, source, from) else {
        cx.dropped = true;
        return;
    };
    let mut targets: Vec<Vec<StateId>> = Vec::new();
    for (i, Noted { node: line, span, .. }) in from.lines.iter().enumerate() {
        let near = |nth: usize| {
            from.lines.get(nth).map(|noted| (Neighbour::Line(&noted.node), noted.span))
        };
        let beside = Beside::new(i.checked_sub(1).and_then(near), near(i + 1));
        let Some(mut draft) = draft(cx, source, line, *span, beside) else {
            cx.dropped = true;
            continue;
        };
        if draft.each {
            cx.dropped = true;
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "`each after` is not allowed in `from`")
                .help("write it as a line of the state whose leaves it is meant for");
            cx.report(finding);
            continue;
        }
        let mut scope = scope.clone();
        // A line of `from *` does not apply in its own targets, so that it does not restart them.
        if scope.wildcard {
            let left = draft.transition.targets.iter().map(|t| t.state);
            let left: Vec<StateId> = left.filter(|t| !is_history(cx, *t)).collect();
            scope.none_of.extend(&left);
            targets.push(left);
            scope.none_of.sort_unstable();
            scope.none_of.dedup();
        }
        draft.transition.scope = Some(scope);
        draft.spans.from = Some(from.span);
        add(cx, draft);
    }
    if scope.wildcard {
        needless(cx, source, from, &targets);
    }
}

/// Reports exceptions that a `from *` makes anyway: final children, and states that are targets of each of its lines. `targets` contains
/// the targets by line.
fn needless(cx: &mut Cx<'_>, source: StateId, from: &syntax::From, targets: &[Vec<StateId>]) {
    for path in &from.except {
        let Some(state) = find(cx, source, path) else { continue };
        let row = cx.chart.state(state);
        let is_final = row.parent == Some(source) && matches!(row.kind, StateKind::Final { .. });
        let always = !targets.is_empty() && targets.iter().all(|left| left.contains(&state));
        if is_final || always {
            let finding = needless_except::left_out(&row.name, is_final, path.span);
            cx.report(finding);
        }
    }
}

fn scope(cx: &mut Cx<'_>, source: StateId, from: &syntax::From) -> Option<Scope> {
    if let NodeKind::Final(..) = cx.nodes[source.index()].kind {
        let (name, declared) = (&cx.chart.state(source).name, cx.map.state(source).name);
        let finding = illegal_structure::in_final("`from`", name, from.span, declared);
        cx.report(finding);
        return None;
    }
    let wildcard = from.states.is_empty();
    let any_of = reachable(cx, source, &from.states);
    let mut none_of = reachable(cx, source, &from.except);
    if !wildcard && any_of.is_empty() {
        return None;
    }
    // Nothing leads out of a final child.
    if wildcard {
        none_of.extend(finals(cx, source));
    }
    none_of.sort_unstable();
    none_of.dedup();
    Some(Scope { wildcard, any_of, none_of })
}

/// The final children of a state, cached because many lines may ask for them.
fn finals(cx: &mut Cx<'_>, state: StateId) -> Vec<StateId> {
    if let Some((_, known)) = cx.finals.as_ref().filter(|(known, _)| *known == state) {
        return known.clone();
    }
    let is_final = |s: &StateId| matches!(cx.chart.state(*s).kind, StateKind::Final { .. });
    let found: Vec<StateId> = cx.chart.children(state).filter(is_final).collect();
    cx.finals = Some((state, found.clone()));
    found
}

/// The states of a list that can be active together with `source`, in document order; reports the others.
fn reachable(cx: &mut Cx<'_>, source: StateId, written: &[syntax::Path]) -> Vec<StateId> {
    let mut found = Vec::new();
    for path in written {
        let Some(state) = paths::state(cx, source, path) else { continue };
        let together = cx.chart.contains(source, state)
            || cx.chart.contains(state, source)
            || in_two_regions(cx, source, state);
        if is_history(cx, state) {
            let declared = cx.map.state(state).name;
            cx.report(illegal_structure::history_in_from(&path.text(), path.span, declared));
            continue;
        }
        if !together {
            let outer = &cx.chart.state(source).name;
            let declared = cx.map.state(state).name;
            let finding =
                illegal_structure::from_elsewhere(&path.text(), outer, path.span, declared);
            cx.report(finding);
            continue;
        }
        found.push(state);
    }
    found.sort_unstable();
    found.dedup();
    found
}
