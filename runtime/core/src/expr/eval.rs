//! The evaluator: it always ends, within bounds, and has no side effects but those of host functions.
//!
//! The idea: a value is borrowed from where it is stored, and copied only when it is stored elsewhere ([`Cow`]); each node pays a unit of
//! fuel; chains of infix operators are a loop, so that `a + b + … + z` takes no stack. For example, `a - b < 2` with `a` = 5 and `b` = 3:
//!
//! ```text
//! eval(a - b < 2)      Compare: evaluates its first operand, then one operand after the other, until one comparison is false
//!   chain(a - b)       the innermost left operand `a` is borrowed from the environment; 5 - 3 gives an owned 2
//!   compare(2 < 2)     false
//! ```

use super::builtin::builtin_with;
use super::convert::widen;
use super::format::write;
use super::fuel::{Fuel, fail};
use super::values::{
    binary_with, compare_with, elements_with, equal, field, index_with, slice_with, symbol, unary,
};
use super::{EvalError, Map, Value};
use crate::arena::{FunctionId, LocalId, PredicateId, StepId, VarId};
use crate::model::{
    Action, BinaryOp, Builtin, CompareOp, Expr, ExprKind, Observable, Template, TemplatePart, Type,
    UnaryOp,
};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The maximum nesting depth of expressions, including named conditions and advice. The left operands in a chain of infix operators do not
/// count. A level takes a few kilobytes of stack, so a thread with one megabyte suffices.
pub const MAX_DEPTH: u32 = 240;

/// A local with its value, and the locals around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) outer: Option<&'s Scope<'s>>,
    pub(super) local: LocalId,
    pub(super) value: &'s Value,
}

impl<'s> Scope<'s> {
    /// The scope of an `each`, which is always the outermost.
    pub(super) const fn of_element(value: &'s Value) -> Self {
        Self { outer: None, local: LocalId(0), value }
    }
}

impl Scope<'_> {
    fn find(&self, local: LocalId) -> Option<&Value> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if here.local == local {
                return Some(here.value);
            }
            scope = here.outer;
        }
        None
    }
}

/// The value of an expression.
///
/// # Errors
/// The expression has no value: overflow, mismatched kinds, missing data, failed calls, too much work.
pub fn evaluate(
    expr: &Expr,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    let value = Evaluator { environment, fuel }.eval(expr, None, 0)?;
    take(value, fuel)
}

/// Like [`evaluate`], with the element of an `each` bound to its local.
///
/// # Errors
/// As for [`evaluate`].
pub(crate) fn evaluate_for(
    expr: &Expr,
    element: Option<&Value>,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    let scope = element.map(Scope::of_element);
    let value = Evaluator { environment, fuel }.eval(expr, scope.as_ref(), 0)?;
    take(value, fuel)
}

/// Whether a condition holds.
///
/// # Errors
/// As for [`evaluate`], or a value that is not a Bool.
pub fn holds(
    condition: &Expr,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<bool, EvalError> {
    Evaluator { environment, fuel }.bool(condition, None, 0)
}

fn owned<'s>(value: Value) -> Evaluated<'s> {
    Ok(Cow::Owned(value))
}

fn take(value: Cow<'_, Value>, fuel: &Fuel) -> Result<Value, EvalError> {
    match value {
        Cow::Borrowed(value) => fuel.copy(value),
        Cow::Owned(value) => Ok(value),
    }
}

pub(super) struct Evaluator<'e> {
    pub(super) environment: &'e dyn Environment,
    pub(super) fuel: &'e Fuel,
}

type Evaluated<'s> = Result<Cow<'s, Value>, EvalError>;

