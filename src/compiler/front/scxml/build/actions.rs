//! Builds actions and steps from executable content and `<invoke>`.

use super::super::convert::{
    Brings, Converter, ExprContext, Value, call, fails, literal, shown, text_value,
};
use super::super::document::{ActKind, Delay, Event, Executable, ForEach, Payload, Send, To};
use super::super::infer::items;
use super::super::script::{Expr as Script, ScriptExprKind, Statement, StatementKind};
use super::{Builder, comments, noted, path};
use crate::front::scxml::scope::{Class, Kinds};
use crate::rules::{OUTSIDE_SUBSET, left_out, outside_subset};
use crate::syntax::diagnostic::nearest;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{
    Action, BinaryOp, Block, Done, Entry, EventPattern, Expr, ExprKind, Forward, Noted,
    ParamArgument, Path, Run, StateItem, Step, StepKind, Template, TemplatePart,
};

impl Builder<'_, '_> {
    /// Builds a block of actions.
    pub(super) fn actions(
        &mut self,
        acts: &[Executable],
        at: &mut ExprContext,
        span: Span,
    ) -> Block {
        let mut actions = Vec::new();
        self.acts(acts, at, &mut actions);
        Block { actions, span }
    }

    pub(super) fn acts(
        &mut self,
        acts: &[Executable],
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        for act in acts {
            let first = to.len();
            self.act(act, at, to);
            if let Some(made) = to.get_mut(first) {
                made.trivia.before = comments(&act.before);
            }
        }
    }

    fn act(&mut self, act: &Executable, at: &mut ExprContext, to: &mut Vec<Noted<Action>>) {
        let span = act.span;
        match &act.kind {
            ActKind::Assign(place, value) => self.assign(place, value, span, at, to),
            ActKind::Raise(event, data) => {
                let arguments = self.arguments(event, data.as_ref(), at);
                let path = path(event.names.clone(), event.span);
                to.push(noted(Action::Raise(path, arguments), span, &[]));
            }
            ActKind::Send(send) => self.send(send, span, at, to),
            ActKind::Cancel(id) => to.push(noted(Action::Cancel(id.clone()), span, &[])),
            ActKind::If(branches) => self.branches(branches, span, at, to),
            ActKind::ForEach(each) => self.foreach(each, span, at, to),
            ActKind::Log(label, value) => {
                let value = value.as_ref().map(|value| self.converter().value(value, at));
                to.push(noted(Action::Log(message(label.as_deref(), value, span)), span, &[]));
            }
            ActKind::Script(statements) => self.statements(statements, at, to),
            ActKind::Faulty(why) => to.push(failing(why, span)),
        }
    }

    /// Builds the assignment `place = value`.
    pub(super) fn assign(
        &mut self,
        place: &Script,
        value: &Script,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let value = self.converter().value(value, at);
        self.put(place, value, span, at, to);
    }

    /// Builds an assignment of a translated value.
    pub(super) fn put(
        &mut self,
        place: &Script,
        value: Value,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        match self.converter().assignment(place, value, at) {
            Ok((nth, value)) => {
                let name = Ident::new(self.scope.variables[nth].name.clone(), place.span);
                to.push(noted(Action::Assign(name, value.expr), span, &[]));
            }
            Err(why) => to.push(failing(&why, span)),
        }
    }

    /// The arguments of an event that is raised or sent: its data, if the event has any.
    pub(super) fn arguments(
        &mut self,
        event: &Event,
        data: Option<&Payload>,
        at: &ExprContext,
    ) -> Vec<Expr> {
        match data {
            Some(data) => vec![self.payload(data, at)],
            None if self.scope.has_data(&event.text()) => {
                // Elsewhere the event is sent with data, so it has a field.
                vec![Expr { kind: ExprKind::None, span: event.span }]
            }
            None => Vec::new(),
        }
    }

    /// The data of an event as one value.
    pub(super) fn payload(&mut self, data: &Payload, at: &ExprContext) -> Expr {
        match data {
            Payload::Value(value) => self.converter().value(value, at).expr,
            Payload::Fields(fields, span) => {
                let entry = |(name, value): &(Ident, Script)| Entry {
                    key: text_value(&name.node, name.span).expr,
                    value: self.converter().value(value, at).expr,
                };
                Expr { kind: ExprKind::Map(fields.iter().map(entry).collect()), span: *span }
            }
        }
    }
}

