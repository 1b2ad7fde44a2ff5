//! Declarations that stand before the states of a chart: types, variables, events, functions, tools, clients, components, limits.

use super::{Expr, Template, Type};
use crate::arena::{ClientId, EventId, FunctionId, StateId, StepId, ToolId, VarId};
use crate::form::ActionForm;
use crate::machine::LimitKind;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// A named and typed field of a record or event, or parameter of an option, final state or function.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name in the chart.
    pub name: String,
    /// The resolved type.
    pub ty: Type,
    /// The range of its values, if it has one.
    pub range: Option<Within>,
}

/// A range of numbers or durations: the least and the greatest value, both constant and of the type that has the range.
pub type Within = (Value, Value);

/// A declared record or enum.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// The name, in UpperCamel case.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// Its kind, with the fields or names.
    pub kind: TypeKind,
}

/// The two kinds of declared types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// A record; as JSON, an object with these fields.
    Record(Vec<Field>),
    /// A closed set of names; as JSON, a string.
    Enum(Vec<String>),
}

/// A `param`, `input` or `var`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name in the chart.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// Its kind, which tells who sets it and when.
    pub kind: VariableKind,
    /// The resolved type.
    pub ty: Type,
    /// The initial value, which may read variables declared earlier. A `Var` always has one; a `Param` or `Input` without one must be set
    /// by the host.
    pub default: Option<Expr>,
}

/// The kind of a variable, which tells who sets it and when.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableKind {
    /// A constant of an instance, set when it is created.
    Param {
        /// The inclusive bounds, both constant.
        range: Option<Within>,
    },
    /// A value that the host sets before a turn or an event.
    Input,
    /// A value that actions and `code` steps set.
    Var {
        /// Whether it is reset to its default at the start of each turn.
        per_turn: bool,
    },
    /// What a question shows: `asked.x`, or the data of the event that it is asked on. Set when the question is asked.
    Asked,
}

/// An event that the host may send.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The name, which may be dotted.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// The data of the event.
    pub fields: Vec<Field>,
}

/// A host function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name in the chart.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// Its kind: pure or with an effect.
    pub kind: FunctionKind,
    /// The parameters in order.
    pub params: Vec<Field>,
}

/// The two kinds of host functions.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionKind {
    /// `fn`: a pure function, which guards may call.
    Pure {
        /// The type of the result.
        result: Type,
        /// The value to use if the call fails; without it the expression fails.
        fallback: Option<Value>,
        /// The method of an artifact that the function calls, if any.
        method: Option<Method>,
    },
    /// `do`: a function with an effect, which only action blocks may call.
    Effect,
}

/// A method of an artifact, which a host may look up: `from "artifact" "method"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The name of the artifact, any text.
    pub artifact: String,
    /// The name of the method, any text.
    pub name: String,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name, which may be dotted.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// The arguments in order.
    pub params: Vec<Field>,
    /// The type of the result.
    pub result: Type,
    /// Whether a call may be made twice, so that it is repeated if it is unknown whether it took effect.
    pub idempotent: bool,
}

/// A named set of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSet {
    /// The name in the chart.
    pub name: String,
    /// Whether the set starts from every declared or registered tool.
    pub any: bool,
    /// The declared tools that the set names, in ascending order.
    pub tools: Vec<ToolId>,
    /// The patterns of tools that are excluded, which may be undeclared; `p.*` excludes a prefix.
    pub minus: Vec<String>,
}

/// `pred p = expr`: a named pure condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The name in the chart.
    pub name: String,
    /// The condition, of type Bool.
    pub expr: Expr,
}

/// A model, and how it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// The name in the chart.
    pub name: String,
    /// The model, as `provider:model`.
    pub model: String,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The maximum length of an answer, in tokens.
    pub max_tokens: Option<i64>,
    /// The maximum duration of one call, in milliseconds.
    pub timeout: Option<u64>,
    /// Options that are passed to the client's server, as a JSON object; empty without options.
    pub options: String,
    /// The number of retries of a failed call, and of repeated questions.
    pub retry: Option<super::Retry>,
    /// The price of a million input tokens, in the unit of prices.
    pub input_price: Option<f64>,
    /// The price of a million output tokens, in the unit of prices.
    pub output_price: Option<f64>,
    /// The JSON form in which the model writes actions.
    pub actions: ActionForm,
    /// The client to use when this one fails.
    pub fallback: Option<ClientId>,
}

