//! Answers from a file: the model of tests, demonstrations and offline runs.
//!
//! ```yaml
//! answers:                      # by step, one entry an attempt
//!   observe:
//!     - {reasoning: look around, action: noop}   # any other mapping, list or scalar is the answer itself
//!     - {text: "I would say: ship"}              # word for word, as a model would say it
//!     - {fail: connection}                       # or timeout, rate_limited, server, refusal, empty, or any reason
//!   reflect:
//!     then: repeat              # when used up: error (default), repeat, last
//!     answers:
//!       - continue
//!       - {option: finish, data: {answer: "42"}}
//!       - {answer: ship, after: 5s}
//! tools:                        # results of tools, as of functions
//!   search.web: [{hits: 0}, {fail: no network}, {answer: [1], after: 2s}]
//! functions:                    # results of `fn` and `do`
//!   relevance: 0.7              # always
//!   lookup: [1, {fail: gone}]   # in order; with `then` as above
//!   price:                      # by its arguments: the first case that fits
//!     cases:
//!       - {given: [{id: a}], result: 3}   # of a mapping only the named fields count
//!       - {result: 1}
//! ```

mod file;
mod function;
mod kept;
mod results;

use super::{Answer, Asking, Oracle, OracleError, Question, ready};
use crate::budget::Usage;
use crate::clock::{Clock, VirtualClock};
use crate::tools::{self, Calling, done};
use chartc_core::expr::Value;
use chartc_core::host::{Host, ToolCall};
use chartc_core::machine::Instant;
use function::Function;
pub use results::Results;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A list of entries and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// The entries, which copies share.
    pub(crate) entries: Arc<[Entry]>,
    pub(crate) then: Then,
    pub(crate) used: usize,
    /// Entries that were taken and whose answers have not arrived yet.
    pub(crate) open: Vec<Due>,
    /// Entries that are returned again, before all others.
    pub(crate) again: VecDeque<Due>,
}

/// An entry that is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Its number.
    pub(crate) nth: usize,
    /// When it is there.
    pub(crate) at: Instant,
}

/// An entry that is given.
pub(crate) struct Taken {
    pub(crate) entry: Entry,
    nth: usize,
    /// When it is there, if it was under way before.
    due: Option<Instant>,
}

impl Taken {
    /// One that does not wait for its turn.
    pub(crate) fn of(entry: Entry) -> Self {
        Self { entry, nth: 0, due: None }
    }
}

/// What a used-up list does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The run ends with an error that says so.
    Error,
    /// The list starts again.
    Repeat,
    /// The last entry is given for ever.
    Last,
}

/// One answer or result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) reply: Reply,
    /// Milliseconds until it is there.
    pub(crate) after: u64,
    /// What it took.
    pub(crate) usage: Option<Usage>,
}

/// What is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Value(Value),
    Text(String),
    Fail(OracleError),
}

impl Series {
    pub(crate) fn new(entries: Vec<Entry>, then: Then) -> Self {
        Self { entries: entries.into(), then, used: 0, open: Vec::new(), again: VecDeque::new() }
    }

    fn next(&mut self) -> Option<Taken> {
        let count = self.entries.len();
        let again = self.again.front().copied();
        let nth = again.map_or(self.used, |again| again.nth);
        let index = match self.then {
            Then::Error => nth,
            Then::Repeat => nth.checked_rem(count)?,
            Then::Last => nth.min(count.checked_sub(1)?),
        };
        let entry = self.entries.get(index)?.clone();
        if self.again.pop_front().is_none() {
            self.used += 1;
        }
        Some(Taken { entry, nth, due: again.map(|again| again.at) })
    }

    /// An entry is there, or nobody waits for it any longer.
    fn close(&mut self, nth: usize) {
        if let Some(at) = self.open.iter().position(|open| open.nth == nth) {
            self.open.remove(at);
        }
    }
}

/// A script: the answers of steps and the results of host functions. Clones share how much of it is used up.
#[derive(Clone)]
pub struct Script {
    name: Arc<str>,
    clock: Arc<dyn Clock>,
    /// The state, which copies share until one of them is used.
    state: Arc<Mutex<Arc<State>>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) answers: BTreeMap<String, Series>,
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) tools: BTreeMap<String, Function>,
}

/// A script that cannot be read; says where and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub String);

impl Script {
    /// Reads the text of a script. `name` is for traces and messages; answers with `after` are waited for on `clock`.
    ///
    /// # Errors
    /// What is wrong, and under which key.
    pub fn parse(name: &str, text: &str, clock: Arc<dyn Clock>) -> Result<Self, ScriptError> {
        let state = file::parse(text)?;
        Ok(Self { name: name.into(), clock, state: Arc::new(Mutex::new(Arc::new(state))) })
    }

    /// A script that answers nothing.
    pub fn empty() -> Self {
        Self { name: "".into(), clock: Arc::new(VirtualClock::new()), state: Arc::default() }
    }

