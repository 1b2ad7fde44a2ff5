//! The reason why a test failed.

use super::test_host::Wanted;
use chartc_check::lower::test::Test;
use chartc_core::expr::{Map, Value};
use chartc_text::span::Span;

/// The reason why a test failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The place of the expectation or input that failed.
    pub span: Span,
    /// The reason, on one line.
    pub message: String,
    /// What was found instead. It is shown at `span`.
    pub found: Option<String>,
    /// A way to correct the test or the chart.
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

    /// The failure of a test that has used up its `most` steps.
    pub(super) fn spent(test: &Test, most: u64) -> Self {
        Self::new(
            test.span,
            format!("it takes more than {most} steps, and is not played to its end"),
        )
        .help("let it make fewer turns, or let what they repeat do less")
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The failure of a test that goes on, or ends, although the run waits for an answer or a result.
pub(super) fn owed(wanted: &Wanted, span: Span) -> Failure {
    let name = wanted.name();
    match wanted {
        Wanted::Answer(question) => {
            let options: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
            let offered = match options.as_slice() {
                [] => String::new(),
                options => format!("; offered: {}", options.join(", ")),
            };
            let asked = super::words::short(&question.prompt, 200);
            Failure::new(span, format!("`{name}` asks, and the test gives no answer"))
                .found(format!("asked: {asked}{offered}"))
                .help(format!("go on with `answers {name} …` or `fails {name} timeout`"))
        }
        Wanted::Result(call) => {
            let given: Map = call.arguments.iter().cloned().collect();
            Failure::new(span, format!("the tool `{name}` is called, and the test gives no result"))
                .found(format!("called with {}", super::words::value(&Value::Map(given))))
                .help(format!("go on with `tool {name} returns …` or `tool {name} fails \"why\"`"))
        }
    }
}
