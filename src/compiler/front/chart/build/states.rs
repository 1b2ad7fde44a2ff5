//! Builds states, transitions, steps, actions and tests.
//!
//! The problem: a pair of the grammar has its parts in the order in which they are written. Most parts are optional, and a file with an
//! error has pairs that the grammar could not match. The idea: each function looks at the parts of one pair by their rule, not by their
//! position, and fills the fields of one node. The grammar requires some parts, such as the name of a state; these are taken with `expect`,
//! whose text states what the grammar guarantees. An unreadable item becomes `Bad` with its span, so what surrounds it is kept.
//!
//! The sections are in the order of the language: items of a state and lines, steps, actions, tests. Several rules share one function where
//! their parts differ only in the keyword: `line` builds `on`, `when`, `may` and `after`, and `Cx::step` builds steps of any kind from a
//! `StepHead`. A new keyword needs a rule in the grammar, an arm in the function of its place, and a variant in `syntax`. For example:
//!
//! ```text
//! on mail(text) if text != "" -> open { n = 1 }
//!
//! on_line                       Line
//!   event_use  mail(text)         kind: LineKind::On(EventPattern::Event(mail, [text]))
//!   guard      if text != ""      tail.guard
//!   move_to    -> open            tail.targets, tail.reenter
//!   block      { n = 1 }          tail.actions
//! ```

use super::recover::BodyKind;
use super::{Cx, Spelling, child, ends, first_of, param, params, parts, type_expr};
use crate::front::chart::grammar::Rule;
use crate::syntax::source::{Ident, Spanned};
use crate::syntax::{
    Action, Allow, Ask, AskElse, Assertion, Block, Deadline, Done, Each, EventPattern, Expectation,
    Expr, FailWord, FailureReason, Forward, From, GivenFunction, History, Initial, Limit, Line,
    LineKind, Lost, May, MayKind, Noted, Outcome, OutcomeKind, ParamArgument, Path, Policy, Run,
    Scenario, State, StateBody, StateItem, StateKind, Step, StepItem, StepKind, StepRef, Tail,
    Target, Template, TestAnswer, TestItem, ToolLine, Trivia,
};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

