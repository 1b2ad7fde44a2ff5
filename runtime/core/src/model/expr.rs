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
/// What has been tested has the type without `?`: a variable declared `T?` may stand as a `T`, and fails if it is `none` after
/// all. An expression of type `T` may stand where `T?` or `Json` is wanted; one of type `Json` (also inside a list, a map or an
/// optional) where anything is wanted, and is checked there. An Int where a Float is wanted is a call of [`Builtin::Float`], but in
/// comparisons the two mix.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Resolved; `Json` where only the run can tell.
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
    /// The nth field of the event, choice or answer being handled.
    Payload(u32),
    /// The last answer of a step in this turn; `none` before it.
    Answer(StepId),
    /// A named condition.
    Predicate(PredicateId),
    /// What the machine itself knows.
    Observable(Observable),
    /// `x.f`.
    Field(Box<Expr>, String),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `x[from:to]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// Prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// Infix operator. `and` and `or` take Bool only and do not evaluate what they need not.
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
        /// Keeps elements for which it holds.
        filter: Option<Box<Expr>>,
    },
    /// A name that is not in scope: reported when checked, an error when evaluated.
    Unknown(String),
}

/// A variable that a comprehension or a loop binds.
#[derive(Debug, Clone, Eq)]
pub struct Local {
    /// How many others are bound around it.
    pub id: LocalId,
    /// As the author wrote it, for texts that people read. It decides nothing, and is not compared.
    pub name: String,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What the machine itself knows. "Here" is the active leaf under the line.
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
    /// Int: tool errors, forbidden calls and rejected answers since the leaf was entered.
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
    /// Text: what the last step or tool returned, else empty.
    LastResult,
    /// Text: name of the event being handled, else empty.
    Event,
    /// Int: equal tool names, or equal arguments, in a row.
    Streak(StreakOf),
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

/// Functions of the language; each means what Python's of the same name does, those that begin with `Js` what ECMAScript does.
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
    /// `a + b`: of two numbers, else of two texts.
    JsAdd,
    /// `Number(x)`, where that is a number.
    JsNumber,
    /// `String(x)`.
    JsText,
    /// Whether `x` is taken for true.
    JsTruth,
    /// `a === b`; lists and maps by what they hold.
    JsSame,
    /// `a % b`: of the sign of `a`.
    JsRemainder,
    /// `x[key]`; `none` where there is nothing.
    JsGet,
    /// `x` with another value under a key.
    JsSet,
    /// `JSON.stringify(x)`.
    JsJson,
    /// The value itself if it is a list.
    JsList,
    /// The Duration that a text such as `1.5s` says.
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
    /// `send e(args) after 5s as id`: an event as from the host, when it is due.
    Send {
        /// The event.
        event: EventId,
        /// Its payload, evaluated when sent.
        arguments: Vec<Expr>,
        /// Of type Duration.
        after: Option<Expr>,
        /// For `cancel`.
        id: Option<SendId>,
        /// Who gets it.
        to: Receiver,
    },
    /// `cancel id`: every event sent under it that was not delivered yet is taken back.
    Cancel(SendId),
    /// `log "text"`.
    Log(Template),
    /// What the final state that is being entered ends with, one for each of its params.
    Result(StateId, Vec<Expr>),
}

impl Action {
    /// Calls `visit` with each of `actions` and with those in its branches and loops, in document order.
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
