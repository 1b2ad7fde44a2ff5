//! Charts that run charts.

mod elements;
mod end;
mod names;
mod nest;
mod pass;
mod post;
mod share;
mod start;

use super::{Notebook, shown};
use chartc::load::Memory;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::family::{Family, MemberPath, ROUNDS, Tasks};
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{
    Effect, ErrorKind, Input, Outcome, Receipt, Receiver, Record, Sink, StepKey,
};
use chartc_core::plan::Plan;
use chartc_core::tables::{StepRowKind, Tables};
use std::sync::Arc;

/// Effects and records of one input.
#[derive(Default)]
struct Both(Vec<Result<Effect, Record>>);

impl Sink for Both {
    fn effect(&mut self, effect: Effect) {
        self.0.push(Ok(effect));
    }

    fn record(&mut self, record: Record) {
        self.0.push(Err(record));
    }
}

/// A family driven by hand; the last chart of the text is its root, of an SCXML document the first.
pub(crate) struct Tree {
    plans: Arc<[Plan]>,
    family: Family<Interpreter<Notebook>>,
    host: Notebook,
    now: u64,
    receipt: Receipt,
    /// Steps that somebody owes an answer, by the way to them.
    open: Vec<(String, MemberPath, StepKey)>,
    trace: Vec<String>,
}

impl Tree {
    pub(crate) fn of(text: &str) -> Self {
        let is_document = text.trim_start().starts_with('<');
        let name = if is_document { "t.scxml" } else { "t.chart" };
        let done = chartc::check(&[name.to_owned()], &Memory::of(name, text));
        let found: Vec<_> = done.diagnostics.iter().map(|d| (&d.rule.code, &d.message)).collect();
        let main = if is_document { done.charts.first() } else { done.charts.last() };
        let main = main.unwrap_or_else(|| panic!("{found:#?}\n{text}"));
        let plans = main.plans();
        let host = Notebook::default();
        let machine = Interpreter::new(&plans[0], host.clone(), []).expect("no params");
        let mut tree = Self {
            family: Family::new(machine.with_charts(plans.clone())),
            plans,
            host,
            now: 0,
            receipt: Receipt::Handled,
            open: Vec::new(),
            trace: Vec::new(),
        };
        tree.give(MemberPath::new(), Input::Start);
        tree
    }

    fn give(&mut self, member: MemberPath, input: Input<Vec<Value>>) -> &mut Self {
        let mut tasks = Tasks::new();
        self.family.handling(&mut tasks).tell(member, input, self.now);
        for _ in 0..10 * ROUNDS {
            let mut both = Both::default();
            let Some(told) = self.family.handling(&mut tasks).handle_next(self.now, &mut both)
            else {
                return self;
            };
            if told.asked {
                self.receipt = told.receipt.expect("it fits");
            }
            for one in both.0 {
                match one {
                    Ok(effect) => self.effect(&told.member, effect),
                    Err(record) => self.record(&told.member, record),
                }
            }
        }
        let last = self.trace.len().saturating_sub(40);
        panic!("the family does not come to rest: {:#?}", &self.trace[last..]);
    }

    fn effect(&mut self, member: &MemberPath, effect: Effect) {
        match effect {
            Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => {
                let machine = self.family.member(member).expect("it is there");
                let row = &machine.tables().steps[key.step.index()];
                if !matches!(row.kind, StepRowKind::Run { .. }) {
                    let way = self.way(member, &row.name);
                    self.open.push((way, member.clone(), key));
                }
            }
            Effect::Cancel(key) => {
                if let Some(i) = self.open.iter().position(|o| o.1 == *member && o.2 == key) {
                    let (way, ..) = self.open.remove(i);
                    self.trace.push(format!("canceled {way}"));
                }
            }
            Effect::Ended(_) => {}
        }
    }

    fn record(&mut self, member: &MemberPath, record: Record) {
        let machine = self.family.member(member).expect("it is there");
        let tables = machine.tables();
        let state = |s: chartc_core::arena::StateId| &tables.states[s.index()].path;
        let step = |s: chartc_core::arena::StepId| &tables.steps[s.index()].name;
        let text = match record {
            Record::Entered(s) if s.0 > 0 => format!("+{}", state(s)),
            Record::Error(ErrorKind::Livelock) => "livelock".to_owned(),
            Record::Exited(s) if s.0 > 0 => format!("-{}", state(s)),
            Record::Event(e) => format!("event {}", tables.events[e.index()].name),
            Record::Refused(e) => format!("refused {}", tables.events[e.index()].name),
            Record::Turn(n) => format!("turn {n}"),
            Record::TurnEnded(n) => format!("turn {n} ended"),
            Record::Started(key) => format!("started {}{}", step(key.step), index(key)),
            Record::ElementDone(key) => format!("done {}{}", step(key.step), index(key)),
            Record::ElementLost(key) => format!("lost {}{}", step(key.step), index(key)),
            Record::Skipped(s) => format!("skipped {}", step(s)),
            Record::Done(s) => format!("done {}", step(s)),
            Record::Failed(s) => format!("failed {}", step(s)),
            Record::Dropped(key) => format!("dropped {}", step(key.step)),
            Record::Retried(key) => format!("retried {}", step(key.step)),
            Record::Ended(status) => format!("ended {}", status.word()),
            Record::Error(_) => "error".to_owned(),
            Record::Posted(e, to) => format!("posted {}", receiver(tables, e, to)),
            Record::Undelivered(e, to) => format!("undelivered {}", receiver(tables, e, to)),
            _ => return,
        };
        let text = self.way(member, &text);
        self.trace.push(text);
    }

