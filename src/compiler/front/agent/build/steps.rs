//! Builds the steps of a chart from those of the list: their order, prompts, calls and decisions.
//!
//! The problem: a step of an `agent.yaml` may call a model, run code, or decide where to go, by a function, by a model, or by both; a
//! failed call falls back to a heuristic. A chart has other kinds of steps, and in it, the options of a question are lines of a state. The
//! idea:
//!
//! - `Builder::step` builds one step with the lines that belong to it (`Built`). A decision by a function is a `code` step that sets a
//!   variable, and lines that compare it (`Builder::decided`). A decision by a model is an `ask` step with a `may` line for each answer.
//!   Two questions in one state would both offer the options of both, so they become `llm` steps whose answers are compared (`overlapping`,
//!   `Builder::compared`).
//! - `Functions` declares a host function for each artifact method, action and test of the heuristic, once, under a name of the language.
//! - `inside` selects the steps that are written inside their state, as many as the order of the list permits; others stay at chart level.
//! - `words` and `template` build prompts from Python's format strings.
//!
//! For example:
//!
//! ```text
//! - name: next                                   ask next on turn always else stay {
//!   type: transition                               prompt """What next? Answer with one of: …"""
//!   transition_map: { go: work, rest: idle }       retry 0
//!                                                }
//!                                                may go -> work
//!                                                may rest -> idle
//! ```

use super::names::{Decider, StepWork, Words, Work, decider, guesses, is_question};
use super::{failure, policy};
use crate::front::agent::code::{Converter, Role, Scope};
use crate::front::agent::definition::{
    Agent, BUILTINS, CURRENT_STATE, Invoke, OnFailure, Policy, Source, Step, StepType, builtin,
};
use crate::front::agent::expression::Ty;
use crate::front::agent::expression::{self, binary, call, compare, expr, literal, name, text};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::text::{Access, Field, FormatPart, parts};
use crate::rules::{unescaped_brace, unknown_placeholder, unused_fragment};
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{
    self, Action, Ask, AskElse, BinaryOp, Block, ChartItem, CompareOp, Entry, EventPattern, Expr,
    ExprKind, FailWord, Function, FunctionKind, Hole, Line, LineKind, May, MayKind, Method, Noted,
    Outcome, OutcomeKind, Param, Path, StateItem, StepItem, StepKind, Tail, Target, Template,
    TemplatePart, Trivia, TypeExpr, TypeKind,
};
use std::collections::{BTreeMap, BTreeSet};

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
            on: matches!(kind, StepKind::Ask(_))
                .then(|| Box::new(EventPattern::Turn(step.name.span))),
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
            return Some(self::words(words, &self.scope));
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
        let done = syntax::Done { subject: path(&step.name), binding: None };
        let line = Line { kind: LineKind::On(EventPattern::Done(done)), tail };
        built.lines.push(noted(StateItem::Line(line), action.span));
        built
    }

    fn transition(&mut self, work: &StepWork<'_>, compared: bool) -> Built {
        let step = work.step;
        let mut first = None;
        match (decider(step), &step.decision) {
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
            let items = ignored(step, prompt);
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

// Transition steps: the model or a host function decides where to go.

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
        let ask = Ask { exact: false, always: true, otherwise: Some(AskElse::Stay) };
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
        items.push(noted(StepItem::Returns(text_type, None, None), span));
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
        // With this fallback, a failed call yields `none`, by which the question knows that it is asked.
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
            on: None,
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
    syntax::Done { subject: path(step), binding: None }
}

fn no_retry(then: Option<FailWord>, span: Span) -> syntax::Policy {
    let retry = Some(syntax::Retry::times(Spanned::new(0, span)));
    syntax::Policy { retry, then, span }
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

// Host functions for the InvokeSpecs and actions of an agent.

/// The host functions that an agent needs, each declared once.
#[derive(Default)]
pub(super) struct Functions {
    all: Vec<Noted<ChartItem>>,
    known: Vec<(Origin, String)>,
}

/// The origin of a host function. Different origins get different functions, even if their names become equal in the language.
#[derive(PartialEq)]
enum Origin {
    /// A method of an artifact, with a number of arguments and a fallback.
    Method(String, String, usize, Option<Constant>),
    /// A test of the agent's record of actions.
    Record(&'static str),
    /// `action` of a code step.
    Action(String),
}

/// A fallback. Texts are compared without their positions.
#[derive(Clone)]
struct Constant(Value);

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Value::Text(a), Value::Text(b)) => a.value == b.value,
            (a, b) => a == b,
        }
    }
}

fn json(span: Span) -> TypeExpr {
    named("Json", span)
}

fn named(name: &str, span: Span) -> TypeExpr {
    TypeExpr { kind: TypeKind::Name(name.to_owned()), span }
}

