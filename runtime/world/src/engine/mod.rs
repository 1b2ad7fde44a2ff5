//! Runs many agents in one world.
//!
//! The engine works in rounds. In a round, all agents that can continue do so at the same moment of the world's clock, on all threads.
//! Everything that agents share (their actions on the world, the permission to make a call, the next time) is decided between two rounds,
//! in an order that depends only on the seed and the names. So the number of threads does not change the result.
//!
//! ```text
//! tick 1  round    ada and ben begin their turns (two threads) and ask models; both wait at the gate
//!         between  the gate admits ada's call, then ben's; the clock moves to the first answer
//!         rounds   until both have finished thinking
//!         between  the seed orders the actions: ben acts, then ada; events go into mailboxes
//!         round    agents handle these events; then the summary and the checkpoint of the tick
//! ```

mod run;
mod slot;

pub use run::Summary;
pub use slot::{Loop, Meter, Use, WorkerPool, workers};

use crate::census::Census;
use crate::config::{Exhaustion, RateLimiting};
use crate::gate::{Counted, Gate};
use crate::keep::{Checkpoint, Loaded};
use crate::rates::Spent;
use crate::request::{Chance, Spawn};
use crate::world::World;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_core::model::Chart;
use chartc_runtime::Saved;
use chartc_runtime::agent::Agent;
use chartc_runtime::agents::Agenda;
use chartc_runtime::clock::{Clock, Shared, VirtualClock};
use chartc_runtime::trace::{Cause, Line, Logged, Sink, VERSION, What};
use run::TickStats;
use serde::{Deserialize, Serialize};
use slot::{AgentWaker, Mail, Origin, Slot};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seed of the order in which agents act.
    pub seed: u64,
    /// Milliseconds from the beginning of a tick to the next one; in an autonomous run, from one summary to the next.
    pub delay: u64,
    /// Milliseconds between the turns of an autonomous agent.
    pub interval: u64,
    /// The maximum wait of an autonomous agent after failed turns, in milliseconds. The wait doubles with each failure.
    pub max_backoff: u64,
    /// The number of consecutive failed turns after which an agent is paused; 0 for never.
    pub max_errors: u32,
    /// Whether time is real time.
    pub is_real: bool,
    /// The behaviour of an agent that has used up its part of a window.
    pub exhaustion: Exhaustion,
    /// Measures what is used for agents. Without it, only their turns are counted.
    pub meter: Option<Meter>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            delay: 15_000,
            interval: 1_000,
            max_backoff: 60_000,
            max_errors: 5,
            is_real: false,
            exhaustion: Exhaustion::Skip,
            meter: None,
        }
    }
}

/// The parts of which an agent is made.
#[derive(Debug, Clone, Copy)]
pub enum Recipe<'r> {
    /// An agent that the run file names, by its number there.
    Configured(usize),
    /// An agent that another agent has made.
    Spawned(&'r Spawn),
    /// A part of the world.
    Service,
}

/// An agent that is to be made.
pub struct New<'n> {
    /// The name of the agent. Everything that belongs to the agent can share this value.
    pub name: &'n Arc<str>,
    /// The parts of which it is made.
    pub recipe: Recipe<'n>,
    /// The sink of its trace.
    pub lines: Lines,
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// Its saved state, if it continues a saved run.
    pub saved: Option<&'n Saved>,
    /// The saved result of [`Maker::position`]; `none` for a new agent.
    pub position: &'n Value,
}

/// An agent that was made.
pub struct Made<M> {
    /// The agent, with the given sink and clock.
    pub agent: Agent<M, Lines>,
    /// Whether its chart does anything in a turn. If not, only events and deadlines drive it.
    pub has_turns: bool,
    /// The provider that answers it, by its name in the limits of providers; `*` if it is unknown.
    pub provider: Arc<str>,
}

/// Makes agents. It knows their charts and the parts that answer them.
pub trait Maker<M> {
    /// Makes an agent. If there is a saved state, the agent continues from it.
    ///
    /// # Errors
    /// The reason why the agent cannot be made.
    fn make(&mut self, new: New<'_>) -> Result<Made<M>, String>;

    /// The data that a checkpoint needs about the code that answers an agent, such as the place in its script.
    fn position(&self, name: &str) -> Value {
        let _ = name;
        Value::None
    }
}

/// The output of a run.
pub trait Output {
    /// A line of the log.
    ///
    /// # Errors
    /// The line cannot be written. The run ends with this error.
    fn logged(&mut self, line: &Logged) -> io::Result<()>;

