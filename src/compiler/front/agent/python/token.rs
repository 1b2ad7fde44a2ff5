//! Splits Python into tokens, with those for indentation.

use crate::front::agent::text::Text;
use crate::rules::{REFUSED_CODE, SYNTAX};
use crate::syntax::diagnostic::Diagnostic;
use std::ops::Range;

/// A token, and its range in the text, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Tok,
    pub(super) range: Range<usize>,
}

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tok {
    Name(String),
    Int(i64),
    Float(f64),
    Text(String),
    /// An operator, bracket or other sign.
    Sign(&'static str),
    /// `# …`. The flag says whether code precedes it on its line.
    Comment(bool),
    Newline,
    Indent,
    Dedent,
    End,
    /// An error, which is reported already.
    Bad,
}

/// The signs, longer ones before their beginnings.
const SIGNS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "!=", "==", "<=", ">=", "->", ":=", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "@=", "**", "//", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%",
    "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "@", "&", "|", "^", "~",
];

/// The maximum number of tokens of a snippet.
const MAX_TOKENS: usize = 20_000;

struct Lexer<'t, 'f> {
    text: &'t Text,
    at: usize,
    flat: bool,
    depth: usize,
    indents: Vec<usize>,
    tokens: Vec<Token>,
    comments: Vec<Range<usize>>,
    findings: &'f mut Vec<Diagnostic>,
}

/// Splits a text into tokens. In `flat` mode (for conditions), line ends and indentation have no meaning.
pub(super) fn tokens(text: &Text, flat: bool, findings: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer::new(text, flat, findings);
    lexer.run();
    lexer.tokens
}

/// Finds the comments of a text.
pub(super) fn comments(text: &Text) -> Vec<Range<usize>> {
    if !text.value.contains('#') {
        return Vec::new();
    }
    let findings = &mut Vec::new();
    let mut lexer = Lexer::new(text, false, findings);
    lexer.run();
    lexer.comments
}

impl<'t, 'f> Lexer<'t, 'f> {
    fn new(text: &'t Text, flat: bool, findings: &'f mut Vec<Diagnostic>) -> Self {
        let (tokens, comments) = (Vec::new(), Vec::new());
        Self { text, at: 0, flat, depth: 0, indents: vec![0], tokens, comments, findings }
    }

    fn rest(&self) -> &str {
        &self.text.value[self.at..]
    }

    fn push(&mut self, kind: Tok, len: usize) {
        self.tokens.push(Token { kind, range: self.at..self.at + len });
        self.at += len;
    }

    fn fault(&mut self, range: Range<usize>, message: impl Into<String>) {
        self.findings.push(SYNTAX.at(self.text.span(range), message));
    }

    /// Whether line ends have no meaning here: in a condition, or inside of brackets.
    fn joined(&self) -> bool {
        self.flat || self.depth > 0
    }

    /// The range of the next character; empty at the end.
    fn character(&self) -> Range<usize> {
        let next = self.text.value[self.at..].chars().next();
        self.at..self.at + next.map_or(0, char::len_utf8)
    }

