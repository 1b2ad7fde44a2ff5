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

const FAULTY: &str = "/// Waits for words.
chart Waits {
  event word(text: Text)
  event stop
  var last: Text = \"é😀\"
  initial waiting
  /// Nothing has come.
  state waiting {
    on wrod(text) -> asking { last = text }
  }
  state asking {
    llm think { prompt \"{last}\" } -> waiting
    on stop -> done
  }
  final done
}
test \"stops\" for Waits { at asking  send stop  expect at done }
";

#[test]
fn what_stands_at_a_place_and_could_stand_there() {
    let here = folder("places");
    let snippets = json!({ "completion": { "completionItem": { "snippetSupport": true } } });
    let mut client = Client::start(&here, json!({ "textDocument": snippets }));
    let file = uri(&here, "waits.chart");
    client.open(&file, "chart", FAULTY);
    let (line, column) = place(FAULTY, "waiting\n");
    let hover = client.at("textDocument/hover", &file, line, column);
    let told = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(told.contains("Nothing has come."), "{told}");
    assert_eq!(hover["range"]["start"], json!({ "line": line, "character": column }));
    let labels = |offered: &Value| -> Vec<String> {
        let items = offered["items"].as_array().expect("items");
        items.iter().filter_map(|item| item["label"].as_str()).map(str::to_owned).collect()
    };
    let (line, column) = place(FAULTY, "wrod");
    let offered = client.at("textDocument/completion", &file, line, column + 1);
    assert_eq!(labels(&offered).first().map(String::as_str), Some("word"), "{offered}");
    // A brace asks for names in a prompt, and for nothing where a block begins.
    let asked = |at: (usize, usize)| {
        json!({
            "textDocument": { "uri": file }, "position": { "line": at.0, "character": at.1 },
            "context": { "triggerKind": 2, "triggerCharacter": "{" },
        })
    };
    let (line, column) = place(FAULTY, "{last}");
    let offered = client.ask("textDocument/completion", asked((line, column + 1)));
    assert!(labels(&offered).contains(&"last".to_owned()), "{offered}");
    let (line, column) = place(FAULTY, "{ last = ");
    let offered = client.ask("textDocument/completion", asked((line, column + 1)));
    assert_eq!(labels(&offered), Vec::<String>::new());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_can_be_done_at_a_place() {
    let here = folder("doing");
    for has_extension in [false, true] {
        let literal = json!({ "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } } });
        let own = json!({ "chartcPictures": has_extension });
        let mut client =
            Client::start(&here, json!({ "textDocument": literal, "experimental": own }));
        let file = uri(&here, "waits.chart");
        client.open(&file, "chart", FAULTY);
        let (line, column) = place(FAULTY, "wrod");
        let position = json!({ "line": line, "character": column });
        let params = json!({
            "textDocument": { "uri": file }, "range": { "start": position, "end": position },
            "context": { "diagnostics": [] },
        });
        let actions = client.ask("textDocument/codeAction", params);
        let fix = &actions.as_array().expect("actions")[0];
        assert_eq!((&fix["isPreferred"], &fix["kind"]), (&json!(true), &json!("quickfix")));
        assert_eq!(fix["edit"]["changes"][&file][0]["newText"], "word", "{fix}");
        assert_eq!(fix["diagnostics"][0]["code"], "C0102");
        client.change(&file, json!([{ "text": FAULTY.replace("wrod", "word") }]));
        let lenses =
            client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": file } }));
        let mut commands: Vec<&str> = Vec::new();
        for lens in lenses.as_array().expect("lenses") {
            commands.extend(lens["command"]["command"].as_str());
        }
        if has_extension {
            assert_eq!(commands, ["chartc.showPicture", "chartc.runTests", "chartc.runTest"]);
            let known = &client.hello["capabilities"]["executeCommandProvider"]["commands"];
            assert_eq!(known, &json!([]));
        } else {
            assert_eq!(commands, ["chartc.server.runTests"]);
            let lens = lenses.as_array().expect("lenses").last().expect("one").clone();
            client.ask("workspace/executeCommand", lens["command"].clone());
            let told = client.notes.iter().filter(|note| note["method"] == "window/showMessage");
            let told: Vec<String> =
                told.map(|note| note["params"]["message"].to_string()).collect();
            assert_eq!(told, ["\"passed: stops\""]);
        }
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_file_as_a_tree_and_in_colours() {
    let here = folder("tree");
    let nested = json!({ "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } });
    for capabilities in [json!({}), json!({ "textDocument": nested })] {
        let is_nested = capabilities != json!({});
        let mut client = Client::start(&here, capabilities);
        let file = uri(&here, "waits.chart");
        client.open(&file, "chart", FAULTY);
        let document = json!({ "textDocument": { "uri": file } });
        let symbols = client.ask("textDocument/documentSymbol", document.clone());
        assert_eq!(symbols[0]["name"], "Waits");
        assert_eq!(symbols[0].get("children").is_some(), is_nested);
        let found = client.ask("workspace/symbol", json!({ "query": "askng" }));
        assert_eq!(
            (&found[0]["name"], &found[0]["containerName"]),
            (&json!("asking"), &json!("Waits"))
        );
        let folds = client.ask("textDocument/foldingRange", document.clone());
        assert!(folds.as_array().is_some_and(|all| all.len() >= 3), "{folds}");
        // Each token is relative to the one before; the words of one kind come back.
        let legend =
            &client.hello["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
        let kinds: Vec<String> = serde_json::from_value(legend.clone()).expect("kinds");
        let tokens = client.ask("textDocument/semanticTokens/full", document.clone());
        let data: Vec<usize> = serde_json::from_value(tokens["data"].clone()).expect("numbers");
        let lines: Vec<Vec<u16>> =
            FAULTY.lines().map(|line| line.encode_utf16().collect()).collect();
        let (mut line, mut column) = (0, 0);
        let mut states = Vec::new();
        for token in data.chunks(5) {
            column = if token[0] == 0 { column + token[1] } else { token[1] };
            line += token[0];
            let word = String::from_utf16_lossy(&lines[line][column..column + token[2]]);
            if kinds[token[3]] == "class" {
                states.push(word);
            }
        }
        assert_eq!(states.iter().filter(|word| *word == "asking").count(), 3, "{states:?}");
        client.change(&file, json!([{ "text": FAULTY.replace("wrod", "word") }]));
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let hints = client.ask(
            "textDocument/inlayHint",
            json!({ "textDocument": { "uri": file }, "range": whole }),
        );
        assert!(hints.to_string().contains(": Text"), "{hints}");
        assert_eq!(client.end(), Some(0));
    }
}