impl Cx<'_> {
    /// Builds an item of a state, or of a chart.
    pub(super) fn state_item(&mut self, pair: P<'_>) -> StateItem {
        match pair.as_rule() {
            Rule::state | Rule::parallel | Rule::final_state => StateItem::State(state(self, pair)),
            Rule::on_line | Rule::when_line | Rule::may_line | Rule::after_line => {
                StateItem::Line(line(self, pair))
            }
            Rule::initial => StateItem::Initial(initial(self, pair)),
            Rule::history => StateItem::History(history(self, pair)),
            Rule::from => StateItem::From(from(self, pair)),
            Rule::enter | Rule::exit => {
                let entering = pair.as_rule() == Rule::enter;
                let block = child(pair, Rule::block);
                let block = self.block(block);
                if entering { StateItem::Enter(block) } else { StateItem::Exit(block) }
            }
            Rule::defer => {
                let events = pair.into_inner().filter_map(|part| event_pattern(self, part));
                StateItem::Defer(events.collect())
            }
            Rule::allow => StateItem::Allow(allow(self, pair)),
            Rule::advice => {
                let text = parts(pair).next().expect("advice has a text");
                StateItem::Advice(self.template(&text))
            }
            Rule::limits => {
                let inner = parts(pair);
                StateItem::Limits(self.items(inner, BodyKind::Limits, |cx, p| {
                    (p.as_rule() == Rule::limit).then(|| limit(cx, p))
                }))
            }
            Rule::llm | Rule::code | Rule::ask | Rule::call | Rule::human | Rule::run => {
                StateItem::Step(self.step(pair))
            }
            _ => StateItem::Bad(self.span(&pair)),
        }
    }

    /// Builds the former names in a `Rule::renamed`.
    pub(super) fn renamed(&mut self, pair: P<'_>) -> Vec<Ident> {
        let names = pair.into_inner().filter(|part| part.as_rule() == Rule::name);
        names.map(|name| self.ident(&name)).collect()
    }

    /// Builds the condition of a `Rule::guard`.
    pub(super) fn guard(&mut self, pair: P<'_>) -> Expr {
        let expr = child(pair, Rule::expr);
        self.expr(expr)
    }

    /// Adds a part of a line to its tail; other parts are ignored.
    pub(super) fn tail_part(&mut self, tail: &mut Tail, part: P<'_>) {
        match part.as_rule() {
            Rule::guard => tail.guard = Some(self.guard(part)),
            Rule::block => tail.actions = Some(self.block(part)),
            Rule::move_to => {
                for inner in part.into_inner() {
                    match inner.as_rule() {
                        Rule::target => tail.targets.push(self.target(inner)),
                        Rule::kw_reenter => tail.reenter = true,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Builds a `Rule::target`.
    pub(super) fn target(&mut self, pair: P<'_>) -> Target {
        let mut inner = pair.into_inner();
        let path = inner.next().map(|p| self.path(p)).expect("a target is a path");
        let arguments = inner.next().map(|p| self.arguments(p)).unwrap_or_default();
        Target { path, arguments }
    }
}

fn state(cx: &mut Cx<'_>, pair: P<'_>) -> State {
    let rule = pair.as_rule();
    let (mut name, mut all, mut status, mut body) = (None, Vec::new(), None, None);
    let mut values = Vec::new();
    let mut renamed = Vec::new();
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::renamed => renamed = cx.renamed(part),
            Rule::name => name = Some(cx.declared(&part, Spelling::Any, "a state")),
            Rule::results => {
                for result in part.into_inner().filter(|p| p.as_rule() == Rule::result) {
                    let mut value = None;
                    for inner in result.into_inner() {
                        match inner.as_rule() {
                            Rule::param => all.push(param(cx, inner)),
                            Rule::expr => value = Some(cx.expr(inner)),
                            _ => {}
                        }
                    }
                    values.push(value);
                }
            }
            Rule::status => {
                let word = child(part, Rule::name);
                status = Some(cx.ident(&word));
            }
            Rule::state_body => {
                let span = cx.span(&part);
                let inner =
                    cx.body(part.into_inner(), BodyKind::State, |cx, p| Some(cx.state_item(p)));
                body = Some(StateBody { items: inner.items, end: inner.end, span });
            }
            _ => {}
        }
    }
    let kind = match rule {
        Rule::parallel => StateKind::Parallel,
        Rule::final_state => StateKind::Final(all, values, status),
        _ => StateKind::State,
    };
    State { kind, name: name.expect("a state has a name"), renamed, body }
}

fn initial(cx: &mut Cx<'_>, pair: P<'_>) -> Initial {
    let (mut targets, mut actions) = (Vec::new(), None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::path => targets.push(cx.path(part)),
            Rule::block => actions = Some(cx.block(part)),
            _ => {}
        }
    }
    let (first, last) = (targets.first(), targets.last());
    let span = first.zip(last).map(|(first, last)| first.span.to(last.span));
    Initial { span: span.expect("`initial` names a state"), targets, actions }
}

fn history(cx: &mut Cx<'_>, pair: P<'_>) -> History {
    let (mut name, mut deep, mut default, mut actions) = (None, false, Vec::new(), None);
    let mut renamed = Vec::new();
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::renamed => renamed = cx.renamed(part),
            Rule::name => name = Some(cx.declared(&part, Spelling::Any, "a history")),
            Rule::kw_deep => deep = true,
            Rule::path => default.push(cx.path(part)),
            Rule::block => actions = Some(cx.block(part)),
            _ => {}
        }
    }
    History { renamed, name: name.expect("a history has a name"), deep, default, actions }
}

fn line(cx: &mut Cx<'_>, pair: P<'_>) -> Line {
    let rule = pair.as_rule();
    let mut tail = Tail::default();
    let mut on = None;
    let (mut expr, mut each, mut turns) = (None, false, false);
    let mut may: Option<May> = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::kw_each => each = true,
            Rule::kw_turns => turns = true,
            Rule::expr => expr = Some(cx.expr(part)),
            Rule::may_call => may = Some(may_call(cx, part)),
            Rule::may_option => may = Some(may_option(cx, part)),
            Rule::line_string | Rule::block_string => {
                let text = cx.template(&part);
                if let Some(may) = &mut may {
                    may.text = Some(text);
                }
            }
            _ if on.is_none() && rule == Rule::on_line => on = event_pattern(cx, part),
            _ => cx.tail_part(&mut tail, part),
        }
    }
    let kind = match rule {
        Rule::on_line => LineKind::On(on.expect("an event follows `on`")),
        Rule::when_line => LineKind::When(expr.expect("a condition follows `when`")),
        Rule::may_line => LineKind::May(Box::new(may.expect("an option follows `may`"))),
        _ => {
            let expr = expr.expect("a bound follows `after`");
            let deadline = if turns { Deadline::Turns(expr) } else { Deadline::Time(expr) };
            LineKind::After { each, deadline }
        }
    };
    Line { kind, tail }
}

