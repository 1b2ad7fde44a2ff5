//! `ask`: a question whose answer is one of the options enabled now.

use super::Understood;
use crate::ladder::{self, Unusable};
use crate::oracle::{Alternative, Question};
use chartc_core::drive::Machine;
use chartc_core::machine::{Outcome, StepKey};

pub(super) fn alternatives(machine: &mut dyn Machine, key: StepKey) -> Vec<Alternative> {
    let offers = machine.options(key);
    offers
        .into_iter()
        .map(|offer| Alternative { schema: machine.argument_schema(offer.choice), offer })
        .collect()
}

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let reading = ladder::option(text, &question.options)?;
    let (choice, arguments) = reading.meant;
    Ok(Understood {
        outcome: Outcome::Choice(choice, arguments),
        rung: reading.rung,
        repairs: reading.repairs,
    })
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
