//! Exports runs of charts as OpenTelemetry spans. A run is an `invoke_agent` span. Its turns are children of it, and calls of models,
//! people and tools are children of the turn in which they began. Names follow OpenTelemetry's semantic conventions for generative AI;
//! attributes without a convention begin with `chartc.`.
//!
//! Spans are built from the lines of traces, with the times of the trace. Prompts, answers, arguments and results are exported only on
//! request, because they may be confidential.
//!
//! ```text
//! run               span invoke_agent Ticket, opened
//! turn 1            span "turn 1" below it, opened
//! question triage   span "chat gpt-5" below the turn, opened
//! usage, answer     its tokens are set, the span is closed
//! turn ended        span "turn 1" closed
//! ended ok          span invoke_agent closed
//! ```

use chartc_core::machine::Instant;
use chartc_core::model::Chart;
use chartc_runtime::trace::view::{
    CallName, CallUsage, Callee, Fate, Happening, Outcome, Request, json,
};
use chartc_runtime::trace::{Line, TraceEvent};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The address of a collector on this machine, with the standard port for OTLP over HTTP.
pub const ENDPOINT: &str = "http://localhost:4318";

/// The reason why spans are not exported.
#[derive(Debug, thiserror::Error)]
pub enum OtelError {
    /// The exporter cannot be created, usually because the address is malformed.
    #[error("the collector at {endpoint}: {why}")]
    Exporter {
        /// The address of the collector, as given.
        endpoint: String,
        /// The exporter's own error.
        why: ExporterBuildError,
    },
    /// The collector did not accept the last spans. The text is the error of the OpenTelemetry SDK.
    #[error("spans did not arrive at the collector: {0}")]
    Lost(String),
}

/// An exporter of many runs at once. It keeps the open spans of each run, by the run's name.
pub struct Otel {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    models: Models,
    has_content: bool,
    runs: BTreeMap<String, Run>,
}

impl Otel {
    /// Exports to a collector that accepts OTLP over HTTP at `endpoint`, such as [`ENDPOINT`]. `models` describes the clients of charts;
    /// `has_content` also exports prompts, answers, arguments and results.
    ///
    /// # Errors
    /// `endpoint` is not an address.
    pub fn new(endpoint: &str, models: Models, has_content: bool) -> Result<Self, OtelError> {
        let traces = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        // `install_default` fails only if the program has already installed a cryptography provider, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(traces)
            .build()
            .map_err(|why| OtelError::Exporter { endpoint: endpoint.to_owned(), why })?;
        let resource = Resource::builder()
            .with_service_name("chartc")
            .with_attribute(opentelemetry::KeyValue::new(
                "service.version",
                env!("CARGO_PKG_VERSION"),
            ))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        let tracer = opentelemetry::trace::TracerProvider::tracer(&provider, "chartc");
        Ok(Self { provider, tracer, models, has_content, runs: BTreeMap::new() })
    }

    /// Adds a line of a run's trace. The first line of a run fixes the start of its clock, so `now` must be the wall-clock time at which
    /// that line was written. The spans of a run are closed by its `ended` line.
    pub fn line(&mut self, run: &str, line: &Line, now: SystemTime) {
        let one = self.runs.entry(run.to_owned()).or_insert_with(|| Run::new(run, line, now));
        let export =
            Export { tracer: &self.tracer, models: &self.models, has_content: self.has_content };
        if one.line(&export, line) {
            self.runs.remove(run);
        }
    }

    /// Closes the spans that are still open and sends everything that is left. It blocks until they are sent.
    ///
    /// # Errors
    /// The collector did not accept the spans.
    pub fn end(mut self) -> Result<(), OtelError> {
        for run in std::mem::take(&mut self.runs).into_values() {
            run.stop();
        }
        self.provider.force_flush().map_err(|why| OtelError::Lost(why.to_string()))?;
        self.provider.shutdown().map_err(|why| OtelError::Lost(why.to_string()))
    }
}

// The open spans of one run, and how each line of the trace opens, changes or closes them.

struct Run {
    name: String,
    /// The wall-clock time at which the run's clock showed 0.
    epoch: SystemTime,
    last: SystemTime,
    root: Option<Context>,
    turn: Option<Context>,
    calls: BTreeMap<Key, Call>,
}

impl Run {
    fn new(name: &str, line: &Line, now: SystemTime) -> Self {
        let epoch = now.checked_sub(Duration::from_millis(line.at_ms)).unwrap_or(now);
        let (root, turn, calls) = (None, None, BTreeMap::new());
        Self { name: name.to_owned(), epoch, last: now, root, turn, calls }
    }

