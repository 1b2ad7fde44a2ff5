//! Builds steps from `<invoke>`, and patterns from the events of invoked documents.

use super::super::convert::{Brings, Converter, ExprContext, call, fails};
use super::super::script::{Expr as Script, ScriptExprKind};
use super::{Builder, noted};
use crate::rules::OUTSIDE_SUBSET;
use crate::rules::left_out;
use crate::span::{Ident, Span};
use crate::syntax::{
    Done, EventPattern, Expr, ExprKind, Forward, Noted, ParamArgument, Path, Run, StateItem, Step,
    StepKind, TemplatePart,
};

/// An event pattern, the data that it brings, and the name by which equal patterns are recognized.
pub(super) type Pattern = (EventPattern, Brings, String);

impl Builder<'_, '_> {
    /// Builds the step that runs the chart of an invoked document.
    pub(super) fn invoke(&mut self, nth: usize) -> Noted<StateItem> {
        let document = self.document;
        let invoke = &document.invokes[nth];
        let at = ExprContext::state(invoke.state);
        let mut arguments = Vec::new();
        // The guard computes all values that can fail, before the step starts: a failure prevents the invocation and raises
        // `error.execution`.
        let mut tried = Vec::new();
        if let Some(why) = &invoke.fault {
            tried.push(fails(&why.node, why.span).expr);
        }
        if let Some(name) = invoke.place.as_ref().and_then(root)
            && self.scope.variable(name).is_none()
        {
            // This is reported where the id is stored.
            tried.push(fails(&format!("`{name}` is not declared"), invoke.span).expr);
        }
        for (name, value) in &invoke.given {
            let Some(param) = self.params[nth].get(&name.node).cloned() else {
                self.findings.push(left_out::no_such_data(&name.node, name.span));
                // The value is computed only to see whether it fails. Parts that cannot be translated are not reported here.
                let mut muted = Vec::new();
                let value =
                    Converter { scope: &self.scope, findings: &mut muted }.value(value, &at);
                let is_left = muted.iter().any(|found| found.rule.code == OUTSIDE_SUBSET.code);
                if !is_left && !is_safe(&value.expr) {
                    tried.push(value.expr);
                }
                continue;
            };
            let value = self.converter().value(value, &at).expr;
            if !is_safe(&value) {
                tried.push(value.clone());
            }
            arguments.push(ParamArgument { name: Some(Ident::new(param, name.span)), value });
        }
        let guard = (!tried.is_empty()).then(|| computes(tried, invoke.span));
        let forward = if invoke.forward.is_some() { Forward::All } else { Forward::Nothing };
        let chart = Ident::new(invoke.child.chart.clone(), invoke.child.name_span);
        let step = Step {
            renamed: Vec::new(),
            each: None,
            name: Ident::new(self.scope.steps[nth].clone(), invoke.id.span),
            kind: StepKind::Run(Run { chart, arguments, at_entry: true, forward }),
            client: None,
            guard,
            items: Vec::new(),
            then: None,
            end: Vec::new(),
        };
        noted(StateItem::Step(step), invoke.span, &invoke.before)
    }

    /// The patterns for the end of the invoked document with this id, or of any one.
    pub(super) fn invoke_done(
        &mut self,
        id: Option<&Ident>,
        reads: bool,
        span: Span,
    ) -> Vec<Pattern> {
        let found = self.invoked(id);
        if found.is_empty() {
            let id = id.map_or(String::new(), |id| format!(".{}", id.node));
            self.findings.push(left_out::never(&format!("done.invoke{id}"), span));
        }
        let each = |nth: usize| {
            let binding = reads.then(|| Ident::new(self.scope.data.clone(), span));
            let brings = if reads { Brings::Answer } else { Brings::NoData };
            let done = Done { subject: self.step_path(nth, span), binding };
            (EventPattern::Done(done), brings, self.done_name(nth))
        };
        found.into_iter().map(each).collect()
    }

    /// The patterns for the failure of any invoked document.
    pub(super) fn invoke_failed(&self, span: Span) -> Vec<Pattern> {
        let each = |nth: usize| {
            let done = Done { subject: self.step_path(nth, span), binding: None };
            let word = format!("error.communication {nth}");
            (EventPattern::Error(done), Brings::NoData, word)
        };
        self.invoked(None).into_iter().map(each).collect()
    }

    /// The name of the event at the end of an invoked document: `done.invoke.c`.
    fn done_name(&self, nth: usize) -> String {
        format!("done.invoke.{}", self.document.invokes[nth].id.node)
    }

    fn step_path(&self, nth: usize, span: Span) -> Path {
        super::path(vec![Ident::new(self.scope.steps[nth].clone(), span)], span)
    }

    /// The indices of the invoked documents that are meant by an id; without one, of all.
    fn invoked(&self, id: Option<&Ident>) -> Vec<usize> {
        let all = self.document.invokes.iter().enumerate();
        all.filter(|(_, invoke)| invoke.is_meant(id)).map(|(nth, _)| nth).collect()
    }
}

/// The variable to which a location belongs.
fn root(place: &Script) -> Option<&str> {
    match &place.kind {
        ScriptExprKind::Name(name) => Some(name),
        ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) => root(of),
        _ => None,
    }
}

/// Whether a value can be computed without failure.
fn is_safe(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Name(_) => true,
        ExprKind::Text(text) => text.parts.iter().all(|part| match part {
            TemplatePart::Text(..) => true,
            TemplatePart::Hole(hole) => is_safe(&hole.expr),
            TemplatePart::Bad { .. } => false,
        }),
        ExprKind::List(items) => items.iter().all(is_safe),
        ExprKind::Map(entries) => entries.iter().all(|entry| is_safe(&entry.value)),
        ExprKind::Unary(_, of) => is_safe(of),
        _ => false,
    }
}

/// A guard that holds if all values can be computed: the truth value of a list is true.
fn computes(values: Vec<Expr>, span: Span) -> Expr {
    let list = Expr { kind: ExprKind::List(values), span };
    Expr { kind: call("js_truth", vec![list], span), span }
}
