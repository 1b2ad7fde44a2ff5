//! Builds steps.

use super::declare::type_expr;
use super::name::Spelling;
use super::{Cx, child, parts};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::span::Spanned;
use crate::syntax::{
    Ask, AskElse, Each, EventPattern, FailWord, Forward, Lost, Noted, Outcome, OutcomeKind,
    ParamArgument, Path, Policy, Run, Step, StepItem, StepKind, Tail, Trivia,
};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

/// The parts of the first line of a step, of any kind.
#[derive(Default)]
struct StepHead {
    names: Vec<crate::span::Ident>,
    renamed: Vec<crate::span::Ident>,
    path: Option<Path>,
    arguments: Vec<crate::syntax::Expr>,
    text: Option<crate::syntax::Template>,
    on: Option<EventPattern>,
    always: bool,
    params: Vec<ParamArgument>,
    at_entry: bool,
    forward: Forward,
    otherwise: Option<AskElse>,
    statements: Vec<crate::syntax::Noted<crate::syntax::Action>>,
}

impl Cx<'_> {
    /// Builds a step of any kind.
    pub(super) fn step(&mut self, pair: P<'_>) -> Step {
        let rule = pair.as_rule();
        let mut head = StepHead::default();
        let (mut client, mut guard, mut then, mut each) = (None, None, None, None);
        let (mut items, mut end) = (Vec::new(), Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name if head.names.is_empty() => {
                    head.names.push(self.declared(&part, Spelling::Lower, "a step"));
                }
                Rule::name => head.names.push(self.ident(&part)),
                Rule::renamed => head.renamed = self.renamed(part),
                Rule::path => head.path = Some(self.path(part)),
                Rule::call_args => head.arguments = self.arguments(part),
                Rule::run_args => head.params = self.params_given(part),
                Rule::at_entry => head.at_entry = true,
                Rule::forward => {
                    let all = part.into_inner().any(|p| p.as_rule() == Rule::kw_all);
                    head.forward = if all { Forward::All } else { Forward::Nothing };
                }
                Rule::line_string | Rule::block_string => head.text = Some(self.template(&part)),
                Rule::ask_event => head.on = part.into_inner().next().map(|p| self.ask_event(p)),
                Rule::kw_always => head.always = true,
                Rule::otherwise => head.otherwise = self.otherwise(part),
                Rule::with => {
                    let name = child(part, Rule::name);
                    client = Some(self.ident(&name));
                }
                Rule::each_in => each = Some(Box::new(self.each_in(part))),
                Rule::guard => guard = Some(self.guard(part)),
                Rule::statements => {
                    let body = self.code(part);
                    head.statements = body.items;
                    end = body.end;
                }
                Rule::step_body => {
                    let body = self
                        .body(part.into_inner(), BodyKind::Step, |cx, p| Some(step_item(cx, p)));
                    items = body.items;
                    end = body.end;
                }
                Rule::instead => {
                    let span = self.span(&part);
                    let policy = self.policy(part);
                    let (trivia, doc) = (Trivia::default(), String::new());
                    items.push(Noted { trivia, doc, node: StepItem::Policy(policy), span });
                }
                Rule::then => {
                    let mut tail = Tail::default();
                    for inner in part.into_inner() {
                        self.tail_part(&mut tail, inner);
                    }
                    then = Some(Box::new(tail));
                }
                _ => {}
            }
        }
        let mut names = std::mem::take(&mut head.names).into_iter();
        let name = names.next().expect("a step has a name");
        let kind = match rule {
            Rule::llm => StepKind::Llm,
            Rule::code => StepKind::Code(head.statements),
            Rule::ask => StepKind::Ask(Ask {
                on: head.on.expect("an `ask` has its event"),
                always: head.always,
                otherwise: head.otherwise,
            }),
            Rule::call => StepKind::Call(head.path.expect("a `call` has its tool"), head.arguments),
            Rule::human => StepKind::Human(head.text.expect("a `human` has its question")),
            _ => StepKind::Run(Run {
                chart: names.next().expect("a `run` has its chart"),
                arguments: head.params,
                at_entry: head.at_entry,
                forward: head.forward,
            }),
        };
        Step { name, renamed: head.renamed, kind, each, client, guard, items, then, end }
    }

    fn each_in(&mut self, pair: P<'_>) -> Each {
        let (mut name, mut list) = (None, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.declared(&part, Spelling::Lower, "an element")),
                Rule::expr => list = Some(self.expr(part)),
                _ => {}
            }
        }
        Each {
            name: name.expect("an `each` has a name"),
            list: list.expect("an `each` has a list"),
        }
    }

    fn params_given(&mut self, pair: P<'_>) -> Vec<ParamArgument> {
        let given = pair.into_inner().filter(|p| p.as_rule() == Rule::run_arg);
        given
            .map(|argument| {
                let (mut name, mut value) = (None, None);
                for part in argument.into_inner() {
                    match part.as_rule() {
                        Rule::name => name = Some(self.ident(&part)),
                        Rule::expr => value = Some(self.expr(part)),
                        _ => {}
                    }
                }
                ParamArgument { name, value: value.expect("an argument has a value") }
            })
            .collect()
    }

    fn ask_event(&mut self, pair: P<'_>) -> EventPattern {
        if pair.as_rule() == Rule::kw_turn {
            return EventPattern::Turn(self.span(&pair));
        }
        EventPattern::Event(self.path(pair), Vec::new())
    }

    fn otherwise(&mut self, pair: P<'_>) -> Option<AskElse> {
        let target = pair.into_inner().find(|p| p.as_rule() != Rule::kw_else)?;
        Some(match target.as_rule() {
            Rule::target => AskElse::Take(self.target(target)),
            _ => AskElse::Stay,
        })
    }

    /// Builds a `Rule::policy` or a `Rule::instead`.
    pub(super) fn policy(&mut self, pair: P<'_>) -> Policy {
        let span = self.span(&pair);
        let (mut retry, mut then) = (None, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::int => retry = Some(Spanned::new(self.count(&part), self.span(&part))),
                Rule::kw_skip => then = Some(FailWord::Skip),
                Rule::kw_fail => then = Some(FailWord::Fail),
                Rule::target => then = Some(FailWord::Take(self.target(part))),
                _ => {}
            }
        }
        Policy { retry, then, span }
    }

    /// Builds a small number that is written in digits; a larger one is reported and becomes 0.
    pub(super) fn count(&mut self, pair: &P<'_>) -> u32 {
        let value = self.int(pair);
        u32::try_from(value).unwrap_or_else(|_| {
            let span = self.span(pair);
            self.error(span, format!("`{value}` is too large here"));
            0
        })
    }
}

