//! Declares types, variables, events, functions, clients, tools and their options.
//!
//! The problem: declarations refer to each other, and one with a mistake must not make all its uses mistakes, too. The idea: what may be
//! named before it is declared gets its name in a first pass and its contents in a second one: types, and clients, which fall back to each
//! other. Variables and named conditions are declared in order, as each may read only those before it. A declaration with a mistake is
//! declared all the same, with a placeholder for what is wrong: `Json` for an unknown type, a zero for a missing initial value. Of two with
//! the same name, the first counts.
//!
//! Some mistakes only appear in the whole: records that contain themselves (cycles of `held`, found by `on`), clients that fall back to
//! themselves (`refuse_cycle`), and named conditions that become huge when those in them are expanded (`LONGEST`).
//!
//! A new option of clients needs a row in `OPTIONS` and an arm in `client`; a new type of the language needs a row in `PLAIN`. For example:
//!
//! ```text
//! type Post { author: User  replies: List(Post) }
//! type User { name: Text  last: Post? }
//! ```
//!
//! Both names come first, so `Post` may name `User`. Then the fields are resolved. A `Post` contains a `User`, and a `User` may contain a
//! `Post`: both are reported. The list of replies is no problem, because it may be empty.

use super::context::{self, Cx, Declared, NameKind, TypeItem, declare};
use super::expr::{self, Env, optional};
use super::tools::tool_set;
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, duplicate_name, unknown_name};
use crate::syntax::diagnostic::Broken;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, Ends, Entry, Param, Path, TemplatePart, TypeExpr};
use chartc_core::arena::{
    ClientId, EventId, FunctionId, PredicateId, StateId, ToolId, TypeId, VarId,
};
use chartc_core::expr::{Map, Value};
use chartc_core::model::{
    ActionForm, Client, Event, Expr, ExprKind, FailureKind, FailureKinds, Field, Function,
    FunctionKind, Method, Predicate, Renamed, Retry, Tool, Type, TypeDef, TypeKind, Variable,
    VariableKind, Within,
};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;

/// Declares all host functions.
pub(super) fn functions(cx: &mut Cx<'_>, items: &[Declared<'_, &syntax::Function>]) {
    for item in items {
        let name = &item.node.name;
        cx.record_declaration(name, NameKind::Function);
        if expr::is_language_function(&name.node) {
            cx.report(duplicate_name::of_the_language(&name.node, "a function", name.span));
            continue;
        }
        let id = FunctionId::at(cx.chart.functions.len());
        let free = declare(
            &mut cx.findings,
            &mut cx.names.functions,
            "function",
            &name.node,
            name.span,
            id,
        );
        let params = fields(cx, &item.node.params, NameKind::Param);
        let kind = match &item.node.kind {
            syntax::FunctionKind::Pure(result, method, fallback) => {
                let result = resolve(cx, result);
                let fallback =
                    fallback.as_ref().and_then(|value| constant(cx, value, &result, "`else`"));
                let method = method.as_ref().map(|method| Method {
                    artifact: method.artifact.node.clone(),
                    name: method.name.node.clone(),
                });
                FunctionKind::Pure { result, fallback, method }
            }
            syntax::FunctionKind::Effect => FunctionKind::Effect,
        };
        if free {
            let (name, doc) = (name.node.clone(), item.doc.to_owned());
            cx.chart.functions.push(Function { name, doc, kind, params });
            cx.map.functions.push(item.node.name.span);
        }
    }
}

/// The value of an expression that must be a literal of type `want`.
pub(super) fn constant(
    cx: &mut Cx<'_>,
    written: &syntax::Expr,
    want: &Type,
    what: &str,
) -> Option<Value> {
    let before = cx.findings.len();
    let lowered = expr::expect(cx, &mut Env::constant(), written, want);
    let value = expr::value_of(&lowered);
    if value.is_none() && cx.findings.len() == before && !expr::is_faulty(&lowered) {
        cx.report(TYPE_ERROR.at(written.span, format!("the value of {what} must be a literal")));
    }
    value
}

/// The names of the options that a client can have.
pub const OPTIONS: [&str; 10] = [
    "model",
    "temperature",
    "max_tokens",
    "timeout",
    "options",
    "retry",
    "fallback",
    "input_price",
    "output_price",
    "actions",
];

