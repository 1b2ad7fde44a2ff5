//! A run that demonstrates a verdict, in words and as a file for `chartc simulate`.

use super::host::{Answer, HostAct, Log, Machined, inputs, params, perform};
use super::walk::ExploreContext;
use super::{Edge, Explored, Happened};
use chartc_core::arena::{ToolId, TransitionId, VarId};
use chartc_core::expr::{Duration, Map, Value};
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::StepKey;
use chartc_core::model::{Chart, FailureKind, FailureKinds, StepKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run from its start.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The params that are given, by name.
    pub params: Vec<(String, Value)>,
    /// The inputs that are set before the start, by name.
    pub inputs: Vec<(String, Value)>,
    /// The steps of the run in words, the start first: what is done, and where the run is then.
    pub steps: Vec<String>,
    /// The actions after the start, each as a JSON object in the format of `chartc simulate`.
    pub entries: Vec<String>,
    /// The results of host functions, by name, in the order of the calls.
    pub functions: BTreeMap<String, Vec<Result<Value, String>>>,
    /// The transitions that are taken, each with the number of the step in which; the start is step 1.
    pub taken: Vec<(usize, TransitionId)>,
}

impl Witness {
    /// The entries, one on each line.
    pub fn events(&self) -> String {
        self.entries.iter().map(|entry| format!("{entry}\n")).collect()
    }

    /// The results of host functions as a script in YAML; empty if there are none.
    pub fn script(&self) -> String {
        if self.functions.is_empty() {
            return String::new();
        }
        let mut text = String::from("functions:\n");
        for (name, results) in &self.functions {
            text.push_str(&format!("  {name}:\n"));
            for result in results {
                text.push_str(&match result {
                    Ok(value) => format!("    - {{answer: {}}}\n", json(value)),
                    Err(why) => format!("    - {{fail: {}}}\n", json(&Value::Text(why.clone()))),
                });
            }
        }
        text
    }
}

/// A value as JSON.
pub fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// Whether the chart itself, with its real limits, does what the edges say: the same happenings, and the same end.
pub(super) fn plays(context: &ExploreContext<'_>, found: &Explored, way: &[&Edge]) -> bool {
    let chart = context.chart;
    let Some(HostAct::Start(start)) = way.first().map(|edge| &edge.act) else { return false };
    let params = params(chart, start);
    let Ok(mut machine) = Interpreter::new(context.plan(), context.host(), params) else {
        return false;
    };
    let mut log = Log::new(chart);
    let same = way.iter().all(|edge| {
        machine.with_host(|host| host.begin_with(&edge.results));
        log.clear();
        let act = here(&machine, &edge.act);
        perform(chart, &mut machine, &act, &mut log) && log.story == found.story(edge)
    });
    same && way.last().is_some_and(|edge| {
        let last = &found.points[edge.to];
        machine.leaves() == last.leaves && machine.ended().is_some() == last.ended
    })
}

/// Replays the edges from the start, and describes what happens.
pub fn witness(chart: &Arc<Chart>, way: &[&Edge]) -> Witness {
    witness_on(&ExploreContext::new(chart), way)
}

pub(super) fn witness_on(context: &ExploreContext<'_>, way: &[&Edge]) -> Witness {
    let chart = context.chart;
    let mut told = Witness {
        params: Vec::new(),
        inputs: Vec::new(),
        steps: Vec::new(),
        entries: Vec::new(),
        functions: BTreeMap::new(),
        taken: Vec::new(),
    };
    let Some(HostAct::Start(start)) = way.first().map(|edge| &edge.act) else { return told };
    told.params = params(chart, start);
    let params = told.params.clone();
    let Ok(mut machine) = Interpreter::new(context.plan(), context.host(), params) else {
        return told;
    };
    let mut teller = Teller { chart, known: Vec::new() };
    let mut log = Log::new(chart);
    for edge in way {
        machine.with_host(|host| host.begin_with(&edge.results));
        let act = here(&machine, &edge.act);
        if let HostAct::Answer(key, _) = &act {
            // `chartc simulate` does the same before an answer, and host functions have to be called in the same order.
            let is_called = machine.call(*key).is_ok();
            let kind = &chart.steps[key.step.index()].kind;
            if !is_called && matches!(kind, StepKind::Ask { .. }) {
                machine.options(*key);
            }
        }
        let pending = machine.pending();
        let calling = match &act {
            HostAct::Answer(key, _) => machine.calls(*key),
            _ => None,
        };
        let words = teller.words(&act, calling);
        let entry = teller.entry(&act, &pending);
        log.clear();
        perform(chart, &mut machine, &act, &mut log);
        let nth = told.steps.len() + 1;
        told.taken.extend(log.story.iter().filter_map(|one| match one {
            Happened::Taken(transition) => Some((nth, *transition)),
            _ => None,
        }));
        for (name, result) in machine.with_host(|host| std::mem::take(&mut host.log)) {
            told.functions.entry(name).or_default().push(result);
        }
        match &act {
            HostAct::Start(_) => {
                told.inputs = inputs(chart, &act)
                    .map(|(id, value)| (chart.variables[id.index()].name.clone(), value.clone()))
                    .collect();
            }
            _ => {
                told.entries.push(entry);
            }
        }
        told.steps.push(format!("{words} → {}", place(chart, &machine)));
    }
    told
}

