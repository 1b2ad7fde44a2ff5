//! Writes files of generated code, with their documentation, and lays them out.

use super::{names, source};
use crate::compile::Checked;
use crate::lower::{Lowered, SourceMap};
use crate::rules::name_clash;
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::Span;
use chartc_core::model::{Chart, StepKind};
use chartc_core::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A chart of a file.
pub(super) struct Unit<'c> {
    pub(super) chart: &'c Arc<Chart>,
    pub(super) map: &'c SourceMap,
    /// The name of the chart's source file.
    pub(super) source: &'c str,
    pub(super) kin: Kin,
}

/// Writes the Rust source of a chart, with modules for the charts that it runs.
///
/// # Errors
/// Names that become one Rust identifier, and features that generated code does not support yet.
pub fn emit(checked: &Checked) -> Result<String, Vec<Diagnostic>> {
    if checked.children().next().is_some() {
        let name = names::module(&checked.chart().name);
        let code = emit_modules(std::slice::from_ref(checked))?;
        return Ok(format!("pub use {name}::*;\n\n{code}"));
    }
    let mut found = checked.not_yet().to_vec();
    if !found.is_empty() {
        return Err(found);
    }
    let kin = Kin::default();
    let (chart, map) = (checked.chart(), checked.map());
    let unit = Unit { chart, map, source: checked.source(), kin };
    let code = source(&unit, &mut found);
    if found.is_empty() { Ok(code) } else { Err(found) }
}

/// Writes the source of several charts of one file: a module for each, named after it, and for each chart that they run.
///
/// # Errors
/// As for [`emit`], for each chart.
pub fn emit_modules(charts: &[Checked]) -> Result<String, Vec<Diagnostic>> {
    let (mut text, mut found) = (String::new(), Vec::new());
    let mut taken: BTreeMap<String, Span> = BTreeMap::new();
    for checked in charts {
        found.extend_from_slice(checked.not_yet());
    }
    for unit in units(charts) {
        let (name, place) = (names::module(&unit.chart.name), unit.map.name);
        if let Some(other) = taken.insert(name.clone(), place) {
            let mut finding = name_clash::modules(&name, place, other);
            finding.severity = Severity::Error;
            found.push(finding);
        }
        let code = source(&unit, &mut found);
        // The file that includes this one is named after its source, possibly the chart's name.
        let stem = unit.source.rsplit(['/', '\\']).next().unwrap_or_default();
        let allowed = if stem.split('.').next() == Some(&name) {
            "#[allow(clippy::module_inception, reason = \"the file bears the chart's name\")]\n"
        } else {
            ""
        };
        text.push_str(&format!(
            "/// The chart `{}`.\n{allowed}pub mod {name} {{\n{}}}\n",
            visible::line(&unit.chart.name),
            indented(&code)
        ));
    }
    found.sort_by_key(|d| (d.span, d.rule.code));
    found.dedup_by_key(|d| (d.span, d.rule.code));
    if found.is_empty() { Ok(text) } else { Err(found) }
}

/// Returns the charts and the charts of other files that they run, each once.
fn units(charts: &[Checked]) -> Vec<Unit<'_>> {
    let mut all: Vec<(&Lowered, &str)> = Vec::new();
    let own = charts.iter().map(|checked| (checked.lowered(), checked.source()));
    let others = charts
        .iter()
        .flat_map(|checked| checked.lowered_children().map(move |child| (child, checked.source())));
    let mut seen = BTreeSet::new();
    for (one, source) in own.chain(others) {
        if seen.insert(one.map.name) {
            all.push((one, source));
        }
    }
    let runs: BTreeMap<Span, BTreeSet<Span>> = all
        .iter()
        .map(|(one, _)| (one.map.name, one.map.steps.iter().filter_map(|s| s.child).collect()))
        .collect();
    let modules: BTreeMap<Span, String> =
        all.iter().map(|(one, _)| (one.map.name, names::module(&one.chart.name))).collect();
    let kin = |one: &Lowered| {
        let steps = one.chart.steps.iter().zip(&one.map.steps);
        let children = steps.filter_map(|(step, spans)| match &step.kind {
            StepKind::Run(run) => Some((run.chart.clone(), modules.get(&spans.child?)?.clone())),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Human(_) => None,
        });
        let mut below = reached(one.map.name, &runs);
        let is_child = runs.values().any(|children| children.contains(&one.map.name));
        below.remove(&one.map.name);
        let below = below.iter().filter_map(|chart| modules.get(chart).cloned()).collect();
        Kin { children: children.collect(), below, is_child }
    };
    all.iter()
        .map(|(one, source)| Unit { chart: &one.chart, map: &one.map, source, kin: kin(one) })
        .collect()
}

