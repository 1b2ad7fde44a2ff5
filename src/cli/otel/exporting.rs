//! Exports runs as spans, by OTLP over HTTP.

#![allow(clippy::disallowed_methods, reason = "spans have the times of the world")]

use crate::cli::output::complain;
use crate::setup::only;
use chartc_adapters::telemetry::{Models, Otel};
use chartc_core::model::Chart;
use chartc_runtime::trace::{Line, Sink};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct Options {
    /// Send spans of the run to an OpenTelemetry collector, by OTLP over HTTP, such as http://localhost:4318
    #[arg(long, value_name = "URL")]
    otel: Option<String>,
    /// Let spans hold prompts, answers, arguments and results, too
    #[arg(long, requires = "otel")]
    otel_content: bool,
}

impl Options {
    /// Whether spans are exported.
    pub(in crate::cli) const fn is_given(&self) -> bool {
        self.otel.is_some()
    }

    pub(in crate::cli) fn begin(
        &self,
        charts: &[&Chart],
        llm: Option<&str>,
    ) -> miette::Result<Exporting> {
        let Some(endpoint) = &self.otel else { return Ok(Exporting(None)) };
        let models = Models::new(charts.iter().copied(), llm.and_then(only));
        let otel = Otel::new(endpoint, models, self.otel_content);
        let otel = otel.map_err(|why| miette::miette!("`--otel`: {why}"))?;
        Ok(Exporting(Some(Arc::new(Mutex::new(Some(otel))))))
    }
}

/// Exports the trace lines of runs. Clones share one exporter.
#[derive(Clone)]
pub(in crate::cli) struct Exporting(Option<Arc<Mutex<Option<Otel>>>>);

struct Spans {
    to: Exporting,
    run: String,
}

impl Sink for Spans {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.to.line(&self.run, line);
        Ok(())
    }
}

impl Exporting {
    pub(in crate::cli) fn sink(&self, run: &str) -> impl Sink + use<> {
        Spans { to: self.clone(), run: run.to_owned() }
    }

    pub(in crate::cli) fn line(&self, run: &str, line: &Line) {
        let Some(otel) = &self.0 else { return };
        if let Some(otel) = otel.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            otel.line(run, line, SystemTime::now());
        }
    }

    /// Sends the remaining spans. If the collector cannot be reached, warns, because the run itself is not affected.
    pub(in crate::cli) fn end(self) {
        let Some(otel) = self.0 else { return };
        let otel = otel.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(why)) = otel.map(Otel::end) {
            complain(format!("warning: {why}"));
        }
    }
}
