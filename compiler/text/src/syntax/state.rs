//! States, transitions and steps.

use super::{
    Action, Block, Comment, Expr, Forward, Limit, Noted, Param, Path, Policy, Template, TypeExpr,
};
use crate::span::{Ident, Span, Spanned};
pub use chartc_core::model::Lost;

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
    /// Which of the three it is.
    pub kind: StateKind,
    /// As written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// `None` without braces.
    pub body: Option<StateBody>,
}

/// The contents of a state's braces.
#[derive(Debug, Clone, PartialEq)]
pub struct StateBody {
    /// In order.
    pub items: Vec<Noted<StateItem>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
    /// With its braces.
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
    /// Entered together; at least one.
    pub targets: Vec<Path>,
    /// Run before they are entered.
    pub actions: Option<Block>,
    /// The targets.
    pub span: Span,
}

/// `history h [deep] -> default, other { actions }`.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// As written.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// `deep`.
    pub deep: bool,
    /// Entered together when nothing is recorded; at least one.
    pub default: Vec<Path>,
    /// Run when nothing is recorded, before the default is entered.
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

/// A target, with arguments for a final state.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Which.
    pub path: Path,
    /// In order.
    pub arguments: Vec<Expr>,
}

/// A transition as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its first words.
    pub kind: LineKind,
    /// The rest.
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
        /// The bound.
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
    /// A Duration.
    Time(Expr),
    /// `n turns`.
    Turns(Expr),
}

/// `may x(arg: T) "text"`, `may call SET into v`.
#[derive(Debug, Clone, PartialEq)]
pub struct May {
    /// Option or call.
    pub kind: MayKind,
    /// The description for the model.
    pub text: Option<Template>,
}

/// Option or call.
#[derive(Debug, Clone, PartialEq)]
pub enum MayKind {
    /// `may x(arg: T)`.
    Option(Ident, Vec<Param>),
    /// `may call SET into v`; a single tool or `any` also counts as a set.
    Call(Path, Option<Ident>),
}

/// `from * [except a | b] { lines }`, `from a | b { lines }`.
#[derive(Debug, Clone, PartialEq)]
pub struct From {
    /// Empty is `*`.
    pub states: Vec<Path>,
    /// After `except`.
    pub except: Vec<Path>,
    /// The lines.
    pub lines: Vec<Noted<Line>>,
    /// Comments after the last line.
    pub end: Vec<Comment>,
    /// The `*`, or the states.
    pub span: Span,
}

/// `allow a -> b [if g]`, `allow * -> b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Allow {
    /// `None` is `*`.
    pub from: Option<Path>,
    /// The state that may be entered.
    pub to: Path,
    /// `if g`.
    pub guard: Option<Expr>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: Ident,
    /// `renamed_from a, b`.
    pub renamed: Vec<Ident>,
    /// Its first words.
    pub kind: StepKind,
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
    /// The name of an element.
    pub name: Ident,
    /// The list.
    pub list: Expr,
}

/// The first words of a step.
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
    /// Its params.
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
    /// Its value.
    pub value: Expr,
}

/// `ask s on E [always] else T|stay`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// `turn` (as [`EventPattern::Turn`]) or a declared event without names.
    pub on: EventPattern,
    /// `always`.
    pub always: bool,
    /// `None` if missing, which lowering reports.
    pub otherwise: Option<AskElse>,
}

/// What follows the `else` of an `ask`.
#[derive(Debug, Clone, PartialEq)]
pub enum AskElse {
    /// `stay`.
    Stay,
    /// A target.
    Take(Target),
}

/// An item of a step's body.
#[derive(Debug, Clone, PartialEq)]
pub enum StepItem {
    /// `prompt "…"`.
    Prompt(Template),
    /// `tools SET calls N`; a single tool or `any` also counts as a set.
    Tools(Path, Option<Spanned<u32>>),
    /// `retry N then …`.
    Policy(Policy),
    /// `returns T into v`.
    Returns(TypeExpr, Option<Ident>),
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

/// An outcome as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its first word.
    pub kind: OutcomeKind,
    /// The rest.
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