/// Lowers `retry 3 on timeout, server wait 1s up to 30s`; reports unknown kinds.
pub(super) fn retry(cx: &mut Cx<'_>, written: &syntax::Retry) -> Retry {
    let mut retry = Retry::times(written.times.node);
    if !written.on.is_empty() {
        retry.on = FailureKinds::NONE;
    }
    for word in &written.on {
        let mut known = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_charts());
        match known.clone().find(|kind| kind.word() == word.node) {
            Some(kind) => retry.on = retry.on.with(kind),
            None => {
                let words: Vec<&str> = known.by_ref().map(FailureKind::word).collect();
                let mut finding = unknown_name::unknown(
                    "kind of failure",
                    &word.node,
                    word.span,
                    Some(words.iter().copied()),
                );
                if finding.help.is_none() {
                    finding = finding.help(format!("there are {}", words.join(", ")));
                }
                cx.report(finding);
            }
        }
    }
    if let Some((first, most)) = &written.wait {
        let most = most.as_ref().map_or(first.node, |most| most.node);
        if most < first.node {
            let finding = TYPE_ERROR
                .at(first.span, "the first wait is longer than the longest")
                .help("write the longest behind `up to`");
            cx.report(finding);
        }
        retry.wait = Some([first.node.min(most), most]);
    }
    retry
}

/// Declares all clients.
pub(super) fn clients(cx: &mut Cx<'_>, items: &[Declared<'_, &syntax::Client>]) {
    let mut kept = Vec::new();
    for item in items {
        let name = &item.node.name;
        cx.record_declaration(name, NameKind::Client);
        let id = ClientId::at(cx.chart.clients.len());
        if declare(&mut cx.findings, &mut cx.names.clients, "client", &name.node, name.span, id) {
            kept.push((id, item.node));
            cx.map.clients.push(name.span);
            cx.map.client_timeouts.push(None);
            cx.chart.clients.push(Client {
                name: name.node.clone(),
                model: String::new(),
                temperature: None,
                max_tokens: None,
                timeout: None,
                options: String::new(),
                retry: None,
                input_price: None,
                output_price: None,
                actions: ActionForm::Any,
                fallback: None,
            });
        }
    }
    // A client may fall back to one that is declared further down.
    for (id, node) in &kept {
        client(cx, *id, node);
    }
    for (id, node) in &kept {
        refuse_cycle(cx, *id, node);
    }
}

fn client(cx: &mut Cx<'_>, id: ClientId, node: &syntax::Client) {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for noted in &node.options {
        let option = &noted.node;
        let (name, span) = (option.name.node.as_str(), option.name.span);
        if let Some(first) = seen.get(name) {
            cx.findings.push(duplicate_name::twice("option", name, span, *first));
            continue;
        }
        seen.insert(name, span);
        match name {
            "model" => {
                if let Some(Value::Text(model)) =
                    constant(cx, &option.value, &Type::Text, "`model`")
                {
                    if !model.contains(':') {
                        let finding = TYPE_ERROR
                            .at(option.value.span, "a model is written `\"provider:model\"`");
                        cx.report(finding);
                    }
                    cx.chart.clients[id.index()].model = model;
                }
            }
            "temperature" => {
                if let Some(Value::Float(x)) =
                    constant(cx, &option.value, &Type::Float, "`temperature`")
                {
                    cx.chart.clients[id.index()].temperature = Some(x);
                }
            }
            "max_tokens" => {
                let bound = count(cx, &option.value, "`max_tokens`");
                cx.chart.clients[id.index()].max_tokens = bound;
            }
            "timeout" => {
                if let Some(Value::Duration(ms)) =
                    constant(cx, &option.value, &Type::Duration, "`timeout`")
                {
                    cx.chart.clients[id.index()].timeout = Some(ms);
                    cx.map.client_timeouts[id.index()] = Some(option.value.span);
                }
            }
            "options" => {
                let options = read(cx, &option.value);
                cx.chart.clients[id.index()].options = options;
            }
            "retry" => {
                let retry = match &option.retry {
                    Some(retry) => Some(self::retry(cx, retry)),
                    None => {
                        let bound = count(cx, &option.value, "`retry`");
                        bound.and_then(|n| u32::try_from(n).ok()).map(Retry::times)
                    }
                };
                cx.chart.clients[id.index()].retry = retry;
            }
            "input_price" | "output_price" => {
                let price = money(cx, &option.value, &format!("`{name}`"));
                let client = &mut cx.chart.clients[id.index()];
                match name {
                    "input_price" => client.input_price = price,
                    _ => client.output_price = price,
                }
            }
            "actions" => {
                let form = action_form(cx, &option.value);
                cx.chart.clients[id.index()].actions = form;
            }
            "fallback" => {
                let fallback = fallback(cx, &option.value);
                cx.chart.clients[id.index()].fallback = fallback;
            }
            _ => cx.unknown("client option", name, span, OPTIONS),
        }
    }
}

