//! Expressions and actions, resolved and typed.
//!
//! **The problem.** Three notations are compiled: `.chart` text, conditions of `agent.yaml`, and the ECMAScript of SCXML documents.
//! Evaluator, analyses and emitters should know one set of operations.
//!
//! **The idea.** An [`Expr`] is a tree of [`ExprKind`] nodes, each with its [`Type`]. Names are ids. What differs between the notations is
//! a [`Builtin`], such as those that begin with `Js`; everything else means the same in all of them. There are no unbounded loops: a
//! comprehension and a `for` iterate over a value, so each evaluation ends.
//!
//! **Example.** `text = "{tries + 1} of 3"`, where `text` is variable 0 and `tries` is variable 1:
//!
//! ```text
//! Assign(0, Text(Template[Hole { Binary(Add, Variable(1), Int(1)), spec "" }, Text(" of 3")]))
//! ```
//!
//! Order of the file: types, expressions, observables, operators, builtins, actions, a visitor of operands, the notation of operators,
//! templates. A new kind of expression is a variant here and a line in `each_part!`; rustc then lists most other places.

pub use crate::forward::Receiver;

use crate::arena::{
    EventId, FunctionId, LocalId, PredicateId, SendId, StateId, StepId, ToolSetId, TypeId, VarId,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A signed number of 64 bits. Overflow is an error.
    Int,
    /// An IEEE 754 double. An Int where a Float is wanted becomes one.
    Float,
    /// Unicode text.
    Text,
    /// A number of milliseconds.
    Duration,
    /// Any JSON value, whose type is checked where it is used.
    Json,
    /// A list of elements of one type.
    List(Box<Type>),
    /// A map with text keys, and values of one type.
    Map(Box<Type>),
    /// A value or `none`.
    Optional(Box<Type>),
    /// A declared record or enum.
    Named(TypeId),
}

/// An expression and the type of its value.
///
/// A variable declared `T?` may be used as a `T`; it fails if it is `none` at run time. Once it was tested, its type has no `?`. An
/// expression of type `T` may be used where `T?` or `Json` is wanted. One of type `Json` (also inside a list, a map or an optional) may be
/// used anywhere, and is checked there. An Int where a Float is wanted is a call of [`Builtin::Float`]; comparisons mix both.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The operation, with its operands.
    pub kind: ExprKind,
    /// The resolved type; `Json` if it is known only at run time.
    pub ty: Type,
}

/// The operation of an expression. Evaluation goes from left to right, always ends, and has no side effects.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `none`.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A text, with or without placeholders.
    Text(Template),
    /// A duration in milliseconds.
    Duration(u64),
    /// `E.a`: a name of an enum. Its JSON form is the name.
    Enum(TypeId, String),
    /// The value of a param, input or var.
    Variable(VarId),
    /// A variable that a comprehension or a `for` binds.
    Local(LocalId),
    /// The field with this index of the current event, choice or answer.
    Payload(u32),
    /// The last answer of a step in this turn; `none` without an answer.
    Answer(StepId),
    /// The value of a named condition.
    Predicate(PredicateId),
    /// A property of the running machine.
    Observable(Observable),
    /// `x.f`: a field of a record or map.
    Field(Box<Expr>, String),
    /// `x[i]`: an element of a list, text or map.
    Index(Box<Expr>, Box<Expr>),
    /// `x[from:to]`: a part of a list or text.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// A prefix operator and its operand.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator and its operands. `and` and `or` take only Bools, and skip the second operand if the first decides.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A chain such as `a < b <= c`. Each operand is evaluated at most once.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x ?? d`: `d` if `x` is `none`.
    Default(Box<Expr>, Box<Expr>),
    /// A call of a function of the language.
    Builtin(Builtin, Vec<Expr>),
    /// A call of a pure host function.
    Call(FunctionId, Vec<Expr>),
    /// `[a, b]`: a list.
    List(Vec<Expr>),
    /// `{"a": b}`: a map, whose keys are Texts.
    Map(Vec<(Expr, Expr)>),
    /// `P { a: b }`: a record with every field once, in declared order.
    Record(TypeId, Vec<(String, Expr)>),
    /// `[item for local in source if filter]`: a list.
    Comprehension {
        /// The element of the result, evaluated for each element that is kept.
        item: Box<Expr>,
        /// The variable that is bound to each element.
        local: Local,
        /// The list, the text (for its characters) or the map (for its keys) that is iterated.
        source: Box<Expr>,
        /// The condition for keeping an element.
        filter: Option<Box<Expr>>,
    },
    /// A name that is not in scope. The checker reports it, and evaluating it is an error.
    Unknown(String),
}