/// Builds the event of an `on` transition or of a `defer` line; `None` for any other part.
fn event_pattern(cx: &mut Cx<'_>, part: P<'_>) -> Option<EventPattern> {
    let span = cx.span(&part);
    Some(match part.as_rule() {
        Rule::star => EventPattern::Any(span),
        Rule::stars => EventPattern::Everything(span),
        Rule::kw_turn => EventPattern::Turn(span),
        Rule::done_of => EventPattern::Done(subject(cx, part)),
        Rule::error_of => EventPattern::Error(subject(cx, part)),
        Rule::doubt_of => EventPattern::Doubt(subject(cx, part)),
        Rule::machine_event => EventPattern::Machine(Spanned::new(part.as_str().to_owned(), span)),
        Rule::event_use => event_use(cx, part),
        _ => return None,
    })
}

fn subject(cx: &mut Cx<'_>, pair: P<'_>) -> Done {
    let (mut subject, mut binding) = (None, None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::path => subject = Some(cx.path(part)),
            Rule::name => binding = Some(cx.ident(&part)),
            _ => {}
        }
    }
    Done { subject: subject.expect("`done` is of something"), binding }
}

fn event_use(cx: &mut Cx<'_>, pair: P<'_>) -> EventPattern {
    let mut inner = pair.into_inner();
    let path = inner.next().map(|p| cx.path(p)).expect("an event is a path");
    let names = inner.next().map(|p| {
        p.into_inner().filter(|n| n.as_rule() == Rule::name).map(|n| cx.ident(&n)).collect()
    });
    EventPattern::Event(path, names.unwrap_or_default())
}

fn may_call(cx: &mut Cx<'_>, pair: P<'_>) -> May {
    let mut parts =
        pair.into_inner().filter(|p| matches!(p.as_rule(), Rule::tool_sum | Rule::name));
    let set = parts.next().map(|p| super::tool_sum(cx, p)).expect("a call is of a set");
    let into = parts.next().map(|n| cx.ident(&n));
    May { kind: MayKind::Call(set, into), text: None::<Template> }
}

fn may_option(cx: &mut Cx<'_>, pair: P<'_>) -> May {
    let mut inner = pair.into_inner();
    let name = inner.next().expect("an option has a name");
    let name = cx.declared(&name, Spelling::Lower, "an option");
    let all = inner.next().map(|p| params(cx, p)).unwrap_or_default();
    May { kind: MayKind::Option(name, all), text: None }
}

fn states(cx: &mut Cx<'_>, pair: P<'_>) -> Vec<Path> {
    pair.into_inner().filter(|p| p.as_rule() == Rule::path).map(|p| cx.path(p)).collect()
}

fn from(cx: &mut Cx<'_>, pair: P<'_>) -> From {
    let mut span = cx.span(&pair);
    let (mut named, mut except) = (Vec::new(), Vec::new());
    for part in pair.clone().into_inner() {
        match part.as_rule() {
            Rule::star => span = cx.span(&part),
            Rule::states => {
                span = cx.span(&part);
                named = states(cx, part);
            }
            Rule::except => {
                let inner = child(part, Rule::states);
                except = states(cx, inner);
            }
            Rule::open_brace => break,
            _ => {}
        }
    }
    let mut body = pair.into_inner();
    // The body begins after the brace.
    while body.next().is_some_and(|p| p.as_rule() != Rule::open_brace) {}
    let lines =
        cx.body(body, BodyKind::From, |cx, p| (p.as_rule() != Rule::bad_item).then(|| line(cx, p)));
    From { states: named, except, lines: lines.items, end: lines.end, span }
}

fn allow(cx: &mut Cx<'_>, pair: P<'_>) -> Allow {
    let (mut paths, mut any, mut guard) = (Vec::new(), false, None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::star => any = true,
            Rule::path => paths.push(cx.path(part)),
            Rule::guard => guard = Some(cx.guard(part)),
            _ => {}
        }
    }
    let to = paths.pop().expect("something is allowed");
    Allow { from: if any { None } else { paths.pop() }, to, guard }
}

