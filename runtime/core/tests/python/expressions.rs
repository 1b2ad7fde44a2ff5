//! Expressions of every kind, built node by node.

use chartc_core::arena::LocalId;
use chartc_core::expr::{Environment, EvalError, Fuel, Value, evaluate, format};
use chartc_core::model::{
    BinaryOp, Builtin, CompareOp, Expr, ExprKind, Local, Template, TemplatePart, Type, UnaryOp,
};
use serde_json::Value as Json;

pub(crate) struct Nothing;

impl Environment for Nothing {}

pub(crate) fn of(kind: ExprKind) -> Expr {
    Expr { kind, ty: Type::Json }
}

fn boxed(json: &Json) -> Box<Expr> {
    Box::new(expr(json))
}

fn text(json: &Json) -> &str {
    json.as_str().expect("a text")
}

fn list(json: &Json) -> Vec<Expr> {
    json.as_array().expect("a list").iter().map(expr).collect()
}

/// An expression as `expressions.py` writes it.
fn expr(json: &Json) -> Expr {
    let parts = json.as_array().expect("an expression");
    let part = |i: usize| &parts[i];
    of(match text(part(0)) {
        "none" => ExprKind::None,
        "bool" => ExprKind::Bool(part(1) == &Json::Bool(true)),
        "int" => ExprKind::Int(part(1).as_i64().expect("an Int")),
        "float" => ExprKind::Float(text(part(1)).parse().expect("a Float")),
        "text" => {
            ExprKind::Text(Template { parts: vec![TemplatePart::Text(text(part(1)).to_owned())] })
        }
        "local" => ExprKind::Local(LocalId(part(1).as_u64().expect("a number") as u32)),
        "not" => ExprKind::Unary(UnaryOp::Not, boxed(part(1))),
        "negate" => ExprKind::Unary(UnaryOp::Negate, boxed(part(1))),
        "and" => ExprKind::Binary(BinaryOp::And, boxed(part(1)), boxed(part(2))),
        "or" => ExprKind::Binary(BinaryOp::Or, boxed(part(1)), boxed(part(2))),
        "binary" => ExprKind::Binary(arithmetic(text(part(1))), boxed(part(2)), boxed(part(3))),
        "compare" => {
            let rest = part(2).as_array().expect("a list").iter();
            let rest = rest.map(|link| (comparison(text(&link[0])), expr(&link[1])));
            ExprKind::Compare(boxed(part(1)), rest.collect())
        }
        "if" => ExprKind::If(boxed(part(1)), boxed(part(2)), boxed(part(3))),
        "default" => ExprKind::Default(boxed(part(1)), boxed(part(2))),
        "list" => ExprKind::List(list(part(1))),
        "map" => {
            let entries = part(1).as_array().expect("a list").iter();
            let key = |key: &Json| expr(&serde_json::json!(["text", key]));
            ExprKind::Map(entries.map(|e| (key(&e[0]), expr(&e[1]))).collect())
        }
        "index" => ExprKind::Index(boxed(part(1)), boxed(part(2))),
        "slice" => {
            let bound = |json: &Json| (!json.is_null()).then(|| boxed(json));
            ExprKind::Slice(boxed(part(1)), bound(part(2)), bound(part(3)))
        }
        "for" => ExprKind::Comprehension {
            item: boxed(part(1)),
            local: Local {
                id: LocalId(part(4).as_u64().expect("a number") as u32),
                name: String::new(),
            },
            source: boxed(part(2)),
            filter: (!part(3).is_null()).then(|| boxed(part(3))),
        },
        "format" => ExprKind::Text(Template {
            parts: vec![TemplatePart::Hole { expr: expr(part(1)), spec: text(part(2)).to_owned() }],
        }),
        "call" => ExprKind::Builtin(function(text(part(1))), list(part(2))),
        other => panic!("an operator this test does not know: {other}"),
    })
}

fn arithmetic(op: &str) -> BinaryOp {
    match op {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "//" => BinaryOp::FloorDivide,
        "%" => BinaryOp::Modulo,
        "**" => BinaryOp::Power,
        other => panic!("no operator {other}"),
    }
}

fn comparison(op: &str) -> CompareOp {
    match op {
        "==" => CompareOp::Equal,
        "!=" => CompareOp::NotEqual,
        "<" => CompareOp::Less,
        "<=" => CompareOp::LessEqual,
        ">" => CompareOp::Greater,
        ">=" => CompareOp::GreaterEqual,
        "in" => CompareOp::In,
        "not in" => CompareOp::NotIn,
        other => panic!("no operator {other}"),
    }
}

const FUNCTIONS: [Builtin; 23] = [
    Builtin::Len,
    Builtin::Min,
    Builtin::Max,
    Builtin::Abs,
    Builtin::Round,
    Builtin::Sum,
    Builtin::Any,
    Builtin::All,
    Builtin::Sorted,
    Builtin::Lower,
    Builtin::Upper,
    Builtin::Concat,
    Builtin::StartsWith,
    Builtin::Str,
    Builtin::Float,
    Builtin::Int,
    Builtin::Bool,
    Builtin::Set,
    Builtin::Get,
    Builtin::IsA,
    Builtin::Join,
    Builtin::Split,
    Builtin::Replace,
];

fn function(name: &str) -> Builtin {
    let found = FUNCTIONS.into_iter().find(|f| chartc_core::expr::builtin_name(*f) == name);
    found.expect("a function of the language")
}

pub(crate) fn run(expr: &Expr) -> Result<Value, EvalError> {
    evaluate(expr, &Nothing, &Fuel::default())
}

#[test]
fn expressions_of_every_kind() {
    let mut wrong = Vec::new();
    for line in include_str!("../data/expressions.jsonl").lines() {
        let (written, expected): (Json, Option<String>) =
            serde_json::from_str(line).expect("a row");
        let found = run(&expr(&written)).and_then(|value| format::python_repr(&value));
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!("{line}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
