//! Scripts: answers and results from a YAML file, for tests, demonstrations and runs without a network.
//!
//! ```yaml
//! answers:                      # by step, one entry per attempt
//!   observe:
//!     - {reasoning: look around, action: noop}   # any other mapping, list or scalar is the answer itself
//!     - {text: "I would say: ship"}              # word for word, as a model would write it
//!     - {fail: connection}                       # or timeout, rate_limited, server, refusal, empty, or any reason
//!   reflect:
//!     then: repeat              # after the last entry: error (default), repeat, last
//!     answers:
//!       - continue
//!       - {option: finish, data: {answer: "42"}}
//!       - {answer: ship, after: 5s}
//! tools:                        # results of tools, in the same forms as functions
//!   search.web: [{hits: 0}, {fail: no network}, {answer: [1], after: 2s}]
//! functions:                    # results of `fn` and `do`
//!   relevance: 0.7              # for every call
//!   lookup: [1, {fail: gone}]   # in order; with `then` as above
//!   price:                      # by the arguments: the first case that fits
//!     cases:
//!       - {given: [{id: a}], result: 3}   # of a mapping, only the named fields are compared
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

/// A list of entries, its position, and what follows its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// The entries. Clones share them.
    pub(crate) entries: Arc<[Entry]>,
    pub(crate) then: Then,
    /// The number of entries that were taken.
    pub(crate) used: usize,
    /// The entries that were taken and whose answers are under way.
    pub(crate) open: Vec<Due>,
    /// The entries that are returned again, before all others: their answers were under way when the script was saved.
    pub(crate) again: VecDeque<Due>,
}

/// An entry whose answer is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// The number of the entry, from 0.
    pub(crate) nth: usize,
    /// The time at which the answer arrives.
    pub(crate) at: Instant,
}

/// An entry that was taken from a series.
pub(crate) struct Taken {
    pub(crate) entry: Entry,
    nth: usize,
    /// The time at which its answer arrives, if it was under way when the script was saved.
    due: Option<Instant>,
}

impl Taken {
    /// Wraps an entry that belongs to no series.
    pub(crate) fn of(entry: Entry) -> Self {
        Self { entry, nth: 0, due: None }
    }
}

/// The behaviour of a series after its last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The run ends with an error.
    Error,
    /// The series starts again.
    Repeat,
    /// The last entry is returned every time.
    Last,
}

/// An answer or a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) reply: Reply,
    /// The delay until it arrives, in milliseconds.
    pub(crate) after: u64,
    /// The use that is reported with it.
    pub(crate) usage: Option<Usage>,
}

/// The content of an entry.
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

    /// Takes the next entry; `None` if there is none.
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
        // An entry that is returned again was counted when it was taken first.
        if self.again.pop_front().is_none() {
            self.used += 1;
        }
        Some(Taken { entry, nth, due: again.map(|again| again.at) })
    }

    /// Removes an entry from those under way: its answer has arrived, or nobody waits for it any more.
    fn close(&mut self, nth: usize) {
        if let Some(at) = self.open.iter().position(|open| open.nth == nth) {
            self.open.remove(at);
        }
    }
}

/// A script: answers of steps, and results of tools and host functions. Clones share their position.
#[derive(Clone)]
pub struct Script {
    name: Arc<str>,
    clock: Arc<dyn Clock>,
    /// The state. Copies made by `fresh` share it until one of them changes it.
    state: Arc<Mutex<Arc<State>>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) answers: BTreeMap<String, Series>,
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) tools: BTreeMap<String, Function>,
}

/// The error of a script that cannot be parsed: place and reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub String);

impl Script {
    /// Parses a script. `name` is used in traces and messages. Answers with `after` are delayed on `clock`.
    ///
    /// # Errors
    /// The place and the reason of the first fault.
    pub fn parse(name: &str, text: &str, clock: Arc<dyn Clock>) -> Result<Self, ScriptError> {
        let state = file::parse(text)?;
        Ok(Self { name: name.into(), clock, state: Arc::new(Mutex::new(Arc::new(state))) })
    }

    /// Creates a script without answers.
    pub fn empty() -> Self {
        Self { name: "".into(), clock: Arc::new(VirtualClock::new()), state: Arc::default() }
    }

    /// An independent copy with the same position: using one does not affect the other.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            name: self.name.clone(),
            clock: self.clock.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The steps, functions and tools that the script mentions but that do not exist.
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
            // `make_mut` copies a shared state, so it is called only where the position changes. Cases have no position.
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

/// A reply under way. When it is dropped, the series no longer waits for it.
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

/// A reply that arrives after a delay or, for one that was under way when the script was saved, at its original time.
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
    // Recorded as under way, so that a saved run gets the same answer again.
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
