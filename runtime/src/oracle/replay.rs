//! Replaying: answers calls from a cassette. A call that was not recorded ends the run, with a message about what differs from the
//! recording.

use super::cassette::{End, Entry, Request, element_of};
use super::diff::diff;
use super::{Answer, Asking, Oracle, OracleError, Question};
use crate::clock::Clock;
use crate::tools::{Calling, Tools};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of lines of a difference in a message.
const SHOWN: usize = 40;

/// An oracle and a set of tools that answer from recorded calls.
pub struct Replaying {
    name: String,
    clock: Arc<dyn Clock>,
    /// The entries by the hash of the request, the element, and the number of the request.
    entries: BTreeMap<(u64, String, u32), Entry>,
    /// For each request (by hash) and element: the element under which it was recorded, and the number of requests so far.
    asked: Mutex<BTreeMap<(u64, String), (String, u32)>>,
}

impl Replaying {
    /// Creates an oracle that answers from `entries`, after the recorded delays on `clock`. `name` names the cassette in messages.
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

impl Oracle for Replaying {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let (end, after) = match self.find(&Request::of(&question), element_of(&question)) {
            Ok(entry) => (entry.end.clone(), entry.after_ms),
            Err(miss) => return super::ready(Err(miss)),
        };
        let answer = match end {
            End::Answer { text, usage, cut } => Ok(Answer { text: text.text(), usage, cut }),
            End::Failed { error, why, retry_after_ms } => {
                Err(OracleError::recorded(&error, &why, retry_after_ms))
            }
            End::Result(_) => Err(OracleError::Script("a tool's result is no answer".into())),
            // The call was cancelled in the recording before it ended, so it never ends here.
            End::GivenUp(_) => return Box::pin(pending()),
        };
        self.later(after, answer)
    }

    fn name(&self) -> String {
        format!("replay:{}", self.name)
    }
}

impl Tools for Replaying {
    fn call(&self, call: ToolCall) -> Calling {
        let (end, after) = match self.find(&Request::of_tool(&call), String::new()) {
            Ok(entry) => (entry.end.clone(), entry.after_ms),
            Err(miss) => return crate::tools::done(Err(miss)),
        };
        let result = match end {
            End::Result(value) => Ok(value),
            End::Answer { .. } => Err(OracleError::Script("an answer is no tool's result".into())),
            End::Failed { error, why, retry_after_ms } => {
                Err(OracleError::recorded(&error, &why, retry_after_ms))
            }
            End::GivenUp(_) => return Box::pin(pending()),
        };
        self.later(after, result)
    }
}

impl Replaying {
    fn later<T: Send + 'static>(
        &self,
        after: u64,
        result: Result<T, OracleError>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<T, OracleError>> + Send>> {
        if after == 0 {
            return Box::pin(std::future::ready(result));
        }
        let sleep = self.clock.sleep_until(self.clock.now().saturating_add(after));
        Box::pin(async move {
            sleep.await;
            result
        })
    }
}
