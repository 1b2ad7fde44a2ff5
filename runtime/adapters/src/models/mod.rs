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
mod wire;

use chartc_runtime::oracle::{Answer, Asking, Oracle, OracleError, Question, ready};
use fault::ServerAddress;
use form::Form;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::Map;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wire::{Body, Request, Wire, Written};

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

// A server of models: its address, its key, and the calls to it.

/// The timeout of a call if the chart's client sets none.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The maximum length of the answer in `enforces_schemas`, in tokens. Reasoning models use some before they answer.
const TRIED: u64 = 512;
/// The timeout for the list of models.
const LIST: Duration = Duration::from_secs(10);
/// The maximum length of an answer, in tokens, if neither the client nor a limit of the chart sets one.
const MAX_TOKENS: u64 = 4096;

/// The reason why a server cannot be used with the given settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The text is not an `http` or `https` address.
    #[error("`{0}` is no address of a server: write it as `http://localhost:11434/v1`")]
    Address(String),
    /// The address contains a user name, a password or a query, any of which may be a key.
    #[error("the address of a server must not hold a key: give it by the environment")]
    Secret,
    /// The key contains a character that HTTP headers do not allow.
    #[error("the key holds a character that no key has")]
    Key,
    /// The HTTP client could not be created.
    #[error("no web client: {0}")]
    Web(String),
}

/// A server that offers models: a hosted service or a program on this machine.
pub struct Server {
    web: reqwest::Client,
    known: Option<&'static Provider>,
    wire: &'static Wire,
    /// The base URL, with a trailing slash.
    url: String,
    key: Option<String>,
    timeout: Duration,
    /// The names of the settings for the address and for the key, for messages.
    set_by: Option<(String, String)>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = if self.key.is_some() { "a key" } else { "no key" };
        f.debug_struct("Server").field("url", &self.url).field("key", &key).finish_non_exhaustive()
    }
}

impl Server {
    /// Creates a server with OpenAI's chat API. `url` is the base URL to which `chat/completions` is added, such as
    /// `https://api.openai.com/v1`.
    ///
    /// # Errors
    /// `url` is no HTTP address or contains a secret; `key` has characters that no header may have.
    pub fn new(url: &str, key: Option<String>) -> Result<Self, ServerError> {
        Self::with_timeout(url, key, TIMEOUT)
    }

    /// Creates a server with the API of a provider: its own if it is one of [`PROVIDERS`], else OpenAI's.
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn of(provider: &str, url: &str, key: Option<String>) -> Result<Self, ServerError> {
        let (server, known) = (Self::new(url, key)?, self::provider(provider));
        Ok(Self { wire: self::wire(known, &server.url), known, ..server })
    }

    /// Sets the names of the settings for the address and for the key, such as `OPENAI_BASE_URL` and `OPENAI_API_KEY`, for error
    /// messages.
    #[must_use]
    pub fn set_by(mut self, address: &str, key: &str) -> Self {
        self.set_by = Some((address.to_owned(), key.to_owned()));
        self
    }

