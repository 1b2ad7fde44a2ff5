//! Builds top level items, and the declarations that charts share with them.

use super::name::Spelling;
use super::{Cx, chart, child, parts, test};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::span::{Ident, Spanned};
use crate::syntax::{
    Client, ClientOption, Component, Entry, Enum, Expr, ExprKind, Field, Function, FunctionKind,
    Import, Insert, InsertPosition as At, Item, Method, Param, Record, Template, TemplatePart,
    Tool, ToolPattern, ToolSet, TypeExpr, TypeKind, UnaryOp,
};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

/// Builds a top level item.
pub(super) fn item(cx: &mut Cx<'_>, pair: P<'_>) -> Item {
    match pair.as_rule() {
        Rule::import => Item::Import(import(cx, pair)),
        Rule::record_type => Item::Record(record(cx, pair)),
        Rule::enum_type => Item::Enum(enumeration(cx, pair)),
        Rule::function | Rule::effect => Item::Function(function(cx, pair)),
        Rule::tool => Item::Tool(tool(cx, pair)),
        Rule::tool_set => Item::ToolSet(tool_set(cx, pair)),
        Rule::client => Item::Client(client(cx, pair)),
        Rule::component => Item::Component(component(cx, pair)),
        Rule::chart => Item::Chart(chart::chart(cx, pair)),
        Rule::scenario => Item::Scenario(test::scenario(cx, pair)),
        _ => Item::Bad(cx.span(&pair)),
    }
}

fn import(cx: &mut Cx<'_>, pair: P<'_>) -> Import {
    let text = child(pair, Rule::line_string);
    Import { path: cx.plain_text(&text) }
}

fn record(cx: &mut Cx<'_>, pair: P<'_>) -> Record {
    let mut inner = parts(pair);
    let name = inner.next().expect("a type has a name");
    let name = cx.declared(&name, Spelling::Upper, "a type");
    let fields = cx
        .items(inner, BodyKind::Record, |cx, p| (p.as_rule() == Rule::param).then(|| param(cx, p)));
    Record { name, fields }
}

fn enumeration(cx: &mut Cx<'_>, pair: P<'_>) -> Enum {
    let mut inner = parts(pair);
    let name = inner.next().expect("an enum has a name");
    let name = cx.declared(&name, Spelling::Upper, "an enum");
    let names = cx.items(inner, BodyKind::Enum, |cx, p| {
        let name = p.into_inner().next()?;
        Some(cx.declared(&name, Spelling::Lower, "an enum's value"))
    });
    Enum { name, names }
}

/// Builds a parameter or a field: `a: T`.
pub(super) fn param(cx: &mut Cx<'_>, pair: P<'_>) -> Field {
    let mut name = None;
    let mut ty = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a field")),
            Rule::type_expr => ty = Some(type_expr(cx, part)),
            _ => {}
        }
    }
    Field { name: name.expect("a field has a name"), ty: ty.expect("a field has a type") }
}

/// Builds a list of parameters: `(a: T, b: T)`.
pub(super) fn params(cx: &mut Cx<'_>, pair: P<'_>) -> Vec<Param> {
    pair.into_inner().filter(|p| p.as_rule() == Rule::param).map(|p| param(cx, p)).collect()
}

