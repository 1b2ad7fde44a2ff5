//! Answers that the prompt offers and that lead nowhere.

use super::{Context, Lint, words};
use crate::analysis::answers::{Mismatch, Offered, mismatches};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::span::Span;
use chartc_core::model::{Template, TemplatePart};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0410",
    name: "unmapped-answer",
    severity: Severity::Warning,
    page: include_str!("unmapped_answer.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Mismatch { step, answers, unmapped, .. } in mismatches(chart, facts) {
        let name = words::step(chart, step);
        for offered in &unmapped {
            let mut found = RULE.at(
                place(context, step, offered),
                format!("{name} offers `{}`, which is none of its answers", offered.word),
            );
            let all = answers.iter().map(|(name, _)| name.as_str());
            let near = nearest(&offered.word, all.clone());
            found = found.help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its answers are {}", words::names(all)),
            });
            let meant = near.and_then(|near| answers.iter().find(|(name, _)| name == near));
            if let Some((_, line)) = meant.or_else(|| answers.first()) {
                let what = if meant.is_some() { "this one?" } else { "its answers begin here" };
                found = found.related(map.line(*line).whole, what);
            }
            diagnostics.push(found);
        }
    }
}

/// Where the word stands.
fn place(context: &Context<'_>, step: chartc_core::arena::StepId, offered: &Offered) -> Span {
    let Context { chart, map, sources, .. } = context;
    let (text, parts): (Option<&Template>, _) = match offered.component {
        Some(id) => (Some(&chart.components[id.index()].text), &map.component_parts[id.index()]),
        None => (chart.steps[step.index()].prompt.as_ref(), &map.step(step).prompt_parts),
    };
    match (text.and_then(|t| t.parts.get(offered.part)), parts.get(offered.part)) {
        (Some(TemplatePart::Text(text)), Some(span)) => {
            words::piece(sources, *span, text, &offered.at)
        }
        _ => map.step(step).prompt.unwrap_or(map.step(step).name),
    }
}