/// The action at the machine's point. A run may come to a point on another way than the one that found it: then its open steps have other
/// keys, and a deadline is due at another time.
fn here(machine: &Machined, act: &HostAct) -> HostAct {
    match act {
        HostAct::Answer(key, answer) => {
            let pending = machine.pending();
            let is_it = |other: &&StepKey| {
                (other.step, other.leaf, other.element) == (key.step, key.leaf, key.element)
            };
            let key = pending.iter().find(is_it).unwrap_or(key);
            HostAct::Answer(*key, answer.clone())
        }
        HostAct::Wait(_) => {
            let now = machine.standing().now;
            HostAct::Wait(machine.next_deadline().map_or(0, |due| due.saturating_sub(now)))
        }
        HostAct::Start(_) | HostAct::Event(..) | HostAct::Turn(_) => act.clone(),
    }
}

/// The active leaves in words, and the status if the run has ended.
fn place(chart: &Chart, machine: &Machined) -> String {
    let leaves = machine.leaves();
    let names: Vec<String> =
        leaves.iter().map(|leaf| format!("`{}`", chart.state(*leaf).path)).collect();
    match machine.ended() {
        Some(status) => format!("{}, ended {}", names.join(" "), status.word()),
        None => names.join(" "),
    }
}

/// Describes actions, without repeating inputs that have not changed.
struct Teller<'c> {
    chart: &'c Chart,
    /// The inputs as they were mentioned last.
    known: Vec<(VarId, Value)>,
}

