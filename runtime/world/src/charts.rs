//! Charts that agents write: their compilation, and the invocation of their methods.
//!
//! The problem: agents write texts, and others want to call them like functions. The idea: a [`Workshop`] from the embedder compiles a
//! text, so this crate does not depend on the grammar. A *method* is an event that the compiled chart declares, and its result is that of
//! the final state. For example, with the artifact `tax`:
//!
//! ```text
//! chart Tax { event due(amount: Int)   initial idle
//!             state idle { on due(amount) -> paid(amount / 10) }   final paid(sum: Int) }
//!
//! write tax            the workshop builds a family with one chart, or returns findings such as `2:13: C0102: …`
//! invoke tax.due(50)   a new run starts in idle, gets due(50), ends in paid: the result is 5
//! ```
//!
//! The caller waits for the result, so an invocation cannot wait for a model, and all its work has a limit. An agent that is spawned from
//! a text may use only the tools and models of its spawner.

use chartc_core::expr::{Map, Value, fit, within};
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Receipt, Status};
use chartc_core::model::{Chart, FunctionKind, Method, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::agent::{ArtifactHost, Failure, FailureKind};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Deny;
use chartc_runtime::trace::{Line, Sink};
use chartc_runtime::{Backoff, RunError, Session};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::{fmt, io};

/// The language of an executable artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The language of `.chart` files, for the artifact type `chart`.
    Chart,
    /// The format of `agent.yaml` files, for the artifact type `agent`.
    Agent,
}

impl Form {
    /// The language of an artifact type; `None` for plain data.
    pub fn of(ty: &str) -> Option<Self> {
        match ty {
            "chart" => Some(Self::Chart),
            "agent" => Some(Self::Agent),
            _ => None,
        }
    }

    /// The artifact type for the language.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Agent => "agent",
        }
    }
}

/// A chart without errors, with the charts that its `run` steps refer to.
#[derive(Debug, Clone)]
pub struct Family {
    /// The plans of the charts, with the main one first.
    pub plans: Arc<[Plan]>,
}

impl Family {
    /// The main chart.
    ///
    /// # Panics
    /// Does not panic on a family from a workshop, which always has at least one chart.
    pub fn root(&self) -> &Chart {
        self.plans[0].chart()
    }

    /// All charts, with the main one first.
    pub fn charts(&self) -> impl Iterator<Item = &Arc<Chart>> {
        self.plans.iter().map(Plan::chart)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.charts().eq(other.charts())
    }
}

/// An error in the text of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The code of the rule, such as `C0102`.
    pub code: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The message.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.code, self.text)
    }
}

/// A function that returns the text of an artifact by its id, for imports and components; `None` if the author may not read it or it does
/// not exist.
pub type Read<'r> = &'r dyn Fn(&str) -> Option<String>;

/// Compiles and checks charts without access to files.
pub trait Workshop: Send + Sync {
    /// Compiles and checks the text of an artifact. Tests and `check` lines in it are not run.
    ///
    /// # Errors
    /// All errors in the order of their positions. A text that defines nothing that can run, or is too large, is also an error.
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>>;
}

// Restricts spawned charts to the tools and models of their spawner.

/// The code of a finding about a tool or model that the spawner does not have.
pub const NOT_ALLOWED: &str = "not_allowed";

/// Checks that the charts declare only tools and models that are allowed. Tools are compared by name, clients by their model
/// (`provider:name`), because a chart can give a client any name.
///
/// # Errors
/// One finding for each that is not allowed. The model keeps no source positions, so findings refer to the start of the text.
pub fn restrict(
    family: &Family,
    tools: &BTreeSet<String>,
    models: &BTreeSet<String>,
) -> Result<(), Vec<Finding>> {
    let mut found = BTreeSet::new();
    for chart in family.charts() {
        for tool in chart.tools.iter().filter(|tool| !tools.contains(&tool.name)) {
            found.insert(format!(
                "`{}` uses the tool `{}`, which its spawner has not",
                chart.name, tool.name
            ));
        }
        // A client without a model uses the one that the host has chosen for all agents.
        let named = chart.clients.iter().filter(|client| !client.model.is_empty());
        for client in named.filter(|client| !models.contains(&client.model)) {
            found.insert(format!(
                "`{}` asks the model `{}`, which its spawner does not",
                chart.name, client.model
            ));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let finding = |text| Finding { code: NOT_ALLOWED.into(), line: 1, column: 1, text };
    Err(found.into_iter().map(finding).collect())
}

/// The tools and models that some charts declare, in the form that [`restrict`] takes.
pub fn used(family: &Family) -> (BTreeSet<String>, BTreeSet<String>) {
    let tools = family.charts().flat_map(|chart| &chart.tools);
    let clients = family.charts().flat_map(|chart| &chart.clients);
    (
        tools.map(|tool| tool.name.clone()).collect(),
        clients.map(|client| client.model.clone()).collect(),
    )
}

/// The limits of one invocation. They bound work instead of real time, so the result is the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fuel {
    /// Units of evaluation: a node of an expression, an element of a list, or 16 bytes of text.
    pub units: u64,
    /// The maximum number of lines in its trace: inputs, transitions, states entered and exited.
    pub lines: u32,
    /// Virtual time in milliseconds. Deadlines within it fire.
    pub time_ms: u64,
    /// The maximum number of questions to models, each of which fails at once.
    pub calls: u32,
}

impl Default for Fuel {
    fn default() -> Self {
        Self { units: 2_000_000, lines: 5_000, time_ms: 24 * 60 * 60 * 1000, calls: 20 }
    }
}

/// Invokes a method of another artifact, given the artifact's id, the method and the arguments.
pub type Ask<'w> = &'w dyn Fn(&str, &str, &[Value]) -> Result<Value, Failure>;

/// The name and parameters of a method of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name of the event.
    pub name: String,
    /// The names of the event's fields, to which the arguments are assigned by position.
    pub fields: Vec<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.fields.join(", "))
    }
}

