//! Ollama's own chat interface, which takes options such as `num_ctx`. Source: <https://github.com/ollama/ollama/blob/main/docs/api.md>.

use super::{Part, Read, Request, Stop, Wire, Written, add, part, said, usage};
use serde::Deserialize;
use serde_json::json;

pub(crate) const WIRE: Wire = Wire {
    whose: "Ollama's",
    write,
    key: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    models: "api/tags",
    read,
};

fn write(request: &Request) -> Written {
    let Request { model, prompt, form, temperature, max_tokens, options } = request;
    let mut body = json!({
        "model": model,
        "messages": [{"role": "system", "content": form.words}, {"role": "user", "content": prompt}],
        "stream": false,
        "format": form.schema.json(),
        "options": {"num_predict": max_tokens},
    });
    if let Some(temperature) = temperature {
        body["options"]["temperature"] = json!(temperature);
    }
    add(options, &mut body["options"]);
    Written { path: "api/chat".into(), body }
}

#[derive(Deserialize)]
struct Answer {
    message: Message,
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<Part>,
    #[serde(default)]
    eval_count: Option<Part>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: String,
}

fn read(body: &[u8]) -> Read {
    let Answer { message, done_reason, prompt_eval_count, eval_count } =
        serde_json::from_slice(body)?;
    let count = |count: Option<Part>| part(count.as_ref()).unwrap_or(0);
    let usage = usage(count(prompt_eval_count), count(eval_count));
    let stop = match done_reason.as_deref() {
        Some("length") => Stop::Cut,
        _ => Stop::Ended,
    };
    Ok(said(message.content, usage, stop))
}