impl<'e> Evaluator<'e> {
    /// Evaluates an expression at this nesting depth.
    pub(super) fn eval<'s>(
        &self,
        expr: &Expr,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        self.fuel.charge(1)?;
        if depth > MAX_DEPTH {
            return fail!("an expression nested too deep");
        }
        let value = self.kind(expr, scope, depth + 1)?;
        Ok(widen(value, &expr.ty))
    }

    pub(super) fn owned(
        &self,
        expr: &Expr,
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Result<Value, EvalError> {
        take(self.eval(expr, scope, depth)?, self.fuel)
    }

    pub(super) fn bool(
        &self,
        expr: &Expr,
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Result<bool, EvalError> {
        let value = self.eval(expr, scope, depth)?;
        let Value::Bool(holds) = *value else {
            return fail!("a condition is Bool, not {}", value.kind());
        };
        Ok(holds)
    }

    /// Evaluates the expression itself. Kinds that recurse have functions of their own, so that a level of nesting takes little stack.
    fn kind<'s>(&self, expr: &Expr, scope: Option<&'s Scope<'s>>, depth: u32) -> Evaluated<'s>
    where
        'e: 's,
    {
        match &expr.kind {
            ExprKind::None => Ok(Cow::Borrowed(&Value::None)),
            ExprKind::Bool(b) => owned(Value::Bool(*b)),
            ExprKind::Int(i) => owned(Value::Int(*i)),
            ExprKind::Float(x) => owned(Value::Float(*x)),
            ExprKind::Duration(millis) => owned(Value::Duration(*millis)),
            ExprKind::Enum(_, name) => owned(Value::Text(name.clone())),
            ExprKind::Variable(id) => self
                .environment
                .variable(*id)
                .map(Cow::Borrowed)
                .ok_or_else(|| self.environment.unset(*id)),
            ExprKind::Local(id) => match scope.and_then(|scope| scope.find(*id)) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => fail!("a local that has no value here"),
            },
            ExprKind::Payload(nth) => self.payload(*nth),
            ExprKind::Answer(step) => {
                Ok(Cow::Borrowed(self.environment.answer(*step).unwrap_or(&Value::None)))
            }
            ExprKind::Unknown(name) => fail!("`{name}` is not in scope"),
            ExprKind::Text(text) => self.text(text, scope, depth),
            ExprKind::Predicate(id) => self.predicate(*id, depth),
            ExprKind::Observable(observable) => self.observable(observable, depth),
            ExprKind::Field(of, name) => self.field(of, name, scope, depth),
            ExprKind::Index(of, at) => self.index(of, at, scope, depth),
            ExprKind::Slice(of, from, to) => {
                self.slice(of, from.as_deref(), to.as_deref(), scope, depth)
            }
            ExprKind::Unary(op, of) => self.unary(*op, of, scope, depth),
            ExprKind::Binary(..) => self.chain(expr, scope, depth),
            ExprKind::Compare(first, rest) => self.comparison(first, rest, scope, depth),
            ExprKind::If(condition, then, otherwise) => {
                let branch = if self.bool(condition, scope, depth)? { then } else { otherwise };
                self.eval(branch, scope, depth)
            }
            ExprKind::Default(of, default) => self.default(of, default, scope, depth),
            ExprKind::Builtin(function, arguments) => {
                self.builtin(*function, arguments, scope, depth)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments, scope, depth),
            ExprKind::List(items) => self.list(items, scope, depth),
            ExprKind::Map(entries) => self.map(entries, scope, depth),
            ExprKind::Record(_, fields) => self.record(fields, scope, depth),
            ExprKind::Comprehension { item, local, source, filter } => {
                self.comprehension(item, local.id, source, filter.as_deref(), scope, depth)
            }
        }
    }

    fn payload<'s>(&self, nth: u32) -> Evaluated<'s>
    where
        'e: 's,
    {
        match self.environment.payload(nth) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => fail!("what is handled has no such field"),
        }
    }

    fn predicate<'s>(&self, id: PredicateId, depth: u32) -> Evaluated<'s> {
        match self.environment.predicate(id) {
            // A named condition does not see the locals of the expression that uses it.
            Some(expr) => self.bool(expr, None, depth).map(Value::Bool).map(Cow::Owned),
            None => fail!("a named condition that is not known here"),
        }
    }

    fn unary<'s>(
        &self,
        op: UnaryOp,
        of: &Expr,
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        unary(op, self.eval(of, scope, depth)?.as_ref()).map(Cow::Owned)
    }

    fn default<'s>(
        &self,
        of: &Expr,
        default: &Expr,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        if *value == Value::None { self.eval(default, scope, depth) } else { Ok(value) }
    }

    fn builtin<'s>(
        &self,
        function: Builtin,
        arguments: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        let arguments = self.all(arguments, scope, depth)?;
        let arguments: Vec<&Value> = arguments.iter().map(Cow::as_ref).collect();
        builtin_with(function, &arguments, self.fuel).map(Cow::Owned)
    }

    fn call<'s>(
        &self,
        function: FunctionId,
        arguments: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        let result = match self.all_owned(arguments, scope, depth) {
            Ok(arguments) => self.environment.call(function, &arguments),
            Err(why) => self.environment.uncalled(function, why),
        };
        result.map(Cow::Owned)
    }

    fn text<'s>(&self, text: &Template, scope: Option<&Scope<'_>>, depth: u32) -> Evaluated<'s> {
        let mut to = String::new();
        render_to(self, text, scope, depth, &mut to)?;
        Ok(Cow::Owned(Value::Text(to)))
    }

    fn observable<'s>(&self, observable: &Observable, depth: u32) -> Evaluated<'s> {
        if *observable == Observable::Advice {
            return match self.environment.advice() {
                Some(advice) => self.text(advice, None, depth),
                None => Ok(Cow::Owned(Value::Text(String::new()))),
            };
        }
        self.environment.observe(observable).map(Cow::Owned)
    }

    /// Evaluates a chain of infix operators, from its innermost left operand outwards.
    fn chain<'s>(&self, whole: &Expr, scope: Option<&'s Scope<'s>>, depth: u32) -> Evaluated<'s>
    where
        'e: 's,
    {
        let mut links = Vec::new();
        let mut first = whole;
        // A chain is as deep as it is long, so its left operands are not evaluated recursively.
        while let ExprKind::Binary(op, left, right) = &first.kind {
            self.fuel.charge(1)?;
            links.push((*op, right, &first.ty));
            first = left;
        }
        let mut value = self.eval(first, scope, depth)?;
        for (op, right, ty) in links.into_iter().rev() {
            let decided = match (op, value.as_ref()) {
                (BinaryOp::And | BinaryOp::Or, Value::Bool(b)) => *b == (op == BinaryOp::Or),
                (BinaryOp::And | BinaryOp::Or, other) => {
                    return fail!("`{}` takes Bool, not {}", symbol(op), other.kind());
                }
                _ => false,
            };
            // The first operand decides, so the second must not be evaluated.
            if decided {
                continue;
            }
            let right = self.eval(right, scope, depth)?;
            value = widen(Cow::Owned(binary_with(op, &value, &right, self.fuel)?), ty);
        }
        Ok(value)
    }

    fn comparison<'s>(
        &self,
        first: &Expr,
        rest: &[(CompareOp, Expr)],
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let mut left = self.eval(first, scope, depth)?;
        for (op, right) in rest {
            let right = self.eval(right, scope, depth)?;
            if !compare_with(*op, &left, &right, self.fuel)? {
                return Ok(Cow::Owned(Value::Bool(false)));
            }
            // The right operand of one comparison is the left operand of the next.
            left = right;
        }
        Ok(Cow::Owned(Value::Bool(true)))
    }
}

