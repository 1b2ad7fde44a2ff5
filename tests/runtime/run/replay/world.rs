//! A world of chance around a chart: what its host does, and what models, people, tools and host functions say, in their own time.

use super::charts::{OWN, SHARED, TIGHT};
use crate::random::{Random, value};
use chartc::Checked;
use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, FunctionKind, Type, VariableKind};
use chartc_runtime::budget::Usage;
use chartc_runtime::clock::{Clock, Sleep, VirtualClock};
use chartc_runtime::driver::{Driver, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{self, Answer, Asking, Oracle, OracleError, Question};
use chartc_runtime::replay::{ReplayError, Replayed, Tape, replay};
use chartc_runtime::tools::{Calling, Tools};
use chartc_runtime::trace::{JsonLines, Origin, Sink};
use chartc_runtime::{RunError, Session};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use test_support::project::{files, read};

/// Every chart that we ship, and one that does what they do not.
pub(crate) fn charts() -> Vec<Checked> {
    let all = files("charts", "").into_iter().map(|path| (path.clone(), read(path)));
    let mut memory = Memory(all.collect());
    memory.0.insert("own.chart".into(), OWN.into());
    memory.0.insert("shared.chart".into(), SHARED.into());
    memory.0.insert("tight.chart".into(), TIGHT.into());
    let ours = |path: &String| {
        path.ends_with(".chart") || path.ends_with(".scxml") || path.ends_with("agent.yaml")
    };
    let mut found = Vec::new();
    for path in memory.0.keys().filter(|path| ours(path)).cloned().collect::<Vec<_>>() {
        let done = chartc::check_within(&[path], &memory, 0);
        found.extend(done.charts);
    }
    let names: Vec<&str> = found.iter().map(|one| one.chart().name.as_str()).collect();
    assert!(names.len() > 10 && names.contains(&"Own"), "{names:?}");
    found
}

/// Answers of chance: mostly one that fits, now and then prose, nonsense or a failure; some at once, some later.
struct Chance {
    clock: Arc<dyn Clock>,
    random: Mutex<Random>,
    fits: oracle::Random,
}

impl Chance {
    fn later<T: Send + 'static>(
        &self,
        reply: Result<T, OracleError>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<T, OracleError>> + Send>> {
        let after = {
            let mut random = self.random.lock().expect("one thread");
            if random.one_in(2) { 0 } else { random.below(9000) as u64 }
        };
        let sleep = self.clock.sleep_until(self.clock.now() + after);
        Box::pin(async move {
            sleep.await;
            reply
        })
    }

    fn failure(&self) -> Option<OracleError> {
        let mut random = self.random.lock().expect("one thread");
        Some(match random.below(24) {
            0 => OracleError::Timeout(random.number() % 9000),
            1 => OracleError::RateLimited { retry_after: Some(random.number() % 90_000) },
            2 => OracleError::Server { status: 503, why: String::new(), retry_after: None },
            3 => OracleError::Connection("reset".into()),
            4 => OracleError::Refusal("I would rather not".into()),
            5 => OracleError::Other("odd: no answer after all".into()),
            _ => return None,
        })
    }
}

impl Oracle for Chance {
    fn ask(&self, question: Arc<Question>) -> Asking {
        if let Some(error) = self.failure() {
            return self.later(Err(error));
        }
        let which = self.random.lock().expect("one thread").below(12);
        let names: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
        let text = match which {
            0 => "I do not know.".into(),
            1 => names.join(" or "),
            2 => format!("<think>hm</think> I choose {}", names.first().unwrap_or(&"nothing")),
            _ => {
                // Chance itself answers at once.
                let mut asking = self.fits.ask(question);
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                match asking.as_mut().poll(&mut cx) {
                    std::task::Poll::Ready(Ok(answer)) => answer.text,
                    _ => unreachable!("it is there already"),
                }
            }
        };
        let usage = {
            let mut random = self.random.lock().expect("one thread");
            let cost = random.one_in(2).then(|| random.number() % 5_000_000);
            let (input_tokens, output_tokens) = (random.number() % 90, random.number() % 200);
            (!random.one_in(3)).then_some(Usage { input_tokens, output_tokens, cost })
        };
        self.later(Ok(Answer { text, usage, cut: false }))
    }

    fn name(&self) -> String {
        "chance".into()
    }
}

impl Tools for Chance {
    fn call(&self, call: ToolCall) -> Calling {
        if let Some(error) = self.failure() {
            return self.later(Err(error));
        }
        let mut calling = self.fits.call(call);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        match calling.as_mut().poll(&mut cx) {
            std::task::Poll::Ready(result) => self.later(result),
            std::task::Poll::Pending => unreachable!("it is there already"),
        }
    }
}

/// Host functions that give any value of their type, or fail.
pub(crate) struct Functions {
    charts: Vec<Arc<Chart>>,
    random: Random,
}

impl Host for Functions {
    fn call(&mut self, function: &str, _arguments: &[Value]) -> Result<Value, String> {
        if self.random.one_in(9) {
            return Err("no luck: none = 1".into());
        }
        let found = self.charts.iter().find_map(|chart| {
            let row = chart.functions.iter().find(|f| f.name == function)?;
            Some((chart, &row.kind))
        });
        Ok(match found {
            Some((chart, FunctionKind::Pure { result, .. })) => {
                sayable(value(&mut self.random, chart, result, 2))
            }
            Some((_, FunctionKind::Effect)) | None => Value::None,
        })
    }
}

/// JSON has no infinite numbers, and neither has a trace.
fn sayable(value: Value) -> Value {
    match value {
        Value::Float(x) if !x.is_finite() => Value::Float(1.5),
        Value::List(items) => Value::List(items.into_iter().map(sayable).collect()),
        Value::Map(map) => {
            Value::Map(map.into_iter().map(|(name, value)| (name, sayable(value))).collect())
        }
        other => other,
    }
}

/// Passes by itself: whoever looks at it may find that a millisecond has gone.
struct Restless(VirtualClock, AtomicU64);

impl Clock for Restless {
    fn now(&self) -> u64 {
        let seen = self.1.fetch_add(1, Ordering::Relaxed);
        self.0.now() + seen / 3
    }

    fn sleep_until(&self, at: u64) -> Sleep {
        self.0.sleep_until(at.saturating_sub(self.1.load(Ordering::Relaxed) / 3))
    }

    fn jump(&self) -> bool {
        self.0.jump()
    }
}

/// One run, by its seed: the text of its trace.
pub(crate) fn record(checked: &Checked, seed: u64, restless: bool) -> String {
    record_around(checked, seed, restless, |driver, _| driver)
}

/// The same with somebody between the chart and chance, or instead of it.
pub(crate) fn record_around(
    checked: &Checked,
    seed: u64,
    restless: bool,
    change: impl FnOnce(Arc<dyn Driver>, &Arc<dyn Clock>) -> Arc<dyn Driver>,
) -> String {
    let sink = JsonLines(Vec::new());
    let sink = run_around(checked, seed, restless, sink, change, &mut |_| {});
    String::from_utf8(sink.0).expect("JSON is text")
}

/// The same with any sink. The observer is called with the session after each action of the host.
pub(crate) fn run_around<T: Sink>(
    checked: &Checked,
    seed: u64,
    restless: bool,
    sink: T,
    change: impl FnOnce(Arc<dyn Driver>, &Arc<dyn Clock>) -> Arc<dyn Driver>,
    look: &mut dyn FnMut(&Run<'_, T>),
) -> T {
    let plans = checked.plans();
    let charts: Vec<Arc<Chart>> = plans.iter().map(|plan| plan.chart().clone()).collect();
    let chart = &charts[0];
    let mut random = Random::new(seed);
    let clock: Arc<dyn Clock> = if restless {
        Arc::new(Restless(VirtualClock::new(), AtomicU64::new(0)))
    } else {
        Arc::new(VirtualClock::new())
    };
    let log = HostLog::default();
    let host = Functions { charts: charts.clone(), random: Random::new(random.number()) };
    let params = |random: &mut Random| -> Map {
        let needed = chart
            .variables
            .iter()
            .filter(|v| matches!(v.kind, VariableKind::Param { .. }) && v.default.is_none());
        needed.map(|v| (v.name.clone(), sayable(value(random, chart, &v.ty, 2)))).collect()
    };
    let machine = Interpreter::new(&plans[0], Watched::new(host, log.clone()), params(&mut random));
    let machine = machine.expect("params without a range").with_charts(plans.clone());
    let chance = Arc::new(Chance {
        clock: clock.clone(),
        random: Mutex::new(Random::new(random.number())),
        fits: oracle::Random::new(random.number()),
    });
    let origin = Origin { real_clock: restless, ..Origin::default() };
    let parts = Parts { oracle: chance.clone(), people: None, tools: chance.clone() };
    let driver = change(Arc::new(parts), &clock);
    let mut session = Session::new(machine, chance, clock, sink)
        .with_driver(driver)
        .with_host_log(log)
        .with_origin(origin);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let played = runtime.block_on(async {
        for _ in 0..40 {
            act(&mut session, chart, &mut random).await?;
            look(&session);
        }
        session.settle().await
    });
    look(&session);
    // A run may end for a reason that is the host's: then its trace ends there.
    let _ = played.map_err(|error: RunError| error.to_string());
    session.into_parts().1
}

pub(crate) type Run<'p, T> = Session<Interpreter<Watched<Functions>>, T>;

/// One thing that the host does. What it may not do changes nothing.
async fn act<T: Sink>(
    session: &mut Run<'_, T>,
    chart: &Arc<Chart>,
    random: &mut Random,
) -> Result<(), RunError> {
    let given = |random: &mut Random, ty: &Type| sayable(value(random, chart, ty, 2));
    match random.below(10) {
        0 | 1 => {
            let inputs = chart.variables.iter().filter(|v| v.kind == VariableKind::Input);
            let inputs: Vec<_> = inputs.collect();
            if !inputs.is_empty() {
                let input = inputs[random.below(inputs.len())];
                let _ = session.input(&input.name, given(random, &input.ty));
            }
            Ok(())
        }
        2..=4 if !chart.events.is_empty() => {
            let event = &chart.events[random.below(chart.events.len())];
            let fields = event.fields.iter();
            let data = fields.map(|f| (f.name.clone(), given(random, &f.ty))).collect();
            match session.post(&event.name, data).await {
                Err(RunError::UnknownEvent { .. } | RunError::Event { .. }) => Ok(()),
                other => other.map(drop),
            }
        }
        5 | 6 => session.turn().await.map(drop),
        7 => session.begin_turn().await.map(drop),
        8 => session.advance(random.number() % 12_000).await,
        _ => session.settle().await,
    }
}

/// Runs a chart again from a trace.
pub(crate) fn again(checked: &Checked, trace: &str) -> Result<Replayed, ReplayError> {
    let charts = checked.family();
    let plans = checked.plans();
    let tape = Tape::read(trace).expect("it was written as a trace");
    let is_param = |name: &str| {
        let mut rows = charts[0].variables.iter();
        rows.any(|v| v.name == name && matches!(v.kind, VariableKind::Param { .. }))
    };
    let params: Map = tape.variables().into_iter().filter(|(name, _)| is_param(name)).collect();
    let machine = Interpreter::new(&plans[0], tape.host(), params).expect("as they were");
    replay(&tape, machine.with_charts(plans.clone()))
}
