//! Writes the code for child machines of `run` steps. They come from sibling modules, and borrow the host while they run.

use super::Context;
use super::body::Arms;
use super::code::{Fragment, Use, code};
use super::expr::Writer;
use super::program::HostMethods;
use chartc_core::arena::StepId;
use chartc_core::model::{StepKind, VariableKind};
use codegen::{Function, Impl, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The charts of the same file that a chart runs, or that run it.
#[derive(Debug, Clone, Default)]
pub(super) struct Kin {
    /// For each chart that it runs, by name, the module.
    pub(super) children: BTreeMap<String, String>,
    /// The modules of all charts that it runs, directly or through others, without its own.
    pub(super) below: BTreeSet<String>,
    /// Whether some chart, be it itself, runs it.
    pub(super) is_child: bool,
}

impl Context<'_> {
    /// The trait bounds of this machine's host, including those of its child charts.
    pub(super) fn bounds(&self) -> String {
        let below = self.kin.below.iter().map(|module| format!(" + super::{module}::Host"));
        below.fold("H: Host".to_owned(), |text, bound| text + &bound)
    }

    /// Whether the host may be lent to a child or to the parent.
    pub(super) fn lends(&self) -> bool {
        self.kin.is_child || self.has_children()
    }

    /// Whether the chart has `run` steps.
    pub(super) fn has_children(&self) -> bool {
        !self.kin.children.is_empty()
    }

    /// The modules of the charts that it runs, each with its variant of `Child`.
    fn children(&self) -> impl Iterator<Item = (&String, String)> {
        // Several steps may run the same chart.
        let modules: BTreeSet<&String> = self.kin.children.values().collect();
        modules.into_iter().map(|module| (module, super::ident::upper_camel(module)))
    }

    /// The `run` steps: number, chart and module.
    fn runs(&self) -> impl Iterator<Item = (usize, &str, &String)> {
        self.chart.steps.iter().enumerate().filter_map(|(i, step)| match &step.kind {
            StepKind::Run(run) => Some((i, run.chart.as_str(), self.kin.children.get(&run.chart)?)),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Human(_) => None,
        })
    }
}

/// Adds `Child`, the enum of child machines.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    if !context.has_children() {
        return;
    }
    let mut variants = String::new();
    for (module, variant) in context.children() {
        let _ = writeln!(variants, "{variant}(Box<super::{module}::Machine<H>>),");
    }
    scope.raw(format!(
        "/// A machine that a `run` step has begun.\nenum Child<{}> {{ {variants} }}",
        context.bounds()
    ));
}

/// Writes `step_run`: the params of `run` steps.
pub(super) fn run_steps(context: &Context<'_>) -> Arms {
    let result = "Option<Vec<(&'static str, Value)>>";
    let mut steps =
        Arms::new("step_run", ("key", "machine::StepKey"), "key.step.0", result, "None");
    for (i, step) in context.chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        let id = StepId::at(i);
        let mut writer = Writer::new(context);
        writer.begin_element(id);
        let given = run.arguments.iter().map(|(name, argument)| {
            code!("({name:?}, {value})", value = writer.valued(argument, &argument.ty))
        });
        let given = Fragment::joined(given, ", ");
        let result = code!("Ok(Some(Vec::from([{given}])))", given);
        steps.arm(i, &step.name, writer.element(id, &result), result);
    }
    steps
}

/// Adds `Params::named`, through which a parent chart passes the params.
pub(super) fn params(context: &Context<'_>, item: &mut Impl) {
    if !context.kin.is_child {
        return;
    }
    let (mut fields, mut checks) = (String::new(), String::new());
    for (row, name) in context.chart.variables.iter().zip(&context.names.variables) {
        let VariableKind::Param { range } = &row.kind else { continue };
        let read = if row.default.is_some() { "take" } else { "need" };
        let _ = write!(fields, "{name}: given.{read}({:?})?, ", row.name);
        let Some((low, high)) = range else { continue };
        let clone = if context.facts.is_copy(&row.ty) { "" } else { ".clone()" };
        let check = |value: &str| {
            format!(
                "generated::within({:?}, &{value}{clone}.into_value(), &Value::{low:?}, &Value::{high:?})?;",
                row.name
            )
        };
        if row.default.is_some() {
            let _ = write!(checks, "if let Some(value) = &params.{name} {{ {} }}", check("value"));
        } else {
            checks.push_str(&check(&format!("params.{name}")));
        }
    }
    let mut named = Function::new("named");
    named.vis("pub(super)").ret("Result<Self, host::Mismatch>");
    let unused = if fields.is_empty() { "_" } else { "" };
    named.arg(format!("{unused}given"), "Vec<(&'static str, Value)>");
    if fields.is_empty() {
        named.line("Ok(Self {})");
    } else {
        named.line(format!(
            "let mut given = generated::Given::of(given);
            let params = Self {{ {fields} }};
            {checks}
            Ok(params)"
        ));
    }
    item.push_fn(named);
}

