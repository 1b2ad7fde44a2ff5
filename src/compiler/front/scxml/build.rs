//! Turns a document into the syntax of a chart.
//!
//! The problem: SCXML names states by ids that are unique in the document, matches events by prefixes, and gives access to the current
//! event everywhere. A chart has paths, events with declared data, and data only where a transition binds them. The idea: a document with
//! resolved names and inferred kinds (`Family`) says what each expression means at its place; each element then becomes an item, and a
//! transition for several events becomes one for each. For example:
//!
//! ```text
//! <transition event="a b done.state.s" target="t">       on a -> t { log "…" }
//!   <log expr="_event.name"/>                            on b -> t { log "…" }
//! </transition>                                          on done(s) -> t { log "…" }
//!
//! the `…` are `a`, `b` and `done.state.s`: where a line takes one event, its name is known
//! ```

mod actions;

use super::convert::{Brings, Converter, ExprContext};
use super::document::{
    ActKind, Descriptor, Document, Initial, Payload, ScxmlStateKind, Transition, dotted, walk,
};
use super::infer::reads_name;
use super::scope::{Class, Kinds, Scope, event_names, reads_data};
use super::{Family, PassedParam};
use crate::rules::{left_out, outside_subset};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Span, Spanned};
use crate::syntax::{
    self, Action, Block, CATCH_ALL, Chart, ChartItem, Comment, Done, EventPattern, Expr, ExprKind,
    File, History, Item, Line, LineKind, Noted, Param, Path, State, StateBody, StateItem,
    StateKind, Tail, Target, Trivia, TypeExpr, TypeKind, Variable, VariableKind,
};
use actions::Pattern;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of transitions and actions of a document: a `transition` for several events becomes one for each.
const MOST: usize = 200_000;

/// The maximum number of transitions that result from words for many events, such as `done`.
const SPREAD: usize = 20_000;

/// The state of the builder of one chart.
pub(super) struct Builder<'b, 'd> {
    document: &'d Document,
    scope: Scope<'d>,
    /// For each invoked document, the ids of its data that receive a value, each with the name of its param.
    params: Vec<BTreeMap<String, String>>,
    findings: &'b mut Vec<Diagnostic>,
    /// The number of transitions and actions that may still be built.
    left: usize,
    /// The number of transitions for words for many events that may still be built.
    spread: usize,
    inside: Inside,
}

/// The events that originate inside a document.
struct Inside {
    /// The names of the events that the document raises.
    raised: BTreeSet<String>,
    /// The states that can reach their end.
    ended: Vec<usize>,
    /// Whether any state or invoked document can end.
    ends: bool,
    /// The names of events, without those that have another one as a prefix. Computed on first use.
    known: OnceCell<Vec<(String, Vec<Ident>)>>,
}

impl Inside {
    fn new(document: &Document) -> Self {
        let mut raised = BTreeSet::new();
        for block in document.blocks() {
            walk(block, &mut |act| {
                if let ActKind::Raise(event, _) = &act.kind {
                    raised.insert(event.text());
                }
            });
        }
        let all = 0..document.states.len();
        let ended: Vec<usize> = all.filter(|nth| document.is_ever_done(*nth)).collect();
        let ends = !ended.is_empty() || !document.invokes.is_empty();
        Self { raised, ended, ends, known: OnceCell::new() }
    }

    /// Whether any event originates inside the document.
    fn happens(&self) -> bool {
        self.ends || !self.raised.is_empty()
    }
}

impl Builder<'_, '_> {
    fn converter(&mut self) -> Converter<'_, '_> {
        Converter { scope: &self.scope, findings: &mut *self.findings }
    }

    /// Takes `count` transitions from the budget for words for many events. Returns `false`, and reports it once, if too few are left.
    fn take_spread(&mut self, count: usize, span: Span) -> bool {
        let spreads = count <= self.spread;
        if !spreads && self.left > 0 {
            let message =
                format!("words for many events come to more than {SPREAD} lines in this document");
            self.findings.push(outside_subset::at(span, message));
            self.left = 0;
        }
        self.spread -= count.min(self.spread);
        spreads
    }

