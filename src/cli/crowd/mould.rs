//! The parts that all agents of one chart and one entry of the run file share. They are made once.

use super::maker::Workbench;
use super::voice::Voice;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::{ArtifactHost, Artifacts, Profile, SharedRecord};
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Driver;
use chartc_runtime::memory::Rag;
use chartc_runtime::oracle::Deny;
use chartc_world::Gated;
use std::sync::Arc;

/// A session of an idle machine. Sessions of agents are made from it with [`Session::another`] and share its driver and its clock.
pub(super) type Stem<'p> = Session<Interpreter<'p, ()>, ()>;

/// The parts that agents of one chart and one entry share.
pub(super) struct Mould<'p> {
    /// The host functions, without those of a script.
    pub(super) host: Artifacts<()>,
    pub(super) profile: Arc<Profile>,
    pub(super) rag: Option<Rag>,
    pub(super) has_turns: bool,
    /// The name of the provider that answers the agents.
    pub(super) provider: Arc<str>,
    /// `None` if each agent has a driver of its own.
    pub(super) stem: Option<Stem<'p>>,
}

impl<'p> Workbench<'p> {
    /// The mould for these plans and this kind of agents. It is made on first use.
    pub(super) fn mould(
        &mut self,
        plans: &'p [Plan<'p>],
        kind: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<&Mould<'p>, String> {
        let key = (kind, plans.as_ptr() as usize);
        if !self.moulds.contains_key(&key) {
            let made = self.cast(plans, kind, clock)?;
            self.moulds.insert(key, made);
        }
        self.moulds.get(&key).ok_or_else(|| "it has no chart".into())
    }

    fn cast(
        &self,
        plans: &'p [Plan<'p>],
        kind: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<Mould<'p>, String> {
        let chart = plans[0].chart();
        let charts: Vec<&Chart> = plans.iter().map(Plan::chart).collect();
        let door: Arc<dyn ArtifactHost> = self.door.clone();
        let host = Artifacts::new(door, SharedRecord::default(), &charts, ())
            .map_err(|why| why.to_string())?;
        let mut profile = Profile::of(chart).map_err(|why| why.to_string())?;
        let says = |key: &str| chart.meta.iter().any(|(name, _)| name == key);
        if let Some(default) = self.working_memory.filter(|_| !says("working_memory")) {
            profile.working_memory = default.clone();
        }
        Ok(Mould {
            host,
            profile: Arc::new(profile),
            rag: Rag::of(&chart.meta).map_err(|why| why.to_string())?,
            has_turns: super::super::instance::has_turns(chart),
            provider: self.voices[kind].provider().into(),
            stem: self.stem(&self.voices[kind], clock)?,
        })
    }

    /// A session with a driver that answers all agents of a voice; `None` if each has its own.
    pub(super) fn stem(
        &self,
        voice: &Voice,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Stem<'p>>, String> {
        let Some(driver) = self.driver_of_all(voice) else { return Ok(None) };
        let machine = Interpreter::new(self.nobody, (), []).map_err(|why| why.to_string())?;
        let stem = Session::new(machine, Arc::new(Deny), clock.clone(), ());
        Ok(Some(stem.with_driver(driver)))
    }

    /// One driver for all agents of a voice. `None` if each agent needs its own: for chance because of its seed, and for a journal because
    /// of the names of its calls.
    fn driver_of_all(&self, voice: &Voice) -> Option<Arc<dyn Driver>> {
        #[cfg(feature = "sqlite")]
        if self.is_real && self.keep.is_some() {
            return None;
        }
        let driver = voice.of_all(&self.scripts, self.is_real)?;
        Some(Arc::new(Gated::of_runs(self.gate.clone(), voice.provider(), driver)))
    }
}
