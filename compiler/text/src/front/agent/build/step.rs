//! Builds the steps of a chart from those of the list.

use super::decide::{self, Decider};
use super::declare::{failure, policy};
use super::invoke::Functions;
use super::prepare::StepWork;
use super::template;
use crate::diagnostic::Diagnostic;
use crate::front::agent::code::{Converter, Scope};
use crate::front::agent::definition::{OnFailure, Policy, Source, Step, StepType};
use crate::front::agent::make::{self, both, call, compare, expr, in_any, name, noted, tail, text};
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{
    self, Action, Block, CompareOp, EventPattern, ExprKind, FailWord, Hole, Line, LineKind, Noted,
    StateItem, StepItem, StepKind, Template, TemplatePart,
};
use std::collections::BTreeSet;

/// The context of building steps: what it reads, and what it collects.
pub(super) struct Builder<'b> {
    pub(super) scope: Scope,
    pub(super) functions: Functions,
    pub(super) client: Option<Ident>,
    pub(super) default: &'b Policy,
    /// The names of all steps.
    pub(super) step_names: BTreeSet<String>,
    /// By component: the steps into whose prompts it is inserted.
    pub(super) inserts: Vec<Vec<syntax::Insert>>,
    pub(super) findings: &'b mut Vec<Diagnostic>,
}

/// A built step with the lines that belong to it.
pub(super) struct Built {
    /// The step, without the condition on its state.
    pub(super) step: syntax::Step,
    /// An optional step that runs right before it, in the same states.
    pub(super) before: Option<syntax::Step>,
    /// Lines of its states, or of the chart.
    pub(super) lines: Vec<Noted<StateItem>>,
    pub(super) span: Span,
}

