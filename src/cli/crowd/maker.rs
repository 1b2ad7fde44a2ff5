//! Makes the agents of a run.

use super::super::instance::{Given, instance};
use super::find::{Actor, Kind, params};
use super::mould::{Mould, Stem};
use super::shelf::Shelf;
use super::voice::{Scripts, Voice};
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

/// The machine of an agent.
pub(super) type Machine<'p> = Interpreter<'p, Watched<Functions>>;

/// The host functions of a chart.
pub(super) enum Functions {
    /// Methods of artifacts, and results of a script.
    Agent(Artifacts<Script>),
    /// The functions of the auction's chart.
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

/// The data with which agents are made.
pub(super) struct Workbench<'p> {
    pub(super) world: World,
    pub(super) kinds: &'p [Kind],
    pub(super) actors: &'p [Actor],
    pub(super) plans: &'p [Vec<Plan<'p>>],
    /// The plans of the auction's chart, its functions and its params.
    pub(super) auction: Option<(&'p [Plan<'p>], Auctioneer, Map)>,
    pub(super) auction_voice: Option<Voice>,
    pub(super) voices: Vec<Voice>,
    /// The charts of agents that other agents have made, then their plans.
    pub(super) charts: &'p Shelf<Arc<Family>>,
    pub(super) shelf: &'p Shelf<Vec<Plan<'p>>>,
    /// The kind and the charts of each agent that another agent has made. Agents that it spawns may use only its clients and tools.
    pub(super) families: BTreeMap<Arc<str>, (usize, Arc<Family>)>,
    /// The agents of the run file by name. Filled when an agent first makes another one.
    pub(super) by_name: OnceCell<HashMap<&'p str, &'p Actor>>,
    /// The plans of each family of spawned agents, by the address of the family. `charts` keeps the family, so the address stays unique.
    pub(super) made: BTreeMap<usize, &'p [Plan<'p>]>,
    /// The parts that agents of one kind share, by the kind and the address of their plans.
    pub(super) moulds: BTreeMap<(usize, usize), Mould<'p>>,
    /// The plan of a chart that does nothing.
    pub(super) nobody: &'p Plan<'p>,
    /// The access to the world that all agents share.
    pub(super) door: Arc<dyn ArtifactHost>,
    /// The scripts of all agents.
    pub(super) scripts: Scripts,
    pub(super) is_real: bool,
    /// The working memory of agents whose charts do not set one.
    pub(super) working_memory: Option<&'p WorkingMemory>,
    /// The gate that all calls pass.
    pub(super) gate: Gate,
    /// The journal of paid calls.
    #[cfg(feature = "sqlite")]
    pub(super) keep: Option<Arc<dyn Keep>>,
}

impl<'p> Maker<Machine<'p>> for Workbench<'p> {
    fn make(&mut self, new: New<'_>) -> Result<Made<Machine<'p>>, String> {
        let (kind, number, plans, given) = match new.recipe {
            Recipe::Configured(number) => self.configured(number),
            Recipe::Spawned(spawn) => self.spawned(&new, spawn)?,
            Recipe::Service => return self.service(&new),
        };
        let script = self.voices[kind].script(new.name, number)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        let Mould { host, profile, rag, has_turns, provider, .. } =
            self.mould(plans, kind, &new.clock)?;
        let record = SharedRecord::new(Record::new(new.name));
        let host = Functions::Agent(host.another(record.clone(), script.clone()));
        let (profile, rag) = (profile.clone(), rag.clone().filter(|rag| rag.enabled));
        let (has_turns, provider) = (*has_turns, provider.clone());
        let life = Life::new(self.door.clone(), record, profile);
        let own = (&self.voices[kind], &script);
        let stem = self.moulds.get(&(kind, plans.as_ptr() as usize));
        let stem = stem.and_then(|mould| mould.stem.as_ref());
        let name = new.name.clone();
        // The script must be in place now, because an agent that continues a saved run may ask at once.
        self.scripts.put(&name, script.clone());
        let mut agent = self.session(new, plans, &given, host, (stem, own), Some(life))?;
        if let Some(rag) = rag {
            let memory = Arc::new(ArtifactMemory::new(self.world.clone(), &name));
            agent = agent.with_memory(LongTerm::new(memory, Some(rag), &name));
        }
        Ok(Made { agent, has_turns, provider })
    }

    fn position(&self, name: &str) -> Value {
        self.scripts.of(name).map_or(Value::None, |script| script.save())
    }
}

