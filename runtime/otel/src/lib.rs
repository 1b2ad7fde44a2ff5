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

mod call;
mod names;
mod run;

pub use names::Models;

use call::Export;
use chartc_runtime::trace::Line;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use run::Run;
use std::collections::BTreeMap;
use std::time::SystemTime;

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
