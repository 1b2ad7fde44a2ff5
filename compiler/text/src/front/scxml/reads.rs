//! Finds out whether a transition reads the event that triggers it.

use super::document::{ActKind, Executable, Payload, walk};
use super::script::{Expr, ScriptExprKind, Statement, StatementKind};

/// Whether a transition reads the data of its event.
pub(super) fn reads_data(cond: Option<&Expr>, body: &[Executable]) -> bool {
    let mut found = cond.is_some_and(mentions_event);
    walk(body, &mut |act| found |= exprs(act).into_iter().any(mentions_event));
    found
}

/// Whether a transition reads its event at all, be it only the name.
pub(super) fn reads_name(cond: Option<&Expr>, body: &[Executable]) -> bool {
    let mut found = cond.is_some_and(|expr| mentions(expr, true));
    walk(body, &mut |act| found |= exprs(act).into_iter().any(|expr| mentions(expr, true)));
    found
}

/// The expressions of one element, without those of nested elements.
pub(super) fn exprs(act: &Executable) -> Vec<&Expr> {
    match &act.kind {
        ActKind::Assign(place, value) => vec![place, value],
        ActKind::Raise(_, data) => data.iter().flat_map(of_payload).collect(),
        ActKind::Send(send) => {
            let delay = send.delay.iter().filter_map(|d| match d {
                super::document::Delay::Computed(delay) => Some(delay),
                super::document::Delay::Fixed(..) => None,
            });
            send.data.iter().flat_map(of_payload).chain(&send.put).chain(delay).collect()
        }
        ActKind::If(branches) => branches.iter().filter_map(|(test, _)| test.as_ref()).collect(),
        ActKind::ForEach(each) => vec![&each.array],
        ActKind::Log(_, value) => value.iter().collect(),
        ActKind::Script(statements) => {
            let mut found = Vec::new();
            of_statements(statements, &mut found);
            found
        }
        ActKind::Cancel(_) | ActKind::Faulty(_) => Vec::new(),
    }
}

fn of_payload(payload: &Payload) -> Vec<&Expr> {
    match payload {
        Payload::Fields(fields, _) => fields.iter().map(|(_, value)| value).collect(),
        Payload::Value(value) => vec![value],
    }
}

fn of_statements<'s>(statements: &'s [Statement], to: &mut Vec<&'s Expr>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(a, b) | StatementKind::Push(a, b) => to.extend([a, b]),
            StatementKind::Declare(_, value) => to.extend(value),
            StatementKind::If(test, then, other) => {
                to.push(test);
                of_statements(then, to);
                of_statements(other, to);
            }
            StatementKind::ForOf(_, source, body) => {
                to.push(source);
                of_statements(body, to);
            }
            StatementKind::Log(all) => to.extend(all),
            StatementKind::Faulty(_) => {}
        }
    }
}

/// Whether an expression reads more of the event than its name.
fn mentions_event(expr: &Expr) -> bool {
    mentions(expr, false)
}

fn mentions(expr: &Expr, name_too: bool) -> bool {
    let mentions_event = |expr: &Expr| mentions(expr, name_too);
    match &expr.kind {
        ScriptExprKind::Name(name) => name == "_event",
        ScriptExprKind::Member(of, name) => {
            let name_only =
                name.node == "name" && of.kind == ScriptExprKind::Name("_event".to_owned());
            (name_too || !name_only) && mentions_event(of)
        }
        ScriptExprKind::None
        | ScriptExprKind::Bool(_)
        | ScriptExprKind::Int(_)
        | ScriptExprKind::Float(_)
        | ScriptExprKind::Text(_)
        | ScriptExprKind::Faulty(_) => false,
        ScriptExprKind::Not(x)
        | ScriptExprKind::Negate(x)
        | ScriptExprKind::Number(x)
        | ScriptExprKind::Typeof(x) => mentions_event(x),
        ScriptExprKind::Index(a, b)
        | ScriptExprKind::Binary(_, a, b)
        | ScriptExprKind::Compare(_, a, b)
        | ScriptExprKind::And(a, b)
        | ScriptExprKind::Or(a, b)
        | ScriptExprKind::Nullish(a, b) => mentions_event(a) || mentions_event(b),
        ScriptExprKind::Call(f, all) => mentions_event(f) || all.iter().any(mentions_event),
        ScriptExprKind::If(a, b, c) => [a, b, c].into_iter().any(|e| mentions_event(e)),
        ScriptExprKind::Array(all) => all.iter().any(mentions_event),
        ScriptExprKind::Object(all) => all.iter().any(|(_, e)| mentions_event(e)),
    }
}
