//! An oracle that answers nothing.

use std::sync::Arc;

use super::{Asking, Oracle, OracleError, Question, ready};

/// Fails every call. With it, a chart runs without any model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deny;

impl Oracle for Deny {
    fn ask(&self, question: Arc<Question>) -> Asking {
        ready(Err(OracleError::Denied(format!("`{}` has nobody to ask", question.step))))
    }

    fn name(&self) -> String {
        "deny".into()
    }
}
