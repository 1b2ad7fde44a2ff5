//! The census against sessions that run: whatever happens, it knows where everybody is.

use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Random;
use chartc_runtime::trace::{Line, Sink};
use chartc_world::Census;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use test_support::project::number;

/// The sink of one agent: its lines go to the census of all.
struct Teller {
    agent: String,
    census: Arc<Mutex<Census>>,
}

impl Sink for Teller {
    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        self.census.lock().expect("one thread").observe(&self.agent, line);
        Ok(())
    }
}

/// Regions, history, a final state, and a limit that ends runs anywhere.
const MANY: &str = "chart Many {
  event a
  event b
  event c
  event stop
  limits { turns 9 }
  initial rest
  state rest { on a -> work  on b -> both }
  state work {
    initial one
    on c -> rest
    on stop -> gone
    history last -> one
    state one { on a -> two }
    state two { on b -> three  on a -> one }
    state three { initial x state x { on a -> y } state y { on b -> both } }
  }
  parallel both {
    on c -> work.last
    on stop -> gone
    state left { initial l state l { on a -> m } state m { on b -> l } }
    state right { initial r state r { on b -> s } state s { on a -> r } }
  }
  final gone
}";

fn chart(name: &str, text: &str) -> Arc<Chart> {
    let done = chartc::check(&[name.to_owned()], &Memory::of(name, text));
    let shown = chartc::report::short(&done.diagnostics, &done.sources);
    done.charts.first().unwrap_or_else(|| panic!("{shown}")).chart().clone()
}

fn shipped(name: &str) -> Arc<Chart> {
    let path = test_support::project::root().join("charts").join(name);
    chart(name, &std::fs::read_to_string(path).expect("a chart we ship"))
}

fn next(state: &mut u64, most: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % most.max(1) as u64) as usize
}

/// Thirty agents of a chart that are sent what the chart declares, by chance; how many of them have ended.
async fn live(chart: &Arc<Chart>, seed: u64) -> usize {
    let census = Arc::new(Mutex::new(Census::new()));
    let clock = Arc::new(VirtualClock::new());
    let plan = Plan::new(chart);
    let open = chart.variables.iter().filter(|row| row.default.is_none());
    let params: Vec<(String, Value)> = open
        .filter(|row| matches!(row.kind, VariableKind::Param { .. }))
        .map(|row| (row.name.clone(), Value::Text("x".into())))
        .collect();
    let mut agents = BTreeMap::new();
    for nth in 0..30 {
        let agent = format!("a{nth:02}");
        let machine = Interpreter::new(&plan, (), params.clone()).expect("params that fit");
        let teller = Teller { agent: agent.clone(), census: census.clone() };
        let oracle = Arc::new(Random::new(seed + nth));
        let mut session = Session::new(machine, oracle.clone(), clock.clone(), teller);
        session = session.with_tools(oracle);
        session.start().await.expect("it starts");
        agents.insert(agent, session);
    }
    let mut dice = seed;
    for _ in 0..40 {
        for session in agents.values_mut() {
            let event = next(&mut dice, chart.events.len() + 1);
            // An event that the chart refuses for its data changes nothing, and that is compared, too.
            let _ = match chart.events.get(event) {
                Some(event) => session.post(&event.name, Map::new()).await.map(drop),
                None => session.turn().await.map(drop),
            };
        }
        let census = census.lock().expect("one thread");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (agent, session) in &agents {
            let wanted: BTreeSet<String> = session.configuration().into_iter().collect();
            let found: BTreeSet<String> =
                census.configuration(agent).into_iter().map(str::to_owned).collect();
            assert_eq!(found, wanted, "{} {agent}, seed {seed}", chart.name);
            assert_eq!(census.ended(agent), session.status().map(|s| s.word()), "{agent}");
            for state in wanted {
                *counts.entry(state).or_default() += 1;
            }
        }
        let distribution = census.state_distribution();
        let told = distribution.iter().flat_map(|chart| &chart.states);
        let told = told.filter(|row| row.count > 0).map(|row| (row.state.clone(), row.count));
        assert_eq!(told.collect::<BTreeMap<_, _>>(), counts, "{}", chart.name);
    }
    agents.values().filter(|session| session.status().is_some()).count()
}

#[test]
fn it_knows_where_interpreted_agents_are() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut ended = 0;
    for seed in 0..number("CHARTC_CENSUS_SEEDS", 2_u64) {
        let many = chart("many.chart", MANY);
        ended += runtime.block_on(live(&many, seed));
        for name in ["phases.chart", "builder.chart", "support.chart"] {
            ended += runtime.block_on(live(&shipped(name), seed));
        }
    }
    assert!(ended > 30, "only {ended} runs have ended: too few to compare");
}