/// The form in which a client writes actions.
fn action_form(cx: &mut Cx<'_>, written: &syntax::Expr) -> ActionForm {
    let syntax::ExprKind::Name(word) = &written.kind else {
        cx.report(TYPE_ERROR.at(written.span, "`actions` is `simple` or `ooda`"));
        return ActionForm::Any;
    };
    ActionForm::of(word).unwrap_or_else(|| {
        cx.unknown("form of actions", word, written.span, ActionForm::WORDS);
        ActionForm::Any
    })
}

/// Lowers a literal amount of money; reports a negative one.
pub(super) fn money(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<f64> {
    match constant(cx, written, &Type::Float, what)? {
        Value::Float(x) if x >= 0.0 => Some(x),
        _ => {
            cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
            None
        }
    }
}

/// Lowers a literal whole number; reports a negative one.
pub(super) fn count(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<i64> {
    let Some(Value::Int(n)) = constant(cx, written, &Type::Int, what) else { return None };
    if n < 0 {
        cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
        return None;
    }
    Some(n)
}

fn fallback(cx: &mut Cx<'_>, value: &syntax::Expr) -> Option<ClientId> {
    let syntax::ExprKind::Name(name) = &value.kind else {
        cx.report(TYPE_ERROR.at(value.span, "`fallback` takes the name of a client"));
        return None;
    };
    client_named(cx, name, value.span)
}

/// The client of this name; reports it if there is none.
pub(super) fn client_named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<ClientId> {
    let found = cx.names.clients.get(name).copied();
    if let Some((_, place)) = found {
        cx.record_use(span, place, NameKind::Client);
    } else {
        let known: Vec<String> = cx.names.clients.keys().cloned().collect();
        cx.unknown("client", name, span, known.iter().map(String::as_str));
    }
    found.map(|(id, _)| id)
}

/// Reports a client that falls back to itself, directly or not: it would be tried forever.
fn refuse_cycle(cx: &mut Cx<'_>, id: ClientId, node: &syntax::Client) {
    let mut next = cx.chart.clients[id.index()].fallback;
    for _ in 0..cx.chart.clients.len() {
        match next {
            Some(other) if other == id => {
                let message = format!("client `{}` falls back to itself", node.name.node);
                cx.report(ILLEGAL_STRUCTURE.at(node.name.span, message));
                cx.chart.clients[id.index()].fallback = None;
                return;
            }
            Some(other) => next = cx.chart.clients[other.index()].fallback,
            None => return,
        }
    }
}

// Declares variables, events and named conditions.

/// Declares a `param`, `input` or `var`. Its default may read what was declared before it.
pub(super) fn variable<'s>(cx: &mut Cx<'s>, node: &'s syntax::Variable, doc: &str) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::Variable);
    let ty = resolve(cx, &node.ty);
    let is_param = node.kind == syntax::VariableKind::Param;
    let mut default = node.default.as_ref().map(|written| {
        let before = VarId::at(cx.chart.variables.len());
        let found = cx.findings.len();
        let value = expr::expect(cx, &mut Env::default_of(before, is_param), written, &ty);
        // A default of another type and uses with that type have the same cause: the declaration.
        if value.ty != ty && value.ty != Type::Json {
            for finding in &mut cx.findings[found..] {
                finding.breaks.push(Broken::Construct(span));
            }
        }
        value
    });
    // The grammar allows a range only for a param.
    let written = node.range.as_ref().filter(|_| is_param);
    let range = written.and_then(|(low, high)| range(cx, low, high, &ty));
    if let (Some(range), Some(default), Some(written)) = (&range, &default, &node.default) {
        refuse_default(cx, range, default, written.span);
    }
    let kind = match node.kind {
        syntax::VariableKind::Param => VariableKind::Param { range },
        syntax::VariableKind::Input => VariableKind::Input,
        syntax::VariableKind::Var { per_turn } => {
            if default.is_none() {
                let finding = TYPE_ERROR
                    .at(span, format!("variable `{name}` has no initial value"))
                    .help("add `= …`");
                cx.report(finding);
                default = Some(expr::zero(cx, &ty));
            }
            VariableKind::Var { per_turn }
        }
    };
    // From here on, the name is declared: reading it is not too early any more.
    cx.names.later.remove(name.as_str());
    let id = VarId::at(cx.chart.variables.len());
    if declare(&mut cx.findings, &mut cx.names.variables, "variable", name, span, id) {
        cx.chart.variables.push(Variable {
            name: name.clone(),
            doc: doc.to_owned(),
            kind,
            ty,
            default,
        });
        cx.map.variables.push(span);
        context::note(cx, Renamed::Variable(id), name, &node.renamed);
    }
}

/// The range that two literals are the ends of; reports a faulty one.
pub(super) fn range(
    cx: &mut Cx<'_>,
    low: &syntax::Expr,
    high: &syntax::Expr,
    ty: &Type,
) -> Option<(Value, Value)> {
    let whole = low.span.to(high.span);
    if !matches!(ty, Type::Int | Type::Float | Type::Duration) {
        let message = format!("{} has no range", cx.a(ty));
        cx.report(TYPE_ERROR.at(whole, message).help("ranges are for Int, Float and Duration"));
        return None;
    }
    let low = constant(cx, low, ty, "a range");
    let high = constant(cx, high, ty, "a range");
    let (low, high) = (low?, high?);
    if expr::above(&low, &high) {
        cx.report(TYPE_ERROR.at(whole, "the range is empty: its bounds are reversed"));
        return None;
    }
    Some((low, high))
}

/// The range of a field, a parameter or an answer, which is a number; reports a faulty one.
pub(super) fn numbers(cx: &mut Cx<'_>, written: Option<&Ends>, ty: &Type) -> Option<Within> {
    let (low, high) = written?;
    if !matches!(ty, Type::Int | Type::Float) {
        let message = format!("{} has no range here", cx.a(ty));
        let whole = low.span.to(high.span);
        cx.report(TYPE_ERROR.at(whole, message).help("ranges of data are for Int and Float"));
        return None;
    }
    range(cx, low, high, ty)
}

fn refuse_default(cx: &mut Cx<'_>, range: &Within, default: &Expr, span: Span) {
    let Some(value) = expr::value_of(default) else { return };
    if expr::above(&range.0, &value) || expr::above(&value, &range.1) {
        cx.report(TYPE_ERROR.at(span, "the default lies outside of the range"));
    }
}

/// The first parts of the names of the machine's own events.
const RESERVED: [&str; 6] = ["done", "error", "doubt", "limit", "choice", "turn"];

/// Declares a host event.
pub(super) fn event<'s>(cx: &mut Cx<'s>, path: &'s Path, params: &[Param], doc: &str) {
    let name = path.text();
    cx.record_event(path);
    if let Some(first) = path.names.first()
        && RESERVED.contains(&first.node.as_str())
    {
        let finding = ILLEGAL_STRUCTURE
            .at(path.span, format!("an event cannot be named `{name}`"))
            .help(format!("events that begin with `{}` are the machine's own", first.node));
        cx.report(finding);
    }
    // Declared in spite of the error, so that uses of the event are not reported as well.
    let fields = fields(cx, params, NameKind::Param);
    let id = EventId::at(cx.chart.events.len());
    if declare(&mut cx.findings, &mut cx.names.events, "event", &name, path.span, id) {
        cx.chart.events.push(Event { name, doc: doc.to_owned(), fields });
        cx.map.events.push(path.span);
        if cx.records {
            cx.event_paths.push(path);
        }
    }
}

