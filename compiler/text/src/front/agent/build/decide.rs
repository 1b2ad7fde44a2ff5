//! Transition steps: the model or a host function decides where to go.

use super::step::Builder;
use crate::front::agent::code::{Role, Ty};
use crate::front::agent::definition::{Invoke, Step, StepType};
use crate::front::agent::make::{
    self, binary, call, compare, expr, literal, name, noted, tail, text,
};
use crate::front::agent::node::{Node, Value};
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{
    self, Action, Ask, AskElse, BinaryOp, CompareOp, EventPattern, Expr, ExprKind, FailWord, Hole,
    Line, LineKind, May, MayKind, Noted, Outcome, OutcomeKind, Policy, StateItem, StepItem,
    StepKind, Template, TemplatePart, TypeExpr, TypeKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The names that the heuristic reads. It decides if there is no model, or if the call of the model fails.
pub(super) const HEURISTIC: &[&str] = &["action_history", "successful_actions", "failed_actions"];
/// The name of the heuristic's host function. It returns whether the last three actions were on one artifact.
pub(super) const REPEATS: &str = "repeats_one_artifact";

/// Steps that share a state with another question. They cannot be `ask` steps: each question would offer the options of both.
pub(super) fn overlapping(steps: &[&Step]) -> BTreeSet<usize> {
    let asks: Vec<usize> = (0..steps.len()).filter(|i| is_question(steps[*i])).collect();
    let mut by_state: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut everywhere = Vec::new();
    for &i in &asks {
        match &steps[i].states {
            Some(states) => {
                for state in states {
                    by_state.entry(&state.node).or_default().push(i);
                }
            }
            None => everywhere.push(i),
        }
    }
    if !everywhere.is_empty() && asks.len() > 1 {
        return asks.into_iter().collect();
    }
    let shared = |of: &&Vec<usize>| of.iter().collect::<BTreeSet<_>>().len() > 1;
    by_state.values().filter(shared).flatten().copied().collect()
}

/// Whether a step asks the model for an answer of its map, even if only when a function does not decide.
pub(super) fn is_question(step: &Step) -> bool {
    step.kind == StepType::Transition && step.map.is_some() && decider(step) != Decider::Function
}

/// The decider of a transition step: the model, a host function, or first the one and then the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decider {
    /// The model.
    Model,
    /// A host function with a fallback value.
    Function,
    /// A host function; if it fails, the model.
    FunctionThenModel,
}

/// The decider of a step.
pub(super) fn decider(step: &Step) -> Decider {
    match &step.decision {
        None => Decider::Model,
        Some(invoke) if invoke.fallback.is_some() => Decider::Function,
        Some(_) => Decider::FunctionThenModel,
    }
}

/// Whether the heuristic may choose a target if the call of the question fails.
pub(super) fn guesses(step: &Step) -> bool {
    let known = |answer: &str| matches!(answer, "pivot" | "ship" | "continue");
    is_question(step) && step.map.iter().flatten().any(|(answer, _)| known(&answer.node))
}

/// The options of a question, as `may` lines.
pub(super) fn options(step: &Step) -> Vec<Noted<StateItem>> {
    let line = |(answer, state): &(Ident, Ident)| {
        let may = May { kind: MayKind::Option(answer.clone(), Vec::new()), text: None };
        let line = Line { kind: LineKind::May(Box::new(may)), tail: tail(None, Some(state)) };
        noted(StateItem::Line(line), answer.span.to(state.span))
    };
    step.map.iter().flatten().map(line).collect()
}

/// A call of the model whose answer changes nothing: the target is always the same.
pub(super) fn ignored(step: &Step, prompt: Option<Template>) -> Vec<Noted<StepItem>> {
    let span = step.name.span;
    let prompt = prompt
        .unwrap_or_else(|| literal("What next? Answer with one of: continue, pivot, ship", span));
    let mut items = vec![noted(StepItem::Prompt(prompt), span)];
    items.push(noted(StepItem::Policy(no_retry(Some(FailWord::Skip), span)), span));
    // If the call fails, the original engine uses its heuristic, but goes to the same target.
    let outcome = Outcome { kind: OutcomeKind::Error, tail: tail(None, step.to.as_ref()) };
    items.push(noted(StepItem::Outcome(outcome), span));
    items
}

