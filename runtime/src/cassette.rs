//! Cassettes: recorded calls as files, one JSON file per call, so that a review shows which calls are new, gone or changed, and shows
//! changed texts line by line.
//!
//! An entry is found by its request: step, kind, client, model, prompt, options and schemas; by the element of a list; and by the number
//! of earlier equal requests. A changed prompt therefore never gets an old answer. This module makes and reads names and contents of
//! files; the host stores them. An entry, in the file `step.triage.1f0c….1.json`:
//!
//! ```text
//! {"v":1, "step":"triage", "kind":"ask", "model":"openai:gpt-5", "prompt":["They say thanks.","What now?"],
//!  "options":[{"name":"close"},{"name":"stay"}], "nth":1, "after_ms":840, "answer":{"text":"close"}}
//! ```

use crate::budget::Usage;
use crate::clock::Clock;
use crate::driver::CallId;
use crate::journal::{Begun, Call, CallJournal, OpenCall, Outcome};
use crate::oracle::{Answer, OracleError, Question};
use chartc_core::expr::{Map, Value};
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, ready};
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the file format.
pub const VERSION: u32 = 1;

/// A call and its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the file format, [`VERSION`].
    pub v: u32,
    /// The request, which identifies the call.
    #[serde(flatten)]
    pub request: Request,
    /// The element of a list for which the call was made, with its path, such as `dig[2]/grade[0]`; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub element: String,
    /// The number of equal requests for this element so far, including this one.
    pub nth: u32,
    /// The time until the call ended, in milliseconds on the run's clock.
    pub after_ms: u64,
    /// The end of the call.
    #[serde(flatten)]
    pub end: End,
}

/// The request of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// A question to a model or a person.
    Step {
        /// The name of the step.
        step: String,
        /// The kind of step: `llm`, `ask` or `human`.
        kind: String,
        /// The name of the client in the chart.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        client: String,
        /// The client's model, as `provider:model`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// The sampling temperature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>,
        /// Further parameters for the server.
        #[serde(default, skip_serializing_if = "is_null")]
        server_options: serde_json::Value,
        /// The prompt as it was sent.
        prompt: Lines,
        /// The possible answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<OptionAsked>,
        /// The JSON Schema of the answer.
        #[serde(default, skip_serializing_if = "is_null")]
        schema: serde_json::Value,
    },
    /// A tool call.
    Tool {
        /// The name of the tool.
        tool: String,
        /// The arguments by name, in declared order.
        arguments: Value,
    },
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionAsked {
    /// The name.
    pub name: String,
    /// The description in the prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The JSON Schema of its arguments.
    #[serde(default, skip_serializing_if = "is_null")]
    pub schema: serde_json::Value,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// An answer.
    Answer {
        /// The complete text, word for word.
        text: Lines,
        /// The use of the call, if the provider reported it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Whether the answer was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// The result of a tool.
    Result(Value),
    /// A failure.
    Failed {
        /// The kind of error, as in a trace.
        error: String,
        /// The message.
        why: String,
        /// The time to wait that the provider named, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// The call was cancelled before it ended: its state was left, its time had run out, or the run ended. Always `true`.
    GivenUp(bool),
}

/// A text; several lines are a JSON array, so that differences show line by line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Lines {
    /// A text without line breaks.
    One(String),
    /// The lines of a text.
    Many(Vec<String>),
}

impl Lines {
    fn of(text: &str) -> Self {
        if text.contains('\n') {
            Self::Many(text.split('\n').map(str::to_owned).collect())
        } else {
            Self::One(text.to_owned())
        }
    }

    /// The text as one string.
    pub fn text(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Many(lines) => lines.join("\n"),
        }
    }
}

fn is_null(value: &serde_json::Value) -> bool {
    value.is_null()
}

