//! Expressions and actions, resolved and typed.

use super::Template;
use crate::arena::{
    EventId, FunctionId, LocalId, PredicateId, SendId, StateId, StepId, ToolSetId, TypeId, VarId,
};
pub use crate::forward::Receiver;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// 64 bits, signed; overflow is an error.
    Int,
    /// IEEE 754 double. An Int given where a Float is wanted becomes one.
    Float,
    /// Unicode text.
    Text,
    /// Milliseconds.
    Duration,
    /// Any JSON value, checked where it is used.
    Json,
    /// Elements of one type.
    List(Box<Type>),
    /// Text keys, values of one type.
    Map(Box<Type>),
    /// The value or `none`.
    Optional(Box<Type>),
    /// A declared record or enum.
    Named(TypeId),
}

/// An expression and the type of its value.
///
/// A tested optional has the type without `?`: a variable declared `T?` may be used as a `T`, and fails if it is `none` at run time. An
/// expression of type `T` may be used where `T?` or `Json` is wanted. One of type `Json` (also inside a list, a map or an optional) may be
/// used anywhere, and is checked there. An Int where a Float is wanted is a call of [`Builtin::Float`]; comparisons mix both.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The operation.
    pub kind: ExprKind,
    /// Resolved; `Json` if the type is known only at run time.
    pub ty: Type,
}

