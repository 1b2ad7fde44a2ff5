//! Charts that run charts: the interpreter and generated code do the same.

use chartc::load::Memory;
use chartc_core::arena::{EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::family::{Family, MemberPath, Tasks};
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Record, Sink, StepKey};
use chartc_core::tables::StepRowKind;
use generated_charts::random::Random;
use generated_charts::{family, posts, refunds};
use std::collections::BTreeSet;

const FAMILY: &str = include_str!("../charts/family.chart");
const POSTS: &str = include_str!("../charts/posts.chart");
const REFUNDS: &str = include_str!("../../../charts/refunds.scxml");

/// What is compared, and what it is given.
struct Subject {
    file: &'static str,
    text: &'static str,
    main: &'static str,
    /// How many of its events the host sends, the first ones; `told` only members send.
    events: usize,
    /// Milliseconds between two inputs, at most.
    pace: u64,
    /// The data of an event.
    data: fn(i64) -> Value,
}

/// Answers by how often it was called, and fails now and then.
#[derive(Default)]
struct Counter(u64);

impl Host for Counter {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        self.0 += 1;
        if self.0.is_multiple_of(23) {
            return Err(format!("no {function} of {arguments:?}"));
        }
        Ok(match function {
            "score" => Value::Int((self.0 % 7) as i64),
            _ => Value::None,
        })
    }
}

#[derive(Default)]
struct Log {
    effects: Vec<Effect>,
    records: Vec<Record>,
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// A family on random inputs, and all that can be seen of it.
struct Play<M> {
    family: Family<M>,
    now: u64,
    open: Vec<(MemberPath, StepKey)>,
    seen: Vec<String>,
    depth: usize,
}

impl<M: Machine> Play<M> {
    fn of(machine: M) -> Self {
        let family = Family::new(machine);
        Self { family, now: 0, open: Vec::new(), seen: Vec::new(), depth: 0 }
    }

    fn give(&mut self, member: MemberPath, input: Input<Vec<Value>>) {
        self.seen.push(format!("at {} {member:?}: {input:?}", self.now));
        let mut tasks = Tasks::new();
        self.family.handling(&mut tasks).tell(member, input, self.now);
        for _ in 0..2000 {
            let mut log = Log::default();
            let Some(told) = self.family.handling(&mut tasks).handle_next(self.now, &mut log)
            else {
                self.look();
                return;
            };
            for effect in &log.effects {
                match effect {
                    Effect::Start(key) | Effect::Ask(key) => {
                        let machine = self.family.member(&told.member).expect("it is there");
                        let kind = machine.tables().steps[key.step.index()].kind;
                        if !matches!(kind, StepRowKind::Run { .. }) {
                            self.open.push((told.member.clone(), *key));
                        }
                    }
                    Effect::Cancel(key) => {
                        self.open.retain(|open| *open != (told.member.clone(), *key));
                    }
                    Effect::Call(..) | Effect::Ended(_) => {}
                }
            }
            self.seen.push(format!("{told:?} {:?} {:?}", log.records, log.effects));
        }
        panic!("no rest: {:#?}", self.seen);
    }

    fn look(&mut self) {
        for member in self.family.members() {
            self.depth = self.depth.max(member.len());
            let seen = self.family.with_member(&member, |machine| {
                let states = machine.tables().states.len();
                let active = (0..states).filter(|i| machine.is_active(StateId::at(*i)));
                let active: Vec<usize> = active.collect();
                format!(
                    "{active:?} {:?} {:?} {:?} {:?}",
                    machine.variables(),
                    machine.result(),
                    machine.take_notes(),
                    machine.enabled_events()
                )
            });
            self.seen.push(format!("{member:?} {seen:?}"));
        }
        self.seen.push(format!("next {:?}", self.family.next_deadline()));
    }

