//! The forms in which a model is asked for an action, in words and as JSON Schemas. What it answers is read in any of them: see
//! [`ladder::value`](crate::ladder::value).

pub use chartc_core::form::ActionForm;

/// The actions of an agent, as schemas: what they need, and nothing else.
macro_rules! actions {
    () => {
        r#"{"anyOf":[{"type":"object","properties":{"action_type":{"type":"string","enum":["noop"]}},"required":["action_type"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["read_artifact"]},"artifact_id":{"type":"string"}},"required":["action_type","artifact_id"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["write_artifact"]},"artifact_id":{"type":"string"},"artifact_type":{"type":["string","null"]},"content":{"type":"string"}},"required":["action_type","artifact_id","artifact_type","content"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["invoke_artifact"]},"artifact_id":{"type":"string"},"method":{"type":"string"},"args":{"type":"array","items":{"type":["string","number","boolean","null"]}}},"required":["action_type","artifact_id","method","args"],"additionalProperties":false}]}"#
    };
}

/// The schema of an answer in the form; empty for whatever comes.
pub const fn schema(form: ActionForm) -> &'static str {
    match form {
        ActionForm::Any => "",
        ActionForm::Simple => concat!(
            r#"{"type":"object","properties":{"thought_process":{"type":"string"},"action":"#,
            actions!(),
            r#"},"required":["thought_process","action"],"additionalProperties":false}"#
        ),
        ActionForm::Ooda => concat!(
            r#"{"type":"object","properties":{"situation_assessment":{"type":"string"},"action_rationale":{"type":"string"},"action":"#,
            actions!(),
            r#"},"required":["situation_assessment","action_rationale","action"],"additionalProperties":false}"#
        ),
    }
}

/// The form by an example.
pub const fn example(form: ActionForm) -> &'static str {
    match form {
        ActionForm::Any => r#"{"reasoning": "…", "action": "…"}"#,
        ActionForm::Simple => r#"{"thought_process": "…", "action": {"action_type": "…"}}"#,
        ActionForm::Ooda => {
            r#"{"situation_assessment": "…", "action_rationale": "…", "action": {"action_type": "…"}}"#
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Action;
    use crate::ladder;
    use chartc_core::expr::Value;

    /// Whatever fits the schema is an action that can be done.
    #[test]
    fn what_fits_is_an_action() {
        for form in [ActionForm::Simple, ActionForm::Ooda] {
            let schema = schema(form);
            for seed in 0..40_u64 {
                let mut draws = seed;
                let mut pick = |below: u64| {
                    draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (draws >> 33) % below.max(1)
                };
                let text =
                    crate::schema::example(schema, &mut pick).expect("it is small").to_string();
                let reading =
                    ladder::value(&text, "").unwrap_or_else(|why| panic!("{text}: {why:?}"));
                let Value::Map(answer) = reading.meant else { panic!("{text}") };
                assert!(answer.get("reasoning").is_some(), "{text}");
                match Action::read(&answer) {
                    Ok((_, unused)) => assert_eq!(unused, [""; 0], "{text}"),
                    // A text may be empty, by the schema; an id may not.
                    Err(why) => assert!(why.to_string().contains("is a text"), "{text}: {why}"),
                }
            }
        }
    }
}
