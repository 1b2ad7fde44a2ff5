//! Tools that are programs or HTTP endpoints: their calls.

use super::config::{Limits, Part, Program, escaped, parts};
use super::process::{Running, StderrListener, start, told};
use super::result::{Wanted, arguments};
use super::server::transport_fault;
use super::{Fault, short};
use chartc_core::expr::Value;
use reqwest::{Client, Method, Response, Url};
use serde_json::{Map, Value as Json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Makes one call.
pub(super) async fn call(
    tool: &str,
    program: &Program,
    (limits, base, heard): (Limits, &[(String, String)], &StderrListener),
    given: &[(String, Value)],
    wanted: &Wanted,
) -> Result<Value, Fault> {
    let json = Json::Object(arguments(given, None));
    let program = Program { argv: filled(&program.argv, &json)?, ..program.clone() };
    let (mut running, pipes) = start(tool, &program, base, heard)
        .map_err(|why| Fault::Start(format!("`{}`: {why}", program.argv[0])))?;
    let (mut stdin, mut stdout) = (pipes.stdin, pipes.stdout);
    let input = json.to_string();
    let work = async {
        let write = async {
            // An error here only means that the program does not read its input, which it need not do.
            drop(stdin.write_all(input.as_bytes()).await);
            drop(stdin);
        };
        let mut output = Vec::new();
        // One byte above the limit is enough to know that the output is too long.
        let most = u64::try_from(limits.output).unwrap_or(u64::MAX).saturating_add(1);
        let mut bounded = (&mut stdout).take(most);
        let read = bounded.read_to_end(&mut output);
        // Both at once: a program that fills its output pipe before it reads its input would otherwise wait for ever.
        let ((), read) = tokio::join!(write, read);
        read.map_err(|why| Fault::Gone(why.to_string()))?;
        if output.len() > limits.output {
            return Err(Fault::TooLong { bytes: output.len(), limit: limits.output });
        }
        let status = running.wait().await.map_err(|why| Fault::Gone(why.to_string()))?;
        Ok((output, status))
    };
    let ended = timeout(limits.idle, work).await;
    match ended {
        Err(_) => {
            let what = format!("`{}`{}", program.argv[0], running.tail.told());
            Err(Fault::Silent { what, after: limits.idle })
        }
        Ok(Err(fault)) => Err(fault),
        Ok(Ok((output, status))) => {
            let wrote = wrote(&mut running).await;
            // Whether a killed program had its effect is unknown.
            if status.code().is_none() {
                return Err(Fault::Gone(format!("{}{wrote}", told(status))));
            }
            if !status.success() {
                return Err(Fault::Failed(format!("{}{wrote}", told(status))));
            }
            let text = String::from_utf8(output)
                .map_err(|_| Fault::Protocol("its output is not UTF-8".into()))?;
            Ok(wanted.text(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
        }
    }
    // Dropping `running` kills the program's process group, and so everything that it has started.
}

async fn wrote(running: &mut Running) -> String {
    running.drained().await;
    running.tail.told()
}

/// Fills in the placeholders of a command line. An argument with a placeholder whose value is `none` is left out. If an argument consists
/// only of a placeholder for a list, it becomes one argument for each item.
fn filled(argv: &[String], json: &Json) -> Result<Vec<String>, Fault> {
    let mut out = Vec::new();
    for text in argv {
        let parts = parts(text).map_err(|why| Fault::Start(why.to_owned()))?;
        if let [Part::Hole(name)] = parts.as_slice()
            && let Some(Json::Array(items)) = json.get(name)
        {
            for item in items {
                out.push(checked(plain(item), name, &out)?);
            }
            continue;
        }
        let mut argument = String::new();
        let mut is_there = true;
        for part in &parts {
            match part {
                Part::Text(text) => argument.push_str(text),
                Part::Hole(name) => match json.get(name) {
                    None | Some(Json::Null) => is_there = false,
                    // Only the beginning of an argument can make it look like an option. After an empty value, the next one begins it.
                    Some(value) if argument.is_empty() => {
                        argument = checked(plain(value), name, &out)?;
                    }
                    Some(value) => argument.push_str(&plain(value)),
                },
            }
        }
        if is_there {
            out.push(argument);
        }
    }
    if out.is_empty() {
        return Err(Fault::Start("nothing is left of its command".into()));
    }
    Ok(out)
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// Refuses a text that the program would read as an option, unless `--` comes before it.
fn checked(text: String, name: &str, before: &[String]) -> Result<String, Fault> {
    if text.starts_with('-') && !before.iter().any(|argument| argument == "--") {
        return Err(Fault::Refused(format!(
            "the argument `{name}` begins with `-`, and the program would take it for an option; put \"--\" before {{{name}}} in the command if the program knows that"
        )));
    }
    Ok(text)
}

// Tools that are HTTP endpoints. Arguments fill the placeholders of the address; the others are sent as a query, or as a JSON body.

/// Makes one call.
pub(super) async fn call_endpoint(
    client: &Client,
    (method, url, headers): (&str, &str, &[(String, String)]),
    limits: Limits,
    given: &[(String, Value)],
    wanted: &Wanted,
) -> Result<Value, Fault> {
    let mut json = arguments(given, None);
    let mut url = fill_address(url, &mut json)?;
    let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::POST);
    // GET and DELETE have no body, so their arguments become a query.
    let has_body = method != Method::GET && method != Method::DELETE;
    if !has_body && !json.is_empty() {
        let mut query = url.query_pairs_mut();
        for (name, value) in &json {
            query.append_pair(name, &plain_text(value));
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
        let response = request.send().await.map_err(|why| transport_fault(&why))?;
        read(response, limits.output).await
    };
    match timeout(limits.idle, work).await {
        Ok(text) => Ok(wanted.text(text?)),
        Err(_) => Err(Fault::Silent { what: "the request".into(), after: limits.idle }),
    }
}

/// Fills in the placeholders of the address, and removes their arguments from `json`.
fn fill_address(text: &str, json: &mut Map<String, Json>) -> Result<Url, Fault> {
    let mut url = String::new();
    let mut used = Vec::new();
    // Where values stand in the address.
    let mut places = Vec::new();
    for part in parts(text).map_err(|why| Fault::Start(why.to_owned()))? {
        match part {
            Part::Text(text) => url.push_str(&text),
            Part::Hole(name) => {
                let value = json.get(&name).map(plain_text).unwrap_or_default();
                places.push((url.len(), name.clone()));
                url.push_str(&escaped(&value));
                used.push(name);
            }
        }
    }
    check_segments(&url, &places)?;
    json.retain(|name, _| !used.contains(name));
    Url::parse(&url).map_err(|why| Fault::Start(why.to_string()))
}

/// Refuses values with which a segment of the path would be empty, `.` or `..`, because the address would be another one. URL parsers
/// resolve `.` and `..` even if they are percent-encoded.
fn check_segments(url: &str, places: &[(usize, String)]) -> Result<(), Fault> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    for (at, name) in places.iter().filter(|(at, _)| *at <= end) {
        let begin = url[..*at].rfind('/').map_or(0, |slash| slash + 1);
        let rest = &url[begin..end];
        let segment = rest.split('/').next().unwrap_or_default();
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        if matches!(plain.as_str(), "" | "." | "..") {
            let what = if plain.is_empty() { "empty".into() } else { format!("`{plain}`") };
            return Err(Fault::Refused(format!(
                "this value of `{name}` would make a part of the address {what}"
            )));
        }
    }
    Ok(())
}

fn plain_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        _ => value.to_string(),
    }
}

async fn read(mut response: Response, limit: usize) -> Result<String, Fault> {
    let status = response.status();
    let retry_after = response.headers().get("retry-after").and_then(|after| after.to_str().ok());
    let retry_after = retry_after.and_then(|after| after.trim().parse::<u64>().ok());
    let mut body: Vec<u8> = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|why| transport_fault(&why))? {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(argv: &[&str], json: Json) -> Result<Vec<String>, Fault> {
        filled(&argv.iter().map(ToString::to_string).collect::<Vec<_>>(), &json)
    }

    #[test]
    fn arguments_stay_arguments() {
        let argv = ["git", "log", "-n", "{n}", "--since={since}", "--", "{paths}", "{{}}"];
        let given = json!({"n": 3, "paths": ["a b", "$(x); y"]});
        let told = fill(&argv, given).expect("it is filled");
        assert_eq!(told, ["git", "log", "-n", "3", "--", "a b", "$(x); y", "{}"]);
    }

    #[test]
    fn a_value_does_not_become_an_option() {
        assert!(matches!(fill(&["rm", "{x}"], json!({"x": "-rf"})), Err(Fault::Refused(_))));
        assert!(matches!(fill(&["rm", "{x}"], json!({"x": ["-rf"]})), Err(Fault::Refused(_))));
        for value in [json!(-1), json!(-0.5), json!("-"), json!([-1])] {
            let filled = fill(&["f", "{x}"], json!({"x": value}));
            assert!(matches!(filled, Err(Fault::Refused(_))), "{value}");
        }
        // What comes after an empty value begins the argument.
        let filled = fill(&["f", "{x}{y}"], json!({"x": "", "y": "-rf"}));
        assert!(matches!(filled, Err(Fault::Refused(_))));
        let own = fill(&["f", "-n{x}", "{y}-{x}"], json!({"x": -1, "y": 2}));
        assert_eq!(own, Ok(vec!["f".into(), "-n-1".into(), "2--1".into()]));
        let behind = fill(&["rm", "--", "{x}"], json!({"x": "-rf"}));
        assert_eq!(behind, Ok(vec!["rm".into(), "--".into(), "-rf".into()]));
    }
}

#[cfg(test)]
mod endpoint_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_stay_in_their_place_of_the_address() {
        let mut given = json!({"city": "a/b?c#d", "n": 2}).as_object().expect("an object").clone();
        let url = fill_address("https://x.test/{city}/now?k={n}", &mut given).expect("an address");
        assert_eq!(url.as_str(), "https://x.test/a%2Fb%3Fc%23d/now?k=2");
        assert!(given.is_empty());
        let fill = |url: &str, given: Json| {
            fill_address(url, &mut given.as_object().expect("an object").clone())
        };
        for city in [json!("."), json!(".."), json!(""), json!(null)] {
            let given = json!({"city": city, "more": ""});
            for url in ["{city}/b", "{city}", "{city}?k=1", "{more}{city}/b", "b/{city}"] {
                let filled = fill(&format!("https://x.test/a/{url}"), given.clone());
                assert!(matches!(filled, Err(Fault::Refused(_))), "{url} {given}");
            }
        }
        for (x, y) in [("", ""), ("", "."), ("%2e", "")] {
            let dot = fill("https://x.test/v1/{x}.{y}/secret", json!({"x": x, "y": y}));
            assert_eq!(dot.is_err(), x != "%2e", "{x} {y}");
        }
        // A query may have empty values.
        let url = fill("https://x.test/a?k={k}", json!({"k": ""})).expect("an address");
        assert_eq!(url.as_str(), "https://x.test/a?k=");
    }
}
