//! The command `chartc doctor`: shows whether the models that charts use can be asked.

use super::files::Root;
use super::output::{Exit, StyledText, align_columns, print, print_json};
use super::pick;
use crate::setup::{self, Named, ProviderAccess, place};
use chartc_adapters::models::{Models, PROVIDERS, Server};
use chartc_runtime::oracle::{FailureKind, OracleError};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Show which models can be asked: addresses, keys, whether the servers answer, have the models, and enforce schemas
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc doctor
  chartc doctor support.chart agent.yaml
  chartc doctor --llm ollama:llama3.2
  chartc doctor --llm localhost:8080/v1 support.chart
  chartc doctor support.chart --format json
  chartc doctor --offline

Each server is asked for the list of its models, which is free. A model on this machine gets one small question,
which shows whether its server enforces the schemas of answers; --ask puts it to all models, which costs a few
tokens each. No key is ever shown.

Exit codes: 0 all models of the charts can be asked, 1 one cannot, or a chart has errors, 2 wrong usage,
3 internal error")]
pub(super) struct Args {
    /// Charts whose clients to check [default: the providers that chartc knows]
    files: Vec<String>,
    /// Who is to answer, as for `chartc run`: PROVIDER:MODEL, an address, or `clients` [default: clients]
    #[arg(long, value_name = "WHO")]
    llm: Option<String>,
    /// Model that an address is asked for
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    root: Root,
    /// Ask no server
    #[arg(long, conflicts_with = "ask")]
    offline: bool,
    /// Put the question about schemas also to models that cost money
    #[arg(long)]
    ask: bool,
    /// How to print it
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
}

/// A provider and the result of asking it.
struct ProviderRow {
    place: ProviderAccess,
    /// The address without credentials; `None` if there is no valid one.
    url: Option<String>,
    /// The clients that name the provider, as `CHART.CLIENT` with the name of the model.
    clients: Vec<(String, String)>,
    state: ProviderState,
    /// The models that were asked about.
    models: Vec<Tried>,
}

enum ProviderState {
    Answers,
    NotAsked,
    NoKey,
    NoAddress,
    /// The configuration is wrong.
    Wrong(String),
    Denied(String),
    Unreachable(String),
}

impl ProviderState {
    const fn word(&self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::NotAsked => "not_asked",
            Self::NoKey => "no_key",
            Self::NoAddress => "no_address",
            Self::Wrong(_) => "wrong",
            Self::Denied(_) => "denied",
            Self::Unreachable(_) => "unreachable",
        }
    }

    fn why(&self, place: &ProviderAccess) -> String {
        match self {
            Self::Answers => "answers".into(),
            Self::NotAsked => "not asked".into(),
            Self::NoKey => format!("has no key: set {}", place.key_variable),
            Self::NoAddress => format!("has no address: set {}", place.url_variable),
            Self::Wrong(why) => why.clone(),
            Self::Denied(why) | Self::Unreachable(why) => why.clone(),
        }
    }

    /// The state as it stands in the table, below which the reasons follow.
    fn shown(&self, place: &ProviderAccess) -> String {
        match self {
            Self::Denied(_) => "refuses".into(),
            Self::Unreachable(_) => "cannot be reached".into(),
            _ => self.why(place),
        }
    }

    const fn is_well(&self) -> bool {
        matches!(self, Self::Answers | Self::NotAsked)
    }

    /// The state of a server that did not return the list of its models.
    fn from_error(why: &OracleError) -> Self {
        if why.kind() == FailureKind::Rejected {
            return Self::Denied(why.to_string());
        }
        Self::Unreachable(why.to_string())
    }
}

impl ProviderRow {
    fn is_well(&self) -> bool {
        self.state.is_well() && self.models.iter().all(Tried::is_well)
    }
}

