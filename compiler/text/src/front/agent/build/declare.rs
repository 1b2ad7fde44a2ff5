//! Metadata, inputs, variables, the client, the policy.

use super::names::inputs;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::agent::builtin::{CURRENT_STATE, builtin};
use crate::front::agent::code::{InputUse, Role, Scope, Ty};
use crate::front::agent::definition::{Agent, OnFailure, Policy, Workflow};
use crate::front::agent::make::{apart, expr, literal, name, noted, text};
use crate::front::agent::node::{Node, Value};
use crate::rules::WRONG_TYPE;
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{
    self, ChartItem, Client, ClientOption, Expr, ExprKind, FailWord, Limit, Meta, MetaValue, Noted,
    StateItem, Template, TypeExpr, TypeKind, Variable, VariableKind,
};

/// The number of retries of a failed step if the file does not set one.
const RETRIES: u32 = 3;
/// The name of the chart's client.
const CLIENT: &str = "model";

/// The `meta { … }` declaration; `None` without entries.
pub(super) fn meta(agent: &Agent, span: Span) -> Option<Noted<ChartItem>> {
    let entry = |(key, node): &(Ident, Node)| Meta { key: key.clone(), value: meta_value(node) };
    let mut entries: Vec<Meta> = agent.meta.iter().map(entry).collect();
    // A model without a provider cannot be a client. It is kept as data.
    if model(agent).is_none() {
        let model = |named: &Spanned<String>| Meta {
            key: Ident::new("llm_model".to_owned(), span),
            value: MetaValue::Text(named.node.clone()),
        };
        entries.extend(agent.model.iter().map(model));
    }
    (!entries.is_empty()).then(|| noted(ChartItem::Meta(entries), span))
}

fn meta_value(node: &Node) -> MetaValue {
    match &node.value {
        Value::Null => MetaValue::None,
        Value::Bool(b) => MetaValue::Bool(*b),
        Value::Int(i) => MetaValue::Int(*i),
        Value::Float(x) => MetaValue::Float(*x),
        Value::Text(text) => MetaValue::Text(text.value.clone()),
        Value::List(items) => MetaValue::List(items.iter().map(meta_value).collect()),
        Value::Map(entries) => {
            MetaValue::Map(entries.iter().map(|(k, v)| (k.key(), meta_value(v))).collect())
        }
    }
}

