//! Infers the kinds of values that each variable may hold, from all assignments to it.

use super::convert::{Brings, Converter, ExprContext, Value};
use super::document::{ActKind, Document, Executable, Payload, walk};
use super::scope::Scope;
use super::script::{Expr, ScriptExprKind, Statement, StatementKind};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::Span;
use crate::syntax::{TypeExpr, TypeKind};
use std::collections::BTreeSet;

/// The number of rounds after which kinds that still change become [`Kinds::ANY`].
const ROUNDS: usize = 8;

/// Infers the kinds of all variables of a scope: repeats over all assignments until nothing changes.
pub(super) fn settle(scope: &mut Scope<'_>) {
    let document = scope.document;
    for nth in 0..scope.variables.len() {
        let value = scope.variables[nth].data.and_then(|data| document.data[data].value.as_ref());
        let given = scope.variables[nth].given.is_some();
        if value.is_none() && !given || scope.variables[nth].late {
            let kinds = scope.variables[nth].kinds;
            scope.variables[nth].kinds = kinds.or(Kinds::NONE);
        }
    }
    for nth in changed(scope, document) {
        scope.assigned(nth);
    }
    for round in 0..=ROUNDS {
        let found = assigned(scope, document);
        let mut changed = false;
        for (nth, kinds) in found {
            let known = scope.variables[nth].kinds;
            let all = if round == ROUNDS { Kinds::ANY } else { known.or(kinds) };
            if all != known && known.or(kinds) != known {
                scope.variables[nth].kinds = all;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
    // Other kinds may be derived from those that were given up, so all are given up.
    for variable in &mut scope.variables {
        variable.kinds = Kinds::ANY;
    }
}

/// The variables that receive an initial value and are assigned to in blocks.
fn changed(scope: &Scope<'_>, document: &Document) -> BTreeSet<usize> {
    let mut muted = Vec::new();
    let mut walker = Walker::new(scope, &mut muted);
    document.blocks().for_each(|block| walker.block(block));
    let found = walker.found.into_iter().map(|(nth, _)| nth);
    found.filter(|nth| scope.variables[*nth].given.is_some()).collect()
}

fn assigned(scope: &Scope<'_>, document: &Document) -> Vec<(usize, Kinds)> {
    let mut muted = Vec::new();
    let mut walker = Walker::new(scope, &mut muted);
    for data in &document.data {
        if let (Some(value), Some(nth)) = (&data.value, scope.variable(&data.id.node))
            && scope.variables[nth].given.is_none()
        {
            let value = walker.value(value);
            walker.found.push((nth, value.kinds));
        }
    }
    for block in document.blocks() {
        walker.block(block);
    }
    walker.found
}

struct Walker<'w, 'd> {
    converter: Converter<'w, 'd>,
    at: ExprContext,
    found: Vec<(usize, Kinds)>,
}

impl<'w, 'd> Walker<'w, 'd> {
    fn new(scope: &'w Scope<'d>, findings: &'w mut Vec<Diagnostic>) -> Self {
        let at = ExprContext { brings: Brings::Data, ..ExprContext::state(0) };
        Self { converter: Converter { scope, findings }, at, found: Vec::new() }
    }

    fn value(&mut self, expr: &Expr) -> Value {
        self.converter.value(expr, &self.at)
    }

    fn assign(&mut self, place: &Expr, value: Value) {
        if let Ok((nth, value)) = self.converter.assignment(place, value, &self.at) {
            self.found.push((nth, value.kinds));
        }
    }

    fn block(&mut self, block: &[Executable]) {
        for act in block {
            match &act.kind {
                ActKind::Assign(place, value) => {
                    let value = self.value(value);
                    self.assign(place, value);
                }
                ActKind::Send(send) => {
                    if let (Some(put), Some(id)) = (&send.put, &send.id) {
                        self.assign(put, super::convert::text_value(&id.node, id.span));
                    }
                }
                ActKind::If(branches) => branches.iter().for_each(|(_, body)| self.block(body)),
                ActKind::ForEach(each) => {
                    let items = items(&self.value(&each.array));
                    let scope = self.converter.scope;
                    self.found.extend(scope.variable(&each.item.node).map(|nth| (nth, items)));
                    let index = each.index.as_ref().and_then(|name| scope.variable(&name.node));
                    self.found.extend(index.map(|nth| (nth, Kinds::INT)));
                    self.block(&each.body);
                }
                ActKind::Script(statements) => self.statements(statements),
                _ => {}
            }
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(place, value) => {
                    let value = self.value(value);
                    self.assign(place, value);
                }
                StatementKind::Declare(name, value) => {
                    let nth = self.converter.scope.variable(&name.node);
                    let kinds = value.as_ref().map_or(Kinds::NONE, |value| self.value(value).kinds);
                    self.found.extend(nth.map(|nth| (nth, kinds)));
                }
                StatementKind::If(_, then, other) => {
                    self.statements(then);
                    self.statements(other);
                }
                StatementKind::ForOf(name, source, body) => {
                    let items = items(&self.value(source));
                    self.at.locals.push((name.node.clone(), name.node.clone(), items));
                    self.statements(body);
                    self.at.locals.pop();
                }
                StatementKind::Push(list, item) => {
                    let item = self.value(item).kinds.list();
                    let list_value = self.value(list);
                    let kinds = list_value.kinds.less(Kinds::NONE).or(item);
                    self.assign(list, Value { kinds, ..list_value });
                }
                StatementKind::Log(_) | StatementKind::Faulty(_) => {}
            }
        }
    }
}

/// The kinds of the items over which a loop over the value runs.
pub(super) fn items(value: &Value) -> Kinds {
    let only = value.kinds.less(Kinds::NONE).within(value.kinds.item().list());
    if only { value.kinds.item() } else { Kinds::ANY }
}

// The kinds of values that an ECMAScript expression may have, and the type that can store them.

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

// Finds out whether a transition reads the event that triggers it.

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
