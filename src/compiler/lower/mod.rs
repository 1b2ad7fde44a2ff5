//! From syntax to model: resolves names and types, and reports all errors in them.
//!
//! The problem: names may be used before they are declared, one error must not hide the others, and even a faulty chart must become a
//! consistent model, as analyses and editors read it. The idea: everything gets its id before the first body that may name it is lowered.
//! What cannot be resolved is reported, and is left out or becomes `ExprKind::Unknown`. For example:
//!
//! ```text
//! chart Door {
//!   event open
//!   var n: Int = 0
//!   initial closed
//!   state closed { on open if n < 3 -> opened { n = n + 1 } }
//!   final opened
//! }
//! ```
//!
//! 1. [`structure::number`] numbers the states in document order: the chart itself is 0, `closed` 1, `opened` 2.
//! 2. [`declare`] declares `open` and `n`, each with the id 0 of its kind.
//! 3. [`structure::settle`] makes the chart compound, with the initial state 1, and `opened` final.
//! 4. [`block`] lowers the line to a transition of state 1 with the trigger `Event([0])`, a guard that compares variable 0 with 3, the
//!    target 2, and an assignment to variable 0. Its spans go into the [`SourceMap`].
//!
//! In this order: the declarations that are visible in a chart are collected ([`context`]), types, tools and functions are lowered, states
//! and steps are numbered ([`structure::number`]), data is declared ([`declare`]), the kinds of states are determined
//! ([`structure::settle`]), bodies are lowered ([`block`]: [`transitions`], [`steps`], [`actions`], over [`expr`]), and what refers to states
//! and steps from outside comes last ([`closing`]).

mod actions;
mod block;
mod closing;
mod context;
mod declare;
mod expr;
mod nodes;
mod outcomes;
mod paths;
mod property;
mod source_map;
mod steps;
mod structure;
pub mod test;
mod tool_lines;
mod tools;
mod transitions;

pub use context::{NameKind, Use};
pub use declare::{OPTIONS as CLIENT_OPTIONS, language_types};
pub use expr::{ASKED, language_functions, observables};
pub use property::properties;
pub use source_map::{Follower, PostSpans, SourceMap, StateSpans, StepSpans, TransitionSpans};
pub use steps::limit_names;
pub use transitions::machine_errors;

use crate::front::load::Loaded;
use crate::notation;
use crate::rules::{duplicate_name, illegal_structure, unknown_name};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, ChartItem, FailWord, Item};
use chartc_core::arena::TransitionId;
use chartc_core::model::{Chart, Failure, FailurePolicy, Renamed, Retry};
use context::{Cx, Declarations, Record, Sight};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of trace records that an instance keeps if the chart has no `trace` line.
const HISTORY_KEPT: u32 = 100;

/// One chart, resolved as far as it can be.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The model. Parts that could not be resolved are left out; expressions keep `ExprKind::Unknown`.
    pub chart: Arc<Chart>,
    /// The source positions of the parts of the chart.
    pub map: SourceMap,
    /// Whether every state, line and step of the source is in the model. If not, what seems to be missing from the chart may have been left
    /// out.
    pub whole: bool,
    /// The tests of the chart.
    pub tests: Vec<test::Test>,
}

