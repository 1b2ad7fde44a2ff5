//! Lower and upper bounds on the money that the model calls of a run cost.

use super::cost::RunCost;
use chartc_core::arena::StateId;
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, Client, Expr, Step, StepKind};
use chartc_core::tables::is_free;

/// What a run costs, in the unit of the prices. What a child chart calls counts for the child.
#[derive(Debug, Clone, PartialEq)]
pub struct Money<'c> {
    /// The least that a run which ends `ok` costs; `None` if no run does. Each call takes a token in and one out at least.
    pub least: Option<f64>,
    /// The most that any run costs.
    pub most: Most<'c>,
}

/// The reason why the money of a run is bounded, if it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Most<'c> {
    /// No model step can run.
    NoCalls,
    /// `limits { cost … }` of the chart.
    Cost(f64),
    /// `limits { tokens … }` of the chart, all of them at the highest price.
    Tokens {
        /// The limit.
        tokens: i64,
        /// Of a million tokens.
        price: f64,
    },
    /// `limits { cost … }` of the chart, computed from its params.
    CostOf(&'c Expr),
    /// `limits { tokens … }` of the chart, computed from its params, all of them at the highest price.
    TokensOf {
        /// The limit.
        tokens: &'c Expr,
        /// Of a million tokens.
        price: f64,
    },
    /// Only that of the answers: so many calls, each with the longest answer that its client takes. Nothing bounds the prompts.
    Answers(f64),
    /// Nothing.
    Unbounded,
}

impl Most<'_> {
    /// The bound, if it is a number.
    pub fn known(&self) -> Option<f64> {
        match self {
            Self::NoCalls => Some(0.0),
            Self::Cost(cost) => Some(*cost),
            Self::Tokens { tokens, price } => Some(*tokens as f64 * price / 1e6),
            Self::CostOf(_) | Self::TokensOf { .. } | Self::Answers(_) | Self::Unbounded => None,
        }
    }
}

/// The money of a run with these calls; `None` if a step calls a model whose price is not known, or if all of them are free.
pub fn money<'c>(chart: &'c Chart, run: &RunCost) -> Option<Money<'c>> {
    let steps: Vec<&Step> = chart.steps.iter().filter(|step| calls(step)).collect();
    let mut clients: Vec<&Client> = Vec::new();
    for step in &steps {
        let mut next = Some(step.client?);
        // Fallbacks are acyclic.
        while let Some(id) = next {
            let client = &chart.clients[id.index()];
            let is_priced = client.input_price.or(client.output_price).is_some();
            if !is_priced && !is_free(&client.model) {
                return None;
            }
            clients.push(client);
            next = client.fallback;
        }
    }
    let price = |price: Option<f64>| price.unwrap_or(0.0);
    let dearest = |client: &&Client| price(client.input_price).max(price(client.output_price));
    let dearest = clients.iter().map(dearest).fold(0.0, f64::max);
    if dearest == 0.0 && !clients.is_empty() {
        return None;
    }
    let each = |client: &&Client| (price(client.input_price) + price(client.output_price)) / 1e6;
    let cheapest = clients.iter().map(each).fold(f64::INFINITY, f64::min);
    let least = run.least.as_ref().map(|(calls, _)| match calls {
        0 => 0.0,
        calls => *calls as f64 * cheapest,
    });
    Some(Money { least, most: most(chart, run, &clients, dearest) })
}

fn most<'c>(chart: &'c Chart, run: &RunCost, clients: &[&Client], price: f64) -> Most<'c> {
    let calls = run.worst.calls();
    if calls == Some(0) || clients.is_empty() {
        return Most::NoCalls;
    }
    let limits = &chart.state(StateId::at(0)).limits;
    let known =
        [limits.cost.map(Most::Cost), limits.tokens.map(|tokens| Most::Tokens { tokens, price })];
    let known = known.into_iter().flatten();
    let least = known.min_by(|a, b| {
        let amount = |most: &Most<'_>| most.known().unwrap_or(f64::INFINITY);
        amount(a).total_cmp(&amount(b))
    });
    if let Some(least) = least {
        return least;
    }
    if let Some(cost) = limits.formula(LimitKind::Cost) {
        return Most::CostOf(cost);
    }
    if let Some(tokens) = limits.formula(LimitKind::Tokens) {
        return Most::TokensOf { tokens, price };
    }
    let longest = |client: &&Client| {
        Some(client.max_tokens? as f64 * client.output_price.unwrap_or(0.0) / 1e6)
    };
    let longest: Option<Vec<f64>> = clients.iter().map(longest).collect();
    match (calls, longest) {
        (Some(calls), Some(answers)) => {
            Most::Answers(calls as f64 * answers.into_iter().fold(0.0, f64::max))
        }
        _ => Most::Unbounded,
    }
}

fn calls(step: &Step) -> bool {
    match &step.kind {
        StepKind::Llm | StepKind::Ask { .. } => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => false,
    }
}
