//! Converts records of a machine to trace lines with names.

use super::{LineName, What, Which};
use chartc_core::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};
use chartc_core::expr::{Map, Value};
use chartc_core::machine::{Element, Fallback, Loss, Receiver, Record, StepKey, WalkEnd};
use chartc_core::tables::Tables;
use chartc_core::wording;

/// The line for a record. Fields whose values a record does not contain are empty: the data of `event`, `held` of `taken`, and `result`
/// and `summary` of `ended`.
pub fn describe(tables: &Tables, record: Record) -> What {
    match record {
        Record::Event(e) => What::Event { event: event(tables, e), data: Value::Map(Map::new()) },
        Record::Sent(e, due_ms) => What::Sent { event: event(tables, e), due_ms },
        Record::Delivered(e) => What::Delivered { event: event(tables, e) },
        Record::Posted(e, to) => What::Posted { event: event(tables, e), to: receiver(tables, to) },
        Record::Undelivered(e, to) => {
            What::Undelivered { event: event(tables, e), to: receiver(tables, to) }
        }
        Record::SendCanceled(e) => What::SendCanceled { event: event(tables, e) },
        Record::Deferred(e) => What::Deferred { event: event(tables, e) },
        Record::Recalled(e) => What::Recalled { event: event(tables, e) },
        Record::Turn(turn) => What::Turn { turn },
        Record::Refused(e) => What::Refused { event: event(tables, e) },
        Record::Lost(t, why) => What::Lost { line: line(tables, t), why: loss(why).into() },
        Record::Taken(t) => What::Taken { line: line(tables, t), held: Vec::new() },
        Record::Exited(s) => What::Exited { state: state(tables, s) },
        Record::Entered(s) => What::Entered { state: state(tables, s) },
        Record::Denied(t) => What::Denied { line: line(tables, t) },
        Record::Started(key) => What::Started {
            step: step(tables, key.step),
            state: state(tables, key.leaf),
            attempt: key.attempt,
            element: key.element.map(Element::index),
        },
        Record::Skipped(s) => What::Skipped { step: step(tables, s) },
        Record::Done(s) => What::Done { step: step(tables, s), element: None },
        Record::ElementDone(key) => {
            What::Done { step: step(tables, key.step), element: key.element.map(Element::index) }
        }
        Record::Chosen(c) => What::Chosen { option: choice(tables, c) },
        Record::Unasked(c) => What::Unasked { option: choice(tables, c) },
        Record::Called(key, c, t) => What::Called {
            step: step(tables, key.step),
            state: state(tables, key.leaf),
            option: c.map_or_else(String::new, |c| choice(tables, c)),
            tool: tool(tables, t),
        },
        Record::Returned(key, t) => What::Returned {
            step: step(tables, key.step),
            tool: tool(tables, t),
            which: which(tables, key),
        },
        Record::CallFailed(key, t) => What::NotReturned {
            step: step(tables, key.step),
            tool: tool(tables, t),
            which: which(tables, key),
        },
        Record::Forbidden(key, t) => What::Forbidden {
            step: step(tables, key.step),
            state: state(tables, key.leaf),
            tool: tool(tables, t),
        },
        Record::Retried(key) => What::Retried {
            step: step(tables, key.step),
            attempt: key.attempt,
            which: which(tables, key),
        },
        Record::Failed(s) => What::Failed { step: step(tables, s), element: None },
        Record::ElementLost(key) => {
            What::Failed { step: step(tables, key.step), element: key.element.map(Element::index) }
        }
        Record::Fallback(s, why) => {
            What::Fallback { step: step(tables, s), why: fallback(why).into() }
        }
        Record::Dropped(key) => What::Dropped {
            step: step(tables, key.step),
            attempt: key.attempt,
            which: which(tables, key),
        },
        Record::WalkEnded(why) => walk_ended(tables, why),
        Record::Error(kind) => What::Error { error: kind.name().into() },
        Record::Warned(kind) => What::Warned { limit: kind.name().into() },
        Record::TurnEnded(turn) => What::TurnEnded { turn },
        Record::Ended(status) => {
            let result = Value::Map(Map::new());
            What::Ended { status: status.word().into(), result, summary: None }
        }
    }
}

fn walk_ended(tables: &Tables, why: WalkEnd) -> What {
    let (why, step, region) = match why {
        WalkEnd::Calls(region) => ("calls", None, state(tables, region)),
        WalkEnd::EndsTurn => ("ends_turn", None, String::new()),
        WalkEnd::Failed(s) => ("failed", Some(step(tables, s)), String::new()),
        WalkEnd::Ended => ("ended", None, String::new()),
    };
    What::WalkEnded { why: why.into(), step, region }
}

/// The line for a transition. `alternatives` is a bit mask of the alternatives of its guard that held; bit 0 is the first one.
pub(crate) fn taken(tables: &Tables, id: TransitionId, alternatives: u64) -> What {
    let texts = tables.transitions[id.index()].alternatives.of(&tables.name_pool);
    let told = texts.iter().take(u64::BITS as usize).enumerate();
    let held = told.filter(|(nth, _)| alternatives & (1 << nth) != 0);
    What::Taken { line: line(tables, id), held: held.map(|(_, text)| text.to_string()).collect() }
}

/// Distinguishes a call from the other open calls of its step, if there can be several.
pub(crate) fn which(tables: &Tables, key: StepKey) -> Which {
    let is_asked =
        tables.steps.get(key.step.index()).is_some() && tables.is_asked_in_regions(key.step);
    Which {
        state: if is_asked { state(tables, key.leaf) } else { String::new() },
        element: key.element.map(Element::index),
    }
}

fn state(tables: &Tables, id: StateId) -> String {
    tables.states.get(id.index()).map_or_else(String::new, |s| s.path.to_string())
}

fn step(tables: &Tables, id: StepId) -> String {
    tables.steps.get(id.index()).map_or_else(String::new, |s| s.name.to_string())
}

fn receiver(tables: &Tables, to: Receiver) -> String {
    match to {
        Receiver::Own => String::new(),
        Receiver::Parent => "parent".into(),
        Receiver::Child(id) => step(tables, id),
        Receiver::Element(id, element) => format!("{}[{}]", step(tables, id), element.index()),
    }
}

fn event(tables: &Tables, id: EventId) -> String {
    tables.events.get(id.index()).map_or_else(String::new, |e| e.name.to_string())
}

fn choice(tables: &Tables, id: ChoiceId) -> String {
    tables.choices.get(id.index()).map_or_else(String::new, |c| c.name.to_string())
}

fn tool(tables: &Tables, id: ToolId) -> String {
    tables.tools.get(id.index()).map_or_else(String::new, |t| t.name.to_string())
}

fn line(tables: &Tables, id: TransitionId) -> LineName {
    let row = &tables.transitions[id.index()];
    let first = tables.states[row.source.index()].transitions.start;
    let trigger = wording::trigger(tables, row.trigger);
    LineName {
        state: state(tables, row.source),
        nth: id.0.saturating_sub(first) + 1,
        trigger,
        targets: row.targets.of(&tables.state_pool).iter().map(|s| state(tables, *s)).collect(),
    }
}

const fn loss(why: Loss) -> &'static str {
    match why {
        Loss::Guard => "guard",
        Loss::Fault => "fault",
        Loss::Scope => "scope",
        Loss::Preempted => "preempted",
    }
}

const fn fallback(why: Fallback) -> &'static str {
    match why {
        Fallback::NoOption => "no_option",
        Fallback::Unusable => "unusable",
        Fallback::Stale => "stale",
        Fallback::Failed => "failed",
        Fallback::NoLine => "no_line",
    }
}
