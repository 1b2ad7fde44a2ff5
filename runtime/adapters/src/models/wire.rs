//! The APIs of providers: what is sent and what comes back.
//!
//! **The problem.** Each provider has its own names for prompt, schema and limits, its own way to report tokens, and its own reasons why a
//! text ends. The runtime needs one [`Request`] and one [`ModelAnswer`].
//!
//! **The idea.** A [`Wire`] is a table of functions and constants for one API: `write` builds path and body, `read` parses the body of a
//! response, and the rest are headers. Parsing is lenient beside the text: token counts of an unexpected form are dropped and do not fail
//! the answer. `said` combines the text, the usage and the end of an answer, and turns an empty or refused one into an [`OracleError`].
//!
//! | API | `max_tokens` is called | cut off if |
//! |---|---|---|
//! | [`ANTHROPIC`] | `max_tokens` | `stop_reason` is `max_tokens` or `model_context_window_exceeded` |
//! | [`GEMINI`] | `generationConfig.maxOutputTokens` | `finishReason` is `MAX_TOKENS` |
//! | [`OLLAMA`] | `options.num_predict` | `done_reason` is `length` |
//! | [`OPENAI`] | `max_tokens`, or `max_completion_tokens` for names of OpenAI's models | `finish_reason` is `length` |
//!
//! To add one, add a [`Wire`] here and a row in [`super::PROVIDERS`]. The end of the file reads bodies up to a bound, for all of them.

use super::form::Form;
use chartc_runtime::budget;
use chartc_runtime::oracle::{self, OracleError};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A request, independent of the provider.
pub(super) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) prompt: &'a str,
    pub(super) form: &'a Form,
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: u64,
    /// Further parameters from the client of the chart, as JSON. The fields above take precedence.
    pub(super) options: &'a Map<String, Value>,
}

/// Adds the client's further parameters to an object, except those that are already set.
fn add(options: &Map<String, Value>, to: &mut Value) {
    let Value::Object(to) = to else { return };
    for (name, value) in options {
        to.entry(name).or_insert_with(|| value.clone());
    }
}

/// A request in the form of one provider.
pub(super) struct Written {
    /// The path below the base URL, without a leading slash.
    pub(super) path: String,
    pub(super) body: Value,
}

/// The part of a response that the runtime needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelAnswer {
    pub(super) text: String,
    pub(super) usage: Option<budget::Usage>,
    /// The answer was cut off at the maximum number of tokens.
    pub(super) cut: bool,
}

