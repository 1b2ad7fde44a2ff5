//! Runs of charts as OpenTelemetry spans. A run is an `invoke_agent` span, its turns are below it, and the calls of models, people and tools
//! below the turn in which they began. The names are those of OpenTelemetry's conventions for generative AI; what they do not name begins
//! with `chartc.`.
//!
//! Spans are made from the lines of traces, so they say what the trace says and when it says so. Prompts, answers, arguments and results
//! are exported only if that is asked for: they may hold what others must not see.

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

/// Where a collector is asked first.
pub const ENDPOINT: &str = "http://localhost:4318";

/// Spans cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum OtelError {
    /// The exporter cannot be made.
    #[error("the collector at {endpoint}: {why}")]
    Exporter {
        /// Its address.
        endpoint: String,
        /// Why not.
        why: ExporterBuildError,
    },
    /// The last spans did not arrive.
    #[error("spans did not arrive at the collector: {0}")]
    Lost(String),
}

/// Exports runs.
pub struct Otel {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    models: Models,
    has_content: bool,
    runs: BTreeMap<String, Run>,
}

impl Otel {
    /// To a collector that takes OTLP over HTTP at `endpoint`, such as [`ENDPOINT`]. `models` says what clients of charts are; `has_content`
    /// exports prompts, answers, arguments and results, too.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(endpoint: &str, models: Models, has_content: bool) -> Result<Self, OtelError> {
        let traces = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        // An error says that the program has installed another provider of cryptography, which is as good.
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

    /// Takes a line of the trace of a run. `now` is the time of the world at which the line was written.
    pub fn line(&mut self, run: &str, line: &Line, now: SystemTime) {
        let one = self.runs.entry(run.to_owned()).or_insert_with(|| Run::new(run, line, now));
        let export =
            Export { tracer: &self.tracer, models: &self.models, has_content: self.has_content };
        if one.line(&export, line) {
            self.runs.remove(run);
        }
    }

    /// Ends what is open and sends what was not sent.
    ///
    /// # Errors
    /// The collector did not take it.
    pub fn end(mut self) -> Result<(), OtelError> {
        for run in std::mem::take(&mut self.runs).into_values() {
            run.stop();
        }
        self.provider.force_flush().map_err(|why| OtelError::Lost(why.to_string()))?;
        self.provider.shutdown().map_err(|why| OtelError::Lost(why.to_string()))
    }
}
