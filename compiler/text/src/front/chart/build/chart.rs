//! Builds charts, and the items that only charts have.

use super::declare::{client, component, function, params, tool, tool_set, type_expr};
use super::name::Spelling;
use super::{Cx, child, first_of, parts};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::syntax::{
    Argument, Chart, ChartItem, Check, Meta, MetaValue, Noted, Predicate, UnitBound, Variable,
    VariableKind,
};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

pub(super) fn chart(cx: &mut Cx<'_>, pair: P<'_>) -> Chart {
    let mut inner = parts(pair);
    let name = inner.next().expect("a chart has a name");
    let name = cx.declared(&name, Spelling::Upper, "a chart");
    let body = cx.body(inner, BodyKind::Chart, |cx, p| Some(chart_item(cx, p)));
    Chart { name, items: body.items, end: body.end, supplied: Vec::new() }
}

fn chart_item(cx: &mut Cx<'_>, pair: P<'_>) -> ChartItem {
    match pair.as_rule() {
        Rule::variable => ChartItem::Variable(variable(cx, pair)),
        Rule::event => {
            let mut inner = parts(pair);
            let path = inner.next().map(|p| cx.path(p)).expect("an event has a name");
            ChartItem::Event(path, inner.next().map(|p| params(cx, p)).unwrap_or_default())
        }
        Rule::predicate => {
            let mut inner = parts(pair);
            let name = inner.next().expect("a predicate has a name");
            let name = cx.declared(&name, Spelling::Lower, "a predicate");
            let expr = first_of(inner, Rule::expr);
            ChartItem::Predicate(Predicate { name, expr: cx.expr(expr) })
        }
        Rule::function | Rule::effect => ChartItem::Function(function(cx, pair)),
        Rule::tool => ChartItem::Tool(tool(cx, pair)),
        Rule::tool_set => ChartItem::ToolSet(tool_set(cx, pair)),
        Rule::client => ChartItem::Client(client(cx, pair)),
        Rule::component => ChartItem::Component(component(cx, pair)),
        Rule::check => ChartItem::Check(check(cx, pair)),
        Rule::defaults => {
            let policy = child(pair, Rule::policy);
            ChartItem::Defaults(cx.policy(policy))
        }
        Rule::trace => {
            let count = pair.into_inner().find(|p| p.as_rule() == Rule::int);
            ChartItem::Trace(count.map(|p| cx.count(&p)))
        }
        Rule::meta => {
            let inner = parts(pair);
            let entries = cx.without_trivia(|cx| {
                cx.items(inner, BodyKind::Meta, |cx, p| {
                    (p.as_rule() == Rule::meta_entry).then(|| meta_entry(cx, p))
                })
            });
            ChartItem::Meta(entries.into_iter().map(|n: Noted<Meta>| n.node).collect())
        }
        _ => ChartItem::State(cx.state_item(pair)),
    }
}

fn variable(cx: &mut Cx<'_>, pair: P<'_>) -> Variable {
    let mut kind = VariableKind::Param;
    let (mut name, mut ty, mut range, mut default) = (None, None, None, None);
    let mut renamed = Vec::new();
    for part in pair.into_inner() {
        let span = cx.span(&part);
        match part.as_rule() {
            Rule::kw_input => kind = VariableKind::Input,
            Rule::kw_var => kind = VariableKind::Var { per_turn: false },
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a variable")),
            Rule::renamed => renamed = cx.renamed(part),
            Rule::type_expr => ty = Some(type_expr(cx, part)),
            Rule::range => {
                if kind != VariableKind::Param {
                    cx.error_help(
                        span,
                        "only a `param` has a range",
                        "remove it, or test the value where it is used",
                    );
                }
                let mut ends = part.into_inner().filter(|p| p.as_rule() == Rule::expr);
                if let (Some(from), Some(to)) = (ends.next(), ends.next()) {
                    range = Some((cx.expr(from), cx.expr(to)));
                }
            }
            Rule::expr => default = Some(cx.expr(part)),
            Rule::kw_per => {
                if matches!(kind, VariableKind::Var { .. }) {
                    kind = VariableKind::Var { per_turn: true };
                } else {
                    cx.error(span, "only a `var` starts afresh `per turn`");
                }
            }
            _ => {}
        }
    }
    Variable {
        kind,
        name: name.expect("a variable has a name"),
        renamed,
        ty: ty.expect("a variable has a type"),
        range,
        default,
    }
}

fn check(cx: &mut Cx<'_>, pair: P<'_>) -> Check {
    let mut inner = parts(pair);
    let name = inner.next().expect("a check has a name");
    let name = cx.ident(&name);
    let arguments = inner.filter(|p| p.as_rule() == Rule::argument);
    let arguments = arguments.filter_map(|p| p.into_inner().next());
    Check { name, arguments: arguments.map(|p| argument(cx, p)).collect() }
}

fn argument(cx: &mut Cx<'_>, pair: P<'_>) -> Argument {
    match pair.as_rule() {
        Rule::before => {
            let mut paths = pair.into_inner().filter(|p| p.as_rule() == Rule::path);
            let first = paths.next().map(|p| cx.path(p)).expect("two paths");
            let second = paths.next().map(|p| cx.path(p)).expect("two paths");
            Argument::Before(first, second)
        }
        Rule::bound => {
            let mut inner = pair.into_inner();
            let expr = inner.next().map(|p| cx.expr(p)).expect("a bound has a number");
            let unit = inner.next().map(|p| cx.ident(&p)).expect("a bound has a unit");
            Argument::Bound(UnitBound { expr, unit })
        }
        _ => Argument::State(cx.path(pair)),
    }
}

fn meta_entry(cx: &mut Cx<'_>, pair: P<'_>) -> Meta {
    let mut inner = pair.into_inner().filter(|p| p.as_rule() != Rule::colon);
    let key = inner.next().expect("an entry has a key");
    let key = if key.as_rule() == Rule::name { cx.ident(&key) } else { cx.plain_text(&key) };
    let value = inner.next().map_or(MetaValue::None, |p| meta_value(cx, p));
    Meta { key, value }
}

fn meta_value(cx: &mut Cx<'_>, pair: P<'_>) -> MetaValue {
    let mut minus = false;
    for part in pair.into_inner() {
        return match part.as_rule() {
            Rule::negative => {
                minus = true;
                continue;
            }
            // The sign belongs to the number: the least Int has no positive counterpart.
            Rule::int if minus => MetaValue::Int(
                format!("-{}", part.as_str()).parse().unwrap_or_else(|_| cx.int(&part)),
            ),
            Rule::int => MetaValue::Int(cx.int(&part)),
            Rule::float => {
                let value = cx.float(&part);
                MetaValue::Float(if minus { -value } else { value })
            }
            Rule::kw_true => MetaValue::Bool(true),
            Rule::kw_false => MetaValue::Bool(false),
            Rule::line_string | Rule::block_string => MetaValue::Text(cx.plain_text(&part).node),
            Rule::meta_list => {
                let values = part.into_inner().filter(|p| p.as_rule() == Rule::meta_value);
                MetaValue::List(values.map(|p| meta_value(cx, p)).collect())
            }
            Rule::meta_map => {
                let entries = part.into_inner().filter(|p| p.as_rule() == Rule::meta_entry);
                let entries = entries.map(|p| meta_entry(cx, p)).map(|m| (m.key.node, m.value));
                MetaValue::Map(entries.collect())
            }
            _ => MetaValue::None,
        };
    }
    MetaValue::None
}
