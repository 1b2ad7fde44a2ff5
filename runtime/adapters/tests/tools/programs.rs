//! Tools without a server: commands and HTTP endpoints.

use crate::support::{ANY, Declared, TEXT, call, chart, folder, pool, server, tool_call, until};
use chartc_adapters::tools::FindingKind;
use chartc_core::model::Type::Text;
use chartc_runtime::oracle::OracleError;
use chartc_runtime::tools::Tools;
use serde_json::json;

#[cfg(unix)]
#[tokio::test]
async fn a_command_is_told_its_arguments_and_read() {
    let text = r#"
[tools."sh.words"]
command = ["sh", "-c", "cat; printf ' [%s]' \"$@\"", "sh", "{first}", "--n={n}", "--", "{rest}", "{left}"]

[tools."sh.fails"]
command = ["sh", "-c", "echo one >&2; echo two >&2; exit 3"]

[tools."sh.dies"]
command = ["sh", "-c", "echo paid; kill -9 $$"]

[tools."sh.waits"]
command = ["sh", "-c", "sleep 1000 & echo $! >&2; wait"]
timeout = "400ms"

[tools."sh.much"]
command = ["sh", "-c", "yes"]
max_output = 1000

[tools."sh.env"]
command = ["sh", "-c", "echo \"$TOKEN $PLAIN\"; env >&2; exit 1"]
env = { TOKEN = "${TOKEN}", PLAIN = "p" }

[tools."sh.json"]
command = ["printf", '{{"a": [1, 2]}}']

[tools."sh.absent"]
command = ["no-such-program-anywhere"]
"#;
    let folder = folder("commands");
    let (pool, lines) = pool(text, &folder).await;
    let given = json!({"first": "a; b", "n": 2, "rest": ["-x", "$(y)"], "left": null});
    let words = call(&pool, "sh.words", given, TEXT).await.expect("it runs");
    let told = r#"{"first":"a; b","n":2,"rest":["-x","$(y)"]} [a; b] [--n=2] [--] [-x] [$(y)]"#;
    assert_eq!(words, json!(told));
    assert_eq!(
        call(&pool, "sh.fails", json!({}), TEXT).await,
        Err(OracleError::Other(
            "`sh.fails`: it ended with exit status 3; it wrote: one / two".into()
        ))
    );
    // Whether it had its effect is unknown: the call is in doubt.
    assert_eq!(
        call(&pool, "sh.dies", json!({}), TEXT).await,
        Err(OracleError::Connection("`sh.dies`: it was ended by signal 9".into()))
    );
    assert_eq!(call(&pool, "sh.waits", json!({}), TEXT).await, Err(OracleError::Timeout(400)));
    let much = call(&pool, "sh.much", json!({}), TEXT).await.expect_err("too much").to_string();
    assert!(much.contains("`max_output` is 1000"), "{much}");
    let env = call(&pool, "sh.env", json!({}), TEXT).await.expect_err("it fails").to_string();
    assert!(env.contains("TOKEN=…") && !env.contains("tok-0123456789"), "{env}");
    assert!(!env.contains("CARGO") && !env.contains("OPENAI"), "{env}");
    assert_eq!(call(&pool, "sh.json", json!({}), ANY).await, Ok(json!({"a": [1, 2]})));
    let absent = call(&pool, "sh.absent", json!({}), TEXT).await.expect_err("it is not there");
    assert!(absent.to_string().contains("No such file"), "{absent}");
    pool.close().await;
    let lines = lines.lock().expect("whole");
    assert!(lines.contains(&"sh.fails: two".to_owned()), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_of_a_command_outlives_its_call() {
    let text = "[tools.waits]\ncommand = [\"sh\", \"-c\", \"sleep 1000 & echo $! >&2; wait\"]\n";
    let (pool, lines) = pool(text, &folder("left")).await;
    let pid = || {
        lines
            .lock()
            .expect("whole")
            .first()
            .map(|line| line.trim_start_matches("waits: ").to_owned())
    };
    let calling = pool.call(tool_call("waits", json!({}), TEXT));
    tokio::select! {
        _ = calling => panic!("it waits"),
        () = until("it runs", || pid().is_some()) => {}
    }
    let pid: u32 = pid().expect("it runs").parse().expect("a pid");
    until("it is gone", || !crate::support::runs(pid)).await;
}

#[tokio::test]
async fn an_endpoint_is_asked() {
    let (url, seen) = server(vec![
        (200, "", r#"{"degrees": 7}"#.into()),
        (200, "", "sent".into()),
        (302, "location: http://127.0.0.1:9/elsewhere\r\n", String::new()),
        (429, "retry-after: 7\r\n", String::new()),
        (503, "", "down".into()),
        (404, "", "no such city".into()),
        (200, "", "x".repeat(5000)),
    ]);
    let text = format!(
        "[tools.\"web.get\"]\nmethod = \"GET\"\nurl = \"{url}/now/{{city}}\"\nheaders = {{ Authorization = \"Bearer ${{TOKEN}}\" }}\nmax_output = 4000\n\n[tools.\"web.post\"]\nurl = \"{url}/mail\"\n"
    );
    let (pool, _) = pool(&text, &folder("endpoints")).await;
    let get = || call(&pool, "web.get", json!({"city": "a/b", "unit": "°C"}), ANY);
    assert_eq!(get().await, Ok(json!({"degrees": 7})));
    assert_eq!(call(&pool, "web.post", json!({"to": "ada"}), TEXT).await, Ok(json!("sent")));
    let elsewhere = get().await.expect_err("it is elsewhere").to_string();
    assert!(elsewhere.contains("points to another address, which is not followed"), "{elsewhere}");
    assert_eq!(get().await, Err(OracleError::RateLimited { retry_after: Some(7000) }));
    assert_eq!(
        get().await,
        Err(OracleError::Server { status: 503, why: String::new(), retry_after: None })
    );
    let absent = get().await.expect_err("it is not there").to_string();
    assert!(absent.contains("status 404: no such city"), "{absent}");
    assert!(get().await.expect_err("too much").to_string().contains("`max_output` is 4000"));
    assert!(get().await.is_err(), "the server is gone");
    let seen = seen.lock().expect("whole");
    assert_eq!(seen.len(), 7, "nobody was asked twice");
    assert!(seen[0].starts_with("get /now/a%2fb?unit=%c2%b0c http/1.1"), "{}", seen[0]);
    assert!(seen[0].contains("authorization: bearer tok-0123456789"), "{}", seen[0]);
    assert!(
        seen[1].starts_with("post /mail") && seen[1].ends_with(r#"{"to":"ada"}"#),
        "{}",
        seen[1]
    );
    assert!(!seen[1].contains("authorization"), "{}", seen[1]);
}

#[tokio::test]
async fn a_call_without_a_connection_is_not_in_doubt() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    drop(listener);
    let text = format!("[tools.\"web.pay\"]\nurl = \"{url}/pay\"\n");
    let (pool, _) = pool(&text, &folder("unreachable")).await;
    let refused = call(&pool, "web.pay", json!({}), TEXT).await.expect_err("nobody listens");
    let text = refused.to_string();
    assert!(matches!(refused, OracleError::Unreachable(_)), "{text}");
    assert!(text.contains("cannot be reached") && text.contains("refused"), "{text}");
}

#[tokio::test]
async fn a_placeholder_is_an_argument() {
    let text = "[tools.\"sh.echo\"]\ncommand = [\"echo\", \"{text}\", \"{more}\"]\n";
    let (pool, _) = pool(text, &folder("holes")).await;
    let tools: &[Declared<'_>] = &[("sh.echo", &[("text", Text)], Text)];
    let findings = pool.check(&[&chart(tools)]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].kind, FindingKind::MissingParameter);
    assert!(findings[0].message.contains("has no parameter `more`"), "{findings:?}");
}
