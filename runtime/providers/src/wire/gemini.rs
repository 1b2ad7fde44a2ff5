//! Gemini's content generation. Source: <https://ai.google.dev/api/generate-content>.

use super::{Part, Read, Request, Stop, Wire, Written, add, part, said, usage};
use chartc_runtime::oracle::OracleError;
use serde::Deserialize;
use serde_json::json;

pub(crate) const WIRE: Wire = Wire {
    whose: "Gemini's",
    write,
    key: |key| ("x-goog-api-key", key.to_owned()),
    headers: &[],
    models: "models?pageSize=1000",
    read,
};

fn write(request: &Request) -> Written {
    let Request { model, prompt, form, temperature, max_tokens, options } = request;
    let mut settings = json!({
        "maxOutputTokens": max_tokens,
        "responseMimeType": "application/json",
        "responseJsonSchema": form.schema.json(),
    });
    if let Some(temperature) = temperature {
        settings["temperature"] = json!(temperature);
    }
    add(options, &mut settings);
    let body = json!({
        "systemInstruction": {"parts": [{"text": form.words}]},
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "generationConfig": settings,
    });
    Written { path: format!("models/{}:generateContent", segment(model)), body }
}

/// Percent-encodes a model's name into one path segment, so that no `/` or `..` in it changes the path.
fn segment(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(char::from(byte)),
            b'.' if !out.is_empty() && !out.ends_with('.') => out.push('.'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    candidates: Vec<Candidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Text>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default, rename = "promptTokenCount")]
    prompt: u64,
    #[serde(default, rename = "candidatesTokenCount")]
    candidates: u64,
    /// The tokens of the model's reasoning, which are charged like those of the answer.
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: u64,
}

fn read(body: &[u8]) -> Read {
    let Answer { candidates, prompt_feedback, usage_metadata } = serde_json::from_slice(body)?;
    let usage = part(usage_metadata.as_ref()).and_then(|tokens: Usage| {
        usage(tokens.prompt, tokens.candidates.saturating_add(tokens.thoughts))
    });
    if let Some(why) = prompt_feedback.and_then(|feedback| feedback.block_reason) {
        return Ok(Err(OracleError::Refusal(why)));
    }
    let Some(Candidate { content, finish_reason }) = candidates.into_iter().next() else {
        return Ok(Err(OracleError::Empty));
    };
    let parts = content.map_or_else(Vec::new, |content| content.parts);
    // Parts marked `thought` summarise the reasoning and are not part of the answer.
    let text: String =
        parts.into_iter().filter(|part| !part.thought).map(|part| part.text).collect();
    let stop = match finish_reason.as_deref() {
        Some("MAX_TOKENS") => Stop::Cut,
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED") => Stop::Ended,
        Some(why) if text.trim().is_empty() => Stop::Refused(why.to_owned()),
        Some(_) => Stop::Ended,
    };
    Ok(said(text, usage, stop))
}
