//! Tests: scenarios that `chartc test` plays on a chart. They are not in the model, so that a chart and its translation to another format
//! are equal.
//!
//! The problem: a test is outside the chart, but it names the events, states and steps of the chart and has expressions over its data. The
//! idea: tests are lowered after the chart, with its names in scope and two more, `calls` and `result`. The result is a list of [`Move`]s
//! with ids and typed expressions, which the player executes one by one. For example:
//!
//! ```text
//! test "it falls shut" for Door {
//!   given opened = 2              test.given:  variable 0 begins as 2
//!   send open                     Move::Send(event 0, no data)
//!   expect at ajar                Move::Expect(At([state 2]), true)
//!   wait 10s                      Move::Wait(10 seconds)
//!   expect opened == 3            Move::Expect(Holds(variable 0 == 3), true)
//! }
//! ```
//!
//! If a name is unknown, the finding is reported and [`Test::whole`] becomes false, so that the test is not played.

mod expectation;
mod item;

use super::context::Cx;
use super::expr::{Bound, Env};
use super::{expr, paths};
use chartc_core::arena::{EventId, StateId, VarId};
use chartc_core::model::{Expr, StateKind, Type, VariableKind};
use chartc_text::rules::illegal_structure;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::Span;
use chartc_text::syntax::{Scenario, TestItem};
use std::collections::BTreeMap;

/// The index in the payload at which expressions of a test read `calls`: the model calls so far.
pub const CALLS: u32 = 0;

/// The index in the payload at which expressions of a test read `result`: the values of the final state that ended the run.
pub const RESULT: u32 = 1;

/// A test with its names resolved. Its expressions are over one chart, and their payload is [`CALLS`] and [`RESULT`].
#[derive(Debug, Clone)]
pub struct Test {
    /// The name of the test.
    pub name: String,
    /// The place of the test's name.
    pub span: Span,
    /// The name of the tested chart, at its declaration.
    pub chart: Span,
    /// Initial values of params, inputs and vars.
    pub given: Vec<(VarId, Expr)>,
    /// The states in which the run begins; empty if it begins where the chart begins.
    pub begins: Vec<StateId>,
    /// The actions and expectations of the test, in order, each with its place.
    pub moves: Vec<(Move, Span)>,
    /// Whether everything was resolved. Only then can the test be played.
    pub whole: bool,
}

/// An action or an expectation of a test.
#[derive(Debug, Clone)]
pub enum Move {
    /// From here on, a host function returns this result.
    Function {
        /// The name of the function.
        name: String,
        /// The arguments for which the function returns the result; `None` for any.
        arguments: Option<Vec<Expr>>,
        /// The result, or the reason why the function fails.
        result: Result<Expr, String>,
    },
    /// The host sends an event.
    Send(EventId, Vec<Expr>),
    /// This number of turns takes place.
    Turns(u32),
    /// The host sets the input with this name.
    Set(String, Expr),
    /// This duration passes.
    Wait(Expr),
    /// A model or a person answers a step.
    Answer(StepAddress, Answer),
    /// The call of a step fails.
    Fail(StepAddress, Reason),
    /// A tool that is being called returns.
    Return(String, Expr),
    /// A tool that is being called fails.
    ToolFail(String, Reason),
    /// Something is expected to be true or, with `false`, not to be true.
    Expect(Expected, bool),
}

/// The address of a step that asks a model or a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAddress {
    /// The names of the `run` steps that lead to its chart, with slashes between; empty for the tested chart itself.
    pub child: String,
    /// The name of the step.
    pub step: String,
    /// The index of the element, from 0, of a step with `each`.
    pub element: Option<u32>,
}

/// An answer to a step.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A text, word for word.
    Text(String),
    /// An option or a tool, with its arguments.
    Option {
        /// The name of the option or the tool, as offered.
        name: String,
        /// Whether a tool is called.
        tool: bool,
        /// The arguments by name.
        arguments: Vec<(String, Expr)>,
    },
    /// A value, which is written as JSON.
    Value(Expr),
    /// The action that does nothing.
    Noop,
}

/// The reason why a call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// One of [`REASONS`].
    Kind(&'static str),
    /// Any other reason.
    Text(String),
}

/// The kinds of failed calls that can be named without quotes.
pub const REASONS: [&str; 7] =
    ["timeout", "rate_limited", "server", "connection", "refusal", "empty", "endless"];

/// A claim about the run.
#[derive(Debug, Clone)]
pub enum Expected {
    /// The condition holds.
    Holds(Expr),
    /// All of these states are active.
    At(Vec<StateId>),
    /// The run has ended, with this status if one is named.
    Ended(Option<String>),
    /// The last question offers these options and tools; with `true`, no others.
    Offered(Vec<String>, bool),
    /// A move was not permitted, to this state if one is named.
    Denied(Option<StateId>),
    /// A tool or a host function was called, with these arguments if there are any.
    Called(String, Option<Vec<Expr>>),
    /// The step with this name has asked its question.
    Asked(String),
    /// The last prompt of the step with this name contains the text.
    Prompt(String, String),
    /// The value of the expression contains the text.
    Text(Expr, String),
}

