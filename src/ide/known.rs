//! The declarations of files and charts as a tree. It is read from the syntax, so texts with errors have one, too.

use super::notation;
use crate::Compilation;
use chartc_compiler::syntax::source::{FileId, Ident, Span};
use chartc_compiler::syntax::{
    Chart, ChartItem, Component, EventPattern, File, Function, FunctionKind, Item, Line, LineKind,
    MayKind, Noted, Param, Path, State, StateItem, StateKind, Step, StepItem, StepKind, Tool,
    ToolSet, TypeExpr, VariableKind,
};
use std::collections::BTreeSet;

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum SymbolKind {
    Import,
    Chart,
    State,
    Parallel,
    Final,
    History,
    Event,
    Param,
    Input,
    Variable,
    Step,
    Option,
    Tool,
    ToolSet,
    Type,
    Field,
    Enum,
    EnumValue,
    Function,
    Effect,
    Predicate,
    Client,
    Component,
    Test,
}

/// A declaration with those inside it.
#[derive(Debug, Clone)]
pub(super) struct Decl<'c> {
    /// The name as written. Names of tools and events may have dots.
    pub(super) name: String,
    /// The span of the name.
    pub(super) name_span: Span,
    /// The span of the whole declaration.
    pub(super) whole: Span,
    /// The kind of what is declared.
    pub(super) kind: SymbolKind,
    /// The type of a value, or the result of a function, tool or step.
    pub(super) ty: Option<&'c TypeExpr>,
    /// The parameters of a function, tool, event, option or final state.
    pub(super) params: &'c [Param],
    /// The documentation, from its `///` lines.
    pub(super) doc: &'c str,
    /// What neither the type nor the parameters say, in a few words.
    detail: String,
    /// The fields of a record, the values of an enum, or what a chart or a state contains.
    pub(super) children: Vec<Decl<'c>>,
}

/// The documentation and the span of an item.
type Note<'c> = (&'c str, Span);

const fn note<T>(noted: &Noted<T>) -> Note<'_> {
    (noted.doc.as_str(), noted.span)
}

impl<'c> Decl<'c> {
    fn new(name: &Ident, kind: SymbolKind, (doc, whole): Note<'c>) -> Self {
        let (name, name_span, detail) = (name.node.clone(), name.span, String::new());
        let (ty, params, children) = (None, &[][..], Vec::new());
        Self { name, name_span, whole, kind, ty, params, doc, detail, children }
    }

    fn dotted(name: &Path, kind: SymbolKind, note: Note<'c>) -> Self {
        Self::new(&Ident::new(name.text(), name.span), kind, note)
    }

    fn typed(self, ty: &'c TypeExpr) -> Self {
        Self { ty: Some(ty), ..self }
    }

    /// A few words beside the name: a type, parameters or a trigger; may be empty.
    pub(super) fn detail(&self) -> String {
        let ty = || self.ty.map(notation::type_expr).unwrap_or_default();
        let params = || notation::params(self.params);
        match self.kind {
            SymbolKind::Function | SymbolKind::Tool => format!("{} -> {}", params(), ty()),
            SymbolKind::Effect => params(),
            SymbolKind::Param | SymbolKind::Input | SymbolKind::Variable | SymbolKind::Field => {
                ty()
            }
            _ if self.params.is_empty() => self.detail.trim_start().to_owned(),
            _ => params() + &self.detail,
        }
    }

    fn is_state(&self) -> bool {
        use SymbolKind::{Final, History, Parallel, State};
        matches!(self.kind, State | Parallel | Final | History)
    }
}

/// The declarations of a file.
pub(super) fn declarations(file: &File) -> Vec<Decl<'_>> {
    file.items.iter().filter_map(|noted| top(&noted.node, note(noted))).collect()
}

fn top<'c>(item: &'c Item, note: Note<'c>) -> Option<Decl<'c>> {
    Some(match item {
        Item::Import(import) => Decl::new(&import.path, SymbolKind::Import, note),
        Item::Record(record) => {
            let field = |noted: &'c Noted<Param>| {
                Decl::new(&noted.node.name, SymbolKind::Field, self::note(noted))
                    .typed(&noted.node.ty)
            };
            let children = record.fields.iter().map(field).collect();
            Decl { children, ..Decl::new(&record.name, SymbolKind::Type, note) }
        }
        Item::Enum(list) => {
            let value = |noted: &'c Noted<Ident>| {
                Decl::new(&noted.node, SymbolKind::EnumValue, self::note(noted))
            };
            let children = list.names.iter().map(value).collect();
            Decl { children, ..Decl::new(&list.name, SymbolKind::Enum, note) }
        }
        Item::Function(one) => function(one, note),
        Item::Tool(one) => tool(one, note),
        Item::ToolSet(one) => tool_set(one, note),
        Item::Client(one) => Decl::new(&one.name, SymbolKind::Client, note),
        Item::Component(one) => component(one, note),
        Item::Chart(chart) => Decl { children: items(chart), ..whole(chart, note) },
        Item::Scenario(test) => {
            let detail = format!("for {}", test.chart.node);
            Decl { detail, ..Decl::new(&test.name, SymbolKind::Test, note) }
        }
        Item::Bad(_) => return None,
    })
}

