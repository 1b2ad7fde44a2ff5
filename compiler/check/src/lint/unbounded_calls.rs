//! Unbounded loops of model calls.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use crate::facts::endless::endless;
use chartc_core::arena::StateId;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNBOUNDED_CALLS;

pub(super) static LINT: Lint = Lint { rule: &UNBOUNDED_CALLS, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // The format has no limits for agents: the host bounds their turns.
    if is_yaml(context) {
        return;
    }
    let Some(round) = endless(chart, facts) else { return };
    let step = words::step(chart, round.step);
    let moves = round.transitions.iter().copied().find(|transition| {
        let row = chart.transition(*transition);
        row.targets.iter().any(|t| t.state.0 != 0)
            && map.transition(*transition).whole.file == map.file
    });
    let message = match moves {
        Some(transition) => {
            let source =
                chart.transition(transition).targets.first().map_or(StateId::at(0), |t| t.state);
            let source = words::state(chart, source);
            format!(
                "{step} may call the model again and again: nothing bounds the rounds through {source}"
            )
        }
        None => {
            format!("{step} may call the model again and again: no line has to leave its state")
        }
    };
    let mut found = UNBOUNDED_CALLS.at(map.step(round.step).name, message).help(
        "bound the run, `limits { turns 50 }` or `limits { calls 20 }`, or the state: `after 10 turns -> …`",
    );
    if let Some(transition) = moves {
        found = found.related(map.transition(transition).whole, "part of the cycle");
    }
    diagnostics.push(found);
}
