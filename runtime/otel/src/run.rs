//! The open spans of one run, and how each line of the trace opens, changes or closes them.

use crate::call::{Call, Export, Key, begun, ended};
use crate::names;
use chartc_core::machine::Instant;
use chartc_runtime::trace::{Line, What};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

pub(crate) struct Run {
    name: String,
    /// The wall-clock time at which the run's clock showed 0.
    epoch: SystemTime,
    last: SystemTime,
    root: Option<Context>,
    turn: Option<Context>,
    calls: BTreeMap<Key, Call>,
}

impl Run {
    pub(crate) fn new(name: &str, line: &Line, now: SystemTime) -> Self {
        let epoch = now.checked_sub(Duration::from_millis(line.at_ms)).unwrap_or(now);
        let (root, turn, calls) = (None, None, BTreeMap::new());
        Self { name: name.to_owned(), epoch, last: now, root, turn, calls }
    }

    fn at(&self, at: Instant) -> SystemTime {
        self.epoch.checked_add(Duration::from_millis(at)).unwrap_or(self.last)
    }

    /// Applies a line of the trace. Returns `true` when the run has ended.
    pub(crate) fn line(&mut self, export: &Export<'_>, line: &Line) -> bool {
        let at = self.at(line.at_ms);
        self.last = at;
        // Lines of child charts have a `child` path. Only their calls become spans: turns and transitions are those of the root chart.
        if line.child.is_empty() {
            if let What::Run { chart, oracle, .. } | What::Resumed { chart, oracle, .. } =
                &line.what
            {
                self.begin(export, chart, oracle, at);
            } else if let What::Turn { turn } = &line.what {
                self.turn(export, *turn, at);
            } else if let What::TurnEnded { .. } = &line.what {
                if let Some(turn) = self.turn.take() {
                    ended(&turn, at);
                }
            } else if let What::Taken { line, .. } = &line.what {
                let targets = line.targets.join(", ");
                self.event(
                    "transition",
                    &[("from", &line.state), ("to", &targets), ("trigger", &line.trigger)],
                    at,
                );
            } else if let What::Error { error } = &line.what {
                self.event("error", &[("error", error)], at);
            } else if let What::Ended { status, .. } = &line.what {
                self.end(status, at);
                return true;
            }
        }
        self.call(export, line, at);
        false
    }

    fn begin(&mut self, export: &Export<'_>, chart: &str, oracle: &str, at: SystemTime) {
        let attributes = vec![
            KeyValue::new(names::OPERATION, "invoke_agent"),
            KeyValue::new(names::AGENT, chart.to_owned()),
            KeyValue::new(names::CONVERSATION, self.name.clone()),
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
    fn event(&self, name: &'static str, values: &[(&'static str, &String)], at: SystemTime) {
        let Some(span) = self.turn.as_ref().or(self.root.as_ref()) else { return };
        let values = values.iter().map(|(key, value)| KeyValue::new(*key, (*value).clone()));
        span.span().add_event_with_timestamp(name, at, values.collect());
    }

    /// Opens, updates or closes the span of the call that a line is about. Other lines change nothing.
    fn call(&mut self, export: &Export<'_>, line: &Line, at: SystemTime) {
        let key = |step: &str, which, is_tool| Key::new(&line.child, step, which, is_tool);
        let Some(parent) = self.turn.as_ref().or(self.root.as_ref()) else { return };
        if let What::Question { step, attempt, client, prompt, which, .. } = &line.what {
            let key = key(step, which, false);
            let call = Call::question(export, (step, client, prompt), &key, *attempt, (parent, at));
            self.calls.insert(key, call);
        } else if let What::Usage {
            step,
            input_tokens,
            output_tokens,
            cost,
            assumed,
            cut,
            which,
            ..
        } = &line.what
        {
            let Some(call) = self.calls.get(&key(step, which, false)) else { return };
            // Assumed numbers are those that were held for the call in its budget: the model has reported none.
            if !assumed {
                call.set(names::INPUT_TOKENS, i64::try_from(*input_tokens).unwrap_or(i64::MAX));
                call.set(names::OUTPUT_TOKENS, i64::try_from(*output_tokens).unwrap_or(i64::MAX));
            }
            if *cost > 0.0 {
                call.set("chartc.cost", *cost);
            }
            if *cut {
                let reasons = vec![opentelemetry::StringValue::from("length")];
                call.set(names::FINISH, opentelemetry::Value::Array(reasons.into()));
            }
        } else if let What::Answer { step, text, which, .. } = &line.what {
            let Some(call) = self.calls.remove(&key(step, which, false)) else { return };
            if export.has_content {
                let said =
                    json!([{"role": "assistant", "parts": [{"type": "text", "content": text}]}]);
                call.set(names::OUTPUT, said.to_string());
            }
            call.end(None, at);
        } else if let What::Unusable { step, why, which, .. } = &line.what {
            self.close(&key(step, which, false), ("unusable_answer", why), at);
        } else if let What::CallFailed { step, error, why, which, .. } = &line.what {
            self.close(&key(step, which, false), (error, why), at);
        } else if let What::Cancelled { step, which, .. } | What::Dropped { step, which, .. } =
            &line.what
        {
            // A cancelled step may wait for its model or for a tool, and the line does not say for which.
            for is_tool in [false, true] {
                self.close(
                    &key(step, which, is_tool),
                    ("cancelled", "nobody waits for it any more"),
                    at,
                );
            }
        } else if let What::ToolCall { step, tool, arguments, which } = &line.what {
            let key = key(step, which, true);
            let arguments = serde_json::to_string(arguments).unwrap_or_default();
            let call = Call::tool(export, tool, arguments, &key, (parent, at));
            self.calls.insert(key, call);
        } else if let What::ToolResult { step, value, which, .. } = &line.what {
            let Some(call) = self.calls.remove(&key(step, which, true)) else { return };
            if export.has_content {
                call.set(names::RESULT, serde_json::to_string(value).unwrap_or_default());
            }
            call.end(None, at);
        } else if let What::ToolFailed { step, error, why, which, .. } = &line.what {
            self.close(&key(step, which, true), (error, why), at);
        }
    }

    /// Closes the span of a call with a failure.
    fn close(&mut self, key: &Key, failed: (&str, &str), at: SystemTime) {
        if let Some(call) = self.calls.remove(key) {
            call.end(Some(failed), at);
        }
    }

    fn end(&mut self, status: &str, at: SystemTime) {
        let is_failure = matches!(status, "error" | "stuck" | "limit");
        if let (Some(root), true) = (&self.root, is_failure) {
            root.span().set_status(Status::error(status.to_owned()));
            root.span().set_attribute(KeyValue::new(names::ERROR, status.to_owned()));
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
    pub(crate) fn stop(mut self) {
        let at = self.last;
        self.close_all(at);
    }
}
