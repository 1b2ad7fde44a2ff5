//! Expressions: resolves names, checks types, makes conversions explicit.
//!
//! The problem: an author writes names and leaves conversions out, but evaluators, emitters and analyses want ids, a type for each node,
//! and no rules of conversion. The idea: one pass from the leaves to the root. An [`Env`] knows what is in scope, and which values are not
//! `none` there; a *hint* is the type that would be preferred. A faulty expression is reported once and becomes `Unknown`, which fits
//! everywhere. For example, the guard `price != none and price + n > 10.0`, with `price: Float?` and `n: Int`:
//!
//! 1. `price` is a variable of type `Float?`, so it can be compared with `none`. The environment learns from `price != none`.
//! 2. The right operand of `and` is lowered with this knowledge: there, `price` has the type `Float`.
//! 3. In `price + n`, a Float and an Int become a Float, so `n` becomes `float(n)`.
//! 4. The result, of type `Bool`, is `price != none and price + float(n) > 10.0`, with ids instead of names.
//!
//! An expression of type `T` fits where `T?` or `Json` is expected. One of type `Json` fits anywhere except as a condition: it is checked
//! at run time. An Int is wrapped in `float(…)` where a Float is expected.

pub(super) mod asked;
pub(super) mod calls;
pub(super) mod literals;

pub use asked::ASKED;
pub use calls::names as language_functions;
pub(super) use calls::{is_language_function, unknown_function};
pub(super) use literals::{
    Options, above, accepts, arguments, expect, is_faulty, refuse_options, refuse_outside,
    template, value_of, zero,
};

use super::context::{Cx, NameKind};
use crate::rules::{TYPE_ERROR, UNKNOWN_NAME, UNKNOWN_PLACEHOLDER, type_error, unknown_name};
use crate::syntax;
use crate::syntax::diagnostic::{Diagnostic, near};
use crate::syntax::source::{Ident, Span};
use chartc_core::arena::{LocalId, StateId, StepId, VarId};
use chartc_core::model::{
    BinaryOp, Builtin, CompareOp, Expr, ExprKind, Local, Observable, Since, StateKind, Type,
    TypeDef, TypeKind, UnaryOp, VariableKind,
};
use literals::is_count;
use std::collections::BTreeSet;

/// The maximum nesting depth of an expression, because evaluators and analyses recurse.
const DEEPEST: u32 = 200;

/// The expression that stands for a faulty one, which has been reported.
pub(super) fn unknown(name: &str) -> Expr {
    Expr { kind: ExprKind::Unknown(name.to_owned()), ty: Type::Json }
}

/// An expression of this kind and type.
pub(super) fn of(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty }
}

/// Resolves an expression. `hint` is the preferred type: it decides the types of literals, but nothing is refused because of it.
pub(super) fn expr(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    if env.depth >= DEEPEST {
        let finding = TYPE_ERROR
            .at(written.span, "this expression nests too deeply")
            .help("give parts of it a name with `pred`, or compute them in a `code` step");
        cx.report(finding);
        return unknown("");
    }
    env.depth += 1;
    let lowered = dispatch(cx, env, written, hint);
    env.depth -= 1;
    lowered
}

fn dispatch(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr, hint: Option<&Type>) -> Expr {
    use super::super::syntax::ExprKind as S;
    let span = written.span;
    match &written.kind {
        S::None => of(ExprKind::None, Type::Optional(Box::new(Type::Json))),
        S::Bad => unknown(""),
        S::Bool(b) => of(ExprKind::Bool(*b), Type::Bool),
        S::Int(i) | S::GroupedInt(i) => of(ExprKind::Int(*i), Type::Int),
        S::Float(x) => of(ExprKind::Float(*x), Type::Float),
        S::Duration(ms) => of(ExprKind::Duration(*ms), Type::Duration),
        S::Text(text) => {
            let (text, _) = template(cx, env, text, Options::No);
            of(ExprKind::Text(text), Type::Text)
        }
        S::Name(name) => self::name(cx, env, name, span),
        S::Field(base, field) => self::field(cx, env, base, field),
        S::Index(base, index) => index_of(cx, env, base, index),
        S::Slice(base, from, to) => slice(cx, env, base, from.as_deref(), to.as_deref()),
        S::Call(function, arguments) => calls::call(cx, env, function, arguments, span, hint),
        S::Unary(UnaryOp::Not, inner) => {
            let inner = condition(cx, env, inner);
            of(ExprKind::Unary(UnaryOp::Not, Box::new(inner)), Type::Bool)
        }
        S::Unary(UnaryOp::Negate, inner) => negate(cx, env, inner, hint),
        S::Binary(op, left, right) => binary(cx, env, *op, left, right, span),
        S::Compare(first, rest) => compare(cx, env, first, rest),
        S::If(test, then, other) => if_else(cx, env, [test, then, other], hint, span),
        S::Default(value, default) => default_of(cx, env, value, default, hint),
        S::List(items) => literals::list(cx, env, items, hint),
        S::Map(entries) => literals::map(cx, env, entries, hint),
        S::Record(name, fields) => literals::record(cx, env, name, fields),
        S::Comprehension { item, name, source, filter } => {
            comprehension(cx, env, name, [item, source], filter.as_deref(), hint)
        }
        S::Flattened(lists) => flattened(cx, env, lists, hint),
    }
}

