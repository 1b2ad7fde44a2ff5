//! The engines, each with its way to wait and to tell a trace.

use crate::cases::{Act, Case, dressed};
use crate::drivers::Scripts;
use crate::node::{Node, PATIENCE};
use crate::redis_server::{GROUP, Server};
use chartc_adapters::redis::{Intake, Options as IntakeOptions};
use chartc_adapters::restate::{Restate, Service};
use chartc_core::interpreter::Interpreter;
use chartc_runtime::Session;
use chartc_runtime::agent::Agent;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Memory, Quiet, Reply};
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::driver::Driver;
use chartc_runtime::oracle::Script;
use chartc_runtime::stepped::{Making, PendingLines};
use chartc_runtime::trace::{Line, Logged, Sink, What};
use chartc_store::{Options, Safety, Sqlite, Store, Worker};
use chartc_world::engine::{
    Engine as WorldEngine, Made, Maker, New, Output, Recipe, Settings, Summary, WorkerPool,
};
use chartc_world::{NewAgent, Settings as WorldSettings};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The longest that a case waits in virtual time.
const LONG: u64 = 60_000;

/// An engine in a test.
pub(crate) trait World {
    fn engine(&self) -> &impl Engine;
    /// Sends an event to an agent, and says what the engine replied.
    async fn fire(&self, agent: &str, event: Event) -> String {
        said(&self.engine().fire(agent, event).await)
    }
    async fn settle(&self, agent: &str);
    async fn end(&self, agent: &str);
    async fn lines(&self, agent: &str) -> Vec<Line>;
}

/// What became of a case: what was said of each event, the last state, and the trace without its times.
#[derive(Debug, PartialEq)]
pub(crate) struct Played {
    pub(crate) said: Vec<String>,
    pub(crate) state: Option<AgentState>,
    pub(crate) lines: Vec<(u64, String, String)>,
}

pub(crate) async fn played(world: &impl World, case: &Case) -> Played {
    let mut said = Vec::new();
    for act in &case.acts {
        match act {
            Act::Settle => world.settle(case.name).await,
            Act::End => world.end(case.name).await,
            Act::Fire(event) => said.push(world.fire(case.name, event.clone()).await),
        }
    }
    let state = world.engine().read(case.name).await.expect("it can be read");
    let lines = world.lines(case.name).await;
    Played { said, state, lines: lines.into_iter().map(shown).collect() }
}

fn said(fired: &Result<Reply, EngineError>) -> String {
    match fired {
        Ok(reply) => format!("{:?}, repeated: {}", reply.receipt, reply.is_repeated),
        Err(why) => why.to_string(),
    }
}

fn shown(line: Line) -> (u64, String, String) {
    (line.seq, line.child, timeless(&line.what))
}

/// A line without the times that it tells: on a server, time passes. (The first is in the prompts of `phases.chart`.)
fn timeless(what: &What) -> String {
    let mut text = serde_json::to_string(what).expect("a line is JSON");
    for (told, end) in [("Phase Duration: ", "\\n"), ("\"until_ms\":", "}")] {
        if let Some((before, rest)) = text.split_once(told) {
            let end = rest.find(end).expect("the time ends");
            text = format!("{before}{told}{}", &rest[end..]);
        }
    }
    text
}

fn scripts(cases: &Arc<Vec<Case>>, clock: Arc<dyn Clock>) -> Arc<dyn Driver> {
    let cases = cases.clone();
    Arc::new(Scripts::new(move |agent| of(&cases, agent).script.clone(), clock))
}

fn of<'c>(cases: &'c [Case], agent: &str) -> &'c Case {
    cases.iter().find(|case| case.name == agent).expect("an agent of a case")
}

/// Lines by their agents.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<BTreeMap<String, Vec<Line>>>>);

impl Lines {
    fn put(&self, agent: &str, line: &Line) {
        let mut lines = self.0.lock().expect("no panic");
        lines.entry(agent.to_owned()).or_default().push(line.clone());
    }

    fn of(&self, agent: &str) -> Vec<Line> {
        self.0.lock().expect("no panic").get(agent).cloned().unwrap_or_default()
    }
}

/// The lines of one agent.
pub(crate) struct Into(Lines, String);

impl Sink for Into {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.put(&self.1, line);
        Ok(())
    }
}

pub(crate) struct InMemory {
    engine: Memory<'static, Interpreter<Script>, Into>,
    lines: Lines,
}