impl Teller<'_> {
    /// The inputs that an action changes, in words.
    fn set(&mut self, act: &HostAct) -> String {
        let mut told = Vec::new();
        for (id, value) in inputs(self.chart, act) {
            if self.known.contains(&(*id, value.clone())) {
                continue;
            }
            self.known.retain(|(other, _)| other != id);
            self.known.push((*id, value.clone()));
            told.push(format!("{} = {}", self.chart.variables[id.index()].name, json(value)));
        }
        if told.is_empty() { String::new() } else { format!(" with {}", told.join(", ")) }
    }

    fn fields<'v>(names: impl Iterator<Item = &'v String>, values: &[Value]) -> Map {
        names.cloned().zip(values.iter().cloned()).collect()
    }

    fn step(&self, key: &StepKey) -> &str {
        &self.chart.steps[key.step.index()].name
    }

    /// An action in words; `calling` is the tool whose call is answered, if any.
    fn words(&mut self, act: &HostAct, calling: Option<ToolId>) -> String {
        let chart = self.chart;
        match act {
            HostAct::Start(start) => {
                let params = params(chart, start);
                let shown: Vec<String> =
                    params.iter().map(|(name, v)| format!("{name} = {}", json(v))).collect();
                let with = if shown.is_empty() {
                    String::new()
                } else {
                    format!(" with {}", shown.join(", "))
                };
                format!("start{with}{}", self.set(act))
            }
            HostAct::Event(_, event, payload) => {
                let row = &chart.events[event.index()];
                let data = if payload.is_empty() {
                    String::new()
                } else {
                    let shown: Vec<String> = payload.iter().map(json).collect();
                    format!("({})", shown.join(", "))
                };
                format!("event `{}{data}`{}", row.name, self.set(act))
            }
            HostAct::Turn(_) => format!("turn{}", self.set(act)),
            HostAct::Wait(milliseconds) => format!("wait {}", Duration(*milliseconds)),
            HostAct::Answer(key, answer) => {
                let step = self.step(key);
                let tool = calling.map(|tool| chart.tools[tool.index()].name.as_str());
                match (answer, tool) {
                    (Answer::Done(value), Some(tool)) => {
                        format!("`{tool}` returns {}", json(value))
                    }
                    (Answer::Failed, Some(tool)) => format!("`{tool}` fails"),
                    (Answer::Done(value), None) => format!("`{step}` is done: {}", json(value)),
                    (Answer::Option(choice, _), _) => {
                        format!("`{step}` answers `{}`", chart.choices[choice.index()].name)
                    }
                    (Answer::Call(tool, _), _) => {
                        format!("`{step}` calls `{}`", chart.tools[tool.index()].name)
                    }
                    (Answer::Unusable, _) => format!("`{step}` gives no usable answer"),
                    (Answer::Failed, None) => format!("`{step}` fails"),
                    (Answer::Final, _) => format!("`{step}` fails for good"),
                    (Answer::Doubt, _) => format!("`{step}` is in doubt"),
                }
            }
        }
    }

    /// An action as JSON, in the format of `chartc simulate`.
    fn entry(&self, act: &HostAct, pending: &[StepKey]) -> String {
        let chart = self.chart;
        let text = |text: &str| Value::Text(text.to_owned());
        let set = || {
            let rows = inputs(chart, act);
            let named = |(id, value): &(VarId, Value)| {
                (chart.variables[id.index()].name.clone(), value.clone())
            };
            rows.map(named).collect::<Map>()
        };
        let mut row = Map::new();
        let mut put = |name: &str, value: Value| {
            row.insert(name.to_owned(), value);
        };
        match act {
            HostAct::Start(_) => {}
            HostAct::Event(_, event, payload) => {
                let declared = &chart.events[event.index()];
                put("event", text(&declared.name));
                if !payload.is_empty() {
                    let names = declared.fields.iter().map(|f| &f.name);
                    put("data", Value::Map(Self::fields(names, payload)));
                }
                let set = set();
                if !set.is_empty() {
                    put("input", Value::Map(set));
                }
            }
            HostAct::Turn(_) => put("turn", Value::Map(set())),
            HostAct::Wait(milliseconds) => put("after_ms", Value::Int(*milliseconds as i64)),
            HostAct::Answer(key, answer) => {
                self.put_answer(*key, answer, &mut put);
                // A single open step need not be named.
                if pending.len() > 1 {
                    put("step", text(self.step(key)));
                }
            }
        }
        json(&Value::Map(row))
    }

    /// Adds a kind of failure after which the step makes another attempt, or none, if its `retry` names kinds.
    fn put_kind(&self, key: StepKey, retries: bool, put: &mut dyn FnMut(&str, Value)) {
        let on = self.chart.steps[key.step.index()].failure.retry.on;
        let mut kinds = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_failed_call());
        if on != FailureKinds::ALL
            && let Some(kind) = kinds.find(|kind| on.contains(*kind) == retries)
        {
            put("kind", Value::Text(kind.word().to_owned()));
        }
    }

    /// Adds an answer to the row of an action.
    fn put_answer(&self, key: StepKey, answer: &Answer, put: &mut dyn FnMut(&str, Value)) {
        let chart = self.chart;
        let text = |text: &str| Value::Text(text.to_owned());
        match answer {
            Answer::Done(value) => put("answer", value.clone()),
            Answer::Option(choice, values) => {
                let choice = &chart.choices[choice.index()];
                put("answer", text(&choice.name));
                if let chartc_core::model::ChoiceKind::Option(fields) = &choice.kind
                    && !fields.is_empty()
                {
                    let names = fields.iter().map(|f| &f.name);
                    put("data", Value::Map(Self::fields(names, values)));
                }
            }
            Answer::Call(tool, values) => {
                let tool = &chart.tools[tool.index()];
                let names = tool.params.iter().map(|f| &f.name);
                let arguments = Value::Map(Self::fields(names, values));
                if matches!(chart.steps[key.step.index()].kind, StepKind::Llm) {
                    let mut call = Map::new();
                    call.insert("tool".into(), text(&tool.name));
                    call.insert("arguments".into(), arguments);
                    put("answer", Value::Map(call));
                } else {
                    put("answer", text(&tool.name));
                    if !values.is_empty() {
                        put("data", arguments);
                    }
                }
            }
            Answer::Unusable => put("unusable", Value::Bool(true)),
            Answer::Failed => {
                put("fail", text("failed"));
                self.put_kind(key, true, put);
            }
            Answer::Final => {
                put("fail", text("failed"));
                self.put_kind(key, false, put);
            }
            Answer::Doubt => put("doubt", Value::Bool(true)),
        }
    }
}
