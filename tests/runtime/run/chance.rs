//! Social and Phases against models and hosts that do anything: what they are offered, how runs end, what they spend.
//!
//! `CHARTC_CASES=N` plays N runs of each instead of 300.

use std::sync::Arc;

use super::*;
use chartc_core::expr::Map;
use chartc_core::host::{Host, Machine, ToolCall};
use chartc_core::machine::Receipt;
use chartc_core::model::ChoiceKind;
use chartc_runtime::budget::Usage;
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::{Answer, Asking, OracleError, Question};
use chartc_runtime::tools::{Calling, Tools};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Numbers by chance, the same for each seed.
struct Dice(Mutex<u64>);

impl Dice {
    fn below(&self, most: usize) -> usize {
        let mut state = self.0.lock().expect("one thread");
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = *state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % most.max(1) as u64) as usize
    }
}

/// A model that answers well, badly, late or not at all.
struct Anybody {
    dice: Arc<Dice>,
    clock: Arc<VirtualClock>,
}

fn delayed<T: Send + 'static>(
    anybody: &Anybody,
    result: T,
) -> std::pin::Pin<Box<dyn Future<Output = T> + Send>> {
    let wait = [0, 0, 0, 100, 5_000, 70_000][anybody.dice.below(6)];
    let sleep = anybody.clock.sleep_until(anybody.clock.now() + wait);
    Box::pin(async move {
        sleep.await;
        result
    })
}

impl Oracle for Anybody {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let dice = &self.dice;
        let option = &question.options[dice.below(question.options.len())];
        let name = &option.offer.name;
        let arguments: Map = option
            .offer
            .arguments
            .iter()
            .map(|(name, _)| (name.to_string(), Value::Text(format!("w{}", dice.below(3)))))
            .collect();
        let json =
            serde_json::json!({"choice": name, "arguments": Value::Map(arguments)}).to_string();
        let text = match dice.below(12) {
            0 => format!("I would say {name}."),
            1 => "I do not know.".to_owned(),
            2 => format!("Not {name}."),
            3 => match question.forbidden.first() {
                Some(tool) => format!(
                    "{{\"tool\": \"{}\", \"arguments\": {{\"query\": \"x\"}}}}",
                    tool.offer.name
                ),
                None => "think.hard".to_owned(),
            },
            4 => format!("<think>{name}? no…</think>```json\n{json}\n```"),
            5 => return delayed(self, Err(OracleError::RateLimited { retry_after: Some(2_000) })),
            6 => {
                return delayed(
                    self,
                    Err(OracleError::Server { status: 500, why: String::new(), retry_after: None }),
                );
            }
            7 => return delayed(self, Err(OracleError::Connection("dropped".into()))),
            _ => json,
        };
        let bound = question.token_bound();
        let most = question.model.max_tokens.unwrap_or(4096);
        let usage = (dice.below(4) > 0).then(|| Usage {
            input_tokens: dice.below(bound as usize) as u64,
            output_tokens: dice.below(most as usize + 1) as u64,
            cost: None,
        });
        delayed(self, Ok(Answer { text, usage, cut: false }))
    }

    fn name(&self) -> String {
        "anybody".into()
    }
}

impl Tools for Anybody {
    fn call(&self, _call: ToolCall) -> Calling {
        let dice = &self.dice;
        let result = match dice.below(4) {
            0 => Err(OracleError::Other("no network".into())),
            _ => Ok(Value::Int(dice.below(3) as i64)),
        };
        delayed(self, result)
    }
}

/// A host whose relevance is one number for the whole run.
struct Feed {
    relevance: f64,
}

impl Host for Feed {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Ok(if function == "relevance" { Value::Float(self.relevance) } else { Value::None })
    }
}

/// The options of each state and of those around it, by path; a tool set stands for its tools.
fn legal(
    chart: &Arc<Chart>,
    active: &BTreeSet<String>,
    allowed: &dyn Fn(&str) -> bool,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for choice in &chart.choices {
        let line = chart.transition(choice.transition);
        let state = &chart.state(line.source).path;
        if !(state.is_empty() || active.contains(state)) {
            continue;
        }
        match &choice.kind {
            ChoiceKind::Call(set, _) => {
                let set = &chart.tool_sets[set.index()];
                let out = |name: &str| {
                    let is = |pattern: &String| match pattern.strip_suffix('*') {
                        Some(stem) => name.starts_with(stem),
                        None => name == pattern,
                    };
                    set.minus.iter().any(is)
                };
                let rows = chart.tools.iter().enumerate();
                let inside = rows.filter(|(i, tool)| {
                    (set.any || set.tools.iter().any(|t| t.index() == *i)) && !out(&tool.name)
                });
                names.extend(inside.map(|(_, tool)| tool.name.clone()));
            }
            ChoiceKind::Option(_) if line.guard.is_none() || allowed(&choice.name) => {
                names.insert(choice.name.clone());
            }
            ChoiceKind::Option(_) => {}
        }
    }
    names
}

/// How many runs ended each way, and how many questions were put.
#[derive(Default)]
struct Tally {
    ends: BTreeMap<&'static str, usize>,
    questions: usize,
}

const CALLS: u32 = 12;
const TOKENS: u64 = 10_000;

/// A chart we ship, with limits.
fn limited(name: &str, client: (&str, &str)) -> Arc<Chart> {
    let text = std::fs::read_to_string(root().join("charts").join(name)).expect("a chart we ship");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let head = lines.iter().position(|line| line.starts_with("chart ")).expect("its head");
    lines.insert(head + 1, format!("  limits {{ calls {CALLS}  tokens {TOKENS} }}"));
    let text = lines.join("\n").replace(client.0, client.1);
    chart(&text)
}

