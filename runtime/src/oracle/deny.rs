//! Nobody answers.

use std::sync::Arc;

use super::{Asking, Oracle, OracleError, Question, ready};

/// Fails every call: what a chart does without a model.
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