    /// The summary of a tick.
    ///
    /// # Errors
    /// As for [`Output::logged`].
    fn summary(&mut self, summary: &Summary) -> io::Result<()>;

    /// Whether checkpoints are kept.
    fn keeps(&self) -> bool {
        false
    }

    /// Keeps a checkpoint of the run after all lines of the log so far.
    ///
    /// # Errors
    /// As for [`Output::logged`].
    fn keep(&mut self, checkpoint: Checkpoint) -> io::Result<()> {
        let _ = checkpoint;
        Ok(())
    }
}

/// Many agents in one world.
pub struct Engine<M, K, O> {
    world: World,
    maker: K,
    out: O,
    settings: Settings,
    worker_pool: WorkerPool<M>,
    clock: VirtualClock,
    /// The clock that the agents share with the code that answers them.
    shared: Arc<dyn Clock>,
    gate: Gate,
    /// When the gate may next have room for a waiting call.
    gate_opens: Option<Instant>,
    /// When the run began, on the computer's clock and on the world's clock.
    origin: tokio::time::Instant,
    first: Instant,
    slots: Vec<Option<Box<Slot<M>>>>,
    by_name: BTreeMap<Arc<str>, usize>,
    /// Agents that were stopped before the checkpoint from which this run continues. The world cannot make them again.
    gone: BTreeMap<String, (Loop, LastSeen)>,
    /// Agents that take turns, in the order of their numbers; some of them may have ended.
    takers: Vec<usize>,
    /// The reason why the run must end: an agent has found no model to ask, and none has answered yet.
    no_model: Option<String>,
    woken: Arc<ReadyQueue>,
    /// The times at which time alone changes something for an agent.
    timers: Agenda<usize>,
    /// The times at which sleeping agents begin their next turns, in an autonomous run.
    turns: Agenda<usize>,
    /// Agents whose turn is under way.
    thinking: BTreeSet<usize>,
    /// Agents that have finished thinking and have not acted.
    thought: VecDeque<usize>,
    tick_stats: TickStats,
    /// What all agents have spent on models.
    spent: Spent,
    census: Census,
    /// Whether the world does not know the census yet.
    is_census_new: bool,
    /// Lines of the world itself that are in the log.
    seq: u64,
    tick: u32,
    /// The length of the run in milliseconds, if it is known.
    total: Option<Instant>,
    /// In an autonomous run, the beginning of the period that the next summary covers.
    began: Instant,
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// An engine without agents.
    pub fn new(
        world: World,
        settings: Settings,
        worker_pool: WorkerPool<M>,
        maker: K,
        out: O,
    ) -> Self {
        let clock = VirtualClock::new();
        Self {
            world,
            maker,
            out,
            settings,
            worker_pool,
            shared: Arc::new(Shared(clock.clone())),
            clock,
            gate: Gate::new(&RateLimiting::default()),
            gate_opens: None,
            origin: tokio::time::Instant::now(),
            first: 0,
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            gone: BTreeMap::new(),
            takers: Vec::new(),
            woken: Arc::default(),
            no_model: None,
            timers: Agenda::default(),
            turns: Agenda::default(),
            thinking: BTreeSet::new(),
            thought: VecDeque::new(),
            tick_stats: TickStats::default(),
            spent: Spent::default(),
            census: Census::new(),
            is_census_new: true,
            seq: 0,
            tick: 0,
            total: None,
            began: 0,
        }
    }

    /// Sets the gate. Its limits apply to the calls of all agents whose drivers use the same gate, and to agents that make other agents.
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> Self {
        let (spawns, clock) = (gate.clone(), self.clock.clone());
        self.world.ask_before_spawns(move |parent| {
            let taken = spawns.take(parent, "spawns", 1, clock.now());
            taken.map_err(|why| format!("`spawns`: {why}"))
        });
        Self { gate, ..self }
    }

    /// A handle that stops the run from another thread or task.
    pub fn stopper(&self) -> Stopper {
        Stopper::of(self.woken.clone())
    }

    /// The world's clock, for the code that answers agents. Only the engine moves it.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.shared.clone()
    }

