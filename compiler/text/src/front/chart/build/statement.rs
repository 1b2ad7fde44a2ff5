//! Builds actions, in blocks and in `code` steps.

use super::{Cx, first_of};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::span::Ident;
use crate::syntax::{Action, Block, Expr, Noted, Template};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

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

fn assign(cx: &mut Cx<'_>, pair: P<'_>) -> (Ident, Expr) {
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
            let (name, expr) = assign(cx, pair);
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
