//! Agents in a world: `run --world`.

use super::command::{chartc, folder};
use chartc_runtime::trace::{self, Line, What};
use std::path::Path;

const AGENT: &str = "\
id: ada
llm_model: gemini/gemini-2.0-flash
memory:
  working_memory: {structured_format: true, warn_on_missing: true, max_size_bytes: 59}
workflow:
  state_machine:
    states: [looking, trading]
    transitions:
      - {from: looking, to: trading, condition: {invoke: the-market, method: is_open, fallback: false}}
      - {from: trading, to: looking}
  steps:
    - name: where
      type: transition
      transition_source: {invoke: the-market, method: where_to, args: [\"{tick}\"], fallback: stay}
      transition_map: {trade: trading, look: looking}
    - name: look
      type: llm
      in_state: looking
      prompt: |
        Turn {tick} with {balance}: {last_action_result}
        {action_history}
        {success_rate}
    - name: trade
      type: llm
      in_state: trading
      prompt: \"Trade {my_artifacts}: {last_action_result}\"
";

const WORLD: &str = "\
balances: {ada: 4, bob: 20}
disk: 160
artifacts:
  the-market:
    methods:
      is_open: [false, true]
      where_to:
        cases:
          - {given: [\"5\"], result: trade}
          - {given: [\"6\"], result: trade}
          - {given: [\"8\"], result: look}
          - {result: stay}
  shop: {owner: bob, content: sells gold, price: {buy: 5}, methods: {buy: [sold], look: gold}}
  secret: {owner: bob, read: owner, content: x}
";

const ANSWERS: &str = "\
answers:
  look:
    - {reasoning: r, action: read_artifact, artifact_id: shpo}
    - {reasoning: r, action: read_artifact, artifact_id: secret}
    - {reasoning: r, action: write_artifact, artifact_id: plan, content: \"01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901\"}
    - {reasoning: r, action: write_artifact, artifact_id: ada, content: {working_memory: {current_goal: sell gold, lessons: [look first, then sell it]}}}
    - {reasoning: r, action: query_kernel}
    - {reasoning: r, action: noop}
  trade:
    - {reasoning: r, action: invoke_artifact, artifact_id: shop, method: buy}
    - {reasoning: r, action: invoke_artifact, artifact_id: shop, method: look}
";

/// A folder with an agent in its world.
fn agent(name: &str) -> std::path::PathBuf {
    let folder = folder(&format!("world-{name}"));
    for (file, text) in [("agent.yaml", AGENT), ("world.yaml", WORLD), ("answers.yaml", ANSWERS)] {
        write(&folder, file, text);
    }
    folder
}

pub(super) fn write(folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).expect("the folder can be written");
}

pub(super) fn lines(folder: &Path, file: &str) -> Vec<Line> {
    let text = std::fs::read_to_string(folder.join(file)).expect("the trace was written");
    trace::read(&text).expect("it can be read back")
}

const RUN: [&str; 6] =
    ["run", "agent.yaml", "--llm", "script:answers.yaml", "--world", "world.yaml"];

pub(super) fn run(folder: &Path, more: &[&str]) -> (String, String) {
    let (code, out, errors) = chartc(folder, &[&RUN[..], more].concat());
    assert_eq!(code, 0, "{out}{errors}");
    (out, errors)
}

pub(super) fn prompts(lines: &[Line]) -> Vec<&str> {
    let prompt = |line: &'_ Line| matches!(line.what, What::Question { .. });
    let all = lines.iter().filter(|line| prompt(line));
    all.map(|line| match &line.what {
        What::Question { prompt, .. } => prompt.as_str(),
        _ => unreachable!("only questions are left"),
    })
    .collect()
}

#[test]
fn what_came_of_an_action_reaches_the_next_turn() {
    let folder = agent("turns");
    let (out, errors) = run(&folder, &["--turns", "8", "--trace", "t.jsonl"]);
    assert_eq!(errors, "");
    insta::assert_snapshot!("world_screen", out);
    let lines = lines(&folder, "t.jsonl");
    let prompts = prompts(&lines);
    let starts = [
        "Turn 1 with 4: \n\n0/0 (0%)",
        "Turn 2 with 4: FAILED: not_found: there is no artifact `shpo`; `list` of `genesis_store` says which there are\n1. read_artifact(shpo) -> FAILED: not_found: ",
        "Turn 3 with 4: FAILED: permission_denied: `ada` may not read `secret`: only its owner `bob` may\n",
        "Turn 4 with 4: FAILED: insufficient_disk: `plan` of 122 bytes makes 163 of `ada`, who may have 160\n",
        // The market was closed in turn 5: the condition of the table is asked there first.
        "Turn 5 with 4: SUCCESS: ada has another content, 125 bytes\n",
        "Trade []: FAILED: intent_rejected: there is no action `query_kernel`; there are noop,",
        "Trade []: FAILED: insufficient_scrip: `buy` of `shop` costs 5 scrip, and there are 4",
        "Turn 8 with 4: SUCCESS: gold\n",
    ];
    assert_eq!(prompts.len(), starts.len());
    for (prompt, start) in prompts.iter().zip(starts) {
        assert!(prompt.starts_with(start), "{prompt}\n  is not\n{start}");
    }
    assert!(prompts[7].contains("\n2/7 (29%)"), "{}", prompts[7]);
}

#[test]
fn working_memory_is_a_section_of_the_prompts() {
    let folder = agent("memory");
    run(&folder, &["--turns", "6", "--trace", "t.jsonl"]);
    let lines = lines(&folder, "t.jsonl");
    let prompts = prompts(&lines);
    assert!(!prompts[3].contains("WORKING MEMORY"), "{}", prompts[3]);
    // 59 bytes of it.
    let section = "\n\n=== WORKING MEMORY ===\nCurrent goal: sell gold\nLessons:\n- look first\n- then sell i";
    assert!(prompts[4].ends_with(section), "{}", prompts[4]);
    let notes: Vec<&str> = lines
        .iter()
        .filter_map(|line| match &line.what {
            What::HostNote { about, text } if about == "working_memory" => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        notes,
        [
            "there is no working memory: the agent's record has no `working_memory`",
            "the working memory of 68 bytes is cut to 59",
        ]
    );
}

#[test]
fn a_run_that_was_kept_ends_as_one_that_was_not() {
    for (turns, rest) in [("1", "7"), ("4", "4"), ("5", "3"), ("6", "2")] {
        let folder = agent(&format!("resumed-{turns}"));
        run(&folder, &["--turns", "8", "--trace", "whole.jsonl"]);
        run(&folder, &["--turns", turns, "--trace", "t.jsonl", "--snapshot", "s.json"]);
        // A script begins anew.
        let steps = ["look", "trade"].map(|step| {
            let answered =
                |line: &&Line| matches!(&line.what, What::Answer { step: s, .. } if s == step);
            lines(&folder, "t.jsonl").iter().filter(answered).count()
        });
        let mut skip = steps.into_iter();
        let mut left = 0;
        let kept = ANSWERS.lines().filter(|line| {
            if !line.starts_with("    ") {
                left = if line.starts_with("  ") { skip.next().unwrap_or(0) } else { 0 };
                return true;
            }
            let is_used = left > 0;
            left = left.saturating_sub(1);
            !is_used
        });
        write(&folder, "answers.yaml", &(kept.collect::<Vec<_>>().join("\n") + "\n"));
        run(&folder, &["--turns", rest, "--trace", "t.jsonl", "--resume", "s.json"]);
        let what = |file: &str| -> Vec<String> {
            let all = lines(&folder, file);
            let told = all.iter().filter(|line| !matches!(line.what, What::Resumed { .. }));
            told.map(|line| format!("{:?}", line.what)).collect()
        };
        assert_eq!(what("t.jsonl"), what("whole.jsonl"), "kept after {turns} turns");
        let (code, out, _) = chartc(&folder, &["replay", "t.jsonl"]);
        assert_eq!(code, 0, "{out}");
    }
}

#[test]
fn a_snapshot_belongs_to_its_world() {
    let folder = agent("kept");
    run(&folder, &["--turns", "2", "--snapshot", "s.json"]);
    let resume = |world: &[&str]| {
        let arguments = ["run", "agent.yaml", "--llm", "first", "--resume", "s.json"];
        let (code, _, errors) = chartc(&folder, &[&arguments[..], world].concat());
        assert_eq!(code, 2, "{errors}");
        errors
    };
    assert!(resume(&[]).contains("of an agent in a world: name the world again"));
    write(&folder, "other.yaml", &WORLD.replace("ada: 4", "ada: 5"));
    assert!(resume(&["--world", "other.yaml"]).contains("another world"));
    let text = std::fs::read_to_string(folder.join("s.json")).expect("it was written");
    write(&folder, "s.json", &text.replace("\"agent\":{\"version\":1", "\"agent\":{\"version\":9"));
    assert!(resume(&["--world", "world.yaml"]).contains("its agent has version 9, not 1"));
    write(&folder, "s.json", &text);
    write(&folder, "agent.yaml", &AGENT.replace("max_size_bytes: 59", "max_size_bytes: 61"));
    assert!(resume(&["--world", "world.yaml"]).contains("another working memory"));
}

#[test]
fn a_replay_needs_no_world() {
    let folder = agent("replay");
    run(&folder, &["--turns", "8", "--trace", "t.jsonl"]);
    std::fs::remove_file(folder.join("world.yaml")).expect("it is there");
    let (code, out, errors) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert!(out.contains("the same again: Ada"), "{out}");
    // What the agent was told is part of the run: another result is another run.
    let text = std::fs::read_to_string(folder.join("t.jsonl")).expect("the trace");
    let input = r#""name":"last_action_result","value":"SUCCESS: gold""#;
    assert_eq!(text.matches(input).count(), 1);
    write(&folder, "t.jsonl", &text.replace(input, &input.replace("gold", "iron")));
    assert_eq!(chartc(&folder, &["replay", "t.jsonl"]).0, 1);
}

#[test]
fn what_the_host_gives_is_not_set_by_the_record() {
    let folder = agent("given");
    write(
        &folder,
        "e.jsonl",
        "{\"turn\": {}}\n{\"turn\": {\"last_action_result\": \"mine\"}}\n{\"turn\": {}}\n",
    );
    run(&folder, &["--events", "e.jsonl", "--input", "balance=77", "--trace", "t.jsonl"]);
    let lines = lines(&folder, "t.jsonl");
    let starts =
        ["Turn 1 with 77: \n", "Turn 2 with 77: mine\n1. read", "Turn 3 with 77: mine\n1. read"];
    for (prompt, start) in prompts(&lines).iter().zip(starts) {
        assert!(prompt.starts_with(start), "{prompt}");
    }
    let deeds = lines.iter().filter(|line| matches!(line.what, What::Acted { .. })).count();
    assert_eq!(deeds, 3, "turns of a file of events have consequences, too");
}

#[test]
fn thinking_that_fails_is_told_by_its_name() {
    for (answers, limit, failed) in [
        ("{fail: connection}", "", "llm_error: connection lost"),
        ("{text: nothing at all}", "", "intent_rejected: "),
        (
            "{reasoning: r, action: noop}",
            "  limits { tokens 100 }\n  on limit.tokens -> looking\n",
            "insufficient_llm_tokens: the limit of tokens leaves no room",
        ),
    ] {
        let folder = folder("world-thinking");
        let chart = format!(
            "chart Ada {{\n  meta {{ id: \"ada\" }}\n  input last_action_result: Text = \"\"\n  input recent_failures: List(Json) = []\n{limit}  initial looking\n  state looking {{\n    llm look {{ prompt \"{{last_action_result}} {{recent_failures}}\" retry 0 then fail }}\n  }}\n}}\n"
        );
        write(&folder, "ada.chart", &chart);
        write(&folder, "world.yaml", WORLD);
        write(
            &folder,
            "answers.yaml",
            &format!("answers:\n  look: {{then: repeat, answers: [{answers}]}}\n"),
        );
        let arguments = [
            "run",
            "ada.chart",
            "--llm",
            "script:answers.yaml",
            "--world",
            "world.yaml",
            "--turns",
            "2",
            "--trace",
            "t.jsonl",
        ];
        let (_, out, errors) = chartc(&folder, &arguments);
        let lines = lines(&folder, "t.jsonl");
        let told = lines.iter().find_map(|line| match &line.what {
            What::Input { name, value } if name == "last_action_result" => {
                Some(format!("{value:?}"))
            }
            _ => None,
        });
        let told =
            told.unwrap_or_else(|| panic!("{answers}: the next turn is not told\n{out}{errors}"));
        assert!(told.starts_with(&format!("Text(\"FAILED: {failed}")), "{answers}: {told}");
        let (name, _) = failed.split_once(':').expect("a name and a reason");
        let is_told = |line: &Line| matches!(&line.what, What::NotActed { step, failed, .. } if step == "look" && failed == name);
        assert!(lines.iter().any(is_told), "{answers}");
    }
}

#[test]
fn the_record_decides_where_the_model_fails() {
    let folder = folder("world-heuristic");
    let agent = "\
id: ada
workflow:
  state_machine: {states: [work, rest, market], transitions: [work->rest, work->market, rest->work]}
  steps:
    - {name: next, type: transition, in_state: work, transition_map: {pivot: rest, ship: market, continue: work}}
    - {name: act, type: llm, in_state: work, prompt: Act.}
";
    write(&folder, "agent.yaml", agent);
    write(&folder, "world.yaml", "artifacts: {a: {}, b: {}}");
    for (ids, wanted) in
        [(["a", "a", "a"], "rest"), (["a", "b", "a"], "market"), (["a", "c", "b"], "work")]
    {
        let [x, y, z] = ids;
        let read = |id: &str| {
            format!("    - {{reasoning: r, action: read_artifact, artifact_id: {id}}}\n")
        };
        let answers = format!(
            "answers:\n  act:\n{}{}{}    - {{reasoning: r, action: noop}}\n  next: [continue, continue, continue, {{fail: connection}}]\n",
            read(x),
            read(y),
            read(z)
        );
        write(&folder, "answers.yaml", &answers);
        let (out, _) = run(&folder, &["--turns", "4", "--calls-per-turn", "0"]);
        assert!(out.contains(&format!("{wanted}: stopped (4 turns")), "{ids:?}\n{out}");
    }
}

#[test]
fn a_world_that_cannot_be_read_says_what_is_wrong() {
    let folder = agent("faulty");
    write(&folder, "world.yaml", "artifacts:\n  shop: {ownr: bob}\n");
    let (code, _, errors) = chartc(&folder, &RUN);
    assert_eq!(code, 2);
    let wanted = "world.yaml: `artifacts.shop.ownr` is unknown; there are owner, type, content,";
    let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(errors.contains(wanted) && errors.contains("did you mean `owner`?"), "{errors}");
}

#[test]
fn the_start_sees_the_world_as_turns_do() {
    let folder = folder("world-start");
    let chart = "\
chart Ada {
  meta { id: \"ada\"  starting_scrip: 33 }
  input balance: Int = 0
  input working_memory: Map(Text, Json) = {}
  input strategic_goal: Text = \"none\"
  input quotas: Map(Text, Json) = {}
  var first: Int = balance
  initial poor
  state poor { when balance > 30 -> rich }
  state rich { llm look { prompt \"{first} {strategic_goal} {working_memory} {quotas}\" } }
}
";
    write(&folder, "ada.chart", chart);
    write(
        &folder,
        "world.yaml",
        "disk: 90\nartifacts: {ada: {owner: ada, content: {working_memory: {strategic_goal: live, n: [1]}}}}\n",
    );
    write(&folder, "answers.yaml", "answers: {look: {then: repeat, answers: [{action: noop}]}}\n");
    let arguments = [
        "run",
        "ada.chart",
        "--llm",
        "script:answers.yaml",
        "--world",
        "world.yaml",
        "--turns",
        "2",
        "--trace",
        "t.jsonl",
    ];
    let (code, out, errors) = chartc(&folder, &arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    let lines = lines(&folder, "t.jsonl");
    let wanted = "33 live {'strategic_goal': 'live', 'n': [1]} {'disk_used': 54, 'disk_quota': 90, 'compute': 1000}";
    assert_eq!(prompts(&lines), [wanted; 2]);
    let is_input = |line: &Line| matches!(line.what, What::Input { .. });
    assert!(!lines.iter().any(is_input), "nothing has changed since the start");
    assert_eq!(chartc(&folder, &["replay", "t.jsonl"]).0, 0);
}
