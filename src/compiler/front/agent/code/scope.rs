//! The names of code at a point of the walk: what they mean, their types, and whether they are set.

use super::Converter;
use crate::front::agent::definition::Builtin;
use crate::front::agent::expression::{self, Ty, expr, text};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::python::{Asked, Expr as Python, Literal, PyExprKind};
use crate::syntax::source::Span;
use crate::syntax::{CompareOp, Entry, Expr, ExprKind};
use std::collections::{BTreeMap, BTreeSet};

/// The meaning of a name of an agent.
#[derive(Debug, Clone)]
pub(in crate::front::agent) enum Role {
    /// Supplied by the host.
    Input(&'static Builtin),
    /// Assigned by code. `of` is the input with whose value it starts; `written` is its name in the chart.
    Variable { written: String, of: Option<&'static Builtin> },
    /// Supplied by the host; one of the agent's own inputs.
    Given(InputUse),
    /// An earlier step's answer.
    Step,
    /// `_current_state`.
    State,
    /// Undeclared, but a word of the language: reported, and read as `none`.
    Missing,
}

/// Words of the language. An agent's own name is changed in the chart if it equals one of them.
pub(in crate::front::agent) const OBSERVABLES: &[&str] = &[
    "state",
    "turns",
    "turns_here",
    "fails_here",
    "elapsed",
    "elapsed_here",
    "health",
    "advice",
    "options",
    "last_result",
    "event",
];

/// The words for what calls took and became of, which only charts know. An agent's own name hides such a word and stays; an undeclared name must not
/// read it.
pub(in crate::front::agent) const AMOUNTS: &[&str] =
    &["calls", "calls_here", "tokens", "tokens_here", "cost", "cost_here", "last_failed"];

/// The names of an agent.
#[derive(Debug, Default)]
pub(in crate::front::agent) struct Scope {
    /// The roles by name; a name without one is undeclared.
    pub(in crate::front::agent) roles: BTreeMap<String, Role>,
    /// Types of the variables, by name.
    pub(in crate::front::agent) types: BTreeMap<String, Ty>,
    /// Variables that `.get(…)` reads where they may be unset.
    pub(in crate::front::agent) optional: BTreeSet<String>,
    /// The first assignment of each variable.
    pub(in crate::front::agent) places: BTreeMap<String, Span>,
    /// Variables that last from turn to turn, with their values at the beginning.
    pub(in crate::front::agent) kept: BTreeMap<String, InputUse>,
    /// What the walk has set so far.
    pub(in crate::front::agent) walked: Walked,
}

impl Scope {
    /// The type of a name, as far as known.
    pub(in crate::front::agent) fn ty(&self, name: &str) -> Ty {
        match self.roles.get(name) {
            Some(Role::Input(builtin)) => builtin.ty(),
            Some(Role::Variable { .. }) => self.types.get(name).cloned().unwrap_or(Ty::Unknown),
            Some(Role::Given(_)) => match self.types.get(name) {
                None | Some(Ty::Unknown | Ty::None) => Ty::Json,
                Some(ty) => ty.clone(),
            },
            Some(Role::Step) => Ty::Json,
            Some(Role::State) => Ty::Text,
            Some(Role::Missing) | None => Ty::Unknown,
        }
    }

    /// The expression that reads a name, without regard to whether it is set.
    fn plain(&self, name: &str, span: Span) -> Expr {
        match self.roles.get(name) {
            Some(Role::Variable { written, .. } | Role::Given(InputUse { written, .. })) => {
                expression::name(written.clone(), span)
            }
            Some(Role::State) => expression::name("state", span),
            Some(Role::Missing) => expression::expr(ExprKind::None, span),
            Some(Role::Input(_) | Role::Step) | None => expression::name(name, span),
        }
    }

    /// The expression that reads a name; if it may be unset, with its zero value as default.
    pub(in crate::front::agent) fn expr(&self, name: &str, span: Span) -> Expr {
        let expr = self.plain(name, span);
        if !self.optional.contains(name) {
            return expr;
        }
        let zero = self.ty(name).zero(span);
        expression::expr(ExprKind::Default(Box::new(expr), Box::new(zero)), span)
    }

    /// The expression that reads a name, with its type.
    pub(in crate::front::agent) fn read(&self, name: &str, span: Span) -> (Expr, Ty) {
        (self.expr(name, span), self.ty(name))
    }

    /// Whether a name certainly has a value here, or certainly has none. `None` if that depends on the path.
    pub(super) fn has(&self, name: &str) -> Option<bool> {
        match self.roles.get(name) {
            Some(Role::Input(_) | Role::State | Role::Variable { of: Some(_), .. }) => Some(true),
            Some(Role::Variable { of: None, .. }) if self.kept.contains_key(name) => Some(true),
            Some(Role::Variable { of: None, .. }) => match self.walked.get(name) {
                Some(Status::Set) => Some(true),
                Some(Status::Maybe) => None,
                None => Some(false),
            },
            Some(Role::Given(given)) => (!given.optional).then_some(true),
            Some(Role::Step) => None,
            Some(Role::Missing) | None => Some(false),
        }
    }

    /// Reads a name without its zero value: it may be `none`, so that the default of the read applies.
    pub(super) fn maybe(&mut self, name: &str, span: Span) -> (Expr, Ty) {
        if matches!(self.roles.get(name), Some(Role::Variable { .. })) {
            self.optional.insert(name.to_owned());
        }
        (self.plain(name, span), self.ty(name))
    }
}

// The agent's own inputs: names that code reads from the context and that nothing in the file sets.

/// One of the agent's own inputs.
#[derive(Debug, Clone)]
pub(in crate::front::agent) struct InputUse {
    /// The name in the chart.
    pub(in crate::front::agent) written: String,
    /// The default; without one, the host must set the input.
    pub(in crate::front::agent) default: Option<Literal>,
    /// Whether a missing value is `none` in the chart, because reads test for it or have different defaults.
    pub(in crate::front::agent) optional: bool,
    /// The place of the first read.
    pub(in crate::front::agent) span: Span,
}

impl InputUse {
    /// Derives an input and, as far as possible, its type from the ways in which code reads it.
    pub(in crate::front::agent) fn of(written: String, asked: &[&Asked], span: Span) -> (Self, Ty) {
        let mut defaults: Vec<&Literal> = Vec::new();
        let (mut optional, mut bare, mut ty) = (false, false, Ty::Unknown);
        for one in asked {
            match one {
                Asked::Key => {}
                Asked::Has => optional = true,
                // A default that is computed cannot be declared.
                Asked::Computed => optional = true,
                Asked::Get(default) => {
                    bare |= *default == Literal::None;
                    ty = ty.join(literal_type(default));
                    if !defaults.contains(&default) {
                        defaults.push(default);
                    }
                }
            }
        }
        optional |= defaults.len() > 1;
        let default =
            if optional { Some(Literal::None) } else { defaults.first().copied().cloned() };
        // Without a default, a read of a missing value gives `none`.
        let ty = if bare { Ty::Json } else { ty };
        (Self { written, default, optional, span }, ty)
    }

    /// Creates an input that the file declares, with its default. If the default is `none`, the input may hold any value.
    pub(in crate::front::agent) fn of_file(
        written: String,
        default: &Node,
        span: Span,
    ) -> (Self, Ty) {
        let default = value(default);
        let ty = if default == Literal::None { Ty::Json } else { literal_type(&default) };
        (Self { written, default: Some(default), optional: false, span }, ty)
    }

    /// Creates an input that only conditions read. The default is false if only its truth value `decides`, else `none`: a condition that
    /// uses `none` fails and is false.
    pub(in crate::front::agent) fn of_condition(
        written: String,
        decides: bool,
        span: Span,
    ) -> (Self, Ty) {
        let (default, ty) =
            if decides { (Literal::Bool(false), Ty::Bool) } else { (Literal::None, Ty::Json) };
        (Self { written, default: Some(default), optional: false, span }, ty)
    }

    /// The default as an expression of the chart.
    pub(in crate::front::agent) fn declared(&self) -> Option<Expr> {
        self.default.as_ref().map(|value| constant(value, self.span))
    }
}

/// Converts a YAML value to a constant.
fn value(node: &Node) -> Literal {
    match &node.value {
        Value::Null => Literal::None,
        Value::Bool(b) => Literal::Bool(*b),
        Value::Int(i) => Literal::Int(*i),
        Value::Float(x) => Literal::Float(*x),
        Value::Text(text) => Literal::Text(text.value.clone()),
        Value::List(items) => Literal::List(items.iter().map(value).collect()),
        Value::Map(entries) => {
            Literal::Map(entries.iter().map(|(k, v)| (k.key(), value(v))).collect())
        }
    }
}

fn literal_type(value: &Literal) -> Ty {
    let all = |items: &mut dyn Iterator<Item = &Literal>| {
        items.fold(Ty::Unknown, |ty, item| ty.join(literal_type(item)))
    };
    match value {
        Literal::None => Ty::None,
        Literal::Bool(_) => Ty::Bool,
        Literal::Int(_) => Ty::Int,
        Literal::Float(_) => Ty::Float,
        Literal::Text(_) => Ty::Text,
        Literal::List(items) => all(&mut items.iter()).list(),
        Literal::Map(entries) => all(&mut entries.iter().map(|(_, value)| value)).map(),
    }
}

fn constant(value: &Literal, span: Span) -> Expr {
    let kind = match value {
        Literal::None => ExprKind::None,
        Literal::Bool(b) => ExprKind::Bool(*b),
        Literal::Int(i) => ExprKind::Int(*i),
        Literal::Float(x) => ExprKind::Float(*x),
        Literal::Text(words) => return text(words.clone(), span),
        Literal::List(items) => {
            ExprKind::List(items.iter().map(|item| constant(item, span)).collect())
        }
        Literal::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(key, value)| Entry {
                    key: text(key.clone(), span),
                    value: constant(value, span),
                })
                .collect(),
        ),
    };
    expr(kind, span)
}

