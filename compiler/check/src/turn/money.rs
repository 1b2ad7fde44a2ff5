//! Lower and upper bounds on the money that the model calls of a run cost.

use super::cost::RunCost;
use chartc_core::arena::StateId;
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, Client, Expr, Step, StepKind};
use chartc_core::tables::is_free;

/// The cost of the model calls of a run, in the unit of the prices. Calls of a child chart count for the child.
#[derive(Debug, Clone, PartialEq)]
pub struct Money<'c> {
    /// The minimum cost of a run that ends `ok`; `None` if no run does. Assumes one input and one output token for each call.
    pub least: Option<f64>,
    /// The maximum cost of any run.
    pub most: Most<'c>,
}

/// The bound on the cost of a run, by its reason.
#[derive(Debug, Clone, PartialEq)]
pub enum Most<'c> {
    /// No model step can run.
    NoCalls,
    /// `limits { cost … }` of the chart.
    Cost(f64),
    /// `limits { tokens … }` of the chart, all of them at the highest price.
    Tokens {
        /// The limit on tokens.
        tokens: i64,
        /// The highest price of a million tokens, of input or output, among all clients that may be called.
        price: f64,
    },
    /// `limits { cost … }` of the chart, computed from its params.
    CostOf(&'c Expr),
    /// `limits { tokens … }` of the chart, computed from its params, all of them at the highest price.
    TokensOf {
        /// The limit on tokens.
        tokens: &'c Expr,
        /// The highest price of a million tokens, as above.
        price: f64,
    },
    /// A bound on the cost of the answers alone: the maximum number of calls, each with the longest answer of any client. Nothing bounds
    /// the length of the prompts.
    Answers(f64),
    /// No bound is known.
    Unbounded,
}

impl Most<'_> {
    /// The bound, if it is known before a run and covers all costs.
    pub fn known(&self) -> Option<f64> {
        match self {
            Self::NoCalls => Some(0.0),
            Self::Cost(cost) => Some(*cost),
            Self::Tokens { tokens, price } => Some(*tokens as f64 * price / 1e6),
            _ => None,
        }
    }
}

/// The cost of a run that makes these calls. `None` if a step calls a model without a known price, or if all of them are free.
pub fn money<'c>(chart: &'c Chart, run: &RunCost) -> Option<Money<'c>> {
    let steps: Vec<&Step> = chart.steps.iter().filter(|step| calls(step)).collect();
    let mut clients: Vec<&Client> = Vec::new();
    for step in &steps {
        let mut next = Some(step.client?);
        // The loop ends, because fallbacks are acyclic.
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
    // A fallback may be cheaper than the client, so every call counts with the cheapest price.
    let cheapest = clients.iter().map(each).fold(f64::INFINITY, f64::min);
    let least = run.least.as_ref().map(|(calls, _)| match calls {
        0 => 0.0,
        calls => *calls as f64 * cheapest,
    });
    Some(Money { least, most: most(chart, run, &clients, dearest) })
}

/// The maximum cost. `price` is the highest one of a million tokens.
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

/// Whether the step calls a model.
fn calls(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. })
}
