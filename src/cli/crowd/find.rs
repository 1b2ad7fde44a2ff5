//! Finds the agents of a run: those of the run file, or those in the folder. Estimates what their calls may cost.
//!
//! **The problem.** A folder has many charts, and not each is an agent: some are run by others, some are tests, some are disabled. A run
//! with real models may cost much, and this must be known before it starts.
//!
//! **The idea.** All files are compiled together, because charts import each other. Without entries in the run file, each chart that no
//! other chart runs is an agent (`all`). With entries, each becomes a group of the [`AgentSet`] with one or more agents (`chosen`, `add`).
//! Names must be unique, since agents are addressed by name.
//!
//! [`Forecast`] multiplies the most calls of one turn by the number of turns, bounded by the chart's own limits and the budget of its
//! entry. Calls that this does not cover, such as those for events, are named in `beyond`.
//!
//! **Example.** `agents: [{ file: trader.chart, count: 2 }, { file: judge.chart }]` in a run of 10 ticks:
//!
//! ```text
//! groups     0 trader.chart      1 judge.chart
//! agents     Trader_1 (0), Trader_2 (0), Judge (1)
//! forecast   a turn of a trader makes 1 call at most, one of the judge 3: at most 2 * 10 + 30 = 50 calls
//! ```
//!
//! The file ends with options that several commands of this folder share.

use super::super::files::{Files, Root};
use super::super::instance::{is_disabled, read};
use super::super::output::{complain, print_json};
use super::super::pick::refuse;
use super::show::Format;
use crate::cli::output::Exit;
use crate::costs::amount_text;
use crate::setup::{Answerers, Named, is_free, is_live, named};
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::cost::cost;
use chartc_compiler::compile::{Checked, Compilation, check_within};
use chartc_compiler::front::load::Memory;
use chartc_compiler::syntax::diagnostic::{Severity, nearest};
use chartc_compiler::syntax::source::Span;
use chartc_core::model::{Chart, Client, StepKind};
use chartc_core::wording::counted;
use chartc_world::engine::Settings;
use chartc_world::{AgentEntry, AgentSet, Family, RunFile};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the run file in a folder.
pub(super) const RUN_FILE: &str = "run.yaml";

/// All agents that are to run, and the compilation of their charts.
pub(super) struct Found {
    pub(super) agent_set: AgentSet,
    pub(super) done: Compilation,
    /// The files of agents with `enabled: false`, which do not run.
    left_out: Vec<String>,
}

/// Reads the run file that `--config` names, or that of the folder. Returns it with its folder, which its paths are relative to.
pub(super) fn run_file(folder: &Path, config: Option<&Path>) -> miette::Result<(RunFile, PathBuf)> {
    let found = folder.join(RUN_FILE);
    let path = match config {
        Some(path) => path,
        None if found.is_file() => &found,
        None => return Ok((RunFile::default(), folder.to_owned())),
    };
    let file = RunFile::parse(&read(path)?).map_err(|fault| {
        let near = fault.stranger.as_ref().and_then(|(key, known)| {
            nearest(key, known.iter().map(String::as_str)).map(str::to_owned)
        });
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        miette::miette!("{}: {fault}{near}", path.display())
    })?;
    let base = path.parent().filter(|base| !base.as_os_str().is_empty());
    Ok((file, base.unwrap_or(Path::new(".")).to_owned()))
}

