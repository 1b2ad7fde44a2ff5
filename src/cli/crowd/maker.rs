//! Makes the agents of a run.

use super::super::instance::{Given, has_turns, instance};
use super::find::{Actor, Kind, params};
use super::shelf::Shelf;
use super::voice::Voice;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{
    Agent, Artifacts, Life, LongTerm, Profile, Record, SharedRecord, WorkingMemory,
};
use chartc_runtime::driver::{Driver, Free};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::memory::Rag;
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::trace::Origin;
#[cfg(feature = "sqlite")]
use chartc_world::Keep;
use chartc_world::engine::{Made, Maker, New, Recipe};
use chartc_world::{ArtifactMemory, Auctioneer, Family, Gate, Gated, Spawn, World, restrict, used};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The machine of an agent.
pub(super) type Machine<'p> = Interpreter<'p, Watched<Functions>>;

/// What the functions of a chart are.
pub(super) enum Functions {
    /// Methods of artifacts, and results of a script.
    Agent(Artifacts<Script>),
    /// Those of the auction's chart.
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

/// What the maker needs while it makes agents.
pub(super) struct Workbench<'p> {
    pub(super) world: World,
    pub(super) kinds: &'p [Kind],
    pub(super) actors: &'p [Actor],
    pub(super) plans: &'p [Vec<Plan<'p>>],
    /// The auction's chart, its functions and its params.
    pub(super) auction: Option<(&'p [Plan<'p>], Auctioneer, Map)>,
    pub(super) auction_voice: Option<Voice>,
    pub(super) voices: Vec<Voice>,
    /// Charts of agents that others have made, and their plans.
    pub(super) charts: &'p Shelf<Arc<Family>>,
    pub(super) shelf: &'p Shelf<Vec<Plan<'p>>>,
    /// The kind and the charts of each agent. Agents that it spawns may use only its clients and tools.
    pub(super) families: BTreeMap<String, (usize, Arc<Family>)>,
    /// The plans of each family that agents were made of, by its address: it is kept.
    pub(super) made: BTreeMap<usize, &'p [Plan<'p>]>,
    /// Scripts of agents that have one of their own.
    pub(super) scripts: BTreeMap<String, Script>,
    pub(super) is_real: bool,
    /// Of agents that say nothing of theirs.
    pub(super) working_memory: Option<&'p WorkingMemory>,
    /// What all calls pass.
    pub(super) gate: Gate,
    /// Where calls that are paid for are kept.
    #[cfg(feature = "sqlite")]
    pub(super) keep: Option<Arc<dyn Keep>>,
}

impl<'p> Maker<Machine<'p>> for Workbench<'p> {
    fn make(&mut self, new: New<'_>) -> Result<Made<Machine<'p>>, String> {
        let (plans, given) = match new.recipe {
            Recipe::Configured(number) => self.configured(number),
            Recipe::Spawned(spawn) => self.spawned(spawn)?,
            Recipe::Service => return self.service(&new),
        };
        let chart = plans[0].chart();
        let charts: Vec<&Chart> = plans.iter().map(Plan::chart).collect();
        let kind = self.families.get(new.name).map(|(kind, _)| *kind).unwrap_or_default();
        let number = match new.recipe {
            Recipe::Configured(number) => self.actors[number].number,
            Recipe::Spawned(_) | Recipe::Service => 1,
        };
        let provider = self.voices[kind].provider().to_owned();
        let (parts, script) = self.voices[kind].parts(new.name, number)?;
        let record = SharedRecord::new(Record::new(new.name));
        let door = self.world.door();
        let host = Artifacts::new(door.clone(), record.clone(), &charts, script.clone())
            .map_err(|why| why.to_string())?;
        let mut profile = Profile::of(chart).map_err(|why| why.to_string())?;
        let says = |key: &str| chart.meta.iter().any(|(name, _)| name == key);
        if let Some(default) = self.working_memory.filter(|_| !says("working_memory")) {
            profile.working_memory = default.clone();
        }
        let rag = Rag::of(&chart.meta).map_err(|why| why.to_string())?;
        let life = Life::new(door, record, profile);
        let has_turns = has_turns(chart);
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        self.scripts.insert(new.name.to_owned(), script);
        let driver = self.driver(new.name, &provider, parts);
        let name = new.name.to_owned();
        let host = Functions::Agent(host);
        let mut agent = self.session(new, plans, &given, host, driver, Some(life))?;
        if let Some(rag) = rag.filter(|rag| rag.enabled) {
            let memory = Arc::new(ArtifactMemory::new(self.world.clone(), &name));
            agent = agent.with_memory(LongTerm::new(memory, Some(rag), &name));
        }
        Ok(Made { agent, has_turns, provider })
    }

    fn position(&self, name: &str) -> Value {
        self.scripts.get(name).map_or(Value::None, Script::save)
    }
}

