//! `human`: a question to a person, whose answer is a text unless the chart declares another type.

use super::Understood;
use crate::answer::{self, Rung, Unusable};
use crate::oracle::Question;
use chartc_core::expr::Value;
use chartc_core::machine::Outcome;

/// What people write for a Bool.
const WORDS: [(&str, bool); 4] = [("yes", true), ("y", true), ("no", false), ("n", false)];

pub(super) fn outcome(question: &Question, text: &str) -> Result<Understood, Unusable> {
    let said = text.trim();
    let whole = |value| {
        let outcome = Outcome::Done(vec![value]);
        Ok(Understood { outcome, rung: Rung::Whole, repairs: Vec::new() })
    };
    if question.schema.is_empty() {
        return whole(Value::Text(said.to_owned()));
    }
    if question.schema == r#"{"type":"boolean"}"#
        && let Some((_, yes)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said))
    {
        return whole(Value::Bool(*yes));
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
