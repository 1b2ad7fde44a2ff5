//! `chartc run --store`: a run that survives its process.
//!
//! The store commits each step of the run before its effects are used, so after a crash the same command continues the run. For
//! that, every input has an id: an entry of the events file has `FILE:NUMBER`, a turn has `turn:NUMBER`. [`drive`] sends those that
//! the store does not have yet.
//!
//! ```text
//! first process:  events.jsonl:1 sent, events.jsonl:2 sent, turn:1 sent, then killed
//! second process: `has` is true for all three, turn:2 is sent
//! ```

use super::files;
use super::instance::{self, InitialValues, instance};
use super::output::{Exit, complain};
use super::screen::{close, say_of_wait};
use super::signals;
use crate::setup::Backends;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Receipt;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_core::visible;
use chartc_runtime::agent::LongTerm;
use chartc_runtime::agents::{Engine, EngineError, Event, INPUTS, NextAct, Quiet, TURN};
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::data::{Entry, Sent};
use chartc_runtime::host::Watched;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::{Line, Origin, Sink};
use chartc_runtime::{RunSetup, Session, TurnReport};
use chartc_store::{
    Call, Listed, Making, Options, Outage, PendingLines, Safety, Service, Sqlite, Store,
    StoreError, Worker,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of calls of one run that are under way at once.
pub(super) const WORKERS: usize = 64;

/// The arguments with which a run was started. The store keeps them, so that the run continues without repeating them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RunArgs {
    pub(super) file: String,
    pub(super) chart: Option<String>,
    pub(super) llm: Option<String>,
    pub(super) model: Option<String>,
    pub(super) human: Option<String>,
    pub(super) functions: Option<String>,
    pub(super) tools: Option<String>,
    pub(super) events: Option<String>,
    pub(super) turns: Option<u32>,
    pub(super) calls_per_turn: Option<u32>,
    pub(super) clock: Option<String>,
    pub(super) memory: Option<String>,
    /// The client of a server that began it, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<String>,
    pub(super) params: Map,
    pub(super) inputs: Map,
}

/// A run of a store before it is started or continued.
pub(super) struct Durable {
    store: Store,
    run: String,
    /// The arguments with which it was started; `None` for a new run.
    pub(super) args: Option<RunArgs>,
}

/// Opens the store, or creates it. Refuses a world, which is not part of the store's transactions.
pub(super) fn open(path: &Path, run: &str, world: Option<&Path>) -> miette::Result<Durable> {
    if let Some(world) = world {
        return Err(miette::miette!(
            help =
                "leave `--world` out, or keep the run with `--snapshot`, which holds the world too",
            "{} does not go with --store: what an action has done in it cannot be committed together with the run, so that a crash could do it twice or never",
            world.display()
        ));
    }
    files::check(path)?;
    let store = Store::own(path, Safety::Full).map_err(refused)?;
    let row = store.list().map_err(refused)?.into_iter().find(|row| row.run == run);
    let args = row.map(|row| stored_args(&row)).transpose()?;
    Ok(Durable { store, run: run.to_owned(), args })
}

/// The arguments with which a stored run was started.
pub(super) fn stored_args(row: &Listed) -> miette::Result<RunArgs> {
    let Listed { run, given, stopped, .. } = row;
    match (serde_json::from_str(given), stopped) {
        (Ok(args), _) => Ok(args),
        (Err(_), Some(why)) => Err(miette::miette!("run `{run}` cannot go on: {why}")),
        (Err(why), None) => {
            Err(miette::miette!("run `{run}` was not begun by this command: {why}"))
        }
    }
}

pub(super) fn refused(fault: StoreError) -> miette::Report {
    miette::miette!("{fault}")
}

