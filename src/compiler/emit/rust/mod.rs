//! Writes Rust source for a chart: static tables, typed data, and the chart's guards and actions.
//!
//! The problem: a generated machine must do exactly what the interpreter does, without the compiler and the model of the chart, and for a
//! small chart without an allocator. The idea: the step algorithm is not generated. It is that of `chartc-core`, which the interpreter uses
//! as well; it reads the chart from tables, and calls the chart's guards and actions through the traits of `chartc_core::generated`, in
//! which is all that does not depend on the chart. For example:
//!
//! ```text
//! chart K {                                             static TABLES: tables::Tables<'static> = …;
//!   var n: Int = 0                                      pub enum State { P = 1, … }
//!   event go                                            pub enum Event { Go }
//!   initial p                                           pub type Machine<H> = generated::Machine<Core<H>>;
//!   parallel p {                                        pub struct Core<H> { host: H, data: Data, … }
//!     state l { … }                                     fn guard(&mut self, line: arena::TransitionId, …) -> … {
//!     state r {                                             match line.0 {
//!       initial c                                               // 1 p.r.c: on go -> p.r.d
//!       state c { on go if n > 3 -> d { n = n + 1 } }           1 => Ok(self.data.n > 3),
//!       state d {}                                              _ => Ok(true),
//!     }                                                     }
//!   }                                                   }
//! }
//! ```
//!
//! Charts whose configurations are all known when the code is written have `direct` code instead. A chart whose data needs no allocator (no
//! Text, lists, maps, JSON or prompts) becomes code that needs none. The code for hosts that know a machine by names and values (`drive`)
//! is separate, and is compiled only where chartc-core has an allocator.

mod blocks;
mod code;
mod direct;
mod drive;
mod expr;
mod file;
mod keep;
mod machine;
mod methods;
mod names;
mod needs;
mod payload;
mod program;
mod steps;
mod tables;
mod types;

pub use file::{emit, emit_modules};

use super::{Emitter, OutputKind};
use crate::syntax::diagnostic::Diagnostic;
use blocks::Wait;
use chartc_core::expr::field_text;
use chartc_core::model::{Chart, Field};
use chartc_core::plan::Plan;
use chartc_core::tables::ABI;
use chartc_core::visible;
use code::{Code, Fragment, Use, code};
use codegen::Scope;
use direct::{Form, Shape};
use file::{Kin, Unit, doc, formatted, indented};
use names::Names;
use needs::{Facts, Needs};

/// The emitter of `chartc build`: Rust, one file for each chart.
pub const EMITTER: Emitter = Emitter {
    name: "rust",
    extension: "rs",
    kind: OutputKind::Code,
    emit: |checked, _| emit(checked),
};

/// Writes the Rust source of one chart of a file.
fn source(unit: &Unit<'_>, found: &mut Vec<Diagnostic>) -> String {
    let before = found.len();
    let chart = unit.chart;
    let names = Names::of(chart, unit.map, found);
    if found.len() > before {
        return String::new();
    }
    let plan = Plan::new(chart);
    let facts = Facts::new(chart);
    let posts = steps::any(chart);
    let waits = blocks::waits(chart);
    // Machines that run others or are run pass values, which needs an allocator.
    let in_family = unit.kin.is_child || !unit.kin.children.is_empty() || posts;
    let mut context = Context {
        chart,
        names,
        posts,
        bare: !in_family && needs::is_bare(chart, &facts),
        facts,
        kin: unit.kin.clone(),
        needs: Needs::new(chart, &waits),
        waits,
        tables: plan.clone(),
        shape: if in_family {
            Shape::Shared("it runs other charts or is run by one")
        } else {
            Shape::new(chart, &plan)
        },
    };
    context.bare = context.bare && !needs::allocates(&context);
    let mut parts = Parts::default();
    let steps = drive::steps(&context);
    typed(&context, &steps, &mut parts);
    drive::emit(&context, steps, &mut parts.dynamic);
    header(unit.source, &context, parts.form) + &joined(&context, &parts)
}

/// What the emitter knows about the chart, before it writes code.
struct Context<'c> {
    chart: &'c Chart,
    names: Names,
    facts: Facts,
    kin: Kin,
    tables: Plan,
    /// How the code takes a step.
    shape: Shape,
    /// What each variable's initial value waits for.
    waits: Vec<Wait>,
    /// The stored data that expressions read, and what else their code needs.
    needs: Needs,
    /// Whether the code works without an allocator.
    bare: bool,
    /// Whether the chart sends events to other charts.
    posts: bool,
}

impl Context<'_> {
    /// Returns the error type of the methods with the chart's expressions.
    fn error(&self) -> &'static str {
        if self.bare { "machine::Fault" } else { "generated::Failure" }
    }

    /// Writes an expression that evaluates to an error.
    fn failure(&self, why: &str) -> String {
        if self.bare {
            "Err(machine::Fault)".to_owned()
        } else {
            format!("generated::fails({why:?})")
        }
    }

    /// Writes an expression of type `Result` for code that would leave the body with an error.
    fn caught(&self, code: &Code) -> Fragment {
        let result = code.result(self.facts.is_copy(&code.ty));
        if code.is_one_call() {
            return result.without(Use::Failure);
        }
        let (ty, error) = (names::owned(self, &code.ty), self.error());
        code!("(|| -> Result<{ty}, {error}> {{ {result} }})()", result)
            .without(Use::Failure)
            .using(Use::Braces)
    }

    /// Returns the type of a field as the chart writes it, with its range.
    fn written_field(&self, field: &Field) -> String {
        field_text(field, &self.chart.types)
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
fn typed(context: &Context<'_>, steps: &methods::Methods, parts: &mut Parts) {
    let scope = &mut parts.typed;
    payload::emit(context, scope);
    self::steps::emit(context, scope);
    types::emit(context, scope);
    types::emit_data(context, scope);
    payload::emit_host(context, scope);
    machine::emit(context, scope);
    drive::emit_children(context, scope);
    if context.is_direct() {
        parts.form = direct::emit_core(context, scope);
    } else {
        program::emit(context, steps, scope);
    }
    machine::emit_chart(context, scope);
    tables::emit(context, scope);
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

/// Makes a name for a local in a generated body, distinct from `view` and other parameters.
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
