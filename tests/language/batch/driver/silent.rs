//! The same run while nobody listens: generated code that is generic over its sink is compiled once more for `()`.

use super::{Script, Scripted, Step, active, sends};
use chartc_core::expr::{FromValue, Value};
use chartc_core::host::Machine;
use chartc_core::machine::{Input, Instant, Receipt};
use std::fmt::Write;

/// A machine whose records and effects go nowhere.
pub(crate) trait Silent {
    /// Handles an input; `None` where its data do not fit.
    fn give(&mut self, input: Input<Vec<Value>>, now: Instant) -> Option<Receipt>;
    /// The machine.
    fn machine(&mut self) -> &mut dyn Machine;
}

/// A machine that tells a `&mut dyn Sink`.
pub(crate) struct HandledInput<'m>(pub(crate) Box<dyn Machine + 'm>);

impl Silent for HandledInput<'_> {
    fn give(&mut self, input: Input<Vec<Value>>, now: Instant) -> Option<Receipt> {
        self.0.handle(input, now, &mut ()).ok()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        self.0.as_mut()
    }
}

/// The next value of an event's data.
pub(crate) fn field<T: FromValue>(values: &mut std::vec::IntoIter<Value>) -> Option<T> {
    T::from_value(values.next()?).ok()
}

/// What is to be seen without a sink, after each step.
fn unheard(silent: &mut dyn Silent, step: &Step) -> String {
    let receipt = match step {
        Step::Give(now, input) => silent.give(input.clone(), *now).map(|r| format!("{r:?}")),
        Step::Set(name, value) => {
            silent.machine().set_input(name, value.clone()).ok().map(|()| "set".to_owned())
        }
        Step::Tell(..) => None,
    };
    let machine = silent.machine();
    let mut out = String::new();
    let _ = writeln!(out, "receipt: {}", receipt.as_deref().unwrap_or(super::MISMATCH));
    for (name, value) in machine.variables() {
        let _ = writeln!(out, "variable: {name} {value:?}");
    }
    let _ = writeln!(out, "active: {}", active(machine).join(" "));
    let _ = writeln!(out, "deadline: {:?}", machine.next_deadline());
    let _ = writeln!(out, "sends: {:?}", sends(machine));
    let _ = writeln!(out, "walking: {:?}", machine.is_walking());
    let _ = writeln!(out, "result: {:?}", machine.result());
    out
}

/// The first difference between what was seen of a run by somebody who listened, and of the same run without.
pub(crate) fn difference(
    script: &Script,
    host: &Scripted,
    heard: &str,
    silent: &mut dyn Silent,
) -> Option<String> {
    let heads =
        ["receipt: ", "variable: ", "active: ", "deadline: ", "sends: ", "walking: ", "result: "];
    let mut steps = heard.split("\n> ").skip(1);
    for (nth, step) in script.steps.iter().enumerate() {
        host.nth.set(nth as u64 + 1);
        let unheard = unheard(silent, step);
        let heard = steps.next()?;
        let seen = heard.lines().filter(|line| heads.iter().any(|head| line.starts_with(head)));
        let different = seen.zip(unheard.lines()).find(|(one, other)| one != other);
        if let Some((one, other)) = different {
            return Some(format!("{nth}: heard {one}, unheard {other}"));
        }
    }
    None
}
