//! Formats the maximum that a run may use.

use crate::costs::amount_text;
use chartc_check::turn::cost::{CallBound, RunCost};
use chartc_check::turn::money::money;
use chartc_core::model::{Chart, StepKind};

/// Formats the maximum number of model calls of a run and, as far as they are bounded, the tokens of all answers and the cost. Returns
/// `None` if no model is called.
pub(super) fn worst(chart: &Chart, run: &RunCost) -> Option<String> {
    let mut text = match run.worst {
        CallBound::NoCalls => return None,
        CallBound::Formula | CallBound::None { .. } => "model calls without a bound".to_owned(),
        CallBound::Calls(_) | CallBound::States(_) | CallBound::Turns { .. } => {
            let most = run.worst.calls().unwrap_or_default();
            let s = if most == 1 { "" } else { "s" };
            format!("at most {most} model call{s} a run")
        }
    };
    let longest = run.worst.calls().zip(longest_answer(chart));
    if let Some((calls, longest)) = longest {
        text.push_str(&format!(", answers of {} tokens", calls.saturating_mul(longest)));
    }
    let most = money(chart, run).and_then(|found| found.most.known());
    if let Some(most) = most.filter(|_| !chart.clients.is_empty()) {
        text.push_str(&format!(", a cost of {}", amount_text(most)));
    }
    Some(text)
}

/// The maximum number of tokens of an answer; `None` if one has no limit.
fn longest_answer(chart: &Chart) -> Option<u64> {
    let mut longest = 0;
    for step in &chart.steps {
        let calls = matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. });
        if !calls {
            continue;
        }
        // The loop ends, because the checker rejects cycles of fallbacks.
        let mut next = Some(step.client?);
        while let Some(id) = next {
            let client = &chart.clients[id.index()];
            longest = longest.max(u64::try_from(client.max_tokens?).ok()?);
            next = client.fallback;
        }
    }
    Some(longest)
}
