//! What a world says before it calls real models, and what it tells an agent whose action it refused. A stub stands for the model.

use crate::no_model::Stub;
use crate::run::command::{chartc, folder};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A folder with one agent, as small as an agent.yaml can be.
fn alone(test: &str) -> std::path::PathBuf {
    let folder = folder(&format!("announced-{test}"));
    std::fs::create_dir(folder.join("alice")).expect("the folder is the test's own");
    let text = "id: alice\nstarting_scrip: 100\n";
    std::fs::write(folder.join("alice/agent.yaml"), text).expect("it can be written");
    folder
}

/// A model that answers with these actions, one after the other; the prompts it was sent.
fn model(actions: Vec<Value>) -> (Stub, Arc<Mutex<Vec<String>>>) {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let (seen, left) = (prompts.clone(), Mutex::new(actions.into_iter()));
    let stub = Stub::new(move |_, body| {
        seen.lock().expect("whole").push(body["messages"].to_string());
        let action = left.lock().expect("whole").next();
        let action = action.unwrap_or_else(|| json!({"action_type": "noop"}));
        let text = json!({"thought_process": "", "action": action}).to_string();
        let message = json!({"role": "assistant", "content": text});
        (
            200,
            json!({
                "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }),
        )
    });
    (stub, prompts)
}

fn run(folder: &Path, url: &str, more: &[&str]) -> (i32, String, String) {
    let fixed = ["run", ".", "--ticks", "3", "--delay", "0.05", "--llm", url, "--model", "local:m"];
    chartc(folder, &[&fixed[..], more].concat())
}

#[test]
fn a_world_says_how_many_calls_it_may_make_before_it_makes_one() {
    let folder = alone("calls");
    let (stub, prompts) = model(Vec::new());
    let (code, out, err) = run(&folder, &stub.url, &[]);
    assert_eq!(code, 0, "{out}{err}");
    let begin: Value = serde_json::from_str(out.lines().next().expect("a line")).expect("JSON");
    // Each turn asks once, and again up to three times.
    let said = [&begin["type"], &begin["ticks"], &begin["max_llm_calls"], &begin["time"]];
    assert_eq!(said, [&json!("begin"), &json!(3), &json!(12), &json!("real")], "{out}");
    assert_eq!(begin["models"][0]["input_price"], 0.0, "{out}");
    assert_eq!(prompts.lock().expect("whole").len(), 3, "{out}");
    let (_, _, err) = run(&folder, &stub.url, &["--format", "text"]);
    assert!(err.starts_with("1 agent, 3 ticks: at most 12 calls of local:m at"), "{err}");
    assert!(err.contains("(free), in real time"), "{err}");
    // Scripts cost nothing, and nothing is said of them.
    let (_, out, err) = run(&folder, "first", &[]);
    assert!(!out.contains(r#""type":"begin""#), "{out}{err}");
}

#[test]
fn a_refused_action_says_why_in_the_next_prompt() {
    let folder = alone("refused");
    let (stub, prompts) =
        model(vec![json!({"action_type": "read_artifact", "artifact_id": "lost"})]);
    let (code, out, err) = run(&folder, &stub.url, &[]);
    assert_eq!(code, 0, "{out}{err}");
    let prompts = prompts.lock().expect("whole");
    let failed = "FAILED: not_found: there is no artifact `lost`";
    assert!(!prompts[0].contains("FAILED"), "{}", prompts[0]);
    assert!(prompts[1].contains(failed), "{}", prompts[1]);
}
