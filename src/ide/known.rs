//! Collects the declarations of files and charts from their syntax, also if they have errors.

use super::outline::{self, SymbolKind};
use crate::Compilation;
use chartc_compiler::syntax::source::FileId;
use chartc_compiler::syntax::{
    Chart, ChartItem, Client, Component, Function, FunctionKind, Item, LineKind, MayKind, Param,
    State, StateItem, StateKind, Step, Tool, ToolSet, TypeExpr,
};
use std::collections::BTreeSet;

/// The name of an enum's value, or of a record's field with its type.
pub(super) type MemberName<'c> = (&'c str, Option<&'c TypeExpr>);

/// A declaration in a file or a chart.
#[derive(Debug, Clone)]
pub(super) struct Decl<'c> {
    /// The name as written. Names of tools and events may have dots.
    pub(super) name: String,
    /// The kind of what is declared.
    pub(super) kind: SymbolKind,
    /// The type of a value, or the result of a function or tool.
    pub(super) ty: Option<&'c TypeExpr>,
    /// The parameters of a function, tool, event, option or final state.
    pub(super) params: &'c [Param],
    /// The documentation, from its `///` lines.
    pub(super) doc: &'c str,
    /// The values of an enum, or the fields of a record.
    pub(super) parts: Vec<MemberName<'c>>,
}

impl<'c> Decl<'c> {
    fn new(name: impl Into<String>, kind: SymbolKind, doc: &'c str) -> Self {
        Self { name: name.into(), kind, ty: None, params: &[], doc, parts: Vec::new() }
    }
}

/// The declarations outside of charts, those of the file `first` before those of other files.
pub(super) fn outside(compilation: &Compilation, first: FileId) -> Vec<Decl<'_>> {
    let mut files: Vec<_> = compilation.files.iter().collect();
    files.sort_by_key(|file| (file.id != first, file.id));
    let mut found = Vec::new();
    for file in files {
        for noted in &file.items {
            let doc = noted.doc.as_str();
            match &noted.node {
                Item::Record(record) => {
                    let mut decl = Decl::new(&record.name.node, SymbolKind::Type, doc);
                    let fields = record.fields.iter().map(|field| &field.node);
                    decl.parts = fields.map(|f| (f.name.node.as_str(), Some(&f.ty))).collect();
                    found.push(decl);
                }
                Item::Enum(names) => {
                    let mut decl = Decl::new(&names.name.node, SymbolKind::Enum, doc);
                    decl.parts = names.names.iter().map(|n| (n.node.node.as_str(), None)).collect();
                    found.push(decl);
                }
                Item::Function(one) => found.push(function(one, doc)),
                Item::Tool(one) => found.push(tool(one, doc)),
                Item::ToolSet(one) => found.push(tool_set(one, doc)),
                Item::Client(one) => found.push(client(one, doc)),
                Item::Component(one) => found.push(component(one, doc)),
                Item::Chart(one) => {
                    found.push(Decl::new(&one.name.node, SymbolKind::Chart, doc));
                }
                Item::Import(_) | Item::Scenario(_) | Item::Bad(_) => {}
            }
        }
    }
    found
}

fn function<'c>(one: &'c Function, doc: &'c str) -> Decl<'c> {
    let (kind, ty) = match &one.kind {
        FunctionKind::Pure(result, ..) => (SymbolKind::Function, Some(result)),
        FunctionKind::Effect => (SymbolKind::Effect, None),
    };
    Decl { ty, params: &one.params, ..Decl::new(&one.name.node, kind, doc) }
}

fn tool<'c>(one: &'c Tool, doc: &'c str) -> Decl<'c> {
    let decl = Decl::new(one.name.text(), SymbolKind::Tool, doc);
    Decl { ty: Some(&one.result), params: &one.params, ..decl }
}

fn tool_set<'c>(one: &'c ToolSet, doc: &'c str) -> Decl<'c> {
    Decl::new(&one.name.node, SymbolKind::ToolSet, doc)
}

fn client<'c>(one: &'c Client, doc: &'c str) -> Decl<'c> {
    Decl::new(&one.name.node, SymbolKind::Client, doc)
}

fn component<'c>(one: &'c Component, doc: &'c str) -> Decl<'c> {
    Decl::new(&one.name.node, SymbolKind::Component, doc)
}

/// The declarations in a chart without its states, but with the steps and options of all states.
pub(super) fn inside(chart: &Chart) -> Vec<Decl<'_>> {
    let mut found = Vec::new();
    for noted in &chart.items {
        let doc = noted.doc.as_str();
        match &noted.node {
            ChartItem::Variable(one) => {
                let decl = Decl::new(&one.name.node, outline::variable_kind(one), doc);
                found.push(Decl { ty: Some(&one.ty), ..decl });
            }
            ChartItem::Event(name, params) => {
                let decl = Decl::new(name.text(), SymbolKind::Event, doc);
                found.push(Decl { params, ..decl });
            }
            ChartItem::Function(one) => found.push(function(one, doc)),
            ChartItem::Tool(one) => found.push(tool(one, doc)),
            ChartItem::ToolSet(one) => found.push(tool_set(one, doc)),
            ChartItem::Predicate(one) => {
                found.push(Decl::new(&one.name.node, SymbolKind::Predicate, doc));
            }
            ChartItem::Client(one) => found.push(client(one, doc)),
            ChartItem::Component(one) => found.push(component(one, doc)),
            ChartItem::State(item) => of_item(item, doc, &mut found),
            _ => {}
        }
    }
    found
}