/// The API of a kind of server, as functions and constants.
pub(super) struct Wire {
    /// The name in messages such as "the answer has another form than OpenAI's".
    pub(super) whose: &'static str,
    pub(super) write: fn(&Request) -> Written,
    /// The name and the value of the header that carries the key.
    pub(super) key: fn(&str) -> (&'static str, String),
    /// Further headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The path of the list of models, below the base URL. It serves to test the connection and the key.
    pub(super) models: &'static str,
    /// Parses the body of a response with status 2xx.
    pub(super) read: fn(&[u8]) -> Read,
}

/// The result of parsing a body: an answer or the reason for its absence; the outer error means that the body has another form.
pub(super) type Read = Result<Result<ModelAnswer, OracleError>, serde_json::Error>;

/// A part of a body that is parsed separately and leniently: an unexpected form does not fail the rest, and costs only its text in
/// memory.
type Part = Box<RawValue>;

/// Parses such a part; `None` if it has another form than expected.
fn part<T: DeserializeOwned>(part: Option<&Part>) -> Option<T> {
    part.and_then(|part| serde_json::from_str(part.get()).ok())
}

/// The token counts of an answer; `None` if the provider reported none.
fn usage(input_tokens: u64, output_tokens: u64) -> Option<budget::Usage> {
    (input_tokens.saturating_add(output_tokens) > 0).then_some(budget::Usage {
        input_tokens,
        output_tokens,
        cost: None,
    })
}

/// Combines the parts of a response into an answer, or into the error that its end means.
fn said(
    text: String,
    usage: Option<budget::Usage>,
    stop: Stop,
) -> Result<ModelAnswer, OracleError> {
    match stop {
        Stop::Refused(why) => Err(OracleError::Refusal(why)),
        // A reasoning model may use up its tokens before it writes anything.
        Stop::Cut if text.trim().is_empty() => Err(OracleError::Other(
            "the answer was cut off before its first word: `max_tokens` is too small".into(),
        )),
        Stop::Ended | Stop::Cut if text.trim().is_empty() => Err(OracleError::Empty),
        Stop::Ended => Ok(ModelAnswer { text, usage, cut: false }),
        Stop::Cut => Ok(ModelAnswer { text, usage, cut: true }),
    }
}

/// The reason why the model stopped writing.
enum Stop {
    Ended,
    Cut,
    Refused(String),
}

// Anthropic's messages. Source: <https://docs.anthropic.com/en/api/messages>.

pub(super) const ANTHROPIC: Wire = Wire {
    whose: "Anthropic's",
    write: write_anthropic,
    key: |key| ("x-api-key", key.to_owned()),
    headers: &[("anthropic-version", "2023-06-01")],
    models: "models?limit=1000",
    read: read_anthropic,
};

fn write_anthropic(request: &Request) -> Written {
    let Request { model, prompt, form, temperature, max_tokens, options } = request;
    let mut body = json!({
        "model": model,
        "system": form.words,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
    });
    // Anthropic refuses open and recursive schemas. The system message describes the form in words in any case.
    if form.schema.is_closed() && !form.schema.is_recursive() {
        let schema = form.schema.without_ranges();
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    if let Some(temperature) = temperature {
        body["temperature"] = json!(temperature);
    }
    add(options, &mut body);
    Written { path: "messages".into(), body }
}

#[derive(Deserialize)]
struct AnthropicAnswer {
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
struct AnthropicUsage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cached: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    read: Option<u64>,
}

fn read_anthropic(body: &[u8]) -> Read {
    let AnthropicAnswer { content, stop_reason, usage: tokens } = serde_json::from_slice(body)?;
    let usage = part(tokens.as_ref()).and_then(|tokens: AnthropicUsage| {
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

// Gemini's content generation. Source: <https://ai.google.dev/api/generate-content>.

pub(super) const GEMINI: Wire = Wire {
    whose: "Gemini's",
    write: write_gemini,
    key: |key| ("x-goog-api-key", key.to_owned()),
    headers: &[],
    models: "models?pageSize=1000",
    read: read_gemini,
};

fn write_gemini(request: &Request) -> Written {
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
struct GeminiAnswer {
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
    parts: Vec<GeminiText>,
}

#[derive(Deserialize)]
struct GeminiText {
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
struct GeminiUsage {
    #[serde(default, rename = "promptTokenCount")]
    prompt: u64,
    #[serde(default, rename = "candidatesTokenCount")]
    candidates: u64,
    /// The tokens of the model's reasoning, which are charged like those of the answer.
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: u64,
}

fn read_gemini(body: &[u8]) -> Read {
    let GeminiAnswer { candidates, prompt_feedback, usage_metadata } =
        serde_json::from_slice(body)?;
    let usage = part(usage_metadata.as_ref()).and_then(|tokens: GeminiUsage| {
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

// Ollama's own chat interface, which takes options such as `num_ctx`. Source: <https://github.com/ollama/ollama/blob/main/docs/api.md>.

pub(super) const OLLAMA: Wire = Wire {
    whose: "Ollama's",
    write: write_ollama,
    key: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    models: "api/tags",
    read: read_ollama,
};

fn write_ollama(request: &Request) -> Written {
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
struct OllamaAnswer {
    message: OllamaMessage,
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<Part>,
    #[serde(default)]
    eval_count: Option<Part>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    #[serde(default)]
    content: String,
}

fn read_ollama(body: &[u8]) -> Read {
    let OllamaAnswer { message, done_reason, prompt_eval_count, eval_count } =
        serde_json::from_slice(body)?;
    let count = |count: Option<Part>| part(count.as_ref()).unwrap_or(0);
    let usage = usage(count(prompt_eval_count), count(eval_count));
    let stop = match done_reason.as_deref() {
        Some("length") => Stop::Cut,
        _ => Stop::Ended,
    };
    Ok(said(message.content, usage, stop))
}

// OpenAI's chat interface, which many servers speak. Source: <https://platform.openai.com/docs/api-reference/chat>.

pub(super) const OPENAI: Wire = Wire {
    whose: "OpenAI's",
    write: write_openai,
    key: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    models: "models",
    read: read_openai,
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

fn write_openai(request: &Request) -> Written {
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
struct OpenaiAnswer {
    choices: Vec<Choice>,
    usage: Option<Part>,
}

#[derive(Deserialize)]
struct Choice {
    message: OpenaiMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenaiMessage {
    /// A string or, from some servers, a list of parts.
    content: Option<Part>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct OpenaiText {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct OpenaiUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

fn read_openai(body: &[u8]) -> Read {
    let OpenaiAnswer { choices, usage: tokens } = serde_json::from_slice(body)?;
    let usage = part(tokens.as_ref())
        .and_then(|tokens: OpenaiUsage| usage(tokens.prompt_tokens, tokens.completion_tokens));
    let Some(Choice { message, finish_reason }) = choices.into_iter().next() else {
        return Ok(Err(OracleError::Empty));
    };
    let content = message.content.as_ref();
    let parts =
        || part::<Vec<OpenaiText>>(content).map(|all| all.into_iter().map(|t| t.text).collect());
    let text: String = part(content).or_else(parts).unwrap_or_default();
    let stop = match (message.refusal, finish_reason.as_deref()) {
        (Some(why), _) if !why.is_empty() => Stop::Refused(why),
        (_, Some(why @ "content_filter")) if text.trim().is_empty() => Stop::Refused(why.into()),
        (_, Some("length")) => Stop::Cut,
        _ => Stop::Ended,
    };
    Ok(said(text, usage, stop))
}

// Checks and reads the response of a server to a question.

/// Reads the text and the token usage from a response with status 2xx.
pub(super) fn read_answer(
    wire: &Wire,
    headers: &HeaderMap,
    body: Body,
) -> Result<oracle::Answer, OracleError> {
    let header = |name| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let coding = header(CONTENT_ENCODING);
    if !matches!(coding, "" | "identity") {
        // `Server::signed` asks for no compression, so this server ignores `accept-encoding`.
        return Err(other(format!(
            "the answer is compressed with `{}`",
            super::fault::short(coding)
        )));
    }
    let body = match body {
        Body::Whole(body) => body,
        Body::Long(_) => {
            return Err(other(format!("the answer is longer than {} MiB", MOST >> 20)));
        }
    };
    // A proxy or a wrong address often answers with an HTML page and status 200; this gives a better message than a JSON syntax error.
    let kind = header(CONTENT_TYPE);
    if !kind.trim_start().to_ascii_lowercase().starts_with("application/json") {
        return Err(other(format!("the answer is not JSON but `{}`", super::fault::short(kind))));
    }
    let ModelAnswer { text, usage, cut } = (wire.read)(&body).map_err(|why| {
        if why.is_data() {
            other(format!("the answer has another form than {}", wire.whose))
        } else {
            other(format!("the answer is no JSON: {}", super::fault::short(&why.to_string())))
        }
    })??;
    Ok(oracle::Answer { text, usage, cut })
}

fn other(why: String) -> OracleError {
    OracleError::Other(why)
}

// Reads response bodies up to a maximum size.

/// The maximum size of an answer, in bytes: far more than a model writes in an hour.
pub(super) const MOST: usize = 8 << 20;
/// The maximum size of a refusal that is read, in bytes. Messages show one line of it.
pub(super) const MOST_OF_REFUSAL: usize = 64 << 10;

pub(super) enum Body {
    Whole(Vec<u8>),
    /// The beginning of a body that is longer than the maximum.
    Long(Vec<u8>),
}

/// Reads at most `most` bytes of a body.
pub(super) async fn read_body(
    mut response: reqwest::Response,
    most: usize,
) -> reqwest::Result<Body> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            return Ok(Body::Long(body));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Body::Whole(body))
}