/// The clients of charts with the models that they name, by provider.
type Clients = BTreeMap<String, Vec<(String, String)>>;

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let mut clients = Clients::new();
    let mut without: Vec<String> = Vec::new();
    for file in &args.files {
        read(file, &args, (&mut clients, &mut without))?;
    }
    let llm = args.llm.as_deref().filter(|llm| *llm != "clients");
    let places: Vec<(ProviderAccess, Vec<(String, String)>)> = match llm {
        None if args.model.is_some() => {
            return Err(miette::miette!("`--model` needs `--llm` with an address"));
        }
        None => {
            if args.files.is_empty() {
                clients.extend(PROVIDERS.iter().map(|known| (known.name.to_owned(), Vec::new())));
            }
            clients.into_iter().map(|(name, clients)| (place(&name), clients)).collect()
        }
        Some(llm) => {
            without.clear();
            vec![named(llm, args.model.as_deref(), clients)?]
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let rows: Vec<ProviderRow> = runtime.block_on(async {
        let mut rows = Vec::new();
        for (place, clients) in places {
            rows.push(row(place, clients, &args).await);
        }
        rows
    });
    // Without charts no provider is required, so a provider that does not answer is no error.
    let is_general = args.files.is_empty() && llm.is_none();
    let is_well = is_general || (without.is_empty() && rows.iter().all(ProviderRow::is_well));
    if args.format == "json" {
        let rows: Vec<Value> = rows.iter().map(json_of).collect();
        let told = json!({"version": 1, "ok": is_well, "providers": rows, "clients_without_provider": without});
        print_json(&format!("{told:#}\n"))?;
    } else {
        print(&provider_table(&rows, &without, is_general))?;
    }
    Ok(if is_well { Exit::Clean } else { Exit::Findings })
}

/// Collects the clients in the charts of a file. A client without a provider goes into `without`.
fn read(
    file: &str,
    args: &Args,
    (clients, without): (&mut Clients, &mut Vec<String>),
) -> miette::Result<()> {
    let compilation = pick::check(file, &args.root, 0)?;
    if compilation.lowered.is_empty() {
        return Err(miette::miette!(
            help = format!("`chartc check {file}` shows what is there"),
            "there is no chart in {file}"
        ));
    }
    for chart in compilation.lowered.iter().map(|one| &one.chart) {
        for client in &chart.clients {
            let name = format!("{}.{}", chart.name, client.name);
            match client.model.split_once(':') {
                Some((provider, model)) => {
                    let named = (name, model.to_owned());
                    clients.entry(provider.to_owned()).or_default().push(named);
                }
                None => without.push(name),
            }
        }
    }
    Ok(())
}

/// The server that `--llm` names, with the models to ask it for: one model, or those of all clients.
fn named(
    llm: &str,
    model: Option<&str>,
    clients: Clients,
) -> miette::Result<(ProviderAccess, Vec<(String, String)>)> {
    let of_clients = clients.into_values().flatten();
    let (place, model) = match (setup::named(llm), model) {
        (Some(Named::Server(url)), model) => (ProviderAccess::at(url), model),
        (Some(Named::Model(provider, model)), None) => (place(provider), Some(model)),
        (Some(Named::Model(..)), Some(model)) => {
            return Err(miette::miette!(
                "`--llm {llm}` names the model of all steps: omit `--model {model}`"
            ));
        }
        (Some(Named::Clients) | None, _) => {
            return Err(miette::miette!(
                "`{llm}` names no model: use PROVIDER:MODEL, an address, or clients"
            ));
        }
    };
    let clients: Vec<(String, String)> = match model {
        None => of_clients.collect(),
        Some(model) => of_clients.map(|(name, _)| (name, model.to_owned())).collect(),
    };
    let alone = model.filter(|_| clients.is_empty());
    let alone = alone.map(|model| ("--llm".to_owned(), model.to_owned()));
    Ok((place, clients.into_iter().chain(alone).collect()))
}

/// Asks a server for its models and, if it is free of charge or `--ask` is given, each model one question.
async fn row(place: ProviderAccess, clients: Vec<(String, String)>, args: &Args) -> ProviderRow {
    let url = place.address().and_then(Result::ok);
    let mut models: Vec<Tried> = Vec::new();
    let mut names: Vec<&String> = clients.iter().map(|(_, model)| model).collect();
    names.sort_unstable();
    names.dedup();
    let (state, list) = match server(&place, args.offline) {
        Err(state) => (state, None),
        Ok(server) => match server.models().await {
            Ok(list) => (ProviderState::Answers, Some((server, list))),
            Err(why) => (ProviderState::from_error(&why), None),
        },
    };
    let own = match (&list, args.llm.is_some() && names.is_empty()) {
        // A server with a single model leaves no doubt which one is meant.
        (Some((_, list)), true) if list.names().len() == 1 => list.names().first(),
        _ => None,
    };
    for model in names.into_iter().chain(own) {
        let model = model.clone();
        let asks = args.ask || place.is_free();
        let tried = match &list {
            Some((server, list)) => Tried::on(model, server, list, asks).await,
            None => Tried::not(model),
        };
        models.push(tried);
    }
    ProviderRow { place, url, clients, state, models }
}

/// The server to ask, or the state of the provider if it is not asked.
fn server(place: &ProviderAccess, is_offline: bool) -> Result<Server, ProviderState> {
    match place.address() {
        None => return Err(ProviderState::NoAddress),
        Some(Err(why)) => return Err(ProviderState::Wrong(why.to_string())),
        Some(Ok(_)) => {}
    }
    if place.wants_key && !place.has_key() {
        return Err(ProviderState::NoKey);
    }
    let server = place.server().map_err(|why| ProviderState::Wrong(why.to_string()))?;
    if is_offline { Err(ProviderState::NotAsked) } else { Ok(server) }
}

const fn key_word(place: &ProviderAccess, has_key: bool) -> &'static str {
    match (has_key, place.wants_key) {
        (true, _) => "set",
        (false, true) => "missing",
        (false, false) => "none",
    }
}