    /// `a/b: text`.
    fn way(&self, member: &MemberPath, text: &str) -> String {
        let names = (0..member.len()).map(|i| {
            let above = self.family.member(&member[..i]).expect("it is there");
            let name = &above.tables().steps[member[i].step.index()].name;
            format!("{name}{}", index(member[i]))
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { text.to_owned() } else { format!("{}: {text}", names.join("/")) }
    }

    pub(crate) fn event(&self, name: &str) -> EventId {
        let tables = self.family.root().tables();
        EventId::at(tables.events.iter().position(|e| e.name == name).expect("declared"))
    }

    pub(crate) fn send(&mut self, event: &str) -> &mut Self {
        self.give(MemberPath::new(), Input::Event(self.event(event), Vec::new()))
    }

    /// Sends an event with one value, or what its name means where any event is taken.
    pub(crate) fn send_data(&mut self, event: &str, value: Value) -> &mut Self {
        let tables = self.family.root().tables();
        let id = tables.event_named(event).expect("it is declared");
        let fields = tables.events[id.index()].fields.len as usize;
        self.give(MemberPath::new(), Input::Event(id, vec![value; fields]))
    }

    fn send_with(&mut self, event: &str, value: i64) -> &mut Self {
        self.give(MemberPath::new(), Input::Event(self.event(event), vec![Value::Int(value)]))
    }

    pub(crate) fn turn(&mut self) -> &mut Self {
        self.give(MemberPath::new(), Input::Turn)
    }

    pub(crate) fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self.give(MemberPath::new(), Input::Tick)
    }

    fn answer(&mut self, way: &str, value: Value) -> &mut Self {
        let place = self.open.iter().position(|(open, ..)| open == way).expect("it is open");
        let (_, member, key) = self.open.remove(place);
        self.give(member, Input::Answer(key, Outcome::Done(vec![value])))
    }

    /// The leaves of every member.
    pub(crate) fn leaves(&self) -> Vec<String> {
        let mut found = Vec::new();
        for member in self.family.members() {
            let machine = self.family.member(&member).expect("it is there");
            let tables = machine.tables();
            for (i, row) in tables.states.iter().enumerate() {
                let is_basic = matches!(
                    row.kind,
                    chartc_core::tables::StateRowKind::Atomic
                        | chartc_core::tables::StateRowKind::Final(_)
                );
                if is_basic && machine.is_active(chartc_core::arena::StateId::at(i)) {
                    found.push(self.way(&member, &row.path));
                }
            }
        }
        found
    }

    pub(crate) fn var(&self, name: &str) -> String {
        let variables = self.family.root().variables();
        shown(&variables.iter().find(|(n, _)| n == name).expect("a variable").1)
    }

    fn open(&self) -> Vec<&str> {
        self.open.iter().map(|(way, ..)| way.as_str()).collect()
    }

    /// The trace since this was asked last.
    pub(crate) fn since(&mut self) -> String {
        std::mem::take(&mut self.trace).join(" · ")
    }

    /// Goes on with machines made from a snapshot that went through JSON.
    pub(crate) fn restart(&mut self) {
        let json = serde_json::to_string(&self.family.save()).expect("data");
        let snapshot = serde_json::from_str(&json).expect("data");
        let host = self.host.clone();
        let restored = Interpreter::resume(&self.plans[0], self.plans.clone(), host, &snapshot);
        self.family = Family::new(restored.expect("of these charts"));
    }
}

/// `[1]`, for an element.
fn index(key: StepKey) -> String {
    key.element.map_or(String::new(), |element| format!("[{}]", element.index()))
}

/// `event to whom`.
fn receiver(tables: &Tables, event: EventId, to: Receiver) -> String {
    let step = |step: chartc_core::arena::StepId| &tables.steps[step.index()].name;
    let whom = match to {
        Receiver::Own => "itself".to_owned(),
        Receiver::Parent => "parent".to_owned(),
        Receiver::Child(run) => step(run).to_string(),
        Receiver::Element(run, element) => format!("{}[{}]", step(run), element.index()),
    };
    format!("{} to {whom}", tables.events[event.index()].name)
}

const FETCH: &str = r#"
do note(text: Text)
chart Fetch {
  param url: Text = "x"
  param tries: Int in 1..5 = 3
  event got(n: Int)
  event abort
  event poke
  initial waiting
  state waiting {
    on got(n) -> over(n, url)
    on abort -> gone
    on poke { note("poked {url}") }
    after 10s -> late
    exit { note("left {url}") }
  }
  final over(n: Int, from: Text)
  final gone : canceled
  final late : stuck
}
"#;

fn main(body: &str) -> Tree {
    Tree::of(&format!(
        "{FETCH}
chart Main {{
  event got(n: Int)
  event abort
  event poke
  event go
  event stop
  var seen: Json = none
  var why: Text = \"\"
  {body}
}}"
    ))
}

const LOADING: &str = r#"
  initial idle
  state idle { on go -> loading }
  state loading {
    run fetch Fetch("u", tries: 2) at entry
    on done(fetch) as v -> idle { seen = v }
    on error(fetch) as w -> idle { why = w }
    on stop -> idle
  }
"#;
