//! What `check` says of an `agent.yaml` that does something else than it seems to: where, by which code, in which words; and that it is
//! silent where that is mended.

mod given;
mod names;
mod spending;

use chartc::load::Memory;

/// Findings in order: line, code, message.
fn findings(text: &str) -> Vec<(usize, &'static str, String)> {
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
    let line = |d: &chartc::diagnostic::Diagnostic| {
        done.sources.get(d.span.file).position(d.span.start).line
    };
    done.diagnostics.iter().map(|d| (line(d), d.rule.code, d.message.clone())).collect()
}

/// The findings are these, in order of their places, each with these words.
fn says(text: &str, wanted: &[(usize, &str, &str)]) {
    let found = findings(text);
    let fits = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|((line, code, message), (l, c, words))| {
            line == l && code == c && message.contains(words)
        });
    assert!(fits, "{text}\n{found:#?}");
}

/// An agent with these items of `workflow`.
fn agent(workflow: &str) -> String {
    format!("id: a\nworkflow:\n{workflow}")
}

#[test]
fn a_name_that_only_the_context_has_is_an_input() {
    let step = |code: &str, prompt: &str| {
        agent(&format!(
            "  steps:\n    - {{name: c, type: code, code: \"{code}\"}}\n    - {{name: o, type: llm, prompt: '{prompt}'}}\n"
        ))
    };
    let inputs = |text: &str| -> Vec<String> {
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
        let printed = chartc_compiler::syntax::print::print(&done.files[0]);
        // Code of one line stands behind its brace.
        let lines = printed.lines().map(|l| l.trim().trim_start_matches("code c { "));
        lines
            .map(|l| l.trim_end_matches(" }"))
            .filter(|l| l.starts_with("input ") || l.starts_with("y = "))
            .map(str::to_owned)
            .collect()
    };
    for (code, wanted) in [
        ("y = locals().get('x', 3)", &["input x: Int = 3", "y = x"][..]),
        ("y = locals().get('x', 3) < 0.5", &["input x: Float = 3", "y = x < 0.5"]),
        ("y = locals().get('x', [])", &["input x: List(Json) = []", "y = x"]),
        ("y = locals().get('x')", &["input x: Json = none", "y = x"]),
        ("x = locals().get('x', 'a')\\ny = x", &["input x: Text = \"a\"", "y = x"]),
        (
            "y = locals().get('x', 1) + locals().get('x', 2)",
            &["input x: Int? = none", "y = (x ?? 1) + (x ?? 2)"],
        ),
        ("y = 'x' in locals()", &["input x: Json = none", "y = x != none"]),
        ("x = 1\\ny = locals().get('x', 3)", &["y = x"]),
    ] {
        let text = step(code, "{y}");
        assert_eq!(inputs(&text), wanted, "{code}");
        says(&text, &[]);
    }
    says(&step("y = locals()['zone']", "{y}"), &[(4, "C0102", "the host has to give it")]);
    says(
        &step("y = locals().get('balence', 0)", "{y}"),
        &[(4, "C0102", "nothing here sets `balence`")],
    );
    // What is said twice is no finding, and `context` is a note where nothing else could be written.
    says(
        &step("y = context.get('x', 0) / 2\\ncontext['y'] = y", "{y}"),
        &[(4, "C0405", "`context`")],
    );
}

#[test]
fn steps_that_no_turn_comes_to() {
    let steps = "  steps:
    - {name: look, type: llm, prompt: Look.}
    - {name: decide, type: llm, prompt: Decide.}
    - {name: act, type: code, action: do_it}
";
    says(
        &agent(steps),
        &[
            (5, "C0307", "`decide` never runs: `look` always takes the one model call of a turn"),
            (6, "C0307", "`act` never runs: each turn ends earlier, at `decide`"),
        ],
    );
    says(&agent(&steps.replace("llm, prompt: Decide.", "code, code: m = 1")), &[]);
    let asked = "  state_machine:
    states: [x, y]
    transitions: [x->y, y->x]
  steps:
    - {name: one, type: llm, in_state: x, prompt: Work., transition_to: y}
    - name: decide
      type: transition
      prompt: Answer with one of go, back
      transition_map: {go: y, back: x}
    - {name: two, type: llm, in_state: y, prompt: More., transition_to: x}
";
    let found = findings(&agent(asked));
    assert!(found.iter().any(|(line, code, _)| (*line, *code) == (12, "C0307")), "{found:?}");
    says(
        &agent(
            &asked
                .replace("y->x]", "y->x, x->x]")
                .replace("      type: transition\n", "      type: transition\n      in_state: x\n")
                .replace(
                    "in_state: x, prompt: Work.",
                    "in_state: x, run_if: balance > 3, prompt: Work.",
                ),
        ),
        &[],
    );
}

