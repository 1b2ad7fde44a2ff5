//! Lists the declarations of a file as a tree.

use super::notation;
use crate::Compilation;
use chartc_compiler::syntax::source::{FileId, Ident, Span};
use chartc_compiler::syntax::{
    Chart, ChartItem, Enum, EventPattern, File, Function, FunctionKind, Item, LineKind, MayKind,
    Noted, Record, State, StateItem, StateKind, Step, StepKind, Tool, ToolPattern, ToolSet,
    Variable, VariableKind,
};

/// A declaration with those inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, without back-quotes.
    pub name: String,
    /// A short text beside the name: a type, parameters or a trigger; may be empty.
    pub detail: String,
    /// The kind of what is declared.
    pub kind: SymbolKind,
    /// The span of the whole declaration, which contains `name_span` and all children.
    pub whole: Span,
    /// The span of the name.
    pub name_span: Span,
    /// The declarations inside it, in the order of the file.
    pub children: Vec<Symbol>,
}

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

/// The declarations of a file. Unknown files have none.
pub fn outline(compilation: &Compilation, file: FileId) -> Vec<Symbol> {
    syntax(compilation, file).map(symbols).unwrap_or_default()
}

pub(super) fn syntax(compilation: &Compilation, file: FileId) -> Option<&File> {
    compilation.files.get(file.0 as usize)
}

// Converts syntax to symbols.

/// The symbols of a file.
fn symbols(file: &File) -> Vec<Symbol> {
    finish(file.id, file.items.iter().filter_map(|noted| top(&noted.node, noted.span)).collect())
}

/// Removes symbols of other files, restores the order of the file, and extends each symbol to contain its children. This is needed because
/// the parts of a YAML or XML document may be written in any order, or in another file.
fn finish(file: FileId, symbols: Vec<Symbol>) -> Vec<Symbol> {
    let here = |symbol: &Symbol| symbol.name_span.file == file && symbol.whole.file == file;
    let mut kept: Vec<Symbol> = symbols.into_iter().filter(here).collect();
    for symbol in &mut kept {
        symbol.children = finish(file, std::mem::take(&mut symbol.children));
        let inner = symbol.children.iter().map(|child| child.whole);
        symbol.whole = inner.fold(symbol.whole.to(symbol.name_span), Span::to);
    }
    kept.sort_by_key(|symbol| (symbol.whole, symbol.name_span));
    kept
}

fn symbol(name: &Ident, kind: SymbolKind, detail: String, whole: Span) -> Symbol {
    let (name, name_span) = (name.node.clone(), name.span);
    Symbol { name, detail, kind, whole, name_span, children: Vec::new() }
}

fn top(item: &Item, span: Span) -> Option<Symbol> {
    Some(match item {
        Item::Import(import) => symbol(&import.path, SymbolKind::Import, String::new(), span),
        Item::Record(record) => self::record(record, span),
        Item::Enum(names) => self::names(names, span),
        Item::Function(function) => self::function(function, span),
        Item::Tool(tool) => self::tool(tool, span),
        Item::ToolSet(set) => tool_set(set, span),
        Item::Client(client) => symbol(&client.name, SymbolKind::Client, String::new(), span),
        Item::Component(component) => component_symbol(component, span),
        Item::Chart(chart) => self::chart(chart, span),
        Item::Scenario(test) => {
            symbol(&test.name, SymbolKind::Test, format!("for {}", test.chart.node), span)
        }
        Item::Bad(_) => return None,
    })
}

fn component_symbol(component: &chartc_compiler::syntax::Component, span: Span) -> Symbol {
    let steps: Vec<&str> = component.inserts.iter().map(|one| one.step.node.as_str()).collect();
    let detail = format!("into {}", steps.join(", "));
    symbol(&component.name, SymbolKind::Component, detail, span)
}

fn record(record: &Record, span: Span) -> Symbol {
    let mut made = symbol(&record.name, SymbolKind::Type, String::new(), span);
    made.children = record
        .fields
        .iter()
        .map(|noted| {
            let ty = notation::type_expr(&noted.node.ty);
            symbol(&noted.node.name, SymbolKind::Field, ty, noted.span)
        })
        .collect();
    made
}

