//! Restricts spawned charts to the tools and models of their spawner.

use crate::workshop::{Family, Finding};
use std::collections::BTreeSet;

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
