//! Why a test failed.

use crate::lower::test::Test;
use crate::span::Span;

/// Why a test failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What was expected or done.
    pub span: Span,
    /// In one line.
    pub message: String,
    /// What was found instead, beside the place.
    pub found: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Failure {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), found: None, help: None }
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// The test has taken all its steps.
    pub(super) fn spent(test: &Test, most: u64) -> Self {
        Self::new(test.span, format!("it takes more than {most} steps, and is not played to its end"))
            .help("let it make fewer turns, or let what they repeat do less")
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
