//! Asks one question of a chart in order to show it.

use crate::cli::instance::{InitialValues, functions, instance};
use chartc_core::arena::{EventId, StepId};
use chartc_core::model::{Chart, Expr, ExprKind, StepKind, Type};
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Asking, Oracle, OracleError, Question, ready};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{PlayError, Session, data, play};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A copy of the chart in which no other step asks or calls.
pub(super) fn alone(chart: &Chart, id: StepId) -> Chart {
    let mut chart = chart.clone();
    for (i, step) in chart.steps.iter_mut().enumerate() {
        let asks = matches!(
            step.kind,
            StepKind::Llm
                | StepKind::Ask { .. }
                | StepKind::Call(..)
                | StepKind::Human(_)
                | StepKind::Run(_)
        );
        if asks && i != id.index() {
            step.guard = Some(Expr { kind: ExprKind::Bool(false), ty: Type::Bool });
        }
    }
    chart
}

/// The result of asking a question.
pub(super) enum AskOutcome {
    /// The question.
    Put(Box<Question>),
    /// The prompt cannot be rendered, for this reason.
    Failed(String),
    /// The list of the step's `each` cannot be computed, for this reason.
    NoList(String),
    /// The data do not fit the event, for this reason.
    Misfit(String),
    /// Nothing was asked.
    Not,
}

/// An oracle that keeps the first question and denies all calls.
#[derive(Default)]
struct FirstQuestion(Mutex<Option<Question>>);

impl Oracle for FirstQuestion {
    fn ask(&self, question: Arc<Question>) -> Asking {
        if let Ok(mut kept) = self.0.lock() {
            kept.get_or_insert(Arc::unwrap_or_clone(question));
        }
        ready(Err(OracleError::Denied("nobody is asked".into())))
    }

    fn name(&self) -> String {
        "nobody".to_owned()
    }
}

/// The setting in which a question is asked.
pub(super) struct Setting<'c> {
    /// The chart and its child charts.
    pub(super) charts: Vec<&'c Chart>,
    pub(super) given: &'c InitialValues,
    /// The script with results of host functions.
    pub(super) functions: Option<&'c Path>,
    /// The data of the event, as JSON.
    pub(super) data: &'c str,
    /// The path of the state in which the question must be asked.
    pub(super) at: Option<&'c str>,
}

impl Setting<'_> {
    /// Asks the question of the step, in a turn or on its event.
    pub(super) fn question(&self, id: StepId, on: Option<EventId>) -> miette::Result<AskOutcome> {
        let Self { charts, given, at, .. } = self;
        let chart = charts[0];
        let step = &chart.steps[id.index()];
        let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
        let machine = instance(&plans, given, functions(charts, self.functions)?)?;
        let kept = Arc::new(FirstQuestion::default());
        let clock = Arc::new(VirtualClock::new());
        let mut session = Session::new(machine, kept.clone(), clock, Vec::<Line>::new());
        for (name, value) in given.inputs.iter() {
            session.input(name, value.clone()).map_err(|fault| miette::miette!("{fault}"))?;
        }
        let entries = match on {
            None => Vec::new(),
            Some(on) => {
                let event = &chart.events[on.index()].name;
                let data: serde_json::Value = serde_json::from_str(self.data)
                    .map_err(|fault| miette::miette!("--data is not valid JSON: {fault}"))?;
                let entry = serde_json::json!([{ "event": event, "data": data }]);
                data::entries(&entry.to_string()).map_err(|fault| miette::miette!("{fault}"))?
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
        let misfit = runtime.block_on(async {
            session.start().await.map_err(|fault| miette::miette!("{fault}"))?;
            if on.is_none() {
                session.turn().await.map_err(|fault| miette::miette!("{fault}"))?;
                return Ok::<_, miette::Report>(None);
            }
            match play(&mut session, &entries).await {
                Err(PlayError::Entry { why, .. }) => Ok(Some(why)),
                Err(PlayError::Run(fault)) => Err(miette::miette!("{fault}")),
                Ok(()) => Ok(None),
            }
        })?;
        if let Some(why) = misfit {
            return Ok(AskOutcome::Misfit(why));
        }
        let (_, lines) = session.into_parts();
        let put = kept.0.lock().ok().and_then(|mut kept| kept.take());
        // A code step or an eventless transition may leave the state before the step asks. A question in another state does not count.
        let is_there = |state: &str| {
            let below = |at: &str| {
                state.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            at.is_none_or(below)
        };
        if let Some(question) = put.filter(|q| q.step == step.name && is_there(&q.state)) {
            return Ok(AskOutcome::Put(Box::new(question)));
        }
        Ok(why(&lines, &step.name))
    }
}

/// The reason why a step did not ask. Notes in the trace say why a prompt or a list cannot be computed.
fn why(lines: &[Line], step: &str) -> AskOutcome {
    let mut reason = None;
    for line in lines {
        if let What::Note { text, .. } = &line.what {
            let of = |what| {
                let (of, why) = text.strip_prefix(what)?.split_once("`: ")?;
                (of == step).then_some(why)
            };
            reason = of("prompt of `").or(reason);
            if let Some(why) = of("`each` of `") {
                return AskOutcome::NoList(why.to_owned());
            }
        }
        if let What::CallFailed { step: failed, why, .. } = &line.what
            && failed == step
        {
            return AskOutcome::Failed(reason.unwrap_or(why).to_owned());
        }
    }
    AskOutcome::Not
}
