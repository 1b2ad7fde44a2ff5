//! Makes the agents of a run.
//!
//! **The problem.** Thousands of agents differ only in name and data. Each needs a machine of its own, but the chart, the host functions,
//! the driver and the profile are the same. Agents that others spawn bring charts that are compiled while the run is under way.
//!
//! **The idea.** [`AgentFactory`] implements [`Maker`] for the engine, with one way for each [`Recipe`]: configured, spawned, or the service
//! of the auctions. The agents of a group and chart share an [`AgentTemplate`], made when the first of them is. What an agent has for itself
//! is its machine, its record, and its copy of the script, so that its answers do not depend on when others are asked ([`AnswerSource`]).
//!
//! A spawned agent shares the clients, tools and budget of its parent and may use no others: else an agent could write itself a child with
//! a stronger model, or multiply its budget.
//!
//! **Example.** `{ file: trader.chart, count: 1000, llm: "script:trader.yaml" }`:
//!
//! ```text
//! Trader_1       makes the template: Artifacts, Profile, a session with a shared driver; then its own machine and script
//! Trader_2       takes the template, and needs only a machine and a copy of the script
//!                (with `$agent` in the script, the copy is parsed anew, with the name replaced)
//! a child of 2   `restrict` checks its chart, and it gets a template of its own
//! ```

