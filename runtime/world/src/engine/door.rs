//! The world as an agent of the engine reaches it.

use crate::world::World;
use chartc_core::expr::Value;
use chartc_runtime::agent::{Acting, Action, ArtifactHost, Failure, View};

/// A door to a world that many agents share: what an agent keeps has no copy of it, because the engine keeps it once.
#[derive(Debug, Clone)]
pub struct Door(pub World);

impl ArtifactHost for Door {
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        self.0.invoke(agent, artifact, method, arguments)
    }

    fn act(&self, agent: &str, action: &Action) -> Acting {
        self.0.act(agent, action)
    }

    fn view(&self, agent: &str) -> View {
        self.0.view(agent)
    }
}