    /// Like [`Server::new`], with a timeout for calls whose client sets none. The default is two minutes.
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn with_timeout(
        url: &str,
        key: Option<String>,
        timeout: Duration,
    ) -> Result<Self, ServerError> {
        let parsed =
            reqwest::Url::parse(url).map_err(|_| ServerError::Address(without_secret(url)))?;
        if parsed.password().is_some() || !parsed.username().is_empty() || parsed.query().is_some()
        {
            return Err(ServerError::Secret);
        }
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(ServerError::Address(url.to_owned()));
        }
        let mut url = parsed.to_string();
        if !url.ends_with('/') {
            url.push('/');
        }
        let web =
            crate::web::client(&url).build().map_err(|why| ServerError::Web(why.to_string()))?;
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.as_ref().is_some_and(|key| HeaderValue::from_str(key).is_err()) {
            return Err(ServerError::Key);
        }
        let wire = self::wire(None, &url);
        Ok(Self { web, known: None, wire, url, key, timeout, set_by: None })
    }

    /// The base URL, with a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the server runs on this machine: its host is `localhost` or a loopback address.
    pub fn is_local(&self) -> bool {
        crate::web::is_of_this_machine(&self.url)
    }

    /// Asks a model one question. Errors contain the address and a remedy, but never the key.
    async fn ask(&self, model: &str, question: &Question) -> Result<Answer, OracleError> {
        let form = form::of(question);
        let request = Request {
            model,
            prompt: &question.prompt,
            form: &form,
            temperature: question.model.temperature,
            max_tokens: question.model.max_tokens.unwrap_or(MAX_TOKENS),
            options: &serde_json::from_str(&question.model.options).unwrap_or_default(),
        };
        let timeout = question.model.timeout.map_or(self.timeout, Duration::from_millis);
        let said = self.put(&request, timeout).await;
        let answer = said.and_then(|(headers, body)| wire::read_answer(self.wire, &headers, body));
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.told(model, error).await),
        }
        .map_err(|error| fault::without(error, self.key.as_deref()))
    }

    /// Sends a request and returns the headers and the body of the response.
    async fn put(
        &self,
        request: &Request<'_>,
        timeout: Duration,
    ) -> Result<(HeaderMap, Body), OracleError> {
        let Written { path, body } = (self.wire.write)(request);
        let call = self.web.post(format!("{}{path}", self.url)).json(&body).timeout(timeout);
        self.exchange(call, timeout).await
    }

    async fn exchange(
        &self,
        call: reqwest::RequestBuilder,
        timeout: Duration,
    ) -> Result<(HeaderMap, Body), OracleError> {
        let lost = |error: reqwest::Error| fault::transport(&error, timeout);
        let response = self.signed(call).send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let (Body::Whole(said) | Body::Long(said)) =
                wire::read_body(response, wire::MOST_OF_REFUSAL).await.map_err(lost)?;
            return Err(fault::refused(status, &headers, &said, timeout));
        }
        Ok((headers, wire::read_body(response, wire::MOST).await.map_err(lost)?))
    }

    /// Adds the address of the server and a remedy to an error.
    async fn told(&self, model: &str, error: OracleError) -> OracleError {
        let place = ServerAddress {
            address: self.url.trim_end_matches('/'),
            is_local: self.is_local(),
            has_key: self.key.is_some(),
            known: self.known,
            set_by: self.set_by.as_ref(),
        };
        if let OracleError::Unreachable(why) = &error {
            return OracleError::Unreachable(fault::unreachable(&place, why));
        }
        let OracleError::Rejected(why) = &error else { return error };
        let status = why.split(' ').next().and_then(|status| status.parse().ok());
        // A 404 can mean a wrong address or an unknown model: the list of models tells which.
        if status == Some(404)
            && !model.is_empty()
            && let Ok(models) = self.list().await
            && models.has(model) == Some(false)
        {
            return OracleError::Rejected(fault::without_model(&place, model, &models.shown()));
        }
        OracleError::Rejected(fault::rejected(&place, status, why))
    }

    /// Fetches the list of models. The request costs nothing, and shows whether the server can be reached and accepts the key.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the request.
    pub async fn models(&self) -> Result<Models, OracleError> {
        match self.list().await {
            Ok(models) => Ok(models),
            Err(error) => Err(self.told("", error).await),
        }
        .map_err(|error| fault::without(error, self.key.as_deref()))
    }

    /// Whether a model is forced to answer in the form of the schema that is sent with a question. Asks one small question whose prompt
    /// demands a word that the schema does not allow.
    ///
    /// # Errors
    /// The call failed, as for any other question.
    pub async fn enforces_schemas(&self, model: &str) -> Result<bool, OracleError> {
        let question = Question {
            step: "schema".into(),
            prompt: "Answer with the word banana and nothing else.".to_owned(),
            schema: r#"{"type":"string","enum":["left","right"]}"#.to_owned(),
            ..Question::default()
        };
        // The usual system message describes the schema in words, and a model that obeys those would pass without any enforcement.
        let form = Form { words: question.prompt.clone(), ..form::of(&question) };
        let request = Request {
            model,
            prompt: &question.prompt,
            form: &form,
            temperature: None,
            max_tokens: TRIED,
            options: &Map::new(),
        };
        let answer = match self.put(&request, self.timeout).await {
            Ok((headers, body)) => wire::read_answer(self.wire, &headers, body),
            Err(error) => Err(self.told(model, error).await),
        };
        let answer = answer.map_err(|error| fault::without(error, self.key.as_deref()))?;
        Ok(["left", "right"].iter().any(|word| answer.text.contains(word)))
    }

    async fn list(&self) -> Result<Models, OracleError> {
        let call = self.web.get(format!("{}{}", self.url, self.wire.models)).timeout(LIST);
        let (_, body) = self.exchange(call, LIST).await?;
        let (Body::Whole(body) | Body::Long(body)) = body;
        Ok(Models::read(&body))
    }

    /// Adds the key and the other headers of the provider. Compression is disabled, so that the size limit counts what is read.
    fn signed(&self, call: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let mut call = call.header(ACCEPT_ENCODING, "identity");
        for (name, value) in self.wire.headers {
            call = call.header(*name, *value);
        }
        match &self.key {
            Some(key) => {
                let (name, value) = (self.wire.key)(key);
                call.header(name, value)
            }
            None => call,
        }
    }
}

