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

#[cfg(test)]
mod tests;

use super::{Answer, Asking, Oracle, OracleError, Question, ready};
use crate::budget::Usage;
use crate::clock::{Clock, VirtualClock};
use crate::tools::{self, Calling, done};
use chartc_core::expr::{Duration, Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::machine::Instant;
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
        let state = parse(text)?;
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

// Parses the text of a script.

/// The delay of a `timeout` without a time, in milliseconds.
const TIMEOUT: u64 = 60_000;

fn parse(text: &str) -> Result<State, ScriptError> {
    // Only `true` and `false` are booleans: an answer `no` is a word.
    let options = serde_yaml::options! { strict_booleans: true };
    let value: Value =
        serde_yaml::from_str_with_options(text, options).map_err(|e| ScriptError(e.to_string()))?;
    let root = match value {
        Value::Map(map) => map,
        Value::None => Map::new(),
        _ => {
            return fault("a script", "is a mapping with `answers`, `functions` and `tools`");
        }
    };
    let mut state = State::default();
    for (key, value) in root {
        match key.as_str() {
            "answers" => state.answers = table("answers", value, answers)?,
            "functions" => state.functions = table("functions", value, function)?,
            "tools" => state.tools = table("tools", value, function)?,
            _ => {
                return fault(
                    &format!("`{key}`"),
                    "is unknown; there are `answers`, `functions` and `tools`",
                );
            }
        }
    }
    Ok(state)
}

fn fault<T>(place: &str, why: &str) -> Result<T, ScriptError> {
    Err(ScriptError(format!("{place} {why}")))
}

fn table<T>(
    name: &str,
    value: Value,
    read: fn(&str, Value) -> Result<T, ScriptError>,
) -> Result<BTreeMap<String, T>, ScriptError> {
    let Value::Map(map) = value else {
        return fault(&format!("`{name}`"), "is a mapping");
    };
    map.into_iter()
        .map(|(key, value)| {
            let row = read(&format!("`{name}.{key}`"), value)?;
            Ok((key, row))
        })
        .collect()
}

fn answers(place: &str, value: Value) -> Result<Series, ScriptError> {
    match value {
        Value::List(items) => parse_series(place, items, Then::Error),
        Value::Map(map) if map.get("answers").is_some() => with_then(place, map, "answers"),
        _ => fault(
            place,
            "is a list, one entry for each attempt as in `- yes`, or a mapping with `answers` and `then`",
        ),
    }
}

fn results(place: &str, value: Value) -> Result<Series, ScriptError> {
    if let Value::List(items) = value {
        return parse_series(place, items, Then::Error);
    }
    if let Value::Map(map) = &value
        && map.get("results").is_some()
    {
        return with_then(place, map.clone(), "results");
    }
    parse_series(place, vec![value], Then::Repeat)
}

fn with_then(place: &str, map: Map, key: &str) -> Result<Series, ScriptError> {
    let mut items = Vec::new();
    let mut then = Then::Error;
    for (name, value) in map {
        match (name.as_str(), value) {
            ("then", Value::Text(word)) => {
                then = match word.as_str() {
                    "error" => Then::Error,
                    "repeat" => Then::Repeat,
                    "last" => Then::Last,
                    _ => {
                        return fault(
                            place,
                            &format!(
                                "`then: {word}` is unknown; there are `error`, `repeat`, `last`"
                            ),
                        );
                    }
                }
            }
            (name, Value::List(list)) if name == key => items = list,
            (name, _) if name == key => return fault(place, &format!("`{key}` is a list")),
            (name, _) => {
                return fault(place, &format!("`{name}` is unknown; there are `{key}` and `then`"));
            }
        }
    }
    parse_series(place, items, then)
}

fn parse_series(place: &str, items: Vec<Value>, then: Then) -> Result<Series, ScriptError> {
    if items.is_empty() && then != Then::Error {
        return fault(place, "is empty, so nothing can be repeated");
    }
    let entries = items
        .into_iter()
        .enumerate()
        .map(|(i, item)| entry(&format!("{place}, entry {}", i + 1), item))
        .collect::<Result<_, _>>()?;
    Ok(Series::new(entries, then))
}

/// The keys that describe an answer. A mapping with any other key is an answer itself.
const CONTROL: [&str; 9] =
    ["text", "answer", "option", "data", "fail", "timeout", "after", "usage", "retry_after"];

fn entry(place: &str, value: Value) -> Result<Entry, ScriptError> {
    let is_control = |map: &Map| !map.is_empty() && map.iter().all(|(k, _)| CONTROL.contains(&k));
    let map = match value {
        Value::Map(map) if is_control(&map) => map,
        _ => return Ok(Entry { reply: Reply::Value(value), after: 0, usage: None }),
    };
    let mut after = 0;
    let mut replies = Vec::new();
    let mut data = None;
    let mut option = None;
    let mut usage = None;
    let mut retry_after = None;
    for (key, value) in map {
        match (key.as_str(), value) {
            ("text", Value::Text(text)) => replies.push(Reply::Text(text)),
            ("answer", value) => replies.push(Reply::Value(value)),
            ("option", Value::Text(name)) => option = Some(name),
            ("data", value @ Value::Map(_)) => data = Some(value),
            ("fail", Value::Text(why)) => replies.push(Reply::Fail(failure(why))),
            ("timeout", value) => {
                after = milliseconds(place, &value)?;
                replies.push(Reply::Fail(OracleError::Timeout(after)));
            }
            ("after", value) => after = milliseconds(place, &value)?,
            ("usage", value) => usage = Some(tokens(place, &value)?),
            ("retry_after", value) => retry_after = Some(milliseconds(place, &value)?),
            (key, _) => return fault(place, &format!("`{key}` has the wrong type")),
        }
    }
    if let Some(name) = option {
        let mut answer = Map::new();
        answer.insert("choice".into(), Value::Text(name));
        if let Some(data) = data.take() {
            answer.insert("arguments".into(), data);
        }
        replies.push(Reply::Value(Value::Map(answer)));
    }
    if data.is_some() {
        return fault(place, "has `data` without `option`");
    }
    if let Some(said) = retry_after {
        match replies.first_mut() {
            Some(Reply::Fail(
                OracleError::RateLimited { retry_after } | OracleError::Server { retry_after, .. },
            )) => *retry_after = Some(said),
            _ => return fault(place, "has `retry_after` without `fail: rate_limited` or `server`"),
        }
    }
    match (replies.pop(), replies.is_empty()) {
        (Some(reply), true) => {
            // A call that times out takes as long as its timeout.
            if reply == Reply::Fail(OracleError::Timeout(TIMEOUT)) && after == 0 {
                after = TIMEOUT;
            }
            Ok(Entry { reply, after, usage })
        }
        _ => fault(place, "says one of `text`, `answer`, `option`, `fail`, `timeout`"),
    }
}

fn failure(why: String) -> OracleError {
    match why.as_str() {
        "timeout" => OracleError::Timeout(TIMEOUT),
        "rate_limited" => OracleError::RateLimited { retry_after: None },
        "server" => OracleError::Server { status: 500, why: String::new(), retry_after: None },
        "connection" => OracleError::Connection("dropped".into()),
        "refusal" => OracleError::Refusal("it will not".into()),
        "empty" => OracleError::Empty,
        _ => OracleError::Other(why),
    }
}

fn tokens(place: &str, value: &Value) -> Result<Usage, ScriptError> {
    let Value::Map(map) = value else {
        return fault(place, "`usage` is `{input: N, output: N}`");
    };
    let read = |key: &str| match map.get(key) {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        None => Some(0),
        Some(_) => None,
    };
    match (read("input"), read("output")) {
        (Some(input_tokens), Some(output_tokens))
            if map.iter().all(|(key, _)| ["input", "output"].contains(&key)) =>
        {
            Ok(Usage { input_tokens, output_tokens, cost: None })
        }
        _ => fault(place, "`usage` is `{input: N, output: N}`"),
    }
}

fn milliseconds(place: &str, value: &Value) -> Result<u64, ScriptError> {
    let read = match value {
        Value::Int(ms) => u64::try_from(*ms).ok(),
        Value::Text(text) => text.parse().ok().map(|d: Duration| d.0),
        _ => None,
    };
    read.map_or_else(|| fault(place, "wants a time such as `250ms`, `30s`, `5m`"), Ok)
}

// Results of a function: in the order of the calls, or by the arguments.

/// The results of a function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Function {
    /// Results in the order of the calls.
    InOrder(Series),
    /// Results by the arguments: each call gets the result of the first case that fits.
    Cases(Arc<[Case]>),
}

