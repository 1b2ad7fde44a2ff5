//! Slots, the places from which values come and in which they are kept; and the expressions that read and write them.

use chartc_core::arena::{ChoiceId, EventId, FunctionId, StepId, ToolId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, ChoiceKind, Expr, ExprKind, FunctionKind, StepKind, Template, TemplatePart,
    Trigger, Type, UnaryOp, VariableKind,
};

/// A place for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    /// A param, input or var.
    Variable(VarId),
    /// A field of an event.
    Field(EventId, u32),
    /// An argument of an option.
    Argument(ChoiceId, u32),
    /// The answer of a step.
    Answer(StepId),
    /// The reason why a step failed.
    Reason(StepId),
    /// The result of a tool.
    Result(ToolId),
    /// An argument with which a tool is called.
    Passed(ToolId, u32),
    /// The result of a host function.
    Function(FunctionId),
}

/// The source of the payload that an expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PayloadSource {
    /// The trigger of this transition.
    Transition(TransitionId),
    /// An unknown source, which may be any.
    Anywhere,
}

/// An expression on which moves may depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'c> {
    pub(super) expr: &'c Expr,
    /// The source of its payload.
    pub(super) source: PayloadSource,
    /// The slot to which its value goes. `None` if its value decides something, or if it only matters whether its evaluation fails.
    pub(super) into: Option<Slot>,
}

/// The expressions of a chart on which its moves may depend, and the flows of values that no expression writes.
#[derive(Debug, Default)]
pub(super) struct Uses<'c> {
    pub(super) all: Vec<Use<'c>>,
    /// The flows, each from one slot to another.
    pub(super) flows: Vec<(Slot, Slot)>,
}

impl<'c> Uses<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        let mut uses = Self::default();
        for (i, variable) in chart.variables.iter().enumerate() {
            if let Some(default) = &variable.default {
                uses.assign(chart, Slot::Variable(VarId::at(i)), default, PayloadSource::Anywhere);
            }
        }
        for (i, transition) in chart.transitions.iter().enumerate() {
            let place = PayloadSource::Transition(TransitionId::at(i));
            if let Some(guard) = &transition.guard {
                uses.decide(guard, place);
            }
            match &transition.trigger {
                Trigger::After(bound)
                | Trigger::AfterTurns(bound)
                | Trigger::StepTimeout(_, bound) => uses.decide(bound, PayloadSource::Anywhere),
                _ => {}
            }
            for argument in transition.targets.iter().flat_map(|target| &target.arguments) {
                uses.decide_if_fallible(chart, argument, place);
            }
            uses.actions(chart, &transition.actions, place);
        }
        for state in &chart.states {
            for block in state.entry.iter().chain(&state.exit).chain([&state.default_actions]) {
                uses.actions(chart, block, PayloadSource::Anywhere);
            }
        }
        for row in &chart.permissions {
            if let Some(guard) = &row.guard {
                uses.decide(guard, PayloadSource::Anywhere);
            }
        }
        for (i, step) in chart.steps.iter().enumerate() {
            for condition in step.guard.iter().chain(&step.ends_turn) {
                uses.decide(condition, PayloadSource::Anywhere);
            }
            if let StepKind::Code(actions) = &step.kind {
                uses.actions(chart, actions, PayloadSource::Anywhere);
            }
            if let Some(into) = step.into {
                uses.flows.push((Slot::Answer(StepId::at(i)), Slot::Variable(into)));
            }
            if let StepKind::Call(tool, _) = step.kind {
                uses.flows.push((Slot::Result(tool), Slot::Answer(StepId::at(i))));
            }
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(set, Some(into)) = choice.kind {
                for tool in chart.tools_of(set) {
                    uses.flows.push((Slot::Result(tool), Slot::Variable(into)));
                }
            }
        }
        uses
    }

    /// Adds an expression whose value decides something.
    fn decide(&mut self, expr: &'c Expr, place: PayloadSource) {
        self.all.push(Use { expr, source: place, into: None });
    }

    /// Adds an expression whose value decides nothing, if its evaluation may fail, which does.
    fn decide_if_fallible(&mut self, chart: &Chart, expr: &'c Expr, place: PayloadSource) {
        if !is_total(chart, expr, 0) {
            self.decide(expr, place);
        }
    }

    /// Adds the assignment of an expression to a slot.
    fn assign(&mut self, chart: &Chart, into: Slot, expr: &'c Expr, place: PayloadSource) {
        self.all.push(Use { expr, source: place, into: Some(into) });
        self.decide_if_fallible(chart, expr, place);
        // An assignment of Json to a narrower type fails for some values.
        if let Slot::Variable(id) = into
            && chart.variables[id.index()].ty != Type::Json
            && holds_json(&expr.ty)
        {
            self.decide(expr, place);
        }
    }

    /// Adds the expressions in a text that may fail.
    fn template(&mut self, chart: &Chart, template: &'c Template, place: PayloadSource) {
        for part in &template.parts {
            match part {
                TemplatePart::Hole { expr, spec } if !spec.is_empty() => self.decide(expr, place),
                TemplatePart::Hole { expr, .. } => self.decide_if_fallible(chart, expr, place),
                TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => {}
            }
        }
    }

    fn actions(&mut self, chart: &Chart, actions: &'c [Action], place: PayloadSource) {
        Action::walk(actions, &mut |action| match action {
            Action::Assign(variable, expr) => {
                self.assign(chart, Slot::Variable(*variable), expr, place);
            }
            Action::If(condition, _, _) => self.decide(condition, place),
            Action::For(_, list, _) => self.decide(list, place),
            Action::Raise(event, arguments) | Action::Send { event, arguments, .. } => {
                for (n, argument) in arguments.iter().enumerate() {
                    self.assign(chart, Slot::Field(*event, n as u32), argument, place);
                }
                if let Action::Send { after, element, .. } = action {
                    after.iter().chain(element.as_deref()).for_each(|e| self.decide(e, place));
                }
            }
            Action::Do(_, arguments) | Action::Result(_, arguments) => {
                for argument in arguments {
                    self.decide_if_fallible(chart, argument, place);
                }
            }
            Action::Log(template) => self.template(chart, template, place),
            Action::Cancel(_) => {}
        });
    }
}

