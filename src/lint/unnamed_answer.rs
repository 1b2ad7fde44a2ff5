//! Answers that the prompt does not name.

use super::{Context, Lint, words};
use crate::analysis::answers::{Mismatch, mismatches};
use crate::analysis::wording::plain;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use chartc_core::model::StepKind;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0409",
    name: "unnamed-answer",
    severity: Severity::Warning,
    page: include_str!("unnamed_answer.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if !context.full_prompts {
        return;
    }
    for found in mismatches(chart, facts) {
        let Mismatch { step, answers, .. } = &found;
        let unnamed: Vec<usize> =
            found.unnamed.iter().copied().filter(|n| !is_slip(&found, *n)).collect();
        let Some(first) = unnamed.first() else { continue };
        let spans = map.step(*step);
        let prompt = spans.prompt.unwrap_or(spans.name);
        let lines = unnamed.iter().map(|n| map.line(answers[*n].1).whole);
        let names = words::names(unnamed.iter().map(|n| answers[*n].0.as_str()));
        let name = words::step(chart, *step);
        let asks = matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
        let mut diagnostic = if unnamed.len() == answers.len() {
            let what = if answers.len() == 1 { "its answer" } else { "any of its answers" };
            let found = RULE.at(
                prompt,
                format!(
                    "the prompt of `{}` does not name {what}, {names}",
                    chart.steps[step.index()].name
                ),
            );
            lines.take(3).fold(found, |found, line| found.related(line, "an answer"))
        } else {
            let found = RULE.at(
                map.line(answers[*first].1).whole,
                format!("the prompt of {name} does not name its answer {names}"),
            );
            let rest = lines.skip(1).take(3);
            rest.fold(found, |found, line| found.related(line, "nor this one"))
                .related(prompt, "the prompt")
        };
        let all = answers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let all = if all.len() > 6 { String::new() } else { format!(": {}", all.join(", ")) };
        let yaml = is_yaml(context);
        diagnostic = diagnostic.help(if asks && !yaml {
            "write `{options}` into the prompt: it lists the answers that are open".to_owned()
        } else {
            format!("name them all in the prompt, such as `Answer with one of{all}`")
        });
        diagnostics.push(diagnostic);
    }
}

/// Whether the chart is an agent, whose prompts have no `{options}`.
fn is_yaml(context: &Context<'_>) -> bool {
    let name = &context.sources.get(context.map.file).name;
    [".yaml", ".yml"].iter().any(|end| name.ends_with(end))
}

/// Whether the prompt names something so alike that the other finding tells of it.
fn is_slip(found: &Mismatch, answer: usize) -> bool {
    let name = plain(&found.answers[answer].0);
    let words: Vec<String> = found.unmapped.iter().map(|o| plain(&o.word)).collect();
    nearest(&name, words.iter().map(String::as_str)).is_some()
}
