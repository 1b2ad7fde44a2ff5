//! Writes what hosts ask of a chart that they know by names, and the code for child machines.
//!
//! The problem: hosts such as `chartc serve` know a chart only at run time, by names and JSON, while a generated machine has typed
//! payloads. The idea: the conversions follow from the tables and the types of events and options, so they are the same for all charts
//! (`chartc_core::generated`). Here is what they ask of the chart: `Named`, and for a chart under the step algorithm `Steps`, with prompts,
//! options and tools.
//!
//! Methods whose default suffices are left out. Machines of child charts come from sibling modules; they are the variants of `Child`, and
//! borrow the host of their parent while they run. For example, of `llm write { prompt "Say {what}." }` it writes
//!
//! ```text
//! fn prompt(&mut self, key: machine::StepKey, _options: Option<&str>, …) -> Result<String, generated::Failure> {
//!     match key.step.0 { 0 => { let mut text = String::new(); text.push_str("Say "); … Ok(text) } _ => Ok(String::new()) }
//! }
//! ```

use super::code::Use;
use super::methods::Methods;
use super::{Context, keep, steps};
use chartc_core::model::StepKind;
use codegen::{Impl, Scope};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Adds `ByName`, and the implementations of `Named` and `Steps`.
pub(super) fn emit(context: &Context<'_>, steps: Methods, scope: &mut Scope) {
    super::payload::by_name(context, scope);
    keep::emit_named(context, scope);
    if !context.is_direct() {
        scope.push_impl(steps.item);
    }
}

/// Writes the implementation of `Steps`; direct code has none.
pub(super) fn steps(context: &Context<'_>) -> Methods {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("generated::Steps");
    let mut methods = Methods::new(item);
    steps::call_steps(context).emit(context, &mut methods, Use::View);
    steps::run_steps(context).emit(context, &mut methods, Use::View);
    let mut shows_options = false;
    if !context.bare {
        shows_options = steps::prompts(context).emit(context, &mut methods, Use::Options);
        steps::options(context).emit(context, &mut methods, Use::View);
    }
    steps::words(context, &mut methods.item, shows_options);
    steps::tools(context, &mut methods.item);
    children(context, &mut methods.item);
    methods
}

// Writes the code for child machines of `run` steps. They come from sibling modules, and borrow the host while they run.

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
        modules.into_iter().map(|module| (module, super::names::upper_camel(module)))
    }

    /// The `run` steps: number, chart and module.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &str, &String)> {
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
pub(super) fn emit_children(context: &Context<'_>, scope: &mut Scope) {
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

/// Adds the methods of `Steps` for children.
fn children(context: &Context<'_>, item: &mut Impl) {
    if !context.has_children() {
        return;
    }
    let (mut names, mut made) = (String::new(), String::new());
    for (i, chart, module) in context.runs() {
        let variant = super::names::upper_camel(module);
        let _ = writeln!(names, "{i} => Some({chart:?}),");
        let _ = writeln!(
            made,
            "{i} => Child::{variant}(Box::new(super::{module}::Machine::lent(given, host)?)),"
        );
    }
    let name = item.new_fn("child_name").arg("step", "arena::StepId");
    name.ret("Option<&'static str>").line(format!("match step.0 {{ {names} _ => None }}"));
    let begin = item.new_fn("begin_child").arg_mut_self().arg("key", "machine::StepKey");
    begin.arg("given", "&mut generated::Given<'_>").ret("Result<(), saved::Unfit>");
    begin.line(format!(
        "let host = family::Lent::of(None);
        let child = match key.step.0 {{ {made} _ => return Ok(()) }};
        self.children.push((key, child));
        Ok(())"
    ));
    let (mut seen, mut lent) = (String::new(), String::new());
    for (_, variant) in context.children() {
        let _ = writeln!(seen, "Child::{variant}(child) => child.as_ref(),");
        let _ = writeln!(
            lent,
            "Child::{variant}(child) => {{
                child.host_place().put(host);
                act(child.as_mut());
                self.host.put(child.host_place().take());
            }}"
        );
    }
    let children = item.new_fn("children").arg_ref_self();
    children.ret("Vec<(machine::StepKey, &dyn host::Machine)>").line(format!(
        "let children = self.children.iter().map(|(key, child)| {{
            let child: &dyn host::Machine = match child {{ {seen} }};
            (*key, child)
        }});
        children.collect()"
    ));
    // The child has no host of its own: it borrows that of this machine during the call.
    let with = item.new_fn("with_child").arg_mut_self().arg("key", "machine::StepKey");
    with.arg("act", "&mut dyn FnMut(&mut dyn host::Machine)").ret("bool").line(format!(
        "let Some((_, child)) = self.children.iter_mut().find(|(k, _)| *k == key) else {{ return false; }};
        let host = self.host.take();
        match child {{ {lent} }}
        true"
    ));
    item.new_fn("retain_children")
        .arg_mut_self()
        .arg("is_kept", "&dyn Fn(machine::StepKey) -> bool")
        .line("self.children.retain(|(key, _)| is_kept(*key));");
}
