//! Answers that the prompt does not name, and words that it offers although nothing handles them.
//!
//! The problem: a prompt is free text, and a model gives the answers that it finds there. The idea: [`answers`] collects the words that a
//! step handles, [`wording`] recognizes the lists of answers in the text by their form, with [`commands`] for the words before a list, and
//! both are compared in lower case. For example:
//!
//! ```text
//! llm judge {
//!   prompt "Is it good? Answer with yes, no or maybe."
//!   returns Text
//!   done if answer == "yes" -> published
//!   done if answer == "reject" -> writing
//! }
//! ```
//!
//! 1. The step handles `yes` and `reject`. Each `done` compares the answer, so any other answer is ignored.
//! 2. `Answer with …` and the `or` in the list make it certain that `yes, no or maybe` lists answers.
//! 3. The prompt does not name `reject`: an unnamed answer. Nothing handles `no` and `maybe`: unmapped answers.

mod answers;
mod commands;
mod unmapped;
mod wording;

use crate::lint::reading::is_yaml;
use crate::lint::{Context, Lint, words};
use answers::{Declared, Mismatch, mismatches};
use chartc_core::model::StepKind;
use chartc_text::diagnostic::{Diagnostic, nearest};
use chartc_text::rules::UNNAMED_ANSWER;
use chartc_text::span::Span;
use wording::{names, plain};

pub(super) static LINT: Lint = Lint { rule: &UNNAMED_ANSWER, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let all = mismatches(context.chart, context.facts);
    if context.full_prompts {
        diagnostics.extend(all.iter().filter_map(|found| told(context, found)));
    }
    for found in &all {
        unmapped::told(context, found, diagnostics);
    }
}

/// Reports the answers of a step that its prompt does not name.
fn told(context: &Context<'_>, found: &Mismatch) -> Option<Diagnostic> {
    let Context { chart, map, .. } = context;
    let Mismatch { step, answers, .. } = found;
    let unnamed: Vec<usize> =
        found.unnamed.iter().copied().filter(|n| !is_slip(found, *n)).collect();
    let first = unnamed.first()?;
    let spans = map.step(*step);
    let prompt = spans.prompt.map_or(spans.name, |prompt| place(context, prompt, found));
    let spans_of = |declared| match declared {
        Declared::Transition(transition) => map.transition(transition).whole,
        Declared::Enum(id) => map.types[id.index()],
    };
    let lines = unnamed.iter().map(|n| spans_of(answers[*n].1));
    let unsaid = words::names(unnamed.iter().map(|n| answers[*n].0.as_str()));
    let name = words::step(chart, *step);
    let asks = matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
    let mut diagnostic = if unnamed.len() == answers.len() {
        let what = if answers.len() == 1 { "its answer" } else { "any of its answers" };
        let found = UNNAMED_ANSWER.at(
            prompt,
            format!(
                "the prompt of `{}` does not name {what}, {unsaid}",
                chart.steps[step.index()].name
            ),
        );
        lines.take(3).fold(found, |found, line| found.related(line, "an answer"))
    } else {
        let found = UNNAMED_ANSWER.at(
            spans_of(answers[*first].1),
            format!("the prompt of {name} does not name its answer {unsaid}"),
        );
        let rest = lines.skip(1).take(3);
        rest.fold(found, |found, line| found.related(line, "nor this one"))
            .related(prompt, "the prompt")
    };
    let all = answers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let all = if all.len() > 6 { String::new() } else { format!(": {}", all.join(", ")) };
    // Prompts of an `agent.yaml` have no `{options}`.
    let yaml = is_yaml(context);
    diagnostic = diagnostic.help(if asks && !yaml {
        "write `{options}` into the prompt: it lists the answers that are open".to_owned()
    } else {
        format!("name them all in the prompt, such as `Answer with one of{all}`")
    });
    Some(diagnostic)
}

/// The line of the prompt where the list of answers should continue: the last one that names the closest answer before the first unnamed
/// one, or else the last line.
fn place(context: &Context<'_>, prompt: Span, found: &Mismatch) -> Span {
    let source = context.sources.get(prompt.file);
    let Some(text) = source.text.get(prompt.start as usize..prompt.end as usize) else {
        return prompt;
    };
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let says = line.trim().trim_matches('"');
        if !says.is_empty() {
            lines.push((at + line.len() - line.trim_start().len(), line.trim()));
        }
        at += line.len();
    }
    let first = found.unnamed.first().copied().unwrap_or(0);
    let mut before = found.answers[..first].iter().rev().map(|(name, _)| plain(name));
    let listed = before.find_map(|name| lines.iter().rfind(|(_, says)| names(&plain(says), &name)));
    match listed.or(lines.last()) {
        Some((at, says)) => Span {
            start: prompt.start + *at as u32,
            end: prompt.start + (at + says.len()) as u32,
            ..prompt
        },
        None => prompt,
    }
}

/// Whether the prompt offers a similar word. Then the finding about that word covers the answer.
fn is_slip(found: &Mismatch, answer: usize) -> bool {
    let name = plain(&found.answers[answer].0);
    let words: Vec<String> = found.unmapped.iter().flatten().map(|o| plain(&o.word)).collect();
    nearest(&name, words.iter().map(String::as_str)).is_some()
}
