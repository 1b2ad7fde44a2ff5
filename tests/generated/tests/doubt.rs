//! What becomes of a call in doubt, in interpreted and generated machines.

use chartc_core::expr::{Map, Value};
use chartc_core::host::{Machine, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Answer, Asking, Deny, Question, Script, ready};
use chartc_runtime::tools::{Calling, done};
use chartc_runtime::trace::Line;
use chartc_runtime::{Saved, Session};
use generated_charts::{doubt, model};
use std::sync::{Arc, Mutex};

/// Counts the calls, and answers none of them unless it may.
#[derive(Default)]
struct World {
    made: Mutex<u32>,
    answers: bool,
}

impl Driver for World {
    fn ask(&self, _: &CallId, _: Arc<Question>) -> Asking {
        *self.made.lock().expect("one thread") += 1;
        if self.answers {
            ready(Ok(Answer::from("yes".to_owned())))
        } else {
            Box::pin(std::future::pending())
        }
    }

    fn call(&self, _: &CallId, _: ToolCall) -> Calling {
        *self.made.lock().expect("one thread") += 1;
        if self.answers { done(Ok(Value::Int(7))) } else { Box::pin(std::future::pending()) }
    }

    fn name(&self) -> String {
        "world".into()
    }
}

/// A run that is cut off in its call, and goes on in another process: where it ends, and how many calls were made there.
fn cut_off<M: Machine>(make: impl Fn() -> M, state: &str) -> (String, u32) {
    let begin = |world: &Arc<World>, at| {
        let clock = Arc::new(VirtualClock::starting_at(at));
        Session::new(make(), Arc::new(Deny), clock, Vec::<Line>::new()).with_driver(world.clone())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let silent = Arc::new(World::default());
        let mut first = begin(&silent, 0);
        first.start().await.expect("it starts");
        let data: Map = [("name".to_owned(), Value::Text(state.to_owned()))].into_iter().collect();
        first.send("pick", data).await.expect("it is taken");
        first.begin_turn().await.expect("it begins");
        assert_eq!(*silent.made.lock().expect("one thread"), 1, "{state}");
        let text = first.save().expect("it goes on").text().expect("data");
        let saved = Saved::read(&text).expect("it is read as written");
        let world = Arc::new(World { answers: true, ..World::default() });
        let mut second = begin(&world, saved.now());
        second.resume(&saved).expect("it goes on");
        second.settle().await.expect("it is answered");
        let made = *world.made.lock().expect("one thread");
        (second.configuration().join(","), made)
    })
}

#[test]
fn the_chart_says_which_calls_are_made_again() {
    let chart = model("doubt.chart", include_str!("../charts/doubt.chart"));
    let plan = Plan::new(&chart);
    let interpreted = || Interpreter::new(&plan, Script::empty(), []).expect("it has no params");
    let generated = || doubt::Machine::new(doubt::Params, ()).expect("it has no params");
    for (state, end, made) in [
        ("again", "made", 1),
        ("price", "made", 1),
        ("once", "once", 0),
        ("buy", "failed", 0),
        ("unsure", "doubted", 0),
    ] {
        let expected = (end.to_owned(), made);
        assert_eq!(cut_off(interpreted, state), expected, "{state}, interpreted");
        assert_eq!(cut_off(generated, state), expected, "{state}, generated");
    }
}