/// Adds `place_child`, which creates the machine of a `run` step that was under way when the machine was saved.
pub(super) fn place(context: &Context<'_>, item: &mut Impl) {
    if !context.has_children() {
        return;
    }
    let mut made = String::new();
    for (i, chart, module) in context.runs() {
        let variant = super::ident::upper_camel(module);
        let _ = writeln!(
            made,
            "({i}, {chart:?}) => Child::{variant}(Box::new(super::{module}::Machine::lent(
                super::{module}::Params::saved(saved)?, family::Lent::of(None))?)),"
        );
    }
    let place = item.new_fn("place_child").arg_mut_self().arg("key", "machine::StepKey");
    place.arg("saved", "&saved::Saved").ret("Result<(), saved::Unfit>").line(format!(
        "let child = match (key.step.0, saved.chart()) {{
            {made}
            (_, chart) => return Err(saved::Unfit::OtherChart(chart.into())),
        }};
        self.children.push((key, child));
        Ok(())"
    ));
}

/// Adds the methods of `host::Machine` for children.
pub(super) fn drive(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    if !context.has_children() {
        return;
    }
    let mut names = String::new();
    let mut made = String::new();
    for (i, chart, module) in context.runs() {
        let variant = super::ident::upper_camel(module);
        let _ = writeln!(names, "{i} => {chart:?},");
        let _ = writeln!(
            made,
            "{i} => Child::{variant}(Box::new(generated::made(super::{module}::Machine::lent(
                super::{module}::Params::named(given)?, family::Lent::of(None)))?)),"
        );
    }
    let refused = "_ => return Err(host::Mismatch(\"no `run` step has this key\".into())),";
    let params = asked.run.as_ref().map_or("Ok(None)".to_owned(), |run| {
        format!(
            "{}.map_err(|why| {{
                generated::note(&mut core.notes, || generated::code_of(&TABLES, key.step), why)
            }})",
            run.call("core", "key")
        )
    });
    let view =
        if asked.run.as_ref().is_some_and(|run| run.reads(Use::View)) { "view" } else { "_" };
    // A machine with the same key is replaced.
    let begin = item.new_fn("begin_child").arg_mut_self().arg("key", "machine::StepKey");
    begin.ret("Result<(), host::Mismatch>").line(format!(
        "let name = match key.step.0 {{ {names} {refused} }};
        let given = self.engine.with_view(key.leaf, |core, {view}| {{ {params} }});
        let Ok(Some(given)) = given else {{ return Err(generated::no_params(name)); }};
        let child = match key.step.0 {{ {made} {refused} }};
        host::Machine::end_child(self, key);
        self.children.push((key, child));
        Ok(())"
    ));
    item.new_fn("children")
        .arg_ref_self()
        .ret("Vec<machine::StepKey>")
        .line("self.children.iter().map(|(key, _)| *key).collect()");
    let (mut seen, mut lent) = (String::new(), String::new());
    for (_, variant) in context.children() {
        let _ = writeln!(seen, "Child::{variant}(child) => child.as_ref(),");
        let _ = writeln!(
            lent,
            "Child::{variant}(child) => {{
                child.host_place().put(host);
                act(child.as_mut());
                self.engine.program.host.put(child.host_place().take());
            }}"
        );
    }
    let child = item.new_fn("child").arg_ref_self().arg("key", "machine::StepKey");
    child.ret("Option<&dyn host::Machine>").line(format!(
        "let (_, child) = self.children.iter().find(|(k, _)| *k == key)?;
        let child: &dyn host::Machine = match child {{ {seen} }};
        Some(child)"
    ));
    // The child has no host of its own: it borrows that of this machine during the call.
    let with = item.new_fn("with_child").arg_mut_self().arg("key", "machine::StepKey");
    with.arg("act", "&mut dyn FnMut(&mut dyn host::Machine)").ret("bool").line(format!(
        "let Some((_, child)) = self.children.iter_mut().find(|(k, _)| *k == key) else {{ return false; }};
        let host = self.engine.program.host.take();
        match child {{ {lent} }}
        true"
    ));
    item.new_fn("end_child")
        .arg_mut_self()
        .arg("key", "machine::StepKey")
        .line("self.children.retain(|(k, _)| *k != key);");
}
