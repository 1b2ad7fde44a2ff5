//! `<invoke>`.

use super::super::convert::{At, Brings};
use super::{Builder, noted};
use crate::lint::left_out;
use crate::span::{Ident, Span};
use crate::syntax::{
    Done, EventPattern, Forward, Given, Noted, Path, Run, StateItem, Step, StepKind,
};

/// A line's event, what it brings, and as what it counts.
pub(super) type Pattern = (EventPattern, Brings, String);

impl Builder<'_, '_> {
    /// The step that runs the chart of an invoked document.
    pub(super) fn invoke(&mut self, nth: usize) -> Noted<StateItem> {
        let document = self.document;
        let invoke = &document.invokes[nth];
        let at = At::state(invoke.state);
        let mut arguments = Vec::new();
        for (name, value) in &invoke.given {
            let Some(param) = self.params[nth].get(&name.node).cloned() else {
                self.findings.push(left_out::no_such_data(&name.node, name.span));
                continue;
            };
            let value = self.converter().value(value, &at).expr;
            arguments.push(Given { name: Some(Ident::new(param, name.span)), value });
        }
        let forward = if invoke.forward { Forward::All } else { Forward::Nothing };
        let chart = Ident::new(invoke.child.chart.clone(), invoke.child.name_span);
        let step = Step {
            name: Ident::new(self.scope.steps[nth].clone(), invoke.id.span),
            kind: StepKind::Run(Run { chart, arguments, at_entry: true, forward }),
            client: None,
            guard: None,
            items: Vec::new(),
            then: None,
            end: Vec::new(),
        };
        noted(StateItem::Step(step), invoke.span, &invoke.before)
    }

    /// What waits for the end of an invoked document, or of all.
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

    /// What waits for the failure of any invoked document.
    pub(super) fn invoke_failed(&self, span: Span) -> Vec<Pattern> {
        let each = |nth: usize| {
            let done = Done { subject: self.step_path(nth, span), binding: None };
            let word = format!("error.communication {nth}");
            (EventPattern::Error(done), Brings::NoData, word)
        };
        self.invoked(None).into_iter().map(each).collect()
    }

    /// `done.invoke.c`.
    fn done_name(&self, nth: usize) -> String {
        format!("done.invoke.{}", self.document.invokes[nth].id.node)
    }

    fn step_path(&self, nth: usize, span: Span) -> Path {
        super::path(vec![Ident::new(self.scope.steps[nth].clone(), span)], span)
    }

    /// The invoked documents of this id, or of one that begins with it and a dot; without an id all.
    fn invoked(&self, id: Option<&Ident>) -> Vec<usize> {
        let is = |own: &str| {
            id.is_none_or(|id| {
                own.strip_prefix(&id.node)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let all = self.document.invokes.iter().enumerate();
        all.filter(|(_, invoke)| is(&invoke.id.node)).map(|(nth, _)| nth).collect()
    }
}