/// A variable that a comprehension or a loop binds.
#[derive(Debug, Clone, Eq)]
pub struct Local {
    /// The number of locals in scope around this one.
    pub id: LocalId,
    /// The name in the source, for texts that people read. It is not compared, because the id identifies the local.
    pub name: String,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A property of the running machine. "Here" means the active leaf from which the transition is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observable {
    /// Text: the dotted path of the active leaf.
    State,
    /// Int: the number of turns that have ended.
    Turns,
    /// Int: the number of whole turns since the active leaf was entered.
    TurnsHere,
    /// Int: the number of turns of the run in which the state was active.
    TurnsIn(StateId),
    /// Int: the number of tool errors, forbidden calls and unusable answers since the leaf was entered.
    FailsHere,
    /// Duration: the time since the run began.
    Elapsed,
    /// Duration: the time since the leaf was entered.
    ElapsedHere,
    /// Bool: whether the state is active.
    In(StateId),
    /// Text: `STUCK` while an active state declares advice, else `HEALTHY`.
    Health,
    /// Text: the advice of the innermost active state that declares one, else empty.
    Advice,
    /// Text: the last result of a step or tool, else empty.
    LastResult,
    /// Bool: whether the last result is that of a tool that failed.
    LastFailed,
    /// Text: the name of the current event, else empty.
    Event,
    /// Int: the number of model calls, of the run or since the leaf was entered.
    Calls(Since),
    /// Int: the tokens of the calls that the host has charged, of the run or since the leaf was entered.
    Tokens(Since),
    /// Float: the cost of the calls that the host has charged, in the unit of prices; of the run or since the leaf was entered.
    Cost(Since),
    /// Int: the number of last tool calls in succession with the same tool or argument.
    Streak(StreakOf),
    /// Json: the value that `streak` of this argument counts; `none` if it counts nothing.
    Repeated(ToolSetId, String),
}

impl Observable {
    /// Whether the property is an amount that calls took: calls, tokens or cost.
    pub fn is_amount(&self) -> bool {
        matches!(self, Self::Calls(_) | Self::Tokens(_) | Self::Cost(_))
    }
}

/// The time from which an amount is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// From the start of the run.
    Start,
    /// From the last entry of the active leaf.
    Entry,
}

/// The property of tool calls that `streak` compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreakOf {
    /// `streak(tool)`: the tool.
    Tool,
    /// `streak(set.argument)`: the value of this argument in calls of tools of this set.
    Argument(ToolSetId, String),
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum UnaryOp {
    Not,
    Negate,
}

/// Infix operators. Arithmetic is Python's: `/` returns a Float, and `//` and `%` round towards minus infinity.
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

/// Functions of the language. Each does what Python's function of the same name does; those that begin with `Js` follow ECMAScript.
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
    /// The concatenation of its arguments as texts.
    Concat,
    StartsWith,
    Str,
    Float,
    Int,
    Bool,
    /// The distinct elements of a list, in the order first seen.
    Set,
    /// `get(map, key)` or `get(map, key, default)`.
    Get,
    /// `is_a(x, "int")`: Python's `isinstance`, with the name of the type.
    IsA,
    /// `fail("why")`: always fails, with this reason.
    Fail,
    /// `join(xs, separator)`: the elements as one text.
    Join,
    /// `split(t)` at white space, `split(t, separator)` at each separator.
    Split,
    /// `replace(t, old, new)`: the text with each `old` replaced.
    Replace,
    /// The elements of lists of a list, for comprehensions over several sources.
    Flatten,
    /// The argument itself, typed as Json.
    JsValue,
    /// `a + b`: a sum if both are numbers, otherwise a concatenation of texts.
    JsAdd,
    /// `Number(x)`; fails if `x` is no number.
    JsNumber,
    /// `String(x)`.
    JsText,
    /// Whether `x` is truthy.
    JsTruth,
    /// `a === b`, but lists and maps are compared by content.
    JsSame,
    /// `a % b`, with the sign of `a`.
    JsRemainder,
    /// `x[key]`; `none` if there is no such entry.
    JsGet,
    /// A copy of `x` with another value for a key.
    JsSet,
    /// `JSON.stringify(x)`.
    JsJson,
    /// The argument itself; fails if it is not a list.
    JsList,
    /// The Duration that a text such as `1.5s` stands for.
    JsDuration,
    /// What a placeholder shows of a `Message`, an `Image` or a list of them: `user: hello`, the URL, one a line. Charts cannot write it.
    Said,
    /// The first argument, which a field of the name in the fourth gets; fails if it is a number outside of the range from the second to
    /// the third. Charts cannot write it: it stands around values for fields with a range.
    Within,
}