fn whole<'c>(chart: &Chart, note: Note<'c>) -> Decl<'c> {
    Decl::new(&chart.name, SymbolKind::Chart, note)
}

fn function<'c>(one: &'c Function, note: Note<'c>) -> Decl<'c> {
    let (kind, ty) = match &one.kind {
        FunctionKind::Pure(result, ..) => (SymbolKind::Function, Some(result)),
        FunctionKind::Effect => (SymbolKind::Effect, None),
    };
    Decl { ty, params: &one.params, ..Decl::new(&one.name, kind, note) }
}

fn tool<'c>(one: &'c Tool, note: Note<'c>) -> Decl<'c> {
    let decl = Decl::dotted(&one.name, SymbolKind::Tool, note);
    Decl { params: &one.params, ..decl.typed(&one.result) }
}

fn tool_set<'c>(set: &'c ToolSet, note: Note<'c>) -> Decl<'c> {
    let detail = set.tools.text();
    Decl { detail, ..Decl::new(&set.name, SymbolKind::ToolSet, note) }
}

fn component<'c>(component: &'c Component, note: Note<'c>) -> Decl<'c> {
    let steps: Vec<&str> = component.inserts.iter().map(|one| one.step.node.as_str()).collect();
    let detail = format!("into {}", steps.join(", "));
    Decl { detail, ..Decl::new(&component.name, SymbolKind::Component, note) }
}

/// The declarations in a chart.
fn items(chart: &Chart) -> Vec<Decl<'_>> {
    let mut found = Vec::new();
    for noted in &chart.items {
        let note = note(noted);
        found.push(match &noted.node {
            ChartItem::Variable(one) => {
                let kind = match one.kind {
                    VariableKind::Param => SymbolKind::Param,
                    VariableKind::Input => SymbolKind::Input,
                    VariableKind::Var { .. } => SymbolKind::Variable,
                };
                Decl::new(&one.name, kind, note).typed(&one.ty)
            }
            ChartItem::Event(name, params) => {
                Decl { params, ..Decl::dotted(name, SymbolKind::Event, note) }
            }
            ChartItem::Function(one) => function(one, note),
            ChartItem::Tool(one) => tool(one, note),
            ChartItem::ToolSet(one) => tool_set(one, note),
            ChartItem::Predicate(one) => Decl::new(&one.name, SymbolKind::Predicate, note),
            ChartItem::Client(one) => Decl::new(&one.name, SymbolKind::Client, note),
            ChartItem::Component(one) => component(one, note),
            ChartItem::State(item) => {
                state_item(item, note, &mut found);
                continue;
            }
            _ => continue,
        });
    }
    found
}

fn state_item<'c>(item: &'c StateItem, note: Note<'c>, found: &mut Vec<Decl<'c>>) {
    match item {
        StateItem::State(one) => found.push(state(one, note)),
        StateItem::History(history) => {
            let detail = if history.deep { "deep" } else { "" }.to_owned();
            found.push(Decl { detail, ..Decl::new(&history.name, SymbolKind::History, note) });
        }
        StateItem::Step(one) => found.push(step(one, note)),
        StateItem::Line(line) => found.extend(option(line, note)),
        StateItem::From(from) => {
            found.extend(from.lines.iter().filter_map(|one| option(&one.node, self::note(one))));
        }
        _ => {}
    }
}

fn state<'c>(state: &'c State, note: Note<'c>) -> Decl<'c> {
    let mut decl = Decl::new(&state.name, SymbolKind::State, note);
    match &state.kind {
        StateKind::State => {}
        StateKind::Parallel => decl.kind = SymbolKind::Parallel,
        StateKind::Final(params, _, status) => {
            (decl.kind, decl.params) = (SymbolKind::Final, params);
            decl.detail.extend(status.iter().map(|word| format!(" : {}", word.node)));
        }
    }
    for noted in state.body.iter().flat_map(|body| &body.items) {
        state_item(&noted.node, self::note(noted), &mut decl.children);
    }
    decl
}