/// Lowers the tests of a chart, whose own lowering is complete by then.
pub(super) fn all<'s>(cx: &mut Cx<'s>, scenarios: &[&'s Scenario]) -> Vec<Test> {
    scenarios.iter().map(|scenario| one(cx, scenario)).collect()
}

/// The environment of the expressions of a test.
fn surroundings(cx: &Cx<'_>) -> Env {
    let mut env = Env::at(StateId(0));
    // The chart's own names hide those that only tests see.
    let known = |name: &str| {
        let names = &cx.names;
        names.variables.contains_key(name)
            || names.predicates.contains_key(name)
            || names.steps.contains_key(name)
    };
    let seen = |name: &str| if known(name) { String::new() } else { name.to_owned() };
    let bound = |name: &str, ty: Type| Bound { name: seen(name), ty, place: None };
    env.payload = vec![bound("calls", Type::Int), bound("result", Type::Json)];
    env
}

fn one<'s>(cx: &mut Cx<'s>, scenario: &'s Scenario) -> Test {
    let before = cx.findings.len();
    let mut test = Test {
        name: scenario.name.node.clone(),
        span: scenario.name.span,
        chart: cx.map.name,
        given: Vec::new(),
        begins: Vec::new(),
        moves: Vec::new(),
        whole: true,
    };
    let mut begins: Option<Span> = None;
    let mut given: BTreeMap<VarId, Span> = BTreeMap::new();
    for noted in &scenario.items {
        let (written, span) = (&noted.node, noted.span);
        // Results of host functions may be given before the run begins.
        let begun = test.moves.iter().any(|(done, _)| !matches!(done, Move::Function { .. }));
        match written {
            TestItem::Given(name, value) => {
                refuse_late(cx, begun, "`given`", span);
                let Some((id, value)) = item::given(cx, name, value) else { continue };
                if let Some(first) = given.insert(id, span) {
                    let what = format!("`given` for `{}`", name.node);
                    cx.report(illegal_structure::second(&what, span, first));
                }
                test.given.push((id, value));
            }
            TestItem::At(states) => {
                refuse_late(cx, begun, "`at`", span);
                if let Some(first) = begins.replace(span) {
                    cx.report(illegal_structure::second("`at` in one test", span, first));
                }
                test.begins = beginning(cx, states);
            }
            _ => {
                let mut env = surroundings(cx);
                let lowered = item::item(cx, &mut env, written, span);
                test.whole &= lowered.is_some();
                test.moves.extend(lowered.map(|lowered| (lowered, span)));
            }
        }
    }
    missing(cx, &test);
    // An error in an expression leaves a move, but not one that can be played.
    test.whole &= cx.findings.len() == before;
    test
}

fn refuse_late(cx: &mut Cx<'_>, begun: bool, what: &str, span: Span) {
    if begun {
        let finding = ILLEGAL_STRUCTURE
            .at(span, format!("{what} says how the run begins: it must come first"))
            .help("put it before the first thing that happens in the test; `set` changes an input later");
        cx.report(finding);
    }
}

/// The states that a test begins in.
fn beginning(cx: &mut Cx<'_>, written: &[chartc_text::syntax::Path]) -> Vec<StateId> {
    let mut found: Vec<(StateId, Span)> = Vec::new();
    for path in written {
        let Some(state) = paths::state(cx, StateId(0), path) else { continue };
        let kind = match cx.chart.state(state).kind {
            StateKind::Final { .. } => "a final state",
            StateKind::History { .. } => "a history",
            StateKind::Atomic | StateKind::Compound { .. } | StateKind::Parallel => {
                found.push((state, path.span));
                continue;
            }
        };
        let message = format!("a test cannot begin in {kind}");
        cx.report(ILLEGAL_STRUCTURE.at(path.span, message).help("name a state that can be left"));
    }
    if !super::transition::refuse_apart(cx, &found) {
        return Vec::new();
    }
    found.into_iter().map(|(state, _)| state).collect()
}

/// Reports params that have neither a default nor a value in the test.
fn missing(cx: &mut Cx<'_>, test: &Test) {
    let variables = cx.chart.variables.iter().enumerate();
    let missing: Vec<String> = variables
        .filter(|(i, variable)| {
            matches!(variable.kind, VariableKind::Param { .. })
                && variable.default.is_none()
                && !test.given.iter().any(|(id, _)| id.index() == *i)
        })
        .map(|(_, variable)| variable.name.clone())
        .collect();
    if let [first, ..] = missing.as_slice() {
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        let many = if missing.len() == 1 { "param" } else { "params" };
        let message = format!("this test gives no value for the {many} {}", names.join(", "));
        let help = format!("begin with `given {first} = …`");
        cx.report(TYPE_ERROR.at(test.span, message).help(help));
    }
}

/// Lowers a value that does not depend on the run.
fn constant(cx: &mut Cx<'_>, written: &chartc_text::syntax::Expr, want: &Type) -> Expr {
    expr::expect(cx, &mut Env::constant(), written, want)
}
