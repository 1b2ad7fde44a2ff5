//! Records the calls of host functions, with arguments and results, for the trace.
//!
//! The machine calls host functions in the middle of a step, where it cannot write to the trace. So the calls are collected here, and the
//! session writes them after the step.

use crate::trace::HostCall;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The calls that a run may make in one input, and the bytes that their arguments and results may have together. The next call fails, and
/// the host is not called.
const MOST_CALLS: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;

/// The calls of host functions that have not been written to the trace yet. All clones share them.
#[derive(Debug, Clone, Default)]
pub struct HostLog(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    calls: Vec<HostCall>,
    bytes: usize,
}

impl HostLog {
    /// Removes and returns the calls so far.
    pub(crate) fn take(&self) -> Vec<HostCall> {
        std::mem::take(&mut *self.calls()).calls
    }

    fn put(&self, call: HostCall) {
        let mut all = self.calls();
        all.bytes += call.arguments.iter().chain([&call.value]).map(Value::bytes).sum::<usize>();
        all.calls.push(call);
    }

    fn ensure_room(&self) -> Result<(), String> {
        let all = self.calls();
        if all.calls.len() < MOST_CALLS && all.bytes < MOST_BYTES {
            return Ok(());
        }
        Err(format!(
            "one input makes at most {MOST_CALLS} calls with {} MiB of arguments and results, and this one has made {} with {} bytes",
            MOST_BYTES >> 20,
            all.calls.len(),
            all.bytes
        ))
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A host whose calls are recorded. A session with the same log writes them to its trace: see
/// [`Session::with_host_log`](crate::Session::with_host_log).
#[derive(Debug, Clone)]
pub struct Watched<H> {
    host: H,
    log: HostLog,
}

impl<H> Watched<H> {
    /// Wraps `host`, and records its calls in `log`.
    pub const fn new(host: H, log: HostLog) -> Self {
        Self { host, log }
    }
}

impl<H: Host> Host for Watched<H> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        self.log.ensure_room()?;
        let result = self.host.call(function, arguments);
        let (value, failed) = match &result {
            Ok(value) => (value.clone(), None),
            Err(why) => (Value::None, Some(why.clone())),
        };
        let (function, arguments) = (function.to_owned(), arguments.to_vec());
        self.log.put(HostCall { function, arguments, value, failed });
        result
    }
}
