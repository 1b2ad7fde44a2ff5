//! One server: its address, its key, and calls of it.

use crate::wire::{Request, Wire, Written};
use crate::{answer, body, fault, form, known};
use chartc_runtime::oracle::{Answer, OracleError, Question};
use reqwest::header::{ACCEPT_ENCODING, HeaderValue};
use std::time::Duration;

/// How long a call may take where the client of the chart says nothing.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How long it may take to reach the server.
const CONNECT: Duration = Duration::from_secs(10);
/// Tokens of an answer where neither the client nor a limit says how many.
const MAX_TOKENS: u64 = 4096;

/// A server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The address is none.
    #[error("`{0}` is no address of a server: write it as `http://localhost:11434/v1`")]
    Address(String),
    /// The address holds a password.
    #[error("the address of a server must not hold a key: give it by the environment")]
    Secret,
    /// The key cannot stand in a header.
    #[error("the key holds a character that no key has")]
    Key,
    /// There is no web client.
    #[error("no web client: {0}")]
    Web(String),
}

/// A server with models.
pub struct Server {
    web: reqwest::Client,
    wire: &'static Wire,
    /// Ends with a slash.
    url: String,
    key: Option<String>,
    timeout: Duration,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = if self.key.is_some() { "a key" } else { "no key" };
        f.debug_struct("Server").field("url", &self.url).field("key", &key).finish_non_exhaustive()
    }
}

impl Server {
    /// With OpenAI's chat interface. `url` is what `chat/completions` is added to, such as `https://api.openai.com/v1`.
    ///
    /// # Errors
    /// It is no address of a server, or holds a key; the key has characters that no header may have.
    pub fn new(url: &str, key: Option<String>) -> Result<Self, ServerError> {
        Self::with_timeout(url, key, TIMEOUT)
    }

    /// With the interface of a provider: its own if it is one of [`crate::PROVIDERS`], else OpenAI's.
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn of(provider: &str, url: &str, key: Option<String>) -> Result<Self, ServerError> {
        Ok(Self { wire: known::wire(provider), ..Self::new(url, key)? })
    }

    /// The same; no call takes longer than `timeout`, whatever clients of the chart say.
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
        // An error says that the program has installed another provider of cryptography, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut web = reqwest::Client::builder().connect_timeout(CONNECT).timeout(timeout);
        if parsed.host_str().is_some_and(is_loopback) {
            // A proxy of the environment would catch what is meant for this machine.
            web = web.no_proxy();
        }
        // A redirection would take the key elsewhere.
        let web = web
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| ServerError::Web(why.to_string()))?;
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.as_ref().is_some_and(|key| HeaderValue::from_str(key).is_err()) {
            return Err(ServerError::Key);
        }
        Ok(Self { web, wire: known::wire("openai"), url, key, timeout })
    }

    /// Its address, with a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes one call.
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
        };
        let Written { path, body } = (self.wire.write)(&request);
        let call = self.web.post(format!("{}{path}", self.url)).json(&body);
        let answer = self.exchange(call).await;
        answer.map_err(|error| fault::without(error, self.key.as_deref()))
    }

    async fn exchange(&self, call: reqwest::RequestBuilder) -> Result<Answer, OracleError> {
        let lost = |error: reqwest::Error| fault::transport(&error, self.timeout);
        let response = self.signed(call).send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let (body::Body::Whole(said) | body::Body::Long(said)) =
                body::read(response, body::MOST_OF_REFUSAL).await.map_err(lost)?;
            return Err(fault::refused(status, &headers, &said, self.timeout));
        }
        let body = body::read(response, body::MOST).await.map_err(lost)?;
        answer::read(self.wire, &headers, body)
    }

    /// Whether it can be reached and takes the key: asks for the list of its models, which costs nothing.
    ///
    /// # Errors
    /// Why not.
    pub async fn look(&self) -> Result<(), OracleError> {
        let call = self.web.get(format!("{}{}", self.url, self.wire.models));
        let lost = |error: reqwest::Error| fault::transport(&error, self.timeout);
        let looked = async {
            let response = self.signed(call).send().await.map_err(lost)?;
            let (status, headers) = (response.status(), response.headers().clone());
            if status.is_success() {
                return Ok(());
            }
            let (body::Body::Whole(said) | body::Body::Long(said)) =
                body::read(response, body::MOST_OF_REFUSAL).await.map_err(lost)?;
            Err(fault::refused(status, &headers, &said, self.timeout))
        };
        looked.await.map_err(|error| fault::without(error, self.key.as_deref()))
    }

    /// With the key and the other headers of the provider. No compression: what is read is what counts against the limit.
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

/// Text that somebody took for an address, without what stands before an `@`.
fn without_secret(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned()
}
