//! The names of a document: states, variables, and events with data.
//!
//! The problem: a chart declares every variable with a type and every event with its fields. An SCXML document does neither: scripts and
//! loops assign to new names, any event may carry anything in `_event.data`, and ECMAScript has no types. The idea: `Scope::new` goes
//! through the document once, before anything is translated, and collects what has to be declared:
//!
//! - Variables: the `<data>` elements, then the names to which scripts and loops assign, then one for the data of each state that is done
//!   with data. What a variable may hold is a set of kinds (`Kinds`, one bit each), which `infer` fills in. `Kinds::class` is the narrowest
//!   type for them.
//! - Events with data: those sent with data, and those whose data a transition reads. In SCXML `a` also means `a.b`, so the data of `a.b`
//!   is wanted wherever that of `a` is (`Scope::has_data`).
//! - Names that would clash get underscores (`Scope::free`).
//!
//! For example:
//!
//! ```text
//! <data id="n" expr="0"/>                                   variable `n`: declared, and its initial value is a literal
//! <script>total = n + 1</script>                            variable `total`
//! <transition event="mail" cond="_event.data.size > n"/>    the event `mail` has data
//! <transition event="stop"/>                                the event `stop` has none
//! ```

use super::PassedParam;
use super::document::{ActKind, Descriptor, Document, Event, Executable, Payload, dotted, walk};
use super::script::{Expr, ScriptExprKind, Statement, StatementKind};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{TypeExpr, TypeKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

/// A variable of the chart.
#[derive(Debug)]
pub(super) struct Variable {
    /// The name in the chart.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kinds: Kinds,
    /// The index of the `<data>` that declares it.
    pub(super) data: Option<usize>,
    /// Whether its initial value is more than a literal: it is computed at the start of the run, and may fail.
    pub(super) late: bool,
    /// The value that it receives if the document is invoked with one.
    pub(super) given: Option<PassedParam>,
}

/// The names of a document.
pub(super) struct Scope<'d> {
    pub(super) document: &'d Document,
    states: HashMap<&'d str, usize>,
    pub(super) variables: Vec<Variable>,
    by_name: HashMap<String, usize>,
    /// For each state that is done with data, the index of the variable that stores the data.
    pub(super) done: BTreeMap<usize, usize>,
    /// The events whose data a transition reads. Each name also stands for the events that have it as a prefix.
    wanted: BTreeSet<String>,
    /// The events that are sent with data.
    given: BTreeSet<String>,
    /// The name that transitions give to the data of their event.
    pub(super) data: String,
    /// The names of all events.
    events: BTreeSet<String>,
    /// Whether a transition reads the data of every event.
    pub(super) every: bool,
    /// The name of the step that runs each invoked document.
    pub(super) steps: Vec<String>,
}

impl<'d> Scope<'d> {
    /// Collects the names of a document that receives values of these kinds, by the ids of its data.
    pub(super) fn new(document: &'d Document, given: &BTreeMap<&str, Kinds>) -> Self {
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
            events: event_names(document).into_iter().map(|(name, ..)| name).collect(),
            every: false,
            steps: Vec::new(),
        };
        for (nth, data) in document.data.iter().enumerate() {
            let variable = scope.declare(&data.id, Some(nth));
            if let Some(kinds) = given.get(data.id.node.as_str()) {
                let name = scope.variables[variable].name.clone();
                scope.variables[variable].given = Some(PassedParam { name, kinds: *kinds });
                scope.variables[variable].kinds = *kinds;
            }
        }
        for nth in 0..scope.variables.len() {
            let value =
                scope.variables[nth].data.and_then(|data| document.data[data].value.as_ref());
            let given = scope.variables[nth].given.is_some();
            let late = value.is_some_and(|value| !scope.is_plain(value, nth));
            scope.variables[nth].late = late && !given;
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
        for invoke in &document.invokes {
            let mut name = scope.free(&invoke.id.node.replace('.', "_"));
            while scope.states.contains_key(name.as_str()) {
                name = scope.free(&format!("{name}_"));
            }
            scope.steps.push(name);
        }
        scope.data = scope.free("data");
        scope.events();
        scope
    }

    /// The wanted name, with underscores appended until no variable or step has it.
    pub(super) fn free(&self, wanted: &str) -> String {
        let taken = |name: &str| {
            let variable = |v: &Variable| {
                v.name == name || v.given.as_ref().is_some_and(|given| given.name == name)
            };
            self.variables.iter().any(variable)
                || self.steps.iter().any(|step| step == name)
                || name == "event"
        };
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
        // `event` is built in, so a variable of this name gets another one.
        let name = if id.node == "event" { self.free("event_") } else { id.node.clone() };
        self.variables.push(Variable {
            name,
            span: id.span,
            kinds: Kinds::NEVER,
            data,
            late: false,
            given: None,
        });
        self.by_name.insert(id.node.clone(), nth);
        nth
    }