/// The methods of a chart: all events that it declares.
pub fn methods(chart: &Chart) -> Vec<Signature> {
    let events = chart.events.iter().map(|event| Signature {
        name: event.name.clone(),
        fields: event.fields.iter().map(|field| field.name.clone()).collect(),
    });
    events.collect()
}

/// Invokes a method of a chart. A new run starts, gets the event `method` with the arguments by position, and continues in virtual time
/// until it ends. The result is made of the arguments of its final state: `none` without arguments, the value of a single one, or a map by
/// name.
///
/// There are no models, people or tools: steps that need them fail at once, and the chart handles the error. To run a chart that needs a
/// model, it is spawned instead of invoked. Functions with `fn … from "artifact" "method"` call `ask`; all other host functions fail.
///
/// # Errors
/// `not_found` if the chart has no such method. `invocation_failed` if a param has no value, an argument does not fit, the event is not
/// handled, the run does not end or ends with a failure, or `fuel` or the `chain` is exhausted.
pub fn invoke_method(
    family: &Family,
    method: &str,
    arguments: &[Value],
    limits: (Fuel, &Chain),
    ask: Ask<'_>,
) -> Result<Value, Failure> {
    limits.1.enter()?;
    let result = run_method(family, method, arguments, limits, ask);
    limits.1.leave();
    result
}

fn run_method(
    family: &Family,
    method: &str,
    arguments: &[Value],
    (fuel, chain): (Fuel, &Chain),
    ask: Ask<'_>,
) -> Result<Value, Failure> {
    let chart = family.root();
    let signature = methods(chart).into_iter().find(|one| one.name == method).ok_or_else(|| {
        let known: Vec<String> = methods(chart).iter().map(ToString::to_string).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Failure::new(
            FailureKind::NotFound,
            format!("there is no method `{method}`; there is {known}"),
        )
    })?;
    let open = open_params(chart);
    if !open.is_empty() {
        return failed(format!("`{}` has no value: spawn it with one", open.join("`, `")));
    }
    if arguments.len() != signature.fields.len() {
        return failed(format!("`{signature}` was given {} arguments", arguments.len()));
    }
    let data = signature.fields.into_iter().zip(arguments.iter().cloned()).collect();
    let host = OfOthers { of: methods_of_others(family.charts()), ask };
    let mut machine = match Interpreter::new(&family.plans[0], host, []) {
        Ok(machine) => machine.with_charts(family.plans.clone()),
        Err(why) => return failed(why.to_string()),
    };
    machine.allow(chain.take(fuel.units));
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, Arc::new(Deny), clock, Lines { left: fuel.lines })
        .with_max_calls(fuel.calls)
        .with_backoff(Backoff::NONE);
    let run = {
        let work = pin!(played(&mut session, method, data, fuel.time_ms));
        // All steps fail at once and the clock is virtual, so the first poll completes the future.
        match work.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Some(result),
            Poll::Pending => None,
        }
    };
    let left = session.machine().allowed();
    chain.give(left);
    match run {
        // Checked first: with an exhausted budget, expressions fail, and the run may have ended in any way.
        _ if left == 0 => failed("it takes more work than an invocation may".into()),
        Some(run) => answer(&mut session, method, run),
        None => failed("it waits for somebody".into()),
    }
}

type Run<'a> = Session<Interpreter<OfOthers<'a>>, Lines>;

async fn played(
    session: &mut Run<'_>,
    method: &str,
    data: Map,
    time_ms: u64,
) -> Result<Receipt, RunError> {
    session.start().await?;
    let receipt = session.send(method, data).await?;
    if session.status().is_none() {
        session.advance(time_ms).await?;
    }
    Ok(receipt)
}

