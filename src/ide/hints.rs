//! Computes hints that an editor shows between the words of a file: types, names of parameters, policies, and numbers of calls.

use super::hover::{Index, Subject, drivers, figures, policy};
use crate::costs::amount_text;
use chartc_compiler::analysis::turn::TurnCost;
use chartc_compiler::analysis::turn::cost::{CallBound, RunCost, money};
use chartc_compiler::compile::Compilation;
use chartc_compiler::front;
use chartc_compiler::lower::Lowered;
use chartc_compiler::syntax::source::{FileId, Span};
use chartc_compiler::syntax::visit::{self, Node};
use chartc_compiler::syntax::{
    self, Action, Expr, ExprKind, File, Step, StepItem, TestAnswer, TestItem,
};
use chartc_core::arena::StateId;
use chartc_core::expr::type_text;
use chartc_core::model::{
    Chart, Failure, FailurePolicy, Field, Retry, StateKind, StepKind, VariableKind,
};
use chartc_core::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The minimum number of calls of a turn for a hint.
const MANY: u64 = 2;

/// The kind of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// The type of a bound name.
    Type,
    /// The name of the parameter that an argument is for.
    Parameter,
    /// The policy for failed calls that a step inherits; at the end of a line.
    Policy,
    /// The maximum number of model calls of a turn, or what a run may use; at the end of a line.
    Calls,
}

impl HintKind {
    /// All kinds of hints.
    pub const ALL: [Self; 4] = [Self::Type, Self::Parameter, Self::Policy, Self::Calls];
}

/// A text that the editor shows at a position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// The position as a byte offset.
    pub offset: usize,
    /// The kind of the hint.
    pub kind: HintKind,
    /// The text, without hidden characters.
    pub text: String,
}

/// The hints of these kinds in a range of a file, in order.
pub fn hints(
    done: &Compilation,
    file: FileId,
    range: Range<usize>,
    kinds: &[HintKind],
) -> Vec<Hint> {
    let Some(syntax) = done.files.iter().find(|one| one.id == file) else { return Vec::new() };
    let mut found = HintCollector { done, file, range, kinds, hints: BTreeSet::new() };
    let index = Index::new(done);
    let is_chart = front::of(done.sources.get(file)).name == front::chart::FRONTEND.name;
    if is_chart && kinds.contains(&HintKind::Type) {
        found.types(&index);
    }
    if is_chart && kinds.contains(&HintKind::Parameter) {
        found.parameters(&index, syntax);
    }
    if kinds.contains(&HintKind::Policy) {
        found.policies(&index, syntax);
    }
    if kinds.contains(&HintKind::Calls) {
        found.calls(&index);
    }
    found.hints.into_iter().collect()
}

struct HintCollector<'c> {
    done: &'c Compilation,
    file: FileId,
    range: Range<usize>,
    kinds: &'c [HintKind],
    hints: BTreeSet<Hint>,
}

impl HintCollector<'_> {
    fn contains(&self, offset: usize) -> bool {
        (self.range.start..=self.range.end).contains(&offset)
    }

    fn add(&mut self, offset: usize, kind: HintKind, text: &str) {
        if self.contains(offset) && self.kinds.contains(&kind) {
            self.hints.insert(Hint { offset, kind, text: visible::line(text).into_owned() });
        }
    }

    /// The end of the line that a span ends in, without trailing blanks.
    fn line_end(&self, place: Span) -> usize {
        let source = self.done.sources.get(place.file);
        let line = source.line(source.line_of(place.end));
        let text = source.text.get(line.clone()).unwrap_or_default();
        line.start + text.trim_end().len()
    }

    fn types(&mut self, index: &Index<'_>) {
        let file = self.file;
        for one in &index.charts {
            for (span, ty) in one.map.bound.iter().filter(|(span, _)| span.file == file) {
                let ty = type_text(ty, &one.chart.types);
                self.add(span.end as usize, HintKind::Type, &format!(": {ty}"));
            }
        }
    }

    fn parameters(&mut self, index: &Index<'_>, syntax: &File) {
        let mut calls: Vec<(Span, Vec<&Expr>)> = Vec::new();
        visit::file(syntax, &mut |node| match node {
            Node::Expr(expr) => {
                if let ExprKind::Call(name, arguments) = &expr.kind {
                    calls.push((name.span, arguments.iter().collect()));
                }
            }
            Node::Action(noted) => match &noted.node {
                Action::Do(name, arguments) => {
                    calls.push((name.span, arguments.iter().collect()));
                }
                Action::Raise(path, arguments) | Action::Send { event: path, arguments, .. } => {
                    calls.push((path.span, arguments.iter().collect()));
                }
                _ => {}
            },
            Node::Target(target) => {
                let name = target.path.names.last().map_or(target.path.span, |name| name.span);
                calls.push((name, target.arguments.iter().collect()));
            }
            Node::TestItem(noted) => match &noted.node {
                TestItem::Send(path, arguments)
                | TestItem::Answers(_, TestAnswer::Option(path, arguments)) => {
                    calls.push((path.span, arguments.iter().collect()));
                }
                _ => {}
            },
            Node::Step(step) => match &step.kind {
                syntax::StepKind::Call(path, arguments) => {
                    calls.push((path.span, arguments.iter().collect()));
                }
                syntax::StepKind::Run(run) => {
                    // A named argument shows the parameter already.
                    let unnamed = run.arguments.iter().take_while(|given| given.name.is_none());
                    calls.push((run.chart.span, unnamed.map(|given| &given.value).collect()));
                }
                _ => {}
            },
            _ => {}
        });
        for (name, arguments) in calls {
            let wanted =
                arguments.iter().any(|argument| self.contains(argument.span.start as usize));
            if !wanted {
                continue;
            }
            let Some(found) = index.at(self.file, name.start) else { continue };
            let params = params(found.of, &found.subject);
            for (param, argument) in params.iter().zip(arguments) {
                if last_name(argument) != Some(param) {
                    self.add(
                        argument.span.start as usize,
                        HintKind::Parameter,
                        &format!("{param}: "),
                    );
                }
            }
        }
    }

    /// Adds the policy of each step that calls and inherits a policy other than to fail at once.
    fn policies(&mut self, index: &Index<'_>, syntax: &File) {
        let mut own: BTreeMap<Span, &Step> = BTreeMap::new();
        visit::file(syntax, &mut |node| {
            if let Node::Step(step) = node {
                own.insert(step.name.span, step);
            }
        });
        for one in &index.charts {
            for (nth, spans) in one.map.steps.iter().enumerate() {
                let Some(step) = own.get(&spans.name) else { continue };
                let says = |item: &StepItem| matches!(item, StepItem::Policy(_));
                let is_code = matches!(step.kind, syntax::StepKind::Code(_));
                if is_code || step.items.iter().any(|item| says(&item.node)) {
                    continue;
                }
                let row = &one.chart.steps[nth];
                if row.failure != (FailurePolicy { retry: Retry::times(0), then: Failure::Fail }) {
                    let text = policy(&one.chart, row.failure);
                    self.add(self.line_end(spans.name), HintKind::Policy, &text);
                }
            }
        }
    }

    fn calls(&mut self, index: &Index<'_>) {
        let file = self.file;
        for one in index.charts.iter().filter(|one| one.map.file == file) {
            let Some(found) = figures(self.done, one) else { continue };
            // An agent file may name all states on one line: add one hint for the line.
            let mut lines: BTreeMap<usize, Vec<&TurnCost>> = BTreeMap::new();
            for turn in found.turns.iter().filter(|turn| turn.worst >= MANY) {
                let is_root = turn.leaf == StateId::at(0);
                let name = if is_root { one.map.name } else { one.map.state(turn.leaf).name };
                lines.entry(self.line_end(name)).or_default().push(turn);
            }
            for (offset, turns) in lines {
                let worst = turns.iter().map(|turn| turn.worst).max().unwrap_or_default();
                let by = match &turns[..] {
                    [turn] => format!(": {}", drivers(&one.chart, &turn.drivers)),
                    _ => String::new(),
                };
                let text = format!("at most {worst} model calls a turn{by}");
                self.add(offset, HintKind::Calls, &text);
            }
            let Some(text) = self::worst(&one.chart, &found.run) else { continue };
            self.add(self.line_end(one.map.name), HintKind::Calls, &text);
        }
    }
}

