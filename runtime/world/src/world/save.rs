//! Snapshots of a world as JSON.

use super::{Compiler, Outcome, World};
use crate::artifact::{Artifact, Compiled, Nature, Policy, size};
use crate::charts::{Family, Form};
use crate::config::Settings;
use crate::ledger::{Ledger, SavedLedger};
use crate::state::{Asked, Event, Moment, Offer, Principal, State, Summary};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Price, Who};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct Saved {
    /// The hash of the text of the world's file; empty without one.
    file: String,
    settings: Settings,
    ledger: SavedLedger,
    principals: BTreeMap<String, Principal>,
    artifacts: BTreeMap<String, SavedArtifact>,
    offers: BTreeMap<String, Offer>,
    events: VecDeque<Event>,
    event_number: u64,
    moment: Moment,
    summary: Summary,
    /// The agent, the artifact, the method, and the number of fixed results that the agent has used.
    asked: Vec<(String, String, String, usize)>,
    kept: BTreeMap<String, Value>,
    submissions: Vec<Value>,
    next_auction: String,
    last_number: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedArtifact {
    owner: String,
    created_by: String,
    #[serde(rename = "type")]
    ty: String,
    content: Value,
    read: Value,
    write: Value,
    invoke: Value,
    price: Value,
    nature: SavedNature,
    number: u64,
    version: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_genesis: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    used: BTreeMap<String, usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedNature {
    Data,
    Agent { memory: String },
    Memory { agent: String },
    Compiled { form: Form, read: BTreeMap<String, String> },
}

impl World {
    pub(super) fn saved(&self) -> Value {
        let state = self.state();
        let asked = state.asked.iter().flat_map(|(agent, asked)| {
            asked.iter().map(|((artifact, method), results)| {
                (agent.clone(), artifact.clone(), method.clone(), results.used())
            })
        });
        let artifacts = state.artifacts.iter().map(|(id, artifact)| (id.clone(), keep(artifact)));
        let saved = Saved {
            file: self.file.to_string(),
            settings: state.settings.clone(),
            ledger: state.ledger.save(),
            principals: state.principals.clone(),
            artifacts: artifacts.collect(),
            offers: state.offers.clone(),
            events: state.events.clone(),
            event_number: state.event_number,
            moment: state.moment,
            summary: state.summary,
            asked: asked.collect(),
            kept: state.kept.clone(),
            submissions: state.submissions.clone(),
            next_auction: state.next_auction.clone(),
            last_number: state.last_number,
        };
        drop(state);
        // The conversion through text keeps the order of keys, and makes sure that the snapshot is the same as after it was written and
        // read.
        let text = serde_json::to_string(&saved);
        text.and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
    }

    /// Restores a snapshot. Agents that exist in this world keep their charts. Those of spawned agents are compiled again from the saved
    /// texts.
    pub(super) fn take_back(&self, saved: &Value) -> Result<(), String> {
        let text = serde_json::to_string(saved);
        let saved: Saved = text
            .and_then(|text| serde_json::from_str(&text))
            .map_err(|why| format!("it has no world: {why}"))?;
        if *saved.file != *self.file {
            return Err("it is of another world: name the world's file as it was then".into());
        }
        let (families, declared) = self.declared();
        let mut state = State {
            settings: saved.settings,
            ledger: Ledger::load(saved.ledger)?,
            offers: saved.offers,
            events: saved.events,
            event_number: saved.event_number,
            moment: saved.moment,
            summary: saved.summary,
            kept: saved.kept,
            submissions: saved.submissions,
            next_auction: saved.next_auction,
            last_number: saved.last_number,
            ..State::default()
        };
        let compiler = self.compiler.as_deref();
        take_principals(&mut state, saved.principals, compiler, &families);
        for (id, kept) in saved.artifacts {
            let artifact = give_back(&id, kept, compiler, &declared)?;
            let shown = matches!(artifact.nature, Nature::Data | Nature::Compiled(_));
            state.last_number = state.last_number.max(artifact.number);
            state.index(&id, &artifact.owner, artifact.bytes, artifact.number, shown);
            state.artifacts.insert(id, artifact);
        }
        for (agent, artifact, method, used) in saved.asked {
            let key = (artifact, method);
            if let Some(mut results) = declared.get(&key).cloned() {
                results.skip(used);
                state.asked.entry(agent).or_default().insert(key, results);
            }
        }
        state.audit()?;
        // The audit has checked everything, so nothing counts as changed.
        state.take_changes();
        let mut own = self.state();
        state.admission = own.admission.clone();
        (state.models, state.census) = (own.models.clone(), own.census.clone());
        *own = state;
        Ok(())
    }

    /// The charts of this world's agents, and the declared results of its artifacts' methods.
    fn declared(&self) -> (BTreeMap<String, Arc<Family>>, Asked) {
        let state = self.state();
        let families = state
            .principals
            .iter()
            .filter_map(|(name, one)| Some((name.clone(), one.family.clone()?)))
            .collect();
        let declared = state
            .artifacts
            .iter()
            .flat_map(|(id, artifact)| {
                let methods = artifact.methods.iter();
                methods.map(|(name, row)| ((id.clone(), name.clone()), row.clone()))
            })
            .collect();
        (families, declared)
    }
}

fn take_principals(
    state: &mut State,
    principals: BTreeMap<String, Principal>,
    compiler: Option<&Compiler>,
    families: &BTreeMap<String, Arc<Family>>,
) {
    for (name, mut principal) in principals {
        principal.family = families.get(&name).cloned().or_else(|| {
            let origin = principal.origin.as_ref()?;
            again(compiler?, &origin.artifact, origin.form, &origin.text, &origin.read)
        });
        state.agents += u64::from(principal.is_agent);
        let is_listed = principal.is_listed;
        state.compute_spent_by.insert(name.clone());
        state.principals.insert(name.clone(), principal);
        if is_listed {
            state.list(&name);
        }
    }
}

fn keep(artifact: &Artifact) -> SavedArtifact {
    let Policy { read, write, invoke, price } = &*artifact.policy;
    let nature = match &artifact.nature {
        Nature::Data => SavedNature::Data,
        Nature::Agent { memory } => SavedNature::Agent { memory: memory.clone() },
        Nature::Memory { agent } => SavedNature::Memory { agent: agent.clone() },
        Nature::Compiled(Compiled { form, read, .. }) => {
            SavedNature::Compiled { form: *form, read: read.clone() }
        }
    };
    let methods = artifact.methods.iter().filter(|(_, results)| results.used() > 0);
    SavedArtifact {
        owner: artifact.owner.clone(),
        created_by: artifact.created_by.clone(),
        ty: artifact.ty.clone(),
        content: artifact.content.clone(),
        read: read.value(),
        write: write.value(),
        invoke: invoke.value(),
        price: price.value(),
        nature,
        number: artifact.number,
        version: artifact.version,
        is_genesis: artifact.is_genesis,
        used: methods.map(|(name, results)| (name.clone(), results.used())).collect(),
    }
}

fn give_back(
    id: &str,
    kept: SavedArtifact,
    compiler: Option<&Compiler>,
    declared: &Asked,
) -> Result<Artifact, String> {
    let who = |value: Value| Who::read(id, value).map_err(|fault| fault.to_string());
    let nature = match kept.nature {
        SavedNature::Data => Nature::Data,
        SavedNature::Agent { memory } => Nature::Agent { memory },
        SavedNature::Memory { agent } => Nature::Memory { agent },
        SavedNature::Compiled { form, read } => {
            let family = match (&kept.content, compiler) {
                (Value::Text(text), Some(compiler)) => again(compiler, id, form, text, &read),
                _ => None,
            };
            Nature::Compiled(Compiled { form, family, read })
        }
    };
    let own = declared.iter().filter(|((artifact, _), _)| artifact == id);
    let mut methods: BTreeMap<_, _> =
        own.map(|((_, name), results)| (name.clone(), results.clone())).collect();
    for (name, results) in &mut methods {
        results.skip(kept.used.get(name).copied().unwrap_or(0));
    }
    Ok(Artifact {
        owner: kept.owner,
        created_by: kept.created_by,
        ty: kept.ty,
        bytes: size(&kept.content),
        content: kept.content,
        policy: Arc::new(Policy {
            read: who(kept.read)?,
            write: who(kept.write)?,
            invoke: who(kept.invoke)?,
            price: Price::read(id, kept.price).map_err(|fault| fault.to_string())?,
        }),
        methods,
        nature,
        number: kept.number,
        version: kept.version,
        is_genesis: kept.is_genesis,
    })
}

/// Compiles a text again, with the saved texts of its imports.
fn again(
    compiler: &Compiler,
    id: &str,
    form: Form,
    text: &str,
    read: &BTreeMap<String, String>,
) -> Option<Arc<Family>> {
    match compiler.build(id, form, text, &|other| read.get(other).cloned()) {
        Outcome::Sound { family, .. } => Some(family),
        Outcome::Rejected(_) => None,
    }
}