impl InMemory {
    pub(crate) fn new(cases: &Arc<Vec<Case>>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
        let driver = scripts(cases, clock.clone());
        let lines = Lines::default();
        let (cases, sink) = (cases.clone(), lines.clone());
        let engine = Memory::new(clock, move |agent: &str, clock| {
            let sink = Into(sink.clone(), agent.to_owned());
            Ok(dressed(of(&cases, agent).machine(), agent, clock, driver.clone(), sink))
        });
        Self { engine, lines }
    }
}

impl World for InMemory {
    fn engine(&self) -> &impl Engine {
        &self.engine
    }

    async fn settle(&self, _: &str) {
        self.engine.quiet().await;
    }

    async fn end(&self, _: &str) {
        self.engine.advance(LONG).await;
    }

    async fn lines(&self, agent: &str) -> Vec<Line> {
        self.lines.of(agent)
    }
}

pub(crate) struct InFile {
    engine: Sqlite,
    lines: Lines,
}

impl InFile {
    /// The engine, and whoever works for it.
    pub(crate) fn new(
        cases: &Arc<Vec<Case>>,
        file: &Path,
    ) -> (Self, Worker<'static, Interpreter<Script>>) {
        drop(std::fs::remove_file(file));
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
        let lines = Lines::default();
        let (shown, made) = (lines.clone(), cases.clone());
        let options = Options {
            make: Box::new(move |making: Making<'_>| session(&made, making)),
            driver: scripts(cases, clock.clone()),
            clock,
            is_real: false,
            replies: false,
            workers: 64,
            show: Box::new(move |agent, line| {
                shown.put(agent, line);
                Ok(())
            }),
            after: Box::new(|_, _| Ok(())),
            given: String::new(),
            service: None,
        };
        let store = Store::own(file, Safety::Process).expect("a store");
        let (engine, worker) = Worker::new(store, options);
        (Self { engine, lines }, worker)
    }
}

impl World for InFile {
    fn engine(&self) -> &impl Engine {
        &self.engine
    }

    async fn settle(&self, _: &str) {
        self.engine.quiet().await;
    }

    async fn end(&self, _: &str) {
        self.engine.advance(LONG).await.expect("it goes on");
    }

