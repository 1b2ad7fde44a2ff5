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

mod compound;
mod environment;

pub use environment::Environment;

use super::builtin::builtin_with;
use super::compare::{compare_with, equal};
use super::fit::widen;
use super::fuel::{Fuel, fail};
use super::operate::{binary_with, symbol, unary};
use super::{EvalError, Value, template};
use crate::arena::{FunctionId, LocalId, PredicateId};
use crate::model::{BinaryOp, Builtin, CompareOp, Expr, ExprKind, Observable, Template, UnaryOp};
use alloc::borrow::Cow;
use alloc::string::String;
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
        template::render_to(self, text, scope, depth, &mut to)?;
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