impl Builder<'_> {
    /// A question as an `ask` step: its kind and its items.
    pub(super) fn ask(
        &mut self,
        step: &Step,
        prompt: Option<Template>,
    ) -> (StepKind, Vec<Noted<StepItem>>) {
        let span = step.name.span;
        let prompt = prompt.unwrap_or_else(|| default_prompt(span));
        let mut items = vec![noted(StepItem::Prompt(prompt), span)];
        items.push(noted(StepItem::Policy(no_retry(None, span)), span));
        items.extend(self.heuristic(step));
        let ask =
            Ask { on: EventPattern::Turn(span), always: true, otherwise: Some(AskElse::Stay) };
        (StepKind::Ask(ask), items)
    }

    /// A question that shares a state with another one, as an `llm` step whose answer is compared.
    pub(super) fn compared(
        &mut self,
        step: &Step,
        prompt: Option<Template>,
    ) -> Vec<Noted<StepItem>> {
        let span = step.name.span;
        let answers: Vec<&str> = step.map.iter().flatten().map(|(a, _)| a.node.as_str()).collect();
        let prompt = prompt.unwrap_or_else(|| {
            literal(format!("What next? Answer with one of: {}", answers.join(", ")), span)
        });
        let mut items = vec![noted(StepItem::Prompt(prompt), span)];
        items.push(noted(StepItem::Policy(no_retry(Some(FailWord::Skip), span)), span));
        let text_type = TypeExpr { kind: TypeKind::Name("Text".to_owned()), span };
        items.push(noted(StepItem::Returns(text_type, None), span));
        for (answer, state) in step.map.iter().flatten() {
            let own = name(step.name.node.clone(), span);
            let is =
                compare(own, CompareOp::Equal, text(answer.node.clone(), answer.span), answer.span);
            let outcome = Outcome { kind: OutcomeKind::Done, tail: tail(Some(is), Some(state)) };
            items.push(noted(StepItem::Outcome(outcome), answer.span.to(state.span)));
        }
        items.extend(self.heuristic(step));
        items
    }

    /// The heuristic of the original engine for a failed call, as `error` lines.
    fn heuristic(&mut self, step: &Step) -> Vec<Noted<StepItem>> {
        let span = step.name.span;
        if !guesses(step) {
            return Vec::new();
        }
        let target = |answer: &str| {
            step.map.iter().flatten().find(|(a, _)| a.node == answer).map(|(_, state)| state)
        };
        let (pivot, ship, go_on) = (target("pivot"), target("ship"), target("continue"));
        let repeats = self.functions.predicate(REPEATS, "action_history", span);
        let read = |what: &str| self.scope.expr(what, span);
        let repeats = call(&repeats, vec![read("action_history")], span);
        let zero = || expr(ExprKind::Int(0), span);
        let good = compare(read("successful_actions"), CompareOp::Greater, zero(), span);
        let bad = compare(read("failed_actions"), CompareOp::Equal, zero(), span);
        let succeeds = binary(BinaryOp::And, good, bad, span);
        // A decision that the map lacks moves nothing. It needs a line without a target only if a line with a target follows.
        let mut lines = vec![(Some(repeats), pivot), (Some(succeeds), ship), (None, go_on)];
        while lines.last().is_some_and(|(_, to)| to.is_none()) {
            lines.pop();
        }
        let line = |(guard, to): (Option<Expr>, Option<&Ident>)| {
            let outcome = Outcome { kind: OutcomeKind::Error, tail: tail(guard, to) };
            noted(StepItem::Outcome(outcome), span)
        };
        lines.into_iter().map(line).collect()
    }

    /// A decision by a host function: a code step, and lines that compare its result.
    pub(super) fn decided(&mut self, step: &Step) -> (Vec<Noted<Action>>, Vec<Noted<StateItem>>) {
        let Some(invoke) = &step.decision else { return (Vec::new(), Vec::new()) };
        let found = self.functions.invoke(invoke, &self.scope);
        let span = invoke.span;
        let as_text = call("lower", vec![call("str", vec![found], span)], span);
        let variable = self.decision_variable(step, Ty::Text);
        let assign = Action::Assign(variable.clone(), as_text);
        (vec![noted(assign, span)], decided_lines(step, &step.name, &variable))
    }

    /// Like `decided`, if the model decides when the function fails: a separate step before the question, its lines, and the
    /// guard of the question.
    pub(super) fn decided_first(
        &mut self,
        step: &Step,
        invoke: &Invoke,
    ) -> (syntax::Step, Vec<Noted<StateItem>>, Expr) {
        let span = invoke.span;
        let fallback = Some(Node { value: Value::Null, span });
        let found = self.functions.invoke(&Invoke { fallback, ..invoke.clone() }, &self.scope);
        let variable = self.decision_variable(step, Ty::Json);
        let read = || name(variable.node.clone(), span);
        let is = |op| compare(read(), op, expr(ExprKind::None, span), span);
        let as_text = call("lower", vec![call("str", vec![read()], span)], span);
        let plain = noted(Action::Assign(variable.clone(), as_text), span);
        let statements = vec![
            noted(Action::Assign(variable.clone(), found), span),
            noted(Action::If(is(CompareOp::NotEqual), vec![plain], Vec::new()), span),
        ];
        let source = Ident::new(self.free_step(&format!("{}_source", step.name.node)), span);
        let mut lines = decided_lines(step, &source, &variable);
        if let (None, Some(to)) = (&step.map, &step.to) {
            let kind = LineKind::On(EventPattern::Done(done(&source)));
            let line = Line { kind, tail: tail(Some(is(CompareOp::NotEqual)), Some(to)) };
            lines.push(noted(StateItem::Line(line), span));
        }
        let code = syntax::Step {
            renamed: Vec::new(),
            each: None,
            name: source,
            kind: StepKind::Code(statements),
            client: None,
            guard: None,
            items: Vec::new(),
            then: None,
            end: Vec::new(),
        };
        (code, lines, is(CompareOp::Equal))
    }

    /// `wanted`, with underscores appended until no other step has that name.
    fn free_step(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.step_names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn decision_variable(&mut self, step: &Step, ty: Ty) -> Ident {
        let mut written = format!("{}_decision", step.name.node);
        // A variable must not hide a name that prompts or conditions read.
        while self.scope.roles.contains_key(&written) {
            written.push('_');
        }
        let role = Role::Variable { written: written.clone(), of: None };
        self.scope.roles.insert(written.clone(), role);
        self.scope.types.insert(written.clone(), ty);
        self.scope.places.insert(written.clone(), step.name.span);
        Ident::new(written, step.name.span)
    }
}

