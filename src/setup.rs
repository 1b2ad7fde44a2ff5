//! Assembles runs from settings: who answers, as `--llm`, `--model`, `--human` and `--functions` of `chartc run` say.
//!
//! The problem: a word such as `script:answers.yaml` or `openai:gpt-4o-mini` selects an oracle, and also who answers for people, what makes
//! the tool calls and what the host functions are, unless another setting does. The idea: [`backends`] reads all settings at once. From the
//! [`Backends`] that it returns, a [`RunSetup`](chartc_runtime::RunSetup) makes a session. The command sets up its runs in this way, and so
//! can a program, for example with a stand-in for the model:
//!
//! ```
//! use chartc::setup::{Answerers, Backends, backends};
//! use chartc_core::expr::Map;
//! use chartc_runtime::clock::{Clock, VirtualClock};
//! use chartc_runtime::oracle::Deny;
//! use chartc_runtime::RunSetup;
//! use std::sync::Arc;
//!
//! # let executor = tokio::runtime::Builder::new_current_thread().build()?;
//! let text = r#"chart Desk {
//!   initial open
//!   state open {
//!     ask pick on turn else stay { prompt "What now? {options}" }
//!     may close "no more work" -> closed
//!     may mend "something is broken" -> mending
//!   }
//!   state mending { on turn -> open }
//!   final closed
//! }
//! "#;
//! let files = chartc::load::Memory::of("desk.chart", text);
//! let checked = chartc::check(&["desk.chart".to_owned()], &files).charts.remove(0);
//!
//! let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
//! let answerers = Answerers { llm: Some("first"), ..Answerers::default() };
//! let Backends { parts, host } =
//!     backends(&checked.family(), answerers, Arc::new(Deny), &clock, &|warning| println!("{warning}"))?;
//! let setup = RunSetup {
//!     plans: &checked.plans(),
//!     params: &Map::new(),
//!     inputs: &Map::new(),
//!     host,
//!     driver: Backends::driver(parts, true),
//!     clock,
//!     run: "",
//!     origin: Default::default(),
//!     saved: None,
//! };
//! let mut session = setup.session(())?;
//! executor.block_on(async {
//!     session.start().await?;
//!     session.run_turns(1).await
//! })?;
//! assert_eq!(session.configuration(), ["closed"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::disk;
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::model::{Chart, StepKind};
use chartc_runtime::cassette::{Entry, Replaying};
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::journal::FromJournal;
use chartc_runtime::oracle::{Deny, First, Oracle, Random, Script};
use chartc_runtime::tools::{NoTools, Tools};
use std::path::Path;
use std::sync::Arc;

/// Receives warnings, one line each.
pub type Warn<'w> = &'w dyn Fn(String);

/// Who answers a run, in the words of the options of `chartc run`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answerers<'a> {
    /// Who answers for the model: `script:FILE`, `replay:DIR`, `first`, `random:SEED`, `human`, `deny`, `clients`, `PROVIDER:MODEL` or a
    /// URL. Without it, every question is denied.
    pub llm: Option<&'a str>,
    /// The model of the steps whose clients name none: `PROVIDER:MODEL` with `clients`, a name with a URL.
    pub model: Option<&'a str>,
    /// Who answers for people: `terminal` or `script:FILE`. Without it, the answers come from `llm`, but never from a real model.
    pub human: Option<&'a str>,
    /// The script with the host functions and, unless calls are replayed, the results of tools.
    pub functions: Option<&'a Path>,
}

/// The oracles, tools and host functions of a run.
pub struct Backends {
    /// The oracles of models and of people, and the tools.
    pub parts: Parts,
    /// The host functions.
    pub host: Script,
}

impl Backends {
    /// What makes the calls. Calls of scripts and stand-ins are free: after a crash they can be made again.
    pub fn driver(parts: Parts, is_free: bool) -> Arc<dyn Driver> {
        if is_free { Arc::new(Free(parts)) } else { Arc::new(parts) }
    }
}

