//! The parts that all agents of one chart and one group share. They are made once.

use super::answer_source::AnswerSource;
use super::factory::AgentFactory;
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

/// A session of an idle machine. [`Session::another`] makes sessions of agents from it, which share its driver and its clock.
pub(super) type SessionTemplate<'p> = Session<Interpreter<'p, ()>, ()>;

/// The parts that the agents of one chart and one group share.
pub(super) struct AgentTemplate<'p> {
    /// The host functions without those of a script, which each agent has for itself.
    pub(super) host: Artifacts<()>,
    pub(super) profile: Arc<Profile>,
    pub(super) rag: Option<Rag>,
    pub(super) has_turns: bool,
    /// The name of the provider that answers the agents.
    pub(super) provider: Arc<str>,
    /// The template of sessions; `None` if each agent has a driver of its own.
    pub(super) session: Option<SessionTemplate<'p>>,
}

impl<'p> AgentFactory<'p> {
    /// The template for these plans and this group, made on first use.
    pub(super) fn template(
        &mut self,
        plans: &'p [Plan<'p>],
        group: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<&AgentTemplate<'p>, String> {
        let key = (group, plans.as_ptr() as usize);
        // `entry` would borrow `templates` while `make_template` reads `self`.
        if !self.templates.contains_key(&key) {
            let made = self.make_template(plans, group, clock)?;
            self.templates.insert(key, made);
        }
        self.templates.get(&key).ok_or_else(|| "it has no chart".into())
    }

    fn make_template(
        &self,
        plans: &'p [Plan<'p>],
        group: usize,
        clock: &Arc<dyn Clock>,
    ) -> Result<AgentTemplate<'p>, String> {
        let chart = plans[0].chart();
        let charts: Vec<&Chart> = plans.iter().map(Plan::chart).collect();
        let artifact_host: Arc<dyn ArtifactHost> = self.artifact_host.clone();
        let host = Artifacts::new(artifact_host, SharedRecord::default(), &charts, ())
            .map_err(|why| why.to_string())?;
        let mut profile = Profile::of(chart).map_err(|why| why.to_string())?;
        let says = |key: &str| chart.meta.iter().any(|(name, _)| name == key);
        if let Some(default) = self.working_memory.filter(|_| !says("working_memory")) {
            profile.working_memory = default.clone();
        }
        Ok(AgentTemplate {
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
    ) -> Result<Option<SessionTemplate<'p>>, String> {
        let Some(driver) = self.shared_driver(source) else { return Ok(None) };
        let machine = Interpreter::new(self.idle_plan, (), []).map_err(|why| why.to_string())?;
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
