//! A tolerant JSON parser: accepts the mistakes that models make in JSON, and records each as a repair.
//!
//! From `{choice: 'close', "why": "they said "thanks"",}` it reads `{"choice": "close", "why": "they said \"thanks\""}`, with the
//! repairs "key without quotes", "single quotes", "quotes in a text" and "trailing comma". JSON that may mean two things, such as
//! an object with two values for a key, is not repaired.

#[cfg(test)]
mod tests;

use chartc_core::expr::{Map, Value};

/// The maximum nesting, which bounds the recursion of the parser.
const DEPTH: usize = 64;
/// The maximum number of keys per object. A search in `Map` takes linear time, so many keys would take quadratic time.
const KEYS: usize = 1000;
/// The maximum number of unescaped quotes within one string. It bounds the time, as each one looks ahead.
const QUOTES: usize = 32;

/// A parsed value, with the repairs that it needed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read {
    pub(super) value: Value,
    pub(super) repairs: Vec<String>,
    /// Whether the text ends before the value does.
    pub(super) is_cut: bool,
    /// The position of the first byte.
    pub(super) start: usize,
    /// The position after the last byte.
    pub(super) end: usize,
}

/// Parses the value that starts at byte `start` of `text`. `None` if there is none, even with repairs.
pub(super) fn read(text: &str, start: usize) -> Option<Read> {
    attempt(text, start).ok().flatten()
}

/// The text nests deeper than any answer, so it is not searched any further.
struct TooDeep;

fn attempt(text: &str, start: usize) -> Result<Option<Read>, TooDeep> {
    let mut reader = Reader { text, at: start, repairs: Vec::new(), too_deep: false };
    let (value, is_cut) = match reader.value(0, false) {
        Some(Part::Whole(value)) => (value, false),
        Some(Part::Cut(Some(value))) => (value, true),
        _ if reader.too_deep => return Err(TooDeep),
        Some(Part::Cut(None)) | None => return Ok(None),
    };
    Ok(Some(Read { value, repairs: reader.repairs, is_cut, start, end: reader.at }))
}

/// Finds all objects in `text` (or lists, if `open` is `[`), in order, without those inside others.
pub(super) fn find(text: &str, open: char) -> Vec<Read> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(open).map(|i| from + i) {
        // After a failure the search goes on inside; `TooDeep` ends it, as each level of a deep text would be tried again.
        from = match attempt(text, start) {
            Ok(Some(read)) => {
                let end = read.end;
                found.push(read);
                end.max(start + 1)
            }
            Ok(None) => start + 1,
            Err(TooDeep) => break,
        };
    }
    found
}

/// A complete value, or the part of one that is cut off. Incomplete scalars are left out: `"shi` could become anything.
enum Part {
    Whole(Value),
    Cut(Option<Value>),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    repairs: Vec<String>,
    too_deep: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn repair(&mut self, what: &str) {
        if !self.repairs.iter().any(|r| r == what) {
            self.repairs.push(what.to_owned());
        }
    }

    fn cut(&mut self, value: Option<Value>) -> Option<Part> {
        self.repair("cut off");
        Some(Part::Cut(value))
    }

