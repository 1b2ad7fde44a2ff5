//! `human` steps: a question to a person. The answer is a text, unless the chart declares another type.

use super::Understood;
use crate::answer::{self, Rung, Unusable};
use crate::oracle::Question;
use chartc_core::expr::Value;
use chartc_core::machine::Outcome;

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let said = text.trim();
    if matches!(question.schema.as_str(), "" | r#"{"type":"string"}"#) {
        // A person's text is taken word for word: cleaning is for what models add.
        let outcome = Outcome::Done(vec![Value::Text(said.to_owned())]);
        return Ok(Understood { outcome, rung: Rung::Whole, repairs: Vec::new() });
    }
    let reading = answer::value(said, &question.schema).map_err(|why| {
        let wanted = question.wanted_of_a_person();
        let why =
            if wanted == question.schema { why.why } else { format!("the answer is {wanted}") };
        Unusable { ambiguous: false, why }
    })?;
    let outcome = Outcome::Done(vec![reading.meant]);
    Ok(Understood { outcome, rung: reading.rung, repairs: reading.repairs })
}

pub(super) fn again(why: &str) -> String {
    format!("That could not be used: {why}.")
}
