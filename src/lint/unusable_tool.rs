//! Prompts that name tools which the model cannot call there.

use super::{Context, Lint, words};
use crate::analysis::tooling::{Mention, mentions};
use crate::diagnostic::{Diagnostic, nearest};
use crate::rules::forbidden_tool;
use crate::rules::unusable_tool::RULE;
use crate::span::Span;
use chartc_core::model::{Template, TemplatePart};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for mention in mentions(chart, facts) {
        let (word, step) = (&mention.word, words::step(chart, mention.step));
        let at = place(context, &mention);
        if mention.forbidden {
            diagnostics.push(forbidden_tool::named(&mention.word, &step, at));
        } else if let Some(tool) = mention.tool {
            let open = mention.open.iter().map(|t| chart.tools[t.index()].name.as_str());
            let is_llm = chart.steps[mention.step.index()].tools.is_some();
            let help = if is_llm {
                format!(
                    "its `tools` are {}: put it among them, or take the name out of the prompt",
                    words::names(open)
                )
            } else if mention.open.is_empty() {
                "no `may call` line offers a tool there: add one, or take the name out of the prompt".to_owned()
            } else {
                format!(
                    "it may call {}: offer it with `may call`, or take the name out of the prompt",
                    words::names(open)
                )
            };
            let why =
                if is_llm { "is none of its `tools`" } else { "no line offers where it asks" };
            let message = format!("the prompt of {step} names `{word}`, which {why}");
            let found = RULE.at(at, message).help(help);
            diagnostics.push(found.related(map.tools[tool.index()], "declared here"));
        } else if let Some(near) = nearest(word, chart.tools.iter().map(|t| t.name.as_str())) {
            let message =
                format!("the prompt of {step} names `{word}`, and there is no tool of that name");
            diagnostics.push(RULE.at(at, message).help(format!("did you mean `{near}`?")));
        }
    }
}

/// Where the name stands.
fn place(context: &Context<'_>, mention: &Mention) -> Span {
    let Context { chart, map, sources, .. } = context;
    let step = mention.step;
    let (text, parts): (Option<&Template>, _) = match mention.component {
        Some(id) => (Some(&chart.components[id.index()].text), &map.component_parts[id.index()]),
        None => (chart.steps[step.index()].prompt.as_ref(), &map.step(step).prompt_parts),
    };
    match (text.and_then(|t| t.parts.get(mention.part)), parts.get(mention.part)) {
        (Some(TemplatePart::Text(text)), Some(span)) => {
            words::piece(sources, *span, text, &mention.at)
        }
        _ => map.step(step).prompt.unwrap_or(map.step(step).name),
    }
}