    /// A copy of its own, used up as far as this one is now: what either gives from then on does not change the other.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            name: self.name.clone(),
            clock: self.clock.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Names of steps that have answers here but are not among `steps`; likewise functions and tools.
    pub fn strangers(
        &self,
        steps: &[String],
        functions: &[String],
        tools: &[String],
    ) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = state.answers.keys().filter(|k| !steps.contains(k));
        let functions = state.functions.keys().filter(|k| !functions.contains(k));
        let tools = state.tools.keys().filter(|k| !tools.contains(k));
        answers.chain(functions).chain(tools).cloned().collect()
    }

    /// The next result of a tool.
    pub(crate) fn tool(&self, name: &str, arguments: &[Value]) -> Calling {
        let entry = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            match state.tools.get(name) {
                Some(row) if row.is_list() => {
                    let row = Arc::make_mut(&mut state).tools.get_mut(name);
                    Some(row.and_then(|row| row.next(arguments)))
                }
                Some(row) => Some(row.case(arguments)),
                None => None,
            }
        };
        let why = match entry {
            Some(Some(Taken { entry, nth, due })) => {
                let under = Under { script: self.clone(), is_tool: true, name: name.into(), nth };
                return later(under, (entry.after, due), result(entry.reply));
            }
            Some(None) => {
                format!(
                    "{} has no further result for tool `{name}` with these arguments",
                    self.name
                )
            }
            None => format!("{} has no results for tool `{name}`", self.name),
        };
        done(Err(OracleError::Script(why)))
    }

    fn answer(&self, step: &str) -> Result<Taken, OracleError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(series) = Arc::make_mut(&mut state).answers.get_mut(step) else {
            return Err(OracleError::Script(format!(
                "{} has no answers for step `{step}`",
                self.name
            )));
        };
        series.next().ok_or_else(|| {
            OracleError::Script(format!(
                "{} has only {} answers for step `{step}`, and no `then: repeat` or `then: last`",
                self.name,
                series.entries.len()
            ))
        })
    }
}

impl tools::Tools for Script {
    fn call(&self, call: ToolCall) -> Calling {
        let arguments: Vec<Value> = call.arguments.into_iter().map(|(_, value)| value).collect();
        self.tool(&call.tool, &arguments)
    }
}

impl Oracle for Script {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let Taken { entry, nth, due } = match self.answer(&question.step) {
            Ok(taken) => taken,
            Err(error) => return ready(Err(error)),
        };
        let usage = entry.usage;
        let reply = match entry.reply {
            Reply::Text(text) | Reply::Value(Value::Text(text)) => {
                Ok(Answer { text, usage, cut: false })
            }
            Reply::Value(value) => match serde_json::to_string(&value) {
                Ok(text) => Ok(Answer { text, usage, cut: false }),
                Err(why) => Err(OracleError::Script(why.to_string())),
            },
            Reply::Fail(error) => Err(error),
        };
        let under =
            Under { script: self.clone(), is_tool: false, name: question.step.to_string(), nth };
        later(under, (entry.after, due), reply)
    }

    fn name(&self) -> String {
        format!("script:{}", self.name)
    }
}

impl Host for Script {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(row) = state.functions.get(function) else {
            return Err(match &*self.name {
                "" => format!("there is no script with a result for function `{function}`"),
                name => format!("{name} has no result for function `{function}`"),
            });
        };
        let is_list = row.is_list();
        let taken = if is_list {
            let row = Arc::make_mut(&mut state).functions.get_mut(function);
            row.and_then(|row| row.next(arguments))
        } else {
            row.case(arguments)
        };
        match taken.map(|taken| result(taken.entry.reply)) {
            Some(result) => result.map_err(|error| error.to_string()),
            None if is_list => {
                Err(format!("{} has no further result for function `{function}`", self.name))
            }
            None => {
                Err(format!("{} has no case of `{function}` that fits its arguments", self.name))
            }
        }
    }
}

/// A reply under way.
struct Under {
    script: Script,
    is_tool: bool,
    name: String,
    nth: usize,
}

impl Under {
    fn change(&self, change: impl FnOnce(&mut Series)) {
        let mut state = self.script.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = Arc::make_mut(&mut state);
        if self.is_tool {
            if let Some(Function::InOrder(series)) = state.tools.get_mut(&self.name) {
                change(series);
            }
        } else if let Some(series) = state.answers.get_mut(&self.name) {
            change(series);
        }
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        self.change(|series| series.close(self.nth));
    }
}

/// A reply that arrives after a delay, or at the time at which it was originally due.
fn later<T: Send + 'static>(
    under: Under,
    (after, due): (u64, Option<Instant>),
    reply: Result<T, OracleError>,
) -> Pin<Box<dyn Future<Output = Result<T, OracleError>> + Send>> {
    if after == 0 {
        return Box::pin(std::future::ready(reply));
    }
    let clock = &under.script.clock;
    let at = due.unwrap_or_else(|| clock.now().saturating_add(after));
    let sleep = clock.sleep_until(at);
    under.change(|series| series.open.push(Due { nth: under.nth, at }));
    Box::pin(async move {
        sleep.await;
        drop(under);
        reply
    })
}

fn result(reply: Reply) -> Result<Value, OracleError> {
    match reply {
        Reply::Value(value) => Ok(value),
        Reply::Text(text) => Ok(Value::Text(text)),
        Reply::Fail(error) => Err(error),
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
