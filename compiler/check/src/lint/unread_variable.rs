//! Variables that are set and never read.

use super::reading::is_yaml;
use super::{Context, Lint, unused_declaration};
use crate::facts::usage::Usage;
use chartc_core::model::VariableKind;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNREAD_VARIABLE;

pub(super) static LINT: Lint = Lint { rule: &UNREAD_VARIABLE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    let usage = Usage::new(chart);
    for (i, variable) in chart.variables.iter().enumerate() {
        if unused_declaration::may_be_identity(variable) && !usage.seen[i] {
            let message = format!("nothing in the chart reads the param `{}`", variable.name);
            let found = UNREAD_VARIABLE.at(map.variables[i], message);
            diagnostics.push(found.help("remove it, unless the host reads it"));
        }
        let var = match variable.kind {
            VariableKind::Var { per_turn } => !per_turn || is_yaml(context),
            VariableKind::Param { .. } | VariableKind::Input => false,
        };
        if var && usage.set[i] && !usage.read[i] {
            let but = if usage.seen[i] { " but to set itself" } else { "" };
            let message =
                format!("`{}` is set, and nothing in the chart reads it{but}", variable.name);
            let found = UNREAD_VARIABLE.at(map.variables[i], message);
            diagnostics.push(found.help("remove it, unless the host reads it"));
        }
    }
}
