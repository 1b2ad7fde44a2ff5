//! What stands at a place of a file.

use super::mention::{self, Mention, Role};
use chartc_check::compile::{Checked, Compilation};
use chartc_check::lower::{Lowered, language_functions, observables};
use chartc_core::arena::{
    ChoiceId, ClientId, EventId, FunctionId, PredicateId, StateId, StepId, ToolId, ToolSetId,
    TypeId, VarId,
};
use chartc_core::model::{Chart, ChoiceKind, StateKind, Type, TypeKind};
use chartc_text::span::{FileId, Span};
use std::collections::BTreeSet;

/// What a name stands for, in a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(in crate::editor) enum Subject {
    Chart,
    State(StateId),
    /// Several if the name is a dotted prefix.
    Events(Vec<EventId>),
    Variable(VarId),
    Step(StepId),
    Choice(ChoiceId),
    Tool(ToolId),
    ToolSet(ToolSetId),
    Client(ClientId),
    Component(usize),
    Type(TypeId),
    /// A value of an enum.
    Value(TypeId, String),
    Function(FunctionId),
    Predicate(PredicateId),
    /// A name that a line, a loop or a step binds, with its type.
    Bound(String, Type),
    /// A field of a record, with its type.
    Field(String, Type),
    /// A function of the language, or what a run knows of itself.
    Language(&'static str),
}

/// A name and what it stands for.
#[derive(Debug, Clone)]
pub(in crate::editor) struct Found<'c> {
    /// Where the name is.
    pub(in crate::editor) span: Span,
    /// The chart.
    pub(in crate::editor) of: &'c Lowered,
    /// What it stands for.
    pub(in crate::editor) subject: Subject,
}

/// Every chart, those of imported files last.
pub(in crate::editor) fn charts(done: &Compilation) -> Vec<&Lowered> {
    let checked = done.charts.iter().chain(&done.tested);
    let children = done.charts.iter().chain(&done.tested).flat_map(Checked::lowered_children);
    let own = done.lowered.iter().map(AsRef::as_ref);
    let mut known = BTreeSet::new();
    let mut all: Vec<&Lowered> = own.chain(checked.map(Checked::lowered)).chain(children).collect();
    all.retain(|one| known.insert(one.map.name));
    all
}

/// The span of a chart, with its body.
pub(in crate::editor) fn whole(one: &Lowered) -> Span {
    one.map.states.first().map_or(one.map.name, |state| state.whole)
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

fn touches(span: Span, file: FileId, offset: u32) -> bool {
    span.file == file && span.start <= offset && offset <= span.end
}

/// The charts in which a name may have its meaning, the most likely first.
fn scopes<'c>(done: &'c Compilation, all: &[&'c Lowered], span: Span) -> Vec<&'c Lowered> {
    let mut inside: Vec<&Lowered> =
        all.iter().copied().filter(|one| holds(whole(one), span)).collect();
    inside.sort_by_key(|one| whole(one).end - whole(one).start);
    if inside.is_empty() {
        let tests = done.files.iter().filter(|file| file.id == span.file);
        for name in tests.flat_map(|file| super::tested(file, span)) {
            inside.extend(all.iter().copied().filter(|one| one.chart.name == name));
        }
    }
    if inside.is_empty() {
        inside.extend(all.iter().copied().filter(|one| one.map.file == span.file));
        inside.extend(all.iter().copied());
    }
    inside
}

/// What the name at a place stands for.
pub(in crate::editor) fn at<'c>(
    done: &'c Compilation,
    file: FileId,
    offset: u32,
) -> Option<Found<'c>> {
    let all = charts(done);
    let mut found: Vec<Found<'c>> = Vec::new();
    for one in &all {
        let here = declared(one).into_iter().filter(|(span, _)| touches(*span, file, offset));
        found.extend(here.map(|(span, subject)| Found { span, of: one, subject }));
    }
    let syntax = done.files.iter().find(|one| one.id == file)?;
    let mentions = mention::all(syntax);
    for name in mentions.iter().filter(|name| touches(name.span, file, offset)) {
        found.extend(resolve(done, &all, name));
    }
    // Of two names that touch, the cursor is on the one that begins here; of two around it, on the shorter one.
    found.into_iter().min_by_key(|found| (found.span.end == offset, found.span.end - found.span.start))
}

/// What a name stands for.
pub(in crate::editor) fn resolve<'c>(
    done: &'c Compilation,
    all: &[&'c Lowered],
    name: &Mention,
) -> Option<Found<'c>> {
    if name.role == Role::Chart {
        let mut named = all.iter().filter(|one| one.chart.name == name.text);
        return named.next().map(|of| Found { span: name.span, of, subject: Subject::Chart });
    }
    let of = scopes(done, all, name.span);
    of.into_iter().find_map(|of| {
        subject(of, name).map(|subject| Found { span: name.span, of, subject })
    })
}