fn step_item(cx: &mut Cx<'_>, pair: P<'_>) -> StepItem {
    match pair.as_rule() {
        Rule::prompt => {
            let text = parts(pair).next().expect("a prompt has a text");
            StepItem::Prompt(cx.template(&text))
        }
        Rule::use_tools => {
            let (mut set, mut calls) = (None, None);
            for part in pair.into_inner() {
                match part.as_rule() {
                    Rule::path => set = Some(cx.path(part)),
                    Rule::int => calls = Some(Spanned::new(cx.count(&part), cx.span(&part))),
                    _ => {}
                }
            }
            StepItem::Tools(set.expect("tools are of a set"), calls)
        }
        Rule::policy => StepItem::Policy(cx.policy(pair)),
        Rule::returns => {
            let (mut ty, mut into) = (None, None);
            for part in pair.into_inner() {
                match part.as_rule() {
                    Rule::type_expr => ty = Some(type_expr(cx, part)),
                    Rule::name => into = Some(cx.ident(&part)),
                    _ => {}
                }
            }
            StepItem::Returns(ty.expect("`returns` has a type"), into)
        }
        Rule::ends_turn => {
            let guard = pair.into_inner().find(|p| p.as_rule() == Rule::guard);
            StepItem::EndsTurn(guard.map(|p| cx.guard(p)))
        }
        Rule::doubt_retry => StepItem::DoubtRetry,
        Rule::cut_ok => StepItem::CutOk,
        Rule::done_line | Rule::error_line | Rule::timeout_line | Rule::doubt_line => {
            let rule = pair.as_rule();
            let mut tail = Tail::default();
            let mut bound = None;
            for part in pair.into_inner() {
                if part.as_rule() == Rule::expr {
                    bound = Some(cx.expr(part));
                } else {
                    cx.tail_part(&mut tail, part);
                }
            }
            let kind = match rule {
                Rule::done_line => OutcomeKind::Done,
                Rule::error_line => OutcomeKind::Error,
                Rule::doubt_line => OutcomeKind::Doubt,
                _ => OutcomeKind::Timeout(bound.expect("a `timeout` has its bound")),
            };
            StepItem::Outcome(Outcome { kind, tail })
        }
        rule @ (Rule::at_a_time | Rule::up_to | Rule::enough) => {
            let number = pair.into_inner().find(|p| p.as_rule() == Rule::int);
            let number = number.expect("it has a number");
            let count = Spanned::new(cx.count(&number), cx.span(&number));
            match rule {
                Rule::at_a_time => StepItem::AtATime(count),
                Rule::up_to => StepItem::UpTo(count),
                _ => StepItem::Enough(count),
            }
        }
        Rule::lost => {
            let word = pair.into_inner().last().map(|word| word.as_rule());
            StepItem::Lost(match word {
                Some(Rule::kw_skip) => Lost::Skip,
                Some(Rule::kw_none) => Lost::None,
                _ => Lost::Fail,
            })
        }
        _ => StepItem::Bad(cx.span(&pair)),
    }
}
