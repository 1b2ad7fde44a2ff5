//! The values with which a slot is tried: all of a small type, otherwise one of each class into which constants divide the type.
//!
//! **The problem.** An event may carry any text or number, but the exploration can try only a few. It has to know whether these few stand
//! for all.
//!
//! **The idea.** `relevant` knows the constants with which a slot is compared. Values between two neighboring constants have the same
//! effect, so one of them is enough. `tried` returns the values, at most `MOST_VALUES`, and `exact`: whether any other value has the effect
//! of one of these. If not, the exploration concludes nothing from what it has not found.
//!
//! | slot | compared with | tried | exact |
//! |---|---|---|---|
//! | any, but nothing depends on it | | one value | yes |
//! | `Bool`, a small enum, an `Int` with a small range | anything | all values | yes |
//! | `Int` | 3 | 2, 3, 4 | yes |
//! | `Text` | `"yes"` | `"yes"`, and another text | yes |
//! | `Text`, an argument of a tool | the arguments of other calls, by `streak` | two texts, which may be equal or not | yes |
//! | `Int` | used in `n + m > 10` | 0, 1 | no |
//!
//! Where this is not exact, `Hints` suggest further values from the literals of the chart. They are not exhaustive, but help to find a
//! counterexample. Hints flow backwards, from a condition to the slots from which its variables are set. Generated values are small: the
//! constants bound their number, length and nesting.

use super::relevant::{Class, Relevant, Slot, Use, Uses, mentioned};
use crate::analysis::facts::usage::walk;
use crate::analysis::facts::values::literal;
use chartc_core::expr::{Map, Value, fit, ranged, type_text};
use chartc_core::model::{
    BinaryOp, Builtin, Chart, ChoiceKind, Expr, ExprKind, Field, FunctionKind, Type, TypeKind,
    UnaryOp, VariableKind, Within,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of values of one slot.
const MOST_VALUES: usize = 32;

/// The values that are tried for a slot.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    pub(super) values: Vec<Value>,
    /// Whether any other value has the same effect as one of these.
    pub(super) exact: bool,
}

/// The type of a slot, and its name.
pub(super) fn declared(chart: &Chart, slot: Slot) -> (Type, String) {
    match slot {
        Slot::Variable(id) => {
            let row = &chart.variables[id.index()];
            (row.ty.clone(), row.name.clone())
        }
        Slot::Field(event, nth) => {
            let row = &chart.events[event.index()];
            let field = &row.fields[nth as usize];
            (field.ty.clone(), format!("{}.{}", row.name, field.name))
        }
        Slot::Argument(choice, nth) => {
            let row = &chart.choices[choice.index()];
            match &row.kind {
                ChoiceKind::Option(fields) => match fields.get(nth as usize) {
                    Some(field) => (field.ty.clone(), format!("{}.{}", row.name, field.name)),
                    None => (Type::Json, row.name.clone()),
                },
                ChoiceKind::Call(..) => (Type::Json, row.name.clone()),
            }
        }
        Slot::Answer(step) => {
            let row = &chart.steps[step.index()];
            (row.one_returns().clone(), row.name.clone())
        }
        Slot::Reason(step) => (Type::Text, format!("error({})", chart.steps[step.index()].name)),
        Slot::Result(tool) => {
            let row = &chart.tools[tool.index()];
            (row.result.clone(), row.name.clone())
        }
        Slot::Passed(tool, nth) => {
            let row = &chart.tools[tool.index()];
            let field = &row.params[nth as usize];
            (field.ty.clone(), format!("{}.{}", row.name, field.name))
        }
        Slot::Function(id) => {
            let row = &chart.functions[id.index()];
            let ty = match &row.kind {
                FunctionKind::Pure { result, .. } => result.clone(),
                FunctionKind::Effect => Type::Json,
            };
            (ty, row.name.clone())
        }
    }
}

/// The name and type of a slot, as messages show it: `notes: Text`.
pub(super) fn shown(chart: &Chart, slot: Slot) -> String {
    let (ty, name) = declared(chart, slot);
    format!("`{name}: {}`", type_text(&ty, &chart.types))
}

