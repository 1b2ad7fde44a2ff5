//! Expressions, templates, statements, actions.

pub use chartc_core::model::{BinaryOp, Binding, CompareOp, Forward, UnaryOp};

use super::source::{Ident, Span, Spanned};
use super::{Noted, Path};

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpr {
    /// The form of the type.
    pub kind: TypeKind,
    /// The whole type.
    pub span: Span,
}

/// The form of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `Bool Int Float Text Duration Json`, or a declared name.
    Name(String),
    /// `List(T)`.
    List(Box<TypeExpr>),
    /// `Map(Text, T)`: key and value.
    Map(Box<TypeExpr>, Box<TypeExpr>),
    /// `T?`.
    Optional(Box<TypeExpr>),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The form of the expression.
    pub kind: ExprKind,
    /// The whole expression, without parentheses.
    pub span: Span,
}

/// The form of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `none`.
    None,
    /// A part that recovery skipped, which is reported.
    Bad,
    /// `true`, `false`.
    Bool(bool),
    /// Digits.
    Int(i64),
    /// Digits in groups of three, `50_000`. They are printed in the same way.
    GroupedInt(i64),
    /// Digits with a point or an exponent.
    Float(f64),
    /// A string, which may interpolate.
    Text(Template),
    /// `30s`, in milliseconds.
    Duration(u64),
    /// A name.
    Name(String),
    /// `x.f`; the parser also reads the state path of `in(a.b)` and the enum value `E.a` as this.
    Field(Box<Expr>, Ident),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `x[a:b]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `f(a, b)`: a built-in function, a host function, or `in(s)`, `turns_in(s)`, `streak(..)`.
    Call(Ident, Vec<Expr>),
    /// `not x`, `-x`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x ?? d`.
    Default(Box<Expr>, Box<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{"a": b}`.
    Map(Vec<Entry>),
    /// `P { a: b }`.
    Record(Ident, Vec<(Ident, Expr)>),
    /// `[item for name in source if filter]`.
    Comprehension {
        /// The item of the result.
        item: Box<Expr>,
        /// The name that is bound to each element.
        name: Ident,
        /// The list that is iterated over.
        source: Box<Expr>,
        /// The condition that elements must meet.
        filter: Option<Box<Expr>>,
    },
    /// `[item for x in xs for y in ys]`: a comprehension whose item is a comprehension, and whose lists are joined.
    Flattened(Box<Expr>),
}

/// One `key: value` of a map literal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key, of type Text.
    pub key: Expr,
    /// The value, of any type.
    pub value: Expr,
}

/// A string with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The texts and placeholders, in order.
    pub parts: Vec<TemplatePart>,
    /// The whole string with its quotes; in YAML, the text of the scalar.
    pub span: Span,
    /// Whether it is written as `"""…"""`. It is printed in the same way.
    pub block: bool,
}

/// Plain text or a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// The text that is meant: without escapes and, in a block string, without indentation.
    Text(String, Span),
    /// `{expr:spec}`.
    Hole(Box<Hole>),
    /// An unreadable `{…}` or a stray brace.
    Bad {
        /// The text, as written, including its braces.
        text: String,
        /// The reason why it is unreadable, as in the message of the diagnostic.
        why: String,
        /// The place of the text.
        span: Span,
    },
}

/// A placeholder.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    /// The expression whose value is shown. `{options}` is a name here, too.
    pub expr: Expr,
    /// The format after the colon; may be empty.
    pub spec: Spanned<String>,
    /// The placeholder, with its braces.
    pub span: Span,
}

/// An action block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The actions, in order.
    pub actions: Vec<Noted<Action>>,
    /// The block, with its braces.
    pub span: Span,
}

/// An item of an action block or of a `code` step; the latter has only `=`, `if` and `for`.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `x = e`.
    Assign(Ident, Expr),
    /// `if c { } else { }`; an `else if` is nested.
    If(Expr, Vec<Noted<Action>>, Vec<Noted<Action>>),
    /// `for x in xs { }`.
    For(Ident, Expr, Vec<Noted<Action>>),
    /// `f(args)`: a `do` call.
    Do(Ident, Vec<Expr>),
    /// `raise e(args)`.
    Raise(Path, Vec<Expr>),
    /// `send e(args) after 5s as id`.
    Send {
        /// The event that is sent.
        event: Path,
        /// The data of the event.
        arguments: Vec<Expr>,
        /// `to`: the receiver, a `run` step or `parent`, with the index of an element.
        to: Option<Box<(Ident, Option<Expr>)>>,
        /// `after`: the delay.
        after: Option<Expr>,
        /// `as`: the name for `cancel`.
        id: Option<Ident>,
    },
    /// `cancel id`.
    Cancel(Ident),
    /// `log "text"`.
    Log(Template),
}

/// The longest placeholder with plain quotes, in bytes. A `{` that opens none may be followed by a long line.
const LONGEST_PLACEHOLDER: usize = 4_000;

/// The deepest nesting of texts and placeholders inside of a placeholder.
const DEEPEST_PLACEHOLDER: usize = 16;

/// The end of the placeholder of a one-line text that opens at `at`, if texts inside of it have plain quotes, as in `{x ?? "none"}`.
/// `None` if there are no such quotes, or if no placeholder opens here. Adds the offsets of the quotes to `inner`.
///
/// A quote begins a text inside the placeholder only where an operand can stand: after a sign, an opening bracket or a word such as `else`.
/// Anywhere else, it ends the text around it. So a stray `{` does not affect what follows its text.
pub fn placeholder_end(bytes: &[u8], at: usize, inner: &mut Vec<usize>) -> Option<usize> {
    let known = inner.len();
    let found = Placeholders { bytes, inner }.end(at);
    if found.is_none() || inner.len() == known {
        inner.truncate(known);
        return None;
    }
    found
}

/// Something that is open inside of a placeholder.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    /// A placeholder or a map.
    Brace,
    /// A text with plain quotes.
    Text,
}

struct Placeholders<'b> {
    bytes: &'b [u8],
    inner: &'b mut Vec<usize>,
}

impl Placeholders<'_> {
    fn end(&mut self, at: usize) -> Option<usize> {
        let end = self.bytes.len().min(at + LONGEST_PLACEHOLDER);
        let mut open = vec![Open::Brace];
        // Whether an operand can stand here, and whether a text with escaped quotes is open.
        let (mut is_operand, mut is_escaped) = (true, false);
        let mut i = at + 1;
        while i < end {
            let (byte, next) = (self.bytes[i], self.bytes.get(i + 1).copied());
            let in_text = open.last() == Some(&Open::Text);
            let mut width = 1;
            match byte {
                b'\n' => return None,
                b'\\' => {
                    width = 1 + usize::from(next != Some(b'\n'));
                    is_operand = false;
                    is_escaped ^= !in_text && next == Some(b'"');
                }
                _ if is_escaped => {}
                b'"' if in_text => {
                    self.inner.push(i);
                    open.pop();
                    is_operand = false;
                    if self.is_only_text(at, i) {
                        return None;
                    }
                }
                b'{' if in_text && next == Some(b'{') => width = 2,
                b'{' => {
                    open.push(Open::Brace);
                    is_operand = true;
                }
                b'}' if !in_text => {
                    open.pop();
                    is_operand = false;
                    if open.is_empty() {
                        return Some(i + 1);
                    }
                }
                _ if in_text => {}
                b'"' if is_operand => {
                    self.inner.push(i);
                    open.push(Open::Text);
                }
                b'"' => return None,
                b' ' | b'\t' => {}
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    width = self.word(i);
                    is_operand = matches!(
                        &self.bytes[i..i + width],
                        b"then" | b"else" | b"and" | b"or" | b"not" | b"in" | b"div" | b"if"
                    );
                }
                _ => is_operand = b"([,:=<>+-*/%?".contains(&byte),
            }
            if open.len() > DEEPEST_PLACEHOLDER {
                return None;
            }
            i += width;
        }
        None
    }

    fn word(&self, at: usize) -> usize {
        self.bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
    }

    /// Whether the text that ends at `end` would be all that the placeholder at `at` holds. Then there is no placeholder: `"{"  other: "}"`
    /// are two texts.
    fn is_only_text(&self, at: usize, end: usize) -> bool {
        let is_first = self.inner.iter().rev().nth(1).is_some_and(|first| {
            self.bytes[at + 1..*first].iter().all(|b| *b == b' ' || *b == b'\t')
        });
        let after = self.bytes[end + 1..].iter().find(|b| **b != b' ' && **b != b'\t');
        is_first && matches!(after, Some(b'}' | b':' | b'"' | b'\n') | None)
    }
}