/// The maximum number of conditions in a named condition, with those that it uses expanded. If each used the previous one twice, twenty
/// would expand to a million.
const LONGEST: u32 = 256;

/// Declares a named condition, which may use those before it.
pub(super) fn predicate(cx: &mut Cx<'_>, node: &syntax::Predicate) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::Predicate);
    cx.length = 0;
    let mut expr = expr::condition(cx, &mut Env::at(StateId(0)), &node.expr);
    let length = cx.length.saturating_add(1);
    if length > LONGEST {
        let finding = ILLEGAL_STRUCTURE
            .at(span, format!("condition `{name}` is too long: with the conditions that it uses, it consists of more than {LONGEST}"))
            .help("use each condition fewer times");
        cx.report(finding);
        expr.kind = ExprKind::Unknown(name.clone());
    }
    cx.names.later.remove(name.as_str());
    if let Some((_, first)) = cx.names.variables.get(name) {
        cx.findings.push(duplicate_name::taken(name, "a variable", span, *first));
        return;
    }
    let id = PredicateId::at(cx.chart.predicates.len());
    if declare(&mut cx.findings, &mut cx.names.predicates, "condition", name, span, id) {
        cx.chart.predicates.push(Predicate { name: name.clone(), expr });
        // A condition that is too long counts as one, so that those that use it are not reported as well.
        cx.lengths.push(if length > LONGEST { 1 } else { length });
        cx.map.predicates.push(span);
    }
}

