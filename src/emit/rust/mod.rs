//! Rust source for a chart: static tables, typed data and the chart's guards and actions, run by the step algorithm of
//! `chartc-core` that the interpreter runs too.
//!
//! A chart whose data needs no allocator (no Text, lists, maps, JSON or prompts) becomes code that needs none either; the code
//! for hosts that know a machine by names and values stands apart there, and is compiled where chartc-core allocates.

mod blocks;
mod body;
mod children;
mod data;
mod direct;
mod drive;
mod ending;
mod expr;
mod facts;
mod file;
mod host;
mod ident;
mod machine;
mod names;
mod offers;
mod payload;
mod post;
mod program;
mod prompt;
mod start;
mod tables;
mod tools;
mod typed;
mod types;
mod uses;
mod wire;

pub use file::{emit, emit_modules};

use crate::diagnostic::Diagnostic;
use crate::emit::{Emitter, Kind};
use chartc_core::arena::StepId;
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Type};
use chartc_core::plan::Plan;
use chartc_core::tables::{ABI, Tables};
use chartc_core::visible;
use children::Kin;
use codegen::Scope;
use direct::{Form, Shape};
use facts::Facts;
use file::Unit;
use names::Names;
use start::Wait;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Rust, one file for each chart.
pub const EMITTER: Emitter =
    Emitter { name: "rust", extension: "rs", kind: Kind::Code, emit: |checked, _| emit(checked) };

/// The Rust source of one chart of a file.
fn source(unit: &Unit<'_>, found: &mut Vec<Diagnostic>) -> String {
    let before = found.len();
    let chart = unit.chart;
    let names = Names::of(chart, unit.map, found);
    if found.len() > before {
        return String::new();
    }
    let plan = Plan::new(chart);
    let facts = Facts::of(chart);
    let posts = post::any(chart);
    let in_family = unit.kin.is_child || !unit.kin.children.is_empty() || posts;
    let mut context = Context {
        chart,
        names,
        posts,
        bare: !in_family && facts::is_bare(chart, &facts),
        facts,
        kin: unit.kin.clone(),
        waits: start::waits(chart),
        tables: plan.tables(),
        shape: if in_family {
            Shape::Shared("it runs other charts or is run by one")
        } else {
            Shape::of(chart, &plan.tables())
        },
        form: Cell::new(Form::default()),
        allocates: Cell::new(false),
        advice: Cell::new(false),
        last_result: Cell::new(false),
        streak: Cell::new(false),
        repeats: Cell::new(false),
        methods: RefCell::default(),
        answers: RefCell::default(),
    };
    let mut parts = parts(&context);
    if context.bare && context.allocates.get() {
        // Some expression turned out to need an allocator.
        context.bare = false;
        context.methods.borrow_mut().clear();
        parts = self::parts(&context);
    }
    header(unit.source, &context) + &join(&context, &parts)
}

/// Code one level deeper; no literal spans lines.
fn indented(code: &str) -> String {
    let deeper =
        |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    code.lines().map(deeper).collect()
}

/// What the emitter knows of the chart.
struct Context<'c> {
    chart: &'c Chart,
    names: Names,
    facts: Facts,
    kin: Kin,
    tables: Tables<'c>,
    /// How the code takes a step.
    shape: Shape,
    /// How steps that are written out are.
    form: Cell<Form>,
    /// What the first value of each variable waits for.
    waits: Vec<Wait>,
    /// The code needs no allocator.
    bare: bool,
    /// Whether it sends events to other charts.
    posts: bool,
    /// Something was written that does.
    allocates: Cell<bool>,
    /// An expression reads the advice.
    advice: Cell<bool>,
    /// An expression reads the last result.
    last_result: Cell<bool>,
    /// An expression reads a streak.
    streak: Cell<bool>,
    /// A loop is written, which counts what it repeats.
    repeats: Cell<bool>,
    /// Methods of the program that some row made necessary.
    methods: RefCell<BTreeSet<&'static str>>,
    /// Steps whose answer an expression reads.
    answers: RefCell<BTreeSet<StepId>>,
}

impl Context<'_> {
    /// The error of the methods that hold the chart's expressions.
    fn error(&self) -> &'static str {
        if self.bare { "machine::Fault" } else { "generated::Failure" }
    }

    /// An expression that is an error.
    fn failure(&self, why: &str) -> String {
        if self.bare {
            "Err(machine::Fault)".to_owned()
        } else {
            format!("generated::fails({why:?})")
        }
    }

    /// A type as a chart writes it.
    fn written(&self, ty: &Type) -> String {
        type_text(ty, &self.chart.types)
    }
}

/// The items that every host sees, and those for hosts that know machines by values.
fn parts(context: &Context<'_>) -> (Scope, Scope) {
    let (mut typed, mut dynamic) = (Scope::new(), Scope::new());
    payload::emit(context, &mut typed);
    types::emit(context, &mut typed);
    data::emit(context, &mut typed);
    host::emit(context, &mut typed);
    let mut inner = Scope::new();
    program::emit(context, &mut inner);
    machine::emit(context, &mut typed);
    children::emit(context, &mut typed);
    typed.raw(inner.to_string());
    tables::emit(context, &mut typed);
    drive::emit(context, &mut dynamic);
    (typed, dynamic)
}

