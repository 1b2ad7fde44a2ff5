use super::apply::Output;
use super::*;
use crate::clock::{RealClock, VirtualClock};
use crate::oracle::{Deny, First, Script};
use chartc_core::arena::{ChoiceId, EventId};
use chartc_core::expr::Map;
use chartc_core::host::{Offer, ToolCall};
use chartc_core::machine::{Effect, Fault, Outcome, Record, Sink};
use chartc_core::tables::{
    EventRow, FailureRow, List, Span, StateRow, StepRow, StepRowKind, Tables, Text,
};
use std::collections::VecDeque;

const ROOT: StateId = StateId(0);

static STATES: [StateRow; 1] = [StateRow {
    parent: ROOT,
    end: StateId(1),
    steps: Span { start: 0, len: 2 },
    ..StateRow::PLAIN
}];

const fn step(name: &'static str, kind: StepRowKind) -> StepRow {
    StepRow {
        name: Text::Static(name),
        state: ROOT,
        kind,
        guard: false,
        retries: 1,
        failure: FailureRow::Fail,
        ends_turn: false,
        ..StepRow::PLAIN
    }
}

static STEPS: [StepRow; 2] = [
    step("think", StepRowKind::Llm),
    step("choose", StepRowKind::Ask { always: true, otherwise: None }),
];
static EVENTS: [EventRow; 1] =
    [EventRow { name: Text::Static("poke"), fields: Span { start: 0, len: 2 } }];

/// Plays a list of reactions, one an input, and remembers the inputs.
#[derive(Default)]
struct Fake {
    reactions: VecDeque<Vec<Output>>,
    seen: Vec<(Instant, String)>,
    deadline: Option<Instant>,
    broken_prompt: bool,
    balance: Value,
}