use crate::bids::{AuctionSettings, MINT};
use crate::charts::{Family, restrict, used};
use crate::config::{AgentEntry, RateLimiting, RunFile, StatechartConfig};
use crate::engine::{Lines, Made, Maker, New, Recipe};
use crate::gate::{Gate, Gated};
use crate::keep::{Keep, KeptCalls};
use crate::request::Spawn;
use crate::world::{ArtifactMemory, Auctioneer, NewAgent, World};
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, Step, Transition, Trigger, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{
    Agent, ArtifactHost, Artifacts, Life, LongTerm, Profile, Record, SharedRecord, WorkingMemory,
};
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::{CallId, Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::journal::Journaled;
use chartc_runtime::memory::Rag;
use chartc_runtime::oracle::{Asking, Deny, Oracle, OracleError, Question, Random, Script};
use chartc_runtime::tools::{Calling, Tools};
use chartc_runtime::trace::Origin;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

// The agents that are to be made.

/// The param that `statechart.default_timeout_ticks` of the run file sets.
const TIMEOUT: &str = "default_timeout_ticks";

/// The agents of one entry of the run file. They share a chart and an oracle.
pub struct AgentGroup {
    /// The file of the chart, as the traces of its agents name it.
    pub file: String,
    /// The chart and its child charts, the chart itself first.
    pub family: Arc<Family>,
    /// The entry.
    pub entry: AgentEntry,
}

/// An agent of the run file or the folder.
pub struct AgentSpec {
    /// The name.
    pub name: String,
    /// The index of its group.
    pub group: usize,
    /// Its number among the agents of its entry, from 1.
    pub number: usize,
    /// The scrip that its own file gives it, if it does.
    pub scrip: Option<i64>,
}

/// All agents that a run begins with.
#[derive(Default)]
pub struct AgentSet {
    /// The groups.
    pub groups: Vec<AgentGroup>,
    /// The agents of all groups.
    pub agents: Vec<AgentSpec>,
}

impl AgentSet {
    /// Adds the agents of an entry.
    pub fn add(&mut self, file: String, family: Arc<Family>, entry: AgentEntry) {
        let chart = family.root();
        let own = match meta(chart, "id") {
            Some(Value::Text(id)) if !id.is_empty() => id.clone(),
            Some(_) | None => chart.name.clone(),
        };
        let group = self.groups.len();
        for (number, name) in (1..).zip(entry.names(&own)) {
            self.agents.push(AgentSpec { name, group, number, scrip: starting_scrip(chart) });
        }
        self.groups.push(AgentGroup { file, family, entry });
    }

    /// Applies the settings of the run file for all charts, where a chart has none of its own.
    pub fn follow(&mut self, said: &StatechartConfig) {
        for group in &mut self.groups {
            let (depth, turns) = (said.max_history_depth, said.default_timeout_ticks);
            if depth.is_some() || turns.is_some() {
                let bounded = |chart: &Arc<Chart>| {
                    let mut chart = Chart::clone(chart);
                    // The smaller bound holds: `None` keeps everything.
                    chart.history_kept = chart.history_kept.into_iter().chain(depth).min();
                    chart.turns_in_state = turns;
                    Plan::new(&Arc::new(chart))
                };
                let plans = group.family.charts().map(bounded).collect();
                group.family = Arc::new(Family { plans });
            }
            let timeout = said.default_timeout_ticks.map(|ticks| Value::Int(i64::from(ticks)));
            if let Some(timeout) = timeout.filter(|_| has_param(group.family.root(), TIMEOUT))
                && group.entry.params.get(TIMEOUT).is_none()
            {
                group.entry.params.insert(TIMEOUT.into(), timeout);
            }
        }
    }

    /// The structural hashes of each agent's charts, by the agent's name.
    pub fn hashes(&self) -> Vec<(String, String)> {
        let hash = |group: &AgentGroup| {
            let all = group.family.plans.iter().map(|plan| plan.hash);
            all.map(|hash| format!("{hash:016x}")).collect::<Vec<_>>().join(" ")
        };
        let groups: Vec<String> = self.groups.iter().map(hash).collect();
        let agents = self.agents.iter();
        agents.map(|agent| (agent.name.clone(), groups[agent.group].clone())).collect()
    }

    /// The gate that all calls pass, with the budgets of the agents.
    pub fn gate(&self, rates: &RateLimiting) -> Gate {
        let gate = Gate::new(rates);
        for agent in &self.agents {
            gate.set_budget(&agent.name, self.groups[agent.group].entry.budget);
        }
        gate
    }

    /// Adds the agents to a world, with what the run file says of them.
    ///
    /// # Errors
    /// The first agent that the world does not accept, and why.
    pub fn settle_in(&self, world: &World, file: &RunFile) -> Result<(), String> {
        world.permit_models(&file.models);
        let contents: Vec<Map> = self.groups.iter().map(content).collect();
        for agent in &self.agents {
            let new = NewAgent {
                name: agent.name.clone(),
                balance: file.balances.get(&agent.name).copied(),
                scrip: agent.scrip,
                disk: file.resources.disk.of(&agent.name),
                compute: file.resources.compute.of(&agent.name),
                content: contents[agent.group].clone(),
                family: Some(self.groups[agent.group].family.clone()),
                owner: None,
            };
            world.add_agent(new).map_err(|why| format!("agent `{}`: {why}", agent.name))?;
        }
        Ok(())
    }
}

/// What an agent's record says beside its settings: its file, its chart and its inputs.
fn content(group: &AgentGroup) -> Map {
    let mut content = Map::new();
    content.insert("file".into(), Value::Text(group.file.clone()));
    content.insert("chart".into(), Value::Text(group.family.root().name.clone()));
    if !group.entry.inputs.is_empty() {
        content.insert("inputs".into(), Value::Map(group.entry.inputs.clone()));
    }
    content
}

fn meta<'c>(chart: &'c Chart, key: &str) -> Option<&'c Value> {
    chart.meta.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn has_param(chart: &Chart, name: &str) -> bool {
    let is_it = |kind: &VariableKind| matches!(kind, VariableKind::Param { .. });
    chart.variables.iter().any(|row| row.name == name && is_it(&row.kind))
}

/// The scrip that an `agent.yaml` gives its agent at the start, under either of two keys.
pub fn starting_scrip(chart: &Chart) -> Option<i64> {
    match meta(chart, "starting_scrip").or_else(|| meta(chart, "starting_credits")) {
        Some(Value::Int(scrip)) => Some(*scrip),
        Some(Value::Float(scrip)) => Some(*scrip as i64),
        Some(_) | None => None,
    }
}

/// The values of an agent's params: those of its entry and, if the chart has a param `agent_id`, the agent's name.
fn params(chart: &Chart, entry: &Map, name: &str) -> Map {
    let mut params = entry.clone();
    if has_param(chart, "agent_id") && params.get("agent_id").is_none() {
        params.insert("agent_id".into(), Value::Text(name.to_owned()));
    }
    params
}

