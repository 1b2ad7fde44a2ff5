//! Plays one test.
//!
//! **The problem.** A test is a sequence of inputs, answers and expectations, and the runtime is asynchronous. When a line of the test
//! takes effect, and what it sees, must be exact. A chart may also loop, and a test must end.
//!
//! **The idea.** Nothing runs beside the test. So after each move [`Player`] polls the session once (`drive`): if the future is pending,
//! the run waits for the test itself, and only the next move can wake it. Before each input of the host, `host` marks the end of the trace
//! (`since`); `called`, `asked` and `denied` look back to there. Every action, and every line of the trace, takes steps from a budget
//! (`spend`). An expectation becomes an `Observation`: whether it holds, its text, and what was found instead, also for `expect not`. The
//! first [`Failure`] ends the test; so does an answer that is owed at the end (`owed`).
//!
//! **Example.** A part of a test, for a chart with `fn known(name: Text) -> Bool` and an `llm` step `look`:
//!
//! ```text
//! given fn known = true          `function`: the desk returns this from now on
//! send knock                     `host` marks the trace, the event is posted, `settle` polls until the run waits
//! expect called known            searches the calls behind the mark
//! turn                           the step `look` asks; the poll is pending, because the test owes an answer
//! answers look Mood.cross        the desk resolves the question with this value, and `settle` polls again
//! ```

use super::A_THING;
use super::test_host::{Reply, TestHost, Wanted, reason_of};
use crate::scenario;
use chartc_compiler::lower::test::{Answer, Expected, MOST_TURNS, Move, StepAddress, Test};
use chartc_compiler::notation;
use chartc_compiler::syntax::source::Span;
use chartc_core::arena::StateId;
use chartc_core::expr::{Environment, Fuel, Map, Value, evaluate};
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, Expr, ExprKind, StateKind};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{RunError, Session};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The state of a test while it is played.
pub(super) struct Player<'p> {
    pub(super) chart: &'p Chart,
    pub(super) session: Session<Interpreter<TestHost>, TestHost>,
    pub(super) desk: TestHost,
    /// The number of trace lines whose steps have been counted.
    counted: usize,
    /// The number of trace lines, and of calls of host functions, before the last input of the host.
    pub(super) since: (usize, usize),
    /// The place of the host's last input.
    pub(super) last: Span,
    /// The length of the trace before each move of the test, without moves that do not let the run continue: expectations, functions and
    /// inputs.
    pub(super) marks: Vec<usize>,
}

/// An environment in which nothing can be read.
struct Constants;

impl Environment for Constants {}

/// The chart as the test begins it: with the values of `given`, in the states of `begins`.
pub(super) fn prepared(chart: &Chart, test: &Test) -> Chart {
    let mut chart = chart.clone();
    for (id, value) in &test.given {
        chart.variables[id.index()].default = Some(value.clone());
    }
    if !test.begins.is_empty() {
        let root = &mut chart.states[0];
        root.kind = StateKind::Compound { initial: test.begins.clone() };
        // These actions belong to the default entry that `begins` replaces.
        root.default_actions.clear();
    }
    chart
}

