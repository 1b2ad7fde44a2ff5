//! Writes the inputs of a machine: events, options and answers as enums with typed fields.

use super::types::owned;
use super::wire::{self, Names, WireVariant};
use super::{Context, doc};
use chartc_core::arena::{ChoiceId, StepId};
use chartc_core::model::{ChoiceKind, Field, StepKind, Type};
use chartc_core::visible;
use codegen::{Enum, Field as CodeField, Impl, Scope, Variant};

/// Adds `State`, `Step`, `EventName`, `Event`, `ChoiceName`, `Choice`, `Answer` and `Payload`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    states(context, scope);
    steps(context, scope);
    events(context, scope);
    choices(context, scope);
    answers(context, scope);
    payload(context, scope);
}

fn states(context: &Context<'_>, scope: &mut Scope) {
    let rows = context.chart.states.iter().zip(&context.names.states).enumerate();
    let names = Names {
        name: "State",
        doc: format!("A state of `{}`, named by its dotted path.", context.chart.name),
        what: "state",
        id: Some("StateId"),
        rows: rows
            .filter_map(|(number, (row, name))| {
                Some(WireVariant {
                    name: name.clone()?,
                    wire: row.path.clone(),
                    doc: doc(&row.doc, &format!("`{}`.", row.path)),
                    number,
                })
            })
            .collect(),
    };
    wire::emit(scope, &names);
}

fn steps(context: &Context<'_>, scope: &mut Scope) {
    if context.chart.steps.is_empty() {
        return;
    }
    let rows = context.chart.steps.iter().zip(&context.names.steps).enumerate();
    let names = Names {
        name: "Step",
        doc: format!("A step of `{}`.", context.chart.name),
        what: "step",
        id: Some("StepId"),
        rows: rows
            .map(|(number, (row, name))| WireVariant {
                name: name.clone(),
                wire: row.name.clone(),
                doc: doc(&row.doc, &format!("`{}`.", row.name)),
                number,
            })
            .collect(),
    };
    wire::emit(scope, &names);
}

fn events(context: &Context<'_>, scope: &mut Scope) {
    let chart = context.chart;
    let names: Vec<(String, String)> = (chart.events.iter())
        .map(|e| (e.name.clone(), doc(&e.doc, &format!("`{}`.", e.name))))
        .collect();
    let fields = chart.events.iter().map(|e| e.fields.as_slice()).collect();
    let both = Both {
        what: "event",
        name: "EventName",
        item: "Event",
        id: "EventId",
        doc: format!("The name of an event that a host may send to `{}`.", chart.name),
        item_doc: format!("An event that a host may send to `{}`.", chart.name),
        names: &names,
        variants: &context.names.events,
        fields,
        field_names: &context.names.event_fields,
    };
    both.emit(context, scope);
}

fn choices(context: &Context<'_>, scope: &mut Scope) {
    let chart = context.chart;
    let names: Vec<(String, String)> = (chart.choices.iter())
        .map(|c| {
            let source = &chart.state(chart.transition(c.transition).source).path;
            let place = if source.is_empty() { String::new() } else { format!(" of `{source}`") };
            let text = c.text.as_ref().and_then(|t| t.literal()).unwrap_or_default();
            (c.name.clone(), doc(text, &format!("Option `{}`{place}.", c.name)))
        })
        .collect();
    let fields = chart.choices.iter().map(|c| match &c.kind {
        ChoiceKind::Option(fields) => fields.as_slice(),
        ChoiceKind::Call(..) => &[],
    });
    let both = Both {
        what: "option",
        name: "ChoiceName",
        item: "Choice",
        id: "ChoiceId",
        doc: "The name of an option that the model may be offered.".to_owned(),
        item_doc: "An option that the model may choose.".to_owned(),
        names: &names,
        variants: &context.names.choices,
        fields: fields.collect(),
        field_names: &context.names.choice_fields,
    };
    both.emit(context, scope);
}

/// An enum of names, and an enum with the same variants and their typed fields.
struct Both<'b> {
    what: &'b str,
    name: &'b str,
    item: &'b str,
    id: &'b str,
    doc: String,
    item_doc: String,
    /// The names as spelled in the chart, each with its documentation.
    names: &'b [(String, String)],
    variants: &'b [String],
    fields: Vec<&'b [Field]>,
    field_names: &'b [Vec<String>],
}

impl Both<'_> {
    fn emit(&self, context: &Context<'_>, scope: &mut Scope) {
        if self.names.is_empty() {
            return;
        }
        let rows = self.names.iter().zip(self.variants).enumerate();
        let names = Names {
            name: self.name,
            doc: self.doc.clone(),
            what: self.what,
            id: Some(self.id),
            rows: rows
                .map(|(number, ((wire, doc), name))| WireVariant {
                    name: name.clone(),
                    wire: wire.clone(),
                    doc: doc.clone(),
                    number,
                })
                .collect(),
        };
        wire::emit(scope, &names);

        let mut item = Enum::new(self.item);
        item.vis("pub").doc(&self.item_doc);
        for name in ["Debug", "Clone", "PartialEq"] {
            item.derive(name);
        }
        for (i, name) in self.variants.iter().enumerate() {
            let mut variant = Variant::new(name);
            variant.doc(&self.names[i].1);
            for (field, name) in self.fields[i].iter().zip(&self.field_names[i]) {
                let mut code = CodeField::new(name, owned(context, &field.ty));
                let field = format!("`{}: {}`.", field.name, context.written(&field.ty));
                code.doc(visible::line(&field));
                variant.push_named(code);
            }
            item.push_variant(variant);
        }
        scope.push_enum(item);

        let name = scope.new_impl(self.item).new_fn("name").vis("pub").set_const(true);
        name.arg_ref_self().ret(self.name).doc(format!("Which {} it is.", self.what));
        name.line("match self {");
        for (variant, fields) in self.variants.iter().zip(&self.fields) {
            let rest = if fields.is_empty() { "" } else { " { .. }" };
            name.line(format!("Self::{variant}{rest} => {}::{variant},", self.name));
        }
        name.line("}");
        scope.push_impl(wire::display(self.item, "f.write_str(self.name().name())"));
    }
}