/// Builds a type, such as `List(T)?`.
pub(super) fn type_expr(cx: &mut Cx<'_>, pair: P<'_>) -> TypeExpr {
    let span = cx.span(&pair);
    let mut name = Ident::new(String::new(), span);
    let mut arguments = Vec::new();
    let mut optional = 0;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = cx.ident(&part),
            Rule::type_args => {
                let types = part.into_inner().filter(|p| p.as_rule() == Rule::type_expr);
                arguments = types.map(|p| type_expr(cx, p)).collect();
            }
            _ => optional += 1,
        }
    }
    let (count, wanted) =
        (arguments.len(), usize::from(name.node == "List") + 2 * usize::from(name.node == "Map"));
    let mut arguments = arguments.into_iter().map(Box::new);
    let inner = match (arguments.next(), arguments.next()) {
        (Some(item), None) if wanted == 1 => TypeKind::List(item),
        (Some(key), Some(value)) if wanted == 2 && count == 2 => TypeKind::Map(key, value),
        _ => {
            if count != wanted {
                let message = match wanted {
                    0 => format!("`{}` holds no other type", name.node),
                    1 => "`List` holds one type".to_owned(),
                    _ => "`Map` holds two types, of keys and of values".to_owned(),
                };
                cx.error_help(
                    span,
                    message,
                    "write it as in `Int`, `List(Int)` or `Map(Text, Int)`",
                );
            }
            TypeKind::Name(name.node)
        }
    };
    if optional > 1 {
        cx.error(span, "one `?` is enough");
    }
    if optional == 0 {
        return TypeExpr { kind: inner, span };
    }
    // The inner type ends before the `?`.
    let end = span.end as usize;
    let bare = crate::span::Span { end: (end - 1) as u32, ..span };
    TypeExpr { kind: TypeKind::Optional(Box::new(TypeExpr { kind: inner, span: bare })), span }
}

pub(super) fn function(cx: &mut Cx<'_>, pair: P<'_>) -> Function {
    let pure = pair.as_rule() == Rule::function;
    let mut name = None;
    let (mut all, mut result, mut otherwise) = (Vec::new(), None, None);
    let mut from = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a function")),
            Rule::params => all = params(cx, part),
            Rule::type_expr => result = Some(type_expr(cx, part)),
            Rule::method if pure => from = method(cx, part),
            Rule::method => {
                let span = cx.span(&part);
                cx.error_help(span, "an effect is no method", "only `fn` has `from`");
            }
            Rule::expr => otherwise = Some(cx.expr(part)),
            _ => {}
        }
    }
    let kind = match result {
        Some(result) if pure => FunctionKind::Pure(result, from, otherwise),
        _ => FunctionKind::Effect,
    };
    Function { name: name.expect("a function has a name"), params: all, kind }
}

fn method(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Method> {
    let span = cx.span(&pair);
    let texts = pair.into_inner().filter(|part| part.as_rule() == Rule::line_string);
    let texts: Vec<Spanned<String>> = texts.map(|part| cx.plain_text(&part)).collect();
    if let Ok([artifact, name]) = <[Spanned<String>; 2]>::try_from(texts) {
        return Some(Method { artifact, name });
    }
    let help = "write it as in `from \"shop\" \"price\"`";
    cx.error_help(span, "the artifact stands here without its method", help);
    None
}

pub(super) fn tool(cx: &mut Cx<'_>, pair: P<'_>) -> Tool {
    let (mut name, mut all, mut result, mut idempotent) = (None, Vec::new(), None, false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::kw_idempotent => idempotent = true,
            Rule::path => name = Some(cx.path(part)),
            Rule::params => all = params(cx, part),
            Rule::type_expr => result = Some(type_expr(cx, part)),
            _ => {}
        }
    }
    Tool {
        name: name.expect("a tool has a name"),
        params: all,
        result: result.expect("a tool has a result"),
        idempotent,
    }
}

pub(super) fn tool_set(cx: &mut Cx<'_>, pair: P<'_>) -> ToolSet {
    let mut name = None;
    let (mut plus, mut minus, mut away) = (Vec::new(), Vec::new(), false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a tool set")),
            Rule::take_away => away = true,
            Rule::pipe => away = false,
            Rule::tool_pattern => {
                let pattern = tool_pattern(cx, part);
                if away { minus.push(pattern) } else { plus.push(pattern) }
            }
            _ => {}
        }
    }
    ToolSet { name: name.expect("a tool set has a name"), plus, minus }
}

