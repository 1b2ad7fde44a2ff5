//! Many agents of one chart, generated: `build.rs` made `social` from `charts/social.chart`.

chartc_core::include_chart!(pub mod social);

pub mod chance;
pub mod feed;
pub mod person;
pub mod show;

use chance::Chance;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Random;
use chartc_runtime::trace::Sink;
use chartc_runtime::{RunError, Session};
use feed::Feed;
use person::{Person, person};
use social::{Event, EventName, Machine, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The agents, what they read, and what they have done.
pub struct World<T> {
    /// By their numbers.
    pub agents: Vec<Agent<T>>,
    /// What there is to read.
    pub feed: Feed,
    /// How often something was done in public, by its kind.
    pub done: BTreeMap<String, u32>,
    chance: Chance,
}

/// An agent that runs.
pub struct Agent<T> {
    /// Its run.
    pub session: Session<Machine<Person>, T>,
    /// How many posts it has decided on.
    pub decisions: u32,
    /// Number of the last post it has seen.
    seen: usize,
}

impl<T: Sink> World<T> {
    /// So many agents, all idle, each with params and an oracle of its own, and its trace where `sink` says.
    ///
    /// # Errors
    /// A sink that cannot be written.
    pub async fn new(seed: u64, agents: usize, sink: impl Fn() -> T) -> Result<Self, RunError> {
        let clock = Arc::new(VirtualClock::new());
        let mut world = Self {
            agents: Vec::new(),
            feed: Feed::default(),
            done: BTreeMap::new(),
            chance: Chance::of(seed, "world"),
        };
        for number in 0..agents {
            let own = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            let machine = match Machine::new(person(seed, number), Person::new(own)) {
                Ok(machine) => machine,
                Err(why) => unreachable!("the params are in their ranges: {why}"),
            };
            let oracle = Arc::new(Random::new(own));
            let mut session = Session::new(machine, oracle, clock.clone(), sink());
            session.start().await?;
            world.agents.push(Agent { session, decisions: 0, seen: 0 });
        }
        Ok(world)
    }

    /// A round: some posts appear, every agent may do one thing that its chart allows now, and everybody has a turn.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn round(&mut self) -> Result<(), RunError> {
        for _ in 0..=self.chance.below(4) {
            self.feed.write("a stranger", &mut self.chance);
        }
        for agent in &mut self.agents {
            agent.act(&self.feed, &mut self.chance).await?;
            agent.session.turn().await?;
            for act in std::mem::take(&mut agent.session.machine_mut().host_mut().acts) {
                if act.kind == "post" {
                    let author = &agent.session.machine().data().name;
                    self.feed.write(author, &mut self.chance);
                }
                self.feed.react(&act);
                *self.done.entry(act.kind).or_default() += 1;
            }
        }
        Ok(())
    }

    /// The numbers of the agents in a state. An agent in a state is also in the states around it.
    pub fn agents_in_state(&self, state: State) -> Vec<usize> {
        let agents = self.agents.iter().enumerate();
        agents.filter(|(_, agent)| agent.is_in(state)).map(|(number, _)| number).collect()
    }

    /// How many agents are in each state that has no states in it, in document order.
    pub fn state_distribution(&self) -> Vec<(State, usize)> {
        let parents = [State::Active, State::ActiveEngaging];
        let leaves = State::ALL.into_iter().filter(|state| !parents.contains(state));
        leaves.map(|state| (state, self.agents_in_state(state).len())).collect()
    }

    /// Names of the agents in a state.
    pub fn who(&self, state: State) -> Vec<&str> {
        self.agents.iter().filter(|agent| agent.is_in(state)).map(Agent::name).collect()
    }

    /// How often a model was asked.
    pub fn calls(&self) -> u32 {
        self.agents.iter().map(|agent| agent.session.calls()).sum()
    }

    /// How many posts were decided on, with a model or without.
    pub fn decisions(&self) -> u32 {
        self.agents.iter().map(|agent| agent.decisions).sum()
    }
}

impl<T: Sink> Agent<T> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.session.machine().data().name
    }

    /// Whether it is in a state.
    pub fn is_in(&self, state: State) -> bool {
        self.session.machine().is_in(state)
    }

    /// Sends one of the events that the chart would handle now, or none: then the agent's patience wears out.
    async fn act(&mut self, feed: &Feed, chance: &mut Chance) -> Result<(), RunError> {
        let next = feed.next(self.seen, self.session.machine().host());
        let mut possible =
            self.session.machine_mut().enabled_events().filter_map(|event| match event {
                EventName::StartBrowsing => Some((Event::StartBrowsing, 25)),
                EventName::SeesPost => {
                    next.map(|(_, post)| (Event::SeesPost { post: post.clone() }, 85))
                }
                EventName::FeedEmpty => next.is_none().then_some((Event::FeedEmpty, 85)),
                EventName::Decides => Some((Event::Decides, 75)),
                EventName::Finishes => Some((Event::Finishes, 60)),
                EventName::Rested => Some((Event::Rested, 40)),
            });
        let Some((event, often)) = possible.next() else { return Ok(()) };
        if !chance.percent(often) {
            return Ok(());
        }
        match (&event, next) {
            (Event::SeesPost { .. }, Some((number, _))) => self.seen = *number,
            (Event::Decides, _) => self.decisions += 1,
            _ => {}
        }
        self.session.tell(event).await?;
        Ok(())
    }
}
