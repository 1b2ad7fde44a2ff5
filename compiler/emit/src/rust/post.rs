//! Writes the code that sends events to other charts.

use super::Context;
use super::blocks::{delay, id_of};
use super::code::{Fragment, Use, code};
use super::expr::Writer;
use chartc_core::arena::{EventId, SendId, StepId};
use chartc_core::model::{Action, Chart, Expr, Receiver, Type};
use codegen::{Impl, Struct};

/// Whether a chart sends events to others.
pub(super) fn any(chart: &Chart) -> bool {
    let mut found = false;
    let blocks = chart.states.iter().flat_map(|state| {
        let blocks = state.entry.iter().chain(&state.exit).map(Vec::as_slice);
        blocks.chain([state.default_actions.as_slice()])
    });
    for block in
        blocks.chain(chart.transitions.iter().map(|transition| transition.actions.as_slice()))
    {
        Action::walk(block, &mut |action| {
            found |= matches!(action, Action::Send { to, .. } if *to != Receiver::Own);
        });
    }
    found
}

/// Writes the statements that send an event to another chart.
pub(super) fn send(
    writer: &mut Writer<'_>,
    event: EventId,
    arguments: &[Expr],
    after: Option<&Expr>,
    id: Option<SendId>,
    (to, element): (Receiver, Option<&Expr>),
) -> Fragment {
    let context = writer.context;
    let row = &context.chart.events[event.index()];
    let name = format!("EventName::{}.id()", context.names.events[event.index()]);
    let values = row.fields.iter().zip(arguments);
    let values = values.map(|(field, value)| writer.valued(value, &field.ty));
    let values = Fragment::joined(values, ", ");
    // The language evaluates the index of an element last.
    let (to, addressed) = match (element, to) {
        (Some(index), Receiver::Child(StepId(n))) => {
            let whole = writer.value_code(index, &Type::Int);
            let whole = writer.own(&whole);
            let absent = context.failure("there is no such element");
            let addressed = code!(
                "let Ok(element) = u32::try_from({whole}) else {{ return {absent}; }};
                let to = machine::Receiver::Element(arena::StepId({n}), machine::Element::at(element));",
                whole
            );
            ("to".to_owned(), addressed.using(Use::Failure))
        }
        _ => (to_text(to), Fragment::default()),
    };
    let payload = if values.is_empty() {
        "Vec::new()".into()
    } else {
        code!("Vec::from([{values}])", values)
    };
    let payload = code!("let payload: Vec<Value> = {payload};", payload).using(Use::Outbox);
    let post = format!(
        "outbox.post({name}, {to});
        self.posted.push(host::Post {{ event: {name}, to: {to}, payload }});"
    );
    if after.is_none() {
        return code!("{{ {payload}\n{addressed}\n{post} }}\n", payload, addressed);
    }
    let (delay, id) = (delay(writer, after), id_of(id));
    let full = context.failure(&format!("no room to send `{}`", row.name));
    let text = code!(
        "{payload}
        let delay: u64 = {delay};
        {addressed}
        if delay == 0 {{ {post} }} else {{
            let Some(slot) = outbox.send_to({name}, {to}, delay, {id}) else {{ return {full}; }};
            self.letters.resize_with(self.letters.len().max(slot + 1), Vec::new);
            self.letters[slot] = payload;
        }}\n",
        payload,
        delay,
        addressed
    );
    text.using(Use::Failure)
}

/// Writes a receiver that is known when the code is written.
fn to_text(to: Receiver) -> String {
    match to {
        Receiver::Own => "machine::Receiver::Own".to_owned(),
        Receiver::Parent => "machine::Receiver::Parent".to_owned(),
        Receiver::Child(StepId(n)) | Receiver::Element(StepId(n), _) => {
            format!("machine::Receiver::Child(arena::StepId({n}))")
        }
    }
}

impl Context<'_> {
    /// Returns the fields of `Core` for sent events, each with its type.
    fn post_fields(&self) -> &'static [(&'static str, &'static str)] {
        if self.posts {
            &[("posted", "Vec<host::Post>"), ("letters", "Vec<Vec<Value>>")]
        } else {
            &[]
        }
    }
}

/// Adds these fields to `Core`.
pub(super) fn fields(context: &Context<'_>, item: &mut Struct) {
    for (name, ty) in context.post_fields() {
        item.field(name, *ty);
    }
}

/// Writes the initializers of these fields.
pub(super) fn begin(context: &Context<'_>) -> String {
    context.post_fields().iter().map(|(name, _)| format!("{name}: Vec::new(),")).collect()
}

/// Adds `Program::post`, which passes on an event whose delay has ended.
pub(super) fn program(context: &Context<'_>, item: &mut Impl) {
    if context.posts {
        let post = item.new_fn("post").arg_mut_self().arg("event", "arena::EventId");
        post.arg("slot", "usize").arg("to", "machine::Receiver").line(
            "let payload = self.letters.get_mut(slot).map(core::mem::take).unwrap_or_default();
            self.posted.push(host::Post { event, to, payload });",
        );
    }
}

/// Adds `Machine::take_posted`, from which the host takes the events to deliver.
pub(super) fn drive(context: &Context<'_>, item: &mut Impl) {
    if context.posts {
        item.new_fn("take_posted")
            .arg_mut_self()
            .ret("Vec<host::Post>")
            .line("core::mem::take(&mut self.engine.program.posted)");
    }
}
