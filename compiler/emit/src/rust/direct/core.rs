//! Writes `Configuration`, the struct `Core`, and its implementation of `direct::Direct`.

use super::super::Context;
use super::super::body::Methods;
use super::super::{blocks, ending, program, start};
use super::cell::Cells;
use super::rows::Rows;
use super::shape::Form;
use super::{dispatch, shape};
use chartc_core::arena::StateId;
use chartc_core::model::StateKind;
use chartc_core::visible;
use codegen::{Enum, Impl, Scope, Struct, Variant};

/// Adds the enum `Configuration`, and the struct `Core` with its methods and its implementation of `Direct`. Returns the form of the steps.
pub(in super::super) fn emit(context: &Context<'_>, scope: &mut Scope) -> Form {
    configurations(context, scope);
    let mut cells = Cells::new(context);
    let mut item = Impl::new("Core<H>");
    item.generic("H: Host").impl_trait("direct::Direct");
    facts(context, &mut cells, &mut item);
    registers(context, &mut item);
    queue(context, &mut item);
    let mut methods = Methods::new(program::inherent(context));
    let form = if context.has_parallels() {
        Rows::new(&mut cells).emit(&mut cells, &mut item, &mut methods.item);
        Form::Data
    } else {
        dispatch::emit(&mut cells, &mut item)
    };
    let mut item = Methods::new(item);
    blocks::begin_turn(context, &mut item);
    cells.pool.emit(&mut methods);
    start::emit(context, &mut methods);
    methods.predicates.append(&mut item.predicates);
    program::predicates(context, &mut methods);
    ending::emit(context, scope);
    if context.needs.repeats {
        item.item.new_fn("refuel").arg_mut_self().line("self.work.refuel();");
    }
    if !context.bare {
        let heed = item.item.new_fn("heed").arg_mut_self().generic("S: machine::Sink + ?Sized");
        heed.arg("sink", "&S").line("self.notes.heed(sink);");
    }
    scope.push_struct(core(context));
    scope.push_impl(methods.item);
    scope.push_impl(item.item);
    form
}

fn configurations(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Enum::new("Configuration");
    // Public, because the names of its variants come from the chart, and some variants may never be constructed.
    item.vis("pub").doc(if context.has_parallels() {
        "The configurations, each by its active leaves."
    } else {
        "The active leaf, which says the whole configuration."
    });
    for name in ["Debug", "Clone", "Copy", "PartialEq", "Eq"] {
        item.derive(name);
    }
    for (nth, leaves) in context.configurations().iter().enumerate() {
        let name = context.configuration(nth);
        let mut variant = Variant::new(name.trim_start_matches("Configuration::"));
        let paths = leaves.iter().map(|leaf| format!("`{}`", context.tables.state(*leaf).path));
        variant.doc(visible::line(&(paths.collect::<Vec<_>>().join(", ") + ".")));
        item.push_variant(variant);
    }
    scope.push_enum(item);
}

/// Returns the fields of `Core` with their types and initial values.
fn fields(context: &Context<'_>) -> Vec<(&'static str, String, String)> {
    let mut all = vec![
        // Only `new` knows the initial configuration.
        ("configuration", "Configuration".to_owned(), String::new()),
        ("data", "Data".to_owned(), "Data::new(params)?".to_owned()),
        ("host", "H".to_owned(), "host".to_owned()),
        ("registers", "direct::Registers".to_owned(), "direct::Registers::new()".to_owned()),
    ];
    let mut field = |name, ty: String, value: &str| all.push((name, ty, value.to_owned()));
    let new = |ty: &str| format!("{}::new()", ty.replacen('<', "::<", 1));
    if context.is_queueing() {
        let ty = context.queue_of("store::Occurrence");
        let value = new(&ty);
        field("queue", ty, &value);
    }
    if context.is_binding() {
        let ty = context.queue();
        let value = new(&ty);
        field("bound", "Payload".to_owned(), "Payload::Nothing");
        field("raised", ty, &value);
    }
    if context.has_begin() {
        field("begun", "bool".to_owned(), "false");
    }
    if context.has_endings() {
        let finals = ending::finals(context).len();
        // `[None; n]` would need a `Copy` type.
        let value = format!("[const {{ None }}; {finals}]");
        field("endings", format!("[Option<Ending>; {finals}]"), &value);
    }
    if !context.bare {
        field("notes", "generated::Notes".to_owned(), "generated::Notes::new()");
        if context.needs.repeats {
            field("work", "generated::Work".to_owned(), "generated::Work::new()");
        }
    }
    all
}