    /// Adds an agent, whose account and artifacts must exist in the world.
    ///
    /// # Errors
    /// The agent cannot be made, or the name is taken.
    pub fn add(&mut self, name: &str, recipe: Recipe<'_>) -> Result<(), String> {
        if self.by_name.contains_key(name) {
            return Err(format!("there is an agent `{name}` already"));
        }
        let (name, lines) = (Arc::from(name), Lines::default());
        let clock = self.clock();
        let (saved, position) = (None, &Value::None);
        let new = New { name: &name, recipe, lines: lines.clone(), clock, saved, position };
        let made = self.maker.make(new)?;
        let kind = match recipe {
            Recipe::Configured(number) => Origin::Configured(number),
            Recipe::Spawned(_) => Origin::Spawned,
            Recipe::Service => Origin::Service,
        };
        self.put(name, kind, made, lines, Loop::Starting);
        Ok(())
    }

    fn put(&mut self, name: Arc<str>, kind: Origin, made: Made<M>, lines: Lines, mode: Loop) {
        let index = self.slots.len();
        let Made { agent, has_turns, provider } = made;
        if !mode.is_over() {
            self.turns.set(&index, Some(self.now()));
        }
        if has_turns {
            self.takers.push(index);
        }
        self.by_name.insert(name.clone(), index);
        self.slots.push(Some(Box::new(Slot {
            name,
            kind,
            agent,
            lines,
            mode,
            mail: VecDeque::new(),
            wants_turn: false,
            failures: 0,
            has_turns,
            provider,
            flag: Arc::new(AgentWaker { index, woken: self.woken.clone() }),
            is_changed: true,
            no_model: None,
            meter: self.settings.meter,
            used: Use::default(),
        })));
        self.woken.put(index);
    }

    /// The maker of the agents.
    pub fn maker_mut(&mut self) -> &mut K {
        &mut self.maker
    }

    /// The output of the run.
    pub fn out_mut(&mut self) -> &mut O {
        &mut self.out
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The agents in each state.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// Adds the states of a chart to the census, which lists them in document order, including those that no agent has entered.
    pub fn know(&mut self, chart: &Chart) {
        self.census.know(chart);
    }

    /// The loop of each agent, by name.
    pub fn loops(&self) -> impl Iterator<Item = (&str, &Loop)> {
        let slot = |index: &usize| {
            self.slots.get(*index).and_then(Option::as_deref).filter(|slot| !slot.is_service())
        };
        let gone = self.gone.iter().map(|(name, (mode, _))| (name.as_str(), mode));
        let present = self.by_name.iter();
        present.filter_map(move |(name, index)| Some((&**name, &slot(index)?.mode))).chain(gone)
    }

    /// Why agents are idle, by name. An agent that is not named would go on in a longer run.
    pub fn idle(&self) -> BTreeMap<String, String> {
        let slots = self.slots.iter().flatten().filter(|slot| !slot.is_service());
        let gone = self.gone.iter();
        let gone = gone.filter_map(|(name, (_, last))| Some((name.clone(), last.idle.clone()?)));
        slots.filter_map(|slot| Some((slot.name.to_string(), slot.idle()?))).chain(gone).collect()
    }

    /// What all agents have spent on models.
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// The basic states of each agent, by name.
    pub fn configurations(&self) -> BTreeMap<String, Vec<String>> {
        let slots = self.slots.iter().flatten().filter(|slot| !slot.is_service());
        let gone = self.gone.iter().map(|(name, (_, last))| (name.clone(), last.states.clone()));
        let states = |slot: &Slot<M>| slot.agent.session().configuration();
        slots.map(|slot| (slot.name.to_string(), states(slot))).chain(gone).collect()
    }

    /// Milliseconds on the world's clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The reason why the run has ended before any model has answered: none could be asked. It names the agent that asked first.
    pub fn no_model(&self) -> Option<&str> {
        self.no_model.as_deref()
    }

    fn is_stopped(&self) -> bool {
        self.woken.is_stopped()
    }

    /// Whether no agent will take a turn any more.
    fn is_over(&self) -> bool {
        let agents = self.slots.iter().flatten().filter(|slot| !slot.is_service());
        agents.into_iter().all(|slot| slot.mode.is_over())
    }

    /// Writes a line of the world itself.
    fn say(&mut self, event: &str, data: Map) -> io::Result<()> {
        self.seq += 1;
        let what = What::World { event: event.to_owned(), data: Value::Map(data) };
        let line =
            Line { v: VERSION, seq: self.seq, at_ms: self.now(), child: String::new(), what };
        self.census.observe("", &line);
        self.out.logged(&Logged { agent: String::new(), by: None, line })
    }

    fn chance(&self, of: u64) -> Chance {
        Chance::of(&[self.settings.seed, u64::from(self.tick), of])
    }
}

// The agents that can continue, and the signal to stop the run.

/// The indices of the agents that can continue.
#[derive(Default)]
struct ReadyQueue {
    all: Mutex<BTreeSet<usize>>,
    notify: Notify,
    is_stopped: AtomicBool,
}

impl ReadyQueue {
    fn put(&self, index: usize) {
        self.all().insert(index);
        self.notify.notify_one();
    }

