//! Real models: recognises them in `--llm`, and finds the addresses and keys of their servers.
#![cfg_attr(
    any(feature = "providers", feature = "redis"),
    allow(clippy::disallowed_methods, reason = "keys come from the environment, and only here")
)]

use chartc_core::model::Chart;
use chartc_runtime::oracle::Oracle;
use std::sync::Arc;

/// A real model, or several, as `--llm` names them.
#[cfg_attr(
    not(feature = "providers"),
    expect(dead_code, reason = "without real models only whether one is named counts")
)]
pub(super) enum Named<'a> {
    /// Each step asks the model that its client names.
    Clients,
    /// The server at this address answers all questions.
    Server(String),
    /// One model answers all questions: its provider and its name.
    Model(&'a str, &'a str),
}

/// The words that, before a colon, name another oracle than a provider.
const OTHERS: [&str; 3] = ["script", "replay", "random"];

pub(super) fn named(word: &str) -> Option<Named<'_>> {
    if word == "clients" {
        return Some(Named::Clients);
    }
    if let Some(url) = address(word) {
        return Some(Named::Server(url));
    }
    let (provider, model) = word.split_once(':')?;
    let is_name = !provider.is_empty() && !OTHERS.contains(&provider);
    (is_name && !model.is_empty()).then_some(Named::Model(provider, model))
}

/// Reads the address of a server: a URL with `http://` or `https://`, or a host and a port, to which `http://` is added.
fn address(word: &str) -> Option<String> {
    if word.starts_with("http://") || word.starts_with("https://") {
        return Some(word.to_owned());
    }
    let place = word.split('/').next().unwrap_or_default();
    let (host, port) = place.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = !host.is_empty() && !OTHERS.contains(&host);
    (is_host && is_port).then(|| format!("http://{word}"))
}

/// The model that answers all steps, as `PROVIDER:MODEL`, if `--llm` names one.
#[cfg(feature = "otel")]
pub(super) fn only(llm: &str) -> Option<&str> {
    matches!(named(llm), Some(Named::Model(..))).then_some(llm)
}

/// The provider that answers all steps, if `--llm` names one.
pub(super) fn only_provider(llm: &str) -> Option<&str> {
    match named(llm) {
        Some(Named::Model(provider, _)) => Some(provider),
        Some(Named::Clients | Named::Server(_)) | None => None,
    }
}

/// Whether `--llm` names a real model. A run with one needs real time.
pub(super) fn is_live(llm: Option<&str>) -> bool {
    llm.and_then(named).is_some()
}

/// Whether calls of a model are free of charge, as far as is known. `model` is `PROVIDER:MODEL`; it counts only with `--llm clients`.
#[cfg(feature = "providers")]
pub(super) fn is_free(llm: &str, model: &str) -> bool {
    match named(llm) {
        Some(Named::Server(url)) => ProviderAccess::at(url).is_free(),
        Some(Named::Model(provider, _)) => place(provider).is_free(),
        Some(Named::Clients) | None => {
            model.split_once(':').is_some_and(|(provider, _)| place(provider).is_free())
        }
    }
}

#[cfg(not(feature = "providers"))]
pub(super) fn is_free(_llm: &str, _model: &str) -> bool {
    false
}

#[cfg(not(feature = "providers"))]
pub(super) fn oracle(
    _charts: &[&Chart],
    _llm: &str,
    _model: Option<&str>,
) -> miette::Result<Arc<dyn Oracle>> {
    Err(miette::miette!(
        "this chartc was built without the feature `providers`, which has real models"
    ))
}

/// The oracle of real models: one server or model for all steps, or for each step the provider that its client names.
#[cfg(feature = "providers")]
pub(super) fn oracle(
    charts: &[&Chart],
    llm: &str,
    model: Option<&str>,
) -> miette::Result<Arc<dyn Oracle>> {
    use chartc_adapters::models::Providers;
    let providers = match named(llm) {
        Some(Named::Model(provider, name)) => {
            if let Some(model) = model {
                return Err(miette::miette!(
                    "`--llm {llm}` names the model of all steps: omit `--model {model}`"
                ));
            }
            return Ok(Arc::new(Providers::only(place(provider).server()?, name)));
        }
        Some(Named::Server(url)) => {
            let server = ProviderAccess::at(url).server()?;
            if let Some(model) = model {
                return Ok(Arc::new(Providers::only(server, model)));
            }
            Providers::one(server)
        }
        Some(Named::Clients) | None => {
            let mut providers = Providers::by_client();
            for name in needed(charts, model) {
                providers = providers.with(&name, place(&name).server()?);
            }
            providers
        }
    };
    if model.is_none()
        && let Some(step) = charts.iter().find_map(|chart| without_model(chart))
    {
        return Err(miette::miette!(
            "no client names the model of step `{step}`: choose one, for example `--model openai:gpt-4o-mini`"
        ));
    }
    Ok(Arc::new(providers.with_model(model.unwrap_or_default())))
}

