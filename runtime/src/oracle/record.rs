//! Recording: wraps oracles and tools, and writes each call to a cassette.

use super::cassette::{End, Entry, Request, VERSION, element_of};
use super::{Asking, Oracle, OracleError, Question};
use crate::clock::Clock;
use crate::tools::{Calling, Tools};
use chartc_core::host::ToolCall;
use chartc_core::machine::Instant;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The destination of cassette entries, such as a folder.
pub trait CassetteSink: Send + Sync {
    /// Writes a file, completely or not at all.
    ///
    /// # Errors
    /// The reason why the file cannot be written.
    fn put(&self, name: &str, text: &str) -> Result<(), String>;
}

/// An oracle or a set of tools whose calls are recorded. A call that cannot be recorded ends the run, as a cassette with gaps is useless.
pub struct Recording<O: ?Sized> {
    inner: Arc<O>,
    tape: Arc<Tape>,
}

/// The recorder that the wrappers of one run share.
pub struct Tape {
    cassette: Box<dyn CassetteSink>,
    clock: Arc<dyn Clock>,
    /// The number of calls so far, by the hash of the request and the element.
    asked: Mutex<BTreeMap<(u64, String), u32>>,
}

impl Tape {
    /// Creates a recorder that writes to `cassette`, with times on `clock`.
    pub fn new(cassette: Box<dyn CassetteSink>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { cassette, clock, asked: Mutex::default() })
    }

    /// The number of calls that were started.
    pub fn calls(&self) -> u32 {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn begin(self: &Arc<Self>, request: Request, element: String) -> Open {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = asked.entry((request.hash(), element.clone())).or_insert(0);
        *nth += 1;
        let (tape, begun) = (self.clone(), self.clock.now());
        Open { tape, request: Some((request, element)), nth: *nth, begun }
    }
}

/// A call under way. If it is dropped before its end, it is recorded as cancelled.
struct Open {
    tape: Arc<Tape>,
    request: Option<(Request, String)>,
    nth: u32,
    begun: Instant,
}

impl Open {
    fn close(&mut self, end: End) -> Result<(), OracleError> {
        let Some((request, element)) = self.request.take() else { return Ok(()) };
        let after_ms = self.tape.clock.now().saturating_sub(self.begun);
        let entry = Entry { v: VERSION, request, element, nth: self.nth, after_ms, end };
        let put = self.tape.cassette.put(&entry.file(), &entry.text());
        put.map_err(|why| OracleError::Script(format!("the call cannot be recorded: {why}")))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // The error cannot be reported here. A replay reports the missing call.
        let _ = self.close(End::GivenUp(true));
    }
}

impl<O: ?Sized> Recording<O> {
    /// Records the calls of `inner` on `tape`.
    pub fn new(inner: Arc<O>, tape: Arc<Tape>) -> Self {
        Self { inner, tape }
    }
}

impl<O: Oracle + ?Sized> Oracle for Recording<O> {
    fn ask(&self, question: Arc<Question>) -> Asking {
        // The number is taken when the call starts, as calls may end in another order.
        let mut open = self.tape.begin(Request::of(&question), element_of(&question));
        let asking = self.inner.ask(question);
        Box::pin(async move {
            let answer = asking.await;
            open.close(End::of(&answer))?;
            answer
        })
    }

    fn keeps_time(&self) -> bool {
        self.inner.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.inner.has_answered()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

impl<T: Tools + ?Sized> Tools for Recording<T> {
    fn call(&self, call: ToolCall) -> Calling {
        let mut open = self.tape.begin(Request::of_tool(&call), String::new());
        let calling = self.inner.call(call);
        Box::pin(async move {
            let result = calling.await;
            open.close(End::of_tool(&result))?;
            result
        })
    }
}