/// Converts the end of a run to the result of the invocation.
fn answer(
    session: &mut Run<'_>,
    method: &str,
    receipt: Result<Receipt, RunError>,
) -> Result<Value, Failure> {
    let receipt = match receipt {
        Ok(receipt) => receipt,
        Err(RunError::Trace(_)) => {
            return failed("it takes more steps than an invocation may".into());
        }
        Err(
            why @ (RunError::UnknownEvent { .. }
            | RunError::Event { .. }
            | RunError::Input { .. }
            | RunError::Start(_)
            | RunError::Oracle { .. }
            | RunError::NoModel { .. }
            | RunError::TooManyCalls(_)
            | RunError::NoProgress(_)
            | RunError::Memory(_)),
        ) => return failed(why.to_string()),
    };
    let states = session.configuration().join(", ");
    match receipt {
        Receipt::Handled => {}
        Receipt::Closed => return failed(format!("the run had ended in `{states}` before")),
        Receipt::Unhandled | Receipt::Busy | Receipt::Refused => {
            return failed(format!("nothing handles `{method}` in `{states}`"));
        }
    }
    match session.status() {
        Some(Status::Ok | Status::Partial) => Ok(result(session.machine_mut())),
        Some(status) => failed(format!("it ended as {} in `{states}`", status.word())),
        None => failed(format!("it did not end: it is in `{states}`")),
    }
}

/// The arguments of the final state as one value.
fn result(machine: &mut impl chartc_core::host::Machine) -> Value {
    let mut fields = machine.result();
    match fields.len() {
        0 => Value::None,
        1 => fields.remove(0).1,
        _ => Value::Map(fields.into_iter().collect()),
    }
}

fn failed<T>(why: String) -> Result<T, Failure> {
    Err(Failure::new(FailureKind::InvocationFailed, why))
}

/// The methods of other artifacts that the charts' functions stand for, by function name. `None` if two charts give one name to different
/// methods, because the host could not tell which one is called.
fn methods_of_others<'c>(
    charts: impl Iterator<Item = &'c Arc<Chart>>,
) -> BTreeMap<String, Option<Method>> {
    let mut found: BTreeMap<String, Option<Method>> = BTreeMap::new();
    for function in charts.flat_map(|chart| &chart.functions) {
        let method = match &function.kind {
            FunctionKind::Pure { method, .. } => method.clone(),
            FunctionKind::Effect => None,
        };
        let known = found.entry(function.name.clone()).or_insert_with(|| method.clone());
        if *known != method {
            *known = None;
        }
    }
    found
}

/// The host of an invoked chart. It only has functions that are methods of other artifacts.
struct OfOthers<'w> {
    of: BTreeMap<String, Option<Method>>,
    ask: Ask<'w>,
}

impl Host for OfOthers<'_> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let Some(Some(Method { artifact, name })) = self.of.get(function) else {
            return Err(format!(
                "`{function}` is no method of an artifact, and nothing else is there"
            ));
        };
        (self.ask)(artifact, name, arguments).map_err(|failure| failure.to_string())
    }
}

/// A trace sink that stores nothing and fails after a number of lines.
struct Lines {
    left: u32,
}

impl Sink for Lines {
    fn line(&mut self, _line: &Line) -> io::Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(io::ErrorKind::QuotaExceeded.into()),
        }
    }
}

/// The implementation of [`Invoke`] that interprets charts, with [`invoke_method`]'s rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Methods;

impl Invoke for Methods {
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure> {
        let Invocation { family, method, arguments, fuel, chain, world, owner, .. } = invocation;
        let fuel = Fuel { units: *fuel, ..Fuel::default() };
        let ask = |artifact: &str, method: &str, arguments: &[Value]| {
            world.invoke(owner, artifact, method, arguments)
        };
        run_method(family, method, arguments, (fuel, chain), &ask)
    }
}

// The interface to the code that runs chart artifacts when they are invoked.

/// The invocation of a method of a chart artifact.
pub struct Invocation<'i> {
    /// The id of the artifact.
    pub artifact: &'i str,
    /// The owner of the artifact. The chart's functions access the world with this agent's rights.
    pub owner: &'i str,
    /// The compiled charts of the artifact.
    pub family: &'i Arc<Family>,
    /// The name of the method, which is an event that the chart declares.
    pub method: &'i str,
    /// The arguments, by position.
    pub arguments: &'i [Value],
    /// The agent that invokes the method.
    pub caller: &'i str,
    /// The maximum number of units of evaluation.
    pub fuel: u64,
    /// The chain of invocations to which this one belongs.
    pub chain: &'i Chain,
    /// The seed of the chart's random decisions, so that equal invocations have equal results.
    pub seed: u64,
    /// The world, for functions of the chart that are methods of other artifacts. Invocations through it count against the depth of the
    /// chain and cost no scrip.
    pub world: Arc<dyn ArtifactHost>,
}