impl Builder<'_> {
    /// Builds a step, given what the walk has set so far, and records what the step sets. With `compared`, it shares a state with another
    /// question.
    pub(super) fn step(&mut self, work: &StepWork<'_>, compared: bool) -> Built {
        let step = work.step;
        let guard = match (&step.run_if, &work.run_if) {
            (Some(Source::Invoke(invoke)), _) => {
                let found = self.functions.invoke(invoke, &self.scope);
                let span = found.span;
                Some(call("bool", vec![found], span))
            }
            (_, Some(condition)) => {
                Some(Converter::new(&mut self.scope, self.findings).condition(condition))
            }
            (_, None) => None,
        };
        self.inject(work);
        let mut built = match step.kind {
            StepType::Llm => self.llm(work),
            StepType::Code => self.code(work),
            StepType::Transition => self.transition(work, compared),
        };
        if let Some(before) = &mut built.before {
            before.guard.clone_from(&guard);
        }
        built.step.guard = both(guard, built.step.guard.take());
        built
    }

    fn built(&self, step: &Step, kind: StepKind, items: Vec<Noted<StepItem>>) -> Built {
        let calls = matches!(kind, StepKind::Llm | StepKind::Ask(_));
        let step_syntax = syntax::Step {
            renamed: Vec::new(),
            each: None,
            name: step.name.clone(),
            kind,
            client: self.client.clone().filter(|_| calls),
            guard: None,
            items,
            then: None,
            end: Vec::new(),
        };
        Built { step: step_syntax, before: None, lines: Vec::new(), span: step.span }
    }

    fn llm(&mut self, work: &StepWork<'_>) -> Built {
        let step = work.step;
        let span = step.name.span;
        let mut items = Vec::new();
        if let Some(prompt) = self.prompt(work) {
            let at = prompt.span;
            items.push(noted(StepItem::Prompt(prompt), at));
        }
        if step.policy.on_failure.is_some() || step.policy.max_retries.is_some() {
            let at = policy_span(&step.policy, span);
            let policy = policy(failure(&step.policy, self.default), at);
            items.push(noted(StepItem::Policy(policy), at));
        }
        // An action ends the turn; a `noop` does not.
        let answer = name(step.name.node.clone(), span);
        let action = ExprKind::Field(Box::new(answer), Ident::new("action".to_owned(), span));
        let acts = compare(expr(action, span), CompareOp::NotEqual, text("noop", span), span);
        items.push(noted(StepItem::EndsTurn(Some(acts)), span));
        let mut built = self.built(step, StepKind::Llm, items);
        built.step.then = step.to.as_ref().map(|to| Box::new(tail(None, Some(to))));
        built
    }

    fn prompt(&mut self, work: &StepWork<'_>) -> Option<Template> {
        if let Some(words) = &work.prompt {
            return Some(template::words(words, &self.scope));
        }
        let Some(Source::Invoke(invoke)) = &work.step.prompt else { return None };
        let expr = self.functions.invoke(invoke, &self.scope);
        let spec = Spanned::new(String::new(), invoke.span);
        let hole = Hole { expr, spec, span: invoke.span };
        let parts = vec![TemplatePart::Hole(Box::new(hole))];
        Some(Template { parts, span: invoke.span, block: false })
    }

    fn code(&mut self, work: &StepWork<'_>) -> Built {
        let step = work.step;
        let mark = self.scope.walked.mark();
        let statements = Converter::new(&mut self.scope, self.findings).statements(&work.code);
        // A step that some turns skip may leave its variables unset.
        if work.is_conditional() {
            self.scope.walked.weaken(mark);
        }
        let mut items = Vec::new();
        let own = failure(&step.policy, self.default).1 == OnFailure::Skip;
        let usual = failure(&Policy::default(), self.default).1 == OnFailure::Skip;
        // Code is not repeated after a failure, so only `skip` and `fail` differ.
        if own != usual {
            let at = policy_span(&step.policy, step.name.span);
            let then = if own { FailWord::Skip } else { FailWord::Fail };
            let policy = syntax::Policy { retry: None, then: Some(then), span: at };
            items.push(noted(StepItem::Policy(policy), at));
        }
        let mut built = self.built(step, StepKind::Code(statements), items);
        let Some(action) = &step.action else {
            built.step.then = step.to.as_ref().map(|to| Box::new(tail(None, Some(to))));
            return built;
        };
        let function = self.functions.effect(action);
        let call = noted(Action::Do(function, Vec::new()), action.span);
        let block = Block { actions: vec![call], span: action.span };
        let mut tail = tail(None, step.to.as_ref());
        tail.actions = Some(block);
        let done = syntax::Done { subject: make::path(&step.name), binding: None };
        let line = Line { kind: LineKind::On(EventPattern::Done(done)), tail };
        built.lines.push(noted(StateItem::Line(line), action.span));
        built
    }

    fn transition(&mut self, work: &StepWork<'_>, compared: bool) -> Built {
        let step = work.step;
        let mut first = None;
        match (decide::decider(step), &step.decision) {
            (Decider::Function, _) => {
                let (statements, lines) = self.decided(step);
                let mut built = self.built(step, StepKind::Code(statements), Vec::new());
                built.lines = lines;
                if step.map.is_none() {
                    built.step.then = step.to.as_ref().map(|to| Box::new(tail(None, Some(to))));
                }
                return built;
            }
            (Decider::FunctionThenModel, Some(invoke)) => {
                first = Some(self.decided_first(step, invoke));
            }
            (Decider::FunctionThenModel, None) | (Decider::Model, _) => {}
        }
        let mut built = self.question(work, compared);
        if let Some((before, lines, undecided)) = first {
            built.before = Some(before);
            built.lines = lines;
            built.step.guard = Some(undecided);
        }
        built
    }

    fn question(&mut self, work: &StepWork<'_>, compared: bool) -> Built {
        let step = work.step;
        let prompt = self.prompt(work);
        if step.map.is_none() {
            let items = decide::ignored(step, prompt);
            let mut built = self.built(step, StepKind::Llm, items);
            built.step.then = step.to.as_ref().map(|to| Box::new(tail(None, Some(to))));
            return built;
        }
        if compared {
            let items = self.compared(step, prompt);
            return self.built(step, StepKind::Llm, items);
        }
        let (kind, items) = self.ask(step, prompt);
        self.built(step, kind, items)
    }
}

/// Adds the condition on the state to a step at chart level.
pub(super) fn outside(mut step: syntax::Step, source: &Step) -> syntax::Step {
    let place = source.states.as_ref().map(|states| in_any(states, source.name.span));
    step.guard = both(place, step.guard.take());
    step
}

/// The place where a policy is written, or else `or`.
pub(super) fn policy_span(policy: &Policy, or: Span) -> Span {
    let on = policy.on_failure.as_ref().map(|s| s.span);
    on.or(policy.max_retries.as_ref().map(|s| s.span)).unwrap_or(or)
}