    fn run(&mut self) {
        let mut line_start = !self.flat;
        while self.at < self.text.value.len() {
            if self.tokens.len() >= MAX_TOKENS {
                let message = format!("this code is too long: more than {MAX_TOKENS} tokens");
                self.findings.push(REFUSED_CODE.at(self.text.span(self.character()), message));
                break;
            }
            if line_start && !self.joined() {
                line_start = false;
                if !self.indentation() {
                    line_start = true;
                    continue;
                }
            }
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { break };
            match first {
                '\n' => {
                    if self.joined() {
                        self.at += 1;
                    } else {
                        self.push(Tok::Newline, 1);
                        line_start = true;
                    }
                }
                ' ' | '\t' | '\r' | '\x0c' => self.at += 1,
                '\\' if rest[1..].trim_start_matches('\r').starts_with('\n') => {
                    self.at += rest.find('\n').unwrap_or(0) + 1;
                }
                '#' => {
                    let line = rest.split('\n').next().unwrap_or(rest).trim_end();
                    let len = line.len();
                    self.comments.push(self.at..self.at + len);
                    let trailing = self.tokens.last().is_some_and(|t| {
                        !matches!(
                            t.kind,
                            Tok::Newline | Tok::Indent | Tok::Dedent | Tok::Comment(..)
                        )
                    });
                    if self.joined() {
                        self.at += len;
                    } else {
                        self.push(Tok::Comment(trailing), len);
                    }
                }
                '"' | '\'' => self.string(0),
                c if c.is_ascii_digit()
                    || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) =>
                {
                    self.number();
                }
                c if c.is_alphabetic() || c == '_' => self.name(),
                _ => self.sign(),
            }
        }
        if !self.flat {
            self.push(Tok::Newline, 0);
            for _ in 1..self.indents.len() {
                self.push(Tok::Dedent, 0);
            }
        }
        self.push(Tok::End, 0);
    }

    /// Skips the blanks at the start of a line and adds the tokens of its indentation. `false` for a blank line, which is skipped whole.
    fn indentation(&mut self) -> bool {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\x0c']).len();
        let width = rest[..blank].chars().fold(0, |w, c| match c {
            // A tab goes to the next multiple of 8, as in Python.
            '\t' => (w / 8 + 1) * 8,
            _ => w + 1,
        });
        if rest[blank..].starts_with('\n') || rest[blank..].is_empty() {
            self.at += blank + usize::from(!rest[blank..].is_empty());
            return false;
        }
        if rest[blank..].starts_with('#') {
            // A comment does not open or close a block.
            self.at += blank;
            return true;
        }
        self.at += blank;
        let current = self.indents.last().copied().unwrap_or(0);
        if width > current {
            self.indents.push(width);
            self.push(Tok::Indent, 0);
        }
        while width < self.indents.last().copied().unwrap_or(0) {
            self.indents.pop();
            self.push(Tok::Dedent, 0);
            if width > self.indents.last().copied().unwrap_or(0) {
                self.fault(self.character(), "this indentation fits no line above");
                self.indents.push(width);
                self.push(Tok::Indent, 0);
                break;
            }
        }
        true
    }

    fn name(&mut self) {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let quoted = rest[len..].starts_with(['"', '\'']);
        if quoted && len <= 2 && rest[..len].chars().all(|c| "rRbBfFuU".contains(c)) {
            self.string(len);
        } else {
            let name = rest[..len].to_owned();
            self.push(Tok::Name(name), len);
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let mut len = 0;
        let mut previous = ' ';
        // Takes all that looks like a part of the number, so that `1.2.3` or `0x_g` is one faulty token.
        for c in rest.chars() {
            let exponent =
                matches!(previous, 'e' | 'E') && !rest.starts_with("0x") && !rest.starts_with("0X");
            if c.is_ascii_alphanumeric()
                || c == '_'
                || c == '.'
                || (matches!(c, '+' | '-') && exponent)
            {
                len += 1;
                previous = c;
            } else {
                break;
            }
        }
        let written = &rest[..len];
        let plain = written.replace('_', "");
        let lower = plain.to_ascii_lowercase();
        let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Tok::Int);
        let kind = if let Some(digits) = lower.strip_prefix("0x") {
            radix(digits, 16)
        } else if let Some(digits) = lower.strip_prefix("0o") {
            radix(digits, 8)
        } else if let Some(digits) = lower.strip_prefix("0b") {
            radix(digits, 2)
        } else if lower.chars().all(|c| c.is_ascii_digit()) {
            lower.parse().ok().map(Tok::Int)
        } else if lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            lower.parse().ok().filter(|x: &f64| x.is_finite()).map(Tok::Float)
        } else {
            None
        };
        let Some(kind) = kind else {
            let message = format!("`{written}` is no number of 64 bits");
            self.fault(self.at..self.at + len, message);
            self.push(Tok::Bad, len);
            return;
        };
        self.push(kind, len);
    }

    fn string(&mut self, prefix: usize) {
        let rest = self.rest();
        let flags = rest[..prefix].to_ascii_lowercase();
        let body = &rest[prefix..];
        let quote = &body[..1];
        let triple = body.starts_with(&quote.repeat(3));
        let open = if triple { 3 } else { 1 };
        let close = body[..open].to_owned();
        let raw = flags.contains('r');
        let mut value = String::new();
        let mut at = open;
        loop {
            let left = &body[at..];
            if left.starts_with(&close) {
                at += open;
                break;
            }
            let Some(c) = left.chars().next().filter(|c| triple || *c != '\n') else {
                let len = prefix + at;
                self.fault(self.at..self.at + len, "this string does not end");
                self.push(Tok::Bad, len);
                return;
            };
            at += c.len_utf8();
            if c == '\\' && !raw {
                let (len, text) = escape(&body[at..]);
                value.push_str(&text);
                at += len;
            } else {
                value.push(c);
                if c == '\\'
                    && let Some(next) = body[at..].chars().next()
                {
                    // In a raw string, a backslash stays, and still keeps a quote from ending the string.
                    value.push(next);
                    at += next.len_utf8();
                }
            }
        }
        let len = prefix + at;
        let refused = match flags.as_str() {
            f if f.contains('f') => Some(("f-strings", "join the parts with `+` and `str(…)`")),
            f if f.contains('b') => Some(("byte strings", "write a plain string")),
            _ => None,
        };
        if let Some((what, help)) = refused {
            let span = self.text.span(self.at..self.at + len);
            let message = format!("{what} are not available here");
            self.findings.push(REFUSED_CODE.at(span, message).help(help));
            self.push(Tok::Bad, len);
        } else {
            self.push(Tok::Text(value), len);
        }
    }

    fn sign(&mut self) {
        let rest = self.rest();
        let first = rest.as_bytes().first();
        let here = |s: &&&str| s.as_bytes().first() == first && rest.starts_with(**s);
        if let Some(sign) = SIGNS.iter().find(here) {
            match *sign {
                "(" | "[" | "{" => self.depth += 1,
                ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.push(Tok::Sign(sign), sign.len());
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            let message = format!("`{c}` means nothing in Python");
            self.fault(self.at..self.at + c.len_utf8(), message);
            self.push(Tok::Bad, c.len_utf8());
        }
    }
}

/// The length of an escape after its backslash, and its meaning. An unknown escape remains unchanged.
fn escape(rest: &str) -> (usize, String) {
    let Some(first) = rest.chars().next() else { return (0, "\\".to_owned()) };
    let code = |digits: usize| {
        let code = rest.get(1..=digits).and_then(|d| u32::from_str_radix(d, 16).ok());
        code.and_then(char::from_u32).map(|c| (1 + digits, c.to_string()))
    };
    let simple = match first {
        '\n' => return (1, String::new()),
        '\\' | '\'' | '"' => first,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '0' => '\0',
        'x' | 'u' | 'U' => {
            let digits = match first {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            return code(digits).unwrap_or_else(|| (1, format!("\\{first}")));
        }
        other => return (other.len_utf8(), format!("\\{other}")),
    };
    (first.len_utf8(), simple.to_string())
}
