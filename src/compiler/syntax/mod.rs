//! The syntax tree of a source, with spans. The front ends build it; `lower` and `print` read it.
//!
//! Nothing is resolved here. The tree can express and print everything that affects the meaning of a chart, so that a chart that
//! is printed and parsed again lowers to an equal model.

pub mod diagnostic;
mod expr;
mod nodes;
pub mod print;
pub mod source;
pub mod visit;

pub use chartc_core::model::RESERVED;
pub use chartc_core::tables::CATCH_ALL;
pub use expr::{
    Action, BinaryOp, Binding, Block, CompareOp, Entry, Expr, ExprKind, Forward, Hole, Template,
    TemplatePart, TypeExpr, TypeKind, UnaryOp, placeholder_end,
};
pub use nodes::{
    Allow, Ask, AskElse, Assertion, Deadline, Done, Each, EventPattern, Expectation, FailureReason,
    From, GivenFunction, History, Initial, Line, LineKind, Lost, May, MayKind, Outcome,
    OutcomeKind, ParamArgument, Run, Scenario, State, StateBody, StateItem, StateKind, Step,
    StepItem, StepKind, StepRef, Tail, Target, TestAnswer, TestItem, ToolLine,
};

use source::{FileId, Ident, Span, Spanned};

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
        dotted(&self.names)
    }
}

/// The names, joined by dots.
pub fn dotted(names: &[Ident]) -> String {
    names.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(".")
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

// The spelling of names.

/// Whether a name needs back-quotes because it is a keyword.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether a name is spelled like those of types and charts.
pub fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Whether a name is spelled like those of everything else.
pub fn is_lower_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a name is one word. Those of states keep the spelling that other formats gave them.
pub fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

// Top level items and the declarations of a chart.

/// A top level item.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// `import "tools.chart"`.
    Import(Import),
    /// `type P { a: T }`.
    Record(Record),
    /// `enum E { a b }`.
    Enum(Enum),
    /// `fn`, `do`.
    Function(Function),
    /// `tool a.b(arg: T) -> T [idempotent]`.
    Tool(Tool),
    /// `tools s = a | b - c.*`.
    ToolSet(ToolSet),
    /// `client c { }`.
    Client(Client),
    /// `component c into step """text"""`.
    Component(Component),
    /// `chart N { }`.
    Chart(Chart),
    /// `test "name" for N { }`.
    Scenario(Scenario),
    /// A part that recovery skipped.
    Bad(Span),
}

/// An import: `import "path"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The path, relative to the importing file.
    pub path: Spanned<String>,
}

/// A declared field, parameter or argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name, as written.
    pub name: Ident,
    /// The declared type.
    pub ty: TypeExpr,
    /// `in a..b`.
    pub range: Option<Ends>,
}

/// The ends of a range: `a..b`.
pub type Ends = (Expr, Expr);

/// A field in a list of parameters.
pub type Param = Field;

/// `type P { a: T  b: T }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The name, in `UpperCamel`.
    pub name: Ident,
    /// The fields, in order.
    pub fields: Vec<Noted<Field>>,
}

/// `enum E { a b }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Enum {
    /// The name, in `UpperCamel`.
    pub name: Ident,
    /// The values, in order.
    pub names: Vec<Noted<Ident>>,
}

/// `fn f(..) -> T [from "artifact" "method"] [else LITERAL]`, `do f(..)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name, as written.
    pub name: Ident,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// `fn` or `do`.
    pub kind: FunctionKind,
}

/// The kind of a host function: pure, or with an effect.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionKind {
    /// `fn`: the result type, the method that it calls, and the value if the call fails.
    Pure(TypeExpr, Option<Method>, Option<Expr>),
    /// `do`.
    Effect,
}

/// `from "artifact" "method"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The id of the artifact.
    pub artifact: Spanned<String>,
    /// The name of its method.
    pub name: Spanned<String>,
}

/// `tool a.b(arg: T) -> T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The dotted name.
    pub name: Path,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The type of the result.
    pub result: TypeExpr,
    /// `idempotent`: a call may be made twice.
    pub idempotent: bool,
}

