//! Makes the agents of a run.

use super::super::instance::{InitialValues, instance};
use super::answer_source::{AnswerSource, Scripts};
use super::arena::Arena;
use super::find::{AgentGroup, AgentSpec, params};
use super::template::{AgentTemplate, SessionTemplate};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{
    Agent, ArtifactHost, Artifacts, Life, LongTerm, Record, SharedRecord, WorkingMemory,
};
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::trace::Origin;
#[cfg(feature = "sqlite")]
use chartc_world::Keep;
use chartc_world::engine::{Made, Maker, New, Recipe};
use chartc_world::{ArtifactMemory, Auctioneer, Family, Gate, Gated, Spawn, World, restrict, used};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The machine of an agent or of the auctions.
pub(super) type Machine<'p> = Interpreter<'p, Watched<Functions>>;

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
pub(super) struct AgentFactory<'p> {
    pub(super) world: World,
    pub(super) groups: &'p [AgentGroup],
    pub(super) agents: &'p [AgentSpec],
    pub(super) plans: &'p [Vec<Plan<'p>>],
    /// The plans of the chart of the auctions, its host functions and its params.
    pub(super) auction: Option<(&'p [Plan<'p>], Auctioneer, Map)>,
    pub(super) auction_answers: Option<AnswerSource>,
    pub(super) answer_sources: Vec<AnswerSource>,
    /// Owns the charts of spawned agents; `plan_arena` owns their plans.
    pub(super) family_arena: &'p Arena<Arc<Family>>,
    pub(super) plan_arena: &'p Arena<Vec<Plan<'p>>>,
    /// The group and the charts of each spawned agent, by name. Agents that it spawns in turn may use only its clients and tools.
    pub(super) families: BTreeMap<Arc<str>, (usize, Arc<Family>)>,
    /// The agents of the run file, by name. Filled when an agent is spawned for the first time.
    pub(super) by_name: OnceCell<HashMap<&'p str, &'p AgentSpec>>,
    /// The plans of each family of spawned agents, by the address of the family. `family_arena` owns the family, so the address stays
    /// unique.
    pub(super) family_plans: BTreeMap<usize, &'p [Plan<'p>]>,
    /// The parts that agents of one group share, by the group and the address of their plans.
    pub(super) templates: BTreeMap<(usize, usize), AgentTemplate<'p>>,
    /// The plan of a chart that does nothing, on which templates of sessions are made.
    pub(super) idle_plan: &'p Plan<'p>,
    /// The host of artifacts, through which all agents reach the world.
    pub(super) artifact_host: Arc<dyn ArtifactHost>,
    /// The scripts of all agents.
    pub(super) scripts: Scripts,
    pub(super) is_real: bool,
    /// The working memory of agents whose charts do not set one.
    pub(super) working_memory: Option<&'p WorkingMemory>,
    /// The rate limiter and budget that all calls pass.
    pub(super) gate: Gate,
    /// The store that journals paid calls, if there is one.
    #[cfg(feature = "sqlite")]
    pub(super) keep: Option<Arc<dyn Keep>>,
}

impl<'p> Maker<Machine<'p>> for AgentFactory<'p> {
    fn make(&mut self, new: New<'_>) -> Result<Made<Machine<'p>>, String> {
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
            self.template(plans, group, &new.clock)?;
        let record = SharedRecord::new(Record::new(new.name));
        let host = Functions::Agent(host.another(record.clone(), script.clone()));
        let (profile, rag) = (profile.clone(), rag.clone().filter(|rag| rag.enabled));
        let (has_turns, provider) = (*has_turns, provider.clone());
        let life = Life::new(self.artifact_host.clone(), record, profile);
        let agent_source = (&self.answer_sources[group], &script);
        let session_template = self.templates.get(&(group, plans.as_ptr() as usize));
        let session_template = session_template.and_then(|template| template.session.as_ref());
        let name = new.name.clone();
        // The script must be registered first: an agent that continues a saved run may ask while its session is made.
        self.scripts.put(&name, script.clone());
        let mut agent =
            self.session(new, plans, &given, host, (session_template, agent_source), Some(life))?;
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
type AgentParts<'p> = (usize, usize, &'p [Plan<'p>], InitialValues);

impl<'p> AgentFactory<'p> {
    fn configured(&self, number: usize) -> AgentParts<'p> {
        let AgentSpec { group, name, number, .. } = &self.agents[number];
        let AgentGroup { family, entry, .. } = &self.groups[*group];
        let params = params(family.root(), &entry.params, name);
        let given = InitialValues { params, inputs: entry.inputs.clone() };
        (*group, *number, self.plans[*group].as_slice(), given)
    }

    /// The group and the charts of an agent, configured or spawned.
    fn family(&self, name: &str) -> Option<(usize, &Arc<Family>)> {
        if let Some((group, family)) = self.families.get(name) {
            return Some((*group, family));
        }
        let by_name = self
            .by_name
            .get_or_init(|| self.agents.iter().map(|agent| (agent.name.as_str(), agent)).collect());
        let group = by_name.get(name)?.group;
        Some((group, &self.groups[group].family))
    }

    /// The parts of an agent that another agent spawns. It shares the clients, the tools, the budget and the script of its parent, and must
    /// not use any others.
    fn spawned(&mut self, new: &New<'_>, spawn: &Spawn) -> Result<AgentParts<'p>, String> {
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
        let (family_arena, plan_arena) = (self.family_arena, self.plan_arena);
        let plans =
            *self.family_plans.entry(Arc::as_ptr(&spawn.family) as usize).or_insert_with(|| {
                let family = family_arena.alloc(spawn.family.clone());
                plan_arena.alloc(family.charts.iter().map(Plan::new).collect()).as_slice()
            });
        let params = params(spawn.family.root(), &spawn.params, &spawn.agent);
        Ok((group, 1, plans, InitialValues { params, inputs: Map::new() }))
    }

    /// Makes the service that runs the auctions.
    fn make_service(&mut self, new: &New<'_>) -> Result<Made<Machine<'p>>, String> {
        let Some((plans, auctioneer, params)) = &self.auction else {
            return Err("the run file has no `auction`".into());
        };
        let given = InitialValues { params: params.clone(), inputs: Map::new() };
        let host = Functions::Auction(auctioneer.clone());
        let plans = *plans;
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

    fn session(
        &self,
        new: New<'_>,
        plans: &'p [Plan<'p>],
        given: &InitialValues,
        host: Functions,
        (session_template, (source, script)): (
            Option<&SessionTemplate<'p>>,
            (&AnswerSource, &Script),
        ),
        life: Option<Life>,
    ) -> Result<Agent<Machine<'p>, chartc_world::engine::Lines>, String> {
        let file = match new.recipe {
            Recipe::Configured(number) => self.groups[self.agents[number].group].file.clone(),
            Recipe::Spawned(_) | Recipe::Service => String::new(),
        };
        let origin = Origin { file, calls_per_turn: None, real_clock: self.is_real };
        let log = HostLog::default();
        let host = Watched::new(host, log.clone());
        let machine = match new.saved {
            Some(saved) => Interpreter::resume(&plans[0], plans, host, saved.machine())
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