/// The values that are tried for a slot whose values come from outside.
pub(super) fn tried(chart: &Chart, relevant: &Relevant<'_>, slot: Slot) -> Tried {
    let (ty, _) = declared(chart, slot);
    let range = range(chart, slot);
    // Nothing depends on the slot, so one value stands for all.
    if !relevant.slots.contains(&slot) {
        let value = range.map_or_else(|| sample(chart, &ty, 0), |(low, _)| low);
        return Tried { values: vec![value], exact: true };
    }
    if let Some(values) = range.as_ref().and_then(all_within) {
        return Tried { values, exact: true };
    }
    if let Some(values) = all(chart, &ty, 0) {
        return Tried { values, exact: true };
    }
    let mut class = relevant.class(slot);
    if let Some((low, high)) = &range {
        class.constants.extend([low.clone(), high.clone()]);
    }
    let mut values = classes(chart, &ty, &class);
    if let Some((low, high)) = &range {
        values.retain(|value| chartc_core::expr::within("", value, low, high).is_ok());
    }
    let exact = !class.tangled && values.len() <= MOST_VALUES && !is_open(&ty, &class);
    values.truncate(MOST_VALUES);
    Tried { values, exact }
}

/// Adds values that the literals of the chart suggest, if they are in the range of the slot.
pub(super) fn hinted(chart: &Chart, hints: &Hints, slot: Slot, values: &mut Vec<Value>) {
    let (ty, _) = declared(chart, slot);
    let range = range(chart, slot);
    for value in hints.values(chart, slot, &ty) {
        let fits = fit(value.clone(), &ty, &chart.types).and_then(|v| ranged(v, range.as_ref()));
        if fits.is_err() {
            continue;
        }

        if values.len() < MOST_VALUES && !values.contains(&value) {
            values.push(value);
        }
    }
}

/// The declared range of a slot.
fn range(chart: &Chart, slot: Slot) -> Option<Within> {
    let of = |fields: &[Field], nth: u32| fields.get(nth as usize)?.range.clone();
    match slot {
        Slot::Variable(id) => match &chart.variables[id.index()].kind {
            VariableKind::Param { range } => range.clone(),
            VariableKind::Input | VariableKind::Var { .. } | VariableKind::Asked => None,
        },
        Slot::Field(event, nth) => of(&chart.events[event.index()].fields, nth),
        Slot::Argument(choice, nth) => match &chart.choices[choice.index()].kind {
            ChoiceKind::Option(fields) => of(fields, nth),
            ChoiceKind::Call(..) => None,
        },
        Slot::Answer(step) => chart.steps[step.index()].range.clone(),
        Slot::Passed(tool, nth) => of(&chart.tools[tool.index()].params, nth),
        Slot::Reason(_) | Slot::Result(_) | Slot::Function(_) => None,
    }
}

/// Whether the type has values that none of those tried stands for.
fn is_open(ty: &Type, class: &Class) -> bool {
    match ty {
        Type::Bool | Type::Int | Type::Float | Type::Duration | Type::Text => false,
        Type::Optional(inner) => is_open(inner, class),
        // Opaque values are only compared as a whole, so those tried are enough.
        _ => !class.opaque,
    }
}

/// Every value of a small type; `None` if there are more than [`MOST_VALUES`].
pub(super) fn all(chart: &Chart, ty: &Type, depth: u32) -> Option<Vec<Value>> {
    match ty {
        Type::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Optional(inner) => {
            let mut values = all(chart, inner, depth)?;
            values.push(Value::None);
            Some(values)
        }
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) if names.len() <= MOST_VALUES => {
                Some(names.iter().cloned().map(Value::Text).collect())
            }
            TypeKind::Enum(_) => None,
            TypeKind::Record(fields) => {
                if depth > 4 {
                    return None;
                }
                let mut rows = vec![Map::new()];
                for field in fields {
                    let values = all_of(chart, field, depth + 1)?;
                    if rows.len() * values.len() > MOST_VALUES {
                        return None;
                    }
                    rows = rows
                        .iter()
                        .flat_map(|row| {
                            values.iter().map(|value| {
                                let mut row = row.clone();
                                row.insert(field.name.clone(), value.clone());
                                row
                            })
                        })
                        .collect();
                }
                Some(rows.into_iter().map(Value::Map).collect())
            }
        },
        _ => None,
    }
}

/// Every value of a field of a small type or with a small range.
pub(super) fn all_of(chart: &Chart, field: &Field, depth: u32) -> Option<Vec<Value>> {
    match &field.range {
        Some(range) => all_within(range),
        None => all(chart, &field.ty, depth),
    }
}

/// Every whole number of a small range.
fn all_within(range: &Within) -> Option<Vec<Value>> {
    let (Value::Int(low), Value::Int(high)) = range else { return None };
    let is_small = high.checked_sub(*low).is_some_and(|n| (0..MOST_VALUES as i64).contains(&n));
    is_small.then(|| (*low..=*high).map(Value::Int).collect())
}