/// The text of a log message: `label: value`.
pub(super) fn message(label: Option<&str>, value: Option<Value>, span: Span) -> Template {
    let value = value.map(shown);
    match (label, value) {
        (None, Some(value)) => value,
        (Some(label), None) => literal(label, span),
        (None, None) => literal("", span),
        (Some(label), Some(mut value)) => {
            let head = format!("{label}: ");
            if let Some(TemplatePart::Text(first, _)) = value.parts.first_mut() {
                first.insert_str(0, &head);
            } else {
                value.parts.insert(0, TemplatePart::Text(head, span));
            }
            value
        }
    }
}

/// An action that always fails, for an element of which SCXML says so.
pub(super) fn failing(why: &str, span: Span) -> Noted<Action> {
    noted(Action::Log(shown(fails(why, span))), span, &[])
}

// Builds branches, loops and scripts.

impl Builder<'_, '_> {
    pub(super) fn branches(
        &mut self,
        branches: &[(Option<Script>, Vec<Executable>)],
        span: Span,
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let mut otherwise = Vec::new();
        // From the last branch to the first: each one becomes the `else` of the one before it.
        for (test, body) in branches.iter().rev() {
            let mut made = Vec::new();
            self.acts(body, at, &mut made);
            otherwise = match test {
                None => made,
                Some(test) => {
                    let test = self.converter().condition(test, at);
                    vec![noted(Action::If(test, made, otherwise), span, &[])]
                }
            };
        }
        to.append(&mut otherwise);
    }

    /// Builds `<foreach>`. Its item and index are variables that keep their values after the loop.
    pub(super) fn foreach(
        &mut self,
        each: &ForEach,
        span: Span,
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let source = listed(self.converter().value(&each.array, at));
        let local = Ident::new(self.scope.free("each"), each.item.span);
        let named = |name: &str, span: Span| Expr { kind: ExprKind::Name(name.to_owned()), span };
        let mut body = Vec::new();
        if let Some(item) = self.named(&each.item) {
            let value = named(&local.node, item.span);
            body.push(noted(Action::Assign(item, value), each.item.span, &[]));
        }
        if let Some((index, place)) =
            each.index.as_ref().and_then(|i| Some((self.named(i)?, i.span)))
        {
            // The index cannot count by itself: the body may assign to it.
            let counter = self.scope.hidden("place", place, Kinds::INT);
            let counter = self.scope.variables[counter].name.clone();
            let set = |name: &str, value: ExprKind| {
                let value = Expr { kind: value, span: place };
                noted(Action::Assign(Ident::new(name.to_owned(), place), value), place, &[])
            };
            let next = ExprKind::Binary(
                BinaryOp::Add,
                Box::new(named(&counter, place)),
                Box::new(Expr { kind: ExprKind::Int(1), span: place }),
            );
            to.push(set(&counter, ExprKind::Int(0)));
            body.push(set(&index.node, ExprKind::Name(counter.clone())));
            body.push(set(&counter, next));
        }
        self.acts(&each.body, at, &mut body);
        to.push(noted(Action::For(local, source, body), span, &[]));
    }

    /// The name of a variable in the chart.
    fn named(&self, name: &Ident) -> Option<Ident> {
        let nth = self.scope.variable(&name.node)?;
        Some(Ident::new(self.scope.variables[nth].name.clone(), name.span))
    }

    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        at: &mut ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        for statement in statements {
            let span = statement.span;
            match &statement.kind {
                StatementKind::Assign(place, value) => self.assign(place, value, span, at, to),
                StatementKind::Declare(_, None) => {}
                StatementKind::Declare(name, Some(value)) => {
                    let value = self.converter().value(value, at).expr;
                    if let Some(name) = self.named(name) {
                        to.push(noted(Action::Assign(name, value), span, &[]));
                    }
                }
                StatementKind::Push(list, item) => {
                    let mut old = self.converter().value(list, at);
                    let item = self.converter().value(item, at).expr;
                    let item = Expr { kind: ExprKind::List(vec![item]), span };
                    let both = ExprKind::Binary(BinaryOp::Add, Box::new(old.expr), Box::new(item));
                    old.expr = Expr { kind: both, span };
                    self.put(list, old, span, at, to);
                }
                StatementKind::If(test, then, other) => {
                    let test = self.converter().condition(test, at);
                    let (mut yes, mut no) = (Vec::new(), Vec::new());
                    self.statements(then, at, &mut yes);
                    self.statements(other, at, &mut no);
                    to.push(noted(Action::If(test, yes, no), span, &[]));
                }
                StatementKind::ForOf(name, source, body) => {
                    let source = self.converter().value(source, at);
                    let (kinds, mut made) = (items(&source), Vec::new());
                    at.locals.push((name.node.clone(), name.node.clone(), kinds));
                    self.statements(body, at, &mut made);
                    at.locals.pop();
                    to.push(noted(Action::For(name.clone(), listed(source), made), span, &[]));
                }
                StatementKind::Log(all) => {
                    for value in all {
                        let value = self.converter().value(value, at);
                        to.push(noted(Action::Log(message(None, Some(value), span)), span, &[]));
                    }
                }
                StatementKind::Faulty(why) => to.push(failing(why, span)),
            }
        }
    }
}

