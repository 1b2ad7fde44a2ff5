//! Builds states and transitions.

use super::declare::{param, params};
use super::name::Spelling;
use super::{Cx, child, parts};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::span::{Ident, Spanned};
use crate::syntax::{
    Allow, Deadline, Done, EventPattern, Expr, From, History, Initial, Limit, Line, LineKind, May,
    MayKind, Path, State, StateBody, StateItem, StateKind, Tail, Target, Template,
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
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a state")),
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
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a history")),
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
        let span = cx.span(&part);
        match part.as_rule() {
            Rule::star => on = Some(EventPattern::Any(span)),
            Rule::stars => on = Some(EventPattern::Everything(span)),
            Rule::kw_turn => on = Some(EventPattern::Turn(span)),
            Rule::done_of => on = Some(EventPattern::Done(subject(cx, part))),
            Rule::error_of => on = Some(EventPattern::Error(subject(cx, part))),
            Rule::doubt_of => on = Some(EventPattern::Doubt(subject(cx, part))),
            Rule::machine_event => {
                on = Some(EventPattern::Machine(Spanned::new(part.as_str().to_owned(), span)));
            }
            Rule::event_use => on = Some(event_use(cx, part)),
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
    let mut parts = pair.into_inner().filter(|p| matches!(p.as_rule(), Rule::path | Rule::name));
    let set = parts.next().map(|p| cx.path(p)).expect("a call is of a set");
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
