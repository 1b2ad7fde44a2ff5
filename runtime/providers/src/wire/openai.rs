//! OpenAI's chat interface, which many servers speak. Source: <https://platform.openai.com/docs/api-reference/chat>.

use super::{Part, Read, Request, Stop, Wire, Written, add, part, said, usage};
use chartc_runtime::oracle::OracleError;
use serde::Deserialize;
use serde_json::json;

pub(crate) const WIRE: Wire = Wire {
    whose: "OpenAI's",
    write,
    key: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    models: "models",
    read,
};

/// The name of the parameter that limits the answer's tokens. OpenAI's reasoning models refuse the older `max_tokens`, and other
/// servers may not know the newer name.
fn limit(model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_of_gpt = name.starts_with("gpt-") && !name.starts_with("gpt-oss");
    let of_o = name.strip_prefix('o').and_then(|rest| rest.chars().next());
    if is_of_gpt || name.starts_with("chatgpt-") || of_o.is_some_and(|c| c.is_ascii_digit()) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

fn write(request: &Request) -> Written {
    let Request { model, prompt, form, temperature, max_tokens, options } = request;
    let is_closed = form.schema.is_closed();
    // Strict mode guarantees the form, but OpenAI accepts it only for closed schemas with all properties required.
    let schema = if is_closed { form.schema.all_required() } else { form.schema.json().clone() };
    let named = json!({"name": form.name, "strict": is_closed, "schema": schema});
    let mut body = json!({
        "model": model,
        "messages": [{"role": "system", "content": form.words}, {"role": "user", "content": prompt}],
        "response_format": {"type": "json_schema", "json_schema": named},
    });
    body[limit(model)] = json!(max_tokens);
    if let Some(temperature) = temperature {
        body["temperature"] = json!(temperature);
    }
    add(options, &mut body);
    Written { path: "chat/completions".into(), body }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Option<Part>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    /// A string or, from some servers, a list of parts.
    content: Option<Part>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

fn read(body: &[u8]) -> Read {
    let Answer { choices, usage: tokens } = serde_json::from_slice(body)?;
    let usage = part(tokens.as_ref())
        .and_then(|tokens: Usage| usage(tokens.prompt_tokens, tokens.completion_tokens));
    let Some(Choice { message, finish_reason }) = choices.into_iter().next() else {
        return Ok(Err(OracleError::Empty));
    };
    let content = message.content.as_ref();
    let parts = || part::<Vec<Text>>(content).map(|all| all.into_iter().map(|t| t.text).collect());
    let text: String = part(content).or_else(parts).unwrap_or_default();
    let stop = match (message.refusal, finish_reason.as_deref()) {
        (Some(why), _) if !why.is_empty() => Stop::Refused(why),
        (_, Some(why @ "content_filter")) if text.trim().is_empty() => Stop::Refused(why.into()),
        (_, Some("length")) => Stop::Cut,
        _ => Stop::Ended,
    };
    Ok(said(text, usage, stop))
}
