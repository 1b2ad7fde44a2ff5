//! States, transitions, steps and tests.

pub use chartc_core::model::Lost;

use super::source::{Ident, Span, Spanned};
use super::{
    Action, Block, Comment, Ends, Expr, Forward, Limit, Noted, Param, Path, Policy, Template,
    ToolSum, TypeExpr,
};

/// An item of a state's body.
#[derive(Debug, Clone, PartialEq)]
pub enum StateItem {
    /// `initial s, t { }`.
    Initial(Initial),
    /// `state`, `parallel`, `final`.
    State(State),
    /// `history h [deep] -> default { }`.
    History(History),
    /// A transition.
    Line(Line),
    /// `from … { lines }`.
    From(From),
    /// `enter { }`.
    Enter(Block),
    /// `exit { }`.
    Exit(Block),
    /// `defer a, b`.
    Defer(Vec<EventPattern>),
    /// `llm`, `code`, `ask`, `call`, `human`, `run`.
    Step(Step),
    /// `allow a -> b [if g]`.
    Allow(Allow),
    /// `advice "text"`.
    Advice(Template),
    /// `limits { }`.
    Limits(Vec<Noted<Limit>>),
    /// A part that recovery skipped.
    Bad(Span),
}

/// `state s { }`, `parallel p { }`, `final f(p: T = e) : status`.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// `state`, `parallel` or `final`.
    pub kind: StateKind,
    /// The name, as written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// `None` without braces.
    pub body: Option<StateBody>,
}

/// The contents of a state's braces.
#[derive(Debug, Clone, PartialEq)]
pub struct StateBody {
    /// The items, in order.
    pub items: Vec<Noted<StateItem>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
    /// The body, with its braces.
    pub span: Span,
}

/// The kind of a state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateKind {
    /// `state`.
    State,
    /// `parallel`.
    Parallel,
    /// `final`, with its parameters, the value of each if it is computed on entry, and the status.
    Final(Vec<Param>, Vec<Option<Expr>>, Option<Ident>),
}

/// `initial s, t { actions }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Initial {
    /// The states that are entered together, at least one.
    pub targets: Vec<Path>,
    /// The actions that run before the states are entered.
    pub actions: Option<Block>,
    /// The span of the targets.
    pub span: Span,
}

/// `history h [deep] -> default, other { actions }`.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The name, as written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// `deep`.
    pub deep: bool,
    /// The states that are entered together when nothing is recorded, at least one.
    pub default: Vec<Path>,
    /// The actions that run when nothing is recorded, before the default is entered.
    pub actions: Option<Block>,
}

/// `[if g] [-> T{, T} [reenter]] [{ actions }]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tail {
    /// `if g`.
    pub guard: Option<Expr>,
    /// The targets after `->`; empty for a transition without a target.
    pub targets: Vec<Target>,
    /// `reenter`.
    pub reenter: bool,
    /// `{ actions }`.
    pub actions: Option<Block>,
}

/// A target of a transition, with arguments if it is a final state.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The path of the state.
    pub path: Path,
    /// The arguments, in order.
    pub arguments: Vec<Expr>,
}

/// A transition as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The trigger.
    pub kind: LineKind,
    /// The guard, the targets and the actions.
    pub tail: Tail,
}

/// The trigger of a transition. The condition of a `when` is here; its tail has a guard only if `if` is also written.
#[derive(Debug, Clone, PartialEq)]
pub enum LineKind {
    /// `on …`.
    On(EventPattern),
    /// `when g`.
    When(Expr),
    /// `[each] after …`.
    After {
        /// `each`.
        each: bool,
        /// The time or the number of turns.
        deadline: Deadline,
    },
    /// `may …`.
    May(Box<May>),
}

/// The event of an `on` transition.
#[derive(Debug, Clone, PartialEq)]
pub enum EventPattern {
    /// `*`.
    Any(Span),
    /// `**`.
    Everything(Span),
    /// `turn`.
    Turn(Span),
    /// `e(b, c)`: a declared event and names for its fields.
    Event(Path, Vec<Ident>),
    /// `done(X) [as v]`.
    Done(Done),
    /// `error(X)`, with an optional `as v`.
    Error(Done),
    /// `doubt(X)`.
    Doubt(Done),
    /// `error.execution`, `error.*`, `limit.warn.*`: the dotted text.
    Machine(Spanned<String>),
}

/// The subject of `done(X) as v`.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// A step, sub-chart or state.
    pub subject: Path,
    /// `as v`.
    pub binding: Option<Ident>,
}