fn limit(cx: &mut Cx<'_>, pair: P<'_>) -> Limit {
    let mut inner = pair.into_inner();
    let what = inner.next().map(|n| cx.ident(&n)).expect("a limit has a name");
    let (mut bound, mut warn, mut per_turn) = (None, None, false);
    for part in inner {
        match part.as_rule() {
            Rule::expr if bound.is_none() => bound = Some(cx.expr(part)),
            Rule::expr => warn = Some(cx.expr(part)),
            Rule::kw_per => per_turn = true,
            _ => {}
        }
    }
    Limit { what, bound: bound.expect("a limit has a bound"), warn, per_turn }
}

// Builds steps.

/// The parts of the first line of a step, of any kind.
#[derive(Default)]
struct StepHead {
    names: Vec<crate::syntax::source::Ident>,
    renamed: Vec<crate::syntax::source::Ident>,
    path: Option<Path>,
    arguments: Vec<crate::syntax::Expr>,
    text: Option<crate::syntax::Template>,
    exact: bool,
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
        let (mut client, mut guard, mut then, mut each, mut on) = (None, None, None, None, None);
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
                Rule::step_event => {
                    on = part.into_inner().next().map(|p| Box::new(self.step_event(p)));
                }
                Rule::kw_exact => head.exact = true,
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
                exact: head.exact,
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
        Step { name, renamed: head.renamed, kind, on, each, client, guard, items, then, end }
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

    fn step_event(&mut self, pair: P<'_>) -> EventPattern {
        if pair.as_rule() == Rule::kw_turn {
            return EventPattern::Turn(self.span(&pair));
        }
        event_use(self, pair)
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
                Rule::retry => retry = Some(self.retry(part)),
                Rule::kw_skip => then = Some(FailWord::Skip),
                Rule::kw_fail => then = Some(FailWord::Fail),
                Rule::target => then = Some(FailWord::Take(self.target(part))),
                _ => {}
            }
        }
        Policy { retry, then, span }
    }

    /// Builds a `Rule::retry`.
    pub(super) fn retry(&mut self, pair: P<'_>) -> crate::syntax::Retry {
        let mut retry = crate::syntax::Retry::times(Spanned::new(0, self.span(&pair)));
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::int => retry.times = Spanned::new(self.count(&part), self.span(&part)),
                Rule::retry_on => {
                    let names = part.into_inner().filter(|p| p.as_rule() == Rule::name);
                    retry.on = names.map(|name| self.ident(&name)).collect();
                }
                Rule::retry_wait => {
                    let waits = part.into_inner().filter(|p| p.as_rule() == Rule::duration);
                    let mut waits =
                        waits.map(|wait| Spanned::new(self.duration(&wait), self.span(&wait)));
                    retry.wait = waits.next().map(|first| (first, waits.next()));
                }
                _ => {}
            }
        }
        retry
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

/// The number in `up to 20` and the like.
fn number(cx: &mut Cx<'_>, pair: P<'_>) -> Spanned<u32> {
    let number = pair.into_inner().find(|p| p.as_rule() == Rule::int);
    let number = number.expect("it has a number");
    Spanned::new(cx.count(&number), cx.span(&number))
}