/// Resolves a condition: an expression of type Bool.
pub(super) fn condition(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr) -> Expr {
    let lowered = expr(cx, env, written, Some(&Type::Bool));
    if lowered.ty == Type::Bool || is_faulty(&lowered) {
        return lowered;
    }
    let finding = TYPE_ERROR
        .at(written.span, format!("a condition is a `Bool`, this is {}", cx.a(&lowered.ty)))
        .help(match lowered.ty {
            Type::Json => {
                "write `bool(…)` around it to ask whether it is neither empty, zero nor none"
            }
            Type::Optional(_) => "compare it: `… != none`, or give a default with `??`",
            _ => "compare it with something",
        });
    cx.report(finding);
    lowered
}

/// Resolves an expression that cannot be `none`: reports a value that may be missing.
pub(super) fn present(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    let lowered = expr(cx, env, written, hint);
    refuse_missing(cx, &lowered, written.span);
    lowered
}

/// Reports a value that may be missing. Returns whether it was reported.
pub(super) fn refuse_missing(cx: &mut Cx<'_>, lowered: &Expr, span: Span) -> bool {
    let missing = matches!(lowered.ty, Type::Optional(_)) && !is_faulty(lowered);
    if missing {
        cx.report(may_be_missing(span));
    }
    missing
}

pub(super) fn may_be_missing(span: Span) -> crate::syntax::diagnostic::Diagnostic {
    TYPE_ERROR
        .at(span, "this may be `none` here")
        .help("give a default with `??`, or test it with `!= none` first")
}

fn index_of(cx: &mut Cx<'_>, env: &mut Env, base: &syntax::Expr, index: &syntax::Expr) -> Expr {
    let lowered = present(cx, env, base, None);
    let (want, ty) = match inner(&lowered.ty) {
        Type::List(item) => (Some(Type::Int), (**item).clone()),
        Type::Text => (Some(Type::Int), Type::Text),
        Type::Map(value) => (Some(Type::Text), (**value).clone()),
        Type::Json => (None, Type::Json),
        _ => {
            let message = format!("{} has no elements", cx.a(&lowered.ty));
            cx.report(TYPE_ERROR.at(base.span, message));
            expr(cx, env, index, None);
            return unknown("");
        }
    };
    let index = match want {
        Some(want) => expect(cx, env, index, &want),
        None => present(cx, env, index, None),
    };
    of(ExprKind::Index(Box::new(lowered), Box::new(index)), ty)
}

fn slice(
    cx: &mut Cx<'_>,
    env: &mut Env,
    base: &syntax::Expr,
    from: Option<&syntax::Expr>,
    to: Option<&syntax::Expr>,
) -> Expr {
    let lowered = present(cx, env, base, None);
    let ty = inner(&lowered.ty).clone();
    if !matches!(ty, Type::List(_) | Type::Text | Type::Json) {
        let message = format!("{} has no parts to take", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(base.span, message));
        return unknown("");
    }
    let from = from.map(|e| Box::new(expect(cx, env, e, &Type::Int)));
    let to = to.map(|e| Box::new(expect(cx, env, e, &Type::Int)));
    of(ExprKind::Slice(Box::new(lowered), from, to), ty)
}

/// The type without `?`.
pub(super) fn inner(ty: &Type) -> &Type {
    if let Type::Optional(inner) = ty { inner } else { ty }
}

fn if_else(
    cx: &mut Cx<'_>,
    env: &mut Env,
    [test, then, other]: [&syntax::Expr; 3],
    hint: Option<&Type>,
    span: Span,
) -> Expr {
    let test = condition(cx, env, test);
    let then = env.knowing(&test, true, |env| expr(cx, env, then, hint));
    let other = env.knowing(&test, false, |env| expr(cx, env, other, hint));
    let (then, other, ty) = match literals::join(then, other, hint) {
        Ok(joined) => joined,
        Err((then, other)) => {
            let message = format!("the branches are {} and {}", cx.a(&then.ty), cx.a(&other.ty));
            cx.report(TYPE_ERROR.at(span, message));
            (then, other, Type::Json)
        }
    };
    of(ExprKind::If(Box::new(test), Box::new(then), Box::new(other)), ty)
}

fn default_of(
    cx: &mut Cx<'_>,
    env: &mut Env,
    value: &syntax::Expr,
    default: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    let left = expr(cx, env, value, hint);
    let present = inner(&left.ty).clone();
    let hint = if present == Type::Json { hint } else { Some(&present) };
    let right = expr(cx, env, default, hint);
    // The type of a literal `none` says nothing, so the default decides.
    let bare = left.kind == ExprKind::None;
    if bare || present == Type::Json || right.ty == Type::Json {
        let ty = if bare { right.ty.clone() } else { Type::Json };
        return of(ExprKind::Default(Box::new(left), Box::new(right)), ty);
    }
    let optional = optional(present.clone());
    let want = if matches!(right.ty, Type::Optional(_)) { optional } else { present.clone() };
    // With a Float default, an optional Int would have to be converted, so this is reported instead.
    match literals::coerce(right, &want) {
        Ok(right) => of(ExprKind::Default(Box::new(left), Box::new(right)), want),
        Err(right) => {
            let finding = mismatch(cx, default.span, &present, &right.ty);
            cx.report(finding);
            unknown("")
        }
    }
}

