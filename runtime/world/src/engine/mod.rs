//! Runs many agents in one world.
//!
//! All agents that can go on do so at the same moment of the world's clock, on as many threads as there are; everything that they share (what
//! they do to the world, who may make a call, which time comes next) is decided between two such rounds, in an order that only the seed
//! and the names decide. So the number of threads changes nothing.

mod acts;
mod autonomous;
mod crew;
mod kept;
mod lines;
mod rounds;
mod slot;
mod summary;
mod ticks;
mod woken;

pub use crew::{Crew, workers};
pub use lines::Lines;
pub use slot::Loop;
pub use summary::Summary;
pub use woken::Stopper;

use crate::census::Census;
use crate::chance::Chance;
use crate::config::{Exhaustion, RateLimiting};
use crate::gate::Gate;
use crate::keep::Checkpoint;
use crate::request::Spawn;
use crate::world::World;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_core::model::Chart;
use chartc_runtime::Saved;
use chartc_runtime::agent::Agent;
use chartc_runtime::clock::{Clock, Shared, VirtualClock};
use chartc_runtime::trace::{Line, Logged, VERSION, What};
use kept::Kind;
use slot::{Flag, Slot};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use summary::Tally;
use woken::Woken;

/// How the agents of a world run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Decides who acts first.
    pub seed: u64,
    /// Milliseconds from the beginning of a tick to the next one; of an autonomous run from one summary to the next.
    pub delay: u64,
    /// Milliseconds between the turns of an autonomous agent.
    pub interval: u64,
    /// The most milliseconds that an autonomous agent waits after failed turns; the wait doubles with each.
    pub max_backoff: u64,
    /// Failed turns in a row after which an agent is paused; 0 for never.
    pub max_errors: u32,
    /// Whether time is that of the computer.
    pub is_real: bool,
    /// What an agent does that has used up its part of a window.
    pub exhaustion: Exhaustion,
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
        }
    }
}

/// What an agent is made of.
#[derive(Debug, Clone, Copy)]
pub enum Recipe<'r> {
    /// One that the run file names, by its number there.
    Configured(usize),
    /// One that another agent has made.
    Spawned(&'r Spawn),
    /// A part of the world, by its name.
    Service,
}

/// An agent that is to be made.
pub struct New<'n> {
    /// Its name, which whatever belongs to the agent may share.
    pub name: &'n Arc<str>,
    /// What it is made of.
    pub recipe: Recipe<'n>,
    /// Takes its trace.
    pub lines: Lines,
    /// Its time.
    pub clock: Arc<dyn Clock>,
    /// Where it was saved, if it goes on.
    pub saved: Option<&'n Saved>,
    /// What [`Maker::position`] gave then; nothing for a new one.
    pub position: &'n Value,
}

/// An agent that was made.
pub struct Made<M> {
    /// It, with a sink and a clock as they were given.
    pub agent: Agent<M, Lines>,
    /// Whether its chart does anything in a turn; if not, events and deadlines alone move it.
    pub has_turns: bool,
    /// Who answers it, by the name that limits of providers have; `*` where nobody knows.
    pub provider: Arc<str>,
}

/// Makes agents: it knows their charts, and who answers them.
pub trait Maker<M> {
    /// Makes an agent. One that goes on has taken over what was saved.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn make(&mut self, new: New<'_>) -> Result<Made<M>, String>;

    /// What a checkpoint has to know of who answers an agent: how far its script is used up, say.
    fn position(&self, name: &str) -> Value {
        let _ = name;
        Value::None
    }
}

/// Takes what happens.
pub trait Output {
    /// A line of the log.
    ///
    /// # Errors
    /// It cannot be written; the run ends with that.
    fn logged(&mut self, line: &Logged) -> io::Result<()>;

    /// The summary of a tick.
    ///
    /// # Errors
    /// As above.
    fn summary(&mut self, summary: &Summary) -> io::Result<()>;

    /// Whether checkpoints are kept.
    fn keeps(&self) -> bool {
        false
    }