/// Makes the oracles, tools and host functions that the settings choose, for a chart and its child charts. `person` answers where a person
/// at a terminal would.
///
/// # Errors
/// A setting is not valid, a file that it names cannot be read, or a provider lacks its key or its address.
pub fn backends(
    charts: &[&Chart],
    Answerers { llm, model, human, functions }: Answerers<'_>,
    person: Arc<dyn Oracle>,
    clock: &Arc<dyn Clock>,
    warn: Warn<'_>,
) -> miette::Result<Backends> {
    let mut host = match functions {
        Some(path) => Some(script_of(charts, path, clock.clone(), warn)?),
        None => None,
    };
    let mut tools: Arc<dyn Tools> = Arc::new(NoTools);
    let mut recorded: Option<Arc<FromJournal<Replaying>>> = None;
    let oracle: Arc<dyn Oracle> = match llm.map(|word| word.split_once(':').unwrap_or((word, ""))) {
        None | Some(("deny", "")) => Arc::new(Deny),
        Some(("human", "")) => person.clone(),
        Some(_) if is_live(llm) => real_model(charts, llm.unwrap_or_default(), model)?,
        Some(("first", "")) => {
            tools = Arc::new(First);
            Arc::new(First)
        }
        Some(("random", seed)) => {
            let random = Arc::new(Random::new(match seed {
                "" => 0,
                seed => seed.parse().map_err(|_| {
                    miette::miette!("`{seed}` is not a seed: random:SEED takes a whole number")
                })?,
            }));
            tools = random.clone();
            random
        }
        Some(("replay", folder)) if !folder.is_empty() => {
            let replaying = replaying(Path::new(folder), clock.clone())?;
            let replaying = Arc::new(FromJournal(replaying));
            recorded = Some(replaying.clone());
            replaying
        }
        Some(("script", file)) if !file.is_empty() => {
            let script = script_of(charts, Path::new(file), clock.clone(), warn)?;
            host.get_or_insert_with(|| script.clone());
            Arc::new(script)
        }
        Some(_) => {
            return Err(miette::miette!(
                "`{}` is not a valid value of --llm: use script:FILE, replay:DIR, first, random:SEED, human, deny, clients, PROVIDER:MODEL or a URL",
                llm.unwrap_or_default()
            ));
        }
    };
    let script = |file: &str| script_of(charts, Path::new(file), clock.clone(), warn);
    let people = people(human, is_live(llm), person, script)?;
    // Tools come from `--functions` or the script of `--llm`, but a replay answers them from the recording.
    if let Some(script) = &host {
        tools = Arc::new(script.clone());
    }
    if let Some(recorded) = recorded {
        tools = recorded;
    }
    let parts = Parts { oracle, people, tools };
    Ok(Backends { parts, host: host.unwrap_or_else(Script::empty) })
}

/// The oracle of people, if it is not that of the models.
fn people(
    human: Option<&str>,
    is_live: bool,
    person: Arc<dyn Oracle>,
    script: impl Fn(&str) -> miette::Result<Script>,
) -> miette::Result<Option<Arc<dyn Oracle>>> {
    Ok(match human {
        // A model must not answer for a person, so without `--human` a real model leaves these steps to the terminal.
        None if is_live => Some(person),
        None => None,
        Some("terminal") => Some(person),
        Some(word) => match word.strip_prefix("script:").filter(|file| !file.is_empty()) {
            Some(file) => Some(Arc::new(script(file)?)),
            None => {
                return Err(miette::miette!(
                    "`{word}` is not a valid value of --human: use terminal, script:FILE, or, with --store, later"
                ));
            }
        },
    })
}

/// Reads the host functions of a script; without a file there are none.
pub(crate) fn functions(
    charts: &[&Chart],
    file: Option<&Path>,
    warn: Warn<'_>,
) -> miette::Result<Script> {
    match file {
        Some(path) => script_of(charts, path, Arc::new(VirtualClock::new()), warn),
        None => Ok(Script::empty()),
    }
}

