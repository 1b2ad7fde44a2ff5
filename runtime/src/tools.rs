//! Tools: the interface by which hosts provide them.
//!
//! The chart decides which tool may be called at which moment; [`Tools`] executes the call.
//!
//! ```
//! use chartc_core::expr::Value;
//! use chartc_core::host::ToolCall;
//! use chartc_runtime::tools::{Calling, Tools, done};
//!
//! struct Clock;
//!
//! impl Tools for Clock {
//!     fn call(&self, call: ToolCall) -> Calling {
//!         done(match call.tool.as_str() {
//!             "clock.hour" => Ok(Value::Int(12)),
//!             other => Err(chartc_runtime::oracle::OracleError::Other(format!("no tool `{other}`"))),
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let call = ToolCall { tool: "clock.hour".into(), arguments: Vec::new(), result: String::new() };
//! assert_eq!(Clock.call(call).await, Ok(Value::Int(12)));
//! # }
//! ```

use crate::call::OracleError;
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use std::future::Future;
use std::pin::Pin;

/// A tool call under way. Dropping it cancels the call.
pub type Calling = Pin<Box<dyn Future<Output = Result<Value, OracleError>> + Send>>;

/// A set of tools. It does not check permissions, because the chart has done that.
pub trait Tools: Send + Sync {
    /// Executes a call. The caller checks the result against the tool's declared type.
    ///
    /// # Errors
    /// The reason why the call failed.
    fn call(&self, call: ToolCall) -> Calling;
}

/// A set without tools: every call fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: ToolCall) -> Calling {
        done(Err(OracleError::Other(format!("there is no tool `{}` here", call.tool))))
    }
}

/// A call that has already ended with a result.
pub fn done(result: Result<Value, OracleError>) -> Calling {
    Box::pin(std::future::ready(result))
}
