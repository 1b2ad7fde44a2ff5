//! Whoever answers the elements of a list, and what is to be expected of a run that asks them.

use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::oracle::{Answer, Asking, Oracle, OracleError, Question};
use chartc_runtime::tools::{Calling, Tools};
use std::sync::{Arc, Mutex};

/// What an attempt brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comes {
    Good,
    Fails,
    /// Something that does not fit.
    Junk,
    /// Nothing in time.
    Never,
}

/// What each attempt at each element brings; attempts count from 1.
pub(super) type Course = fn(u64, u32) -> Comes;

/// Milliseconds until nobody waits for an answer any more.
const PATIENCE: u64 = 2000;

/// Milliseconds that a model wants to be left alone after a failure: more than the pause that a run makes by itself.
pub(super) const PAUSE: u64 = 613;

fn takes(element: u64, attempt: u32, comes: Comes) -> u64 {
    match comes {
        Comes::Never => PATIENCE,
        Comes::Good | Comes::Fails | Comes::Junk => {
            50 * (1 + (element * 37 + u64::from(attempt) * 5) % 11)
        }
    }
}

/// What was asked, and what came of it.
#[derive(Default)]
pub(super) struct Books {
    /// When which element was asked for.
    pub(super) asked: Vec<(u64, u64)>,
    /// Elements that have an answer.
    pub(super) answered: Vec<u64>,
    /// Attempts at each element that have ended.
    ended: std::collections::BTreeMap<u64, u32>,
    pub(super) open: usize,
    pub(super) most_open: usize,
}

/// Answers by the element and the attempt.
#[derive(Clone)]
pub(super) struct World {
    pub(super) clock: Arc<VirtualClock>,
    pub(super) course: Course,
    pub(super) books: Arc<Mutex<Books>>,
}

struct Open(Arc<Mutex<Books>>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().expect("one thread").open -= 1;
    }
}

impl World {
    fn answer<T: Send + 'static>(
        &self,
        element: u64,
        give: impl FnOnce(Comes) -> Result<T, OracleError> + Send + 'static,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<T, OracleError>> + Send>> {
        let now = self.clock.now();
        let attempt = {
            let mut books = self.books.lock().expect("one thread");
            books.asked.push((now, element));
            books.open += 1;
            books.most_open = books.most_open.max(books.open);
            books.ended.get(&element).copied().unwrap_or_default() + 1
        };
        let comes = (self.course)(element, attempt);
        let wakes = self.clock.sleep_until(now + takes(element, attempt, comes));
        let open = Open(self.books.clone());
        Box::pin(async move {
            wakes.await;
            let mut books = open.0.lock().expect("one thread");
            *books.ended.entry(element).or_default() += 1;
            if comes == Comes::Good {
                books.answered.push(element);
            }
            give(comes)
        })
    }
}

/// An element's value is ten times its index.
pub(super) const fn answer_of(element: u64) -> u64 {
    element * 10
}

fn failed(comes: Comes) -> OracleError {
    match comes {
        Comes::Never => OracleError::Timeout(PATIENCE),
        Comes::Good | Comes::Fails | Comes::Junk => {
            OracleError::RateLimited { retry_after: Some(PAUSE) }
        }
    }
}

impl Oracle for World {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let words = question.prompt.lines().next().unwrap_or_default();
        let element = words.strip_prefix("n=").and_then(|n| n.parse().ok()).expect("an element");
        if question.child.is_empty() {
            assert_eq!(question.element.map(u64::from), Some(element), "the prompt is its own");
        } else {
            assert_eq!(question.child, format!("work[{element}]"));
        }
        self.answer(element, move |comes| match comes {
            Comes::Good => Ok(Answer::from(answer_of(element).to_string())),
            Comes::Junk => Ok(Answer::from("I would rather not say.".to_owned())),
            Comes::Fails | Comes::Never => Err(failed(comes)),
        })
    }

    fn name(&self) -> String {
        "world".into()
    }
}