fn comprehension(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    [item, source]: [&syntax::Expr; 2],
    filter: Option<&syntax::Expr>,
    hint: Option<&Type>,
) -> Expr {
    // The source is outside of the scope of the variable.
    let from = present(cx, env, source, None);
    let element = element_of(cx, &from, source.span);
    let local = LocalId::at(env.locals.len());
    cx.record_binding(name, &element);
    env.locals.push(Bound::local(name, element));
    let hint = match hint.map(inner) {
        Some(Type::List(item)) => Some((**item).clone()),
        Some(Type::Json) => Some(Type::Json),
        _ => None,
    };
    let filter = filter.map(|f| condition(cx, env, f));
    let kept = match &filter {
        Some(test) => env.knowing(test, true, |env| expr(cx, env, item, hint.as_ref())),
        None => expr(cx, env, item, hint.as_ref()),
    };
    env.locals.pop();
    env.forget_local(local);
    let kept = match &hint {
        Some(want) => literals::coerce(kept, want).unwrap_or_else(|kept| kept),
        None => kept,
    };
    let ty = Type::List(Box::new(kept.ty.clone()));
    let kind = ExprKind::Comprehension {
        item: Box::new(kept),
        local: Local { id: local, name: name.node.clone() },
        source: Box::new(from),
        filter: filter.map(Box::new),
    };
    of(kind, ty)
}

/// Lowers a comprehension over several sources, whose first makes lists of the others.
fn flattened(cx: &mut Cx<'_>, env: &mut Env, lists: &syntax::Expr, hint: Option<&Type>) -> Expr {
    let hint = hint.map(|ty| Type::List(Box::new(inner(ty).clone())));
    let lists = expr(cx, env, lists, hint.as_ref());
    let ty = if let Type::List(list) = &lists.ty { (**list).clone() } else { Type::Json };
    of(ExprKind::Builtin(Builtin::Flatten, vec![lists]), ty)
}

/// The type of the elements when iterating over `from`: the elements of a list, the characters of a text, or the keys of a map.
pub(super) fn element_of(cx: &mut Cx<'_>, from: &Expr, span: Span) -> Type {
    match inner(&from.ty) {
        Type::List(item) => (**item).clone(),
        Type::Text | Type::Map(_) => Type::Text,
        Type::Json => Type::Json,
        _ => {
            let message = format!("cannot go through {}", cx.a(&from.ty));
            cx.report(TYPE_ERROR.at(span, message).help("a list, a text or a map is wanted"));
            Type::Json
        }
    }
}

/// The fields of a record type.
pub(super) fn record_fields<'c>(
    cx: &'c Cx<'_>,
    ty: &Type,
) -> Option<&'c [chartc_core::model::Field]> {
    let Type::Named(id) = ty else { return None };
    match &cx.chart.types.get(id.index())?.kind {
        TypeKind::Record(fields) => Some(fields),
        TypeKind::Enum(_) => None,
    }
}

// The environment of an expression: what it may read besides the chart's own names.

/// The environment of an expression.
#[derive(Debug, Clone)]
pub(super) struct Env {
    /// The state in which the expression is written, from which paths are looked up.
    pub(super) state: StateId,
    /// The fields of the event or answer that is handled; a field without a name has an empty one.
    pub(super) payload: Vec<Bound>,
    /// Names that get their values only after the transition is selected, so that its guard cannot read them.
    pub(super) hidden: Vec<String>,
    /// Names bound by comprehensions and `for`, outermost first.
    pub(super) locals: Vec<Bound>,
    /// The questions of which one was asked before: `asked.x` reads what it showed.
    pub(super) asked: Vec<StepId>,
    /// The question whose event's data may be read.
    pub(super) question: Option<StepId>,
    /// The step whose answer certainly exists here.
    pub(super) answer: Option<StepId>,
    /// The places whose values are known not to be `none`.
    pub(super) facts: BTreeSet<Place>,
    /// The declarations that the expression may read.
    pub(super) reads: Reads,
    /// Whether the expression is inside `{…}` of a text.
    pub(super) placeholder: bool,
    /// Whether the expression is inside a text in which `{options}` is allowed.
    pub(super) offers: bool,
    /// The nesting depth of the expression.
    depth: u32,
}

/// A name that is bound where an expression is written.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) name: String,
    /// The type of the values that the name stands for.
    pub(super) ty: Type,
    /// The place of the name and its kind; `None` if nothing in a source binds it.
    pub(super) place: Option<(Span, NameKind)>,
}

impl Bound {
    /// A name that is written in the chart.
    pub(super) fn local(name: &Ident, ty: Type) -> Self {
        Self { name: name.node.clone(), ty, place: Some((name.span, NameKind::Local)) }
    }
}

/// The declarations that an expression may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Everything in scope.
    All,
    /// Variables declared before this one.
    Before(VarId),
    /// Params declared before this one.
    ParamsBefore(VarId),
    /// Params only.
    Params,
    /// Nothing: a literal.
    Nothing,
}

impl Env {
    /// The environment of an expression in a line, step or block of `state`.
    pub(super) fn at(state: StateId) -> Self {
        Self {
            state,
            payload: Vec::new(),
            hidden: Vec::new(),
            locals: Vec::new(),
            asked: Vec::new(),
            question: None,
            answer: None,
            facts: BTreeSet::new(),
            reads: Reads::All,
            placeholder: false,
            offers: false,
            depth: 0,
        }
    }

    /// The environment of an outcome of a step.
    pub(super) fn after(cx: &Cx<'_>, id: StepId) -> Self {
        let asks = match cx.step_nodes[id.index()].step.kind {
            syntax::StepKind::Llm | syntax::StepKind::Human(_) | syntax::StepKind::Ask(_) => true,
            syntax::StepKind::Code(_) | syntax::StepKind::Call(..) | syntax::StepKind::Run(_) => {
                false
            }
        };
        Self {
            asked: if asks { vec![id] } else { Vec::new() },
            question: Some(id),
            ..Self::at(cx.chart.steps[id.index()].state)
        }
    }