/// The list over which a loop runs. Fails at run time if the value is not a list.
fn listed(of: Value) -> Expr {
    if of.class == Class::List || of.kinds.is_list() {
        return of.expr;
    }
    let span = of.expr.span;
    Expr { kind: call("js_list", vec![of.expr], span), span }
}

// Builds `send` actions.

impl Builder<'_, '_> {
    pub(super) fn send(
        &mut self,
        send: &Send,
        span: Span,
        at: &ExprContext,
        to: &mut Vec<Noted<Action>>,
    ) {
        let arguments = self.arguments(&send.event, send.data.as_ref(), at);
        let after = send.delay.as_ref().map(|delay| self.delay(delay, at));
        let event = path(send.event.names.clone(), send.event.span);
        let Some(to_whom) = self.receiver(&send.to) else { return };
        let action = Action::Send {
            event,
            arguments,
            to: to_whom.map(|to| Box::new((to, None))),
            after,
            id: send.id.clone(),
        };
        to.push(noted(action, span, &[]));
        if let (Some(place), Some(id)) = (&send.put, &send.id) {
            self.put(place, text_value(&id.node, id.span), span, at, to);
        }
    }

    /// The receiver in the chart's notation. `Some(None)` is the chart itself; `None` is an unknown receiver, which is reported.
    fn receiver(&mut self, to: &To) -> Option<Option<Ident>> {
        match to {
            To::Own => Some(None),
            To::Parent(span) => Some(Some(Ident::new("parent".to_owned(), *span))),
            To::Invoked(id) => {
                let invokes = &self.document.invokes;
                let Some(nth) = invokes.iter().position(|i| i.id.node == id.node) else {
                    let known = invokes.iter().map(|i| i.id.node.as_str());
                    let message =
                        format!("no `<invoke>` of this document has the id `{}`", id.node);
                    let mut finding = outside_subset::at(id.span, message);
                    finding.help =
                        nearest(&id.node, known).map(|near| format!("did you mean `#_{near}`?"));
                    self.findings.push(finding);
                    return None;
                };
                Some(Some(Ident::new(self.scope.steps[nth].clone(), id.span)))
            }
        }
    }

    fn delay(&mut self, delay: &Delay, at: &ExprContext) -> Expr {
        match delay {
            Delay::Fixed(millis, span) => Expr { kind: ExprKind::Duration(*millis), span: *span },
            Delay::Computed(written) => {
                let value = self.converter().value(written, at);
                let span = value.expr.span;
                Expr { kind: call("js_duration", vec![value.expr], span), span }
            }
        }
    }
}

// Builds steps from `<invoke>`, and patterns from the events of invoked documents.

/// An event pattern, the data that it brings, and the name by which equal patterns are recognized.
pub(super) type Pattern = (EventPattern, Brings, String);

