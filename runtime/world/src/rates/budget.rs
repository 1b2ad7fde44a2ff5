//! What agents may spend on models in a run, and what they have spent.

use crate::config::LlmBudget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an agent has spent on models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Calls, also those that failed.
    pub llm_calls: u64,
    /// Tokens, in and out.
    pub llm_tokens: u64,
    /// Millionths of the unit that prices are in.
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

/// A budget that is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of `{agent}` is used up: {spent} of {most} {what}")]
pub struct Exhausted {
    /// Whose.
    pub agent: String,
    /// `llm_calls`, `llm_tokens` or `cost`.
    pub what: &'static str,
    /// What was spent, or is held for calls under way.
    pub spent: u64,
    /// What may be spent.
    pub most: u64,
}

/// The budgets of all agents. Before an agent thinks, it must have something left; what a call takes is deducted when it is known. So the
/// last call may take more tokens or money than are left, but never more calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budgets {
    most: BTreeMap<String, LlmBudget>,
    spent: BTreeMap<String, Spent>,
    /// Of calls under way.
    held: BTreeMap<String, Spent>,
    /// Whose budget agents use that have none of their own.
    payers: BTreeMap<String, String>,
}

impl Budgets {
    /// An agent uses what another one has, as its maker's.
    pub fn share(&mut self, agent: &str, with: &str) {
        let payer = self.payer(with).to_owned();
        self.payers.insert(agent.to_owned(), payer);
    }

    fn payer<'a>(&'a self, agent: &'a str) -> &'a str {
        self.payers.get(agent).map_or(agent, String::as_str)
    }

    /// Says what an agent may spend in the run.
    pub fn set(&mut self, agent: &str, most: LlmBudget) {
        if most == LlmBudget::default() {
            self.most.remove(agent);
        } else {
            self.most.insert(agent.to_owned(), most);
        }
    }

    /// What an agent has spent.
    pub fn spent(&self, agent: &str) -> Spent {
        let agent = self.payer(agent);
        self.spent.get(agent).copied().unwrap_or_default()
    }

    /// Whether an agent has anything left.
    ///
    /// # Errors
    /// What it has used up.
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

    /// Holds what a call can take.
    pub fn hold(&mut self, agent: &str, bound: Spent) {
        let agent = self.payer(agent).to_owned();
        self.held.entry(agent).or_default().add(bound);
    }

    /// Deducts what a call took, instead of what was held for it.
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

    /// What agents have spent. What is held for calls under way is not in it.
    pub fn save(&self) -> BTreeMap<String, Spent> {
        self.spent.clone()
    }

    /// Goes on with what agents have spent.
    pub fn load(&mut self, spent: BTreeMap<String, Spent>) {
        self.spent = spent;
        self.held.clear();
    }
}