    /// The environment of a literal.
    pub(super) fn constant() -> Self {
        Self { reads: Reads::Nothing, ..Self::at(StateId(0)) }
    }

    /// The environment of the default of the variable that will get the id `id`.
    pub(super) fn default_of(id: VarId, param: bool) -> Self {
        let reads = if param { Reads::ParamsBefore(id) } else { Reads::Before(id) };
        Self { reads, ..Self::at(StateId(0)) }
    }

    /// The environment of an expression over the params.
    pub(super) fn params() -> Self {
        Self { reads: Reads::Params, ..Self::at(StateId(0)) }
    }

    /// Whether a name is bound here, and hides those of the chart.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.locals.iter().chain(&self.payload).any(|bound| bound.name == name)
    }

    /// Runs `then` with what `test` implies if its value is `outcome`.
    pub(super) fn knowing<T>(
        &mut self,
        test: &Expr,
        outcome: bool,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.facts.clone();
        self.learn(test, outcome);
        let result = then(self);
        self.facts = before;
        result
    }

    /// Adds what `test` implies if its value is `outcome`.
    pub(super) fn learn(&mut self, test: &Expr, outcome: bool) {
        known_present(test, outcome, &mut self.facts);
    }

    /// Notes that a variable is not `none` now.
    pub(super) fn know(&mut self, id: VarId) {
        self.facts.insert(Place { root: PlaceRoot::Variable(id), fields: Vec::new() });
    }

    /// Enters a nested block; false if it is nested too deeply.
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.depth <= DEEPEST
    }

    /// Leaves a nested block.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Forgets what was known of a variable, because it has changed.
    pub(super) fn forget(&mut self, id: VarId) {
        self.facts.retain(|place| place.root != PlaceRoot::Variable(id));
    }

    /// Forgets what was known of a name that is no longer in scope. The next name at its depth gets the same id.
    pub(super) fn forget_local(&mut self, id: LocalId) {
        self.facts.retain(|place| place.root != PlaceRoot::Local(id));
    }
}

// Lowers names and fields.

/// Observables that are written as a plain name.
static OBSERVABLES: [(&str, Observable, Type); 17] = [
    ("state", Observable::State, Type::Text),
    ("turns", Observable::Turns, Type::Int),
    ("turns_here", Observable::TurnsHere, Type::Int),
    ("fails_here", Observable::FailsHere, Type::Int),
    ("elapsed", Observable::Elapsed, Type::Duration),
    ("elapsed_here", Observable::ElapsedHere, Type::Duration),
    ("health", Observable::Health, Type::Text),
    ("advice", Observable::Advice, Type::Text),
    ("last_result", Observable::LastResult, Type::Text),
    ("last_failed", Observable::LastFailed, Type::Bool),
    ("event", Observable::Event, Type::Text),
    ("calls", Observable::Calls(Since::Start), Type::Int),
    ("calls_here", Observable::Calls(Since::Entry), Type::Int),
    ("tokens", Observable::Tokens(Since::Start), Type::Int),
    ("tokens_here", Observable::Tokens(Since::Entry), Type::Int),
    ("cost", Observable::Cost(Since::Start), Type::Float),
    ("cost_here", Observable::Cost(Since::Entry), Type::Float),
];

/// The observables of a run that are written as a plain name, each with its type.
pub fn observables() -> impl Iterator<Item = (&'static str, &'static Type)> {
    OBSERVABLES.iter().map(|(name, _, ty)| (*name, ty))
}

/// Resolves a name, innermost scope first, so that a chart's own names hide the machine's.
fn name(cx: &mut Cx<'_>, env: &mut Env, name: &str, span: Span) -> Expr {
    match resolve(cx, env, name, span) {
        Some(found) => narrowed(env, found),
        None => {
            missing(cx, env, name, span);
            unknown(name)
        }
    }
}

fn resolve(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) -> Option<Expr> {
    if let Some(depth) = env.locals.iter().rposition(|local| local.name == name) {
        let ty = bound(cx, &env.locals[depth], span);
        return Some(of(ExprKind::Local(LocalId::at(depth)), ty));
    }
    if let Some(nth) = env.payload.iter().position(|field| field.name == name) {
        let ty = bound(cx, &env.payload[nth], span);
        return Some(of(ExprKind::Payload(nth as u32), ty));
    }
    if let Some((datum, id)) = asked::datum(cx, env, name) {
        let ty = bound(cx, &datum, span);
        return Some(of(ExprKind::Variable(id), ty));
    }
    if let Some((id, place)) = cx.names.variables.get(name).copied() {
        cx.record_use(span, place, NameKind::Variable);
        check_read(cx, env, id, span);
        let ty = cx.chart.variables[id.index()].ty.clone();
        return Some(of(ExprKind::Variable(id), ty));
    }
    if let Some((id, place)) = cx.names.predicates.get(name).copied() {
        cx.record_use(span, place, NameKind::Predicate);
        cx.length = cx.length.saturating_add(cx.lengths[id.index()]);
        only_when_running(cx, env, name, span);
        return Some(of(ExprKind::Predicate(id), Type::Bool));
    }
    if let Some((id, place)) = cx.names.steps.get(name).copied() {
        cx.record_use(span, place, NameKind::Step);
        only_when_running(cx, env, name, span);
        return Some(answer(cx, env, id));
    }
    let (_, observable, ty) = OBSERVABLES.iter().find(|(known, ..)| *known == name)?;
    only_when_running(cx, env, name, span);
    cx.chart.reads_amounts |= observable.is_amount();
    Some(of(ExprKind::Observable(observable.clone()), ty.clone()))
}

