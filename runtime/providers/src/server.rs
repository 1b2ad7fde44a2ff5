//! A server of models: its address, its key, and the calls to it.

use crate::body::Body;
use crate::cure::{self, ServerAddress};
use crate::form::{self, Form};
use crate::known::{self, Provider};
use crate::models::Models;
use crate::wire::{Request, Wire, Written};
use crate::{answer, body, fault};
use chartc_runtime::oracle::{Answer, OracleError, Question};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use serde_json::Map;
use std::time::Duration;

/// The timeout of a call if the chart's client sets none.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The timeout for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);
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

    /// Creates a server with the API of a provider: its own if it is one of [`crate::PROVIDERS`], else OpenAI's.
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn of(provider: &str, url: &str, key: Option<String>) -> Result<Self, ServerError> {
        let (server, known) = (Self::new(url, key)?, known::provider(provider));
        Ok(Self { wire: known::wire(known, &server.url), known, ..server })
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
        // An error means that the program has already installed a provider of cryptography, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut web = reqwest::Client::builder().connect_timeout(CONNECT);
        if parsed.host_str().is_some_and(is_loopback) {
            // A proxy from the environment would intercept calls to this machine.
            web = web.no_proxy();
        }
        // Following a redirection would send the key to another server.
        let web = web
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| ServerError::Web(why.to_string()))?;
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.as_ref().is_some_and(|key| HeaderValue::from_str(key).is_err()) {
            return Err(ServerError::Key);
        }
        let wire = known::wire(None, &url);
        Ok(Self { web, known: None, wire, url, key, timeout, set_by: None })
    }

    /// The base URL, with a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the server runs on this machine: its host is `localhost` or a loopback address.
    pub fn is_local(&self) -> bool {
        let parsed = reqwest::Url::parse(&self.url);
        parsed.is_ok_and(|url| url.host_str().is_some_and(is_loopback))
    }

    /// Asks a model one question. Errors contain the address and a remedy, but never the key.
    pub(crate) async fn ask(
        &self,
        model: &str,
        question: &Question,
    ) -> Result<Answer, OracleError> {
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
        let answer = said.and_then(|(headers, body)| answer::read(self.wire, &headers, body));
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
                body::read(response, body::MOST_OF_REFUSAL).await.map_err(lost)?;
            return Err(fault::refused(status, &headers, &said, timeout));
        }
        Ok((headers, body::read(response, body::MOST).await.map_err(lost)?))
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
            return OracleError::Unreachable(cure::unreachable(&place, why));
        }
        let OracleError::Rejected(why) = &error else { return error };
        let status = why.split(' ').next().and_then(|status| status.parse().ok());
        // A 404 can mean a wrong address or an unknown model: the list of models tells which.
        if status == Some(404)
            && !model.is_empty()
            && let Ok(models) = self.list().await
            && models.has(model) == Some(false)
        {
            return OracleError::Rejected(cure::without_model(&place, model, &models.shown()));
        }
        OracleError::Rejected(cure::rejected(&place, status, why))
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
            Ok((headers, body)) => answer::read(self.wire, &headers, body),
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

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Removes everything up to the last `@`, which may be a password, so that the text can be shown in a message.
fn without_secret(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned()
}
