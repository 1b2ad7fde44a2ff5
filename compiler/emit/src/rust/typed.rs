//! Writes the typed interface of the machine, for hosts that are compiled with it and use its enums.

use super::Context;
use codegen::Scope;
use std::fmt::Write;

/// Adds `impl host::Typed`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let (event, data) = if context.has_events() {
        ("Event", data(context))
    } else {
        ("core::convert::Infallible", "match event {}".to_owned())
    };
    let bounds = context.bounds();
    scope.raw(format!(
        "impl<{bounds}> host::Typed for Machine<H> {{
            type State = State;
            type Event = {event};
            const STATES: &'static [State] = &State::ALL;
            fn row_of(state: State) -> arena::StateId {{ state.id() }}
            fn data_of(event: {event}) -> (&'static str, Map) {{ {data} }}
        }}"
    ));
}

/// Writes an event by name, with its fields by name.
fn data(context: &Context<'_>) -> String {
    let mut arms = String::new();
    for (i, event) in context.chart.events.iter().enumerate() {
        let (variant, names) = (&context.names.events[i], &context.names.event_fields[i]);
        let pattern =
            if names.is_empty() { String::new() } else { format!("{{ {} }}", names.join(", ")) };
        let _ = write!(arms, "Event::{variant} {pattern} => ({:?}, Map::from_iter([", event.name);
        for (field, name) in event.fields.iter().zip(names) {
            let _ = write!(arms, "({:?}.into(), {name}.into_value()), ", field.name);
        }
        arms.push_str("])),\n");
    }
    format!("match event {{ {arms} }}")
}