impl Durable {
    /// Checks that a run is continued with the memory it was started with, and with the same params if any are given.
    pub(super) fn ensure_same(&self, args: &RunArgs) -> miette::Result<()> {
        let Some(before) = &self.args else { return Ok(()) };
        if args.memory != before.memory {
            let before = before.memory.as_ref();
            let before = before
                .map_or("without `--memory`".into(), |file| format!("with `--memory {file}`"));
            return Err(miette::miette!(
                help = "what the agent remembers has to agree with what its run has done",
                "run `{}` was begun {before}: go on with it in the same way",
                self.run
            ));
        }
        // Without `--param` the stored params apply.
        let is_other = args.params.iter().next().is_some() && args.params != before.params;
        if !is_other {
            return Ok(());
        }
        let params = serde_json::to_string(&before.params).unwrap_or_default();
        Err(miette::miette!(
            help = "leave `--param` out to go on with it, or give another name with `--run`",
            "run `{}` was begun with other params: {params}",
            self.run
        ))
    }

    /// The time of the last trace line of a run that is continued, in milliseconds. Lines up to this time have been shown before.
    pub(super) fn shown(&self) -> miette::Result<Option<u64>> {
        let last = self.store.last_line(&self.run).map_err(refused)?;
        Ok(self.args.as_ref().map(|_| last.map_or(0, |line| line.at_ms)))
    }

    /// The clock of the run. In real time, it has advanced while no process had the store open.
    pub(super) fn clock(&self, is_real: bool) -> miette::Result<Arc<dyn Clock>> {
        let now = self.store.moment(Some(&self.run), is_real).map_err(refused)?;
        Ok(if is_real {
            Arc::new(RealClock::starting_at(now))
        } else {
            Arc::new(VirtualClock::starting_at(now))
        })
    }
}

/// The parts from which a run is made.
pub(super) struct RunParts<'c> {
    pub(super) plans: &'c Arc<[Plan]>,
    pub(super) given: &'c InitialValues,
    pub(super) backends: Backends,
    pub(super) clock: Arc<dyn Clock>,
    /// Whether a real model answers, rather than a script.
    pub(super) is_live: bool,
    pub(super) is_real: bool,
    /// Whether a person types answers in this terminal.
    pub(super) is_typed: bool,
    /// Whether people answer later, with `chartc store … reply`.
    pub(super) replies: bool,
    pub(super) origin: Origin,
    pub(super) args: RunArgs,
    pub(super) entries: &'c [Entry],
    pub(super) turns: u32,
    pub(super) memory: Option<&'c LongTerm>,
}

/// Creates the session of a run: from the initial values, or from its saved state.
pub(super) fn made(
    making: Making<'_>,
    plans: &Arc<[Plan]>,
    given: &InitialValues,
    host: Script,
    origin: Origin,
) -> Result<Session<Interpreter<Watched<Script>>, PendingLines>, String> {
    let Making { run, clock, driver, journal, saved, .. } = making;
    let (params, inputs) = (&given.params, &given.inputs);
    RunSetup { plans, params, inputs, host, driver, clock, run, origin, saved }.session(journal)
}

/// Waits for the calls that are under way in a process that ends. What does not end in time is in doubt when the run continues.
pub(super) async fn finish_calls<M: Machine>(worker: &mut Worker<'_, M>) -> miette::Result<()> {
    tokio::select! {
        biased;
        () = signals::out_of_patience() => Ok(()),
        done = worker.finish_calls() => done.map_err(refused),
    }
}