    fn take(&self) -> BTreeSet<usize> {
        std::mem::take(&mut self.all())
    }

    fn all(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }
}

/// Stops a run: turns under way are finished, and no others begin.
#[derive(Clone)]
pub struct Stopper(Arc<ReadyQueue>);

impl Stopper {
    fn of(woken: Arc<ReadyQueue>) -> Self {
        Self(woken)
    }

    /// Stops the run. Further calls have no effect.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
        self.0.notify.notify_one();
    }
}

// A buffer for the lines of an agent's trace.

/// A trace sink that keeps the lines of one agent until the engine takes them. Clones share the lines.
#[derive(Debug, Clone, Default)]
pub struct Lines(Arc<Mutex<Buffer>>);

#[derive(Debug, Default)]
struct Buffer {
    lines: Vec<(Option<Cause>, Line)>,
    /// The cause of the next event, which its first line gets.
    cause: Option<Cause>,
}

impl Lines {
    /// Takes all lines since the last call, each with the cause of its event.
    pub(crate) fn take(&self) -> Vec<(Option<Cause>, Line)> {
        std::mem::take(&mut self.buffer().lines)
    }

    /// Sets the cause of the next event.
    pub(crate) fn set_cause(&self, cause: Option<Cause>) {
        self.buffer().cause = cause;
    }

    fn buffer(&self) -> MutexGuard<'_, Buffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Lines {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let mut buffer = self.buffer();
        let is_event = matches!(line.what, What::Event { .. } | What::NotTaken { .. })
            && line.child.is_empty();
        let cause = if is_event { buffer.cause.take() } else { None };
        buffer.lines.push((cause, line.clone()));
        Ok(())
    }
}

// A run as data, and its continuation from this data.

/// The engine's own state.
#[derive(Serialize, Deserialize)]
struct SavedRun {
    tick: u32,
    seq: u64,
    now: Instant,
    /// The agents in the order of their numbers.
    agents: Vec<(String, Origin)>,
    /// The counts of the gate.
    counted: Counted,
    /// The agents in each state.
    census: Census,
    #[serde(default)]
    spent: Spent,
}

/// An agent at a checkpoint, for those who look at a store.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptAgent {
    /// Its loop.
    pub mode: Loop,
    /// What was used for it.
    #[serde(default)]
    pub used: Use,
}

impl KeptAgent {
    /// Reads the agents of a checkpoint, by name.
    ///
    /// # Errors
    /// An agent cannot be read.
    pub fn read(kept: &Loaded) -> serde_json::Result<BTreeMap<&str, Self>> {
        let agents = kept.agents.iter();
        agents.map(|(name, text)| Ok((name.as_str(), serde_json::from_str(text)?))).collect()
    }
}

/// An agent.
#[derive(Serialize, Deserialize)]
struct SavedAgent {
    mode: Loop,
    mail: VecDeque<Mail>,
    wants_turn: bool,
    failures: u32,
    #[serde(default)]
    used: Use,
    /// The position of the code that answers it, such as the place in its script.
    position: Value,
    saved: Option<Saved>,
    /// Of an agent that another agent has made, once it is over: the world cannot make it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<LastSeen>,
}