    /// Takes `count` transitions and actions from the budget. Returns `false`, and reports it once, if too few are left.
    fn take_budget(&mut self, count: usize, span: Span) -> bool {
        if self.left < count && self.left > 0 {
            let message = format!("this document comes to more than {MOST} lines and actions");
            self.findings.push(outside_subset::at(span, message));
            self.left = 0;
        }
        let affords = self.left >= count;
        self.left -= if affords { count } else { 0 };
        affords
    }
}

/// A node with comments before it.
fn noted<T>(node: T, span: Span, before: &[Spanned<String>]) -> Noted<T> {
    let trivia = Trivia { before: comments(before), ..Trivia::default() };
    Noted { trivia, doc: String::new(), node, span }
}

/// A node with comments and a blank line before it.
fn apart<T>(node: T, span: Span, before: &[Spanned<String>]) -> Noted<T> {
    let mut made = noted(node, span, before);
    made.trivia.blank_before = true;
    made
}

/// The lines of XML comments, as comments of a chart.
fn comments(all: &[Spanned<String>]) -> Vec<Comment> {
    let lines = all.iter().flat_map(|comment| comment.node.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| Comment { blank_before: false, text: format!(" {line}") }).collect()
}

fn path(names: Vec<Ident>, span: Span) -> Path {
    Path { names, span }
}

// Builds charts: their declarations, and everything else as items of the root.

/// Builds the file of a document: its chart, followed by the charts of the documents that it invokes, in preorder.
pub(super) fn file(id: FileId, document: &Document, findings: &mut Vec<Diagnostic>) -> File {
    let (mut items, mut left) = (Vec::new(), (MOST, SPREAD));
    chart(Family::new(document, &BTreeMap::new()), &mut left, findings, &mut items);
    File { items, end: comments(&document.after), ..File::new(id) }
}

/// Builds the chart of a document and those of its invoked documents.
fn chart(
    family: Family<'_>,
    left: &mut (usize, usize),
    findings: &mut Vec<Diagnostic>,
    to: &mut Vec<Noted<Item>>,
) {
    let document = family.scope.document;
    let params = family.children.iter().map(|child| child.scope.params()).collect();
    let (scope, inside) = (family.scope, Inside::new(document));
    let (more, spread) = *left;
    let mut builder = Builder { document, scope, params, findings, left: more, spread, inside };
    // Loops and scripts of the body may add variables, so the body is built first.
    let body = builder.body(0);
    let mut items = builder.variables();
    items.extend(builder.events());
    let states = body.into_iter().map(|noted| Noted {
        trivia: noted.trivia,
        doc: noted.doc,
        node: ChartItem::State(noted.node),
        span: noted.span,
    });
    items.extend(apart_first(states.collect()));
    *left = (builder.left, builder.spread);
    let mut end = comments(&document.states[0].end);
    // Comments after the outermost document belong to the file.
    if !to.is_empty() {
        end.extend(comments(&document.after));
    }
    let chart = Chart {
        renamed: Vec::new(),
        name: Ident::new(document.chart.clone(), document.name_span),
        items,
        end,
        supplied: Vec::new(),
    };
    let mut item = noted(Item::Chart(chart), document.span, &document.before);
    item.trivia.blank_before = !to.is_empty();
    to.push(item);
    for child in family.children {
        self::chart(child, left, findings, to);
    }
}

/// Puts a blank line before the first item.
fn apart_first(mut items: Vec<Noted<ChartItem>>) -> Vec<Noted<ChartItem>> {
    if let Some(first) = items.first_mut() {
        first.trivia.blank_before = true;
    }
    items
}

/// The declaration of a param for a value that the invoking document passes.
fn param(given: &PassedParam, span: Span) -> ChartItem {
    ChartItem::Variable(Variable {
        renamed: Vec::new(),
        kind: VariableKind::Param,
        name: Ident::new(given.name.clone(), span),
        ty: given.kinds.class().written(span),
        range: None,
        default: None,
    })
}