/// Whether anything in the chart depends on turns.
pub fn has_turns(chart: &Chart) -> bool {
    let walks = chart.steps.iter().any(Step::is_walked);
    let moves = |line: &Transition| {
        matches!(
            &line.trigger,
            Trigger::Turn | Trigger::AnyOccurrence | Trigger::AfterTurns(_) | Trigger::When
        )
    };
    walks || chart.transitions.iter().any(moves)
}

// The factory.

/// The machine of an agent or of the auctions.
pub type Machine = Interpreter<Watched<Functions>>;

/// The host functions of a machine.
pub enum Functions {
    /// The methods of artifacts, and results from a script.
    Agent(Artifacts<Script>),
    /// The functions of the chart of the auctions.
    Auction(Auctioneer),
}

impl Host for Functions {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match self {
            Self::Agent(host) => host.call(function, arguments),
            Self::Auction(host) => host.call(function, arguments),
        }
    }
}

/// Makes agents: those of the run file, those that other agents spawn, and the service that runs the auctions.
pub struct AgentFactory {
    world: World,
    agent_set: Arc<AgentSet>,
    auction: Option<Auction>,
    /// What answers the groups, in their order.
    answer_sources: Vec<AnswerSource>,
    /// The group and the charts of each spawned agent, by name. Agents that it spawns in turn may use only its clients and tools.
    families: BTreeMap<Arc<str>, (usize, Arc<Family>)>,
    /// The group of each agent of the run file, by name. Filled when an agent is spawned for the first time.
    by_name: OnceCell<HashMap<String, usize>>,
    /// The parts that agents of one group share, by the group and the address of their plans. A template holds its plans, so that no
    /// others have their address.
    templates: BTreeMap<(usize, usize), AgentTemplate>,
    /// The host of artifacts, through which all agents reach the world.
    artifact_host: Arc<dyn ArtifactHost>,
    /// The scripts of all agents.
    scripts: Scripts,
    is_real: bool,
    /// The working memory of agents whose charts do not set one.
    working_memory: Option<WorkingMemory>,
    /// The rate limiter and budget that all calls pass.
    gate: Gate,
    /// The store that journals paid calls, if there is one.
    keep: Option<Arc<dyn Keep>>,
}

/// What runs the auctions.
struct Auction {
    plans: Arc<[Plan]>,
    host: Auctioneer,
    params: Map,
    answers: AnswerSource,
}

impl AgentFactory {
    /// The name of the agent that runs the auctions.
    pub const AUCTIONEER: &str = MINT;

    /// A factory without answers and auctions. `is_real` tells that calls are made in real time and are paid for.
    pub fn new(world: &World, agent_set: Arc<AgentSet>, gate: Gate, is_real: bool) -> Self {
        Self {
            world: world.clone(),
            agent_set,
            auction: None,
            answer_sources: Vec::new(),
            families: BTreeMap::new(),
            by_name: OnceCell::new(),
            templates: BTreeMap::new(),
            artifact_host: world.shared(),
            scripts: Scripts::default(),
            is_real,
            working_memory: None,
            gate,
            keep: None,
        }
    }

    /// Sets the working memory of agents whose charts do not set one.
    #[must_use]
    pub fn with_working_memory(self, working_memory: Option<WorkingMemory>) -> Self {
        Self { working_memory, ..self }
    }

    /// Sets the store that journals paid calls.
    #[must_use]
    pub fn with_keep(self, keep: Option<Arc<dyn Keep>>) -> Self {
        Self { keep, ..self }
    }

    /// Sets what answers the next group of agents.
    pub fn answer_next_group(&mut self, source: AnswerSource) {
        self.answer_sources.push(source);
    }

    /// Sets the chart that runs the auctions, and who scores.
    ///
    /// # Errors
    /// The settings contradict each other, or the saved state of the auctions is damaged.
    pub fn hold_auctions(
        &mut self,
        chart: &Arc<Chart>,
        settings: AuctionSettings,
        answers: AnswerSource,
        clock: Arc<dyn Clock>,
    ) -> Result<(), String> {
        let params = settings.params();
        let host = Auctioneer::new(self.world.clone(), settings, clock)?;
        self.auction = Some(Auction { plans: [Plan::new(chart)].into(), host, params, answers });
        Ok(())
    }
}

