//! Random schedules of events, people and restarts, over the store and the HTTP layer in this process: no answer is applied to a question
//! that its giver did not see, and no accepted answer is lost.

mod life;

use super::*;
use chartc::load::Memory as Files;
use chartc_adapters::server::{AccessRules, Feed, Limits, Offer, Runs, Token};
use chartc_core::expr::{Map, Value as Data};
use chartc_core::host::ToolCall;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event, Quiet};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::tools::{Calling, Tools, done};
use chartc_runtime::trace::What;
use chartc_store::{Letter, Options, Safety, Sqlite, Store, Worker};
use life::{Life, Seen, WAYS, Way};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream as Connection};

const PAY: &str = r#"
tool pay(amount: Int) -> Bool

chart Pay {
  event pay_for(n: Int)
  event cancel
  var amount: Int = 0
  var said: Text = ""
  var sure: Bool = false
  initial idle
  state idle { on pay_for(n) -> asking { amount = n } }
  state asking {
    human approve "Pay {amount}?" {
      returns Text into said
      done if said == "no" -> idle
      done -> checking
    }
    on pay_for(n) -> asking { amount = n }
    on cancel -> idle
    after 1m -> idle
  }
  state checking {
    human confirm "Really {amount}?" {
      returns Bool into sure
      retry 2 then -> idle
      done if sure -> paying
      done -> asking
    }
    on pay_for(n) -> asking { amount = n }
    on cancel -> idle
    after 2m -> asking
  }
  state paying { call sent pay(amount) { done -> idle  error -> idle } }
}
"#;

const RUN: &str = "r";
/// Schedules, unless `CHARTC_SCHEDULES` says otherwise.
const SCHEDULES: u64 = 200;
const STEPS: usize = 40;

/// Pays, and keeps which amounts were paid.
#[derive(Default)]
struct Till(Mutex<Vec<i64>>);

impl Tools for Till {
    fn call(&self, call: ToolCall) -> Calling {
        let Some((_, Data::Int(amount))) = call.arguments.first() else { panic!("{call:?}") };
        self.0.lock().expect("one thread").push(*amount);
        done(Ok(Data::Bool(true)))
    }
}

/// What has happened in one schedule.
#[derive(Default)]
struct Story {
    /// What each of the people has seen, in order.
    seen: [Vec<Seen>; 3],
    /// The answers that were accepted, in order: what their givers had seen, and what they said.
    accepted: Vec<(Seen, String)>,
    refused: usize,
    last: i64,
    /// How many steps were made.
    steps: usize,
}

impl Story {
    /// Does things until the process ends or all is done. What was accepted is noted before anything else happens.
    async fn goes_on(&mut self, life: &Life<'_>, chance: &mut Chance) {
        while self.steps < STEPS {
            self.steps += 1;
            let id = format!("{}", self.steps);
            match chance.below(32) {
                0..=2 => {
                    // Sometimes the same amount again.
                    self.last += i64::from(chance.below(3) > 0);
                    let data = [("n".to_owned(), Data::Int(self.last))].into_iter().collect();
                    life.fire(Event::new(id, "pay_for").with(data)).await;
                }
                3..=10 => {
                    life.fire(Event::turn(id)).await;
                    life.engine.quiet().await;
                }
                11 => life.fire(Event::new(id, "cancel")).await,
                12 => life.engine.advance(20_000).await.expect("it works"),
                // The process ends, however much is under way.
                13 => return,
                14..=16 => self.look(life, chance.below(3) as usize, chance).await,
                17..=18 => self.two_at_once(life, chance).await,
                _ => self.one_answers(life, chance).await,
            }
        }
    }

    async fn look(&mut self, life: &Life<'_>, person: usize, chance: &mut Chance) {
        let seen = life.look(*chance.of(&WAYS)).await;
        self.seen[person].extend(seen);
    }

    fn said(&self, chance: &mut Chance) -> String {
        let word = chance.of(&["yes", "yes", "yes", "no", "maybe"]);
        if *word == "maybe" { format!("maybe {}", self.steps) } else { (*word).to_owned() }
    }

