//! The syntax tree of a source, with spans. The front ends build it; `lower` and `print` read it.
//!
//! Nothing is resolved here. The tree can express and print everything that affects the meaning of a chart, so that a chart that
//! is printed and parsed again lowers to an equal model.

mod declare;
mod expr;
mod name;
mod state;
mod test;

pub use declare::{
    Argument, Chart, ChartItem, Check, Client, ClientOption, Component, Enum, FailWord, Field,
    Function, FunctionKind, Import, Insert, InsertPosition, Item, Limit, Meta, MetaValue, Method,
    Param, Policy, Predicate, Record, Tool, ToolPattern, ToolSet, UnitBound, Variable,
    VariableKind,
};
pub use expr::{
    Action, BinaryOp, Binding, Block, CompareOp, Entry, Expr, ExprKind, Forward, Hole, Template,
    TemplatePart, TypeExpr, TypeKind, UnaryOp,
};
pub use name::{CATCH_ALL, RESERVED, is_lower_snake, is_reserved, is_upper_camel};
pub use state::{
    Allow, Ask, AskElse, Deadline, Done, Each, EventPattern, From, History, Initial, Line,
    LineKind, Lost, May, MayKind, Outcome, OutcomeKind, ParamArgument, Run, State, StateBody,
    StateItem, StateKind, Step, StepItem, StepKind, Tail, Target,
};
pub use test::{
    Assertion, Expectation, FailureReason, GivenFunction, Scenario, StepRef, TestAnswer, TestItem,
};

use crate::span::{FileId, Ident, Span, Spanned};

/// Comments and blank lines around a node, which the formatter keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trivia {
    /// Whether a blank line precedes it and its comments.
    pub blank_before: bool,
    /// The `// …` lines before it, without the slashes, in order.
    pub before: Vec<Comment>,
    /// Whether a blank line separates it from its last comment; false without comments.
    pub blank_after: bool,
    /// The `// …` at the end of its first line.
    pub after: Option<String>,
}

/// A comment line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comment {
    /// Whether a blank line precedes it.
    pub blank_before: bool,
    /// The text, without `//`.
    pub text: String,
}

/// An item with its comments, its `///` docs and its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Noted<T> {
    /// The comments and blank lines around it.
    pub trivia: Trivia,
    /// The `///` lines joined by `\n`, without the slashes and one blank; may be empty.
    pub doc: String,
    /// The item itself.
    pub node: T,
    /// The span of the whole item, from its first word to its last character, without docs.
    pub span: Span,
}

/// A dotted path as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The names, at least one.
    pub names: Vec<Ident>,
    /// The whole path.
    pub span: Span,
}

impl Path {
    /// The names, joined by dots.
    pub fn text(&self) -> String {
        self.names.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// The source of the file.
    pub id: FileId,
    /// The top level items, in order.
    pub items: Vec<Noted<Item>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
    /// The spans of all comments, including the characters that begin and end them.
    pub comments: Vec<Span>,
    /// The uses of state names that the front end has resolved, so that the tree lacks them, each with the name of the state in its
    /// declaration.
    pub followed: Vec<(Span, Span)>,
}

impl File {
    /// Creates an empty file.
    pub const fn new(id: FileId) -> Self {
        Self { id, items: Vec::new(), end: Vec::new(), comments: Vec::new(), followed: Vec::new() }
    }

    /// The paths that the file imports, in order.
    pub fn imports(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.items.iter().filter_map(|noted| match &noted.node {
            Item::Import(import) => Some(&import.path),
            _ => None,
        })
    }
}
