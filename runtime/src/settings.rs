//! The settings in an agent's record, which replace those of its chart: the agent is what its record says.
//!
//! **The problem.** The record is an artifact that its agent, or the owner of the agent, may write at any time, with anything in it. A
//! setting that names a stronger model would let an agent spend what the host has not allowed.
//!
//! **The idea.** [`Overrides::read`] takes from a record only what differs from the clients of the chart, so that an agent with the record
//! that it was made with asks as its chart says. It accepts the models of the agent's own clients and those that the world names. A world
//! reads a record before it is written, and refuses it for the same reason for which the agent would keep its settings.
//!
//! ```text
//! chart    client model { model "gemini:flash", temperature 0.7 }
//! record   {"llm_model": "gemini/flash", "temperature": 0.2, "system_prompt": "Sell gold."}
//! read     temperature 0.2; the model is that of the chart
//!          the prompt begins with "Sell gold.", or the input `system_prompt` of the chart has this value
//! ```

use crate::budget::Prices;
use chartc_core::expr::{Map, Value, fit};
use chartc_core::model::{Type, TypeDef};
use chartc_core::tables::{ClientRow, Tables};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const SYSTEM_PROMPT: &str = "system_prompt";
const MODEL: &str = "llm_model";
const TEMPERATURE: &str = "temperature";
const MAX_TOKENS: &str = "max_tokens";
const INPUTS: &str = "inputs";

/// The keys of a record that are settings. A record that is written without some of them keeps their values.
pub const SETTINGS: [&str; 5] = [SYSTEM_PROMPT, MODEL, TEMPERATURE, MAX_TOKENS, INPUTS];

/// The models that agents may choose, as `provider:model`, with their prices.
pub type Models = Arc<BTreeMap<String, Prices>>;

/// The settings of a record that replace those of a chart, in all questions of the agent's own chart to models.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    /// The text at the beginning of prompts; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system_prompt: String,
    /// The model; `None` for that of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_model: Option<ChosenModel>,
    /// The sampling temperature; `None` for that of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum length of an answer in tokens; `None` for that of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// A model that an agent has chosen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChosenModel {
    /// The model, as `provider:model`.
    pub name: String,
    /// The prices of its tokens.
    #[serde(default)]
    pub prices: Prices,
    /// Further parameters for its server: those of the chart's client with this model, as a JSON object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub options: String,
}

impl Overrides {
    /// What replaces nothing.
    pub(crate) const NONE: Self =
        Self { system_prompt: String::new(), llm_model: None, temperature: None, max_tokens: None };

    /// Whether nothing is replaced.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// What is replaced, as a line of a trace has it.
    pub(crate) fn value(&self) -> Value {
        serde_json::to_value(self).and_then(serde_json::from_value).unwrap_or_default()
    }

    /// Reads a line of a trace. Damage shows in the next question.
    pub(crate) fn of_value(value: &Value) -> Self {
        serde_json::to_value(value).and_then(serde_json::from_value).unwrap_or_default()
    }

    /// Reads the settings of a record that differ from those of a chart with these tables. Instructions begin the prompts unless the chart
    /// takes them as an input.
    ///
    /// # Errors
    /// The first setting that cannot be used, and why.
    pub fn read(
        record: &Map,
        tables: &Tables,
        models: &Models,
        takes_prompt: bool,
    ) -> Result<Self, String> {
        let no = |key: &str, wanted: &str, found: &Value| {
            Err(format!("`{key}` of a record is {wanted}, not {}", found.kind()))
        };
        let said = |key: &str| record.get(key).filter(|value| **value != Value::None);
        let mut all = Self::default();
        match said(SYSTEM_PROMPT) {
            None => {}
            Some(Value::Text(text)) if !takes_prompt => all.system_prompt.clone_from(text),
            Some(Value::Text(_)) => {}
            Some(other) => return no(SYSTEM_PROMPT, "a text", other),
        }
        match said(MODEL) {
            None => {}
            Some(Value::Text(name)) => all.llm_model = chosen(name, tables, models)?,
            Some(other) => return no(MODEL, "a text such as `provider/model`", other),
        }
        all.temperature = match said(TEMPERATURE) {
            None => None,
            Some(Value::Int(n @ 0..=2)) => Some(*n as f64),
            Some(Value::Float(n)) if (0.0..=2.0).contains(n) => Some(*n),
            Some(other) => return no(TEMPERATURE, "a number from 0 to 2", other),
        };
        all.max_tokens = match said(MAX_TOKENS) {
            None => None,
            Some(Value::Int(n @ 1..)) => Some(n.unsigned_abs()),
            Some(other) => return no(MAX_TOKENS, "a whole number, 1 or more", other),
        };
        let clients = || tables.clients.iter();
        let is_usual = |is: &dyn Fn(&ClientRow) -> bool| clients().len() > 0 && clients().all(is);
        all.temperature.take_if(|own| is_usual(&|row| row.temperature == Some(*own)));
        all.max_tokens.take_if(|own| is_usual(&|row| row.max_tokens == *own));
        all.llm_model.take_if(|own| is_usual(&|row| row.model == *own.name));
        Ok(all)
    }
}

/// A model by its name in a record, as `provider/model` or `provider:model`.
fn chosen(name: &str, tables: &Tables, models: &Models) -> Result<Option<ChosenModel>, String> {
    let name = match name.split_once(['/', ':']) {
        Some((provider, model)) => format!("{provider}:{model}"),
        None => name.to_owned(),
    };
    if let Some(row) = tables.clients.iter().find(|row| row.model == *name) {
        let (prices, options) = (Prices::of_client(row), row.options.to_string());
        return Ok(Some(ChosenModel { name, prices, options }));
    }
    let Some(prices) = models.get(&name).copied() else {
        let own = tables.clients.iter().map(|row| &*row.model);
        let mut known: Vec<&str> = own.chain(models.keys().map(String::as_str)).collect();
        known.retain(|name| !name.is_empty());
        known.sort_unstable();
        known.dedup();
        let known = if known.is_empty() { "no other".to_owned() } else { known.join(", ") };
        return Err(format!(
            "`{name}` is no model that the agent may choose; it may choose {known}"
        ));
    };
    Ok(Some(ChosenModel { name, prices, options: String::new() }))
}

/// The values of a chart's inputs in a record, without those that its world sets itself.
///
/// # Errors
/// The first value that no input takes, and why.
pub fn inputs_of(
    record: &Map,
    declared: &BTreeMap<String, Type>,
    types: &[TypeDef],
    of_world: &[&str],
) -> Result<Vec<(String, Value)>, String> {
    let own = match record.get(INPUTS) {
        None | Some(Value::None) => Map::new(),
        Some(Value::Map(own)) => own.clone(),
        Some(other) => {
            return Err(format!("`{INPUTS}` of a record is a mapping, not {}", other.kind()));
        }
    };
    let mut all = Vec::new();
    for (name, value) in own {
        let Some(ty) = declared.get(&name).filter(|_| !of_world.contains(&&*name)) else {
            let why = "is no input of the agent's chart that a record sets";
            return Err(format!("`{INPUTS}.{name}` {why}"));
        };
        let value = fit(value, ty, types).map_err(|why| format!("`{INPUTS}.{name}`: {why}"))?;
        all.push((name, value));
    }
    if let (Some(Value::Text(text)), Some(Type::Text)) =
        (record.get(SYSTEM_PROMPT), declared.get(SYSTEM_PROMPT))
    {
        all.push((SYSTEM_PROMPT.to_owned(), Value::Text(text.clone())));
    }
    Ok(all)
}