/// Starts or continues the run, until it ends, waits for the host, or is stopped by a signal.
pub(super) async fn go(
    durable: Durable,
    parts: RunParts<'_>,
    mut sink: impl Sink,
) -> miette::Result<Exit> {
    let Durable { store, run, .. } = durable;
    let path = visible::line(&store.path().display().to_string()).into_owned();
    let (entries, turns, is_real) = (parts.entries, parts.turns, parts.is_real);
    let is_typed = parts.is_typed;
    if !parts.is_live {
        // A script counts how often it was asked: ask it again what the store has answers for. A real server is asked nothing, because the
        // returned futures are dropped unpolled.
        for call in store.made(&run).map_err(refused)? {
            match call {
                Call::Question(question) => drop(parts.backends.parts.oracle.ask(question.into())),
                Call::Tool(call) => drop(parts.backends.parts.tools.call(call)),
            }
        }
    }
    // An input `memories` that the host sets takes precedence over what the memory recalls.
    let recalls = parts.memory.filter(|_| parts.given.inputs.get(MEMORIES).is_none());
    let events = parts.args.events.clone().unwrap_or_default();
    let options = options(parts, move |line| sink.line(line));
    let (engine, mut worker) = Worker::new(store, options);
    worker.load(&run).map_err(refused)?;
    let host = drive(engine, (&run, recalls), &events, entries, (turns, is_real));
    // The worker serves the engine, and ends when the host has dropped its handle.
    let work = async { tokio::join!(worker.work(), host) };
    let done = if is_typed {
        // Another handler would run only after Enter.
        Some(work.await)
    } else {
        tokio::select! {
            biased;
            _ = signals::signal() => None,
            done = work => Some(done),
        }
    };
    let Some((worked, driven)) = done else {
        complain("calls under way are finished; press Ctrl-C again to stop at once");
        finish_calls(&mut worker).await?;
        complain(format!("stopped; the same command continues `{run}`"));
        return Ok(Exit::Findings);
    };
    worked.map_err(refused)?;
    tell_end(&worker, (&run, &path), driven)
}

/// Says how far the run of a worker that has nothing more to do came, and how to answer what it waits for.
fn tell_end<M: Machine>(
    worker: &Worker<'_, M>,
    (run, path): (&str, &str),
    driven: Result<(), Driven>,
) -> miette::Result<Exit> {
    if worker.has_no_model(run) {
        let why = worker.stopped(run).unwrap_or_default();
        complain(format!("error: {why}"));
        complain(format!("help: `{run}` has lost nothing: the same command continues it"));
        return Ok(Exit::Findings);
    }
    let fault = match (driven, worker.stopped(run)) {
        (Err(Driven::Entry(why)), _) => return Err(miette::miette!("{why}")),
        (_, Some(why)) => Some(why.to_owned()),
        (Err(Driven::Run(why)), None) => Some(why),
        (Ok(()), None) => None,
    };
    let Some(session) = worker.session(run) else {
        if let Some(why) = fault {
            return Err(miette::miette!("run `{run}` cannot go on: {why}"));
        }
        return Err(miette::miette!("run `{run}` was not begun: nothing was sent to it"));
    };
    let last = TurnReport {
        turn: session.turns(),
        receipt: Receipt::Handled,
        failed: session.failed_step().map(str::to_owned),
        calls: session.calls(),
        ended: session.status(),
    };
    let waits = session.waits_for();
    let exit = close(session, Some(last), fault, false)?;
    if session.status().is_none() && !waits.is_empty() {
        complain(format!("`{run}` waits for {}", waits.join(", ")));
        for question in session.asked() {
            complain(format!("  {} asks {}", question.path(), question.line()));
        }
        if let Some(question) = session.asked().next() {
            let id = &question.id;
            complain(format!("answer with: chartc store {path} reply {run} {id} ANSWER"));
        }
    }
    Ok(exit)
}

/// The options of the engine that runs on a store.
pub(super) fn options<'c>(
    parts: RunParts<'c>,
    mut show: impl FnMut(&Line) -> io::Result<()> + 'c,
) -> Options<'c, Interpreter<Watched<Script>>> {
    let RunParts { plans, given, backends, clock, is_real, replies, origin, args, memory, .. } =
        parts;
    let Backends { parts, host } = backends;
    Options {
        make: Box::new(move |making| made(making, plans, given, host.clone(), origin.clone())),
        // In virtual time, only scripts and stand-ins answer.
        driver: Backends::driver(parts, !is_real),
        clock,
        is_real,
        replies,
        workers: WORKERS,
        show: Box::new(move |_, line| show(line)),
        after: Box::new(move |committed, session| match memory {
            Some(memory) => {
                let name = format!("{}:{}", committed.made_ms, committed.run);
                memory.remember(&name, session).map_err(|why| why.to_string())
            }
            None => Ok(()),
        }),
        given: serde_json::to_string(&args).unwrap_or_default(),
        service: None,
    }
}