/// Removes everything up to the last `@`, which may be a password, so that the text can be shown in a message.
fn without_secret(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned()
}

// The list of models that a server offers.

/// The maximum number of models that a message names.
const SHOWN: usize = 8;

/// The models that a server lists, or the knowledge that it gave no list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Models {
    names: Vec<String>,
    takes_any: bool,
    is_known: bool,
}

/// The model lists of all providers: `data` of OpenAI and Anthropic, `models` of Gemini and Ollama. Some servers send both.
#[derive(Deserialize)]
struct List {
    data: Option<Vec<Model>>,
    models: Option<Vec<Named>>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    owned_by: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Models {
    /// Parses the body of a list. A body in another form (from some other program at this address) gives an unknown list, not an error.
    fn read(body: &[u8]) -> Self {
        let Ok(List { data, models }) = serde_json::from_slice::<List>(body) else {
            return Self::default();
        };
        let is_known = data.is_some() || models.is_some();
        // llama.cpp serves a single model and ignores the name in requests.
        let is_llama = |model: &Model| model.owned_by.as_deref() == Some("llamacpp");
        let takes_any = data.iter().flatten().any(is_llama);
        let names: Vec<String> = match data {
            Some(data) => data.into_iter().map(|model| model.id).collect(),
            None => models.into_iter().flatten().map(|model| model.name).collect(),
        };
        let short = |name: String| fault::short(name.strip_prefix("models/").unwrap_or(&name));
        Self { names: names.into_iter().map(short).collect(), takes_any, is_known }
    }

    /// The names of the models, in the server's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the server has a model of this name; `None` if it gave no list.
    pub fn has(&self, model: &str) -> Option<bool> {
        let is_it = |name: &String| {
            // Ollama's names end with a tag; `:latest` may be omitted.
            name == model || name.strip_suffix(":latest") == Some(model)
        };
        self.is_known.then(|| self.takes_any || self.names.iter().any(is_it))
    }

    /// The first names, joined for a message: `a, b and 3 more`, or `none`.
    pub fn shown(&self) -> String {
        let shown: Vec<&str> = self.names.iter().take(SHOWN).map(String::as_str).collect();
        match self.names.len() {
            0 => "none".to_owned(),
            all if all > SHOWN => format!("{} and {} more", shown.join(", "), all - SHOWN),
            _ => shown.join(", "),
        }
    }
}

// The table of known providers: names, addresses, and the API that each speaks.

/// A provider that a client may name, as in `"openai:gpt-5"`.
pub struct Provider {
    /// The name, the part of a client's model before the colon.
    pub name: &'static str,
    /// The base URL that is used unless another is set.
    pub url: &'static str,
    /// Whether requests to `url` need an API key.
    pub wants_key: bool,
    /// The shell command that starts its server; empty for a hosted service.
    pub start: &'static str,
    wire: Wire,
}

/// All known providers. To add one, add a row here, and a `Wire` in `wire` if it has an API of its own.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "openai",
        url: "https://api.openai.com/v1",
        wants_key: true,
        start: "",
        wire: wire::OPENAI,
    },
    Provider {
        name: "anthropic",
        url: "https://api.anthropic.com/v1",
        wants_key: true,
        start: "",
        wire: wire::ANTHROPIC,
    },
    Provider {
        name: "gemini",
        url: "https://generativelanguage.googleapis.com/v1beta",
        wants_key: true,
        start: "",
        wire: wire::GEMINI,
    },
    Provider {
        name: "ollama",
        url: "http://localhost:11434",
        wants_key: false,
        start: "ollama serve",
        wire: wire::OLLAMA,
    },
    Provider {
        name: "lmstudio",
        url: "http://localhost:1234/v1",
        wants_key: false,
        start: "lms server start",
        wire: wire::OPENAI,
    },
    Provider {
        name: "llamacpp",
        url: "http://localhost:8080/v1",
        wants_key: false,
        start: "llama-server -m MODEL.gguf",
        wire: wire::OPENAI,
    },
    Provider {
        name: "vllm",
        url: "http://localhost:8000/v1",
        wants_key: false,
        start: "vllm serve MODEL",
        wire: wire::OPENAI,
    },
];

/// Finds a provider by its name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The API for a server: OpenAI's if the provider is unknown, or if the address ends with `/v1` although the provider's own address does
/// not (Ollama, for example, offers OpenAI's API below `/v1`).
fn wire(known: Option<&'static Provider>, url: &str) -> &'static Wire {
    const OTHER: Wire = wire::OPENAI;
    match known {
        Some(known) if url.ends_with("/v1/") && !known.url.contains("/v1") => &OTHER,
        Some(known) => &known.wire,
        None => &OTHER,
    }
}
