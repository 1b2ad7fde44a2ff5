//! One server: its address, its key, and calls of it.

use crate::{answer, fault, form};
use chartc_runtime::oracle::{Answer, OracleError, Question};
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use serde_json::json;
use std::time::Duration;

/// How long a call may take where the client of the chart says nothing.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How long it may take to reach the server.
const CONNECT: Duration = Duration::from_secs(10);

/// A server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The address is none.
    #[error("`{0}` is no address of a server: write it as `http://localhost:11434/v1`")]
    Address(String),
    /// The address holds a password.
    #[error("the address of a server must not hold a key: give it by the environment")]
    Secret,
    /// There is no web client.
    #[error("no web client: {0}")]
    Web(String),
}

/// A server with OpenAI's chat interface.
pub struct Server {
    client: Client,
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
    /// `url` is what `chat/completions` is added to, such as `https://api.openai.com/v1`.
    ///
    /// # Errors
    /// It is no address of a server, or holds a key.
    pub fn new(url: &str, key: Option<String>) -> Result<Self, ServerError> {
        Self::with_timeout(url, key, TIMEOUT)
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
        let client = Client::builder()
            .with_reqwest(web)
            .build()
            .map_err(|why| ServerError::Web(why.to_string()))?;
        let key = key.filter(|key| !key.trim().is_empty());
        Ok(Self { client, url, key, timeout })
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
        let request = ChatRequest::new(vec![ChatMessage::user(question.prompt.as_str())])
            .with_system(form.words);
        let mut options = ChatOptions::default()
            .with_capture_raw_body(true)
            // The name as it is; see `target`.
            .with_extra_body(json!({"model": model}));
        options.response_format = form.format;
        options.temperature = question.model.temperature;
        options.max_tokens =
            question.model.max_tokens.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let answer = self.client.exec_chat(self.target(model), request, Some(&options)).await;
        let answer = match answer {
            Ok(response) => answer::read(response, form.wrapped),
            Err(error) => Err(fault::of(&error, self.timeout)),
        };
        answer.map_err(|error| fault::without(error, self.key.as_deref()))
    }

    /// Address and headers are given whole, so that no key of another provider is looked for.
    fn target(&self, model: &str) -> ServiceTarget {
        let mut headers = vec![];
        if let Some(key) = &self.key {
            headers.push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.url.as_str()),
            auth: AuthData::RequestOverride {
                url: format!("{}chat/completions", self.url),
                headers: Headers::from(headers),
            },
            // An ending such as `-low` would be taken for an option. The name itself goes into the body, over this one, of which only
            // the beginning counts: it says what the limit of tokens is called.
            model: ModelIden::new(AdapterKind::OpenAI, format!("{model}-x")),
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