/// Checks all files and finds the agents. If there are errors or no agents, reports that and returns the exit code.
pub(super) fn find_agents(
    folder: &Path,
    (file, base): (&RunFile, &Path),
    root: &Root,
    even_disabled: bool,
) -> miette::Result<Result<Found, Exit>> {
    let named: Vec<String> = file
        .agents
        .iter()
        .map(|entry| crate::disk::shown(&crate::disk::tidy(&base.join(&entry.file))))
        .collect();
    let wanted = if named.is_empty() { vec![folder.display().to_string()] } else { named.clone() };
    for (path, entry) in wanted.iter().zip(&file.agents) {
        if !Path::new(path).is_file() {
            return Err(miette::miette!(
                "the run file names {}: there is no file {path}",
                entry.file
            ));
        }
    }
    let files = Files::find_without(&wanted, root, &tests_left_out(), |_| None)?;
    let done = crate::check_within(files.names(), &files, 0);
    if done.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Ok(Err(refuse(&folder.display().to_string(), &done)));
    }
    let mut found = Found { agent_set: AgentSet::default(), done, left_out: Vec::new() };
    if named.is_empty() {
        found.all(even_disabled);
    } else {
        for (entry, path) in file.agents.iter().zip(&named) {
            let checked = found.chosen(entry, path)?;
            found.add(&checked, entry.clone(), even_disabled);
        }
    }
    if !found.left_out.is_empty() {
        complain(format!(
            "not run, because of `enabled: false` (`--even-disabled` runs them): {}",
            found.left_out.join(", ")
        ));
    }
    if found.agent_set.agents.is_empty() {
        complain(format!("error: there is no agent to run in {}", folder.display()));
        return Ok(Err(Exit::Nothing));
    }
    found.ensure_unique_names()?;
    found.agent_set.follow(&file.statechart);
    Ok(Ok(found))
}

/// Skips files of tests in folders.
fn tests_left_out() -> super::super::files::Skips {
    std::sync::Arc::new(|path, is_folder| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(!is_folder && name.is_some_and(|name| name.ends_with(".test.chart")))
    })
}

impl Found {
    /// Adds every chart that no other chart runs as its child.
    fn all(&mut self, even_disabled: bool) {
        let run: BTreeSet<Span> = self
            .done
            .lowered
            .iter()
            .flat_map(|one| {
                let of = |step: &chartc_compiler::lower::StepSpans| step.child;
                let own = one.map.name;
                one.map.steps.iter().filter_map(of).filter(move |child| *child != own)
            })
            .collect();
        let charts: Vec<Checked> = self.done.charts.clone();
        for checked in charts.iter().filter(|one| !run.contains(&one.map().name)) {
            let entry =
                AgentEntry { file: checked.source().to_owned(), count: 1, ..AgentEntry::default() };
            self.add(checked, entry, even_disabled);
        }
    }

    /// The chart of an entry: the one that it names, else the first of its file.
    fn chosen(&self, entry: &AgentEntry, path: &str) -> miette::Result<Checked> {
        let in_file: Vec<&Checked> =
            self.done.charts.iter().filter(|checked| checked.source() == path).collect();
        let names = || in_file.iter().map(|one| one.chart().name.as_str());
        match &entry.chart {
            Some(name) => {
                let found = in_file.iter().find(|one| one.chart().name == *name);
                found.map(|one| (*one).clone()).ok_or_else(|| {
                    let near =
                        nearest(name, names()).map(|near| format!("; did you mean `{near}`?"));
                    miette::miette!(
                        "{path} has no chart called `{name}`{}",
                        near.unwrap_or_default()
                    )
                })
            }
            None => in_file
                .first()
                .map(|one| (*one).clone())
                .ok_or_else(|| miette::miette!("there is no chart in {path}")),
        }
    }

    fn add(&mut self, checked: &Checked, entry: AgentEntry, even_disabled: bool) {
        let chart = checked.chart();
        if is_disabled(chart) && !even_disabled {
            self.left_out.push(checked.source().to_owned());
            return;
        }
        let family = Arc::new(Family { plans: checked.plans() });
        self.agent_set.add(checked.source().to_owned(), family, entry);
    }

    /// Refuses two agents of the same name.
    fn ensure_unique_names(&self) -> miette::Result<()> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let AgentSet { groups, agents } = &self.agent_set;
        for agent in agents {
            if let Some(other) = seen.insert(&agent.name, agent.group) {
                let (one, two) = (&groups[other].file, &groups[agent.group].file);
                return Err(miette::miette!(
                    help = "give one of them another `id`",
                    "two agents are called `{}`: one of {one}, one of {two}",
                    agent.name
                ));
            }
        }
        Ok(())
    }
}

// Estimates the calls of real models that a run of many agents may make, before it starts.

/// The calls of real models that a run may make.
pub(super) struct Forecast {
    agents: usize,
    end: End,
    /// The maximum number of calls; `None` if nothing bounds it.
    calls: Option<u64>,
    /// The causes of further calls, such as events and auctions, which `calls` does not include.
    beyond: Vec<&'static str>,
    /// The price of each model, by name; `None` if it is unknown.
    models: BTreeMap<String, Option<Price>>,
}