/// Lowers every chart of the requested files, in order, and separately the charts of other files that these run. If `uses` is given, fills
/// it with the meanings of the names in these files, in order; only editors need them, and they take time and memory.
pub fn lower(
    loaded: &Loaded,
    uses: Option<&mut Vec<Use>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Lowered>, Vec<Lowered>) {
    let mut lowered = Vec::new();
    let mut record = Record::new(uses.is_some());
    let mut findings = Vec::new();
    let scenarios = context::scenarios(loaded);
    for file in loaded.files.iter().filter(|f| loaded.is_root(f.id)) {
        let first = lowered.len();
        let mut names: BTreeMap<&str, Span> = BTreeMap::new();
        let mut tests: BTreeMap<&str, Span> = BTreeMap::new();
        let sight = Sight::new(loaded, file.id);
        let seen = sight.declarations(None);
        for noted in &file.items {
            match &noted.node {
                Item::Chart(chart) => {
                    if let Some(first) = names.get(chart.name.node.as_str()) {
                        let name = &chart.name;
                        findings
                            .push(duplicate_name::twice("chart", &name.node, name.span, *first));
                    }
                    names.insert(&chart.name.node, chart.name.span);
                    let seen = sight.declarations(Some(chart));
                    let cx = Cx::new(&chart.name, &noted.doc, record.is_kept);
                    let (record, findings) = (&mut record, &mut findings);
                    lowered.push(one(cx, chart, noted.span, &seen, &scenarios, record, findings));
                }
                Item::Scenario(scenario) => {
                    let (name, span) = (&scenario.name.node, scenario.name.span);
                    if let Some(first) = tests.insert(name, span) {
                        findings.push(duplicate_name::twice("test", name, span, first));
                    }
                    match context::meant(&seen.charts, file.id, scenario) {
                        Some(chart) => {
                            let (at, declared) = (scenario.chart.span, chart.name.span);
                            record.means(at, declared, NameKind::Chart);
                        }
                        None => findings.push(for_no_chart(scenario, &seen)),
                    }
                }
                _ => {}
            }
        }
        if first == lowered.len() {
            // No chart of the file lowers its declarations, so they are checked by themselves.
            let nobody = Ident::new(String::new(), Span::new(file.id, 0, 0));
            let mut cx = Cx::new(&nobody, "", record.is_kept);
            declarations(&mut cx, &seen);
            findings.append(&mut cx.findings);
            record.uses.append(&mut cx.uses);
            record.prints.append(&mut cx.prints);
        }
        let shared: Vec<_> = seen.components.iter().map(|c| c.node).collect();
        let charts: Vec<_> = lowered[first..].iter().collect();
        closing::lost_components(&shared, &charts, &mut findings);
    }
    let others = steps::others(loaded, &lowered, &scenarios, &mut record, &mut findings);
    steps::refuse_endless(lowered.iter().chain(&others), &mut findings);
    closing::refuse(&lowered, &others, &mut findings);
    outcomes::refuse_unheard(&lowered, &others, &mut findings);
    // Declarations outside of charts are lowered for each chart that sees them, so their findings repeat.
    let mut known = BTreeSet::new();
    findings.retain(|d| known.insert((d.span, d.rule.code, d.message.clone())));
    diagnostics.append(&mut findings);
    if let Some(uses) = uses {
        let all: Vec<&Lowered> = lowered.iter().chain(&others).collect();
        *uses = record.close(loaded, &all);
    }
    (lowered, others)
}

/// The finding for a test of a chart that does not exist.
fn for_no_chart(scenario: &syntax::Scenario, seen: &Declarations<'_>) -> Diagnostic {
    let place = &scenario.chart;
    let known = seen.charts.names();
    unknown_name::unknown("chart", &place.node, place.span, Some(known))
}

/// Lowers the declarations that are visible in a chart.
fn declarations<'s>(cx: &mut Cx<'s>, seen: &Declarations<'s>) {
    declare::declare_types(cx, &seen.types);
    declare::functions(cx, &seen.functions);
    declare::declare_tools(cx, &seen.tools, &seen.tool_sets);
    declare::clients(cx, &seen.clients);
}

