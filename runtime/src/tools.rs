//! Who does what a tool says.
//!
//! A chart decides which tool may be called when; [`Tools`] makes the call.
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

/// A tool call under way. Dropping it gives it up.
pub type Calling = Pin<Box<dyn Future<Output = Result<Value, OracleError>> + Send>>;

/// Somebody who has tools. Which of them may be called when is not its business: the chart has decided that.
pub trait Tools: Send + Sync {
    /// Makes one call. The result is checked against the tool's declared type.
    ///
    /// # Errors
    /// Why it brought nothing.
    fn call(&self, call: ToolCall) -> Calling;
}

/// Has no tool: every call fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: ToolCall) -> Calling {
        done(Err(OracleError::Other(format!("there is no tool `{}` here", call.tool))))
    }
}

/// A call that has ended already.
pub fn done(result: Result<Value, OracleError>) -> Calling {
    Box::pin(std::future::ready(result))
}
