//! Real models: servers with OpenAI's chat interface.
#![cfg_attr(
    feature = "providers",
    allow(clippy::disallowed_methods, reason = "keys come from the environment, and only here")
)]

use chartc_core::model::Chart;
use chartc_runtime::oracle::Oracle;
use std::sync::Arc;

/// Whether `--llm` names a real model, which needs real time.
pub(super) fn is_live(llm: Option<&str>) -> bool {
    llm.is_some_and(|word| word == "clients" || is_address(word))
}

fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

#[cfg(not(feature = "providers"))]
pub(super) fn oracle(
    _charts: &[&Chart],
    _llm: &str,
    _model: Option<&str>,
) -> miette::Result<Arc<dyn Oracle>> {
    Err(miette::miette!(
        "this chartc was built without real models: `cargo install --path . --features providers`"
    ))
}

/// One server for all steps, or for each step the provider that its client names.
#[cfg(feature = "providers")]
pub(super) fn oracle(
    charts: &[&Chart],
    llm: &str,
    model: Option<&str>,
) -> miette::Result<Arc<dyn Oracle>> {
    use chartc_providers::{Providers, Server};
    let server = |url: &str, key: Option<String>| {
        Server::new(url, key).map_err(|why| miette::miette!("{why}"))
    };
    let providers = if is_address(llm) {
        Providers::one(server(llm, variable("CHARTC_API_KEY"))?)
    } else {
        let mut providers = Providers::by_client();
        for name in needed(charts, model) {
            let (url, key) = address(&name)?;
            providers = providers.with(&name, server(&url, key)?);
        }
        providers
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

/// Where a provider is, and its key: `OPENAI_BASE_URL` and `OPENAI_API_KEY` for `openai`, and so on.
#[cfg(feature = "providers")]
fn address(provider: &str) -> miette::Result<(String, Option<String>)> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let stem: String = provider.chars().map(plain).collect();
    let (url, key) = (format!("{stem}_BASE_URL"), format!("{stem}_API_KEY"));
    let found = variable(&url).or_else(|| match provider {
        "openai" => Some("https://api.openai.com/v1".to_owned()),
        "ollama" => Some("http://localhost:11434/v1".to_owned()),
        _ => None,
    });
    let key_found = variable(&key);
    if provider == "openai" && variable(&url).is_none() && key_found.is_none() {
        return Err(miette::miette!("the provider `openai` needs a key: set {key}"));
    }
    match found {
        Some(address) => Ok((address, key_found)),
        None => Err(miette::miette!(
            "the address of the provider `{provider}` is unknown: set {url} (ending in `/v1`), and {key} if it needs a key"
        )),
    }
}

#[cfg(feature = "providers")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
