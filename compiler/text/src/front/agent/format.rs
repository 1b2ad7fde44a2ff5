//! Parses the templates of Python's `str.format`: prompts and the texts of invocations.

use super::scalar::Text;
use crate::span::{Ident, Span, Spanned};
use std::collections::BTreeMap;
use std::ops::Range;

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FormatPart {
    /// Text with its braces unescaped.
    Text(String, Span),
    /// `{name.path:spec}`.
    Field(Field),
    /// Text on which `str.format` would fail.
    Bad { text: String, why: String, span: Span },
}

/// `{name.attribute[index]:spec}`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// The first name.
    pub(super) name: Ident,
    /// The accesses after it.
    pub(super) path: Vec<Access>,
    /// The format after the colon; empty without one.
    pub(super) spec: Spanned<String>,
    /// The placeholder with its braces.
    pub(super) span: Span,
}

/// One step of a placeholder's path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Access {
    /// `.name`.
    Attribute(Ident),
    /// `[key]`, without quotes in Python.
    Key(Ident),
    /// `[0]`.
    Index(i64, Span),
}

/// Splits a text into plain text, placeholders and errors.
pub(super) fn parts(text: &Text) -> Vec<FormatPart> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut plain_from = 0;
    let mut at = 0;
    let value = text.value.as_str();
    let braces: Vec<usize> =
        (0..value.len()).filter(|i| matches!(value.as_bytes()[*i], b'{' | b'}')).collect();
    let closings = closings(value, &braces);
    let mut left = braces.into_iter();
    while let Some(brace) = left.find(|brace| *brace >= at) {
        plain.push_str(&value[at..brace]);
        // `{{` and `}}` stand for one brace.
        if value[brace + 1..].starts_with(&value[brace..=brace]) {
            plain.push_str(&value[brace..=brace]);
            at = brace + 2;
            continue;
        }
        if !plain.is_empty() {
            let span = text.span(plain_from..brace);
            parts.push(FormatPart::Text(std::mem::take(&mut plain), span));
        }
        let end = closings.get(&brace).copied();
        let (part, next) = match end {
            Some(end) => (field(text, brace..end), end),
            None => (stray(text, brace), brace + 1),
        };
        parts.push(part);
        at = next;
        plain_from = next;
    }
    plain.push_str(&value[at..]);
    if !plain.is_empty() {
        let span = text.span(plain_from..value.len());
        parts.push(FormatPart::Text(plain, span));
    }
    parts
}

/// For each opening brace: the offset after its closing brace. Nested braces are counted, as in Python.
fn closings(value: &str, braces: &[usize]) -> BTreeMap<usize, usize> {
    let mut open = Vec::new();
    let mut pairs = BTreeMap::new();
    for &i in braces {
        if value.as_bytes()[i] == b'{' {
            open.push(i);
        } else if let Some(start) = open.pop() {
            pairs.insert(start, i + 1);
        }
    }
    pairs
}

