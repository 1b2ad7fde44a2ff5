//! What a server answered.

use crate::form::WRAPPED;
use chartc_runtime::budget::Usage;
use chartc_runtime::oracle::{Answer, OracleError};
use genai::chat::{ChatResponse, StopReason};
use serde_json::Value;

/// Takes the text and the usage; `wrapped`, where the schema that was sent had to be put into an object.
pub(crate) fn read(response: ChatResponse, wrapped: bool) -> Result<Answer, OracleError> {
    let tokens = |n: Option<i32>| n.and_then(|n| u64::try_from(n).ok());
    let usage =
        match (tokens(response.usage.prompt_tokens), tokens(response.usage.completion_tokens)) {
            (Some(input_tokens), Some(output_tokens)) if input_tokens + output_tokens > 0 => {
                Some(Usage { input_tokens, output_tokens, cost: None })
            }
            _ => None,
        };
    let body = response.captured_raw_body.as_ref();
    let refusal =
        body.and_then(|b| b.pointer("/choices/0/message/refusal")).and_then(Value::as_str);
    if let Some(why) = refusal.filter(|why| !why.is_empty()) {
        return Err(OracleError::Refusal(why.to_owned()));
    }
    let text = response.content.into_joined_texts().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(match response.stop_reason {
            Some(StopReason::ContentFilter(why)) => OracleError::Refusal(why),
            Some(_) | None => OracleError::Empty,
        });
    }
    let text = if wrapped { unwrapped(text) } else { text };
    Ok(Answer { text, usage })
}

/// `{"value": x}` as `x`; anything else as it stands, for the ladder to read.
fn unwrapped(text: String) -> String {
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(map)) if map.len() == 1 && map.contains_key(WRAPPED) => {
            map[WRAPPED].to_string()
        }
        Ok(_) | Err(_) => text,
    }
}
