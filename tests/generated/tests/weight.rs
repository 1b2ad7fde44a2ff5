//! What machines weigh that wait for their next event. `cargo test -p generated-charts --test weight -- --ignored --nocapture` prints it.
#![allow(clippy::disallowed_methods, reason = "asks the system for the memory of the process")]

use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Input;
use chartc_core::plan::Plan;
use generated_charts::{flat, model, ring, social};

struct Nobody;

impl Host for Nobody {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no `{function}`"))
    }
}

/// The memory of the process in bytes.
fn memory() -> usize {
    let all = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = all.split_whitespace().nth(1).expect("the second number");
    pages.parse::<usize>().expect("a number") * 4096
}

/// Bytes for each of many.
fn each<T>(what: &str, make: impl Fn(usize) -> T) {
    const MANY: usize = 50_000;
    let mut all = Vec::with_capacity(MANY);
    let before = memory();
    all.extend((0..MANY).map(make));
    let bytes = (memory() - before) / MANY;
    println!("{what}: {bytes} bytes, of which {} inside", size_of::<T>());
    // They stay, so that the next ones do not take their room.
    std::mem::forget(all);
}

fn started<M: Machine>(mut machine: M) -> M {
    machine.handle(Input::Start, 1000, &mut ()).expect("it starts");
    machine
}

fn params(nth: usize) -> [(String, Value); 2] {
    let interests = ["sports", "music"].map(|text| Value::Text(text.into()));
    [
        ("name".into(), Value::Text(format!("agent {nth}"))),
        ("interests".into(), Value::List(interests.into())),
    ]
}

#[test]
#[ignore = "it prints, and is right only alone"]
fn machines_that_wait() {
    let ring_chart = model("ring", include_str!("../../../benches/charts/ring.chart"));
    let ring_plan = Plan::new(&ring_chart);
    let social_chart = model("social", include_str!("../charts/social.chart"));
    let social_plan = Plan::new(&social_chart);
    println!("social, its data: {} bytes inside", size_of::<social::Data>());
    each("ring, generated", |_| {
        started(ring::Machine::new(ring::Params::new(), ring::ByName(Nobody)).expect("fits"))
    });
    each("flat, generated", |_| {
        started(flat::Machine::new(flat::Params::default(), flat::ByName(Nobody)).expect("fits"))
    });
    each("social, generated", |nth| {
        let interests = vec!["sports".to_owned(), "music".to_owned()];
        let params = social::Params::new(format!("agent {nth}"), interests);
        started(social::Machine::new(params, social::ByName(Nobody)).expect("fits"))
    });
    each("ring, interpreted", |_| started(Interpreter::new(&ring_plan, Nobody, []).expect("fits")));
    each("social, interpreted", |nth| {
        started(Interpreter::new(&social_plan, Nobody, params(nth)).expect("fits"))
    });
}