fn names(names: &Enum, span: Span) -> Symbol {
    let mut made = symbol(&names.name, SymbolKind::Enum, String::new(), span);
    let value = |noted: &Noted<Ident>| {
        symbol(&noted.node, SymbolKind::EnumValue, String::new(), noted.span)
    };
    made.children = names.names.iter().map(value).collect();
    made
}

fn function(function: &Function, span: Span) -> Symbol {
    let params = notation::params(&function.params);
    match &function.kind {
        FunctionKind::Pure(result, ..) => {
            let detail = format!("{params} -> {}", notation::type_expr(result));
            symbol(&function.name, SymbolKind::Function, detail, span)
        }
        FunctionKind::Effect => symbol(&function.name, SymbolKind::Effect, params, span),
    }
}

fn tool(tool: &Tool, span: Span) -> Symbol {
    let detail =
        format!("{} -> {}", notation::params(&tool.params), notation::type_expr(&tool.result));
    let name = Ident::new(tool.name.text(), tool.name.span);
    symbol(&name, SymbolKind::Tool, detail, span)
}

fn tool_set(set: &ToolSet, span: Span) -> Symbol {
    let plus: Vec<String> = set.plus.iter().map(pattern).collect();
    let minus: String = set.minus.iter().map(|one| format!(" - {}", pattern(one))).collect();
    symbol(&set.name, SymbolKind::ToolSet, format!("{}{minus}", plus.join(" | ")), span)
}

fn pattern(pattern: &ToolPattern) -> String {
    match pattern {
        ToolPattern::Any(_) => "any".to_owned(),
        ToolPattern::Name(path) => path.text(),
        ToolPattern::Prefix(path) => format!("{}.*", path.text()),
    }
}

fn variable(variable: &Variable, span: Span) -> Symbol {
    symbol(&variable.name, variable_kind(variable), notation::type_expr(&variable.ty), span)
}

pub(super) const fn variable_kind(variable: &Variable) -> SymbolKind {
    match variable.kind {
        VariableKind::Param => SymbolKind::Param,
        VariableKind::Input => SymbolKind::Input,
        VariableKind::Var { .. } => SymbolKind::Variable,
    }
}

fn chart(chart: &Chart, span: Span) -> Symbol {
    let mut made = symbol(&chart.name, SymbolKind::Chart, String::new(), span);
    made.children = chart.items.iter().flat_map(chart_item).collect();
    made
}

fn chart_item(noted: &Noted<ChartItem>) -> Vec<Symbol> {
    let span = noted.span;
    vec![match &noted.node {
        ChartItem::Variable(one) => variable(one, span),
        ChartItem::Event(name, params) => {
            let detail = if params.is_empty() { String::new() } else { notation::params(params) };
            let name = Ident::new(name.text(), name.span);
            symbol(&name, SymbolKind::Event, detail, span)
        }
        ChartItem::Function(one) => function(one, span),
        ChartItem::Tool(one) => tool(one, span),
        ChartItem::ToolSet(one) => tool_set(one, span),
        ChartItem::Predicate(one) => symbol(&one.name, SymbolKind::Predicate, String::new(), span),
        ChartItem::Client(one) => symbol(&one.name, SymbolKind::Client, String::new(), span),
        ChartItem::Component(one) => component_symbol(one, span),
        ChartItem::State(item) => return state_item(item, span),
        _ => {
            return Vec::new();
        }
    }]
}

fn state_item(item: &StateItem, span: Span) -> Vec<Symbol> {
    vec![match item {
        StateItem::State(one) => state(one, span),
        StateItem::History(history) => {
            let detail = if history.deep { "deep" } else { "" };
            symbol(&history.name, SymbolKind::History, detail.to_owned(), span)
        }
        StateItem::Step(one) => step(one, span),
        StateItem::Line(line) => return option(&line.kind, span).into_iter().collect(),
        StateItem::From(from) => {
            return from.lines.iter().filter_map(|one| option(&one.node.kind, one.span)).collect();
        }
        _ => return Vec::new(),
    }]
}

