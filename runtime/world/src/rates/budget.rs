//! The budgets of agents for model calls in a run.

use crate::config::LlmBudget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The amounts that an agent has spent on models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// The number of calls, including those that failed.
    pub llm_calls: u64,
    /// The number of tokens, input and output together.
    pub llm_tokens: u64,
    /// The cost, in millionths of the currency in which prices are given.
    pub cost: u64,
}

impl Spent {
    fn add(&mut self, more: Self) {
        self.llm_calls = self.llm_calls.saturating_add(more.llm_calls);
        self.llm_tokens = self.llm_tokens.saturating_add(more.llm_tokens);
        self.cost = self.cost.saturating_add(more.cost);
    }

    fn take(&mut self, less: Self) {
        self.llm_calls = self.llm_calls.saturating_sub(less.llm_calls);
        self.llm_tokens = self.llm_tokens.saturating_sub(less.llm_tokens);
        self.cost = self.cost.saturating_sub(less.cost);
    }
}

/// The error of an agent whose budget is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of `{agent}` is used up: {spent} of {most} {what}")]
pub struct Exhausted {
    /// The agent whose budget it is.
    pub agent: String,
    /// The amount that is used up: `llm_calls`, `llm_tokens` or `cost`.
    pub what: &'static str,
    /// The amount that is spent, or held for calls under way.
    pub spent: u64,
    /// The limit.
    pub most: u64,
}

/// The budgets of all agents. An agent may think only if every amount is below its limit. The bound of a call is held while the call is
/// under way, and its actual amounts are deducted when they are known. So the last call may exceed the tokens or cost that are left, but
/// never the number of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budgets {
    most: BTreeMap<String, LlmBudget>,
    spent: BTreeMap<String, Spent>,
    /// The amounts held for calls under way.
    held: BTreeMap<String, Spent>,
    /// The agent whose budget another agent uses, by the user's name.
    payers: BTreeMap<String, String>,
}

impl Budgets {
    /// Lets `agent` use the budget of `with`, which has usually spawned it.
    pub fn share(&mut self, agent: &str, with: &str) {
        // Stored with the final payer, so that chains of agents need no search.
        let payer = self.payer(with).to_owned();
        self.payers.insert(agent.to_owned(), payer);
    }

    fn payer<'a>(&'a self, agent: &'a str) -> &'a str {
        self.payers.get(agent).map_or(agent, String::as_str)
    }

    /// Sets the limits of an agent for the run. Empty limits remove them.
    pub fn set(&mut self, agent: &str, most: LlmBudget) {
        if most == LlmBudget::default() {
            self.most.remove(agent);
        } else {
            self.most.insert(agent.to_owned(), most);
        }
    }

    /// The amounts that an agent has spent; those of the payer if it shares a budget.
    pub fn spent(&self, agent: &str) -> Spent {
        let agent = self.payer(agent);
        self.spent.get(agent).copied().unwrap_or_default()
    }

    /// Checks that every amount of an agent is below its limit.
    ///
    /// # Errors
    /// The first amount that has reached its limit.
    pub fn check(&self, agent: &str) -> Result<(), Exhausted> {
        let agent = self.payer(agent);
        let Some(most) = self.most.get(agent) else { return Ok(()) };
        let mut taken = self.spent(agent);
        taken.add(self.held.get(agent).copied().unwrap_or_default());
        let rows = [
            ("llm_calls", taken.llm_calls, most.llm_calls),
            ("llm_tokens", taken.llm_tokens, most.llm_tokens),
            ("cost", taken.cost, most.cost),
        ];
        for (what, spent, most) in rows {
            if let Some(most) = most.filter(|most| spent >= *most) {
                return Err(Exhausted { agent: agent.to_owned(), what, spent, most });
            }
        }
        Ok(())
    }

    /// Holds the bound of a call that begins.
    pub fn hold(&mut self, agent: &str, bound: Spent) {
        let agent = self.payer(agent).to_owned();
        self.held.entry(agent).or_default().add(bound);
    }

    /// Releases the bound of a call that has ended, and deducts what it actually took.
    pub fn settle(&mut self, agent: &str, bound: Spent, actual: Spent) {
        let agent = self.payer(agent).to_owned();
        if let Some(held) = self.held.get_mut(&agent) {
            held.take(bound);
            if *held == Spent::default() {
                self.held.remove(&agent);
            }
        }
        self.spent.entry(agent).or_default().add(actual);
    }

    /// The amounts spent by all agents, without those held for calls under way.
    pub fn save(&self) -> BTreeMap<String, Spent> {
        self.spent.clone()
    }

    /// Restores the amounts spent by all agents.
    pub fn load(&mut self, spent: BTreeMap<String, Spent>) {
        self.spent = spent;
        // Calls under way are made again after a restart, and are then held again.
        self.held.clear();
    }
}
