//! The file of a world: artifacts, scrip and disk.
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

#[cfg(test)]
mod tests;

use crate::oracle::script::Results;
use chartc_core::expr::{Map, Value};
use std::collections::BTreeMap;

/// The size of a content, in bytes; of a value other than a text, that of its JSON.
fn size(content: &Value) -> u64 {
    let bytes = match content {
        Value::None => 0,
        Value::Text(text) => text.len(),
        _ => serde_json::to_string(content).unwrap_or_default().len(),
    };
    bytes as u64
}

// Parses world files.

/// The content of a world file: the initial state of any world that accepts such files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorldFile {
    /// The name of the agent that acts, if the file says so.
    pub agent: Option<String>,
    /// The scrip of each agent, by name.
    pub balances: BTreeMap<String, i64>,
    /// The maximum size of an agent's artifacts.
    pub disk: Disk,
    /// The artifacts, by id.
    pub artifacts: BTreeMap<String, Declared>,
}

/// The maximum size of an agent's artifacts, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Disk {
    /// The maximum for agents without one of their own; `None` for no limit.
    pub everybody: Option<u64>,
    /// The maximum of single agents, by name.
    pub each: BTreeMap<String, u64>,
}

impl Disk {
    /// The maximum for an agent; `None` for no limit.
    pub fn of(&self, agent: &str) -> Option<u64> {
        self.each.get(agent).copied().or(self.everybody)
    }
}

/// An artifact in a world file.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The name of the owner; `system` if the file names none.
    pub owner: String,
    /// The type.
    pub ty: String,
    /// The content: a text, or any other value.
    pub content: Value,
    /// The agents that may read it.
    pub read: Who,
    /// The agents that may write it.
    pub write: Who,
    /// The agents that may invoke it.
    pub invoke: Who,
    /// The price of an invocation.
    pub price: Price,
    /// The results of its methods.
    pub methods: BTreeMap<String, Results>,
    /// Whether it is there from the beginning, and not made by an action.
    pub is_genesis: bool,
}

/// The agents that may do something with an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// All agents.
    Everyone,
    /// The owner of the artifact.
    Owner,
    /// No agent, not even the owner.
    Nobody,
    /// The agents with these names.
    Only(Vec<String>),
}

impl Who {
    /// The permission in words, for an artifact of `owner`.
    pub fn told(&self, owner: &str) -> String {
        match self {
            Self::Everyone => "everyone may".into(),
            Self::Owner => format!("only its owner `{owner}` may"),
            Self::Nobody => "nobody may".into(),
            Self::Only(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("only {} may", names.join(", "))
            }
        }
    }

    /// Whether the permission includes `agent`, for an artifact of `owner`.
    pub fn allows(&self, agent: &str, owner: &str) -> bool {
        match self {
            Self::Everyone => true,
            Self::Owner => owner == agent,
            Self::Nobody => false,
            Self::Only(agents) => agents.iter().any(|name| name == agent),
        }
    }

    /// Reads `everyone`, `owner`, `nobody` or a list of names. `place` is the key, for messages.
    ///
    /// # Errors
    /// The value is none of these.
    pub fn read(place: &str, value: Value) -> Result<Self, WorldError> {
        who(place, value)
    }

    /// The permission as a value that [`Who::read`] reads.
    pub fn value(&self) -> Value {
        let word = match self {
            Self::Everyone => "everyone",
            Self::Owner => "owner",
            Self::Nobody => "nobody",
            Self::Only(agents) => {
                return Value::List(agents.iter().cloned().map(Value::Text).collect());
            }
        };
        Value::Text(word.to_owned())
    }
}

/// The price of an invocation, in scrip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Price {
    /// The same price for each method.
    Each(i64),
    /// The price by method. Other methods cost nothing.
    ByMethod(BTreeMap<String, i64>),
}

impl Price {
    /// The price of a method.
    pub fn of(&self, method: &str) -> i64 {
        match self {
            Self::Each(price) => *price,
            Self::ByMethod(prices) => prices.get(method).copied().unwrap_or(0),
        }
    }

    /// Reads a price, or prices by method. `place` is the key, for messages.
    ///
    /// # Errors
    /// The value is neither.
    pub fn read(place: &str, value: Value) -> Result<Self, WorldError> {
        if let Value::Map(_) = value {
            Ok(Self::ByMethod(amounts(place, value, "scrip")?))
        } else {
            Ok(Self::Each(amount(place, &value, "scrip")?))
        }
    }

