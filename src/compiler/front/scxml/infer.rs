//! Infers the kinds of values that each variable may hold, from all assignments to it.

use super::convert::{Brings, Converter, ExprContext, Value};
use super::document::{ActKind, Document, Executable, walk};
use super::scope::{Kinds, Scope, exprs, mentions};
use super::script::{Expr, Statement, StatementKind};
use crate::syntax::diagnostic::Diagnostic;
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

// Finds out whether a transition reads the event that triggers it.

/// Whether a transition reads its event at all, be it only the name.
pub(super) fn reads_name(cond: Option<&Expr>, body: &[Executable]) -> bool {
    let mut found = cond.is_some_and(|expr| mentions(expr, true));
    walk(body, &mut |act| found |= exprs(act).into_iter().any(|expr| mentions(expr, true)));
    found
}