/// The bound of an `after` line.
#[derive(Debug, Clone, PartialEq)]
pub enum Deadline {
    /// A time, of type Duration.
    Time(Expr),
    /// `n turns`.
    Turns(Expr),
}

/// `may x(arg: T) "text"`, `may call SET into v`.
#[derive(Debug, Clone, PartialEq)]
pub struct May {
    /// An option or a tool call.
    pub kind: MayKind,
    /// The description for the model.
    pub text: Option<Template>,
}

/// The kind of a `may` transition: an option, or a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum MayKind {
    /// `may x(arg: T)`.
    Option(Ident, Vec<Param>),
    /// `may call SET into v`; a single tool or `any` also counts as a set.
    Call(ToolSum, Option<Ident>),
}

/// `from * [except a | b] { lines }`, `from a | b { lines }`.
#[derive(Debug, Clone, PartialEq)]
pub struct From {
    /// The named states; empty for `*`.
    pub states: Vec<Path>,
    /// The states after `except`.
    pub except: Vec<Path>,
    /// The transitions.
    pub lines: Vec<Noted<Line>>,
    /// Comments after the last line.
    pub end: Vec<Comment>,
    /// The span of the `*` or of the states.
    pub span: Span,
}

/// `allow a -> b [if g]`, `allow * -> b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Allow {
    /// The state that may be left; `None` is `*`.
    pub from: Option<Path>,
    /// The state that may be entered.
    pub to: Path,
    /// `if g`.
    pub guard: Option<Expr>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The name, as written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// The kind of the step, with what its first line says.
    pub kind: StepKind,
    /// `on e(a)`: the events that start it, or `turn` (as [`EventPattern::Turn`]) for an `ask`.
    pub on: Option<Box<EventPattern>>,
    /// `each x in xs`.
    pub each: Option<Box<Each>>,
    /// `with CLIENT`.
    pub client: Option<Ident>,
    /// `if g`.
    pub guard: Option<Expr>,
    /// The items between the braces, in order. For `code`, the policy `else …` after the braces, if any.
    pub items: Vec<Noted<StepItem>>,
    /// The trailing `-> T`: an unguarded `done`, tried last.
    pub then: Option<Box<Tail>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
}

/// `each x in xs`.
#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    /// The name for an element of the list.
    pub name: Ident,
    /// The list that is iterated over.
    pub list: Expr,
}

/// The kind of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// `llm s`.
    Llm,
    /// `code s { } else skip`.
    Code(Vec<Noted<Action>>),
    /// `ask s on E …`.
    Ask(Ask),
    /// `call s tool(args)`.
    Call(Path, Vec<Expr>),
    /// `human s "question"`.
    Human(Template),
    /// `run c Child(args)`.
    Run(Run),
}

/// `run c Child(x, name: y) [at entry] [events all|none]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The chart to run.
    pub chart: Ident,
    /// The arguments for its params.
    pub arguments: Vec<ParamArgument>,
    /// `at entry`: when the step's state is entered, not in the walk of a turn.
    pub at_entry: bool,
    /// `events all`, `events none`: which events of this chart are passed on.
    pub forward: Forward,
}

/// An argument for a param, by position or by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamArgument {
    /// `name:`.
    pub name: Option<Ident>,
    /// The value of the argument.
    pub value: Expr,
}

/// `ask s [exact] [always] else T|stay`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// `exact`: only the name of an option or JSON that fits the schema is an answer.
    pub exact: bool,
    /// `always`.
    pub always: bool,
    /// `None` if missing, which lowering reports.
    pub otherwise: Option<AskElse>,
}

/// The fallback of an `ask`, after its `else`.
#[derive(Debug, Clone, PartialEq)]
pub enum AskElse {
    /// `stay`.
    Stay,
    /// A target to enter.
    Take(Target),
}

/// An item of a step's body.
#[derive(Debug, Clone, PartialEq)]
pub enum StepItem {
    /// `prompt "…"`.
    Prompt(Template),
    /// `tools SET calls N`; a single tool or `any` also counts as a set.
    Tools(ToolSum, Option<Spanned<u32>>),
    /// `tool a.b up to 3 if g human "…"`.
    Tool(ToolLine),
    /// `retry N then …`.
    Policy(Policy),
    /// `returns T in a..b into v`.
    Returns(TypeExpr, Option<Ends>, Option<Ident>),
    /// `done …`, `error …`, `timeout 30s …`, `doubt …`.
    Outcome(Outcome),
    /// `doubt retry`.
    DoubtRetry,
    /// `cut ok`.
    CutOk,
    /// `ends turn [if g]`.
    EndsTurn(Option<Expr>),
    /// `4 at a time`.
    AtATime(Spanned<u32>),
    /// `up to 200`.
    UpTo(Spanned<u32>),
    /// `enough 2`.
    Enough(Spanned<u32>),
    /// `else fail`, `else skip`, `else none`.
    Lost(Lost),
    /// A part that recovery skipped.
    Bad(Span),
}

