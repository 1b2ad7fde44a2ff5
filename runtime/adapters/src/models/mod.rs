//! Oracles for real models: OpenAI, Anthropic, Gemini, Ollama, and any other server with OpenAI's chat interface, such as vLLM and
//! llama.cpp.
//!
//! [`Providers`] is an [`Oracle`]: it sends each question to the model that the step's client names, `"provider:model"`, or all questions
//! to one server. It needs a tokio runtime with network and timer, and a clock that lets real time pass.
//!
//! The problem: each provider has its own API, and none of them knows charts. The idea: a [`Question`] becomes a JSON Schema that allows
//! exactly the answers that the chart accepts (`form`), a `Wire` puts prompt and schema into the request of one API, and the response
//! comes back as text, which the runtime reads like any other answer. A question of the step `triage` with the options `close` and
//! `stay`, and the client model `"openai:gpt-5"`:
//!
//! ```text
//! form     {"type":"object","properties":{"choice":{"enum":["close","stay"], …}}, …} and a system message that says the same in words
//! request  POST https://api.openai.com/v1/chat/completions {"model":"gpt-5","messages":[…],"response_format":{…the schema…}}
//! response {"choices":[{"message":{"content":"{\"choice\":\"close\"}"}}],"usage":{…}}
//! answer   text {"choice":"close"}, with the tokens used; a failure becomes an `OracleError` that says what to start, set or change
//! ```
//!
//! Keys come only from the environment. Questions, answers, errors and the output of `Debug` contain no keys.

mod fault;
mod form;
mod server;
mod wire;

pub use server::{Models, PROVIDERS, Provider, Server, ServerError, provider};

use chartc_runtime::oracle::{Asking, Oracle, OracleError, Question, ready};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An oracle that sends questions to the servers of model providers.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    by_name: BTreeMap<String, Arc<Server>>,
    /// If set, this server gets every question, whatever provider the step's client names.
    all: Option<Arc<Server>>,
    /// The model for steps whose client names none: `"provider:model"`, or only the model with one server.
    model: String,
    /// If set, `model` is used for all steps, whatever their clients name.
    only: bool,
}

impl Providers {
    /// Sends each question to the provider that its client names. [`Providers::with`] adds the providers.
    pub fn by_client() -> Self {
        Self::default()
    }

    /// Sends all questions to one server.
    pub fn one(server: Server) -> Self {
        Self { all: Some(Arc::new(server)), ..Self::default() }
    }

    /// Sends all questions to one model of one server, including those of steps with a client.
    pub fn only(server: Server, model: &str) -> Self {
        Self { only: true, ..Self::one(server) }.with_model(model)
    }

    /// Adds a provider under `name`, the part before the colon of `"provider:model"`.
    #[must_use]
    pub fn with(mut self, name: &str, server: Server) -> Self {
        self.by_name.insert(name.to_owned(), Arc::new(server));
        self
    }

    /// Sets the model for steps without a client: `"provider:model"`, or only the model if there is one server.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// Finds the server and the name of the model for a question. The error is a message about the host's settings.
    fn place(&self, question: &Question) -> Result<(Arc<Server>, String), String> {
        let named = match &*question.model.model {
            "" => self.model.as_str(),
            named => named,
        };
        if let (Some(server), true) = (&self.all, self.only) {
            return Ok((server.clone(), self.model.clone()));
        }
        if let Some(server) = &self.all {
            // A client's model is written `provider:model`; the single server gets only the part after the colon. The default model of
            // `with_model` is a bare name here, which may contain colons itself, as in `llama3:8b`.
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
            // The host has set up the providers wrongly: `Script` ends the run, while other errors are events that a chart may handle.
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
