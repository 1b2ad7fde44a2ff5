//! What a user of many agents relies on.

use chartc_core::expr::Value;
use chartc_runtime::trace::{Line, Sink, What};
use chartc_world::Census;
use social_example::social::{Post, State};
use social_example::{World, person, show};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const ROUNDS: u32 = 24;

/// The basic states of the chart: those that agents are counted in.
fn basic() -> Vec<State> {
    let parents = [State::Active, State::ActiveEngaging];
    State::ALL.into_iter().filter(|state| !parents.contains(state)).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}

/// A hundred agents after some rounds, and what was shown meanwhile.
async fn run(seed: u64, mut each: impl FnMut(&World<Vec<Line>>)) -> (World<Vec<Line>>, String) {
    let mut world = World::new(seed, 100, Vec::new).await.expect("they start");
    let mut shown = show::people(&world, seed);
    each(&world);
    for round in 1..=ROUNDS {
        world.round().await.expect("a round");
        each(&world);
        shown += &show::round(&world, round);
    }
    shown += &show::summary(&world);
    (world, shown)
}

#[test]
fn every_agent_has_params_of_its_own() {
    let people: Vec<_> = (0..100).map(|n| person::person(7, n)).collect();
    let names: BTreeSet<&str> = people.iter().map(|p| p.name.as_str()).collect();
    let tastes: BTreeSet<String> = people
        .iter()
        .map(|p| format!("{:?} {:?} {:?}", p.interests, p.patience, p.keen_at))
        .collect();
    assert_eq!((names.len(), tastes.len()), (100, 100));
    for person in people {
        let order = [person.bored_at, person.engage_at, person.keen_at];
        assert!(order.is_sorted(), "{order:?} of {}", person.name);
    }
}

#[test]
fn everybody_is_counted_once_and_where_it_is() {
    let check = |world: &World<Vec<Line>>| {
        let distribution = world.state_distribution();
        let states: Vec<State> = distribution.iter().map(|(state, _)| *state).collect();
        assert_eq!(states, basic());
        assert_eq!(distribution.iter().map(|(_, count)| count).sum::<usize>(), 100);
    };
    block_on(run(7, check));
}

#[test]
fn equal_seeds_show_the_same() {
    let shown = |seed| block_on(run(seed, |_| ())).1;
    assert_eq!(shown(7), shown(7));
    assert_ne!(shown(7), shown(8));
}

#[test]
fn every_state_is_visited_by_somebody() {
    let mut visited = BTreeSet::new();
    block_on(run(7, |world| {
        let distribution = world.state_distribution().into_iter();
        visited.extend(distribution.filter(|(_, count)| *count > 0).map(|(state, _)| state));
    }));
    assert_eq!(visited.into_iter().collect::<Vec<_>>(), basic());
}

#[test]
fn the_model_is_asked_only_when_it_may_be_and_only_what_is_legal() {
    let (world, _) = block_on(run(7, |_| ()));
    let mut questions = 0;
    for agent in world.agents {
        let (machine, lines) = agent.session.into_parts();
        let (data, host) = (machine.data(), machine.host());
        let mut relevance = 0.0;
        for line in lines {
            match line.what {
                What::Event { event, data: Value::Map(sent) } if event == "sees_post" => {
                    let post = sent.get("post").expect("it carries a post").clone();
                    let post: Post =
                        chartc_core::expr::FromValue::from_value(post).expect("a post");
                    relevance = host.judge(&post, &data.interests);
                }
                What::Question { options, .. } => {
                    questions += 1;
                    assert!(
                        data.bored_at < relevance && relevance < data.keen_at,
                        "{} was asked about a post of relevance {relevance}",
                        data.name
                    );
                    let engaged = relevance >= data.engage_at;
                    let legal: &[&str] = if engaged {
                        &["compose", "like", "reply", "reshare", "skip"]
                    } else {
                        &["compose", "skip"]
                    };
                    assert_eq!(options, legal, "{} at {relevance}", data.name);
                }
                _ => {}
            }
        }
    }
    assert!(questions > 100, "{questions} questions in {ROUNDS} rounds");
}

/// The sink of one agent: its lines go to the census of all.
struct Teller(String, Arc<Mutex<Census>>);

impl Sink for Teller {
    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        self.1.lock().expect("one thread").observe(&self.0, line);
        Ok(())
    }
}

#[test]
fn a_census_of_the_traces_counts_as_the_population_does() {
    let census = Arc::new(Mutex::new(Census::new()));
    let joined = Cell::new(0);
    let sink = || Teller(joined.replace(joined.get() + 1).to_string(), census.clone());
    block_on(async {
        let mut world = World::new(7, 100, sink).await.expect("they start");
        let mut compared = 0;
        for _ in 0..ROUNDS {
            world.round().await.expect("a round");
            let census = census.lock().expect("one thread");
            for state in State::ALL {
                let wanted = world.agents_in_state(state);
                let path = state.to_string();
                let Ok(found) = census.agents_in_state(&path) else {
                    assert!(wanted.is_empty(), "nobody has been in {path}");
                    continue;
                };
                compared += found.len();
                let found: Vec<usize> =
                    found.iter().map(|n| n.parse().expect("a number")).collect();
                assert_eq!(found, wanted, "{path}");
                assert_eq!(census.count_in(&path), Ok(wanted.len() as u64), "{path}");
            }
        }
        assert!(compared > 1000, "{compared}");
    });
}