    /// For each id of data that receives a value, the name of the param.
    pub(super) fn params(&self) -> BTreeMap<String, String> {
        let ids = self.document.data.iter().map(|data| &data.id.node);
        let param = |id: &String| {
            let given = self.variables[self.variable(id)?].given.as_ref()?;
            Some((id.clone(), given.name.clone()))
        };
        ids.filter_map(param).collect()
    }

    /// Records an assignment to this variable. The value that it receives then needs a param of its own: params are read-only.
    pub(super) fn assigned(&mut self, nth: usize) {
        let wanted = format!("initial_{}", self.variables[nth].name);
        let name = self.free(&wanted);
        if let Some(given) = &mut self.variables[nth].given {
            given.name = name;
        }
    }

    /// Declares a variable for internal use; returns its index.
    pub(super) fn hidden(&mut self, wanted: &str, span: Span, kinds: Kinds) -> usize {
        let name = self.free(wanted);
        let nth = self.declare(&Ident::new(name, span), None);
        self.variables[nth].kinds = kinds;
        nth
    }

    /// Declares the variables to which scripts and loops assign.
    fn declared_by(&mut self, act: &Executable) {
        match &act.kind {
            ActKind::Script(statements) => self.declared_in(statements, &mut Vec::new()),
            ActKind::ForEach(each) => {
                self.declare(&each.item, None);
                if let Some(index) = &each.index {
                    self.declare(index, None);
                }
            }
            _ => {}
        }
    }

    fn declared_in(&mut self, statements: &[Statement], locals: &mut Vec<String>) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(place, _) => {
                    if let ScriptExprKind::Name(name) = &place.kind
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

    /// Whether an initial value consists of literals and of earlier variables with such values.
    fn is_plain(&self, value: &Expr, before: usize) -> bool {
        match &value.kind {
            ScriptExprKind::None
            | ScriptExprKind::Bool(_)
            | ScriptExprKind::Int(_)
            | ScriptExprKind::Float(_)
            | ScriptExprKind::Text(_) => true,
            ScriptExprKind::Name(name) => {
                let known = self.variable(name).filter(|nth| *nth < before);
                known.is_some_and(|nth| !self.variables[nth].late)
            }
            ScriptExprKind::Array(items) => items.iter().all(|item| self.is_plain(item, before)),
            ScriptExprKind::Object(entries) => {
                entries.iter().all(|(_, of)| self.is_plain(of, before))
            }
            _ => false,
        }
    }

    /// The index of a variable, by its written name.
    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The index of a state, by its id.
    pub(super) fn state(&self, id: &str) -> Option<usize> {
        self.states.get(id).copied()
    }

    pub(super) fn state_ids(&self) -> impl Iterator<Item = &'d str> + '_ {
        self.states.keys().copied()
    }

    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Collects events with data: those sent with data, and those whose data a transition reads.
    fn events(&mut self) {
        let mut given = BTreeSet::new();
        for block in self.document.blocks() {
            walk(block, &mut |act| {
                let (event, data) = match &act.kind {
                    ActKind::Raise(event, data) => (event, data),
                    ActKind::Send(send) => (&send.event, &send.data),
                    _ => return,
                };
                if data.is_some() {
                    given.insert(event.text());
                }
            });
        }
        self.given = given;
        let mut open = vec![self.document];
        while let Some(document) = open.pop() {
            open.extend(forwarded(document));
            for state in &document.states {
                for line in state.lines.iter().filter(|l| reads_data(l.cond.as_ref(), &l.body)) {
                    for descriptor in line.events.iter().flatten() {
                        if let Descriptor::Event(names, _) = descriptor {
                            self.wanted.insert(dotted(names));
                        }
                        self.every |= matches!(descriptor, Descriptor::All(_));
                    }
                }
            }
        }
    }

    /// Whether no other event of the document has this name as a prefix.
    pub(super) fn is_alone(&self, event: &str) -> bool {
        let below = format!("{event}.");
        let next =
            self.events.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded)).next();
        !next.is_some_and(|next| next.starts_with(&below))
    }

    /// Whether an event has data: its declaration in the chart then has a field.
    pub(super) fn has_data(&self, event: &str) -> bool {
        let mut prefixes = event.match_indices('.').map(|(at, _)| &event[..at]).chain([event]);
        self.every || self.given.contains(event) || prefixes.any(|p| self.wanted.contains(p))
    }

    /// The names on the path to `to` as seen from `from`: those below the nearest state that is or contains `from`.
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

