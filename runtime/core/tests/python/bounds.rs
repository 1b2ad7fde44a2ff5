//! No expression takes more stack, time or memory than it is given, and none panics.

use super::expressions::{Nothing, of, run};
use chartc_core::arena::LocalId;
use chartc_core::expr::{
    EvalError, Fuel, MAX_DEPTH, MAX_VALUE_DEPTH, Value, evaluate, fit, format,
};
use chartc_core::model::{BinaryOp, Builtin, Expr, ExprKind, Local, Template, TemplatePart, Type};

fn int(i: i64) -> Expr {
    of(ExprKind::Int(i))
}

fn text(text: &str) -> Expr {
    of(ExprKind::Text(Template { parts: vec![TemplatePart::Text(text.to_owned())] }))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    of(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

fn listing(item: Expr, local: u32, source: Expr) -> Expr {
    let (item, source) = (Box::new(item), Box::new(source));
    let local = Local { id: LocalId(local), name: String::new() };
    of(ExprKind::Comprehension { item, local, source, filter: None })
}

fn nested(levels: u32, innermost: Expr, wrap: fn(Expr) -> Expr) -> Expr {
    (0..levels).fold(innermost, |inner, _| wrap(inner))
}

fn too_much(result: Result<Value, EvalError>) {
    let error = result.expect_err("more than one evaluation may do");
    assert_eq!(error.message, "too much work or data in one evaluation");
}

#[test]
fn nesting_up_to_the_bound() {
    let wraps: [fn(Expr) -> Expr; 4] = [
        |inner| of(ExprKind::Builtin(Builtin::Int, vec![inner])),
        |inner| {
            let condition = Box::new(of(ExprKind::Bool(true)));
            of(ExprKind::If(condition, Box::new(inner), Box::new(int(2))))
        },
        |inner| binary(BinaryOp::Multiply, int(1), inner),
        |inner| of(ExprKind::Default(Box::new(of(ExprKind::None)), Box::new(inner))),
    ];
    for wrap in wraps {
        assert_eq!(run(&nested(MAX_DEPTH, int(1), wrap)), Ok(Value::Int(1)));
        let error = run(&nested(MAX_DEPTH + 1, int(1), wrap)).expect_err("one too many");
        assert_eq!(error.message, "an expression nested too deep");
    }
}

#[test]
fn deep_lists_and_texts_within_a_small_stack() {
    let deep = || {
        let wrap = |inner| listing(inner, 0, of(ExprKind::List(vec![int(5)])));
        // The innermost source and its element are deeper than what is made of them.
        let lists = run(&nested(MAX_DEPTH - 1, int(1), wrap)).expect("as deep as allowed");
        let hole = |inner| {
            let hole = TemplatePart::Hole { expr: inner, spec: ">3".to_owned() };
            of(ExprKind::Text(Template { parts: vec![hole] }))
        };
        let shown = format::python_repr(&lists).expect("a text of bounded length");
        (shown.len(), run(&nested(MAX_DEPTH, int(1), hole)))
    };
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(deep).expect("a thread");
    let (length, shown) = small.join().expect("no overflow");
    assert_eq!(length, 2 * (MAX_DEPTH as usize - 1) + 1);
    assert_eq!(shown, Ok(Value::Text("  1".to_owned())));
}

#[test]
fn a_long_chain_is_not_deep() {
    let chain = (0..1000).fold(int(0), |left, i| binary(BinaryOp::Add, left, int(i)));
    assert_eq!(run(&chain), Ok(Value::Int(499_500)));
}

#[test]
fn texts_and_lists_that_grow_without_end() {
    too_much(run(&binary(BinaryOp::Multiply, text("ab"), int(i64::MAX))));
    too_much(run(&binary(BinaryOp::Multiply, of(ExprKind::List(vec![int(1)])), int(1 << 40))));
    let double = |x: Expr| {
        let local = || of(ExprKind::Local(LocalId(0)));
        let twice =
            listing(binary(BinaryOp::Add, local(), local()), 0, of(ExprKind::List(vec![x])));
        of(ExprKind::Index(Box::new(twice), Box::new(int(0))))
    };
    too_much(run(&nested(60, text("a long enough text"), double)));
}

#[test]
fn loops_within_loops() {
    let hundred = || binary(BinaryOp::Multiply, of(ExprKind::List(vec![int(1)])), int(100));
    let twice = listing(listing(int(0), 1, hundred()), 0, hundred());
    assert!(run(&twice).is_ok());
    let four = (0..4).fold(int(0), |inner, i| listing(inner, i, hundred()));
    too_much(run(&four));
}

#[test]
fn nothing_left_stays_nothing_left() {
    let fuel = Fuel::new(10);
    too_much(evaluate(&binary(BinaryOp::Multiply, text("a"), int(1000)), &Nothing, &fuel));
    too_much(evaluate(&int(1), &Nothing, &fuel));
}

#[test]
fn a_value_that_is_kept_does_not_nest_without_end() {
    let list = |levels: u32| (0..levels).fold(Value::None, |inner, _| Value::List(vec![inner]));
    let fits = |levels| fit(list(levels), &Type::Json, &[]).is_ok();
    assert!(fits(MAX_VALUE_DEPTH - 1));
    assert!(!fits(MAX_VALUE_DEPTH + 1));
}

/// Numbers that look random; the same each time.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn any_spec_on_any_value() {
    const PARTS: [&str; 24] = [
        "<", ">", "^", "=", "+", "-", " ", "z", "#", "0", "1", "9", "99", ",", "_", ".", "é", "{",
        "d", "f", "e", "g", "%", "s",
    ];
    let values = [
        Value::None,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Float(-f64::MIN_POSITIVE / 8.0),
        Value::Float(f64::MAX),
        Value::Float(f64::NEG_INFINITY),
        Value::Text("é𝄞e\u{301}".to_owned()),
        Value::Duration(u64::MAX),
        Value::List(vec![Value::None]),
    ];
    let mut state = 1;
    let mut formatted = 0;
    for _ in 0..20_000 {
        let spec: String =
            (0..next(&mut state) % 6).map(|_| PARTS[next(&mut state) % 24]).collect();
        let value = &values[next(&mut state) % values.len()];
        formatted += usize::from(format::format(value, &spec).is_ok());
    }
    assert!(formatted > 1000, "only {formatted} of these specs were any good");
}