/// Lines that compare the decision of a step's function, in lower case, with the answers of the map.
fn decided_lines(step: &Step, source: &Ident, variable: &Ident) -> Vec<Noted<StateItem>> {
    let line = |(answer, state): &(Ident, Ident)| {
        let lower = text(answer.node.to_lowercase(), answer.span);
        let read = name(variable.node.clone(), answer.span);
        let is = compare(read, CompareOp::Equal, lower, answer.span);
        let kind = LineKind::On(EventPattern::Done(done(source)));
        let line = Line { kind, tail: tail(Some(is), Some(state)) };
        noted(StateItem::Line(line), answer.span.to(state.span))
    };
    step.map.iter().flatten().map(line).collect()
}

fn done(step: &Ident) -> syntax::Done {
    syntax::Done { subject: make::path(step), binding: None }
}

fn no_retry(then: Option<FailWord>, span: Span) -> Policy {
    Policy { retry: Some(Spanned::new(0, span)), then, span }
}

/// The prompt of a question that has none of its own.
fn default_prompt(span: Span) -> Template {
    let hole = Hole { expr: name("options", span), spec: Spanned::new(String::new(), span), span };
    let parts = vec![
        TemplatePart::Text("What next? Answer with one of:\n".to_owned(), span),
        TemplatePart::Hole(Box::new(hole)),
    ];
    Template { parts, span, block: true }
}