fn stray(text: &Text, at: usize) -> FormatPart {
    let brace = &text.value[at..=at];
    let why = if brace == "{" {
        "this `{` opens no placeholder: a brace of the text is written `{{`"
    } else {
        "this `}` closes no placeholder: a brace of the text is written `}}`"
    };
    FormatPart::Bad { text: brace.to_owned(), why: why.to_owned(), span: text.span(at..at + 1) }
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Parses a placeholder; `range` includes its braces.
fn field(text: &Text, range: Range<usize>) -> FormatPart {
    let written = &text.value[range.clone()];
    let bad = |why: String| {
        // An unescaped brace often starts many lines of JSON: the first line is enough to show.
        let line = written.lines().next().unwrap_or(written).trim_end().len();
        let span = text.span(range.start..range.start + line);
        FormatPart::Bad { text: written.to_owned(), why, span }
    };
    let inner = &written[1..written.len() - 1];
    let from = range.start + 1;
    let head_len = head_len(inner);
    let (head, rest) = inner.split_at(head_len);
    let name_len = head.find(['.', '[']).unwrap_or(head.len());
    let name = &head[..name_len];
    if name.trim().is_empty() && rest.is_empty() {
        return bad(format!("`{}` names nothing", shown(written)));
    }
    if name.chars().all(|c| c.is_ascii_digit()) && !name.is_empty() {
        return bad(format!("`{{{name}}}` is a position: prompts have names only"));
    }
    if is_name(name.trim()) && name != name.trim() && !name.contains('\n') {
        return bad(format!(
            "blanks belong to the name in `{}`: write `{{{}}}`",
            shown(written),
            name.trim()
        ));
    }
    if !is_name(name) {
        return bad("braces of the text are doubled: `{{` and `}}`".to_owned());
    }
    let path = match accesses(text, head, from, name_len) {
        Ok(path) => path,
        Err(why) => return bad(why),
    };
    let (conversion, spec) = match rest.strip_prefix('!') {
        Some(after) => {
            let colon = after.find(':').unwrap_or(after.len());
            (Some(&after[..colon]), after[colon..].strip_prefix(':').unwrap_or_default())
        }
        None => (None, rest.strip_prefix(':').unwrap_or_default()),
    };
    if let Some(other) = conversion.filter(|c| *c != "s") {
        return bad(format!("the conversion `!{}` is not available", shown(other)));
    }
    if spec.contains(['{', '}']) {
        return bad("a placeholder inside of a format is not available".to_owned());
    }
    if spec.contains(['\n', '\r', '"']) {
        return bad("braces of the text are doubled: `{{` and `}}`".to_owned());
    }
    let spec_from = range.end - 1 - spec.len();
    FormatPart::Field(Field {
        name: Ident::new(name.to_owned(), text.span(from..from + name_len)),
        path,
        spec: Spanned::new(spec.to_owned(), text.span(spec_from..range.end - 1)),
        span: text.span(range),
    })
}

/// Shortens a text to at most one line and 24 characters, for messages.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(24).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The length of the part before `!` or `:`. Inside of `[…]`, these are text.
fn head_len(inner: &str) -> usize {
    let mut bracket = false;
    for (i, c) in inner.char_indices() {
        match c {
            '[' => bracket = true,
            ']' => bracket = false,
            '!' | ':' if !bracket => return i,
            _ => {}
        }
    }
    inner.len()
}

/// The maximum number of attributes and keys in a placeholder. The expression for it nests as deeply.
const MAX_ACCESSES: usize = 60;

/// Parses `.a[b][0]`; `head` starts at `from` in the text.
fn accesses(text: &Text, head: &str, from: usize, start: usize) -> Result<Vec<Access>, String> {
    let mut path = Vec::new();
    let mut at = start;
    while at < head.len() {
        if path.len() == MAX_ACCESSES {
            return Err(format!("a placeholder goes at most {MAX_ACCESSES} levels into a value"));
        }
        // `get` finds nothing inside of a multibyte character, which starts no access.
        let rest = head.get(at + 1..).unwrap_or_default();
        if head[at..].starts_with('.') {
            let len = rest.find(['.', '[']).unwrap_or(rest.len());
            let word = &rest[..len];
            if !is_name(word) {
                return Err(format!("`.{}` names no attribute", shown(word)));
            }
            let span = text.span(from + at + 1..from + at + 1 + len);
            path.push(Access::Attribute(Ident::new(word.to_owned(), span)));
            at += 1 + len;
        } else if head[at..].starts_with('[') {
            let Some(len) = rest.find(']') else { return Err("this `[` does not end".to_owned()) };
            let key = &rest[..len];
            let span = text.span(from + at + 1..from + at + 1 + len);
            match key.parse::<i64>() {
                Ok(index) if key.chars().all(|c| c.is_ascii_digit()) => {
                    path.push(Access::Index(index, span));
                }
                _ if key.is_empty() => return Err("`[]` names no key".to_owned()),
                _ => path.push(Access::Key(Ident::new(key.to_owned(), span))),
            }
            at += len + 2;
        } else {
            return Err(format!("`{}` does not follow a name", shown(&head[at..])));
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    /// Each part as `text`, `<field>` or `!bad!`, with what its span covers.
    fn show(prompt: &str) -> Vec<String> {
        let text = Text::new(FileId(0), prompt, 0..prompt.len(), prompt.to_owned());
        let at = |s: Span| &prompt[s.start as usize..s.end as usize];
        let one = |part: FormatPart| match part {
            FormatPart::Text(text, _) => text,
            FormatPart::Field(f) => {
                assert!(at(f.span).starts_with('{') && at(f.span).ends_with('}'));
                assert_eq!(at(f.name.span), f.name.node);
                assert_eq!(at(f.spec.span), f.spec.node);
                format!("<{} {} {}>", f.name.node, f.path.len(), f.spec.node)
            }
            FormatPart::Bad { why, span, .. } => format!("{}: {why}", at(span)),
        };
        parts(&text).into_iter().map(one).collect()
    }

    #[test]
    fn fields() {
        assert_eq!(
            show("a {b:+.0f} {c[d:e].f[0]!s:>3} {{x}} {y}"),
            ["a ", "<b 0 +.0f>", " ", "<c 3 >3>", " {x} ", "<y 0 >"]
        );
        assert_eq!(show("{{{x}}}"), ["{", "<x 0 >", "}"]);
    }

    #[test]
    fn faults() {
        let doubled = "braces of the text are doubled: `{{` and `}}`";
        assert_eq!(
            show("j {\"x\": {\"y\": 1}} k"),
            ["j ", &format!("{{\"x\": {{\"y\": 1}}}}: {doubled}"), " k"]
        );
        assert_eq!(show("{\n  a\n} b"), [&format!("{{: {doubled}"), " b"]);
        for (prompt, why) in [
            ("a { b", "this `{` opens no placeholder: a brace of the text is written `{{`"),
            ("a } b", "this `}` closes no placeholder: a brace of the text is written `}}`"),
            ("{}", "`{}` names nothing"),
            ("{0}", "`{0}` is a position: prompts have names only"),
            ("{ a }", "blanks belong to the name in `{ a }`: write `{a}`"),
            (
                &format!("{{a{}}}", ".b".repeat(61)),
                "a placeholder goes at most 60 levels into a value",
            ),
            ("{a!r}", "the conversion `!r` is not available"),
            ("{a:{b}}", "a placeholder inside of a format is not available"),
            ("{a.}", "`.` names no attribute"),
            ("{a[]}", "`[]` names no key"),
            ("{a[b}", "this `[` does not end"),
            ("{a[b]c}", "`c` does not follow a name"),
            ("{a-b}", doubled),
        ] {
            let found = show(prompt);
            assert!(found.iter().any(|f| f.ends_with(why)), "{prompt}: {found:?}");
        }
    }
}