fn tool_pattern(cx: &mut Cx<'_>, pair: P<'_>) -> ToolPattern {
    let span = cx.span(&pair);
    let mut path = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::path => path = Some(cx.path(part)),
            Rule::all_below => {
                return path.map_or(ToolPattern::Any(span), ToolPattern::Prefix);
            }
            _ => {}
        }
    }
    path.map_or(ToolPattern::Any(span), ToolPattern::Name)
}

pub(super) fn client(cx: &mut Cx<'_>, pair: P<'_>) -> Client {
    let mut inner = parts(pair);
    let name = inner.next().expect("a client has a name");
    let name = cx.declared(&name, Spelling::Lower, "a client");
    let options = cx.items(inner, BodyKind::Client, |cx, p| {
        (p.as_rule() == Rule::client_option).then(|| client_option(cx, p))
    });
    Client { name, options }
}

fn client_option(cx: &mut Cx<'_>, pair: P<'_>) -> ClientOption {
    let mut inner = pair.into_inner();
    let name = inner.next().expect("an option has a name");
    let name = cx.ident(&name);
    let mut sign = None;
    let mut value = Expr { kind: ExprKind::None, span: name.span };
    for part in inner.flat_map(Pair::into_inner) {
        let span = cx.span(&part);
        let kind = match part.as_rule() {
            Rule::negative => {
                sign = Some(span);
                continue;
            }
            Rule::int => ExprKind::Int(cx.int(&part)),
            Rule::float => ExprKind::Float(cx.float(&part)),
            Rule::duration => ExprKind::Duration(cx.duration(&part)),
            Rule::kw_true => ExprKind::Bool(true),
            Rule::kw_false => ExprKind::Bool(false),
            Rule::kw_none => ExprKind::None,
            Rule::name => ExprKind::Name(cx.ident(&part).node),
            Rule::server_options => {
                let options = part.into_inner().filter(|p| p.as_rule() == Rule::client_option);
                ExprKind::Map(options.map(|p| entry(client_option(cx, p))).collect())
            }
            rule => {
                let text = cx.plain_text(&part);
                let parts = if text.node.is_empty() {
                    Vec::new()
                } else {
                    vec![TemplatePart::Text(text.node, span)]
                };
                ExprKind::Text(Template { parts, span, block: rule == Rule::block_string })
            }
        };
        value = Expr { kind, span };
        if let Some(sign) = sign {
            let kind = ExprKind::Unary(UnaryOp::Negate, Box::new(value));
            value = Expr { kind, span: sign.to(span) };
        }
    }
    ClientOption { name, value }
}

/// Turns an option of a server into an entry of a map.
fn entry(option: ClientOption) -> Entry {
    let ClientOption { name: Ident { node, span }, value } = option;
    let parts = vec![TemplatePart::Text(node, span)];
    let kind = ExprKind::Text(Template { parts, span, block: false });
    Entry { key: Expr { kind, span }, value }
}

pub(super) fn component(cx: &mut Cx<'_>, pair: P<'_>) -> Component {
    let span = cx.span(&pair);
    let mut name = None;
    let mut inserts = Vec::new();
    let mut text = Template { parts: Vec::new(), span, block: false };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => name = Some(cx.declared(&part, Spelling::Lower, "a component")),
            Rule::insert => inserts.push(insert(cx, part)),
            Rule::line_string | Rule::block_string => text = cx.template(&part),
            _ => {}
        }
    }
    Component { name: name.expect("a component has a name"), inserts, text }
}

fn insert(cx: &mut Cx<'_>, pair: P<'_>) -> Insert {
    let (mut step, mut guard, mut place) = (None, None, At::End);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => step = Some(cx.ident(&part)),
            Rule::guard => guard = Some(cx.guard(part)),
            Rule::place => {
                place = match part.as_str() {
                    "start" => At::Start,
                    "replace" => At::Replace,
                    _ => At::End,
                }
            }
            _ => {}
        }
    }
    Insert { step: step.expect("an insertion names a step"), guard, place }
}