/// Polls the future once. Returns `None` if it waits for the test to answer: no other task can wake it.
fn drive<F: Future>(future: F) -> Option<F::Output> {
    // Nothing runs beside the test, so a future that is pending stays so until the test's next move.
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl<'c> Player<'c> {
    pub(super) fn new(
        chart: &'c Chart,
        session: Session<Interpreter<TestHost>, TestHost>,
        desk: TestHost,
        last: Span,
    ) -> Self {
        Self { chart, session, desk, counted: 0, since: (0, 0), last, marks: Vec::new() }
    }

    pub(super) fn all(&mut self, test: &Test) -> Result<(), Failure> {
        // Functions given before anything else are available while the run starts.
        let given = |(m, _): &&(Move, Span)| matches!(m, Move::Function { .. });
        let before = test.moves.iter().take_while(given).count();
        for (step, span) in &test.moves[..before] {
            self.step(step, *span)?;
        }
        let started = drive(self.session.start());
        self.done(started, test.span)?;
        for (step, span) in &test.moves[before..] {
            self.step(step, *span)?;
        }
        let last = test.moves.iter().rev().find(|(step, _)| !matches!(step, Move::Expect(..)));
        match self.desk.open().iter().find(|wanted| wanted.is_owed()) {
            // The test stops where a step asks.
            Some(_) if matches!(last, Some((Move::Until(_), _))) => Ok(()),
            Some(wanted) => Err(owed(wanted, self.last)),
            None => Ok(()),
        }
    }

    /// Whether the step waits for its answer.
    fn is_asking(&self, asked: &StepAddress) -> bool {
        self.desk.open().iter().any(|wanted| wanted.is_asked_by(asked))
    }

    /// What waits for an answer or a result.
    pub(super) fn waiting(&self) -> Vec<Wanted> {
        self.desk.open()
    }

    /// Turns until the step asks.
    fn until(&mut self, asked: &StepAddress, span: Span) -> Result<(), Failure> {
        for _ in 0..MOST_TURNS {
            if self.is_asking(asked) {
                return Ok(());
            }
            self.turn(span)?;
        }
        let name = asked.name();
        Err(Failure::new(span, format!("`{name}` has not asked within {MOST_TURNS} turns"))
            .found(at(self)))
    }

    /// Counts `steps`, and the trace lines since the last count. Returns whether any steps are left.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        let lines = self.desk.with_lines(<[Line]>::len);
        let steps = steps + (lines - self.counted) as u64 * A_THING;
        self.counted = lines;
        let machine = self.session.machine_mut();
        let left = machine.allowed().saturating_sub(steps);
        machine.allow(left);
        left > 0 && !self.desk.is_full()
    }

    /// Counts the steps of an action of the test. Fails if none are left.
    fn go_on(&mut self, steps: u64, span: Span) -> Result<(), Failure> {
        if self.spend(steps) { Ok(()) } else { Err(Failure::new(span, "no steps are left")) }
    }

    fn step(&mut self, step: &Move, span: Span) -> Result<(), Failure> {
        // An expectation may search the whole trace, so it costs as much as the trace is long.
        let seen = if matches!(step, Move::Expect(..)) { self.counted as u64 } else { 0 };
        self.go_on(A_THING + seen, span)?;
        if !matches!(step, Move::Expect(..) | Move::Function { .. } | Move::Set(..)) {
            self.marks.push(self.desk.with_lines(<[Line]>::len));
        }
        match step {
            Move::Function { name, arguments, result } => {
                let arguments = arguments.as_deref();
                self.function(name, arguments, result, span)
            }
            Move::Send(event, arguments) => {
                let row = &self.chart.events[event.index()];
                let values = self.values(arguments, span)?;
                self.host(span)?;
                let names = row.fields.iter().map(|field| field.name.clone());
                let posted = drive(self.session.post(&row.name, names.zip(values).collect()));
                self.done(posted, span)?;
                self.settle(span)
            }
            Move::Turns(count) => {
                for _ in 0..*count {
                    self.turn(span)?;
                }
                Ok(())
            }
            Move::Until(asked) => self.until(asked, span),
            Move::Set(name, value) => {
                let value = self.value(value, span)?;
                let set = self.session.input(name, value);
                set.map_err(|why| Failure::new(span, why.to_string()))
            }
            Move::Wait(time) => self.wait(time, span),
            Move::Answer(id, answer) => {
                let reply = self.said(answer, span)?;
                self.answer(id, reply, span)
            }
            Move::Fail(id, reason) => self.answer(id, Reply::Fail(reason_of(reason)), span),
            Move::Return(tool, value) => {
                let reply = Reply::Value(self.value(value, span)?);
                self.result(tool, reply, span)
            }
            Move::ToolFail(tool, reason) => self.result(tool, Reply::Fail(reason_of(reason)), span),
            Move::Expect(expected, holds) => expect(self, expected, *holds, span),
        }
    }

    /// Sets what a host function returns.
    fn function(
        &mut self,
        name: &str,
        arguments: Option<&[Expr]>,
        result: &Result<Expr, String>,
        span: Span,
    ) -> Result<(), Failure> {
        let constant = |expr: &Expr| {
            evaluate(expr, &Constants, &Fuel::new(Fuel::USUAL))
                .map_err(|why| Failure::new(span, why.message))
        };
        let arguments = arguments.map(|all| all.iter().map(constant).collect());
        let result = match result {
            Ok(value) => Ok(constant(value)?),
            Err(why) => Err(why.clone()),
        };
        self.desk.add((name.to_owned(), arguments.transpose()?, result));
        Ok(())
    }

    fn wait(&mut self, time: &Expr, span: Span) -> Result<(), Failure> {
        let Value::Duration(time) = self.value(time, span)? else {
            return Err(Failure::new(span, "this is no duration"));
        };
        self.host(span)?;
        // `wait` lets time pass although calls are under way, so that their deadlines can fire.
        self.desk.pass(true);
        let waited = drive(self.session.advance(time));
        self.desk.pass(false);
        self.done(waited, span)?;
        self.settle(span)
    }

    /// Prepares an input of the host. Fails if the run has ended.
    fn host(&mut self, span: Span) -> Result<(), Failure> {
        self.go_on(A_THING, span)?;
        if let Some(status) = self.session.status() {
            let message =
                format!("the run has ended {}: nothing can be done any more", status.word());
            return Err(Failure::new(span, message));
        }
        self.since = (self.desk.with_lines(<[Line]>::len), self.desk.calls());
        self.last = span;
        Ok(())
    }

    fn turn(&mut self, span: Span) -> Result<(), Failure> {
        self.host(span)?;
        if self.session.machine().is_walking() {
            let open = self.desk.open();
            return Err(match open.iter().find(|wanted| wanted.is_owed()) {
                Some(wanted) => owed(wanted, span),
                None => Failure::new(span, "the turn before has not ended"),
            });
        }
        let begun = drive(self.session.begin_turn());
        self.done(begun, span)?;
        self.settle(span)
    }

    fn answer(&mut self, asked: &StepAddress, reply: Reply, span: Span) -> Result<(), Failure> {
        self.reply(|wanted| wanted.is_asked_by(asked), &asked.name(), false, reply, span)
    }

    fn result(&mut self, tool: &str, reply: Reply, span: Span) -> Result<(), Failure> {
        let fits = |wanted: &Wanted| matches!(wanted, Wanted::Result(call) if call.tool == tool);
        self.reply(fits, tool, true, reply, span)
    }

    fn reply(
        &mut self,
        fits: impl Fn(&Wanted) -> bool,
        name: &str,
        is_tool: bool,
        reply: Reply,
        span: Span,
    ) -> Result<(), Failure> {
        if !self.desk.reply(fits, reply) {
            let open: Vec<String> =
                self.desk.open().iter().map(|w| format!("`{}`", w.name())).collect();
            let what = if is_tool { "is not being called" } else { "does not ask" };
            let found = match open.as_slice() {
                [] => format!("nothing waits for an answer{}", no_turn(self)),
                open => format!("waiting: {}", open.join(", ")),
            };
            return Err(Failure::new(span, format!("`{name}` {what} now")).found(found));
        }
        self.last = span;
        self.settle(span)
    }

    fn settle(&mut self, span: Span) -> Result<(), Failure> {
        let settled = drive(self.session.settle());
        self.done(settled, span)
    }

    /// Fails if the run failed, or if it called a function for which the test gives no result. A pending future is no failure.
    fn done<T>(&mut self, outcome: Option<Result<T, RunError>>, span: Span) -> Result<(), Failure> {
        if let Some(call) = self.desk.missing().first() {
            let name = call.split('(').next().unwrap_or_default();
            let message = format!("`{name}` is called, and the test gives no result for it");
            let help = format!("begin with `given fn {name} = …`, or with `given fn {call} = …`");
            return Err(Failure::new(span, message).found(format!("calls {call}")).help(help));
        }
        match outcome {
            Some(Err(RunError::Trace(why))) => Err(Failure::new(span, why.to_string())),
            Some(Err(why)) => Err(Failure::new(span, why.to_string())),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// The leaf for which the test's expressions are evaluated: the first active one.
    pub(super) fn leaf(&self) -> StateId {
        self.session.machine().leaves().first().copied().unwrap_or(StateId(0))
    }

    /// Evaluates an expression of the test now.
    pub(super) fn value(&mut self, expr: &Expr, span: Span) -> Result<Value, Failure> {
        let leaf = self.leaf();
        let result: Map = self.session.machine().result().into_iter().collect();
        let payload = [Value::Int(i64::from(self.session.calls())), Value::Map(result)];
        // Calls of functions by the test's own expressions must not count as calls of the run.
        self.desk.look(true);
        let value = self.session.machine_mut().evaluate(leaf, expr, &payload);
        self.desk.look(false);
        self.done(None::<Result<(), RunError>>, span)?;
        value.map_err(|why| Failure::new(span, "this has no value here").found(why.message))
    }

    pub(super) fn values(&mut self, all: &[Expr], span: Span) -> Result<Vec<Value>, Failure> {
        all.iter().map(|expr| self.value(expr, span)).collect()
    }

    /// Converts what an `answers` line gives to what a model or a person would have said.
    fn said(&mut self, answer: &Answer, span: Span) -> Result<Reply, Failure> {
        Ok(match answer {
            Answer::Text(text) => Reply::Text(text.clone()),
            Answer::Noop => Reply::Text("{\"reasoning\": \"\", \"action\": \"noop\"}".to_owned()),
            Answer::Value(expr) => {
                let value = self.value(expr, span)?;
                if let Value::Text(text) = value { Reply::Text(text) } else { Reply::Value(value) }
            }
            Answer::Option { name, arguments, tool: false } if arguments.is_empty() => {
                Reply::Text(name.clone())
            }
            Answer::Option { name, tool, arguments } => {
                let mut given = Map::new();
                for (field, expr) in arguments {
                    given.insert(field.clone(), self.value(expr, span)?);
                }
                let key = if *tool { "tool" } else { "choice" };
                let pairs = [
                    (key.to_owned(), Value::Text(name.clone())),
                    ("arguments".to_owned(), Value::Map(given)),
                ];
                Reply::Value(Value::Map(pairs.into_iter().collect()))
            }
        })
    }
}

// Evaluates the expectations of a test.

/// The names of the two values that only expressions of tests can read, in the order of their payload.
const NAMES: [&str; 2] = ["calls", "result"];

/// The maximum number of values that are shown of a condition that does not hold.
const MOST_SHOWN: usize = 6;

/// The result of an expectation: whether it holds, its text, and what was found instead.
struct Observation {
    holds: bool,
    what: String,
    found: String,
}

/// The end of a message about a step that has not asked: if no turn has begun, that is the likely reason.
pub(super) fn no_turn(player: &Player<'_>) -> &'static str {
    let session = &player.session;
    if session.turns() == 0 && !session.machine().is_walking() {
        ", and no turn has begun: steps start in a `turn`"
    } else {
        ""
    }
}

/// Fails unless the result of `expected` is `wanted`, which is false for `expect not`.
pub(super) fn expect(
    player: &mut Player<'_>,
    expected: &Expected,
    wanted: bool,
    span: Span,
) -> Result<(), Failure> {
    let seen = see(player, expected, span)?;
    if seen.holds == wanted {
        return Ok(());
    }
    let not = if wanted { "" } else { "not " };
    Err(Failure::new(span, format!("expected {not}{}", seen.what)).found(seen.found))
}

fn see(player: &mut Player<'_>, expected: &Expected, span: Span) -> Result<Observation, Failure> {
    let chart = player.chart;
    Ok(match expected {
        Expected::Holds(condition) => {
            let value = player.value(condition, span)?;
            let what = notation::expression_in(chart, condition, &NAMES);
            let found = describe_reads(player, condition, span);
            Observation { holds: value == Value::Bool(true), what: format!("`{what}`"), found }
        }
        Expected::At(states) => {
            let machine = player.session.machine();
            let holds = states.iter().all(|state| machine.is_active(*state));
            Observation {
                holds,
                what: format!("to be at {}", listed(player, states)),
                found: at(player),
            }
        }
        Expected::Ended(status) => ended(player, status.as_deref()),
        Expected::Offered(names, only) => offered(player, names, *only),
        Expected::Denied(state) => denied(player, *state),
        Expected::Called(name, arguments) => called(player, name, arguments.as_deref(), span)?,
        Expected::Asked(step) => {
            let holds = asked(player, step).is_some();
            let found = if holds {
                "it has asked".to_owned()
            } else {
                format!("it has not asked{}", no_turn(player))
            };
            Observation { holds, what: format!("`{step}` to have asked"), found }
        }
        Expected::Asking(step) => asking(player, step),
        Expected::Prompt(step, text) => prompt_contains(player, step, text, span)?,
        Expected::Text(expr, text) => value_contains(player, expr, text, span)?,
    })
}

fn ended(player: &Player<'_>, status: Option<&str>) -> Observation {
    let ended = player.session.status().map(chartc_core::machine::Status::word);
    let holds = ended.is_some() && status.is_none_or(|s| Some(s) == ended);
    let what = status.map_or(String::new(), |word| format!(" {word}"));
    let found = match ended {
        Some(word) => format!("it has ended {word}, {}", at(player)),
        None => format!("it goes on, {}", at(player)),
    };
    Observation { holds, what: format!("the run to have ended{what}"), found }
}

/// Whether the last question with options offers these names, and if `only` nothing else.
fn offered(player: &Player<'_>, names: &[String], only: bool) -> Observation {
    let offered = player.desk.with_lines(|lines| {
        lines.iter().rev().find_map(|line| {
            let What::Question { options, .. } = &line.what else { return None };
            (!options.is_empty()).then(|| options.clone())
        })
    });
    let found = match &offered {
        Some(offered) => format!("offered: {}", offered.join(", ")),
        None => "nothing was offered yet".to_owned(),
    };
    let offered = offered.unwrap_or_default();
    let holds = names.iter().all(|name| offered.contains(name))
        && (!only || offered.iter().all(|name| names.contains(name)));
    let only = if only { "only " } else { "" };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Observation { holds, what: format!("{only}{} to be offered", names.join(", ")), found }
}

fn asking(player: &Player<'_>, step: &StepAddress) -> Observation {
    let open: Vec<String> = player.waiting().iter().map(Wanted::described).collect();
    let found = match open.as_slice() {
        [] => format!("nothing waits for an answer{}", no_turn(player)),
        open => format!("waiting: {}", open.join("; ")),
    };
    let what = format!("`{}` to wait for its answer", step.name());
    Observation { holds: player.is_asking(step), what, found }
}

fn prompt_contains(
    player: &Player<'_>,
    step: &str,
    text: &str,
    span: Span,
) -> Result<Observation, Failure> {
    let Some(prompt) = last_prompt(player, step) else {
        let message = format!("`{step}` has not asked anything");
        return Err(Failure::new(span, message).found("no prompt was sent"));
    };
    Ok(Observation {
        holds: prompt.contains(text),
        what: format!("the prompt of `{step}` to contain {}", scenario::quoted(text)),
        found: format!("it is: {}", scenario::short(&prompt, 600)),
    })
}

fn value_contains(
    player: &mut Player<'_>,
    expr: &Expr,
    text: &str,
    span: Span,
) -> Result<Observation, Failure> {
    let value = player.value(expr, span)?;
    let name = notation::expression_in(player.chart, expr, &NAMES);
    let holds = matches!(&value, Value::Text(whole) if whole.contains(text));
    let found = format!("it is {}", scenario::short(&scenario::value(&value), 600));
    Ok(Observation {
        holds,
        what: format!("`{name}` to contain {}", scenario::quoted(text)),
        found,
    })
}

fn denied(player: &Player<'_>, state: Option<StateId>) -> Observation {
    let path = state.map(|state| player.chart.state(state).path.clone());
    let denied: Vec<String> = player.desk.with_lines(|lines| {
        let since = lines[player.since.0.min(lines.len())..].iter();
        let targets = since.filter_map(|line| {
            let What::Denied { line } = &line.what else { return None };
            Some(line.targets.join(", "))
        });
        targets.collect()
    });
    let holds = match &path {
        Some(path) => denied.iter().any(|targets| targets.split(", ").any(|t| t == path)),
        None => !denied.is_empty(),
    };
    let found = match denied.as_slice() {
        [] => "no move was denied".to_owned(),
        denied => format!("denied: -> {}", denied.join("; -> ")),
    };
    let to = path.map_or(String::new(), |path| format!(" to `{path}`"));
    Observation { holds, what: format!("a move{to} to be denied"), found }
}

fn called(
    player: &mut Player<'_>,
    name: &str,
    arguments: Option<&[Expr]>,
    span: Span,
) -> Result<Observation, Failure> {
    let wanted = match arguments {
        Some(all) => Some(player.values(all, span)?),
        None => None,
    };
    let mut calls: Vec<Vec<Value>> = player
        .desk
        .called()
        .into_iter()
        .skip(player.since.1)
        .filter(|(function, _)| function == name)
        .map(|(_, arguments)| arguments)
        .collect();
    player.desk.with_lines(|lines| {
        for line in &lines[player.since.0.min(lines.len())..] {
            if let What::ToolCall { tool, arguments: Value::Map(map), .. } = &line.what
                && tool == name
            {
                calls.push(map.iter().map(|(_, value)| value.clone()).collect());
            }
        }
    });
    let holds = match &wanted {
        Some(wanted) => calls.contains(wanted),
        None => !calls.is_empty(),
    };
    let words = |values: &Vec<Value>| {
        format!("{name}({})", values.iter().map(scenario::value).collect::<Vec<_>>().join(", "))
    };
    let found = match calls.as_slice() {
        [] => format!("`{name}` was not called"),
        calls => format!("called: {}", calls.iter().map(words).collect::<Vec<_>>().join("; ")),
    };
    let what = wanted.as_ref().map_or_else(|| name.to_owned(), words);
    Ok(Observation { holds, what: format!("`{what}` to have been called"), found })
}

/// The prompt of the last question that the step has asked since the last input of the host.
fn asked(player: &Player<'_>, step: &str) -> Option<String> {
    prompt_since(player, step, player.since.0)
}

fn last_prompt(player: &Player<'_>, step: &str) -> Option<String> {
    prompt_since(player, step, 0)
}

fn prompt_since(player: &Player<'_>, step: &str, since: usize) -> Option<String> {
    player.desk.with_lines(|lines| {
        lines[since.min(lines.len())..].iter().rev().find_map(|line| {
            let What::Question { step: other, prompt, .. } = &line.what else { return None };
            (other == step).then(|| prompt.clone())
        })
    })
}

fn listed(player: &Player<'_>, states: &[StateId]) -> String {
    let names = states.iter().map(|state| format!("`{}`", player.chart.state(*state).path));
    names.collect::<Vec<_>>().join(", ")
}

fn at(player: &Player<'_>) -> String {
    let states: Vec<String> =
        player.session.configuration().iter().map(|path| format!("`{path}`")).collect();
    format!("at {}", states.join(", "))
}

/// Lists what a condition reads, with the present values.
fn describe_reads(player: &mut Player<'_>, condition: &Expr, span: Span) -> String {
    let mut leaves: Vec<Expr> = Vec::new();
    collect(condition, &mut leaves);
    let mut shown = Vec::new();
    for leaf in leaves.iter().take(MOST_SHOWN) {
        let name = notation::expression_in(player.chart, leaf, &NAMES);
        let value = match player.value(leaf, span) {
            Ok(value) => scenario::short(&scenario::value(&value), 200),
            Err(failure) => failure.found.unwrap_or(failure.message),
        };
        shown.push(format!("{name} is {value}"));
    }
    if shown.is_empty() { "it is false".to_owned() } else { shown.join(", ") }
}

/// Collects the parts of an expression whose values depend on the run, each once.
pub(super) fn collect(expr: &Expr, found: &mut Vec<Expr>) {
    let mut inner: Vec<&Expr> = Vec::new();
    match &expr.kind {
        ExprKind::Variable(_)
        | ExprKind::Observable(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_)
        | ExprKind::Predicate(_)
        | ExprKind::Call(..)
            if !found.contains(expr) =>
        {
            found.push(expr.clone());
        }
        ExprKind::Call(..) | ExprKind::Text(_) => {}
        // `a.b = 3` says more than the whole record `a`, so a path is not descended into.
        ExprKind::Field(base, _)
            if matches!(
                base.kind,
                ExprKind::Variable(_) | ExprKind::Payload(_) | ExprKind::Field(..)
            ) =>
        {
            if !found.contains(expr) {
                found.push(expr.clone());
            }
        }
        ExprKind::Comprehension { source, .. } => inner.push(source),
        _ => expr.each_part(&mut |part| inner.push(part)),
    }
    for expr in inner {
        collect(expr, found);
    }
}

// The reason why a test failed.

/// The reason why a test failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The place of the expectation or input that failed.
    pub span: Span,
    /// The reason, on one line.
    pub message: String,
    /// What was found instead. It is shown at `span`.
    pub found: Option<String>,
    /// A way to correct the test or the chart.
    pub help: Option<String>,
}

impl Failure {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), found: None, help: None }
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// The failure of a test that has used up its `most` steps.
    pub(super) fn spent(test: &Test, most: u64) -> Self {
        Self::new(
            test.span,
            format!("it takes more than {most} steps, and is not played to its end"),
        )
        .help("let it make fewer turns, or let what they repeat do less")
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The failure of a test that goes on, or ends, although the run waits for an answer or a result.
pub(super) fn owed(wanted: &Wanted, span: Span) -> Failure {
    let name = wanted.name();
    match wanted {
        Wanted::Answer(question) => {
            let offered = wanted.offered("; offered: ", "");
            let asked = super::short(&question.prompt, 200);
            Failure::new(span, format!("`{name}` asks, and the test gives no answer"))
                .found(format!("asked: {asked}{offered}"))
                .help(format!("go on with `answers {name} …` or `fails {name} timeout`"))
        }
        Wanted::Result(call) => {
            let given: Map = call.arguments.iter().cloned().collect();
            Failure::new(span, format!("the tool `{name}` is called, and the test gives no result"))
                .found(format!("called with {}", super::value(&Value::Map(given))))
                .help(format!("go on with `tool {name} returns …` or `tool {name} fails \"why\"`"))
        }
    }
}
