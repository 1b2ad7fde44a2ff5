//! The JSON Schemas of actions in the built-in forms. Answers in any of these forms are accepted: see
//! [`answer::value`](crate::answer::value).

pub(crate) use chartc_core::model::ActionForm;

/// The schema of an agent's four actions, each with exactly the fields that it needs.
macro_rules! actions {
    () => {
        r#"{"anyOf":[{"type":"object","properties":{"action_type":{"type":"string","enum":["noop"]}},"required":["action_type"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["read_artifact"]},"artifact_id":{"type":"string"}},"required":["action_type","artifact_id"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["write_artifact"]},"artifact_id":{"type":"string"},"artifact_type":{"type":["string","null"]},"content":{"type":"string"}},"required":["action_type","artifact_id","artifact_type","content"],"additionalProperties":false},{"type":"object","properties":{"action_type":{"type":"string","enum":["invoke_artifact"]},"artifact_id":{"type":"string"},"method":{"type":"string"},"args":{"type":"array","items":{"type":["string","number","boolean","null"]}}},"required":["action_type","artifact_id","method","args"],"additionalProperties":false}]}"#
    };
}

/// The schema of an answer in a form; empty if any answer is accepted.
pub(crate) const fn schema(form: ActionForm) -> &'static str {
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