/// The type of the value that a bound name stands for; records the use of the name.
fn bound(cx: &mut Cx<'_>, bound: &Bound, span: Span) -> Type {
    if let Some((place, kind)) = bound.place {
        cx.record_use(span, place, kind);
    }
    bound.ty.clone()
}

fn answer(cx: &Cx<'_>, env: &Env, id: StepId) -> Expr {
    let returns = cx.chart.steps[id.index()].returns.clone();
    let ty = if env.answer == Some(id) { returns } else { optional(returns) };
    of(ExprKind::Answer(id), ty)
}

/// Removes the `?` from the type of a value that is known not to be `none`.
fn narrowed(env: &Env, mut found: Expr) -> Expr {
    if matches!(found.ty, Type::Optional(_))
        && place_of(&found).is_some_and(|place| env.facts.contains(&place))
    {
        found.ty = inner(&found.ty).clone();
    }
    found
}

/// Reports variables that may not be read here. A default reads only what has a value before it.
fn check_read(cx: &mut Cx<'_>, env: &Env, id: VarId, span: Span) {
    let variable = &cx.chart.variables[id.index()];
    let is_param = matches!(variable.kind, VariableKind::Param { .. });
    // Later variables are not declared yet, so `Before` needs no check.
    let (allowed, why) = match env.reads {
        Reads::All | Reads::Before(_) => (true, ""),
        Reads::ParamsBefore(_) => (is_param, "the default of a param may read params only"),
        Reads::Params => (is_param, "only params may be read here"),
        Reads::Nothing => (false, "a literal is wanted here"),
    };
    if !allowed {
        let finding = type_error::not_here(&variable.name, why, span);
        cx.report(finding);
    }
}

/// Reports what has a value only at run time, if a constant is expected.
pub(super) fn only_when_running(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) {
    let help = match env.reads {
        Reads::All => return,
        Reads::Before(_) | Reads::ParamsBefore(_) => {
            "a default may read what is declared before it, and nothing of the run"
        }
        Reads::Params => "only params may be read here",
        Reads::Nothing => "a literal is wanted here",
    };
    cx.report(type_error::not_here(name, help, span));
}

fn missing(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) {
    if env.hidden.iter().any(|hidden| hidden == name) {
        cx.report(unknown_name::not_given_yet(name, span));
        return;
    }
    let rule = if env.placeholder { &UNKNOWN_PLACEHOLDER } else { &UNKNOWN_NAME };
    if let Some(later) = cx.names.later.get(name) {
        let finding = unknown_name::too_early(rule, name, span, *later);
        cx.report(finding);
        return;
    }
    if name == "options" {
        let finding = rule
            .at(span, "`options` stands alone in the prompt of an `ask`, as `{options}`")
            .help("nowhere else are there options to show");
        cx.report(finding);
        return;
    }
    // Declarations are lowered before states exist, so there may be no such state.
    let state = cx.chart.states.get(env.state.index());
    if let Some(StateKind::Final { params, .. }) = state.map(|s| &s.kind)
        && params.iter().any(|param| param.name == name)
    {
        let finding = rule
            .at(span, format!("`{name}` is what the run ends with: it cannot be read here"))
            .help("set a `var` on the lines that lead here, and read that");
        cx.report(finding);
        return;
    }
    let what = if env.placeholder { "nothing in scope is named" } else { "no variable" };
    let mut finding = rule.at(span, format!("{what} `{name}`"));
    if cx.take_guess() {
        finding = guess(cx, env, name, finding);
    }
    cx.report(finding);
}

fn guess(cx: &Cx<'_>, env: &Env, name: &str, finding: Diagnostic) -> Diagnostic {
    if cx.names.types.contains_key(name) {
        return finding
            .help(format!("`{name}` is a type; a value of an enum is written `{name}.value`"));
    }
    if cx.names.functions.contains_key(name) || is_language_function(name) {
        return finding.help(format!("`{name}` is a function; call it: `{name}(…)`"));
    }
    let named = |ty: &&TypeDef| match &ty.kind {
        TypeKind::Enum(values) => values.iter().any(|value| value == name),
        TypeKind::Record(_) => false,
    };
    if let Some(ty) = cx.chart.types.iter().find(named) {
        let value = format!("{}.{name}", ty.name);
        let help = format!("a value of an enum is written `{value}`");
        return finding.help(help).rename(name, &value, false);
    }
    // The supplied names are all that an agent knows of its run, so observables are not suggested to it.
    let observables = if cx.supplied.is_empty() { &OBSERVABLES[..] } else { &[] };
    let bound = env.locals.iter().chain(&env.payload).map(|bound| bound.name.as_str());
    let known = bound
        .chain(cx.names.variables.keys().map(String::as_str))
        .chain(cx.names.predicates.keys().map(String::as_str))
        .chain(cx.names.steps.keys().map(String::as_str))
        .chain(cx.names.types.keys().map(String::as_str))
        .chain(cx.supplied.iter().copied())
        .chain(observables.iter().map(|(known, ..)| *known))
        .chain((env.offers && cx.supplied.is_empty()).then_some("options"));
    finding.meant(name, near(name, known))
}

