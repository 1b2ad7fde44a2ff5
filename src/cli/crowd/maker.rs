//! Makes the agents of a run.

use super::super::instance::{Given, has_turns, instance};
use super::find::{Actor, Kind, params};
use super::shelf::Shelf;
use super::voice::Voice;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{Agent, Artifacts, Life, Profile, Record, SharedRecord};
use chartc_runtime::driver::{Driver, Free};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Deny, Script};
use chartc_world::engine::{Made, Maker, New, Recipe};
use chartc_world::{Gate, Gated, Spawn, World};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The machine of an agent.
pub(super) type Machine<'p> = Interpreter<'p, Watched<Artifacts<Script>>>;

/// What the maker needs while it makes agents.
pub(super) struct Workbench<'p> {
    pub(super) world: World,
    pub(super) kinds: &'p [Kind],
    pub(super) actors: &'p [Actor],
    pub(super) plans: &'p [Vec<Plan<'p>>],
    pub(super) voices: Vec<Voice>,
    /// Charts of agents that others have made, and their plans.
    pub(super) charts: &'p Shelf<Vec<Chart>>,
    pub(super) shelf: &'p Shelf<Vec<Plan<'p>>>,
    /// The kind of each agent, whose clients and tools its children have.
    pub(super) kind_of: BTreeMap<String, usize>,
    pub(super) is_real: bool,
    /// What all calls pass.
    pub(super) gate: Gate,
}

impl<'p> Maker<Machine<'p>> for Workbench<'p> {
    fn make(&mut self, new: New<'_>) -> Result<Made<Machine<'p>>, String> {
        let (plans, voice, given) = match new.recipe {
            Recipe::Configured(number) => {
                let Actor { kind, name, .. } = &self.actors[number];
                self.kind_of.insert(name.clone(), *kind);
                let Kind { charts, entry, .. } = &self.kinds[*kind];
                let params = params(&charts[0], &entry.params, name);
                let given = Given { params, inputs: entry.inputs.clone() };
                (self.plans[*kind].as_slice(), &self.voices[*kind], given)
            }
            Recipe::Spawned(spawn) => self.spawned(spawn)?,
        };
        let (parts, script) = voice.parts(new.name);
        let plan = &plans[0];
        let chart = plan.chart();
        let charts: Vec<&Chart> = plans.iter().map(Plan::chart).collect();
        let record = SharedRecord::new(Record::new(new.name));
        let door = self.world.door();
        let log = HostLog::default();
        let host = Artifacts::new(door.clone(), record.clone(), &charts, script)
            .map_err(|why| why.to_string())?;
        let host = Watched::new(host, log.clone());
        let machine = match new.saved {
            Some(saved) => Interpreter::resume(plan, plans, host, saved.machine())
                .map_err(|why| why.to_string())?,
            None => instance(plans, &given, host).map_err(|why| why.to_string())?,
        };
        let driver: Arc<dyn Driver> =
            if self.is_real { Arc::new(parts) } else { Arc::new(Free(parts)) };
        let driver = Gated::new(self.gate.clone(), new.name, "*", driver);
        let profile = Profile::of(chart).map_err(|why| why.to_string())?;
        let session = Session::new(machine, Arc::new(Deny), new.clock, new.lines)
            .with_driver(Arc::new(driver))
            .with_run(new.name)
            .with_host_log(log);
        let mut agent = Agent::new(session, Some(Life::new(door, record, profile)));
        match new.saved {
            Some(saved) => agent.take_over(saved)?,
            None => {
                for (name, value) in given.inputs.iter() {
                    agent.input(name, value.clone()).map_err(|why| why.to_string())?;
                }
            }
        }
        Ok(Made { agent, has_turns: has_turns(chart), is_service: false })
    }
}

impl<'p> Workbench<'p> {
    /// The chart of an agent that another one has made: it has the clients, the tools and the script of its maker.
    fn spawned(&mut self, spawn: &Spawn) -> Result<(&'p [Plan<'p>], &Voice, Given), String> {
        let kind = self.kind_of.get(&spawn.parent).copied().unwrap_or_default();
        self.kind_of.insert(spawn.agent.clone(), kind);
        let charts = self.charts.keep(spawn.family.charts.clone());
        let plans = self.shelf.keep(charts.iter().map(Plan::new).collect());
        let params = params(&charts[0], &spawn.params, &spawn.agent);
        let given = Given { params, inputs: chartc_core::expr::Map::new() };
        Ok((plans.as_slice(), &self.voices[kind], given))
    }
}