/// The events that a name means: the one with this name, and those whose dotted names begin with it, ascending. Reports it if there
/// are none.
pub(super) fn events_of(cx: &mut Cx<'_>, path: &Path) -> Vec<EventId> {
    let name = path.text();
    let prefix = format!("{name}.");
    let exact = cx.names.events.get(&name).map(|(id, _)| *id);
    let below = cx
        .names
        .events
        .range(prefix.clone()..)
        .take_while(|(known, _)| known.starts_with(&prefix))
        .map(|(_, (id, _))| *id);
    let mut found: Vec<EventId> = exact.into_iter().chain(below).collect();
    found.sort_unstable();
    cx.record_event_use(&path.names);
    if found.is_empty() {
        unknown_event(cx, path);
    }
    found
}

/// The event of exactly this name, for `raise` and `send`; reports it if there is none.
pub(super) fn event_named(cx: &mut Cx<'_>, path: &Path) -> Option<EventId> {
    let found = cx.names.events.get(&path.text()).map(|(id, _)| *id);
    cx.record_event_use(&path.names);
    if found.is_none() {
        unknown_event(cx, path);
    }
    found
}

fn unknown_event(cx: &mut Cx<'_>, path: &Path) {
    let events = cx.chart.events.iter().filter(|_| cx.can_guess());
    let known: Vec<String> = events.map(|e| e.name.clone()).collect();
    cx.unknown("event", &path.text(), path.span, known.iter().map(String::as_str));
}

// Declares types, and resolves types as they are written.

/// The names of the types that contain values of other types.
const CONTAINERS: [&str; 2] = ["List", "Map"];

static PLAIN: [(&str, Type); 6] = [
    ("Bool", Type::Bool),
    ("Int", Type::Int),
    ("Float", Type::Float),
    ("Text", Type::Text),
    ("Duration", Type::Duration),
    ("Json", Type::Json),
];

/// The names of the types of the language.
pub fn language_types<'n>() -> impl Iterator<Item = &'n str> {
    PLAIN.iter().map(|(name, _)| *name).chain(CONTAINERS).chain(context::BUILT_IN)
}

/// Declares all records and enums. All names come first, so that types may refer to each other in any order.
pub(super) fn declare_types<'s>(cx: &mut Cx<'s>, items: &[Declared<'s, TypeItem<'s>>]) {
    let mut kept = Vec::new();
    for item in items {
        let name = item.node.name();
        cx.record_declaration(name, NameKind::Type);
        let id = TypeId::at(cx.chart.types.len());
        if CONTAINERS.contains(&name.node.as_str())
            || PLAIN.iter().any(|(plain, _)| *plain == name.node)
        {
            cx.report(duplicate_name::of_the_language(&name.node, "a type", name.span));
            continue;
        }
        let free =
            declare(&mut cx.findings, &mut cx.names.types, "type", &name.node, name.span, id);
        if free {
            kept.push((id, item));
            cx.map.types.push(name.span);
            if cx.records {
                cx.type_items.push(item.node);
            }
            cx.chart.types.push(TypeDef {
                name: name.node.clone(),
                doc: item.doc.to_owned(),
                // A placeholder until all names are declared.
                kind: TypeKind::Enum(Vec::new()),
            });
        }
    }
    for (id, item) in &kept {
        cx.chart.types[id.index()].kind = match item.node {
            TypeItem::Record(record) => TypeKind::Record(record_fields(cx, record)),
            TypeItem::Enum(node) => TypeKind::Enum(enum_names(cx, node)),
        };
    }
    let held: Vec<Vec<usize>> = cx.chart.types.iter().map(held).collect();
    let endless = on(&held);
    for (_, item) in kept.iter().filter(|(id, _)| endless[id.index()]) {
        let name = item.node.name();
        let finding = TYPE_ERROR
            .at(name.span, format!("record `{}` contains itself", name.node))
            .help("keep the inner ones in a `List(…)` or a `Map(Text, …)`");
        cx.report(finding);
    }
}

