//! The server as an editor sees it: texts, findings, and messages that nobody should send.

use crate::client::{Client, folder, uri};
use serde_json::{Value, json};

const DOOR: &str = "chart Door {
  event open
  initial closed
  state closed { on open -> opened }
  final opened
}
";

#[test]
fn findings_follow_the_text() {
    let here = folder("follow");
    let mut client = Client::start(&here, json!({}));
    assert_eq!(client.hello["serverInfo"]["name"], "chartc");
    let door = uri(&here, "door.chart");
    client.open(&door, "chart", DOOR);
    assert_eq!(client.findings(&door), Vec::<String>::new());
    let range =
        json!({ "start": { "line": 3, "character": 20 }, "end": { "line": 3, "character": 24 } });
    client.change(&door, json!([{ "range": range, "text": "opne" }]));
    assert_eq!(client.findings(&door), ["3:20 C0102 no event `opne`"]);
    // Several changes at once, each in the text that the one before has left.
    let insert =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let range =
        json!({ "start": { "line": 4, "character": 20 }, "end": { "line": 4, "character": 24 } });
    client.change(
        &door,
        json!([{ "range": insert, "text": "// 😀\n" }, { "range": range, "text": "open" }]),
    );
    assert_eq!(client.findings(&door), Vec::<String>::new());
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": door } }));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn columns_are_in_the_units_of_the_client() {
    let text = "chart D {\n  initial a\n  state a {\n    enter { x = \"😀é\" + zz }\n  }\n}\n";
    for (encodings, column) in
        [(json!([]), 24), (json!(["utf-8", "utf-16"]), 27), (json!(["utf-32"]), 23)]
    {
        let here = folder("units");
        let general = json!({ "general": { "positionEncodings": encodings } });
        let mut client = Client::start(&here, general);
        let file = uri(&here, "d.chart");
        client.open(&file, "chart", text);
        let found = client.findings(&file);
        let at = format!("3:{column} ");
        assert!(found.iter().any(|one| one.starts_with(&at)), "{encodings}: {found:?}");
    }
}

