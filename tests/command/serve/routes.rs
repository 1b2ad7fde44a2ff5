//! What each address does.

use super::*;

#[test]
fn charts_say_what_clients_may_give_and_send() {
    let server = Server::new(&charts("charts"), &["--param", "most=7"]);
    let charts = server.client().get("/charts");
    assert_eq!(charts.status, 200);
    let charts = charts.json();
    let desk = &charts[0];
    assert_eq!((&desk["chart"], &desk["turns"]), (&json!("Desk"), &json!(100)));
    assert_eq!(desk["params"]["required"], json!(["owner"]));
    assert_eq!(desk["params"]["properties"]["owner"]["description"], "Whose sum it is.");
    assert_eq!(desk["inputs"]["properties"]["hint"]["type"], "string");
    let events: Vec<&Value> =
        desk["events"].as_array().expect("a list").iter().map(|one| &one["event"]).collect();
    assert_eq!(events, ["add", "note", "ask", "finish"]);
    // What the host has fixed is not for clients.
    assert_eq!(
        (&charts[1]["chart"], &charts[1]["params"]["properties"]),
        (&json!("Turns"), &json!({}))
    );
}

#[test]
fn a_run_is_begun_once_with_the_same_values() {
    let server = Server::new(&charts("begin"), &[]);
    let client = server.client();
    let order = |more: Value| {
        let mut order = json!({"chart": "Desk", "run": "a", "params": {"owner": "Ada"}});
        for (key, value) in more.as_object().expect("an object") {
            order[key] = value.clone();
        }
        client.post("/runs", &order)
    };
    assert_eq!(order(json!({})).status, 201);
    assert_eq!(order(json!({})).status, 200);
    for other in [
        json!({"params": {"owner": "Bob"}}),
        json!({"turns": 3}),
        json!({"inputs": {"hint": "so"}}),
        json!({"chart": "Turns", "params": {}}),
    ] {
        let reply = order(other.clone());
        assert_eq!((reply.status, reply.kind().as_str()), (409, "taken"), "{other}");
    }
    let refused = [
        (json!({"params": {}}), 422, "misfit", "needs the param `owner`"),
        (json!({"params": {"owner": 1}}), 422, "misfit", "owner"),
        (json!({"params": {"owner": "Ada", "ower": 1}}), 422, "misfit", "has no param `ower`"),
        (json!({"inputs": {"hnt": 1}}), 422, "misfit", "has no input `hnt`"),
        (json!({"inputs": {"hint": 1}}), 422, "misfit", "hint"),
        (json!({"chart": "Nobody"}), 404, "no_chart", "`Desk`, `Turns`"),
        (json!({"chart": null}), 404, "no_chart", "`Desk`, `Turns`"),
        (json!({"run": "../../etc/passwd"}), 422, "misfit", "the name of a run"),
        (json!({"run": "\u{1b}[31mred"}), 422, "misfit", "the name of a run"),
        (json!({"run": ""}), 422, "misfit", "the name of a run"),
        (json!({"run": "x".repeat(129)}), 422, "misfit", "the name of a run"),
        (json!({"turns": -1}), 400, "json", "`-1`"),
        (json!({"tuns": 1}), 400, "json", "tuns"),
    ];
    for (other, status, kind, words) in refused {
        let mut other = other;
        if other.get("run").is_none() {
            other["run"] = json!("b");
        }
        let reply = order(other.clone());
        assert_eq!(
            (reply.status, reply.kind().as_str()),
            (status, kind),
            "{other}: {}",
            reply.body
        );
        assert!(reply.body.contains(words), "{other}: {}", reply.body);
    }
    let runs = client.get("/runs").json();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "what was refused began nothing: {runs}");
    // Without a name the run gets one.
    let reply = client.post("/runs", &json!({"chart": "Turns"}));
    assert_eq!(reply.status, 201);
    assert!(
        reply.json()["run"].as_str().is_some_and(|run| run.starts_with("turns-")),
        "{}",
        reply.body
    );
}

#[test]
fn what_the_host_fixes_clients_cannot_change() {
    let server = Server::new(&charts("fixed"), &["--param", "most=3"]);
    let client = server.client();
    let reply = client.post("/runs", &json!({"chart": "Turns", "run": "a", "params": {"most": 9}}));
    assert_eq!((reply.status, reply.kind().as_str()), (422, "misfit"), "{}", reply.body);
    assert_eq!(client.post("/runs", &json!({"chart": "Turns", "run": "a"})).status, 201);
    until("it has ended", || client.get("/runs/a").json()["result"]["turns"] == 3);
}