#[test]
fn a_fallback_that_the_map_lacks() {
    let text = |fallback: &str| {
        agent(&format!(
            "  state_machine:
    states: [x, y]
    transitions: [x->y, y->x]
  steps:
    - name: one
      type: transition
      in_state: x
      transition_source: {{invoke: det, method: check, fallback: {fallback}}}
      transition_map: {{true: y, false: x}}
    - {{name: two, type: llm, in_state: [x, y], prompt: Go on., transition_to: x}}
"
        ))
    };
    says(
        &text("go_on"),
        &[(11, "C0410", "`go_on` is no key of the map: the state stays when the call fails")],
    );
    for fallback in ["false", "\"True\"", "\"false\""] {
        says(&text(fallback), &[]);
    }
}

#[test]
fn words_that_a_key_does_not_take_are_errors() {
    for (said, line, word) in [
        ("    - {name: s, type: python, prompt: Go.}\n", 4, "`type` cannot be `python`"),
        (
            "    - {name: s, type: llm, prompt: Go., on_failure: explode}\n",
            4,
            "`on_failure` cannot be `explode`",
        ),
        (
            "    - {name: s, type: llm, prompt: Go.}\n  error_handling: {on_step_failure: stop}\n",
            5,
            "`on_step_failure` cannot be `stop`",
        ),
        (
            "    - {name: s, type: llm, prompt: Go.}\n  error_handling: {default_on_failure: again}\n",
            5,
            "`default_on_failure` cannot be `again`",
        ),
    ] {
        let text = agent(&format!("  steps:\n{said}"));
        says(&text, &[(line, "C0101", word)]);
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
        assert!(done.charts.is_empty(), "{said} is not run");
    }
}

#[test]
fn keys_that_do_nothing() {
    let one = |keys: &str| agent(&format!("  steps:\n    - {{name: s, {keys}}}\n"));
    says(
        &one("type: llm, prompt: Go., on_failure: skip, max_retries: 2"),
        &[(4, "C0006", "nothing is retried")],
    );
    says(&one("type: llm, prompt: Go., on_failure: retry, max_retries: 2"), &[]);
    says(&one("code: m = balance"), &[(4, "C0005", "`s` has no `type`: it is a code step")]);
    says(&one("prompt: Go."), &[(4, "C0005", "that is a code step, and it has no `code`")]);
    says(&one("type: transition"), &[(4, "C0005", "a transition step needs")]);
    says(&one("type: transition, prompt: Go on."), &[(4, "C0405", "the answer moves nothing")]);
    let rag = |prompt: &str| {
        format!(
            "id: a\nrag: {{enabled: true}}\nworkflow:\n  steps:\n    - {{name: s, type: llm, prompt: '{prompt}'}}\n"
        )
    };
    says(&rag("Go."), &[(2, "C0105", "nothing in this agent reads `memories`")]);
    says(&rag("{memories}"), &[]);
    says("id: a\nrag: {enabled: true}\n", &[]);
    says("id: a\nenabled: false\n", &[(2, "C0343", "does not run this agent")]);
    says("id: a\nenabled: true\n", &[]);
}

#[test]
fn rows_and_states_at_the_place_to_change() {
    let table = |rows: &str, last: &str| {
        agent(&format!(
            "  state_machine:
    states: [x, y]
    transitions:
{rows}  steps:
    - {{name: k, type: code, code: 'rich = balance > 10'}}
    - {{name: one, type: llm, in_state: x, prompt: Go., transition_to: y}}
    - {{name: two, type: llm, in_state: y, prompt: Go on.{last}}}
"
        ))
    };
    let back = ", transition_to: x";
    let rows = "      - {from: x, to: y}\n      - {from: '*', to: y, condition: rich}\n      - {from: y, to: x}\n";
    says(
        &table(rows, back),
        &[(7, "C0342", "`*->y` permits nothing new: `x->y` permits the move already")],
    );
    says(
        &table("      - {from: x, to: y, condition: rich}\n      - {from: y, to: x}\n", back),
        &[],
    );
    // The trap is mended at the step, and nothing is said of a `final`, which there is none of here.
    says(&table("      - x->y\n", ""), &[(10, "C0305", "`y` is a trap")]);
    let late = "  state_machine:
    states: [x, y]
    transitions:
      - {from: x, to: y, condition: ready}
      - {from: y, to: x}
  steps:
    - {name: one, type: llm, in_state: x, prompt: Go., transition_to: y}
    - {name: two, type: llm, in_state: y, prompt: Go on., transition_to: x}
    - {name: k, type: code, code: 'ready = balance > 10'}
";
    let elsewhere = late.replace("type: code,", "type: code, in_state: y,");
    for (text, why) in [(late, "later in the turn"), (&elsewhere, "and that runs in other states")]
    {
        let found = findings(&agent(text));
        let stays = |(line, code, message): &(usize, &str, String)| {
            (*line, *code) == (6, "C0407")
                && message.ends_with(&format!("{why}: the agent stays in `x` for ever"))
        };
        assert!(found.iter().any(stays), "{found:?}");
    }
}

