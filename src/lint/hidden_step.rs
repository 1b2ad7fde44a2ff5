//! Model steps that never get the turn's call.

use super::{Context, Lint};
use crate::analysis::calls::{Hiding, hidden};
use crate::diagnostic::{Diagnostic, Rule, Severity};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

static RULE: Rule = Rule {
    code: "C0307",
    name: "hidden-step",
    severity: Severity::Warning,
    page: include_str!("hidden_step.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Hiding { first, hidden } in hidden(chart, facts) {
        let name = |id: chartc_core::arena::StepId| format!("`{}`", chart.steps[id.index()].name);
        let shown: Vec<String> = hidden.iter().take(3).map(|s| name(*s)).collect();
        let more = if hidden.len() > 3 {
            format!(" and {} more", hidden.len() - 3)
        } else {
            String::new()
        };
        let runs = if hidden.len() == 1 { "runs" } else { "run" };
        let message = format!(
            "{} always takes the one model call of a turn, so {}{more} never {runs}",
            name(first),
            shown.join(", ")
        );
        let mut found = RULE.at(map.step(first).name, message).help(
            "give the step a condition, put it after the others, or allow more calls: `limits { calls 2 per turn }`; for an `agent.yaml` `chartc run --calls-per-turn 2`",
        );
        for step in hidden.iter().take(3) {
            found = found.related(map.step(*step).name, "never runs");
        }
        diagnostics.push(found);
    }
}
