//! Keeps what host functions were called with and what they gave, so that a trace has it.

use crate::trace::HostCall;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use std::sync::{Arc, Mutex, PoisonError};

/// Calls of host functions that are not in the trace yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct HostLog(Arc<Mutex<Vec<HostCall>>>);

impl HostLog {
    /// The calls since the last time, taken away.
    pub(crate) fn take(&self) -> Vec<HostCall> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, call: HostCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

/// A host whose calls are kept for the trace: a session with the same log writes them, see
/// [`Session::with_host_log`](crate::Session::with_host_log).
#[derive(Debug, Clone)]
pub struct Watched<H> {
    host: H,
    log: HostLog,
}

impl<H> Watched<H> {
    /// Keeps the calls of `host` in `log`.
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
