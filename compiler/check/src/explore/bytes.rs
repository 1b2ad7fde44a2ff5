//! Keys as bytes.

use chartc_core::expr::Value;
use chartc_core::store::bits;

/// A sequence of numbers and texts, encoded unambiguously.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn number(&mut self, mut n: u64) {
        while n >= 0x7f {
            self.0.push(0x80 | (n & 0x7f) as u8);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A separator: a byte with which no number begins.
    pub(super) fn mark(&mut self) {
        self.0.push(0x7f);
    }

    pub(super) fn optional(&mut self, n: Option<u64>) {
        if let Some(n) = n {
            self.number(n);
        }
    }

    pub(super) fn count(&mut self, n: u32, most: Option<u32>) {
        self.optional(most.map(|most| u64::from(n.min(most))));
    }

    pub(super) fn bits(&mut self, set: &[u64]) {
        for bit in bits::iter(set) {
            self.number(bit as u64);
        }
        self.mark();
    }

    /// The bits of a set for which `counts` is true.
    pub(super) fn bits_of(&mut self, set: &[u64], counts: &[bool]) {
        for bit in bits::iter(set).filter(|bit| counts[*bit]) {
            self.number(bit as u64);
        }
        self.mark();
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::None => self.number(0),
            Value::Bool(value) => self.number(1 + u64::from(*value)),
            Value::Int(n) => {
                self.number(3);
                self.number(*n as u64);
            }
            Value::Float(x) => {
                self.number(4);
                self.number(x.to_bits());
            }
            Value::Text(text) => {
                self.number(5);
                self.text(text);
            }
            Value::Duration(n) => {
                self.number(6);
                self.number(*n);
            }
            Value::List(items) => {
                self.number(7);
                self.number(items.len() as u64);
                for item in items {
                    self.value(item);
                }
            }
            Value::Map(map) => {
                self.number(8);
                self.number(map.len() as u64);
                for (key, value) in map.iter() {
                    self.text(key);
                    self.value(value);
                }
            }
        }
    }
}
