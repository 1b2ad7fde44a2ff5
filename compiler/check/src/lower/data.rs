//! Declares variables, events and named conditions.

use super::context::{Cx, declare};
use super::expr::{self, Env};
use super::uses::NameKind;
use super::{declare as declared, renamed, structure, types};
use chartc_core::arena::{EventId, PredicateId, StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Event, Expr, ExprKind, Predicate, Renamed, Template, Type, TypeKind, Variable, VariableKind,
};
use chartc_text::diagnostic::Broken;
use chartc_text::rules::duplicate_name;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::Span;
use chartc_text::syntax::{self, Param, Path};

/// Declares a `param`, `input` or `var`. Its default may read what was declared before it.
pub(super) fn variable<'s>(cx: &mut Cx<'s>, node: &'s syntax::Variable, doc: &str) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::Variable);
    let ty = types::resolve(cx, &node.ty);
    let is_param = node.kind == syntax::VariableKind::Param;
    let mut default = node.default.as_ref().map(|written| {
        let before = VarId::at(cx.chart.variables.len());
        let found = cx.findings.len();
        let value = expr::expect(cx, &mut Env::default_of(before, is_param), written, &ty);
        // A default of another type and uses with that type have the same cause: the declaration.
        if value.ty != ty && value.ty != Type::Json {
            for finding in &mut cx.findings[found..] {
                finding.breaks.push(Broken::Construct(span));
            }
        }
        value
    });
    // The grammar allows a range only for a param.
    let written = node.range.as_ref().filter(|_| is_param);
    let range = written.and_then(|(low, high)| range(cx, low, high, &ty));
    if let (Some(range), Some(default), Some(written)) = (&range, &default, &node.default) {
        refuse_outside(cx, range, default, written.span);
    }
    let kind = match node.kind {
        syntax::VariableKind::Param => VariableKind::Param { range },
        syntax::VariableKind::Input => VariableKind::Input,
        syntax::VariableKind::Var { per_turn } => {
            if default.is_none() {
                let finding = TYPE_ERROR
                    .at(span, format!("variable `{name}` has no initial value"))
                    .help("add `= …`");
                cx.report(finding);
                default = Some(zero(cx, &ty));
            }
            VariableKind::Var { per_turn }
        }
    };
    // From here on, the name is declared: reading it is not too early any more.
    cx.names.later.remove(name.as_str());
    let id = VarId::at(cx.chart.variables.len());
    if declare(&mut cx.findings, &mut cx.names.variables, "variable", name, span, id) {
        cx.chart.variables.push(Variable {
            name: name.clone(),
            doc: doc.to_owned(),
            kind,
            ty,
            default,
        });
        cx.map.variables.push(span);
        renamed::note(cx, Renamed::Variable(id), name, &node.renamed);
    }
}

fn range(
    cx: &mut Cx<'_>,
    low: &syntax::Expr,
    high: &syntax::Expr,
    ty: &Type,
) -> Option<(Value, Value)> {
    let whole = low.span.to(high.span);
    if !matches!(ty, Type::Int | Type::Float | Type::Duration) {
        let message = format!("{} has no range", cx.a(ty));
        cx.report(TYPE_ERROR.at(whole, message).help("ranges are for Int, Float and Duration"));
        return None;
    }
    let low = declared::constant(cx, low, ty, "a range");
    let high = declared::constant(cx, high, ty, "a range");
    let (low, high) = (low?, high?);
    if above(&low, &high) {
        cx.report(TYPE_ERROR.at(whole, "the range is empty: its bounds are reversed"));
        return None;
    }
    Some((low, high))
}

/// Whether `a > b`, for two numbers or durations of one type.
pub(super) fn above(a: &Value, b: &Value) -> bool {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        a > b
    } else if let (Value::Float(a), Value::Float(b)) = (a, b) {
        a > b
    } else if let (Value::Duration(a), Value::Duration(b)) = (a, b) {
        a > b
    } else {
        false
    }
}

fn refuse_outside(cx: &mut Cx<'_>, range: &(Value, Value), default: &Expr, span: Span) {
    let Some(value) = expr::value_of(default) else { return };
    if above(&range.0, &value) || above(&value, &range.1) {
        cx.report(TYPE_ERROR.at(span, "the default lies outside of the range"));
    }
}