/// An action. A `code` step contains only `=`, `if` and `for`.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `x = e`: sets a variable.
    Assign(VarId, Expr),
    /// `if c { } else { }`. An `else if` is nested in the second list.
    If(Expr, Vec<Action>, Vec<Action>),
    /// `for x in xs { }`. The list is evaluated once, which bounds the loop.
    For(Local, Expr, Vec<Action>),
    /// A call of a `do` function.
    Do(FunctionId, Vec<Expr>),
    /// `raise e(args)`: puts an event into the internal queue.
    Raise(EventId, Vec<Expr>),
    /// `send e(args) after 5s as id`: the event is handled like a host event when it is due.
    Send {
        /// The event to send.
        event: EventId,
        /// The payload, which is evaluated when the action runs.
        arguments: Vec<Expr>,
        /// The delay, of type Duration; `None` for none.
        after: Option<Expr>,
        /// The id by which `cancel` finds the event.
        id: Option<SendId>,
        /// The chart that receives the event.
        to: Receiver,
        /// The index of the element whose child chart alone receives the event, if the step has an `each`; of type Int.
        element: Option<Box<Expr>>,
    },
    /// `cancel id`: removes every waiting event that was sent with this id.
    Cancel(SendId),
    /// `log "text"`: adds a note to the trace.
    Log(Template),
    /// Stores the arguments of the final state that is being entered, one for each of its params.
    Result(StateId, Vec<Expr>),
}

impl Action {
    /// Calls `visit` with each action, and with the actions in its branches and loops, in document order.
    pub fn walk<'a>(actions: &'a [Self], visit: &mut dyn FnMut(&'a Self)) {
        for action in actions {
            visit(action);
            match action {
                Self::If(_, then, otherwise) => {
                    Self::walk(then, visit);
                    Self::walk(otherwise, visit);
                }
                Self::For(_, _, body) => Self::walk(body, visit),
                _ => {}
            }
        }
    }

    /// The expressions of an action in order, without those of the actions nested in it.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Assign(_, e) | Self::If(e, ..) | Self::For(_, e, _) => Vec::from([e]),
            Self::Do(_, es) | Self::Raise(_, es) | Self::Result(_, es) => es.iter().collect(),
            Self::Send { arguments, after, element, .. } => {
                arguments.iter().chain(after).chain(element.as_deref()).collect()
            }
            Self::Cancel(_) => Vec::new(),
            Self::Log(text) => text.holes().collect(),
        }
    }
}

// Visitors of the operands of an expression.

/// Visits the operands of an expression in the order in which they are evaluated, by reference or by mutable reference.
macro_rules! each_part {
    ($kind:expr, $visit:ident, $holes:ident) => {
        match $kind {
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Variable(_)
            | ExprKind::Local(_)
            | ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Predicate(_)
            | ExprKind::Observable(_)
            | ExprKind::Unknown(_) => {}
            ExprKind::Text(text) => text.$holes().for_each($visit),
            ExprKind::Field(e, _) | ExprKind::Unary(_, e) => $visit(e),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
                $visit(a);
                $visit(b);
            }
            ExprKind::Slice(e, from, to) => {
                $visit(e);
                for part in [from, to].into_iter().flatten() {
                    $visit(part);
                }
            }
            ExprKind::Compare(first, rest) => {
                $visit(first);
                for (_, part) in rest {
                    $visit(part);
                }
            }
            ExprKind::If(a, b, c) => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            ExprKind::Builtin(_, es) | ExprKind::Call(_, es) | ExprKind::List(es) => {
                for part in es {
                    $visit(part);
                }
            }
            ExprKind::Map(entries) => {
                for (key, value) in entries {
                    $visit(key);
                    $visit(value);
                }
            }
            ExprKind::Record(_, fields) => {
                for (_, part) in fields {
                    $visit(part);
                }
            }
            ExprKind::Comprehension { item, source, filter, .. } => {
                $visit(source);
                if let Some(part) = filter {
                    $visit(part);
                }
                $visit(item);
            }
        }
    };
}