/// The price of a million tokens.
#[derive(Clone, Copy)]
struct Price {
    input: f64,
    output: f64,
}

impl Forecast {
    /// Estimates a run. Returns `None` if no real model answers.
    pub(super) fn new(
        common: &Common<'_>,
        file: &RunFile,
        agent_set: &AgentSet,
        end: End,
        settings: &Settings,
    ) -> Option<Self> {
        let mut all = Self {
            agents: agent_set.agents.len(),
            end,
            calls: Some(0),
            beyond: Vec::new(),
            models: BTreeMap::new(),
        };
        let turns = match end {
            End::Ticks(ticks) => Some(u64::from(ticks)),
            // An autonomous agent sleeps for `interval` after each turn.
            End::Time(time) => time.checked_div(settings.interval).map(|turns| turns + 1),
        };
        for (number, group) in agent_set.groups.iter().enumerate() {
            let llm = group.entry.llm.as_deref().or(common.answerers.llm);
            if !is_live(llm) || !file.statechart.oracle_enabled {
                continue;
            }
            let agents =
                agent_set.agents.iter().filter(|agent| agent.group == number).count() as u64;
            let charts: Vec<&Chart> = group.family.charts().map(|chart| &**chart).collect();
            for chart in &charts {
                all.add_models(chart, llm.unwrap_or_default(), common.answerers.model);
            }
            let most = most(&charts, turns, &mut all.beyond);
            let most = match (most, group.entry.budget.llm_calls) {
                (Some(most), Some(budget)) => Some(most.min(budget)),
                (most, budget) => most.or(budget),
            };
            all.calls = all
                .calls
                .zip(most)
                .map(|(calls, most)| calls.saturating_add(most.saturating_mul(agents)));
        }
        if let Some(config) = &file.auction {
            let llm = config.scoring.as_deref().or(common.answerers.llm);
            if is_live(llm)
                && let Ok(chart) = chart()
            {
                all.add_models(&chart, llm.unwrap_or_default(), common.answerers.model);
                all.beyond.push("auctions");
            }
        }
        if file.resources.spawn.max_depth != Some(0) {
            all.beyond.push("agents that they make");
        }
        (!all.models.is_empty()).then_some(all)
    }

    /// Adds the models that a chart asks.
    fn add_models(&mut self, chart: &Chart, llm: &str, model: Option<&str>) {
        let price = |client: &Client| {
            let (input, output) = (client.input_price?, client.output_price?);
            Some(Price { input, output })
        };
        let free = |name: &str| is_free(llm, name).then_some(Price { input: 0.0, output: 0.0 });
        // A server at an address answers for all clients, with the model of `--model` if there is one.
        let whole = match named(llm) {
            Some(Named::Server(url)) => model.map(|model| format!("{model} at {url}")),
            Some(Named::Clients) | None => None,
            Some(Named::Model(..)) => Some(llm.to_owned()),
        };
        for step in &chart.steps {
            let client = step.client.map(|id| &chart.clients[id.index()]);
            if !matches!(step.kind, StepKind::Llm | StepKind::Ask { .. }) {
                continue;
            }
            let named = client.map(|client| client.model.as_str()).filter(|name| !name.is_empty());
            let named = named.or(model).map(str::to_owned);
            let Some(name) = whole.clone().or(named) else { continue };
            let known = client.and_then(price).or_else(|| free(&name));
            self.models.entry(name).or_insert(known);
        }
    }

    /// Prints the forecast: as text to standard error, or as a JSON object to standard output.
    pub(super) fn tell(&self, format: Format) -> miette::Result<()> {
        match format {
            Format::Text => {
                complain(self.words());
                Ok(())
            }
            Format::Json => print_json(&format!("{}\n", self.object())),
        }
    }

