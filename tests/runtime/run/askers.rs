//! Fifty calls at the same time under limits of tokens and cost, with failures, timeouts and cancels.

use std::sync::Arc;

use super::budgets::MANY;
use super::*;
use chartc_core::expr::Map;
use chartc_runtime::budget::{Budget, Caps, Usage};
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::{Answer, Asking, OracleError, Question};
use std::sync::Mutex;

/// Answers by chance, after a time of chance, and adds up what calls under way may take beside what ended ones took.
struct Bank {
    clock: Arc<VirtualClock>,
    draws: Mutex<u64>,
    /// Held, spent, and the most that both together were.
    books: Arc<Mutex<[u64; 3]>>,
}

/// Gives back what is held when the call ends or is dropped.
struct Held {
    books: Arc<Mutex<[u64; 3]>>,
    bound: u64,
    took: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut books = self.books.lock().expect("one thread");
        books[0] -= self.bound;
        books[1] += self.took;
    }
}

impl Oracle for Bank {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let mut draws = self.draws.lock().expect("one thread");
        let mut draw = |below: u64| {
            *draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*draws >> 33) % below
        };
        let most = question.model.max_tokens.expect("a limit bounds it");
        let bound = question.token_bound() + most;
        let usage = Usage {
            input_tokens: draw(question.token_bound() + 1),
            output_tokens: draw(most + 1),
            cost: None,
        };
        let text = r#""yes""#.to_owned();
        let (answer, took) = match draw(8) {
            0 => (Ok(Answer { text, usage: None, cut: false }), bound),
            1 => (Err(OracleError::RateLimited { retry_after: Some(draw(3000)) }), 0),
            2 => (Err(OracleError::Connection("dropped".into())), bound),
            3 => {
                (Err(OracleError::Server { status: 503, why: String::new(), retry_after: None }), 0)
            }
            _ => {
                let took = usage.input_tokens + usage.output_tokens;
                (Ok(Answer { text, usage: Some(usage), cut: false }), took)
            }
        };
        {
            let mut books = self.books.lock().expect("one thread");
            books[0] += bound;
            books[2] = books[2].max(books[0] + books[1]);
        }
        // Dropped before its end, it counts with all that it could take.
        let held = Held { books: self.books.clone(), bound, took: bound };
        let wakes = self.clock.sleep_until(self.clock.now() + draw(12_000));
        Box::pin(async move {
            let mut held = held;
            wakes.await;
            held.took = took;
            answer
        })
    }

    fn name(&self) -> String {
        "bank".into()
    }
}

#[test]
fn fifty_concurrent_askers_never_pass_a_limit_and_give_back_what_they_did_not_spend() {
    let list: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let text = MANY.replace("[0, 1, 2, 3, 4, 5, 6, 7]", &format!("[{}]", list.join(", ")));
    // Half of the runs end by a limit, the others skip what has no room.
    let skips = text.replace(
        "initial asking",
        "var hits: Int = 0\n  on limit.* { hits = hits + 1 }\n  initial asking",
    );
    let chart = chart(&text);
    let plan = Plan::new(&chart);
    let skipping = self::chart(&skips);
    let skipping = Plan::new(&skipping);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (mut ends, mut fullest) = (std::collections::BTreeMap::new(), 0);
    for seed in 0..200 {
        let limit = [900, 3_000, 9_000, 30_000, 90_000][seed % 5];
        let clock = Arc::new(VirtualClock::new());
        let books: Arc<Mutex<[u64; 3]>> = Arc::default();
        let draws = Mutex::new(seed as u64 * 7919 + 3);
        let oracle: Arc<dyn Oracle> =
            Arc::new(Bank { clock: clock.clone(), draws, books: books.clone() });
        let params = [("limit".to_owned(), Value::Int(limit as i64))];
        let plan = if seed % 2 == 0 { &plan } else { &skipping };
        let machine = Interpreter::new(plan, Script::empty(), params).expect("params that fit");
        let caps = Caps { tokens: Some(limit * 2), cost: Some(limit * 3) };
        let budget = Budget::new(caps);
        let mut session =
            Session::new(machine, oracle, clock.clone(), Vec::new()).with_budget(budget.clone());
        runtime.block_on(async {
            if seed % 3 == 0 {
                // Cancelled in the middle.
                let wakes = clock.sleep_until(seed as u64 * 100);
                tokio::select! {
                    biased;
                    () = wakes => {}
                    turned = session.turn() => drop(turned.expect("no fault of the host")),
                }
                if session.status().is_none() {
                    session.send("stop", Map::new()).await.expect("no fault of the host");
                }
            } else {
                session.turn().await.expect("no fault of the host");
            }
        });
        let own = session.spent();
        let own = own.input_tokens + own.output_tokens;
        let [held, spent, most] = *books.lock().expect("one thread");
        fullest = fullest.max(most * 100 / limit);
        assert_eq!((held, spent), (0, own), "seed {seed}: what is not spent is given back");
        assert!(most <= limit, "seed {seed}: {most} of {limit}");
        assert_eq!(budget.spent().tokens, own, "seed {seed}");
        assert_eq!(budget.room().tokens, Some(limit * 2 - own), "seed {seed}");
        let end = session.status().map_or("stopped", |status| status.word());
        *ends.entry(end).or_insert(0) += 1;
    }
    println!("{ends:?}, at most {fullest} % of a limit");
    assert!(ends.len() >= 3 && fullest > 90, "{ends:?}, {fullest}");
}
