//! The supported part of ECMAScript: expressions, and scripts of assignments, `if` and `for … of`.
//!
//! A text becomes tokens with places and line breaks, then a tree of forms that have a counterpart in a chart. Everything else is a
//! [`Fault`]: invalid text fails at run time, as SCXML demands, and valid text that is not translated is refused. For example:
//!
//! ```text
//! xs.push(n); n++             Push(xs, n), Assign(n, +n + 1)
//! if (n > 3) { n = 0 }        If(n > 3, [Assign(n, 0)], [])
//! n = f(x => x)               refused: a function is not translated
//! n = (1                      faulty: expected `)`, found the end
//! ```

mod expr;

pub(super) use expr::is_name as is_variable;

use super::xml::Text;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp};
use expr::{Parser, is_name};

/// The reason why a text is not translated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// The text is not valid ECMAScript. It fails at run time.
    Faulty(Span, String),
    /// The text is ECMAScript that is not translated.
    Refused(Span, String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ScriptExprKind,
    pub(super) span: Span,
    /// The depth of the tree.
    depth: usize,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptExprKind {
    /// `undefined`, `null`, `void 0`: one value here.
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    /// `x.f`.
    Member(Box<Expr>, Ident),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// `+x`: the value as a number.
    Number(Box<Expr>),
    Typeof(Box<Expr>),
    /// An arithmetic operation.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `==` and `===`, without distinction, and `<`, `<=`, `>`, `>=`.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `a ?? b`.
    Nullish(Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Array(Vec<Expr>),
    Object(Vec<(Ident, Expr)>),
    /// An invalid expression, which fails at run time with this reason.
    Faulty(String),
}

impl Expr {
    pub(super) fn new(kind: ScriptExprKind, span: Span) -> Self {
        let deepest = kind.parts().into_iter().map(|part| part.depth).max();
        Self { depth: deepest.unwrap_or(0) + 1, kind, span }
    }
}

impl ScriptExprKind {
    /// The direct parts of an expression, in order.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            Self::None
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Name(_)
            | Self::Faulty(_) => Vec::new(),
            Self::Member(x, _)
            | Self::Not(x)
            | Self::Negate(x)
            | Self::Number(x)
            | Self::Typeof(x) => vec![x],
            Self::Index(a, b)
            | Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b)
            | Self::Nullish(a, b) => vec![a, b],
            Self::Call(f, all) => std::iter::once(&**f).chain(all).collect(),
            Self::If(a, b, c) => vec![a, b, c],
            Self::Array(all) => all.iter().collect(),
            Self::Object(all) => all.iter().map(|(_, e)| e).collect(),
        }
    }
}

/// A statement of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementKind {
    /// `place = e`; `x += e` and `x++` are expanded to it.
    Assign(Expr, Expr),
    /// `var x = e`, `var x`.
    Declare(Ident, Option<Expr>),
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// `for (const x of xs)`.
    ForOf(Ident, Expr, Vec<Statement>),
    /// `xs.push(e)`.
    Push(Expr, Expr),
    /// `console.log(a, b)`.
    Log(Vec<Expr>),
    /// An invalid script, which fails at run time with this reason.
    Faulty(String),
}

/// Parses a text as one expression.
pub(super) fn expression(text: &Text) -> Result<Expr, Fault> {
    expr::whole(text)
}

// Parses scripts of ECMAScript.

/// Parses all statements of a script.
pub(super) fn statements(text: &Text) -> Result<Vec<Statement>, Fault> {
    let mut parser = Parser::new(text)?;
    let mut found = Vec::new();
    while *parser.peek() != Token::End {
        statement(&mut parser, &mut found)?;
    }
    Ok(found)
}