impl Machine for Fake {
    fn tables(&self) -> &Tables {
        static TABLES: Tables = Tables {
            name: Text::Static("Fake"),
            hash: 7,
            states: List::Static(&STATES),
            events: List::Static(&EVENTS),
            steps: List::Static(&STEPS),
            name_pool: List::Static(&[Text::Static("how"), Text::Static("hard")]),
            step_pool: List::Static(&[StepId(0), StepId(1)]),
            calls_per_turn: 1,
            history_kept: None,
            turns_in_state: None,
            microsteps: 1000,
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
        if let Input::Answer(_, Outcome::Done(values)) = &input
            && values.first().is_some_and(|v| matches!(v, Value::Int(_)))
        {
            return Err(Mismatch("an Int where a Text is wanted".into()));
        }
        if input == Input::Tick {
            self.deadline = None;
        }
        match &input {
            Input::Answer(key, Outcome::Done(_)) => sink.record(Record::Done(key.step)),
            Input::Answer(_, Outcome::Choice(choice, _)) => sink.record(Record::Chosen(*choice)),
            _ => {}
        }
        self.seen.push((
            now,
            match input {
                Input::Start => "start".into(),
                Input::Turn => "turn".into(),
                Input::Tick => "tick".into(),
                Input::Exhausted(_, kind) | Input::Warn(kind) => format!("{kind:?}"),
                Input::Unmade(key) => format!("unmade {}", key.attempt),
                Input::Charge(key, charge) => format!("charge {} {charge:?}", key.attempt),
                Input::Stop => "stop".into(),
                Input::Event(_, values) => format!("event {values:?}"),
                Input::Answer(key, outcome) => format!("answer {} {outcome:?}", key.attempt),
            },
        ));
        for happening in self.reactions.pop_front().unwrap_or_default() {
            match happening {
                Output::Effect(effect) => sink.effect(effect),
                Output::Record(record) => sink.record(record),
                Output::Held(line, alternatives) => sink.held(line, alternatives),
            }
        }
        Ok(Receipt::Handled)
    }

    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch> {
        if name != "balance" {
            return Err(Mismatch("no such input".into()));
        }
        self.balance = value;
        Ok(())
    }

    fn prompt(&mut self, _key: StepKey) -> Result<String, Fault> {
        if self.broken_prompt { Err(Fault) } else { Ok("What now?".into()) }
    }

    fn options(&mut self, _key: StepKey) -> Vec<Offer> {
        ["ship", "pivot"]
            .iter()
            .enumerate()
            .map(|(i, name)| Offer {
                choice: ChoiceId::at(i),
                tool: None,
                name: (*name).into(),
                text: "".into(),
                arguments: vec![],
            })
            .collect()
    }

    fn call(&mut self, _key: StepKey) -> Result<ToolCall, Fault> {
        Err(Fault)
    }

    fn is_active(&self, _state: StateId) -> bool {
        true
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        vec![]
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn is_walking(&self) -> bool {
        false
    }
    fn variables(&self) -> Vec<(String, Value)> {
        vec![("balance".into(), self.balance.clone())]
    }

    fn result(&self) -> Vec<(String, Value)> {
        vec![("answer".into(), Value::Int(42))]
    }

    fn take_notes(&mut self) -> Vec<chartc_core::host::Note> {
        vec![]
    }
}

fn key(step: u32, attempt: u32) -> StepKey {
    StepKey { step: StepId(step), leaf: ROOT, event: 1, attempt, element: None }
}

fn start(step: u32, attempt: u32) -> Output {
    Output::Effect(if step == 0 {
        Effect::Start(key(step, attempt))
    } else {
        Effect::Ask(key(step, attempt))
    })
}

/// Reactions to `start`, the first turn, and what follows.
fn fake(reactions: Vec<Vec<Output>>) -> Fake {
    let mut all = VecDeque::from(reactions);
    all.push_front(vec![]);
    Fake { reactions: all, ..Fake::default() }
}

fn session(fake: Fake, script: &str) -> Session<Fake, Vec<Line>> {
    let clock = VirtualClock::new();
    let script = Script::parse("s", script, Arc::new(clock.clone())).expect("a script");
    Session::new(fake, Arc::new(script), Arc::new(clock), Vec::new())
}

fn kinds(lines: &[Line]) -> Vec<String> {
    let kind = |l: &Line| {
        serde_json::to_value(l).expect("a line is JSON")["kind"].as_str().map(str::to_owned)
    };
    lines.iter().filter_map(kind).collect()
}

#[tokio::test]
async fn an_answer_reaches_the_machine_under_its_key() {
    let mut session =
        session(fake(vec![vec![start(0, 1)]]), "answers: {think: [{reasoning: r, action: noop}]}");
    let report = session.turn().await.expect("a turn");
    assert_eq!((report.calls, report.failed), (1, None));
    let (machine, lines) = session.into_parts();
    assert!(machine.seen[2].1.starts_with("answer 1 Done([Map("), "{:?}", machine.seen);
    assert_eq!(kinds(&lines), ["run", "question", "answer", "done"]);
    assert_eq!(lines.iter().map(|l| l.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[tokio::test]
async fn an_ambiguous_answer_is_asked_again_with_what_was_wrong() {
    let fake = fake(vec![vec![start(1, 1)], vec![start(1, 2)]]);
    let mut session = session(fake, "answers: {choose: ['ship or pivot', ship]}");
    session.turn().await.expect("a turn");
    let (machine, lines) = session.into_parts();
    let said: Vec<&str> = machine.seen.iter().map(|(_, s)| s.as_str()).collect();
    assert_eq!(said[2..], ["answer 1 Unusable", "answer 2 Choice(ChoiceId(0), [])"]);
    assert_eq!(kinds(&lines), ["run", "question", "unusable", "question", "answer", "chosen"]);
    let What::Question { prompt, .. } = &lines[3].what else { panic!("no question") };
    assert!(
        prompt.contains("both `ship` and `pivot`") && prompt.ends_with("- ship\n- pivot"),
        "{prompt}"
    );
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_unusable() {
    let mut session = session(fake(vec![vec![start(0, 1)]]), "answers: {think: [[1]]}");
    session.machine_mut().reactions[1] = vec![start(0, 1)];
    session.turn().await.expect("a turn");
    let (machine, _) = session.into_parts();
    assert_eq!(machine.seen[2].1, "answer 1 Unusable");
}

#[tokio::test]
async fn a_failed_call_is_told_with_its_reason() {
    let mut session =
        session(fake(vec![vec![start(0, 1)]]), "answers: {think: [{fail: connection}]}");
    session.turn().await.expect("a turn");
    let (machine, lines) = session.into_parts();
    assert_eq!(machine.seen[2].1, r#"answer 1 Failed([Text("connection lost: dropped")])"#);
    assert_eq!(kinds(&lines), ["run", "question", "call_failed"]);
}

#[tokio::test]
async fn a_prompt_that_cannot_be_rendered_is_never_sent() {
    let mut fake = fake(vec![vec![start(0, 1)]]);
    fake.broken_prompt = true;
    let mut session = session(fake, "answers: {think: []}");
    session.turn().await.expect("a turn");
    assert_eq!(session.calls(), 0);
    let (machine, lines) = session.into_parts();
    assert!(machine.seen[2].1.contains("Failed"));
    assert_eq!(kinds(&lines), ["run", "call_failed"]);
}

#[tokio::test]
async fn a_used_up_script_ends_the_run() {
    let mut session = session(fake(vec![vec![start(0, 1)]]), "answers: {think: []}");
    let error = session.turn().await.expect_err("nothing to answer");
    assert!(matches!(error, RunError::Oracle { .. }), "{error}");
    assert_eq!(kinds(&session.into_parts().1), ["run", "question", "call_failed"]);
}

#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    let cancel = vec![Output::Effect(Effect::Cancel(key(0, 1)))];
    let mut fake = fake(vec![vec![start(0, 1)], cancel]);
    fake.deadline = Some(30_000);
    let mut session = session(fake, "answers: {think: [{answer: {}, after: 1m}]}");
    session.turn().await.expect("a turn");
    let (machine, lines) = session.into_parts();
    assert_eq!(machine.seen[2..], [(30_000, "tick".into())]);
    assert_eq!(kinds(&lines), ["run", "question", "cancelled"]);
}

#[tokio::test]
async fn what_is_started_and_cancelled_at_once_is_never_asked() {
    let both = vec![start(0, 1), Output::Effect(Effect::Cancel(key(0, 1)))];
    let mut session = session(fake(vec![both]), "answers: {think: []}");
    session.turn().await.expect("a turn");
    assert_eq!(session.calls(), 0);
}

#[tokio::test]
async fn deadlines_fire_at_their_own_time_while_time_passes() {
    let mut fake = fake(vec![]);
    fake.deadline = Some(40);
    let mut session = session(fake, "{}");
    session.advance(100).await.expect("time");
    assert_eq!(session.common.clock.now(), 100);
    assert_eq!(session.machine().seen[1], (40, "tick".into()));
}

#[tokio::test(start_paused = true)]
async fn the_real_clock_waits_for_a_deadline() {
    let mut fake = fake(vec![]);
    fake.deadline = Some(40);
    let mut session = Session::new(fake, Arc::new(Deny), Arc::new(RealClock::new()), ());
    session.advance(100).await.expect("time");
    assert!((40..45).contains(&session.machine().seen[1].0), "{:?}", session.machine().seen);
}

#[tokio::test]
async fn event_data_in_declared_order() {
    let mut session = session(fake(vec![vec![Output::Record(Record::Event(EventId(0)))]]), "{}");
    let data: Map = [("hard".to_owned(), Value::Bool(true))].into_iter().collect();
    session.send("poke", data.clone()).await.expect("an event");
    let error =
        session.send("poke", [("what".to_owned(), Value::None)].into_iter().collect()).await;
    assert_eq!(
        error.map_err(|e| e.to_string()),
        Err("event `poke`: it declares no `what`, only `how`, `hard`".into())
    );
    let error = session.send("push", Map::new()).await.expect_err("no such event");
    assert_eq!(error.to_string(), "no event `push`; declared: `poke`");
    let (machine, lines) = session.into_parts();
    assert_eq!(machine.seen[1].1, "event [None, Bool(true)]");
    assert_eq!(lines[1].what, What::Event { event: "poke".into(), data: Value::Map(data) });
}

#[tokio::test]
async fn the_end_comes_with_the_result() {
    let end = vec![
        Output::Record(Record::Ended(Status::Partial)),
        Output::Effect(Effect::Ended(Status::Partial)),
    ];
    let mut session = session(fake(vec![vec![], end]), "{}");
    assert_eq!(session.run_turns(5).await.expect("a run"), Some(Status::Partial));
    let (machine, lines) = session.into_parts();
    assert_eq!(machine.seen.len(), 3);
    let text = serde_json::to_string(&lines[1]).expect("JSON");
    assert_eq!(
        text,
        r#"{"v":1,"seq":2,"at_ms":0,"kind":"ended","status":"partial","result":{"answer":42}}"#
    );
}

#[tokio::test]
async fn a_chart_that_asks_in_a_cycle_is_stopped() {
    let reactions = (0..50).map(|_| vec![start(1, 1)]).collect();
    let session = Session::new(fake(reactions), Arc::new(First), Arc::new(VirtualClock::new()), ());
    let error = session.with_max_calls(10).turn().await.expect_err("a cycle");
    assert!(matches!(error, RunError::TooManyCalls(10)));
}

#[tokio::test]
async fn inputs_are_in_the_trace() {
    let mut session = session(fake(vec![]), "{}");
    session.input("balance", 10_i64).expect("an input");
    session.start().await.expect("a start");
    session.input("balance", 11_i64).expect("an input");
    assert!(session.input("balanse", 11_i64).is_err());
    let (_, lines) = session.into_parts();
    let given = [("balance".to_owned(), Value::Int(10))].into_iter().collect();
    assert!(matches!(&lines[0].what, What::Run { variables: v, .. } if *v == Value::Map(given)));
    assert_eq!(lines[1].what, What::Input { name: "balance".into(), value: Value::Int(11) });
}

#[test]
fn a_session_weighs_its_machine_and_a_few_counts() {
    let around = size_of::<Session<[u32; 5], ()>>() - size_of::<[u32; 5]>();
    assert!(around <= 136, "{around} bytes");
}

#[tokio::test]
async fn a_session_that_waits_keeps_nothing_that_it_does_not_need() {
    let mut session = session(fake(vec![vec![start(1, 1)]]), "answers: {choose: [ship]}");
    session.turn().await.expect("a turn");
    assert_eq!(session.calls(), 1);
    assert!(session.extra.0.is_none());
}
