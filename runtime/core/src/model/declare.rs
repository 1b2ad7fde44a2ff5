//! Declarations: what a chart names before its states.

use super::{Expr, Template, Type};
use crate::arena::{ClientId, StateId, StepId, ToolId};
use crate::form::ActionForm;
use crate::machine::LimitKind;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// A named, typed slot of a record, an event, a choice, a final state or a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// As written.
    pub name: String,
    /// Resolved type.
    pub ty: Type,
}

/// A record or an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// UpperCamel.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// A record or an enum.
    pub kind: TypeKind,
}

/// The two kinds of declared types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// Wire form: a JSON object.
    Record(Vec<Field>),
    /// A closed set of names. Wire form: a JSON string.
    Enum(Vec<String>),
}

/// A `param`, `input` or `var`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// As written.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// Who sets it, and when.
    pub kind: VariableKind,
    /// Resolved type.
    pub ty: Type,
    /// The initial value, which may read variables declared earlier. A `Var` always has one; a `Param` or `Input` without one must be set
    /// by the host.
    pub default: Option<Expr>,
}

/// Who sets a variable, and when.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableKind {
    /// Constant of an instance.
    Param {
        /// Inclusive bounds; both constant.
        range: Option<(Value, Value)>,
    },
    /// Set by the host before a turn or an event.
    Input,
    /// Set by actions and `code`.
    Var {
        /// Whether it is reset to its default at the start of each turn.
        per_turn: bool,
    },
}

/// An event that the host may send.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// May be dotted.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// Payload.
    pub fields: Vec<Field>,
}

/// A host function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// As written.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// Pure or effect.
    pub kind: FunctionKind,
    /// Parameters in order.
    pub params: Vec<Field>,
}

/// The two kinds of host functions.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionKind {
    /// `fn`: pure, may stand in guards.
    Pure {
        /// Type of the result.
        result: Type,
        /// The value if the call fails.
        fallback: Option<Value>,
        /// The artifact's method that it calls, if any.
        method: Option<Method>,
    },
    /// `do`: an effect, in action blocks only.
    Effect,
}

/// A method of an artifact, which a host may look up: `from "artifact" "method"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The artifact's name, any text.
    pub artifact: String,
    /// Its method, any text.
    pub name: String,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// May be dotted.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// Arguments in order.
    pub params: Vec<Field>,
    /// Type of the result.
    pub result: Type,
    /// Whether a call may be made twice: it is made again if nobody knows whether it was made.
    pub idempotent: bool,
}

/// A named set of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSet {
    /// As written.
    pub name: String,
    /// Whether the set starts from every declared or registered tool.
    pub any: bool,
    /// Declared tools in the set, ascending.
    pub tools: Vec<ToolId>,
    /// Patterns of excluded tools, which may be undeclared; `p.*` is a prefix.
    pub minus: Vec<String>,
}

/// `pred p = expr`: a named pure condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// As written.
    pub name: String,
    /// Of type Bool.
    pub expr: Expr,
}

/// A model and how to call it.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// As written.
    pub name: String,
    /// `provider:model`.
    pub model: String,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Upper bound of an answer, in tokens.
    pub max_tokens: Option<i64>,
    /// Milliseconds.
    pub timeout: Option<u64>,
    /// Options of its server, as a JSON object; empty without any.
    pub options: String,
    /// Transport retries and re-asks.
    pub retry: Option<u32>,
    /// Price of a million input tokens.
    pub input_price: Option<f64>,
    /// Price of a million output tokens.
    pub output_price: Option<f64>,
    /// The form in which the model writes actions.
    pub actions: ActionForm,
    /// The client to use when this one fails.
    pub fallback: Option<ClientId>,
}

/// A prompt fragment injected into named steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// As written.
    pub name: String,
    /// The steps that it is injected into.
    pub inserts: Vec<Insert>,
    /// The fragment.
    pub text: Template,
}

/// One step that a component is injected into.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The step.
    pub step: StepId,
    /// Injected only while this holds.
    pub guard: Option<Expr>,
    /// Where in the prompt.
    pub place: Position,
}

/// Where in a prompt a component goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Before the step's own text.
    Start,
    /// After it.
    End,
    /// Instead of it.
    Replace,
}

/// `allow from -> to if guard`: a row of a transition table. It moves nothing by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// `None` is `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// Condition of the permission.
    pub guard: Option<Expr>,
}

/// Limits on what a state (or the chart) may spend. `None` is no limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// Model calls, including retries and repeated questions.
    pub calls: Option<i64>,
    /// Soft bound of `calls`.
    pub calls_warn: Option<i64>,
    /// Tokens, in and out.
    pub tokens: Option<i64>,
    /// Soft bound of `tokens`.
    pub tokens_warn: Option<i64>,
    /// Money, in the unit of the provider's prices.
    pub cost: Option<f64>,
    /// Soft bound of `cost`.
    pub cost_warn: Option<f64>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// Soft bound of `time`.
    pub time_warn: Option<u64>,
    /// Turns.
    pub turns: Option<i64>,
    /// Soft bound of `turns`.
    pub turns_warn: Option<i64>,
    /// The bounds that are computed from the params; they are `None` above.
    pub computed: Vec<ComputedLimit>,
}

/// A bound that is an expression over params.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedLimit {
    /// What is bounded.
    pub kind: LimitKind,
    /// Whether it is the soft bound.
    pub is_soft: bool,
    /// Int, Float for `cost`, Duration for `time`.
    pub value: Expr,
}

impl Limits {
    /// Whether a hard bound of this kind is declared, also one that is computed.
    pub fn has(&self, kind: LimitKind) -> bool {
        let fixed = match kind {
            LimitKind::Calls => self.calls.is_some(),
            LimitKind::Tokens => self.tokens.is_some(),
            LimitKind::Cost => self.cost.is_some(),
            LimitKind::Time => self.time.is_some(),
            LimitKind::Turns => self.turns.is_some(),
        };
        fixed || self.formula(kind).is_some()
    }

    /// The hard bound of this kind, if it is computed.
    pub fn formula(&self, kind: LimitKind) -> Option<&Expr> {
        let found = self.computed.iter().find(|limit| limit.kind == kind && !limit.is_soft);
        found.map(|limit| &limit.value)
    }
}

/// A `check` line: a property to prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// `reaches`, `always_reaches`, `never`, `no_call`, `ends_within`, `at_most`.
    pub name: String,
    /// The arguments in the order written.
    pub arguments: Vec<CheckArgument>,
}

/// One argument of a `check` line.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckArgument {
    /// A state.
    State(StateId),
    /// `a before b`.
    Before(StateId, StateId),
    /// A bound with its unit, as in `max_steps + 1 turns`.
    Bound(Expr, String),
}