fn tool_line(cx: &mut Cx<'_>, pair: P<'_>) -> ToolLine {
    let mut tools = None;
    let (mut most, mut guard, mut approval) = (None, None, None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::tool_sum => tools = Some(super::tool_sum(cx, part)),
            Rule::up_to => most = Some(number(cx, part)),
            Rule::guard => guard = Some(cx.guard(part)),
            Rule::approval => {
                approval = parts(part).next().map(|text| cx.template(&text));
            }
            _ => {}
        }
    }
    ToolLine { tools: tools.expect("a line is about tools"), most, guard, approval }
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
                    Rule::tool_sum => set = Some(super::tool_sum(cx, part)),
                    Rule::int => calls = Some(Spanned::new(cx.count(&part), cx.span(&part))),
                    _ => {}
                }
            }
            StepItem::Tools(set.expect("tools are of a set"), calls)
        }
        Rule::tool_line => StepItem::Tool(tool_line(cx, pair)),
        Rule::policy => StepItem::Policy(cx.policy(pair)),
        Rule::returns => {
            let (mut ty, mut range, mut into) = (None, None, None);
            for part in pair.into_inner() {
                match part.as_rule() {
                    Rule::type_expr => ty = Some(type_expr(cx, part)),
                    Rule::range => range = ends(cx, part),
                    Rule::name => into = Some(cx.ident(&part)),
                    _ => {}
                }
            }
            StepItem::Returns(ty.expect("`returns` has a type"), range, into)
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
            let count = number(cx, pair);
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

// Builds actions, in blocks and in `code` steps.

/// The maximum number of branches of an `if`: each `else if` is nested in the one before it.
const MAX_ELSE: usize = 64;

impl Cx<'_> {
    /// Builds the `Rule::statements` of a step, with the comments after the last one.
    pub(super) fn code(&mut self, pair: P<'_>) -> super::Body<Action> {
        self.body(pair.into_inner(), BodyKind::Code, action)
    }

    /// Builds the `Rule::statements` or `Rule::block` of a branch or a loop.
    fn inner(&mut self, pair: P<'_>) -> Vec<Noted<Action>> {
        let place = if pair.as_rule() == Rule::block { BodyKind::Actions } else { BodyKind::Code };
        self.items(pair.into_inner(), place, action)
    }

    /// Builds a `Rule::block`.
    pub(super) fn block(&mut self, pair: P<'_>) -> Block {
        let span = self.span(&pair);
        Block { actions: self.items(pair.into_inner(), BodyKind::Actions, action), span }
    }
}

fn for_each(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Action> {
    let (mut name, mut source, mut body) = (None, None, Vec::new());
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.ident(&part)),
            Rule::expr => source = Some(cx.expr(part)),
            Rule::statements | Rule::block => body = cx.inner(part),
            _ => {}
        }
    }
    Some(Action::For(name?, source?, body))
}

fn if_else(cx: &mut Cx<'_>, pair: P<'_>) -> Action {
    let mut branches = Vec::new();
    let mut test = None;
    let mut otherwise = Vec::new();
    let mut told = false;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::expr => test = Some(cx.expr(part)),
            Rule::statements | Rule::block => {
                let body = cx.inner(part);
                match test.take() {
                    Some(test) => branches.push((None, test, body)),
                    None => otherwise = body,
                }
            }
            Rule::else_if | Rule::else_if_action => {
                if branches.len() == MAX_ELSE && !std::mem::replace(&mut told, true) {
                    let span = cx.span(&part);
                    cx.error(span, format!("more than {MAX_ELSE} branches in one `if`"));
                }
                let (mut test, mut body) = (None, Vec::new());
                let mut span = cx.span(&part);
                for inner in part.into_inner() {
                    match inner.as_rule() {
                        Rule::kw_if => span = cx.span(&inner).to(span),
                        Rule::expr => test = Some(cx.expr(inner)),
                        Rule::statements | Rule::block => body = cx.inner(inner),
                        _ => {}
                    }
                }
                if let Some(test) = test.filter(|_| branches.len() < MAX_ELSE) {
                    branches.push((Some(span), test, body));
                }
            }
            _ => {}
        }
    }
    let mut result = None;
    // From the last branch to the first: each one becomes the `else` of the one before it.
    for (span, test, body) in branches.into_iter().rev() {
        let branch = Action::If(test, body, std::mem::take(&mut otherwise));
        match span {
            Some(span) => {
                otherwise = vec![Noted {
                    trivia: crate::syntax::Trivia::default(),
                    doc: String::new(),
                    node: branch,
                    span,
                }];
            }
            None => result = Some(branch),
        }
    }
    result.expect("the grammar begins with a branch")
}

fn build_assignment(cx: &mut Cx<'_>, pair: P<'_>) -> (Ident, Expr) {
    let mut parts = pair.into_inner();
    let name = parts.next().expect("an assignment names a variable");
    let name = cx.ident(&name);
    let expr = first_of(parts, Rule::expr);
    (name, cx.expr(expr))
}

