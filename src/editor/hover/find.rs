//! Finds what the name at an offset stands for.

use crate::editor::visit::{self, SyntaxNode};
use chartc_check::compile::{Checked, Compilation};
use chartc_check::lower::{Lowered, NameKind, Use, language_functions, observables};
use chartc_core::arena::{
    ChoiceId, ClientId, EventId, FunctionId, PredicateId, StateId, StepId, ToolId, ToolSetId,
    TypeId, VarId,
};
use chartc_core::model::{ChoiceKind, Type, TypeKind};
use chartc_text::span::{FileId, Span};
use chartc_text::syntax::{ExprKind, File};
use std::collections::BTreeSet;

/// The maximum length of a name that is looked up, in bytes.
const LONGEST: u32 = 4096;

/// The thing in a chart that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(in crate::editor) enum Subject {
    Chart,
    State(StateId),
    /// All events that a dotted prefix matches, or a single event.
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
    Bound(Type),
    /// A parameter or a field, with its type as written.
    Param(String),
}

/// A name and the thing that it stands for.
#[derive(Debug, Clone)]
pub(in crate::editor) struct Found<'c> {
    /// The span of the name.
    pub(in crate::editor) span: Span,
    /// The span of the name in the declaration.
    pub(in crate::editor) declared: Span,
    pub(in crate::editor) of: &'c Lowered,
    pub(in crate::editor) subject: Subject,
}

/// All charts, those of imported files last.
fn charts(done: &Compilation) -> Vec<&Lowered> {
    let checked = done.charts.iter().chain(&done.tested);
    let children = checked.clone().flat_map(Checked::lowered_children);
    let own = done.lowered.iter().map(AsRef::as_ref);
    let mut known = BTreeSet::new();
    let mut all: Vec<&Lowered> = own.chain(checked.map(Checked::lowered)).chain(children).collect();
    // A chart may be in several of these lists.
    all.retain(|one| known.insert(one.map.name));
    all
}

/// The span of a chart including its body.
pub(in crate::editor) fn whole(one: &Lowered) -> Span {
    one.map.states.first().map_or(one.map.name, |state| state.whole)
}

/// Whether a span lies within another.
pub(in crate::editor) fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Whether an offset is inside a span, or directly behind it.
fn touches(span: Span, file: FileId, offset: u32) -> bool {
    span.file == file && span.start <= offset && offset <= span.end
}

/// The innermost state around a span.
pub(in crate::editor) fn around(one: &Lowered, span: Span) -> StateId {
    let mut states = one.map.states.iter().enumerate();
    let inside = states.rfind(|(_, state)| contains(state.whole, span));
    inside.map_or(StateId::at(0), |(i, _)| StateId::at(i))
}

/// The charts of a compilation and the meanings of names in them.
pub(in crate::editor) struct Index<'c> {
    done: &'c Compilation,
    /// All charts, those of imported files last.
    pub(in crate::editor) charts: Vec<&'c Lowered>,
}

impl<'c> Index<'c> {
    pub(in crate::editor) fn new(done: &'c Compilation) -> Self {
        Self { done, charts: charts(done) }
    }

    /// The thing that the name at an offset stands for.
    pub(in crate::editor) fn at(&self, file: FileId, offset: u32) -> Option<Found<'c>> {
        let named = self.charts.iter().find(|one| touches(one.map.name, file, offset));
        if let Some(of) = named.copied() {
            let span = of.map.name;
            return Some(Found { span, declared: span, of, subject: Subject::Chart });
        }
        self.uses(file, offset).into_iter().find_map(|one| self.meaning(one))
    }

    /// The uses of names at an offset, the most likely one first.
    pub(super) fn uses(&self, file: FileId, offset: u32) -> Vec<&'c Use> {
        let uses = &self.done.uses;
        let before = uses.partition_point(|one| (one.at.file, one.at.start) <= (file, offset));
        // Longer names are not looked up, so the search can end here.
        let near = uses[..before]
            .iter()
            .rev()
            .take_while(|one| one.at.file == file && offset - one.at.start <= LONGEST);
        let mut all: Vec<&Use> = near.filter(|one| touches(one.at, file, offset)).collect();
        // Of two names that touch, the cursor is on the one that begins here. Of two names around it, the shorter one is meant.
        let length = |one: &Use| one.at.end - one.at.start;
        all.sort_by_key(|one| (one.at.end == offset, length(one), rank(one.kind)));
        all
    }

    /// The thing that a name stands for. A chart around the name is asked first, the inner one of two before the outer.
    fn meaning(&self, name: &Use) -> Option<Found<'c>> {
        let last = last(self.done, name);
        let (mut around, others): (Vec<&Lowered>, Vec<&Lowered>) =
            self.charts.iter().copied().partition(|one| contains(whole(one), name.at));
        around.sort_by_key(|one| whole(one).end - whole(one).start);
        around.into_iter().chain(others).find_map(|of| {
            let subject = subject(self.done, of, last)?;
            Some(Found { span: name.at, declared: last.declared, of, subject })
        })
    }
}

/// The precedence of a kind, if one word of an agent file declares several things: the least is shown.
fn rank(kind: NameKind) -> u8 {
    match kind {
        NameKind::Chart => 0,
        NameKind::Step => 1,
        NameKind::State => 2,
        NameKind::Choice | NameKind::Component | NameKind::Client => 3,
        NameKind::Variable | NameKind::Event | NameKind::Function | NameKind::Predicate => 4,
        NameKind::Tool | NameKind::ToolSet | NameKind::Type => 5,
        NameKind::File | NameKind::Local | NameKind::SendId | NameKind::Value => 6,
        NameKind::Field | NameKind::Param => 7,
    }
}