/// The value of a `var` without an initial value.
fn zero(cx: &Cx<'_>, ty: &Type) -> Expr {
    let kind = match ty {
        Type::Bool => ExprKind::Bool(false),
        Type::Int => ExprKind::Int(0),
        Type::Float => ExprKind::Float(0.0),
        Type::Text => ExprKind::Text(Template::default()),
        Type::Duration => ExprKind::Duration(0),
        Type::Json | Type::Optional(_) => ExprKind::None,
        Type::List(_) => ExprKind::List(Vec::new()),
        Type::Map(_) => ExprKind::Map(Vec::new()),
        Type::Named(id) => match &cx.chart.types[id.index()].kind {
            TypeKind::Enum(names) => {
                ExprKind::Enum(*id, names.first().cloned().unwrap_or_default())
            }
            TypeKind::Record(_) => ExprKind::Unknown(String::new()),
        },
    };
    Expr { kind, ty: ty.clone() }
}

/// The first parts of the names of the machine's own events.
const RESERVED: [&str; 6] = ["done", "error", "doubt", "limit", "choice", "turn"];

/// Declares a host event.
pub(super) fn event<'s>(cx: &mut Cx<'s>, path: &'s Path, params: &[Param], doc: &str) {
    let name = path.text();
    cx.record_event(path);
    if let Some(first) = path.names.first()
        && RESERVED.contains(&first.node.as_str())
    {
        let finding = ILLEGAL_STRUCTURE
            .at(path.span, format!("an event cannot be named `{name}`"))
            .help(format!("events that begin with `{}` are the machine's own", first.node));
        cx.report(finding);
    }
    // Declared in spite of the error, so that uses of the event are not reported as well.
    let fields = structure::fields(cx, params, NameKind::Param);
    let id = EventId::at(cx.chart.events.len());
    if declare(&mut cx.findings, &mut cx.names.events, "event", &name, path.span, id) {
        cx.chart.events.push(Event { name, doc: doc.to_owned(), fields });
        cx.map.events.push(path.span);
        if cx.records {
            cx.event_paths.push(path);
        }
    }
}

/// The maximum number of conditions in a named condition, with those that it uses expanded. If each used the previous one twice, twenty
/// would expand to a million.
const LONGEST: u32 = 256;

/// Declares a named condition, which may use those before it.
pub(super) fn predicate(cx: &mut Cx<'_>, node: &syntax::Predicate) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::Predicate);
    cx.length = 0;
    let mut expr = expr::condition(cx, &mut Env::at(StateId(0)), &node.expr);
    let length = cx.length.saturating_add(1);
    if length > LONGEST {
        let finding = ILLEGAL_STRUCTURE
            .at(span, format!("condition `{name}` is too long: with the conditions that it uses, it consists of more than {LONGEST}"))
            .help("use each condition fewer times");
        cx.report(finding);
        expr.kind = ExprKind::Unknown(name.clone());
    }
    cx.names.later.remove(name.as_str());
    if let Some((_, first)) = cx.names.variables.get(name) {
        cx.findings.push(duplicate_name::taken(name, "a variable", span, *first));
        return;
    }
    let id = PredicateId::at(cx.chart.predicates.len());
    if declare(&mut cx.findings, &mut cx.names.predicates, "condition", name, span, id) {
        cx.chart.predicates.push(Predicate { name: name.clone(), expr });
        // A condition that is too long counts as one, so that those that use it are not reported as well.
        cx.lengths.push(if length > LONGEST { 1 } else { length });
        cx.map.predicates.push(span);
    }
}

/// The events that a name means: the one with this name, and those of which it is a dotted prefix, ascending. Reports it if there
/// are none.
pub(super) fn events_of(cx: &mut Cx<'_>, path: &Path) -> Vec<EventId> {
    let name = path.text();
    let prefix = format!("{name}.");
    let exact = cx.names.events.get(&name).map(|(id, _)| *id);
    let below = cx
        .names
        .events
        .range(prefix.clone()..)
        .take_while(|(known, _)| known.starts_with(&prefix))
        .map(|(_, (id, _))| *id);
    let mut found: Vec<EventId> = exact.into_iter().chain(below).collect();
    found.sort_unstable();
    cx.record_event_use(&path.names);
    if found.is_empty() {
        unknown_event(cx, path);
    }
    found
}

/// The event of exactly this name, for `raise` and `send`; reports it if there is none.
pub(super) fn event_named(cx: &mut Cx<'_>, path: &Path) -> Option<EventId> {
    let found = cx.names.events.get(&path.text()).map(|(id, _)| *id);
    cx.record_event_use(&path.names);
    if found.is_none() {
        unknown_event(cx, path);
    }
    found
}

fn unknown_event(cx: &mut Cx<'_>, path: &Path) {
    let events = cx.chart.events.iter().filter(|_| cx.can_guess());
    let known: Vec<String> = events.map(|e| e.name.clone()).collect();
    cx.unknown("event", &path.text(), path.span, known.iter().map(String::as_str));
}