fn action(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Action> {
    let rule = pair.as_rule();
    match rule {
        Rule::assign => {
            let (name, expr) = build_assignment(cx, pair);
            return Some(Action::Assign(name, expr));
        }
        Rule::if_statement | Rule::if_action => return Some(if_else(cx, pair)),
        Rule::for_statement | Rule::for_action => return for_each(cx, pair),
        _ => {}
    }
    let span = cx.span(&pair);
    let (mut path, mut name, mut arguments, mut after) = (None, None, Vec::new(), None);
    let mut text = Template { parts: Vec::new(), span, block: false };
    let mut to = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::path => path = Some(cx.path(part)),
            Rule::name => name = Some(cx.ident(&part)),
            Rule::call_args => arguments = cx.arguments(part),
            Rule::expr => after = Some(cx.expr(part)),
            Rule::receiver => {
                let mut parts = part.into_inner();
                let name = parts.find(|part| part.as_rule() == Rule::name);
                let element = parts.find(|part| part.as_rule() == Rule::expr);
                let element = element.map(|index| cx.expr(index));
                to = name.map(|name| Box::new((cx.ident(&name), element)));
            }
            Rule::line_string | Rule::block_string => text = cx.template(&part),
            _ => {}
        }
    }
    match rule {
        Rule::raise => Some(Action::Raise(path?, arguments)),
        Rule::send => Some(Action::Send { event: path?, arguments, to, after, id: name }),
        Rule::cancel => Some(Action::Cancel(name?)),
        Rule::log => Some(Action::Log(text)),
        Rule::do_call => Some(Action::Do(name?, arguments)),
        _ => None,
    }
}

// Builds tests.

pub(super) fn scenario(cx: &mut Cx<'_>, pair: P<'_>) -> Scenario {
    let span = cx.span(&pair);
    let mut name = Spanned::new(String::new(), span);
    let mut chart = Ident::new(String::new(), span);
    let mut body = Vec::new();
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::line_string => name = cx.plain_text(&part),
            Rule::name => chart = cx.ident(&part),
            Rule::kw_test | Rule::kw_for => {}
            _ => body.push(part),
        }
    }
    let end = body.last().map_or(0, |last| last.as_span().start());
    let items = cx.items(body, BodyKind::Test, |cx, pair| Some(item(cx, pair)));
    let end = cx.rest(end);
    Scenario { name, chart, items, end }
}

fn item(cx: &mut Cx<'_>, pair: P<'_>) -> TestItem {
    let span = cx.span(&pair);
    let made = match pair.as_rule() {
        Rule::given => given(cx, pair),
        Rule::test_at => Some(TestItem::At(Parts::from_pair(cx, pair).paths)),
        Rule::test_send => {
            let parts = Parts::from_pair(cx, pair);
            let arguments = parts.arguments.unwrap_or_default();
            parts.paths.into_iter().next().map(|event| TestItem::Send(event, arguments))
        }
        Rule::test_turn => Some(TestItem::Turn(None)),
        Rule::test_turns => {
            let count = child(pair, Rule::int);
            let (count, span) = (cx.int(&count), cx.span(&count));
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            Some(TestItem::Turn(Some(Spanned::new(count, span))))
        }
        Rule::test_until => Parts::from_pair(cx, pair).asked.map(TestItem::Until),
        Rule::test_set => {
            let (name, value) = build_assignment(cx, child(pair, Rule::assign));
            Some(TestItem::Set(name, value))
        }
        Rule::test_wait => Some(TestItem::Wait(cx.expr(child(pair, Rule::expr)))),
        Rule::answers => answers(cx, pair),
        Rule::fails => {
            let Parts { asked, why, .. } = Parts::from_pair(cx, pair);
            asked.zip(why).map(|(step, why)| TestItem::Fails(step, why))
        }
        Rule::returned => {
            let Parts { paths, expr, why, .. } = Parts::from_pair(cx, pair);
            match (paths.into_iter().next(), expr, why) {
                (Some(tool), Some(value), _) => Some(TestItem::Returns(tool, value)),
                (Some(tool), None, Some(why)) => Some(TestItem::ToolFails(tool, why)),
                _ => None,
            }
        }
        Rule::expectation => expectation(cx, pair).map(TestItem::Expect),
        _ => None,
    };
    made.unwrap_or(TestItem::Bad(span))
}

/// The parts that items of a test are made of. Each item has some of them.
#[derive(Default)]
struct Parts {
    name: Option<Ident>,
    asked: Option<StepRef>,
    paths: Vec<Path>,
    arguments: Option<Vec<Expr>>,
    expr: Option<Expr>,
    text: Option<Spanned<String>>,
    why: Option<FailureReason>,
    is_only: bool,
}