impl Maker<Machine> for AgentFactory {
    fn make(&mut self, new: New<'_>) -> Result<Made<Machine>, String> {
        let (group, number, plans, given) = match new.recipe {
            Recipe::Configured(number) => self.configured(number),
            Recipe::Spawned(spawn) => self.spawned(&new, spawn)?,
            Recipe::Service => return self.make_service(&new),
        };
        let script = self.answer_sources[group].script(new.name, number)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        let AgentTemplate { host, profile, rag, has_turns, provider, .. } =
            self.template(&plans, group, &new.clock)?;
        let record = SharedRecord::new(Record::new(new.name));
        let host = Functions::Agent(host.another(record.clone(), script.clone()));
        let (profile, rag) = (profile.clone(), rag.clone().filter(|rag| rag.enabled));
        let (has_turns, provider) = (*has_turns, provider.clone());
        let life = Life::new(self.artifact_host.clone(), record, profile);
        let agent_source = (&self.answer_sources[group], &script);
        let session_template = self.templates.get(&(group, address(&plans)));
        let session_template = session_template.and_then(|template| template.session.as_ref());
        let name = new.name.clone();
        // The script must be registered first: an agent that continues a saved run may ask while its session is made.
        self.scripts.put(&name, script.clone());
        let mut agent =
            self.session(new, &plans, &given, host, (session_template, agent_source), Some(life))?;
        if let Some(rag) = rag {
            let memory = Arc::new(ArtifactMemory::new(self.world.clone(), &name));
            agent = agent.with_memory(LongTerm::new(memory, Some(rag), &name));
        }
        Ok(Made { agent, has_turns, provider })
    }

    fn position(&self, name: &str) -> Value {
        self.scripts.get(name).map_or(Value::None, |script| script.save())
    }
}

/// The values of a chart's params and inputs with which an agent begins.
struct Given {
    params: Map,
    inputs: Map,
}

/// The group of an agent, its number within the group's entry of the run file, its plans, and its initial values.
type AgentParts = (usize, usize, Arc<[Plan]>, Given);

/// The address of plans, which identifies them as long as somebody holds them.
fn address(plans: &Arc<[Plan]>) -> usize {
    plans.as_ptr() as usize
}

impl AgentFactory {
    /// The parts of an agent of the run file or the folder.
    fn configured(&self, number: usize) -> AgentParts {
        let AgentSpec { group, name, number, .. } = &self.agent_set.agents[number];
        let AgentGroup { family, entry, .. } = &self.agent_set.groups[*group];
        let params = params(family.root(), &entry.params, name);
        let given = Given { params, inputs: entry.inputs.clone() };
        (*group, *number, family.plans.clone(), given)
    }

    /// The group and the charts of an agent, configured or spawned.
    fn family(&self, name: &str) -> Option<(usize, &Arc<Family>)> {
        if let Some((group, family)) = self.families.get(name) {
            return Some((*group, family));
        }
        let named = self.agent_set.agents.iter().map(|agent| (agent.name.clone(), agent.group));
        let group = *self.by_name.get_or_init(|| named.collect()).get(name)?;
        Some((group, &self.agent_set.groups[group].family))
    }

    /// The parts of an agent that another agent spawns. It shares the clients, the tools, the budget and the script of its parent, and must
    /// not use any others.
    fn spawned(&mut self, new: &New<'_>, spawn: &Spawn) -> Result<AgentParts, String> {
        let parent = self.family(&spawn.parent);
        let (group, family) = parent.ok_or_else(|| format!("`{}` is no agent", spawn.parent))?;
        // Without this, an agent could write itself a child with a stronger model or more tools.
        let (tools, models) = used(family);
        if let Err(found) = restrict(&spawn.family, &tools, &models) {
            let found: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
            return Err(found.join("; "));
        }
        // Otherwise an agent could multiply its budget by spawning others.
        self.gate.share_limits(&spawn.agent, &spawn.parent);
        self.families.insert(new.name.clone(), (group, spawn.family.clone()));
        let params = params(spawn.family.root(), &spawn.params, &spawn.agent);
        Ok((group, 1, spawn.family.plans.clone(), Given { params, inputs: Map::new() }))
    }