impl Scope {
    /// Looks up an input among the agent's own.
    pub(in crate::front::agent) fn given(&self, name: &str) -> Option<&InputUse> {
        match self.roles.get(name) {
            Some(Role::Given(given)) => Some(given),
            Some(
                Role::Input(_) | Role::Variable { .. } | Role::Step | Role::State | Role::Missing,
            )
            | None => None,
        }
    }
}

impl Converter<'_> {
    /// Converts `'x' in context`, for an input that may be absent.
    pub(super) fn convert_presence(&mut self, name: &str, span: Span) -> Option<Expr> {
        self.scope.given(name)?;
        let (read, _) = self.scope.maybe(name, span);
        let none = expr(ExprKind::None, span);
        Some(expression::compare(read, CompareOp::NotEqual, none, span))
    }

    /// Refines the type of an input by the other operand of a comparison or of arithmetic.
    pub(super) fn hint(&mut self, side: &Python, beside: &Ty) {
        let name = if let PyExprKind::Name(name) = &side.kind {
            name.as_str()
        } else if let PyExprKind::Context(name, _) | PyExprKind::Key(name) = &side.kind {
            name.node.as_str()
        } else {
            return;
        };
        if self.scope.given(name).is_none() {
            return;
        }
        let plain = matches!(beside, Ty::Bool | Ty::Int | Ty::Float | Ty::Text);
        let better = match self.scope.types.get(name) {
            None | Some(Ty::Unknown | Ty::None) => plain,
            Some(Ty::Int) => *beside == Ty::Float,
            Some(Ty::Bool | Ty::Float | Ty::Text | Ty::Json | Ty::List(_) | Ty::Map(_)) => false,
        };
        if better {
            self.scope.types.insert(name.to_owned(), beside.clone());
        }
    }
}