fn play_one(
    chart: &Arc<Chart>,
    plan: &Plan,
    seed: u64,
    params: Map,
    tally: &mut Tally,
    act: impl AsyncFn(&mut Session<Interpreter<Feed>, Vec<Line>>, &Dice) -> Result<(), RunError>,
) {
    let dice = Arc::new(Dice(Mutex::new(seed)));
    let relevance = dice.below(11) as f64 / 10.0;
    let clock = Arc::new(VirtualClock::new());
    let anybody = Arc::new(Anybody { dice: dice.clone(), clock: clock.clone() });
    let machine = Interpreter::new(plan, Feed { relevance }, params).expect("params that fit");
    let mut session = Session::new(machine, anybody.clone(), clock, Vec::new()).with_tools(anybody);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let done = runtime.block_on(act(&mut session, &dice));
    assert!(done.is_ok(), "seed {seed}: {done:?}");
    let spent = session.spent();
    assert!(spent.input_tokens + spent.output_tokens <= TOKENS, "seed {seed}: {spent:?}");
    let status = session.status().map_or("waits", chartc_core::machine::Status::word);
    *tally.ends.entry(status).or_default() += 1;
    let (_, lines) = session.into_parts();
    let mut active = BTreeSet::new();
    let mut asked = 0;
    for line in &lines {
        match &line.what {
            What::Entered { state } => drop(active.insert(state.clone())),
            What::Exited { state } => drop(active.remove(state)),
            What::Question { options, .. } => {
                asked += 1;
                let offered: BTreeSet<String> = options.iter().cloned().collect();
                let legal = legal(chart, &active, &|_| relevance >= 0.5);
                assert_eq!(offered, legal, "seed {seed}, line {}: in {active:?}", line.seq);
            }
            _ => {}
        }
    }
    assert!(asked <= CALLS, "seed {seed}: {asked} calls");
    tally.questions += asked as usize;
}

#[test]
fn social_survives_anybody() {
    let chart = limited("social.chart", ("max_tokens 512", "max_tokens 300"));
    let plan = Plan::new(&chart);
    let mut tally = Tally::default();
    for seed in 0..test_support::project::cases(300_usize) as u64 {
        let texts =
            |words: &[&str]| Value::List(words.iter().map(|w| Value::Text((*w).into())).collect());
        let params: Map = [
            ("name".to_owned(), Value::Text("ann".into())),
            ("interests".to_owned(), texts(&["owls", "tea"])),
            ("personality".to_owned(), Value::Text("Curious.".into())),
        ]
        .into_iter()
        .collect();
        play_one(&chart, &plan, seed, params, &mut tally, async |session, dice| {
            session.start().await?;
            for _ in 0..60 {
                if session.status().is_some() {
                    break;
                }
                let names: Vec<String> =
                    session.machine().tables().events.iter().map(|e| e.name.to_string()).collect();
                // What it would handle now, mostly.
                let enabled = session.machine_mut().enabled_events();
                let event = match enabled.get(dice.below(enabled.len() + 1)) {
                    Some(id) => names[id.index()].clone(),
                    None => names[dice.below(names.len())].clone(),
                };
                let data: Map = if event == "sees_post" {
                    let post: Value =
                        serde_json::from_str(r#"{"id": "1", "text": "An owl.", "velocity": 0.2}"#)
                            .expect("JSON");
                    [("post".to_owned(), post)].into_iter().collect()
                } else {
                    Map::new()
                };
                match dice.below(5) {
                    0 => drop(session.turn().await?),
                    1 => session.advance(dice.below(100_000) as u64).await?,
                    2 => drop(session.post(&event, data).await?),
                    _ => drop(session.send(&event, data).await?),
                }
            }
            // Nothing is under way: it waits for the host, or has ended.
            session.settle().await
        });
    }
    assert!(tally.questions > test_support::project::cases(300_usize), "{}", tally.questions);
    println!("social: {:?}, {} questions", tally.ends, tally.questions);
}

#[test]
fn phases_survives_anybody() {
    let chart = limited("phases.chart", ("timeout 60s", "max_tokens 300  timeout 60s"));
    let plan = Plan::new(&chart);
    let mut tally = Tally::default();
    for seed in 0..test_support::project::cases(300_usize) as u64 {
        let params: Map = [("goal".to_owned(), Value::Text("owls".into()))].into_iter().collect();
        play_one(&chart, &plan, seed, params, &mut tally, async |session, dice| {
            session.start().await?;
            for _ in 0..60 {
                if session.status().is_some() {
                    break;
                }
                match dice.below(40) {
                    0 => drop(session.send("cancel", Map::new()).await?),
                    1..10 => session.advance(dice.below(20_000) as u64).await?,
                    10 => {
                        // A turn that is walked makes the next one wait.
                        session.begin_turn().await?;
                        let again = session.begin_turn().await?;
                        assert_ne!(again, Receipt::Unhandled);
                    }
                    _ => drop(session.turn().await?),
                }
            }
            session.settle().await
        });
    }
    assert_eq!(tally.ends.get("waits"), None, "each run ends, after 25 turns at the latest");
    assert!(tally.ends.len() >= 4, "{:?}", tally.ends);
    println!("phases: {:?}, {} questions", tally.ends, tally.questions);
}
