//! Builds declared names, and undoes the escapes of names and texts.

use super::Cx;
use crate::front::chart::grammar::Rule;
use crate::span::Ident;
use crate::syntax::{is_lower_snake, is_upper_camel};
use pest::iterators::Pair;

/// The spelling of names of one kind, unless they are back-quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `UpperCamel`.
    Upper,
    /// `lower_snake`.
    Lower,
}

impl Cx<'_> {
    /// Builds the name of a declaration. Without back-quotes, it must follow the spelling of its kind.
    pub(super) fn declared(
        &mut self,
        pair: &Pair<'_, Rule>,
        spelling: Spelling,
        what: &str,
    ) -> Ident {
        let ident = self.ident(pair);
        if pair.as_str().starts_with('`') {
            return ident;
        }
        let name = &ident.node;
        let (fits, wanted) = match spelling {
            Spelling::Upper => (is_upper_camel(name), "UpperCamel"),
            Spelling::Lower => (is_lower_snake(name), "lower_snake"),
        };
        if !fits {
            let fixed = match spelling {
                Spelling::Upper => to_upper_camel(name),
                Spelling::Lower => to_lower_snake(name),
            };
            let message = format!("the name of {what} is {wanted}, `{name}` is not");
            let help = format!("write `{fixed}`, or keep it in back-quotes");
            self.error_help(ident.span, message, help);
        }
        ident
    }

    /// The part of `text` before its closing back-quote, with escapes undone.
    pub(super) fn unquote(&mut self, text: &str, at: usize) -> String {
        let mut out = String::new();
        let mut rest = text.char_indices();
        while let Some((i, c)) = rest.next() {
            match c {
                '`' => break,
                '\\' => {
                    let (c, length) = self.escape(&text[i..], at + i);
                    out.extend(c);
                    for _ in 1..length {
                        rest.next();
                    }
                }
                c => out.push(c),
            }
        }
        out
    }

    /// Reads the escape at the start of `text`: its character, and the length of the escape in characters. An unknown escape is reported.
    pub(super) fn escape(&mut self, text: &str, at: usize) -> (Option<char>, usize) {
        let mut chars = text.chars().skip(1);
        let plain = match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some(c @ ('\\' | '"' | '`')) => c,
            Some('u') => return self.unicode_escape(text, at),
            Some(c) => {
                let span = self.range(at, at + 1 + c.len_utf8());
                let message = format!("`\\{c}` is no escape");
                self.error_help(span, message, "a backslash itself is `\\\\`");
                return (Some(c), 2);
            }
            None => return (Some('\\'), 1),
        };
        (Some(plain), 2)
    }

    /// Reads an escape such as `\u{1f600}`.
    fn unicode_escape(&mut self, text: &str, at: usize) -> (Option<char>, usize) {
        let digits = text[2..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let read = digits.filter(|(d, _)| d.len() <= 6).and_then(|(d, _)| {
            let c = u32::from_str_radix(d, 16).ok().and_then(char::from_u32)?;
            Some((c, d.len() + 4))
        });
        match read {
            Some((c, length)) => (Some(c), length),
            None => {
                let span = self.range(at, at + 2);
                self.error_help(
                    span,
                    "`\\u` names no character",
                    "write its number as in `\\u{e9}`",
                );
                (None, 2)
            }
        }
    }
}

fn to_upper_camel(name: &str) -> String {
    let word = |w: &str| {
        let mut chars = w.chars();
        chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let camel: String = name.split('_').map(word).collect();
    if is_upper_camel(&camel) { camel } else { format!("N{camel}") }
}

fn to_lower_snake(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_lowercase());
    }
    out
}