/// An agent's kind, its number among those of its entry, its plans, and its values.
type Design<'p> = (usize, usize, &'p [Plan<'p>], Given);

impl<'p> Workbench<'p> {
    fn configured(&self, number: usize) -> Design<'p> {
        let Actor { kind, name, number, .. } = &self.actors[number];
        let Kind { family, entry, .. } = &self.kinds[*kind];
        let params = params(family.root(), &entry.params, name);
        let given = Given { params, inputs: entry.inputs.clone() };
        (*kind, *number, self.plans[*kind].as_slice(), given)
    }

    /// The kind and the charts of an agent.
    fn family(&self, name: &str) -> Option<(usize, &Arc<Family>)> {
        if let Some((kind, family)) = self.families.get(name) {
            return Some((*kind, family));
        }
        let by_name = self
            .by_name
            .get_or_init(|| self.actors.iter().map(|actor| (actor.name.as_str(), actor)).collect());
        let kind = by_name.get(name)?.kind;
        Some((kind, &self.kinds[kind].family))
    }

    /// The design of an agent that another agent has made. It has the clients, the tools, the budget and the script of its maker, and no
    /// others.
    fn spawned(&mut self, new: &New<'_>, spawn: &Spawn) -> Result<Design<'p>, String> {
        let parent = self.family(&spawn.parent);
        let (kind, family) = parent.ok_or_else(|| format!("`{}` is no agent", spawn.parent))?;
        let (tools, models) = used(family);
        if let Err(found) = restrict(&spawn.family, &tools, &models) {
            let found: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
            return Err(found.join("; "));
        }
        self.gate.share_budget(&spawn.agent, &spawn.parent);
        self.families.insert(new.name.clone(), (kind, spawn.family.clone()));
        let (charts, shelf) = (self.charts, self.shelf);
        let plans = *self.made.entry(Arc::as_ptr(&spawn.family) as usize).or_insert_with(|| {
            let family = charts.keep(spawn.family.clone());
            shelf.keep(family.charts.iter().map(Plan::new).collect()).as_slice()
        });
        let params = params(spawn.family.root(), &spawn.params, &spawn.agent);
        Ok((kind, 1, plans, Given { params, inputs: Map::new() }))
    }

    /// Makes the service that runs the auctions.
    fn service(&mut self, new: &New<'_>) -> Result<Made<Machine<'p>>, String> {
        let Some((plans, auctioneer, params)) = &self.auction else {
            return Err("the run file has no `auction`".into());
        };
        let given = Given { params: params.clone(), inputs: Map::new() };
        let host = Functions::Auction(auctioneer.clone());
        let plans = *plans;
        let Some(voice) = &self.auction_voice else {
            return Err("nobody scores".into());
        };
        let script = voice.script(new.name, 1)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        self.scripts.put(new.name, script.clone());
        let own = New { lines: new.lines.clone(), clock: new.clock.clone(), ..*new };
        let agent = self.session(own, plans, &given, host, (None, (voice, &script)), None)?;
        Ok(Made { agent, has_turns: false, provider: voice.provider().into() })
    }

    /// The driver of an agent that has one of its own.
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
        given: &Given,
        host: Functions,
        (stem, (voice, script)): (Option<&Stem<'p>>, (&Voice, &Script)),
        life: Option<Life>,
    ) -> Result<Agent<Machine<'p>, chartc_world::engine::Lines>, String> {
        let file = match new.recipe {
            Recipe::Configured(number) => self.kinds[self.actors[number].kind].file.clone(),
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
        let session = match stem {
            Some(stem) => stem.another(machine, new.lines),
            None => {
                let parts = voice.parts(new.name, script);
                let driver = self.driver(new.name, voice.provider(), parts);
                Session::new(machine, Arc::new(Deny), new.clock, new.lines).with_driver(driver)
            }
        };
        let session = session.with_run(new.name).with_host_log(log);
        // The trace of a run that continues already contains its origin.
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