/// Returns the charts that a chart runs, directly or through others.
fn reached(from: Span, runs: &BTreeMap<Span, BTreeSet<Span>>) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(chart) = open.pop() {
        for child in runs.get(&chart).into_iter().flatten() {
            if found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found
}

// Lays out generated code: parses and formats it, and adds the empty lines and comments that the formatter does not keep.

/// Indents code by one level. No literal spans lines, so none changes.
pub(super) fn indented(code: &str) -> String {
    let deeper =
        |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    code.lines().map(deeper).collect()
}

/// Parses and formats items. They contain no hidden characters: literals contain their escapes, and comments may contain any. Code that
/// does not parse is a bug of the emitter.
pub(super) fn formatted(code: &str) -> String {
    match syn::parse_file(&visible::text(code)) {
        Ok(file) => {
            let code = declared(&spaced(&packed(&prettyplease::unparse(&file))));
            visible::text(&code).into_owned()
        }
        Err(why) => unreachable!("generated code does not parse: {why}\n{code}"),
    }
}

/// Puts an item with an attribute such as `#[names(…)]` into the macro of this name, with the attribute `#[rows(…)]`: the formatter does not
/// format what stands in a macro.
fn declared(code: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in code.lines() {
        let macros = ["names", "items", "answers", "record"];
        let rows = macros.into_iter().find_map(|name| {
            let rows = line.strip_prefix("#[")?.strip_prefix(name)?.strip_prefix('(')?;
            Some((name, rows))
        });
        if let Some((name, rows)) = rows {
            inside = true;
            out.push_str(&format!("chartc_core::{name}! {{\n    #[rows({rows}\n"));
            continue;
        }
        out.push_str(&if inside { indented(line) } else { format!("{line}\n") });
        if inside && (line.starts_with('}') || line.ends_with("{}")) {
            inside = false;
            out.push_str("}\n");
        }
    }
    out
}

/// Packs as many elements of a table as fit into each line; the formatter does so for numbers only.
fn packed(code: &str) -> String {
    const WIDTH: usize = 90;
    let is_element = |line: &str| {
        let line = line.trim_start();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_:(),".contains(c);
        let is_text = line.starts_with("text(\"") && line.ends_with("\"),");
        line.ends_with(',')
            && line.starts_with(|c: char| c.is_ascii_alphabetic())
            && (is_text || (line.chars().all(is_plain) || line.starts_with("by(")))
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
        in_table = (in_table && start != "];") || (begins_table(start) && line.ends_with('['));
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn begins_table(line: &str) -> bool {
    line.starts_with("static ") || line.starts_with("const ")
}

/// Adds an empty line between items and between methods; the formatter adds none.
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
        // Deeper lines belong to bodies and tables.
        let alias = indent == 0 && line.starts_with("type ");
        let table = indent == 4 && line.trim_start().starts_with("Tables {");
        let item = alias || table || (indent <= 4 && same && ends && begins && is_item(line));
        if (indent == 0 && import) || item {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    out
}

/// Whether an item, a method, or its attributes or comments begin here. Statements and rows of tables do not count.
fn is_item(line: &str) -> bool {
    let words =
        ["///", "#[", "pub ", "fn ", "impl", "const ", "static ", "struct ", "enum ", "trait "];
    let line = line.trim_start();
    words.iter().any(|word| line.starts_with(word))
}

// Writes the documentation of generated items: the chart's own, as Markdown without code that rustdoc would run.

/// Returns the documentation of an item: the chart's own, else `plain`. Rustdoc finds no code in it that it would run as a test.
pub(super) fn doc(own: &str, plain: &str) -> String {
    if own.trim().is_empty() {
        return visible::line(plain).into_owned();
    }
    let mut fenced = false;
    // The indentation of lines that continue a list item.
    let mut indent = "";
    let lines = own.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return if fenced { "```text".to_owned() } else { "```".to_owned() };
        }
        if fenced {
            return line.to_owned();
        }
        let text = prose(line);
        let marker = marker(&text);
        if !marker.is_empty() || text.is_empty() {
            indent = marker;
            return text;
        }
        format!("{indent}{text}")
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    // A fence that the chart leaves open would swallow the rest of the documentation.
    if fenced {
        text.push_str("\n```");
    }
    text
}

/// Returns spaces as wide as the marker of a list item; empty for other lines.
fn marker(line: &str) -> &'static str {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let begins = |marks: &[char]| rest.starts_with(marks) && rest[1..].starts_with([' ', '\t']);
    match number.len() {
        0 if begins(&['-', '*', '+']) => "  ",
        1 if begins(&['.', ')']) => "   ",
        2..10 if begins(&['.', ')']) => "    ",
        _ => "",
    }
}

/// Escapes a line of prose: single back-quotes stay, but indented or fenced code, links and tags do not.
fn prose(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        let inner = rest.strip_prefix('`').and_then(|inner| Some(&inner[..inner.find('`')?]));
        // A run of several back-quotes ends at a run of the same length.
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