fn one<'s>(
    mut cx: Cx<'s>,
    chart: &'s syntax::Chart,
    whole: Span,
    seen: &Declarations<'s>,
    scenarios: &context::Scenarios<'s>,
    record: &mut Record<'s>,
    findings: &mut Vec<Diagnostic>,
) -> Lowered {
    cx.charts = seen.charts.clone();
    cx.supplied = &chart.supplied;
    declarations(&mut cx, seen);
    structure::number(&mut cx, chart, whole);
    context::note(&mut cx, Renamed::Chart, &chart.name.node, &chart.renamed);
    chart_items(&mut cx, chart);
    structure::settle(&mut cx);
    for id in 0..cx.chart.steps.len() {
        let id = chartc_core::arena::StepId::at(id);
        steps::signature(&mut cx, id);
        steps::event_data(&mut cx, id);
    }
    for noted in &chart.items {
        if let ChartItem::Predicate(predicate) = &noted.node {
            declare::predicate(&mut cx, predicate);
        }
    }
    block::all(&mut cx);
    block::cancels(&mut cx);
    closing::close(&mut cx);
    nodes::close(&mut cx);
    alternatives(&mut cx);
    let mut names = BTreeMap::new();
    for component in &seen.components {
        closing::component(&mut cx, &mut names, component);
    }
    expr::asked::show(&mut cx);
    for noted in &chart.items {
        if let ChartItem::Check(check) = &noted.node {
            property::check(&mut cx, check, noted.span);
        }
    }
    let written = scenarios.get(&chart.name.span).map_or(&[][..], Vec::as_slice);
    let tests = test::all(&mut cx, written);
    findings.append(&mut cx.findings);
    record.uses.append(&mut cx.uses);
    record.prints.append(&mut cx.prints);
    record.inner.append(&mut cx.inner);
    record.events.insert(cx.map.name, cx.event_paths);
    Lowered { chart: Arc::new(cx.chart), map: cx.map, whole: !cx.dropped, tests }
}

/// Stores the alternatives of each guard as text, for traces.
fn alternatives(cx: &mut Cx<'_>) {
    for id in (0..cx.chart.transitions.len()).map(TransitionId::at) {
        let chart = &cx.chart;
        let payload = notation::payload(chart.transition(id));
        let text = |expr| notation::expression_in(chart, expr, &payload);
        let texts: Vec<String> = chart.alternatives(id).into_iter().map(text).collect();
        if !texts.is_empty() {
            cx.chart.alternative_texts.insert(id, texts);
        }
    }
}

/// Lowers variables, events, and the settings of the chart itself.
fn chart_items<'s>(cx: &mut Cx<'s>, chart: &'s syntax::Chart) {
    let mut defaults = None;
    let mut trace = None;
    let mut keys: BTreeMap<&str, Span> = BTreeMap::new();
    // Collected first, so that a name that is read before its declaration is reported as such.
    for noted in &chart.items {
        if let ChartItem::Variable(variable) = &noted.node {
            cx.names.later.entry(&variable.name.node).or_insert(variable.name.span);
        }
    }
    for noted in &chart.items {
        match &noted.node {
            ChartItem::Meta(entries) => {
                for entry in entries {
                    let key = &entry.key;
                    if let Some(first) = keys.insert(&key.node, key.span) {
                        let finding = duplicate_name::twice("key", &key.node, key.span, first);
                        cx.report(finding);
                    }
                    cx.chart.meta.push((entry.key.node.clone(), closing::meta(&entry.value)));
                }
            }
            ChartItem::Variable(variable) => declare::variable(cx, variable, &noted.doc),
            ChartItem::Event(path, params) => declare::event(cx, path, params, &noted.doc),
            ChartItem::Predicate(predicate) => {
                let name = &predicate.name;
                cx.names.later.entry(&name.node).or_insert(name.span);
            }
            ChartItem::Defaults(policy) if second(cx, &mut defaults, noted.span, "`defaults`") => {
                let retry = policy.retry.as_ref().map(|retry| declare::retry(cx, retry));
                let retry = retry.unwrap_or(Retry::times(0));
                let then = match &policy.then {
                    Some(FailWord::Skip) => Failure::Skip,
                    Some(FailWord::Take(target)) => {
                        cx.default_target = Some(target);
                        Failure::Fail
                    }
                    Some(FailWord::Fail) | None => Failure::Fail,
                };
                cx.chart.defaults = FailurePolicy { retry, then };
            }
            ChartItem::Trace(kept) if second(cx, &mut trace, noted.span, "`trace`") => {
                cx.chart.history_kept = *kept;
            }
            _ => {}
        }
    }
}

/// Whether the item is the first of its kind in the chart; reports a second one.
fn second(cx: &mut Cx<'_>, seen: &mut Option<Span>, span: Span, what: &str) -> bool {
    if let Some(first) = *seen {
        cx.report(illegal_structure::second(&format!("{what} in one chart"), span, first));
        return false;
    }
    *seen = Some(span);
    true
}
