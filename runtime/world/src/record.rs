//! Records of agents: the settings that a new agent's record has, and what a world refuses in one that is written.

use crate::artifact::Nature;
use crate::charts::Family;
use crate::state::{State, Tried, fail};
use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Client, ExprKind, Type, VariableKind};
use chartc_runtime::agent::{
    CONTEXT, FailureKind, Models, Overrides, Profile, SETTINGS, WORKING_MEMORY, inputs_of, mapping,
};
use chartc_runtime::budget::Prices;
use std::sync::Arc;

/// The settings of an agent whose record nobody has written: those on which the clients of its chart agree, and its instructions.
pub(crate) fn settings(chart: &Chart) -> Map {
    let mut all = Map::new();
    let prompt = chart.variables.iter().find(|row| row.name == "system_prompt");
    if let Some(row) =
        prompt.filter(|row| matches!(row.kind, VariableKind::Input) && row.ty == Type::Text)
        && let Some(ExprKind::Text(text)) = row.default.as_ref().map(|default| &default.kind)
        && let Some(text) = text.literal()
    {
        all.insert("system_prompt".into(), Value::Text(text.to_owned()));
    }
    let mut put = |key: &str, of: &dyn Fn(&Client) -> Value| {
        let mut values = chart.clients.iter().map(of);
        let first = values.next().filter(|first| *first != Value::None);
        if let Some(first) = first.filter(|first| values.all(|value| value == *first)) {
            all.insert(key.into(), first);
        }
    };
    put("llm_model", &|client| match client.model.as_str() {
        "" => Value::None,
        model => Value::Text(model.to_owned()),
    });
    put("temperature", &|client| client.temperature.map_or(Value::None, Value::Float));
    put("max_tokens", &|client| client.max_tokens.map_or(Value::None, Value::Int));
    all
}

impl State {
    /// Takes the prices of the models that agents may choose from the clients of these charts.
    pub(crate) fn take_prices(&mut self, family: &Family) {
        for row in family.plans.iter().flat_map(|plan| plan.tables().clients.iter()) {
            if self.models.contains_key(&*row.model) {
                let prices = Prices::of_client(row);
                Arc::make_mut(&mut self.models).insert(row.model.to_string(), prices);
            }
        }
    }

    /// The content under which a record that `agent` writes is stored: settings that it does not name stay as they are, and so does a working
    /// memory that the writer cannot read. Other artifacts are stored as they are.
    ///
    /// # Errors
    /// The agent could not go on with this record.
    pub(crate) fn recorded(&self, agent: &str, id: &str, content: Value) -> Tried<Value> {
        let Some(artifact) = self.artifacts.get(id) else { return Ok(content) };
        if !matches!(artifact.nature, Nature::Agent { .. }) {
            return Ok(content);
        }
        let Some(mut record) = mapping(&content) else {
            let why =
                format!("the record of `{id}` is a mapping, or a text with one in JSON or YAML");
            return fail(FailureKind::IntentRejected, why);
        };
        if let Some(old) = mapping(&artifact.content) {
            let is_unread = agent != id && !self.settings.shared_working_memory;
            for key in SETTINGS.into_iter().chain(is_unread.then_some(WORKING_MEMORY)) {
                if let (Some(kept), None) = (old.get(key), record.get(key)) {
                    record.insert(key.into(), kept.clone());
                }
            }
        }
        let family = self.principals.get(id).and_then(|agent| agent.family.as_deref());
        match family.map_or(Ok(()), |family| check(&record, family, &self.models)) {
            Ok(()) => Ok(Value::Map(record)),
            Err(why) => fail(
                FailureKind::IntentRejected,
                format!("the record of `{id}` stays as it was: {why}"),
            ),
        }
    }
}

/// Checks that an agent with these charts can follow a record.
pub(crate) fn check(record: &Map, family: &Family, models: &Models) -> Result<(), String> {
    let profile = Profile::of(family.root()).map_err(|why| why.to_string())?;
    let takes_prompt = profile.inputs.contains_key("system_prompt");
    Overrides::read(record, family.plans[0].tables(), models, takes_prompt)?;
    inputs_of(record, &profile.inputs, &profile.types, CONTEXT).map(drop)
}
