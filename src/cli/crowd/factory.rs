//! Makes the agents of a run.
//!
//! **The problem.** Thousands of agents differ only in name and data. Each needs a machine of its own, but the chart, the host functions,
//! the driver and the profile are the same. Agents that others spawn bring charts that are compiled while the run is under way.
//!
//! **The idea.** [`AgentFactory`] implements `Maker` for the engine, with one way for each `Recipe`: configured, spawned, or the service of
//! the auctions. The agents of a group and chart share an [`AgentTemplate`], made when the first of them is. What an agent has for itself
//! is its machine, its record, and its copy of the script, so that its answers do not depend on when others are asked ([`AnswerSource`]).
//! An [`Arena`] owns the charts of spawned agents, so that machines can borrow them.
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
//! a child of 2   `restrict` checks its chart, its plans go into the arena, and it gets a template of its own
//! ```

use super::super::instance::{Backends, InitialValues, instance, oracle, read, script_of};
use super::super::live::{is_live, only_provider};
use super::find::{AgentGroup, AgentSet, AgentSpec, OracleArgs, params};
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{
    Agent, ArtifactHost, Artifacts, Life, LongTerm, Profile, Record, SharedRecord, WorkingMemory,
};
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::{CallId, Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::memory::Rag;
use chartc_runtime::oracle::{Asking, Deny, Oracle, OracleError, Question, Random, Script};
use chartc_runtime::tools::{Calling, Tools};
use chartc_runtime::trace::Origin;
#[cfg(feature = "sqlite")]
use chartc_world::Keep;
use chartc_world::engine::{Made, Maker, New, Recipe};
use chartc_world::{
    ArtifactMemory, AuctionConfig, AuctionSettings, Auctioneer, Family, Gate, Gated, Spawn, World,
    restrict, used,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The machine of an agent or of the auctions.
pub(super) type Machine = Interpreter<Watched<Functions>>;

/// The host functions of a machine.
pub(super) enum Functions {
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
pub(super) struct AgentFactory {
    pub(super) world: World,
    /// The agents of the run file or the folder.
    pub(super) agent_set: Arc<AgentSet>,
    /// The plans of the chart of the auctions, its host functions and its params.
    pub(super) auction: Option<(Arc<[Plan]>, Auctioneer, Map)>,
    pub(super) auction_answers: Option<AnswerSource>,
    pub(super) answer_sources: Vec<AnswerSource>,
    /// The group and the charts of each spawned agent, by name. Agents that it spawns in turn may use only its clients and tools.
    pub(super) families: BTreeMap<Arc<str>, (usize, Arc<Family>)>,
    /// The group of each agent of the run file, by name. Filled when an agent is spawned for the first time.
    pub(super) by_name: OnceCell<HashMap<String, usize>>,
    /// The parts that agents of one group share, by the group and the address of their plans. A template holds its plans, so that no
    /// others have their address.
    pub(super) templates: BTreeMap<(usize, usize), AgentTemplate>,
    /// The host of artifacts, through which all agents reach the world.
    pub(super) artifact_host: Arc<dyn ArtifactHost>,
    /// The scripts of all agents.
    pub(super) scripts: Scripts,
    pub(super) is_real: bool,
    /// The working memory of agents whose charts do not set one.
    pub(super) working_memory: Option<WorkingMemory>,
    /// The rate limiter and budget that all calls pass.
    pub(super) gate: Gate,
    /// The store that journals paid calls, if there is one.
    #[cfg(feature = "sqlite")]
    pub(super) keep: Option<Arc<dyn Keep>>,
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

/// The group of an agent, its number within the group's entry of the run file, its plans, and its initial values.
type AgentParts = (usize, usize, Arc<[Plan]>, InitialValues);

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
        let given = InitialValues { params, inputs: entry.inputs.clone() };
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
        self.gate.share_budget(&spawn.agent, &spawn.parent);
        self.families.insert(new.name.clone(), (group, spawn.family.clone()));
        let params = params(spawn.family.root(), &spawn.params, &spawn.agent);
        Ok((group, 1, spawn.family.plans.clone(), InitialValues { params, inputs: Map::new() }))
    }

    /// Makes the service that runs the auctions.
    fn make_service(&mut self, new: &New<'_>) -> Result<Made<Machine>, String> {
        let Some((plans, auctioneer, params)) = &self.auction else {
            return Err("the run file has no `auction`".into());
        };
        let given = InitialValues { params: params.clone(), inputs: Map::new() };
        let host = Functions::Auction(auctioneer.clone());
        let Some(source) = &self.auction_answers else {
            return Err("nobody scores".into());
        };
        let script = source.script(new.name, 1)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        self.scripts.put(new.name, script.clone());
        let own = New { lines: new.lines.clone(), clock: new.clock.clone(), ..*new };
        let agent = self.session(own, plans, &given, host, (None, (source, &script)), None)?;
        Ok(Made { agent, has_turns: false, provider: source.provider().into() })
    }

    /// The driver of an agent that does not share one.
    fn driver(&self, name: &str, provider: &str, parts: Parts) -> Arc<dyn Driver> {
        let driver: Arc<dyn Driver> = if self.is_real {
            #[cfg(feature = "sqlite")]
            if let Some(keep) = &self.keep {
                let journaled = chartc_world::Journaled::new(keep.clone(), name, Arc::new(parts));
                return Arc::new(Gated::new(
                    self.gate.clone(),
                    name,
                    provider,
                    Arc::new(journaled),
                ));
            }
            Arc::new(parts)
        } else {
            Arc::new(Free(parts))
        };
        Arc::new(Gated::new(self.gate.clone(), name, provider, driver))
    }

    /// Makes an agent from its parts: a new machine or a resumed one, and a session from the template or with a driver of its own.
    fn session(
        &self,
        new: New<'_>,
        plans: &Arc<[Plan]>,
        given: &InitialValues,
        host: Functions,
        (session_template, (source, script)): (Option<&SessionTemplate>, (&AnswerSource, &Script)),
        life: Option<Life>,
    ) -> Result<Agent<Machine, chartc_world::engine::Lines>, String> {
        let file = match new.recipe {
            Recipe::Configured(number) => {
                let AgentSet { groups, agents, .. } = &*self.agent_set;
                groups[agents[number].group].file.clone()
            }
            Recipe::Spawned(_) | Recipe::Service => String::new(),
        };
        let origin = Origin { file, calls_per_turn: None, real_clock: self.is_real };
        let log = HostLog::default();
        let host = Watched::new(host, log.clone());
        let machine = match new.saved {
            Some(saved) => Interpreter::resume(&plans[0], plans.clone(), host, saved.machine())
                .map_err(|why| why.to_string())?,
            None => instance(plans, given, host).map_err(|why| why.to_string())?,
        };
        let session = match session_template {
            Some(session_template) => session_template.another(machine, new.lines),
            None => {
                let parts = source.parts(new.name, script);
                let driver = self.driver(new.name, source.provider(), parts);
                Session::new(machine, Arc::new(Deny), new.clock, new.lines).with_driver(driver)
            }
        };
        let session = session.with_run(new.name).with_host_log(log);
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
pub(super) type SessionTemplate = Session<Interpreter<()>, ()>;

/// The parts that the agents of one chart and one group share.
pub(super) struct AgentTemplate {
    /// Held so that no other plans get their address, which is the key of the template.
    _plans: Arc<[Plan]>,
    /// The host functions without those of a script, which each agent has for itself.
    pub(super) host: Artifacts<()>,
    pub(super) profile: Arc<Profile>,
    pub(super) rag: Option<Rag>,
    pub(super) has_turns: bool,
    /// The name of the provider that answers the agents.
    pub(super) provider: Arc<str>,
    /// The template of sessions; `None` if each agent has a driver of its own.
    pub(super) session: Option<SessionTemplate>,
}

impl AgentFactory {
    /// The template for these plans and this group, made on first use.
    pub(super) fn template(
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
            has_turns: super::super::instance::has_turns(chart),
            provider: self.answer_sources[group].provider().into(),
            session: self.session_template(&self.answer_sources[group], clock)?,
        })
    }

    /// A session with a driver for all agents of an answer source; `None` if each agent has a driver of its own.
    pub(super) fn session_template(
        &self,
        source: &AnswerSource,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<SessionTemplate>, String> {
        let Some(driver) = self.shared_driver(source) else { return Ok(None) };
        let machine = Interpreter::new(&Plan::new(&Arc::new(Chart::empty("Nobody"))), (), [])
            .map_err(|why| why.to_string())?;
        let template = Session::new(machine, Arc::new(Deny), clock.clone(), ());
        Ok(Some(template.with_driver(driver)))
    }

    /// A driver for all agents of an answer source. `None` if each agent needs its own: random answers depend on the agent's seed, and the
    /// journal stores calls by agent.
    fn shared_driver(&self, source: &AnswerSource) -> Option<Arc<dyn Driver>> {
        #[cfg(feature = "sqlite")]
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
const ANY: &str = "*";

/// The source of answers for the agents of one group.
pub(super) enum AnswerSource {
    /// A script, of which each agent has its own copy. `text` is present if it contains placeholders, which each copy replaces with the
    /// agent's own name and number.
    Script { script: Script, file: String, text: Option<String>, clock: Arc<dyn Clock> },
    /// Random answers from a seed. Results of functions come from the script.
    Random(u64, Script),
    /// One source that answers all agents, and the provider whose limits apply to it.
    Shared(Backends, String),
}

impl AnswerSource {
    pub(super) fn from_args(
        charts: &[&Chart],
        args: OracleArgs<'_>,
        clock: &Arc<dyn Clock>,
    ) -> miette::Result<Self> {
        let script = |path: &Path| script_of(charts, path, clock.clone());
        let functions = args.functions.map(script).transpose()?;
        let word = args.llm.map(|word| word.split_once(':').unwrap_or((word, "")));
        match word {
            Some(("script", file)) if !file.is_empty() && args.human.is_none() => {
                let answers = script(Path::new(file))?;
                let text = Some(read(Path::new(file))?)
                    .filter(|text| text.contains(AGENT) || text.contains(NUMBER));
                Ok(match functions {
                    Some(host) => Self::Shared(
                        Backends {
                            tools: Arc::new(host.clone()),
                            oracle: Arc::new(answers),
                            people: None,
                            host,
                        },
                        ANY.to_owned(),
                    ),
                    None => Self::Script {
                        script: answers,
                        file: file.to_owned(),
                        text,
                        clock: clock.clone(),
                    },
                })
            }
            Some(("random", seed)) if args.human.is_none() => {
                let seed = if seed.is_empty() { Ok(0) } else { seed.parse() };
                let seed = seed.map_err(|_| {
                    miette::miette!(
                        "random:SEED takes a whole number, not `{}`",
                        args.llm.unwrap_or_default()
                    )
                })?;
                Ok(Self::Random(seed, functions.unwrap_or_else(Script::empty)))
            }
            Some(("human" | "replay", _)) if !is_live(args.llm) => Err(miette::miette!(
                help =
                    "use script:FILE, random:SEED, first, deny, clients, PROVIDER:MODEL or a URL",
                "`--llm {}` answers one agent, not many",
                args.llm.unwrap_or_default()
            )),
            _ => {
                let llm = (args.llm, args.model);
                let mut backends = oracle(charts, llm, args.human, args.functions, clock)?;
                if args.human.is_none() && is_live(args.llm) {
                    // One terminal cannot answer for many agents at once.
                    backends.people = Some(Arc::new(Deny));
                }
                let provider = only_provider(args.llm.unwrap_or_default()).unwrap_or(ANY);
                Ok(Self::Shared(backends, provider.to_owned()))
            }
        }
    }

    /// The name of the provider whose limits apply; `*` if it is unknown or depends on the question.
    pub(super) fn provider(&self) -> &str {
        match self {
            Self::Shared(_, provider) => provider,
            Self::Script { .. } | Self::Random(..) => ANY,
        }
    }

    /// The script of the agent with this name and this number within its group. It has the results of the agent's functions and, if the
    /// source is a script, its answers.
    ///
    /// # Errors
    /// With the placeholders replaced, the script cannot be parsed.
    pub(super) fn script(&self, agent: &str, number: usize) -> Result<Script, String> {
        Ok(match self {
            Self::Script { file, text: Some(text), clock, .. } => {
                let text = text.replace(AGENT, agent).replace(NUMBER, &number.to_string());
                Script::parse(file, &text, clock.clone()).map_err(|why| format!("{file}: {why}"))?
            }
            Self::Script { script: all, text: None, .. }
            | Self::Random(_, all)
            | Self::Shared(Backends { host: all, .. }, _) => all.fresh(),
        })
    }

    /// The parts of a driver for one agent, whose script is `own`.
    pub(super) fn parts(&self, agent: &str, own: &Script) -> Parts {
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
            Self::Shared(backends, _) => backends.parts(),
        }
    }

    /// A driver for all agents, if they can share one. `scripts` has the script of each agent. Unless calls are paid for, a call that was
    /// under way when its run was saved is made again.
    pub(super) fn shared_driver(
        &self,
        scripts: &Scripts,
        is_paid: bool,
    ) -> Option<Arc<dyn Driver>> {
        fn made(driver: impl Driver + 'static, is_paid: bool) -> Arc<dyn Driver> {
            if is_paid { Arc::new(driver) } else { Arc::new(Free(driver)) }
        }
        match self {
            Self::Script { script, .. } => {
                let scripted = Scripted { scripts: scripts.clone(), name: script.name() };
                Some(made(scripted, is_paid))
            }
            Self::Shared(backends, _) => Some(made(backends.parts(), is_paid)),
            Self::Random(..) => None,
        }
    }
}

impl Backends {
    fn parts(&self) -> Parts {
        let (oracle, people) = (self.oracle.clone(), self.people.clone());
        Parts { oracle, people, tools: self.tools.clone() }
    }
}

/// The scripts of all agents, by name. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Scripts(Arc<Mutex<BTreeMap<Arc<str>, Script>>>);

impl Scripts {
    pub(super) fn put(&self, agent: &Arc<str>, script: Script) {
        self.all().insert(agent.clone(), script);
    }

    pub(super) fn get(&self, agent: &str) -> Option<Script> {
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

// The mint's auctions. A chart that is part of this program runs them as an agent of the world.

/// The name of the agent that runs them.
pub(super) const NAME: &str = "genesis_mint";

/// Converts the settings of a run file into those of the auctioneer.
pub(super) fn settings(config: &AuctionConfig) -> AuctionSettings {
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    let usual = AuctionSettings::default();
    let rest = seconds(config.period.saturating_sub(config.bidding_window));
    let score = config.default_score.map(|score| i64::try_from(score).unwrap_or(i64::MAX));
    AuctionSettings {
        // By default scoring takes what is left of the period behind the bidding, at most the usual time, so that it ends before the next
        // auction.
        scoring_seconds: config.scoring_time.map_or(rest.min(usual.scoring_seconds), seconds),
        period_seconds: seconds(config.period),
        bidding_window_seconds: seconds(config.bidding_window),
        first_auction_delay_seconds: seconds(config.first_delay),
        minimum_bid: config.minimum_bid,
        scrip_per_point: config.scrip_per_point,
        default_score: score.unwrap_or(usual.default_score),
        max_submissions: config.max_submissions.unwrap_or(usual.max_submissions),
        max_history: config.max_history.unwrap_or(usual.max_history),
    }
}

/// The source of scores: the one that the run file names, else the real model that answers the agents. Without either nobody scores, and
/// the default score counts.
pub(super) fn answer_source(
    chart: &Chart,
    own: Option<&str>,
    args: OracleArgs<'_>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<AnswerSource> {
    let live = args.llm.filter(|llm| is_live(Some(llm)));
    let args = OracleArgs { llm: own.or(live), human: None, functions: None, ..args };
    AnswerSource::from_args(&[chart], args, clock)
}
