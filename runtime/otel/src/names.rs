//! Attribute names from OpenTelemetry's conventions for generative AI, and the models behind the clients of charts.

use chartc_core::model::{Chart, StepKind};
use std::collections::BTreeMap;

pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
pub(crate) const AGENT: &str = "gen_ai.agent.name";
pub(crate) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(crate) const MODEL: &str = "gen_ai.request.model";
pub(crate) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(crate) const TEMPERATURE: &str = "gen_ai.request.temperature";
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const FINISH: &str = "gen_ai.response.finish_reasons";
pub(crate) const TOOL: &str = "gen_ai.tool.name";
pub(crate) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(crate) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const RESULT: &str = "gen_ai.tool.call.result";
pub(crate) const INPUT: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT: &str = "gen_ai.output.messages";
pub(crate) const ERROR: &str = "error.type";

/// A model as spans describe it. An empty string or `None` means unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<i64>,
}

/// The models of a set of charts, by client and step, and the steps that ask people instead of models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    clients: BTreeMap<String, Model>,
    steps: BTreeMap<String, String>,
    people: Vec<String>,
    only: Option<Model>,
}

/// Parses `PROVIDER:MODEL`. Without a colon, the provider is empty.
fn model(text: &str) -> Model {
    let (provider, name) = text.split_once(':').unwrap_or(("", text));
    Model { provider: provider.into(), name: name.into(), ..Model::default() }
}

impl Models {
    /// Collects the clients and steps of the charts. `only` is a `PROVIDER:MODEL` that answers all steps instead of their clients, if there
    /// is one.
    pub fn new<'c>(charts: impl IntoIterator<Item = &'c Chart>, only: Option<&str>) -> Self {
        let mut models = Self { only: only.map(model), ..Self::default() };
        for chart in charts {
            for client in &chart.clients {
                let known = Model {
                    temperature: client.temperature,
                    max_tokens: client.max_tokens,
                    ..model(&client.model)
                };
                models.clients.insert(client.name.clone(), known);
            }
            for step in &chart.steps {
                if let Some(client) =
                    step.client.and_then(|client| chart.clients.get(client.index()))
                {
                    models.steps.insert(step.name.clone(), client.name.clone());
                }
                if matches!(step.kind, StepKind::Human(_)) {
                    models.people.push(step.name.clone());
                }
            }
        }
        models
    }

    /// Returns the model that a step asks: that of `client`, or of the step's own client if `client` is empty.
    pub(crate) fn of(&self, step: &str, client: &str) -> Model {
        let client =
            if client.is_empty() { self.steps.get(step).map(String::as_str) } else { Some(client) };
        let known = client.and_then(|client| self.clients.get(client)).cloned().unwrap_or_default();
        // A model that replaces all others is still called with the temperature and token limit of the step's client.
        match &self.only {
            Some(Model { provider, name, .. }) => {
                Model { provider: provider.clone(), name: name.clone(), ..known }
            }
            None => known,
        }
    }

    pub(crate) fn is_person(&self, step: &str) -> bool {
        self.people.iter().any(|person| person == step)
    }
}
