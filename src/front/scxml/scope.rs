//! The names of a document: states, variables, events with data.

use super::document::{Act, ActKind, Descriptor, Document, Event, Payload, dotted, walk};
use super::kinds::Kinds;
use super::script::{Expr, Kind, Statement, StatementKind};
use crate::span::{Ident, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A variable of the chart.
#[derive(Debug)]
pub(super) struct Variable {
    /// As it is named in the chart.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kinds: Kinds,
    /// Which `<data>` declares it.
    pub(super) data: Option<usize>,
    /// Its first value is more than a literal: it is computed when the run begins, and may fail.
    pub(super) late: bool,
}

/// The names of a document.
pub(super) struct Scope<'d> {
    pub(super) document: &'d Document,
    states: HashMap<&'d str, usize>,
    pub(super) variables: Vec<Variable>,
    by_name: HashMap<String, usize>,
    /// Of each state that is done with data: the variable that keeps them.
    pub(super) done: BTreeMap<usize, usize>,
    /// Names that lines take the data of, and all below them.
    wanted: BTreeSet<String>,
    /// Names that are sent with data.
    given: BTreeSet<String>,
    /// What lines call the data of their event.
    pub(super) data: String,
}

impl<'d> Scope<'d> {
    pub(super) fn of(document: &'d Document) -> Self {
        let mut states = HashMap::new();
        for (nth, state) in document.states.iter().enumerate().skip(1) {
            states.entry(state.id.node.as_str()).or_insert(nth);
        }
        let mut scope = Self {
            document,
            states,
            variables: Vec::new(),
            by_name: HashMap::new(),
            done: BTreeMap::new(),
            wanted: BTreeSet::new(),
            given: BTreeSet::new(),
            data: String::new(),
        };
        for (nth, data) in document.data.iter().enumerate() {
            scope.declare(&data.id, Some(nth));
        }
        for nth in 0..scope.variables.len() {
            let value =
                scope.variables[nth].data.and_then(|data| document.data[data].value.as_ref());
            scope.variables[nth].late = value.is_some_and(|value| !scope.is_plain(value, nth));
        }
        for block in document.blocks() {
            walk(block, &mut |act| scope.declared_by(act));
        }
        for state in &document.states {
            let parent = state.parent.filter(|p| *p != 0 && state.done.is_some());
            if let Some(parent) = parent.filter(|p| !scope.done.contains_key(p)) {
                let name = scope.free(&format!("{}_data", document.states[parent].id.node));
                let variable = scope.declare(&Ident::new(name, state.id.span), None);
                scope.variables[variable].kinds = Kinds::ANY;
                scope.done.insert(parent, variable);
            }
        }
        scope.data = scope.free("data");
        scope.events();
        scope
    }

    /// A name that no variable has.
    pub(super) fn free(&self, wanted: &str) -> String {
        let taken = |name: &str| self.variables.iter().any(|v| v.name == name) || name == "event";
        let mut name = wanted.to_owned();
        while taken(&name) {
            name.push('_');
        }
        name
    }

    fn declare(&mut self, id: &Ident, data: Option<usize>) -> usize {
        if let Some(known) = self.by_name.get(&id.node) {
            if let (Some(_), None) = (data, self.variables[*known].data) {
                self.variables[*known].data = data;
            }
            return *known;
        }
        let nth = self.variables.len();
        // What the machine calls `event` is read under this name.
        let name = if id.node == "event" { self.free("event_") } else { id.node.clone() };
        self.variables.push(Variable {
            name,
            span: id.span,
            kinds: Kinds::NEVER,
            data,
            late: false,
        });
        self.by_name.insert(id.node.clone(), nth);
        nth
    }

    /// A variable that nobody sees but the chart; its number.
    pub(super) fn hidden(&mut self, wanted: &str, span: Span, kinds: Kinds) -> usize {
        let name = self.free(wanted);
        let nth = self.declare(&Ident::new(name, span), None);
        self.variables[nth].kinds = kinds;
        nth
    }

    /// Scripts and loops declare what they assign to.
    fn declared_by(&mut self, act: &Act) {
        match &act.kind {
            ActKind::Script(statements) => self.declared_in(statements, &mut Vec::new()),
            ActKind::ForEach(each) => {
                self.declare(&each.item, None);
                if let Some(index) = &each.index {
                    self.declare(index, None);
                }
            }
            ActKind::Assign(..)
            | ActKind::Raise(..)
            | ActKind::Send(_)
            | ActKind::Cancel(_)
            | ActKind::If(_)
            | ActKind::Log(..)
            | ActKind::Faulty(_) => {}
        }
    }

