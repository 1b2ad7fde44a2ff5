//! Rust source for a chart: static tables, typed data, and the chart's guards and actions. The step algorithm of `chartc-core` executes
//! them, as it does in the interpreter.
//!
//! A chart whose data needs no allocator (no Text, lists, maps, JSON or prompts) becomes code that needs none. The code for hosts that know
//! a machine by names and values is separate, and is compiled only where chartc-core has an allocator.

mod blocks;
mod body;
mod children;
mod code;
mod data;
mod direct;
mod doc;
mod drive;
mod each;
mod ending;
mod expr;
mod facts;
mod file;
mod host;
mod ident;
mod keep;
mod layout;
mod machine;
mod names;
mod needs;
mod offers;
mod payload;
mod post;
mod program;
mod prompt;
mod reasons;
mod saved;
mod start;
mod summary;
mod tables;
mod tools;
mod typed;
mod types;
mod uses;
mod versions;
mod wire;

pub use file::{emit, emit_modules};

use crate::{Emitter, OutputKind};
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Type};
use chartc_core::plan::Plan;
use chartc_core::tables::{ABI, Tables};
use chartc_core::visible;
use chartc_text::diagnostic::Diagnostic;
use children::Kin;
use code::{Code, Fragment, Use, code};
use codegen::Scope;
use direct::{Form, Shape};
use doc::doc;
use facts::Facts;
use file::Unit;
use layout::{formatted, indented};
use names::Names;
use needs::Needs;
use start::Wait;

/// Rust, one file for each chart.
pub const EMITTER: Emitter = Emitter {
    name: "rust",
    extension: "rs",
    kind: OutputKind::Code,
    emit: |checked, _| emit(checked),
};

/// The Rust source of one chart of a file.
fn source(unit: &Unit<'_>, found: &mut Vec<Diagnostic>) -> String {
    let before = found.len();
    let chart = unit.chart;
    let names = Names::of(chart, unit.map, found);
    if found.len() > before {
        return String::new();
    }
    let plan = Plan::new(chart);
    let tables = plan.tables();
    let facts = Facts::new(chart);
    let posts = post::any(chart);
    let waits = start::waits(chart);
    let in_family = unit.kin.is_child || !unit.kin.children.is_empty() || posts;
    let mut context = Context {
        chart,
        names,
        posts,
        bare: !in_family && facts::is_bare(chart, &facts),
        facts,
        kin: unit.kin.clone(),
        needs: Needs::new(chart, &waits),
        waits,
        tables,
        shape: if in_family {
            Shape::Shared("it runs other charts or is run by one")
        } else {
            Shape::new(chart, &tables)
        },
    };
    context.bare = context.bare && !needs::allocates(&context);
    let mut parts = Parts::default();
    let asked = typed(&context, &mut parts);
    drive::emit(&context, &asked, &mut parts.dynamic);
    header(unit.source, &context, parts.form) + &joined(&context, &parts)
}

/// What the emitter knows about the chart.
struct Context<'c> {
    chart: &'c Chart,
    names: Names,
    facts: Facts,
    kin: Kin,
    tables: Tables<'c>,
    /// How the code takes a step.
    shape: Shape,
    /// What each variable's initial value waits for.
    waits: Vec<Wait>,
    /// The stored data that expressions read.
    needs: Needs,
    /// Whether the code works without an allocator.
    bare: bool,
    /// Whether it sends events to other charts.
    posts: bool,
}

impl Context<'_> {
    /// The error type of the methods with the chart's expressions.
    fn error(&self) -> &'static str {
        if self.bare { "machine::Fault" } else { "generated::Failure" }
    }

    /// An expression that evaluates to an error.
    fn failure(&self, why: &str) -> String {
        if self.bare {
            "Err(machine::Fault)".to_owned()
        } else {
            format!("generated::fails({why:?})")
        }
    }

    /// Code of type `Result` in place of code that would leave the body.
    fn caught(&self, code: &Code) -> Fragment {
        let result = code.result(self.facts.is_copy(&code.ty));
        if code.is_one_call() {
            return result.without(Use::Failure);
        }
        let (ty, error) = (types::owned(self, &code.ty), self.error());
        code!("(|| -> Result<{ty}, {error}> {{ {result} }})()", result)
            .without(Use::Failure)
            .using(Use::Braces)
    }

    /// A type as the chart writes it.
    fn written(&self, ty: &Type) -> String {
        type_text(ty, &self.chart.types)
    }
}

/// The parts of a file.
#[derive(Default)]
struct Parts {
    /// The items for every host.
    typed: Scope,
    /// The items for hosts that know machines by values.
    dynamic: Scope,
    /// The form of direct code.
    form: Form,
}

/// Adds the items for every host.
fn typed(context: &Context<'_>, parts: &mut Parts) -> program::HostMethods {
    let scope = &mut parts.typed;
    payload::emit(context, scope);
    each::emit(context, scope);
    types::emit(context, scope);
    data::emit(context, scope);
    host::emit(context, scope);
    machine::emit(context, scope);
    children::emit(context, scope);
    let asked = if context.is_direct() {
        parts.form = direct::emit(context, scope);
        program::HostMethods::default()
    } else {
        program::emit(context, scope)
    };
    tables::emit(context, scope);
    asked
}

/// Joins the parts. If the chart needs no allocator, the part for hosts that know machines by values is compiled only for hosts that have
/// one.
fn joined(context: &Context<'_>, parts: &Parts) -> String {
    let (typed, dynamic) = (parts.typed.to_string(), parts.dynamic.to_string());
    let head = format!(
        "use chartc_core::generated::prelude::*;
        const _: () = assert!(
            chartc_core::tables::ABI == {ABI},
            \"this file was generated for another version of chartc-core: generate it again\"
        );"
    );
    if !context.bare {
        return formatted(&format!("{head}{typed}\n{dynamic}"));
    }
    let dynamic = indented(&formatted(&dynamic));
    format!("{}\nchartc_core::when_alloc! {{\n{dynamic}}}\n", formatted(&(head + &typed)))
}

fn header(source: &str, context: &Context<'_>, form: Form) -> String {
    let source = visible::line(source.rsplit(['/', '\\']).next().unwrap_or_default());
    let needs = if context.bare {
        "Needs chartc-core without features: nothing here allocates. What stands in `when_alloc!` is there\n\
         // for hosts that do, and is left out where chartc-core has no feature `alloc`."
    } else {
        "Needs chartc-core with feature `alloc`: the chart has Text, lists, maps, JSON or prompts."
    };
    format!(
        "// Generated by chartc {} from {source}: do not edit.\n\
         // Chart `{}`, structural hash {:#018x}.\n\
         // Shape: {}.\n// {needs}\n\n",
        env!("CARGO_PKG_VERSION"),
        visible::line(&context.chart.name),
        context.tables.hash,
        context.shape.text(form),
    )
}

/// A name for a local in a generated body, distinct from `view` and other parameters.
fn local_name(name: &str) -> String {
    let numbered = |head: &str| {
        name.strip_prefix(head)
            .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    let taken = [
        "view", "outbox", "delay", "slot", "line", "block", "step", "choice", "options", "params",
        "bound", "event", "text", "map", "of", "value", "fresh", "answer",
    ];
    if taken.contains(&name) || numbered("value") || numbered("item") {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}