impl Functions {
    /// The declarations, in the order of first use.
    pub(super) fn into_items(self) -> Vec<Noted<ChartItem>> {
        self.all
    }

    /// A call of a host function, which is declared on first use.
    pub(super) fn invoke(&mut self, invoke: &Invoke, scope: &Scope) -> Expr {
        let artifact = invoke.artifact.node.as_str();
        let method = invoke.method.as_ref().map_or("call", |m| m.node.as_str());
        let span = invoke.artifact.span;
        let count = invoke.arguments.len();
        let fallback = invoke.fallback.as_ref().map(|f| Constant(f.value.clone()));
        let origin = Origin::Method(artifact.to_owned(), method.to_owned(), count, fallback);
        let name = match self.known(&origin) {
            Some(name) => name,
            None => {
                let name = self.name(origin, &format!("{artifact}_{method}"));
                let params = (1..=count)
                    .map(|i| Param {
                        name: Ident::new(format!("arg_{i}"), span),
                        ty: json(span),
                        range: None,
                    })
                    .collect();
                let value = invoke.fallback.as_ref().map(|f| invoke_value(f, None));
                let text = |text: &str| Spanned::new(text.to_owned(), span);
                let from = Method { artifact: text(artifact), name: text(method) };
                let kind = FunctionKind::Pure(json(span), Some(from), value);
                self.declare(&name, params, kind, span);
                name
            }
        };
        let arguments = invoke.arguments.iter().map(|a| invoke_value(a, Some(scope))).collect();
        call(&name, arguments, invoke.span)
    }

    /// The name of a test of the agent's record, which the heuristic calls; declared on first use.
    pub(super) fn predicate(&mut self, name: &'static str, param: &str, span: Span) -> String {
        if let Some(name) = self.known(&Origin::Record(name)) {
            return name;
        }
        let name = self.name(Origin::Record(name), name);
        let params = vec![Param {
            name: Ident::new(param.to_owned(), span),
            ty: named("Text", span),
            range: None,
        }];
        let no = expr(ExprKind::Bool(false), span);
        let kind = FunctionKind::Pure(named("Bool", span), None, Some(no));
        self.declare(&name, params, kind, span);
        name
    }

    /// The host function for the `action` of a code step.
    pub(super) fn effect(&mut self, name: &Ident) -> Ident {
        let origin = Origin::Action(name.node.clone());
        let written = match self.known(&origin) {
            Some(written) => written,
            None => {
                let written = self.name(origin, &name.node);
                self.declare(&written, Vec::new(), FunctionKind::Effect, name.span);
                written
            }
        };
        Ident::new(written, name.span)
    }

    fn known(&self, origin: &Origin) -> Option<String> {
        self.known.iter().find(|(known, _)| known == origin).map(|(_, name)| name.clone())
    }

    /// A unique name, as close to the wanted one as possible.
    fn name(&mut self, origin: Origin, wanted: &str) -> String {
        let wanted = word(wanted);
        let mut name = wanted.clone();
        let mut number = 2;
        // The host recognizes the tests of the record by their names, so no other function may have such a name.
        let is_kept = |name: &str| name == REPEATS && origin != Origin::Record(REPEATS);
        while is_kept(&name) || self.known.iter().any(|(_, known)| *known == name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.known.push((origin, name.clone()));
        name
    }

    fn declare(&mut self, name: &str, params: Vec<Param>, kind: FunctionKind, span: Span) {
        let name = Ident::new(name.to_owned(), span);
        self.all.push(apart(ChartItem::Function(Function { name, params, kind }), span));
    }
}

/// Turns a text into a name of the language: `Kv-Store_get` becomes `kv_store_get`.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let word: String = text.chars().map(plain).collect();
    if word.starts_with(|c: char| c.is_ascii_lowercase()) { word } else { format!("f{word}") }
}

/// A YAML value as an expression. With a scope, texts may contain placeholders.
fn invoke_value(node: &Node, scope: Option<&Scope>) -> Expr {
    let span = node.span;
    let kind = match &node.value {
        Value::Null => ExprKind::None,
        Value::Bool(b) => ExprKind::Bool(*b),
        Value::Int(i) => ExprKind::Int(*i),
        Value::Float(x) => ExprKind::Float(*x),
        Value::Text(text) => match scope {
            Some(scope) => ExprKind::Text(template(&parts(text), span, false, scope)),
            None => return expression::text(text.value.clone(), span),
        },
        Value::List(items) => {
            ExprKind::List(items.iter().map(|i| invoke_value(i, scope)).collect())
        }
        Value::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(k, v)| Entry { key: invoke_value(k, None), value: invoke_value(v, scope) })
                .collect(),
        ),
    };
    expr(kind, span)
}