/// The maximum number of runs that a server keeps in memory while they have nothing to do. Each takes a few kilobytes.
const AT_REST: usize = 4096;

/// How a server behaves: it waits for a store that cannot be written, and says so.
pub(super) fn service<'e>() -> Service<'e> {
    let tell = |outage: Option<Outage>| match outage {
        Some(outage) => complain(format!("warning: {outage}")),
        None => complain("the store can be written again"),
    };
    Service { at_rest: AT_REST, on_outage: Box::new(tell) }
}

/// The reason why a run was not driven to its end.
pub(super) enum Driven {
    /// An entry of the file of events does not fit the chart.
    Entry(String),
    /// The run cannot continue.
    Run(String),
}

/// Sends the entries and the turns that the store does not have yet.
async fn drive(
    engine: Sqlite,
    (run, memory): (&str, Option<&LongTerm>),
    events: &str,
    entries: &[Entry],
    turns: (u32, bool),
) -> Result<(), Driven> {
    send_entries(&engine, (run, memory), events, entries).await?;
    engine.quiet().await;
    make_turns(&engine, (run, memory), turns).await
}

async fn send_entries(
    engine: &Sqlite,
    (run, memory): (&str, Option<&LongTerm>),
    events: &str,
    entries: &[Entry],
) -> Result<(), Driven> {
    let closed = |why: StoreError| Driven::Run(why.to_string());
    for (nth, entry) in (1..).zip(entries) {
        let id = format!("{events}:{nth}");
        if engine.has(run, &id).await.map_err(closed)? {
            continue;
        }
        match entry.after_ms {
            Some(milliseconds) => {
                // The beginning of a wait is an event of its own, whose time is that of its first arrival. So a wait that was interrupted
                // continues instead of starting again.
                let wait = Event::new(format!("{id}.wait"), INPUTS);
                let wait = engine.fire(run, wait).await.map_err(|why| of_entry(nth, &why))?;
                let until = wait.at.saturating_add(milliseconds);
                let now = engine.now().await.map_err(closed)?;
                engine.advance(until.saturating_sub(now)).await.map_err(closed)?;
            }
            // An entry without a time comes after everything before it has been handled.
            None => engine.quiet().await,
        }
        let event = match &entry.what {
            Sent::Turn => Event { id, name: TURN.into(), data: entry.inputs.clone() },
            Sent::Nothing => Event { id, name: INPUTS.into(), data: entry.inputs.clone() },
            Sent::Event(name, data) => {
                if entry.inputs.iter().next().is_some() {
                    let id = format!("{id}.inputs");
                    let inputs = Event { id, name: INPUTS.into(), data: entry.inputs.clone() };
                    fire(engine, run, inputs).await.map_err(|why| of_entry(nth, &why))?;
                }
                Event { id, name: name.clone(), data: data.clone() }
            }
            _ => {
                let why = "answers come from the model here, not from the events";
                return Err(Driven::Entry(format!("entry {nth}: {why}")));
            }
        };
        let mut event = event;
        if event.name == TURN {
            engine.quiet().await;
            recall(engine, run, memory, &mut event).await?;
        }
        fire(engine, run, event).await.map_err(|why| of_entry(nth, &why))?;
    }
    Ok(())
}