    fn declared_in(&mut self, statements: &[Statement], locals: &mut Vec<String>) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(place, _) => {
                    if let Kind::Name(name) = &place.kind
                        && !locals.contains(name)
                    {
                        self.declare(&Ident::new(name.clone(), place.span), None);
                    }
                }
                StatementKind::Declare(name, _) => {
                    self.declare(name, None);
                }
                StatementKind::If(_, then, other) => {
                    self.declared_in(then, locals);
                    self.declared_in(other, locals);
                }
                StatementKind::ForOf(item, _, body) => {
                    locals.push(item.node.clone());
                    self.declared_in(body, locals);
                    locals.pop();
                }
                StatementKind::Push(..) | StatementKind::Log(_) | StatementKind::Faulty(_) => {}
            }
        }
    }

    /// Whether a first value is a literal, or that of a variable before it that begins with one.
    fn is_plain(&self, value: &Expr, before: usize) -> bool {
        match &value.kind {
            Kind::None | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Text(_) => true,
            Kind::Name(name) => {
                let known = self.variable(name).filter(|nth| *nth < before);
                known.is_some_and(|nth| !self.variables[nth].late)
            }
            Kind::Array(items) => items.iter().all(|item| self.is_plain(item, before)),
            Kind::Object(entries) => entries.iter().all(|(_, of)| self.is_plain(of, before)),
            Kind::Member(..)
            | Kind::Index(..)
            | Kind::Call(..)
            | Kind::Not(_)
            | Kind::Negate(_)
            | Kind::Number(_)
            | Kind::Typeof(_)
            | Kind::Binary(..)
            | Kind::Compare(..)
            | Kind::And(..)
            | Kind::Or(..)
            | Kind::Nullish(..)
            | Kind::If(..)
            | Kind::Faulty(_) => false,
        }
    }

    /// The number of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The number of a state.
    pub(super) fn state(&self, id: &str) -> Option<usize> {
        self.states.get(id).copied()
    }

    pub(super) fn state_ids(&self) -> impl Iterator<Item = &'d str> + '_ {
        self.states.keys().copied()
    }

    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Which events have data: those sent with them, and those whose data a line reads.
    fn events(&mut self) {
        let mut given = BTreeSet::new();
        for block in self.document.blocks() {
            walk(block, &mut |act| {
                let (event, data) = match &act.kind {
                    ActKind::Raise(event, data) => (event, data),
                    ActKind::Send(send) => (&send.event, &send.data),
                    ActKind::Assign(..)
                    | ActKind::Cancel(_)
                    | ActKind::If(_)
                    | ActKind::ForEach(_)
                    | ActKind::Log(..)
                    | ActKind::Script(_)
                    | ActKind::Faulty(_) => return,
                };
                if data.is_some() {
                    given.insert(event.text());
                }
            });
        }
        self.given = given;
        for state in &self.document.states {
            for line in state.lines.iter().filter(|l| reads_data(l.cond.as_ref(), &l.body)) {
                for descriptor in line.events.iter().flatten() {
                    if let Descriptor::Event(names, _) = descriptor {
                        self.wanted.insert(dotted(names));
                    }
                }
            }
        }
    }

    /// Whether an event has data.
    pub(super) fn has_data(&self, event: &str) -> bool {
        let mut prefixes = event.match_indices('.').map(|(at, _)| &event[..at]).chain([event]);
        self.given.contains(event) || prefixes.any(|p| self.wanted.contains(p))
    }

    /// Names that a path of `to` has, as seen from `from`; empty for the document itself.
    pub(super) fn path(&self, from: usize, to: usize, span: Span) -> Vec<Ident> {
        let states = &self.document.states;
        let mut names = vec![Ident::new(states[to].id.node.clone(), span)];
        let mut at = states[to].parent;
        while let Some(scope) = at.filter(|s| *s != 0) {
            if scope == from || self.document.is_below(from, scope) {
                break;
            }
            names.push(Ident::new(states[scope].id.node.clone(), span));
            at = states[scope].parent;
        }
        names.reverse();
        names
    }
}

/// Whether a line reads the data of its event.
pub(super) fn reads_data(cond: Option<&Expr>, body: &[Act]) -> bool {
    let mut found = cond.is_some_and(mentions_event);
    walk(body, &mut |act| found |= exprs(act).into_iter().any(mentions_event));
    found
}

/// The expressions of one element, those of elements in it left out.
pub(super) fn exprs(act: &Act) -> Vec<&Expr> {
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

/// Whether an expression reads the event but for its name.
fn mentions_event(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Name(name) => name == "_event",
        Kind::Member(of, name) => {
            let name_only = name.node == "name" && of.kind == Kind::Name("_event".to_owned());
            !name_only && mentions_event(of)
        }
        Kind::None
        | Kind::Bool(_)
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Faulty(_) => false,
        Kind::Not(x) | Kind::Negate(x) | Kind::Number(x) | Kind::Typeof(x) => mentions_event(x),
        Kind::Index(a, b)
        | Kind::Binary(_, a, b)
        | Kind::Compare(_, a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Nullish(a, b) => mentions_event(a) || mentions_event(b),
        Kind::Call(f, all) => mentions_event(f) || all.iter().any(mentions_event),
        Kind::If(a, b, c) => [a, b, c].into_iter().any(|e| mentions_event(e)),
        Kind::Array(all) => all.iter().any(mentions_event),
        Kind::Object(all) => all.iter().any(|(_, e)| mentions_event(e)),
    }
}

/// Every name of an event that the document uses, in order, with the place of its first use.
pub(super) fn event_names(document: &Document) -> Vec<(String, Vec<Ident>, Span)> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let mut add = |names: &[Ident], span: Span| {
        let name = dotted(names);
        if known.insert(name.clone()) {
            found.push((name, names.to_vec(), span));
        }
    };
    for state in &document.states {
        for line in &state.lines {
            for descriptor in line.events.iter().flatten() {
                if let Descriptor::Event(names, span) = descriptor {
                    add(names, *span);
                }
            }
        }
        let blocks = state.enter.iter().chain(&state.exit).map(|b| &b.body[..]);
        let lines = state.lines.iter().map(|l| &l.body[..]);
        for block in state.initial.iter().map(|i| &i.body[..]).chain(blocks).chain(lines) {
            walk(block, &mut |act| match &act.kind {
                ActKind::Raise(Event { names, span }, _) => add(names, *span),
                ActKind::Send(send) => add(&send.event.names, send.event.span),
                ActKind::Assign(..)
                | ActKind::Cancel(_)
                | ActKind::If(_)
                | ActKind::ForEach(_)
                | ActKind::Log(..)
                | ActKind::Script(_)
                | ActKind::Faulty(_) => {}
            });
        }
    }
    found
}