    fn run(&mut self, subject: &Subject, seed: u64, length: usize) {
        let mut random = Random::new(seed);
        self.give(MemberPath::new(), Input::Start);
        for _ in 0..length {
            self.now += random.number() % subject.pace;
            if !self.open.is_empty() && random.one_in(3) {
                let (member, key) = self.open.remove(random.below(self.open.len()));
                let outcome = match random.below(5) {
                    0 => Outcome::Failed(vec![Value::Text("no".into())]),
                    1 => Outcome::Done(vec![Value::Text("what?".into())]),
                    2 => Outcome::Done(vec![Value::Bool(random.one_in(2))]),
                    _ => Outcome::Done(vec![Value::Int((random.number() % 6) as i64)]),
                };
                self.give(member, Input::Answer(key, outcome));
                continue;
            }
            let number = (subject.data)((random.number() % 7) as i64);
            let input = match random.below(8) {
                0 | 1 => Input::Turn,
                2 => Input::Tick,
                _ => {
                    let events = &self.family.root().tables().events;
                    let event = random.below(subject.events);
                    if events[event].name == "told" {
                        continue;
                    }
                    let fields = events[event].fields.len as usize;
                    Input::Event(EventId::at(event), vec![number; fields])
                }
            };
            self.give(MemberPath::new(), input);
        }
    }
}

/// Runs a chart and a generated machine of it with the same inputs. How deep they nest, and which of the words
/// the random inputs have brought about.
fn compare<M: Machine>(
    subject: &Subject,
    generated: impl Fn() -> M,
    words: &[&'static str],
) -> (usize, BTreeSet<&'static str>) {
    let Subject { file, text, main, .. } = subject;
    let done = chartc::check(&[(*file).to_owned()], &Memory::of(file, text));
    let shown = chartc::report::short(&done.diagnostics, &done.sources);
    let main = done.charts.iter().find(|c| c.chart().name == *main).expect(&shown);
    let plans = main.plans();
    let mut depth = 0;
    let mut heard = BTreeSet::new();
    for seed in 0..150 {
        let interpreted = Interpreter::new(&plans[0], Counter::default(), []).expect("no params");
        let mut interpreted = Play::of(interpreted.with_charts(plans.clone()));
        let mut generated = Play::of(generated());
        interpreted.run(subject, seed, 60);
        generated.run(subject, seed, 60);
        for (i, (a, b)) in interpreted.seen.iter().zip(&generated.seen).enumerate() {
            let story = interpreted.seen[i.saturating_sub(12)..i].join("\n");
            assert_eq!(a, b, "seed {seed}; interpreted left, generated right; after\n{story}");
        }
        assert_eq!(interpreted.seen.len(), generated.seen.len(), "seed {seed}");
        depth = depth.max(generated.depth);
        for word in words {
            if generated.seen.iter().any(|line| line.contains(word)) {
                heard.insert(*word);
            }
        }
    }
    (depth, heard)
}

/// A chart whose `Main` the host sends its first four events.
fn of_chart(text: &'static str) -> Subject {
    let data = Value::Int;
    Subject { file: "t.chart", text, main: "Main", events: 4, pace: 2500, data }
}

#[test]
fn families_do_the_same_interpreted_and_generated() {
    let words = ["it ended with status", "it can do nothing more", "is not in", "Dropped"];
    let generated = || {
        let params = family::main::Params { most: None };
        let host = family::main::ByName(Counter::default());
        family::main::Machine::new(params, host).expect("no params")
    };
    let (depth, heard) = compare(&of_chart(FAMILY), generated, &words);
    // The random inputs reach what is worth comparing.
    assert!(depth >= 4, "only {depth} deep");
    assert!(heard.len() >= 3, "only {heard:?}");
}

#[test]
fn charts_that_send_each_other_events_do_the_same_interpreted_and_generated() {
    let words = [
        "Posted(EventId(2), Parent)",
        "Posted(EventId(0), Child(StepId(0)))",
        "Posted(EventId(0), Child(StepId(1)))",
        "Undelivered(EventId(0), Child(StepId(2)))",
        "Undelivered(EventId(3), Parent)",
        "SendCanceled",
        "f/b leaves",
    ];
    let generated = || {
        let host = posts::main::ByName(Counter::default());
        posts::main::Machine::new(posts::main::Params {}, host).expect("no params")
    };
    let (depth, heard) = compare(&of_chart(POSTS), generated, &words);
    assert_eq!((depth, heard.len()), (2, words.len()), "only {heard:?}");
}

#[test]
fn documents_that_invoke_others_do_the_same_interpreted_and_generated() {
    let words = [
        "Posted(EventId(4), Child(StepId(0)))",
        "asking again in ten minutes",
        "Done(StepId(0))",
        "SendCanceled",
        // In a text in a text.
        "paid_back\\\", Float(6.0)",
    ];
    let generated = || {
        let host = refunds::refunds::ByName(Counter::default());
        refunds::refunds::Machine::new(refunds::refunds::Params {}, host).expect("no params")
    };
    let data = |n: i64| {
        let all = [
            ("order", Value::Text(format!("A{n}"))),
            ("amount", Value::Int(n)),
            ("reference", Value::Int(n)),
        ];
        Value::Map(all.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    };
    let (file, main) = ("refunds.scxml", "Refunds");
    let subject = Subject { file, text: REFUNDS, main, events: 8, pace: 900_000, data };
    let (depth, heard) = compare(&subject, generated, &words);
    assert_eq!((depth, heard.len()), (1, words.len()), "only {heard:?}");
}