async fn make_turns(
    engine: &Sqlite,
    (run, memory): (&str, Option<&LongTerm>),
    (turns, is_real): (u32, bool),
) -> Result<(), Driven> {
    let closed = |why: StoreError| Driven::Run(why.to_string());
    let mut before = None;
    for nth in 1..=turns {
        let id = format!("turn:{nth}");
        if engine.has(run, &id).await.map_err(closed)? {
            continue;
        }
        let state = engine.read(run).await.map_err(|why| Driven::Run(why.to_string()))?;
        match state.as_ref().map_or(NextAct::Turn, |state| state.next_act(before.as_ref())) {
            NextAct::Stop => break,
            NextAct::Turn => before = state,
            // A wait counts as a turn, so that deadlines which follow one another without end do not keep the command.
            NextAct::Until(at) => {
                before = None;
                let wait = at.saturating_sub(engine.now().await.map_err(closed)?);
                say_of_wait(is_real, wait);
                engine.advance(wait).await.map_err(closed)?;
                engine.quiet().await;
                continue;
            }
        }
        let mut turn = Event::turn(id);
        recall(engine, run, memory, &mut turn).await?;
        let fired = engine.fire(run, turn).await;
        if fired.map_err(|why| Driven::Run(why.to_string()))?.receipt == Receipt::Busy {
            // The walk of the turn before waits for a person.
            break;
        }
        engine.quiet().await;
    }
    Ok(())
}

async fn fire(engine: &Sqlite, run: &str, event: Event) -> Result<(), EngineError> {
    engine.fire(run, event).await.map(drop)
}

fn of_entry(nth: usize, why: &EngineError) -> Driven {
    match why {
        EngineError::Event { why, .. } => Driven::Entry(format!("entry {nth}: {why}")),
        EngineError::Stopped { .. } | EngineError::Away { .. } => Driven::Run(why.to_string()),
    }
}

// The memory of an agent whose run is in a store. The memory agrees with the run whenever the process ends.

/// Opens the memory of an agent whose run is in a store. It must be a file.
pub(super) fn open_recall(
    file: &Path,
    chart: &Chart,
    plans: &Arc<[Plan]>,
    params: &Map,
) -> miette::Result<LongTerm> {
    if file == Path::new(":memory:") {
        return Err(miette::miette!(
            help = "give it a file: --memory agents.db",
            "a memory that ends with the process does not go with --store: the run would remember less than it has done"
        ));
    }
    let given = InitialValues { params: params.clone(), inputs: Map::new() };
    let variables = instance(plans, &given, Script::empty())?.variables();
    instance::open_memory(file, chart, variables, None)
}

/// The name of the input that holds the memories that an agent recalls.
pub(super) const MEMORIES: &str = "memories";

/// Adds the recalled memories to the event of a turn. They are part of the event, so that both are committed together.
pub(super) async fn recall(
    engine: &Sqlite,
    run: &str,
    memory: Option<&LongTerm>,
    turn: &mut Event,
) -> Result<(), Driven> {
    let Some(memory) = memory.filter(|_| turn.data.get(MEMORIES).is_none()) else { return Ok(()) };
    let read = async || engine.read(run).await.map_err(|why| Driven::Run(why.to_string()));
    let mut state = read().await?;
    // What is recalled depends on the state, so the run has to exist before its first turn.
    if state.is_none() {
        let begin = engine.fire(run, Event::new("begin", INPUTS)).await;
        begin.map_err(|why| Driven::Run(why.to_string()))?;
        engine.quiet().await;
        state = read().await?;
    }
    let Some(state) = state.filter(|state| state.status.is_none()) else { return Ok(()) };
    let recalled = memory.recalled(&state).map_err(|why| Driven::Run(why.to_string()))?;
    if let Some(memories) = recalled {
        turn.data.insert(MEMORIES.to_owned(), memories);
    }
    Ok(())
}

/// The trace of a run, as `--trace` would have written it. If the store is damaged, reports it and returns the exit code.
pub(super) fn trace(store: &std::path::Path, run: &str) -> miette::Result<Result<String, Exit>> {
    let lines = match Store::open(store).and_then(|store| store.lines(run)) {
        Ok(lines) => lines,
        Err(damage @ StoreError::Damaged { .. }) => {
            complain(damage.to_string());
            return Ok(Err(Exit::Findings));
        }
        Err(fault) => return Err(refused(fault)),
    };
    if lines.is_empty() {
        return Err(miette::miette!(
            help = "chartc store FILE list shows the runs",
            "{} has no run `{run}`",
            store.display()
        ));
    }
    let lines = lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n");
    Ok(Ok(lines.collect()))
}