/// The documents to which a document forwards its events.
fn forwarded(document: &Document) -> impl Iterator<Item = &Document> {
    document.invokes.iter().filter(|invoke| invoke.forward.is_some()).map(|invoke| &invoke.child)
}

/// The names of all events that the document uses, in order, each with the place of its first use; then those of documents to which
/// it forwards events.
pub(super) fn event_names(document: &Document) -> Vec<(String, Vec<Ident>, Span)> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let mut add = |names: &[Ident], span: Span| {
        let name = dotted(names);
        if known.insert(name.clone()) {
            found.push((name, names.to_vec(), span));
        }
    };
    let mut all = vec![document];
    let mut nth = 0;
    while let Some(one) = all.get(nth).copied() {
        all.extend(forwarded(one));
        nth += 1;
    }
    for state in all.into_iter().flat_map(|document| &document.states) {
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
                _ => {}
            });
        }
    }
    found
}

/// A set of kinds of values, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinds {
    own: u8,
    /// The kinds of the items, if the value is a list.
    items: u8,
}

impl Kinds {
    /// No value at all: an expression that always fails.
    pub(super) const NEVER: Self = Self::from_bits(0);
    /// `undefined` and `null`, which are one value here.
    pub(super) const NONE: Self = Self::from_bits(1);
    pub(super) const BOOL: Self = Self::from_bits(2);
    pub(super) const INT: Self = Self::from_bits(4);
    pub(super) const FLOAT: Self = Self::from_bits(8);
    pub(super) const NUMBER: Self = Self::from_bits(12);
    pub(super) const TEXT: Self = Self::from_bits(16);
    pub(super) const MAP: Self = Self { own: 64, items: 127 };
    pub(super) const ANY: Self = Self { own: 127, items: 127 };

    const fn from_bits(own: u8) -> Self {
        Self { own, items: 0 }
    }

    /// A list whose items have these kinds.
    pub(super) const fn list(self) -> Self {
        Self { own: 32, items: self.own }
    }

    /// The kinds of the items, if a value of these kinds is a list. The items of its items are not tracked: they may be of any kind.
    pub(super) const fn item(self) -> Self {
        Self { own: self.items, items: if self.items & 0x60 == 0 { 0 } else { 127 } }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self { own: self.own | other.own, items: self.items | other.items }
    }

    /// These kinds without those of `other`.
    pub(super) const fn less(self, other: Self) -> Self {
        Self { own: self.own & !other.own, items: self.items }
    }

    /// Whether all of these kinds are in `other`.
    pub(super) const fn within(self, other: Self) -> bool {
        self.own & !other.own == 0
    }

    /// Whether any of these kinds is in `other`.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.own & other.own != 0
    }

    /// Whether it is certainly a list, or either a list or nothing.
    pub(super) const fn is_list(self) -> bool {
        self.own == 32 || self.own == 33
    }

    pub(super) const fn may_be_list(self) -> bool {
        self.own & 32 != 0
    }

    /// Whether a value of these kinds may be equal to one of `other`.
    pub(super) const fn may_equal(self, other: Self) -> bool {
        self.meets(other) || self.meets(Self::NUMBER) && other.meets(Self::NUMBER)
    }

    /// The type of a variable that stores such values.
    pub(super) fn class(self) -> Class {
        match self.own {
            2 => Class::Bool,
            4 => Class::Int,
            8 | 12 => Class::Float,
            16 => Class::Text,
            _ => Class::Json,
        }
    }
}

/// The type of a translated expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The literal `none`, which has no type of its own.
    None,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
    Json,
}

impl Class {
    /// The type as it is declared.
    pub(super) fn written(self, span: Span) -> TypeExpr {
        let name = match self {
            Self::Bool => "Bool",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::Text => "Text",
            _ => "Json",
        };
        TypeExpr { kind: TypeKind::Name(name.to_owned()), span }
    }
}

/// Whether a transition reads the data of its event.
pub(super) fn reads_data(cond: Option<&Expr>, body: &[Executable]) -> bool {
    let mut found = cond.is_some_and(mentions_event);
    walk(body, &mut |act| found |= exprs(act).into_iter().any(mentions_event));
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

pub(super) fn mentions(expr: &Expr, name_too: bool) -> bool {
    let is_event = |expr: &Expr| matches!(&expr.kind, ScriptExprKind::Name(n) if n == "_event");
    match &expr.kind {
        ScriptExprKind::Member(of, name) if !name_too && name.node == "name" && is_event(of) => {
            false
        }
        _ => is_event(expr) || expr.kind.parts().into_iter().any(|e| mentions(e, name_too)),
    }
}
