//! What a model may choose, and what a chart permits.

use super::Span;
use crate::arena::{StateId, TransitionId};

/// One `may` transition.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceRow<'t> {
    /// The name by which the model chooses it.
    pub name: &'t str,
    /// The transition.
    pub transition: TransitionId,
    /// Payload field names, in `name_pool`; an option with fields is never taken without a question.
    pub fields: Span,
    /// The tools of a `may call` transition, in `tool_pool`, ascending; `None` for an option.
    pub tools: Option<Span>,
}

/// One declared tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow<'t> {
    /// May be dotted.
    pub name: &'t str,
    /// Argument names, in `name_pool`.
    pub fields: Span,
    /// Whether a call in doubt is made again.
    pub idempotent: bool,
}

/// One `allow` line.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRow {
    /// The source; `None` is `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// Whether it has a guard.
    pub guard: bool,
}