    async fn one_answers(&mut self, life: &Life<'_>, chance: &mut Chance) {
        let person = chance.below(3) as usize;
        let text = self.said(chance);
        let way = *chance.of(&WAYS);
        if chance.below(3) > 0 {
            self.look(life, person, chance).await;
        }
        let seen = &self.seen[person];
        // What this person has seen last; sometimes something older.
        let nth = seen.len().checked_sub(1 + chance.of(&[0, 0, 0, 1, 2]));
        let seen = nth.map(|nth| seen[nth].clone());
        let forged = ["approve", "confirm", "", "q0000000z", "Pay 1?", "r/asking:approve@2.1+0"];
        match (seen, chance.below(5)) {
            (Some(seen), 1..) => {
                let is_accepted = life.answer(way, &seen.id, &text).await;
                self.note(is_accepted, seen, text);
            }
            (seen, _) => {
                // Without an id that was shown, as clients did before there were ids.
                let id = chance.of(&forged);
                let is_accepted = life.answer(way, id, &text).await;
                let blind = Seen { id: (*id).to_owned(), text: "nothing".into() };
                self.note(is_accepted, seen.unwrap_or(blind), text);
            }
        }
    }

    /// Two people answer what both of them see: one is taken.
    async fn two_at_once(&mut self, life: &Life<'_>, chance: &mut Chance) {
        let Some(seen) = life.look(Way::Http).await.pop() else { return };
        let (one, other) = (self.said(chance), format!("{}.", self.said(chance)));
        let ways = [*chance.of(&[Way::Http, Way::Engine]), *chance.of(&[Way::Http, Way::Engine])];
        let (first, second) = tokio::join!(
            life.answer(ways[0], &seen.id, &one),
            life.answer(ways[1], &seen.id, &other)
        );
        // A letter that was in the inbox before comes before both.
        assert!(!(first && second), "both were taken");
        self.note(first, seen.clone(), one);
        self.note(second, seen, other);
    }

    fn note(&mut self, is_accepted: bool, seen: Seen, text: String) {
        if is_accepted {
            self.accepted.push((seen, text));
        } else {
            self.refused += 1;
        }
    }

    /// Compares what people have said with what the run has heard.
    fn is_right(&self, store: &Store, paid: &[i64]) -> Result<(), String> {
        let lines = store.lines(RUN).expect("as written");
        let mut open: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut heard = Vec::new();
        for line in &lines {
            match &line.what {
                What::Question { id, step, prompt, .. } => {
                    open.insert(step.clone(), (id.clone(), prompt.clone()));
                }
                What::Answer { id, step, text, .. } | What::Unusable { id, step, text, .. } => {
                    let asked = open.remove(step).ok_or("an answer without a question")?;
                    if asked.0 != *id {
                        return Err(format!("the answer is for {id}, the question is {}", asked.0));
                    }
                    heard.push((Seen { id: asked.0, text: asked.1 }, text.clone()));
                }
                What::HostNote { text, .. } => return Err(format!("lost: {text}")),
                _ => {}
            }
        }
        if heard != self.accepted {
            return Err(format!("said: {:#?}\nheard: {heard:#?}", self.accepted));
        }
        let agreed = self.accepted.iter().filter_map(|(seen, text)| {
            let (amount, _) = seen.text.strip_prefix("Really ")?.split_once('?')?;
            text.starts_with("yes").then(|| amount.parse::<i64>().expect("a number"))
        });
        let agreed: Vec<i64> = agreed.collect();
        if !agreed.starts_with(paid) {
            return Err(format!("paid {paid:?}, agreed to {agreed:?}"));
        }
        Ok(())
    }
}

