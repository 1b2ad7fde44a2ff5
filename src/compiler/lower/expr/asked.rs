//! Lowers `asked.x`: the value that a question showed, and the data of the event that a question is asked on.
//!
//! The problem: a question may wait for days, and `x` may change meanwhile. What the answer leads to needs the value that was shown. The
//! idea: the chart gets a variable for it ([`VariableKind::Asked`]), which [`chartc_core::model::Step::asking`] sets when the question is
//! asked. The prompt then reads this variable instead of `x`, so that both are the same. For example:
//!
//! ```text
//! human pay "Pay {amount}?" { returns Bool  done if pay -> paid { sum = asked.amount } }
//!
//! asking: asked.pay.amount = amount     question: "Pay {asked.pay.amount}?"     done: sum = asked.pay.amount
//! ```
//!
//! The data of an event is set in the same way: `ask look on decides(post)` sets `asked.look.post`.

use super::{Bound, Env, of, unknown, zero};
use crate::lower::context::{Cx, NameKind, Shown};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, UNKNOWN_NAME};
use crate::syntax;
use crate::syntax::diagnostic::near;
use crate::syntax::source::{Ident, Span};
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::model::{
    Action, Expr, ExprKind, Insert, Predicate, StateKind, StepKind, Template, Type, TypeKind,
    Variable, VariableKind,
};

/// The name of what was asked, in expressions.
pub const ASKED: &str = "asked";

/// The data of the event that the question of `env` is asked on, by name.
pub(in crate::lower) fn datum(cx: &Cx<'_>, env: &Env, name: &str) -> Option<(Bound, VarId)> {
    let data = cx.names.asked.data.get(&env.question?)?;
    let datum = data.iter().find(|datum| datum.name == name)?;
    let ty = cx.chart.variables[datum.variable.index()].ty.clone();
    Some((Bound { name: datum.name.clone(), ty, place: Some(datum.place) }, datum.variable))
}

/// The questions that may offer a `may` line of this state.
pub(in crate::lower) fn offering(cx: &Cx<'_>, state: StateId) -> Vec<StepId> {
    let is_offering = |id: &StepId| {
        let own = cx.chart.steps[id.index()].state;
        matches!(cx.step_nodes[id.index()].step.kind, syntax::StepKind::Ask(_))
            && (cx.chart.contains(own, state) || cx.chart.contains(state, own))
    };
    (0..cx.chart.steps.len()).map(StepId::at).filter(is_offering).collect()
}

/// Lowers `asked.x`. Returns `None` if `asked` is a name of the chart.
pub(in crate::lower) fn field(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    base: Span,
) -> Option<Expr> {
    let own = env.binds(ASKED)
        || cx.names.variables.contains_key(ASKED)
        || cx.names.predicates.contains_key(ASKED)
        || cx.names.steps.contains_key(ASKED);
    if own {
        return None;
    }
    let Some(first) = env.asked.first().copied() else {
        let finding = UNKNOWN_NAME
            .at(base, "nothing was asked here")
            .help("`asked.x` is known in the outcome lines of an `llm`, `human` or `ask` step, and on `may` lines that an `ask` offers");
        cx.report(finding);
        return Some(unknown(&name.node));
    };
    let questions = env.asked.clone();
    let key = (questions.clone(), name.node.clone());
    if let Some(id) = cx.names.asked.values.get(&key).copied() {
        record(cx, first, name);
        return Some(variable(cx, id));
    }
    let mut sources = Vec::new();
    for id in &questions {
        let Some(source) = source(cx, *id, name) else {
            let step = cx.chart.steps[id.index()].name.clone();
            let mut finding =
                UNKNOWN_NAME.at(name.span, format!("`{step}` is asked without `{}`", name.node));
            let known = cx.names.variables.keys().map(String::as_str);
            let data = cx.names.asked.data.get(id).into_iter().flatten();
            let known = known.chain(data.map(|datum| datum.name.as_str()));
            finding = finding.meant(&name.node, near(&name.node, known));
            cx.report(finding);
            return Some(unknown(&name.node));
        };
        sources.push(source);
    }
    record(cx, first, name);
    let ty = sources[0].ty.clone();
    if let Some(other) = sources.iter().find(|source| source.ty != ty) {
        let message =
            format!("this is {} in one question and {} in another", cx.a(&ty), cx.a(&other.ty));
        cx.report(TYPE_ERROR.at(name.span, message));
        return Some(unknown(&name.node));
    }
    refuse_several(cx, &questions, &sources, base.to(name.span));
    let id = match (&*questions, &sources[0].kind) {
        // The data of an event has a variable of its own already.
        ([_], ExprKind::Variable(id)) if is_asked(cx, *id) => *id,
        _ => keep(cx, &questions, name, sources),
    };
    cx.names.asked.values.insert(key, id);
    Some(variable(cx, id))
}

