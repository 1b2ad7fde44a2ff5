//! Events that are sent to other charts: their receivers, and whether these declare them.

use super::Lowered;
use super::context::Cx;
use super::expr::{self, Env};
use super::uses::NameKind;
use chartc_core::model::{Chart, Event, Expr, Receiver, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::unknown_name;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{self, CATCH_ALL};
use std::collections::BTreeMap;

/// The word for the chart that runs this one.
const PARENT: &str = "parent";

/// The receiver that `to` means, and the index of the element; reports an unknown one.
pub(super) fn addressed(
    cx: &mut Cx<'_>,
    env: &mut Env,
    (to, element): &(Ident, Option<syntax::Expr>),
) -> Option<(Receiver, Option<Box<Expr>>)> {
    let receiver = receiver(cx, to);
    // Lowered even if the receiver is unknown, to report the errors in it.
    let index = element.as_ref().map(|index| Box::new(expr::expect(cx, env, index, &Type::Int)));
    let receiver = receiver?;
    let has_elements = match receiver {
        Receiver::Child(step) => cx.step_nodes[step.index()].step.each.is_some(),
        Receiver::Own | Receiver::Parent | Receiver::Element(..) => false,
    };
    if let (Some(element), false) = (element, has_elements) {
        let message = format!("`{}` runs one chart, and has no elements", to.node);
        let finding = ILLEGAL_STRUCTURE.at(element.span, message);
        cx.report(finding.help("leave the index out"));
        return None;
    }
    Some((receiver, index))
}

/// The receiver that `to` means; reports an unknown one.
fn receiver(cx: &mut Cx<'_>, to: &Ident) -> Option<Receiver> {
    if to.node == PARENT {
        return Some(Receiver::Parent);
    }
    let Some((step, place)) = cx.names.steps.get(&to.node).copied() else {
        let steps = cx.step_nodes.iter().map(|node| &node.step);
        let runs = steps.filter(|step| matches!(step.kind, syntax::StepKind::Run(_)));
        let known: Vec<String> = runs.map(|step| step.name.node.clone()).collect();
        let known = known.iter().map(String::as_str).chain([PARENT]);
        cx.unknown("`run` step", &to.node, to.span, known);
        return None;
    };
    cx.record_use(to.span, place, NameKind::Step);
    if !matches!(cx.step_nodes[step.index()].step.kind, syntax::StepKind::Run(_)) {
        let finding = ILLEGAL_STRUCTURE
            .at(to.span, format!("`{}` runs no chart, and takes no events", to.node))
            .help("events go to the chart itself, to a `run` step, or to `parent`")
            .related(place, "declared here");
        cx.report(finding);
        return None;
    }
    Some(Receiver::Child(step))
}

/// Reports events that the receiving chart does not declare, as far as the receivers are known.
pub(super) fn refuse_unheard(
    lowered: &[Lowered],
    others: &[Lowered],
    findings: &mut Vec<Diagnostic>,
) {
    let all: Vec<&Lowered> = lowered.iter().chain(others).collect();
    let by_name: BTreeMap<Span, &Lowered> = all.iter().map(|one| (one.map.name, *one)).collect();
    let mut parents: BTreeMap<Span, Vec<&Lowered>> = BTreeMap::new();
    for one in &all {
        let mut children: Vec<Span> = one.map.steps.iter().filter_map(|step| step.child).collect();
        children.sort_unstable();
        children.dedup();
        for child in children {
            parents.entry(child).or_default().push(one);
        }
    }
    for sender in &all {
        for post in &sender.map.posts {
            let event = &sender.chart.events[post.event.index()];
            let receivers: Vec<&Lowered> = match post.to {
                Receiver::Own => Vec::new(),
                Receiver::Parent => parents.get(&sender.map.name).cloned().unwrap_or_default(),
                Receiver::Child(step) | Receiver::Element(step, _) => {
                    let child = sender.map.steps[step.index()].child;
                    child.and_then(|child| by_name.get(&child).copied()).into_iter().collect()
                }
            };
            for receiver in receivers {
                findings.extend(unheard(event, &sender.chart, receiver, post.span));
            }
        }
    }
}

/// The finding for an event that the receiving chart does not declare, or declares with other data.
fn unheard(event: &Event, from: &Chart, to: &Lowered, span: Span) -> Option<Diagnostic> {
    let events = &to.chart.events;
    // A chart that declares the catch-all accepts any event.
    if events.iter().any(|known| known.name == CATCH_ALL) {
        return None;
    }
    let Some(nth) = events.iter().position(|known| known.name == event.name) else {
        let known = to.whole.then(|| events.iter().map(|known| known.name.as_str()));
        let mut finding = unknown_name::unknown("event", &event.name, span, known);
        finding.message = format!("`{}` has no event `{}`", to.chart.name, event.name);
        return Some(finding.related(to.map.name, "this chart gets it"));
    };
    let own = &events[nth];
    let fits = event.fields.len() == own.fields.len()
        && event.fields.iter().zip(&own.fields).all(|(sent, wanted)| {
            sent.name == wanted.name && fits(from, &sent.ty, &to.chart, &wanted.ty)
        });
    (!fits).then(|| {
        let message = format!("`{}` has other data in `{}`", event.name, to.chart.name);
        TYPE_ERROR
            .at(span, message)
            .help("both declare the event with the same names and types")
            .related(to.map.events[nth], "declared here")
    })
}

/// Whether a value of a type of one chart may be a value of a type of the other.
fn fits(from: &Chart, sent: &Type, to: &Chart, wanted: &Type) -> bool {
    match (sent, wanted) {
        (Type::Json, _) | (_, Type::Json) | (Type::Int, Type::Float) => true,
        (Type::List(a), Type::List(b))
        | (Type::Map(a), Type::Map(b))
        | (Type::Optional(a), Type::Optional(b)) => fits(from, a, to, b),
        (Type::Named(a), Type::Named(b)) => from.types[a.index()].name == to.types[b.index()].name,
        (a, Type::Optional(b)) => fits(from, a, to, b),
        (a, b) => a == b,
    }
}
