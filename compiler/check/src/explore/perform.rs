//! Performs one action of the host on a machine.

use super::host::Anything;
use super::moves::{self, HostAct};
use super::witness;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Sink;
use chartc_core::model::Chart;

/// A machine whose host functions return what the exploration selects.
pub(super) type Machined<'p> = Interpreter<'p, Anything>;

/// Sets the inputs of an action and performs it. Returns whether the machine accepts it.
pub(super) fn perform(
    chart: &Chart,
    machine: &mut Machined<'_>,
    act: &HostAct,
    log: &mut dyn Sink,
) -> bool {
    for (id, value) in witness::inputs(chart, act) {
        // Setting an input looks up its name and copies its value, and most inputs do not change.
        let is_new = match (value, &machine.facts().variables[id.index()]) {
            (Value::Bool(to), Some(Value::Bool(from))) => to != from,
            (Value::Int(to), Some(Value::Int(from))) => to != from,
            (Value::Text(to), Some(Value::Text(from))) => to != from,
            _ => true,
        };
        if !is_new {
            continue;
        }
        let _ = machine.set_input(&chart.variables[id.index()].name, value.clone());
    }
    let mut now = machine.standing().now;
    if let HostAct::Wait(milliseconds) = act {
        now = now.saturating_add(*milliseconds);
    }
    machine.handle(moves::input(act), now, log).is_ok()
}
