//! The text of a world's file.

use super::size;
use crate::oracle::script::Results;
use chartc_core::expr::{Map, Value};
use std::collections::BTreeMap;

/// The text of a world's file, read: what every world begins with that accepts such a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorldFile {
    /// Who acts, if it says so.
    pub agent: Option<String>,
    /// Scrip by name.
    pub balances: BTreeMap<String, i64>,
    /// Bytes that the artifacts of an agent may have.
    pub disk: Disk,
    /// By their ids.
    pub artifacts: BTreeMap<String, Declared>,
}

/// Bytes that the artifacts of an agent may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Disk {
    /// Of each agent, unless it has its own.
    pub everybody: Option<u64>,
    /// By name.
    pub each: BTreeMap<String, u64>,
}

impl Disk {
    /// The bytes of an agent; `None` without a limit.
    pub fn of(&self, agent: &str) -> Option<u64> {
        self.each.get(agent).copied().or(self.everybody)
    }
}

/// An artifact that a file declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// `system` where nobody is named.
    pub owner: String,
    /// What it is.
    pub ty: String,
    /// Text, or anything else.
    pub content: Value,
    /// Who may read it.
    pub read: Who,
    /// Who may write it.
    pub write: Who,
    /// Who may invoke it.
    pub invoke: Who,
    /// What an invocation costs.
    pub price: Price,
    /// The results of its methods.
    pub methods: BTreeMap<String, Results>,
}

/// Who may do something with an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// All.
    Everyone,
    /// Its owner.
    Owner,
    /// None at all, not even its owner.
    Nobody,
    /// These.
    Only(Vec<String>),
}

impl Who {
    /// Who may, in words, of an artifact that `owner` has.
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

    /// Whether it names `agent`, of an artifact that `owner` has.
    pub fn allows(&self, agent: &str, owner: &str) -> bool {
        match self {
            Self::Everyone => true,
            Self::Owner => owner == agent,
            Self::Nobody => false,
            Self::Only(agents) => agents.iter().any(|name| name == agent),
        }
    }

    /// Reads `everyone`, `owner`, `nobody` or a list of names; `place` is where it stands.
    ///
    /// # Errors
    /// It is none of these.
    pub fn read(place: &str, value: Value) -> Result<Self, WorldError> {
        who(place, value)
    }

    /// As it is read.
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

/// What an invocation costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Price {
    /// The same for each method.
    Each(i64),
    /// By method; the others cost nothing.
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

    /// Reads scrip, or scrip by method; `place` is where it stands.
    ///
    /// # Errors
    /// It is neither.
    pub fn read(place: &str, value: Value) -> Result<Self, WorldError> {
        if let Value::Map(_) = value {
            Ok(Self::ByMethod(amounts(place, value, "scrip")?))
        } else {
            Ok(Self::Each(amount(place, &value, "scrip")?))
        }
    }

    /// As it is read.
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

impl WorldFile {
    /// Reads the text of a world's file.
    ///
    /// # Errors
    /// What is wrong, where, and what would be right.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        parse(text)
    }
}

fn parse(text: &str) -> Read<WorldFile> {
    // An artifact called `no` is no boolean.
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
    /// One that an agent has made.
    pub(super) fn new(owner: &str, ty: String, content: Value) -> Self {
        Self {
            owner: owner.to_owned(),
            ty,
            content,
            read: Who::Everyone,
            write: Who::Owner,
            invoke: Who::Everyone,
            price: Price::Each(0),
            methods: BTreeMap::new(),
        }
    }
}

fn artifact(place: &str, value: Value) -> Read<Declared> {
    let fields = mapping(place, value, &format!("is a mapping of {}", ARTIFACT.join(", ")))?;
    let mut made = Declared::new(SYSTEM, String::new(), Value::None);
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
