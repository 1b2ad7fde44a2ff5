//! A JSON reader that forgives what models do to JSON, and tells what it forgave.

use chartc_core::expr::{Map, Value};

const DEPTH: usize = 64;
/// Keys of one object; `Map` is searched in a line.
const KEYS: usize = 1000;
/// Quotes within one text that are taken for a part of it.
const QUOTES: usize = 32;

/// A value, with what had to be put right to read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read {
    pub(super) value: Value,
    pub(super) repairs: Vec<String>,
    /// The text ends before the value does.
    pub(super) is_cut: bool,
    /// The first byte.
    pub(super) start: usize,
    /// One past the last byte read.
    pub(super) end: usize,
}

/// Reads the value that starts at byte `start` of `text`. `None` if there is none, however much is forgiven.
pub(super) fn read(text: &str, start: usize) -> Option<Read> {
    attempt(text, start).ok().flatten()
}

/// The text nests deeper than any answer does: it is not searched any further.
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

/// All objects (or, with `open` `[`, lists) that stand in `text`, outermost ones, in order.
pub(super) fn find(text: &str, open: char) -> Vec<Read> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(open).map(|i| from + i) {
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

/// A value, or what there is of one where the text ends too early. Incomplete scalars are left out: `"shi` may be anything.
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

    /// `is_field`: it stands under a key.
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
                        // Two values for one key: which is meant cannot be told.
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

    /// The outer `None` is no string; the inner one a string without end. In a field, a quote that nothing of JSON follows is a part of it.
    #[allow(clippy::option_option, reason = "two ways to have no string")]
    fn string(&mut self, quote: char, is_field: bool) -> Option<Option<String>> {
        self.next();
        if quote == '\'' {
            self.repair("single quotes");
        }
        let mut out = String::new();
        let mut inner = 0;
        loop {
            // A string that ends nowhere and has a brace in it has swallowed the rest of the answer.
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

    /// Whether what follows ends the field, or the text.
    fn ends_field(&self) -> bool {
        let rest = self.text[self.at..].trim_start();
        rest.is_empty() || rest.starts_with([',', '}', ']', ':'])
    }

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
            // `12` may be the head of `123`.
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

#[cfg(test)]
mod tests;
