//! Runs that only wait for a person.

use super::*;
use crate::store::waits::CHARTS;

#[test]
fn a_run_that_waits_for_a_person_is_given_no_turns() {
    for (name, body) in CHARTS {
        let folder = folder(&format!("serve-waits-{name}"));
        std::fs::write(folder.join("pay.chart"), format!("chart Pay {{ {body} }}\n"))
            .expect("a file");
        let own = ["pay.chart", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
        let server = Server::of(&folder, &[&own[..], &["--llm", "first"]].concat());
        let (client, person) = (server.client(), server.person());
        let order = json!({"run": "ada", "turns": 50});
        assert_eq!(client.post("/runs", &order).status, 201, "{name}");
        let read = || client.get("/runs/ada").json();
        until("a person is asked", || read()["waits_for"][0]["person"] == true);
        let id = read()["waits_for"][0]["id"].as_str().expect("an id").to_owned();
        let given = answer(&person, "ada", &id, "true");
        assert_eq!(given.status, 200, "{name}: {}", given.body);
        until("it has ended", || !read()["status"].is_null());
        let read = read();
        assert_eq!(read["status"], "ok", "{name}: {read}");
        assert!(read["turns"].as_u64().is_some_and(|turns| turns <= 2), "{name}: {read}");
    }
}
