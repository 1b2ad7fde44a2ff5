//! The evaluator: total, bounded, free of side effects except what a host function does.

mod compound;
mod environment;

pub use environment::Environment;

use super::builtin::builtin_with;
use super::compare::{compare_with, equal};
use super::fit::widen;
use super::fuel::{Fuel, fail};
use super::operate::{binary_with, symbol, unary};
use super::{EvalError, Value, template};
use crate::arena::LocalId;
use crate::model::{BinaryOp, CompareOp, Expr, ExprKind, Observable, Template};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// How deep expressions may nest; the left operands of a chain of infix operators do not count.
pub const MAX_DEPTH: u32 = 120;

/// A bound local, and those around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) outer: Option<&'s Scope<'s>>,
    pub(super) local: LocalId,
    pub(super) value: &'s Value,
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
/// What has no value: overflow, kinds that do not go together, missing data, failed calls, too much work.
pub fn evaluate(
    expr: &Expr,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<Value, EvalError> {
    let value = Evaluator { environment, fuel }.eval(expr, None, 0)?;
    take(value, fuel)
}

/// Whether a condition holds.
///
/// # Errors
/// As [`evaluate`], and a value that is no Bool.
pub fn holds(
    condition: &Expr,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<bool, EvalError> {
    Evaluator { environment, fuel }.bool(condition, None, 0)
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
    /// `depth` is that of `expr` itself.
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

    fn kind<'s>(&self, expr: &Expr, scope: Option<&'s Scope<'s>>, depth: u32) -> Evaluated<'s>
    where
        'e: 's,
    {
        match &expr.kind {
            ExprKind::None => Ok(Cow::Owned(Value::None)),
            ExprKind::Bool(b) => Ok(Cow::Owned(Value::Bool(*b))),
            ExprKind::Int(i) => Ok(Cow::Owned(Value::Int(*i))),
            ExprKind::Float(x) => Ok(Cow::Owned(Value::Float(*x))),
            ExprKind::Duration(millis) => Ok(Cow::Owned(Value::Duration(*millis))),
            ExprKind::Text(text) => self.text(text, scope, depth),
            ExprKind::Enum(_, name) => Ok(Cow::Owned(Value::Text(name.clone()))),
            ExprKind::Variable(id) => match self.environment.variable(*id) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => Err(self.environment.unset(*id)),
            },
            ExprKind::Local(id) => match scope.and_then(|scope| scope.find(*id)) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => fail!("a local that has no value here"),
            },
            ExprKind::Payload(nth) => match self.environment.payload(*nth) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => fail!("nothing is being handled that has a field {nth}"),
            },
            ExprKind::Answer(step) => Ok(match self.environment.answer(*step) {
                Some(value) => Cow::Borrowed(value),
                None => Cow::Owned(Value::None),
            }),
            ExprKind::Predicate(id) => match self.environment.predicate(*id) {
                Some(expr) => self.bool(expr, None, depth).map(Value::Bool).map(Cow::Owned),
                None => fail!("a named condition that is not known here"),
            },
            ExprKind::Observable(observable) => self.observable(observable, depth),
            ExprKind::Field(of, name) => self.field(of, name, scope, depth),
            ExprKind::Index(of, at) => self.index(of, at, scope, depth),
            ExprKind::Slice(of, from, to) => {
                self.slice(of, from.as_deref(), to.as_deref(), scope, depth)
            }
            ExprKind::Unary(op, of) => {
                unary(*op, self.eval(of, scope, depth)?.as_ref()).map(Cow::Owned)
            }
            ExprKind::Binary(..) => self.chain(expr, scope, depth),
            ExprKind::Compare(first, rest) => self.comparison(first, rest, scope, depth),
            ExprKind::If(condition, then, otherwise) => {
                let branch = if self.bool(condition, scope, depth)? { then } else { otherwise };
                self.eval(branch, scope, depth)
            }
            ExprKind::Default(of, default) => {
                let value = self.eval(of, scope, depth)?;
                if *value == Value::None { self.eval(default, scope, depth) } else { Ok(value) }
            }
            ExprKind::Builtin(function, arguments) => {
                let arguments = self.all(arguments, scope, depth)?;
                let arguments: Vec<&Value> = arguments.iter().map(Cow::as_ref).collect();
                builtin_with(*function, &arguments, self.fuel).map(Cow::Owned)
            }
            ExprKind::Call(function, arguments) => {
                let arguments = self.all_owned(arguments, scope, depth)?;
                self.environment.call(*function, &arguments).map(Cow::Owned)
            }
            ExprKind::List(items) => {
                self.all_owned(items, scope, depth).map(Value::List).map(Cow::Owned)
            }
            ExprKind::Map(entries) => self.map(entries, scope, depth),
            ExprKind::Record(_, fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.owned(value, scope, depth)?)));
                fields.collect::<Result<_, _>>().map(Value::Map).map(Cow::Owned)
            }
            ExprKind::Comprehension { item, local, source, filter } => {
                self.comprehension(item, *local, source, filter.as_deref(), scope, depth)
            }
            ExprKind::Unknown(name) => fail!("`{name}` is not in scope"),
        }
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

    /// A chain of infix operators, from its innermost left operand outwards.
    fn chain<'s>(&self, whole: &Expr, scope: Option<&'s Scope<'s>>, depth: u32) -> Evaluated<'s>
    where
        'e: 's,
    {
        let mut links = Vec::new();
        let mut first = whole;
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
            left = right;
        }
        Ok(Cow::Owned(Value::Bool(true)))
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
        exprs.iter().map(|expr| self.eval(expr, scope, depth)).collect()
    }

    fn all_owned(
        &self,
        exprs: &[Expr],
        scope: Option<&Scope<'_>>,
        depth: u32,
    ) -> Result<Vec<Value>, EvalError> {
        exprs.iter().map(|expr| self.owned(expr, scope, depth)).collect()
    }
}

/// Whether two values are equal as `==` has it: numbers by value, deep.
///
/// # Errors
/// Too much to compare.
pub fn same(left: &Value, right: &Value) -> Result<bool, EvalError> {
    equal(left, right, &Fuel::default())
}