impl Builder<'_, '_> {
    fn variables(&mut self) -> Vec<Noted<ChartItem>> {
        let document = self.document;
        let mut order: Vec<usize> = (0..self.scope.variables.len()).collect();
        // Data in document order, then the variables of loops and scripts.
        order.sort_by_key(|nth| {
            (self.scope.variables[*nth].data.is_none(), self.scope.variables[*nth].data, *nth)
        });
        let mut items = Vec::new();
        for nth in order {
            let variable = &self.scope.variables[nth];
            let (name, span, kinds) = (variable.name.clone(), variable.span, variable.kinds);
            let given = variable.given.clone();
            let data = variable.data.map(|data| &document.data[data]);
            let class = kinds.class();
            let written = data.and_then(|data| data.value.as_ref());
            let (whole, before) = data.map_or((span, &[][..]), |data| (data.span, &data.before));
            if let Some(given) = &given {
                items.push(noted(param(given, span), whole, before));
                if given.name == name {
                    continue;
                }
            }
            let before = if given.is_some() { &[][..] } else { before };
            let default = match written {
                _ if given.is_some() => {
                    let name = given.map(|given| given.name).unwrap_or_default();
                    Expr { kind: ExprKind::Name(name), span }
                }
                // A value that may fail is assigned in a block at the start of the run, where its failure is an event.
                Some(_) if variable.late => Expr { kind: ExprKind::None, span },
                Some(written) => {
                    let at = ExprContext { before: Some(nth), ..ExprContext::state(0) };
                    self.converter().value(written, &at).expr
                }
                None if kinds == Kinds::INT => Expr { kind: ExprKind::Int(0), span },
                None => Expr { kind: ExprKind::None, span },
            };
            let ty = if default.kind == ExprKind::None { Class::Json } else { class };
            let variable = Variable {
                renamed: Vec::new(),
                kind: VariableKind::Var { per_turn: false },
                name: Ident::new(name, span),
                ty: ty.written(span),
                range: None,
                default: Some(default),
            };
            items.push(noted(ChartItem::Variable(variable), whole, before));
        }
        items
    }

    /// Assigns the initial values that may fail, each in its own block, so that one failure does not prevent the others.
    fn late_data(&mut self) -> Vec<Noted<StateItem>> {
        let document = self.document;
        let mut items = Vec::new();
        for nth in 0..self.scope.variables.len() {
            let variable = &self.scope.variables[nth];
            let Some(data) = variable.data.filter(|_| variable.late) else { continue };
            let Some(written) = &document.data[data].value else { continue };
            let (name, span) = (variable.name.clone(), variable.span);
            let at = ExprContext { before: Some(nth), ..ExprContext::state(0) };
            let value = self.converter().value(written, &at).expr;
            let action = Action::Assign(Ident::new(name, span), value);
            let block =
                Block { actions: vec![noted(action, written.span, &[])], span: written.span };
            items.push(noted(StateItem::Enter(block), written.span, &[]));
        }
        items
    }

    /// The fields of an event: one for its data, if it has any.
    fn fields(&self, event: &str, span: Span) -> Vec<Param> {
        if !self.scope.has_data(event) {
            return Vec::new();
        }
        let name = Ident::new(self.scope.data.clone(), span);
        let kind = TypeKind::Name("Json".to_owned());
        vec![Param { name, ty: TypeExpr { kind, span }, range: None }]
    }

    /// Declares the events that the document uses, and one that represents all others.
    fn events(&mut self) -> Vec<Noted<ChartItem>> {
        let mut items = Vec::new();
        for (name, names, span) in event_names(self.document) {
            let fields = self.fields(&name, span);
            items.push(noted(ChartItem::Event(path(names, span), fields), span, &[]));
        }
        let span = self.document.name_span;
        let any = path(vec![Ident::new(CATCH_ALL.to_owned(), span)], span);
        let fields = self.fields(CATCH_ALL, span);
        items.push(noted(ChartItem::Event(any, fields), span, &[]));
        if let Some(first) = items.first_mut()
            && !self.scope.variables.is_empty()
        {
            first.trivia.blank_before = true;
        }
        items
    }

