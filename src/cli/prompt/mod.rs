//! `chartc prompt`: shows the prompts of a state without asking anybody.
//!
//! A prompt depends on variables, components, options and permissions, so the runtime itself has to render it. The chart is changed so
//! that a run asks the wanted question first, and an oracle keeps the question instead of answering it. For `--at open --step triage`:
//!
//! 1. [`begin_at`] makes `open` the initial state.
//! 2. [`put::alone`] gives every other step that asks the guard `false`.
//! 3. `Setting::question` starts a session and runs one turn, or sends the event that the question waits for.
//! 4. The oracle keeps the question of `triage` and denies the call; [`show`] prints the question.
//! 5. If the prompt cannot be rendered, [`blame`] repeats this for each placeholder alone, to find the one that fails.

mod blame;
mod element;
mod put;
mod show;

use super::Exit;
use super::files::Root;
use super::instance::{InitialValues, PairKind, values};
use super::output::{StyledText, complain, complain_page, print, print_json};
use super::pick::pick_to_run_with_sources;
use chartc_check::compile::Checked;
use chartc_core::arena::{EventId, StateId, StepId};
use chartc_core::model::{AskOn, Chart, StateKind, StepKind, VariableKind};
use chartc_text::diagnostic::nearest;
use chartc_text::source::Sources;
use element::Element;
use put::{AskOutcome, Setting};
use show::ShownQuestion;
use std::path::{Path, PathBuf};

/// Show the prompts that a model or a person would get in a state, without asking anybody.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc prompt charts/builder.chart --at reflecting --param agent_id=ada
  chartc prompt agent.yaml --at ideating --step ideate --input balance=7
  chartc prompt agent.yaml --var strategic_goal=sell --format json
  chartc prompt social.chart --at active.evaluating --functions social.script.yaml
  chartc prompt inbox.chart --at open --event mail.came --data '{\"from\":\"ben\"}'
  chartc prompt search.chart --at grading --element Owls

The chart enters the state by default entry, without `enter` blocks unless --enter is given. Then it
takes a turn, or gets each event that a question there waits for. Code steps run as in any turn. Each
step is shown as if it were the only one that asks; one with `each` for the first element of its list,
for that of --element, or, where the list gives none, for an example.

Exit codes: 0 shown, 1 errors in the chart or in a prompt, or nothing is asked there, 2 wrong usage,
3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// The state, as a dotted path [default: the initial state]
    #[arg(long, value_name = "STATE")]
    at: Option<String>,
    /// First run the `enter` blocks of the state and its ancestors, as if it were entered from outside
    #[arg(long, requires = "at")]
    enter: bool,
    /// Show only the prompt of this step
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// Set a var; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
    /// Set a param; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Set an input; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Show only questions on this event [default: all events that questions wait for]
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Data of the event, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    data: String,
    /// The element for a step with `each`; the value is JSON or plain text [default: the first of its list]
    #[arg(long, value_name = "VALUE")]
    element: Option<String>,
    /// Script with results of host functions
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    /// Output format: text or a JSON array
    #[arg(long, default_value = "human", value_parser = ["human", "json"])]
    format: String,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let (checked, sources) =
        match pick_to_run_with_sources(&args.file, args.chart.as_deref(), &args.root, 0)? {
            Ok(found) => found,
            Err(exit) => return Ok(exit),
        };
    let mut chart = checked.chart().clone();
    // The limit must not hide questions.
    chart.calls_per_turn = None;
    // A var that the command line sets becomes a param: it is then parsed, checked and set like one.
    let names: Vec<&str> = args.var.iter().filter_map(|p| p.split('=').next()).collect();
    for row in &mut chart.variables {
        if names.contains(&row.name.as_str()) && matches!(row.kind, VariableKind::Var { .. }) {
            row.kind = VariableKind::Param { range: None };
        }
    }
    let given = InitialValues {
        params: values(&chart, PairKind::Param, &[args.param.clone(), args.var.clone()].concat())?,
        inputs: values(&chart, PairKind::Input, &args.input)?,
    };
    if let Some(path) = &args.at {
        let at = state(&chart, path)?;
        begin_at(&mut chart, at, args.enter);
    }
    let mut shown = Vec::new();
    let mut faults = StyledText::default();
    let wanted = args.event.as_deref().map(|name| event(&chart, name)).transpose()?;
    let all = steps(&chart, args.step.as_deref())?;
    if args.element.is_some() && all.iter().all(|id| chart.steps[id.index()].each.is_none()) {
        return Err(miette::miette!("no step that is shown has an `each`: leave `--element` out"));
    }
    let element = args.element.as_deref();
    let (functions, data, at) = (args.functions.as_deref(), args.data.as_str(), args.at.as_deref());
    let request = Request {
        chart: &chart,
        checked: &checked,
        sources: &sources,
        given: &given,
        element,
        functions,
        data,
        at,
    };
    for id in all {
        let step = &chart.steps[id.index()];
        let events = match &step.kind {
            StepKind::Ask { on: AskOn::Event(events), .. } => {
                let fits = |event: &&EventId| wanted.is_none_or(|wanted| wanted == **event);
                events.iter().filter(fits).map(|event| Some(*event)).collect()
            }
            _ => vec![None; usize::from(wanted.is_none())],
        };
        let is_one_of_many = events.len() > 1;
        for on in events {
            let name = on.map(|on| chart.events[on.index()].name.clone());
            let what = name.as_ref().map_or_else(String::new, |name| format!(" on `{name}`"));
            let (asked, element, places) = request.ask(id, on)?;
            match asked {
                AskOutcome::Put(question) => {
                    shown.push(ShownQuestion { question: *question, event: name, element });
                }
                AskOutcome::NoList(why) => {
                    faults.line(format!(
                        "the list of `{}` cannot be computed: {why}; show the step with `--element`",
                        step.name
                    ));
                }
                AskOutcome::Failed(why) => {
                    if places.is_empty() {
                        faults.line(format!("`{}`{what}: {why}", step.name));
                    } else {
                        faults.line(format!("`{}`{what} cannot be written:", step.name));
                        faults.add(&places);
                    }
                }
                AskOutcome::Misfit(why) if is_one_of_many => {
                    faults.line(format!(
                        "`{}` waits for {}; show it with `--event {} --data '{{…}}'`",
                        step.name,
                        why.strip_prefix("event ").unwrap_or(&why),
                        name.unwrap_or_default()
                    ));
                }
                AskOutcome::Misfit(why) => {
                    return Err(miette::miette!("{why}: set it with `--data`"));
                }
                AskOutcome::Not => {}
            }
        }
    }
    if args.format == "json" {
        print_json(&show::json(&shown)?)?;
    } else {
        print(&show::text(&shown))?;
    }
    if !faults.is_empty() {
        complain_page(&faults);
    } else if shown.is_empty() {
        let place = args.at.as_deref().map_or_else(String::new, |at| format!(" at `{at}`"));
        complain(format!(
            "nothing is asked{place}: no step there asks, its condition is false, or its only option is taken without asking"
        ));
    }
    Ok(if faults.is_empty() && !shown.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// The question that the command line asks for.
struct Request<'c> {
    /// The chart as it starts: in the state in which the question is asked.
    chart: &'c Chart,
    checked: &'c Checked,
    sources: &'c Sources,
    given: &'c InitialValues,
    element: Option<&'c str>,
    functions: Option<&'c Path>,
    data: &'c str,
    at: Option<&'c str>,
}

