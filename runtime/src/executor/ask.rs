//! `ask` steps: a question whose answer is one of the options that are enabled now.

use super::Understood;
use crate::answer::{self, Unusable};
use crate::oracle::{Alternative, Question};
use chartc_core::arena::{ChoiceId, ToolId};
use chartc_core::host::{Machine, Offer};
use chartc_core::machine::{Outcome, StepKey};
use std::borrow::Cow;

pub(super) fn alternatives(machine: &mut dyn Machine, key: StepKey) -> Vec<Alternative> {
    let offers = machine.options(key);
    offers
        .into_iter()
        .map(|offer| {
            let schema = match offer.tool {
                Some(tool) => machine.tool_schema(tool),
                None => machine.argument_schema(offer.choice),
            };
            Alternative { offer, schema }
        })
        .collect()
}

/// The declared tools that are not among the options. An answer that names one is refused as forbidden, not treated as unreadable.
pub(super) fn forbidden(machine: &dyn Machine, options: &[Alternative]) -> Vec<Alternative> {
    let tools = machine.tables().tools;
    let offered = |tool: ToolId| options.iter().any(|option| option.offer.tool == Some(tool));
    let rows = tools.iter().enumerate().map(|(i, row)| (ToolId::at(i), row.name));
    rows.filter(|(tool, _)| !offered(*tool))
        .map(|(tool, name)| Alternative {
            offer: Offer {
                choice: ChoiceId(u32::MAX),
                tool: Some(tool),
                name: name.to_owned().into(),
                text: Cow::Borrowed(""),
                arguments: Vec::new(),
            },
            schema: String::new(),
        })
        .collect()
}

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let reading = match answer::option(text, &question.options) {
        Ok(reading) => reading,
        Err(why) => return refused(question, text).ok_or(why),
    };
    let (index, arguments) = reading.meant;
    let offer = &question.options[index].offer;
    Ok(Understood {
        outcome: match offer.tool {
            Some(tool) => Outcome::Call(tool, arguments),
            None => Outcome::Choice(offer.choice, arguments),
        },
        rung: reading.rung,
        repairs: reading.repairs,
    })
}

/// The outcome of an answer that names a tool which may not be called now.
fn refused(question: &Question, text: &str) -> Option<Understood> {
    let reading = answer::option(text, &question.forbidden).ok()?;
    let tool = question.forbidden[reading.meant.0].offer.tool?;
    let outcome = Outcome::Forbidden(tool);
    Some(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

pub(super) fn again(why: &str, question: &Question) -> String {
    let mut text =
        format!("Your last answer could not be used: {why}. Answer with exactly one of:");
    for option in &question.options {
        text.push_str("\n- ");
        text.push_str(&option.offer.name);
        if !option.offer.arguments.is_empty() {
            let arguments: Vec<String> =
                option.offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            text.push_str(&format!("({})", arguments.join(", ")));
        }
    }
    text
}