/// A fragment of text that is added to the prompts of certain steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name in the chart.
    pub name: String,
    /// The steps to whose prompts it is added.
    pub inserts: Vec<Insert>,
    /// The text of the fragment.
    pub text: Template,
}

/// A step to whose prompt a component is added.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The step.
    pub step: StepId,
    /// The condition under which it is added.
    pub guard: Option<Expr>,
    /// The place in the prompt.
    pub place: Position,
}

/// The place of a component in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Before the step's own text.
    Start,
    /// After the step's own text.
    End,
    /// Instead of the step's own text.
    Replace,
}

/// `allow from -> to if guard`: a row of the transition table. It permits a move, and moves nothing itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The state that must be active; `None` for `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// The condition of the permission.
    pub guard: Option<Expr>,
}

/// Limits on what a state, or the whole chart, may spend. `None` is no limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// The maximum number of model calls, including retries and repeated questions.
    pub calls: Option<i64>,
    /// The soft limit on `calls`.
    pub calls_warn: Option<i64>,
    /// The maximum number of input and output tokens.
    pub tokens: Option<i64>,
    /// The soft limit on `tokens`.
    pub tokens_warn: Option<i64>,
    /// The maximum cost, in the unit of the provider's prices.
    pub cost: Option<f64>,
    /// The soft limit on `cost`.
    pub cost_warn: Option<f64>,
    /// The maximum time, in milliseconds.
    pub time: Option<u64>,
    /// The soft limit on `time`.
    pub time_warn: Option<u64>,
    /// The maximum number of turns.
    pub turns: Option<i64>,
    /// The soft limit on `turns`.
    pub turns_warn: Option<i64>,
    /// The limits that are computed from params. Their fields above are `None`.
    pub computed: Vec<ComputedLimit>,
}

/// A limit that is an expression over params.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedLimit {
    /// The quantity that is bounded.
    pub kind: LimitKind,
    /// Whether the limit is soft.
    pub is_soft: bool,
    /// The expression: a Float for `cost`, a Duration for `time`, otherwise an Int.
    pub value: Expr,
}

impl Limits {
    /// Whether a hard limit of this kind is declared, as a constant or an expression.
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

    /// The hard limit of this kind, if it is an expression.
    pub fn formula(&self, kind: LimitKind) -> Option<&Expr> {
        let found = self.computed.iter().find(|limit| limit.kind == kind && !limit.is_soft);
        found.map(|limit| &limit.value)
    }
}

/// A `check` line: a property to prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The name of the property: `reaches`, `always_reaches`, `never`, `no_call`, `ends_within` or `at_most`.
    pub name: String,
    /// The arguments in the order in which they are written.
    pub arguments: Vec<CheckArgument>,
    /// The params that have only values of these ranges, with the least and the greatest value.
    pub given: Vec<(VarId, Value, Value)>,
}

/// One argument of a `check` line.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckArgument {
    /// A state.
    State(StateId),
    /// `a unless b`, `a before b`: no run does `a` unless it has done `b` before.
    Unless(Subject, Subject),
    /// `a at most n`: no run does `a` more often.
    AtMost(Subject, Expr),
    /// A number with its unit, as in `max_steps + 1 turns`.
    Bound(Expr, String),
}

/// What a run does, as a `check` line names it.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// The run enters the state.
    State(StateId),
    /// An action calls the `do` function.
    Effect(FunctionId),
    /// A step or a model calls the tool; each attempt is a call.
    Tool(ToolId),
    /// The step succeeds.
    Step(StepId),
    /// An option with this name is chosen.
    Option(String),
    /// A line or a question handles the event.
    Event(EventId),
}
