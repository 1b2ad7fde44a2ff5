//! Rows of the options that a model may choose, and of the tools and moves that a chart permits.

use super::Span;
use crate::arena::{StateId, TransitionId};

/// The option of a `may` transition, or the tools of a `may call` transition.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceRow<'t> {
    /// The name by which the model chooses it.
    pub name: &'t str,
    /// The `may` transition itself.
    pub transition: TransitionId,
    /// The names of its arguments, in `name_pool`. An option with arguments is never taken without a question.
    pub fields: Span,
    /// The tools of a `may call` transition, in `tool_pool`, ascending; `None` for an option.
    pub tools: Option<Span>,
}

/// The row of a declared tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow<'t> {
    /// The name, which may be dotted.
    pub name: &'t str,
    /// The names of its arguments, in `name_pool`.
    pub fields: Span,
    /// Whether a call is made again if it is unknown whether it took effect.
    pub idempotent: bool,
}

/// The row of an `allow` line.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRow {
    /// The state that must be active; `None` for `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// Whether it has a guard.
    pub guard: bool,
}
