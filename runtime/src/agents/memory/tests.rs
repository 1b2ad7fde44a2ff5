//! Which agents are visited, when, and in which order.

use super::*;
use crate::clock::VirtualClock;
use crate::oracle::{Answer, Asking, Oracle, Question};
use chartc_core::arena::{EventId, StateId, StepId};
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Mismatch, Note, Offer, ToolCall};
use chartc_core::machine::{Effect, Fault, Input, Sink, StepKey};
use chartc_core::tables::{EventRow, List, Span, StateRow, StepRow, StepRowKind, Tables, Text};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

static STATES: [StateRow; 1] = [StateRow {
    parent: StateId(0),
    end: StateId(1),
    steps: Span { start: 0, len: 1 },
    ..StateRow::PLAIN
}];
static STEPS: [StepRow; 1] = [StepRow {
    name: Text::Static("think"),
    state: StateId(0),
    kind: StepRowKind::Llm,
    ..StepRow::PLAIN
}];
static EVENTS: [EventRow; 2] = [
    EventRow { name: Text::Static("call"), fields: Span { start: 0, len: 0 } },
    EventRow { name: Text::Static("wait"), fields: Span { start: 0, len: 1 } },
];

/// A record of a test: how often each agent was visited, and what happened to which agent.
#[derive(Default)]
struct Told {
    looks: Vec<AtomicUsize>,
    polls: Vec<AtomicUsize>,
    happened: Mutex<Vec<(Instant, usize)>>,
}

impl Told {
    fn of(agents: usize) -> Arc<Self> {
        let mut told = Self::default();
        told.looks.resize_with(agents, AtomicUsize::default);
        told.polls.resize_with(agents, AtomicUsize::default);
        Arc::new(told)
    }

    /// The agents that were visited since the last call.
    fn looked_at(&self) -> Vec<usize> {
        let looks = self.looks.iter().enumerate();
        looks.filter(|(_, looks)| looks.swap(0, SeqCst) > 0).map(|(nth, _)| nth).collect()
    }

    fn happened(&self) -> Vec<(Instant, usize)> {
        std::mem::take(&mut *self.happened.lock().expect("no test panics with it"))
    }
}

/// A machine that calls a model on `call`, waits for the given number of milliseconds on `wait`, and records what happens. Each visit asks
/// for its deadline.
struct Teller {
    nth: usize,
    told: Arc<Told>,
    deadline: Option<Instant>,
}

impl Machine for Teller {
    fn tables(&self) -> &Tables {
        static TABLES: Tables = Tables {
            name: Text::Static("Teller"),
            states: List::Static(&STATES),
            steps: List::Static(&STEPS),
            events: List::Static(&EVENTS),
            name_pool: List::Static(&[Text::Static("ms")]),
            step_pool: List::Static(&[StepId(0)]),
            ..Tables::EMPTY
        };
        &TABLES
    }