    /// Builds the items of a state or, for state 0, of the chart.
    fn body(&mut self, nth: usize) -> Vec<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        let mut items = Vec::new();
        items.extend(self.initial(nth));
        if nth == 0 {
            items.extend(self.late_data());
        }
        for child in &state.children {
            items.extend(self.history(*child));
        }
        for block in &state.enter {
            let body = self.actions(&block.body, &mut ExprContext::state(nth), block.span);
            items.push(noted(StateItem::Enter(body), block.span, &block.before));
        }
        items.extend(self.done_data(nth));
        for block in &state.exit {
            let body = self.actions(&block.body, &mut ExprContext::state(nth), block.span);
            items.push(noted(StateItem::Exit(body), block.span, &block.before));
        }
        for (invoke, written) in document.invokes.iter().enumerate() {
            if written.state == nth {
                items.push(self.invoke(invoke));
            }
        }
        for line in &state.lines {
            items.extend(self.lines(nth, line));
        }
        for child in &state.children {
            if let Some(made) = self.state(*child) {
                let span = document.states[*child].span;
                let before = &document.states[*child].before;
                let first = items.is_empty();
                items.push(if first || nth != 0 {
                    noted(made, span, before)
                } else {
                    apart(made, span, before)
                });
            }
        }
        items
    }
}

// Builds states and their default entries.

impl Builder<'_, '_> {
    /// Builds a state, parallel or final. Returns `None` for a history, which is built with its siblings.
    fn state(&mut self, nth: usize) -> Option<StateItem> {
        let state = &self.document.states[nth];
        let kind = match state.kind {
            ScxmlStateKind::Root | ScxmlStateKind::History { .. } => return None,
            ScxmlStateKind::State => StateKind::State,
            // A chart permits no parallel without regions; it behaves like a state without children.
            ScxmlStateKind::Parallel if self.first_child(nth).is_none() => StateKind::State,
            ScxmlStateKind::Parallel => StateKind::Parallel,
            ScxmlStateKind::Final => self.ending(nth),
        };
        let items = self.body(nth);
        let end = comments(&state.end);
        let empty = items.is_empty() && end.is_empty();
        let body = (!empty).then_some(StateBody { items, end, span: state.span });
        Some(StateItem::State(State { kind, name: state.id.clone(), renamed: Vec::new(), body }))
    }

    /// The first child that can be active: the first that is not a history.
    fn first_child(&self, nth: usize) -> Option<usize> {
        let states = &self.document.states;
        let active =
            |child: &&usize| !matches!(states[**child].kind, ScxmlStateKind::History { .. });
        states[nth].children.iter().find(active).copied()
    }

    /// The path to a state as seen from another one. An unknown name is kept, so that lowering reports it.
    fn path_of(&self, from: usize, id: &Ident) -> Path {
        let names = match self.scope.state(&id.node) {
            Some(to) => self.scope.path(from, to, id.span),
            None => vec![id.clone()],
        };
        path(names, id.span)
    }

    /// Builds `initial …`: the written one, else the first child.
    fn initial(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        if !matches!(state.kind, ScxmlStateKind::Root | ScxmlStateKind::State) {
            return None;
        }
        if let Some(initial) = &state.initial {
            let (targets, actions) = self.entered(nth, initial)?;
            let made = syntax::Initial { targets, actions, span: initial.span };
            return Some(noted(StateItem::Initial(made), initial.span, &initial.before));
        }
        let first = &document.states[self.first_child(nth)?].id;
        let name = Ident::new(first.node.clone(), first.span);
        let targets = vec![path(vec![name], first.span)];
        let made = syntax::Initial { targets, actions: None, span: first.span };
        Some(noted(StateItem::Initial(made), first.span, &[]))
    }

