//! Values for the params of charts.

use chartc_core::expr::{Map, Value, fit, within};
use chartc_core::model::{Chart, VariableKind};

/// The param that is set to the name of the agent unless it has another value.
const OWN_NAME: &str = "agent_id";

/// The params of a chart that have no default. A chart with such params can be spawned with values for them, but it cannot be invoked.
pub fn open_params(chart: &Chart) -> Vec<&str> {
    let is_open = |kind: &VariableKind| match kind {
        VariableKind::Param { .. } => true,
        VariableKind::Input | VariableKind::Var { .. } => false,
    };
    let open = chart.variables.iter().filter(|row| is_open(&row.kind) && row.default.is_none());
    open.map(|row| row.name.as_str()).collect()
}

/// Checks that an agent can start with these values for the params of its chart: each param without a default has one, and all values fit.
/// The param `agent_id` is set by the world.
///
/// # Errors
/// A description that continues the name of the argument.
pub(crate) fn accepts(chart: &Chart, params: &Map) -> Result<(), String> {
    for (name, value) in params.iter() {
        let declared = chart.variables.iter().find(|row| row.name == *name);
        let Some((row, range)) = declared.and_then(|row| match &row.kind {
            VariableKind::Param { range } => Some((row, range)),
            VariableKind::Input | VariableKind::Var { .. } => None,
        }) else {
            return Err(format!("has `{name}`, but `{}` has no such param", chart.name));
        };
        let fitted = fit(value.clone(), &row.ty, &chart.types)
            .map_err(|why| format!("has no value of `{name}`: {why}"))?;
        if let Some((low, high)) = range
            && fitted != Value::None
        {
            within(name, &fitted, low, high)?;
        }
    }
    let mut open = open_params(chart);
    open.retain(|name| *name != OWN_NAME && params.get(name).is_none());
    if open.is_empty() {
        return Ok(());
    }
    Err(format!("needs `{}`: `{}` has no default there", open.join("`, `"), chart.name))
}