/// Whether two values are equal under `==`: numbers by value, compared deeply.
///
/// # Errors
/// The comparison is too much work.
pub fn same(left: &Value, right: &Value) -> Result<bool, EvalError> {
    equal(left, right, &Fuel::default())
}

// Expressions that read parts of values or build values.

impl<'e> Evaluator<'e> {
    /// `x.f`. The field of an optional record that is `none` is `none`, too.
    fn field<'s>(
        &self,
        of: &Expr,
        name: &str,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        if *value == Value::None && matches!(of.ty, Type::Optional(_)) {
            return Ok(value);
        }
        match value {
            Cow::Borrowed(value) => field(value, name).map(Cow::Borrowed),
            // The rest of an owned value is dropped, so its field has to be copied.
            Cow::Owned(value) => self.fuel.copy(field(&value, name)?).map(Cow::Owned),
        }
    }

    fn index<'s>(
        &self,
        of: &Expr,
        at: &Expr,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        let at = self.eval(at, scope, depth)?;
        match value {
            Cow::Borrowed(value) => index_with(value, &at, self.fuel),
            Cow::Owned(value) => {
                take(index_with(&value, &at, self.fuel)?, self.fuel).map(Cow::Owned)
            }
        }
    }

    fn slice<'s>(
        &self,
        of: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let value = self.eval(of, scope, depth)?;
        let from = from.map(|from| self.eval(from, scope, depth)).transpose()?;
        let to = to.map(|to| self.eval(to, scope, depth)).transpose()?;
        slice_with(&value, from.as_deref(), to.as_deref(), self.fuel).map(Cow::Owned)
    }

    fn map<'s>(
        &self,
        entries: &[(Expr, Expr)],
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let mut map = Map::new();
        for (key, value) in entries {
            let Value::Text(key) = self.owned(key, scope, depth)? else {
                return fail!("keys are Text");
            };
            map.insert(key, self.owned(value, scope, depth)?);
        }
        Ok(Cow::Owned(Value::Map(map)))
    }

    fn comprehension<'s>(
        &self,
        item: &Expr,
        local: LocalId,
        source: &Expr,
        filter: Option<&Expr>,
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Evaluated<'s>
    where
        'e: 's,
    {
        let source = self.eval(source, scope, depth)?;
        let mut items = Vec::new();
        // Each node that an iteration evaluates is charged, so the fuel bounds the whole comprehension.
        for element in elements_with(&source, self.fuel)? {
            let inner = Scope { outer: scope, local, value: &element };
            if let Some(filter) = filter
                && !self.bool(filter, Some(&inner), depth)?
            {
                continue;
            }
            items.push(self.owned(item, Some(&inner), depth)?);
        }
        Ok(Cow::Owned(Value::List(items)))
    }

    fn list<'s>(&self, items: &[Expr], scope: Option<&Scope<'_>>, depth: u32) -> Evaluated<'s> {
        self.all_owned(items, scope, depth).map(Value::List).map(Cow::Owned)
    }

    fn record<'s>(
        &self,
        fields: &[(String, Expr)],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Evaluated<'s> {
        let mut record = Map::new();
        for (name, value) in fields {
            record.insert(name.clone(), self.owned(value, scope, depth)?);
        }
        Ok(Cow::Owned(Value::Map(record)))
    }

    fn all<'s>(
        &self,
        exprs: &[Expr],
        scope: Option<&'s Scope<'s>>,
        depth: u32,
    ) -> Result<Vec<Cow<'s, Value>>, EvalError>
    where
        'e: 's,
    {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(expr, scope, depth)?);
        }
        Ok(values)
    }

    fn all_owned(
        &self,
        exprs: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Result<Vec<Value>, EvalError> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.owned(expr, scope, depth)?);
        }
        Ok(values)
    }
}

