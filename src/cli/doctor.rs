//! `chartc doctor`: whether the models that charts ask can be asked.

use super::Exit;
use super::columns::columns;
use super::files::Root;
use super::live::{Place, place};
use super::output::{Page, print, print_json};
use super::pick;
use chartc_providers::PROVIDERS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(10);

/// Show which models can be asked: addresses, keys, and whether the servers answer. Costs nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc doctor
  chartc doctor support.chart agent.yaml
  chartc doctor support.chart --format json
  chartc doctor --offline

Each server is asked for the list of its models, which is free. No key is ever shown.

Exit codes: 0 all models of the charts can be asked, 1 one cannot, or a chart has errors, 2 wrong usage,
3 internal error")]
pub(super) struct Args {
    /// Charts whose clients to check [default: the providers that chartc knows]
    files: Vec<String>,
    #[command(flatten)]
    root: Root,
    /// Ask no server
    #[arg(long)]
    offline: bool,
    /// How to print it
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
}

/// A provider, and how it stands.
struct Row {
    place: Place,
    /// Its address, if that is one, without a secret.
    url: Option<String>,
    /// `CHART.CLIENT` and the model, of those that name it.
    clients: Vec<(String, String)>,
    state: State,
}

enum State {
    Answers,
    NotAsked,
    NoKey,
    NoAddress,
    /// What is configured is wrong.
    Wrong(String),
    Denied(String),
    Unreachable(String),
}

impl State {
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

    fn why(&self, place: &Place) -> String {
        match self {
            Self::Answers => "answers".into(),
            Self::NotAsked => "not asked".into(),
            Self::NoKey => format!("has no key: set {}", place.key_variable),
            Self::NoAddress => format!("has no address: set {}", place.url_variable),
            Self::Wrong(why) => why.clone(),
            Self::Denied(why) => format!("refuses the key of {}: {why}", place.key_variable),
            Self::Unreachable(why) => format!("cannot be reached: {why}"),
        }
    }

    const fn is_well(&self) -> bool {
        matches!(self, Self::Answers | Self::NotAsked)
    }
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let mut clients: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut without: Vec<String> = Vec::new();
    for file in &args.files {
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
                    Some((provider, model)) => clients
                        .entry(provider.to_owned())
                        .or_default()
                        .push((name, model.to_owned())),
                    None => without.push(name),
                }
            }
        }
    }
    if args.files.is_empty() {
        clients.extend(PROVIDERS.iter().map(|known| (known.name.to_owned(), Vec::new())));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let rows: Vec<Row> = runtime.block_on(async {
        let mut rows = Vec::new();
        for (provider, clients) in clients {
            let place = place(&provider);
            let url = place.address().and_then(Result::ok);
            let state = state(&place, args.offline).await;
            rows.push(Row { place, url, clients, state });
        }
        rows
    });
    // Without charts nothing is needed, so that nothing is missing.
    let is_well =
        args.files.is_empty() || (without.is_empty() && rows.iter().all(|row| row.state.is_well()));
    if args.format == "json" {
        let rows: Vec<Value> = rows.iter().map(json_of).collect();
        let told = json!({"version": 1, "ok": is_well, "providers": rows, "clients_without_provider": without});
        print_json(&format!("{told:#}\n"))?;
    } else {
        print(&page(&rows, &without, args.files.is_empty()))?;
    }
    Ok(if is_well { Exit::Clean } else { Exit::Findings })
}

async fn state(place: &Place, offline: bool) -> State {
    use chartc_runtime::oracle::OracleErrorKind;
    match place.address() {
        None => return State::NoAddress,
        Some(Err(why)) => return State::Wrong(why.to_string()),
        Some(Ok(_)) => {}
    }
    if place.wants_key && !place.has_key() {
        return State::NoKey;
    }
    let server = match place.server() {
        Ok(server) => server,
        Err(why) => return State::Wrong(why.to_string()),
    };
    if offline {
        return State::NotAsked;
    }
    match tokio::time::timeout(PATIENCE, server.look()).await {
        Ok(Ok(())) => State::Answers,
        Ok(Err(why)) if why.kind() == OracleErrorKind::Denied => State::Denied(why.to_string()),
        Ok(Err(why)) => State::Unreachable(why.to_string()),
        Err(_) => State::Unreachable(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

const fn key_word(place: &Place, has_key: bool) -> &'static str {
    match (has_key, place.wants_key) {
        (true, _) => "set",
        (false, true) => "missing",
        (false, false) => "none",
    }
}

fn json_of(row: &Row) -> Value {
    let Row { place, url, clients, state } = row;
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
    })
}

fn page(rows: &[Row], without: &[String], is_general: bool) -> Page {
    let mut page = Page::default();
    if rows.is_empty() && without.is_empty() {
        page.line("no chart names a model: `--llm PROVIDER:MODEL` chooses one");
        return page;
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let Row { place, url, state, .. } = row;
            let url = url.clone().unwrap_or_else(|| "-".into());
            let key = key_word(place, place.has_key()).to_owned();
            vec![place.provider.clone(), url, key, state.why(place)]
        })
        .collect();
    page.add(&columns(&["provider", "address", "key", "state"], &cells, &[]));
    for row in rows.iter().filter(|row| !row.clients.is_empty()) {
        let names: Vec<String> =
            row.clients.iter().map(|(name, model)| format!("{name} ({model})")).collect();
        page.line(format!("  {}: {}", row.place.provider, names.join(", ")));
    }
    for client in without {
        page.line(format!(
            "  client {client} names no provider: write its model as \"provider:model\""
        ));
    }
    if is_general {
        page.line("  Any other server with OpenAI's chat interface: set NAME_BASE_URL and NAME_API_KEY, or give `--llm` its URL.");
    }
    page
}
