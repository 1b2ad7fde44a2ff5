//! Writes `Machine`, the typed interface of a chart.

use super::code::Use;
use super::methods::HostMethods;
use super::payload::{self, choice_fields};
use super::{Context, blocks, direct, keep, steps};
use chartc_core::arena::ChoiceId;
use chartc_core::model::StateKind;
use chartc_core::visible;
use codegen::{Function, Impl, Scope, Struct};
use std::fmt::Write;

const NOW: &str = "machine::Instant";
const SINK: &str = "&mut dyn machine::Sink";
const RECEIPT: &str = "machine::Receipt";
const KEY: &str = "machine::StepKey";

/// Adds the struct `Machine` and its methods.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Struct::new("Machine");
    item.vis("pub").doc(format!(
        "A `{}` that runs. Inputs come from its methods; effects and records go to their `sink`.",
        visible::line(&context.chart.name)
    ));
    let engine = if context.is_direct() {
        "direct::Machine<Core<H>>"
    } else {
        "semantics::Stepper<Core<H>>"
    };
    item.generic(context.bounds()).field("engine", engine);
    if context.has_children() {
        item.field("children", "Vec<(machine::StepKey, Child<H>)>");
    }
    scope.push_struct(item);

    let mut item = Impl::new("Machine<H>");
    item.generic(context.bounds());
    new(context, &mut item);
    inputs(context, &mut item);
    queries(context, &mut item);
    scope.push_impl(item);
}

fn new(context: &Context<'_>, item: &mut Impl) {
    let new = item.new_fn("new").vis("pub").arg("params", "Params").arg("host", "H");
    new.ret("Result<Self, generated::BadParam>");
    new.doc(
        "Not started yet.\n\n# Errors\nA param out of its range, or a default that has no value.",
    );
    if context.is_direct() {
        new.line(direct::new(context));
        return;
    }
    let new = if context.lends() {
        new.line("Self::lent(params, family::Lent::of(Some(host)))");
        if context.kin.is_child {
            let place = item.new_fn("host_place").vis("pub(super)").arg_mut_self();
            place.ret("&mut family::Lent<H>").line("&mut self.engine.program.host");
        }
        let lent = item.new_fn("lent").vis("pub(super)").arg("params", "Params");
        lent.arg("host", "family::Lent<H>").ret("Result<Self, generated::BadParam>")
    } else {
        new
    };
    let mut fields = "host, data: Data::new(params)?, bound: generated::Held::new(),".to_owned();
    if context.has_events() {
        fields += &format!("raised: {}::new(),", context.queue().replacen('<', "::<", 1));
    }
    if context.sends() > 0 {
        fields += "sent: generated::Slots::new(),";
    }
    fields += &super::steps::begin_posts(context);
    if context.has_begin() {
        fields += "begun: false,";
    }
    if context.has_endings() {
        fields += &format!("endings: [const {{ None }}; {}],", payload::finals(context).len());
    }
    if !context.bare {
        if !context.needs.answers.is_empty() {
            fields += "answers: Answers::default(),";
        }
        if context.needs.last_result {
            fields += "last_result: String::new(),";
        }
        if context.keeps_calls() {
            fields += "calls: calls::Calls::new(),";
        }
        if context.has_each() {
            fields += "elements: Elements::default(),";
        }
        fields += "notes: generated::Notes::new(),";
        if context.needs.repeats {
            fields += "work: generated::Work::new(),";
        }
    }
    new.line(format!("let core = Core {{ {fields} }};"));
    let store = if context.bare { "store::Fixed::new()" } else { "store::Dynamic::new(&TABLES)" };
    let children = if context.has_children() { ", children: Vec::new()" } else { "" };
    new.line(format!(
        "Ok(Self {{ engine: semantics::Stepper::new(&TABLES, {store}, core){children} }})"
    ));
}

/// Adds a method that passes an input to the engine.
fn input<'i>(item: &'i mut Impl, name: &str, doc: &str) -> &'i mut Function {
    item.new_fn(name).vis("pub").doc(doc).arg_mut_self()
}

/// Adds the time and the sink to a method. In direct code the method is generic over the sink, so that with `()` reporting compiles to
/// nothing.
fn at<'f>(context: &Context<'_>, function: &'f mut Function) -> &'f mut Function {
    if context.is_direct() {
        function.generic("S: machine::Sink + ?Sized").attr("inline");
        return function.arg("now", NOW).arg("sink", "&mut S").ret(RECEIPT);
    }
    function.arg("now", NOW).arg("sink", SINK).ret(RECEIPT)
}