impl Builder<'_, '_> {
    /// Builds the step that runs the chart of an invoked document.
    pub(super) fn invoke(&mut self, nth: usize) -> Noted<StateItem> {
        let document = self.document;
        let invoke = &document.invokes[nth];
        let at = ExprContext::state(invoke.state);
        let mut arguments = Vec::new();
        // The guard computes all values that can fail, before the step starts: a failure prevents the invocation and raises
        // `error.execution`.
        let mut tried = Vec::new();
        if let Some(why) = &invoke.fault {
            tried.push(fails(&why.node, why.span).expr);
        }
        if let Some(name) = invoke.place.as_ref().and_then(root)
            && self.scope.variable(name).is_none()
        {
            // This is reported where the id is stored.
            tried.push(fails(&format!("`{name}` is not declared"), invoke.span).expr);
        }
        for (name, value) in &invoke.given {
            let Some(param) = self.params[nth].get(&name.node).cloned() else {
                self.findings.push(left_out::no_such_data(&name.node, name.span));
                // The value is computed only to see whether it fails. Parts that cannot be translated are not reported here.
                let mut muted = Vec::new();
                let value =
                    Converter { scope: &self.scope, findings: &mut muted }.value(value, &at);
                let is_left = muted.iter().any(|found| found.rule.code == OUTSIDE_SUBSET.code);
                if !is_left && !is_safe(&value.expr) {
                    tried.push(value.expr);
                }
                continue;
            };
            let value = self.converter().value(value, &at).expr;
            if !is_safe(&value) {
                tried.push(value.clone());
            }
            arguments.push(ParamArgument { name: Some(Ident::new(param, name.span)), value });
        }
        let guard = (!tried.is_empty()).then(|| computes(tried, invoke.span));
        let forward = if invoke.forward.is_some() { Forward::All } else { Forward::Nothing };
        let chart = Ident::new(invoke.child.chart.clone(), invoke.child.name_span);
        let step = Step {
            renamed: Vec::new(),
            on: None,
            each: None,
            name: Ident::new(self.scope.steps[nth].clone(), invoke.id.span),
            kind: StepKind::Run(Run { chart, arguments, at_entry: true, forward }),
            client: None,
            guard,
            items: Vec::new(),
            then: None,
            end: Vec::new(),
        };
        noted(StateItem::Step(step), invoke.span, &invoke.before)
    }

    /// The patterns for the end of the invoked document with this id, or of any one.
    pub(super) fn invoke_done(
        &mut self,
        id: Option<&Ident>,
        reads: bool,
        span: Span,
    ) -> Vec<Pattern> {
        let found = self.invoked(id);
        if found.is_empty() {
            let id = id.map_or(String::new(), |id| format!(".{}", id.node));
            self.findings.push(left_out::never(&format!("done.invoke{id}"), span));
        }
        let each = |nth: usize| {
            let binding = reads.then(|| Ident::new(self.scope.data.clone(), span));
            let brings = if reads { Brings::Answer } else { Brings::NoData };
            let done = Done { subject: self.step_path(nth, span), binding };
            (EventPattern::Done(done), brings, self.done_name(nth))
        };
        found.into_iter().map(each).collect()
    }

    /// The patterns for the failure of any invoked document.
    pub(super) fn invoke_failed(&self, span: Span) -> Vec<Pattern> {
        let each = |nth: usize| {
            let done = Done { subject: self.step_path(nth, span), binding: None };
            let word = format!("error.communication {nth}");
            (EventPattern::Error(done), Brings::NoData, word)
        };
        self.invoked(None).into_iter().map(each).collect()
    }

    /// The name of the event at the end of an invoked document: `done.invoke.c`.
    fn done_name(&self, nth: usize) -> String {
        format!("done.invoke.{}", self.document.invokes[nth].id.node)
    }

    fn step_path(&self, nth: usize, span: Span) -> Path {
        super::path(vec![Ident::new(self.scope.steps[nth].clone(), span)], span)
    }

    /// The indices of the invoked documents that are meant by an id; without one, of all.
    fn invoked(&self, id: Option<&Ident>) -> Vec<usize> {
        let all = self.document.invokes.iter().enumerate();
        all.filter(|(_, invoke)| invoke.is_meant(id)).map(|(nth, _)| nth).collect()
    }
}

/// The variable to which a location belongs.
fn root(place: &Script) -> Option<&str> {
    match &place.kind {
        ScriptExprKind::Name(name) => Some(name),
        ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) => root(of),
        _ => None,
    }
}

/// Whether a value can be computed without failure.
fn is_safe(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::GroupedInt(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Name(_) => true,
        ExprKind::Text(text) => text.parts.iter().all(|part| match part {
            TemplatePart::Text(..) => true,
            TemplatePart::Hole(hole) => is_safe(&hole.expr),
            TemplatePart::Bad { .. } => false,
        }),
        ExprKind::List(items) => items.iter().all(is_safe),
        ExprKind::Map(entries) => entries.iter().all(|entry| is_safe(&entry.value)),
        ExprKind::Unary(_, of) => is_safe(of),
        _ => false,
    }
}

/// A guard that holds if all values can be computed: the truth value of a list is true.
fn computes(values: Vec<Expr>, span: Span) -> Expr {
    let list = Expr { kind: ExprKind::List(values), span };
    Expr { kind: call("js_truth", vec![list], span), span }
}