/// A result for certain arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The values of the first arguments. The others may be anything.
    given: Vec<Value>,
    entry: Entry,
}

impl Function {
    /// The result of a call; `None` if the list is used up or no case fits.
    fn next(&mut self, arguments: &[Value]) -> Option<Taken> {
        match self {
            Self::InOrder(series) => series.next(),
            Self::Cases(_) => self.case(arguments),
        }
    }

    /// Whether the results are returned in the order of the calls.
    const fn is_list(&self) -> bool {
        matches!(self, Self::InOrder(_))
    }

    /// The result of the first case that fits; `None` for a list.
    fn case(&self, arguments: &[Value]) -> Option<Taken> {
        match self {
            Self::InOrder(_) => None,
            Self::Cases(cases) => {
                let fits = |case: &&Case| {
                    case.given.len() <= arguments.len()
                        && case.given.iter().zip(arguments).all(|(a, b)| fits(a, b))
                };
                cases.iter().find(fits).map(|case| Taken::of(case.entry.clone()))
            }
        }
    }

    /// All entries, in the order of the file.
    fn entries(&self) -> Box<dyn Iterator<Item = &Entry> + '_> {
        match self {
            Self::InOrder(series) => Box::new(series.entries.iter()),
            Self::Cases(cases) => Box::new(cases.iter().map(|case| &case.entry)),
        }
    }

    /// The number of entries of a list that were returned; 0 for cases.
    fn used(&self) -> usize {
        match self {
            Self::InOrder(series) => series.used,
            Self::Cases(_) => 0,
        }
    }

    /// Sets the number of entries of a list that were returned.
    fn skip(&mut self, used: usize) {
        match self {
            Self::InOrder(series) => series.used = used,
            Self::Cases(_) => {}
        }
    }
}