// Types of code variables, inferred from what is assigned.

// The variables that the walk has set at a point. Changes are kept as a trail, so that following a branch costs only as much as the
// branch changes.

/// Whether a code variable has been set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::agent) enum Status {
    /// Set on some paths.
    Maybe,
    /// Set on all paths.
    Set,
}

/// The variables set so far; an absent one is not set.
#[derive(Debug, Default)]
pub(in crate::front::agent) struct Walked {
    status: BTreeMap<String, Status>,
    /// Each change, with the status before it.
    trail: Vec<(String, Option<Status>)>,
}

impl Walked {
    pub(super) fn get(&self, name: &str) -> Option<Status> {
        self.status.get(name).copied()
    }

    pub(super) fn set(&mut self, name: &str, status: Status) {
        let before = self.status.insert(name.to_owned(), status);
        self.trail.push((name.to_owned(), before));
    }

    /// Goes back to the start of a turn, when nothing is set.
    pub(in crate::front::agent) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A position to which [`Self::back`] can return.
    pub(in crate::front::agent) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Downgrades everything that was set since `mark` to [`Status::Maybe`].
    pub(in crate::front::agent) fn weaken(&mut self, mark: usize) {
        for (name, before) in self.since(mark) {
            if before != Some(Status::Set) {
                self.set(&name, Status::Maybe);
            }
        }
    }