fn holds_json(ty: &Type) -> bool {
    match ty {
        Type::Json => true,
        Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => holds_json(inner),
        _ => false,
    }
}

/// Whether evaluation never fails. Overflow after many small additions is ignored; deeply nested expressions count as failing.
pub(crate) fn is_total(chart: &Chart, expr: &Expr, depth: u32) -> bool {
    use chartc_core::model::{BinaryOp, Builtin, CompareOp};
    if depth > 64 {
        return false;
    }
    let total = |e: &Expr| is_total(chart, e, depth + 1);
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Local(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_) => true,
        ExprKind::Observable(_) => true,
        ExprKind::Text(template) => template.parts.iter().all(|part| match part {
            TemplatePart::Text(_) => true,
            TemplatePart::Hole { expr, spec } => spec.is_empty() && total(expr),
            TemplatePart::Options | TemplatePart::Bad(_) => false,
        }),
        ExprKind::Variable(id) => {
            let row = &chart.variables[id.index()];
            row.default.is_some() || matches!(row.kind, VariableKind::Param { .. })
        }
        ExprKind::Predicate(id) => total(&chart.predicates[id.index()].expr),
        ExprKind::Unary(op, inner) => {
            total(inner)
                && match op {
                    UnaryOp::Not => inner.ty == Type::Bool,
                    UnaryOp::Negate => inner.ty == Type::Float || constant(expr).is_some(),
                }
        }
        ExprKind::Binary(op, a, b) => {
            total(a)
                && total(b)
                && match op {
                    BinaryOp::And | BinaryOp::Or => true,
                    BinaryOp::Add | BinaryOp::Subtract => {
                        let floats = a.ty == Type::Float && b.ty == Type::Float;
                        let counts =
                            a.ty == Type::Int && matches!(b.kind, ExprKind::Int(-1000..=1000));
                        let rows = match (&a.ty, &b.ty) {
                            (Type::Text, Type::Text) | (Type::List(_), Type::List(_)) => {
                                *op == BinaryOp::Add
                            }
                            _ => false,
                        };
                        floats || counts || rows
                    }
                    _ => false,
                }
        }
        ExprKind::Compare(first, rest) => {
            let number = |e: &Expr| matches!(e.ty, Type::Int | Type::Float | Type::Duration);
            let mut left = &**first;
            total(first)
                && rest.iter().all(|(op, right)| {
                    let fits = match op {
                        CompareOp::Equal | CompareOp::NotEqual => true,
                        CompareOp::In | CompareOp::NotIn => {
                            matches!(right.kind, ExprKind::List(_))
                        }
                        _ => number(left) && number(right),
                    };
                    left = right;
                    fits && total(right)
                })
        }
        ExprKind::If(a, b, c) => total(a) && a.ty == Type::Bool && total(b) && total(c),
        ExprKind::Default(a, b) => total(a) && total(b),
        ExprKind::Builtin(Builtin::Len, arguments) => {
            arguments.iter().all(|a| matches!(a.ty, Type::Text | Type::List(_)) && total(a))
        }
        ExprKind::Builtin(_, _) => false,
        ExprKind::Call(id, arguments) => {
            arguments.iter().all(total)
                && matches!(
                    chart.functions[id.index()].kind,
                    FunctionKind::Pure { fallback: Some(_), .. }
                )
        }
        ExprKind::List(items) => items.iter().all(total),
        ExprKind::Map(items) => items.iter().all(|(k, v)| total(k) && total(v)),
        ExprKind::Record(_, fields) => fields.iter().all(|(_, v)| total(v)),
        _ => false,
    }
}