/// Where each part of a chart is declared.
pub(in crate::editor) fn declared(one: &Lowered) -> Vec<(Span, Subject)> {
    let map = &one.map;
    let mut all = vec![(map.name, Subject::Chart)];
    let states = map.states.iter().enumerate().skip(1);
    all.extend(states.map(|(i, s)| (s.name, Subject::State(StateId::at(i)))));
    let events = map.events.iter().enumerate();
    all.extend(events.map(|(i, s)| (*s, Subject::Events(vec![EventId::at(i)]))));
    let variables = map.variables.iter().enumerate();
    all.extend(variables.map(|(i, s)| (*s, Subject::Variable(VarId::at(i)))));
    let steps = map.steps.iter().enumerate();
    all.extend(steps.map(|(i, s)| (s.name, Subject::Step(StepId::at(i)))));
    let choices = map.choices.iter().enumerate();
    let is_option = |i: usize| matches!(one.chart.choices[i].kind, ChoiceKind::Option(_));
    let choices = choices.filter(|(i, _)| is_option(*i));
    all.extend(choices.map(|(i, s)| (*s, Subject::Choice(ChoiceId::at(i)))));
    let tools = map.tools.iter().enumerate();
    all.extend(tools.map(|(i, s)| (*s, Subject::Tool(ToolId::at(i)))));
    let sets = map.tool_sets.iter().enumerate();
    all.extend(sets.filter_map(|(i, s)| Some(((*s)?, Subject::ToolSet(ToolSetId::at(i))))));
    let clients = map.clients.iter().enumerate();
    all.extend(clients.map(|(i, s)| (*s, Subject::Client(ClientId::at(i)))));
    let components = map.components.iter().enumerate();
    all.extend(components.map(|(i, s)| (*s, Subject::Component(i))));
    let types = map.types.iter().enumerate();
    all.extend(types.map(|(i, s)| (*s, Subject::Type(TypeId::at(i)))));
    let functions = map.functions.iter().enumerate();
    all.extend(functions.map(|(i, s)| (*s, Subject::Function(FunctionId::at(i)))));
    let predicates = map.predicates.iter().enumerate();
    all.extend(predicates.map(|(i, s)| (*s, Subject::Predicate(PredicateId::at(i)))));
    all
}

fn subject(one: &Lowered, name: &Mention) -> Option<Subject> {
    let chart = &one.chart;
    let text = name.text.as_str();
    match name.role {
        Role::State => state(one, name.span, text).map(Subject::State),
        Role::Event => event(chart, text),
        Role::Doer => step(chart, text).or_else(|| state(one, name.span, text).map(Subject::State)),
        Role::Step => step(chart, text),
        Role::Set => variable(chart, text),
        Role::Read => read(one, name.span, text),
        Role::Field => field(one, name.span, text),
        Role::Function => function(chart, text),
        Role::Tools => tools(chart, text),
        Role::Client => {
            let place = chart.clients.iter().position(|client| client.name == text)?;
            Some(Subject::Client(ClientId::at(place)))
        }
        Role::Chart => None,
        Role::Type => of_type(chart, text).map(Subject::Type),
        Role::Option => {
            let place = chart.choices.iter().position(|choice| choice.name == text);
            place.map(|i| Subject::Choice(ChoiceId::at(i))).or_else(|| tools(chart, text))
        }
    }
}

/// The innermost state around a place.
pub(in crate::editor) fn around(one: &Lowered, span: Span) -> StateId {
    let inside = one.map.states.iter().enumerate().filter(|(_, state)| holds(state.whole, span));
    inside.last().map_or(StateId::at(0), |(i, _)| StateId::at(i))
}

/// The state that a path means at a place.
fn state(one: &Lowered, span: Span, path: &str) -> Option<StateId> {
    let chart = &one.chart;
    if chart.states.is_empty() {
        return None;
    }
    let mut names = path.split('.');
    let first = names.next()?;
    let child = |of: StateId, name: &str| chart.children(of).find(|c| chart.state(*c).name == name);
    let mut scopes = chart.ancestors(around(one, span));
    let found = scopes.find_map(|scope| child(scope, first));
    let found = found.and_then(|found| names.try_fold(found, child));
    found.or_else(|| chart.state_ids().skip(1).find(|s| chart.state(*s).path == path))
}

