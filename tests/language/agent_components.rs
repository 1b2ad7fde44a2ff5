//! Components and system prompt of an `agent.yaml`: found around it, and put into its prompts.

use crate::agent_front::{findings, first_difference};
use chartc::Compilation;
use chartc::load::{Loader, Memory};
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Answer, Asking, Oracle, Question, ready};
use chartc_runtime::trace::Line;
use std::sync::{Arc, Mutex};
use test_support::project::root;

/// The shop of the fixtures, as a loader in memory.
fn shop() -> Memory {
    let mut files = Memory::default();
    for name in [
        "seller/agent.yaml",
        "seller/system_prompt.md",
        "_components/behaviors/loop_breaker.yaml",
        "_components/behaviors/frugal.yaml",
        "_components/goals/grow.yaml",
        "_components/traits/curious.yaml",
        "_components/phases/opening.yaml",
    ] {
        let path = root().join("tests/language/fixtures/shop").join(name);
        let text = std::fs::read_to_string(path).expect("the fixture can be read");
        files.0.insert(format!("shop/{name}"), text);
    }
    files
}

fn check(files: &Memory) -> Compilation {
    chartc::check(&["shop/seller/agent.yaml".to_owned()], files)
}

/// The shop with other text for some of its files.
fn changed(changes: &[(&str, &str)]) -> Compilation {
    let mut files = shop();
    for (name, text) in changes {
        files.0.insert(format!("shop/{name}"), (*text).to_owned());
    }
    check(&files)
}

#[test]
fn an_agent_with_components_is_a_chart_with_components() {
    let done = check(&shop());
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    insta::assert_snapshot!("components_chart", printed);
    let twin = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", &printed));
    let (a, b) = (&done.lowered[0].chart, &twin.lowered[0].chart);
    assert!(a == b, "{}", first_difference(a, b));
    // One of the steps that `grow` names belongs to other agents.
    insta::assert_snapshot!("components_findings", findings(&done));
}

/// Notes every prompt, and acts.
struct Notes(Mutex<Vec<String>>);

impl Oracle for Notes {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let text = if question.options.is_empty() { r#"{"action": "noop"}"# } else { "continue" };
        self.0.lock().expect("one thread").push(question.prompt.clone());
        ready(Ok(Answer::from(text.to_owned())))
    }

    fn name(&self) -> String {
        "notes".to_owned()
    }
}

struct Watcher;

impl Host for Watcher {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        assert_eq!(function, "watcher_repeats");
        let want = [Value::Text("a a a".to_owned()), Value::Int(3)];
        Ok(Value::Bool(arguments == want))
    }
}

/// The prompts of the first turn, under these inputs.
fn prompts(done: &Compilation, inputs: &[(&str, Value)]) -> Vec<String> {
    let mut chart = done.lowered[0].chart.clone();
    Arc::make_mut(&mut chart).calls_per_turn = None;
    let plan = Plan::new(&chart);
    let machine = Interpreter::new(&plan, Watcher, Vec::new()).expect("no params");
    let notes = Arc::new(Notes(Mutex::default()));
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, notes.clone(), clock, Vec::<Line>::new());
    for (name, value) in inputs {
        session.input(name, value.clone()).expect("inputs fit");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(session.start()).expect("no fault of the host");
    runtime.block_on(session.turn()).expect("no fault of the host");
    let prompts = notes.0.lock().expect("one thread").clone();
    assert_eq!(session.status(), None);
    prompts
}

#[test]
fn fragments_stand_in_prompts_by_kind_place_and_condition() {
    let done = check(&shop());
    let repeating = [
        ("action_history", Value::Text("a a a".to_owned())),
        ("balance", Value::Int(5)),
        ("tick", Value::Int(3)),
    ];
    let system = "# Seller\n\nYou sell what others need. Answer in JSON: {\"action\": \"…\"}.\n";
    let own = format!("{system}\nWhat do you see, seller?\n");
    let frugal = "You have 5 left and spent 95.";
    let breaker = "Do not repeat yourself. So far: a a a\n";
    let goal = "## Goal\nGrow.\n";
    let phase = "Turn 3 of the opening.";
    assert_eq!(
        prompts(&done, &repeating),
        [
            [frugal, &own, breaker, goal, phase].join("\n\n"),
            ["Continue, or ship it?", breaker, "You like what is new."].join("\n\n"),
        ]
    );
    let otherwise = [("action_history", Value::Text("a".to_owned())), ("balance", Value::Int(50))];
    assert_eq!(prompts(&done, &otherwise)[0], [&own, goal, "Turn 0 of the opening."].join("\n\n"));
}

