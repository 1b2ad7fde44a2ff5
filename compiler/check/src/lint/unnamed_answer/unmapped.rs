//! Words that a prompt offers as answers and that nothing handles.

use crate::lint::unnamed_answer::answers::{Declared, Mismatch, Offered};
use crate::lint::{Context, words};
use chartc_core::model::{StepKind, Template, TemplatePart};
use chartc_text::diagnostic::{Diagnostic, nearest};
use chartc_text::rules::UNMAPPED_ANSWER;
use chartc_text::span::Span;

/// Reports the words of one step that are none of its answers, a finding for each list.
pub(super) fn told(context: &Context<'_>, mismatch: &Mismatch, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let Mismatch { step, answers, unmapped, .. } = mismatch;
    let name = words::step(chart, *step);
    for list in unmapped {
        let Some(first) = list.first() else { continue };
        let is = if list.len() == 1 { "is" } else { "are" };
        let shown = words::names(list.iter().map(|offered| &offered.word[..]));
        let mut found = UNMAPPED_ANSWER.at(
            place(context, *step, first),
            format!("{name} offers {shown}, which {is} none of its answers"),
        );
        let all = answers.iter().map(|(name, _)| name.as_str());
        let near = list.iter().find_map(|o| Some((&o.word, nearest(&o.word, all.clone())?)));
        found = found.help(match near {
            Some((_, near)) if list.len() == 1 => format!("did you mean `{near}`?"),
            Some((word, near)) => format!("did you mean `{near}` by `{word}`?"),
            None => format!("its answers are {}", words::names(all)),
        });
        let near = near.map(|(_, near)| near);
        let meant = near.and_then(|near| answers.iter().find(|(name, _)| name == near));
        found = match meant.or_else(|| answers.first()) {
            Some((_, Declared::Transition(transition))) => {
                let what = if meant.is_some() { "this one?" } else { "its answers begin here" };
                found.related(map.transition(*transition).whole, what)
            }
            Some((_, Declared::Enum(id))) => found.related(map.types[id.index()], "its answers"),
            None => found,
        };
        diagnostics.push(found);
    }
}

/// The span of an offered word in the source.
fn place(context: &Context<'_>, step: chartc_core::arena::StepId, offered: &Offered) -> Span {
    let Context { chart, map, sources, .. } = context;
    let row = &chart.steps[step.index()];
    let question = if let StepKind::Human(text) = &row.kind { Some(text) } else { None };
    let (text, parts): (Option<&Template>, _) = match offered.component {
        Some(id) => (Some(&chart.components[id.index()].text), &map.component_parts[id.index()]),
        None => (row.prompt.as_ref().or(question), &map.step(step).prompt_parts),
    };
    match (text.and_then(|t| t.parts.get(offered.part)), parts.get(offered.part)) {
        (Some(TemplatePart::Text(text)), Some(span)) => {
            words::piece(sources, *span, text, &offered.at)
        }
        _ => map.step(step).prompt.unwrap_or(map.step(step).name),
    }
}
