//! Lowers lines with a trigger, and what follows the trigger: guard, targets, actions.

use super::beside::{Beside, idle_when};
use super::context::{Cx, NodeKind};
use super::expr::{self, Bound, Env};
use super::uses::NameKind;
use super::{TransitionSpans, block, data, paths, trigger};
use chartc_core::arena::{ChoiceId, StateId, TransitionId};
use chartc_core::model::{
    BinaryOp, Choice, Expr, ExprKind, StateKind, Target, Transition, TransitionKind, Trigger, Type,
};
use chartc_text::rules::illegal_structure;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::Span;
use chartc_text::syntax;

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

/// A transition that has no id yet.
pub(super) struct Draft {
    pub(super) transition: Transition,
    pub(super) spans: TransitionSpans,
    pub(super) choice: Option<(Choice, Span)>,
    pub(super) each: bool,
}

/// Adds a transition, and its option if it has one, to the model.
pub(super) fn add(cx: &mut Cx<'_>, mut draft: Draft) -> TransitionId {
    let id = TransitionId::at(cx.chart.transitions.len());
    if let Some((mut choice, span)) = draft.choice {
        draft.transition.trigger = Trigger::Choice(ChoiceId::at(cx.chart.choices.len()));
        choice.transition = id;
        cx.chart.choices.push(choice);
        cx.map.choices.push(span);
    }
    cx.chart.states[draft.transition.source.index()].transitions.push(id);
    cx.chart.transitions.push(draft.transition);
    cx.map.transitions.push(draft.spans);
    id
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
    let found = trigger::of(cx, &mut env, line, span);
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
    let actions = written.actions.as_ref().map(|b| block::actions(cx, env, b));
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

/// Whether the states can be active together; reports two that cannot. Comparing neighbours in document order is enough, because what lies
/// between two targets shares their common ancestor.
pub(super) fn refuse_apart(cx: &mut Cx<'_>, found: &[(StateId, Span)]) -> bool {
    let mut sorted = found.to_vec();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        let [(a, first), (b, second)] = pair else { continue };
        if !paths::in_two_regions(cx, *a, *b) {
            let (x, y) = (&cx.chart.state(*a).path, &cx.chart.state(*b).path);
            let finding = illegal_structure::apart(x, y, *second, *first);
            cx.report(finding);
            return false;
        }
    }
    true
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
    names: &[chartc_text::span::Ident],
) -> (Trigger, Vec<Bound>) {
    let events = data::events_of(cx, path);
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