    /// Parses a value. `is_field`: it is the value of a key.
    fn value(&mut self, depth: usize, is_field: bool) -> Option<Part> {
        if depth > DEPTH {
            self.too_deep = true;
            return None;
        }
        self.blank();
        match self.peek() {
            None => self.cut(None),
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(quote @ ('"' | '\'')) => Some(match self.string(quote, is_field)? {
                Some(text) => Part::Whole(Value::Text(text)),
                None => return self.cut(None),
            }),
            Some(_) => self.word(is_field),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Part> {
        self.next();
        let mut map = Map::new();
        loop {
            self.blank();
            let key = match self.peek() {
                None => return self.cut(Some(Value::Map(map))),
                Some('}') => {
                    self.next();
                    if !map.is_empty() {
                        self.repair("trailing comma");
                    }
                    return Some(Part::Whole(Value::Map(map)));
                }
                Some(quote @ ('"' | '\'')) => match self.string(quote, false)? {
                    Some(key) => key,
                    None => return self.cut(Some(Value::Map(map))),
                },
                Some(c) if c.is_alphabetic() || c == '_' => {
                    self.repair("key without quotes");
                    self.name()
                }
                Some(_) => return None,
            };
            self.blank();
            if self.peek().is_none() {
                return self.cut(Some(Value::Map(map)));
            }
            if !self.eat(':') {
                return None;
            }
            match self.value(depth + 1, true)? {
                Part::Whole(value) => {
                    if map.len() == KEYS || map.get(&key).is_some_and(|old| *old != value) {
                        // It is unknown which of two different values for a key is meant.
                        return None;
                    }
                    map.insert(key, value);
                }
                Part::Cut(value) => {
                    if let Some(value) = value.filter(|_| map.get(&key).is_none()) {
                        map.insert(key, value);
                    }
                    return self.cut(Some(Value::Map(map)));
                }
            }
            self.blank();
            match self.peek() {
                Some(',') => {
                    self.next();
                }
                Some('}') => {
                    self.next();
                    return Some(Part::Whole(Value::Map(map)));
                }
                None => return self.cut(Some(Value::Map(map))),
                Some(_) => return None,
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Part> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.blank();
            if self.eat(']') {
                if !items.is_empty() {
                    self.repair("trailing comma");
                }
                return Some(Part::Whole(Value::List(items)));
            }
            match self.value(depth + 1, false)? {
                Part::Whole(value) => items.push(value),
                Part::Cut(value) => {
                    items.extend(value);
                    return self.cut(Some(Value::List(items)));
                }
            }
            self.blank();
            match self.peek() {
                Some(',') => {
                    self.next();
                }
                Some(']') => {
                    self.next();
                    return Some(Part::Whole(Value::List(items)));
                }
                None => return self.cut(Some(Value::List(items))),
                Some(_) => return None,
            }
        }
    }

    /// Parses a string. The outer `None` means that it is malformed, the inner one that it has no end. In a field, a quote is part of the
    /// text unless a mark of JSON follows it.
    #[allow(clippy::option_option, reason = "two ways to have no string")]
    fn string(&mut self, quote: char, is_field: bool) -> Option<Option<String>> {
        self.next();
        if quote == '\'' {
            self.repair("single quotes");
        }
        let mut out = String::new();
        let mut inner = 0;
        loop {
            // A string without an end that contains a brace has swallowed the rest of the answer.
            let Some(c) = self.next() else { return (!out.contains('}')).then_some(None) };
            match c {
                _ if c == quote && (!is_field || inner == QUOTES || self.ends_field()) => {
                    return Some(Some(out));
                }
                _ if c == quote => {
                    self.repair("quotes in a text");
                    inner += 1;
                    out.push(c);
                }
                '\\' => {
                    let Some(c) = self.next() else { return Some(None) };
                    match c {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        'b' => out.push('\u{8}'),
                        'f' => out.push('\u{c}'),
                        'u' => match self.unicode()? {
                            Some(c) => out.push(c),
                            None => return Some(None),
                        },
                        '"' | '\\' | '/' => out.push(c),
                        '\'' => {
                            self.repair("escaped single quote");
                            out.push(c);
                        }
                        _ => return None,
                    }
                }
                c if c < ' ' => {
                    self.repair("line break in a string");
                    out.push(c);
                }
                c => out.push(c),
            }
        }
    }

    /// Whether the following text ends a field, or there is none.
    fn ends_field(&self) -> bool {
        let rest = self.text[self.at..].trim_start();
        rest.is_empty() || rest.starts_with([',', '}', ']', ':'])
    }

    /// Parses the digits of `\uXXXX`, and the second escape of a surrogate pair. The outer `None` means that it is malformed,
    /// the inner one that the text ends inside of it.
    #[allow(clippy::option_option, reason = "two ways to have no character")]
    fn unicode(&mut self) -> Option<Option<char>> {
        let Some(high) = self.hex()? else { return Some(None) };
        if !(0xD800..0xDC00).contains(&high) {
            return Some(Some(char::from_u32(high)?));
        }
        if self.at == self.text.len() {
            return Some(None);
        }
        if !self.text[self.at..].starts_with("\\u") {
            return None;
        }
        self.at += 2;
        let Some(low) = self.hex()? else { return Some(None) };
        let low = low.checked_sub(0xDC00).filter(|l| *l < 0x400)?;
        Some(Some(char::from_u32(0x10000 + ((high - 0xD800) << 10) + low)?))
    }

    #[allow(clippy::option_option, reason = "two ways to have no number")]
    fn hex(&mut self) -> Option<Option<u32>> {
        let mut number = 0;
        for _ in 0..4 {
            let Some(c) = self.next() else { return Some(None) };
            number = number * 16 + c.to_digit(16)?;
        }
        Some(Some(number))
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            self.next();
        }
        self.text[start..self.at].to_owned()
    }

    fn word(&mut self, is_field: bool) -> Option<Part> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'))
        {
            self.next();
        }
        let word = &self.text[start..self.at];
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::None,
            "True" | "False" | "None" => {
                self.repair("Python's words");
                if word == "None" { Value::None } else { Value::Bool(word == "True") }
            }
            _ => match number(word) {
                Some(number) => number,
                None if is_field && word.starts_with(char::is_alphabetic) && self.ends_field() => {
                    let word = word.to_owned();
                    self.repair("text without quotes");
                    Value::Text(word)
                }
                None => return None,
            },
        };
        if self.at == self.text.len() && start != 0 {
            // The text may end within a number: `12` may be the beginning of `123`.
            return self.cut(None);
        }
        Some(Part::Whole(value))
    }
}

fn number(word: &str) -> Option<Value> {
    if !word.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(int) = word.parse() {
        return Some(Value::Int(int));
    }
    word.parse().ok().filter(|x: &f64| x.is_finite()).map(Value::Float)
}
