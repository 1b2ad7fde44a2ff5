//! Translates the targets of assignments.

use super::{Converter, ExprContext, Value, call, text_value, value};
use crate::front::scxml::kinds::{Class, Kinds};
use crate::front::scxml::script::{Expr as Script, ScriptExprKind};
use crate::syntax::Expr;

impl Converter<'_, '_> {
    /// Resolves `place = value` to the assigned variable and its new value: `x.a[i] = v` is `x = js_set(x, "a", js_set(…, i, v))`.
    ///
    /// # Errors
    /// The reason, if there is no such variable, which is also reported, or if the place is not a variable.
    pub(in crate::front::scxml) fn assignment(
        &mut self,
        place: &Script,
        new: Value,
        at: &ExprContext,
    ) -> Result<(usize, Value), String> {
        if let ScriptExprKind::Name(name) = &place.kind {
            return match self.scope.variable(name) {
                Some(nth) if !name.starts_with('_') => Ok((nth, new)),
                _ => {
                    let why = if name.starts_with('_') {
                        format!("`{name}` cannot be assigned to")
                    } else {
                        format!("`{name}` is not declared")
                    };
                    let known = self.scope.variable_names();
                    let near = crate::diagnostic::nearest(name, known).map(str::to_owned);
                    self.faulty(place.span, &why, near.as_deref());
                    Err(why)
                }
            };
        }
        let (of, key) = if let ScriptExprKind::Member(of, name) = &place.kind {
            (of, text_value(&name.node, name.span))
        } else if let ScriptExprKind::Index(of, index) = &place.kind {
            (of, self.value(index, at))
        } else {
            return Err("this cannot be assigned to".to_owned());
        };
        let old: Expr = self.value(of, at).expr;
        let kind = call("js_set", vec![old, key.expr, new.expr], place.span);
        self.assignment(of, value(kind, place.span, Kinds::ANY, Class::Json), at)
    }
}
