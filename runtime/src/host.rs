//! Records the calls of host functions, with arguments and results, for the trace.
//!
//! The machine calls host functions in the middle of a step, where it cannot write to the trace. So the calls are collected here, and the
//! session writes them after the step.

use crate::trace::HostCall;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use std::sync::{Arc, Mutex, PoisonError};

/// The calls of host functions that have not been written to the trace yet. All clones share them.
#[derive(Debug, Clone, Default)]
pub struct HostLog(Arc<Mutex<Vec<HostCall>>>);

impl HostLog {
    /// Removes and returns the calls so far.
    pub(crate) fn take(&self) -> Vec<HostCall> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, call: HostCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
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