/// Lowers `x.f`, or the value `E.a` of an enum.
fn field(cx: &mut Cx<'_>, env: &mut Env, base: &syntax::Expr, field: &Ident) -> Expr {
    if let syntax::ExprKind::Name(name) = &base.kind
        && name == asked::ASKED
        && let Some(value) = asked::field(cx, env, field, base.span)
    {
        return narrowed(env, value);
    }
    if let syntax::ExprKind::Name(name) = &base.kind
        && let Some(value) = enum_value(cx, env, (name, base.span), field)
    {
        return value;
    }
    if let syntax::ExprKind::Name(name) = &base.kind
        && env.payload.iter().any(|known| known.name == *name && known.place.is_none())
        && !env.locals.iter().any(|known| known.name == *name)
    {
        // `result` in a test stands for the result of any of the final states.
        cx.record_result_use(field);
    }
    let lowered = expr(cx, env, base, None);
    if is_faulty(&lowered) || *inner(&lowered.ty) == Type::Json {
        let kind = ExprKind::Field(Box::new(lowered), field.node.clone());
        return of(kind, Type::Json);
    }
    if let Type::Named(id) = *inner(&lowered.ty) {
        cx.record_member_use(id, field);
    }
    let optional = matches!(lowered.ty, Type::Optional(_));
    let Some(fields) = record_fields(cx, inner(&lowered.ty)) else {
        let message = format!("{} has no fields", cx.a(&lowered.ty));
        let mut finding = TYPE_ERROR.at(field.span, message);
        if matches!(inner(&lowered.ty), Type::Map(_)) {
            finding = finding.help(format!("write `[\"{}\"]`", field.node));
        }
        cx.report(finding);
        return unknown(&field.node);
    };
    let Some(found) = fields.iter().find(|f| f.name == field.node) else {
        let known = fields.iter().map(|f| f.name.as_str());
        let record = cx.type_name(inner(&lowered.ty));
        let finding = unknown_name::field(&record, &field.node, field.span, known);
        cx.report(finding);
        return unknown(&field.node);
    };
    let ty = if optional { self::optional(found.ty.clone()) } else { found.ty.clone() };
    narrowed(env, of(ExprKind::Field(Box::new(lowered), field.node.clone()), ty))
}

fn enum_value(
    cx: &mut Cx<'_>,
    env: &Env,
    (name, span): (&str, Span),
    field: &Ident,
) -> Option<Expr> {
    if env.binds(name) || cx.names.variables.contains_key(name) {
        return None;
    }
    let (id, place) = cx.type_of(name, span)?;
    let TypeKind::Enum(_) = &cx.chart.types[id.index()].kind else { return None };
    if let Some(place) = place {
        cx.record_use(span, place, NameKind::Type);
    }
    cx.record_member_use(id, field);
    let TypeKind::Enum(values) = &cx.chart.types[id.index()].kind else { return None };
    let ty = Type::Named(id);
    if values.contains(&field.node) {
        return Some(of(ExprKind::Enum(id, field.node.clone()), ty));
    }
    let known = values.iter().map(String::as_str);
    let finding = unknown_name::enum_value(name, &field.node, field.span, known);
    cx.report(finding);
    Some(unknown(&field.node))
}

// Finds the values that are not `none` where a condition has a certain outcome.

/// Something that can be tested and then read again: a variable, or a field of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The value at which the place begins.
    pub(super) root: PlaceRoot,
    /// The names of the fields from there, outermost first.
    pub(super) fields: Vec<String>,
}

/// The value at which a [`Place`] begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlaceRoot {
    Variable(VarId),
    Local(LocalId),
    Payload(u32),
    Answer(StepId),
}

/// The place that an expression reads; `None` if it is anything but a name or a field of one.
pub(super) fn place_of(expr: &Expr) -> Option<Place> {
    let mut fields = Vec::new();
    let mut expr = expr;
    while let ExprKind::Field(base, field) = &expr.kind {
        fields.push(field.clone());
        expr = base;
    }
    fields.reverse();
    let root = if let ExprKind::Variable(id) = expr.kind {
        PlaceRoot::Variable(id)
    } else if let ExprKind::Local(id) = expr.kind {
        PlaceRoot::Local(id)
    } else if let ExprKind::Payload(nth) = expr.kind {
        PlaceRoot::Payload(nth)
    } else if let ExprKind::Answer(id) = expr.kind {
        PlaceRoot::Answer(id)
    } else {
        return None;
    };
    Some(Place { root, fields })
}

/// Adds the places that are not `none` if the value of `test` is `outcome`.
pub(super) fn known_present(test: &Expr, outcome: bool, facts: &mut BTreeSet<Place>) {
    if let ExprKind::Unary(UnaryOp::Not, inner) = &test.kind {
        known_present(inner, !outcome, facts);
    } else if let ExprKind::Binary(op, left, right) = &test.kind {
        // If an `and` is true, both operands are; if an `or` is false, both operands are.
        let both = if outcome { BinaryOp::And } else { BinaryOp::Or };
        if *op == both {
            known_present(left, outcome, facts);
            known_present(right, outcome, facts);
        }
    } else if let ExprKind::Compare(first, rest) = &test.kind {
        // A chain that is false does not tell which of its comparisons failed.
        if !outcome && rest.len() != 1 {
            return;
        }
        let mut left: &Expr = first;
        for (op, right) in rest {
            compared(left, *op, right, outcome, facts);
            compared(right, *op, left, outcome, facts);
            left = right;
        }
    }
}

