//! Real models for charts: OpenAI, Anthropic, Gemini, Ollama, and any other server with OpenAI's chat interface, such as vLLM and llama.cpp.
//!
//! [`Providers`] is an [`Oracle`]: it puts each question to the model that the step's client names, `"provider:model"`, or all questions to
//! one server. It needs a tokio runtime with network and timer, and a clock that lets real time pass.
//!
//! Keys come only from the environment. Questions, answers, errors and the output of `Debug` contain no keys.

mod answer;
mod body;
mod cure;
mod date;
mod fault;
mod form;
mod known;
mod models;
mod schema;
mod server;
mod wire;

pub use known::{PROVIDERS, Provider, provider};
pub use models::Models;
pub use server::{Server, ServerError};

use chartc_runtime::oracle::{Asking, Oracle, OracleError, Question, ready};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Servers by the names of providers.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    by_name: BTreeMap<String, Arc<Server>>,
    /// Gets every question, whatever provider its client names.
    all: Option<Arc<Server>>,
    /// The model for steps whose client names none.
    model: String,
    /// The model of all steps, whatever their clients name.
    only: bool,
}

impl Providers {
    /// Puts each question to the provider that its client names. [`Providers::with`] adds the providers.
    pub fn by_client() -> Self {
        Self::default()
    }

    /// Puts all questions to one server.
    pub fn one(server: Server) -> Self {
        Self { all: Some(Arc::new(server)), ..Self::default() }
    }

    /// Puts all questions to one model of one server, including those of steps with a client.
    pub fn only(server: Server, model: &str) -> Self {
        Self { only: true, ..Self::one(server) }.with_model(model)
    }

    /// Adds a provider: the name before the colon of `"provider:model"`.
    #[must_use]
    pub fn with(mut self, name: &str, server: Server) -> Self {
        self.by_name.insert(name.to_owned(), Arc::new(server));
        self
    }

    /// The model for steps without a client: `"provider:model"`, or only the model if there is one server.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// The server and the name of the model for a question.
    fn place(&self, question: &Question) -> Result<(Arc<Server>, String), String> {
        let named = match &*question.model.model {
            "" => self.model.as_str(),
            named => named,
        };
        if let (Some(server), true) = (&self.all, self.only) {
            return Ok((server.clone(), self.model.clone()));
        }
        if let Some(server) = &self.all {
            let model = match named.split_once(':') {
                Some((_, model)) if !question.model.model.is_empty() => model,
                Some(_) | None => named,
            };
            if model.is_empty() {
                return Err(format!("step `{}` has no client, so say which model", question.step));
            }
            return Ok((server.clone(), model.to_owned()));
        }
        let Some((provider, model)) = named.split_once(':') else {
            return Err(format!(
                "step `{}` has no client with a model, `\"provider:model\"`",
                question.step
            ));
        };
        match self.by_name.get(provider) {
            Some(server) => Ok((server.clone(), model.to_owned())),
            None => {
                Err(format!("nobody knows the provider `{provider}` of step `{}`", question.step))
            }
        }
    }
}

impl Oracle for Providers {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let (server, model) = match self.place(&question) {
            Ok(place) => place,
            // The host's fault, so the chart must not get to handle it.
            Err(why) => return ready(Err(OracleError::Script(why))),
        };
        Box::pin(async move { server.ask(&model, &question).await })
    }

    fn name(&self) -> String {
        match &self.all {
            Some(server) => server.url().to_owned(),
            None => "clients".to_owned(),
        }
    }
}