/// One value of each class into which the constants divide the type.
fn classes(chart: &Chart, ty: &Type, class: &Class) -> Vec<Value> {
    match ty {
        Type::Optional(inner) => {
            let mut values = classes(chart, inner, class);
            values.push(Value::None);
            values
        }
        Type::Int => integers(class).into_iter().map(Value::Int).collect(),
        Type::Float => floats(class).into_iter().map(Value::Float).collect(),
        Type::Duration => durations(class).into_iter().map(Value::Duration).collect(),
        Type::Text => texts(class),
        Type::Json => json_values(class),
        Type::List(inner) => {
            vec![Value::List(Vec::new()), Value::List(vec![sample(chart, inner, 0)])]
        }
        Type::Map(inner) => {
            let mut values = vec![Value::Map(Map::new())];
            if class.opaque {
                let one = [("a".to_owned(), sample(chart, inner, 0))];
                values.push(Value::Map(one.into_iter().collect()));
            }
            values
        }
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => names.iter().cloned().map(Value::Text).collect(),
            TypeKind::Record(fields) => records(chart, sample(chart, ty, 0), fields),
        },
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
    }
}

/// The constants and their neighbors.
fn integers(class: &Class) -> Vec<i64> {
    let cuts = class.constants.iter().filter_map(|c| match c {
        Value::Int(n) => Some((*n, *n)),
        Value::Float(x) if x.abs() < 1e15 => Some((x.floor() as i64, x.ceil() as i64)),
        _ => None,
    });
    let around =
        |(low, high): (i64, i64)| [low.saturating_sub(1), low, high, high.saturating_add(1)];
    let mut numbers: Vec<i64> = cuts.flat_map(around).collect();
    if numbers.is_empty() {
        numbers = vec![0, 1];
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The constants, and a number between, below and above them.
fn floats(class: &Class) -> Vec<f64> {
    let mut cuts: Vec<f64> = class
        .constants
        .iter()
        .filter_map(|c| match c {
            Value::Int(n) => Some(*n as f64),
            Value::Float(x) if x.is_finite() => Some(*x),
            _ => None,
        })
        .collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut numbers = cuts.clone();
    numbers.extend(cuts.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])));
    numbers.extend(cuts.first().map(|c| c - 1.0));
    numbers.extend(cuts.last().map(|c| c + 1.0));
    if numbers.is_empty() {
        numbers = vec![0.0, 1.0];
    }
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Zero, and the constants with their neighbors.
fn durations(class: &Class) -> Vec<u64> {
    let mut numbers = vec![0];
    for constant in &class.constants {
        if let Value::Duration(n) = constant {
            numbers.extend([n.saturating_sub(1), *n, n.saturating_add(1)]);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn texts(class: &Class) -> Vec<Value> {
    let texts = class.constants.iter().filter(|c| matches!(c, Value::Text(_)));
    let mut values: Vec<Value> = texts.cloned().collect();
    let mut other = String::from("a");
    // One text that differs from all constants; two if texts are compared with each other, which may be equal or not.
    for _ in 0..=usize::from(class.opaque) {
        while values.contains(&Value::Text(other.clone())) {
            other.push('a');
        }
        values.push(Value::Text(other.clone()));
    }
    values
}

fn json_values(class: &Class) -> Vec<Value> {
    let mut values = Vec::new();
    for constant in &class.constants {
        if !values.contains(constant) {
            values.push(constant.clone());
        }
    }
    let own = [Value::None, Value::Bool(false), Value::Bool(true), Value::Int(0)];
    for value in own.into_iter().chain([Value::Text("a".into())]) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// The first record, and those that differ from it in one field, because combinations are too many.
fn records(chart: &Chart, first: Value, fields: &[Field]) -> Vec<Value> {
    let mut values = Vec::new();
    if let Value::Map(row) = &first {
        for field in fields {
            for value in all_of(chart, field, 1).unwrap_or_else(|| {
                let is_deeper = matches!(field.ty, Type::Named(_));
                if is_deeper { Vec::new() } else { several(chart, field) }
            }) {
                let mut row = row.clone();
                row.insert(field.name.clone(), value);
                let row = Value::Map(row);
                if row != first && !values.contains(&row) {
                    values.push(row);
                }
            }
        }
    }
    values.insert(0, first);
    values
}

/// A value of the type, the simplest one.
pub(super) fn sample(chart: &Chart, ty: &Type, depth: u32) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Int => Value::Int(0),
        Type::Float => Value::Float(0.0),
        Type::Text => Value::Text("a".into()),
        Type::Duration => Value::Duration(0),
        Type::Json | Type::Optional(_) => Value::None,
        Type::List(_) => Value::List(Vec::new()),
        Type::Map(_) => Value::Map(Map::new()),
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => {
                names.first().map_or(Value::None, |name| Value::Text(name.clone()))
            }
            TypeKind::Record(_) if depth > 8 => Value::None,
            TypeKind::Record(fields) => Value::Map(
                fields.iter().map(|f| (f.name.clone(), sample_of(chart, f, depth + 1))).collect(),
            ),
        },
    }
}

/// A value of a field: the simplest one, or else the least.
fn sample_of(chart: &Chart, field: &Field, depth: u32) -> Value {
    let range = field.range.as_ref();
    let value = sample(chart, &field.ty, depth);
    ranged(value, range).unwrap_or_else(|_| range.map_or(Value::None, |(low, _)| low.clone()))
}

/// A few values of a field, at least one.
pub(super) fn some(chart: &Chart, field: &Field) -> Vec<Value> {
    let values = all_of(chart, field, 0).unwrap_or_else(|| several(chart, field));
    if values.is_empty() { vec![sample_of(chart, field, 0)] } else { values }
}

/// A value of each class of a field's type, within its range.
fn several(chart: &Chart, field: &Field) -> Vec<Value> {
    let mut class = Class { opaque: true, ..Class::default() };
    if let Some((low, high)) = &field.range {
        class.constants.extend([low.clone(), high.clone()]);
    }
    let mut values = classes(chart, &field.ty, &class);
    values.retain(|value| ranged(value.clone(), field.range.as_ref()).is_ok());
    values
}

// Values that the literals of a chart suggest, for conditions that do more than compare with constants. For example, `len(items) > 3`
// suggests a list of four elements, `post.kind == "bug"` a map with the field `kind`, and `n + m > 10` the number 11. A search for
// counterexamples tries them; they are not exhaustive.

/// The maximum number of literals that are kept for one slot.
const MOST_LITERALS: usize = 12;

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
    if all.len() < MOST_LITERALS && !all.contains(value) {
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
            if let Some(value) = literal(part) {
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
        let key = |key: &Expr| match literal(key) {
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
    match ty {
        Type::Int => values.extend(whole(hint).flat_map(around).map(Value::Int)),
        Type::Float => {
            let near = floats_of(hint).flat_map(|x| [x + 1.0, x, x - 1.0]);
            values.extend(near.map(Value::Float));
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
            let long = whole(hint).flat_map(around).filter(|n| (0..=64).contains(n));
            values.extend(long.map(|n| Value::Text("a".repeat(n as usize))));
        }
        Type::Json => {
            values.extend(fields(chart, Map::new(), hint));
            values.extend(hint.literals.iter().cloned());
        }
        Type::Optional(inner) => return made(chart, inner, hint, depth),
        Type::List(inner) if depth < DEEPEST => {
            values.extend(lists(chart, inner, hint, depth).into_iter().map(Value::List));
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
                let all = with_one_field(chart, row, &first, hint, depth);
                values.push(Value::Map(together(chart, row, first, hint, depth)));
                values.extend(all.into_iter().map(Value::Map));
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

/// The whole numbers of a hint; others are rounded down.
fn whole(hint: &Hint) -> impl Iterator<Item = i64> {
    hint.literals.iter().filter_map(|value| match value {
        Value::Int(n) => Some(*n),
        Value::Float(x) if x.abs() < 1e15 => Some(x.floor() as i64),
        _ => None,
    })
}

/// The finite numbers of a hint.
fn floats_of(hint: &Hint) -> impl Iterator<Item = f64> {
    hint.literals.iter().filter_map(|value| match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) if x.is_finite() => Some(*x),
        _ => None,
    })
}

/// Lists of one suggested element, of several equal ones, and of all.
fn lists(chart: &Chart, inner: &Type, hint: &Hint, depth: u32) -> Vec<Vec<Value>> {
    let mut elements = made(chart, inner, hint, depth + 1);
    elements.push(sample(chart, inner, 0));
    elements.truncate(MOST_LITERALS / 2);
    let mut lists: Vec<Vec<Value>> = elements.iter().map(|one| vec![one.clone()]).collect();
    for count in whole(hint).flat_map(around).filter(|n| (2..=LONGEST).contains(n)) {
        for one in elements.iter().take(3) {
            lists.push(vec![one.clone(); count as usize]);
        }
    }
    lists.push(elements);
    lists
}

/// Records in which one field has a suggested value.
fn with_one_field(
    chart: &Chart,
    fields: &[Field],
    first: &Map,
    hint: &Hint,
    depth: u32,
) -> Vec<Map> {
    let mut rows = Vec::new();
    for field in fields {
        let inner = of(hint, &field.name);
        for value in made(chart, &field.ty, &inner, depth + 1) {
            let mut row = first.clone();
            row.insert(field.name.clone(), value);
            rows.push(row);
        }
    }
    rows
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