    fn words(&self) -> String {
        let span = match self.end {
            End::Ticks(ticks) => counted(ticks, "tick"),
            End::Time(time) => format!("{} s", time / 1000),
        };
        let calls = match self.calls {
            Some(1) => "at most 1 call".to_owned(),
            Some(calls) => format!("at most {calls} calls"),
            None => "any number of calls".to_owned(),
        };
        let model = |(name, price): (&String, &Option<Price>)| match price {
            None => format!("{name} (price unknown)"),
            Some(Price { input, output }) if *input == 0.0 && *output == 0.0 => {
                format!("{name} (free)")
            }
            Some(Price { input, output }) => {
                let (input, output) = (amount_text(*input), amount_text(*output));
                format!("{name} ({input} and {output} for a million tokens in and out)")
            }
        };
        let models: Vec<String> = self.models.iter().map(model).collect();
        let agents = counted(self.agents, "agent");
        let mut words = format!("{agents}, {span}: {calls} of {}, in real time", models.join(", "));
        if !self.beyond.is_empty() && self.calls.is_some() {
            words.push_str("; more for ");
            words.push_str(&self.beyond.join(" and "));
        }
        words
    }

    fn object(&self) -> Value {
        let model = |(name, price): (&String, &Option<Price>)| {
            json!({
                "model": name,
                "input_price": price.map(|price| price.input),
                "output_price": price.map(|price| price.output),
            })
        };
        let models: Vec<Value> = self.models.iter().map(model).collect();
        let ticks = if let End::Ticks(ticks) = self.end { Some(ticks) } else { None };
        json!({
            "type": "begin",
            "agents": self.agents,
            "ticks": ticks,
            "max_llm_calls": self.calls,
            "more_for": self.beyond,
            "models": models,
            "time": "real",
        })
    }
}

/// The maximum number of calls of one agent in `turns` turns; `None` if nothing bounds it. Adds to `beyond` what it does not cover.
fn most(charts: &[&Chart], turns: Option<u64>, beyond: &mut Vec<&'static str>) -> Option<u64> {
    let mut sum = Some(0_u64);
    for chart in charts {
        let found = cost(chart, &Facts::new(chart));
        let each = found.turns.iter().map(|turn| turn.worst).max().unwrap_or(0);
        let in_turns =
            if each == 0 { Some(0) } else { turns.map(|turns| turns.saturating_mul(each)) };
        let most = match (in_turns, found.run.worst.calls()) {
            (Some(turns), Some(run)) => Some(turns.min(run)),
            (turns, run) => turns.or(run),
        };
        if found.run.worst.calls().is_none()
            && !found.events.is_empty()
            && !beyond.contains(&"events")
        {
            beyond.push("events");
        }
        sum = sum.zip(most).map(|(sum, most)| sum.saturating_add(most));
    }
    sum
}

/// The source of the chart that runs the auctions.
const CHART: &str = include_str!("../../../charts/auction.chart");

/// Compiles the chart that runs the auctions.
pub(super) fn chart() -> miette::Result<Arc<Chart>> {
    let file = "auction.chart".to_owned();
    let done = check_within(std::slice::from_ref(&file), &Memory::of(&file, CHART), 0);
    let chart = done.charts.first().map(|checked| checked.chart().clone());
    chart.ok_or_else(|| miette::miette!("the chart of auctions has errors"))
}

/// The options of `chartc run` that apply to a folder as well as to a file.
pub(in crate::cli) struct Common<'a> {
    pub(in crate::cli) folder: &'a str,
    pub(in crate::cli) answerers: Answerers<'a>,
    pub(in crate::cli) world: Option<&'a Path>,
    /// The file of `--store`.
    pub(in crate::cli) store: Option<&'a Path>,
    pub(in crate::cli) even_disabled: bool,
    pub(in crate::cli) root: &'a Root,
}

/// An oracle that the run file names. The path of a script is relative to the run file.
pub(super) fn beside(base: &Path, source: &str) -> String {
    match source.strip_prefix("script:") {
        Some(file) => format!("script:{}", base.join(file).display()),
        None => source.to_owned(),
    }
}

/// The end of a run: after a number of ticks, or at a time of the world in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Ticks(u32),
    Time(u64),
}

/// Converts the seconds of an option to milliseconds.
pub(super) fn milliseconds(seconds: f64, option: &str) -> miette::Result<u64> {
    if seconds.is_finite() && (0.0..1e12).contains(&seconds) {
        Ok((seconds * 1000.0).round() as u64)
    } else {
        Err(miette::miette!("{option} is a number of seconds, 0 or more"))
    }
}