/// What the model of an `llm` step must observe when it calls some of its tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolLine {
    /// The tools.
    pub tools: ToolSum,
    /// `up to 3`.
    pub most: Option<Spanned<u32>>,
    /// `if g`.
    pub guard: Option<Expr>,
    /// `human "…"`.
    pub approval: Option<Template>,
}

/// An outcome of a step, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The kind of the outcome.
    pub kind: OutcomeKind,
    /// The guard, the targets and the actions.
    pub tail: Tail,
}

/// The kind of an outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum OutcomeKind {
    /// `done`.
    Done,
    /// `error`.
    Error,
    /// `timeout 30s`.
    Timeout(Expr),
    /// `doubt`.
    Doubt,
}

// Tests of charts.

/// `test "name" for N { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name of the test.
    pub name: Spanned<String>,
    /// The name of the chart.
    pub chart: Ident,
    /// The items, in order.
    pub items: Vec<Noted<TestItem>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
}

/// One item of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum TestItem {
    /// `given x = 1`.
    Given(Ident, Expr),
    /// `given fn f(a) = 1`.
    GivenFunction(GivenFunction),
    /// `at s, t`: the states in which the run begins.
    At(Vec<Path>),
    /// `send e(a)`.
    Send(Path, Vec<Expr>),
    /// `turn`, or `turns 3` with the number.
    Turn(Option<Spanned<u32>>),
    /// `until asked s`: turns until the step asks.
    Until(StepRef),
    /// `set x = 1`.
    Set(Ident, Expr),
    /// `wait 5s`.
    Wait(Expr),
    /// `answers s …`.
    Answers(StepRef, TestAnswer),
    /// `fails s timeout`.
    Fails(StepRef, FailureReason),
    /// `tool a.b returns 1`.
    Returns(Path, Expr),
    /// `tool a.b fails "why"`.
    ToolFails(Path, FailureReason),
    /// `expect …`.
    Expect(Expectation),
    /// A part that recovery skipped.
    Bad(Span),
}

/// A reference to a step that is asked: `s`, `child/s`, `s[1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRef {
    /// The `run` steps that lead to the chart, outermost first.
    pub path: Vec<Ident>,
    /// The step.
    pub step: Ident,
    /// The index of the element, from 0.
    pub element: Option<Spanned<u32>>,
}

/// `fn f(a) = 1`, `fn f fails "why"`.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenFunction {
    /// The host function.
    pub name: Ident,
    /// The expected arguments; `None` matches any.
    pub arguments: Option<Vec<Expr>>,
    /// The result, or the reason why it fails.
    pub result: Result<Expr, FailureReason>,
}

/// An answer of a model or a person.
#[derive(Debug, Clone, PartialEq)]
pub enum TestAnswer {
    /// A literal text.
    Text(Spanned<String>),
    /// An option or a tool, with its arguments.
    Option(Path, Vec<Expr>),
    /// A value, sent as JSON.
    Value(Expr),
}

/// The reason with which a call fails.
#[derive(Debug, Clone, PartialEq)]
pub enum FailureReason {
    /// `timeout`, `rate_limited`, …
    Kind(Ident),
    /// Any other reason.
    Text(Spanned<String>),
}

/// `expect …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `not` before an expectation that is not an expression.
    pub negated: bool,
    /// The expected fact.
    pub what: Assertion,
}

/// A fact that a test expects.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// A condition that must hold.
    Holds(Expr),
    /// `at s, t`.
    At(Vec<Path>),
    /// `ended ok`.
    Ended(Option<Spanned<String>>),
    /// `offered only a, b`: the names, and whether there may be no others.
    Offered(Vec<Path>, bool),
    /// `denied -> s`.
    Denied(Option<Path>),
    /// `called f(a)`.
    Called(Path, Option<Vec<Expr>>),
    /// `asked s`.
    Asked(Ident),
    /// `asking s`.
    Asking(StepRef),
    /// `prompt of s contains "…"`.
    Prompt(Ident, Spanned<String>),
    /// `x contains "…"`.
    Text(Ident, Spanned<String>),
}