fn compared(
    tested: &Expr,
    op: CompareOp,
    other: &Expr,
    outcome: bool,
    facts: &mut BTreeSet<Place>,
) {
    let equal = (op == CompareOp::Equal) == outcome;
    if op != CompareOp::Equal && op != CompareOp::NotEqual {
        return;
    }
    let other_is_none = other.kind == ExprKind::None;
    let other_is_there = !matches!(other.ty, Type::Optional(_) | Type::Json);
    if (!equal && other_is_none || equal && other_is_there)
        && let Some(place) = place_of(tested)
    {
        // If a field is there, so are the records that contain it.
        for shown in 0..=place.fields.len() {
            let fields = place.fields[..shown].to_vec();
            facts.insert(Place { root: place.root, fields });
        }
    }
}

// Lowers arithmetic, `and`, `or` and comparisons.

/// Lowers `-x`.
fn negate(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr, hint: Option<&Type>) -> Expr {
    let value = present(cx, env, written, hint);
    let ty = inner(&value.ty).clone();
    if !matches!(ty, Type::Int | Type::Float | Type::Json) {
        let message = format!("cannot negate {}", cx.a(&ty));
        cx.report(TYPE_ERROR.at(written.span, message));
        return unknown("");
    }
    of(ExprKind::Unary(UnaryOp::Negate, Box::new(value)), ty)
}

/// Lowers `a op b`.
fn binary(
    cx: &mut Cx<'_>,
    env: &mut Env,
    op: BinaryOp,
    left: &syntax::Expr,
    right: &syntax::Expr,
    span: Span,
) -> Expr {
    match op {
        BinaryOp::And | BinaryOp::Or => {
            let first = condition(cx, env, left);
            // The right operand is evaluated only if the left one does not decide the result, so its value is known there.
            let second = env.knowing(&first, op == BinaryOp::And, |env| condition(cx, env, right));
            of(ExprKind::Binary(op, Box::new(first), Box::new(second)), Type::Bool)
        }
        _ => {
            let a = present(cx, env, left, None);
            let hint = a.ty.clone();
            let b = present(cx, env, right, Some(&hint));
            arithmetic(cx, op, a, b, span)
        }
    }
}

fn arithmetic(cx: &mut Cx<'_>, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    let (at, bt) = (inner(&a.ty).clone(), inner(&b.ty).clone());
    let result = if at == Type::Json || bt == Type::Json {
        Some(Type::Json)
    } else {
        result_of(op, &at, &bt, &b)
    };
    let Some(ty) = result else {
        let faulty = is_faulty(&a) || is_faulty(&b);
        if !faulty {
            let message = format!("`{}` does not take {} and {}", word(op), cx.a(&at), cx.a(&bt));
            let mut finding = TYPE_ERROR.at(span, message);
            if op == BinaryOp::Add && (at == Type::Text || bt == Type::Text) {
                finding =
                    finding.help("put the value into the text: `\"… {x} …\"`, or use `str(x)`");
            }
            cx.report(literals::blame(cx, finding, &[&a, &b]));
        }
        return of(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Json);
    };
    let (a, b) = if ty == Type::Float { (floating(a), floating(b)) } else { (a, b) };
    of(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)
}

/// Converts an Int to a Float, and leaves anything else as it is.
fn floating(e: Expr) -> Expr {
    if e.ty == Type::Int { literals::coerce(e, &Type::Float).unwrap_or_else(|e| e) } else { e }
}

fn result_of(op: BinaryOp, a: &Type, b: &Type, right: &Expr) -> Option<Type> {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    if number(a) && number(b) {
        let ints = *a == Type::Int && *b == Type::Int;
        return Some(match op {
            BinaryOp::Divide => Type::Float,
            BinaryOp::Power if ints && is_count(right) => Type::Int,
            BinaryOp::Power => Type::Float,
            _ => {
                if ints {
                    Type::Int
                } else {
                    Type::Float
                }
            }
        });
    }
    match (op, a, b) {
        (BinaryOp::Add, Type::Text, Type::Text) => Some(Type::Text),
        (BinaryOp::Add, Type::List(_), Type::List(_)) if a == b => Some(a.clone()),
        (BinaryOp::Add, Type::List(x), Type::List(y)) if **x == Type::Json || **y == Type::Json => {
            Some(Type::List(Box::new(Type::Json)))
        }
        (BinaryOp::Add | BinaryOp::Subtract, Type::Duration, Type::Duration) => {
            Some(Type::Duration)
        }
        (BinaryOp::Divide, Type::Duration, Type::Duration) => Some(Type::Float),
        (BinaryOp::Multiply, Type::Duration, Type::Int)
        | (BinaryOp::Multiply, Type::Int, Type::Duration) => Some(Type::Duration),
        (BinaryOp::Multiply, Type::Text | Type::List(_), Type::Int) => Some(a.clone()),
        (BinaryOp::Multiply, Type::Int, Type::Text | Type::List(_)) => Some(b.clone()),
        _ => None,
    }
}

fn word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::FloorDivide => "div",
        BinaryOp::Modulo => "%",
        BinaryOp::Power => "**",
    }
}

/// The maximum number of comparisons in a chain, because the analyses of guards split chains into single comparisons.
const MOST_COMPARED: usize = 100;