/// The indices of the types of which each value of this type contains a value. A record that contains itself, other than in a list or a
/// map, has no values.
fn held(ty: &TypeDef) -> Vec<usize> {
    let fields = if let TypeKind::Record(fields) = &ty.kind { &fields[..] } else { &[] };
    let named = fields.iter().filter_map(|field| {
        let mut ty = &field.ty;
        while let Type::Optional(inner) = ty {
            ty = inner;
        }
        if let Type::Named(inner) = ty { Some(inner.index()) } else { None }
    });
    named.collect()
}

fn record_fields(cx: &mut Cx<'_>, record: &syntax::Record) -> Vec<Field> {
    let params: Vec<_> = record.fields.iter().map(|f| f.node.clone()).collect();
    let mut fields = fields(cx, &params, NameKind::Field);
    let mut seen = std::collections::BTreeSet::new();
    fields.retain(|f| seen.insert(f.name.clone()));
    fields
}

fn enum_names(cx: &mut Cx<'_>, node: &syntax::Enum) -> Vec<String> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut names = Vec::new();
    for ident in node.names.iter().map(|n| &n.node) {
        cx.record_declaration(ident, NameKind::Value);
        let Ident { node: name, span } = ident;
        match seen.get(name.as_str()) {
            Some(first) => cx.findings.push(duplicate_name::twice("value", name, *span, *first)),
            None => {
                seen.insert(name, *span);
                names.push(name.clone());
            }
        }
    }
    names
}

/// The type that is written; reports an unknown one, which becomes `Json`.
pub(super) fn resolve(cx: &mut Cx<'_>, written: &TypeExpr) -> Type {
    match &written.kind {
        syntax::TypeKind::Name(name) => named_type(cx, name, written.span),
        syntax::TypeKind::List(item) => Type::List(Box::new(resolve(cx, item))),
        syntax::TypeKind::Map(key, value) => {
            if resolve(cx, key) != Type::Text {
                let finding = TYPE_ERROR.at(key.span, "the keys of a map are `Text`");
                cx.report(finding);
            }
            Type::Map(Box::new(resolve(cx, value)))
        }
        syntax::TypeKind::Optional(inner) => optional(resolve(cx, inner)),
    }
}

fn named_type(cx: &mut Cx<'_>, name: &str, span: Span) -> Type {
    if let Some((_, plain)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return plain.clone();
    }
    if let Some((id, place)) = cx.type_of(name, span) {
        if let Some(place) = place {
            cx.record_use(span, place, NameKind::Type);
        }
        return Type::Named(id);
    }
    if name == "Message" {
        let finding = unknown_name::unknown("type", name, span, None::<[&str; 0]>);
        cx.report(
            finding.help("the type `Role` of this file hides that of the language: rename it"),
        );
        return Type::Json;
    }
    let declared: Vec<String> = cx.names.types.keys().cloned().collect();
    let plain = language_types();
    let known = plain.chain(declared.iter().map(String::as_str));
    cx.unknown("type", name, span, known);
    Type::Json
}

// Lowers the options of a client for its server: `options { num_ctx 8192 }`.

/// Names of options that each request sets itself. They are grouped by the help of the finding: where the chart sets the option.
const OF_REQUESTS: [(&str, &[&str]); 4] = [
    ("`model` names the model", &["model"]),
    (
        "`max_tokens` limits the answer",
        &["max_tokens", "max_completion_tokens", "maxOutputTokens", "num_predict", "n_predict"],
    ),
    ("`temperature` is an option of the client", &["temperature"]),
    (
        "the step says it",
        &[
            "messages",
            "prompt",
            "system",
            "contents",
            "systemInstruction",
            "generationConfig",
            "response_format",
            "responseMimeType",
            "responseJsonSchema",
            "responseSchema",
            "output_config",
            "format",
            "options",
            "stream",
            "tools",
            "tool_choice",
        ],
    ),
];

