//! Lowers `check` lines.

use super::context::{Cx, NameKind};
use super::expr::{self, Env};
use super::{declare, paths, steps};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, duplicate_name};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, Argument, CheckSubject, Claim, SubjectKind};
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Check, CheckArgument, ChoiceKind, FunctionKind, StepKind, Subject, Type, VariableKind,
};

/// The kind of argument that a property takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    State,
    Unless,
    Bound(&'static str),
}

const PROPERTIES: [(&str, Takes); 6] = [
    ("reaches", Takes::State),
    ("always_reaches", Takes::State),
    ("never", Takes::Unless),
    ("no_call", Takes::State),
    ("ends_within", Takes::Bound("turns")),
    ("at_most", Takes::Bound("calls")),
];

/// The names of the properties that a `check` line can claim.
pub fn properties() -> impl Iterator<Item = &'static str> {
    PROPERTIES.iter().map(|(name, _)| *name)
}

/// Lowers a `check` line.
pub(super) fn check(cx: &mut Cx<'_>, check: &syntax::Check, span: Span) {
    let (name, argument) = match &check.claim {
        Claim::Property(name, arguments) => {
            (name.node.as_str(), property(cx, name, arguments, span))
        }
        Claim::Before(first, second) => ("never", unless(cx, second, first)),
        Claim::AtMost(of, most) => {
            let most = expr::expect(cx, &mut Env::params(), most, &Type::Int);
            let of = subject(cx, of);
            ("at_most", of.map(|of| CheckArgument::AtMost(of, most)))
        }
    };
    let given = given(cx, &check.given);
    if let Some((argument, given)) = argument.zip(given) {
        cx.chart.checks.push(Check { name: name.to_owned(), arguments: vec![argument], given });
        cx.map.checks.push(span);
    }
}

fn property(
    cx: &mut Cx<'_>,
    name: &Ident,
    arguments: &[Argument],
    span: Span,
) -> Option<CheckArgument> {
    let (place, name) = (name.span, name.node.as_str());
    let Some((_, takes)) = PROPERTIES.iter().find(|(known, _)| *known == name) else {
        cx.unknown("check", name, place, properties());
        return None;
    };
    match (takes, arguments) {
        (Takes::State, [Argument::State(path)]) => {
            paths::state(cx, StateId(0), path).map(CheckArgument::State)
        }
        (Takes::Unless, [Argument::Unless(a, b) | Argument::Before(a, b)]) => unless(cx, a, b),
        (Takes::Bound(unit), [Argument::Bound(bound)]) if bound.unit.node == *unit => {
            let bound = expr::expect(cx, &mut Env::params(), &bound.expr, &Type::Int);
            Some(CheckArgument::Bound(bound, (*unit).to_owned()))
        }
        _ => {
            cx.report(wrong_argument(name, *takes, span));
            None
        }
    }
}

fn wrong_argument(name: &str, takes: Takes, span: Span) -> Diagnostic {
    let wanted = match takes {
        Takes::State => format!("{name}(some_state)"),
        Takes::Unless => format!("{name}(pay unless approved)"),
        Takes::Bound(unit) => format!("{name}(20 {unit})"),
    };
    TYPE_ERROR.at(span, format!("`{name}` does not take this")).help(format!("write `{wanted}`"))
}

fn unless(cx: &mut Cx<'_>, what: &CheckSubject, until: &CheckSubject) -> Option<CheckArgument> {
    let (what, until) = (subject(cx, what), subject(cx, until));
    what.zip(until).map(|(what, until)| CheckArgument::Unless(what, until))
}

// What a run does, by its name. Things of different kinds may have the same name, which is then ambiguous unless the kind is written.

/// The thing that a name means; reports a name that means nothing or several things.
fn subject(cx: &mut Cx<'_>, written: &CheckSubject) -> Option<Subject> {
    let span = written.name.span;
    let kinds = SubjectKind::ALL.into_iter().filter(|k| written.kind.is_none_or(|only| only == *k));
    let found: Vec<(SubjectKind, Subject)> =
        kinds.filter_map(|kind| Some((kind, named(cx, kind, &written.name)?))).collect();
    let name = written.name.text();
    let [(_, subject)] = &found[..] else {
        if found.is_empty() {
            report_unknown(cx, written);
        } else {
            let words: Vec<&str> = found.iter().map(|(kind, _)| kind.word()).collect();
            cx.report(duplicate_name::several(&name, &words, span));
        }
        return None;
    };
    record(cx, subject, &written.name);
    if let Subject::Step(step) = subject
        && matches!(cx.chart.steps[step.index()].kind, StepKind::Ask { .. })
    {
        let finding = ILLEGAL_STRUCTURE
            .at(span, format!("`{name}` is a question, which is answered by an option"))
            .help("name one of its options, or the state to which it leads");
        cx.report(finding);
        return None;
    }
    Some(subject.clone())
}

