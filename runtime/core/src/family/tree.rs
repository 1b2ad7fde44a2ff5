//! Paths through the tree of a family's machines.

use super::MemberPath;
use crate::arena::EventId;
use crate::expr::{Map, Value};
use crate::host::Machine;
use crate::machine::StepKey;
use alloc::string::String;
use alloc::vec::Vec;

/// An event by name, which another chart can understand.
#[derive(Clone)]
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) fields: Vec<String>,
    pub(super) payload: Vec<Value>,
    pub(super) asked: bool,
}

impl Offered {
    /// The data of the event, by field name.
    pub(super) fn data(&self) -> Map {
        self.fields.iter().cloned().zip(self.payload.iter().cloned()).collect()
    }
}

pub(super) fn joined(member: &[StepKey], key: StepKey) -> MemberPath {
    let mut child = member.to_vec();
    child.push(key);
    child
}

/// Calls `act` with a machine and all machines below it, each before its children.
pub(super) fn below(
    machine: &dyn Machine,
    at: &mut MemberPath,
    act: &mut dyn FnMut(&MemberPath, &dyn Machine),
) {
    act(at, machine);
    machine.each_child(&mut |key, child| {
        at.push(key);
        below(child, at, act);
        at.pop();
    });
}

pub(super) fn reach(
    machine: &mut dyn Machine,
    member: &[StepKey],
    act: &mut dyn FnMut(&mut dyn Machine),
) {
    match member.split_first() {
        None => act(machine),
        Some((key, rest)) => {
            machine.with_child(*key, &mut |child| reach(child, rest, act));
        }
    }
}

/// The event of this machine's chart with the same name and fields, and its payload. A chart that accepts undeclared events accepts any
/// event; the payload is cut or filled with `none` to the number of fields that the chart declares.
pub(super) fn meant(machine: &dyn Machine, event: &Offered) -> Option<(EventId, Vec<Value>)> {
    let tables = machine.tables();
    if !tables.is_open() {
        return Some((named(machine, event)?, event.payload.clone()));
    }
    let id = tables.event_named(&event.name)?;
    let mut payload = event.payload.clone();
    payload.resize(tables.events[id.index()].fields.of(tables.name_pool).len(), Value::None);
    Some((id, payload))
}

/// The event of this machine's chart with the same name and fields.
pub(super) fn named(machine: &dyn Machine, event: &Offered) -> Option<EventId> {
    let tables = machine.tables();
    let found = tables.events.iter().position(|row| {
        row.name == event.name && row.fields.of(tables.name_pool).iter().eq(&event.fields)
    });
    found.map(EventId::at)
}
