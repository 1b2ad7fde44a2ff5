//! Writes conditions: `not`, `and`, `or`, `if`.

use super::{Binding, Code, Constant, Fragment, Use, Writer, code};
use chartc_core::arena::PredicateId;
use chartc_core::model::{CompareOp, Expr, ExprKind, Type, UnaryOp};

impl Writer<'_> {
    /// Writes a call of a named condition.
    pub(super) fn predicate(&self, id: PredicateId) -> Code {
        let name = &self.context.names.predicates[id.index()];
        let mut call = if self.context.is_direct() {
            Fragment::from(format!("self.{name}()"))
        } else {
            Fragment::from(format!("self.{name}(view)")).using(Use::View)
        };
        call.uses.predicates.insert(id);
        if self.context.needs.repeats {
            call = call.using(Use::Work);
        }
        Code::tried(call.using(Use::Program), Type::Bool, true)
    }

    /// Writes `not of`.
    pub(in super::super) fn not(&mut self, of: &Expr) -> Code {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &of.kind {
            return self.truth(inner);
        }
        if let ExprKind::Compare(first, rest) = &of.kind
            && let [(op, second)] = rest.as_slice()
        {
            return self.compared(*op, first, second, false);
        }
        let code = self.truth(of);
        Self::inverted(&code)
    }

    /// Writes the negation of a condition.
    pub(super) fn inverted(code: &Code) -> Code {
        match code.constant {
            Some(Constant::Bool(b)) => {
                Code::owned((!b).to_string(), Type::Bool).known(Constant::Bool(!b))
            }
            Some(Constant::None | Constant::Int(_) | Constant::Empty | Constant::Other) | None => {
                let text = code!("!{of}", of = code.truth(Binding::Prefix));
                Code::owned(text, Type::Bool).bound(Binding::Prefix)
            }
        }
    }

    /// Writes `left and right` or `left or right`; `deciding` is the value of the left operand that decides the result.
    pub(super) fn logic(&mut self, left: &Expr, right: &Expr, deciding: bool) -> Code {
        let (sign, binding) = if deciding { ("||", Binding::Or) } else { ("&&", Binding::And) };
        let a = self.truth(left);
        if left == right && is_pure(left) {
            return a;
        }
        let b = self.truth(right);
        let plain = |code: &Code| !code.text().has(Use::Failure);
        match (a.constant, b.constant) {
            (Some(Constant::Bool(known)), _) => return if known == deciding { a } else { b },
            (_, Some(Constant::Bool(known))) if known != deciding => return a,
            // The left operand may be dropped only if nobody notices its evaluation.
            (_, Some(Constant::Bool(_))) if plain(&a) && is_pure(left) => return b,
            _ => {}
        }
        // The same operator on the right comes from parentheses, which change nothing: `a and (b and c)` is `a and b and c`.
        let (a, b) = (a.truth(binding), b.truth(binding));
        Code::owned(code!("{a} {sign} {b}", a, b), Type::Bool).bound(binding)
    }

    /// Writes `if condition then then else otherwise`.
    pub(super) fn choice(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        ty: &Type,
    ) -> Code {
        let test = self.truth(condition);
        match test.constant {
            Some(Constant::Bool(true)) => return self.value_code(then, ty),
            Some(Constant::Bool(false)) => return self.value_code(otherwise, ty),
            Some(_) | None => {}
        }
        if then == otherwise && is_pure(condition) && !test.text().has(Use::Failure) {
            return self.value_code(then, ty);
        }
        match (&then.kind, &otherwise.kind) {
            (ExprKind::Bool(true), ExprKind::Bool(false)) => return test,
            (ExprKind::Bool(false), ExprKind::Bool(true)) => return Self::inverted(&test),
            _ => {}
        }
        let test = test.truth(Binding::Block);
        let (then, otherwise) = (self.value(then, ty), self.value(otherwise, ty));
        let text = code!("if {test} {{ {then} }} else {{ {otherwise} }}", test, then, otherwise);
        Code::owned(text, ty.clone()).bound(Binding::Block)
    }
}

/// Returns the comparison that holds exactly where `op` does not, unless an operand is NaN.
pub(super) fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::In => CompareOp::NotIn,
        CompareOp::NotIn => CompareOp::In,
    }
}

/// Whether evaluation has no effect that others observe: the expression calls no host function.
pub(super) fn is_pure(expr: &Expr) -> bool {
    let mut pure = true;
    super::super::uses::walk(expr, &mut |part| {
        pure &= !matches!(part.kind, ExprKind::Call(..) | ExprKind::Predicate(_));
    });
    pure
}