fn inputs(context: &Context<'_>, item: &mut Impl) {
    let start = input(item, "start", "Enters the initial configuration. Once, first.");
    let closed = if context.bare {
        "let _: machine::Fault = why; return machine::Receipt::Closed;"
    } else {
        "generated::note(&mut self.engine.program.notes, || \"the start\", why);\n\
         return machine::Receipt::Closed;"
    };
    at(context, start)
        .line(blocks::call(context, closed))
        .line("self.engine.handle(machine::Input::Start, now, sink)");
    let turn = input(item, "turn", "The built-in event: a walk over the steps.");
    at(context, turn).line("self.engine.handle(machine::Input::Turn, now, sink)");
    let tick = input(item, "tick", "Lets time pass: due deadlines fire.");
    at(context, tick).line("self.engine.handle(machine::Input::Tick, now, sink)");
    let stop = input(item, "stop", "Ends the run as `canceled`: what is active runs its `exit`.");
    at(context, stop).line("self.engine.handle(machine::Input::Stop, now, sink)");
    if context.has_events() {
        let send = input(item, "send", "Sends an event.").arg("event", "Event");
        if context.is_direct() {
            at(context, send)
                .line("self.engine.send(event.name(), Payload::Event(event), now, sink)");
        } else {
            at(context, send).line("let id = event.name().id();").line(
                "self.engine.handle(machine::Input::Event(id, Payload::Event(event)), now, sink)",
            );
        }
    }
    answers(context, item);
    input(item, "set_inputs", "Sets inputs; those that are absent keep their values.")
        .arg("inputs", "Inputs")
        .line("self.engine.program.data.set_inputs(inputs);");
}

/// Adds the methods that answer steps and questions.
fn answers(context: &Context<'_>, item: &mut Impl) {
    if context.has_answers() {
        let answer =
            input(item, "answer", "Answers a started step, whose `key` names the same step.");
        at(context, answer.arg("key", KEY).arg("answer", "Answer"))
            // The engine checks the key only, so an answer of another step's type would pass.
            .line("if answer.step().id() != key.step { return machine::Receipt::Refused; }")
            .line("let outcome = machine::Outcome::Done(Payload::Answer(answer));")
            .line("self.engine.handle(machine::Input::Answer(key, outcome), now, sink)");
    }
    if context.has_choices() {
        let choose = input(item, "choose", "Answers a question.");
        at(context, choose.arg("key", KEY).arg("choice", "Choice"))
            .line("let id = choice.name().id();")
            .line("let outcome = machine::Outcome::Choice(id, Payload::Choice(choice));")
            .line("self.engine.handle(machine::Input::Answer(key, outcome), now, sink)");
    }
    if context.has_reasons() {
        let fail = input(item, "fail", "Tells that a step or question failed, and why.");
        at(context, fail.arg("key", KEY).arg("why", "&str"))
            .line("let outcome = machine::Outcome::Failed(Payload::Reason(why.to_owned()));")
            .line("self.engine.handle(machine::Input::Answer(key, outcome), now, sink)");
        for (name, doc, outcome) in [
            (
                "unusable",
                "Tells that the model's answer means nothing that was asked for.",
                "Unusable",
            ),
            (
                "doubt",
                "Tells that nobody knows whether the step ran.",
                "Doubt(Payload::Reason(machine::DOUBT.to_owned()))",
            ),
        ] {
            let function = input(item, name, doc).arg("key", KEY);
            at(context, function).line(format!(
                "self.engine.handle(machine::Input::Answer(key, machine::Outcome::{outcome}), now, sink)"
            ));
        }
    }
}

fn query<'i>(item: &'i mut Impl, name: &str, doc: &str, ret: &str) -> &'i mut Function {
    item.new_fn(name).vis("pub").doc(doc).arg_ref_self().ret(ret)
}

fn queries(context: &Context<'_>, item: &mut Impl) {
    query(item, "data", "Params, inputs and variables.", "&Data").line("&self.engine.program.data");
    let (host, host_mut) = if context.lends() {
        ("self.engine.program.host.get()", "self.engine.program.host.get_mut()")
    } else {
        ("&self.engine.program.host", "&mut self.engine.program.host")
    };
    query(item, "host", "The host.", "&H").line(host);
    item.new_fn("host_mut")
        .vis("pub")
        .doc("The host, to change.")
        .arg_mut_self()
        .ret("&mut H")
        .line(host_mut);
    query(item, "is_in", "Whether the state is active.", "bool")
        .arg("state", "State")
        .line("self.engine.is_active(state.id())");
    query(
        item,
        "configuration",
        "The active states in document order; after the end those of the last configuration.",
        "impl Iterator<Item = State> + '_",
    )
    .line("State::ALL.into_iter().filter(|state| self.is_in(*state))");
    query(item, "is_walking", "Whether a turn is being walked.", "bool")
        .line("self.engine.is_walking()");
    query(
        item,
        "next_deadline",
        "The earliest time at which a tick would do something.",
        "Option<machine::Instant>",
    )
    .line("self.engine.next_deadline()");
    query(item, "ended", "How a run that has ended is judged.", "Option<machine::Status>")
        .line("self.engine.ended()");
    if context.has_endings() {
        query(item, "ending", "What the final state was given.", "Option<&Ending>")
            .line(keep::query(context));
    }
    enabled(context, item);
    if !context.bare {
        let function = item.new_fn("take_notes").vis("pub").arg_mut_self().ret("Vec<host::Note>");
        function.doc("Reasons of faults and what `log` said, taken away.");
        function.line("self.engine.program.notes.take()");
    }
}