/// Whether a value matches. Of a mapping, only the wanted fields are compared; an `Int` equals a `Float` of the same number.
fn fits(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Map(wanted), Value::Map(map)) => {
            wanted.iter().all(|(key, value)| map.get(key).is_some_and(|v| fits(value, v)))
        }
        (Value::List(wanted), Value::List(items)) => {
            wanted.len() == items.len() && wanted.iter().zip(items).all(|(a, b)| fits(a, b))
        }
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

fn function(place: &str, value: Value) -> Result<Function, ScriptError> {
    let mut map = match value {
        Value::Map(map) if map.get("cases").is_some() => map.into_iter(),
        _ => return Ok(Function::InOrder(results(place, value)?)),
    };
    match (map.next(), map.next()) {
        (Some((_, Value::List(rows))), None) => {
            let rows = rows.into_iter().enumerate();
            let rows = rows.map(|(i, row)| case(&format!("{place}, case {}", i + 1), row));
            Ok(Function::Cases(rows.collect::<Result<_, _>>()?))
        }
        (Some((key, _)), None) => fault(place, &format!("`{key}` is a list")),
        _ => fault(place, "has nothing beside `cases`; the last case may be without `given`"),
    }
}

fn case(place: &str, row: Value) -> Result<Case, ScriptError> {
    let Value::Map(row) = row else {
        return fault(place, "is a mapping with `given` and `result`");
    };
    let mut given = Vec::new();
    let mut rest = Map::new();
    let mut result = None;
    for (key, value) in row {
        match (key.as_str(), value) {
            ("given", Value::List(values)) => given = values,
            ("given", _) => return fault(place, "`given` is a list, the arguments in their order"),
            ("result", value) => result = Some(entry(place, value)?),
            ("fail", why) => {
                rest.insert("fail".into(), why);
            }
            (key, _) => {
                let why = format!("`{key}` is unknown; there are `given`, `result` and `fail`");
                return fault(place, &why);
            }
        }
    }
    match (result, rest.is_empty()) {
        (Some(entry), true) => Ok(Case { given, entry }),
        (None, false) => Ok(Case { given, entry: entry(place, Value::Map(rest))? }),
        _ => fault(place, "says one of `result` and `fail`"),
    }
}

// Saving and restoring the position of a script.

/// The position of a series: the number of entries taken, and those whose answers are under way.
type Used = (usize, Vec<Due>);

impl Script {
    /// The positions of all series, by step, function and tool, with the entries whose answers are under way. A run that continues asks
    /// for those again. Unused series are left out.
    pub fn save(&self) -> Value {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut saved = Map::new();
        let answers = state.answers.iter().map(|(name, row)| (name, Some(row)));
        saved.insert("answers".into(), used(answers));
        for (part, rows) in [("functions", &state.functions), ("tools", &state.tools)] {
            saved.insert(
                part.into(),
                used(rows.iter().map(|(name, row)| (name, restore_calls(row)))),
            );
        }
        Value::Map(saved)
    }