/// The names of the parameters of a call.
fn params(one: &Lowered, subject: &Subject) -> Vec<String> {
    let chart = &one.chart;
    let names = |fields: &[Field]| fields.iter().map(|field| field.name.clone()).collect();
    match subject {
        Subject::Function(id) => names(&chart.functions[id.index()].params),
        Subject::Tool(id) => names(&chart.tools[id.index()].params),
        Subject::Events(all) => match &all[..] {
            [id] => names(&chart.events[id.index()].fields),
            _ => Vec::new(),
        },
        Subject::State(id) => match &chart.state(*id).kind {
            StateKind::Final { params, .. } => names(params),
            _ => Vec::new(),
        },
        Subject::Choice(id) => match &chart.choices[id.index()].kind {
            chartc_core::model::ChoiceKind::Option(fields) => names(fields),
            chartc_core::model::ChoiceKind::Call(..) => Vec::new(),
        },
        Subject::Chart => {
            let params = chart.variables.iter().filter(|variable| match variable.kind {
                VariableKind::Param { .. } => true,
                VariableKind::Input | VariableKind::Var { .. } | VariableKind::Asked => false,
            });
            params.map(|variable| variable.name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// The name that an argument ends with, if it is a name or a field. A hint with the same name would say nothing new.
fn last_name(argument: &Expr) -> Option<&String> {
    match &argument.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Field(_, name) => Some(&name.node),
        _ => None,
    }
}

// Formats the maximum that a run may use.

/// Formats the maximum number of model calls of a run and, as far as they are bounded, the tokens of all answers and the cost. Returns
/// `None` if no model is called.
fn worst(chart: &Chart, run: &RunCost) -> Option<String> {
    let mut text = match run.worst {
        CallBound::NoCalls => return None,
        CallBound::Formula | CallBound::None { .. } => "model calls without a bound".to_owned(),
        CallBound::Calls(_) | CallBound::States(_) | CallBound::Turns { .. } => {
            let most = run.worst.calls().unwrap_or_default();
            let s = if most == 1 { "" } else { "s" };
            format!("at most {most} model call{s} a run")
        }
    };
    let longest = run.worst.calls().zip(longest_answer(chart));
    if let Some((calls, longest)) = longest {
        text.push_str(&format!(", answers of {} tokens", calls.saturating_mul(longest)));
    }
    let most = money(chart, run).and_then(|found| found.most.known());
    if let Some(most) = most.filter(|_| !chart.clients.is_empty()) {
        text.push_str(&format!(", a cost of {}", amount_text(most)));
    }
    Some(text)
}

/// The maximum number of tokens of an answer; `None` if one has no limit.
fn longest_answer(chart: &Chart) -> Option<u64> {
    let mut longest = 0;
    for step in &chart.steps {
        let calls = matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. });
        if !calls {
            continue;
        }
        // The loop ends, because the checker rejects cycles of fallbacks.
        let mut next = Some(step.client?);
        while let Some(id) = next {
            let client = &chart.clients[id.index()];
            longest = longest.max(u64::try_from(client.max_tokens?).ok()?);
            next = client.fallback;
        }
    }
    Some(longest)
}
