//! `chartc prompt`: shows the prompts of a state without asking anybody.
//!
//! A prompt depends on variables, components, options and permissions, so the runtime itself has to render it. The chart is changed so
//! that a run asks the wanted question first, and an oracle keeps the question instead of answering it. For `--at open --step triage`:
//!
//! 1. [`begin_at`] makes `open` the initial state.
//! 2. [`one_asks`] lets only the step ask whose number a param has, here that of `triage`.
//! 3. `Setting::question` starts a session and runs one turn, or sends the event that the question waits for.
//! 4. The oracle keeps the question of `triage` and denies the call; [`show`] prints the question.
//! 5. If the prompt cannot be rendered, [`blame`] repeats this for each placeholder alone, to find the one that fails.

use super::files::Root;
use super::given::value;
use super::instance::{InitialValues, PairKind, instance, values};
use super::output::{Exit, StyledText, complain, complain_page, print, print_json};
use super::pick::pick_to_run_with_sources;
use crate::setup::functions;
use chartc_compiler::compile::Checked;
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_compiler::syntax::source::{Sources, Span};
use chartc_core::arena::{EventId, StateId, StepId, VarId};
use chartc_core::expr::{Map, Value, ranged};
use chartc_core::model::{
    BinaryOp, Chart, CompareOp, Expr, ExprKind, Field, StateKind, Step, StepKind, Template,
    TemplatePart, Type, TypeDef, TypeKind, Variable, VariableKind,
};
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Alternative, Asking, Oracle, OracleError, Question, ready};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{PlayError, Session, data, play};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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
    let mut chart = Chart::clone(checked.chart());
    // The limit must not hide questions.
    chart.calls_per_turn = None;
    make_params(&mut chart, &args.var);
    let given = InitialValues {
        params: values(&chart, PairKind::Param, &[args.param.clone(), args.var.clone()].concat())?,
        inputs: values(&chart, PairKind::Input, &args.input)?,
    };
    if let Some(path) = &args.at {
        let at = state(&chart, path)?;
        begin_at(&mut chart, at, args.enter);
    }
    let wanted = args.event.as_deref().map(|name| event(&chart, name)).transpose()?;
    let all = steps(&chart, args.step.as_deref())?;
    if args.element.is_some() && all.iter().all(|id| chart.steps[id.index()].each.is_none()) {
        return Err(miette::miette!("no step that is shown has an `each`: leave `--element` out"));
    }
    let element = args.element.as_deref();
    let chart = Arc::new(one_asks(&chart));
    let plans = &checked.plans_with(&chart);
    let (functions, data, at) = (args.functions.as_deref(), args.data.as_str(), args.at.as_deref());
    let request = Request {
        chart: &chart,
        plans,
        checked: &checked,
        sources: &sources,
        given: &given,
        element,
        functions,
        data,
        at,
    };
    let mut shown = Vec::new();
    let mut faults = StyledText::default();
    for id in all {
        show_step(&request, id, wanted, (&mut shown, &mut faults))?;
    }
    if args.format == "json" {
        print_json(&json(&shown)?)?;
    } else {
        print(&text(&shown))?;
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

/// Turns the vars that the command line sets into params: they are then parsed, checked and set like params.
fn make_params(chart: &mut Chart, pairs: &[String]) {
    let names: Vec<&str> = pairs.iter().filter_map(|p| p.split('=').next()).collect();
    for row in &mut chart.variables {
        if names.contains(&row.name.as_str()) && matches!(row.kind, VariableKind::Var { .. }) {
            row.kind = VariableKind::Param { range: None };
        }
    }
}

/// Asks the questions of a step that are wanted, and collects them and what is wrong with them.
fn show_step(
    request: &Request<'_>,
    id: StepId,
    wanted: Option<EventId>,
    (shown, faults): (&mut Vec<ShownQuestion>, &mut StyledText),
) -> miette::Result<()> {
    let step = &request.chart.steps[id.index()];
    let events = questions_of(step, wanted);
    let is_one_of_many = events.len() > 1;
    for on in events {
        let name = on.map(|on| request.chart.events[on.index()].name.clone());
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
    Ok(())
}

/// The events on which a step is to be asked; `None` stands for a question without an event.
fn questions_of(step: &Step, wanted: Option<EventId>) -> Vec<Option<EventId>> {
    if !step.is_on_event() {
        return vec![None; usize::from(wanted.is_none())];
    }
    let fits = |event: &&EventId| wanted.is_none_or(|wanted| wanted == **event);
    step.events().iter().filter(fits).map(|event| Some(*event)).collect()
}

/// The question that the command line asks for.
struct Request<'c> {
    /// The chart as it starts: in the state in which the question is asked. The param [`STEP`] says which step asks.
    chart: &'c Chart,
    /// The plans of the chart and of its child charts.
    plans: &'c Arc<[Plan]>,
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
            let mut given = self.given.clone();
            given
                .params
                .insert(STEP.into(), Value::Int(i64::try_from(id.index()).unwrap_or(i64::MAX)));
            let mut plans = self.plans.clone();
            if let Some(element @ (Element::Given(_) | Element::Example(_))) = &element {
                let mut chart = Chart::clone(chart);
                element.put(&mut chart, id, &mut given);
                plans = checked.plans_with(&Arc::new(chart));
            }
            let setting = Setting { plans, given: &given, functions, data, at };
            let asked = setting.question(id, on)?;
            match (&asked, &element) {
                // Nothing was asked, perhaps because the list is empty: try an example.
                (AskOutcome::Not, Some(Element::First)) => element = Element::example(chart, id),
                (AskOutcome::Failed(_), _) => {
                    let places = holes(&setting, checked, id, on, self.sources)?;
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
        waited.extend(step.events());
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

// Finds the placeholders of a prompt that cannot be rendered, and the reasons.

/// A text that contributes to a prompt.
#[derive(Clone, Copy)]
enum Text {
    Own,
    Component(usize),
}

/// Lists each placeholder that fails when it is rendered alone, one line with its position and the reason.
fn holes(
    setting: &Setting<'_>,
    checked: &Checked,
    id: StepId,
    on: Option<EventId>,
    sources: &Sources,
) -> miette::Result<StyledText> {
    let chart = &**setting.plans[0].chart();
    let own = (Text::Own, checked.map().step(id).prompt_parts.as_slice());
    let parts = checked.map().component_parts.iter().enumerate();
    let components = parts.map(|(i, parts)| (Text::Component(i), parts.as_slice()));
    let mut lines = StyledText::default();
    for (text, spans) in std::iter::once(own).chain(components) {
        let Some(template) = template(chart, id, text) else { continue };
        for (part, span) in template.parts.iter().zip(spans) {
            if matches!(part, TemplatePart::Text(_) | TemplatePart::Options) {
                continue;
            }
            let only = with_only(chart, id, text, part);
            let mut plans = setting.plans.to_vec();
            plans[0] = Plan::new(&Arc::new(only));
            let setting = Setting { plans: plans.into(), ..*setting };
            if let AskOutcome::Failed(why) = setting.question(id, on)? {
                lines.line(place(*span, &why, sources));
            }
        }
    }
    Ok(lines)
}

fn template(chart: &Chart, id: StepId, text: Text) -> Option<&Template> {
    match text {
        Text::Own => match &chart.steps[id.index()].kind {
            StepKind::Human(question) => Some(question),
            _ => chart.steps[id.index()].prompt.as_ref(),
        },
        Text::Component(i) => Some(&chart.components.get(i)?.text),
    }
}

/// A copy of the chart in which the prompt consists of one part of one text. The text keeps its conditions.
fn with_only(chart: &Chart, id: StepId, text: Text, part: &TemplatePart) -> Chart {
    let mut chart = chart.clone();
    let one = Template { parts: vec![part.clone()] };
    let step = &mut chart.steps[id.index()];
    let (own, kept) = match text {
        Text::Own => (one, None),
        Text::Component(i) => {
            chart.components[i].text = one;
            (Template::default(), Some(i))
        }
    };
    if let StepKind::Human(question) = &mut step.kind {
        *question = own;
    } else {
        step.prompt = Some(own);
    }
    for (i, component) in chart.components.iter_mut().enumerate() {
        if kept != Some(i) {
            component.inserts.clear();
        }
    }
    chart
}

fn place(span: Span, why: &str, sources: &Sources) -> String {
    let source = sources.get(span.file);
    let at = source.position(span.start);
    format!("  {}:{}:{}: {}: {why}", source.name, at.line, at.column, source.slice(span))
}

// The list element for which a step with `each` is shown.

/// The name of the added param that holds the element. Error messages show it.
const NAME: &str = "--element";

/// The list element for which a step is shown.
enum Element {
    /// The first element of the list.
    First,
    /// The element from the command line.
    Given(Value),
    /// An example, because the list is empty.
    Example(Value),
}

impl Element {
    /// Reads `--element`. Returns `None` if the step has no `each`.
    fn read(chart: &Chart, id: StepId, text: Option<&str>) -> Option<Self> {
        let ty = element_type(chart, id)?;
        Some(text.map_or(Self::First, |text| Self::Given(value(ty, text))))
    }

    /// An example of the type of the elements. Returns `None` if the step has no `each`.
    fn example(chart: &Chart, id: StepId) -> Option<Self> {
        let local = &chart.steps[id.index()].each.as_ref()?.local.name;
        Some(Self::Example(example(&chart.types, element_type(chart, id)?, local)))
    }

    /// Replaces the list of the step with a list of this element alone, unless it is the first of the list anyway. Adds the element to
    /// the initial values.
    fn put(&self, chart: &mut Chart, id: StepId, given: &mut InitialValues) {
        if let (Self::Given(value) | Self::Example(value), Some(ty)) =
            (self, element_type(chart, id).cloned())
        {
            // The element becomes a param, so that it is checked against its type like any other.
            let element = add_param(chart, NAME, ty.clone());
            given.params.insert(NAME.into(), value.clone());
            let list = Type::List(Box::new(ty));
            if let Some(each) = &mut chart.steps[id.index()].each {
                each.list = Expr { kind: ExprKind::List(vec![element]), ty: list };
            }
        }
    }
}

fn element_type(chart: &Chart, id: StepId) -> Option<&Type> {
    let each = chart.steps[id.index()].each.as_ref()?;
    Some(if let Type::List(element) = &each.list.ty { element } else { &Type::Json })
}

/// An example of a type. A text consists of the name of what it stands for.
fn example(types: &[TypeDef], ty: &Type, name: &str) -> Value {
    match ty {
        Type::Bool => Value::Bool(true),
        Type::Int => Value::Int(1),
        Type::Float => Value::Float(1.0),
        Type::Text | Type::Json => Value::Text(format!("<{name}>")),
        Type::Duration => Value::Duration(60_000),
        Type::List(inner) => Value::List(vec![example(types, inner, name)]),
        Type::Map(inner) => {
            Value::Map(Map::from_iter([("<key>".to_owned(), example(types, inner, name))]))
        }
        Type::Optional(inner) => example(types, inner, name),
        Type::Named(id) => match &types[id.index()].kind {
            TypeKind::Record(fields) => {
                let fields = fields.iter().map(|f| (f.name.clone(), example_of(types, f)));
                Value::Map(fields.collect())
            }
            TypeKind::Enum(names) => names.first().cloned().map_or(Value::None, Value::Text),
        },
    }
}

/// An example of a field: that of its type, or else the least value.
fn example_of(types: &[TypeDef], field: &Field) -> Value {
    let range = field.range.as_ref();
    let value = example(types, &field.ty, &field.name);
    ranged(value, range).unwrap_or_else(|_| range.map_or(Value::None, |(low, _)| low.clone()))
}

// Asks one question of a chart in order to show it.

/// The added param with the number of the step that may ask.
const STEP: &str = "--step";

/// A copy of the chart in which a step asks or calls only if the param [`STEP`] has its number. One plan serves all steps.
fn one_asks(chart: &Chart) -> Chart {
    let mut chart = chart.clone();
    let number = add_param(&mut chart, STEP, Type::Int);
    for (i, step) in chart.steps.iter_mut().enumerate() {
        if !matches!(step.kind, StepKind::Code(_)) {
            let own =
                Expr { kind: ExprKind::Int(i64::try_from(i).unwrap_or(i64::MAX)), ty: Type::Int };
            let kind = ExprKind::Compare(Box::new(number.clone()), vec![(CompareOp::Equal, own)]);
            let mut guard = Expr { kind, ty: Type::Bool };
            if let Some(given) = step.guard.take() {
                let kind = ExprKind::Binary(BinaryOp::And, Box::new(guard), Box::new(given));
                guard = Expr { kind, ty: Type::Bool };
            }
            step.guard = Some(guard);
        }
    }
    chart
}

/// Adds a required param. Returns an expression that reads it.
fn add_param(chart: &mut Chart, name: &str, ty: Type) -> Expr {
    let id = VarId::at(chart.variables.len());
    chart.variables.push(Variable {
        name: name.into(),
        doc: String::new(),
        kind: VariableKind::Param { range: None },
        ty: ty.clone(),
        default: None,
    });
    Expr { kind: ExprKind::Variable(id), ty }
}

/// The result of asking a question.
enum AskOutcome {
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
struct Setting<'c> {
    /// The plans of the chart and of its child charts.
    plans: Arc<[Plan]>,
    given: &'c InitialValues,
    /// The script with results of host functions.
    functions: Option<&'c Path>,
    /// The data of the event, as JSON.
    data: &'c str,
    /// The path of the state in which the question must be asked.
    at: Option<&'c str>,
}

impl Setting<'_> {
    /// Asks the question of the step, in a turn or on its event.
    fn question(&self, id: StepId, on: Option<EventId>) -> miette::Result<AskOutcome> {
        let Self { plans, given, at, .. } = self;
        let charts: Vec<&Chart> = plans.iter().map(|plan| &**plan.chart()).collect();
        let chart = charts[0];
        let step = &chart.steps[id.index()];
        let machine = instance(plans, given, functions(&charts, self.functions, &complain)?)?;
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

// Formats questions.

/// A question with the event that triggers it, if one does.
struct ShownQuestion {
    question: Question,
    event: Option<String>,
    /// The list element that it is asked for, if the step has `each`.
    element: Option<Element>,
}

/// Formats the questions as text, each part under a heading.
fn text(shown: &[ShownQuestion]) -> StyledText {
    let mut out = StyledText::default();
    for ShownQuestion { question, event, element } in shown {
        if !out.is_empty() {
            out.line("");
        }
        let on = event.as_ref().map_or_else(String::new, |event| format!(" on {event}"));
        let model = if question.model.model.is_empty() { "" } else { ", " };
        out.line(format!(
            "{} {}{on} in {}{model}{}",
            question.kind.word(),
            question.step,
            question.state,
            question.model.model
        ));
        if let Some(element) = element {
            element_text(&mut out, element);
        }
        out.line("--- prompt");
        for line in question.prompt.trim_end().split('\n') {
            // Text from a value must not look like a heading of this output.
            match line.strip_prefix("--- ") {
                Some(rest) => out.line(format!("\\u{{2d}}-- {rest}")),
                None => out.line(line),
            }
        }
        if !question.options.is_empty() {
            out.line("--- options");
        }
        for option in &question.options {
            option_text(&mut out, option);
        }
        let forbidden: Vec<&str> =
            question.forbidden.iter().map(|option| &*option.offer.name).collect();
        if !forbidden.is_empty() {
            out.line("--- may not be called now");
            out.line(forbidden.join(", "));
        }
        if !question.wanted().is_empty() {
            out.line("--- schema");
            out.block("", question.wanted());
        }
    }
    out
}

fn element_text(out: &mut StyledText, element: &Element) {
    out.line(match element {
        Element::First => "--- the first element of its list".to_owned(),
        Element::Given(_) => "--- element".to_owned(),
        Element::Example(_) => "--- an example, since its list gives none".to_owned(),
    });
    if let Element::Given(value) | Element::Example(value) = element {
        out.line(serde_json::to_string(value).unwrap_or_default());
    }
}

fn option_text(out: &mut StyledText, option: &Alternative) {
    let offer = &option.offer;
    let arguments: Vec<String> =
        offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let arguments =
        if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    out.line(format!("{}{arguments}  {}", offer.name, offer.text).trim_end());
    if !option.schema.is_empty() {
        out.block("  ", &option.schema);
    }
}

/// Formats the questions as a JSON array.
fn json(shown: &[ShownQuestion]) -> miette::Result<String> {
    let schema = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let rows: Vec<serde_json::Value> = shown
        .iter()
        .map(|ShownQuestion { question: q, event, element }| {
            let options = q.options.iter().map(|o| {
                serde_json::json!({ "name": o.offer.name, "text": o.offer.text, "arguments": schema(&o.schema) })
            });
            let mut row = serde_json::json!({
                "step": q.step, "kind": q.kind.word(), "event": event, "state": q.state, "client": q.client, "model": q.model.model,
                "prompt": q.prompt, "options": options.collect::<Vec<_>>(), "schema": schema(q.wanted()),
            });
            if let Some(element) = element {
                row["element"] = match element {
                    Element::First => serde_json::json!({ "from": "list", "index": 0 }),
                    Element::Given(value) => {
                        serde_json::json!({ "from": "command line", "value": value })
                    }
                    Element::Example(value) => {
                        serde_json::json!({ "from": "example", "value": value })
                    }
                };
            }
            row
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(|fault| miette::miette!("{fault}"))?;
    Ok(text + "\n")
}