impl Expr {
    /// Calls `visit` with each operand, in the order in which they are evaluated. The expression of a named condition is not an operand.
    pub fn each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        each_part!(&self.kind, visit, holes);
    }

    /// Like [`Expr::each_part`], but the operands can be changed.
    pub fn each_part_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        each_part!(&mut self.kind, visit, holes_mut);
    }

    /// Calls `visit` with the expression and all of its parts, outermost first, in the order in which they are evaluated. The expression of
    /// a named condition is not a part.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        self.any(&mut |part| {
            visit(part);
            false
        });
    }

    /// Whether `is` holds for the expression or one of its parts, which are tried in the order of [`Expr::walk`].
    pub fn any<'e>(&'e self, is: &mut dyn FnMut(&'e Self) -> bool) -> bool {
        // A list instead of recursion, so that deep expressions need no stack.
        let mut open = alloc::vec![self];
        while let Some(expr) = open.pop() {
            if is(expr) {
                return true;
            }
            let from = open.len();
            expr.each_part(&mut |part| open.push(part));
            open[from..].reverse();
        }
        false
    }

    /// Whether the expression reads nothing: no data, no state of the machine, no result of the host.
    pub fn is_closed(&self) -> bool {
        !self.any(&mut |part| {
            matches!(
                part.kind,
                ExprKind::Variable(_)
                    | ExprKind::Payload(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Predicate(_)
                    | ExprKind::Observable(_)
                    | ExprKind::Call(..)
                    | ExprKind::Local(_)
                    | ExprKind::Unknown(_)
            )
        })
    }
}

// The operators as they are written in charts, their precedence, and the reserved words.

/// The words that can be names only in back-quotes.
pub const RESERVED: &[&str] = &[
    "and", "or", "not", "in", "if", "then", "else", "for", "none", "true", "false", "stay", "turn",
    "div",
];

/// The precedence of an operator, loosest first. An operand that binds less tightly than its position requires needs parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum Binding {
    If,
    Or,
    And,
    Not,
    Compare,
    /// `??`, right-associative.
    Default,
    Sum,
    Product,
    /// Prefix `-`.
    Sign,
    /// `**`, right-associative.
    Power,
    /// No operator: a name, a literal, a call, parentheses.
    Whole,
}

impl BinaryOp {
    /// All infix operators but comparisons.
    pub const ALL: [Self; 9] = [
        Self::And,
        Self::Or,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::FloorDivide,
        Self::Modulo,
        Self::Power,
    ];

    /// The operator as written in a chart, and its precedence.
    const fn row(self) -> (&'static str, Binding) {
        match self {
            Self::Or => ("or", Binding::Or),
            Self::And => ("and", Binding::And),
            Self::Add => ("+", Binding::Sum),
            Self::Subtract => ("-", Binding::Sum),
            Self::Multiply => ("*", Binding::Product),
            Self::Divide => ("/", Binding::Product),
            Self::FloorDivide => ("div", Binding::Product),
            Self::Modulo => ("%", Binding::Product),
            Self::Power => ("**", Binding::Power),
        }
    }

    /// The operator as written in a chart.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// The precedence of the operator.
    pub const fn binding(self) -> Binding {
        self.row().1
    }

    /// The precedences that the left and right operands need to stand without parentheses.
    pub const fn operands(self) -> (Binding, Binding) {
        match self.binding() {
            Binding::Or => (Binding::Or, Binding::And),
            Binding::And => (Binding::And, Binding::Not),
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Sign),
            _ => (Binding::Whole, Binding::Sign),
        }
    }
}

impl CompareOp {
    /// All comparison operators.
    pub const ALL: [Self; 8] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::In,
        Self::NotIn,
    ];

    /// The operator as written in a chart. Its operands bind at least as tightly as those of `??`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}

// Texts with placeholders.

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// The parts in order. Two texts never follow each other, and no text is empty.
    pub parts: Vec<TemplatePart>,
}

/// A part of a text: literal text or a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Literal text, in which `{{` was already replaced by `{`.
    Text(String),
    /// `{expr:spec}`: a placeholder.
    Hole {
        /// The expression whose value is inserted.
        expr: Expr,
        /// The Python format spec; empty without one.
        spec: String,
    },
    /// `{options}`: a list of the question's options, one in each line.
    Options,
    /// Text that is not a valid placeholder, as written. Rendering it fails the step.
    Bad(String),
}

impl Template {
    /// The whole text, if it has no placeholder.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The expressions in the placeholders.
    pub fn holes(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }

    /// The expressions in the placeholders, to be changed.
    pub fn holes_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.parts.iter_mut().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }
}
