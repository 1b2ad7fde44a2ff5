//! Names of OpenTelemetry's conventions for generative AI, and what the clients of charts are called there.

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

/// What is known of a client.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<i64>,
}

/// What the clients of charts are, and which client and kind each step has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    clients: BTreeMap<String, Model>,
    steps: BTreeMap<String, String>,
    people: Vec<String>,
    only: Option<Model>,
}

/// A model with its provider before a colon.
fn model(text: &str) -> Model {
    let (provider, name) = text.split_once(':').unwrap_or(("", text));
    Model { provider: provider.into(), name: name.into(), ..Model::default() }
}

impl Models {
    /// Of these charts. `only` is the model that answers all steps, if there is one.
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

    /// The model that a step asks, with this client or with its own.
    pub(crate) fn of(&self, step: &str, client: &str) -> Model {
        let client =
            if client.is_empty() { self.steps.get(step).map(String::as_str) } else { Some(client) };
        let known = client.and_then(|client| self.clients.get(client)).cloned().unwrap_or_default();
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