fn statement(parser: &mut Parser, to: &mut Vec<Statement>) -> Result<(), Fault> {
    if parser.eat(";") {
        return Ok(());
    }
    if matches!(parser.peek(), Token::Mark("{")) {
        to.extend(block(parser)?);
        return Ok(());
    }
    let place = parser.place();
    let word = match parser.peek() {
        Token::Name(word) => word.clone(),
        _ => String::new(),
    };
    match word.as_str() {
        "function" | "class" | "async" => return parser.refuse("a function is not translated"),
        "while" | "do" | "switch" | "try" | "throw" | "return" | "break" | "continue" | "with"
        | "export" | "debugger" => {
            let why = format!("`{word}` is not translated");
            return parser.refuse(&why);
        }
        "var" | "let" | "const" => {
            parser.next();
            return declarations(parser, to);
        }
        "if" => {
            to.push(if_else(parser)?);
            return Ok(());
        }
        "for" => {
            to.push(for_of(parser)?);
            return Ok(());
        }
        _ => {}
    }
    let kind = simple(parser)?;
    end(parser)?;
    to.push(Statement { kind, span: place });
    Ok(())
}

/// Parses the end of a statement: `;`, or the end of the line, the block or the script.
fn end(parser: &mut Parser) -> Result<(), Fault> {
    if parser.eat(";") || parser.broken() || matches!(parser.peek(), Token::Mark("}") | Token::End)
    {
        return Ok(());
    }
    if matches!(parser.peek(), Token::Mark(",")) {
        return parser.refuse("`,` between statements is not translated");
    }
    Err(parser.unexpected("`;`"))
}

fn block(parser: &mut Parser) -> Result<Vec<Statement>, Fault> {
    let mut found = Vec::new();
    if !matches!(parser.peek(), Token::Mark("{")) {
        parser.nested(|p| statement(p, &mut found))?;
        return Ok(found);
    }
    parser.expect("{")?;
    while !parser.eat("}") {
        if *parser.peek() == Token::End {
            return Err(parser.unexpected("`}`"));
        }
        parser.nested(|p| statement(p, &mut found))?;
    }
    Ok(found)
}

fn declarations(parser: &mut Parser, to: &mut Vec<Statement>) -> Result<(), Fault> {
    loop {
        let name = name(parser)?;
        let span = name.span;
        let value = if parser.eat("=") { Some(parser.expr()?) } else { None };
        to.push(Statement { kind: StatementKind::Declare(name, value), span });
        if !parser.eat(",") {
            return end(parser);
        }
    }
}

fn name(parser: &mut Parser) -> Result<Ident, Fault> {
    match parser.peek().clone() {
        Token::Name(word) if is_name(&word) => {
            let (_, span) = parser.next();
            Ok(Ident::new(word, span))
        }
        Token::Mark("[" | "{") => parser.refuse("taking values apart is not translated"),
        _ => Err(parser.unexpected("a name")),
    }
}

fn if_else(parser: &mut Parser) -> Result<Statement, Fault> {
    let (_, span) = parser.next();
    parser.expect("(")?;
    let test = parser.expr()?;
    parser.expect(")")?;
    let then = block(parser)?;
    let other = if parser.word("else") {
        parser.next();
        block(parser)?
    } else {
        Vec::new()
    };
    Ok(Statement { kind: StatementKind::If(test, then, other), span })
}

fn for_of(parser: &mut Parser) -> Result<Statement, Fault> {
    let (_, span) = parser.next();
    parser.expect("(")?;
    if !["var", "let", "const"].iter().any(|word| parser.word(word)) {
        return parser.refuse("of loops, only `for (const x of xs)` is translated");
    }
    parser.next();
    let item = name(parser)?;
    if !parser.word("of") {
        return parser.refuse("of loops, only `for (const x of xs)` is translated");
    }
    parser.next();
    let source = parser.expr()?;
    parser.expect(")")?;
    let body = block(parser)?;
    Ok(Statement { kind: StatementKind::ForOf(item, source, body), span })
}