/// The thing of this kind with this name.
fn named(cx: &Cx<'_>, kind: SubjectKind, path: &syntax::Path) -> Option<Subject> {
    let name = path.text();
    let names = &cx.names;
    match kind {
        SubjectKind::State => paths::find(cx, StateId(0), path).map(Subject::State),
        SubjectKind::Effect => {
            let (id, _) = *names.functions.get(&name)?;
            let is_effect = cx.chart.functions[id.index()].kind == FunctionKind::Effect;
            is_effect.then_some(Subject::Effect(id))
        }
        SubjectKind::Tool => names.tools.get(&name).map(|(id, _)| Subject::Tool(*id)),
        SubjectKind::Step => names.steps.get(&name).map(|(id, _)| Subject::Step(*id)),
        SubjectKind::Option => {
            let mut options =
                cx.chart.choices.iter().filter(|c| matches!(c.kind, ChoiceKind::Option(_)));
            options.any(|choice| choice.name == name).then_some(Subject::Option(name))
        }
        SubjectKind::Event => names.events.get(&name).map(|(id, _)| Subject::Event(*id)),
    }
}

/// Records for editors what the name means.
fn record(cx: &mut Cx<'_>, subject: &Subject, path: &syntax::Path) {
    match subject {
        Subject::State(_) => {
            paths::state(cx, StateId(0), path);
        }
        Subject::Effect(id) => {
            let declared = cx.map.functions[id.index()];
            cx.record_use(path.span, declared, NameKind::Function);
        }
        Subject::Tool(_) => cx.record_tool_use(&path.names),
        Subject::Step(_) => {
            path.names.first().and_then(|name| steps::named(cx, name));
        }
        Subject::Option(_) => cx.record_offer_use(path),
        Subject::Event(_) => cx.record_event_use(&path.names),
    }
}

/// Reports a name that means nothing, with the most similar name of the kinds that are possible.
fn report_unknown(cx: &mut Cx<'_>, written: &CheckSubject) {
    let path = &written.name;
    let name = path.text();
    let begins = path
        .names
        .first()
        .is_some_and(|first| cx.chart.states.iter().skip(1).any(|state| state.name == first.node));
    if written.kind == Some(SubjectKind::State) || written.kind.is_none() && begins {
        paths::state(cx, StateId(0), path);
        return;
    }
    let is_meant = |kind| written.kind.is_none_or(|only| only == kind);
    let chart = &cx.chart;
    let functions = chart.functions.iter().filter(|function| function.kind == FunctionKind::Effect);
    let choices = chart.choices.iter().filter(|c| matches!(c.kind, ChoiceKind::Option(_)));
    let steps = chart.steps.iter();
    let steps = steps.filter(|step| !matches!(step.kind, StepKind::Ask { .. }));
    let rows: [(SubjectKind, Vec<&String>); 6] = [
        (SubjectKind::State, chart.states.iter().skip(1).map(|state| &state.path).collect()),
        (SubjectKind::Effect, functions.map(|function| &function.name).collect()),
        (SubjectKind::Tool, chart.tools.iter().map(|tool| &tool.name).collect()),
        (SubjectKind::Step, steps.map(|step| &step.name).collect()),
        (SubjectKind::Option, choices.map(|choice| &choice.name).collect()),
        (SubjectKind::Event, chart.events.iter().map(|event| &event.name).collect()),
    ];
    let rows = rows.into_iter().filter(|(kind, _)| is_meant(*kind));
    let known: Vec<String> = rows.flat_map(|(_, names)| names).cloned().collect();
    let what = match written.kind {
        Some(SubjectKind::Effect) => "effect",
        Some(SubjectKind::Option) => "option",
        Some(kind) => kind.word(),
        None => "state, effect, tool, step, option or event",
    };
    cx.unknown(what, &name, path.span, known.iter().map(String::as_str));
}

// `given p in a..b`: the params that are restricted.

fn given(
    cx: &mut Cx<'_>,
    written: &[(Ident, syntax::Expr, syntax::Expr)],
) -> Option<Vec<(VarId, Value, Value)>> {
    let mut found: Vec<(VarId, Value, Value)> = Vec::new();
    for (name, from, to) in written {
        let id = param(cx, name)?;
        if found.iter().any(|(other, ..)| *other == id) {
            cx.report(TYPE_ERROR.at(name.span, format!("`{}` is given twice", name.node)));
            return None;
        }
        let ty = cx.chart.variables[id.index()].ty.clone();
        let (low, high) = declare::range(cx, from, to, &ty)?;
        if let VariableKind::Param { range: Some((least, most)) } =
            &cx.chart.variables[id.index()].kind
            && (expr::above(least, &low) || expr::above(&high, most))
        {
            let finding = TYPE_ERROR.at(
                from.span.to(to.span),
                format!("the range exceeds the one that `{}` is declared with", name.node),
            );
            cx.report(finding);
            return None;
        }
        found.push((id, low, high));
    }
    Some(found)
}

fn param(cx: &mut Cx<'_>, name: &Ident) -> Option<VarId> {
    let is_param =
        |id: VarId| matches!(cx.chart.variables[id.index()].kind, VariableKind::Param { .. });
    let found = cx.names.variables.get(&name.node).copied();
    let Some((id, declared)) = found.filter(|(id, _)| is_param(*id)) else {
        let params = cx.names.variables.iter().filter(|(_, (id, _))| is_param(*id));
        let known: Vec<String> = params.map(|(name, _)| name.clone()).collect();
        cx.unknown("param", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    cx.record_use(name.span, declared, NameKind::Variable);
    Some(id)
}