/// The options as the text of a JSON object; empty if there are none.
pub(super) fn read(cx: &mut Cx<'_>, written: &syntax::Expr) -> String {
    let syntax::ExprKind::Map(entries) = &written.kind else {
        let finding = TYPE_ERROR.at(written.span, "`options` is a block of options");
        cx.report(finding.help("write them in braces: `options { num_ctx 8192 }`"));
        return String::new();
    };
    for Entry { key, .. } in entries {
        let Some(name) = name(key) else { continue };
        let said = OF_REQUESTS.iter().find(|(_, names)| names.contains(&name));
        if let Some((cure, _)) = said {
            let message = format!("`options` cannot set `{name}`: each request sets it");
            cx.report(TYPE_ERROR.at(key.span, message).help(*cure));
        }
    }
    match object(cx, entries) {
        map if map.iter().next().is_none() => String::new(),
        map => serde_json::to_string(&Value::Map(map)).unwrap_or_default(),
    }
}

fn object(cx: &mut Cx<'_>, entries: &[Entry]) -> Map {
    let mut map = Map::new();
    for (nth, Entry { key, value }) in entries.iter().enumerate() {
        let Some(name) = name(key) else { continue };
        let before = entries[..nth].iter().find(|entry| self::name(&entry.key) == Some(name));
        if let Some(first) = before {
            cx.report(duplicate_name::twice("option", name, key.span, first.key.span));
            continue;
        }
        let value = if let syntax::ExprKind::Map(entries) = &value.kind {
            Some(Value::Map(object(cx, entries)))
        } else if let syntax::ExprKind::Duration(_) = &value.kind {
            let message = format!("`{name}` cannot be a duration");
            cx.report(TYPE_ERROR.at(value.span, message).help("write a number or a text"));
            None
        } else {
            constant(cx, value, &Type::Json, &format!("`{name}`"))
        };
        if let Some(value) = value {
            map.insert(name.into(), value);
        }
    }
    map
}

fn name(key: &syntax::Expr) -> Option<&str> {
    let syntax::ExprKind::Text(text) = &key.kind else { return None };
    let [TemplatePart::Text(name, _)] = text.parts.as_slice() else { return None };
    Some(name)
}

// Declares fields and parameters, and tools with their sets.

/// The fields of a record, or the parameters of a final state, event, function, tool or option. Reports duplicate names.
pub(super) fn fields(cx: &mut Cx<'_>, params: &[Param], kind: NameKind) -> Vec<Field> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut fields = Vec::new();
    for param in params {
        cx.record_declaration(&param.name, kind);
        let name = param.name.node.as_str();
        if let Some(first) = seen.get(name) {
            cx.findings.push(duplicate_name::twice("parameter", name, param.name.span, *first));
        } else {
            seen.insert(name, param.name.span);
        }
        let ty = resolve(cx, &param.ty);
        let range = numbers(cx, param.range.as_ref(), &ty);
        fields.push(Field { name: name.to_owned(), ty, range });
    }
    fields
}

/// Whether each node lies on a cycle. `next` lists the successors of each node. Takes linear time in nodes and edges, and does not recurse.
fn on(next: &[Vec<usize>]) -> Vec<bool> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in next {
        graph.add_node(());
    }
    for (from, all) in next.iter().enumerate() {
        graph.extend_with_edges(all.iter().map(|to| (NodeIndex::new(from), NodeIndex::new(*to))));
    }
    let mut found = vec![false; next.len()];
    for component in kosaraju_scc(&graph) {
        for node in &component {
            // A component of one node is a cycle only if the node is its own successor.
            found[node.index()] = component.len() > 1 || next[node.index()].contains(&node.index());
        }
    }
    found
}

/// Declares all tools, then all sets. A set may only name sets that are declared before it.
pub(super) fn declare_tools<'s>(
    cx: &mut Cx<'s>,
    items: &[Declared<'s, &'s syntax::Tool>],
    sets: &[Declared<'_, &syntax::ToolSet>],
) {
    for item in items {
        let name = item.node.name.text();
        cx.record_tool(&item.node.name);
        let id = ToolId::at(cx.chart.tools.len());
        let span = item.node.name.span;
        let free = declare(&mut cx.findings, &mut cx.names.tools, "tool", &name, span, id);
        let params = fields(cx, &item.node.params, NameKind::Param);
        let result = resolve(cx, &item.node.result);
        if free {
            cx.map.tools.push(span);
            cx.tool_items.push(item.node);
            let (doc, idempotent) = (item.doc.to_owned(), item.node.idempotent);
            cx.chart.tools.push(Tool { name, doc, params, result, idempotent });
        }
    }
    for item in sets {
        tool_set(cx, item.node);
    }
}