    fn handle(
        &mut self,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Result<Receipt, Mismatch> {
        match input {
            Input::Event(EventId(0), _) => {
                let (step, leaf) = (StepId(0), StateId(0));
                let key = StepKey { step, leaf, event: 1, attempt: 1, element: None };
                sink.effect(Effect::Start(key));
            }
            Input::Event(_, data) => {
                let Some(Value::Int(ms)) = data.first() else { return Err(Mismatch("ms".into())) };
                self.deadline = Some(now + *ms as u64);
            }
            Input::Tick => {
                self.deadline = None;
                self.told.happened.lock().expect("no test panics with it").push((now, self.nth));
            }
            Input::Answer(..) => {
                self.told.happened.lock().expect("no test panics with it").push((now, self.nth));
            }
            _ => {}
        }
        Ok(Receipt::Handled)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.told.looks[self.nth].fetch_add(1, SeqCst);
        self.deadline
    }

    fn set_input(&mut self, _: &str, _: Value) -> Result<(), Mismatch> {
        Err(Mismatch("no inputs".into()))
    }

    fn prompt(&mut self, _: StepKey) -> Result<String, Fault> {
        Ok(self.nth.to_string())
    }

    fn options(&mut self, _: StepKey) -> Vec<Offer> {
        Vec::new()
    }

    fn call(&mut self, _: StepKey) -> Result<ToolCall, Fault> {
        Err(Fault)
    }

    fn is_active(&self, _: StateId) -> bool {
        true
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        Vec::new()
    }

    fn is_walking(&self) -> bool {
        false
    }

    fn variables(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn result(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn take_notes(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// An oracle that answers once the gate of the asking agent is open, and counts how often it is polled.
#[derive(Default)]
struct Gates(Mutex<Vec<(bool, Option<Waker>)>>);

impl Gates {
    fn open(&self, nth: usize) {
        let mut gates = self.0.lock().expect("no test panics with it");
        gates[nth].0 = true;
        let waker = gates[nth].1.take();
        drop(gates);
        waker.into_iter().for_each(Waker::wake);
    }
}

struct Gated(Arc<Gates>, Arc<Told>);

impl Oracle for Gated {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let (gates, told) = (self.0.clone(), self.1.clone());
        let nth: usize = question.prompt.lines().next().and_then(|n| n.parse().ok()).unwrap_or(0);
        Box::pin(std::future::poll_fn(move |cx| {
            told.polls[nth].fetch_add(1, SeqCst);
            let mut gates = gates.0.lock().expect("no test panics with it");
            if gates[nth].0 {
                return Poll::Ready(Ok(Answer::from(r#"{"action": "noop"}"#.to_owned())));
            }
            gates[nth].1 = Some(cx.waker().clone());
            Poll::Pending
        }))
    }

    fn name(&self) -> String {
        "gated".into()
    }
}

type Engine1 = Memory<'static, Teller, ()>;

fn engine(agents: usize) -> (Engine1, Arc<Told>, Arc<Gates>) {
    let (told, gates) = (Told::of(agents), Arc::new(Gates::default()));
    gates.0.lock().expect("nobody has it").resize_with(agents, Default::default);
    let (to, at) = (told.clone(), gates.clone());
    let engine = Memory::new(Arc::new(VirtualClock::new()), move |name: &str, clock| {
        let nth = name.parse().expect("a number");
        let machine = Teller { nth, told: to.clone(), deadline: None };
        let oracle = Arc::new(Gated(at.clone(), to.clone()));
        Ok(Session::new(machine, oracle, clock, ()))
    });
    (engine, told, gates)
}

fn now<T>(work: impl Future<Output = T>) -> Poll<T> {
    pin!(work).poll(&mut Context::from_waker(Waker::noop()))
}

fn fire(engine: &Engine1, nth: usize, event: Event) {
    let Poll::Ready(Ok(reply)) = now(engine.fire(&nth.to_string(), event)) else {
        panic!("{nth} does not take it");
    };
    assert!(!reply.is_repeated);
}

fn wait_for(ms: i64, id: &str) -> Event {
    Event::new(id, "wait").with(Map::from_iter([("ms".to_owned(), Value::Int(ms))]))
}

#[test]
fn idle_agents_are_not_visited() {
    let (engine, told, gates) = engine(1000);
    for nth in 0..1000 {
        fire(&engine, nth, wait_for(1_000_000 + nth as i64, "0"));
    }
    assert!(now(engine.quiet()).is_ready());
    assert_eq!(told.looked_at().len(), 1000, "each had an event");
    assert!(now(engine.quiet()).is_ready() && now(engine.advance(1)).is_ready());
    assert!(told.looked_at().is_empty());
    gates.open(7);
    fire(&engine, 7, Event::new("1", "call"));
    assert!(now(engine.quiet()).is_ready());
    assert_eq!(told.looked_at(), [7]);
    // One of many deadlines is due.
    fire(&engine, 8, wait_for(10, "1"));
    assert!(now(engine.advance(10)).is_ready());
    assert_eq!(told.happened(), [(1, 7), (11, 8)]);
    assert_eq!(told.looked_at(), [8]);
}

#[test]
fn deadlines_come_in_the_order_of_time_and_then_of_names() {
    let (engine, told, _) = engine(500);
    let mut wanted = Vec::new();
    for nth in 0..500 {
        let due = (nth * 7919 % 50) as u64 + 1;
        fire(&engine, nth, wait_for(due as i64, "0"));
        wanted.push((due, nth.to_string(), nth));
    }
    // Some deadlines are postponed, some come earlier, and some are set again.
    for nth in (0..500).step_by(3) {
        let due = (nth * 104_729 % 60) as u64 + 1;
        fire(&engine, nth, wait_for(due as i64, "1"));
        wanted[nth].0 = due;
    }
    wanted.sort();
    assert!(now(engine.advance(20)).is_ready());
    assert!(now(engine.advance(100)).is_ready());
    let wanted: Vec<_> = wanted.into_iter().map(|(at, _, nth)| (at, nth)).collect();
    assert_eq!(told.happened(), wanted);
    fire(&engine, 3, wait_for(5, "2"));
    assert!(now(engine.advance(4)).is_ready());
    assert_eq!(told.happened(), []);
    assert!(now(engine.advance(1)).is_ready());
    assert_eq!(told.happened(), [(125, 3)]);
}

#[test]
fn deadlines_that_are_put_off_again_and_again_take_no_room() {
    let (engine, _, gates) = engine(1);
    gates.open(0);
    for round in 0..2000 {
        // Each deadline is earlier than the last, and moves from one agenda to the other and back.
        fire(&engine, 0, wait_for(1_000_000 - round, &format!("w{round}")));
        fire(&engine, 0, Event::new(format!("c{round}"), "call"));
        assert!(now(engine.quiet()).is_ready());
    }
    let lists = locked(&engine.lists);
    let entries = [&lists.resting, &lists.waiting].map(|agenda| agenda.due(Instant::MAX).count());
    assert_eq!(entries, [1, 0]);
}

#[test]
fn only_an_agent_whose_call_was_answered_goes_on() {
    let (engine, told, gates) = engine(100);
    for nth in 0..100 {
        fire(&engine, nth, Event::new("0", "call"));
    }
    let mut quiet = pin!(engine.quiet());
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(quiet.as_mut().poll(&mut cx).is_pending());
    let polls = || -> Vec<usize> { told.polls.iter().map(|polls| polls.load(SeqCst)).collect() };
    let before = polls();
    assert_eq!(woken.0.load(SeqCst), 0);
    for nth in [42, 7, 99] {
        gates.open(nth);
    }
    assert_eq!(woken.0.load(SeqCst), 1, "once is enough");
    assert!(quiet.as_mut().poll(&mut cx).is_pending());
    let after = polls();
    let polled: Vec<usize> = (0..100).filter(|nth| before[*nth] != after[*nth]).collect();
    assert_eq!(polled, [7, 42, 99]);
    // An event that arrives meanwhile is handled, too.
    let waked = woken.0.load(SeqCst);
    fire(&engine, 7, Event::new("1", "call"));
    assert_eq!(woken.0.load(SeqCst), waked + 1);
    for nth in (0..100).filter(|nth| ![42, 7, 99].contains(nth)) {
        assert!(quiet.as_mut().poll(&mut cx).is_pending());
        gates.open(nth);
    }
    assert!(quiet.as_mut().poll(&mut cx).is_ready());
    assert_eq!(told.happened().len(), 101);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl std::task::Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn an_agent_that_works_at_once_has_its_answer_before_anybody_visits_it() {
    let (engine, told, gates) = engine(2);
    let engine = engine.with_work_at_once();
    gates.open(0);
    for nth in 0..2 {
        fire(&engine, nth, Event::new("1", "call"));
    }
    assert_eq!(told.happened(), [(0, 0)]);
    gates.open(1);
    assert_eq!(now(engine.quiet()), Poll::Ready(()));
    assert_eq!(told.happened(), [(0, 1)]);
}
