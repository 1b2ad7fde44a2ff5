//! MCP servers over HTTP that misbehave.

use crate::support::{TEXT, call, folder, pool, server};
use chartc_runtime::oracle::OracleError;
use serde_json::json;

const JSON: &str = "content-type: application/json\r\n";

fn initialized() -> (u16, &'static str, String) {
    let info = json!({"name": "web", "version": "1"});
    let result =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info});
    (200, JSON, json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string())
}

fn listed() -> (u16, &'static str, String) {
    let tools = json!([{"name": "broken"}, {"name": "ask", "inputSchema": {"type": "object"}}]);
    (200, JSON, json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string())
}

fn accepted() -> (u16, &'static str, String) {
    (202, "", String::new())
}

/// No stream of its own.
fn refused() -> (u16, &'static str, String) {
    (405, "", String::new())
}

#[tokio::test]
async fn a_server_that_cannot_be_used_says_why() {
    for (reply, wanted) in [
        (
            (401, "www-authenticate: Bearer\r\n", "who are you?"),
            "status 401: it wants to know who asks",
        ),
        ((302, "location: http://127.0.0.1:9/\r\n", ""), "302"),
        ((200, "content-type: text/html\r\n", "<html>"), "text/html"),
        ((503, "retry-after: 9\r\n", "down"), "status 503, to be asked again after 9s"),
        ((200, JSON, "{\"jsonrpc\": \"2.0\", \"id\": 0, \"result\": NaN}"), "could not parse JSON"),
    ] {
        let (status, headers, body) = reply;
        let (url, seen) = server(vec![(status, headers, body.to_owned())]);
        let text = format!(
            "[servers.web]\nurl = \"{url}/mcp\"\nheaders = {{ X-Key = \"${{TOKEN}}\" }}\nstart_timeout = \"5s\"\n"
        );
        let (pool, _) = pool(&text, &folder("web")).await;
        let fault = pool.servers().remove(0).tools.expect_err("it must not start").to_string();
        assert!(fault.contains(wanted), "{status}: {fault}");
        let seen = seen.lock().expect("whole");
        assert_eq!(seen.len(), 1, "nobody is asked twice, or elsewhere: {seen:?}");
        assert!(seen[0].contains("x-key: tok-0123456789"), "{seen:?}");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let silent = format!("[servers.web]\nurl = \"{url}\"\nstart_timeout = \"300ms\"\n");
    let (pool, _) = pool(&silent, &folder("web")).await;
    let fault = pool.servers().remove(0).tools.expect_err("it must not start").to_string();
    assert_eq!(fault, "no answer to `initialize` after 300ms");
}

#[tokio::test]
async fn calls_over_http_fail_once_and_with_a_reason() {
    let failing = [(429, "retry-after: 7\r\n"), (500, ""), (404, "")];
    for (status, headers) in failing {
        // The client asks for a stream of its own at any time, so replies go by what is asked.
        let (url, seen) = crate::support::replying(move |request| {
            let is = |word: &str| request.contains(word);
            match () {
                () if request.starts_with("get ") || request.starts_with("delete ") => refused(),
                () if is("\"initialize\"") => initialized(),
                () if is("tools/list") => listed(),
                () if is("tools/call") => (status, headers, "no".to_owned()),
                () => accepted(),
            }
        });
        let text = format!("[servers.web]\nurl = \"{url}/mcp\"\n");
        let (pool, _) = pool(&text, &folder("web-calls")).await;
        let server = pool.servers().remove(0);
        assert_eq!(server.tools.map(|tools| tools.len()), Ok(1));
        assert_eq!(server.faults, ["the tool `broken` is left out: it has no `inputSchema`"]);
        let failed = call(&pool, "web.ask", json!({}), TEXT).await.expect_err("it fails");
        match status {
            429 => assert_eq!(failed, OracleError::RateLimited { retry_after: Some(7000) }),
            500 => assert_eq!(
                failed,
                OracleError::Server { status: 500, why: String::new(), retry_after: None }
            ),
            _ => assert!(matches!(failed, OracleError::Connection(_)), "{failed:?}"),
        }
        pool.close().await;
        let calls =
            seen.lock().expect("whole").iter().filter(|one| one.contains("tools/call")).count();
        assert_eq!(calls, 1, "{status}: a call is not repeated");
    }
}
