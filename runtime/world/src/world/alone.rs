//! The world of a single agent, which the agent's own snapshot contains.
//!
//! The problem: an agent that runs by itself has no engine, which would take what a world reports, renew compute, and run other agents. The
//! idea: a host around the world does what such an agent needs with each of its turns. It also reads snapshots of the format before this
//! one, which had only balances and artifacts:
//!
//! ```text
//! view   compute is full again; the world has no clock and no numbered events, so turns are counted instead
//! act    the action is done; reports for an engine are dropped
//! load   {file, ledger, principals, …}, or {file, balances, artifacts} of an earlier version
//! ```

use super::World;
use crate::artifact::{Nature, Policy, size};
use crate::ledger::Resource;
use crate::state::{ENDOWMENT, State, Tried, refused};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Acting, Action, ArtifactHost, Failure, View};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

struct Alone(World);

impl World {
    /// The world as the host of its only agent. It is part of the agent's snapshot. Agents that this agent would make are refused, since
    /// nobody would run them.
    pub fn alone(self) -> Arc<dyn ArtifactHost> {
        self.ask_before_spawns(|_| Err("a run of one agent makes no others: run a folder".into()));
        self.take_notices();
        Arc::new(Alone(self))
    }

    fn take_back_earlier(&self, saved: Earlier) -> Result<(), String> {
        if saved.file != *self.file {
            return Err("it is of another world: name the world's file as it was then".into());
        }
        self.change(|state| restore(state, saved)).map_err(|failure| failure.to_string())
    }
}

impl ArtifactHost for Alone {
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
        let done = self.0.act(agent, action);
        self.0.take_notices();
        self.0.take_requests();
        done
    }

    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        self.0.renew();
        let view = self.0.view_of(agent, reads);
        View { event_number: 0, recent_events: Vec::new(), ..view }
    }

    fn save(&self) -> Value {
        self.0.saved()
    }

    fn load(&self, saved: &Value) -> Result<(), String> {
        let earlier = serde_json::to_string(saved).and_then(|text| serde_json::from_str(&text));
        match earlier {
            Ok(earlier) => self.0.take_back_earlier(earlier),
            Err(_) => self.0.take_back(saved),
        }
    }
}

/// A saved world of the format before this one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    file: String,
    balances: BTreeMap<String, i64>,
    artifacts: BTreeMap<String, EarlierArtifact>,
}

#[derive(Deserialize)]
struct EarlierArtifact {
    owner: String,
    #[serde(rename = "type")]
    ty: String,
    content: Value,
    #[serde(default)]
    used: BTreeMap<String, usize>,
}

/// Gives accounts and artifacts the state in which they were saved.
fn restore(state: &mut State, saved: Earlier) -> Tried<()> {
    for (name, scrip) in saved.balances {
        state.open(&name, None);
        let change = scrip.saturating_sub(state.ledger.scrip(&name));
        if change > 0 {
            state.ledger.mint(&name, Resource::Scrip, change, ENDOWMENT).map_err(refused)?;
        } else if change < 0 {
            state.ledger.burn(&name, Resource::Scrip, -change, ENDOWMENT).map_err(refused)?;
        }
        state.list(&name);
    }
    for (id, kept) in saved.artifacts {
        let EarlierArtifact { owner, ty, content, used } = kept;
        let Some(artifact) = state.artifacts.get(&id) else {
            state.open(&owner, None);
            state.make(&id, &owner, &owner, &ty, content, Nature::Data, Policy::default())?;
            continue;
        };
        let (owner, old) = (artifact.owner.clone(), artifact.bytes);
        let content = state.recorded(&id, &id, content)?;
        let new = size(&content);
        if let Some(artifact) = state.artifacts.get_mut(&id) {
            artifact.content = content;
            for (name, used) in used {
                if let Some(results) = artifact.methods.get_mut(&name) {
                    results.skip(used);
                }
            }
        }
        state.resize(&id, &owner, old, new)?;
    }
    Ok(())
}
