//! The text of a world's file.

use super::{Artifact, Disk, Price, State, Who};
use crate::oracle::script::Results;
use chartc_core::expr::{Map, Value};
use std::collections::BTreeMap;

/// A world's file that cannot be read: where, why, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{why}")]
pub struct WorldError {
    /// The keys that lead there, in back-quotes; empty for the file.
    pub place: String,
    /// What is wrong.
    pub why: String,
    /// A key that there is not, and those that there are.
    pub stranger: Option<(String, Vec<String>)>,
}

type Read<T> = Result<T, WorldError>;

fn fault<T>(place: &str, why: impl Into<String>) -> Read<T> {
    let place = if place.is_empty() { String::new() } else { format!("`{place}` ") };
    Err(WorldError { place, why: why.into(), stranger: None })
}

fn stranger<T>(place: &str, key: &str, known: &[&str]) -> Read<T> {
    let place = if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    let known: Vec<String> = known.iter().map(|&key| key.to_owned()).collect();
    let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let why = format!("is unknown; there are {there}");
    Err(WorldError { place: format!("`{place}` "), why, stranger: Some((key.to_owned(), known)) })
}

const TOP: [&str; 4] = ["agent", "balances", "disk", "artifacts"];
const ARTIFACT: [&str; 8] =
    ["owner", "type", "content", "read", "write", "invoke", "price", "methods"];
/// Who owns what nobody is said to own.
const SYSTEM: &str = "system";

/// The agent that is named, and the world.
pub(super) fn parse(text: &str) -> Read<(Option<String>, State)> {
    // An artifact called `no` is no boolean.
    let options = serde_yaml::options! { strict_booleans: true };
    let value: Value = match serde_yaml::from_str_with_options(text, options) {
        Ok(value) => value,
        Err(why) => return fault("", why.to_string()),
    };
    let top = mapping("", value, "a world is a mapping of agent, balances, disk, artifacts")?;
    let (mut agent, mut state) = (None, State::default());
    for (key, value) in top {
        match key.as_str() {
            "agent" => agent = Some(name("agent", value)?),
            "balances" => state.balances = amounts("balances", value, "scrip")?,
            "disk" => {
                state.disk = if let Value::Map(_) = value {
                    let each = amounts("disk", value, "bytes")?.into_iter();
                    let each = each.map(|(agent, most)| (agent, most.unsigned_abs()));
                    Disk { everybody: None, each: each.collect() }
                } else {
                    let most = amount("disk", &value, "bytes")?;
                    Disk { everybody: Some(most.unsigned_abs()), each: BTreeMap::new() }
                }
            }
            "artifacts" => {
                let why = "is a mapping of artifacts by their ids";
                for (id, value) in mapping("artifacts", value, why)? {
                    let artifact = artifact(&format!("artifacts.{id}"), value)?;
                    state.artifacts.insert(id, artifact);
                }
            }
            key => return stranger("", key, &TOP),
        }
    }
    let owners = state.artifacts.values().map(|artifact| artifact.owner.as_str());
    for owner in owners {
        let used = state.used(owner);
        if let Some(most) = state.quota(owner).filter(|most| used > *most) {
            let why = format!(
                "is {most} bytes for `{owner}`, whose artifacts have {used}: write less, or allow more"
            );
            return fault("disk", why);
        }
    }
    Ok((agent, state))
}

fn artifact(place: &str, value: Value) -> Read<Artifact> {
    let fields = mapping(place, value, &format!("is a mapping of {}", ARTIFACT.join(", ")))?;
    let mut made = Artifact::new(SYSTEM, String::new(), Value::None);
    for (key, value) in fields {
        let at = format!("{place}.{key}");
        match key.as_str() {
            "owner" => made.owner = name(&at, value)?,
            "type" => made.ty = name(&at, value)?,
            "content" => made.content = value,
            "read" => made.read = who(&at, value)?,
            "write" => made.write = who(&at, value)?,
            "invoke" => made.invoke = who(&at, value)?,
            "price" => {
                made.price = if let Value::Map(_) = value {
                    Price::ByMethod(amounts(&at, value, "scrip")?)
                } else {
                    Price::Each(amount(&at, &value, "scrip")?)
                }
            }
            "methods" => {
                for (method, results) in mapping(&at, value, "is a mapping of methods to results")?
                {
                    let at = format!("`{at}.{method}`");
                    let results = Results::read(&at, results).map_err(|fault| WorldError {
                        place: String::new(),
                        why: fault.0,
                        stranger: None,
                    })?;
                    made.methods.insert(method, results);
                }
            }
            key => return stranger(place, key, &ARTIFACT),
        }
    }
    if let Price::ByMethod(prices) = &made.price
        && let Some(method) = prices.keys().find(|method| !made.methods.contains_key(*method))
    {
        let known: Vec<&str> = made.methods.keys().map(String::as_str).collect();
        return stranger(&format!("{place}.price"), method, &known);
    }
    if made.ty.is_empty() {
        made.ty = if made.methods.is_empty() { "data".into() } else { "executable".into() };
    }
    Ok(made)
}

/// A mapping; nothing is an empty one.
fn mapping(place: &str, value: Value, why: &str) -> Read<Map> {
    match value {
        Value::Map(map) => Ok(map),
        Value::None => Ok(Map::new()),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::List(_) => fault(place, why),
    }
}

/// A name; one that YAML takes for a number is one, too.
fn name(place: &str, value: Value) -> Read<String> {
    match value {
        Value::Text(text) if !text.is_empty() => Ok(text),
        Value::Int(n) => Ok(n.to_string()),
        Value::None
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => fault(place, "is a name"),
    }
}

fn amount(place: &str, value: &Value, of: &str) -> Read<i64> {
    match value {
        Value::Int(n @ 0..) => Ok(*n),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => fault(place, format!("is a whole number of {of}, 0 or more")),
    }
}

fn amounts(place: &str, value: Value, of: &str) -> Read<BTreeMap<String, i64>> {
    let all = mapping(place, value, &format!("is a mapping of names to {of}"))?;
    all.into_iter()
        .map(|(name, value)| {
            let amount = amount(&format!("{place}.{name}"), &value, of)?;
            Ok((name, amount))
        })
        .collect()
}

fn who(place: &str, value: Value) -> Read<Who> {
    match value {
        Value::Text(word) if word == "everyone" => Ok(Who::Everyone),
        Value::Text(word) if word == "owner" => Ok(Who::Owner),
        Value::Text(word) if word == "nobody" => Ok(Who::Nobody),
        Value::List(items) => {
            let agents = items.into_iter().map(|item| name(place, item));
            Ok(Who::Only(agents.collect::<Read<_>>()?))
        }
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::Map(_) => {
            fault(place, "is everyone, owner, nobody or a list of agents, as in `[ada]`")
        }
    }
}
