//! Writes the code of steps with an `each`: it evaluates their lists and stores the answers of their elements.

use super::Context;
use super::body::{Arms, Method, Methods};
use super::code::{Fragment, Use, code};
use super::expr::Writer;
use super::keep::matched;
use super::payload::answer_field;
use super::saved::chosen;
use super::types::{list_item, owned};
use chartc_core::arena::StepId;
use chartc_core::model::{Each, Lost, Type};
use codegen::{Enum, Scope, Struct, Variant};
use std::fmt::Write;

impl<'c> Context<'c> {
    /// Returns the steps with an `each`.
    pub(super) fn each_steps(&self) -> impl Iterator<Item = (StepId, &'c Each)> + use<'c> {
        let rows = self.chart.steps.iter().enumerate();
        rows.filter_map(|(i, step)| Some((StepId::at(i), step.each.as_ref()?)))
    }

    /// Whether any step has an `each`.
    pub(super) fn has_each(&self) -> bool {
        self.each_steps().next().is_some()
    }
}

/// Returns the type of the elements.
fn element(each: &Each) -> Type {
    list_item(&each.list.ty).cloned().unwrap_or(Type::Json)
}

/// Adds the enum `Gathered` of the answers of whole steps, and the struct `Elements` of the elements of the steps under way.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    if !context.has_each() {
        return;
    }
    let mut gathered = Enum::new("Gathered");
    gathered.doc("The answers of the elements of a step.");
    gathered.derive("Debug").derive("Clone").derive("PartialEq");
    let mut elements = Struct::new("Elements");
    elements.doc("The elements of the steps under way, and their answers.");
    elements.derive("Debug").derive("Clone").derive("Default");
    for (step, each) in context.each_steps() {
        let mut variant = Variant::new(&context.names.steps[step.index()]);
        variant.tuple(owned(context, &context.chart.steps[step.index()].returns));
        gathered.push_variant(variant);
        let (item, answer) = (owned(context, &element(each)), owned(context, &each.returns));
        let ty = format!("generated::Gathering<{item}, {answer}>");
        elements.field(answer_field(context, step), ty);
    }
    scope.push_enum(gathered);
    scope.push_struct(elements);
}

/// Adds the methods of `Program` for steps with an `each`.
pub(super) fn hooks(context: &Context<'_>, methods: &mut Methods, program: &mut Methods) {
    if !context.has_each() {
        return;
    }
    if let Some(lists) = lists(context).emit(context, methods) {
        begin(&lists, program);
    }
    let (mut done, mut gathered, mut forget) = (Vec::new(), String::new(), Vec::new());
    for (step, each) in context.each_steps() {
        let (name, field) = (&context.names.steps[step.index()], answer_field(context, step));
        done.push((
            format!("Payload::Answer(Answer::{name}(answer))"),
            format!("self.elements.{field}.done(element, answer);"),
        ));
        let all = all(each);
        let _ = writeln!(
            gathered,
            "{} => Payload::Gathered(Gathered::{name}(self.elements.{field}.take(){all}.collect())),",
            step.0
        );
        forget.push((step.0.to_string(), format!("self.elements.{field}.forget();")));
    }
    let function = program.item.new_fn("element_done").arg_mut_self();
    function.arg("_step", "arena::StepId").arg("element", "machine::Element");
    function.arg("answer", "Payload").line(matched("answer", &done, true));
    let function = program.item.new_fn("gathered").arg_mut_self();
    function.arg("step", "arena::StepId").arg("_with_none", "bool").ret("Option<Payload>");
    function.line(format!("Some(match step.0 {{ {gathered} _ => return None }})"));
    let function = program.item.new_fn("forget_elements").arg_mut_self();
    function.arg("step", "arena::StepId");
    function.line(chosen("step.0", &forget));
}

/// Writes how the step's answer is made from the answers of its elements, of which some may be missing.
fn all(each: &Each) -> &'static str {
    match (each.lost, &each.returns) {
        (Lost::None, Type::Json) => ".map(Option::unwrap_or_default)",
        (Lost::None, _) => "",
        (Lost::Fail | Lost::Skip, _) => ".flatten()",
    }
}

/// Writes `step_list`, which evaluates and stores the list of a step.
fn lists(context: &Context<'_>) -> Arms {
    let step = ("step", "arena::StepId");
    let mut arms = Arms::new("step_list", step, "step.0", "u32", "0");
    for (step, each) in context.each_steps() {
        let mut writer = Writer::new(context);
        let list = if list_item(&each.list.ty).is_some() {
            writer.value(&each.list, &each.list.ty)
        } else {
            // Only at run time is it known whether JSON is a list.
            let list = writer.value(&each.list, &Type::Json);
            code!("expr::list({list})?", list).using(Use::Failure)
        };
        let field = answer_field(context, step);
        let stored = code!("let list = {list};\n", list);
        let size = Fragment::from(format!("Ok(self.elements.{field}.begin(list))"));
        arms.arm(step.index(), &context.chart.steps[step.index()].name, stored, size);
    }
    arms
}

/// Writes `elements`, which refuses a list that is too long.
fn begin(lists: &Method, program: &mut Methods) {
    let work = if lists.reads(Use::Work) { "self.work.begin();\n" } else { "" };
    let call = lists.call("self", "step");
    let view = if lists.reads(Use::View) { "view" } else { "_view" };
    let function = program.item.new_fn("elements").arg_mut_self();
    function.arg("step", "arena::StepId").arg("most", "u32").arg(view, "&program::View<'_>");
    function.ret("Result<u32, Option<Payload>>").line(format!(
        "{work}let size = {call}.map_err(|why| {{
            generated::note(&mut self.notes, || generated::list_of(&TABLES, step), why);
            None
        }})?;
        if size > most {{
            self.forget_elements(step);
            return Err(Some(Payload::Reason(generated::too_many(size, most))));
        }}
        Ok(size)"
    ));
}

impl Writer<'_> {
    /// Puts the element of the step in scope.
    pub(super) fn begin_element(&mut self, step: StepId) {
        if let Some(each) = &self.context.chart.steps[step.index()].each {
            self.bind(each.local.id, element(each));
        }
    }

    /// Writes the statement that reads the element of the step, if the code after it does.
    pub(super) fn element(&self, step: StepId, body: &Fragment) -> Fragment {
        let each = self.context.chart.steps[step.index()].each.as_ref();
        match each.filter(|each| body.uses.locals.contains(&each.local.id)) {
            None => Fragment::default(),
            Some(each) => {
                let (name, field) =
                    (super::expr::local_name(each.local.id), answer_field(self.context, step));
                Fragment::from(format!("let {name} = self.elements.{field}.element(key)?;\n"))
                    .using(Use::Failure)
            }
        }
    }
}
