//! The context that the host supplies in each turn: names, types, and default values.

use super::code::Ty;

/// A name of the context.
#[derive(Debug)]
pub(super) struct Builtin {
    /// The name, as agents write it.
    pub(super) name: &'static str,
    /// The type, which determines the default: zero, the empty text, or no elements.
    pub(super) ty: Plain,
}

/// The types of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    Int,
    Float,
    Text,
    List,
    Map,
}

impl Builtin {
    /// The type, as the inference represents it.
    pub(super) fn ty(&self) -> Ty {
        match self.ty {
            Plain::Int => Ty::Int,
            Plain::Float => Ty::Float,
            Plain::Text => Ty::Text,
            Plain::List => Ty::List(Box::new(Ty::Json)),
            Plain::Map => Ty::Map(Box::new(Ty::Json)),
        }
    }
}

const fn row(name: &'static str, ty: Plain) -> Builtin {
    Builtin { name, ty }
}

/// The names of the context, each with its type as charts write it.
pub fn context() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILTINS.iter().map(|one| {
        let ty = match one.ty {
            Plain::Int => "Int",
            Plain::Float => "Float",
            Plain::Text => "Text",
            Plain::List => "List(Json)",
            Plain::Map => "Map(Text, Json)",
        };
        (one.name, ty)
    })
}

/// All names of the context, in the order in which charts declare them.
pub(super) const BUILTINS: &[Builtin] = &[
    row("agent_id", Plain::Text),
    row("tick", Plain::Int),
    row("balance", Plain::Int),
    row("artifacts", Plain::List),
    row("my_artifacts", Plain::List),
    row("memories", Plain::List),
    row("last_action_result", Plain::Text),
    row("action_history", Plain::Text),
    row("action_history_length", Plain::Int),
    row("action_insights", Plain::Text),
    row("system_prompt", Plain::Text),
    row("goal", Plain::Text),
    row("time_remaining", Plain::Text),
    row("time_remaining_seconds", Plain::Float),
    row("progress_percent", Plain::Float),
    row("duration_seconds", Plain::Float),
    row("actions_taken", Plain::Int),
    row("successful_actions", Plain::Int),
    row("failed_actions", Plain::Int),
    row("success_rate", Plain::Text),
    row("success_rate_numeric", Plain::Float),
    row("revenue_earned", Plain::Float),
    row("artifacts_completed", Plain::Int),
    row("other_agents", Plain::List),
    row("economic_context", Plain::Text),
    row("working_memory", Plain::Map),
    row("strategic_goal", Plain::Text),
    row("current_subgoal", Plain::Text),
    row("subgoal_progress", Plain::Map),
    row("event_number", Plain::Int),
    row("balances", Plain::Map),
    row("quotas", Plain::Map),
    row("mint_submissions", Plain::List),
    row("recent_events", Plain::List),
    row("recent_failures", Plain::List),
];

/// The context's name for the current state; charts call it `state`.
pub(super) const CURRENT_STATE: &str = "_current_state";

/// Looks up a name of the context.
pub(super) fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|b| b.name == name)
}