/// Adds a variable that the questions set to their sources.
fn keep(cx: &mut Cx<'_>, questions: &[StepId], name: &Ident, sources: Vec<Expr>) -> VarId {
    let mut sources = sources.into_iter().zip(questions);
    let Some((first, question)) = sources.next() else { return VarId(0) };
    let shown = |source: &Expr| match source.kind {
        ExprKind::Variable(of) => Some(of),
        _ => None,
    };
    let of = shown(&first);
    let instead = add(cx, questions, (&name.node, name.span), first);
    let note = |cx: &mut Cx<'_>, question: StepId, of: Option<VarId>| {
        if let Some(of) = of.filter(|of| !is_asked(cx, *of)) {
            cx.names.asked.shown.push(Shown { questions: vec![question], of, instead });
        }
    };
    note(cx, *question, of);
    for (source, question) in sources {
        let of = shown(&source);
        cx.chart.steps[question.index()].asking.push(Action::Assign(instead, source));
        note(cx, *question, of);
    }
    if let (Some(of), true) = (of, questions.len() > 1) {
        cx.names.asked.shown.push(Shown { questions: questions.to_vec(), of, instead });
    }
    instead
}

fn variable(cx: &Cx<'_>, id: VarId) -> Expr {
    of(ExprKind::Variable(id), cx.chart.variables[id.index()].ty.clone())
}

fn is_asked(cx: &Cx<'_>, id: VarId) -> bool {
    cx.chart.variables[id.index()].kind == VariableKind::Asked
}

/// What a question shows under a name: data of its event, or a variable.
fn source(cx: &Cx<'_>, id: StepId, name: &Ident) -> Option<Expr> {
    let data = cx.names.asked.data.get(&id).into_iter().flatten();
    let found = data.clone().find(|datum| datum.name == name.node).map(|datum| datum.variable);
    let found = found.or_else(|| cx.names.variables.get(&name.node).map(|(id, _)| *id));
    found.map(|id| variable(cx, id))
}

/// Records the use of the name, for editors.
fn record(cx: &mut Cx<'_>, question: StepId, name: &Ident) {
    let data = cx.names.asked.data.get(&question).into_iter().flatten();
    let place = data.clone().find(|datum| datum.name == name.node).map(|datum| datum.place);
    let place = place.or_else(|| {
        let (_, place) = cx.names.variables.get(&name.node)?;
        Some((*place, NameKind::Variable))
    });
    if let Some((place, kind)) = place {
        cx.record_use(name.span, place, kind);
    }
}

/// Adds a variable that the first of the questions sets to a value when it is asked.
pub(in crate::lower) fn add(
    cx: &mut Cx<'_>,
    questions: &[StepId],
    (name, span): (&str, Span),
    value: Expr,
) -> VarId {
    let id = VarId::at(cx.chart.variables.len());
    let steps: Vec<&str> =
        questions.iter().map(|id| cx.chart.steps[id.index()].name.as_str()).collect();
    let mut left = MOST_VALUES;
    // A run that was saved before the chart had this variable continues with the present value.
    let default = match value.kind {
        ExprKind::Variable(_) => Some(value.clone()),
        _ => blank(cx, &value.ty, &mut left),
    };
    cx.chart.variables.push(Variable {
        name: format!("{ASKED}.{}.{name}", steps.join(".")),
        doc: String::new(),
        kind: VariableKind::Asked,
        ty: value.ty.clone(),
        default,
    });
    cx.map.variables.push(span);
    if let Some(first) = questions.first() {
        cx.chart.steps[first.index()].asking.push(Action::Assign(id, value));
    }
    id
}

/// The maximum number of values in the data that stand for those of an event until the question is asked.
const MOST_VALUES: u32 = 1000;

/// A value of a type that stands for the data of an event until the question is asked. `None` if it contains more than `left` values, as
/// that of a record that contains itself would.
fn blank(cx: &Cx<'_>, ty: &Type, left: &mut u32) -> Option<Expr> {
    *left = left.checked_sub(1)?;
    let Type::Named(id) = ty else { return Some(zero(cx, ty)) };
    let TypeKind::Record(fields) = &cx.chart.types[id.index()].kind else {
        return Some(zero(cx, ty));
    };
    let fields = fields.iter().map(|field| Some((field.name.clone(), blank(cx, &field.ty, left)?)));
    Some(of(ExprKind::Record(*id, fields.collect::<Option<_>>()?), ty.clone()))
}

/// Reports questions of which several may be open at a time because they are asked in several regions, so that it is unclear what was asked.
pub(in crate::lower) fn refuse_regions(cx: &mut Cx<'_>, questions: &[StepId], span: Span) {
    let is_split = |id: &&StepId| {
        let state = cx.chart.steps[id.index()].state;
        let mut below = cx.chart.state_ids().filter(|other| cx.chart.contains(state, *other));
        matches!(cx.step_nodes[id.index()].step.kind, syntax::StepKind::Ask(_))
            && below.any(|other| matches!(cx.chart.state(other).kind, StateKind::Parallel))
    };
    if let Some(id) = questions.iter().find(is_split).copied() {
        let why = "may be asked in several regions at a time";
        refuse(cx, id, span, why, "move the question into a region");
    }
}