/// Reads a script, and warns about names in it that the charts do not have.
pub(crate) fn script_of(
    charts: &[&Chart],
    path: &Path,
    clock: Arc<dyn Clock>,
    warn: Warn<'_>,
) -> miette::Result<Script> {
    let name = path.display().to_string();
    let script = Script::parse(&name, &read(path)?, clock)
        .map_err(|fault| miette::miette!("{name}: {fault}"))?;
    let of = |names: fn(&Chart) -> Vec<String>| -> Vec<String> {
        charts.iter().flat_map(|chart| names(chart)).collect()
    };
    let steps = of(|chart| {
        let asking = chart.steps.iter().filter(|step| asks(&step.kind));
        asking.map(|step| step.name.clone()).collect()
    });
    let functions = of(|chart| chart.functions.iter().map(|f| f.name.clone()).collect());
    let tools = of(|chart| chart.tools.iter().map(|t| t.name.clone()).collect());
    for stranger in script.strangers(&steps, &functions, &tools) {
        let known = steps.iter().chain(&functions).chain(&tools).map(String::as_str);
        let hint = nearest(&stranger, known).map(|n| format!("; did you mean `{n}`?"));
        warn(format!(
            "warning: {name} answers `{stranger}`, which `{}` never asks{}",
            charts.first().map_or("", |chart| chart.name.as_str()),
            hint.unwrap_or_default()
        ));
    }
    Ok(script)
}

/// Whether a step asks a model or a person.
fn asks(kind: &StepKind) -> bool {
    match kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(..) => false,
    }
}

fn read(path: &Path) -> miette::Result<String> {
    disk::named(path).map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))
}

/// The names of the files with recorded calls in a folder, sorted. Other files are ignored.
pub(crate) fn recorded(folder: &Path) -> miette::Result<Vec<String>> {
    let shown = folder.display();
    let Some(mut names) = disk::list(folder) else {
        return Err(miette::miette!(
            help = "`chartc run … --record DIR` creates it",
            "there is no folder {shown}"
        ));
    };
    names.retain(|name| Entry::is_file(name));
    names.sort();
    Ok(names)
}

/// The journal of the calls that are recorded in a folder.
fn replaying(folder: &Path, clock: Arc<dyn Clock>) -> miette::Result<Replaying> {
    let shown = folder.display();
    let mut entries = Vec::new();
    for name in recorded(folder)? {
        let path = folder.join(&name);
        let text = disk::regular_made(&path)
            .map_err(|why| miette::miette!("cannot read {}: {why}", path.display()))?;
        let entry =
            Entry::read(&text).map_err(|why| miette::miette!("{}: {why}", path.display()))?;
        // The name contains a hash of the question. If it differs, the run would never find this answer.
        if entry.file() != name {
            return Err(miette::miette!(
                help = "the file's name depends on the question, so only answers may be edited: record the calls again",
                "{}: the question differs from the recorded one",
                path.display()
            ));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err(miette::miette!(
            help = "`chartc run … --record DIR` records some",
            "{shown} has no recorded calls"
        ));
    }
    Ok(Replaying::new(&shown.to_string(), entries, clock))
}

// Real models: what `--llm` names, and the addresses and keys of their servers.

/// A real model, or several, as `--llm` names them.
#[cfg_attr(
    not(feature = "providers"),
    expect(dead_code, reason = "without real models only whether one is named counts")
)]
pub(crate) enum Named<'a> {
    /// Each step asks the model that its client names.
    Clients,
    /// The server at this address answers all questions.
    Server(String),
    /// One model answers all questions: its provider and its name.
    Model(&'a str, &'a str),
}

/// The words that, before a colon, name another oracle than a provider.
const OTHERS: [&str; 3] = ["script", "replay", "random"];

pub(crate) fn named(word: &str) -> Option<Named<'_>> {
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
pub(crate) fn only(llm: &str) -> Option<&str> {
    matches!(named(llm), Some(Named::Model(..))).then_some(llm)
}

/// The provider that answers all steps, if `--llm` names one.
pub(crate) fn only_provider(llm: &str) -> Option<&str> {
    match named(llm) {
        Some(Named::Model(provider, _)) => Some(provider),
        Some(Named::Clients | Named::Server(_)) | None => None,
    }
}