#[test]
fn run_if_may_ask_the_host() {
    let text = agent(
        "  steps:\n    - {name: s, type: llm, prompt: Go., run_if: {invoke: shop, method: open, args: ['{balance}'], fallback: false}}\n",
    );
    says(&text, &[]);
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    assert!(printed.contains("llm s if bool(shop_open(\"{balance}\")) {"), "{printed}");
}

#[test]
fn two_agents_of_one_id() {
    let text = "id: same\n";
    let both = ["agents/one/agent.yaml".to_owned(), "agents/two.agent.yaml".to_owned()];
    let mut files = Memory::of(&both[0], text);
    files.0.insert(both[1].clone(), text.into());
    let codes = |paths: &[String], files: &Memory| -> Vec<&'static str> {
        chartc::check(paths, files).diagnostics.iter().map(|d| d.rule.code).collect()
    };
    assert_eq!(codes(&both, &files), ["C0107"]);
    assert_eq!(codes(&both[..1], &files), [""; 0]);
    // Agents of other folders are not of one world.
    let apart = ["one/agent.yaml".to_owned(), "two/agent.yaml".to_owned()];
    for path in &apart {
        files.0.insert(path.clone(), text.into());
    }
    assert_eq!(codes(&apart, &files), [""; 0]);
    files.0.insert(both[1].clone(), "id: other\n".into());
    assert_eq!(codes(&both, &files), [""; 0]);
}

#[test]
fn an_answer_that_lets_the_state_stay() {
    let text = |map: &str| {
        agent(&format!(
            "  state_machine: {{states: [x, y], transitions: [x->y, y->x]}}
  steps:
    - {{name: gate, type: transition, in_state: x, prompt: 'Respond with move or stay', transition_map: {map}}}
    - {{name: w, type: llm, in_state: y, prompt: Wait., transition_to: x}}
"
        ))
    };
    says(&text("{move: y, stay: x}"), &[]);
    let only = text("{move: y}").replace("move or stay", "move");
    says(&only, &[(5, "C0406", "`gate` offers one option only")]);
}

/// The places beside the first finding, each with its words.
fn beside(text: &str) -> Vec<(String, String)> {
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
    let slice = |span| done.sources.iter().next().expect("there is one").1.slice(span).to_owned();
    let first = done.diagnostics.first().expect("there is a finding");
    first.related.iter().map(|(span, what)| (slice(*span), what.clone())).collect()
}

#[test]
fn a_condition_that_the_code_of_the_turn_decides() {
    let text = |code: &str| {
        agent(&format!(
            "  steps:
    - {{name: c, type: code, code: '{code}'}}
    - {{name: rest, type: llm, run_if: tired, prompt: Rest.}}
    - {{name: act, type: llm, run_if: not tired, prompt: Act.}}
"
        ))
    };
    says(&text("tired = tick % 7 == 0"), &[]);
    let never = text("tired = False");
    says(&never, &[(5, "C0412", "the condition of `rest` never holds: `tired` is always `false`")]);
    let row = "  state_machine:
    states: [x, y]
    transitions: [{from: x, to: y, condition: ripe}, y->x]
  steps:
    - {name: look, type: code, code: 'ripe = False'}
    - {name: f, type: llm, in_state: x, prompt: Farm., transition_to: y}
    - {name: s, type: llm, in_state: y, prompt: Sell., transition_to: x}
";
    let places = beside(&agent(row));
    let set: Vec<&(String, String)> = places.iter().filter(|(at, _)| at != "f").collect();
    assert_eq!(set, [&("ripe".to_owned(), "set to `False` here".to_owned())], "{places:?}");
}

#[test]
fn a_condition_that_implies_the_one_before() {
    let text = |first: &str, between: &str, second: &str| {
        agent(&format!(
            "  steps:
    - {{name: rest, type: llm, run_if: '{first}', prompt: Rest.}}
{between}    - {{name: act, type: llm, run_if: '{second}', prompt: Act.}}
"
        ))
    };
    let told = |line, first| {
        [(
            line,
            "C0307",
            format!("`act` never runs: whenever its condition holds, that of `{first}` does"),
        )]
    };
    let same = |text: &str, line: usize| {
        let all = told(line, "rest");
        let all: Vec<_> =
            all.iter().map(|(line, code, words)| (*line, *code, &words[..])).collect();
        says(text, &all);
    };
    same(&text("balance < 10", "", "balance < 5"), 5);
    same(&text("balance < 10 or tick > 100", "", "balance < 10"), 5);
    says(&text("balance < 10", "", "balance < 50"), &[]);
    says(&text("balance < 5", "", "balance < 10"), &[]);
    // What the conditions read may change between the two.
    let code = "    - {name: c, type: code, code: 'n = tick + 1'}\n";
    let lower = "    - {name: d, type: code, code: 'n = tick - 9'}\n";
    let both = |between: &str| {
        text("n < 10", between, "n < 5").replace("  steps:\n", &format!("  steps:\n{code}"))
    };
    same(&both(""), 6);
    says(&both(lower), &[]);
}
