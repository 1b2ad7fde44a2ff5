//! The chart of README moves through the same states under `chartc run` and under `chartc serve`.

use super::*;
use crate::run::command::chartc;
use test_support::project::flagship;

/// The states that a trace enters, in order, and the steps that it starts.
fn way(trace: &str) -> Vec<String> {
    let lines = trace.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let told = lines.filter_map(|line: Value| match line["kind"].as_str()? {
        "entered" => Some(line["state"].as_str()?.to_owned()),
        "started" => Some(format!("asks {}", line["step"].as_str()?)),
        _ => None,
    });
    told.collect()
}

#[test]
fn it_goes_the_same_way_when_it_is_run_and_when_it_is_served() {
    let cases = [
        ("escalate", Some(true), "paid"),
        ("escalate", Some(false), "refused"),
        ("refuse", None, "refused"),
    ];
    for (nth, (choice, word, end)) in cases.into_iter().enumerate() {
        let here = folder(&format!("serve-flagship-{nth}"));
        let write = |name: &str, text: &str| std::fs::write(here.join(name), text).expect("a file");
        let claim = json!({"event": "claim", "data": {"text": "It was broken.", "amount": 80}});
        let person = word.map_or(String::new(), |word| format!(", approve: [{word}]"));
        write("refund.chart", &flagship());
        write("claim.jsonl", &format!("{claim}\n"));
        let answers = format!("answers: {{judge: [{choice}]{person}}}\nfunctions: {{pay: null}}\n");
        write("answers.yaml", &answers);

        let who = ["--llm", "script:answers.yaml"];
        let run = ["run", "refund.chart", "--events", "claim.jsonl", "--trace", "trace.jsonl"];
        let (code, out, said) = chartc(&here, &[&run[..], &who, &["--turns", "3"]].concat());
        assert_eq!(code, 0, "{out}{said}");
        let trace = std::fs::read_to_string(here.join("trace.jsonl")).expect("it was written");
        let alone = way(&trace);

        let tokens = ["refund.chart", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
        let server = Server::of(&here, &[&tokens[..], &who].concat());
        let (client, person) = (server.client(), server.person());
        let read = || client.get("/runs/a").json();
        let begun = client.post("/runs", &json!({"chart": "Refund", "run": "a"}));
        assert_eq!(begun.status, 201, "{}", begun.body);
        assert_eq!(client.post("/runs/a/events", &claim).status, 200);
        if let Some(word) = word {
            until("the person is asked", || read()["waits_for"][0]["person"] == true);
            let answer = json!({"id": read()["waits_for"][0]["id"], "answer": word.to_string()});
            let taken = person.post("/runs/a/answers", &answer);
            assert_eq!(taken.status, 200, "{}", taken.body);
        }
        until("the run has ended", || read()["configuration"] == json!([end]));
        let served = way(&client.get("/runs/a/trace").body);

        assert_eq!(alone, served);
        assert_eq!(alone[1..4], ["waiting", "triage", "asks judge"], "a model reads the claim");
        assert_eq!(alone.last().map(String::as_str), Some(end));
    }
}