fn join(context: &Context<'_>, (typed, dynamic): &(Scope, Scope)) -> String {
    let (typed, dynamic) = (typed.to_string(), dynamic.to_string());
    let check = format!(
        "const _: () = assert!(
            chartc_core::tables::ABI == {ABI},
            \"this file was generated for another version of chartc-core: generate it again\"
        );"
    );
    if !context.bare {
        let code = typed + "\n" + &dynamic;
        return formatted(&(imports(&code, true) + &check + &code));
    }
    let dynamic = formatted(&(imports(&dynamic, true) + &dynamic));
    let typed = formatted(&(imports(&typed, false) + &check + &typed));
    format!("{typed}\nchartc_core::when_alloc! {{\n{}}}\n", indented(&dynamic))
}

/// The imports that the code needs. Without an allocator, what it has for values stands in a part of its own, which sees those
/// of the other part.
fn imports(code: &str, alloc: bool) -> String {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("///"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let used = |names: &[&str]| -> String {
        let names: Vec<&str> = names.iter().copied().filter(|n| body::mentions(&code, n)).collect();
        names.join(", ")
    };
    let group = |path: &str, names: String| match names.as_str() {
        "" => String::new(),
        names => format!("use chartc_core::{path}{{{names}}};\n"),
    };
    let plain = ["arena", "generated", "machine", "program", "semantics", "store", "tables"];
    let helpers = ["direct", "ops", "Duration"];
    if !alloc {
        return group("", used(&plain)) + &group("generated::", used(&helpers));
    }
    let mut values = used(&["Map", "Value"]);
    if code.contains(".into_value()") {
        values.push_str(", IntoValue as _");
    }
    let mut owned = vec!["calls", "String", "Vec", "VecDeque"];
    let mut modules = used(&["expr", "family", "host", "model"]);
    if code.contains("static TABLES") {
        modules = used(&plain) + ", " + &modules;
        owned.extend(helpers);
    }
    group("", modules)
        + &group("expr::", values.trim_start_matches(", ").to_owned())
        + &group("generated::", used(&owned))
}

/// Parses and formats items, without hidden characters: literals hold their escapes, and in comments any will do. What does not parse
/// is our own fault.
fn formatted(code: &str) -> String {
    match syn::parse_file(&visible::text(code)) {
        Ok(file) => visible::text(&spaced(&packed(&prettyplease::unparse(&file)))).into_owned(),
        Err(why) => unreachable!("generated code does not parse: {why}\n{code}"),
    }
}

/// Tables with as many elements in a line as there is room for; the formatter does so for numbers only.
fn packed(code: &str) -> String {
    const WIDTH: usize = 90;
    let is_element = |line: &str| {
        let line = line.trim_start();
        line.ends_with(',')
            && line.starts_with(|c: char| c.is_ascii_alphabetic())
            && line.chars().all(|c| c.is_ascii_alphanumeric() || "_:(),".contains(c))
    };
    let (mut out, mut open) = (String::new(), String::new());
    let mut in_table = false;
    for line in code.lines() {
        let element = in_table && is_element(line);
        if element && !open.is_empty() && open.len() + line.trim_start().len() < WIDTH {
            open.push(' ');
            open.push_str(line.trim_start());
            continue;
        }
        if !open.is_empty() {
            out.push_str(&open);
            out.push('\n');
            open.clear();
        }
        if element {
            open.push_str(line);
            continue;
        }
        let start = line.trim_start();
        in_table =
            (in_table && start != "];") || (start.starts_with("static ") && line.ends_with('['));
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// An empty line between items and between methods, which the formatter does not leave.
fn spaced(code: &str) -> String {
    let mut out = String::new();
    let mut before = "";
    for line in code.lines() {
        let indent = line.len() - line.trim_start().len();
        let same = before.len() - before.trim_start().len() == indent;
        let ends = before.ends_with(['}', ';']) && !before.trim_start().starts_with("use ");
        let begins = !line.trim_start().starts_with(['}', ')', ']'])
            && (!line.trim_start().starts_with("type ")
                || !before.trim_start().starts_with("type "));
        let import = before.starts_with("use ") && !line.starts_with("use ");
        // Deeper lines are bodies and tables.
        if (indent == 0 && import) || (indent <= 4 && same && ends && begins && is_item(line)) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    out
}

/// Whether an item, a method or what stands before it begins here; statements and rows of tables do not.
fn is_item(line: &str) -> bool {
    let words =
        ["///", "#[", "pub ", "fn ", "impl", "const ", "static ", "struct ", "enum ", "trait "];
    let line = line.trim_start();
    words.iter().any(|word| line.starts_with(word))
}

fn header(source: &str, context: &Context<'_>) -> String {
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
        context.shape.text(context.form.get()),
    )
}

/// Documentation of an item: the chart's own, else `plain`. Nothing in it is code to rustdoc, which would run it as a test.
fn doc(own: &str, plain: &str) -> String {
    if own.trim().is_empty() {
        return visible::line(plain).into_owned();
    }
    let mut fenced = false;
    let lines = own.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return if fenced { "```text".to_owned() } else { "```".to_owned() };
        }
        if fenced { line.to_owned() } else { prose(line) }
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if fenced {
        text.push_str("\n```");
    }
    text
}

/// A line of prose: words in single back-quotes stay, and no code by indentation or fences, no links and no tags.
fn prose(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        let inner = rest.strip_prefix('`').and_then(|inner| Some(&inner[..inner.find('`')?]));
        // A run of several back-quotes is ended by one as long.
        let is_single = |len: usize| !rest[len..].starts_with('`') && !out.ends_with('`');
        let len = match inner.map(|inner| inner.len() + 2) {
            Some(len) if len > 2 && is_single(len) => len,
            _ => c.len_utf8(),
        };
        if len == c.len_utf8() && matches!(c, '`' | '~' | '[' | ']' | '<' | '>' | '\\') {
            out.push('\\');
        }
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out
}

/// A name for a local in a generated body that also has `view` and the like.
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
