//! What a model may choose, and what a chart allows.

use super::Span;
use crate::arena::{StateId, TransitionId};

/// One `may` line.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceRow<'t> {
    /// What the model answers.
    pub name: &'t str,
    /// The line.
    pub transition: TransitionId,
    /// Payload field names, in `name_pool`; an option with any is never taken unasked.
    pub fields: Span,
    /// The tools of a `may call` line, in `tool_pool`, ascending; `None` for an option of the chart's own.
    pub tools: Option<Span>,
}

/// One declared tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow<'t> {
    /// May be dotted.
    pub name: &'t str,
    /// Argument names, in `name_pool`.
    pub fields: Span,
}

/// One `allow` line.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRow {
    /// `None` is `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// Has a guard.
    pub guard: bool,
}