/// Adds the queries for what the machine would handle now.
fn enabled(context: &Context<'_>, item: &mut Impl) {
    if context.has_events() {
        let events = context.chart.events.len();
        let function = item.new_fn("enabled_events").vis("pub").arg_mut_self();
        function.doc("The events that some active state would handle now.");
        function.ret("impl Iterator<Item = EventName> + use<H>");
        function.line(format!("let mut enabled = [false; {events}];"));
        function.line("self.engine.enabled_events(&mut |id| enabled[id.index()] = true);");
        function
            .line("EventName::ALL.into_iter().filter(move |event| enabled[event.id().index()])");
    }
    if context.has_choices() {
        let choices = context.chart.choices.len();
        let function = item.new_fn("options").vis("pub").arg_mut_self().arg("key", KEY);
        function.doc("The options of a question that are enabled now, innermost state first.");
        function.ret("impl Iterator<Item = ChoiceName> + use<H>");
        function.line(format!("let mut enabled = [None; {choices}];\nlet mut count = 0;"));
        function.line(
            "self.engine.options(key, &mut |id, _| {
                let name = Some(ChoiceName::ALL[id.index()]);
                if count == 0 || enabled[count - 1] != name { enabled[count] = name; count += 1; }
            });",
        );
        function.line("enabled.into_iter().flatten()");
    }
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

// Writes the typed interface of the machine, for hosts that are compiled with it and use its enums.

/// Adds `impl host::Typed`.
pub(super) fn emit_typed(context: &Context<'_>, scope: &mut Scope) {
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

// Writes the options of a question, as hosts see them.

/// Adds `Machine::options`.
pub(super) fn options(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    let function = item.new_fn("options").arg_mut_self();
    let of_steps = steps::offers(context);
    let used = context.has_choices() || !of_steps.is_empty();
    function.arg(if used { "key" } else { "_key" }, "machine::StepKey").ret("Vec<host::Offer>");
    if !of_steps.is_empty() {
        function.line(of_steps);
    }
    if !context.has_choices() {
        function.line("Vec::new()");
        return;
    }
    let mut arms = String::new();
    for i in 0..context.chart.choices.len() {
        let fields = choice_fields(context, ChoiceId::at(i));
        if !fields.is_empty() {
            let rows: Vec<String> = (fields.iter())
                .map(|f| format!("({:?}.into(), {:?}.into())", f.name, context.written(&f.ty)))
                .collect();
            let _ = writeln!(arms, "{i} => Vec::from([{}]),", rows.join(", "));
        }
    }
    let text = match &asked.option {
        Some(method) => format!(
            "self.engine.with_view(key.leaf, |core, {}| {{
                {}.unwrap_or_else(|why| {{
                    generated::offered(&mut core.notes, &TABLES, choice, why)
                }})
            }}).into()",
            if method.reads(Use::View) { "view" } else { "_" },
            method.call("core", "choice")
        ),
        None => r#""".into()"#.to_owned(),
    };
    let arguments = if arms.is_empty() {
        "Vec::new()".to_owned()
    } else {
        format!("match choice.0 {{ {arms} _ => Vec::new(), }}")
    };
    // The engine is borrowed while it lists the options, so their texts are evaluated afterwards.
    function.line(format!(
        "let mut offers = Vec::new();
        self.engine.options(key, &mut |choice, tool| {{
            generated::add_offer(&mut offers, choice, tool);
        }});
        for offer in &mut offers {{
            let (choice, tool) = (offer.choice, offer.tool);
            let own = ChoiceName::ALL[choice.index()].name();
            offer.name = tool.map_or(own, |tool| &TABLES.tools[tool.index()].name).into();
            offer.text = {text};
            offer.arguments = {arguments};
        }}
        offers",
        text = steps::text(context, &text),
        arguments = steps::arguments(context, &arguments),
    ));
}