// The data that an expression can read.

/// The data that an expression can read besides its locals. Each method has a default for data that is not there, and reading it is an
/// error of the expression. So `struct Constants; impl Environment for Constants {}` evaluates constant expressions.
pub trait Environment {
    /// The value of a param, input or var; `None` without a value.
    fn variable(&self, _: VarId) -> Option<&Value> {
        None
    }

    /// The error for a variable for which [`Self::variable`] returns nothing.
    fn unset(&self, _: VarId) -> EvalError {
        EvalError { message: "a variable that has no value here".to_string() }
    }

    /// The field with this index of the current event, choice or answer.
    fn payload(&self, _: u32) -> Option<&Value> {
        None
    }

    /// The answer of a step in this turn; `None` without one.
    fn answer(&self, _: StepId) -> Option<&Value> {
        None
    }

    /// The expression of a named condition.
    fn predicate(&self, _: PredicateId) -> Option<&Expr> {
        None
    }

    /// The advice of the innermost active state that declares one.
    fn advice(&self) -> Option<&Template> {
        None
    }

    /// The options of the question whose prompt is being rendered.
    fn options(&self) -> Option<&str> {
        None
    }

    /// The value of an observable. Never called for `Advice`.
    ///
    /// # Errors
    /// The observable is unknown here.
    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        fail!("{observable:?} is not known here")
    }

    /// Calls a pure host function.
    ///
    /// # Errors
    /// The call failed and the function has no fallback.
    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        fail!("host functions cannot be called here")
    }

    /// The value of a call whose arguments could not be evaluated: the fallback of the function.
    ///
    /// # Errors
    /// The function has no fallback. The error is `why`.
    fn uncalled(&self, _: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        Err(why)
    }
}

// Executes action blocks and `code` steps: branches and loops. The caller executes the other actions.

/// The locals that the loops around an action have bound.
#[derive(Debug, Clone, Copy)]
pub struct Locals<'s>(Option<&'s Scope<'s>>);

