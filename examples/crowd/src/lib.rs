//! Many agents of one generated chart: `build.rs` generates `social` from `charts/social.chart`.

chartc_core::include_chart!(pub mod social);

pub mod chance;
pub mod options;
pub mod person;
pub mod show;
pub mod stand_in;

use chartc_core::expr::{Map, Value};
use chartc_runtime::agents::{Engine as _, EngineError, Event, INPUTS, Memory, Quiet as _};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::{RunError, Session};
use options::Options;
use person::{Done, Person, TOPICS};
use social::{Machine, State};
use stand_in::StandIn;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of an agent, from 0.
pub type AgentId = usize;

/// Events between two reports of progress.
const REPORTED: usize = 16_384;

/// Posts that appear in a round.
const POSTS: u64 = 16;

/// Called with the number of agents that have had their event, and the number of all agents.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// The agents, and the stand-in that answers them.
pub struct World {
    /// Who answers.
    pub stand_in: Arc<StandIn>,
    /// What was done in public.
    pub done: Arc<Done>,
    /// Events that were fired, turns included.
    pub fired: u64,
    engine: Memory<'static, Machine<Person>, ()>,
    seed: u64,
    agents: usize,
    round: u64,
}

impl World {
    /// Makes the agents; all are idle.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub async fn new(options: &Options, progress: Progress<'_>) -> Result<Self, EngineError> {
        let seed = options.seed;
        let stand_in = Arc::new(StandIn::new(seed));
        let done = Arc::<Done>::default();
        let of_all = (stand_in.clone(), done.clone());
        let engine = Memory::new(Arc::new(VirtualClock::new()), move |name: &str, clock| {
            let (stand_in, done) = &of_all;
            let number: AgentId =
                name.parse().map_err(|_| RunError::Start(format!("`{name}` is no number")))?;
            let machine =
                Machine::new(person::params(seed, number), Person::new(seed, number, done.clone()))
                    .map_err(|why| RunError::Start(why.to_string()))?;
            Ok(Session::new(machine, stand_in.clone(), clock, ()))
        });
        // No event comes twice, so no id has to be remembered.
        let engine = engine.with_seen(0).with_work_at_once();
        let agents = options.agents;
        let mut world = Self { stand_in, done, fired: 0, engine, seed, agents, round: 0 };
        let all = (0..agents).map(|id| (id, Event::new("", INPUTS)));
        world.fire(all, agents, progress).await?;
        Ok(world)
    }

    /// Runs a round: some posts appear, every agent may do one thing that its chart allows now, and every agent has a turn.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub async fn round(&mut self, progress: Progress<'_>) -> Result<(), EngineError> {
        self.round += 1;
        let posts: Vec<Map> = (0..POSTS).map(|nth| self.post(nth)).collect();
        for (state, ids) in self.agents_by_state() {
            let (seed, round) = (self.seed, self.round);
            let acts = ids.into_iter().filter_map(|id| {
                let dice = chance::number(&[seed, round, id as u64]);
                Some((id, act(state, dice, &posts)?))
            });
            self.fire(acts, 0, &mut |_, _| ()).await?;
        }
        self.engine.quiet().await;
        let turns = (0..self.agents).map(|id| (id, Event::turn("")));
        self.fire(turns, self.agents, progress).await?;
        self.engine.quiet().await;
        Ok(())
    }

    /// The agents in each leaf, in ascending order. Leaves without agents are left out.
    pub fn agents_by_state(&self) -> BTreeMap<State, Vec<AgentId>> {
        let mut all: BTreeMap<State, Vec<AgentId>> = BTreeMap::new();
        self.engine.each_session(|name, session| {
            let number = name.parse().unwrap_or_default();
            let machine = session.machine();
            if let Some(state) = leaves().find(|state| machine.is_in(*state)) {
                all.entry(state).or_default().push(number);
            }
        });
        for agents in all.values_mut() {
            agents.sort_unstable();
        }
        all
    }

    /// The number of agents in each leaf, in document order, leaves without agents included.
    pub fn state_distribution(&self) -> Vec<(State, usize)> {
        let all = self.agents_by_state();
        leaves().map(|state| (state, all.get(&state).map_or(0, Vec::len))).collect()
    }

    /// Fires events, and reports how many of `all` there were.
    async fn fire(
        &mut self,
        events: impl Iterator<Item = (AgentId, Event)>,
        all: usize,
        progress: Progress<'_>,
    ) -> Result<(), EngineError> {
        let mut fired = 0;
        for (id, event) in events {
            self.engine.fire(&id.to_string(), event).await?;
            fired += 1;
            if fired % REPORTED == 0 {
                progress(fired, all);
            }
        }
        progress(fired, all);
        self.fired += fired as u64;
        Ok(())
    }

    /// The data of an event that shows a post.
    fn post(&self, nth: u64) -> Map {
        let parts = [self.seed, self.round, nth];
        let topics = [5, 6].map(|what| *chance::one(&TOPICS, &[parts[0], parts[1], nth, what]));
        let post = Map::from_iter([
            ("id".to_owned(), Value::Text(format!("{}.{nth}", self.round))),
            (
                "text".to_owned(),
                Value::Text(format!("Who else dreams of {}?", topics.join(" and "))),
            ),
            ("velocity".to_owned(), Value::Float(10.0 * chance::share(&parts))),
        ]);
        Map::from_iter([("post".to_owned(), Value::Map(post))])
    }

    /// Ends the crowd and returns the sessions by agent number.
    pub fn into_sessions(self) -> Vec<Session<Machine<Person>, ()>> {
        let mut sessions: Vec<(AgentId, Session<Machine<Person>, ()>)> = self
            .engine
            .into_sessions()
            .into_iter()
            .map(|(name, session)| (name.parse().unwrap_or_default(), session))
            .collect();
        sessions.sort_by_key(|(id, _)| *id);
        sessions.into_iter().map(|(_, session)| session).collect()
    }
}

/// The states without states in them.
fn leaves() -> impl Iterator<Item = State> {
    let parents = [State::Active, State::ActiveEngaging];
    State::ALL.into_iter().filter(move |state| !parents.contains(state))
}

/// The event that an agent in this state gets in a round, if any.
fn act(state: State, dice: u64, posts: &[Map]) -> Option<Event> {
    let percent = dice % 100;
    let name = match state {
        State::Idle if percent < 40 => "start_browsing",
        State::ActiveScrolling if percent < 85 => {
            let post = &posts[(dice / 100) as usize % posts.len()];
            return Some(Event::new("", "sees_post").with(post.clone()));
        }
        State::ActiveScrolling if percent < 95 => "feed_empty",
        State::ActiveEvaluating => "decides",
        State::ActiveComposing
        | State::ActiveEngagingLike
        | State::ActiveEngagingReply
        | State::ActiveEngagingReshare
            if percent < 70 =>
        {
            "finishes"
        }
        State::ActiveResting if percent < 50 => "rested",
        State::Idle
        | State::Active
        | State::ActiveScrolling
        | State::ActiveComposing
        | State::ActiveEngaging
        | State::ActiveEngagingLike
        | State::ActiveEngagingReply
        | State::ActiveEngagingReshare
        | State::ActiveResting => return None,
    };
    Some(Event::new("", name))
}
