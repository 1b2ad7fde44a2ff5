//! The interface to the compiler for charts that agents write.

use chartc_core::model::Chart;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The language of an executable artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The language of `.chart` files, for the artifact type `chart`.
    Chart,
    /// The format of `agent.yaml` files, for the artifact type `agent`.
    Agent,
}

impl Form {
    /// The language of an artifact type; `None` for plain data.
    pub fn of(ty: &str) -> Option<Self> {
        match ty {
            "chart" => Some(Self::Chart),
            "agent" => Some(Self::Agent),
            _ => None,
        }
    }

    /// The artifact type for the language.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Agent => "agent",
        }
    }
}

/// A chart without errors, with the charts that its `run` steps refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The charts, with the main one first.
    pub charts: Vec<Chart>,
}

impl Family {
    /// The main chart.
    ///
    /// # Panics
    /// Does not panic on a family from a workshop, which always has at least one chart.
    pub fn root(&self) -> &Chart {
        &self.charts[0]
    }
}

/// An error in the text of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The code of the rule, such as `C0102`.
    pub code: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The message.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.code, self.text)
    }
}

/// A function that returns the text of an artifact by its id, for imports and components; `None` if the author may not read it or it does
/// not exist.
pub type Read<'r> = &'r dyn Fn(&str) -> Option<String>;

/// Compiles and checks charts without access to files.
pub trait Workshop: Send + Sync {
    /// Compiles and checks the text of an artifact. Tests and `check` lines in it are not run.
    ///
    /// # Errors
    /// All errors in the order of their positions. A text that defines nothing that can run, or is too large, is also an error.
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>>;
}

// Restricts spawned charts to the tools and models of their spawner.

/// The code of a finding about a tool or model that the spawner does not have.
pub const NOT_ALLOWED: &str = "not_allowed";

/// Checks that the charts declare only tools and models that are allowed. Tools are compared by name, clients by their model
/// (`provider:name`), because a chart can give a client any name.
///
/// # Errors
/// One finding for each that is not allowed. The model keeps no source positions, so findings refer to the start of the text.
pub fn restrict(
    family: &Family,
    tools: &BTreeSet<String>,
    models: &BTreeSet<String>,
) -> Result<(), Vec<Finding>> {
    let mut found = BTreeSet::new();
    for chart in &family.charts {
        for tool in chart.tools.iter().filter(|tool| !tools.contains(&tool.name)) {
            found.insert(format!(
                "`{}` uses the tool `{}`, which its spawner has not",
                chart.name, tool.name
            ));
        }
        // A client without a model uses the one that the host has chosen for all agents.
        let named = chart.clients.iter().filter(|client| !client.model.is_empty());
        for client in named.filter(|client| !models.contains(&client.model)) {
            found.insert(format!(
                "`{}` asks the model `{}`, which its spawner does not",
                chart.name, client.model
            ));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let finding = |text| Finding { code: NOT_ALLOWED.into(), line: 1, column: 1, text };
    Err(found.into_iter().map(finding).collect())
}

/// The tools and models that some charts declare, in the form that [`restrict`] takes.
pub fn used(family: &Family) -> (BTreeSet<String>, BTreeSet<String>) {
    let tools = family.charts.iter().flat_map(|chart| &chart.tools);
    let clients = family.charts.iter().flat_map(|chart| &chart.clients);
    (
        tools.map(|tool| tool.name.clone()).collect(),
        clients.map(|client| client.model.clone()).collect(),
    )
}