    /// Restores saved positions. Entries whose answers were under way are returned again first.
    ///
    /// # Errors
    /// The positions belong to another script.
    pub fn load(&self, saved: &Value) -> Result<(), String> {
        let Value::Map(saved) = saved else { return Err("it is no mapping".into()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Everything is parsed before anything changes, so that an error leaves the script as it was.
        let answers = read(saved, "answers", |name| state.answers.contains_key(name))?;
        let functions = read(saved, "functions", |name| state.functions.contains_key(name))?;
        let tools = read(saved, "tools", |name| state.tools.contains_key(name))?;
        let State { answers: rows, functions: results, tools: calls } = Arc::make_mut(&mut state);
        for (name, row) in rows {
            restore_series(row, answers.get(name));
        }
        for (rows, used) in [(results, functions), (calls, tools)] {
            for (name, row) in rows {
                if let Function::InOrder(row) = row {
                    restore_series(row, used.get(name));
                }
            }
        }
        Ok(())
    }
}

fn restore_calls(row: &Function) -> Option<&Series> {
    match row {
        Function::InOrder(row) => Some(row),
        Function::Cases(_) => None,
    }
}

fn used<'s>(rows: impl Iterator<Item = (&'s String, Option<&'s Series>)>) -> Value {
    let mut map = Map::new();
    for (name, row) in rows {
        let Some(row) = row.filter(|row| row.used > 0) else { continue };
        let not_there = row.again.iter().chain(&row.open);
        let not_there = not_there.flat_map(|due| [due.nth as u64, due.at]);
        let numbers = [row.used as u64].into_iter().chain(not_there);
        let numbers = numbers.map(|number| Value::Int(number as i64));
        map.insert(name.clone(), Value::List(numbers.collect()));
    }
    Value::Map(map)
}

fn restore_series(row: &mut Series, used: Option<&Used>) {
    let (count, open) = used.cloned().unwrap_or_default();
    row.used = count;
    row.open.clear();
    row.again = open.into();
}

fn read(
    saved: &Map,
    part: &str,
    is_there: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Used>, String> {
    let Some(Value::Map(rows)) = saved.get(part) else {
        return Err(format!("it has no `{part}`"));
    };
    let row = |(name, value): (&str, &Value)| {
        if !is_there(name) {
            return Err(format!("it is of another script: this one has no {part} of `{name}`"));
        }
        let all = numbers(value).ok_or_else(|| format!("`{part}.{name}` is no list"))?;
        let (used, rest) = all.split_first().unwrap_or((&0, &[]));
        let (pairs, _) = rest.as_chunks::<2>();
        let due = pairs.iter().map(|[nth, at]| Due { nth: *nth as usize, at: *at });
        Ok((name.to_owned(), (*used as usize, due.collect())))
    };
    rows.iter().map(row).collect()
}

/// A list of numbers: first the number of entries taken, then two for each entry under way, its number and its time.
fn numbers(value: &Value) -> Option<Vec<u64>> {
    let Value::List(items) = value else { return None };
    let number = |item: &Value| {
        let Value::Int(n) = item else { return None };
        u64::try_from(*n).ok()
    };
    items.iter().map(number).collect()
}

// Results of a function for hosts other than scripts, in the syntax of scripts.

/// Results in the order of the calls or by the arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Results(Function);

impl Results {
    /// Parses results. They must be available at once: without delay, timeout or usage.
    ///
    /// # Errors
    /// The fault at `place`.
    pub(crate) fn read(place: &str, value: Value) -> Result<Self, ScriptError> {
        let read = function(place, value)?;
        let waits = read.entries().any(|entry| {
            let is_late = matches!(entry.reply, Reply::Fail(OracleError::Timeout(_)));
            entry.after > 0 || entry.usage.is_some() || is_late
        });
        if waits {
            let why = format!(
                "{place} has a result that comes later or takes tokens; here it is there at once"
            );
            return Err(ScriptError(why));
        }
        Ok(Self(read))
    }

    /// The result of a call; `None` if the list is used up or no case fits.
    pub fn next(&mut self, arguments: &[Value]) -> Option<Result<Value, OracleError>> {
        self.0.next(arguments).map(|taken| result(taken.entry.reply))
    }

    /// The number of results of a list that were returned.
    pub fn used(&self) -> usize {
        self.0.used()
    }

    /// Sets the number of results of a list that were returned.
    pub fn skip(&mut self, used: usize) {
        self.0.skip(used);
    }
}