    fn at(&self, at: Instant) -> SystemTime {
        self.epoch.checked_add(Duration::from_millis(at)).unwrap_or(self.last)
    }

    /// Applies a line of the trace. Returns `true` when the run has ended.
    fn line(&mut self, export: &Export<'_>, line: &Line) -> bool {
        let event = line.event();
        let at = self.at(event.at_ms);
        self.last = at;
        match event.what {
            Happening::CallBegun(call, request) => self.ask(export, &event, (call, request), at),
            Happening::CallUsage(call, usage) => self.measure(&Key::new(&event, call), usage),
            Happening::CallEnded(call, outcome) => {
                self.answer(export, &Key::new(&event, call), outcome, at);
            }
            // Only the calls of child charts become spans: turns and transitions are those of the root chart.
            _ if !event.child.is_empty() => {}
            Happening::Begun { chart, oracle, .. } | Happening::Resumed { chart, oracle } => {
                self.begin(export, chart, oracle, at);
            }
            Happening::Turn(turn) => self.turn(export, turn, at),
            Happening::TurnEnded => {
                if let Some(turn) = self.turn.take() {
                    ended(&turn, at);
                }
            }
            Happening::Transition(line, Fate::Taken(_)) => {
                let targets = line.targets.join(", ");
                self.event(
                    "transition",
                    &[("from", &line.state), ("to", &targets), ("trigger", &line.trigger)],
                    at,
                );
            }
            Happening::Error(error) => self.event("error", &[("error", error)], at),
            Happening::Ended { status, .. } => {
                self.end(status, at);
                return true;
            }
            _ => {}
        }
        false
    }

    fn begin(&mut self, export: &Export<'_>, chart: &str, oracle: &str, at: SystemTime) {
        let attributes = vec![
            KeyValue::new(OPERATION, "invoke_agent"),
            KeyValue::new(AGENT, chart.to_owned()),
            KeyValue::new(CONVERSATION, self.name.clone()),
            KeyValue::new("chartc.oracle", oracle.to_owned()),
        ];
        let name = format!("invoke_agent {chart}");
        let parent = Context::new();
        self.root = Some(begun(export.tracer, name, SpanKind::Internal, attributes, (&parent, at)));
    }

    fn turn(&mut self, export: &Export<'_>, turn: u32, at: SystemTime) {
        let Some(root) = &self.root else { return };
        let attributes = vec![KeyValue::new("chartc.turn", i64::from(turn))];
        let name = format!("turn {turn}");
        self.turn = Some(begun(export.tracer, name, SpanKind::Internal, attributes, (root, at)));
    }

