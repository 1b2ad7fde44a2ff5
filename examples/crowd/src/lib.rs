//! Many agents of one generated chart: `build.rs` generates `social` from `charts/social.chart`.

chartc_core::include_chart!(pub mod social);

pub mod chance;
pub mod options;
pub mod person;
pub mod show;
pub mod stand_in;

use chartc_core::expr::{Map, Value};
use chartc_runtime::agents::{EngineError, Event, INPUTS, Memory, Quiet};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::{AgentId, Population, RunError, Session};
use options::Options;
use person::{Done, Person, TOPICS};
use social::{Machine, State};
use stand_in::StandIn;
use std::sync::Arc;

/// Events that are fired in one call.
const AT_ONCE: usize = 16_384;

/// Posts that appear in a round.
const POSTS: u64 = 16;

/// Called with the number of agents that have had their event, and the number of all agents.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// The agents, and the stand-in that answers them.
pub struct World {
    /// Who is in which state.
    pub population: Population<Machine<Person>>,
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
    pub fn new(options: &Options, progress: Progress<'_>) -> Result<Self, EngineError> {
        let seed = options.seed;
        let (population, stand_in) = (Population::new(), Arc::new(StandIn::new(seed)));
        let done = Arc::<Done>::default();
        let of_all = (population.clone(), stand_in.clone(), done.clone());
        let engine = Memory::new(Arc::new(VirtualClock::new()), move |name: &str, clock| {
            let (population, stand_in, done) = &of_all;
            let number: AgentId =
                name.parse().map_err(|_| RunError::Start(format!("`{name}` is no number")))?;
            let machine =
                Machine::new(person::params(seed, number), Person::new(seed, number, done.clone()))
                    .map_err(|why| RunError::Start(why.to_string()))?;
            let mut session = Session::new(machine, stand_in.clone(), clock, ());
            population.join_as(number, &mut session);
            Ok(session)
        });
        // No event comes twice, so no id has to be remembered.
        let engine = engine.with_threads(options.threads).with_seen(0).with_work_at_once();
        let agents = options.agents;
        let mut world =
            Self { population, stand_in, done, fired: 0, engine, seed, agents, round: 0 };
        let all = (0..agents).map(|id| (id, Event::new("", INPUTS)));
        world.fire(all, agents, progress)?;
        Ok(world)
    }

    /// Runs a round: some posts appear, every agent may do one thing that its chart allows now, and every agent has a turn.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub async fn round(&mut self, progress: Progress<'_>) -> Result<(), EngineError> {
        self.round += 1;
        let posts: Vec<Map> = (0..POSTS).map(|nth| self.post(nth)).collect();
        let states = self.population.state_distribution().into_iter().map(|(state, _)| state);
        let who: Vec<(State, Vec<AgentId>)> =
            states.map(|state| (state, self.population.agents_in_state(state))).collect();
        for (state, ids) in who {
            let (seed, round) = (self.seed, self.round);
            let acts = ids.into_iter().filter_map(|id| {
                let dice = chance::number(&[seed, round, id as u64]);
                Some((id, act(state, dice, &posts)?))
            });
            self.fire(acts, 0, &mut |_, _| ())?;
        }
        self.engine.quiet().await;
        let turns = (0..self.agents).map(|id| (id, Event::turn("")));
        self.fire(turns, self.agents, progress)?;
        self.engine.quiet().await;
        Ok(())
    }

    /// Fires many events, in batches.
    fn fire(
        &mut self,
        events: impl Iterator<Item = (AgentId, Event)>,
        of: usize,
        progress: Progress<'_>,
    ) -> Result<(), EngineError> {
        let mut events = events.map(|(id, event)| (id.to_string(), event)).peekable();
        let mut fired = 0;
        while events.peek().is_some() {
            let part: Vec<(String, Event)> = events.by_ref().take(AT_ONCE).collect();
            for reply in self.engine.fire_many(&part) {
                reply?;
            }
            fired += part.len();
            progress(fired, of);
        }
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