/// `tools s = a | b - c.*`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSet {
    /// The name, as written.
    pub name: Ident,
    /// Its tools.
    pub tools: ToolSum,
}

/// `a | b - c.*`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSum {
    /// The patterns joined by `|`, at least one.
    pub plus: Vec<ToolPattern>,
    /// The patterns after a `-`, whose tools are removed.
    pub minus: Vec<ToolPattern>,
    /// The place in the source.
    pub span: Span,
}

impl ToolSum {
    /// The path, if the tools are those of one name.
    pub fn single(&self) -> Option<&Path> {
        match (&*self.plus, &*self.minus) {
            ([ToolPattern::Name(path)], []) => Some(path),
            _ => None,
        }
    }

    /// All patterns, in the order written.
    pub fn patterns(&self) -> impl Iterator<Item = &ToolPattern> {
        self.plus.iter().chain(&self.minus)
    }

    /// The tools as text.
    pub fn text(&self) -> String {
        let plus: Vec<String> = self.plus.iter().map(ToolPattern::text).collect();
        let minus = self.minus.iter().map(|one| format!(" - {}", one.text()));
        plus.join(" | ") + &minus.collect::<String>()
    }
}

impl ToolPattern {
    /// The pattern as text.
    pub fn text(&self) -> String {
        match self {
            Self::Any(_) => "any".to_owned(),
            Self::Name(path) => path.text(),
            Self::Prefix(path) => format!("{}.*", path.text()),
        }
    }
}

/// `any`, `a.b` or `a.*`.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolPattern {
    /// `any`.
    Any(Span),
    /// A tool or a set.
    Name(Path),
    /// `path.*`.
    Prefix(Path),
}

/// `client c { option value … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// The name, as written.
    pub name: Ident,
    /// The options, in order.
    pub options: Vec<Noted<ClientOption>>,
}

/// One option of a client: `model "p:m"`, `temperature 0.7`, `max_tokens 512`, `timeout 30s`, `retry 1`, `fallback other`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOption {
    /// The keyword.
    pub name: Ident,
    /// A literal, or a name for `fallback`; a map of literals for `options { num_ctx 8192 }`. Strings here do not interpolate.
    pub value: Expr,
    /// The whole of `retry 2 on timeout wait 1s`.
    pub retry: Option<Retry>,
}

/// `component c into step, step [if cond] [at start|end|replace] """text"""`.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name, as written.
    pub name: Ident,
    /// The steps that receive the component, at least one.
    pub inserts: Vec<Insert>,
    /// The fragment of text.
    pub text: Template,
}

/// One step that receives a component. In `into a, b if c` the condition belongs to `b`; in `into a if c, b` to `a`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The step whose prompt is extended.
    pub step: Ident,
    /// `if`: the condition under which the fragment is inserted.
    pub guard: Option<Expr>,
    /// `at`; the end by default.
    pub place: InsertPosition,
}

/// The position in a prompt at which a component is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertPosition {
    /// `at start`.
    Start,
    /// `at end`.
    End,
    /// `at replace`.
    Replace,
}

/// `chart N { }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The name, in `UpperCamel`.
    pub name: Ident,
    /// `renamed_from A, B`.
    pub renamed: Vec<Ident>,
    /// The items, in order.
    pub items: Vec<Noted<ChartItem>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
    /// Names of variables that are declared only if used, such as the context of an `agent.yaml`. An unknown name may mean one of them.
    pub supplied: Vec<&'static str>,
}

/// An item of a chart's body.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartItem {
    /// `meta { k: v }`.
    Meta(Vec<Meta>),
    /// `param`, `input`, `var`.
    Variable(Variable),
    /// `event e(f: T)`.
    Event(Path, Vec<Param>),
    /// `fn`, `do`.
    Function(Function),
    /// `tool`.
    Tool(Tool),
    /// `tools`.
    ToolSet(ToolSet),
    /// `pred p = expr`.
    Predicate(Predicate),
    /// `client`.
    Client(Client),
    /// `component`.
    Component(Component),
    /// `defaults { retry 3 then fail }`.
    Defaults(Policy),
    /// `trace N | all`; `None` is all.
    Trace(Option<u32>),
    /// `check name(args)`.
    Check(Check),
    /// An item that states may also have: the chart is the root state.
    State(StateItem),
}

