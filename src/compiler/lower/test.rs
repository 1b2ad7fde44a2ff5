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

use super::context::{Cx, Inner, NameKind};
use super::expr::{self, Bound, Env};
use super::{declare, paths};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, illegal_structure};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{
    self, Assertion, ExprKind, FailureReason, GivenFunction, Path, Scenario, TestAnswer, TestItem,
};
use chartc_core::arena::{EventId, StateId, StepId, VarId};
use chartc_core::model::{
    ChoiceKind, Expr, Field, FunctionKind, StateKind, Step, StepKind, Type, VariableKind,
};
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
    /// Turns take place until the step asks, or at most [`MOST_TURNS`].
    Until(StepAddress),
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

impl StepAddress {
    /// The name as tests write it, such as `child/s[1]`.
    pub fn name(&self) -> String {
        let slash = if self.child.is_empty() { "" } else { "/" };
        let element = self.element.map_or(String::new(), |nth| format!("[{nth}]"));
        format!("{}{slash}{}{element}", self.child, self.step)
    }
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

/// The number of turns after which `until asked s` gives up.
pub const MOST_TURNS: u32 = 1_000;

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
    /// The step waits for its answer now.
    Asking(StepAddress),
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
                let Some((id, value)) = self::given(cx, name, value) else { continue };
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
                let lowered = item(cx, &mut env, written, span);
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
fn beginning(cx: &mut Cx<'_>, written: &[crate::syntax::Path]) -> Vec<StateId> {
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
    if !paths::refuse_apart(cx, &found) {
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
fn constant(cx: &mut Cx<'_>, written: &crate::syntax::Expr, want: &Type) -> Expr {
    expr::expect(cx, &mut Env::constant(), written, want)
}

// Lowers what a test sets up and does.

/// Lowers `given x = 1`.
fn given(cx: &mut Cx<'_>, name: &Ident, written: &syntax::Expr) -> Option<(VarId, Expr)> {
    let id = variable(cx, "variable", name, |_| true)?;
    let (ty, kind) = {
        let variable = &cx.chart.variables[id.index()];
        (variable.ty.clone(), variable.kind.clone())
    };
    let lowered = constant(cx, written, &ty);
    if let VariableKind::Param { range: Some(range) } = &kind {
        expr::refuse_outside(cx, range, &name.node, &lowered, written.span);
    }
    Some((id, lowered))
}

/// Lowers all items except `given x` and `at`; `None` if a name is unknown, which is reported.
fn item<'s>(cx: &mut Cx<'s>, env: &mut Env, item: &'s TestItem, span: Span) -> Option<Move> {
    match item {
        TestItem::GivenFunction(given) => function(cx, given),
        TestItem::Send(path, arguments) => {
            let Some(event) = declare::event_named(cx, path) else {
                for argument in arguments {
                    expr::expr(cx, env, argument, None);
                }
                return None;
            };
            let fields = cx.chart.events[event.index()].fields.clone();
            let what = format!("event `{}`", path.text());
            let arguments = expr::arguments(cx, env, &what, &fields, arguments, path.span);
            Some(Move::Send(event, arguments))
        }
        TestItem::Turn(count) => Some(Move::Turns(count.as_ref().map_or(1, |n| n.node))),
        TestItem::Until(name) => Some(Move::Until(asked(cx, name, None)?.0)),
        TestItem::Set(name, value) => {
            let is_input = |kind: &VariableKind| matches!(kind, VariableKind::Input);
            let id = variable(cx, "input", name, is_input)?;
            let ty = cx.chart.variables[id.index()].ty.clone();
            Some(Move::Set(name.node.clone(), expr::expect(cx, env, value, &ty)))
        }
        TestItem::Wait(time) => Some(Move::Wait(expr::expect(cx, env, time, &Type::Duration))),
        TestItem::Answers(name, said) => {
            let choice = if let TestAnswer::Option(path, _) = said { Some(path) } else { None };
            let (asked, own) = asked(cx, name, choice)?;
            let answer = match own {
                Some(step) => answer(cx, env, step, said, &name.step),
                None => answer_of_child(cx, env, said),
            };
            Some(Move::Answer(asked, answer?))
        }
        TestItem::Fails(name, why) => {
            let (asked, _) = asked(cx, name, None)?;
            Some(Move::Fail(asked, reason(cx, why)?))
        }
        TestItem::Returns(path, value) => {
            let tool = tool(cx, path)?;
            let ty = cx.chart.tools[tool].result.clone();
            let name = cx.chart.tools[tool].name.clone();
            Some(Move::Return(name, expr::expect(cx, env, value, &ty)))
        }
        TestItem::ToolFails(path, why) => {
            let tool = tool(cx, path)?;
            Some(Move::ToolFail(cx.chart.tools[tool].name.clone(), reason(cx, why)?))
        }
        TestItem::Expect(written) => {
            let expected = self::expected(cx, env, &written.what, span)?;
            Some(Move::Expect(expected, !written.negated))
        }
        TestItem::Given(..) | TestItem::At(_) | TestItem::Bad(_) => None,
    }
}

/// The variable with this name, if its kind is allowed here; reports any other.
fn variable(
    cx: &mut Cx<'_>,
    what: &str,
    name: &Ident,
    fits: impl Fn(&VariableKind) -> bool,
) -> Option<VarId> {
    if let Some((id, place)) = cx.names.variables.get(&name.node).copied() {
        cx.record_use(name.span, place, NameKind::Variable);
        if fits(&cx.chart.variables[id.index()].kind) {
            return Some(id);
        }
        let message = format!("`{}` is no {what}: the host cannot set it", name.node);
        let finding = TYPE_ERROR.at(name.span, message).related(place, "declared here");
        cx.report(finding.help("`given` says what a param or a var begins with"));
        return None;
    }
    let variables = cx.chart.variables.iter().filter(|v| fits(&v.kind));
    let known: Vec<String> = variables.map(|v| v.name.clone()).collect();
    cx.unknown(what, &name.node, name.span, known.iter().map(String::as_str));
    None
}

/// Lowers `given fn f(a) = 1`.
fn function(cx: &mut Cx<'_>, given: &GivenFunction) -> Option<Move> {
    let name = &given.name;
    let Some((id, place)) = cx.names.functions.get(&name.node).copied() else {
        let known: Vec<String> = cx.names.functions.keys().cloned().collect();
        cx.unknown("host function", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    cx.record_use(name.span, place, NameKind::Function);
    let declared = cx.chart.functions[id.index()].clone();
    let what = format!("`{}`", name.node);
    let arguments = given.arguments.as_ref().map(|written| {
        let env = &mut Env::constant();
        expr::arguments(cx, env, &what, &declared.params, written, name.span)
    });
    let result = match (&given.result, &declared.kind) {
        (Ok(value), FunctionKind::Pure { result, .. }) => Ok(constant(cx, value, result)),
        (Ok(value), FunctionKind::Effect) => {
            let message = format!("`{}` is a `do`: it gives no value", name.node);
            let finding = TYPE_ERROR.at(value.span, message).related(place, "declared here");
            cx.report(finding.help("it needs no `given`; to let it fail, write `fails \"why\"`"));
            return None;
        }
        (Err(FailureReason::Text(text)), _) => Err(text.node.clone()),
        (Err(FailureReason::Kind(word)), _) => Err(word.node.clone()),
    };
    Some(Move::Function { name: name.node.clone(), arguments, result })
}

/// The address of a step that asks, and the step itself if it belongs to the tested chart. The steps of charts that this one runs are
/// looked up when the test is played.
fn asked<'s>(
    cx: &mut Cx<'s>,
    written: &'s syntax::StepRef,
    choice: Option<&'s Path>,
) -> Option<(StepAddress, Option<StepId>)> {
    let syntax::StepRef { path, step, element } = written;
    let own = match path.first() {
        None => Some(asking(cx, step)?),
        Some(first) => {
            let runs = |step: &Step| matches!(step.kind, StepKind::Run(_));
            let steps = cx.chart.steps.iter().filter(|step| runs(step));
            let known: Vec<String> = steps.map(|step| step.name.clone()).collect();
            if !known.contains(&first.node) {
                let known = known.iter().map(String::as_str);
                cx.unknown("`run` step", &first.node, first.span, known);
                return None;
            }
            if let Some((run, place)) = cx.names.steps.get(&first.node).copied() {
                cx.record_use(first.span, place, NameKind::Step);
                let names = path[1..].iter().chain([step]).collect();
                cx.inner.push(Inner { chart: cx.map.name, step: run, names, choice });
            }
            None
        }
    };
    if let (Some(id), Some(nth)) = (own, element)
        && cx.chart.steps[id.index()].each.is_none()
    {
        let message = format!("`{}` has no `each`, so it has no elements", step.node);
        cx.report(TYPE_ERROR.at(nth.span, message).help("leave the brackets out"));
        return None;
    }
    let child: Vec<&str> = path.iter().map(|name| name.node.as_str()).collect();
    let (child, step) = (child.join("/"), step.node.clone());
    Some((StepAddress { child, step, element: element.as_ref().map(|nth| nth.node) }, own))
}

/// Lowers an answer to a step of a chart that the tested one runs. The type of the answer is known only there.
fn answer_of_child(cx: &mut Cx<'_>, env: &mut Env, said: &TestAnswer) -> Option<Answer> {
    match said {
        TestAnswer::Text(text) => Some(Answer::Text(text.node.clone())),
        TestAnswer::Value(value) => Some(Answer::Value(expr::expect(cx, env, value, &Type::Json))),
        TestAnswer::Option(path, arguments) if arguments.is_empty() => {
            Some(Answer::Text(path.text()))
        }
        TestAnswer::Option(path, _) => {
            let message = "an option of another chart is given without arguments";
            let help = "write the answer as a text: `{\"choice\": \"name\", \"arguments\": {…}}`";
            cx.report(TYPE_ERROR.at(path.span, message).help(help));
            None
        }
    }
}

/// The step with this name, if a model or a person answers it; reports any other.
fn asking(cx: &mut Cx<'_>, name: &Ident) -> Option<StepId> {
    let asks = |kind: &StepKind| match kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(..) => false,
    };
    let Some((id, place)) = cx.names.steps.get(&name.node).copied() else {
        let steps = cx.chart.steps.iter().filter(|step| asks(&step.kind));
        let known: Vec<String> = steps.map(|step| step.name.clone()).collect();
        cx.unknown("step", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    // The name of a question about a tool call stands in no declaration.
    if cx.chart.steps[id.index()].approves.is_none() {
        cx.record_use(name.span, place, NameKind::Step);
    }
    if asks(&cx.chart.steps[id.index()].kind) {
        return Some(id);
    }
    let message = format!("`{}` asks nobody", name.node);
    let finding = TYPE_ERROR.at(name.span, message).related(place, "declared here");
    cx.report(
        finding
            .help("`llm`, `ask` and `human` steps are answered; a tool with `tool a.b returns …`"),
    );
    None
}

/// The index of a declared tool; reports an unknown one.
fn tool(cx: &mut Cx<'_>, path: &Path) -> Option<usize> {
    let name = path.text();
    cx.record_tool_use(&path.names);
    if let Some((id, _)) = cx.names.tools.get(&name) {
        return Some(id.index());
    }
    let known: Vec<String> = cx.names.tools.keys().cloned().collect();
    cx.unknown("tool", &name, path.span, known.iter().map(String::as_str));
    None
}

fn reason(cx: &mut Cx<'_>, why: &FailureReason) -> Option<Reason> {
    match why {
        FailureReason::Text(text) => Some(Reason::Text(text.node.clone())),
        FailureReason::Kind(word) => {
            let known = REASONS.iter().find(|known| **known == word.node);
            if known.is_none() {
                cx.unknown("kind of failure", &word.node, word.span, REASONS);
            }
            known.map(|known| Reason::Kind(known))
        }
    }
}

fn answer(
    cx: &mut Cx<'_>,
    env: &mut Env,
    id: StepId,
    said: &TestAnswer,
    name: &Ident,
) -> Option<Answer> {
    let (returns, is_ask, is_llm) = {
        let step = &cx.chart.steps[id.index()];
        let is_ask = matches!(step.kind, StepKind::Ask { .. });
        (step.one_returns().clone(), is_ask, matches!(step.kind, StepKind::Llm))
    };
    match said {
        TestAnswer::Text(text) => Some(Answer::Text(text.node.clone())),
        TestAnswer::Value(value) if is_ask => {
            Some(Answer::Value(expr::expect(cx, env, value, &Type::Json)))
        }
        TestAnswer::Value(value) => Some(Answer::Value(expr::expect(cx, env, value, &returns))),
        TestAnswer::Option(path, arguments) if is_ask => option(cx, env, path, arguments),
        TestAnswer::Option(path, arguments)
            if cx.chart.steps[id.index()].tools.is_some()
                && cx.names.tools.contains_key(&path.text()) =>
        {
            tool_call(cx, env, path, arguments)
        }
        TestAnswer::Option(path, arguments)
            if is_llm && returns == Type::Json && path.text() == "noop" && arguments.is_empty() =>
        {
            Some(Answer::Noop)
        }
        TestAnswer::Option(path, _) => {
            let ty = cx.type_name(&returns);
            let message = format!("`{}` chooses no option: it is answered by a value", name.node);
            let help = match returns {
                Type::Json if is_llm => {
                    "write `noop`, a map such as `{\"action\": \"noop\"}`, or a text".to_owned()
                }
                Type::Named(_) => format!("write it as in `{ty}.{}`, or a text", path.text()),
                _ => {
                    format!("a `{ty}` is wanted, or a text, which is taken word for word")
                }
            };
            cx.report(TYPE_ERROR.at(path.span, message).help(help));
            None
        }
    }
}

/// Lowers a call of a tool by the model of an `llm` step.
fn tool_call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &Path,
    written: &[syntax::Expr],
) -> Option<Answer> {
    let name = path.text();
    let (tool, _) = cx.names.tools.get(&name).copied()?;
    cx.record_tool_use(&path.names);
    let fields = cx.chart.tools[tool.index()].params.clone();
    let what = format!("tool `{name}`");
    let values = expr::arguments(cx, env, &what, &fields, written, path.span);
    let arguments = fields.into_iter().map(|field| field.name).zip(values).collect();
    Some(Answer::Option { name, tool: true, arguments })
}

/// Lowers the choice of an option or a tool, with its arguments.
fn option(cx: &mut Cx<'_>, env: &mut Env, path: &Path, written: &[syntax::Expr]) -> Option<Answer> {
    let name = path.text();
    cx.record_offer_use(path);
    let mut fields: Option<Vec<Field>> = None;
    // Several states may have an option with this name. One with the same number of arguments is preferred.
    for choice in &cx.chart.choices {
        if let (ChoiceKind::Option(declared), true) = (&choice.kind, choice.name == name)
            && (fields.is_none() || declared.len() == written.len())
        {
            fields = Some(declared.clone());
        }
    }
    let tool = cx.names.tools.get(&name).map(|(id, _)| *id);
    let is_tool = fields.is_none() && tool.is_some();
    let fields = fields.or_else(|| Some(cx.chart.tools[tool?.index()].params.clone()));
    let Some(fields) = fields else {
        let options = cx.chart.choices.iter();
        let options = options.filter(|choice| matches!(choice.kind, ChoiceKind::Option(_)));
        let known: Vec<String> = options
            .map(|choice| choice.name.clone())
            .chain(cx.names.tools.keys().cloned())
            .collect();
        cx.unknown("option", &name, path.span, known.iter().map(String::as_str));
        for argument in written {
            expr::expr(cx, env, argument, None);
        }
        return None;
    };
    let what = if is_tool { format!("tool `{name}`") } else { format!("option `{name}`") };
    let values = expr::arguments(cx, env, &what, &fields, written, path.span);
    let arguments = fields.into_iter().map(|field| field.name).zip(values).collect();
    Some(Answer::Option { name, tool: is_tool, arguments })
}

// Lowers the expectations of a test.

/// Lowers an expectation; `None` if a name is unknown, which is reported.
fn expected<'s>(
    cx: &mut Cx<'s>,
    env: &mut Env,
    written: &'s Assertion,
    span: Span,
) -> Option<Expected> {
    Some(match written {
        Assertion::Holds(condition) => Expected::Holds(expr::condition(cx, env, condition)),
        Assertion::At(states) => {
            let found: Option<Vec<_>> =
                states.iter().map(|path| paths::state(cx, StateId(0), path)).collect();
            Expected::At(found?)
        }
        Assertion::Ended(status) => Expected::Ended(status.as_ref().map(|word| word.node.clone())),
        Assertion::Offered(paths, only) => {
            let names: Option<Vec<_>> = paths.iter().map(|path| offered(cx, path)).collect();
            Expected::Offered(names?, *only)
        }
        Assertion::Denied(path) => match path {
            Some(path) => Expected::Denied(Some(paths::state(cx, StateId(0), path)?)),
            None => Expected::Denied(None),
        },
        Assertion::Called(path, arguments) => called(cx, env, path, arguments.as_deref(), span)?,
        Assertion::Asked(step) => Expected::Asked(asking(cx, step).map(|_| step.node.clone())?),
        Assertion::Asking(step) => Expected::Asking(self::asked(cx, step, None)?.0),
        Assertion::Prompt(step, text) => {
            asking(cx, step)?;
            Expected::Prompt(step.node.clone(), text.node.clone())
        }
        Assertion::Text(name, text) => Expected::Text(text_of(cx, env, name), text.node.clone()),
    })
}

/// The name of an option or a tool, as a question offers it; reports an unknown one.
fn offered(cx: &mut Cx<'_>, path: &Path) -> Option<String> {
    let name = path.text();
    let is_option = |c: &chartc_core::model::Choice| matches!(c.kind, ChoiceKind::Option(_));
    let options = cx.chart.choices.iter().filter(|c| is_option(c));
    let known: Vec<String> =
        options.map(|c| c.name.clone()).chain(cx.names.tools.keys().cloned()).collect();
    if known.contains(&name) {
        cx.record_offer_use(path);
        return Some(name);
    }
    cx.unknown("option", &name, path.span, known.iter().map(String::as_str));
    None
}

/// Lowers the expected call of a tool or a host function.
fn called(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &Path,
    written: Option<&[syntax::Expr]>,
    span: Span,
) -> Option<Expected> {
    let name = path.text();
    let fields: Option<Vec<Field>> =
        match (cx.names.tools.get(&name), cx.names.functions.get(&name)) {
            (Some((tool, _)), _) => Some(cx.chart.tools[tool.index()].params.clone()),
            (None, Some((id, _))) => Some(cx.chart.functions[id.index()].params.clone()),
            (None, None) => None,
        };
    match cx.names.functions.get(&name).copied() {
        Some((_, place)) if !cx.names.tools.contains_key(&name) => {
            cx.record_use(path.span, place, NameKind::Function);
        }
        Some(_) | None => cx.record_tool_use(&path.names),
    }
    let Some(fields) = fields else {
        let names = &cx.names;
        let known: Vec<String> =
            names.tools.keys().chain(names.functions.keys()).cloned().collect();
        cx.unknown("tool or host function", &name, path.span, known.iter().map(String::as_str));
        return None;
    };
    let what = format!("`{name}`");
    let arguments = written.map(|all| expr::arguments(cx, env, &what, &fields, all, span));
    Some(Expected::Called(name, arguments))
}

/// The expression for the Text with this name; reports a value of another type.
fn text_of(cx: &mut Cx<'_>, env: &mut Env, name: &Ident) -> Expr {
    let written = syntax::Expr { kind: ExprKind::Name(name.node.clone()), span: name.span };
    let lowered = expr::expr(cx, env, &written, None);
    if !matches!(lowered.ty, Type::Text | Type::Json) && !expr::is_faulty(&lowered) {
        let message = format!("`contains` looks into a text, this is {}", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(name.span, message).help("write `expect … in …`"));
    }
    lowered
}