impl<'p> Workbench<'p> {
    fn configured(&mut self, number: usize) -> (&'p [Plan<'p>], Given) {
        let Actor { kind, name, .. } = &self.actors[number];
        let Kind { family, entry, .. } = &self.kinds[*kind];
        self.families.insert(name.clone(), (*kind, family.clone()));
        let params = params(family.root(), &entry.params, name);
        (self.plans[*kind].as_slice(), Given { params, inputs: entry.inputs.clone() })
    }

    /// An agent that another one has made: it has the clients, the tools, the budget and the script of its maker, and no others.
    fn spawned(&mut self, spawn: &Spawn) -> Result<(&'p [Plan<'p>], Given), String> {
        let parent = self.families.get(&spawn.parent);
        let (kind, family) = parent.ok_or_else(|| format!("`{}` is no agent", spawn.parent))?;
        let (kind, (tools, models)) = (*kind, used(family));
        if let Err(found) = restrict(&spawn.family, &tools, &models) {
            let found: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
            return Err(found.join("; "));
        }
        self.gate.share_budget(&spawn.agent, &spawn.parent);
        self.families.insert(spawn.agent.clone(), (kind, spawn.family.clone()));
        let (charts, shelf) = (self.charts, self.shelf);
        let plans = *self.made.entry(Arc::as_ptr(&spawn.family) as usize).or_insert_with(|| {
            let family = charts.keep(spawn.family.clone());
            shelf.keep(family.charts.iter().map(Plan::new).collect()).as_slice()
        });
        let params = params(spawn.family.root(), &spawn.params, &spawn.agent);
        Ok((plans, Given { params, inputs: Map::new() }))
    }

    /// The auctions.
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
        let provider = voice.provider().to_owned();
        let (parts, script) = voice.parts(new.name, 1)?;
        if *new.position != Value::None {
            script.load(new.position)?;
        }
        self.scripts.insert(new.name.to_owned(), script);
        let driver = self.driver(new.name, &provider, parts);
        let new = New { lines: new.lines.clone(), clock: new.clock.clone(), ..*new };
        let agent = self.session(new, plans, &given, host, driver, None)?;
        Ok(Made { agent, has_turns: false, provider })
    }

    /// Who makes the calls of an agent.
    fn driver(
        &self,
        name: &str,
        provider: &str,
        parts: chartc_runtime::driver::Parts,
    ) -> Arc<dyn Driver> {
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
        driver: Arc<dyn Driver>,
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
        let session = Session::new(machine, Arc::new(Deny), new.clock, new.lines)
            .with_driver(driver)
            .with_run(new.name)
            .with_origin(origin)
            .with_host_log(log);
        let mut agent = Agent::new(session, life);
        match new.saved {
            Some(saved) => agent.take_over(saved)?,
            None => {
                for (name, value) in given.inputs.iter() {
                    agent.input(name, value.clone()).map_err(|why| why.to_string())?;
                }
            }
        }
        Ok(agent)
    }
}