    /// The price as a value that [`Price::read`] reads.
    pub fn value(&self) -> Value {
        match self {
            Self::Each(price) => Value::Int(*price),
            Self::ByMethod(prices) => {
                let prices = prices.iter().map(|(name, price)| (name.clone(), Value::Int(*price)));
                Value::Map(prices.collect())
            }
        }
    }
}

/// The error of a world file that cannot be parsed: place, reason and remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{why}")]
pub struct WorldError {
    /// The path of the key, in back quotes, with a space after it; empty for the file as a whole.
    pub place: String,
    /// The reason.
    pub why: String,
    /// For an unknown key, the key and those that are known.
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
/// The owner of artifacts for which the file names none.
const SYSTEM: &str = "system";

impl WorldFile {
    /// Parses a world file.
    ///
    /// # Errors
    /// The place and the reason of the first fault, with a remedy.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        parse(text)
    }
}

fn parse(text: &str) -> Read<WorldFile> {
    // Only `true` and `false` are booleans, so that an artifact can be called `no`.
    let options = serde_yaml::options! { strict_booleans: true };
    let value: Value = match serde_yaml::from_str_with_options(text, options) {
        Ok(value) => value,
        Err(why) => return fault("", why.to_string()),
    };
    let top = mapping("", value, "a world is a mapping of agent, balances, disk, artifacts")?;
    let mut file = WorldFile::default();
    for (key, value) in top {
        match key.as_str() {
            "agent" => file.agent = Some(name("agent", value)?),
            "balances" => file.balances = amounts("balances", value, "scrip")?,
            "disk" => {
                file.disk = if let Value::Map(_) = value {
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
                    file.artifacts.insert(id, artifact);
                }
            }
            key => return stranger("", key, &TOP),
        }
    }
    // The file itself must respect the limits that it sets.
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for artifact in file.artifacts.values() {
        *all.entry(&artifact.owner).or_default() += size(&artifact.content);
    }
    for (owner, used) in all {
        if let Some(most) = file.disk.of(owner).filter(|most| used > *most) {
            let why = format!(
                "is {most} bytes for `{owner}`, whose artifacts have {used}: write less, or allow more"
            );
            return fault("disk", why);
        }
    }
    Ok(file)
}

impl Declared {
    /// Creates an artifact with the default permissions, as an action does.
    fn new(owner: &str, ty: String, content: Value) -> Self {
        Self {
            owner: owner.to_owned(),
            ty,
            content,
            read: Who::Everyone,
            write: Who::Owner,
            invoke: Who::Everyone,
            price: Price::Each(0),
            methods: BTreeMap::new(),
            is_genesis: false,
        }
    }
}

fn artifact(place: &str, value: Value) -> Read<Declared> {
    let fields = mapping(place, value, &format!("is a mapping of {}", ARTIFACT.join(", ")))?;
    let mut made = Declared::new(SYSTEM, String::new(), Value::None);
    made.is_genesis = true;
    for (key, value) in fields {
        let at = format!("{place}.{key}");
        match key.as_str() {
            "owner" => made.owner = name(&at, value)?,
            "type" => made.ty = name(&at, value)?,
            "content" => made.content = value,
            "read" => made.read = who(&at, value)?,
            "write" => made.write = who(&at, value)?,
            "invoke" => made.invoke = who(&at, value)?,
            "price" => made.price = Price::read(&at, value)?,
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
    // A price for a method that does not exist is probably a misspelled name.
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

/// Reads a mapping; no value is an empty one.
fn mapping(place: &str, value: Value, why: &str) -> Read<Map> {
    match value {
        Value::Map(map) => Ok(map),
        Value::None => Ok(Map::new()),
        _ => fault(place, why),
    }
}

/// Reads a name. YAML parses a name such as `42` as a number.
fn name(place: &str, value: Value) -> Read<String> {
    match value {
        Value::Text(text) if !text.is_empty() => Ok(text),
        Value::Int(n) => Ok(n.to_string()),
        _ => fault(place, "is a name"),
    }
}

fn amount(place: &str, value: &Value, of: &str) -> Read<i64> {
    match value {
        Value::Int(n @ 0..) => Ok(*n),
        _ => fault(place, format!("is a whole number of {of}, 0 or more")),
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
        _ => fault(place, "is everyone, owner, nobody or a list of agents, as in `[ada]`"),
    }
}
