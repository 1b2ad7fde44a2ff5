//! Tests: what `chartc test` plays on a chart. Outside the model, so that a chart and its twin in another format compare equal.

mod expectation;
mod item;

use super::context::Cx;
use super::expr::Env;
use super::{expr, paths};
use chartc_core::arena::{EventId, StateId, StepId, VarId};
use chartc_core::model::{Expr, StateKind, Type, VariableKind};
use chartc_text::rules::illegal_structure;
use chartc_text::rules::type_error;
use chartc_text::span::Span;
use chartc_text::syntax::{Scenario, TestItem};
use std::collections::BTreeMap;

/// The payload under which expressions of a test read `calls`: the model calls so far.
pub const CALLS: u32 = 0;

/// The payload under which they read `result`: what the final state that ended the run was given.
pub const RESULT: u32 = 1;

/// A test with its names resolved. Its expressions are over one chart, and their payload is [`CALLS`] and [`RESULT`].
#[derive(Debug, Clone)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its name, where it is written.
    pub span: Span,
    /// The name of the chart that it is for, where that is declared.
    pub chart: Span,
    /// Values that params, inputs and vars begin with.
    pub given: Vec<(VarId, Expr)>,
    /// The states that the run begins in; empty is where the chart does.
    pub begins: Vec<StateId>,
    /// What is done and expected, in order, each with its place.
    pub moves: Vec<(Move, Span)>,
    /// Whether all of it could be resolved: only then it can be played.
    pub whole: bool,
}

/// Something that is done, or expected.
#[derive(Debug, Clone)]
pub enum Move {
    /// From here on a host function gives this.
    Function {
        /// Its name.
        name: String,
        /// What it is called with; `None` is anything.
        arguments: Option<Vec<Expr>>,
        /// What it gives, or why it fails.
        result: Result<Expr, String>,
    },
    /// The host sends an event.
    Send(EventId, Vec<Expr>),
    /// So many turns.
    Turns(u32),
    /// The host sets an input.
    Set(String, Expr),
    /// Time passes.
    Wait(Expr),
    /// A model or a person answers a step.
    Answer(StepId, Answer),
    /// The call of a step fails.
    Fail(StepId, Reason),
    /// A tool that is being called returns.
    Return(String, Expr),
    /// It fails.
    ToolFail(String, Reason),
    /// Something is expected, or its contrary.
    Expect(Expected, bool),
}

/// What is answered.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Word for word.
    Text(String),
    /// An option with its arguments by name; `tool` says which of the two it is.
    Option {
        /// As offered.
        name: String,
        /// Whether it is a tool.
        tool: bool,
        /// By name.
        arguments: Vec<(String, Expr)>,
    },
    /// A value, which is written as JSON.
    Value(Expr),
    /// The action that does nothing.
    Noop,
}

/// Why a call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// One of [`REASONS`].
    Kind(&'static str),
    /// In other words.
    Text(String),
}

/// The kinds of failed calls that have a name.
pub const REASONS: [&str; 7] =
    ["timeout", "rate_limited", "server", "connection", "refusal", "empty", "endless"];

/// What is expected.
#[derive(Debug, Clone)]
pub enum Expected {
    /// A condition.
    Holds(Expr),
    /// All of these are active.
    At(Vec<StateId>),
    /// The run has ended, in this way where one is named.
    Ended(Option<String>),
    /// These are offered by the question put last; with `true`, no others.
    Offered(Vec<String>, bool),
    /// No `allow` line has permitted a move, to this state where one is named.
    Denied(Option<StateId>),
    /// A tool or a host function was called.
    Called(String, Option<Vec<Expr>>),
    /// A step has put its question.
    Asked(String),
    /// The last prompt of a step holds a text.
    Prompt(String, String),
    /// A Text holds a text.
    Text(Expr, String),
}

/// Lowers the tests of a chart, which is whole by then.
pub(super) fn all(cx: &mut Cx<'_>, scenarios: &[&Scenario]) -> Vec<Test> {
    scenarios.iter().map(|scenario| one(cx, scenario)).collect()
}

/// What is around the expressions of a test.
fn surroundings(cx: &Cx<'_>) -> Env {
    let mut env = Env::at(StateId(0));
    // What the chart declares itself hides what only tests see.
    let known = |name: &str| {
        let names = &cx.names;
        names.variables.contains_key(name)
            || names.predicates.contains_key(name)
            || names.steps.contains_key(name)
    };
    let seen = |name: &str| if known(name) { String::new() } else { name.to_owned() };
    env.payload = vec![(seen("calls"), Type::Int), (seen("result"), Type::Json)];
    env
}

fn one(cx: &mut Cx<'_>, scenario: &Scenario) -> Test {
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
            TestItem::GivenFunction(_)
            | TestItem::Send(..)
            | TestItem::Turn(_)
            | TestItem::Set(..)
            | TestItem::Wait(_)
            | TestItem::Answers(..)
            | TestItem::Fails(..)
            | TestItem::Returns(..)
            | TestItem::ToolFails(..)
            | TestItem::Expect(_)
            | TestItem::Bad(_) => {
                let mut env = surroundings(cx);
                let lowered = item::item(cx, &mut env, written, span);
                test.whole &= lowered.is_some();
                test.moves.extend(lowered.map(|lowered| (lowered, span)));
            }
        }
    }
    missing(cx, &test);
    test.whole &= cx.findings.len() == before;
    test
}

fn refuse_late(cx: &mut Cx<'_>, begun: bool, what: &str, span: Span) {
    if begun {
        let finding = illegal_structure::RULE
            .at(span, format!("{what} says how the run begins, and here it has begun"))
            .help("put it before all that is done; `set` changes an input later on");
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
        cx.report(
            illegal_structure::RULE.at(path.span, message).help("name a state that can be left"),
        );
    }
    if !super::line::refuse_apart(cx, &found) {
        return Vec::new();
    }
    found.into_iter().map(|(state, _)| state).collect()
}

/// Reports params that nothing gives.
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
        cx.report(type_error::RULE.at(test.span, message).help(help));
    }
}

/// A value that does not depend on the run.
fn constant(cx: &mut Cx<'_>, written: &chartc_text::syntax::Expr, want: &Type) -> Expr {
    expr::expect(cx, &mut Env::constant(), written, want)
}