impl Parts {
    fn from_pair(cx: &mut Cx<'_>, pair: P<'_>) -> Self {
        let mut parts = Self::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => parts.name = Some(cx.ident(&part)),
                Rule::asked => parts.asked = asked(cx, part),
                Rule::prompt_of => parts.name = Some(cx.ident(&child(part, Rule::name))),
                Rule::path => parts.paths.push(cx.path(part)),
                Rule::call_args => parts.arguments = Some(cx.arguments(part)),
                Rule::expr => parts.expr = Some(cx.expr(part)),
                Rule::line_string => parts.text = Some(cx.plain_text(&part)),
                Rule::why => parts.why = why(cx, part),
                Rule::kw_only => parts.is_only = true,
                _ => {}
            }
        }
        parts
    }
}

fn why(cx: &mut Cx<'_>, pair: P<'_>) -> Option<FailureReason> {
    let part = pair.into_inner().next()?;
    Some(match part.as_rule() {
        Rule::name => FailureReason::Kind(cx.ident(&part)),
        _ => FailureReason::Text(cx.plain_text(&part)),
    })
}

fn given(cx: &mut Cx<'_>, pair: P<'_>) -> Option<TestItem> {
    let what = pair.into_inner().find(|p| matches!(p.as_rule(), Rule::assign | Rule::given_fn))?;
    if what.as_rule() == Rule::assign {
        let (name, value) = build_assignment(cx, what);
        return Some(TestItem::Given(name, value));
    }
    let Parts { name, arguments, expr, why, .. } = Parts::from_pair(cx, what);
    let result = match (expr, why) {
        (Some(value), _) => Ok(value),
        (None, Some(why)) => Err(why),
        (None, None) => return None,
    };
    Some(TestItem::GivenFunction(GivenFunction { name: name?, arguments, result }))
}

fn asked(cx: &mut Cx<'_>, pair: P<'_>) -> Option<StepRef> {
    let (mut path, mut element) = (Vec::new(), None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => path.push(cx.ident(&part)),
            Rule::int => element = Some(Spanned::new(cx.count(&part), cx.span(&part))),
            _ => {}
        }
    }
    let step = path.pop()?;
    Some(StepRef { path, step, element })
}

fn answers(cx: &mut Cx<'_>, pair: P<'_>) -> Option<TestItem> {
    let mut step = None;
    let mut said = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::asked => step = asked(cx, part),
            Rule::line_string => said = Some(TestAnswer::Text(cx.plain_text(&part))),
            Rule::option_use => {
                let Parts { paths, arguments, .. } = Parts::from_pair(cx, part);
                let option = paths.into_iter().next()?;
                said = Some(TestAnswer::Option(option, arguments.unwrap_or_default()));
            }
            Rule::expr => said = Some(TestAnswer::Value(cx.expr(part))),
            _ => {}
        }
    }
    Some(TestItem::Answers(step?, said?))
}

fn expectation(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Expectation> {
    let mut negated = false;
    let mut what = None;
    for part in pair.into_inner() {
        let rule = part.as_rule();
        match rule {
            Rule::kw_expect => {}
            Rule::kw_not => negated = true,
            Rule::expr => what = Some(Assertion::Holds(cx.expr(part))),
            Rule::told_ended => {
                let status = part.into_inner().find(|p| p.as_rule() == Rule::end_status);
                let status = status.map(|p| Spanned::new(p.as_str().to_owned(), cx.span(&p)));
                what = Some(Assertion::Ended(status));
            }
            Rule::told_text => {
                let is_prompt = part.clone().into_inner().any(|p| p.as_rule() == Rule::prompt_of);
                let Parts { name, text, .. } = Parts::from_pair(cx, part);
                let (name, text) = (name?, text?);
                what = Some(if is_prompt {
                    Assertion::Prompt(name, text)
                } else {
                    Assertion::Text(name, text)
                });
            }
            _ => {
                let parts = Parts::from_pair(cx, part);
                let Parts { name, asked, mut paths, arguments, is_only, .. } = parts;
                what = Some(match rule {
                    Rule::told_at => Assertion::At(paths),
                    Rule::told_offered => Assertion::Offered(paths, is_only),
                    Rule::told_denied => Assertion::Denied(paths.pop()),
                    Rule::told_called => Assertion::Called(paths.pop()?, arguments),
                    Rule::told_asking => Assertion::Asking(asked?),
                    _ => Assertion::Asked(name?),
                });
            }
        }
    }
    Some(Expectation { negated, what: what? })
}