impl Request<'_> {
    /// Asks one question. Returns the outcome, the list element that the step is shown for, and the placeholders that fail.
    fn ask(
        &self,
        id: StepId,
        on: Option<EventId>,
    ) -> miette::Result<(AskOutcome, Option<Element>, StyledText)> {
        let Self { chart, checked, functions, data, at, .. } = *self;
        let mut element = Element::read(chart, id, self.element);
        loop {
            let mut only = put::alone(chart, id);
            let own = element.as_ref().map(|element| element.put(&mut only, id, self.given));
            let mut charts = checked.family();
            charts[0] = &only;
            let given = own.as_ref().unwrap_or(self.given);
            let setting = Setting { charts, given, functions, data, at };
            let asked = setting.question(id, on)?;
            match (&asked, &element) {
                // Nothing was asked, perhaps because the list is empty: try an example.
                (AskOutcome::Not, Some(Element::First)) => element = Element::example(chart, id),
                (AskOutcome::Failed(_), _) => {
                    let places = blame::holes(&setting, checked, id, on, self.sources)?;
                    return Ok((asked, element, places));
                }
                _ => return Ok((asked, element, StyledText::default())),
            }
        }
    }
}

/// The state with this path, which is not a history.
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

/// Makes the chart start in a state, either as if it were entered from outside, or without running any `enter` blocks.
fn begin_at(chart: &mut Chart, at: StateId, enters: bool) {
    if enters {
        chart.states[0].kind = StateKind::Compound { initial: vec![at] };
        chart.states[0].default_actions.clear();
        return;
    }
    let way: Vec<StateId> = chart.ancestors(at).collect();
    // Entry by default follows the chain of initial states down to `at`.
    for pair in way.windows(2) {
        if let StateKind::Compound { initial } = &mut chart.states[pair[1].index()].kind {
            *initial = vec![pair[0]];
        }
    }
    // Actions could change the variables that the command line has set.
    for state in &mut chart.states {
        state.entry.clear();
        state.default_actions.clear();
    }
}

/// The event of this name, if a question waits for it.
fn event(chart: &Chart, name: &str) -> miette::Result<EventId> {
    let mut waited: Vec<EventId> = Vec::new();
    for step in &chart.steps {
        if let StepKind::Ask { on: AskOn::Event(events), .. } = &step.kind {
            waited.extend(events);
        }
    }
    let name_of = |id: &EventId| chart.events[id.index()].name.as_str();
    waited.iter().copied().find(|id| name_of(id) == name).ok_or_else(|| {
        match nearest(name, waited.iter().map(name_of)) {
            Some(near) => miette::miette!(
                "no question of `{}` waits for `{name}`; did you mean `{near}`?",
                chart.name
            ),
            None => miette::miette!("no question of `{}` waits for `{name}`", chart.name),
        }
    })
}

/// The steps that ask a model or a person: all, or the one with this name.
fn steps(chart: &Chart, name: Option<&str>) -> miette::Result<Vec<StepId>> {
    let asks = |id: &StepId| {
        let kind = &chart.steps[id.index()].kind;
        matches!(kind, StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_))
    };
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