/// The inputs, then the variables that code sets.
pub(super) fn variables(agent: &Agent, scope: &Scope, first_use: Span) -> Vec<Noted<ChartItem>> {
    let mut items = Vec::new();
    for builtin in inputs(scope) {
        let span = first_use;
        let default = match (builtin.name, &agent.id) {
            ("agent_id", Some(id)) => text(id.node.clone(), id.span),
            ("balance", _) if let Some((scrip, span)) = starting_scrip(agent) => {
                expr(ExprKind::Int(scrip), span)
            }
            ("system_prompt", _) if agent.system_prompt.is_some() => system_prompt(agent, span),
            _ => builtin.ty().zero(span),
        };
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Input,
            name: Ident::new(builtin.name.to_owned(), span),
            ty: builtin.ty().written(span),
            range: None,
            default: Some(default),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    let mut own: Vec<(&String, &InputUse)> =
        scope.roles.keys().filter_map(|name| Some((name, scope.given(name)?))).collect();
    // In the order of first use, so that the chart reads like the agent.
    own.sort_by_key(|(_, given)| given.span);
    for (name, given) in own {
        let span = given.span;
        let mut ty = scope.ty(name).written(span);
        if given.optional && ty.kind != TypeKind::Name("Json".to_owned()) {
            ty = TypeExpr { kind: TypeKind::Optional(Box::new(ty)), span };
        }
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Input,
            name: Ident::new(given.written.clone(), span),
            ty,
            range: None,
            default: given.declared(),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    let place = |source: &str| scope.places.get(source).copied().unwrap_or(first_use);
    let mut roles: Vec<_> = scope.roles.iter().collect();
    roles.sort_by_key(|(source, _)| place(source));
    for (source, role) in roles {
        let Role::Variable { written, of } = role else { continue };
        let span = place(source);
        let ty = scope.ty(source);
        let optional = scope.optional.contains(source)
            && ty.written(span).kind != TypeKind::Name("Json".to_owned());
        let kept = scope.kept.get(source);
        let (written_ty, default) = match of {
            None if kept.is_some() => {
                let first = kept.and_then(InputUse::declared);
                (ty.written(span), first.unwrap_or_else(|| ty.zero(span)))
            }
            Some(builtin) => (ty.written(span), name(builtin.name, span)),
            None if scope.optional.contains(source) => {
                (ty.written(span), expr(ExprKind::None, span))
            }
            None => {
                // If the context has the name, too, the zero of that type is closer to the original than `none`.
                let known = builtin(source).map(|b| b.ty()).filter(|_| ty == Ty::Json);
                (ty.written(span), known.unwrap_or(ty.clone()).zero(span))
            }
        };
        let ty = if optional {
            TypeExpr { kind: TypeKind::Optional(Box::new(written_ty)), span }
        } else {
            written_ty
        };
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Var { per_turn: kept.is_none() },
            name: Ident::new(written.clone(), span),
            ty,
            range: None,
            default: Some(default),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    debug_assert!(!scope.types.contains_key(CURRENT_STATE), "the state is never assigned");
    items
}

/// The scrip with which the agent starts: its balance, unless a world sets another one.
fn starting_scrip(agent: &Agent) -> Option<(i64, Span)> {
    let meta = |name: &str| agent.meta.iter().find(|(key, _)| key.node == name);
    let (_, node) = meta("starting_scrip").or_else(|| meta("starting_credits"))?;
    match node.value {
        Value::Int(scrip) => Some((scrip, node.span)),
        // As a world takes it.
        Value::Float(scrip) => Some((scrip as i64, node.span)),
        _ => None,
    }
}

/// The text of `system_prompt.md`, or the empty text without that file.
fn system_prompt(agent: &Agent, otherwise: Span) -> Expr {
    let (value, span) = match &agent.system_prompt {
        Some(prompt) => (prompt.node.as_str(), prompt.span),
        None => ("", otherwise),
    };
    let block = value.contains('\n');
    expr(ExprKind::Text(Template { block, ..literal(value, span) }), span)
}

/// The model as clients name it: `provider:model`, from `provider/model`.
fn model(agent: &Agent) -> Option<(String, Span)> {
    let written = agent.model.as_ref()?;
    let (provider, model) = written.node.split_once('/')?;
    let whole = !provider.is_empty() && !model.is_empty();
    whole.then(|| (format!("{provider}:{model}"), written.span))
}

/// The name of the client, for the `with` of steps; `None` if the file says nothing about how models are called.
pub(super) fn client_name(agent: &Agent) -> Option<Ident> {
    let said = [
        model(agent).map(|(_, span)| span),
        agent.temperature.as_ref().map(|t| t.span),
        agent.max_tokens.as_ref().map(|t| t.span),
        agent.prices.first().map(|(key, _)| key.span),
        agent.form.as_ref().map(|form| form.span),
    ];
    let span = said.into_iter().flatten().next()?;
    Some(Ident::new(CLIENT.to_owned(), span))
}

/// The declaration `client model { … }`. Without `llm_model`, the host chooses the model.
pub(super) fn client(agent: &Agent, findings: &mut Vec<Diagnostic>) -> Option<Noted<ChartItem>> {
    let model = model(agent);
    if let (None, Some(written)) = (&model, &agent.model) {
        let message =
            format!("`{}` names no provider: `llm_model` is `provider/model`", written.node);
        let mut finding = WRONG_TYPE.at(written.span, message);
        finding.severity = Severity::Warning;
        findings.push(finding.help("without it the host's default model is called"));
    }
    let name = client_name(agent)?;
    let option = |word: &str, value: Expr, span: Span| {
        noted(ClientOption { name: Ident::new(word.to_owned(), span), value }, span)
    };
    let mut options: Vec<Noted<ClientOption>> =
        model.into_iter().map(|(model, span)| option("model", text(model, span), span)).collect();
    let mut add = |word: &str, kind: ExprKind, span: Span| {
        options.push(option(word, expr(kind, span), span));
    };
    if let Some(temperature) = &agent.temperature {
        add("temperature", ExprKind::Float(temperature.node), temperature.span);
    }
    if let Some(most) = &agent.max_tokens {
        add("max_tokens", ExprKind::Int(most.node), most.span);
    }
    for (key, price) in &agent.prices {
        add(&key.node, ExprKind::Float(*price), key.span);
    }
    if let Some(form) = &agent.form {
        add("actions", ExprKind::Name(form.node.clone()), form.span);
    }
    let span = name.span;
    Some(apart(ChartItem::Client(Client { name, options }), span))
}

/// The declaration `limits { … }`: the agent's budget, and its calls per turn.
pub(super) fn limits(agent: &Agent, workflow: &Workflow) -> Option<Noted<ChartItem>> {
    let limit = |what: Ident, bound: ExprKind, per_turn: bool| {
        let span = what.span;
        let bound = expr(bound, span);
        noted(Limit { what, bound, warn: None, per_turn }, span)
    };
    let spent = agent.budget.iter().map(|(what, most)| limit(what.clone(), most.clone(), false));
    let calls = workflow.calls.iter().map(|calls| {
        let what = Ident::new("calls".to_owned(), calls.span);
        limit(what, ExprKind::Int(i64::from(calls.node)), true)
    });
    let all: Vec<Noted<Limit>> = spent.chain(calls).collect();
    let span = all.first()?.span;
    Some(apart(ChartItem::State(StateItem::Limits(all)), span))
}

/// The effect of a failure: the number of retries, and what happens after the last one.
pub(super) fn failure(policy: &Policy, default: &Policy) -> (u32, OnFailure) {
    let on = policy.on_failure.as_ref().or(default.on_failure.as_ref());
    let on = on.map_or(OnFailure::Retry, |s| s.node);
    let retries = policy.max_retries.as_ref().or(default.max_retries.as_ref());
    match on {
        OnFailure::Retry => (retries.map_or(RETRIES, |r| r.node), on),
        OnFailure::Skip | OnFailure::Fail => (0, on),
    }
}

/// The failure policy as syntax: `retry N then fail`, or `then skip`.
pub(super) fn policy((retries, on): (u32, OnFailure), span: Span) -> syntax::Policy {
    let then = if on == OnFailure::Skip { FailWord::Skip } else { FailWord::Fail };
    syntax::Policy { retry: Some(Spanned::new(retries, span)), then: Some(then), span }
}