/// The providers that the clients of charts and `--model` name.
#[cfg(feature = "providers")]
fn needed(charts: &[&Chart], model: Option<&str>) -> std::collections::BTreeSet<String> {
    let clients = charts.iter().flat_map(|chart| &chart.clients).map(|c| c.model.as_str());
    let providers = clients.chain(model).filter_map(|model| model.split_once(':'));
    providers.map(|(provider, _)| provider.to_owned()).collect()
}

/// The first step that asks a model which no client names.
#[cfg(feature = "providers")]
fn without_model(chart: &Chart) -> Option<&str> {
    use chartc_core::arena::ClientId;
    use chartc_core::model::StepKind;
    let asks = |kind: &StepKind| matches!(kind, StepKind::Llm | StepKind::Ask { .. });
    let is_named = |client: ClientId| !chart.clients[client.index()].model.is_empty();
    let mut steps = chart.steps.iter();
    steps
        .find(|step| asks(&step.kind) && !step.client.is_some_and(is_named))
        .map(|step| step.name.as_str())
}

/// The address of a provider and the key for it.
#[cfg(feature = "providers")]
pub(super) struct ProviderAccess {
    pub(super) provider: String,
    url: Option<String>,
    /// The source of the address, for messages: the name of a variable, or `--llm`.
    pub(super) url_variable: String,
    key: Option<String>,
    /// The variable that holds the key.
    pub(super) key_variable: String,
    /// Whether the provider refuses every call without a key, as far as is known.
    pub(super) wants_key: bool,
}

/// Finds the access to a provider in the environment and in the table of known providers. For `openai` the variables are `OPENAI_BASE_URL`
/// and `OPENAI_API_KEY`, and so on.
#[cfg(feature = "providers")]
pub(super) fn place(provider: &str) -> ProviderAccess {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let stem: String = provider.chars().map(plain).collect();
    let (url_variable, key_variable) = (format!("{stem}_BASE_URL"), format!("{stem}_API_KEY"));
    let known = chartc_adapters::models::provider(provider);
    // A variable may leave out `http://`, as `--llm` may.
    let said = variable(&url_variable).map(|said| address(&said).unwrap_or(said));
    let is_ollama = provider == "ollama";
    let said = said.or_else(|| is_ollama.then(|| variable(OLLAMA_HOST).map(|said| host(&said)))?);
    // Messages name the variable that users of Ollama know.
    let url_variable = if is_ollama { OLLAMA_HOST.to_owned() } else { url_variable };
    // A server at another address that stands in for the provider may need no key.
    let wants_key = said.is_none() && known.is_some_and(|known| known.wants_key);
    let url = said.or_else(|| known.map(|known| known.url.to_owned()));
    let key = variable(&key_variable);
    ProviderAccess {
        provider: provider.to_owned(),
        url,
        url_variable,
        key,
        key_variable,
        wants_key,
    }
}

/// The variable with the address of the server, which Ollama's own programs read.
#[cfg(feature = "providers")]
const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// Reads `OLLAMA_HOST` as Ollama does: `host`, `host:port` or a URL. A server that listens on all interfaces has `0.0.0.0` there; a client
/// connects to this machine instead.
#[cfg(feature = "providers")]
fn host(said: &str) -> String {
    let said = said.trim();
    let (scheme, rest) = said.split_once("://").unwrap_or(("", said));
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // An IPv6 address contains colons: with a port it stands in brackets, without one it may be bare.
    let is_bare_v6 = !place.starts_with('[') && place.matches(':').count() > 1;
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) if !is_bare_v6 && !port.ends_with(']') => (name, port),
        Some(_) | None => (place, ""),
    };
    let name = match name.trim_start_matches('[').trim_end_matches(']') {
        "" | "0.0.0.0" => "127.0.0.1".to_owned(),
        "::" => "[::1]".to_owned(),
        v6 if v6.contains(':') => format!("[{v6}]"),
        name => name.to_owned(),
    };
    let port = match (port, scheme) {
        ("", "http") => "80",
        ("", "https") => "443",
        ("", _) => "11434",
        (port, _) => port,
    };
    let scheme = if scheme.is_empty() { "http" } else { scheme };
    format!("{scheme}://{name}:{port}{path}")
}

