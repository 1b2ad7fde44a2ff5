//! Tools that are HTTP endpoints. Arguments fill the placeholders of the address; the others are sent as a query, or as a JSON body.

use crate::config::Limits;
use crate::fault::{Fault, short};
use crate::holes::{Part, parts};
use crate::result::{Wanted, arguments};
use chartc_core::expr::Value;
use reqwest::{Client, Method, Response, Url};
use serde_json::{Map, Value as Json};
use tokio::time::timeout;

/// Makes one call.
pub(crate) async fn call(
    client: &Client,
    (method, url, headers): (&str, &str, &[(String, String)]),
    limits: Limits,
    given: &[(String, Value)],
    wanted: &Wanted,
) -> Result<Value, Fault> {
    let mut json = arguments(given, None);
    let mut url = filled(url, &mut json)?;
    let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::POST);
    // GET and DELETE have no body, so their arguments become a query.
    let has_body = method != Method::GET && method != Method::DELETE;
    if !has_body && !json.is_empty() {
        let mut query = url.query_pairs_mut();
        for (name, value) in &json {
            query.append_pair(name, &plain(value));
        }
    }
    let mut request = client.request(method, url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if has_body {
        request = request.json(&Json::Object(json));
    }
    let work = async {
        let response = request.send().await.map_err(|why| lost(&why))?;
        read(response, limits.output).await
    };
    match timeout(limits.idle, work).await {
        Ok(text) => Ok(wanted.text(text?)),
        Err(_) => Err(Fault::Silent { what: "the request".into(), after: limits.idle }),
    }
}

/// Fills in the placeholders of the address, and removes their arguments from `json`.
fn filled(text: &str, json: &mut Map<String, Json>) -> Result<Url, Fault> {
    let mut url = String::new();
    let mut used = Vec::new();
    for part in parts(text).map_err(|why| Fault::Start(why.to_owned()))? {
        match part {
            Part::Text(text) => url.push_str(&text),
            Part::Hole(name) => {
                let value = json.get(&name).map(plain).unwrap_or_default();
                // As a whole segment of a path, these would lead to another address, even percent-encoded: URL parsers resolve both forms.
                if matches!(value.as_str(), "." | "..") {
                    return Err(Fault::Refused(format!(
                        "`{value}` is no value for `{name}` in an address"
                    )));
                }
                url.push_str(&escaped(&value));
                used.push(name);
            }
        }
    }
    json.retain(|name, _| !used.contains(name));
    Url::parse(&url).map_err(|why| Fault::Start(why.to_string()))
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        _ => value.to_string(),
    }
}

/// Percent-encodes everything but the characters that RFC 3986 calls unreserved.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

async fn read(mut response: Response, limit: usize) -> Result<String, Fault> {
    let status = response.status();
    let retry_after = response.headers().get("retry-after").and_then(|after| after.to_str().ok());
    let retry_after = retry_after.and_then(|after| after.trim().parse::<u64>().ok());
    let mut body: Vec<u8> = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|why| lost(&why))? {
        body.extend_from_slice(&bytes);
        if body.len() > limit {
            return Err(Fault::TooLong { bytes: body.len(), limit });
        }
    }
    if status.is_success() {
        return String::from_utf8(body)
            .map_err(|_| Fault::Protocol("its answer is not UTF-8".into()));
    }
    let text = short(String::from_utf8_lossy(&body).trim(), 1000);
    Err(match status.as_u16() {
        code if code == 429 || code >= 500 => Fault::Status {
            status: code,
            retry_after: retry_after.map(|seconds| seconds.saturating_mul(1000)),
        },
        code @ 300..=399 => Fault::Refused(format!(
            "status {code}: it points to another address, which is not followed; configure that address"
        )),
        code => Fault::Failed(format!("status {code}: {text}")),
    })
}

fn lost(why: &reqwest::Error) -> Fault {
    let mut words = Vec::new();
    let mut at: Option<&dyn std::error::Error> = Some(why);
    while let Some(error) = at {
        words.push(error.to_string());
        at = error.source();
    }
    Fault::Gone(short(&words.join(": "), 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_stay_in_their_place_of_the_address() {
        let mut given = json!({"city": "a/b?c#d", "n": 2}).as_object().expect("an object").clone();
        let url = filled("https://x.test/{city}/now?k={n}", &mut given).expect("an address");
        assert_eq!(url.as_str(), "https://x.test/a%2Fb%3Fc%23d/now?k=2");
        assert!(given.is_empty());
        for up in [".", ".."] {
            let mut given = json!({"city": up}).as_object().expect("an object").clone();
            assert!(filled("https://x.test/a/{city}/b", &mut given).is_err());
        }
    }
}