    /// The targets of a default entry, and its actions.
    fn entered(&mut self, from: usize, initial: &Initial) -> Option<(Vec<Path>, Option<Block>)> {
        let targets: Vec<Path> = initial.targets.iter().map(|id| self.path_of(from, id)).collect();
        let actions = (!initial.body.is_empty())
            .then(|| self.actions(&initial.body, &mut ExprContext::state(from), initial.span));
        (!targets.is_empty()).then_some((targets, actions))
    }

    /// Builds `history h -> d`, if the state is a history.
    fn history(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        let ScxmlStateKind::History { deep } = state.kind else { return None };
        let parent = state.parent.unwrap_or_default();
        let written = state.initial.as_ref();
        let (default, actions) = match written {
            Some(initial) => self.entered(parent, initial)?,
            None => {
                let first = &document.states[self.first_child(parent)?].id;
                let name = Ident::new(first.node.clone(), state.id.span);
                (vec![path(vec![name], state.id.span)], None)
            }
        };
        let history =
            History { name: state.id.clone(), renamed: Vec::new(), deep, default, actions };
        let before: Vec<_> =
            state.before.iter().chain(written.iter().flat_map(|i| &i.before)).cloned().collect();
        Some(noted(StateItem::History(history), state.span, &before))
    }

    /// The kind of a final state. One at the top level computes the result of the run.
    fn ending(&mut self, nth: usize) -> StateKind {
        let state = &self.document.states[nth];
        let (Some(done), Some(0)) = (&state.done, state.parent) else {
            return StateKind::Final(Vec::new(), Vec::new(), None);
        };
        let value = self.payload(done, &ExprContext::state(nth));
        let span = value.span;
        let ty = TypeExpr { kind: TypeKind::Name("Json".to_owned()), span };
        let data = Param { name: Ident::new("data".to_owned(), state.id.span), ty, range: None };
        StateKind::Final(vec![data], vec![Some(value)], None)
    }

    /// The block of a final state that stores the data with which its parent is done.
    fn done_data(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let done = document.states[nth].done.as_ref()?;
        let span = match done {
            Payload::Fields(_, span) => *span,
            Payload::Value(value) => value.span,
        };
        let parent = document.states[nth].parent?;
        let keeps = self.scope.done.get(&parent).copied()?;
        let value = self.payload(done, &ExprContext::state(nth));
        let name = Ident::new(self.scope.variables[keeps].name.clone(), span);
        Some(enter(Action::Assign(name, value), span))
    }
}

/// Builds the block `enter { action }`.
fn enter(action: Action, span: Span) -> Noted<StateItem> {
    let block = Block { actions: vec![noted(action, span, &[])], span };
    noted(StateItem::Enter(block), span, &[])
}

// Builds transitions.

/// A descriptor that means at most this many events does not count against the budget.
const FEW: usize = 8;

/// The name of a transition's event, if the pattern matches only one event.
fn named(pattern: &EventPattern, word: &str, scope: &Scope<'_>) -> Option<String> {
    match pattern {
        EventPattern::Event(..) => {
            (word != CATCH_ALL && scope.is_alone(word)).then(|| word.to_owned())
        }
        EventPattern::Done(_) => Some(word.to_owned()),
        EventPattern::Machine(_) => (!word.ends_with('*')).then(|| word.to_owned()),
        EventPattern::Error(_) => Some("error.communication".to_owned()),
        _ => None,
    }
}