// The steps that can be placed inside their state, given that steps run in the order of the text.
//
// For example, an agent has the states `a`, `b`, `c`, and steps with the homes b, a, b, c, in this order. The last three are placed
// inside their states. The first has to run before the step in `a`, so it stands at chart level, before the state `a`.

/// For each step, whether it is placed inside its state; as many as possible are. `homes` are the numbers of the states, in text order.
/// A step without a home is placed at chart level, between any two states.
pub(super) fn inside(homes: &[Option<usize>], states: usize) -> Vec<bool> {
    // Finds the longest chain in which the numbers of the states never fall and steps of one state are adjacent. (A step at chart level
    // cannot run between two steps of one state.)
    let mut lengths = vec![0usize; homes.len()];
    let mut previous = vec![None; homes.len()];
    let mut best = PrefixMax::new(states);
    for (i, home) in homes.iter().enumerate() {
        let Some(state) = *home else { continue };
        let (mut length, mut from) = best.below(state);
        if i > 0 && homes[i - 1] == Some(state) && lengths[i - 1] > length {
            (length, from) = (lengths[i - 1], Some(i - 1));
        }
        lengths[i] = length + 1;
        previous[i] = from;
        best.raise(state, length + 1, i);
    }
    let mut inside = vec![false; homes.len()];
    let last = (0..homes.len())
        .filter(|i| lengths[*i] > 0)
        .max_by_key(|i| (lengths[*i], std::cmp::Reverse(*i)));
    let mut at = last;
    while let Some(i) = at {
        inside[i] = true;
        at = previous[i];
    }
    inside
}

/// The maximum length of a chain that ends in a state below a given one, with its last step. A Fenwick tree: queries and updates take
/// logarithmic time.
struct PrefixMax {
    tree: Vec<(usize, Option<usize>)>,
}

impl PrefixMax {
    fn new(states: usize) -> Self {
        Self { tree: vec![(0, None); states + 1] }
    }

    fn below(&self, state: usize) -> (usize, Option<usize>) {
        let mut best = (0, None);
        let mut at = state;
        while at > 0 {
            if self.tree[at].0 > best.0 {
                best = self.tree[at];
            }
            at &= at - 1;
        }
        best
    }

    fn raise(&mut self, state: usize, length: usize, step: usize) {
        let mut at = state + 1;
        while at < self.tree.len() {
            if length > self.tree[at].0 {
                self.tree[at] = (length, Some(step));
            }
            at += at & at.wrapping_neg();
        }
    }
}

// Checks the template of an agent's memory query, `rag.query_template`.

/// Reports unknown placeholders and stray braces, as warnings: an agent also runs without its memory.
pub(super) fn findings(
    agent: &Agent,
    work: &Work<'_>,
    scope: &Scope,
    findings: &mut Vec<Diagnostic>,
) {
    if let Some(span) = agent.rag
        && !scope.roles.contains_key("memories")
    {
        findings.push(unused_fragment::memories(span));
    }
    let Some(template) = &agent.query else { return };
    let has = |name: &str| {
        builtin(name).is_some()
            || name == CURRENT_STATE
            || match scope.roles.get(name) {
                Some(Role::Input(_) | Role::Variable { .. } | Role::Given(_) | Role::State) => true,
                Some(Role::Step | Role::Missing) | None => false,
            }
    };
    for part in parts(template) {
        let finding = match part {
            FormatPart::Bad { why, span, .. } => unescaped_brace::stray(&why, span),
            FormatPart::Field(field) if !has(&field.name.node) => {
                let steps = work.steps.iter().map(|step| step.step.name.node.as_str());
                // The query is made before any step has an answer, so the name of a step is of no use in it.
                let is_step = steps.into_iter().any(|step| step == field.name.node);
                let known = BUILTINS.iter().map(|row| row.name);
                let known =
                    known.chain(scope.roles.keys().map(String::as_str)).filter(|name| has(name));
                unknown_placeholder::in_query(&field.name.node, field.name.span, is_step, known)
            }
            FormatPart::Text(..) | FormatPart::Field(_) => continue,
        };
        findings.push(Diagnostic { severity: Severity::Warning, ..finding });
    }
}

// Prompts, with their names resolved.

/// Builds a prompt; its names are resolved in a scope.
pub(super) fn words(words: &Words, scope: &Scope) -> Template {
    template(&words.parts, words.span, words.block, scope)
}

/// Builds a template from the parts of a text; its names are resolved in a scope.
pub(super) fn template(parts: &[FormatPart], span: Span, block: bool, scope: &Scope) -> Template {
    let parts = parts.iter().map(|p| part(p, scope)).collect();
    Template { parts, span, block }
}

