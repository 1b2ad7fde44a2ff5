//! Agents on virtual time, with a coordinator as small as can be: no window is exceeded, and everybody gets on.

use std::sync::Arc;

use super::*;
use crate::config::RunFile;
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_runtime::budget::Usage;
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::driver::{CallId, CallName, Driver};
use chartc_runtime::oracle::{Answer, Asking, Kind, Model, Question};
use chartc_runtime::tools::Calling;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Answers after a while, and notes when it was asked by whom.
struct Fake {
    clock: VirtualClock,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Asked {
    at: Instant,
    agent: String,
    provider: String,
    is_tool: bool,
    tokens: u64,
}

impl Fake {
    fn note(&self, id: &CallId, provider: &str, tokens: u64) {
        let (at, agent) = (self.clock.now(), id.run.to_string());
        let asked = Asked { at, agent, provider: provider.into(), is_tool: id.is_tool, tokens };
        self.asked.lock().expect("a lock").push(asked);
    }
}

impl Driver for Fake {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        let bound = question.token_bound() + question.model.max_tokens.unwrap_or(0);
        // What is said of it later is less.
        let tokens = bound * 3 / 4;
        let provider = question.model.model.split(':').next().unwrap_or_default();
        self.note(id, provider, tokens);
        let wait = self.clock.sleep_until(self.clock.now() + 700 + 13 * (tokens % 11));
        Box::pin(async move {
            wait.await;
            let usage = Usage { input_tokens: tokens, output_tokens: 0, cost: Some(2) };
            Ok(Answer { text: "yes".into(), usage: Some(usage), cut: false })
        })
    }

    fn call(&self, id: &CallId, _: ToolCall) -> Calling {
        self.note(id, "", 0);
        let wait = self.clock.sleep_until(self.clock.now() + 100);
        Box::pin(async move {
            wait.await;
            Ok(Value::None)
        })
    }

    fn name(&self) -> String {
        "fake".into()
    }
}

fn call_id(agent: &str, is_tool: bool) -> CallId {
    let (state, step) = ("s".into(), "think".into());
    let name = CallName { state, step, event: 1, attempt: 1, element: None };
    CallId { run: agent.into(), path: Vec::new(), name, nth: 0, is_tool }
}

