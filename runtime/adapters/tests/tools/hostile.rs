//! A server that misbehaves: each way has an end and a message.

use crate::support::{
    ANY, INT, TEXT, call, chart, folder, has, hostile, pids, pool, read, runs, tool_call, until,
};
use chartc_adapters::tools::{FindingKind, Pool};
use chartc_core::model::Type;
use chartc_runtime::oracle::{FailureKind, OracleError};
use chartc_runtime::tools::Tools;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pool with a hostile server, or nothing without Python.
async fn with(mode: &str, more: &str) -> Option<(Pool, crate::support::Lines, PathBuf)> {
    if !has("python3") {
        return None;
    }
    // Tests run at the same time, some with the same server.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let nth = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = folder(&format!("hostile-{mode}-{nth}"));
    let file = folder.join("told");
    let (pool, lines) = pool(&hostile(mode, &file, more), &folder).await;
    Some((pool, lines, file))
}

/// Why the server could not be started.
async fn refusal(mode: &str, more: &str) -> Option<String> {
    let (pool, _, file) = with(mode, more).await?;
    let fault = pool.servers().remove(0).tools.expect_err("it must not start").to_string();
    pool.close().await;
    for pid in pids(&file, "start ") {
        assert!(!runs(pid), "{mode} left its process");
    }
    Some(fault)
}

fn connection(result: Result<serde_json::Value, OracleError>) -> String {
    let fault = result.expect_err("it fails");
    assert_eq!(fault.kind(), FailureKind::Connection, "{fault}");
    fault.to_string()
}