/// Runs chart artifacts when they are invoked.
pub trait Invoke: Send + Sync {
    /// Runs a method until it has a result.
    ///
    /// # Errors
    /// The chart has no such method, gives no result, or exceeds a limit.
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure>;
}

/// An implementation that refuses every invocation.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInvocations;

impl Invoke for NoInvocations {
    fn invoke(&self, invocation: &Invocation<'_>) -> Result<Value, Failure> {
        let why =
            format!("nobody runs charts here, so `{}` cannot be invoked", invocation.artifact);
        Err(Failure::new(FailureKind::InvocationFailed, why))
    }
}

// Bounds for invocations that cause further invocations.

/// The maximum number of invocations that one action, condition or prompt may cause.
pub const MOST_INVOCATIONS: u32 = 64;
/// The maximum depth of nested invocations, whatever the settings of a world allow. Each level takes a part of the thread's stack.
pub const MOST_DEPTH: u32 = 16;

/// The budget that an invocation shares with all that it causes, so that charts that invoke each other terminate. Each action, condition
/// and prompt has its own.
#[derive(Debug)]
pub struct Chain {
    depth: AtomicU32,
    invocations: AtomicU32,
    units: AtomicU64,
}

impl Chain {
    /// A chain with this many units of evaluation for all its invocations together.
    pub const fn new(units: u64) -> Self {
        let (depth, invocations) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { depth, invocations, units: AtomicU64::new(units) }
    }

    /// The number of nested invocations under way.
    pub fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// Begins a nested invocation.
    ///
    /// # Errors
    /// The chain is too deep, or has had too many invocations.
    pub(crate) fn enter(&self) -> Result<(), Failure> {
        if self.depth() >= MOST_DEPTH {
            let why = format!("artifacts invoke artifacts {MOST_DEPTH} deep at most");
            return Err(Failure::new(FailureKind::InvocationFailed, why));
        }
        if self.invocations.load(Ordering::Relaxed) >= MOST_INVOCATIONS {
            let why = format!("it leads to more than {MOST_INVOCATIONS} invocations");
            return Err(Failure::new(FailureKind::InvocationFailed, why));
        }
        self.depth.fetch_add(1, Ordering::Relaxed);
        self.invocations.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Ends a nested invocation.
    pub(crate) fn leave(&self) {
        self.depth.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes units of evaluation from the budget: `wanted`, or all that are left if they are fewer.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let units = wanted.min(self.units.load(Ordering::Relaxed));
        self.units.fetch_sub(units, Ordering::Relaxed);
        units
    }

    /// Returns unused units to the budget.
    pub(crate) fn give(&self, units: u64) {
        self.units.fetch_add(units, Ordering::Relaxed);
    }
}

// Values for the params of charts.

/// The param that is set to the name of the agent unless it has another value.
const OWN_NAME: &str = "agent_id";

/// The params of a chart that have no default. A chart with such params can be spawned with values for them, but it cannot be invoked.
pub fn open_params(chart: &Chart) -> Vec<&str> {
    let is_open = |kind: &VariableKind| match kind {
        VariableKind::Param { .. } => true,
        VariableKind::Input | VariableKind::Var { .. } | VariableKind::Asked => false,
    };
    let open = chart.variables.iter().filter(|row| is_open(&row.kind) && row.default.is_none());
    open.map(|row| row.name.as_str()).collect()
}

/// Checks that an agent can start with these values for the params of its chart: each param without a default has one, and all values fit.
/// The param `agent_id` is set by the world.
///
/// # Errors
/// A description that continues the name of the argument.
pub(crate) fn accepts(chart: &Chart, params: &Map) -> Result<(), String> {
    for (name, value) in params.iter() {
        let declared = chart.variables.iter().find(|row| row.name == *name);
        let Some((row, range)) = declared.and_then(|row| match &row.kind {
            VariableKind::Param { range } => Some((row, range)),
            VariableKind::Input | VariableKind::Var { .. } | VariableKind::Asked => None,
        }) else {
            return Err(format!("has `{name}`, but `{}` has no such param", chart.name));
        };
        let fitted = fit(value.clone(), &row.ty, &chart.types)
            .map_err(|why| format!("has no value of `{name}`: {why}"))?;
        if let Some((low, high)) = range
            && fitted != Value::None
        {
            within(name, &fitted, low, high)?;
        }
    }
    let mut open = open_params(chart);
    open.retain(|name| *name != OWN_NAME && params.get(name).is_none());
    if open.is_empty() {
        return Ok(());
    }
    Err(format!("needs `{}`: `{}` has no default there", open.join("`, `"), chart.name))
}