    /// Adds an event to the span of the turn or, between turns, to that of the run.
    fn event(&self, name: &'static str, values: &[(&'static str, &str)], at: SystemTime) {
        let Some(span) = self.turn.as_ref().or(self.root.as_ref()) else { return };
        let values = values.iter().map(|(key, value)| KeyValue::new(*key, (*value).to_owned()));
        span.span().add_event_with_timestamp(name, at, values.collect());
    }

    /// Opens the span of a call.
    fn ask(
        &mut self,
        export: &Export<'_>,
        event: &TraceEvent<'_>,
        (call, request): (CallName<'_>, Request<'_>),
        at: SystemTime,
    ) {
        let Some(parent) = self.turn.as_ref().or(self.root.as_ref()) else { return };
        let key = Key::new(event, call);
        let attributes = key.attributes(event.attempt);
        let span = match request {
            Request::Question { client, prompt, .. } => {
                Call::question(export, call, (client, prompt), attributes, (parent, at))
            }
            Request::Arguments(arguments) => {
                Call::tool(export, call.name, json(arguments), attributes, (parent, at))
            }
        };
        self.calls.insert(key, span);
    }

    /// Sets the use of a call.
    fn measure(&self, key: &Key, usage: CallUsage) {
        let Some(call) = self.calls.get(key) else { return };
        // Assumed numbers are those that were held for the call in its budget: the model has reported none.
        if !usage.assumed {
            call.set(INPUT_TOKENS, i64::try_from(usage.input_tokens).unwrap_or(i64::MAX));
            call.set(OUTPUT_TOKENS, i64::try_from(usage.output_tokens).unwrap_or(i64::MAX));
        }
        if usage.cost > 0.0 {
            call.set("chartc.cost", usage.cost);
        }
        if usage.cut {
            let reasons = vec![opentelemetry::StringValue::from("length")];
            call.set(FINISH, opentelemetry::Value::Array(reasons.into()));
        }
    }

    /// Closes the span of a call.
    fn answer(&mut self, export: &Export<'_>, key: &Key, outcome: Outcome<'_>, at: SystemTime) {
        let (content, failed) = match outcome {
            Outcome::Answer { text, .. } => {
                let parts = json!([{"type": "text", "content": text}]);
                let said = json!([{"role": "assistant", "parts": parts}]);
                (Some((OUTPUT, said.to_string())), None)
            }
            Outcome::Returned(value) => (Some((RESULT, json(value))), None),
            Outcome::Unusable(why) => (None, Some(("unusable_answer", why))),
            Outcome::Failed(failure) => (None, Some((failure.error, failure.why))),
            Outcome::GivenUp | Outcome::Late => {
                (None, Some(("cancelled", "nobody waits for it any more")))
            }
        };
        // A cancelled step may wait for its model or for a tool, and the line does not say for which.
        let of_a_tool = Key { is_tool: true, ..key.clone() };
        let is_any = matches!(outcome, Outcome::GivenUp | Outcome::Late);
        for key in [key, &of_a_tool].into_iter().take(1 + usize::from(is_any)) {
            let Some(call) = self.calls.remove(key) else { continue };
            if let (Some((name, content)), true) = (&content, export.has_content) {
                call.set(name, content.clone());
            }
            call.end(failed, at);
        }
    }

    fn end(&mut self, status: &str, at: SystemTime) {
        let is_failure = matches!(status, "error" | "stuck" | "limit");
        if let (Some(root), true) = (&self.root, is_failure) {
            root.span().set_status(Status::error(status.to_owned()));
            root.span().set_attribute(KeyValue::new(ERROR, status.to_owned()));
        }
        if let Some(root) = &self.root {
            root.span().set_attribute(KeyValue::new("chartc.status", status.to_owned()));
        }
        self.close_all(at);
    }

    fn close_all(&mut self, at: SystemTime) {
        for call in std::mem::take(&mut self.calls).into_values() {
            call.end(Some(("cancelled", "the run has stopped")), at);
        }
        for span in [self.turn.take(), self.root.take()].into_iter().flatten() {
            ended(&span, at);
        }
    }

    /// Closes all open spans at the time of the last line, because the process ends before the run.
    fn stop(mut self) {
        let at = self.last;
        self.close_all(at);
    }
}

// Spans of calls: questions to models and people, and calls of tools.

/// The settings with which spans are created. `has_content` also exports prompts, answers, arguments and results.
struct Export<'e> {
    tracer: &'e SdkTracer,
    models: &'e Models,
    has_content: bool,
}

/// The identity of an open call within a run. The question of a step and the tool calls that it causes differ in `is_tool`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    child: String,
    step: String,
    state: String,
    element: Option<u32>,
    is_tool: bool,
}

impl Key {
    fn new(event: &TraceEvent<'_>, call: CallName<'_>) -> Self {
        let (child, step) = (event.child.to_owned(), event.subject.to_owned());
        let (state, element) = (call.which.state.clone(), call.which.element);
        Self { child, step, state, element, is_tool: call.is_tool() }
    }
}

/// The span of a call that has not ended, as a context that could have children.
struct Call(Context);

