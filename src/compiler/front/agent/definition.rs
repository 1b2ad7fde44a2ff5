//! The content of an `agent.yaml`, with spans: [`super::read`] makes it from the YAML tree, [`super::build`] makes a chart from it. A field
//! without a comment has the name of its key in the file.

use super::expression::Ty;
use super::node::Node;
use super::text::Text;
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{ExprKind, InsertPosition};

/// The content of one `agent.yaml` and of the files beside it.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) id: Option<Ident>,
    /// `llm_model`.
    pub(super) model: Option<Ident>,
    pub(super) temperature: Option<Spanned<f64>>,
    pub(super) max_tokens: Option<Spanned<i64>>,
    /// `cognitive_schema`: the form in which models answer with actions.
    pub(super) form: Option<Ident>,
    /// `input_price`, `output_price`.
    pub(super) prices: Vec<(Ident, f64)>,
    /// `action_schema`: the text that ends each prompt of an `llm` step.
    pub(super) action_schema: Option<Text>,
    /// `llm_budget`: bounds of the run, each with the word of the limit.
    pub(super) budget: Vec<(Ident, ExprKind)>,
    /// `inputs`: the names that the host may set, each with its default.
    pub(super) inputs: Vec<(Ident, Node)>,
    /// Keys that are kept and not interpreted, in the order of the file.
    pub(super) meta: Vec<(Ident, Node)>,
    pub(super) workflow: Option<Workflow>,
    /// `components`: the names of the components that the agent uses.
    pub(super) listed: Vec<Listed>,
    /// The listed components that were found, in the order in which they are inserted into prompts.
    pub(super) components: Vec<Component>,
    /// `rag`, if it is enabled.
    pub(super) rag: Option<Span>,
    /// `rag.query_template`: the text of the query to the agent's memory.
    pub(super) query: Option<Text>,
    /// The text of the file `system_prompt.md`.
    pub(super) system_prompt: Option<Spanned<String>>,
    /// The whole file.
    pub(super) span: Span,
}

/// A name under `components`.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// The list that contains it.
    pub(super) kind: ComponentKind,
    /// The name, as listed.
    pub(super) name: Ident,
}

/// The kinds of components, in the order in which they are inserted into prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ComponentKind {
    Behavior,
    Goal,
    Trait,
    Phase,
}

impl ComponentKind {
    /// All kinds, in order.
    pub(super) const ALL: [Self; 4] = [Self::Behavior, Self::Goal, Self::Trait, Self::Phase];

    /// The key of the list, and the name of the folder.
    pub(super) const fn list(self) -> &'static str {
        match self {
            Self::Behavior => "behaviors",
            Self::Goal => "goals",
            Self::Trait => "traits",
            Self::Phase => "phases",
        }
    }

    /// The word for one component, as in its `type`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Behavior => "behavior",
            Self::Goal => "goal",
            Self::Trait => "trait",
            Self::Phase => "phase",
        }
    }
}

/// A component's file.
#[derive(Debug, Clone)]
pub(super) struct Component {
    /// Its entry in the agent's list.
    pub(super) listed: Listed,
    pub(super) description: Option<String>,
    /// `inject_into`: the prompts into which the fragment is inserted.
    pub(super) places: Vec<Injection>,
    /// `prompt_fragment`: the text that is inserted.
    pub(super) fragment: Option<Text>,
    /// `requires_context`: the names that must be in the context of the agent.
    pub(super) requires: Vec<Ident>,
    /// The comments of its file.
    pub(super) comments: Vec<String>,
}

/// An entry of `inject_into`.
#[derive(Debug, Clone)]
pub(super) struct Injection {
    /// The step into whose prompt the fragment is inserted.
    pub(super) step: Ident,
    /// `at`: the place in the prompt.
    pub(super) place: InsertPosition,
    /// `if`; without one, the fragment is always inserted.
    pub(super) condition: Option<Source>,
}

/// The value of `workflow`.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    /// `state_machine`; `None` if the agent has no states.
    pub(super) machine: Option<Machine>,
    pub(super) steps: Vec<Step>,
    /// `error_handling` and its other spellings.
    pub(super) policy: Policy,
    /// `calls_per_turn`: the maximum number of `llm` and `transition` steps in a turn that ask the model; 0 is no bound.
    pub(super) calls: Option<Spanned<u32>>,
    /// `keep`: the variables that last from turn to turn, each with its value at the beginning.
    pub(super) keep: Vec<(Ident, Node)>,
}

/// The handling of a failed step; absent fields have the documented defaults.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    /// `default_on_failure` of a workflow, or `on_failure` of a step.
    pub(super) on_failure: Option<Spanned<OnFailure>>,
    pub(super) max_retries: Option<Spanned<u32>>,
}

/// The reaction to a failure of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnFailure {
    /// The step is tried again, up to `max_retries` times; then the turn stops.
    Retry,
    /// The walk continues with the next step.
    Skip,
    /// The turn stops at once.
    Fail,
}

impl OnFailure {
    /// The word in the file, for a failure without retries.
    pub(super) const fn at_once(self) -> Option<&'static str> {
        match self {
            Self::Retry => None,
            Self::Skip => Some("skip"),
            Self::Fail => Some("fail"),
        }
    }
}

/// The value of `state_machine`.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) states: Vec<Ident>,
    /// `initial_state`; the first state if absent.
    pub(super) initial: Option<Ident>,
    pub(super) transitions: Vec<Permit>,
}

/// A row of `transitions`.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    /// `from`; `None` is `*`.
    pub(super) from: Option<Ident>,
    pub(super) to: Ident,
    pub(super) condition: Option<Source>,
    /// The whole row.
    pub(super) span: Span,
}

/// A text, or a call of a host artifact that returns one.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// An expression or a prompt.
    Text(Text),
    /// An InvokeSpec.
    Invoke(Box<Invoke>),
}

/// `{invoke: artifact, method, args: [], fallback}`.
#[derive(Debug, Clone)]
pub(super) struct Invoke {
    /// `invoke`: the name of the host artifact.
    pub(super) artifact: Ident,
    pub(super) method: Option<Ident>,
    /// `args`: the arguments of the method.
    pub(super) arguments: Vec<Node>,
    pub(super) fallback: Option<Node>,
    /// The whole InvokeSpec.
    pub(super) span: Span,
}

/// `type` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepType {
    Llm,
    Code,
    Transition,
}

/// An entry of `steps`.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// `name`; without one, a name made of the step's type and number.
    pub(super) name: Ident,
    /// `type`: what the step does.
    pub(super) kind: StepType,
    /// `in_state`; `None` runs in every state.
    pub(super) states: Option<Vec<Ident>>,
    pub(super) run_if: Option<Source>,
    pub(super) prompt: Option<Source>,
    pub(super) code: Option<Text>,
    /// `action` of a code step: a host function.
    pub(super) action: Option<Ident>,
    /// `transition_to`: the state after the step, if the table permits it.
    pub(super) to: Option<Ident>,
    /// `transition_map`: answers and their states.
    pub(super) map: Option<Vec<(Ident, Ident)>>,
    /// `transition_source`: the call that decides instead of the model.
    pub(super) decision: Option<Invoke>,
    /// `on_failure`, `max_retries`.
    pub(super) policy: Policy,
    /// The whole step.
    pub(super) span: Span,
}

// The context that the host supplies in each turn: names, types, and default values.

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