#[test]
fn an_event_is_applied_once_for_its_id() {
    let server = Server::new(&charts("events"), &[]);
    let client = server.client();
    begin(&client, "a");
    let first = add(&client, "a", "one", 2);
    assert_eq!(
        (first.status, first.json()),
        (200, json!({"receipt": "handled", "repeated": false}))
    );
    let again = add(&client, "a", "one", 2);
    assert_eq!(
        (again.status, again.json()),
        (200, json!({"receipt": "handled", "repeated": true}))
    );
    assert_eq!(add(&client, "a", "two", 3).status, 200);
    assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 5);
    // Nobody waits for it here: it was taken in, and nothing came of it.
    let order = json!({"chart": "Turns", "run": "t", "params": {"most": 1}, "turns": 0});
    assert_eq!(client.post("/runs", &order).status, 201);
    let sent = |run: &str, event: Value| client.post(&format!("/runs/{run}/events"), &event);
    let refused = [
        ("a", json!({"event": "ad", "data": {"by": 1}}), 422, "misfit"),
        ("a", json!({"event": "add", "data": {}}), 422, "misfit"),
        ("a", json!({"event": "add", "data": {"by": "1"}}), 422, "misfit"),
        ("a", json!({"event": "add", "data": {"by": 1, "and": 2}}), 422, "misfit"),
        ("a", json!({"event": "note", "data": {"what": {"text": "x"}}}), 422, "misfit"),
        ("a", json!({"event": "error.llm", "data": {}}), 422, "misfit"),
        ("a", json!({"event": "approve", "data": {}}), 422, "misfit"),
        ("a", json!({"event": "add", "data": {"by": 1}, "id": ""}), 422, "misfit"),
        ("a", json!({"event": "add", "data": {"by": 1}, "id": "x".repeat(257)}), 422, "misfit"),
        ("a", json!({"event": "add", "dat": {"by": 1}}), 400, "json"),
        ("a", json!({"data": {"by": 1}}), 400, "json"),
        ("b", json!({"event": "finish"}), 404, "no_run"),
    ];
    for (run, event, status, kind) in refused {
        let reply = sent(run, event.clone());
        assert_eq!(
            (reply.status, reply.kind().as_str()),
            (status, kind),
            "{event}: {}",
            reply.body
        );
    }
    assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 5);
    let read = sent("t", json!({"event": "turn"}));
    assert_eq!((read.status, &read.json()["receipt"]), (200, &json!("handled")));
    assert_eq!(client.get("/runs/t").json()["result"], json!({"turns": 1}));
    let closed = sent("t", json!({"event": "turn"}));
    assert_eq!((closed.status, &closed.json()["receipt"]), (409, &json!("closed")));
}

#[test]
fn a_person_answers_with_the_token_of_people_only() {
    let server = Server::new(&charts("people"), &[]);
    let (client, person) = (server.client(), server.person());
    begin(&client, "a");
    add(&client, "a", "one", 4);
    let id = ask(&client, "a");
    let read = client.get("/runs/a").json();
    assert_eq!(read["waits_for"][0]["question"], "Is 4 right, Ada? ");
    assert!(read["waits_for"][0]["schema"].to_string().contains("yes"), "{read}");
    let refused = answer(&client, "a", &id, "yes");
    assert_eq!((refused.status, refused.kind().as_str()), (403, "person"), "{}", refused.body);
    let nobody = answer(&person, "b", &id, "yes");
    assert_eq!((nobody.status, nobody.kind().as_str()), (404, "no_run"), "{}", nobody.body);
    assert_eq!(client.get("/runs/a").json()["status"], "running");
    assert_eq!(answer(&person, "a", &id, "yes").status, 200);
    // The answer is in the run when it is taken.
    assert_eq!(client.get("/runs/a").json()["result"], json!({"total": 4}));
    let late = answer(&person, "a", &id, "no");
    assert_eq!((late.status, late.kind().as_str()), (409, "not_open"), "{}", late.body);
    // Those who answer for people may do all else, too.
    assert_eq!(person.get("/runs").status, 200);
    let trace = client.get("/runs/a/trace").body;
    assert!(!trace.contains(TOKEN) && !trace.contains(PEOPLE), "{trace}");
}

#[test]
fn runs_that_have_not_ended_are_counted() {
    let server = Server::new(&charts("most"), &["--max-runs", "2"]);
    let client = server.client();
    begin(&client, "a");
    begin(&client, "b");
    let order = json!({"chart": "Desk", "run": "c", "params": {"owner": "Ada"}});
    let reply = client.post("/runs", &order);
    assert_eq!((reply.status, reply.kind().as_str()), (429, "too_many"), "{}", reply.body);
    // Those that are there are found.
    let found = json!({"chart": "Desk", "run": "a", "params": {"owner": "Ada"}});
    assert_eq!(client.post("/runs", &found).status, 200);
    assert_eq!(event(&client, "a", "finish").status, 200);
    assert_eq!(client.post("/runs", &order).status, 201);
}