/// The value of a literal, also a negated one or one converted to a Float.
pub(super) fn constant(expr: &Expr) -> Option<Value> {
    let negated = |inner: &Expr| match constant(inner)? {
        Value::Int(n) => n.checked_neg().map(Value::Int),
        Value::Float(x) => Some(Value::Float(-x)),
        _ => None,
    };
    match &expr.kind {
        ExprKind::None => Some(Value::None),
        ExprKind::Bool(value) => Some(Value::Bool(*value)),
        ExprKind::Int(value) => Some(Value::Int(*value)),
        ExprKind::Float(value) => Some(Value::Float(*value)),
        ExprKind::Duration(value) => Some(Value::Duration(*value)),
        ExprKind::Text(text) => text.literal().map(|t| Value::Text(t.into())),
        ExprKind::Enum(_, name) => Some(Value::Text(name.clone())),
        ExprKind::Unary(UnaryOp::Negate, inner) => negated(inner),
        ExprKind::Builtin(chartc_core::model::Builtin::Float, items) => match items.as_slice() {
            [only] => match constant(only)? {
                Value::Int(n) => Some(Value::Float(n as f64)),
                Value::Float(x) => Some(Value::Float(x)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The slots from which the nth value of a payload may come.
pub(super) fn payload(chart: &Chart, place: PayloadSource, nth: u32) -> Vec<Slot> {
    let events = || (0..chart.events.len()).map(EventId::at);
    let fields = |event: EventId| {
        let has = (nth as usize) < chart.events[event.index()].fields.len();
        has.then_some(Slot::Field(event, nth))
    };
    let anything = || {
        let choices =
            chart.choices.iter().enumerate().filter_map(|(i, choice)| match &choice.kind {
                ChoiceKind::Option(row) if (nth as usize) < row.len() => {
                    Some(Slot::Argument(ChoiceId::at(i), nth))
                }
                ChoiceKind::Option(_) | ChoiceKind::Call(..) => None,
            });
        let steps = (0..chart.steps.len()).map(StepId::at).filter(|_| nth == 0);
        let answers = steps.flat_map(|s| [Slot::Answer(s), Slot::Reason(s)]);
        events().filter_map(fields).chain(choices).chain(answers).collect()
    };
    let PayloadSource::Transition(transition) = place else { return anything() };
    match &chart.transition(transition).trigger {
        Trigger::Event(events) => events.iter().copied().filter_map(fields).collect(),
        Trigger::AnyEvent => events().filter_map(fields).collect(),
        Trigger::Choice(choice) => vec![Slot::Argument(*choice, nth)],
        Trigger::StepDone(step) => vec![Slot::Answer(*step)],
        Trigger::StepError(step) | Trigger::StepDoubt(step) | Trigger::StepElse(step) => {
            vec![Slot::Reason(*step), Slot::Answer(*step)]
        }
        _ => anything(),
    }
}