/// Returns the steps whose answer has a payload: calls of models, tools, people and child charts.
pub(super) fn answering(context: &Context<'_>) -> impl Iterator<Item = StepId> {
    let rows = context.chart.steps.iter().enumerate();
    rows.filter(|(_, step)| match step.kind {
        StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => true,
        StepKind::Code(_) | StepKind::Ask { .. } => false,
    })
    .map(|(i, _)| StepId::at(i))
    .collect::<Vec<_>>()
    .into_iter()
}

fn answers(context: &Context<'_>, scope: &mut Scope) {
    let steps: Vec<StepId> = answering(context).collect();
    if steps.is_empty() {
        return;
    }
    let mut item = Enum::new("Answer");
    item.vis("pub").doc("The answer of a step.");
    for name in ["Debug", "Clone", "PartialEq"] {
        item.derive(name);
    }
    let mut arms = String::new();
    for step in steps {
        let row = &context.chart.steps[step.index()];
        let name = &context.names.steps[step.index()];
        let mut variant = Variant::new(name);
        let whose = if row.each.is_some() { "Of an element of" } else { "Of" };
        variant.doc(doc(&row.doc, &format!("{whose} `{}`.", row.name)));
        variant.tuple(owned(context, row.one_returns()));
        item.push_variant(variant);
        arms.push_str(&format!("Self::{name}(_) => Step::{name},\n"));
    }
    scope.push_enum(item);
    let step = scope.new_impl("Answer").new_fn("step").vis("pub").set_const(true);
    step.arg_ref_self().ret("Step").doc("Whose answer it is.");
    step.line(format!("match self {{ {arms} }}"));
}

/// Adds the enum of everything that guards and actions may read as the current event or answer.
fn payload(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Enum::new("Payload");
    item.doc("What is being handled.").derive("Debug").derive("Clone").derive("PartialEq");
    if makes_nothing(context) {
        item.push_variant(Variant::new("Nothing"));
    }
    for (present, name, ty) in [
        (context.has_events(), "Event", "Event"),
        (context.has_choices(), "Choice", "Choice"),
        (context.has_answers(), "Answer", "Answer"),
        (context.has_each(), "Gathered", "Gathered"),
        (context.has_reasons(), "Reason", "String"),
        (context.has_calls(), "Tool", "Vec<Value>"),
    ] {
        if present {
            let mut variant = Variant::new(name);
            variant.tuple(ty);
            item.push_variant(variant);
        }
    }
    scope.push_enum(item);
    if !context.is_direct() {
        let mut item = Impl::new("Payload");
        let read = item.new_fn("read").arg_self().ret("Option<Self>");
        read.doc("Returns the payload if it has data that a guard or an action may read.");
        match with_data(context).as_slice() {
            [] => read.line("None"),
            all => read
                .line(format!("let is_read = matches!(self, {});", all.join(" | ")))
                .line("is_read.then_some(self)"),
        };
        scope.push_impl(item);
    }
}

/// Whether the code makes empty payloads.
fn makes_nothing(context: &Context<'_>) -> bool {
    if context.is_direct() {
        // Direct code binds the current event or answer only if something reads its fields.
        return context.is_binding() || !context.bare;
    }
    let answers = answering(context).count();
    let steps = context.chart.steps.len();
    !context.bare && (answers == 0 || answers < steps || !context.has_reasons())
}

/// Returns the patterns of the payloads with data.
fn with_data(context: &Context<'_>) -> Vec<String> {
    let chart = context.chart;
    let events = chart.events.iter().zip(&context.names.events);
    let events = events.filter(|(event, _)| !event.fields.is_empty());
    let events = events.map(|(_, name)| format!("Self::Event(Event::{name} {{ .. }})"));
    let choices = (0..chart.choices.len()).map(ChoiceId::at).zip(&context.names.choices);
    let choices = choices.filter(|(id, _)| !choice_fields(context, *id).is_empty());
    let choices = choices.map(|(_, name)| format!("Self::Choice(Choice::{name} {{ .. }})"));
    let whole = [
        (context.has_answers(), "Self::Answer(_)"),
        (context.has_each(), "Self::Gathered(_)"),
        (context.has_reasons(), "Self::Reason(_)"),
        (context.has_calls(), "Self::Tool(_)"),
    ];
    let whole = whole.into_iter().filter(|(present, _)| *present);
    let whole = whole.map(|(_, pattern)| pattern.to_owned());
    events.chain(choices).chain(whole).collect()
}

/// Names the field that stores a step's answer of this turn.
pub(super) fn answer_field(context: &Context<'_>, step: StepId) -> String {
    super::ident::snake(&context.names.steps[step.index()])
}

/// Returns the fields of an option.
pub(super) fn choice_fields<'c>(context: &'c Context<'_>, id: ChoiceId) -> &'c [Field] {
    match &context.chart.choices[id.index()].kind {
        ChoiceKind::Option(fields) => fields,
        ChoiceKind::Call(..) => &[],
    }
}

/// Returns the type of a step's answer.
pub(super) fn answer_type(context: &Context<'_>, step: StepId) -> Type {
    context.chart.steps[step.index()].returns.clone()
}
