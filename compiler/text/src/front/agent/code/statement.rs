//! Converts statements, and tracks which variables they set.

use super::{Converter, Role, Status, Ty};
use crate::front::agent::python::{
    Expr as Python, PyExprKind, Statement as PythonStatement, StatementKind,
};
use crate::rules::REFUSED_CODE;
use crate::span::Ident;
use crate::syntax::{Action, Noted, Trivia};

impl Converter<'_> {
    /// Converts a block; updates the types and the set variables of the scope.
    pub(in crate::front::agent) fn statements(
        &mut self,
        all: &[PythonStatement],
    ) -> Vec<Noted<Action>> {
        let mut out = Vec::new();
        for one in all {
            if let Some(node) = self.statement(one) {
                let trivia = Trivia { blank_before: one.apart, ..Trivia::default() };
                out.push(Noted { trivia, doc: String::new(), node, span: one.span });
            }
        }
        out
    }

    fn statement(&mut self, one: &PythonStatement) -> Option<Action> {
        match &one.kind {
            StatementKind::Assign(name, value) => self.assign(name, value),
            // A default for a variable that is set already changes nothing.
            StatementKind::Again(name, value) => {
                let is_kept = self.scope.kept.contains_key(&name.node);
                if is_kept || self.scope.walked.get(&name.node).is_some() {
                    return None;
                }
                self.assign(name, value)
            }
            // The pass over `context` has rewritten or refused it.
            StatementKind::Store { .. } => None,
            StatementKind::If(condition, then, other) => {
                let condition = self.condition(condition);
                let mark = self.scope.walked.mark();
                let then = self.statements(then);
                let after_then = self.scope.walked.back(mark);
                let other = self.statements(other);
                self.scope.walked.join(mark, &after_then);
                Some(Action::If(condition, then, other))
            }
            StatementKind::For(name, source, body) => {
                let (source_expr, ty) = self.value(source);
                let element = super::convert::element_type(&ty);
                if self.scope.roles.contains_key(&name.node) {
                    let message = format!(
                        "`{}` is a variable already: name the element otherwise",
                        name.node
                    );
                    self.findings.push(REFUSED_CODE.at(name.span, message));
                    return None;
                }
                self.locals.push((name.node.clone(), element));
                let mark = self.scope.walked.mark();
                // Variables that the body sets may already be set when it runs again.
                for set in assigned(body) {
                    if self.scope.walked.get(&set).is_none() {
                        self.scope.walked.set(&set, Status::Maybe);
                    }
                }
                let body = self.statements(body);
                self.scope.walked.weaken(mark);
                self.locals.pop();
                Some(Action::For(name.clone(), source_expr, body))
            }
        }
    }

    fn assign(&mut self, name: &Ident, value: &Python) -> Option<Action> {
        let is_kept = self.scope.kept.contains_key(&name.node);
        let written = match self.scope.roles.get(&name.node) {
            Some(Role::Variable { of, .. })
                if (of.is_some() || is_kept) && is_identity(&name.node, value) =>
            {
                return None;
            }
            Some(Role::Variable { written, .. }) => written.clone(),
            // The only assignments to what the host supplies are identities.
            Some(Role::Input(_) | Role::Given(_) | Role::Step | Role::State | Role::Missing)
            | None => return None,
        };
        let (value, ty) = self.value(value);
        // The type is the join of all assignments, as the chart has one declaration for them.
        let known = self.scope.types.remove(&name.node).unwrap_or(Ty::Unknown);
        self.scope.types.insert(name.node.clone(), known.join(ty));
        self.scope.walked.set(&name.node, Status::Set);
        Some(Action::Assign(Ident::new(written, name.span), value))
    }
}

/// Whether an assignment keeps the value: `x = x`, `x = locals().get('x', d)`.
pub(in crate::front::agent) fn is_identity(name: &str, value: &Python) -> bool {
    matches!(&value.kind, PyExprKind::Name(read) if read == name)
        || matches!(&value.kind, PyExprKind::Context(read, _) if read.node == name)
}

/// The names that statements assign, in order.
pub(in crate::front::agent) fn assigned(all: &[PythonStatement]) -> Vec<String> {
    let mut out = Vec::new();
    for one in all {
        match &one.kind {
            StatementKind::Assign(name, _) => out.push(name.node.clone()),
            StatementKind::Store { .. } | StatementKind::Again(..) => {}
            StatementKind::If(_, then, other) => {
                out.extend(assigned(then));
                out.extend(assigned(other));
            }
            StatementKind::For(_, _, body) => out.extend(assigned(body)),
        }
    }
    out
}
