//! The environment of a test: an oracle, tools, a host, a trace and a clock that the test alone controls.

use chartc_compiler::lower::test::{Reason, StepAddress};
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::machine::Instant;
use chartc_runtime::clock::{Clock, Sleep, VirtualClock};
use chartc_runtime::oracle::{Answer, Asking, Kind, Oracle, OracleError, Question};
use chartc_runtime::tools::{Calling, Tools};
use chartc_runtime::trace::{Line, Sink};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The maximum number of trace lines of one test. A run with more is assumed not to end.
const LONGEST: usize = 100_000;

/// A request of the run that the test has not answered yet.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// A question to a model or a person.
    Answer(Arc<Question>),
    /// A call of a tool.
    Result(ToolCall),
}

impl Wanted {
    /// The name of the step that asks, or of the tool that is called.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Answer(question) => {
                let (child, step) = (question.child.clone(), question.step.to_string());
                StepAddress { child, step, element: question.element }.name()
            }
            Self::Result(call) => call.tool.clone(),
        }
    }

    /// Whether this step asks.
    pub(super) fn is_asked_by(&self, step: &StepAddress) -> bool {
        match self {
            Self::Answer(question) => {
                question.step == step.step
                    && question.child == step.child
                    && step.element.is_none_or(|nth| question.element == Some(nth))
            }
            Self::Result(_) => false,
        }
    }

    /// The names of the options that the question offers, between these texts; empty if there are none.
    pub(super) fn offered(&self, before: &str, after: &str) -> String {
        let Self::Answer(question) = self else { return String::new() };
        let names: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
        if names.is_empty() { String::new() } else { before.to_owned() + &names.join(", ") + after }
    }

    /// What waits, in one line: the question with its options, or the call with its arguments.
    pub(super) fn described(&self) -> String {
        let name = self.name();
        match self {
            Self::Answer(question) => {
                let offered = self.offered(" (", ")");
                format!(
                    "`{name}` asks {}{offered}",
                    super::quoted(&super::short(&question.prompt, 200))
                )
            }
            Self::Result(call) => {
                let given: Map = call.arguments.iter().cloned().collect();
                format!("`{name}` is called with {}", super::value(&Value::Map(given)))
            }
        }
    }

    /// Whether the test has to reply before it goes on. A person may take any time, so a question to one is never owed.
    pub(super) fn is_owed(&self) -> bool {
        match self {
            Self::Answer(question) => question.kind != Kind::Human,
            Self::Result(_) => true,
        }
    }
}

/// The reply to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Text(String),
    Value(Value),
    Fail(OracleError),
}

/// A result that the test gives for a host function: the function's name, the arguments it applies to (all if `None`), and the result.
pub(super) type Case = (String, Option<Vec<Value>>, Result<Value, String>);

#[derive(Debug, Default)]
struct HostState {
    next: u64,
    open: Vec<(u64, Wanted)>,
    replies: Vec<(u64, Reply)>,
    /// The results given for functions. Later ones take precedence.
    cases: Vec<Case>,
    /// The names of `do` functions, which return nothing and need no case.
    effects: Vec<String>,
    /// The calls for which no case applies.
    missing: Vec<String>,
    called: Vec<(String, Vec<Value>)>,
    lines: Vec<Line>,
    /// The maximum number of lines of the trace.
    most: usize,
    /// Whether time may pass while a request is open.
    passing: bool,
    /// Whether functions are being called by an expectation of the test, not by the run.
    looking: bool,
}

/// The test as oracle, tools, host and trace. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(super) struct TestHost(Arc<Mutex<HostState>>);

impl TestHost {
    /// `effects` are the names of the `do` functions; at most `most` trace lines are kept.
    pub(super) fn new(effects: Vec<String>, most: usize) -> Self {
        Self(Arc::new(Mutex::new(HostState { effects, most, ..HostState::default() })))
    }

    /// Whether the trace has used up the budget of the test, if that is less than [`LONGEST`].
    pub(super) fn is_full(&self) -> bool {
        let state = self.state();
        state.most < LONGEST && state.lines.len() >= state.most
    }

    fn state(&self) -> MutexGuard<'_, HostState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open requests, in the order in which they were made.
    pub(super) fn open(&self) -> Vec<Wanted> {
        self.state().open.iter().map(|(_, wanted)| wanted.clone()).collect()
    }

    /// Replies to the first request that fits. Returns whether there was one.
    pub(super) fn reply(&self, fits: impl Fn(&Wanted) -> bool, reply: Reply) -> bool {
        let mut state = self.state();
        let Some(index) = state.open.iter().position(|(_, wanted)| fits(wanted)) else {
            return false;
        };
        let (id, _) = state.open.remove(index);
        state.replies.push((id, reply));
        true
    }

    /// Adds a case. It takes precedence over earlier ones.
    pub(super) fn add(&self, case: Case) {
        self.state().cases.push(case);
    }

