//! Random numbers and values that are the same on every run.

use chartc_core::expr::{Map, Value};
use chartc_core::model::{Chart, Type, TypeKind};

/// A generator (splitmix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Equal seeds give equal numbers.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.number().is_multiple_of(n)
    }
}

const TEXTS: &[&str] =
    &["", "a", "noop", "Ship it", "été 🙂", "{x}", "line\nline", "7", "2.5", "a.b"];
const INTS: &[i64] = &[0, 1, 2, 3, 5, 7, 12, 100, -1, -4, i64::MAX, i64::MIN];
const FLOATS: &[f64] = &[0.0, 0.1, 0.29, 0.5, 0.95, 1.0, 2.5, 20.0, -3.75, 1e300, f64::INFINITY];

/// A value of a type, mostly of an everyday size.
pub fn value(random: &mut Random, chart: &Chart, ty: &Type, depth: u32) -> Value {
    match ty {
        Type::Bool => Value::Bool(random.one_in(2)),
        Type::Int if random.one_in(4) => Value::Int(INTS[random.below(INTS.len())]),
        Type::Int => Value::Int((random.number() % 12) as i64),
        Type::Float if random.one_in(6) => Value::Int(INTS[random.below(INTS.len())]),
        Type::Float => Value::Float(FLOATS[random.below(FLOATS.len())]),
        Type::Text => Value::Text(TEXTS[random.below(TEXTS.len())].to_owned()),
        Type::Duration => Value::Duration(random.number() % 100_000),
        Type::Json => json(random, depth),
        Type::List(item) => {
            let len = if depth == 0 { 0 } else { random.below(4) };
            Value::List((0..len).map(|_| value(random, chart, item, depth - 1)).collect())
        }
        Type::Map(item) => {
            let len = if depth == 0 { 0 } else { random.below(3) };
            Value::Map(
                (0..len)
                    .map(|_| {
                        let key = TEXTS[random.below(TEXTS.len())].to_owned();
                        (key, value(random, chart, item, depth - 1))
                    })
                    .collect(),
            )
        }
        Type::Optional(_) if depth == 0 || random.one_in(3) => Value::None,
        Type::Optional(inner) => value(random, chart, inner, depth - 1),
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => Value::Text(names[random.below(names.len())].clone()),
            TypeKind::Record(fields) => Value::Map(
                fields
                    .iter()
                    .map(|f| (f.name.clone(), value(random, chart, &f.ty, depth.saturating_sub(1))))
                    .collect::<Map>(),
            ),
        },
    }
}

fn json(random: &mut Random, depth: u32) -> Value {
    let kinds = if depth == 0 { 5 } else { 8 };
    match random.below(kinds) {
        0 => Value::None,
        1 => Value::Bool(random.one_in(2)),
        2 => Value::Int((random.number() % 10) as i64),
        3 => Value::Float(FLOATS[random.below(FLOATS.len())]),
        4 => Value::Text(TEXTS[random.below(TEXTS.len())].to_owned()),
        5 => Value::List((0..random.below(4)).map(|_| json(random, depth - 1)).collect()),
        _ => {
            let keys = ["action", "reasoning", "x", "text"];
            Value::Map(
                (0..random.below(4))
                    .map(|i| (keys[i].to_owned(), json(random, depth - 1)))
                    .collect(),
            )
        }
    }
}
