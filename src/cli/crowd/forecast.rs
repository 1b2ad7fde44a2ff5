//! Estimates the calls of real models that a run of many agents may make, before it starts.

use super::super::live::{Named, is_free, is_live, named};
use super::super::output::{complain, print_json};
use super::find::AgentSet;
use super::options::End;
use super::show::Format;
use super::{Common, auction};
use crate::costs::amount_text;
use chartc_check::facts::Facts;
use chartc_check::turn::cost::cost;
use chartc_core::model::{Chart, Client, StepKind};
use chartc_world::RunFile;
use chartc_world::engine::Settings;
use serde_json::{Value, json};
use std::collections::BTreeMap;

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
            let llm = group.entry.llm.as_deref().or(common.llm);
            if !is_live(llm) || !file.statechart.oracle_enabled {
                continue;
            }
            let agents =
                agent_set.agents.iter().filter(|agent| agent.group == number).count() as u64;
            let charts = &group.family.charts;
            for chart in charts {
                all.add_models(chart, llm.unwrap_or_default(), common.model);
            }
            let most = most(charts, turns, &mut all.beyond);
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
            let llm = config.scoring.as_deref().or(common.llm);
            if is_live(llm)
                && let Ok(chart) = auction::chart()
            {
                all.add_models(&chart, llm.unwrap_or_default(), common.model);
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
        let agents = if self.agents == 1 { "agent" } else { "agents" };
        let span = match self.end {
            End::Ticks(1) => "1 tick".to_owned(),
            End::Ticks(ticks) => format!("{ticks} ticks"),
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
        let mut words = format!(
            "{} {agents}, {span}: {calls} of {}, in real time",
            self.agents,
            models.join(", ")
        );
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

/// The maximum number of calls of one agent in `turns` turns; `None` if there is none.
fn most(charts: &[Chart], turns: Option<u64>, beyond: &mut Vec<&'static str>) -> Option<u64> {
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