/// Plays a schedule; how many answers were accepted, and how many refused.
async fn play(
    plans: &Arc<[Plan]>,
    file: &Path,
    seed: u64,
) -> Result<(usize, usize, usize), String> {
    let (mut chance, mut story) = (Chance(seed), Story::default());
    let till = Arc::new(Till::default());
    loop {
        let store = Store::own(file, Safety::Process).expect("a store");
        let clock = VirtualClock::starting_at(store.moment(None, false).expect("a store"));
        let feed = Feed::default();
        let (shown, tools) = (feed.clone(), till.clone());
        let parts = Parts { oracle: Arc::new(Deny), people: None, tools };
        let driver: Arc<dyn Driver> = Arc::new(Free(parts));
        let options = Options {
            make: Box::new(|making| {
                let machine = match making.saved {
                    Some(saved) => Interpreter::resume(
                        &plans[0],
                        plans.clone(),
                        Script::empty(),
                        saved.machine(),
                    )
                    .map_err(|why| why.to_string())?,
                    None => Interpreter::new(&plans[0], Script::empty(), Map::new())
                        .map_err(|why| why.to_string())?,
                };
                let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
                Ok(session.with_driver(making.driver).with_run(making.run))
            }),
            driver,
            clock: Arc::new(clock),
            is_real: false,
            replies: true,
            workers: 4,
            show: Box::new(move |run, _| {
                shown.grown(run);
                Ok(())
            }),
            after: Box::new(|_, _| Ok(())),
            given: String::new(),
            service: None,
        };
        let (engine, mut worker) = Worker::new(store, options);
        worker.load_all().expect("a store");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it listens");
        let gate = AccessRules {
            clients: vec![(None, Token::new(TOKEN).expect("a token"))],
            people: Token::new(PEOPLE).expect("a token"),
            hosts: vec!["127.0.0.1".into(), "localhost".into()],
        };
        let limits = Limits { runs: 9, events: None, store: None };
        let runs = Arc::new(Runs::new(engine.clone(), feed, Vec::<Offer>::new(), limits, |_| {
            String::new()
        }));
        let beside = Store::open(file).expect("a store");
        let life = Life { engine, address, beside: &beside };
        let host = async {
            if story.steps == 0 {
                life.fire(Event::new("begin", "cancel")).await;
            }
            story.goes_on(&life, &mut chance).await;
            if story.steps == STEPS {
                // What is in the inbox is taken with the next commit.
                life.fire(Event::new("end", "cancel")).await;
                life.engine.quiet().await;
            }
        };
        tokio::select! {
            () = host => {}
            worked = worker.work() => panic!("it ended: {worked:?}"),
            served = chartc_adapters::server::serve(listener, runs, gate, std::future::pending()) => panic!("{served:?}"),
        }
        drop(life);
        drop(worker);
        if story.steps == STEPS {
            let paid = till.0.lock().expect("one thread").clone();
            story.is_right(&beside, &paid)?;
            return Ok((story.accepted.len(), story.refused, paid.len()));
        }
    }
}

#[test]
fn no_answer_is_applied_to_a_question_that_its_giver_did_not_see() {
    let done = chartc::check(&["t.chart".to_owned()], &Files::of("t.chart", PAY));
    let found: Vec<_> = done.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let main = done.charts.last().unwrap_or_else(|| panic!("{found:#?}"));
    let plans = main.plans();
    let folder = folder("serve-schedules");
    let (mut accepted, mut refused, mut paid) = (0, 0, 0);
    let schedules = number("CHARTC_SCHEDULES", SCHEDULES);
    for seed in 0..schedules {
        let file = folder.join(format!("{seed}.db"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let played = runtime.expect("a runtime").block_on(play(&plans, &file, seed));
        let (yes, no, sums) = played.unwrap_or_else(|why| panic!("schedule {seed}: {why}"));
        (accepted, refused, paid) = (accepted + yes, refused + no, paid + sums);
        for end in ["", "-wal", "-shm", ".lock"] {
            drop(std::fs::remove_file(folder.join(format!("{seed}.db{end}"))));
        }
    }
    println!(
        "{schedules} schedules: {accepted} answers accepted, {refused} refused, {paid} sums paid"
    );
    let least = schedules as usize;
    assert!(
        accepted > least && refused > least && paid > least / 20,
        "{accepted} {refused} {paid}"
    );
}
