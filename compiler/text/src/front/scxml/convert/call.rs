//! Translates calls.

use super::{Converter, ExprContext, Value, call, fails, number, value};
use crate::diagnostic::near;
use crate::front::scxml::kinds::{Class, Kinds};
use crate::front::scxml::script::{Expr as Script, ScriptExprKind};
use crate::rules::faulty_expression;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Converter<'_, '_> {
    pub(super) fn call(
        &mut self,
        function: &Script,
        arguments: &[Script],
        span: Span,
        at: &ExprContext,
    ) -> Value {
        if let ScriptExprKind::Name(name) = &function.kind {
            return match (name.as_str(), arguments) {
                ("In", [one]) => self.in_state(one, span, at),
                ("Number" | "parseFloat", [one]) => number(self.value(one, at)),
                ("String", [one]) => {
                    let one = self.value(one, at);
                    value(call("js_text", vec![one.expr], span), span, Kinds::TEXT, Class::Text)
                }
                ("Boolean", [one]) => {
                    let one = self.condition(one, at);
                    value(one.kind, span, Kinds::BOOL, Class::Bool)
                }
                _ => self.refuse(span, &format!("the function `{name}` is not translated")),
            };
        }
        if let ScriptExprKind::Member(of, method) = &function.kind
            && let ScriptExprKind::Name(owner) = &of.kind
            && self.scope.variable(owner).is_none()
        {
            match (owner.as_str(), method.node.as_str(), arguments) {
                ("JSON", "stringify", [one]) => {
                    let one = self.value(one, at);
                    let kind = call("js_json", vec![one.expr], span);
                    return value(kind, span, Kinds::TEXT, Class::Text);
                }
                ("Math", name, _) => return self.math(name, arguments, span, at),
                ("Array", "isArray", [one]) => {
                    let one = self.value(one, at);
                    let list = super::text_value("list", span).expr;
                    let kind = call("is_a", vec![one.expr, list], span);
                    return value(kind, span, Kinds::BOOL, Class::Bool);
                }
                _ => {}
            }
        }
        self.refuse(span, "this function is not translated")
    }

    fn math(&mut self, name: &str, arguments: &[Script], span: Span, at: &ExprContext) -> Value {
        let all: Vec<Value> = arguments.iter().map(|a| self.number(a, at)).collect();
        let typed = all.iter().all(|a| a.class != Class::Json);
        let joint = all.iter().fold(Kinds::NEVER, |k, a| k.or(a.kinds));
        let classed = |kinds: Kinds| if typed { kinds.class() } else { Class::Json };
        let binary = |op: BinaryOp, a: Expr, b: Expr| Expr {
            kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
            span,
        };
        let whole = |e: Expr| value(call("int", vec![e], span), span, Kinds::INT, Class::Int);
        let literal = |kind: ExprKind| Expr { kind, span };
        let exprs = || all.iter().map(|a| a.expr.clone());
        match (name, all.as_slice()) {
            ("pow", [_, _]) => {
                self.arithmetic(BinaryOp::Power, &arguments[0], &arguments[1], span, at)
            }
            ("sqrt", [x]) => {
                let kind =
                    binary(BinaryOp::Power, x.expr.clone(), literal(ExprKind::Float(0.5))).kind;
                value(kind, span, Kinds::FLOAT, classed(Kinds::FLOAT))
            }
            ("abs", [_]) => {
                value(call("abs", exprs().collect(), span), span, joint, classed(joint))
            }
            ("min" | "max", [_, _, ..]) => {
                let kind = call(name, exprs().collect(), span);
                value(
                    kind,
                    span,
                    joint,
                    classed(if joint == Kinds::NUMBER { Kinds::FLOAT } else { joint }),
                )
            }
            ("floor" | "ceil" | "round" | "trunc", [x]) if x.class == Class::Int => x.clone(),
            ("trunc", [x]) => whole(x.expr.clone()),
            ("floor", [x]) => {
                whole(binary(BinaryOp::FloorDivide, x.expr.clone(), literal(ExprKind::Int(1))))
            }
            // ECMAScript rounds halves up: `floor(x + 0.5)`.
            ("round", [x]) => {
                let more = binary(BinaryOp::Add, x.expr.clone(), literal(ExprKind::Float(0.5)));
                whole(binary(BinaryOp::FloorDivide, more, literal(ExprKind::Int(1))))
            }
            ("ceil", [x]) => {
                let minus =
                    |e: Expr| Expr { kind: ExprKind::Unary(UnaryOp::Negate, Box::new(e)), span };
                let floor =
                    binary(BinaryOp::FloorDivide, minus(x.expr.clone()), literal(ExprKind::Int(1)));
                whole(minus(floor))
            }
            _ => self.refuse(span, &format!("`Math.{name}` is not translated")),
        }
    }

    /// Translates `In('s')`.
    fn in_state(&mut self, id: &Script, span: Span, at: &ExprContext) -> Value {
        let ScriptExprKind::Text(name) = &id.kind else {
            return self.refuse(id.span, "`In` takes a text that says which state");
        };
        if at.before.is_some() {
            return fails("no state is active yet", span);
        }
        let Some(state) = self.scope.state(name) else {
            let finding =
                faulty_expression::at(id.span, format!("no state `{name}`: this is always false"));
            self.findings.push({
                let near = near(name, self.scope.state_ids());
                finding.meant(name, near)
            });
            return value(ExprKind::Bool(false), span, Kinds::BOOL, Class::Bool);
        };
        let names = self.scope.path(at.state, state, id.span);
        let path = names.into_iter().fold(None, |base: Option<Expr>, name: Ident| {
            Some(match base {
                None => Expr { kind: ExprKind::Name(name.node), span: name.span },
                Some(base) => Expr { span: name.span, kind: ExprKind::Field(Box::new(base), name) },
            })
        });
        value(call("in", path.into_iter().collect(), span), span, Kinds::BOOL, Class::Bool)
    }
}