#[test]
fn a_fragment_may_replace_the_prompt() {
    let fragment = "inject_into: [look]\nat: replace\nprompt_fragment: Only this.\n";
    let done = changed(&[("_components/goals/grow.yaml", fragment)]);
    let prompts = prompts(&done, &[("balance", Value::Int(50))]);
    assert_eq!(prompts[0], "Only this.\n\nTurn 0 of the opening.");
}

#[test]
fn an_agent_without_workflow_speaks_its_system_prompt() {
    let done = changed(&[("seller/agent.yaml", "id: seller\n")]);
    assert_eq!(findings(&done), "");
    let prompts = prompts(&done, &[]);
    assert!(prompts[0].starts_with("# Seller\n\nYou sell"), "{prompts:?}");
}

#[test]
fn what_is_wrong_with_components_is_reported_where_it_stands() {
    let agent = shop().0["shop/seller/agent.yaml"].replace(
        "traits: [curious]\n  behaviors: [loop_breaker, frugal]",
        "traits: [curios, frugal, patient]\n  behaviors: [loop_breaker, frugal, loop_breaker]",
    );
    let breaker = "\
name: loop_braker
type: trait
versions: 1
inject_into: [lok, count, choose, choose, {step: look, always: false}, {always: true}, 3]
requires_context: [action_histroy, balance]
prompt_fragment: |
  You did {last_action}.
  {\"a\": 1}
";
    let frugal = "inject_into: {step: look, always: true, if: tick > 3, at: middle}\n";
    let grow = "inject_into: [bid, offer]\nprompt_fragment: [x]\n";
    let done = changed(&[
        ("seller/agent.yaml", &agent),
        ("_components/behaviors/loop_breaker.yaml", breaker),
        ("_components/behaviors/frugal.yaml", frugal),
        ("_components/goals/grow.yaml", grow),
        ("_components/phases/opening.yaml", "inject_into: []\nprompt_fragment: x\n"),
    ]);
    insta::assert_snapshot!("components_faults", findings(&done));
}

#[test]
fn steps_of_other_agents_are_no_fault_unless_all_are() {
    let of_others = "inject_into: [bid, offer]\nprompt_fragment: x\n";
    let done = changed(&[("_components/goals/grow.yaml", of_others)]);
    insta::assert_snapshot!("components_of_others", findings(&done));
}

#[test]
fn without_a_folder_one_note_tells_of_them_all() {
    let mut files = shop();
    files.0.retain(|name, _| !name.contains("_components"));
    insta::assert_snapshot!("components_missing", findings(&check(&files)));
}

#[test]
fn the_nearest_folder_comes_first() {
    let nearer = "inject_into: [look]\nprompt_fragment: Grow slowly.\n";
    let done = changed(&[("seller/_components/goals/grow.yaml", nearer)]);
    let prompt = &prompts(&done, &[])[0];
    assert!(prompt.contains("Grow slowly.") && prompt.contains("opening"), "{prompt}");
}

#[test]
fn one_name_in_two_lists_makes_two_components() {
    let agent = shop().0["shop/seller/agent.yaml"].replace("[grow]", "[grow, curious]");
    let goal = "inject_into: [look]\nprompt_fragment: Learn.\n";
    let done = changed(&[("seller/agent.yaml", &agent), ("_components/goals/curious.yaml", goal)]);
    let names: Vec<&str> =
        done.lowered[0].chart.components.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["loop_breaker", "frugal", "grow", "curious", "curious_trait", "opening"]);
}