/// Parses a schema. A text that is no JSON stays a string.
fn schema(text: &str) -> serde_json::Value {
    match text {
        "" => serde_json::Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// Writes a value without blanks and with sorted keys, as the input of the hash.
fn canonical(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::Object(map) => {
            let sorted: BTreeMap<&String, &serde_json::Value> = map.iter().collect();
            out.push('{');
            for (name, value) in sorted {
                out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                out.push(':');
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        _ => out.push_str(&value.to_string()),
    }
}

impl Request {
    /// The request of a call.
    pub fn of(call: &Call) -> Self {
        match call {
            Call::Question(question) => Self::of_question(question),
            Call::Tool(call) => {
                let arguments: Map = call.arguments.iter().cloned().collect();
                Self::Tool { tool: call.tool.clone(), arguments: Value::Map(arguments) }
            }
        }
    }

    fn of_question(question: &Question) -> Self {
        let options = question.options.iter().map(|option| OptionAsked {
            name: option.offer.name.to_string(),
            text: option.offer.text.to_string(),
            schema: schema(&option.schema),
        });
        Self::Step {
            step: question.step.to_string(),
            kind: question.kind.word().to_owned(),
            client: question.client.to_string(),
            model: question.model.model.to_string(),
            temperature: question.model.temperature,
            server_options: schema(&question.model.options),
            prompt: Lines::of(&question.prompt),
            options: options.collect(),
            schema: schema(question.wanted()),
        }
    }

    /// The name of the step or tool.
    pub fn name(&self) -> &str {
        match self {
            Self::Step { step, .. } => step,
            Self::Tool { tool, .. } => tool,
        }
    }

    /// The FNV-1a hash of the request as JSON with sorted keys. It is the same on every machine and in every build.
    pub fn hash(&self) -> u64 {
        let mut text = String::new();
        canonical(&serde_json::to_value(self).unwrap_or_default(), &mut text);
        fnv(0xcbf2_9ce4_8422_2325, &text)
    }
}

fn fnv(first: u64, text: &str) -> u64 {
    text.bytes()
        .fold(first, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The element for which a question is asked, with its path; empty if there is none.
fn element_of(call: &Call) -> String {
    let Call::Question(question) = call else { return String::new() };
    let own = question.element.map(|element| format!("{}[{element}]", question.step));
    // Without an element on the path, the path does not matter: the request identifies the call.
    let above = (own.is_some() || question.child.contains('[')).then(|| question.child.clone());
    let way = above.into_iter().filter(|way| !way.is_empty()).chain(own);
    way.collect::<Vec<_>>().join("/")
}

impl Entry {
    /// The name of the file: the step or tool, the hash of request and element, and the number of equal requests.
    pub fn file(&self) -> String {
        let word = match &self.request {
            Request::Step { .. } => "step",
            Request::Tool { .. } => "tool",
        };
        // Names of tools contain dots, and names of steps may have characters that file systems do not allow.
        let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        let name: String = self.request.name().chars().map(plain).take(60).collect();
        let hash = fnv(self.request.hash(), &self.element);
        format!("{word}.{name}.{hash:016x}.{}.json", self.nth)
    }

    /// Whether a file name has the form of an entry's.
    pub fn is_file(name: &str) -> bool {
        let parts: Vec<&str> = name.split('.').collect();
        matches!(parts.as_slice(), ["step" | "tool", _, hash, nth, "json"]
            if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) && nth.parse::<u32>().is_ok())
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Parses a file.
    ///
    /// # Errors
    /// The text is no entry, or one of another version.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            v: u32,
        }
        // The version is checked first, because other versions may have other fields.
        let head: Head = serde_json::from_str(text).map_err(|fault| fault.to_string())?;
        if head.v != VERSION {
            return Err(format!(
                "version {} of recorded calls is not known; this is version {VERSION}",
                head.v
            ));
        }
        serde_json::from_str(text).map_err(|fault| fault.to_string())
    }
}

impl End {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Answer(Ok(Answer { text, usage, cut })) => {
                Self::Answer { text: Lines::of(text), usage: *usage, cut: *cut }
            }
            Outcome::Result(Ok(value)) => Self::Result(value.clone()),
            Outcome::Answer(Err(error)) | Outcome::Result(Err(error)) => {
                let (error, why) = (error, error.to_string());
                let retry_after_ms = error.retry_after();
                Self::Failed { error: error.kind().word().to_owned(), why, retry_after_ms }
            }
        }
    }

    /// The outcome of the call; `None` if it was given up.
    fn outcome(&self, request: &Request) -> Option<Outcome> {
        Some(match (self, request) {
            (Self::Answer { text, usage, cut }, _) => {
                Outcome::Answer(Ok(Answer { text: text.text(), usage: *usage, cut: *cut }))
            }
            (Self::Result(value), _) => Outcome::Result(Ok(value.clone())),
            (Self::Failed { error, why, retry_after_ms }, request) => {
                let error = OracleError::recorded(error, why, *retry_after_ms);
                match request {
                    Request::Step { .. } => Outcome::Answer(Err(error)),
                    Request::Tool { .. } => Outcome::Result(Err(error)),
                }
            }
            (Self::GivenUp(_), _) => return None,
        })
    }
}

// Recording: writes each call to a cassette.

/// The destination of cassette entries, such as a folder.
pub trait CassetteSink: Send + Sync {
    /// Writes a file, completely or not at all.
    ///
    /// # Errors
    /// The reason why the file cannot be written.
    fn put(&self, name: &str, text: &str) -> Result<(), String>;
}

/// The journal of a run whose calls are recorded in a cassette. A call that cannot be recorded ends the run, as a cassette with gaps is
/// useless.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

struct Shared {
    cassette: Box<dyn CassetteSink>,
    clock: Arc<dyn Clock>,
    /// The number of calls so far, by the hash of the request and the element.
    asked: Mutex<BTreeMap<(u64, String), u32>>,
}

impl Recorder {
    /// Creates a recorder that writes to `cassette`, with times on `clock`.
    pub fn new(cassette: Box<dyn CassetteSink>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared { cassette, clock, asked: Mutex::default() }))
    }

    /// The number of calls that were started.
    pub fn calls(&self) -> u32 {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl CallJournal for Recorder {
    fn begin(&self, _: &CallId, call: Call) -> Result<Begun, OracleError> {
        let (request, element) = (Request::of(&call), element_of(&call));
        let mut asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The number is taken when the call starts, as calls may end in another order.
        let nth = asked.entry((request.hash(), element.clone())).or_insert(0);
        *nth += 1;
        let (recorder, begun) = (self.0.clone(), self.0.clock.now());
        let open = Open { recorder, request: Some((request, element)), nth: *nth, begun };
        Ok(Begun::Make(call, Box::new(open)))
    }
}

/// A call under way. If it is dropped before its end, it is recorded as cancelled.
struct Open {
    recorder: Arc<Shared>,
    request: Option<(Request, String)>,
    nth: u32,
    begun: Instant,
}

impl Open {
    fn close(&mut self, end: End) -> Result<(), OracleError> {
        let Some((request, element)) = self.request.take() else { return Ok(()) };
        let after_ms = self.recorder.clock.now().saturating_sub(self.begun);
        let entry = Entry { v: VERSION, request, element, nth: self.nth, after_ms, end };
        let put = self.recorder.cassette.put(&entry.file(), &entry.text());
        put.map_err(|why| OracleError::Script(format!("the call cannot be recorded: {why}")))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // The error cannot be reported here. A replay reports the missing call.
        let _ = self.close(End::GivenUp(true));
    }
}

impl OpenCall for Open {
    fn end(&mut self, outcome: &Outcome) -> Result<(), OracleError> {
        self.close(End::of(outcome))
    }
}

// Replaying: answers calls from a cassette. A call that was not recorded ends the run, with a message about what differs from the
// recording.

/// The maximum number of lines of a difference in a message.
const SHOWN: usize = 40;

/// The journal of a run that gets its answers from recorded calls.
pub struct Replaying {
    name: String,
    clock: Arc<dyn Clock>,
    /// The entries by the hash of the request, the element, and the number of the request.
    entries: BTreeMap<(u64, String, u32), Entry>,
    /// For each request (by hash) and element: the element under which it was recorded, and the number of requests so far.
    asked: Mutex<BTreeMap<(u64, String), (String, u32)>>,
}

impl Replaying {
    /// Creates a journal that answers from `entries`, after the recorded delays on `clock`. `name` names the cassette in messages.
    pub fn new(name: &str, entries: Vec<Entry>, clock: Arc<dyn Clock>) -> Self {
        let entries = entries.into_iter().map(|entry| {
            let (hash, element) = (entry.request.hash(), entry.element.clone());
            ((hash, element, entry.nth), entry)
        });
        Self { name: name.to_owned(), clock, entries: entries.collect(), asked: Mutex::default() }
    }

    /// Finds the entry of a request for an element. The error is a message about what differs.
    fn find(&self, request: &Request, element: String) -> Result<&Entry, OracleError> {
        let hash = request.hash();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The first request for an element decides where all further ones are looked up.
        if !asked.contains_key(&(hash, element.clone())) {
            let taken = asked.iter().filter(|((of, _), _)| *of == hash);
            let taken: BTreeSet<&String> = taken.map(|(_, (recorded, _))| recorded).collect();
            let recorded = self.recorded(hash, &element, &taken);
            asked.insert((hash, element.clone()), (recorded, 0));
        }
        let (recorded, nth) = asked.entry((hash, element)).or_default();
        *nth += 1;
        let entry = self.entries.get(&(hash, recorded.clone(), *nth));
        entry.ok_or_else(|| OracleError::Script(self.miss(request, *nth)))
    }

    /// The element under which a request was recorded: the same element or, if the list has changed, the first one that is not in use.
    fn recorded(&self, hash: u64, element: &str, taken: &BTreeSet<&String>) -> String {
        let all = self.entries.range((hash, String::new(), 0)..).map(|(key, _)| key);
        let all = all.take_while(|(of, ..)| *of == hash).map(|(_, element, _)| element);
        let all: Vec<&String> = all.collect();
        let is_same = all.iter().any(|one| *one == element);
        let free = all.into_iter().find(|one| !is_same && !taken.contains(one));
        free.cloned().unwrap_or_else(|| element.to_owned())
    }

    fn miss(&self, request: &Request, nth: u32) -> String {
        let name = &self.name;
        let what = match request {
            Request::Step { step, .. } => format!("step `{step}`"),
            Request::Tool { tool, .. } => format!("tool `{tool}`"),
        };
        let again =
            format!("if that is as it should be, record again: `chartc run … --record {name}`");
        if nth > 1 {
            let times = nth - 1;
            return format!(
                "{name} has {times} of this call of {what}, and it is made again; {again}"
            );
        }
        let asked = shown(request);
        let of_it = self.entries.values().filter(|entry| {
            entry.request.name() == request.name()
                && std::mem::discriminant(&entry.request) == std::mem::discriminant(request)
        });
        let nearest =
            of_it.map(|entry| diff(&shown(&entry.request), &asked)).min_by_key(|d| d.changes);
        match nearest {
            Some(diff) => format!(
                "{name} has no such call of {what}; {again}. The nearest that was recorded (-) and what is asked now (+):\n{}",
                diff.text(SHOWN)
            ),
            None => format!("{name} has no call of {what} at all; {again}"),
        }
    }
}

/// A request as lines of text, for a difference: the prompt and what was sent with it.
fn shown(request: &Request) -> String {
    match request {
        Request::Step {
            kind,
            client,
            model,
            temperature,
            server_options,
            prompt,
            options,
            schema,
            ..
        } => {
            let mut text = format!("kind {kind}\n");
            for (name, value) in [("client", client), ("model", model)] {
                if !value.is_empty() {
                    text.push_str(&format!("{name} {value}\n"));
                }
            }
            if let Some(temperature) = temperature {
                text.push_str(&format!("temperature {temperature}\n"));
            }
            if !server_options.is_null() {
                text.push_str(&format!("options {server_options}\n"));
            }
            text.push_str(&prompt.text());
            for option in options {
                text.push_str(&format!("\noption {}: {}", option.name, option.text));
                if !option.schema.is_null() {
                    text.push_str(&format!(" {}", option.schema));
                }
            }
            if !schema.is_null() {
                text.push_str(&format!("\nschema {schema}"));
            }
            text
        }
        Request::Tool { arguments, .. } => {
            let json = |value: &Value| serde_json::to_string(value).unwrap_or_default();
            let Value::Map(map) = arguments else { return json(arguments) };
            let rows = map.iter().map(|(name, value)| format!("{name}: {}", json(value)));
            rows.collect::<Vec<_>>().join("\n")
        }
    }
}

impl CallJournal for Replaying {
    fn begin(&self, _: &CallId, call: Call) -> Result<Begun, OracleError> {
        let entry = self.find(&Request::of(&call), element_of(&call))?;
        let Some(outcome) = entry.end.outcome(&entry.request) else {
            // The call was cancelled in the recording before it ended, so it never ends here.
            return Ok(Begun::Recorded(Box::pin(pending())));
        };
        if entry.after_ms == 0 {
            return Ok(Begun::Recorded(Box::pin(ready(outcome))));
        }
        let sleep = self.clock.sleep_until(self.clock.now().saturating_add(entry.after_ms));
        Ok(Begun::Recorded(Box::pin(async {
            sleep.await;
            outcome
        })))
    }

    fn name(&self) -> Option<String> {
        Some(format!("replay:{}", self.name))
    }
}

// A line diff of two texts, for messages about changed prompts.

/// The maximum number of lines of each text. It bounds the table, whose size is the product of both. Further lines are ignored.
const MOST: usize = 2000;
/// The number of equal lines that are shown around a change.
const AROUND: usize = 2;

/// The kind of a line in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Gone,
    New,
}

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Diff {
    lines: Vec<(Mark, String)>,
    /// The number of lines that only one of the texts has.
    changes: usize,
}

