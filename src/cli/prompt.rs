//! `chartc prompt`.

use super::Exit;
use super::instance::{Given, Kind, functions, instance, values};
use super::output::print;
use super::pick::pick_to_run;
use crate::diagnostic::nearest;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{AskOn, Chart, Expr, ExprKind, StateKind, StepKind, Type, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Asking, Oracle, OracleError, Question, ready};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{Session, data, play};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Show what a model would be sent in a state, without a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc prompt charts/builder.chart --at reflecting --param agent_id=ada
  chartc prompt agent.yaml --at ideating --step ideate --input balance=7
  chartc prompt agent.yaml --var strategic_goal=sell --format json
  chartc prompt social.chart --at active.evaluating --functions social.script.yaml

The chart is put into the state as it would be entered by default, without what entering does, and a turn is taken, or the
event is sent that the question waits for; code steps run as in any turn. Each step is shown as if the other steps
that ask were not there.

Exit codes: 0 shown, 1 errors in the chart or in a prompt, or nothing is asked there, 2 wrong usage, 3 a fault of chartc,
4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// Which chart, when the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// The state, as a dotted path [default: where the chart starts]
    #[arg(long, value_name = "STATE")]
    at: Option<String>,
    /// Only this step's prompt
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// The value of a var, as JSON or text; the others are as declared
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
    /// The value of a param, as JSON or text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// The value of an input, as JSON or text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// What comes with the event that a question waits for, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    data: String,
    /// A script with results of host functions
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    /// How it is shown: as text, or as a JSON array
    #[arg(long, default_value = "human", value_parser = ["human", "json"])]
    format: String,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let checked = match pick_to_run(&args.file, args.chart.as_deref(), 0)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let mut chart = checked.chart().clone();
    chart.calls_per_turn = None;
    // A var with a value from outside is read, checked and set as a param is.
    let names: Vec<&str> = args.var.iter().filter_map(|p| p.split('=').next()).collect();
    for row in &mut chart.variables {
        if names.contains(&row.name.as_str()) && matches!(row.kind, VariableKind::Var { .. }) {
            row.kind = VariableKind::Param { range: None };
        }
    }
    let given = Given {
        params: values(&chart, Kind::Param, &[args.param.clone(), args.var.clone()].concat())?,
        inputs: values(&chart, Kind::Input, &args.input)?,
    };
    if let Some(path) = &args.at {
        let at = state(&chart, path)?;
        begin_at(&mut chart, at);
    }
    let asking = steps(&chart, args.step.as_deref())?;
    let mut shown = Vec::new();
    let mut faults = String::new();
    for id in asking {
        let only = alone(&chart, id);
        let mut charts = checked.family();
        charts[0] = &only;
        match question(&charts, &given, &args, id)? {
            Asked::Put(question) => shown.push(*question),
            Asked::Failed(why) => {
                let _ = writeln!(faults, "`{}`: {why}", chart.steps[id.index()].name);
            }
            Asked::Not => {}
        }
    }
    print(&if args.format == "json" { json(&shown)? } else { text(&shown) })?;
    if !faults.is_empty() {
        super::output::complain(faults.trim_end());
    } else if shown.is_empty() {
        let place = args.at.as_deref().map_or_else(String::new, |at| format!(" at `{at}`"));
        super::output::complain(&format!(
            "nothing is asked{place}: no step there asks, its condition is false, or a single option is taken unasked"
        ));
    }
    Ok(if faults.is_empty() && !shown.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// The state of this path.
fn state(chart: &Chart, path: &str) -> miette::Result<StateId> {
    let is_it = |s: &StateId| {
        chart.state(*s).path == path && !matches!(chart.state(*s).kind, StateKind::History { .. })
    };
    chart.state_ids().find(is_it).ok_or_else(|| {
        let known = chart.states.iter().skip(1).map(|s| s.path.as_str());
        match nearest(path, known) {
            Some(near) => {
                miette::miette!("`{}` has no state `{path}`; did you mean `{near}`?", chart.name)
            }
            None => miette::miette!("`{}` has no state `{path}`", chart.name),
        }
    })
}

/// Makes the chart begin in a state, without what is done on the way.
fn begin_at(chart: &mut Chart, at: StateId) {
    let way: Vec<StateId> = chart.ancestors(at).collect();
    for pair in way.windows(2) {
        if let StateKind::Compound { initial } = &mut chart.states[pair[1].index()].kind {
            *initial = vec![pair[0]];
        }
    }
    for state in &mut chart.states {
        state.entry.clear();
        state.default_actions.clear();
    }
}

/// Steps that ask a model.
fn steps(chart: &Chart, name: Option<&str>) -> miette::Result<Vec<StepId>> {
    let asks =
        |id: &StepId| matches!(chart.steps[id.index()].kind, StepKind::Llm | StepKind::Ask { .. });
    let all = (0..chart.steps.len()).map(StepId::at).filter(asks);
    let Some(name) = name else { return Ok(all.collect()) };
    let found: Vec<StepId> =
        all.clone().filter(|id| chart.steps[id.index()].name == name).collect();
    if found.is_empty() {
        let known = all.map(|id| chart.steps[id.index()].name.as_str());
        return Err(match nearest(name, known) {
            Some(near) => {
                miette::miette!("no step `{name}` of `{}` asks; did you mean `{near}`?", chart.name)
            }
            None => miette::miette!("no step `{name}` of `{}` asks", chart.name),
        });
    }
    Ok(found)
}

/// The chart in which no other step asks.
fn alone(chart: &Chart, id: StepId) -> Chart {
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

enum Asked {
    Put(Box<Question>),
    Failed(String),
    Not,
}

/// Keeps the first question, and answers none.
#[derive(Default)]
struct Kept(Mutex<Option<Question>>);

impl Oracle for Kept {
    fn ask(&self, question: Question) -> Asking {
        if let Ok(mut kept) = self.0.lock() {
            kept.get_or_insert(question);
        }
        ready(Err(OracleError::Denied("nobody is asked".into())))
    }

    fn name(&self) -> String {
        "nobody".to_owned()
    }
}

/// What the step asks in the turn, or on the event that it waits for.
fn question(charts: &[&Chart], given: &Given, args: &Args, id: StepId) -> miette::Result<Asked> {
    let chart = charts[0];
    let step = &chart.steps[id.index()];
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let machine = instance(&plans, given, functions(charts, args.functions.as_deref())?)?;
    let kept = Arc::new(Kept::default());
    let mut session =
        Session::new(machine, kept.clone(), Arc::new(VirtualClock::new()), Vec::<Line>::new());
    for (name, value) in given.inputs.iter() {
        session.input(name, value.clone()).map_err(|fault| miette::miette!("{fault}"))?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    runtime.block_on(async {
        session.start().await.map_err(|fault| miette::miette!("{fault}"))?;
        if let StepKind::Ask { on: AskOn::Event(events), .. } = &step.kind {
            let event = &chart.events[events[0].index()].name;
            let data: serde_json::Value = serde_json::from_str(&args.data)
                .map_err(|fault| miette::miette!("--data is no JSON: {fault}"))?;
            let entry = serde_json::json!([{ "event": event, "data": data }]);
            let entries =
                data::entries(&entry.to_string()).map_err(|fault| miette::miette!("{fault}"))?;
            play(&mut session, &entries).await.map_err(|fault| miette::miette!("{fault}"))?;
        } else {
            session.turn().await.map_err(|fault| miette::miette!("{fault}"))?;
        }
        Ok::<(), miette::Report>(())
    })?;
    let (_, lines) = session.into_parts();
    let put = kept.0.lock().ok().and_then(|mut kept| kept.take());
    // Where a code step or a condition leads elsewhere first, nothing is asked in this state.
    let is_there = |state: &str| {
        let below = |at: &str| {
            state.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        args.at.as_deref().is_none_or(below)
    };
    if let Some(question) = put.filter(|q| q.step == step.name && is_there(&q.state)) {
        return Ok(Asked::Put(Box::new(question)));
    }
    let why = lines.iter().find_map(|line| {
        if let What::CallFailed { step: failed, why, .. } = &line.what {
            (*failed == step.name).then(|| why.clone())
        } else {
            None
        }
    });
    Ok(why.map_or(Asked::Not, Asked::Failed))
}

/// Below one another, each part under its heading.
fn text(questions: &[Question]) -> String {
    let mut out = String::new();
    for question in questions {
        if !out.is_empty() {
            out.push('\n');
        }
        let model = if question.model.model.is_empty() { "" } else { ", " };
        let _ = writeln!(
            out,
            "{} {} in {}{model}{}",
            question.kind.word(),
            question.step,
            question.state,
            question.model.model
        );
        let _ = writeln!(out, "--- prompt\n{}", question.prompt.trim_end());
        if !question.options.is_empty() {
            out.push_str("--- options\n");
        }
        for option in &question.options {
            let offer = &option.offer;
            let arguments: Vec<String> =
                offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            let _ = writeln!(
                out,
                "{}",
                format!("{}{arguments}  {}", offer.name, offer.text).trim_end()
            );
            if !option.schema.is_empty() {
                let _ = writeln!(out, "  {}", option.schema);
            }
        }
        let forbidden: Vec<&str> =
            question.forbidden.iter().map(|option| option.offer.name.as_str()).collect();
        if !forbidden.is_empty() {
            let _ = writeln!(out, "--- may not be called now\n{}", forbidden.join(", "));
        }
        if !question.schema.is_empty() {
            let _ = writeln!(out, "--- schema\n{}", question.schema);
        }
    }
    out
}

/// The same as a JSON array.
fn json(questions: &[Question]) -> miette::Result<String> {
    let schema = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let rows: Vec<serde_json::Value> = questions
        .iter()
        .map(|q| {
            let options = q.options.iter().map(|o| {
                serde_json::json!({ "name": o.offer.name, "text": o.offer.text, "arguments": schema(&o.schema) })
            });
            serde_json::json!({
                "step": q.step, "kind": q.kind.word(), "state": q.state, "client": q.client, "model": q.model.model,
                "prompt": q.prompt, "options": options.collect::<Vec<_>>(), "schema": schema(&q.schema),
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(|fault| miette::miette!("{fault}"))?;
    Ok(text + "\n")
}