impl Locals<'_> {
    /// The value of an expression in the action.
    ///
    /// # Errors
    /// As for [`super::evaluate`].
    pub fn evaluate(
        self,
        expr: &Expr,
        environment: &dyn Environment,
        fuel: &Fuel,
    ) -> Result<Value, EvalError> {
        Evaluator { environment, fuel }.owned(expr, self.0, 0)
    }

    /// A text of the action with its placeholders replaced.
    ///
    /// # Errors
    /// As for [`super::render`].
    pub fn render(
        self,
        text: &Template,
        environment: &dyn Environment,
        fuel: &Fuel,
    ) -> Result<String, EvalError> {
        let mut to = String::new();
        render_to(&Evaluator { environment, fuel }, text, self.0, 0, &mut to)?;
        Ok(to)
    }
}

/// Runs actions in order. `carry_out` runs those that are neither `if` nor `for`. If one fails, the effects of the earlier ones remain.
///
/// # Errors
/// The errors of [`super::evaluate`] and of `carry_out`.
pub fn execute<E: Environment>(
    actions: &[Action],
    environment: &mut E,
    fuel: &Fuel,
    carry_out: &mut dyn FnMut(&mut E, &Action, Locals<'_>) -> Result<(), EvalError>,
) -> Result<(), EvalError> {
    block(actions, environment, fuel, carry_out, None, 0)
}

fn block<E: Environment>(
    actions: &[Action],
    environment: &mut E,
    fuel: &Fuel,
    carry_out: &mut dyn FnMut(&mut E, &Action, Locals<'_>) -> Result<(), EvalError>,
    scope: Option<&Scope<'_>>,
    depth: u32,
) -> Result<(), EvalError> {
    if depth > MAX_DEPTH {
        return fail!("actions nested too deep");
    }
    for action in actions {
        fuel.charge(1)?;
        match action {
            Action::If(condition, then, otherwise) => {
                let holds =
                    Evaluator { environment: &*environment, fuel }.bool(condition, scope, 0)?;
                let branch = if holds { then } else { otherwise };
                block(branch, environment, fuel, carry_out, scope, depth + 1)?;
            }
            Action::For(local, source, body) => {
                let source =
                    Evaluator { environment: &*environment, fuel }.owned(source, scope, 0)?;
                let items: Vec<Cow<'_, Value>> = elements_with(&source, fuel)?;
                for value in &items {
                    // An iteration costs fuel even if the body is empty.
                    fuel.charge(1)?;
                    let inner = Scope { outer: scope, local: local.id, value };
                    block(body, environment, fuel, carry_out, Some(&inner), depth + 1)?;
                }
            }
            _ => carry_out(environment, action, Locals(scope))?,
        }
    }
    Ok(())
}

// Renders texts with placeholders.

pub(super) fn render_to(
    evaluator: &Evaluator<'_>,
    template: &Template,
    scope: Option<&Scope<'_>>,
    depth: u32,
    to: &mut String,
) -> Result<(), EvalError> {
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => {
                evaluator.fuel.charge_text(text.len())?;
                to.push_str(text);
            }
            TemplatePart::Hole { expr, spec } => {
                let value = evaluator.eval(expr, scope, depth)?;
                write(&value, spec, to, evaluator.fuel)?;
            }
            TemplatePart::Options => match evaluator.environment.options() {
                Some(options) => {
                    evaluator.fuel.charge_text(options.len())?;
                    to.push_str(options);
                }
                None => return fail!("there are no options outside a question's prompt"),
            },
            TemplatePart::Bad(text) => return fail!("`{text}` is no placeholder"),
        }
    }
    Ok(())
}

/// Replaces the placeholders of a text, like Python's `str.format`.
///
/// # Errors
/// A placeholder has no value, or its format spec does not accept the value.
pub fn render(
    template: &Template,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<String, EvalError> {
    let mut to = String::new();
    render_to(&Evaluator { environment, fuel }, template, None, 0, &mut to)?;
    Ok(to)
}

/// Like [`render`], with the element of an `each` bound to its local.
///
/// # Errors
/// As for [`render`].
pub(crate) fn render_for(
    template: &Template,
    element: Option<&crate::value::Value>,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<String, EvalError> {
    let scope = element.map(Scope::of_element);
    let mut to = String::new();
    render_to(&Evaluator { environment, fuel }, template, scope.as_ref(), 0, &mut to)?;
    Ok(to)
}
