//! What the server answers about places: the protocol around what `editor` says.

use crate::client::{Client, folder, uri};
use serde_json::{Value, json};

const TOOLS: &str = "/// Looks a word up.\ntool dictionary.look(word: Text) -> Text\n";
const READER: &str = "import \"tools.chart\"
chart Reader {
  event word(text: Text)
  var last: Text = \"\"
  initial waiting
  state waiting { on word(text) -> looking { last = text } }
  state looking {
    call found dictionary.look(last) { done -> waiting  error -> waiting }
  }
}
";
const TEST: &str = "import \"reader.chart\"
test \"a word\" for Reader {
  send word(\"owl\")
  turn
  tool dictionary.look returns \"a bird\"
  expect at waiting
}
";

fn project(name: &str) -> std::path::PathBuf {
    let here = folder(name);
    for (file, text) in [
        ("tools.chart", TOOLS),
        ("reader.chart", READER),
        ("reader.test.chart", TEST),
        ("chartc.toml", ""),
    ] {
        std::fs::write(here.join(file), text).expect("written");
    }
    here
}

/// Line and column of a text in another, in bytes from 0.
fn place(text: &str, of: &str) -> (usize, usize) {
    let at = text.find(of).expect(of);
    (text[..at].matches('\n').count(), at - text[..at].rfind('\n').map_or(0, |n| n + 1))
}

/// Places as `file:line:column`, in order.
fn listed(found: &Value) -> Vec<String> {
    let all = found.as_array().expect("a list");
    let mut places: Vec<String> = all
        .iter()
        .map(|one| {
            let file =
                one["uri"].as_str().and_then(|uri| uri.rsplit('/').next()).unwrap_or_default();
            format!(
                "{file}:{}:{}",
                one["range"]["start"]["line"], one["range"]["start"]["character"]
            )
        })
        .collect();
    places.sort();
    places
}

#[test]
fn names_lead_to_their_declarations_and_uses() {
    let here = project("names");
    let mut client = Client::start(&here, json!({}));
    let reader = uri(&here, "reader.chart");
    client.open(&reader, "chart", READER);
    let (line, column) = place(READER, "look(last)");
    let found = client.at("textDocument/definition", &reader, line, column + 1);
    assert_eq!(listed(&found), ["tools.chart:1:16"]);
    // The test is not open.
    let (line, column) = place(READER, "waiting\n");
    let params = json!({
        "textDocument": { "uri": reader }, "position": { "line": line, "character": column },
        "context": { "includeDeclaration": true },
    });
    let found = client.ask("textDocument/references", params);
    let uses = ["reader.chart:4:10", "reader.chart:5:8", "reader.chart:7:47", "reader.chart:7:65"];
    assert_eq!(listed(&found), [&uses[..], &["reader.test.chart:5:12"]].concat());
    let found = client.at("textDocument/documentHighlight", &reader, line, column);
    assert_eq!(found.as_array().map(Vec::len), Some(4));
    let (line, _) = place(READER, "import");
    let found = client.at("textDocument/definition", &reader, line, 10);
    assert_eq!(listed(&found), ["tools.chart:0:0"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_rename_changes_files_that_are_not_open() {
    for versioned in [false, true] {
        let here = project("rename");
        let edit = json!({ "workspace": { "workspaceEdit": { "documentChanges": versioned } } });
        let mut client = Client::start(&here, edit);
        let reader = uri(&here, "reader.chart");
        client.open(&reader, "chart", READER);
        let (line, column) = place(READER, "word(text: Text)");
        let prepared = client.at("textDocument/prepareRename", &reader, line, column);
        assert_eq!(prepared["placeholder"], "word");
        let mut params = json!({
            "textDocument": { "uri": reader }, "position": { "line": line, "character": column },
            "newName": "term",
        });
        let edit = client.ask("textDocument/rename", params.clone());
        let mut changed = Vec::new();
        if versioned {
            for one in edit["documentChanges"].as_array().expect("edits") {
                changed.push((one["textDocument"]["uri"].clone(), one["edits"].clone()));
            }
        } else {
            for (file, edits) in edit["changes"].as_object().expect("edits") {
                changed.push((json!(file), edits.clone()));
            }
        }
        changed.sort_by_key(|(file, _)| file.to_string());
        let counts: Vec<(String, usize)> = changed
            .iter()
            .map(|(file, edits)| {
                let name =
                    file.as_str().and_then(|file| file.rsplit('/').next()).unwrap_or_default();
                (name.to_owned(), edits.as_array().map_or(0, Vec::len))
            })
            .collect();
        assert_eq!(counts, [("reader.chart".to_owned(), 2), ("reader.test.chart".to_owned(), 1)]);
        // A name that is taken, and one that is no name.
        for (name, told) in [("Term", "name of this kind"), ("last", "")] {
            params["newName"] = json!(name);
            let id = client.begin("textDocument/rename", params.clone());
            match client.wait(id) {
                Err(error) => {
                    assert_eq!(error["code"], -32803, "{error}");
                    assert!(error["message"].to_string().contains(told), "{error}");
                }
                // An event and a variable may have one name.
                Ok(edit) => assert!(name == "last" && edit.is_object(), "{edit}"),
            }
        }
        assert_eq!(client.end(), Some(0));
    }
}