/// One entry of `meta`.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// The key: a name or a string.
    pub key: Ident,
    /// The value of the entry.
    pub value: MetaValue,
}

/// JSON without spans: nothing interprets it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the kinds of JSON")]
pub enum MetaValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<MetaValue>),
    Map(Vec<(String, MetaValue)>),
}

/// `param x: T in a..b = d`, `input x: T = d`, `var x: T = d per turn`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// `param`, `input` or `var`.
    pub kind: VariableKind,
    /// The name, as written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// The declared type.
    pub ty: TypeExpr,
    /// `in a..b`, params only.
    pub range: Option<Ends>,
    /// `= d`.
    pub default: Option<Expr>,
}

/// The kind of a variable: who sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// `param`.
    Param,
    /// `input`.
    Input,
    /// `var`, with or without `per turn`.
    Var {
        /// `per turn`.
        per_turn: bool,
    },
}

/// `pred p = expr`.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The name, as written.
    pub name: Ident,
    /// The condition.
    pub expr: Expr,
}

/// `retry N on kinds wait 1s up to 30s`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// The number of attempts after the first.
    pub times: Spanned<u32>,
    /// The kinds of failures; empty for all.
    pub on: Vec<Ident>,
    /// The first and the longest wait, in milliseconds. Without the longest, each is as long as the first.
    pub wait: Option<(Spanned<u64>, Option<Spanned<u64>>)>,
}

impl Retry {
    /// `retry N`.
    pub fn times(times: Spanned<u32>) -> Self {
        Self { times, on: Vec::new(), wait: None }
    }
}

/// `retry N then skip|fail|-> T`, or either half.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// `retry N …`.
    pub retry: Option<Retry>,
    /// `then …`, or the word alone.
    pub then: Option<FailWord>,
    /// The whole policy.
    pub span: Span,
}

/// The reaction to a failure of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum FailWord {
    /// `fail`.
    Fail,
    /// `skip`.
    Skip,
    /// `-> T`.
    Take(Target),
}

/// One entry of `limits { }`: `calls 20 warn 15`, `calls 1 per turn`, `turns 200`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// `calls`, `tokens`, `cost`, `time`, `turns`.
    pub what: Ident,
    /// The bound, a literal.
    pub bound: Expr,
    /// `warn N`.
    pub warn: Option<Expr>,
    /// `per turn`.
    pub per_turn: bool,
}

/// A `check` line.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What it claims of all runs.
    pub claim: Claim,
    /// `given p in a..b`: the params with the ends of their ranges, in order.
    pub given: Vec<(Ident, Expr, Expr)>,
}

/// What a `check` line claims of all runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// `name(arguments)`.
    Property(Ident, Vec<Argument>),
    /// `a before b`: no run does `b` unless it has done `a` before.
    Before(CheckSubject, CheckSubject),
    /// `a at most n`.
    AtMost(CheckSubject, Expr),
}

/// An argument of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A state.
    State(Path),
    /// `a unless b`.
    Unless(CheckSubject, CheckSubject),
    /// `a before b`, which means the same.
    Before(CheckSubject, CheckSubject),
    /// `n turns`, `n calls`.
    Bound(UnitBound),
}

/// What a run does, as a `check` line names it.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSubject {
    /// The kind, if it is written.
    pub kind: Option<SubjectKind>,
    /// Its name.
    pub name: Path,
}

/// The kind of what a `check` line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// A state that is entered.
    State,
    /// A `do` function that is called.
    Effect,
    /// A tool that is called.
    Tool,
    /// A step that succeeds.
    Step,
    /// An option that is chosen.
    Option,
    /// An event that is handled.
    Event,
}

impl SubjectKind {
    /// All kinds, in the order in which messages list them.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Effect, Self::Tool, Self::Step, Self::Option, Self::Event];

    /// The word before a name of this kind.
    pub const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Effect => "do",
            Self::Tool => "tool",
            Self::Step => "step",
            Self::Option => "may",
            Self::Event => "event",
        }
    }
}

/// A bound with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitBound {
    /// The number.
    pub expr: Expr,
    /// `turns`, `calls`.
    pub unit: Ident,
}