    /// Makes the service that runs the auctions.
    fn make_service(&mut self, new: &New<'_>) -> Result<Made<Machine>, String> {
        let Some(Auction { plans, host, params, answers }) = &self.auction else {
            return Err("the run file has no `auction`".into());
        };
        let given = Given { params: params.clone(), inputs: Map::new() };
        let host = Functions::Auction(host.clone());
        let script = answers.script(new.name, 1)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        self.scripts.put(new.name, script.clone());
        let own = New { lines: new.lines.clone(), clock: new.clock.clone(), ..*new };
        let agent = self.session(own, plans, &given, host, (None, (answers, &script)), None)?;
        Ok(Made { agent, has_turns: false, provider: answers.provider().into() })
    }

    /// The driver of an agent that does not share one.
    fn driver(&self, name: &str, provider: &str, parts: Parts) -> Arc<dyn Driver> {
        let driver: Arc<dyn Driver> = match &self.keep {
            _ if !self.is_real => Arc::new(Free(parts)),
            // A recording already has its answers.
            Some(keep) if !parts.keeps_time() => {
                let calls = Arc::new(KeptCalls::new(keep.clone(), name));
                Arc::new(Journaled::new(calls, Arc::new(parts)))
            }
            Some(_) | None => Arc::new(parts),
        };
        Arc::new(Gated::new(self.gate.clone(), name, provider, driver))
    }

    /// Makes an agent from its parts: a new machine or a resumed one, and a session from the template or with a driver of its own.
    fn session(
        &self,
        new: New<'_>,
        plans: &Arc<[Plan]>,
        given: &Given,
        host: Functions,
        (session_template, (source, script)): (Option<&SessionTemplate>, (&AnswerSource, &Script)),
        life: Option<Life>,
    ) -> Result<Agent<Machine, Lines>, String> {
        let file = match new.recipe {
            Recipe::Configured(number) => {
                let AgentSet { groups, agents, .. } = &*self.agent_set;
                groups[agents[number].group].file.clone()
            }
            Recipe::Spawned(_) | Recipe::Service => String::new(),
        };
        let origin = Origin { file, real_clock: self.is_real, ..Origin::default() };
        let log = HostLog::default();
        let host = Watched::new(host, log.clone());
        let mut machine = chartc_runtime::machine(plans, &given.params, host, new.saved)?;
        let most = self.world.settings().max_data_bytes;
        machine.set_data_bound(usize::try_from(most).unwrap_or(usize::MAX));
        let session = match session_template {
            Some(session_template) => session_template.another(machine, new.lines),
            None => {
                let parts = source.parts(new.name, script);
                let driver = self.driver(new.name, source.provider(), parts);
                Session::new(machine, Arc::new(Deny), new.clock, new.lines).with_driver(driver)
            }
        };
        let session = session.with_run(new.name).with_host_log(log);
        let session = session.with_max_outputs(self.max_outputs());
        // The trace of a saved run already has the line with its origin.
        let session = if new.saved.is_some() { session } else { session.with_origin(origin) };
        let mut agent = Agent::new(session, life);
        match new.saved {
            Some(saved) => agent.restore(saved)?,
            None => {
                for (name, value) in given.inputs.iter() {
                    agent.input(name, value.clone()).map_err(|why| why.to_string())?;
                }
            }
        }
        Ok(agent)
    }
}

// The parts that all agents of one chart and one group share. They are made once.

/// A session of an idle machine. [`Session::another`] makes sessions of agents from it, which share its driver and its clock.
type SessionTemplate = Session<Interpreter<()>, ()>;

/// The parts that the agents of one chart and one group share.
struct AgentTemplate {
    /// Held so that no other plans get their address, which is the key of the template.
    _plans: Arc<[Plan]>,
    /// The host functions without those of a script, which each agent has for itself.
    host: Artifacts<()>,
    profile: Arc<Profile>,
    rag: Option<Rag>,
    has_turns: bool,
    /// The name of the provider that answers the agents.
    provider: Arc<str>,
    /// The template of sessions; `None` if each agent has a driver of its own.
    session: Option<SessionTemplate>,
}