/// Parses an assignment, or a supported call.
fn simple(parser: &mut Parser) -> Result<StatementKind, Fault> {
    for (mark, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Subtract)] {
        if parser.eat(mark) {
            let place = parser.expr()?;
            return step(place, op);
        }
    }
    let place = parser.expr()?;
    for (mark, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Subtract)] {
        // A `++` on the next line belongs to the next statement.
        if !parser.broken() && parser.eat(mark) {
            return step(place, op);
        }
    }
    if parser.eat("=") {
        let value = parser.expr()?;
        if matches!(parser.peek(), Token::Mark("=")) {
            return parser.refuse("one assignment in another is not translated");
        }
        return assign(place, value);
    }
    let changes = [
        ("+=", BinaryOp::Add),
        ("-=", BinaryOp::Subtract),
        ("*=", BinaryOp::Multiply),
        ("/=", BinaryOp::Divide),
        ("%=", BinaryOp::Modulo),
        ("**=", BinaryOp::Power),
    ];
    for (mark, op) in changes {
        if parser.eat(mark) {
            let value = parser.expr()?;
            let span = place.span.to(value.span);
            let changed = Expr::new(
                ScriptExprKind::Binary(op, Box::new(place.clone()), Box::new(value)),
                span,
            );
            return assign(place, changed);
        }
    }
    call(place)
}

/// Builds `x++` or `x--`. It converts `x` to a number first, as `+` alone could join texts.
fn step(place: Expr, op: BinaryOp) -> Result<StatementKind, Fault> {
    let span = place.span;
    let number = Expr::new(ScriptExprKind::Number(Box::new(place.clone())), span);
    let one = Expr::new(ScriptExprKind::Int(1), span);
    assign(place, Expr::new(ScriptExprKind::Binary(op, Box::new(number), Box::new(one)), span))
}

fn assign(place: Expr, value: Expr) -> Result<StatementKind, Fault> {
    let span: Span = place.span;
    let mut base = &place;
    while let ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) = &base.kind {
        base = of;
    }
    if matches!(base.kind, ScriptExprKind::Name(_)) {
        return Ok(StatementKind::Assign(place, value));
    }
    Err(Fault::Faulty(span, "this cannot be assigned to".to_owned()))
}

fn call(whole: Expr) -> Result<StatementKind, Fault> {
    let ScriptExprKind::Call(function, mut arguments) = whole.kind else {
        return Err(Fault::Refused(
            whole.span,
            "an expression by itself is not translated".to_owned(),
        ));
    };
    if let ScriptExprKind::Member(of, method) = &function.kind {
        if method.node == "push" && arguments.len() == 1 {
            return Ok(StatementKind::Push((**of).clone(), arguments.remove(0)));
        }
        if method.node == "log" && of.kind == ScriptExprKind::Name("console".to_owned()) {
            return Ok(StatementKind::Log(arguments));
        }
    }
    Err(Fault::Refused(
        whole.span,
        "this function is not known, and functions are not translated".to_owned(),
    ))
}

// Splits ECMAScript into tokens.

/// A token of ECMAScript.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    /// A name or a keyword.
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
    End,
}

/// The marks, longer ones before their beginnings, so that the first match is the longest.
const MARKS: &[&str] = &[
    ">>>=", "===", "!==", "**=", "...", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "**", "<<", ">>",
    "&=", "|=", "^=", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%",
    "&", "|", "^", "!", "~", "?", ":", "=", ".",
];

/// A token, its place, and whether a line break precedes it.
type Placed = (Token, Span, bool);

