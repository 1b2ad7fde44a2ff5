//! A person's answer counts for the question that they saw, over HTTP and from the inbox.

use super::*;
use crate::run::command::chartc;

/// Pays what a person has approved. The amount of an open question changes when it is asked again.
const PAY: &str = r#"enum Verdict { pay refuse }
chart Pay {
  event pay_for(n: Int)
  do pay(amount: Int)
  var amount: Int = 0
  var verdict: Verdict = Verdict.refuse
  initial idle
  state idle { on pay_for(n) -> asking { amount = n } }
  state asking {
    human approve "Pay {amount}?" {
      returns Verdict into verdict
      retry 1 then -> refused
      done if verdict == Verdict.pay -> paid
      done -> refused
    }
    on pay_for(n) -> asking { amount = n }
  }
  final paid(amount: Int = amount) { enter { pay(amount) } }
  final refused
}
"#;

fn pay(name: &str) -> PathBuf {
    let folder = folder(&format!("serve-pay-{name}"));
    std::fs::write(folder.join("pay.chart"), PAY).expect("a file");
    std::fs::write(folder.join("pay.yaml"), "functions: {pay: null}\n").expect("a file");
    folder
}

fn server(folder: &Path) -> Server {
    let tokens = ["--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
    let more = ["pay.chart", "--functions", "pay.yaml", "--store", "s.db"];
    Server::of(folder, &[&more[..], &tokens].concat())
}

/// Asks for a payment; what a person sees then.
fn asked(client: &Client, amount: i64) -> (String, String) {
    let event = json!({"event": "pay_for", "data": {"n": amount}});
    assert_eq!(client.post("/runs/a/events", &event).status, 200);
    let text = format!("Pay {amount}?");
    let mut seen = Value::Null;
    until("a person is asked", || {
        seen = client.get("/runs/a").json()["waits_for"][0].clone();
        seen["question"] == json!(text)
    });
    (seen["id"].as_str().expect("an id").to_owned(), text)
}

/// How often `pay` was called, and with what, as the trace has it.
fn paid(client: &Client) -> Vec<Value> {
    let trace = client.get("/runs/a/trace").body;
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let calls = lines.filter(|line| line["call"]["function"] == "pay");
    calls.map(|line| line["call"]["arguments"].clone()).collect()
}

#[test]
fn an_answer_to_an_older_question_is_refused_and_nothing_is_paid() {
    let folder = pay("older");
    let server = server(&folder);
    let (client, person) = (server.client(), server.person());
    assert_eq!(client.post("/runs", &json!({"run": "a"})).status, 201);
    let (old, _) = asked(&client, 3);
    let (new, _) = asked(&client, 999);
    assert_ne!(old, new);
    let lines = client.get("/runs/a/trace").body;
    let open = format!("; open is {new}: Pay 999?");
    let bodies = [
        json!({"id": old, "answer": "pay"}),
        json!({"id": "q0000000z", "answer": "pay"}),
        json!({"id": "approve", "answer": "pay"}),
        json!({"id": format!("{new} "), "answer": "pay"}),
        json!({"id": new.to_uppercase(), "answer": "pay"}),
        json!({"id": "", "answer": "pay"}),
        json!({"answer": "pay"}),
        // As clients of earlier versions ask for it.
        json!({"step": "approve", "answer": "pay"}),
    ];
    for body in &bodies {
        let refused = person.post("/runs/a/answers", body);
        assert_eq!((refused.status, refused.kind().as_str()), (409, "not_open"), "{body}");
        let message = refused.json()["error"]["message"].as_str().expect("a text").to_owned();
        assert!(message.ends_with(&open), "{body}: {message}");
    }
    // From the inbox, too.
    for id in [old.as_str(), "approve", ""] {
        let (code, _, err) = chartc(&folder, &["store", "s.db", "reply", "a", id, "pay"]);
        let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 2 && said.contains(&open), "{id}: {err}");
    }
    assert_eq!(client.get("/runs/a/trace").body, lines, "what is refused changes nothing");
    assert_eq!(paid(&client), [json!(null); 0]);
    // No attempt was used: one answer that cannot be used, and the question is asked again, with another id.
    assert_eq!(answer(&person, "a", &new, "perhaps").status, 200);
    let read = client.get("/runs/a").json();
    let again = read["waits_for"][0]["id"].as_str().expect("it is asked again").to_owned();
    assert_ne!(again, new);
    let late = answer(&person, "a", &new, "pay");
    assert!(late.status == 409 && late.body.contains("it was answered: perhaps"), "{}", late.body);
    assert_eq!(answer(&person, "a", &again, "pay").status, 200);
    assert_eq!(paid(&client), [json!([999])]);
    let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "a"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn of_two_people_one_is_taken_and_the_other_is_told() {
    let folder = pay("two");
    let server = server(&folder);
    let client = server.client();
    assert_eq!(client.post("/runs", &json!({"run": "a"})).status, 201);
    let (id, _) = asked(&client, 80);
    let people: Vec<_> = (0..8)
        .map(|nth| {
            let (person, id) = (server.person(), id.clone());
            let said = if nth % 2 == 0 { "pay" } else { "refuse" };
            std::thread::spawn(move || (said, answer(&person, "a", &id, said)))
        })
        .collect();
    let replies: Vec<_> = people.into_iter().map(|one| one.join().expect("it answers")).collect();
    let taken: Vec<_> = replies.iter().filter(|(_, reply)| reply.status == 200).collect();
    let [(said, _)] = taken.as_slice() else { panic!("one is taken: {replies:?}") };
    for (_, reply) in replies.iter().filter(|(_, reply)| reply.status != 200) {
        assert_eq!((reply.status, reply.kind().as_str()), (409, "not_open"), "{}", reply.body);
        assert!(reply.body.contains(&format!("it was answered: {said}")), "{}", reply.body);
    }
    assert_eq!(paid(&client).len(), usize::from(*said == "pay"));
}

#[test]
fn an_accepted_answer_outlives_the_process_that_accepted_it() {
    let folder = pay("kill");
    let server = server(&folder);
    assert_eq!(server.client().post("/runs", &json!({"run": "a"})).status, 201);
    let (id, _) = asked(&server.client(), 80);
    assert_eq!(answer(&server.person(), "a", &id, "pay").status, 200);
    server.kill();
    let server = self::server(&folder);
    assert_eq!(server.client().get("/runs/a").json()["result"], json!({"amount": 80}));
    assert_eq!(paid(&server.client()), [json!([80])]);
    assert_eq!(answer(&server.person(), "a", &id, "refuse").status, 409);
}
