//! `llm` steps: a model call whose answer is an action or a value of the declared type.

use super::{Understood, ask};
use crate::answer::{self, Unusable};
use crate::oracle::Question;
use chartc_core::machine::Outcome;

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    // With tools, an answer may be a tool call instead of the final answer. A call of a forbidden tool must be recognised, too.
    let has_tools = !question.options.is_empty() || !question.forbidden.is_empty();
    if has_tools && answer::calls(text) {
        return ask::outcome(question, text);
    }
    let reading = answer::value(text, &question.schema)?;
    Ok(Understood {
        outcome: Outcome::Done(vec![reading.meant]),
        rung: reading.rung,
        repairs: reading.repairs,
    })
}

pub(super) fn again(why: &str, question: &Question) -> String {
    let wanted = match question.wanted() {
        "" => "a JSON object with the keys `reasoning` and `action`".to_owned(),
        schema => format!("JSON that fits this schema: {schema}"),
    };
    let tools: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
    let or = if tools.is_empty() {
        String::new()
    } else {
        format!(", or call one of the tools {}", tools.join(", "))
    };
    format!("Your last answer could not be used: {why}. Answer with nothing but {wanted}{or}")
}
