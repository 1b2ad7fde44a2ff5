//! Spans of calls: questions to models and people, and calls of tools.

use crate::names::{self, Models};
use chartc_runtime::trace::Which;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;
use serde_json::json;
use std::time::SystemTime;

/// The settings with which spans are created. `has_content` also exports prompts, answers, arguments and results.
pub(crate) struct Export<'e> {
    pub(crate) tracer: &'e SdkTracer,
    pub(crate) models: &'e Models,
    pub(crate) has_content: bool,
}

/// The identity of an open call within a run. The question of a step and the tool calls that it causes differ in `is_tool`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    child: String,
    step: String,
    state: String,
    element: Option<u32>,
    is_tool: bool,
}

impl Key {
    pub(crate) fn new(child: &str, step: &str, which: &Which, is_tool: bool) -> Self {
        let (child, step) = (child.to_owned(), step.to_owned());
        Self { child, step, state: which.state.clone(), element: which.element, is_tool }
    }
}

/// The span of a call that has not ended, as a context that could have children.
pub(crate) struct Call(pub(crate) Context);

/// Opens a span at the time `at` as a child of `parent`.
pub(crate) fn begun(
    tracer: &SdkTracer,
    name: String,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
    (parent, at): (&Context, SystemTime),
) -> Context {
    let builder =
        tracer.span_builder(name).with_kind(kind).with_start_time(at).with_attributes(attributes);
    parent.with_span(tracer.build_with_context(builder, parent))
}

impl Call {
    /// Opens the span of a question to a model or a person.
    pub(crate) fn question(
        export: &Export<'_>,
        (step, client, prompt): (&str, &str, &str),
        key: &Key,
        attempt: u32,
        at: (&Context, SystemTime),
    ) -> Self {
        let mut attributes = key.attributes(attempt);
        let (name, kind) = if export.models.is_person(step) {
            (format!("ask_person {step}"), SpanKind::Internal)
        } else {
            let model = export.models.of(step, client);
            attributes.push(KeyValue::new(names::OPERATION, "chat"));
            if !model.provider.is_empty() {
                attributes.push(KeyValue::new(names::PROVIDER, provider(&model.provider)));
            }
            attributes
                .extend(model.temperature.map(|heat| KeyValue::new(names::TEMPERATURE, heat)));
            attributes.extend(model.max_tokens.map(|most| KeyValue::new(names::MAX_TOKENS, most)));
            let name =
                if model.name.is_empty() { "chat".into() } else { format!("chat {}", model.name) };
            if !model.name.is_empty() {
                attributes.push(KeyValue::new(names::MODEL, model.name));
            }
            (name, SpanKind::Client)
        };
        if export.has_content {
            let said = json!([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]);
            attributes.push(KeyValue::new(names::INPUT, said.to_string()));
        }
        Self(begun(export.tracer, name, kind, attributes, at))
    }

    /// Opens the span of a tool call. `arguments` is JSON.
    pub(crate) fn tool(
        export: &Export<'_>,
        tool: &str,
        arguments: String,
        key: &Key,
        at: (&Context, SystemTime),
    ) -> Self {
        let mut attributes = key.attributes(1);
        attributes.push(KeyValue::new(names::OPERATION, "execute_tool"));
        attributes.push(KeyValue::new(names::TOOL, tool.to_owned()));
        attributes.push(KeyValue::new(names::TOOL_TYPE, "function"));
        if export.has_content {
            attributes.push(KeyValue::new(names::ARGUMENTS, arguments));
        }
        Self(begun(
            export.tracer,
            format!("execute_tool {tool}"),
            SpanKind::Internal,
            attributes,
            at,
        ))
    }

    pub(crate) fn set(&self, name: &'static str, value: impl Into<opentelemetry::Value>) {
        self.0.span().set_attribute(KeyValue::new(name, value));
    }

    /// Closes the span. `failed` is the kind of failure and its reason, or `None` after a success.
    pub(crate) fn end(self, failed: Option<(&str, &str)>, at: SystemTime) {
        let span = self.0.span();
        if let Some((kind, why)) = failed {
            span.set_attribute(KeyValue::new(names::ERROR, kind.to_owned()));
            span.set_status(Status::error(why.to_owned()));
        }
        span.end_with_timestamp(at);
    }
}

impl Key {
    fn attributes(&self, attempt: u32) -> Vec<KeyValue> {
        let mut all = vec![
            KeyValue::new("chartc.step", self.step.clone()),
            KeyValue::new("chartc.attempt", i64::from(attempt)),
        ];
        if !self.child.is_empty() {
            all.push(KeyValue::new("chartc.child", self.child.clone()));
        }
        if !self.state.is_empty() {
            all.push(KeyValue::new("chartc.state", self.state.clone()));
        }
        all.extend(self.element.map(|nth| KeyValue::new("chartc.element", i64::from(nth))));
        all
    }
}

/// Returns OpenTelemetry's name of a provider.
fn provider(name: &str) -> String {
    if name == "gemini" { "gcp.gemini".into() } else { name.to_owned() }
}

/// Closes a span that is not a call: a run or a turn.
pub(crate) fn ended(context: &Context, at: SystemTime) {
    context.span().end_with_timestamp(at);
}