impl Builder<'_, '_> {
    /// Builds one transition for each event of the written transition.
    fn lines(&mut self, source: usize, written: &Transition) -> Vec<Noted<StateItem>> {
        let Some(events) = &written.events else {
            return self.eventless(source, written).into_iter().collect();
        };
        if self.left == 0 {
            return Vec::new();
        }
        let mut size = 1;
        walk(&written.body, &mut |_| size += 1);
        let mut lines: Vec<Noted<StateItem>> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for descriptor in events {
            let patterns = self.patterns(source, descriptor, written);
            if patterns.len() > FEW && !self.take_spread(patterns.len(), written.span) {
                return lines;
            }
            for (pattern, brings, word) in patterns {
                if seen.contains(&word) {
                    continue;
                }
                // A linear search: beyond the bound, a repeated event costs a line that is never taken.
                if seen.len() < 100 {
                    seen.push(word.clone());
                }
                if !self.take_budget(size, written.span) {
                    return lines;
                }
                let named = named(&pattern, &word, &self.scope);
                let inside = named.is_none() && self.may_be_inside(&pattern, &word);
                let at = ExprContext { brings, named, inside, ..ExprContext::state(source) };
                let tail = self.tail(source, written, at);
                let before = if lines.is_empty() { &written.before[..] } else { &[] };
                let line = Line { kind: LineKind::On(pattern), tail };
                lines.push(noted(StateItem::Line(line), written.span, before));
            }
        }
        lines
    }

    /// Whether a transition may be triggered by an event from inside the document.
    fn may_be_inside(&self, pattern: &EventPattern, word: &str) -> bool {
        match pattern {
            EventPattern::Event(..) => {
                let below = format!("{word}.");
                let next = self.inside.raised.range(below.clone()..).next();
                self.inside.raised.contains(word)
                    || next.is_some_and(|name| name.starts_with(&below))
            }
            // A transition for any event that reads its name is preceded by one transition for each known event, so it takes only other
            // events.
            EventPattern::Any(_) | EventPattern::Everything(_) => false,
            _ => true,
        }
    }

    /// The patterns for one word of `event`, each with its data and its name.
    fn patterns(
        &mut self,
        source: usize,
        descriptor: &Descriptor,
        written: &Transition,
    ) -> Vec<Pattern> {
        let reads = reads_data(written.cond.as_ref(), &written.body);
        match descriptor {
            Descriptor::All(span) => {
                let named =
                    self.inside.happens() && reads_name(written.cond.as_ref(), &written.body);
                let each = reads || named;
                let mut found =
                    if each { self.each_event(source, reads, *span) } else { Vec::new() };
                found.push((EventPattern::Everything(*span), Brings::NoData, "*".to_owned()));
                found
            }
            Descriptor::Event(names, span) => {
                let name = dotted(names);
                let bound = if reads && self.scope.has_data(&name) {
                    vec![Ident::new(self.scope.data.clone(), *span)]
                } else {
                    Vec::new()
                };
                let brings = if bound.is_empty() { Brings::NoData } else { Brings::Data };
                vec![(EventPattern::Event(path(names.clone(), *span), bound), brings, name)]
            }
            Descriptor::Error(text) => {
                let machine = EventPattern::Machine(text.clone());
                let mut found = vec![(machine, Brings::NoData, text.node.clone())];
                if text.node == "error.*" {
                    found.extend(self.invoke_failed(text.span));
                }
                found
            }
            Descriptor::Communication(span) => {
                let found = self.invoke_failed(*span);
                if found.is_empty() {
                    self.findings.push(left_out::never("error.communication", *span));
                }
                found
            }
            Descriptor::DoneInvoke(id, span) => self.invoke_done(id.as_ref(), reads, *span),
            Descriptor::Done(span) => {
                let mut found = self.done_states(source, *span);
                if !self.document.invokes.is_empty() {
                    found.extend(self.invoke_done(None, reads, *span));
                }
                if found.is_empty() {
                    self.findings.push(left_out::never("done", *span));
                }
                found
            }
            Descriptor::DoneState(Some(id), span) => self.done(source, id, *span),
            Descriptor::DoneState(None, span) => {
                let found = self.done_states(source, *span);
                if found.is_empty() {
                    self.findings.push(left_out::never("done.state", *span));
                }
                found
            }
        }
    }

