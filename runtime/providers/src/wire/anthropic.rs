//! Anthropic's messages. Source: <https://docs.anthropic.com/en/api/messages>.

use super::{Part, Read, Request, Stop, Wire, Written, add, part, said, usage};
use serde::Deserialize;
use serde_json::json;

pub(crate) const WIRE: Wire = Wire {
    whose: "Anthropic's",
    write,
    key: |key| ("x-api-key", key.to_owned()),
    headers: &[("anthropic-version", "2023-06-01")],
    models: "models?limit=1000",
    read,
};

fn write(request: &Request) -> Written {
    let Request { model, prompt, form, temperature, max_tokens, options } = request;
    let mut body = json!({
        "model": model,
        "system": form.words,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
    });
    // Anthropic refuses open and recursive schemas. The system message describes the form in words in any case.
    if form.schema.is_closed() && !form.schema.is_recursive() {
        let schema = form.schema.json();
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    if let Some(temperature) = temperature {
        body["temperature"] = json!(temperature);
    }
    add(options, &mut body);
    Written { path: "messages".into(), body }
}

#[derive(Deserialize)]
struct Answer {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Part>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cached: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    read: Option<u64>,
}

fn read(body: &[u8]) -> Read {
    let Answer { content, stop_reason, usage: tokens } = serde_json::from_slice(body)?;
    let usage = part(tokens.as_ref()).and_then(|tokens: Usage| {
        // `input_tokens` leaves out the tokens that were written to the prompt cache or read from it.
        let cached = [tokens.cached, tokens.read].into_iter().flatten();
        usage(cached.fold(tokens.input, u64::saturating_add), tokens.output)
    });
    let text: String =
        content.into_iter().filter(|block| block.kind == "text").map(|block| block.text).collect();
    let stop = match stop_reason.as_deref() {
        Some("refusal") => {
            Stop::Refused(if text.is_empty() { "refusal".into() } else { text.clone() })
        }
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Cut,
        _ => Stop::Ended,
    };
    Ok(said(text, usage, stop))
}
