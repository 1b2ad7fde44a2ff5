//! Tokens: where they come from, and where they never are.

use super::*;

/// Starts a server that is to refuse its tokens.
fn refused(folder: &Path, arguments: &[&str], token: Option<&str>, people: Option<&str>) -> String {
    let mut command =
        command(folder, &[&["desk.chart", "--listen", "127.0.0.1:0"], arguments].concat());
    command.env_remove("TOKEN").env_remove("PEOPLE").stdin(Stdio::null());
    for (name, value) in [("TOKEN", token), ("PEOPLE", people)] {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let done = command.output().expect("chartc runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "");
    for value in [token, people].into_iter().flatten().filter(|value| !value.is_empty()) {
        assert!(!said.contains(value), "{said}");
    }
    said
}

#[test]
fn tokens_that_are_no_secrets_are_refused() {
    let folder = charts("tokens");
    let own = ["--token-env", "TOKEN"];
    let both = ["--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
    let said = refused(&folder, &own, None, None);
    assert!(said.contains("TOKEN is not set"), "{said}");
    for short in ["", "short", "fifteen-letters"] {
        let said = refused(&folder, &own, Some(short), None);
        assert!(said.contains("at least 16 characters"), "{short}: {said}");
    }
    let said = refused(&folder, &own, Some("with a blank 0123456789"), None);
    assert!(said.contains("letters, digits"), "{said}");
    let said = refused(&folder, &both, Some(TOKEN), Some("short"));
    assert!(said.contains("PEOPLE"), "{said}");
    let said = refused(&folder, &both, Some(TOKEN), Some(TOKEN));
    assert!(said.contains("the same token"), "{said}");
    let twice = ["--token-env", "TOKEN", "--token-env", "PEOPLE"];
    let said = refused(&folder, &twice, Some(TOKEN), Some(TOKEN));
    assert!(said.contains("TOKEN and PEOPLE have the same token"), "{said}");
}

#[test]
fn tokens_of_the_environment_are_never_shown() {
    let folder = charts("silent");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let (client, person) = (server.client(), server.person());
    begin(&client, "a");
    let id = ask(&client, "a");
    let mut shown = String::new();
    for path in ["/charts", "/runs", "/runs/a", "/runs/a/trace", "/runs/b", "/nowhere", "/mcp"] {
        for visitor in [&client, &person] {
            let reply = visitor.get(path);
            shown += &reply.head;
            shown += &reply.body;
        }
    }
    assert_eq!(answer(&person, "a", &id, "yes").status, 200);
    until("the run has ended", || client.get("/runs/a").json()["status"] != "running");
    shown += &client.get("/runs/a/trace").body;
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    shown += &said;
    assert!(!shown.contains(TOKEN) && !shown.contains(PEOPLE), "{shown}");
    for file in ["s.db", "s.db-wal"] {
        let bytes = std::fs::read(folder.join(file)).unwrap_or_default();
        for token in [TOKEN, PEOPLE] {
            let is_there = bytes.windows(token.len()).any(|part| part == token.as_bytes());
            assert!(!is_there, "{file} has a token");
        }
    }
}

#[test]
fn without_tokens_of_the_environment_they_are_random_and_told_once() {
    let folder = charts("random");
    let mut before = Vec::new();
    for _ in 0..2 {
        let server = Server::of(&folder, &["desk.chart"]);
        let told = |who: &str| {
            let words = format!("token of {who}: ");
            let mut token = None;
            until("the token is told", || {
                let said = server.said();
                token = said
                    .lines()
                    .find_map(|line| line.split_once(&words))
                    .map(|(_, token)| token.trim().to_owned());
                token.is_some()
            });
            token.expect("it was told")
        };
        let (token, people) = (told("clients"), told("people"));
        assert_eq!((token.len(), people.len()), (64, 64));
        let client = Client { address: server.address, token: token.clone() };
        assert_eq!(client.get("/charts").status, 200);
        let other = Client { address: server.address, token: TOKEN.into() };
        assert_eq!(other.get("/charts").status, 401);
        before.extend([token, people]);
        assert_eq!(server.stop().0, Some(0));
    }
    before.sort();
    before.dedup();
    assert_eq!(before.len(), 4, "none comes twice");
}