    /// A pattern for every event by name, which binds the data if they are read.
    fn each_event(&mut self, source: usize, reads: bool, span: Span) -> Vec<Pattern> {
        let document = self.document;
        let known = self.inside.known.get_or_init(|| {
            let names = event_names(document).into_iter().map(|(name, names, _)| (name, names));
            let any = (CATCH_ALL.to_owned(), vec![Ident::new(CATCH_ALL.to_owned(), span)]);
            let known: Vec<(String, Vec<Ident>)> = names.chain([any]).collect();
            let all: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            // In SCXML, a transition for `a` also takes `a.b`, so `a.b` needs no line of its own.
            let below =
                |name: &str| name.match_indices('.').any(|(at, _)| all.contains(&name[..at]));
            known.iter().filter(|(name, _)| !below(name)).cloned().collect()
        });
        let mut found = Vec::new();
        for (name, names) in known {
            let names = names.iter().map(|n| Ident::new(n.node.clone(), span)).collect();
            let bound = reads.then(|| Ident::new(self.scope.data.clone(), span));
            let brings = if reads { Brings::Data } else { Brings::NoData };
            let pattern = EventPattern::Event(path(names, span), bound.into_iter().collect());
            found.push((pattern, brings, name.clone()));
        }
        found.extend(self.done_states(source, span));
        if !self.document.invokes.is_empty() {
            found.extend(self.invoke_done(None, reads, span));
        }
        found
    }

    /// The patterns for the end of any state.
    fn done_states(&mut self, source: usize, span: Span) -> Vec<Pattern> {
        let states = self.inside.ended.iter().map(|nth| &self.document.states[*nth]);
        let ids: Vec<Ident> = states.map(|state| Ident::new(state.id.node.clone(), span)).collect();
        ids.iter().flat_map(|id| self.done(source, id, span)).collect()
    }

    fn done(&mut self, source: usize, id: &Ident, span: Span) -> Vec<Pattern> {
        let state = self.scope.state(&id.node);
        if let Some(state) = state
            && !self.is_ever_done(state)
        {
            self.findings.push(left_out::never(&format!("done.state.{}", id.node), span));
            return Vec::new();
        }
        let subject = self.path_of(source, id);
        let kept = state.and_then(|state| self.scope.done.get(&state));
        let brings = kept.map_or(Brings::NoData, |nth| Brings::Done(*nth));
        let done = Done { subject, binding: None };
        vec![(EventPattern::Done(done), brings, format!("done.state.{}", id.node))]
    }

    /// Whether a state can be done: whether its final state can be reached.
    fn is_ever_done(&self, nth: usize) -> bool {
        self.document.is_ever_done(nth)
    }

    fn eventless(&mut self, source: usize, written: &Transition) -> Option<Noted<StateItem>> {
        if written.targets.is_empty() && written.body.is_empty() {
            self.findings.push(left_out::idle(written.span));
            return None;
        }
        let at = ExprContext { brings: Brings::Eventless, ..ExprContext::state(source) };
        let mut tail = self.tail(source, written, at);
        let always = Expr { kind: ExprKind::Bool(true), span: written.span };
        let test = tail.guard.take().unwrap_or(always);
        let line = Line { kind: LineKind::When(test), tail };
        Some(noted(StateItem::Line(line), written.span, &written.before))
    }

    fn tail(&mut self, source: usize, written: &Transition, mut at: ExprContext) -> Tail {
        let guard = written.cond.as_ref().map(|cond| self.converter().condition(cond, &at));
        let target = |id: &Ident| Target { path: self.path_of(source, id), arguments: Vec::new() };
        let targets: Vec<Target> = written.targets.iter().map(target).collect();
        let block = self.actions(&written.body, &mut at, written.span);
        let actions = (!block.actions.is_empty()).then_some(block);
        Tail { guard, reenter: self.leaves(source, written), targets, actions }
    }

    /// Whether the transition needs `reenter`: an external transition into its own compound state exits that state.
    fn leaves(&self, source: usize, written: &Transition) -> bool {
        let state = &self.document.states[source];
        let compound = state.kind == ScxmlStateKind::State && self.first_child(source).is_some();
        let below = |id: &Ident| {
            self.scope.state(&id.node).is_some_and(|to| self.document.is_below(to, source))
        };
        !written.internal
            && compound
            && !written.targets.is_empty()
            && written.targets.iter().all(below)
    }
}