/// Computes the difference by a longest common subsequence of the lines.
fn diff(old: &str, new: &str) -> Diff {
    let a: Vec<&str> = old.split('\n').take(MOST).collect();
    let b: Vec<&str> = new.split('\n').take(MOST).collect();
    // A common beginning and end need no table.
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail =
        a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (mid_a, mid_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let width = mid_b.len() + 1;
    let mut common = vec![0u32; (mid_a.len() + 1) * width];
    for i in (0..mid_a.len()).rev() {
        for j in (0..mid_b.len()).rev() {
            common[i * width + j] = if mid_a[i] == mid_b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut lines: Vec<(Mark, String)> = Vec::new();
    let mut put = |mark, line: &str| lines.push((mark, line.to_owned()));
    a[..head].iter().for_each(|line| put(Mark::Same, line));
    let (mut i, mut j) = (0, 0);
    while i < mid_a.len() || j < mid_b.len() {
        if i < mid_a.len() && j < mid_b.len() && mid_a[i] == mid_b[j] {
            put(Mark::Same, mid_a[i]);
            (i, j) = (i + 1, j + 1);
        } else if j >= mid_b.len()
            || (i < mid_a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            put(Mark::Gone, mid_a[i]);
            i += 1;
        } else {
            put(Mark::New, mid_b[j]);
            j += 1;
        }
    }
    a[a.len() - tail..].iter().for_each(|line| put(Mark::Same, line));
    let changes = lines.iter().filter(|(mark, _)| *mark != Mark::Same).count();
    Diff { lines, changes }
}

impl Diff {
    /// The changes with the lines around them, at most `most` lines.
    fn text(&self, most: usize) -> String {
        let changed: Vec<usize> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, (mark, _))| *mark != Mark::Same)
            .map(|(i, _)| i)
            .collect();
        let mut out: Vec<String> = Vec::new();
        let mut last = None;
        for (i, (mark, line)) in self.lines.iter().enumerate() {
            let at = changed.partition_point(|c| *c + AROUND < i);
            if changed.get(at).is_none_or(|c| *c > i + AROUND) {
                continue;
            }
            if last.is_some_and(|last| last + 1 < i) || (last.is_none() && i > 0) {
                out.push("  …".into());
            }
            last = Some(i);
            let sign = match mark {
                Mark::Same => ' ',
                Mark::Gone => '-',
                Mark::New => '+',
            };
            out.push(format!("{sign} {line}"));
        }
        if out.len() > most {
            let more = out.len() - most;
            out.truncate(most);
            out.push(format!("  … and {more} further lines"));
        }
        out.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let old = "a\nb\nc\nd\ne\nf\ng";
        let new = "a\nb\nc\nD\ne\nf\ng";
        let found = diff(old, new);
        assert_eq!(found.changes, 2);
        assert_eq!(found.text(9), "  …\n  b\n  c\n- d\n+ D\n  e\n  f");
        assert_eq!(found.text(3), "  …\n  b\n  c\n  … and 4 further lines");
    }

    #[test]
    fn as_little_as_possible_is_new() {
        for (old, new, changes) in [
            ("a", "a", 0),
            ("", "a", 2),
            ("a\nb\nc", "b\nc\nd", 2),
            ("x\na\ny\nb", "a\nz\nb", 3),
            ("a\nb", "b\na", 2),
        ] {
            assert_eq!(diff(old, new).changes, changes, "{old:?} {new:?}");
        }
    }
}