/// The last part of a dotted name, if every part has a meaning of its own.
fn last<'u>(done: &'u Compilation, name: &'u Use) -> &'u Use {
    let mut name = name;
    if !matches!(name.kind, NameKind::Event | NameKind::Tool) {
        return name;
    }
    let source = done.sources.get(name.at.file);
    while source.text.get(name.at.end as usize..).is_some_and(|rest| rest.starts_with('.')) {
        let next = Span { start: name.at.end + 1, ..name.at };
        let from =
            done.uses.partition_point(|one| (one.at.file, one.at.start) < (next.file, next.start));
        let behind = done.uses[from..]
            .iter()
            .take_while(|one| (one.at.file, one.at.start) == (next.file, next.start));
        match behind.filter(|one| one.kind == name.kind).last() {
            Some(next) => name = next,
            None => break,
        }
    }
    name
}

fn place(spans: &[Span], declared: Span) -> Option<usize> {
    spans.iter().position(|span| *span == declared)
}

fn subject(done: &Compilation, one: &Lowered, name: &Use) -> Option<Subject> {
    let (map, chart, declared) = (&one.map, &one.chart, name.declared);
    let text = done.sources.get(declared.file).slice(declared);
    match name.kind {
        NameKind::File | NameKind::SendId => None,
        NameKind::Chart => (map.name == declared).then_some(Subject::Chart),
        NameKind::Type => place(&map.types, declared).map(|i| Subject::Type(TypeId::at(i))),
        NameKind::Value => {
            let text = text.trim_matches('`');
            let before = map
                .types
                .iter()
                .enumerate()
                .filter(|(_, ty)| ty.file == declared.file && ty.start < declared.start);
            let (i, _) = before.max_by_key(|(_, ty)| ty.start)?;
            match &chart.types.get(i)?.kind {
                TypeKind::Enum(values) => {
                    let value = values.iter().find(|value| *value == text)?;
                    Some(Subject::Value(TypeId::at(i), value.clone()))
                }
                TypeKind::Record(_) => None,
            }
        }
        NameKind::Variable => {
            place(&map.variables, declared).map(|i| Subject::Variable(VarId::at(i)))
        }
        NameKind::Event => {
            let first = map.events.iter().position(|span| contains(*span, declared))?;
            let name = &chart.events.get(first)?.name;
            let parts = done
                .sources
                .get(declared.file)
                .slice(Span { start: map.events[first].start, ..declared });
            let depth = parts.split('.').count();
            let prefix: Vec<&str> = name.split('.').take(depth).collect();
            let is_meant = |name: &str| {
                let mut names = name.split('.');
                prefix.iter().all(|part| names.next() == Some(part))
            };
            let all = chart.events.iter().enumerate().filter(|(_, event)| is_meant(&event.name));
            Some(Subject::Events(all.map(|(i, _)| EventId::at(i)).collect()))
        }
        NameKind::Function => {
            place(&map.functions, declared).map(|i| Subject::Function(FunctionId::at(i)))
        }
        NameKind::Tool => {
            let nth = map.tools.iter().position(|span| contains(*span, declared))?;
            Some(Subject::Tool(ToolId::at(nth)))
        }
        NameKind::ToolSet => {
            let nth = map.tool_sets.iter().position(|span| *span == Some(declared))?;
            Some(Subject::ToolSet(ToolSetId::at(nth)))
        }
        NameKind::Client => place(&map.clients, declared).map(|i| Subject::Client(ClientId::at(i))),
        NameKind::Component => place(&map.components, declared).map(Subject::Component),
        NameKind::Predicate => {
            place(&map.predicates, declared).map(|i| Subject::Predicate(PredicateId::at(i)))
        }
        NameKind::State => {
            let nth = map.states.iter().position(|state| state.name == declared)?;
            (nth > 0).then_some(Subject::State(StateId::at(nth)))
        }
        NameKind::Step => {
            let nth = map.steps.iter().position(|step| step.name == declared)?;
            Some(Subject::Step(StepId::at(nth)))
        }
        NameKind::Choice => {
            let nth = place(&map.choices, declared)?;
            let is_option = matches!(chart.choices.get(nth)?.kind, ChoiceKind::Option(_));
            is_option.then_some(Subject::Choice(ChoiceId::at(nth)))
        }
        NameKind::Local => {
            let found = map.bound.iter().find(|(span, _)| *span == declared);
            found.map(|(_, ty)| Subject::Bound(ty.clone()))
        }
        NameKind::Field | NameKind::Param => {
            let file = done.files.iter().find(|file| file.id == declared.file)?;
            written_type(done, file, declared).map(Subject::Param)
        }
    }
}

/// The type of a parameter or a field, as written.
fn written_type(done: &Compilation, file: &File, declared: Span) -> Option<String> {
    let mut found = None;
    visit::file(file, &mut |node| {
        if let SyntaxNode::Param(param) = node
            && param.name.span == declared
        {
            found = Some(param.ty.span);
        }
    });
    found.map(|span| done.sources.get(span.file).slice(span).to_owned())
}

/// The built-in function or observable at an offset.
pub(super) fn known_to_all(file: &File, offset: u32) -> Option<(Span, &'static str)> {
    let mut found = None;
    visit::file(file, &mut |node| {
        let SyntaxNode::Expr(expr) = node else { return };
        let inside = |span: Span| span.file == file.id && span.start <= offset && offset < span.end;
        match &expr.kind {
            ExprKind::Name(name) if inside(expr.span) => {
                let known = observables().find(|(known, _)| known == name);
                found = known.map(|(known, _)| (expr.span, known));
            }
            ExprKind::Call(name, _) if inside(name.span) => {
                let known = language_functions().find(|known| *known == name.node);
                found = known.map(|known| (name.span, known));
            }
            _ => {}
        }
    });
    found
}