fn part(part: &FormatPart, scope: &Scope) -> TemplatePart {
    match part {
        FormatPart::Text(text, span) => TemplatePart::Text(text.clone(), *span),
        FormatPart::Bad { text, why, span } => {
            TemplatePart::Bad { text: kept(text), why: why.clone(), span: *span }
        }
        FormatPart::Field(field) => {
            let name = &field.name.node;
            if matches!(scope.roles.get(name), Some(Role::Missing)) {
                let spec = &field.spec.node;
                let colon = if spec.is_empty() { "" } else { ":" };
                let why = format!("`{name}` is not in the context");
                return TemplatePart::Bad {
                    text: kept(&format!("{{{name}{colon}{spec}}}")),
                    why,
                    span: field.span,
                };
            }
            let hole = Hole {
                expr: template_value(field, scope),
                spec: field.spec.clone(),
                span: field.span,
            };
            TemplatePart::Hole(Box::new(hole))
        }
    }
}

/// Encloses text that is no placeholder in `{!"…"}`. In a `.chart`, where braces contain expressions, it could be one. A converted chart
/// gets the same finding.
fn kept(written: &str) -> String {
    let mut out = String::from("{!\"");
    for c in written.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push_str("\"}");
    out
}

fn template_value(field: &Field, scope: &Scope) -> Expr {
    let mut value = scope.expr(&field.name.node, field.name.span);
    for access in &field.path {
        let (kind, end) = match access {
            Access::Attribute(name) => (ExprKind::Field(Box::new(value), name.clone()), name.span),
            Access::Key(key) => {
                let index = text(key.node.clone(), key.span);
                (ExprKind::Index(Box::new(value), Box::new(index)), key.span)
            }
            Access::Index(i, span) => {
                let index = expr(ExprKind::Int(*i), *span);
                (ExprKind::Index(Box::new(value), Box::new(index)), *span)
            }
        };
        value = expr(kind, field.name.span.to(end));
    }
    value
}

// Constructors of syntax nodes.

/// A node without comments and without a blank line before it.
pub(in crate::front::agent) fn noted<T>(node: T, span: Span) -> Noted<T> {
    Noted { trivia: Trivia::default(), doc: String::new(), node, span }
}

/// A node with a blank line before it.
pub(in crate::front::agent) fn apart<T>(node: T, span: Span) -> Noted<T> {
    let trivia = Trivia { blank_before: true, ..Trivia::default() };
    Noted { trivia, doc: String::new(), node, span }
}

/// A path that consists of one name.
pub(in crate::front::agent) fn path(name: &Ident) -> Path {
    Path { names: vec![name.clone()], span: name.span }
}

/// A target without arguments.
pub(in crate::front::agent) fn target(name: &Ident) -> Target {
    Target { path: path(name), arguments: Vec::new() }
}

/// The end of a line: `[if guard] [-> to]`.
pub(in crate::front::agent) fn tail(guard: Option<Expr>, to: Option<&Ident>) -> Tail {
    Tail { guard, targets: to.map(target).into_iter().collect(), reenter: false, actions: None }
}

/// A step as an item of a chart's body, after a blank line.
pub(in crate::front::agent) fn chart_step(step: syntax::Step, span: Span) -> Noted<ChartItem> {
    apart(ChartItem::State(StateItem::Step(step)), span)
}

/// A condition on the active state: `in(a) or in(b)`; `false` for no state.
pub(in crate::front::agent) fn in_any(states: &[Ident], at: Span) -> Expr {
    let one = |s: &Ident| call("in", vec![name(s.node.clone(), s.span)], s.span);
    let mut all = states.iter();
    let Some(first) = all.next() else { return expr(ExprKind::Bool(false), at) };
    all.fold(one(first), |left, s| {
        let span = left.span.to(s.span);
        binary(BinaryOp::Or, left, one(s), span)
    })
}

/// The conjunction of both conditions, or the one that exists.
pub(in crate::front::agent) fn both(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(l), Some(r)) => {
            let span = r.span;
            Some(binary(BinaryOp::And, l, r, span))
        }
        (one, None) | (None, one) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn order_of_states_is_kept() {
        let all = [Some(0), None, Some(1), Some(1), Some(2)];
        assert_eq!(inside(&all, 3), [true, false, true, true, true]);
        // An early step of the last state stays outside.
        assert_eq!(inside(&[Some(0), Some(2), Some(1), Some(2)], 3), [true, false, true, true]);
        // Another step between two of one state: only one of them can be inside.
        assert_eq!(inside(&[Some(0), None, Some(0), Some(1)], 2), [true, false, false, true]);
        assert_eq!(inside(&[Some(1), Some(0)], 2), [true, false]);
        assert_eq!(inside(&[], 0), [false; 0]);
    }

    #[test]
    fn many_steps() {
        let homes: Vec<_> = (0..100_000).map(|i| Some(i % 50_000)).collect();
        assert_eq!(inside(&homes, 50_000).iter().filter(|i| **i).count(), 50_000);
    }
}
