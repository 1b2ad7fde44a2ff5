//! The values with which a slot is tried: all of a small type, otherwise one of each class into which constants divide the type.

use super::hints::Hints;
use super::read::Class;
use super::relevant::Relevant;
use super::slot::Slot;
use chartc_core::arena::VarId;
use chartc_core::expr::{Map, Value, type_text};
use chartc_core::model::{Chart, FunctionKind, Type, TypeKind, VariableKind};

/// The maximum number of values of one slot.
const MOST: usize = 32;

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
                chartc_core::model::ChoiceKind::Option(fields) => match fields.get(nth as usize) {
                    Some(field) => (field.ty.clone(), format!("{}.{}", row.name, field.name)),
                    None => (Type::Json, row.name.clone()),
                },
                chartc_core::model::ChoiceKind::Call(..) => (Type::Json, row.name.clone()),
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
    // Nothing depends on the slot, so one value stands for all.
    if !relevant.slots.contains(&slot) {
        return Tried { values: vec![sample(chart, &ty, 0)], exact: true };
    }
    let range = match slot {
        Slot::Variable(id) => range(chart, id),
        _ => None,
    };
    if let (Type::Int, Some((Value::Int(low), Value::Int(high)))) = (&ty, &range)
        && high.checked_sub(*low).is_some_and(|n| (0..MOST as i64).contains(&n))
    {
        return Tried { values: (*low..=*high).map(Value::Int).collect(), exact: true };
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
    let exact = !class.tangled && values.len() <= MOST && !is_open(&ty, &class);
    values.truncate(MOST);
    Tried { values, exact }
}

/// Adds values that the literals of the chart suggest, if they are in the range of the slot.
pub(super) fn hinted(chart: &Chart, hints: &Hints, slot: Slot, values: &mut Vec<Value>) {
    let (ty, _) = declared(chart, slot);
    let range = if let Slot::Variable(id) = slot { range(chart, id) } else { None };
    let is_in = |value: &Value| {
        range
            .as_ref()
            .is_none_or(|(low, high)| chartc_core::expr::within("", value, low, high).is_ok())
    };
    for value in hints.values(chart, slot, &ty).into_iter().filter(is_in) {
        if values.len() < MOST && !values.contains(&value) {
            values.push(value);
        }
    }
}

/// The declared range of a param.
fn range(chart: &Chart, id: VarId) -> Option<(Value, Value)> {
    match &chart.variables[id.index()].kind {
        VariableKind::Param { range } => range.clone(),
        VariableKind::Input | VariableKind::Var { .. } => None,
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

/// Every value of a small type; `None` if there are more than [`MOST`].
pub(super) fn all(chart: &Chart, ty: &Type, depth: u32) -> Option<Vec<Value>> {
    match ty {
        Type::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Optional(inner) => {
            let mut values = all(chart, inner, depth)?;
            values.push(Value::None);
            Some(values)
        }
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) if names.len() <= MOST => {
                Some(names.iter().cloned().map(Value::Text).collect())
            }
            TypeKind::Enum(_) => None,
            TypeKind::Record(fields) => {
                if depth > 4 {
                    return None;
                }
                let mut rows = vec![Map::new()];
                for field in fields {
                    let values = all(chart, &field.ty, depth + 1)?;
                    if rows.len() * values.len() > MOST {
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

/// One value of each class into which the constants divide the type.
fn classes(chart: &Chart, ty: &Type, class: &Class) -> Vec<Value> {
    let mut values = Vec::new();
    match ty {
        Type::Optional(inner) => {
            values = classes(chart, inner, class);
            values.push(Value::None);
        }
        Type::Int => {
            let cuts = class.constants.iter().filter_map(|c| match c {
                Value::Int(n) => Some((*n, *n)),
                Value::Float(x) if x.abs() < 1e15 => Some((x.floor() as i64, x.ceil() as i64)),
                _ => None,
            });
            let around = |(low, high): (i64, i64)| {
                [low.saturating_sub(1), low, high, high.saturating_add(1)]
            };
            let mut numbers: Vec<i64> = cuts.flat_map(around).collect();
            if numbers.is_empty() {
                numbers = vec![0, 1];
            }
            numbers.sort_unstable();
            numbers.dedup();
            values.extend(numbers.into_iter().map(Value::Int));
        }
        Type::Float => {
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
            values.extend(numbers.into_iter().map(Value::Float));
        }
        Type::Duration => {
            let mut numbers = vec![0];
            for constant in &class.constants {
                if let Value::Duration(n) = constant {
                    numbers.extend([n.saturating_sub(1), *n, n.saturating_add(1)]);
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            values.extend(numbers.into_iter().map(Value::Duration));
        }
        Type::Text => {
            values.extend(class.constants.iter().filter(|c| matches!(c, Value::Text(_))).cloned());
            let mut other = String::from("a");
            // One text that differs from all constants; two if texts are compared with each other, which may be equal or not.
            for _ in 0..=usize::from(class.opaque) {
                while values.contains(&Value::Text(other.clone())) {
                    other.push('a');
                }
                values.push(Value::Text(other.clone()));
            }
        }
        Type::Json => {
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
        }
        Type::List(inner) => {
            values.push(Value::List(Vec::new()));
            values.push(Value::List(vec![sample(chart, inner, 0)]));
        }
        Type::Map(_) => {
            values.push(Value::Map(Map::new()));
            if class.opaque {
                let one = [("a".to_owned(), sample(chart, ty, 8))];
                values.push(Value::Map(one.into_iter().collect()));
            }
        }
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => values.extend(names.iter().cloned().map(Value::Text)),
            TypeKind::Record(fields) => {
                let first = sample(chart, ty, 0);
                // Varies one field at a time, because combinations are too many.
                if let Value::Map(row) = &first {
                    for field in fields {
                        let inner = Class { opaque: true, ..Class::default() };
                        for value in all(chart, &field.ty, 1).unwrap_or_else(|| {
                            if matches!(field.ty, Type::Named(_)) {
                                Vec::new()
                            } else {
                                classes(chart, &field.ty, &inner)
                            }
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
            }
        },
        Type::Bool => values.extend([Value::Bool(false), Value::Bool(true)]),
    }
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
                fields.iter().map(|f| (f.name.clone(), sample(chart, &f.ty, depth + 1))).collect(),
            ),
        },
    }
}

/// A few values of the type, at least one.
pub(super) fn some(chart: &Chart, ty: &Type) -> Vec<Value> {
    let class = Class { opaque: true, ..Class::default() };
    let values = all(chart, ty, 0).unwrap_or_else(|| classes(chart, ty, &class));
    if values.is_empty() { vec![sample(chart, ty, 0)] } else { values }
}
