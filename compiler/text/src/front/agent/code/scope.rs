//! The meaning of names at a point of the walk.

use super::{InputUse, Status, Ty, Walked};
use crate::front::agent::builtin::Builtin;
use crate::front::agent::make;
use crate::span::Span;
use crate::syntax::{Expr, ExprKind};
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

/// The words for what calls took, which only charts know. An agent's own name hides such a word and stays; an undeclared name must not
/// read it.
pub(in crate::front::agent) const AMOUNTS: &[&str] =
    &["calls", "calls_here", "tokens", "tokens_here", "cost", "cost_here"];

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
                make::name(written.clone(), span)
            }
            Some(Role::State) => make::name("state", span),
            Some(Role::Missing) => make::expr(ExprKind::None, span),
            Some(Role::Input(_) | Role::Step) | None => make::name(name, span),
        }
    }

    /// The expression that reads a name; if it may be unset, with its zero value as default.
    pub(in crate::front::agent) fn expr(&self, name: &str, span: Span) -> Expr {
        let expr = self.plain(name, span);
        if !self.optional.contains(name) {
            return expr;
        }
        let zero = self.ty(name).zero(span);
        make::expr(ExprKind::Default(Box::new(expr), Box::new(zero)), span)
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