#[test]
fn texts_that_were_never_saved() {
    let here = folder("untitled");
    std::fs::write(here.join("tools.chart"), "tool look(at: Text) -> Text\n").expect("written");
    let mut client = Client::start(&here, json!({}));
    client.open("untitled:Untitled-1", "chart", "chart A { state a }");
    let found = client.findings("untitled:Untitled-1");
    assert!(found.iter().any(|one| one.contains("C0201")), "{found:?}");
    // Imports are relative to the folder that is open.
    client.open("untitled:Untitled-2", "chart", "import \"tools.chart\"\n");
    let found = client.findings("untitled:Untitled-2");
    assert!(!found.iter().any(|one| one.contains("C0002")), "{found:?}");
    client.open("untitled:Untitled-3", "yaml", "id: x\nwrkflow: {}\n");
    let found = client.findings("untitled:Untitled-3");
    assert!(found.iter().any(|one| one.contains("C0")), "{found:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_open_text_counts_where_it_is_imported() {
    let here = folder("imported");
    let main = "import \"tools.chart\"\nchart A {\n  initial a\n  state a { call c look(\"x\") { done -> b  error -> b } }\n  final b\n}\n";
    std::fs::write(here.join("tools.chart"), "tool look(at: Text) -> Text\n").expect("written");
    let mut client = Client::start(&here, json!({}));
    let (a, tools) = (uri(&here, "a.chart"), uri(&here, "tools.chart"));
    client.open(&a, "chart", main);
    assert_eq!(client.findings(&a), Vec::<String>::new());
    client.open(&tools, "chart", "tool look(at: Text) -> Text\n");
    client.findings(&tools);
    client.change(&tools, json!([{ "text": "tool find(at: Text) -> Text\n" }]));
    client.findings_until(&a, |found| found.iter().any(|one| one.contains("no tool `look`")));
    // Closed without being saved: the file counts again.
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": tools } }));
    client.findings_until(&a, |found| found.is_empty());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn settings_of_the_project_and_tests_count() {
    let here = folder("settings");
    let test = "\ntest \"it opens\" for Door { at closed  send open  expect at closed }\n";
    let text = format!("{DOOR}{test}");
    let mut client = Client::start(&here, json!({}));
    let door = uri(&here, "door.chart");
    client.open(&door, "chart", &text);
    let found = client.findings_until(&door, |found| !found.is_empty());
    assert!(found[0].contains("C0601"), "{found:?}");
    std::fs::write(here.join("chartc.toml"), "[check]\ntests = false\n").expect("written");
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    client.findings_until(&door, |found| found.is_empty());
    std::fs::write(here.join("chartc.toml"), "[check]\ntets = false\n").expect("written");
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    while !client.notes.iter().any(|note| note["method"] == "window/showMessage") {
        client.findings(&door);
        client.ask("chartc/tests", json!({ "uri": door }));
    }
    let told = client.notes.iter().find(|note| note["method"] == "window/showMessage");
    let told = told.expect("it was told")["params"]["message"].to_string();
    assert!(told.contains("tets"), "{told}");
}

#[test]
fn tests_and_pictures_on_request() {
    let here = folder("requests");
    let test = "\ntest \"it opens\" for Door { at closed  send open  expect at opened }\n\
                test \"it stays\" for Door { at closed  send open  expect at closed }\n";
    let mut client = Client::start(&here, json!({}));
    let door = uri(&here, "door.chart");
    client.open(&door, "chart", &format!("{DOOR}{test}"));
    let tests = client.ask("chartc/tests", json!({ "uri": door }));
    assert_eq!(tests[1]["name"], "it stays");
    let played = client.ask("chartc/runTests", json!({ "uri": door, "names": ["it stays"] }));
    assert_eq!(
        (played[0]["passed"].clone(), played.as_array().map(Vec::len)),
        (json!(false), Some(1))
    );
    let played = client.ask("chartc/runTests", json!({ "uri": door }));
    assert_eq!(played[0]["passed"], true);
    let at = json!({ "line": 3, "character": 10 });
    let picture = client.ask("chartc/picture", json!({ "uri": door, "position": at }));
    assert_eq!((&picture["chart"], &picture["at"]), (&json!("Door"), &json!("s1")));
    assert!(picture["dot"].as_str().is_some_and(|dot| dot.starts_with("digraph")));
    assert_eq!(picture["states"][0]["range"]["start"], json!({ "line": 3, "character": 8 }));
    // The arrow of the line at the position is drawn with its id.
    let dot = picture["dot"].as_str().unwrap_or_default();
    let edges = picture["edges"].as_array().expect("arrows");
    assert!(!edges.is_empty());
    for edge in edges {
        assert!(dot.contains(&format!("id=\"{}\"", edge["id"].as_str().unwrap_or_default())));
        let picture = client
            .ask("chartc/picture", json!({ "uri": door, "position": edge["range"]["start"] }));
        assert_eq!(picture["edge"], edge["id"]);
    }
    let outside = json!({ "line": 0, "character": 0 });
    let picture = client.ask("chartc/picture", json!({ "uri": door, "position": outside }));
    assert_eq!(picture["edge"], Value::Null);
    client.change(&door, json!([{ "text": "chart Door {" }]));
    assert_eq!(client.ask("chartc/picture", json!({ "uri": door })), Value::Null);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn messages_that_nobody_should_send() {
    let here = folder("hostile");
    let mut client = Client::start(&here, json!({}));
    let door = uri(&here, "door.chart");
    let unknown = client.begin("textDocument/fortune", json!({}));
    assert_eq!(client.wait(unknown).expect_err("refused")["code"], -32601);
    let closed =
        client.begin("textDocument/formatting", json!({ "textDocument": { "uri": door } }));
    assert_eq!(client.wait(closed).expect_err("refused")["code"], -32600);
    client.open(&door, "chart", DOOR);
    let wrong = client.begin("textDocument/formatting", json!({ "textDocument": { "uri": door } }));
    assert_eq!(client.wait(wrong).expect_err("refused")["code"], -32602);
    for params in [json!({}), json!([]), json!({ "textDocument": { "uri": "no address" } })] {
        for method in ["didOpen", "didChange", "didClose", "didSave"] {
            client.tell(&format!("textDocument/{method}"), params.clone());
        }
    }
    let far = json!({ "start": { "line": 4_000_000, "character": 9 }, "end": { "line": 0, "character": 4_000_000_000_u32 } });
    client.change(&door, json!([{ "range": far, "text": "\n// end\n" }]));
    assert_eq!(client.findings(&door), Vec::<String>::new());
    client.tell("$/cancelRequest", json!({ "id": 99 }));
    client.ask("shutdown", Value::Null);
    let late = client.begin("textDocument/formatting", json!({}));
    assert_eq!(client.wait(late).expect_err("refused")["code"], -32600);
    client.tell("exit", Value::Null);
    assert_eq!(client.vanish(), Some(0));
}

#[test]
fn an_editor_that_goes_away() {
    let here = folder("gone");
    assert_eq!(Client::start(&here, json!({})).vanish(), Some(1));
    let mut client = Client::start(&here, json!({}));
    client.send_raw(b"Content-Length: 7\r\n\r\nno json");
    assert!(client.vanish().is_some_and(|code| code == 1 || code == 2));
    // A message as long as nobody has memory for.
    let mut client = Client::start(&here, json!({}));
    client.send_raw(b"Content-Length: 1000000000000\r\n\r\n{}");
    assert_eq!(client.vanish(), Some(2));
}

#[test]
fn documents_and_agents_are_completed() {
    let here = folder("completed");
    let mut client = Client::start(&here, json!({}));
    let mut labels = |name: &str, language: &str, marked: &str, typed: &str| {
        let file = uri(&here, name);
        let before = marked.split('§').next().unwrap_or_default();
        let line = before.matches('\n').count();
        let character = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        client.open(&file, language, &marked.replace('§', ""));
        let found = client.ask(
            "textDocument/completion",
            json!({
                "textDocument": { "uri": file },
                "position": { "line": line, "character": character },
                "context": { "triggerKind": 2, "triggerCharacter": typed },
            }),
        );
        let items = found["items"].as_array().cloned().unwrap_or_default();
        let label = |item: &Value| item["label"].as_str().unwrap_or_default().to_owned();
        items.iter().map(label).collect::<Vec<_>>()
    };
    let door = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">\n  <state id=\"shut\"><§</state>\n</scxml>\n";
    let found = labels("a.scxml", "xml", door, "<");
    assert!(found.contains(&"transition".to_owned()), "{found:?}");
    let target = door.replace("<§", "<transition target=\"§\"/>");
    assert_eq!(labels("b.scxml", "xml", &target, "\""), ["shut"]);
    // A tag that ends asks for nothing.
    let ended = door.replace("<§", "<onentry>§");
    assert_eq!(labels("c.scxml", "xml", &ended, ">"), [""; 0]);
    let agent = "id: a\nworkflow:\n  state_machine: {states: [on], initial_state: on}\n  steps:\n    - name: think\n      type: llm\n      in_state: on\n      prompt: |\n        Think of {§}\n";
    let found = labels("agent.yaml", "yaml", agent, "{");
    assert!(found.contains(&"goal".to_owned()), "{found:?}");
}