    /// Keeps a checkpoint: it belongs to all lines of the log until now.
    ///
    /// # Errors
    /// As above.
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
    crew: Crew<M>,
    clock: VirtualClock,
    /// The same for those who answer and for the agents: all share one.
    shared: Arc<dyn Clock>,
    gate: Gate,
    /// When there may be room at the gate for somebody who waits there.
    gate_opens: Option<Instant>,
    /// When the run began on the computer's clock, and on the world's.
    origin: tokio::time::Instant,
    first: Instant,
    slots: Vec<Option<Box<Slot<M>>>>,
    by_name: BTreeMap<Arc<str>, usize>,
    /// Agents that take turns, in the order of their numbers; some of them may have ended.
    takers: Vec<usize>,
    woken: Arc<Woken>,
    /// When time alone changes something for an agent, and the same by agent.
    timers: BTreeSet<(Instant, usize)>,
    due: Vec<Option<Instant>>,
    /// When the next turns of sleeping agents begin, in an autonomous run.
    turns: BTreeSet<(Instant, usize)>,
    /// Agents whose turn is under way.
    thinking: BTreeSet<usize>,
    /// Agents that have thought and not acted.
    thought: VecDeque<usize>,
    tally: Tally,
    census: Census,
    /// Lines of the world itself that are in the log.
    seq: u64,
    tick: u32,
    /// How long the run is, in milliseconds, where that is known.
    total: Option<Instant>,
    /// When the period of an autonomous run began that the next summary is about.
    began: Instant,
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Without agents.
    pub fn new(world: World, settings: Settings, crew: Crew<M>, maker: K, out: O) -> Self {
        let clock = VirtualClock::new();
        Self {
            world,
            maker,
            out,
            settings,
            crew,
            shared: Arc::new(Shared(clock.clone())),
            clock,
            gate: Gate::new(&RateLimiting::default()),
            gate_opens: None,
            origin: tokio::time::Instant::now(),
            first: 0,
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            takers: Vec::new(),
            woken: Arc::default(),
            timers: BTreeSet::new(),
            due: Vec::new(),
            turns: BTreeSet::new(),
            thinking: BTreeSet::new(),
            thought: VecDeque::new(),
            tally: Tally::default(),
            census: Census::new(),
            seq: 0,
            tick: 0,
            total: None,
            began: 0,
        }
    }

    /// With limits that all calls of its agents pass: those whose drivers have the same gate. Agents that agents make pass it, too.
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> Self {
        let (spawns, clock) = (gate.clone(), self.clock.clone());
        self.world.ask_before_spawns(move |parent| {
            let taken = spawns.take(parent, "spawns", 1, clock.now());
            taken.map_err(|why| format!("`spawns`: {why}"))
        });
        Self { gate, ..self }
    }

    /// Stops the run from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper::of(self.woken.clone())
    }

    /// The world's clock, for those who answer: it is moved by the engine only.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.shared.clone()
    }

    /// Adds an agent, whose account and artifacts the world has already.
    ///
    /// # Errors
    /// Why it cannot be made, or that there is one of this name.
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
            Recipe::Configured(number) => Kind::Configured(number),
            Recipe::Spawned(_) => Kind::Spawned,
            Recipe::Service => Kind::Service,
        };
        self.put(name, kind, made, lines, Loop::Starting);
        Ok(())
    }

    fn put(&mut self, name: Arc<str>, kind: Kind, made: Made<M>, lines: Lines, mode: Loop) {
        let index = self.slots.len();
        let Made { agent, has_turns, provider } = made;
        if !mode.is_over() {
            self.turns.insert((self.now(), index));
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
            flag: Arc::new(Flag { index, woken: self.woken.clone() }),
            is_changed: true,
        })));
        self.due.push(None);
        self.woken.put(index);
    }

    /// Who makes the agents.
    pub fn maker_mut(&mut self) -> &mut K {
        &mut self.maker
    }

    /// Who takes what happens.
    pub fn out_mut(&mut self) -> &mut O {
        &mut self.out
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Who is in which state.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// Tells the census the states of a chart: it counts them in document order, also those where nobody has been.
    pub fn know(&mut self, chart: &Chart) {
        self.census.know(chart);
    }

    /// The loop of each agent, by name.
    pub fn loops(&self) -> impl Iterator<Item = (&str, &Loop)> {
        let slot = |index: &usize| {
            self.slots.get(*index).and_then(Option::as_deref).filter(|slot| !slot.is_service())
        };
        self.by_name.iter().filter_map(move |(name, index)| Some((&**name, &slot(index)?.mode)))
    }

    /// The basic states of each agent, by name.
    pub fn configurations(&self) -> BTreeMap<String, Vec<String>> {
        let slots = self.slots.iter().flatten().filter(|slot| !slot.is_service());
        slots.map(|slot| (slot.name.to_string(), slot.agent.session().configuration())).collect()
    }

    /// Milliseconds on the world's clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    fn is_stopped(&self) -> bool {
        self.woken.is_stopped()
    }

    /// Whether no agent will take a turn any more.
    fn is_over(&self) -> bool {
        let agents = self.slots.iter().flatten().filter(|slot| !slot.is_service());
        agents.into_iter().all(|slot| slot.mode.is_over())
    }

    /// Writes a line of the world's own.
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