impl AgentFactory {
    /// The template for these plans and this group, made on first use.
    fn template(
        &mut self,
        plans: &Arc<[Plan]>,
        group: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<&AgentTemplate, String> {
        let key = (group, address(plans));
        // `entry` would borrow `templates` while `make_template` reads `self`.
        if !self.templates.contains_key(&key) {
            let made = self.make_template(plans, group, clock)?;
            self.templates.insert(key, made);
        }
        self.templates.get(&key).ok_or_else(|| "it has no chart".into())
    }

    fn make_template(
        &self,
        plans: &Arc<[Plan]>,
        group: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<AgentTemplate, String> {
        let chart = plans[0].chart();
        let charts: Vec<&Chart> = plans.iter().map(|plan| &**plan.chart()).collect();
        let artifact_host: Arc<dyn ArtifactHost> = self.artifact_host.clone();
        let host = Artifacts::new(artifact_host, SharedRecord::default(), &charts, ())
            .map_err(|why| why.to_string())?;
        let mut profile = Profile::of(chart).map_err(|why| why.to_string())?;
        let says = |key: &str| chart.meta.iter().any(|(name, _)| name == key);
        if let Some(default) = self.working_memory.as_ref().filter(|_| !says("working_memory")) {
            profile.working_memory = default.clone();
        }
        Ok(AgentTemplate {
            _plans: plans.clone(),
            host,
            profile: Arc::new(profile),
            rag: Rag::of(&chart.meta).map_err(|why| why.to_string())?,
            has_turns: self::has_turns(chart),
            provider: self.answer_sources[group].provider().into(),
            session: self.session_template(&self.answer_sources[group], clock)?,
        })
    }

    /// A session with a driver for all agents of an answer source; `None` if each agent has a driver of its own.
    fn session_template(
        &self,
        source: &AnswerSource,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<SessionTemplate>, String> {
        let Some(driver) = self.shared_driver(source) else { return Ok(None) };
        let machine = Interpreter::new(&Plan::new(&Arc::new(Chart::empty("Nobody"))), (), [])
            .map_err(|why| why.to_string())?;
        let template = Session::new(machine, Arc::new(Deny), clock.clone(), ());
        Ok(Some(template.with_driver(driver).with_max_outputs(self.max_outputs())))
    }

    fn max_outputs(&self) -> usize {
        usize::try_from(self.world.settings().max_lines).unwrap_or(usize::MAX)
    }

    /// A driver for all agents of an answer source. `None` if each agent needs its own: random answers depend on the agent's seed, and the
    /// journal stores calls by agent.
    fn shared_driver(&self, source: &AnswerSource) -> Option<Arc<dyn Driver>> {
        if self.is_real && self.keep.is_some() {
            return None;
        }
        let driver = source.shared_driver(&self.scripts, self.is_real)?;
        Some(Arc::new(Gated::of_runs(self.gate.clone(), source.provider(), driver)))
    }
}

// The sources of answers to the questions of agents. Each agent has its own copy of the script and its own random numbers, so that its
// answers do not depend on when other agents are asked.

/// The placeholders in a script of many agents: the name of the agent, and its number within its entry of the run file.
const AGENT: &str = "$agent";
const NUMBER: &str = "$number";
/// The name that stands for any provider in the limits of providers.
pub const ANY: &str = "*";

/// The source of answers for the agents of one group.
pub enum AnswerSource {
    /// A script, of which each agent has its own copy.
    Script {
        /// The script.
        script: Script,
        /// Its file, for messages.
        file: String,
        /// The text if it contains placeholders, which each copy replaces with the agent's own name and number.
        text: Option<String>,
        /// The clock of its answers.
        clock: Arc<dyn Clock>,
    },
    /// Random answers from a seed. Results of functions come from the script.
    Random(u64, Script),
    /// One source that answers all agents.
    Shared {
        /// The parts of their driver.
        parts: Parts,
        /// The results of their functions.
        functions: Script,
        /// The provider whose limits apply; `*` if it is unknown or depends on the question.
        provider: String,
    },
}

impl AnswerSource {
    /// The answers of a script, which was read from this text of a file.
    pub fn of_script(script: Script, file: &str, text: String, clock: &Arc<dyn Clock>) -> Self {
        let text = Some(text).filter(|text| text.contains(AGENT) || text.contains(NUMBER));
        Self::Script { script, file: file.to_owned(), text, clock: clock.clone() }
    }

    /// The name of the provider whose limits apply; `*` if it is unknown or depends on the question.
    fn provider(&self) -> &str {
        match self {
            Self::Shared { provider, .. } => provider,
            Self::Script { .. } | Self::Random(..) => ANY,
        }
    }

    /// The script of the agent with this name and this number within its group. It has the results of the agent's functions and, if the
    /// source is a script, its answers.
    ///
    /// # Errors
    /// With the placeholders replaced, the script cannot be parsed.
    fn script(&self, agent: &str, number: usize) -> Result<Script, String> {
        Ok(match self {
            Self::Script { file, text: Some(text), clock, .. } => {
                let text = text.replace(AGENT, agent).replace(NUMBER, &number.to_string());
                Script::parse(file, &text, clock.clone()).map_err(|why| format!("{file}: {why}"))?
            }
            Self::Script { script: all, text: None, .. }
            | Self::Random(_, all)
            | Self::Shared { functions: all, .. } => all.fresh(),
        })
    }

    /// The parts of a driver for one agent, whose script is `own`.
    fn parts(&self, agent: &str, own: &Script) -> Parts {
        match self {
            Self::Script { .. } => {
                let own = Arc::new(own.clone());
                Parts { oracle: own.clone(), people: None, tools: own }
            }
            Self::Random(seed, _) => {
                // Each agent gets a seed of its own. FNV-1a mixes the name into it: any fixed function would do.
                let own = agent.bytes().fold(0xcbf2_9ce4_8422_2325_u64 ^ seed, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
                let random = Arc::new(Random::new(own));
                Parts { oracle: random.clone(), people: None, tools: random }
            }
            Self::Shared { parts, .. } => parts.clone(),
        }
    }

    /// A driver for all agents, if they can share one. `scripts` has the script of each agent. Unless calls are paid for, a call that was
    /// under way when its run was saved is made again.
    fn shared_driver(&self, scripts: &Scripts, is_paid: bool) -> Option<Arc<dyn Driver>> {
        fn made(driver: impl Driver + 'static, is_paid: bool) -> Arc<dyn Driver> {
            if is_paid { Arc::new(driver) } else { Arc::new(Free(driver)) }
        }
        match self {
            Self::Script { script, .. } => {
                let scripted = Scripted { scripts: scripts.clone(), name: script.name() };
                Some(made(scripted, is_paid))
            }
            Self::Shared { parts, .. } => Some(made(parts.clone(), is_paid)),
            Self::Random(..) => None,
        }
    }
}

/// The scripts of all agents, by name. Clones share them.
#[derive(Clone, Default)]
struct Scripts(Arc<Mutex<BTreeMap<Arc<str>, Script>>>);

impl Scripts {
    fn put(&self, agent: &Arc<str>, script: Script) {
        self.all().insert(agent.clone(), script);
    }

    fn get(&self, agent: &str) -> Option<Script> {
        self.all().get(agent).cloned()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Script>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A driver that answers each agent from its own script. The name of the run in a call's id is the name of the agent.
struct Scripted {
    scripts: Scripts,
    name: String,
}

impl Scripted {
    fn script(&self, id: &CallId) -> Result<Script, OracleError> {
        let none = || OracleError::Script(format!("there is no script of `{}`", id.run));
        self.scripts.get(&id.run).ok_or_else(none)
    }
}

impl Driver for Scripted {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        match self.script(id) {
            Ok(own) => own.ask(question),
            Err(why) => Box::pin(std::future::ready(Err(why))),
        }
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        match self.script(id) {
            Ok(own) => own.call(call),
            Err(why) => Box::pin(std::future::ready(Err(why))),
        }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