#[test]
fn a_component_of_several_agents_is_reported_once() {
    let mut files = shop();
    let agent = files.0["shop/seller/agent.yaml"].clone();
    files.0.insert("shop/buyer/agent.yaml".to_owned(), agent);
    let bad = "inject_into: [look]\nprompt_fragment: \"{nothing} {here}\"\nkind: x\n";
    files.0.insert("shop/_components/goals/grow.yaml".to_owned(), bad.to_owned());
    let paths = ["shop/buyer/agent.yaml", "shop/seller/agent.yaml"].map(str::to_owned);
    let done = chartc::check(&paths, &files);
    let count = |code: &str| done.diagnostics.iter().filter(|d| d.rule.code == code).count();
    assert_eq!((count("C0101"), count("C0402")), (1, 2));
    // The faults are those of both charts.
    assert_eq!((done.lowered.len(), done.charts.len()), (2, 0));
}

#[test]
fn a_component_by_itself_is_read_as_one() {
    let name = "shop/_components/goals/grow.yaml".to_owned();
    let done = chartc::check(&[name], &shop());
    assert_eq!(findings(&done), "");
    let name = "shop/_components/goals/bad.yaml".to_owned();
    let mut files = shop();
    files.0.insert(name.clone(), "inject_into: [a]\n".to_owned());
    let found = findings(&chartc::check(&[name], &files));
    assert!(found.contains("a component needs a `prompt_fragment`"), "{found}");
}

/// Fails on some files.
struct Torn(Memory);

impl Loader for Torn {
    fn read(&self, path: &str) -> Result<String, String> {
        if path.ends_with("grow.yaml") || path.ends_with(".md") {
            return Err("it is not UTF-8 (byte 7)".to_owned());
        }
        self.0.read(path)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        self.0.resolve(from, name)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        self.0.list(path)
    }
}

#[test]
fn files_that_cannot_be_read_are_findings() {
    let mut files = shop();
    files.0.insert("shop/_components/phases/opening.yaml".to_owned(), "a: [\n".to_owned());
    files.0.insert("shop/_components/traits/curious.yaml".to_owned(), String::new());
    let done = chartc::check(&["shop/seller/agent.yaml".to_owned()], &Torn(files));
    insta::assert_snapshot!("components_unreadable", findings(&done));
}

#[test]
fn a_fragment_that_reads_too_early_is_reported_where_it_stands() {
    let agent = "\
id: seller
components: {goals: [grow]}
workflow:
  steps:
    - {name: look, type: llm, prompt: Look.}
    - {name: count, code: late = tick}
    - {name: act, type: llm, prompt: \"Act: {late}\"}
";
    let grow = "inject_into: [look, act]\nprompt_fragment: \"So far {late}.\"\n";
    let done = changed(&[("seller/agent.yaml", agent), ("_components/goals/grow.yaml", grow)]);
    let found: Vec<_> = done.diagnostics.iter().filter(|d| d.rule.code == "C0407").collect();
    let [one] = found.as_slice() else { panic!("{found:?}") };
    let source = done.sources.get(one.span.file);
    assert_eq!(
        (source.name.as_str(), source.slice(one.span)),
        ("shop/_components/goals/grow.yaml", "{late}")
    );
    let message = "a component in the prompt of `look` reads `late`, which only `count` sets, later in the turn";
    assert_eq!(one.message, message);
}

#[test]
fn mutilated_components() {
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let bits = ["{", "}", "[", "]", ": ", "- ", "\n", "  ", "#", "&a ", "*a", "\"", "|", "at", "é"];
    let names: Vec<String> = shop().0.into_keys().filter(|n| !n.ends_with("agent.yaml")).collect();
    for _ in 0..60 {
        let mut files = shop();
        for name in &names {
            let text = files.0.get_mut(name).expect("it is there");
            let mut chars: Vec<char> = text.chars().collect();
            let at = random(chars.len());
            match random(3) {
                0 => chars.truncate(at),
                1 => drop(chars.remove(at)),
                _ => drop(chars.splice(at..at, bits[random(bits.len())].chars())),
            }
            *text = chars.into_iter().collect();
        }
        let done = check(&files);
        let printed = chartc_compiler::syntax::print::print(&done.files[0]);
        let twin = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", &printed));
        let readable = !done.diagnostics.iter().any(|d| matches!(d.rule.code, "C0001" | "C0404"));
        let (a, b) = (&done.lowered[0].chart, &twin.lowered[0].chart);
        assert!(a == b || !readable, "{printed}\n{}", first_difference(a, b));
    }
}
