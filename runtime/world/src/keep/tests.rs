//! What a journal makes of calls, with a store in memory.

use super::*;
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_runtime::driver::{CallName, Driver, Probe};
use chartc_runtime::journal::Journaled;
use chartc_runtime::oracle::{Answer, Asking, Question, ready};
use chartc_runtime::tools::{Calling, done};
use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct InMemory {
    calls: Mutex<BTreeMap<String, KeptCall>>,
    is_full: bool,
}

impl InMemory {
    fn put(&self, id: &str, change: impl FnOnce(&mut KeptCall)) {
        let mut calls = self.calls.lock().expect("a lock");
        change(calls.get_mut(id).expect("it was begun"));
    }
}

impl Keep for InMemory {
    fn begin(&self, _: &str) -> Result<(), KeepError> {
        Ok(())
    }

    fn given(&self) -> Result<Option<String>, KeepError> {
        Ok(None)
    }

    fn commit(&self, _: &Checkpoint) -> Result<(), KeepError> {
        Ok(())
    }

    fn load(&self) -> Result<Option<Loaded>, KeepError> {
        Ok(None)
    }

    fn log(&self, _: u64) -> Result<Vec<String>, KeepError> {
        Ok(Vec::new())
    }

    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError> {
        if self.is_full {
            return Err(KeepError("the disk is full".into()));
        }
        let kept = KeptCall { question: question.into(), answer: None };
        self.calls.lock().expect("a lock").insert(id.into(), kept);
        Ok(())
    }

    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError> {
        self.put(id, |call| call.answer = Some(answer.into()));
        Ok(())
    }

    fn call_dropped(&self, id: &str) -> Result<(), KeepError> {
        self.put(id, |_| {});
        Ok(())
    }

    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError> {
        Ok(self.calls.lock().expect("a lock").get(id).cloned())
    }
}

/// Counts what is paid for; does not answer a prompt that says so.
#[derive(Default)]
struct Paid(Mutex<Vec<String>>);

impl Driver for Paid {
    fn ask(&self, _: &CallId, question: Arc<Question>) -> Asking {
        self.0.lock().expect("a lock").push(question.prompt.clone());
        match question.prompt.as_str() {
            "silence" => Box::pin(pending()),
            "refuse" => ready(Err(OracleError::Refusal("no".into()))),
            prompt => ready(Ok(Answer::from(format!("to {prompt}")))),
        }
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        self.0.lock().expect("a lock").push(call.tool);
        done(Ok(Value::Int(7)))
    }

    fn name(&self) -> String {
        "paid".into()
    }
}

fn id(step: &str) -> CallId {
    let name =
        CallName { state: "s".into(), step: step.into(), event: 1, attempt: 1, element: None };
    CallId { run: "".into(), path: Vec::new(), name, nth: 0, is_tool: false }
}

fn question(prompt: &str) -> Arc<Question> {
    Arc::new(Question { prompt: prompt.into(), ..Question::default() })
}

fn poll<T>(future: &mut Pin<Box<dyn Future<Output = T> + Send>>) -> Poll<T> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn text(asking: &mut Asking) -> Result<String, OracleError> {
    match poll(asking) {
        Poll::Ready(answer) => answer.map(|answer| answer.text),
        Poll::Pending => panic!("no answer"),
    }
}

/// A process after another one: the store and what was paid stay, the journal is new.
fn process(keep: &Arc<InMemory>, paid: &Arc<Paid>) -> Journaled<KeptCalls, Paid> {
    Journaled::new(Arc::new(KeptCalls::new(keep.clone(), "ada")), paid.clone())
}

#[test]
fn an_answer_is_paid_for_once_and_known_to_the_next_process() {
    let (keep, paid) = (Arc::new(InMemory::default()), Arc::new(Paid::default()));
    let first = process(&keep, &paid);
    assert_eq!(first.probe(&id("a")), Probe::NotMade);
    assert_eq!(text(&mut first.ask(&id("a"), question("one"))), Ok("to one".into()));
    let refused = text(&mut first.ask(&id("b"), question("refuse")));
    assert_eq!(refused, Err(OracleError::Refusal("no".into())));
    let tool = ToolCall { tool: "t".into(), arguments: Vec::new(), result: String::new() };
    assert_eq!(poll(&mut first.call(&id("c"), tool.clone())), Poll::Ready(Ok(Value::Int(7))));
    let next = process(&keep, &paid);
    assert_eq!(next.probe(&id("a")), Probe::Answered(Ok("to one".to_owned().into())));
    assert_eq!(next.probe(&id("c")), Probe::Returned(Ok(Value::Int(7))));
    assert_eq!(text(&mut next.ask(&id("a"), question("one"))), Ok("to one".into()));
    let refused = text(&mut next.ask(&id("b"), question("refuse"))).expect_err("as before");
    assert_eq!(refused.kind(), OracleError::Refusal(String::new()).kind());
    assert_eq!(poll(&mut next.call(&id("c"), tool)), Poll::Ready(Ok(Value::Int(7))));
    assert_eq!(*paid.0.lock().expect("a lock"), ["one", "refuse", "t"]);
    // Another question under the name is another call.
    assert_eq!(text(&mut next.ask(&id("a"), question("two"))), Ok("to two".into()));
    let other = Journaled::new(Arc::new(KeptCalls::new(keep, "bob")), paid);
    assert_eq!(other.probe(&id("a")), Probe::NotMade, "agents have calls of their own");
}

#[test]
fn a_call_without_an_answer_is_in_doubt_until_somebody_decides() {
    let (keep, paid) = (Arc::new(InMemory::default()), Arc::new(Paid::default()));
    let mut asking = process(&keep, &paid).ask(&id("a"), question("silence"));
    assert!(poll(&mut asking).is_pending());
    drop(asking);
    let next = process(&keep, &paid);
    let doubt = text(&mut next.ask(&id("a"), question("silence"))).expect_err("in doubt");
    assert!(doubt.may_be_billed(), "{doubt}");
    assert_eq!(paid.0.lock().expect("a lock").len(), 1, "it was not asked again");
    assert_eq!(next.probe(&id("a")), Probe::Unknown);
    assert!(poll(&mut next.ask(&id("a"), question("silence"))).is_pending());
    assert_eq!(paid.0.lock().expect("a lock").len(), 2, "the chart has decided to");
    let person = Question { kind: Kind::Human, prompt: "silence".into(), ..Question::default() };
    let person = Arc::new(person);
    assert!(poll(&mut process(&keep, &paid).ask(&id("h"), person.clone())).is_pending());
    assert!(poll(&mut process(&keep, &paid).ask(&id("h"), person)).is_pending());
    assert_eq!(paid.0.lock().expect("a lock").len(), 4, "people are asked again");
}

#[test]
fn what_cannot_be_kept_is_not_paid_for() {
    let keep = Arc::new(InMemory { is_full: true, ..InMemory::default() });
    let paid = Arc::new(Paid::default());
    let why = text(&mut process(&keep, &paid).ask(&id("a"), question("one"))).expect_err("full");
    assert_eq!(why.to_string(), "the call cannot be recorded: the disk is full");
    assert!(why.is_fatal());
    assert_eq!(paid.0.lock().expect("a lock").len(), 0);
}