fn event(chart: &Chart, text: &str) -> Option<Subject> {
    let is_meant = |name: &str| {
        name.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let all = chart.events.iter().enumerate().filter(|(_, event)| is_meant(&event.name));
    let all: Vec<EventId> = all.map(|(i, _)| EventId::at(i)).collect();
    (!all.is_empty()).then_some(Subject::Events(all))
}

fn step(chart: &Chart, text: &str) -> Option<Subject> {
    chart.steps.iter().position(|step| step.name == text).map(|i| Subject::Step(StepId::at(i)))
}

fn variable(chart: &Chart, text: &str) -> Option<Subject> {
    let place = chart.variables.iter().position(|variable| variable.name == text)?;
    Some(Subject::Variable(VarId::at(place)))
}

fn of_type(chart: &Chart, text: &str) -> Option<TypeId> {
    chart.types.iter().position(|ty| ty.name == text).map(TypeId::at)
}

fn tools(chart: &Chart, text: &str) -> Option<Subject> {
    if let Some(place) = chart.tools.iter().position(|tool| tool.name == text) {
        return Some(Subject::Tool(ToolId::at(place)));
    }
    let place = chart.tool_sets.iter().position(|set| set.name == text)?;
    Some(Subject::ToolSet(ToolSetId::at(place)))
}

fn function(chart: &Chart, text: &str) -> Option<Subject> {
    if let Some(place) = chart.functions.iter().position(|function| function.name == text) {
        return Some(Subject::Function(FunctionId::at(place)));
    }
    language_functions().find(|name| *name == text).map(Subject::Language)
}

/// What an expression reads by a name, innermost scope first, as lowering resolves it.
fn read(one: &Lowered, span: Span, text: &str) -> Option<Subject> {
    let chart = &one.chart;
    if let Some(ty) = bound(one, span, text) {
        return Some(Subject::Bound(text.to_owned(), ty));
    }
    if let Some(found) = variable(chart, text) {
        return Some(found);
    }
    if let Some(place) = chart.predicates.iter().position(|predicate| predicate.name == text) {
        return Some(Subject::Predicate(PredicateId::at(place)));
    }
    step(chart, text)
        .or_else(|| observables().find(|name| *name == text).map(Subject::Language))
        .or_else(|| of_type(chart, text).map(Subject::Type))
        .or_else(|| state(one, span, text).map(Subject::State))
        .or_else(|| tools(chart, text))
}

/// The smallest part of a chart around a place: a line, a step or a state.
fn part(one: &Lowered, span: Span) -> Span {
    let lines = one.map.lines.iter().map(|line| line.whole);
    let steps = one.map.steps.iter().map(|step| step.whole);
    let states = one.map.states.iter().map(|state| state.whole);
    let around = lines.chain(steps).chain(states).filter(|whole| holds(*whole, span));
    around.min_by_key(|whole| whole.end - whole.start).unwrap_or_else(|| whole(one))
}

/// The type of a name that a line, a loop or a step around the place binds.
fn bound(one: &Lowered, span: Span, text: &str) -> Option<Type> {
    let map = &one.map;
    let near = |at: Span| (at.start > span.start, at.start.abs_diff(span.start));
    let own = map.bound.iter().filter(|(at, _, name)| name == text && holds(part(one, *at), span));
    if let Some((_, ty, _)) = own.min_by_key(|(at, ..)| near(*at)) {
        return Some(ty.clone());
    }
    for choice in &one.chart.choices {
        if let ChoiceKind::Option(fields) = &choice.kind
            && holds(map.line(choice.transition).whole, span)
            && let Some(field) = fields.iter().find(|field| field.name == text)
        {
            return Some(field.ty.clone());
        }
    }
    let StateKind::Final { params, .. } = &one.chart.states.get(around(one, span).index())?.kind
    else {
        return None;
    };
    params.iter().find(|param| param.name == text).map(|param| param.ty.clone())
}

/// What the last name of a path in an expression stands for.
fn field(one: &Lowered, span: Span, path: &str) -> Option<Subject> {
    let chart = &one.chart;
    let (base, name) = path.rsplit_once('.')?;
    if let Some(id) = of_type(chart, base)
        && let TypeKind::Enum(values) = &chart.types[id.index()].kind
    {
        let value = values.iter().find(|value| *value == name)?;
        return Some(Subject::Value(id, value.clone()));
    }
    if let Some(ty) = type_of(one, span, base)
        && let Some(ty) = field_of(chart, &ty, name)
    {
        return Some(Subject::Field(name.to_owned(), ty));
    }
    state(one, span, path).map(Subject::State)
}

/// The type of what a path in an expression reads.
fn type_of(one: &Lowered, span: Span, path: &str) -> Option<Type> {
    let mut names = path.split('.');
    let first = match read(one, span, names.next()?)? {
        Subject::Variable(id) => one.chart.variables[id.index()].ty.clone(),
        Subject::Step(id) => one.chart.steps[id.index()].returns.clone(),
        Subject::Bound(_, ty) | Subject::Field(_, ty) => ty,
        Subject::Chart
        | Subject::State(_)
        | Subject::Events(_)
        | Subject::Choice(_)
        | Subject::Tool(_)
        | Subject::ToolSet(_)
        | Subject::Client(_)
        | Subject::Component(_)
        | Subject::Type(_)
        | Subject::Value(..)
        | Subject::Function(_)
        | Subject::Predicate(_)
        | Subject::Language(_) => return None,
    };
    names.try_fold(first, |ty, name| field_of(&one.chart, &ty, name))
}

fn field_of(chart: &Chart, ty: &Type, name: &str) -> Option<Type> {
    let mut ty = ty;
    while let Type::Optional(inner) = ty {
        ty = inner;
    }
    let Type::Named(id) = ty else { return None };
    let TypeKind::Record(fields) = &chart.types.get(id.index())?.kind else { return None };
    fields.iter().find(|field| field.name == name).map(|field| field.ty.clone())
}
