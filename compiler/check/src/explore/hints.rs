//! Values that the literals of a chart suggest, for conditions that do more than compare with constants. For example, `len(items) > 3`
//! suggests a list of four elements, `post.kind == "bug"` a map with the field `kind`, and `n + m > 10` the number 11. A search for
//! counterexamples tries them; they are not exhaustive.

use super::fixed::mentioned;
use super::slot::{Slot, Use, Uses, constant};
use super::values::sample;
use crate::facts::uses::walk;
use chartc_core::expr::{Map, Value};
use chartc_core::model::{BinaryOp, Builtin, Chart, Expr, ExprKind, Type, TypeKind, UnaryOp};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of literals that are kept for one slot.
const MOST: usize = 12;

/// The maximum number of paths into a value that are kept for one slot.
const PATHS: usize = 8;

/// The maximum number of elements of a generated list.
const LONGEST: i64 = 12;

/// The maximum number of levels of nested records and lists.
const DEEPEST: u32 = 4;

/// The number of times that hints are propagated from a slot to the slots from which its values come.
const ROUNDS: usize = 4;

/// The hints for the slots of a chart.
#[derive(Debug, Default)]
pub(super) struct Hints {
    all: BTreeMap<Slot, Hint>,
}

/// The literals and fields that conditions combine with one slot.
#[derive(Debug, Clone, Default)]
struct Hint {
    /// The literals in these conditions.
    literals: Vec<Value>,
    /// The paths of nested fields that are read, each with the literals of the same condition.
    paths: Vec<(Vec<String>, Vec<Value>)>,
}

impl Hint {
    fn add(&mut self, other: &Self) {
        for literal in &other.literals {
            note(&mut self.literals, literal);
        }
        for (path, literals) in &other.paths {
            self.path(path, literals);
        }
    }

    /// Adds literals to a path.
    fn path(&mut self, path: &[String], literals: &[Value]) {
        let place = self.paths.iter().position(|(known, _)| known == path);
        let place = place.unwrap_or_else(|| {
            self.paths.push((path.to_vec(), Vec::new()));
            self.paths.len() - 1
        });
        for literal in literals {
            note(&mut self.paths[place].1, literal);
        }
        self.paths.truncate(PATHS);
    }
}

/// Adds a value if it is new and there is room.
fn note(all: &mut Vec<Value>, value: &Value) {
    if all.len() < MOST && !all.contains(value) {
        all.push(value.clone());
    }
}

impl Hints {
    pub(super) fn new(chart: &Chart) -> Self {
        let uses = Uses::new(chart);
        let mut hints = Self::default();
        let mut flows: BTreeSet<(Slot, Slot)> = uses.flows.iter().copied().collect();
        for one in &uses.all {
            hints.condition(chart, one, one.expr, 0);
            let mut from = Vec::new();
            mentioned(chart, one.expr, one.source, &mut from);
            flows.extend(one.into.iter().flat_map(|into| from.iter().map(|slot| (*slot, *into))));
        }
        // Values flow forwards, hints backwards: a condition on a variable suggests values for the event that sets it.
        for _ in 0..ROUNDS {
            for (from, into) in &flows {
                if let Some(hint) = hints.all.get(into).cloned() {
                    hints.all.entry(*from).or_default().add(&hint);
                }
            }
        }
        hints
    }

