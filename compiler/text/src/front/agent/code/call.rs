//! Converts calls of functions and methods.

use super::Ty;
use super::convert::{Converter, element_type, item_type, truth};
use crate::diagnostic::near;
use crate::front::agent::make::{self, binary};
use crate::front::agent::python::{Expr as Python, PyExprKind};
use crate::rules::refused_code;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, Expr};

/// The functions, each with its minimum and maximum number of arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("len", 1, 1),
    ("str", 0, 1),
    ("max", 1, 64),
    ("min", 1, 64),
    ("set", 0, 1),
    ("bool", 0, 1),
    ("int", 0, 1),
    ("float", 0, 1),
    ("isinstance", 2, 2),
    ("sum", 1, 1),
    ("any", 1, 1),
    ("all", 1, 1),
    ("round", 1, 2),
    ("sorted", 1, 1),
    ("abs", 1, 1),
];

/// The methods: Python's name, the language's function, and the minimum and maximum number of arguments.
const METHODS: &[(&str, &str, usize, usize)] = &[
    ("get", "get", 1, 2),
    ("lower", "lower", 0, 0),
    ("upper", "upper", 0, 0),
    ("startswith", "starts_with", 1, 1),
];

/// The types that `isinstance` may name.
const TYPES: &[&str] = &["int", "float", "str", "bool", "list", "dict", "set", "tuple"];

impl Converter<'_> {
    pub(super) fn call(
        &mut self,
        function: &Python,
        arguments: &[Python],
        span: Span,
    ) -> (Expr, Ty) {
        if let PyExprKind::Name(name) = &function.kind {
            self.function(name, function.span, arguments, span)
        } else if let PyExprKind::Attribute(base, method) = &function.kind {
            self.method(base, method, arguments, span)
        } else if function.kind == PyExprKind::Bad {
            (make::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown)
        } else {
            self.refuse(function.span, "only functions and methods by name can be called")
        }
    }

    fn counted(&mut self, name: &str, given: usize, least: usize, most: usize, at: Span) -> bool {
        if (least..=most).contains(&given) {
            return true;
        }
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        self.refuse(at, format!("`{name}` takes {wanted} argument{plural} here, not {given}"));
        false
    }

    fn unknown(
        &mut self,
        at: Span,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> (Expr, Ty) {
        let finding = refused_code::not_available(name, at).meant(name, near(name, known));
        self.findings.push(finding);
        (make::expr(crate::syntax::ExprKind::Bad, at), Ty::Unknown)
    }

    fn function(&mut self, name: &str, at: Span, arguments: &[Python], span: Span) -> (Expr, Ty) {
        let Some(&(name, least, most)) = FUNCTIONS.iter().find(|(n, ..)| *n == name) else {
            return self.unknown(at, name, FUNCTIONS.iter().map(|(n, ..)| *n));
        };
        if !self.counted(name, arguments.len(), least, most, span) {
            return (make::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown);
        }
        if arguments.is_empty() {
            let zero = match name {
                "str" => Ty::Text,
                "bool" => Ty::Bool,
                "int" => Ty::Int,
                "float" => Ty::Float,
                _ => Ty::List(Box::new(Ty::Unknown)),
            };
            return (zero.zero(span), zero);
        }
        match name {
            "bool" => {
                let value = self.condition(&arguments[0]);
                return (value, Ty::Bool);
            }
            "isinstance" => return self.convert_isinstance(&arguments[0], &arguments[1], span),
            "any" | "all" | "sum" => {
                let (list, ty) = self.elements(name, &arguments[0]);
                let result = match (name, item_type(&ty)) {
                    ("sum", Ty::Int) => Ty::Int,
                    ("sum", Ty::Float) => Ty::Float,
                    ("sum", _) => Ty::Json,
                    _ => Ty::Bool,
                };
                return (make::call(name, vec![list], span), result);
            }
            _ => {}
        }
        let (values, types): (Vec<Expr>, Vec<Ty>) = arguments.iter().map(|a| self.value(a)).unzip();
        let first = types.first().cloned().unwrap_or(Ty::Unknown);
        let ty = match name {
            "len" => Ty::Int,
            "str" => Ty::Text,
            "int" => Ty::Int,
            "float" => Ty::Float,
            "round" if values.len() == 1 => Ty::Int,
            "round" if first == Ty::Int => Ty::Int,
            "round" => Ty::Float,
            "abs" if first.is_number() => first,
            "abs" => Ty::Json,
            "min" | "max" if types.len() == 1 => item_type(&first),
            "min" | "max" => types.into_iter().fold(Ty::Unknown, Ty::join),
            // `set`, `sorted`: a list of the same elements.
            _ => element_type(&first).list(),
        };
        (make::call(name, values, span), ty)
    }

    /// The argument of `any`, `all` or `sum`. The items of a comprehension are converted to the type that the language requires.
    fn elements(&mut self, name: &str, argument: &Python) -> (Expr, Ty) {
        let PyExprKind::Comprehension { item, name: bound, source, filter } = &argument.kind else {
            return self.value(argument);
        };
        let sum = name == "sum";
        let item = |c: &mut Self| {
            let (value, ty) = c.value(item);
            if !sum {
                (truth(value, &ty), Ty::Bool)
            } else if ty == Ty::Bool {
                let span = value.span;
                (make::call("int", vec![value], span), Ty::Int)
            } else {
                (value, ty)
            }
        };
        self.comprehension(item, bound, source, filter.as_deref(), argument.span)
    }

    fn convert_isinstance(&mut self, value: &Python, types: &Python, span: Span) -> (Expr, Ty) {
        let (value, _) = self.value(value);
        let one = std::slice::from_ref(types);
        let types = if let PyExprKind::List(items) = &types.kind { items } else { one };
        let mut test: Option<Expr> = None;
        for ty in types {
            let PyExprKind::Name(name) = &ty.kind else {
                return self.refuse(ty.span, "`isinstance` takes the name of a type");
            };
            if !TYPES.contains(&name.as_str()) {
                return self.unknown(ty.span, name, TYPES.iter().copied());
            }
            // Tuples and sets become lists in the language.
            let name = if matches!(name.as_str(), "tuple" | "set") { "list" } else { name };
            let is = make::call("is_a", vec![value.clone(), make::text(name, ty.span)], span);
            test = Some(match test {
                Some(left) => binary(BinaryOp::Or, left, is, span),
                None => is,
            });
        }
        match test {
            Some(test) => (test, Ty::Bool),
            None => self.refuse(span, "`isinstance` takes at least one type"),
        }
    }

    fn method(
        &mut self,
        base: &Python,
        method: &Ident,
        arguments: &[Python],
        span: Span,
    ) -> (Expr, Ty) {
        let found = METHODS.iter().find(|(n, ..)| *n == method.node);
        let Some(&(name, function, least, most)) = found else {
            return self.unknown(method.span, &method.node, METHODS.iter().map(|(n, ..)| *n));
        };
        if !self.counted(name, arguments.len(), least, most, span) {
            return (make::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown);
        }
        let (base, base_ty) = self.value(base);
        let mut values = vec![base];
        let mut default = Ty::Json;
        for argument in arguments {
            let (value, ty) = self.value(argument);
            values.push(value);
            default = ty;
        }
        let ty = match (function, base_ty) {
            ("get", Ty::Map(item)) if arguments.len() == 2 => item.join(default),
            ("get", _) => Ty::Json,
            ("starts_with", _) => Ty::Bool,
            _ => Ty::Text,
        };
        (make::call(function, values, span), ty)
    }
}