fn step<'c>(step: &'c Step, note: Note<'c>) -> Decl<'c> {
    let on = match step.on.as_deref() {
        None => String::new(),
        Some(EventPattern::Event(path, _)) => format!(" on {}", path.text()),
        Some(_) => " on turn".to_owned(),
    };
    let detail = match &step.kind {
        StepKind::Llm => format!("llm{on}"),
        StepKind::Code(_) => "code".to_owned(),
        StepKind::Ask(_) => format!("ask{on}"),
        StepKind::Call(tool, _) => format!("call{on} {}", tool.text()),
        StepKind::Human(_) => format!("human{on}"),
        StepKind::Run(run) => format!("run {}", run.chart.node),
    };
    let ty = step.items.iter().find_map(|noted| match &noted.node {
        StepItem::Returns(ty, ..) => Some(ty),
        _ => None,
    });
    Decl { ty, detail, ..Decl::new(&step.name, SymbolKind::Step, note) }
}

/// The option that a `may` line offers.
fn option<'c>(line: &'c Line, note: Note<'c>) -> Option<Decl<'c>> {
    let LineKind::May(may) = &line.kind else { return None };
    let MayKind::Option(name, params) = &may.kind else { return None };
    Some(Decl { params, ..Decl::new(name, SymbolKind::Option, note) })
}

// The parts of the tree that are visible somewhere.

/// The declarations outside of charts, those of the file `first` before those of other files.
pub(super) fn outside(compilation: &Compilation, first: FileId) -> Vec<Decl<'_>> {
    let mut files: Vec<_> = compilation.files.iter().collect();
    files.sort_by_key(|file| (file.id != first, file.id));
    let is_named = |decl: &Decl<'_>| !matches!(decl.kind, SymbolKind::Import | SymbolKind::Test);
    files.into_iter().flat_map(declarations).filter(is_named).collect()
}

/// The declarations in a chart without its states, but with the steps and options of all states.
pub(super) fn inside(chart: &Chart) -> Vec<Decl<'_>> {
    let mut found = Vec::new();
    flatten(items(chart), &mut found);
    found
}

fn flatten<'c>(decls: Vec<Decl<'c>>, found: &mut Vec<Decl<'c>>) {
    for decl in decls {
        if decl.is_state() {
            flatten(decl.children, found);
        } else {
            found.push(decl);
        }
    }
}

/// The states of a chart as a tree, whose root is the chart itself.
pub(super) fn states(chart: &Chart) -> Decl<'_> {
    Decl { children: only_states(items(chart)), ..whole(chart, ("", chart.name.span)) }
}

fn only_states(decls: Vec<Decl<'_>>) -> Vec<Decl<'_>> {
    let states = decls.into_iter().filter(Decl::is_state);
    states.map(|decl| Decl { children: only_states(decl.children), ..decl }).collect()
}

/// The chart of this name; one in the file `first` takes precedence.
pub(super) fn chart<'c>(
    compilation: &'c Compilation,
    first: FileId,
    name: &str,
) -> Option<(&'c Chart, FileId)> {
    let mut all = charts(compilation).filter(|(chart, _)| chart.name.node == name);
    let any = all.clone().next();
    all.find(|(_, file)| *file == first).or(any)
}

/// All charts, each with its file.
pub(super) fn charts(compilation: &Compilation) -> impl Iterator<Item = (&Chart, FileId)> + Clone {
    compilation.files.iter().flat_map(|file| {
        file.items.iter().filter_map(|noted| match &noted.node {
            Item::Chart(chart) => Some((chart, file.id)),
            _ => None,
        })
    })
}

/// The record or the enum `name`. Its children are its fields or values.
pub(super) fn named_type<'d, 'c>(decls: &'d [Decl<'c>], name: &str) -> Option<&'d Decl<'c>> {
    let is_type = |decl: &&Decl<'_>| matches!(decl.kind, SymbolKind::Type | SymbolKind::Enum);
    decls.iter().filter(is_type).find(|decl| decl.name == name)
}

/// Removes all but the first declaration of each kind and name.
pub(super) fn unique(decls: Vec<Decl<'_>>) -> Vec<Decl<'_>> {
    let mut seen = BTreeSet::new();
    decls.into_iter().filter(|decl| seen.insert((decl.kind, decl.name.clone()))).collect()
}

/// A declaration of which only the name is known, because its text cannot be parsed.
pub(super) fn lost<'c>(name: String, kind: SymbolKind) -> Decl<'c> {
    let nowhere = Span::new(FileId(0), 0, 0);
    Decl { name, ..Decl::new(&Ident::new(String::new(), nowhere), kind, ("", nowhere)) }
}