impl Tools for World {
    fn call(&self, call: ToolCall) -> Calling {
        let Some((_, Value::Int(element))) = call.arguments.first() else { panic!("{call:?}") };
        let element = u64::try_from(*element).expect("an element");
        self.answer(element, move |comes| match comes {
            Comes::Good => Ok(Value::Int(i64::try_from(answer_of(element)).expect("small"))),
            Comes::Junk => Ok(Value::Text("a secret".into())),
            Comes::Fails | Comes::Never => Err(failed(comes)),
        })
    }
}

/// What the step says of its elements.
#[derive(Clone, Copy)]
pub(super) struct Says {
    pub(super) at_a_time: usize,
    pub(super) retries: u32,
    /// `fail`, `skip` or `none`.
    pub(super) lost: &'static str,
    pub(super) enough: Option<usize>,
    /// Milliseconds between a failure and the next attempt.
    pub(super) pause: u64,
}

/// What a run is to come to.
pub(super) struct Expected {
    /// When which element is asked for.
    pub(super) asked: Vec<(u64, u64)>,
    /// The elements that have an answer.
    pub(super) good: Vec<bool>,
    pub(super) lost: usize,
    /// Attempts under way at the end.
    pub(super) given_up: usize,
    /// Attempts that waited for their time at the end.
    pub(super) unmade: usize,
    pub(super) end: &'static str,
    pub(super) at: u64,
}

/// An attempt that was begun.
struct Attempt {
    element: u64,
    nth: u32,
    /// When it ends, or begins if it has to wait.
    until: u64,
    waits: bool,
}

/// Works out how a list is done, from what the language says of it: nothing here knows the step algorithm.
pub(super) fn expected(size: usize, says: Says, course: Course, stop: Option<u64>) -> Expected {
    let mut open: Vec<Attempt> = Vec::new();
    let (mut next, mut now) = (0, 0);
    let needed = says.enough.map(|enough| enough.min(size));
    let mut all = Expected {
        asked: Vec::new(),
        good: vec![false; size],
        lost: 0,
        given_up: 0,
        unmade: 0,
        end: "done",
        at: 0,
    };
    loop {
        let good = all.good.iter().filter(|good| **good).count();
        let fails = all.lost > 0 && says.lost == "fail"
            || needed.is_some_and(|needed| size - all.lost < needed);
        if fails || needed.is_some_and(|n| good >= n) || good + all.lost == size {
            all.end = if fails { "failed" } else { "done" };
            break;
        }
        let mut asks = |element: u64, nth: u32, now: u64| {
            all.asked.push((now, element));
            let until = now + takes(element, nth, course(element, nth));
            Attempt { element, nth, until, waits: false }
        };
        while next < size as u64 && open.len() < says.at_a_time {
            open.push(asks(next, 1, now));
            next += 1;
        }
        // Whoever has waited begins before what comes at the same time, but for one answer that is there.
        let due = |one: &Attempt| (one.until, one.waits && one.until > now);
        let places = 0..open.len();
        let place = places.min_by_key(|n| due(&open[*n])).expect("some are under way");
        let until = open[place].until;
        if let Some(stop) = stop.filter(|stop| *stop < until) {
            (all.end, now) = ("stopped", stop);
            break;
        }
        now = until;
        let Attempt { element, nth, waits, .. } = open[place];
        if waits {
            open[place] = asks(element, nth, now);
            continue;
        }
        open.remove(place);
        let comes = course(element, nth);
        match comes {
            Comes::Good => all.good[usize::try_from(element).expect("small")] = true,
            Comes::Fails if nth <= says.retries && says.pause > 0 => {
                let until = now + says.pause;
                open.push(Attempt { element, nth: nth + 1, until, waits: true });
            }
            _ if nth <= says.retries => open.push(asks(element, nth + 1, now)),
            Comes::Fails | Comes::Junk | Comes::Never => all.lost += 1,
        }
    }
    let unmade = open.iter().filter(|attempt| attempt.waits).count();
    (all.at, all.given_up, all.unmade) = (now, open.len() - unmade, unmade);
    all
}
