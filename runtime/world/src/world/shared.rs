//! The world for one agent among many, whose snapshots do not contain the world.

use super::World;
use chartc_core::expr::Value;
use chartc_runtime::agent::{Acting, Action, ArtifactHost, Failure, View};

/// A world that is saved apart from its agents: `save` and `load` keep their defaults, which do nothing.
pub(super) struct SharedWorld(pub(super) World);

impl ArtifactHost for SharedWorld {
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        ArtifactHost::invoke(&self.0, agent, artifact, method, arguments)
    }

    fn act(&self, agent: &str, action: &Action) -> Acting {
        self.0.act(agent, action)
    }

    fn view(&self, agent: &str) -> View {
        self.0.view(agent)
    }

    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        self.0.view_of(agent, reads)
    }
}
