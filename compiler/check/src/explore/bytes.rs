//! The encoding of keys as bytes.

use chartc_core::expr::Value;
use chartc_core::store::bits;

/// A sequence of numbers, texts and separators. Different sequences have different encodings, so that equal bytes mean equal keys.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    /// A number, seven bits a byte, the lowest first. The last byte is less than 0x7f, so that 0x7f can separate.
    pub(super) fn number(&mut self, mut n: u64) {
        while n >= 0x7f {
            self.0.push(0x80 | (n & 0x7f) as u8);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A separator: a byte that occurs in no number.
    pub(super) fn mark(&mut self) {
        self.0.push(0x7f);
    }

    /// A number, or nothing.
    pub(super) fn optional(&mut self, n: Option<u64>) {
        if let Some(n) = n {
            self.number(n);
        }
    }

    /// A counter, cut off at `most`; nothing if that is `None`.
    pub(super) fn count(&mut self, n: u32, most: Option<u32>) {
        self.optional(most.map(|most| u64::from(n.min(most))));
    }

    /// The indices in a set.
    pub(super) fn bits(&mut self, set: &[u64]) {
        for bit in bits::iter(set) {
            self.number(bit as u64);
        }
        self.mark();
    }

    /// The indices in a set for which `counts` is true.
    pub(super) fn bits_of(&mut self, set: &[u64], counts: &[bool]) {
        for bit in bits::iter(set).filter(|bit| counts[*bit]) {
            self.number(bit as u64);
        }
        self.mark();
    }

    /// A text, after its length in bytes.
    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// A value, after a number for its type.
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