#[tokio::test]
async fn calls_bring_values() {
    let Some((pool, _, file)) = with("good", "[servers.h.tools]\nsum = \"get-sum\"").await else {
        return;
    };
    assert_eq!(
        call(&pool, "h.echo", json!({"text": "hi", "shout": null}), TEXT).await,
        Ok(json!("hi"))
    );
    assert_eq!(call(&pool, "h.add", json!({"a": 2, "b": 3}), INT).await, Ok(json!(5)));
    assert_eq!(call(&pool, "h.add", json!({"a": 2, "b": 3}), TEXT).await, Ok(json!("It is 5.")));
    assert_eq!(
        call(&pool, "h.sum", json!({"values": [1, 2.5]}), r#"{"type":"number"}"#).await,
        Ok(json!(3.5))
    );
    let record = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}"#;
    assert_eq!(
        call(&pool, "h.place", json!({"kind": "hill"}), record).await,
        Ok(json!({"name": "hill"}))
    );
    let odd = call(&pool, "h.odd", json!({}), TEXT).await;
    assert_eq!(odd, Ok(json!("[hologram  0 bytes]\nstill here\n[unknown  0 bytes]")));
    let failed = call(&pool, "h.fail", json!({}), TEXT).await.expect_err("it fails");
    assert_eq!(failed, OracleError::Other("`h.fail`: no such page; data: {\"code\":404}".into()));
    assert!(call(&pool, "h.wrong", json!({}), TEXT).await.is_err());
    pool.close().await;
    let told = read(&file);
    assert!(told.starts_with("start ") && told.contains("client chartc 2025-11-25"), "{told}");
    assert!(told.contains(r#"call echo {"text": "hi"}"#), "none stays away: {told}");
    assert_eq!(told.matches("list\n").count(), 1, "it is asked for its list once: {told}");
    assert!(told.ends_with("end of input\n"), "it was asked to end: {told}");
}

#[tokio::test]
async fn a_server_that_cannot_be_used_says_why() {
    let Some(why) = refusal("exits", "").await else { return };
    assert_eq!(why, "cannot be started: it ended with exit status 3; it wrote: no database");
    // One that does not answer has written its secret to standard error before.
    let env = "env = { TOKEN = \"${TOKEN}\" }";
    let config = |mode: &str| hostile(mode, &folder(mode).join("told"), env).replace("20s", "1s");
    for (mode, wanted) in [
        ("silent", "no answer to `initialize`; it wrote: using … after 1s"),
        ("no-list", "no answer to `tools/list` after 1s"),
        ("version", "it speaks version \"2031-01-01\" of the protocol"),
        ("bad-initialize", "its answer to `initialize` is malformed"),
        ("no-tools", "its answer to `tools/list` has no `tools`"),
    ] {
        let (pool, _) = pool(&config(mode), &folder(mode)).await;
        let fault = pool.servers().remove(0).tools.expect_err("it must not start").to_string();
        assert!(fault.contains(wanted), "{mode}: {fault}");
        let findings = pool.check(&[&chart(&[("h.echo", &[("text", Type::Text)], Type::Text)])]);
        assert_eq!(findings[0].kind, FindingKind::Unreachable);
        let said = format!("{}{}", findings[0].message, findings[0].help);
        assert!(!said.contains("tok-0123456789"), "{said}");
        pool.close().await;
    }
    let (pool, _) =
        pool("[servers.h]\ncommand = \"no-such-program-anywhere\"", &folder("absent")).await;
    let fault = pool.servers().remove(0).tools.expect_err("it must not start").to_string();
    assert!(fault.contains("`no-such-program-anywhere`: No such file"), "{fault}");
}

#[tokio::test]
async fn a_list_that_is_wrong_keeps_what_is_right() {
    for (mode, tools, wanted) in [
        ("cursor", 1, "its list repeats itself"),
        ("huge-list", 10_000, "more than 10000 tools"),
        ("endless", 1000, "more than 1000 pages"),
        ("malformed", 1, "the tool `a` is left out: it has no `inputSchema`"),
    ] {
        let Some((pool, _, _)) = with(mode, "").await else { return };
        let server = pool.servers().remove(0);
        assert_eq!(server.tools.map(|tools| tools.len()), Ok(tools), "{mode}");
        assert!(
            server.faults.iter().any(|fault| fault.contains(wanted)),
            "{mode}: {:?}",
            server.faults
        );
        if mode == "malformed" {
            assert_eq!(server.faults.len(), 6, "{:?}", server.faults);
            assert_eq!(call(&pool, "h.echo", json!({"text": "a"}), TEXT).await, Ok(json!("a")));
        }
        pool.close().await;
    }
    for mode in ["garbage", "old"] {
        let Some((pool, _, _)) = with(mode, "").await else { return };
        assert_eq!(
            call(&pool, "h.echo", json!({"text": "a"}), TEXT).await,
            Ok(json!("a")),
            "{mode}"
        );
        pool.close().await;
    }
}

#[tokio::test]
async fn a_lost_call_fails_and_the_next_one_finds_a_new_server() {
    let Some((pool, lines, file)) = with("good", "").await else { return };
    let lost = connection(call(&pool, "h.die", json!({}), TEXT).await);
    let wanted = "connection lost: `h.die`: it ended with exit status 7; it wrote: about to die / out of cheese";
    assert_eq!(lost, wanted);
    assert_eq!(call(&pool, "h.echo", json!({"text": "b"}), TEXT).await, Ok(json!("b")));
    pool.close().await;
    let told = read(&file);
    assert_eq!(told.matches("call die").count(), 1, "never repeated: {told}");
    assert_eq!(pids(&file, "start ").len(), 2, "{told}");
    assert!(lines.lock().expect("whole").contains(&"h: out of cheese".to_owned()));
}

#[tokio::test]
async fn what_is_no_message_ends_the_connection_with_its_reason() {
    let Some((pool, _, file)) = with("good", "timeout = \"60s\"").await else { return };
    let nan = connection(call(&pool, "h.nan", json!({}), ANY).await);
    assert!(nan.contains("a message that is not JSON") && nan.contains("NaN"), "{nan}");
    let exponent = connection(call(&pool, "h.exponent", json!({}), ANY).await);
    assert!(exponent.contains("number out of range"), "{exponent}");
    let line = connection(call(&pool, "h.line", json!({"bytes": 20 * 1024 * 1024}), ANY).await);
    assert!(line.contains("a message of more than 16777216 bytes"), "{line}");
    let big = call(&pool, "h.big", json!({"bytes": 3_000_000}), TEXT).await.expect_err("too long");
    assert!(big.to_string().contains("`max_output` is 1048576"), "{big}");
    pool.close().await;
    assert_eq!(pids(&file, "start ").len(), 4, "one for each connection");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_time_and_is_taken_back() {
    let more = "[servers.h.tools]\nhang = { timeout = \"300ms\" }\nprogress = { timeout = \"1500ms\", max_timeout = \"3s\" }";
    let Some((pool, _, file)) = with("good", more).await else { return };
    assert_eq!(call(&pool, "h.hang", json!({}), TEXT).await, Err(OracleError::Timeout(300)));
    // Progress keeps it alive: 2 s are more than 1.5 s. But not for ever.
    assert_eq!(call(&pool, "h.progress", json!({"steps": 10}), TEXT).await, Ok(json!("done")));
    assert_eq!(
        call(&pool, "h.progress", json!({"steps": 30}), TEXT).await,
        Err(OracleError::Timeout(3000))
    );
    until("the server was told", || read(&file).matches("cancelled").count() == 2).await;
    pool.close().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_taken_back() {
    let Some((pool, _, file)) = with("good", "").await else { return };
    let calling = pool.call(tool_call("h.hang", json!({}), TEXT));
    tokio::select! {
        _ = calling => panic!("nobody answers"),
        () = until("it was called", || read(&file).contains("call hang")) => {}
    }
    until("the server was told", || read(&file).contains("cancelled the call was given up")).await;
    assert_eq!(call(&pool, "h.echo", json!({"text": "a"}), TEXT).await, Ok(json!("a")));
    pool.close().await;
    assert_eq!(pids(&file, "start ").len(), 1, "the same server");
}

#[tokio::test]
async fn only_named_variables_reach_a_server_and_no_secret_leaves_it() {
    let env = "env = { TOKEN = \"${TOKEN}\", PLAIN = \"1\" }";
    let Some((pool, lines, _)) = with("good", env).await else { return };
    let all = call(&pool, "h.environment", json!({}), ANY).await.expect("it answers");
    // The server has the token, as its error below shows, and what it brings back is hidden.
    assert!(all["TOKEN"] == "…" && all["PLAIN"] == "1" && all.get("PATH").is_some(), "{all}");
    // Cargo gives this test many variables.
    let inherits = |name: &String| name.starts_with("CARGO") || name.ends_with("API_KEY");
    assert!(!all.as_object().expect("an object").keys().any(inherits), "{all}");
    let leak = call(&pool, "h.leak", json!({}), TEXT).await.expect_err("it fails").to_string();
    assert_eq!(leak, "`h.leak`: 401: bad token …");
    until("its line is heard", || lines.lock().expect("whole").contains(&"h: using …".to_owned()))
        .await;
    pool.close().await;
}

#[tokio::test]
async fn a_flood_of_standard_error_is_heard_whole() {
    let Some((pool, lines, _)) = with("good", "").await else { return };
    assert_eq!(call(&pool, "h.flood", json!({"lines": 20_000}), TEXT).await, Ok(json!("flooded")));
    pool.close().await;
    let lines = lines.lock().expect("whole");
    assert_eq!(lines.len(), 20_001, "{:?}", lines.last());
    assert!(lines[20_000].contains("no newline"));
}

#[tokio::test]
async fn a_tool_that_changes_during_the_run_is_not_called() {
    let Some((pool, _, file)) = with("good", "").await else { return };
    assert_eq!(call(&pool, "h.rename", json!({}), TEXT).await, Ok(json!("renamed")));
    let changed = call(&pool, "h.echo", json!({"text": "a"}), TEXT).await.expect_err("it changed");
    assert!(
        changed.to_string().contains("`h.echo`: the schema of `echo` on the server of tools.toml:1 is no longer the one that the chart was checked against"),
        "{changed}"
    );
    let gone = call(&pool, "h.add", json!({"a": 1, "b": 1}), INT).await.expect_err("it is gone");
    assert!(gone.to_string().contains("no longer has the tool `add`"), "{gone}");
    assert_eq!(call(&pool, "h.get-sum", json!({"values": [1]}), INT).await, Ok(json!(1)));
    pool.close().await;
    assert!(!read(&file).contains("call echo"), "{}", read(&file));
}

#[tokio::test]
async fn an_answer_without_form_is_a_refusal() {
    let Some((pool, _, _)) = with("refuses", "").await else { return };
    let refused = call(&pool, "h.echo", json!({"text": "a"}), TEXT).await.expect_err("it refuses");
    assert!(refused.to_string().contains("\"code\":\"odd\""), "{refused}");
    pool.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_outlives_the_pool() {
    let Some((pool, _, file)) = with("stays", "").await else { return };
    let child = call(&pool, "h.child", json!({}), INT).await.expect("it has a child");
    let mut all = pids(&file, "pids ");
    all.push(u32::try_from(child.as_u64().expect("a pid")).expect("a pid"));
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|pid| runs(*pid)));
    pool.close().await;
    until("all are gone", || all.iter().all(|pid| !runs(*pid))).await;
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_outlives_a_pool_that_is_dropped_outside_a_runtime() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let Some((pool, _, file)) = runtime.block_on(with("stays", "timeout = \"9s\"")) else { return };
    let all = pids(&file, "pids ");
    assert_eq!(all.len(), 2);
    drop(runtime);
    drop(pool);
    let other =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    other.block_on(until("all are gone", || all.iter().all(|pid| !runs(*pid))));
}

#[tokio::test]
async fn a_server_that_reads_nothing_any_more_holds_nobody_up() {
    let Some((pool, _, file)) = with("deaf", "timeout = \"300ms\"").await else { return };
    // More than a pipe holds, so that not even the cancellation can be written.
    let long = "x".repeat(1024 * 1024);
    for _ in 0..3 {
        let silent = call(&pool, "h.echo", json!({ "text": long }), TEXT).await;
        assert_eq!(silent, Err(OracleError::Timeout(300)));
    }
    pool.close().await;
    #[cfg(target_os = "linux")]
    assert!(!pids(&file, "start ").into_iter().any(runs));
}
