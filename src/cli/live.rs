//! Real models: which `--llm` names one, where its server is, and its key.
#![cfg_attr(
    any(feature = "providers", feature = "redis"),
    allow(clippy::disallowed_methods, reason = "keys come from the environment, and only here")
)]

use chartc_core::model::Chart;
use chartc_runtime::oracle::Oracle;
use std::sync::Arc;

/// What `--llm` says where a real model answers.
#[cfg_attr(
    not(feature = "providers"),
    expect(dead_code, reason = "without real models only whether one is named counts")
)]
enum Named<'a> {
    /// Each step's client says which model.
    Clients,
    /// One server gets all questions.
    Server(&'a str),
    /// One model of a provider gets all questions.
    Model(&'a str, &'a str),
}

/// Words before a colon that name something else than a provider.
const OTHERS: [&str; 3] = ["script", "replay", "random"];

fn named(word: &str) -> Option<Named<'_>> {
    if word == "clients" {
        return Some(Named::Clients);
    }
    if word.starts_with("http://") || word.starts_with("https://") {
        return Some(Named::Server(word));
    }
    let (provider, model) = word.split_once(':')?;
    let is_name = !provider.is_empty() && !OTHERS.contains(&provider);
    (is_name && !model.is_empty()).then_some(Named::Model(provider, model))
}

/// The model that answers all steps, with its provider, if `--llm` names one.
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

/// Whether `--llm` names a real model, which needs real time.
pub(super) fn is_live(llm: Option<&str>) -> bool {
    llm.and_then(named).is_some()
}

/// Whether the server that answers for a model, `PROVIDER:MODEL`, is on this machine.
pub(super) fn is_local(llm: &str, model: &str) -> bool {
    let is_here = |url: &str| {
        let host = url.split_once("//").map_or(url, |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name == "localhost"
            || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    match named(llm) {
        Some(Named::Server(url)) => is_here(url),
        Some(Named::Clients | Named::Model(..)) | None => {
            let provider = model.split_once(':').map_or(model, |(provider, _)| provider);
            address_of(provider).is_some_and(|url| is_here(&url))
        }
    }
}

/// The address of a provider, if one is known.
#[cfg(feature = "providers")]
fn address_of(provider: &str) -> Option<String> {
    place(provider).url
}

#[cfg(not(feature = "providers"))]
fn address_of(_provider: &str) -> Option<String> {
    None
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

/// One server or model for all steps, or for each step the provider that its client names.
#[cfg(feature = "providers")]
pub(super) fn oracle(
    charts: &[&Chart],
    llm: &str,
    model: Option<&str>,
) -> miette::Result<Arc<dyn Oracle>> {
    use chartc_providers::Providers;
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
            let said_by = "`--llm`".to_owned();
            let place =
                Place { url: Some(url.to_owned()), url_variable: said_by, ..place("chartc") };
            Providers::one(place.server()?)
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
            "step `{step}` has no client: choose a model, for example `--model openai:gpt-4o-mini`"
        ));
    }
    Ok(Arc::new(providers.with_model(model.unwrap_or_default())))
}

/// The providers that the clients of charts name, and that of `--model`.
#[cfg(feature = "providers")]
fn needed(charts: &[&Chart], model: Option<&str>) -> std::collections::BTreeSet<String> {
    let clients = charts.iter().flat_map(|chart| &chart.clients).map(|c| c.model.as_str());
    let providers = clients.chain(model).filter_map(|model| model.split_once(':'));
    providers.map(|(provider, _)| provider.to_owned()).collect()
}

/// A step that asks a model and has no client.
#[cfg(feature = "providers")]
fn without_model(chart: &Chart) -> Option<&str> {
    use chartc_core::model::StepKind;
    let asks = |kind: &StepKind| match kind {
        StepKind::Llm | StepKind::Ask { .. } => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => false,
    };
    let mut steps = chart.steps.iter();
    steps.find(|step| asks(&step.kind) && step.client.is_none()).map(|step| step.name.as_str())
}

/// Where a provider is, and what it is shown.
#[cfg(feature = "providers")]
pub(super) struct Place {
    pub(super) provider: String,
    url: Option<String>,
    /// Who says so: a variable, or `--llm`.
    pub(super) url_variable: String,
    key: Option<String>,
    /// The variable that holds the key.
    pub(super) key_variable: String,
    /// Whether it answers nobody without one, as far as is known.
    pub(super) wants_key: bool,
}

/// What the environment and the table of providers say: `OPENAI_BASE_URL` and `OPENAI_API_KEY` for `openai`, and so on.
#[cfg(feature = "providers")]
pub(super) fn place(provider: &str) -> Place {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let stem: String = provider.chars().map(plain).collect();
    let (url_variable, key_variable) = (format!("{stem}_BASE_URL"), format!("{stem}_API_KEY"));
    let known = chartc_providers::provider(provider);
    let said = variable(&url_variable);
    // Who stands somewhere else in for a provider may want no key.
    let wants_key = said.is_none() && known.is_some_and(|known| known.wants_key);
    let url = said.or_else(|| known.map(|known| known.url.to_owned()));
    let key = variable(&key_variable);
    Place { provider: provider.to_owned(), url, url_variable, key, key_variable, wants_key }
}

#[cfg(feature = "providers")]
impl Place {
    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Its address as it is used, without a secret; or why it is none.
    pub(super) fn address(&self) -> Option<miette::Result<String>> {
        let url = self.url.as_deref()?;
        let server = chartc_providers::Server::of(&self.provider, url, None);
        let server = server.map_err(|why| miette::miette!("{}: {why}", self.url_variable));
        Some(server.map(|server| server.url().to_owned()))
    }

    pub(super) fn server(&self) -> miette::Result<chartc_providers::Server> {
        use chartc_providers::ServerError;
        let Self { provider, url_variable, key_variable, .. } = self;
        if self.wants_key && self.key.is_none() {
            return Err(miette::miette!(
                help = "`chartc doctor` shows what is set",
                "the provider `{provider}` needs a key: set {key_variable}"
            ));
        }
        let Some(url) = &self.url else {
            return Err(miette::miette!(
                help = "chartc knows the addresses of openai, anthropic, gemini and ollama",
                "the address of the provider `{provider}` is unknown: set {url_variable} (ending in `/v1`), and {key_variable} if it needs a key"
            ));
        };
        chartc_providers::Server::of(provider, url, self.key.clone()).map_err(|why| match why {
            ServerError::Key => miette::miette!("{key_variable}: {why}"),
            ServerError::Address(_) | ServerError::Secret | ServerError::Web(_) => {
                miette::miette!("{url_variable}: {why}")
            }
        })
    }
}

/// A variable of the environment that says something.
#[cfg(any(feature = "providers", feature = "redis"))]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