/// Lowers `a < b <= c`.
fn compare(
    cx: &mut Cx<'_>,
    env: &mut Env,
    first: &syntax::Expr,
    rest: &[(CompareOp, syntax::Expr)],
) -> Expr {
    if rest.len() > MOST_COMPARED {
        let span = first.span.to(rest.last().map_or(first.span, |(_, e)| e.span));
        let message = format!("more than {MOST_COMPARED} comparisons in one chain");
        cx.report(
            TYPE_ERROR.at(span, message).help("put them into a list, or join them with `and`"),
        );
        return unknown("");
    }
    let head = expr(cx, env, first, None);
    let mut lowered: Vec<(CompareOp, Expr)> = Vec::new();
    let mut left_span = first.span;
    for (op, written) in rest {
        let left_ty = lowered.last().map_or(&head, |(_, e)| e).ty.clone();
        let hint = match op {
            CompareOp::In | CompareOp::NotIn => Type::List(Box::new(inner(&left_ty).clone())),
            _ => inner(&left_ty).clone(),
        };
        let right = expr(cx, env, written, Some(&hint));
        let left = lowered.last().map_or(&head, |(_, e)| e);
        let spans = (left_span, written.span);
        if !is_faulty(left)
            && !is_faulty(&right)
            && let Some(finding) = comparison(cx, *op, left, &right, spans)
        {
            cx.report(literals::blame(cx, finding, &[left, &right]));
        }
        lowered.push((*op, right));
        left_span = written.span;
    }
    of(ExprKind::Compare(Box::new(head), lowered), Type::Bool)
}

fn comparison(
    cx: &Cx<'_>,
    op: CompareOp,
    left: &Expr,
    right: &Expr,
    (left_span, right_span): (Span, Span),
) -> Option<crate::syntax::diagnostic::Diagnostic> {
    let whole = left_span.to(right_span);
    let names = || (cx.a(&left.ty), cx.a(&right.ty));
    match op {
        CompareOp::Equal | CompareOp::NotEqual => {
            if alike(cx, left, right) {
                return None;
            }
            let (a, b) = names();
            let message = if left.kind == ExprKind::None {
                format!("{b} is never `none`")
            } else if right.kind == ExprKind::None {
                format!("{a} is never `none`")
            } else {
                format!("{a} is never equal to {b}")
            };
            let finding = TYPE_ERROR.at(whole, message);
            Some(match enum_hint(cx, left, right).or_else(|| enum_hint(cx, right, left)) {
                Some(help) => finding.help(help),
                None => finding,
            })
        }
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            for (side, span) in [(left, left_span), (right, right_span)] {
                if matches!(side.ty, Type::Optional(_)) {
                    return Some(may_be_missing(span));
                }
            }
            if ordered(&left.ty, &right.ty) {
                return None;
            }
            let (a, b) = names();
            Some(TYPE_ERROR.at(whole, format!("{a} and {b} have no order")))
        }
        CompareOp::In | CompareOp::NotIn => match &right.ty {
            Type::Optional(_) => Some(may_be_missing(right_span)),
            Type::Json => None,
            Type::List(item) if same(inner(&left.ty), inner(item)) => None,
            Type::Text | Type::Map(_) if matches!(left.ty, Type::Text | Type::Json) => None,
            _ => {
                let (a, b) = names();
                Some(TYPE_ERROR.at(whole, format!("{a} is never in {b}")))
            }
        },
    }
}

fn ordered(a: &Type, b: &Type) -> bool {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    *a == Type::Json
        || *b == Type::Json
        || number(a) && number(b)
        || a == b && matches!(a, Type::Text | Type::Duration)
}

/// Whether two values may be equal.
fn alike(cx: &Cx<'_>, a: &Expr, b: &Expr) -> bool {
    let may_be_none = |e: &Expr| matches!(e.ty, Type::Optional(_) | Type::Json);
    if a.kind == ExprKind::None {
        return may_be_none(b) || was_missing(cx, b);
    }
    if b.kind == ExprKind::None {
        return may_be_none(a) || was_missing(cx, a);
    }
    same(inner(&a.ty), inner(&b.ty))
}

/// Whether the declaration of the value allows `none`, although it is known not to be. Testing it again is useless, but not wrong.
fn was_missing(cx: &Cx<'_>, e: &Expr) -> bool {
    if let ExprKind::Variable(id) = e.kind {
        matches!(cx.chart.variables[id.index()].ty, Type::Optional(_))
    } else {
        place_of(e).is_some()
    }
}

fn same(a: &Type, b: &Type) -> bool {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    match (a, b) {
        (Type::Json, _) | (_, Type::Json) => true,
        (Type::List(x), Type::List(y)) | (Type::Map(x), Type::Map(y)) => same(inner(x), inner(y)),
        (x, y) => x == y || number(x) && number(y),
    }
}

/// The help for an enum that is compared with a text: its value was meant.
fn enum_hint(cx: &Cx<'_>, left: &Expr, right: &Expr) -> Option<String> {
    let Type::Named(id) = inner(&left.ty) else { return None };
    let TypeKind::Enum(values) = &cx.chart.types[id.index()].kind else { return None };
    let ExprKind::Text(text) = &right.kind else { return None };
    let value = values.iter().find(|v| Some(v.as_str()) == text.literal())?;
    Some(format!("write `{}.{value}`", cx.chart.types[id.index()].name))
}

/// The type `T?`. A Json value may be none anyway, and no type is optional twice.
pub(super) fn optional(ty: Type) -> Type {
    match ty {
        Type::Json | Type::Optional(_) => ty,
        _ => Type::Optional(Box::new(ty)),
    }
}

/// The finding for a value of the wrong type.
pub(super) fn mismatch(cx: &Cx<'_>, span: Span, want: &Type, found: &Type) -> Diagnostic {
    type_error::mismatch(&cx.type_name(want), &cx.type_name(found), span)
}