/// What an expression computes. Evaluation is left to right, total and free of side effects.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `none`.
    None,
    /// A literal.
    Bool(bool),
    /// A literal.
    Int(i64),
    /// A literal.
    Float(f64),
    /// A literal, or one with placeholders.
    Text(Template),
    /// A literal, milliseconds.
    Duration(u64),
    /// `E.a`: the wire form is the name.
    Enum(TypeId, String),
    /// A param, input or var.
    Variable(VarId),
    /// Bound by a comprehension or a `for`.
    Local(LocalId),
    /// The nth field of the current event, choice or answer.
    Payload(u32),
    /// The last answer of a step in this turn; `none` without one.
    Answer(StepId),
    /// A named condition.
    Predicate(PredicateId),
    /// A property of the machine.
    Observable(Observable),
    /// `x.f`.
    Field(Box<Expr>, String),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `x[from:to]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// Prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// Infix operator. `and` and `or` take Bool only and short-circuit.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: each operand evaluated at most once.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x ?? d`: `d` if `x` is `none`.
    Default(Box<Expr>, Box<Expr>),
    /// A function of the language.
    Builtin(Builtin, Vec<Expr>),
    /// A pure host function.
    Call(FunctionId, Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{"a": b}`: keys are Text.
    Map(Vec<(Expr, Expr)>),
    /// `P { a: b }`: every field once, in declared order.
    Record(TypeId, Vec<(String, Expr)>),
    /// `[item for local in source if filter]`.
    Comprehension {
        /// Evaluated for each kept element.
        item: Box<Expr>,
        /// Bound to each element.
        local: Local,
        /// A list, the characters of a text, or the keys of a map.
        source: Box<Expr>,
        /// Keeps the elements for which it holds.
        filter: Option<Box<Expr>>,
    },
    /// A name that is not in scope: reported by the checker, an error at run time.
    Unknown(String),
}

/// A variable that a comprehension or a loop binds.
#[derive(Debug, Clone, Eq)]
pub struct Local {
    /// The number of locals in scope around it.
    pub id: LocalId,
    /// The name in the source, for texts that people read. It has no meaning, and is not compared.
    pub name: String,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A property of the machine. "Here" means the active leaf from which the transition is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observable {
    /// Text: dotted path of the active leaf.
    State,
    /// Int: turns ended so far.
    Turns,
    /// Int: of the active leaf.
    TurnsHere,
    /// Int: over the whole run.
    TurnsIn(StateId),
    /// Int: tool errors, forbidden calls and unusable answers since the leaf was entered.
    FailsHere,
    /// Duration since the run began.
    Elapsed,
    /// Duration since the leaf was entered.
    ElapsedHere,
    /// Bool.
    In(StateId),
    /// Text: `STUCK` while an active state declares advice, else `HEALTHY`.
    Health,
    /// Text of the innermost active state that declares advice, else empty.
    Advice,
    /// Text: the last result of a step or tool, else empty.
    LastResult,
    /// Text: name of the current event, else empty.
    Event,
    /// Int: model calls charged, of the run or since the leaf was entered.
    Calls(Since),
    /// Int: tokens of calls that are paid, of the run or since the leaf was entered.
    Tokens(Since),
    /// Float: money for calls that are paid, in the unit of the prices; of the run or since the leaf was entered.
    Cost(Since),
    /// Int: how often in succession the tool, or the argument, was the same.
    Streak(StreakOf),
    /// Json: the value that `streak` of this argument counts, of the last call of these tools.
    Repeated(ToolSetId, String),
}

impl Observable {
    /// Whether it is what calls took.
    pub fn is_amount(&self) -> bool {
        matches!(self, Self::Calls(_) | Self::Tokens(_) | Self::Cost(_))
    }
}

/// Since when an amount is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The start of the run.
    Start,
    /// The last entry of the active leaf.
    Entry,
}

/// What `streak` counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreakOf {
    /// `streak(tool)`.
    Tool,
    /// `streak(set.argument)`.
    Argument(ToolSetId, String),
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum UnaryOp {
    Not,
    Negate,
}

/// Infix operators. Arithmetic is Python's: `/` gives Float, `//` and `%` round towards minus infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum BinaryOp {
    And,
    Or,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

/// Functions of the language. Each means what Python's function of the same name does; those that begin with `Js` follow ECMAScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are the functions' names")]
pub enum Builtin {
    Len,
    Min,
    Max,
    Abs,
    Round,
    Sum,
    Any,
    All,
    Sorted,
    Lower,
    Upper,
    /// Joins its arguments as texts.
    Concat,
    StartsWith,
    Str,
    Float,
    Int,
    Bool,
    /// Distinct elements in the order first seen.
    Set,
    /// `get(map, key)` or `get(map, key, default)`.
    Get,
    /// `is_a(x, "int")`: Python's `isinstance` with the type's name.
    IsA,
    /// `fail("why")`: always fails, for this reason.
    Fail,
    /// The value itself, as a Json.
    JsValue,
    /// `a + b`: of two numbers, or else of two texts.
    JsAdd,
    /// `Number(x)`, if the result is a number.
    JsNumber,
    /// `String(x)`.
    JsText,
    /// Whether `x` is truthy.
    JsTruth,
    /// `a === b`; lists and maps are compared by content.
    JsSame,
    /// `a % b`: has the sign of `a`.
    JsRemainder,
    /// `x[key]`; `none` if there is no such entry.
    JsGet,
    /// `x` with another value for a key.
    JsSet,
    /// `JSON.stringify(x)`.
    JsJson,
    /// The value itself if it is a list.
    JsList,
    /// The Duration of a text such as `1.5s`.
    JsDuration,
}

/// One item of an action block or of a `code` step, which holds `=`, `if` and `for` only.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `x = e`.
    Assign(VarId, Expr),
    /// `if c { } else { }`; an `else if` is a nested one.
    If(Expr, Vec<Action>, Vec<Action>),
    /// `for x in xs { }`: bounded by the list.
    For(Local, Expr, Vec<Action>),
    /// A `do` call.
    Do(FunctionId, Vec<Expr>),
    /// `raise e(args)`: to the internal queue.
    Raise(EventId, Vec<Expr>),
    /// `send e(args) after 5s as id`: delivered like an event of the host when it is due.
    Send {
        /// The event.
        event: EventId,
        /// The payload, evaluated when the action runs.
        arguments: Vec<Expr>,
        /// Of type Duration.
        after: Option<Expr>,
        /// The id for `cancel`.
        id: Option<SendId>,
        /// The receiver.
        to: Receiver,
        /// Of a step with an `each`, the index of the element whose chart alone receives it; of type Int.
        element: Option<Box<Expr>>,
    },
    /// `cancel id`: removes every undelivered event sent with this id.
    Cancel(SendId),
    /// `log "text"`.
    Log(Template),
    /// The arguments of the final state that is being entered, one for each of its params.
    Result(StateId, Vec<Expr>),
}

impl Action {
    /// Calls `visit` with each of `actions` and with the actions in their branches and loops, in document order.
    pub fn walk<'a>(actions: &'a [Self], visit: &mut dyn FnMut(&'a Self)) {
        for action in actions {
            visit(action);
            match action {
                Self::If(_, then, otherwise) => {
                    Self::walk(then, visit);
                    Self::walk(otherwise, visit);
                }
                Self::For(_, _, body) => Self::walk(body, visit),
                Self::Assign(..)
                | Self::Do(..)
                | Self::Raise(..)
                | Self::Send { .. }
                | Self::Cancel(_)
                | Self::Result(..)
                | Self::Log(_) => {}
            }
        }
    }
}