    /// For each name changed since `mark`: its status at `mark`.
    fn since(&self, mark: usize) -> BTreeMap<String, Option<Status>> {
        // In reverse, so that the first change of a name wins.
        self.trail[mark..].iter().rev().cloned().collect()
    }

    /// Goes back to `mark`. Returns the names changed since then, with the status that they had.
    pub(super) fn back(&mut self, mark: usize) -> BTreeMap<String, Status> {
        let mut after = BTreeMap::new();
        for (name, before) in self.trail.drain(mark..).rev() {
            let now = match before {
                Some(before) => self.status.insert(name.clone(), before),
                None => self.status.remove(&name),
            };
            after.entry(name).or_insert(now.unwrap_or(Status::Maybe));
        }
        after
    }

    /// Joins two paths from `mark`: the one just walked, and the one with the changes `other`.
    pub(super) fn join(&mut self, mark: usize, other: &BTreeMap<String, Status>) {
        let before = self.since(mark);
        for name in before.keys().chain(other.keys()) {
            let here = self.get(name);
            let there = match (other.get(name), before.get(name)) {
                (Some(status), _) => Some(*status),
                (None, Some(before)) => *before,
                (None, None) => here,
            };
            let both = here == Some(Status::Set) && there == Some(Status::Set);
            self.set(name, if both { Status::Set } else { Status::Maybe });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches() {
        let mut walked = Walked::default();
        walked.set("before", Status::Set);
        let mark = walked.mark();
        for name in ["before", "both", "then"] {
            walked.set(name, Status::Set);
        }
        let then = walked.back(mark);
        assert_eq!((walked.get("both"), walked.get("before")), (None, Some(Status::Set)));
        walked.set("both", Status::Set);
        walked.set("else", Status::Set);
        walked.join(mark, &then);
        let all = ["before", "both", "then", "else", "never"].map(|name| walked.get(name));
        let (set, maybe) = (Some(Status::Set), Some(Status::Maybe));
        assert_eq!(all, [set, set, maybe, maybe, None]);
    }

    #[test]
    fn a_conditional_step() {
        let mut walked = Walked::default();
        walked.set("before", Status::Set);
        let mark = walked.mark();
        for name in ["before", "new", "new"] {
            walked.set(name, Status::Set);
        }
        walked.weaken(mark);
        assert_eq!(walked.get("before"), Some(Status::Set));
        assert_eq!(walked.get("new"), Some(Status::Maybe));
    }
}