#[cfg(feature = "providers")]
impl ProviderAccess {
    /// The access to the server at an address from `--llm`.
    pub(super) fn at(url: String) -> Self {
        Self {
            provider: "--llm".to_owned(),
            url: Some(url),
            url_variable: "`--llm`".to_owned(),
            // The key for such an address is in CHARTC_API_KEY.
            ..place("chartc")
        }
    }

    /// Whether calls are free of charge, as far as is known: the server runs on this machine, or is of a kind that users run themselves.
    pub(super) fn is_free(&self) -> bool {
        let is_own = chartc_adapters::models::provider(&self.provider)
            .is_some_and(|known| !known.start.is_empty());
        is_own || self.server().is_ok_and(|server| server.is_local())
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The address of the server without credentials in it; `None` if it is unknown, and an error if it is not an address.
    pub(super) fn address(&self) -> Option<miette::Result<String>> {
        let url = self.url.as_deref()?;
        let server = chartc_adapters::models::Server::of(&self.provider, url, None);
        let server = server.map_err(|why| miette::miette!("{}: {why}", self.url_variable));
        Some(server.map(|server| server.url().to_owned()))
    }

    pub(super) fn server(&self) -> miette::Result<chartc_adapters::models::Server> {
        use chartc_adapters::models::ServerError;
        let Self { provider, url_variable, key_variable, .. } = self;
        if self.wants_key && self.key.is_none() {
            return Err(miette::miette!(
                help = "`chartc doctor` shows what is set",
                "the provider `{provider}` needs a key: set {key_variable}"
            ));
        }
        let Some(url) = &self.url else {
            return Err(miette::miette!(
                help = format!("chartc knows the addresses of {}", known_names()),
                "the address of the provider `{provider}` is unknown: set {url_variable} (ending in `/v1`), and {key_variable} if it needs a key"
            ));
        };
        let server = chartc_adapters::models::Server::of(provider, url, self.key.clone());
        let server = server.map(|server| server.set_by(url_variable, key_variable));
        server.map_err(|why| match why {
            ServerError::Key => miette::miette!("{key_variable}: {why}"),
            ServerError::Address(_) | ServerError::Secret | ServerError::Web(_) => {
                miette::miette!("{url_variable}: {why}")
            }
        })
    }
}

/// The names of the providers whose addresses are known, separated by commas.
#[cfg(feature = "providers")]
fn known_names() -> String {
    let names: Vec<&str> =
        chartc_adapters::models::PROVIDERS.iter().map(|known| known.name).collect();
    names.join(", ")
}

/// The value of an environment variable; `None` if it is unset or blank.
#[cfg(any(feature = "providers", feature = "redis"))]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(all(test, feature = "providers"))]
mod tests {
    use super::{address, host};

    #[test]
    fn an_address_has_a_scheme_or_a_port() {
        for (word, url) in [
            ("http://h/v1", "http://h/v1"),
            ("localhost:8101/v1", "http://localhost:8101/v1"),
            ("127.0.0.1:8101", "http://127.0.0.1:8101"),
            ("[::1]:8080/v1", "http://[::1]:8080/v1"),
        ] {
            assert_eq!(address(word).as_deref(), Some(url), "{word}");
        }
        for word in ["ollama:llama3.2:1b", "openai:gpt-4o", "other:org/model", "first", ":80", "a:"]
        {
            assert_eq!(address(word), None, "{word}");
        }
    }

    #[test]
    fn the_host_of_ollama_is_read_as_ollama_does() {
        for (said, url) in [
            ("box", "http://box:11434"),
            ("box:1234", "http://box:1234"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:99", "http://127.0.0.1:99"),
            (":99", "http://127.0.0.1:99"),
            ("[::]:99", "http://[::1]:99"),
            ("::1", "http://[::1]:11434"),
            ("http://box", "http://box:80"),
            ("https://box/ollama", "https://box:443/ollama"),
            ("http://0.0.0.0:99/v1", "http://127.0.0.1:99/v1"),
        ] {
            assert_eq!(host(said), url, "{said}");
        }
    }
}