    /// Removes and returns the calls for which no case applied.
    pub(super) fn missing(&self) -> Vec<String> {
        std::mem::take(&mut self.state().missing)
    }

    /// All calls of host functions so far, with their arguments.
    pub(super) fn called(&self) -> Vec<(String, Vec<Value>)> {
        self.state().called.clone()
    }

    /// The number of calls of host functions so far.
    pub(super) fn calls(&self) -> usize {
        self.state().called.len()
    }

    /// Calls `read` with the trace so far.
    pub(super) fn with_lines<R>(&self, read: impl FnOnce(&[Line]) -> R) -> R {
        read(&self.state().lines)
    }

    /// Removes and returns the trace.
    pub(super) fn take_lines(&self) -> Vec<Line> {
        std::mem::take(&mut self.state().lines)
    }

    /// Sets whether time may pass while a request is open.
    pub(super) fn pass(&self, passing: bool) {
        self.state().passing = passing;
    }

    /// Sets whether functions are called by an expectation, so that the calls are not recorded.
    pub(super) fn look(&self, looking: bool) {
        self.state().looking = looking;
    }

    fn wait(&self, wanted: Wanted) -> Waiting {
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        state.open.push((id, wanted));
        Waiting { host: self.clone(), id }
    }
}

/// A future that resolves when the test replies. Dropping it withdraws the request.
struct Waiting {
    host: TestHost,
    id: u64,
}

impl Future for Waiting {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
        // No waker is kept: the player polls the run again after each reply.
        let mut state = self.host.state();
        match state.replies.iter().position(|(id, _)| *id == self.id) {
            Some(index) => Poll::Ready(state.replies.remove(index).1),
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.host.state();
        state.open.retain(|(id, _)| *id != self.id);
        state.replies.retain(|(id, _)| *id != self.id);
    }
}

impl Oracle for TestHost {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let waiting = self.wait(Wanted::Answer(question));
        Box::pin(async move {
            match waiting.await {
                Reply::Text(text) => Ok(Answer::from(text)),
                Reply::Value(value) => serde_json::to_string(&value)
                    .map(Answer::from)
                    .map_err(|why| OracleError::Other(why.to_string())),
                Reply::Fail(error) => Err(error),
            }
        })
    }

    fn name(&self) -> String {
        "test".to_owned()
    }
}

impl Tools for TestHost {
    fn call(&self, call: ToolCall) -> Calling {
        let waiting = self.wait(Wanted::Result(call));
        Box::pin(async move {
            match waiting.await {
                Reply::Text(text) => Ok(Value::Text(text)),
                Reply::Value(value) => Ok(value),
                Reply::Fail(error) => Err(error),
            }
        })
    }
}

impl Host for TestHost {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let mut state = self.state();
        if !state.looking {
            state.called.push((function.to_owned(), arguments.to_vec()));
        }
        let fits = |(name, given, _): &&Case| {
            name == function && given.as_ref().is_none_or(|given| given == arguments)
        };
        if let Some((_, _, result)) = state.cases.iter().rev().find(fits) {
            return result.clone();
        }
        if state.effects.iter().any(|effect| effect == function) {
            return Ok(Value::None);
        }
        let shown: Vec<String> = arguments.iter().map(super::value).collect();
        state.missing.push(format!("{function}({})", shown.join(", ")));
        Err("the test gives no result for it".to_owned())
    }
}

impl Sink for TestHost {
    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        let mut state = self.state();
        if state.lines.len() >= LONGEST.min(state.most) {
            let why = format!("more than {LONGEST} things have happened: the run does not end");
            return Err(std::io::Error::other(why));
        }
        state.lines.push(line.clone());
        Ok(())
    }
}

/// Virtual time that stands still while a request is open, unless the test lets time pass.
#[derive(Debug, Clone)]
pub(super) struct TestClock {
    pub(super) time: VirtualClock,
    pub(super) host: TestHost,
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.time.now()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        self.time.sleep_until(at)
    }

    fn jump(&self) -> bool {
        let may = {
            let state = self.host.state();
            state.passing || state.open.is_empty()
        };
        may && self.time.jump()
    }
}

/// The error of a call that the test lets fail.
pub(super) fn reason_of(reason: &Reason) -> OracleError {
    let said = || "the test says so".to_owned();
    match reason {
        Reason::Text(why) => OracleError::Other(why.clone()),
        Reason::Kind(kind) => match *kind {
            "timeout" => OracleError::Timeout(60_000),
            "rate_limited" => OracleError::RateLimited { retry_after: None },
            "server" => OracleError::Server { status: 500, why: String::new(), retry_after: None },
            "connection" => OracleError::Connection(said()),
            "refusal" => OracleError::Refusal(said()),
            "empty" => OracleError::Empty,
            "endless" => OracleError::Endless,
            other => OracleError::Other(other.to_owned()),
        },
    }
}