fn of_item<'c>(item: &'c StateItem, doc: &'c str, found: &mut Vec<Decl<'c>>) {
    match item {
        StateItem::State(state) => {
            for noted in state.body.iter().flat_map(|body| &body.items) {
                of_item(&noted.node, &noted.doc, found);
            }
        }
        StateItem::Step(one) => {
            found.push(Decl {
                ty: step_type(one),
                ..Decl::new(&one.name.node, SymbolKind::Step, doc)
            });
        }
        StateItem::Line(line) => found.extend(option(&line.kind, doc)),
        StateItem::From(from) => {
            let lines = from.lines.iter();
            found.extend(lines.filter_map(|one| option(&one.node.kind, &one.doc)));
        }
        _ => {}
    }
}

/// The type that a step declares in `returns`.
fn step_type(step: &Step) -> Option<&TypeExpr> {
    use chartc_compiler::syntax::StepItem;
    step.items.iter().find_map(|noted| match &noted.node {
        StepItem::Returns(ty, _) => Some(ty),
        _ => None,
    })
}

fn option<'c>(kind: &'c LineKind, doc: &'c str) -> Option<Decl<'c>> {
    let LineKind::May(may) = kind else { return None };
    let MayKind::Option(name, params) = &may.kind else { return None };
    Some(Decl { params, ..Decl::new(&name.node, SymbolKind::Option, doc) })
}

/// A state with its descendants.
#[derive(Debug, Clone)]
pub(super) struct StateNode<'c> {
    /// The name as written.
    pub(super) name: &'c str,
    /// The kind: state, parallel, final or history; for the root, chart.
    pub(super) kind: SymbolKind,
    /// The parameters of a final state.
    pub(super) params: &'c [Param],
    /// The documentation, from its `///` lines.
    pub(super) doc: &'c str,
    /// The offset of its name.
    pub(super) start: usize,
    /// The children in document order.
    pub(super) children: Vec<StateNode<'c>>,
}

/// The states of a chart as a tree, whose root is the chart itself.
pub(super) fn states(chart: &Chart) -> StateNode<'_> {
    let mut root = StateNode {
        name: &chart.name.node,
        kind: SymbolKind::Chart,
        params: &[],
        doc: "",
        start: chart.name.span.start as usize,
        children: Vec::new(),
    };
    for noted in &chart.items {
        if let ChartItem::State(item) = &noted.node {
            root.children.extend(node(item, &noted.doc));
        }
    }
    root
}

fn node<'c>(item: &'c StateItem, doc: &'c str) -> Option<StateNode<'c>> {
    match item {
        StateItem::State(state) => Some(state_node(state, doc)),
        StateItem::History(history) => Some(StateNode {
            name: &history.name.node,
            kind: SymbolKind::History,
            params: &[],
            doc,
            start: history.name.span.start as usize,
            children: Vec::new(),
        }),
        _ => None,
    }
}

fn state_node<'c>(state: &'c State, doc: &'c str) -> StateNode<'c> {
    let (kind, params): (_, &[Param]) = match &state.kind {
        StateKind::State => (SymbolKind::State, &[]),
        StateKind::Parallel => (SymbolKind::Parallel, &[]),
        StateKind::Final(params, ..) => (SymbolKind::Final, params),
    };
    let items = state.body.iter().flat_map(|body| &body.items);
    StateNode {
        name: &state.name.node,
        kind,
        params,
        doc,
        start: state.name.span.start as usize,
        children: items.filter_map(|noted| node(&noted.node, &noted.doc)).collect(),
    }
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

/// The type `name` with the names of its values or fields.
pub(super) fn parts<'d, 'c>(
    decls: &'d [Decl<'c>],
    name: &str,
) -> Option<(&'d Decl<'c>, &'d [MemberName<'c>])> {
    let is_type = |decl: &&Decl<'_>| matches!(decl.kind, SymbolKind::Type | SymbolKind::Enum);
    let found = decls.iter().filter(is_type).find(|decl| decl.name == name)?;
    Some((found, &found.parts))
}

/// Removes all but the first declaration of each kind and name.
pub(super) fn unique(decls: Vec<Decl<'_>>) -> Vec<Decl<'_>> {
    let mut seen = BTreeSet::new();
    decls.into_iter().filter(|decl| seen.insert((decl.kind, decl.name.clone()))).collect()
}

/// A declaration of which only the name is known, because its text cannot be parsed.
pub(super) fn lost<'c>(name: String, kind: SymbolKind) -> Decl<'c> {
    Decl::new(name, kind, "")
}
