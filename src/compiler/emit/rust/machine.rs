//! Writes `Machine`, and what the machine of every chart asks of the chart: its types, its first values, and what it stores.
//!
//! The machine itself is the same for all charts (`chartc_core::generated::Machine`). Here is the implementation of `generated::Chart`, from
//! which it learns the types of events and data.

use super::{Context, direct, keep, payload, types};
use chartc_core::model::StateKind;
use chartc_core::visible;
use codegen::{Impl, Scope, Struct};

/// Adds the type `Machine`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let engine = if context.is_direct() { "direct" } else { "generated" };
    scope.raw(format!(
        "/// A `{}` that runs. Inputs come from its methods; effects and records go to their `sink`.\n\
         pub type Machine<H> = {engine}::Machine<Core<H>>;",
        visible::line(&context.chart.name)
    ));
}

/// Returns the fields of `Core`, each with its type and first value.
fn fields(context: &Context<'_>) -> Vec<(&'static str, String, String)> {
    let new = |ty: &str| format!("{}::new()", ty.replacen('<', "::<", 1));
    let mut all = direct::fields(context);
    let mut field = |name, ty: &str, value: String| all.push((name, ty.to_owned(), value));
    let host = if context.lends() { "family::Lent<H>" } else { "H" };
    field("host", host, "host".to_owned());
    field("data", "Data", "data".to_owned());
    if !context.is_direct() {
        field("bound", "generated::Held<Payload>", "generated::Held::new()".to_owned());
        if context.has_events() {
            field("raised", &context.queue(), "generated::Ring::new()".to_owned());
        }
    }
    if context.sends() > 0 {
        let ty = format!("generated::Slots<Payload, {}>", context.sends());
        field("sent", &ty, "generated::Slots::new()".to_owned());
    }
    if context.has_endings() {
        let finals = payload::finals(context).len();
        // `[None; n]` would need a `Copy` type.
        let value = format!("[const {{ None }}; {finals}]");
        field("endings", &format!("[Option<Ending>; {finals}]"), value);
    }
    if context.bare {
        return all;
    }
    let shared = !context.is_direct();
    for (is_kept, name, ty) in [
        (context.posts, "posts", "generated::Posts"),
        (shared && !context.needs.answers.is_empty(), "answers", "Answers"),
        (context.needs.last_result, "last_result", "calls::LastResult"),
        (context.keeps_calls(), "calls", "calls::Calls"),
        (context.has_each(), "elements", "Elements"),
    ] {
        if is_kept {
            field(name, ty, format!("{ty}::default()"));
        }
    }
    field("notes", "generated::Notes", new("generated::Notes"));
    if context.needs.repeats {
        field("work", "generated::Work", new("generated::Work"));
    }
    if context.has_children() {
        field("children", "Vec<(machine::StepKey, Child<H>)>", "Vec::new()".to_owned());
    }
    all
}

/// The struct `Core`.
pub(super) fn core(context: &Context<'_>) -> Struct {
    let mut item = Struct::new("Core");
    item.vis("pub").doc("What the chart keeps besides its configuration.");
    // The machines of child charts need hosts for their own functions.
    item.generic(if context.has_children() { context.bounds() } else { "H".to_owned() });
    for (name, ty, _) in fields(context) {
        item.field(name, ty);
    }
    item
}

/// Adds the implementation of `Chart`.
pub(super) fn emit_chart(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("generated::Chart");
    let place = if context.lends() { "family::Lent<H>" } else { "H" };
    let ending = if context.has_endings() { "Ending" } else { "generated::Absent" };
    let types = [("Host", "H"), ("Place", place), ("State", "State")];
    let data = [("Params", "Params"), ("Inputs", "Inputs"), ("Data", "Data")];
    let ends = [("Ending", ending), ("Failure", context.error())];
    for (name, ty) in types.into_iter().chain(context.payload_types()).chain(data).chain(ends) {
        item.associate_type(name, ty);
    }
    item.associate_const("TABLES", "&'static tables::Tables", "&TABLES", "");
    types::data(context, &mut item);
    let values = fields(context).into_iter().map(|(name, _, value)| {
        if name == value { name.to_owned() } else { format!("{name}: {value}") }
    });
    let values: Vec<String> = values.collect();
    let new = item.new_fn("new").arg("data", "Data").arg("host", place).ret("Self");
    new.line(format!("Core {{ {} }}", values.join(", ")));
    for (name, field, ty) in [("place", "host", place), ("data_mut", "data", "Data")] {
        let function = item.new_fn(name).arg_mut_self().ret(format!("&mut {ty}"));
        function.line(format!("&mut self.{field}"));
    }
    for (name, ty) in [("host", place), ("data", "Data")] {
        item.new_fn(name).arg_ref_self().ret(format!("&{ty}")).line(format!("&self.{name}"));
    }
    keep::ending(context, &mut item);
    if !context.bare {
        let notes = item.new_fn("notes").arg_mut_self().ret("Option<&mut generated::Notes>");
        notes.line("Some(&mut self.notes)");
    }
    scope.push_impl(item);
}

/// The types of the machine's store and queues.
impl Context<'_> {
    /// Returns the type of the machine's store.
    pub(super) fn store(&self) -> String {
        if !self.bare {
            return "store::Dynamic".to_owned();
        }
        let states = self.chart.states.len();
        let words = states.div_ceil(64);
        let histories = self.chart.states.iter().filter(|s| match s.kind {
            StateKind::History { .. } => true,
            StateKind::Atomic
            | StateKind::Compound { .. }
            | StateKind::Parallel
            | StateKind::Final { .. } => false,
        });
        format!(
            "store::Fixed<{states}, {words}, {}, {}, {}, {}, {}, {}, {}>",
            self.chart.steps.len(),
            self.tables.deadlines(),
            histories.count() * words,
            self.places(),
            self.tables.summary.leaves,
            self.sends(),
            self.tables.walks.len()
        )
    }

    /// Returns the type of the queue of raised events.
    pub(super) fn queue(&self) -> String {
        self.queue_of("Payload")
    }

    /// Returns the type of a queue.
    pub(super) fn queue_of(&self, ty: &str) -> String {
        format!("generated::Ring<{ty}, {}>", self.places())
    }

    /// Returns the capacity of each queue.
    pub(super) fn places(&self) -> usize {
        chartc_core::store::queue_places(self.chart.states.len())
    }
}