/// Opens a span at the time `at` as a child of `parent`.
fn begun(
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
    fn question(
        export: &Export<'_>,
        call: CallName<'_>,
        (client, prompt): (&str, &str),
        mut attributes: Vec<KeyValue>,
        at: (&Context, SystemTime),
    ) -> Self {
        let (name, kind) = if call.callee == Callee::Person {
            (format!("ask_person {}", call.name), SpanKind::Internal)
        } else {
            let model = export.models.of(call.name, client);
            attributes.push(KeyValue::new(OPERATION, "chat"));
            if !model.provider.is_empty() {
                attributes.push(KeyValue::new(PROVIDER, provider(&model.provider)));
            }
            attributes.extend(model.temperature.map(|heat| KeyValue::new(TEMPERATURE, heat)));
            attributes.extend(model.max_tokens.map(|most| KeyValue::new(MAX_TOKENS, most)));
            let name =
                if model.name.is_empty() { "chat".into() } else { format!("chat {}", model.name) };
            if !model.name.is_empty() {
                attributes.push(KeyValue::new(MODEL, model.name));
            }
            (name, SpanKind::Client)
        };
        if export.has_content {
            let said = json!([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]);
            attributes.push(KeyValue::new(INPUT, said.to_string()));
        }
        Self(begun(export.tracer, name, kind, attributes, at))
    }

    /// Opens the span of a tool call. `arguments` is JSON.
    fn tool(
        export: &Export<'_>,
        tool: &str,
        arguments: String,
        mut attributes: Vec<KeyValue>,
        at: (&Context, SystemTime),
    ) -> Self {
        attributes.push(KeyValue::new(OPERATION, "execute_tool"));
        attributes.push(KeyValue::new(TOOL, tool.to_owned()));
        attributes.push(KeyValue::new(TOOL_TYPE, "function"));
        if export.has_content {
            attributes.push(KeyValue::new(ARGUMENTS, arguments));
        }
        Self(begun(
            export.tracer,
            format!("execute_tool {tool}"),
            SpanKind::Internal,
            attributes,
            at,
        ))
    }

    fn set(&self, name: &'static str, value: impl Into<opentelemetry::Value>) {
        self.0.span().set_attribute(KeyValue::new(name, value));
    }

    /// Closes the span. `failed` is the kind of failure and its reason, or `None` after a success.
    fn end(self, failed: Option<(&str, &str)>, at: SystemTime) {
        let span = self.0.span();
        if let Some((kind, why)) = failed {
            span.set_attribute(KeyValue::new(ERROR, kind.to_owned()));
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
fn ended(context: &Context, at: SystemTime) {
    context.span().end_with_timestamp(at);
}

// Attribute names from OpenTelemetry's conventions for generative AI, and the models behind the clients of charts.

const OPERATION: &str = "gen_ai.operation.name";
const PROVIDER: &str = "gen_ai.provider.name";
const AGENT: &str = "gen_ai.agent.name";
const CONVERSATION: &str = "gen_ai.conversation.id";
const MODEL: &str = "gen_ai.request.model";
const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
const TEMPERATURE: &str = "gen_ai.request.temperature";
const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
const FINISH: &str = "gen_ai.response.finish_reasons";
const TOOL: &str = "gen_ai.tool.name";
const TOOL_TYPE: &str = "gen_ai.tool.type";
const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
const RESULT: &str = "gen_ai.tool.call.result";
const INPUT: &str = "gen_ai.input.messages";
const OUTPUT: &str = "gen_ai.output.messages";
const ERROR: &str = "error.type";

/// A model as spans describe it. An empty string or `None` means unknown.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    provider: String,
    name: String,
    temperature: Option<f64>,
    max_tokens: Option<i64>,
}

/// The models of a set of charts, by client and step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    clients: BTreeMap<String, Model>,
    steps: BTreeMap<String, String>,
    only: Option<Model>,
}

/// Parses `PROVIDER:MODEL`. Without a colon, the provider is empty.
fn model(text: &str) -> Model {
    let (provider, name) = text.split_once(':').unwrap_or(("", text));
    Model { provider: provider.into(), name: name.into(), ..Model::default() }
}

impl Models {
    /// Collects the clients and steps of the charts. `only` is a `PROVIDER:MODEL` that answers all steps instead of their clients, if there
    /// is one.
    pub fn new<'c>(charts: impl IntoIterator<Item = &'c Chart>, only: Option<&str>) -> Self {
        let mut models = Self { only: only.map(model), ..Self::default() };
        for chart in charts {
            for client in &chart.clients {
                let known = Model {
                    temperature: client.temperature,
                    max_tokens: client.max_tokens,
                    ..model(&client.model)
                };
                models.clients.insert(client.name.clone(), known);
            }
            for step in &chart.steps {
                if let Some(client) =
                    step.client.and_then(|client| chart.clients.get(client.index()))
                {
                    models.steps.insert(step.name.clone(), client.name.clone());
                }
            }
        }
        models
    }

    /// Returns the model that a step asks: that of `client`, or of the step's own client if `client` is empty.
    fn of(&self, step: &str, client: &str) -> Model {
        let client =
            if client.is_empty() { self.steps.get(step).map(String::as_str) } else { Some(client) };
        let known = client.and_then(|client| self.clients.get(client)).cloned().unwrap_or_default();
        // A model that replaces all others is still called with the temperature and token limit of the step's client.
        match &self.only {
            Some(Model { provider, name, .. }) => {
                Model { provider: provider.clone(), name: name.clone(), ..known }
            }
            None => known,
        }
    }
}