fn state(state: &State, span: Span) -> Symbol {
    let (kind, detail) = match &state.kind {
        StateKind::State => (SymbolKind::State, String::new()),
        StateKind::Parallel => (SymbolKind::Parallel, String::new()),
        StateKind::Final(params, _, status) => {
            let params = if params.is_empty() { String::new() } else { notation::params(params) };
            let status = status.as_ref().map(|word| format!(" : {}", word.node));
            (SymbolKind::Final, params + &status.unwrap_or_default())
        }
    };
    let mut made = symbol(&state.name, kind, detail.trim_start().to_owned(), span);
    let items = state.body.iter().flat_map(|body| &body.items);
    made.children = items.flat_map(|noted| state_item(&noted.node, noted.span)).collect();
    made
}

fn step(step: &Step, span: Span) -> Symbol {
    let detail = match &step.kind {
        StepKind::Llm => "llm".to_owned(),
        StepKind::Code(_) => "code".to_owned(),
        StepKind::Ask(ask) => match &ask.on {
            EventPattern::Event(path, _) => format!("ask on {}", path.text()),
            _ => "ask on turn".to_owned(),
        },
        StepKind::Call(tool, _) => format!("call {}", tool.text()),
        StepKind::Human(_) => "human".to_owned(),
        StepKind::Run(run) => format!("run {}", run.chart.node),
    };
    symbol(&step.name, SymbolKind::Step, detail, span)
}

/// The symbol of the option that a `may` line offers.
fn option(kind: &LineKind, span: Span) -> Option<Symbol> {
    let LineKind::May(may) = kind else { return None };
    let MayKind::Option(name, params) = &may.kind else { return None };
    let detail = if params.is_empty() { String::new() } else { notation::params(params) };
    Some(symbol(name, SymbolKind::Option, detail, span))
}

// Searches the symbols of a whole compilation by letters of their names.

/// A symbol that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    /// The file of the symbol.
    pub file: FileId,
    /// The symbol, without its children.
    pub symbol: Symbol,
    /// The names of the symbols around it, joined with dots; may be empty.
    pub container: String,
}

/// Finds the symbols whose names contain the letters of `wanted` in this order. Case does not matter. Equal names come first, then those
/// that begin with `wanted`, those that contain it, and the others, each in the order of the files.
pub fn search(compilation: &Compilation, wanted: &str) -> Vec<FoundSymbol> {
    let wanted = wanted.trim().to_lowercase();
    let mut found = Vec::new();
    for file in &compilation.files {
        collect(file.id, "", outline(compilation, file.id), &wanted, &mut found);
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, found)| found).collect()
}

fn collect(
    file: FileId,
    container: &str,
    symbols: Vec<Symbol>,
    wanted: &str,
    found: &mut Vec<(u8, FoundSymbol)>,
) {
    for mut symbol in symbols {
        let children = std::mem::take(&mut symbol.children);
        let inner = if container.is_empty() {
            symbol.name.clone()
        } else {
            format!("{container}.{}", symbol.name)
        };
        if let Some(rank) = rank(&symbol.name, wanted) {
            found.push((rank, FoundSymbol { file, symbol, container: container.to_owned() }));
        }
        collect(file, &inner, children, wanted, found);
    }
}

/// Ranks how well a name matches, from 0 (equal) to 3; `None` if it does not. `wanted` must be in lower case.
pub(super) fn rank(name: &str, wanted: &str) -> Option<u8> {
    let name = name.to_lowercase();
    if name == wanted {
        return Some(0);
    }
    if name.starts_with(wanted) {
        return Some(1);
    }
    if name.contains(wanted) {
        return Some(2);
    }
    let mut letters = name.chars();
    wanted.chars().all(|letter| letters.any(|own| own == letter)).then_some(3)
}