/// Splits a text into tokens, followed by [`Token::End`].
fn tokens(text: &Text) -> Result<Vec<Placed>, Fault> {
    let value = &text.value;
    let mut found = Vec::new();
    let mut at = 0;
    let mut broken = false;
    loop {
        let rest = &value[at..];
        let Some(c) = rest.chars().next() else {
            found.push((Token::End, text.place(value.len(), value.len()), true));
            return Ok(found);
        };
        // JavaScript counts a byte order mark as white space.
        if c.is_whitespace() || c == '\u{feff}' {
            broken |= matches!(c, '\n' | '\r');
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                return Err(Fault::Faulty(
                    text.place(at, at + 2),
                    "a comment is not closed".to_owned(),
                ));
            };
            // A line break in a comment may end a statement, as one outside does.
            broken |= rest[..end].contains('\n');
            at += end + 2;
            continue;
        }
        let (token, length) = match c {
            '"' | '\'' => quoted(text, at, c)?,
            '`' => {
                let place = text.place(at, at + 1);
                return Err(Fault::Refused(
                    place,
                    "a template is not translated; join texts with `+`".to_owned(),
                ));
            }
            '0'..='9' => number(text, at)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(text, at)?,
            c if c.is_alphabetic() || matches!(c, '_' | '$') => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
                let end = end.unwrap_or(rest.len());
                (Token::Name(rest[..end].to_owned()), end)
            }
            c => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                Some(mark) => (Token::Mark(mark), mark.len()),
                None => {
                    let place = text.place(at, at + c.len_utf8());
                    return Err(Fault::Faulty(place, format!("unexpected `{c}`")));
                }
            },
        };
        found.push((token, text.place(at, at + length), broken));
        broken = false;
        at += length;
    }
}

fn number(text: &Text, at: usize) -> Result<(Token, usize), Fault> {
    let rest = &text.value[at..];
    let refuse =
        |length: usize, why: &str| Err(Fault::Refused(text.place(at, at + length), why.to_owned()));
    if let Some(radix) = rest.get(..2).and_then(|two| match two {
        "0x" | "0X" => Some(16),
        "0o" | "0O" => Some(8),
        "0b" | "0B" => Some(2),
        _ => None,
    }) {
        let end =
            rest[2..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest.len(), |e| e + 2);
        return match i64::from_str_radix(&rest[2..end], radix) {
            Ok(value) => Ok((Token::Int(value), end)),
            Err(_) => refuse(end, "this number is not read"),
        };
    }
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(0);
    let mut whole = true;
    if rest[end..].starts_with('.') {
        whole = false;
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        // An `e` without digits is no exponent.
        if exponent > end + 1 + sign {
            whole = false;
            end = exponent;
        }
    }
    // A name may not follow a number directly, as in `3px`; `10n` is a number of another type.
    if rest[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
        return refuse(end + 1, "this number is not read");
    }
    let written = &rest[..end];
    if whole && let Ok(value) = written.parse::<i64>() {
        return Ok((Token::Int(value), end));
    }
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Float(value), end)),
        _ => refuse(end, "this number is too large"),
    }
}

fn quoted(text: &Text, at: usize, mark: char) -> Result<(Token, usize), Fault> {
    let rest = &text.value[at..];
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        match c {
            c if c == mark => return Ok((Token::Text(value), i + 1)),
            '\n' => break,
            '\\' => {
                let Some((_, escaped)) = chars.next() else { break };
                match escaped {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'r' => value.push('\r'),
                    'b' => value.push('\u{8}'),
                    'f' => value.push('\u{c}'),
                    'v' => value.push('\u{b}'),
                    '0' => value.push('\0'),
                    '\n' => {}
                    'x' | 'u' => {
                        let from = i + 2;
                        let (digits, length) = if rest[from..].starts_with('{') {
                            let end = rest[from..].find('}').unwrap_or(1);
                            (rest.get(from + 1..from + end), end + 1)
                        } else {
                            let length = if escaped == 'x' { 2 } else { 4 };
                            (rest.get(from..from + length), length)
                        };
                        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                        let Some(c) = code.and_then(char::from_u32) else {
                            let place = text.place(at + i, at + i + 2);
                            return Err(Fault::Faulty(
                                place,
                                "an escape that means no character".to_owned(),
                            ));
                        };
                        value.push(c);
                        while chars.peek().is_some_and(|(at, _)| *at < from + length) {
                            chars.next();
                        }
                    }
                    other => value.push(other),
                }
            }
            c => value.push(c),
        }
    }
    Err(Fault::Faulty(text.place(at, at + 1), "a text is not closed".to_owned()))
}