/// Whether `--llm` names a real model. A run with one needs real time.
pub(crate) fn is_live(llm: Option<&str>) -> bool {
    llm.and_then(named).is_some()
}

/// Whether calls of a model are free of charge, as far as is known. `model` is `PROVIDER:MODEL`; it counts only with `--llm clients`.
#[cfg(feature = "providers")]
pub(crate) fn is_free(llm: &str, model: &str) -> bool {
    match named(llm) {
        Some(Named::Server(url)) => ProviderAccess::at(url).is_free(),
        Some(Named::Model(provider, _)) => place(provider).is_free(),
        Some(Named::Clients) | None => {
            model.split_once(':').is_some_and(|(provider, _)| place(provider).is_free())
        }
    }
}

#[cfg(not(feature = "providers"))]
pub(crate) fn is_free(_llm: &str, _model: &str) -> bool {
    false
}

#[cfg(not(feature = "providers"))]
fn real_model(
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
fn real_model(
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
pub(crate) struct ProviderAccess {
    pub(crate) provider: String,
    url: Option<String>,
    /// The source of the address, for messages: the name of a variable, or `--llm`.
    pub(crate) url_variable: String,
    key: Option<String>,
    /// The variable that holds the key.
    pub(crate) key_variable: String,
    /// Whether the provider refuses every call without a key, as far as is known.
    pub(crate) wants_key: bool,
}

/// Finds the access to a provider in the environment and in the table of known providers. For `openai` the variables are `OPENAI_BASE_URL`
/// and `OPENAI_API_KEY`, and so on.
#[cfg(feature = "providers")]
pub(crate) fn place(provider: &str) -> ProviderAccess {
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
    pub(crate) fn at(url: String) -> Self {
        Self {
            provider: "--llm".to_owned(),
            url: Some(url),
            url_variable: "`--llm`".to_owned(),
            // The key for such an address is in CHARTC_API_KEY.
            ..place("chartc")
        }
    }

    /// Whether calls are free of charge, as far as is known: the server runs on this machine, or is of a kind that users run themselves.
    pub(crate) fn is_free(&self) -> bool {
        let is_own = chartc_adapters::models::provider(&self.provider)
            .is_some_and(|known| !known.start.is_empty());
        is_own || self.server().is_ok_and(|server| server.is_local())
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The address of the server without credentials in it; `None` if it is unknown, and an error if it is not an address.
    pub(crate) fn address(&self) -> Option<miette::Result<String>> {
        let url = self.url.as_deref()?;
        let server = chartc_adapters::models::Server::of(&self.provider, url, None);
        let server = server.map_err(|why| miette::miette!("{}: {why}", self.url_variable));
        Some(server.map(|server| server.url().to_owned()))
    }

    pub(crate) fn server(&self) -> miette::Result<chartc_adapters::models::Server> {
        use chartc_adapters::models::ServerError;
        let Self { provider, url_variable, key_variable, .. } = self;
        if self.wants_key && self.key.is_none() {
            return Err(miette::miette!(
                help = "`chartc doctor` shows what is set",
                "the provider `{provider}` needs a key: set {key_variable}"
            ));
        }
        let Some(url) = &self.url else {
            let known: Vec<&str> =
                chartc_adapters::models::PROVIDERS.iter().map(|known| known.name).collect();
            let near = nearest(provider, OTHERS.iter().chain(&known).copied())
                .map(|near| format!("; did you mean `{near}`? If not,"));
            return Err(miette::miette!(
                help = format!("chartc knows the addresses of {}", known.join(", ")),
                "the address of the provider `{provider}` is unknown{} set {url_variable} (ending in `/v1`), and {key_variable} if it needs a key",
                near.as_deref().unwrap_or(":")
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

/// The value of an environment variable; `None` if it is unset or blank.
#[cfg(any(feature = "providers", feature = "redis"))]
#[allow(clippy::disallowed_methods, reason = "keys come from the environment, and only here")]
pub(crate) fn variable(name: &str) -> Option<String> {
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