fn core(context: &Context<'_>) -> Struct {
    let mut item = Struct::new("Core<H>");
    item.doc("The chart's configuration and data, its guards and actions.");
    for (name, ty, _) in fields(context) {
        item.field(name, ty);
    }
    item
}

/// Writes the body of `Machine::new`.
pub(in super::super) fn new(context: &Context<'_>) -> String {
    let first = Cells::new(context).unroll.start();
    let fields = fields(context).into_iter().map(|(name, _, value)| match name {
        "configuration" => format!("configuration: {},", context.within(&first.lowest)),
        name if name == value => format!("{name},"),
        name => format!("{name}: {value},"),
    });
    let fields: String = fields.collect();
    format!("let core = Core {{ {fields} }};\nOk(Self {{ engine: direct::Machine::new(core) }})")
}

/// Adds the associated types and constants of `Direct`.
fn facts(context: &Context<'_>, cells: &mut Cells<'_>, item: &mut Impl) {
    item.associate_type("Event", "EventName");
    item.associate_type("Payload", "Payload");
    let ends = context.chart.states.iter().any(|state| {
        matches!(state.kind, StateKind::Final { .. }) && state.parent == Some(StateId(0))
    });
    item.associate_const("TABLES", "&'static tables::Tables<'static>", "&TABLES", "");
    for (name, holds) in [
        ("GOES_ON", ends || context.is_queueing()),
        ("DEAD_ENDS", !cells.dead_ends().is_empty()),
        ("READS_EVENT", shape::reads_event(context.chart)),
    ] {
        item.associate_const(name, "bool", holds.to_string(), "");
    }
}

fn registers(context: &Context<'_>, item: &mut Impl) {
    let get = "&self.registers";
    item.new_fn("registers").arg_ref_self().ret("&direct::Registers").attr("inline").line(get);
    item.new_fn("registers_mut")
        .arg_mut_self()
        .ret("&mut direct::Registers")
        .attr("inline")
        .line("&mut self.registers");
    let all = context.configurations();
    let ids = |leaves: &Vec<StateId>| {
        let ids: Vec<String> =
            leaves.iter().map(|id| format!("arena::StateId({})", id.0)).collect();
        format!("&[{}]", ids.join(", "))
    };
    let rows: Vec<String> = all.iter().map(ids).collect();
    item.new_fn("leaves")
        .arg_ref_self()
        .ret("&'static [arena::StateId]")
        .line(format!("static LEAVES: [&[arena::StateId]; {}] = [{}];", all.len(), rows.join(", ")))
        .line("LEAVES[self.configuration as usize]");
    let names: Vec<String> = (0..all.len()).map(|nth| context.configuration(nth)).collect();
    item.new_fn("go_to").arg_mut_self().arg("leaves", "&[arena::StateId]").ret("bool").line(
        format!(
            "const ALL: [Configuration; {}] = [{}];
        let before = self.configuration;
        for one in ALL {{
            self.configuration = one;
            if direct::Direct::leaves(self) == leaves {{ return true; }}
        }}
        self.configuration = before;
        false",
            names.len(),
            names.join(", ")
        ),
    );
    item.new_fn("event_of")
        .arg("id", "arena::EventId")
        .ret("Option<EventName>")
        .line("EventName::ALL.get(id.index()).copied()");
    item.new_fn("id_of")
        .arg("event", "EventName")
        .ret("arena::EventId")
        .attr("inline")
        .line("event.id()");
    let bind = item.new_fn("bind").arg_mut_self().attr("inline");
    if context.is_binding() {
        bind.arg("payload", "Option<Payload>")
            .line("self.bound = payload.unwrap_or(Payload::Nothing);");
    } else {
        bind.arg("_payload", "Option<Payload>");
    }
    let dequeue = item.new_fn("dequeue").arg_mut_self();
    if context.is_binding() {
        dequeue.line("self.bound = self.raised.pop_front().unwrap_or(Payload::Nothing);");
    }
}

fn queue(context: &Context<'_>, item: &mut Impl) {
    let push = item.new_fn("push").arg_mut_self().ret("bool");
    if context.is_queueing() {
        push.arg("occurrence", "store::Occurrence")
            .line(format!("if self.queue.len() >= {} {{ return false; }}", context.places()))
            .line("self.queue.push_back(occurrence);\ntrue");
        item.new_fn("pop")
            .arg_mut_self()
            .ret("Option<store::Occurrence>")
            .attr("inline")
            .line("self.queue.pop_front()");
    } else {
        // Without further microsteps nothing reads the queue, so the occurrence is dropped.
        push.arg("_occurrence", "store::Occurrence").line("true");
        item.new_fn("pop")
            .arg_mut_self()
            .ret("Option<store::Occurrence>")
            .attr("inline")
            .line("None");
    }
}
