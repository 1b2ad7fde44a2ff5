//! A world in memory, read from a file, for runs without any other world: artifacts, scrip and disk.
//!
//! ```yaml
//! agent: ada                    # the agent that acts [default: the agent's own name]
//! balances: {ada: 100, bob: 20} # scrip, whole numbers
//! disk: 500                     # the maximum size of an agent's artifacts, in bytes; or by agent, {ada: 500}
//! artifacts:
//!   shop:
//!     owner: bob                # [default: system]
//!     type: executable          # [default: executable with methods, else data]
//!     content: sells gold       # a text, or any other value
//!     read: everyone            # also owner, nobody, or a list of agents [default: everyone]
//!     write: owner              # [default: owner]
//!     invoke: [ada]             # [default: everyone]
//!     price: 5                  # of an invocation, in scrip, paid to the owner; or by method, {buy: 5}
//!     methods:                  # results in the syntax of a script's functions
//!       price: 3
//!       buy: [sold, {fail: sold out}]
//! ```

mod act;
mod file;

use super::{Acting, Action, ArtifactHost, Done, Failure, FailureKind, View};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use file::{Declared, Disk, Price, Who, WorldError, WorldFile};

/// A world in memory. Clones are the same world.
#[derive(Debug, Clone)]
pub struct World {
    /// The hash of the file's text. A snapshot can be loaded only into a world of the same file.
    hash: u64,
    agent: Option<String>,
    state: Arc<Mutex<WorldFile>>,
}

/// The state of a world for a snapshot.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// The hash of the file's text, in hex, because not every JSON reader handles integers of this size.
    file: String,
    balances: BTreeMap<String, i64>,
    artifacts: BTreeMap<String, SavedArtifact>,
}

#[derive(Serialize, Deserialize)]
struct SavedArtifact {
    owner: String,
    #[serde(rename = "type")]
    ty: String,
    content: Value,
    #[serde(default)]
    used: BTreeMap<String, usize>,
}

impl World {
    /// Parses a world file.
    ///
    /// # Errors
    /// The place and the reason of the first fault, with a remedy.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        let state = WorldFile::parse(text)?;
        // FNV-1a: the hash only distinguishes files, it does not protect against forgery.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Ok(Self { hash, agent: state.agent.clone(), state: Arc::new(Mutex::new(state)) })
    }

    /// The name of the agent that acts, if the file says so.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Gives an agent its initial scrip, unless the file sets it.
    pub fn endow(&self, agent: &str, scrip: i64) {
        self.state().balances.entry(agent.to_owned()).or_insert(scrip.max(0));
    }

    fn state(&self) -> MutexGuard<'_, WorldFile> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArtifactHost for World {
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        self.state().ask(agent, artifact, method, arguments).map(|(value, _)| value)
    }

    fn act(&self, agent: &str, action: &Action) -> Acting {
        let done = self.state().act(agent, action);
        Box::pin(std::future::ready(done))
    }

    fn view(&self, agent: &str) -> View {
        let state = self.state();
        let text = |text: &str| Value::Text(text.to_owned());
        let row = |(id, artifact): (&String, &Declared)| {
            let mut row = Map::new();
            row.insert("id".into(), text(id));
            row.insert("type".into(), text(&artifact.ty));
            row.insert("created_by".into(), text(&artifact.owner));
            row.insert("executable".into(), Value::Bool(!artifact.methods.is_empty()));
            Value::Map(row)
        };
        let own = state.artifacts.iter().filter(|(id, a)| a.owner == agent && *id != agent);
        View {
            balance: state.balance(agent),
            own: own.map(|(id, _)| text(id)).collect(),
            artifacts: state.artifacts.iter().map(row).collect(),
            others: state.balances.keys().filter(|name| *name != agent).map(|n| text(n)).collect(),
            disk: state.quota(agent).map(|most| (state.used(agent), most)),
            balances: state
                .balances
                .iter()
                .map(|(n, scrip)| (n.clone(), Value::Int(*scrip)))
                .collect(),
            record: state.artifacts.get(agent).map(|artifact| artifact.content.clone()),
            ..View::default()
        }
    }

    fn save(&self) -> Value {
        let state = self.state();
        let artifact = |artifact: &Declared| SavedArtifact {
            owner: artifact.owner.clone(),
            ty: artifact.ty.clone(),
            content: artifact.content.clone(),
            used: artifact.methods.iter().map(|(name, row)| (name.clone(), row.used())).collect(),
        };
        let saved = Saved {
            file: format!("{:016x}", self.hash),
            balances: state.balances.clone(),
            artifacts: state
                .artifacts
                .iter()
                .map(|(id, row)| (id.clone(), artifact(row)))
                .collect(),
        };
        // Serialised to text and parsed again, which keeps the order of keys.
        let text = serde_json::to_string(&saved);
        text.and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
    }

    fn load(&self, saved: &Value) -> Result<(), String> {
        let text = serde_json::to_string(saved);
        let saved: Saved = text
            .and_then(|text| serde_json::from_str(&text))
            .map_err(|why| format!("it has no world: {why}"))?;
        if saved.file != format!("{:016x}", self.hash) {
            return Err("it is of another world: name the world's file as it was then".into());
        }
        let mut state = self.state();
        state.balances = saved.balances;
        // Artifacts that were written during the run are not in the file, so they are created here.
        for (id, kept) in saved.artifacts {
            let artifact = state
                .artifacts
                .entry(id)
                .or_insert_with(|| Declared::new(&kept.owner, kept.ty.clone(), Value::None));
            artifact.ty = kept.ty;
            artifact.content = kept.content;
            for (name, used) in kept.used {
                if let Some(results) = artifact.methods.get_mut(&name) {
                    results.skip(used);
                }
            }
        }
        Ok(())
    }
}

/// The size of a content, in bytes; of a value other than a text, that of its JSON.
fn size(content: &Value) -> u64 {
    let bytes = match content {
        Value::None => 0,
        Value::Text(text) => text.len(),
        _ => serde_json::to_string(content).unwrap_or_default().len(),
    };
    bytes as u64
}

#[cfg(test)]
mod tests;