    /// Adds the hints of a condition. Each comparison is handled separately, so that its literals suggest nothing for slots that only
    /// another one reads.
    fn condition(&mut self, chart: &Chart, one: &Use<'_>, expr: &Expr, depth: u32) {
        if depth < 64 {
            if let ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) = &expr.kind {
                self.condition(chart, one, a, depth + 1);
                return self.condition(chart, one, b, depth + 1);
            }
            if let ExprKind::Unary(UnaryOp::Not, inner) = &expr.kind {
                return self.condition(chart, one, inner, depth + 1);
            }
            if let ExprKind::Predicate(id) = &expr.kind {
                let inner = &chart.predicates[id.index()].expr;
                return self.condition(chart, one, inner, depth + 1);
            }
        }
        let mut slots = Vec::new();
        mentioned(chart, expr, one.source, &mut slots);
        if slots.is_empty() {
            return;
        }
        let mut hint = Hint::default();
        let mut paths: Vec<Vec<String>> = Vec::new();
        walk(chart, expr, &mut |part| {
            if let Some(value) = constant(part) {
                note(&mut hint.literals, &value);
            }
            let path = path(part);
            let is_part = |longer: &Vec<String>| longer.starts_with(&path);
            if !path.is_empty() && !paths.iter().any(is_part) {
                paths.push(path);
            }
        });
        slots.extend(one.into);
        // In `get(post, "kind") == "bug"`, "kind" is a key and no value.
        let is_key = |value: &Value| {
            let Value::Text(text) = value else { return false };
            paths.iter().flatten().any(|key| key == text)
        };
        let beside: Vec<Value> =
            hint.literals.iter().filter(|value| !is_key(value)).cloned().collect();
        for path in &paths {
            hint.path(path, &beside);
        }
        for slot in slots {
            self.all.entry(slot).or_default().add(&hint);
        }
    }

    /// Suggested values of a slot of this type, the likeliest first.
    pub(super) fn values(&self, chart: &Chart, slot: Slot, ty: &Type) -> Vec<Value> {
        self.all.get(&slot).map_or_else(Vec::new, |hint| made(chart, ty, hint, 0))
    }

    /// Suggested values of a field of the value that a slot holds; `child` declares the field's type.
    pub(super) fn field(&self, child: &Chart, slot: Slot, name: &str, ty: &Type) -> Vec<Value> {
        let Some(hint) = self.all.get(&slot) else { return Vec::new() };
        let mut inner = of(hint, name);
        for literal in &hint.literals {
            note(&mut inner.literals, literal);
        }
        made(child, ty, &inner, 0)
    }
}

/// The path of nested fields that an expression reads; empty if it reads none.
fn path(expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = expr;
    loop {
        let key = |key: &Expr| match constant(key) {
            Some(Value::Text(name)) => Some(name),
            Some(_) | None => None,
        };
        let (inner, name) = if let ExprKind::Field(inner, name) = &at.kind {
            (&**inner, Some(name.clone()))
        } else if let ExprKind::Index(inner, nth) = &at.kind {
            (&**inner, key(nth))
        } else if let ExprKind::Builtin(Builtin::Get | Builtin::JsGet, parts) = &at.kind
            && let [inner, name, ..] = parts.as_slice()
        {
            (inner, key(name))
        } else {
            break;
        };
        found.extend(name);
        at = inner;
    }
    found.reverse();
    found
}

/// A bound and its two neighbors, the greatest first.
fn around(n: i64) -> [i64; 3] {
    [n.saturating_add(1), n, n.saturating_sub(1)]
}