/// Reports questions of which several may be open at a time, so that it is unclear what was asked. Data of an event belong to all elements
/// of a step.
fn refuse_several(cx: &mut Cx<'_>, questions: &[StepId], sources: &[Expr], span: Span) {
    let is_datum =
        |source: &Expr| matches!(source.kind, ExprKind::Variable(id) if is_asked(cx, id));
    if !sources.iter().all(is_datum) {
        refuse_each(cx, questions, span);
    }
    refuse_regions(cx, questions, span);
}

/// Reports steps that ask for each element, so that it is unclear what was asked.
fn refuse_each(cx: &mut Cx<'_>, questions: &[StepId], span: Span) {
    let is_each = |id: &&StepId| cx.step_nodes[id.index()].step.each.is_some();
    if let Some(id) = questions.iter().find(is_each).copied() {
        refuse(cx, id, span, "asks for each element", "read the answers instead");
    }
}

fn refuse(cx: &mut Cx<'_>, id: StepId, span: Span, why: &str, help: &str) {
    let step = &cx.chart.steps[id.index()].name;
    let message = format!("`{step}` {why}: it is not clear what was asked");
    cx.report(ILLEGAL_STRUCTURE.at(span, message).help(help));
}

/// Makes the prompts and options of questions read what `asked.x` reads.
pub(in crate::lower) fn show(cx: &mut Cx<'_>) {
    let shown = std::mem::take(&mut cx.names.asked.shown);
    let predicates = if shown.is_empty() { Vec::new() } else { cx.chart.predicates.clone() };
    for Shown { questions, of, instead } in shown {
        let new = Replacement { of, instead, predicates: &predicates };
        if let [question] = &*questions {
            show_in_prompt(cx, *question, &new);
        }
        let lines = cx.chart.choices.iter().map(|choice| cx.chart.transition(choice.transition));
        let offered: Vec<bool> = lines.map(|line| offering(cx, line.source) == questions).collect();
        for (choice, offered) in cx.chart.choices.iter_mut().zip(offered) {
            choice.text.iter_mut().filter(|_| offered).for_each(|text| new.in_text(text));
        }
    }
}

fn show_in_prompt(cx: &mut Cx<'_>, question: StepId, new: &Replacement<'_>) {
    let step = &mut cx.chart.steps[question.index()];
    if let StepKind::Human(text) = &mut step.kind {
        new.in_text(text);
    }
    step.prompt.iter_mut().for_each(|text| new.in_text(text));
    // A component that reads the variable gets a copy for this step.
    let mut at = 0;
    while at < cx.chart.components.len() {
        let component = &mut cx.chart.components[at];
        let is_own = |insert: &Insert| insert.step == question;
        for insert in component.inserts.iter_mut().filter(|insert| insert.step == question) {
            insert.guard.iter_mut().for_each(|guard| new.in_expr(guard));
        }
        let reads = component.text.holes().any(|hole| new.reads(hole));
        at += 1;
        if !reads || !component.inserts.iter().any(is_own) {
            continue;
        }
        if component.inserts.iter().all(is_own) {
            new.in_text(&mut component.text);
            continue;
        }
        let mut copy = component.clone();
        component.inserts.retain(|insert| !is_own(insert));
        copy.inserts.retain(is_own);
        new.in_text(&mut copy.text);
        cx.chart.components.insert(at, copy);
        let (name, parts) = (cx.map.components[at - 1], cx.map.component_parts[at - 1].clone());
        cx.map.components.insert(at, name);
        cx.map.component_parts.insert(at, parts);
        at += 1;
    }
}

/// A variable that takes the place of another. Named conditions that read the other one are written out.
struct Replacement<'p> {
    of: VarId,
    instead: VarId,
    predicates: &'p [Predicate],
}

impl Replacement<'_> {
    fn in_text(&self, text: &mut Template) {
        text.holes_mut().for_each(|hole| self.in_expr(hole));
    }

    fn in_expr(&self, expr: &mut Expr) {
        if let ExprKind::Predicate(id) = expr.kind
            && self.reads(expr)
        {
            *expr = self.predicates[id.index()].expr.clone();
        }
        if expr.kind == ExprKind::Variable(self.of) {
            expr.kind = ExprKind::Variable(self.instead);
        }
        expr.each_part_mut(&mut |part| self.in_expr(part));
    }

    fn reads(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found = found
                || match part.kind {
                    ExprKind::Variable(id) => id == self.of,
                    ExprKind::Predicate(id) => self.reads(&self.predicates[id.index()].expr),
                    _ => false,
                };
        });
        found
    }
}