/// What the summary of a run tells of an agent that is over.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LastSeen {
    states: Vec<String>,
    idle: Option<String>,
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// The current state of the run, with the agents that have changed since the last checkpoint. The log is not part of it: its writer
    /// keeps it.
    ///
    /// # Errors
    /// A part cannot be written as JSON.
    fn checkpoint(&mut self) -> io::Result<Checkpoint> {
        let mut agents = Vec::new();
        for slot in self.slots.iter_mut().flatten() {
            if !std::mem::replace(&mut slot.is_changed, false) {
                continue;
            }
            let is_gone = slot.kind == Origin::Spawned && slot.mode.is_over();
            let last = is_gone.then(|| LastSeen {
                states: slot.agent.session().configuration(),
                idle: slot.idle(),
            });
            let one = SavedAgent {
                last,
                mode: slot.mode.clone(),
                mail: slot.mail.clone(),
                wants_turn: slot.wants_turn,
                failures: slot.failures,
                used: slot.used,
                position: self.maker.position(&slot.name),
                saved: slot.agent.save_all(),
            };
            agents.push((slot.name.to_string(), Some(serde_json::to_string(&one)?)));
        }
        let all = self.slots.iter().flatten().map(|slot| (slot.name.to_string(), slot.kind));
        let gone = self.gone.keys().map(|name| (name.clone(), Origin::Spawned));
        let run = SavedRun {
            tick: self.tick,
            seq: self.seq,
            now: self.now(),
            agents: all.chain(gone).collect(),
            counted: self.gate.save(),
            census: self.census.clone(),
            spent: self.spent,
        };
        Ok(Checkpoint {
            number: u64::from(self.tick),
            now_ms: run.now,
            world: Some(serde_json::to_string(&self.world.save())?),
            agents,
            meta: serde_json::to_string(&run)?,
            log: Vec::new(),
        })
    }

    /// Continues a saved run. The engine must be new, and its world must be restored already: agents that other agents have made are made
    /// again from the world.
    ///
    /// # Errors
    /// The reason why the run does not fit, such as another run file or another chart.
    pub fn restore(&mut self, kept: &Loaded) -> Result<(), String> {
        let told = |why: serde_json::Error| format!("the checkpoint cannot be read: {why}");
        let run: SavedRun = serde_json::from_str(&kept.meta).map_err(told)?;
        let agents: BTreeMap<&str, &str> =
            kept.agents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        self.gate.load(run.counted);
        self.census = run.census;
        self.spent = run.spent;
        self.clock.move_to(run.now);
        self.origin = tokio::time::Instant::now();
        self.first = run.now;
        (self.tick, self.seq) = (run.tick, run.seq);
        let spawned = self.world.spawned();
        let spawned: BTreeMap<&str, &Spawn> =
            spawned.iter().map(|spawn| (spawn.agent.as_str(), spawn)).collect();
        for (name, kind) in run.agents {
            let text = agents
                .get(name.as_str())
                .ok_or_else(|| format!("the checkpoint has no agent `{name}`"))?;
            let one: SavedAgent = serde_json::from_str(text).map_err(told)?;
            let recipe = match kind {
                Origin::Configured(number) => Recipe::Configured(number),
                Origin::Service => Recipe::Service,
                Origin::Spawned => match spawned.get(name.as_str()) {
                    Some(spawn) => Recipe::Spawned(spawn),
                    // The agent was stopped: only its accounts are left.
                    None => {
                        self.gone.insert(name, (one.mode, one.last.unwrap_or_default()));
                        continue;
                    }
                },
            };
            let (shared, lines) = (Arc::from(name.as_str()), Lines::default());
            let new = New {
                name: &shared,
                recipe,
                lines: lines.clone(),
                clock: self.clock(),
                saved: one.saved.as_ref(),
                position: &one.position,
            };
            let made = self.maker.make(new).map_err(|why| format!("agent `{name}`: {why}"))?;
            let index = self.slots.len();
            self.put(shared, kind, made, lines, one.mode.clone());
            self.take_up(index, one, run.now);
        }
        Ok(())
    }

    /// Gives an agent that was made again the place that it had in its loop.
    fn take_up(&mut self, index: usize, one: SavedAgent, now: Instant) {
        let due = match &one.mode {
            Loop::Sleeping(until) => *until,
            Loop::Starting | Loop::Running => Some(now),
            _ => None,
        };
        self.turns.set(&index, due);
        if let Some(slot) = self.slots[index].as_mut() {
            slot.mail = one.mail;
            slot.wants_turn = one.wants_turn;
            slot.failures = one.failures;
            slot.used = one.used;
            slot.is_changed = false;
            if slot.agent.is_in_turn() && !slot.mode.is_over() {
                self.thinking.insert(index);
            }
        }
    }
}