    async fn lines(&self, agent: &str) -> Vec<Line> {
        self.lines.of(agent)
    }
}

fn session(
    cases: &[Case],
    making: Making<'_>,
) -> Result<Session<Interpreter<Script>, PendingLines>, String> {
    let journal = making.journal.clone();
    of(cases, making.run).session(&making, journal)
}

pub(crate) struct OnServer(pub(crate) Restate);

impl OnServer {
    /// The engine on a server, with the service in this process.
    pub(crate) async fn new(cases: &Arc<Vec<Case>>, node: &Node) -> Self {
        let driver = scripts(cases, Arc::new(RealClock::new()));
        let made = cases.clone();
        let service = Service::new(move |making| session(&made, making), driver);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(service.serve(listener, std::future::pending()));
        let engine = Restate::new(&node.ingress());
        engine.register(&node.admin(), &address).await.expect("the server takes the service");
        Self(engine)
    }
}

/// Reads an agent until it is as wanted.
pub(crate) async fn until(engine: &Restate, agent: &str, is_there: impl Fn(&AgentState) -> bool) {
    let limit = Instant::now() + PATIENCE;
    loop {
        let state = engine.read(agent).await.expect("it can be read");
        if state.as_ref().is_some_and(&is_there) {
            return;
        }
        assert!(Instant::now() < limit, "{agent} stands still: {state:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

impl World for OnServer {
    fn engine(&self) -> &impl Engine {
        &self.0
    }

    async fn settle(&self, agent: &str) {
        until(&self.0, agent, |state| state.open == 0).await;
    }

    async fn end(&self, agent: &str) {
        until(&self.0, agent, |state| state.status.is_some()).await;
    }

    async fn lines(&self, agent: &str) -> Vec<Line> {
        self.0.trace(agent).await.expect("it can be read")
    }
}

/// Memory behind a Redis stream: events are added to the stream, and the intake hands them over.
pub(crate) struct OnStream<'s> {
    server: &'s Server,
    stream: String,
    engine: Told,
}

/// Notes what memory replies to the intake, by the ids of events.
struct Told {
    memory: InMemory,
    replies: Mutex<Vec<(String, String)>>,
    grown: Notify,
}

impl Engine for Told {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        // The intake puts the name of the stream before the id.
        let id = event.id.rsplit(':').next().unwrap_or_default().to_owned();
        let fired = self.memory.engine.fire(agent, event).await;
        self.replies.lock().expect("no panic").push((id, said(&fired)));
        self.grown.notify_waiters();
        fired
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        self.memory.engine.read(agent).await
    }
}

impl Told {
    fn replies(&self, id: &str) -> Vec<String> {
        let replies = self.replies.lock().expect("no panic");
        let of_event = replies.iter().filter(|(of, _)| of == id);
        of_event.map(|(_, said)| said.clone()).collect()
    }
}

impl<'s> OnStream<'s> {
    pub(crate) fn new(cases: &Arc<Vec<Case>>, server: &'s Server, stream: String) -> Self {
        let memory = InMemory::new(cases);
        let engine = Told { memory, replies: Mutex::default(), grown: Notify::new() };
        Self { server, stream, engine }
    }

    /// Hands over what is in the stream. It never ends by itself.
    pub(crate) async fn take_in(&self) {
        let options = IntakeOptions::new(&self.server.url(), &self.stream, GROUP);
        let intake = Intake::new(options).expect("an address");
        intake.run(&self.engine, std::future::pending(), drop).await.expect("the server is there");
    }
}

impl World for OnStream<'_> {
    fn engine(&self) -> &impl Engine {
        &self.engine
    }

    async fn fire(&self, agent: &str, event: Event) -> String {
        let before = self.engine.replies(&event.id).len();
        let data = serde_json::to_string(&event.data).expect("JSON");
        let (name, id) = (event.name.as_str(), event.id.as_str());
        let entry = [("agent", agent), ("event", name), ("data", &data), ("id", id)];
        self.server.add(&self.stream, &entry);
        loop {
            let grown = self.engine.grown.notified();
            if let Some(said) = self.engine.replies(&event.id).get(before) {
                return said.clone();
            }
            tokio::time::timeout(PATIENCE, grown).await.expect("the intake hands it over");
        }
    }

    async fn settle(&self, agent: &str) {
        self.engine.memory.settle(agent).await;
    }

    async fn end(&self, agent: &str) {
        self.engine.memory.end(agent).await;
    }

    async fn lines(&self, agent: &str) -> Vec<Line> {
        self.engine.memory.lines(agent).await
    }
}

/// Makes the one agent of a world.
struct Alone {
    cases: Arc<Vec<Case>>,
    driver: Option<Arc<dyn Driver>>,
}

impl Maker<Interpreter<Script>> for Alone {
    fn make(&mut self, new: New<'_>) -> Result<Made<Interpreter<Script>>, String> {
        let driver = scripts(&self.cases, new.clock.clone());
        let driver = self.driver.insert(driver).clone();
        let machine = of(&self.cases, new.name).machine();
        let agent = Agent::new(dressed(machine, new.name, new.clock, driver, new.lines), None);
        Ok(Made { agent, has_turns: true, provider: "*".into() })
    }
}

/// The log of a world.
#[derive(Default)]
struct Log(Vec<Line>);

impl Output for Log {
    fn logged(&mut self, line: &Logged) -> io::Result<()> {
        if !line.agent.is_empty() {
            self.0.push(line.line.clone());
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// Plays a case that has only turns, as ticks of a world with one agent. Returns the last configuration, and the trace without its times.
pub(crate) async fn in_world(
    cases: &Arc<Vec<Case>>,
    case: &Case,
) -> (Vec<String>, Vec<(u64, String, String)>) {
    let world = chartc_world::World::new(WorldSettings::default());
    let agent = NewAgent { name: case.name.into(), ..NewAgent::default() };
    world.add_agent(agent).expect("a new account");
    let maker = Alone { cases: cases.clone(), driver: None };
    // No deadline comes between two ticks.
    let settings = Settings { delay: 0, ..Settings::default() };
    let mut engine = WorldEngine::new(world, settings, WorkerPool::alone(), maker, Log::default());
    engine.add(case.name, Recipe::Configured(0)).expect("an agent");
    let turns = case.acts.iter().filter(|act| matches!(act, Act::Fire(_))).count();
    engine.ticks(u32::try_from(turns).expect("few turns")).await.expect("a log in memory");
    let configuration = engine.configurations().remove(case.name).expect("the agent");
    let lines = std::mem::take(&mut engine.out_mut().0);
    (configuration, lines.into_iter().map(shown).collect())
}