/// Values of a type that a hint suggests.
fn made(chart: &Chart, ty: &Type, hint: &Hint, depth: u32) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let whole = hint.literals.iter().filter_map(|value| match value {
        Value::Int(n) => Some(*n),
        Value::Float(x) if x.abs() < 1e15 => Some(x.floor() as i64),
        _ => None,
    });
    match ty {
        Type::Int => values.extend(whole.flat_map(around).map(Value::Int)),
        Type::Float => {
            for value in &hint.literals {
                let x = match value {
                    Value::Int(n) => *n as f64,
                    Value::Float(x) if x.is_finite() => *x,
                    _ => continue,
                };
                values.extend([x + 1.0, x, x - 1.0].map(Value::Float));
            }
        }
        Type::Duration => {
            for value in &hint.literals {
                if let Value::Duration(n) = value {
                    let near = [n.saturating_add(1), *n, n.saturating_sub(1)];
                    values.extend(near.map(Value::Duration));
                }
            }
        }
        Type::Text => {
            values.extend(hint.literals.iter().filter(|v| matches!(v, Value::Text(_))).cloned());
            // Numbers may be compared with the length of the text.
            let long = whole.flat_map(around).filter(|n| (0..=64).contains(n));
            values.extend(long.map(|n| Value::Text("a".repeat(n as usize))));
        }
        Type::Json => {
            values.extend(fields(chart, Map::new(), hint));
            values.extend(hint.literals.iter().cloned());
        }
        Type::Optional(inner) => return made(chart, inner, hint, depth),
        Type::List(inner) if depth < DEEPEST => {
            let mut elements = made(chart, inner, hint, depth + 1);
            elements.push(sample(chart, inner, 0));
            elements.truncate(MOST / 2);
            values.extend(elements.iter().map(|one| Value::List(vec![one.clone()])));
            for count in whole.flat_map(around).filter(|n| (2..=LONGEST).contains(n)) {
                for one in elements.iter().take(3) {
                    values.push(Value::List(vec![one.clone(); count as usize]));
                }
            }
            values.push(Value::List(elements));
        }
        Type::Map(inner) if depth < DEEPEST => {
            let elements = made(chart, inner, hint, depth + 1);
            let first = elements.first().cloned().unwrap_or_else(|| sample(chart, inner, 0));
            let keys = hint.paths.iter().filter_map(|(path, _)| path.last());
            for key in keys {
                values.push(Value::Map([(key.clone(), first.clone())].into_iter().collect()));
            }
        }
        Type::Named(id) => {
            if let TypeKind::Record(row) = &chart.types[id.index()].kind
                && depth < DEEPEST
                && let Value::Map(first) = sample(chart, ty, 0)
            {
                for field in row {
                    let inner = of(hint, &field.name);
                    for value in made(chart, &field.ty, &inner, depth + 1) {
                        let mut row = first.clone();
                        row.insert(field.name.clone(), value);
                        values.push(Value::Map(row));
                    }
                }
                values.insert(0, Value::Map(together(chart, row, first, hint, depth)));
            }
        }
        Type::Bool | Type::List(_) | Type::Map(_) => {}
    }
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// The hint for one field of a value.
fn of(hint: &Hint, name: &str) -> Hint {
    let mut inner = Hint::default();
    for (path, literals) in hint.paths.iter().filter(|(path, _)| path.iter().any(|k| k == name)) {
        for literal in literals {
            note(&mut inner.literals, literal);
        }
        inner.path(path, literals);
    }
    inner
}

/// A record with the first suggested value of each field.
fn together(
    chart: &Chart,
    row: &[chartc_core::model::Field],
    first: Map,
    hint: &Hint,
    depth: u32,
) -> Map {
    let mut all = first;
    for field in row {
        let value = made(chart, &field.ty, &of(hint, &field.name), depth + 1).into_iter().next();
        if let Some(value) = value {
            all.insert(field.name.clone(), value);
        }
    }
    all
}

/// Maps with the fields that are read: one with the first value of each field, then one for each other value of a field.
fn fields(chart: &Chart, base: Map, hint: &Hint) -> Vec<Value> {
    let candidates = |literals: &[Value]| {
        let mut all: Vec<Value> = Vec::new();
        for literal in literals {
            if let Value::Int(n) = literal {
                all.extend(around(*n).map(Value::Int));
            } else {
                all.push(literal.clone());
            }
        }
        all.extend([Value::Bool(true), Value::Text("a".into())]);
        all
    };
    let rows: Vec<(&Vec<String>, Vec<Value>)> =
        hint.paths.iter().map(|(path, literals)| (path, candidates(literals))).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut first = base;
    for (path, values) in &rows {
        put(&mut first, path, values[0].clone());
    }
    let mut found = vec![Value::Map(first.clone())];
    for (path, values) in &rows {
        for value in &values[1..] {
            let mut row = first.clone();
            put(&mut row, path, value.clone());
            found.push(Value::Map(row));
        }
        let of = Hint { literals: values.clone(), paths: Vec::new() };
        let list = made(chart, &Type::List(Box::new(Type::Text)), &of, 0);
        for value in list.into_iter().take(2) {
            let mut row = first.clone();
            put(&mut row, path, value);
            found.push(Value::Map(row));
        }
    }
    found
}

/// Sets the field at a path, and creates the maps on the way.
fn put(row: &mut Map, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        row.insert(name.clone(), value);
        return;
    }
    let mut inner = match row.get(name) {
        Some(Value::Map(inner)) => inner.clone(),
        Some(_) | None => Map::new(),
    };
    put(&mut inner, rest, value);
    row.insert(name.clone(), Value::Map(inner));
}