fn question(provider: &str, prompt: usize) -> Arc<Question> {
    let model =
        Model { model: format!("{provider}:m").into(), max_tokens: Some(100), ..Model::default() };
    let prompt = "x".repeat(prompt);
    Arc::new(Question { kind: Kind::Ask, prompt, model, ..Question::default() })
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Run {
    gate: Gate,
    clock: VirtualClock,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Run {
    fn new(text: &str) -> Self {
        let file = RunFile::parse(text).unwrap_or_else(|fault| panic!("{fault}"));
        let gate = Gate::new(&file.rate_limiting);
        Self { gate, clock: VirtualClock::new(), asked: Arc::default() }
    }

    fn driver(&self, agent: &str) -> Arc<Gated<Fake>> {
        let fake = Fake { clock: self.clock.clone(), asked: self.asked.clone() };
        // A driver for many agents gives the same result as one for a single agent, because the runs have the names of the agents.
        Arc::new(if agent.len().is_multiple_of(2) {
            Gated::new(self.gate.clone(), agent, "*", Arc::new(fake))
        } else {
            Gated::of_runs(self.gate.clone(), "*", Arc::new(fake))
        })
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("a lock").clone()
    }

    /// Polls everybody, admits, and lets time pass where nobody can go on. Threads poll in any order: `turn` stands for it.
    fn drive(&self, tasks: Vec<Task>, turn: usize) {
        let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
        let count = tasks.len().max(1);
        let mut cx = Context::from_waker(Waker::noop());
        for round in 0.. {
            assert!(round < 2_000_000, "no end");
            for n in 0..count {
                let task = &mut tasks[(n + turn) % count];
                if task.as_mut().is_some_and(|task| task.as_mut().poll(&mut cx).is_ready()) {
                    *task = None;
                }
            }
            if tasks.iter().all(Option::is_none) {
                return;
            }
            let before = self.gate.waiting();
            let next = self.gate.admit(self.clock.now(), |agent| agent.to_owned());
            if self.gate.waiting() < before {
                continue;
            }
            let mut alarm = next.map(|at| {
                assert!(at > self.clock.now(), "there is room now");
                self.clock.sleep_until(at)
            });
            if let Some(alarm) = &mut alarm {
                assert_eq!(alarm.as_mut().poll(&mut cx), Poll::Pending);
            }
            assert!(self.clock.jump(), "nobody can go on: a deadlock");
        }
    }
}

/// The most in any stretch of `length`, counted anew.
fn most(uses: &[(u64, u64)], length: u64) -> u64 {
    let within = |from: u64| uses.iter().filter(move |(at, _)| *at >= from && *at < from + length);
    uses.iter().map(|(from, _)| within(*from).map(|(_, n)| n).sum()).max().unwrap_or(0)
}

const TEXT: &str = "rate_limiting:
  window_seconds: 10
  resources: {llm_calls: {max_per_window: 2}, llm_tokens: {max_per_window: 2500}, tool_calls: {max_per_window: 1}}
  providers:
    big: {window_seconds: 5, resources: {llm_calls: {max_per_window: 90}, llm_tokens: {max_per_window: 60000}}}
    small: {window_seconds: 7, resources: {llm_calls: {max_per_window: 40}}}
";

/// Each agent thinks, calls a tool while it holds another call, and thinks again; the first one is greedy.
fn many(agents: usize, turn: usize) -> Vec<Asked> {
    let run = Run::new(TEXT);
    let mut tasks: Vec<Task> = Vec::new();
    for n in 0..agents {
        let (name, provider) = (format!("agent_{n:03}"), if n % 3 == 0 { "small" } else { "big" });
        let driver = run.driver(&name);
        let times = if n == 0 { 20 } else { 2 };
        tasks.push(Box::pin(async move {
            for time in 0..times {
                let id = call_id(&name, false);
                let thought = driver.ask(&id, question(provider, 10 * (n % 40) + time));
                let tool =
                    ToolCall { tool: "t".into(), arguments: Vec::new(), result: String::new() };
                let used = driver.call(&call_id(&name, true), tool);
                let (thought, used) = tokio::join!(thought, used);
                assert!(thought.is_ok() && used.is_ok());
            }
        }));
    }
    run.drive(tasks, turn);
    assert_eq!(run.gate.waiting(), 0);
    assert!(run.gate.state().queues.is_empty());
    assert_eq!(run.gate.spent("agent_000").llm_calls, 20);
    assert_eq!(run.gate.spent(&format!("agent_{:03}", agents - 1)).cost, 4);
    run.asked()
}

#[test]
fn a_thousand_agents_exceed_no_window_and_all_get_on() {
    let asked = many(1000, 0);
    assert_eq!(asked.len(), (999 * 2 + 20) * 2);
    let of = |keep: &dyn Fn(&Asked) -> bool, tokens: bool| -> Vec<(u64, u64)> {
        let rows = asked.iter().filter(|asked| keep(asked));
        rows.map(|asked| (asked.at, if tokens { asked.tokens } else { 1 })).collect()
    };
    let calls = |name: &str| of(&|asked| asked.provider == name, false);
    assert_eq!(most(&calls("small"), 7000), 40, "used as far as there is room");
    // Here tokens are used up before calls are.
    assert!((80..=90).contains(&most(&calls("big"), 5000)));
    assert!(most(&of(&|asked| asked.provider == "big", true), 5000) <= 60_000);
    let agents: BTreeSet<&str> = asked.iter().map(|asked| asked.agent.as_str()).collect();
    assert_eq!(agents.len(), 1000);
    for agent in agents {
        let own = |is_tool| move |asked: &Asked| asked.agent == agent && asked.is_tool == is_tool;
        assert!(most(&of(&own(false), false), 10_000) <= 2, "{agent}");
        assert!(most(&of(&own(false), true), 10_000) <= 2500, "{agent}");
        assert!(most(&of(&own(true), false), 10_000) <= 1, "{agent}");
    }
}

#[test]
fn the_order_of_threads_changes_nothing() {
    let sorted = |mut asked: Vec<Asked>| {
        asked.sort_by(|a, b| (a.at, &a.agent, a.is_tool).cmp(&(b.at, &b.agent, b.is_tool)));
        asked
    };
    assert_eq!(sorted(many(250, 0)), sorted(many(250, 57)));
}

#[test]
fn an_agent_with_many_calls_does_not_hold_up_the_others() {
    let run = Run::new(
        "rate_limiting: {window_seconds: 10, providers: {x: {resources: {llm_calls: {max_per_window: 1}}}}}",
    );
    let mut tasks: Vec<Task> = Vec::new();
    for (agent, calls) in [("a_greedy", 50), ("b", 2), ("c", 1)] {
        for n in 0..calls {
            let asking = run.driver(agent).ask(&call_id(agent, false), question("x", n));
            tasks.push(Box::pin(async move { assert!(asking.await.is_ok()) }));
        }
    }
    run.drive(tasks, 0);
    let order: Vec<String> = run.asked().into_iter().map(|asked| asked.agent).take(6).collect();
    assert_eq!(order, ["a_greedy", "b", "c", "a_greedy", "b", "a_greedy"]);
}

#[test]
fn a_large_call_is_not_overtaken_for_ever() {
    let run = Run::new(
        "rate_limiting: {window_seconds: 10, providers: {x: {resources: {llm_tokens: {max_per_window: 3000}}}}}",
    );
    let mut tasks: Vec<Task> = Vec::new();
    for (agent, prompt, calls) in [("a", 1, 6), ("large", 2200, 1), ("z", 1, 6)] {
        let driver = run.driver(agent);
        tasks.push(Box::pin(async move {
            for _ in 0..calls {
                let answer = driver.ask(&call_id(agent, false), question("x", prompt)).await;
                assert!(answer.is_ok());
            }
        }));
    }
    run.drive(tasks, 0);
    let at = run.asked().iter().position(|asked| asked.agent == "large");
    assert!(at.is_some_and(|at| at <= 3), "{at:?}");
}

fn poll(asking: &mut Asking) -> Poll<Result<Answer, OracleError>> {
    asking.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn what_can_never_be_made_is_refused_and_answers_are_shortened_to_a_window() {
    let run = Run::new("rate_limiting: {resources: {llm_tokens: {max_per_window: 2000}}}");
    let driver = run.driver("ada");
    let mut large = driver.ask(&call_id("ada", false), question("x", 2000));
    assert!(poll(&mut large).is_pending());
    assert_eq!(run.gate.admit(0, |_| 0), None);
    let Poll::Ready(Err(OracleError::Denied(why))) = poll(&mut large) else { panic!("refused") };
    assert!(why.contains("llm_tokens, and an agent has 2000 in a whole window"), "{why}");
    let mut open = question("x", 10);
    Arc::make_mut(&mut open).model.max_tokens = None;
    let mut open = driver.ask(&call_id("ada", false), open);
    assert_eq!(run.gate.admit(0, |_| 0), None);
    assert!(poll(&mut open).is_pending());
    assert_eq!(run.asked().len(), 1, "it is made");
    assert_eq!(run.gate.state().windows.used("ada", "llm_tokens", 0), 2000);
}

#[test]
fn a_call_that_is_given_up_leaves_the_queue_or_counts_as_made() {
    let run = Run::new("rate_limiting: {resources: {llm_calls: {max_per_window: 1}}}");
    let driver = run.driver("ada");
    let ask = || driver.ask(&call_id("ada", false), question("x", 1));
    let (waits, granted) = (ask(), ask());
    drop(waits);
    assert_eq!(run.gate.admit(0, |_| 0), None);
    drop(granted);
    assert_eq!(run.gate.spent("ada"), Spent::default(), "neither was made");
    let (mut made, mut late) = (ask(), ask());
    assert_eq!(run.gate.admit(0, |_| 0), Some(60_000));
    assert!(poll(&mut made).is_pending() && poll(&mut late).is_pending());
    assert_eq!(run.asked().len(), 1);
    drop(made);
    let spent = run.gate.spent("ada");
    assert!(spent.llm_calls == 1 && spent.llm_tokens > 700, "it may have been billed: {spent:?}");
    drop(late);
    assert_eq!((run.gate.waiting(), run.gate.admit(1, |_| 0)), (0, None));
}

#[test]
fn a_budget_ends_calls_and_is_kept() {
    let run = Run::new("rate_limiting: {enabled: false}");
    let most = LlmBudget { llm_calls: Some(2), ..LlmBudget::default() };
    run.gate.set_budget("ada", most);
    let driver = run.driver("ada");
    let failed = Arc::new(Mutex::new(Vec::new()));
    let tasks = (0..3).map(|_| {
        let asking = driver.ask(&call_id("ada", false), question("x", 1));
        let failed = failed.clone();
        let task: Task = Box::pin(async move {
            if let Err(why) = asking.await {
                failed.lock().expect("a lock").push(why.to_string());
            }
        });
        task
    });
    run.drive(tasks.collect(), 0);
    let said = "no model may be asked: the budget of `ada` is used up: 2 of 2 llm_calls";
    assert_eq!(*failed.lock().expect("a lock"), [said]);
    assert!(matches!(run.gate.ensure_can_call("ada", "x", 0), Err(Closed::Budget(_))));
    assert_eq!(run.gate.ensure_can_call("bob", "x", 0), Ok(()));
    let again = Run::new("").gate;
    again.set_budget("ada", most);
    let text = serde_json::to_string(&run.gate.save()).expect("JSON");
    again.load(serde_json::from_str(&text).expect("the same"));
    assert_eq!(again.spent("ada").cost, 4);
    assert!(again.ensure_can_call("ada", "x", 0).is_err());
}

#[test]
fn actions_and_thinking_ask_for_room() {
    let run = Run::new(
        "rate_limiting: {window_seconds: 1, resources: {actions: {max_per_window: 1}, llm_calls: {max_per_window: 1}}}",
    );
    let gate = &run.gate;
    assert_eq!(gate.take("ada", "actions", 1, 0), Ok(()));
    let full = Refusal::Full { until: 1000, whose: Whose::Agent };
    assert_eq!(gate.take("ada", "actions", 1, 999), Err(full.clone()));
    assert_eq!(gate.take("ada", "actions", 1, 1000), Ok(()));
    let driver = run.driver("ada");
    assert_eq!(gate.ensure_can_call("ada", "x", 1000), Ok(()));
    let _call = driver.ask(&call_id("ada", false), question("x", 1));
    gate.admit(1000, |_| 0);
    let full = Closed::Rate(Refusal::Full { until: 2000, whose: Whose::Agent });
    assert_eq!(gate.ensure_can_call("ada", "x", 1999), Err(full));
    assert_eq!(gate.ensure_can_call("ada", "x", 2000), Ok(()));
}

#[test]
fn a_call_under_way_at_a_checkpoint_passes_again_and_counts_once() {
    let text = "rate_limiting: {window_seconds: 10, resources: {llm_calls: {max_per_window: 1}}}";
    let run = Run::new(text);
    let ask = |run: &Run| run.driver("ada").ask(&call_id("ada", false), question("x", 1));
    let mut made = ask(&run);
    run.gate.admit(0, |_| 0);
    assert!(poll(&mut made).is_pending());
    let kept = serde_json::to_string(&run.gate.save()).expect("JSON");
    let next = Run::new(text);
    next.gate.load(serde_json::from_str(&kept).expect("the same"));
    assert_eq!(serde_json::to_string(&next.gate.save()).expect("JSON"), kept);
    let mut again = ask(&next);
    assert!(poll(&mut again).is_pending());
    assert_eq!(next.asked().len(), 1, "it does not wait");
    let mut other = next.driver("ada").ask(&call_id("ada", true), question("x", 1));
    assert_eq!(next.gate.admit(0, |_| 0), Some(10_000), "the window is as full as it was");
    assert!(poll(&mut other).is_pending());
    assert!(next.clock.jump() && poll(&mut again).is_ready());
    assert_eq!(next.gate.spent("ada").llm_calls, 1);
    let kept = serde_json::to_string(&next.gate.save()).expect("JSON");
    assert!(kept.contains(r#""open":[],"#), "{kept}");
}