fn json_of(row: &ProviderRow) -> Value {
    let ProviderRow { place, url, clients, state, models } = row;
    let models: Vec<Value> = models.iter().map(Tried::json).collect();
    let clients: Vec<Value> =
        clients.iter().map(|(name, model)| json!({"client": name, "model": model})).collect();
    json!({
        "provider": place.provider,
        "url": url,
        "url_variable": place.url_variable,
        "key": key_word(place, place.has_key()),
        "key_variable": place.key_variable,
        "state": state.word(),
        "why": state.why(place),
        "clients": clients,
        "models": models,
    })
}

fn provider_table(rows: &[ProviderRow], without: &[String], is_general: bool) -> StyledText {
    let mut out = StyledText::default();
    if rows.is_empty() && without.is_empty() {
        out.line("no chart names a model: `--llm PROVIDER:MODEL` chooses one");
        return out;
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let ProviderRow { place, url, state, .. } = row;
            let url = url.clone().unwrap_or_else(|| "-".into());
            let key = key_word(place, place.has_key()).to_owned();
            vec![place.provider.clone(), url, key, state.shown(place)]
        })
        .collect();
    out.add(&align_columns(&["provider", "address", "key", "state"], &cells, &[]));
    for row in rows {
        if let ProviderState::Denied(why) | ProviderState::Unreachable(why) = &row.state {
            out.line(format!("  {}: {why}", row.place.provider));
        }
    }
    for row in rows {
        let clients = row.clients.iter().filter(|(name, _)| name != "--llm");
        let names: Vec<String> = clients.map(|(name, model)| format!("{name} ({model})")).collect();
        if !names.is_empty() {
            out.line(format!("  {}: {}", row.place.provider, names.join(", ")));
        }
    }
    for row in rows.iter().filter(|row| matches!(row.state, ProviderState::Answers)) {
        for tried in &row.models {
            out.line(format!("  {} {}", row.place.provider, tried.told()));
        }
    }
    for client in without {
        out.line(format!(
            "  client {client} names no provider: write its model as \"provider:model\""
        ));
    }
    if is_general {
        out.line("  Any other server with OpenAI's chat interface: set NAME_BASE_URL and NAME_API_KEY, or give `--llm` its URL.");
    }
    out
}

// What `chartc doctor` finds out about one model.

/// A model, and what is known of it.
struct Tried {
    model: String,
    /// Whether the server lists it; `None` if the server was not asked.
    exists: Option<bool>,
    schemas: Schemas,
    /// The reason why it cannot be asked.
    why: Option<String>,
}

enum Schemas {
    Enforced,
    Ignored,
    NotTried,
}

impl Schemas {
    const fn word(&self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Ignored => "ignored",
            Self::NotTried => "not_tried",
        }
    }
}

impl Tried {
    /// A model that was not looked for.
    const fn not(model: String) -> Self {
        Self { model, exists: None, schemas: Schemas::NotTried, why: None }
    }

    /// Looks for the model in the list of its server and, if `asks`, asks it a question that shows whether schemas are enforced.
    async fn on(model: String, server: &Server, list: &Models, asks: bool) -> Self {
        let mut tried = Self { exists: list.has(&model), ..Self::not(model) };
        if tried.exists == Some(false) {
            tried.why = Some(format!("is not there: the server has {}", list.shown()));
        } else if asks {
            match server.enforces_schemas(&tried.model).await {
                Ok(true) => tried.schemas = Schemas::Enforced,
                Ok(false) => tried.schemas = Schemas::Ignored,
                Err(why) if why.kind() == FailureKind::Rejected => {
                    tried.why = Some(why.to_string());
                }
                // The server has just sent its list, so this failure is temporary: schemas stay untried.
                Err(_) => {}
            }
        }
        tried
    }

    /// Whether the model can be asked, as far as is known.
    const fn is_well(&self) -> bool {
        self.why.is_none()
    }

    fn json(&self) -> Value {
        let Self { model, exists, schemas, why } = self;
        json!({"model": model, "exists": exists, "schemas": schemas.word(), "why": why})
    }

    /// Formats the result for people.
    fn told(&self) -> String {
        let exists = match (&self.why, self.exists) {
            (Some(why), _) => return format!("`{}` {why}", self.model),
            (None, Some(true)) => "is there",
            (None, Some(false) | None) => "may be there",
        };
        let schemas = match self.schemas {
            Schemas::Enforced => "schemas are enforced",
            Schemas::Ignored => "schemas are not enforced: more answers will be unusable",
            Schemas::NotTried => "not tried whether schemas are enforced",
        };
        format!("`{}` {exists}, {schemas}", self.model)
    }
}
