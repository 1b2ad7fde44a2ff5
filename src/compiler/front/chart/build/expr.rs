//! Builds expressions by precedence climbing, and bounds the height of their trees.
//!
//! From loose to tight: `if then else`, `or`, `and`, `not`, comparisons (chained), `??` (right-associative), `+ -`, `* / div %`,
//! prefix `-`, `**` (right-associative), then `.f`, `[i]`. For example, `a + b * 2 < c`, of which the grammar makes a flat list:
//!
//! ```text
//! climb(If)            operand a; `+` binds its right side at least as tightly as a product
//!   climb(Product)     operand b; `*` is tight enough: b * 2; `<` is not: back
//! a + (b * 2)          then `<`: Compare(a + b * 2, [< c])
//! ```

use super::{Cx, Origin, recover};
use crate::front::chart::grammar::{Grammar, Rule};
use crate::front::chart::scan::{plain, scan, too_deep};
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{
    BinaryOp, Binding, CompareOp, Entry, Expr, ExprKind, Hole, Template, TemplatePart, UnaryOp,
    is_lower_snake, is_reserved, placeholder_end,
};
use pest::Parser;
use pest::iterators::{Pair, Pairs};
use std::iter::Peekable;

/// The maximum height of the tree of an expression, so that later passes may recurse over it.
const MAX_HEIGHT: usize = 120;

/// An expression with its height and its span including parentheses.
struct ExprWithHeight {
    expr: Expr,
    height: usize,
    outer: Span,
}

type Tokens<'i> = Peekable<Pairs<'i, Rule>>;

enum Infix {
    Binary(BinaryOp),
    Compare(CompareOp),
    Default,
}

/// Looks up an infix operator, and how tightly it binds to the left and to the right.
fn infix(text: &str) -> (Infix, Binding, Binding) {
    if text == "??" {
        return (Infix::Default, Binding::Default, Binding::Default);
    }
    if let Some(op) = BinaryOp::ALL.into_iter().find(|op| op.word() == text) {
        return (Infix::Binary(op), op.binding(), op.operands().1);
    }
    // The words of `not in` may be separated by any blanks, so it is found by exclusion.
    let op = CompareOp::ALL.into_iter().find(|op| op.word() == text);
    (Infix::Compare(op.unwrap_or(CompareOp::NotIn)), Binding::Compare, Binding::Default)
}

/// A comprehension; the first source is the outermost. With several, each outer one makes a list of lists, which is flattened.
fn comprehension(item: Expr, sources: Vec<(Ident, Expr, Option<Expr>)>) -> ExprKind {
    let span = item.span;
    let mut inner = item;
    let mut is_list = false;
    for (name, source, filter) in sources.into_iter().rev() {
        let (source, filter) = (Box::new(source), filter.map(Box::new));
        let kind = ExprKind::Comprehension { item: Box::new(inner), name, source, filter };
        let kind = if is_list { ExprKind::Flattened(Box::new(Expr { kind, span })) } else { kind };
        inner = Expr { kind, span };
        is_list = true;
    }
    inner.kind
}

/// Parses an expression that stands alone.
pub(in crate::front::chart) fn just(
    cx: &mut Cx<'_>,
    text: &str,
) -> Result<Expr, Box<pest::error::Error<Rule>>> {
    let plain = plain(text, cx.origin.file);
    let mut pairs = Grammar::parse(Rule::just_expr, &plain).map_err(Box::new)?;
    let inner = pairs.next().and_then(|p| p.into_inner().next());
    Ok(match inner {
        Some(pair) => cx.expr(pair),
        None => Expr { kind: ExprKind::Bad, span: cx.range(0, text.len()) },
    })
}

impl Cx<'_> {
    /// Builds the expression of a `Rule::expr`.
    pub(super) fn expr(&mut self, pair: Pair<'_, Rule>) -> Expr {
        self.tall(pair).expr
    }

    /// Builds the arguments of a `Rule::call_args`.
    pub(super) fn arguments(&mut self, pair: Pair<'_, Rule>) -> Vec<Expr> {
        let exprs = pair.into_inner().filter(|p| p.as_rule() == Rule::expr);
        exprs.map(|p| self.expr(p)).collect()
    }

    fn grow(&mut self, kind: ExprKind, span: Span, below: usize) -> ExprWithHeight {
        let mut height = below + 1;
        let mut kind = kind;
        if height > MAX_HEIGHT {
            self.error_help(
                span,
                format!("this expression nests deeper than {MAX_HEIGHT}"),
                "give parts of it names, with `pred` or in a `code` step",
            );
            kind = ExprKind::Bad;
            height = 1;
        }
        ExprWithHeight { expr: Expr { kind, span }, height, outer: span }
    }

    fn tall(&mut self, pair: Pair<'_, Rule>) -> ExprWithHeight {
        let mut heads = Vec::new();
        let mut last = None;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::cond_head {
                let start = self.span(&part);
                let mut chains = part.into_inner().filter(|p| p.as_rule() == Rule::chain);
                if let (Some(test), Some(then)) = (chains.next(), chains.next()) {
                    heads.push((start, self.chain(test), self.chain(then)));
                }
            } else {
                last = Some(self.chain(part));
            }
        }
        let mut result = last.expect("the grammar puts a chain behind every head");
        for (start, test, then) in heads.into_iter().rev() {
            let span = start.to(result.outer);
            let below = test.height.max(then.height).max(result.height);
            let kind =
                ExprKind::If(Box::new(test.expr), Box::new(then.expr), Box::new(result.expr));
            result = self.grow(kind, span, below);
        }
        result
    }

    fn chain(&mut self, pair: Pair<'_, Rule>) -> ExprWithHeight {
        let mut tokens = pair.into_inner().peekable();
        self.climb(&mut tokens, Binding::If)
    }

    /// Builds operands and operators that bind at least as tightly as `least`.
    fn climb(&mut self, tokens: &mut Tokens<'_>, least: Binding) -> ExprWithHeight {
        self.depth += 1;
        let tall = if self.depth > MAX_HEIGHT {
            let span = tokens.peek().map_or(self.range(0, 0), |t| self.span(t));
            // The rest is skipped, so that the callers stop, too.
            for _ in tokens.by_ref() {}
            self.grow(ExprKind::Bad, span, MAX_HEIGHT)
        } else {
            self.operators(tokens, least)
        };
        self.depth -= 1;
        tall
    }

    fn operators(&mut self, tokens: &mut Tokens<'_>, least: Binding) -> ExprWithHeight {
        let mut left = self.prefixed(tokens, least);
        while let Some(token) = tokens.peek() {
            if token.as_rule() != Rule::infix {
                break;
            }
            let (op, to_left, to_right) = infix(token.as_str());
            if to_left < least {
                break;
            }
            tokens.next();
            let right = self.climb(tokens, to_right);
            let mut below = left.height.max(right.height);
            let mut end = right.outer;
            let start = left.outer;
            let left_expr = Box::new(left.expr);
            let kind = match op {
                Infix::Binary(op) => ExprKind::Binary(op, left_expr, Box::new(right.expr)),
                Infix::Default => ExprKind::Default(left_expr, Box::new(right.expr)),
                Infix::Compare(op) => {
                    let mut rest = vec![(op, right.expr)];
                    // `a < b < c` is one comparison with two operators.
                    while let Some((Infix::Compare(op), ..)) = tokens
                        .peek()
                        .filter(|t| t.as_rule() == Rule::infix)
                        .map(|t| infix(t.as_str()))
                    {
                        tokens.next();
                        let next = self.climb(tokens, Binding::Default);
                        below = below.max(next.height);
                        end = next.outer;
                        rest.push((op, next.expr));
                    }
                    ExprKind::Compare(left_expr, rest)
                }
            };
            left = self.grow(kind, start.to(end), below);
        }
        left
    }

    fn prefixed(&mut self, tokens: &mut Tokens<'_>, least: Binding) -> ExprWithHeight {
        let Some(first) = tokens.next() else {
            return self.grow(ExprKind::Bad, self.range(0, 0), 0);
        };
        let span = self.span(&first);
        if first.as_rule() != Rule::prefix {
            let operand = self.primary(first);
            return self.postfixes(operand, tokens);
        }
        let (op, tight) = if first.as_str() == "-" {
            (UnaryOp::Negate, Binding::Sign)
        } else {
            if least > Binding::Not {
                self.error_help(span, "`not` cannot stand here", "put `not …` in parentheses");
            }
            (UnaryOp::Not, Binding::Not)
        };
        let operand = self.climb(tokens, tight);
        let span = span.to(operand.outer);
        let kind = ExprKind::Unary(op, Box::new(operand.expr));
        self.grow(kind, span, operand.height)
    }

    fn postfixes(&mut self, mut left: ExprWithHeight, tokens: &mut Tokens<'_>) -> ExprWithHeight {
        while let Some(token) = tokens.peek() {
            if !matches!(token.as_rule(), Rule::field | Rule::index) {
                break;
            }
            let Some(token) = tokens.next() else { break };
            let span = left.outer.to(self.span(&token));
            let mut below = left.height;
            let of = Box::new(left.expr);
            let kind = if token.as_rule() == Rule::field {
                let name = token.into_inner().next().map(|n| self.ident(&n));
                ExprKind::Field(of, name.expect("a field has a name"))
            } else {
                let (mut from, mut to, mut colon) = (None, None, false);
                for part in token.into_inner() {
                    match part.as_rule() {
                        Rule::colon => colon = true,
                        Rule::expr => {
                            let part = self.tall(part);
                            below = below.max(part.height);
                            *(if colon { &mut to } else { &mut from }) = Some(Box::new(part.expr));
                        }
                        _ => {}
                    }
                }
                match (colon, from) {
                    (false, Some(at)) => ExprKind::Index(of, at),
                    (_, from) => ExprKind::Slice(of, from, to),
                }
            };
            left = self.grow(kind, span, below);
        }
        left
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> ExprWithHeight {
        let span = self.span(&pair);
        let mut below = 0;
        let kind = match pair.as_rule() {
            Rule::kw_none => ExprKind::None,
            Rule::kw_true => ExprKind::Bool(true),
            Rule::kw_false => ExprKind::Bool(false),
            Rule::int => ExprKind::Int(self.int(&pair)),
            Rule::grouped => ExprKind::GroupedInt(self.int(&pair)),
            Rule::float => ExprKind::Float(self.float(&pair)),
            Rule::duration => ExprKind::Duration(self.duration(&pair)),
            Rule::line_string | Rule::block_string => ExprKind::Text(self.template(&pair)),
            Rule::paren => {
                let inner = pair.into_inner().find(|p| p.as_rule() == Rule::expr);
                let inner = self.tall(inner.expect("parentheses hold an expression"));
                return ExprWithHeight { outer: span, ..inner };
            }
            Rule::named | Rule::in_call => {
                let mut inner = pair.into_inner();
                let name = inner.next().expect("a call has a name");
                let ident = self.ident(&name);
                match inner.next() {
                    // The printer writes an unreadable expression as an empty name in back-quotes.
                    None if ident.node.is_empty() => {
                        self.error(span, "an expression is missing here");
                        ExprKind::Bad
                    }
                    None => ExprKind::Name(ident.node),
                    Some(arguments) => ExprKind::Call(
                        ident,
                        self.exprs_with_height(arguments.into_inner(), &mut below),
                    ),
                }
            }
            Rule::list => self.list(pair.into_inner(), &mut below),
            Rule::map => {
                let mut entries = Vec::new();
                for entry in pair.into_inner().filter(|p| p.as_rule() == Rule::entry) {
                    let mut both =
                        self.exprs_with_height(entry.into_inner(), &mut below).into_iter();
                    if let (Some(key), Some(value)) = (both.next(), both.next()) {
                        entries.push(Entry { key, value });
                    }
                }
                ExprKind::Map(entries)
            }
            _ => self.record(pair.into_inner(), &mut below),
        };
        self.grow(kind, span, below)
    }

    fn record(&mut self, mut inner: Pairs<'_, Rule>, below: &mut usize) -> ExprKind {
        let name = inner.next().expect("a record has a name");
        let name = self.ident(&name);
        let mut fields: Vec<(Ident, Expr)> = Vec::new();
        for field in inner.filter(|p| p.as_rule() == Rule::record_field) {
            let mut parts = field.into_inner();
            let name = parts.next().expect("a field has a name");
            let name = self.ident(&name);
            fields.extend(
                self.exprs_with_height(parts, below).into_iter().map(|value| (name.clone(), value)),
            );
        }
        ExprKind::Record(name, fields)
    }

    fn list(&mut self, inner: Pairs<'_, Rule>, below: &mut usize) -> ExprKind {
        let mut items = Vec::new();
        let mut sources = Vec::new();
        for part in inner {
            match part.as_rule() {
                Rule::expr => {
                    let item = self.tall(part);
                    *below = (*below).max(item.height);
                    items.push(item.expr);
                }
                Rule::comprehension => {
                    let mut name = None;
                    let parts = part.into_inner();
                    for bound in parts.clone().filter(|p| p.as_rule() == Rule::name) {
                        name = Some(self.ident(&bound));
                    }
                    let mut rest = self.exprs_with_height(parts, below).into_iter();
                    if let (Some(name), Some(source)) = (name, rest.next()) {
                        sources.push((name, source, rest.next()));
                    }
                }
                _ => {}
            }
        }
        if sources.is_empty() {
            return ExprKind::List(items);
        }
        *below += 2 * sources.len();
        items.pop().map_or(ExprKind::Bad, |item| comprehension(item, sources))
    }

    fn exprs_with_height(&mut self, pairs: Pairs<'_, Rule>, below: &mut usize) -> Vec<Expr> {
        let mut all = Vec::new();
        for pair in pairs.filter(|p| p.as_rule() == Rule::expr) {
            let one = self.tall(pair);
            *below = (*below).max(one.height);
            all.push(one.expr);
        }
        all
    }

    /// The value of an integer; one that does not fit is reported and becomes 0.
    pub(super) fn int(&mut self, pair: &Pair<'_, Rule>) -> i64 {
        pair.as_str().replace('_', "").parse().unwrap_or_else(|_| {
            let span = self.span(pair);
            self.error(span, format!("`{}` does not fit into 64 bits", pair.as_str()));
            0
        })
    }

    /// The value of a number with a point or an exponent; one that is too large is reported and becomes 0.
    pub(super) fn float(&mut self, pair: &Pair<'_, Rule>) -> f64 {
        let value: f64 = pair.as_str().parse().unwrap_or(f64::INFINITY);
        if value.is_finite() {
            return value;
        }
        let span = self.span(pair);
        self.error(span, format!("`{}` is larger than any Float", pair.as_str()));
        0.0
    }

    /// The value of a duration such as `30s`, in milliseconds; one that is too long is reported and becomes 0.
    pub(super) fn duration(&mut self, pair: &Pair<'_, Rule>) -> u64 {
        let text = pair.as_str();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit: u64 = match &text[digits.len()..] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => 86_400_000,
        };
        digits.parse().ok().and_then(|n: u64| n.checked_mul(unit)).unwrap_or_else(|| {
            let span = self.span(pair);
            self.error(span, format!("`{text}` is longer than any Duration"));
            0
        })
    }
}

// Parses the placeholders of texts: finds their closing braces, and reads their contents.

/// The maximum depth to which texts may nest in placeholders of texts.
const MAX_INSIDE: usize = 8;

/// All braces of a line, paired without regard to quotes. Used once a brace of the line was found unclosed, so that the line is not
/// scanned again for each further brace.
pub(super) struct Paired {
    /// The offset at which the line ends.
    pub(super) end: usize,
    /// The offsets at which each pair opens and closes, sorted.
    pairs: Vec<(usize, usize)>,
}

/// Reads the expression and the format of a placeholder. `Err` is the reason why it is not one.
pub(super) fn read_hole(
    inner: &str,
    origin: Origin<'_>,
) -> Result<(Expr, Spanned<String>), String> {
    if inner.trim().is_empty() {
        return Err("this placeholder is empty".to_owned());
    }
    // `chartc convert` marks text with `!"` that was no placeholder in its source.
    if inner.starts_with("!\"") {
        return Err("this was no placeholder before it was converted".to_owned());
    }
    if origin.inside > MAX_INSIDE {
        return Err(format!("texts are nested deeper than {MAX_INSIDE}"));
    }
    let mut cx = Cx::new(inner, origin, &[]);
    let name = inner.split(':').next().unwrap_or(inner);
    // Most placeholders are a name. They need no parser.
    if is_plain_name(name) {
        let expr = Expr { kind: ExprKind::Name(name.to_owned()), span: cx.range(0, name.len()) };
        let from = inner.len().min(name.len() + 1);
        return spec(&cx, from).map(|spec| (expr, spec));
    }
    if too_deep(inner) {
        return Err("brackets nest too deep in this placeholder".to_owned());
    }
    let plain = plain(inner, origin.file);
    let mut pairs = Grammar::parse(Rule::hole_body, &plain)
        .map_err(|error| recover::placeholder_message(inner, &error))?;
    let mut parts = pairs.next().into_iter().flat_map(Pair::into_inner);
    let expr = parts.next().map(|p| cx.expr(p)).ok_or("this placeholder is empty")?;
    let from = parts
        .find(|p| p.as_rule() == Rule::format)
        .map_or(inner.len(), |p| p.as_span().start() + 1);
    if let Some(fault) = cx.diagnostics.first() {
        return Err(fault.message.clone());
    }
    if inner[..from].contains("//")
        && !scan(&inner[..from], origin.file, &mut Vec::new()).comments.is_empty()
    {
        return Err("`//` begins a comment: whole division is `div`".to_owned());
    }
    if is_literal(&expr) {
        return Err(
            "this placeholder shows no value: doubled braces stand for themselves".to_owned()
        );
    }
    spec(&cx, from).map(|spec| (expr, spec))
}

fn spec(cx: &Cx<'_>, from: usize) -> Result<Spanned<String>, String> {
    let text = &cx.text[from..];
    if text.contains(['{', '}']) {
        return Err("a format cannot hold a placeholder".to_owned());
    }
    Ok(Spanned::new(text.to_owned(), cx.range(from, cx.text.len())))
}

/// Whether an expression is constant, and thus meant as text: `{"action": "wait"}` and `{ {"k": 1} }` are JSON, `{3}` is part of a pattern.
fn is_literal(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::GroupedInt(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Map(_)
    )
}

fn is_plain_name(text: &str) -> bool {
    is_lower_snake(text) && !is_reserved(text)
}

/// The offset of the brace that closes the first one on the same line. Braces in quotes do not count.
pub(super) fn close_of(bytes: &[u8], escaped: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut i = 0;
    while i < bytes.len() && bytes[i] != b'\n' {
        let mut byte = bytes[i];
        if escaped && byte == b'\\' && matches!(bytes.get(i + 1), Some(b'"' | b'\\')) {
            i += 1;
            byte = bytes[i];
        }
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => {
                let skipped = if escaped && bytes[i..].starts_with(b"\\\\") { 2 } else { 1 };
                i += skipped;
            }
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

impl Paired {
    /// Pairs the braces of a line, starting at `from`.
    pub(super) fn new(bytes: &[u8], from: usize) -> Self {
        let mut pairs = Vec::new();
        let mut open = Vec::new();
        for (i, byte) in bytes.iter().enumerate().skip(from) {
            match byte {
                b'{' => open.push(i),
                b'}' => pairs.extend(open.pop().map(|at| (at, i))),
                _ => {}
            }
        }
        pairs.sort_unstable();
        Self { end: bytes.len(), pairs }
    }

    /// The offset of the brace that closes the one at `at`, if there is one.
    pub(super) fn close(&self, at: usize) -> Option<usize> {
        let found = self.pairs.binary_search_by_key(&at, |p| p.0).ok()?;
        Some(self.pairs[found].1)
    }
}

/// Undoes the escapes `\"` and `\\` in a placeholder of a one-line string. Also returns the original offset of each byte and of the end.
pub(super) fn unescape(text: &str, escaped: bool) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut map = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((i, c)) = rest.next() {
        let mut c = c;
        if escaped
            && c == '\\'
            && let Some((_, next)) = rest.next_if(|(_, n)| matches!(n, '"' | '\\'))
        {
            c = next;
        }
        out.push(c);
        map.extend(std::iter::repeat_n(i, c.len_utf8()));
    }
    map.push(text.len());
    (out, map)
}

// Builds texts: undoes escapes, removes the indentation of block strings, and finds placeholders.
//
// A placeholder is on one line. The builder finds its braces first, then parses the text between them with `hole_body`. An
// unreadable placeholder becomes `TemplatePart::Bad` with the reason, and the text continues after it.

/// A collector of the parts of a text.
struct Parts {
    done: Vec<TemplatePart>,
    text: String,
    /// The source range of `text`.
    start: usize,
    end: usize,
}

impl Parts {
    fn push(&mut self, text: &str, start: usize, end: usize) {
        if self.text.is_empty() {
            self.start = start;
        }
        self.text.push_str(text);
        self.end = end;
    }

    fn flush(&mut self, cx: &Cx<'_>) {
        if !self.text.is_empty() {
            let span = cx.range(self.start, self.end);
            self.done.push(TemplatePart::Text(std::mem::take(&mut self.text), span));
        }
    }

    fn add(&mut self, cx: &Cx<'_>, part: TemplatePart) {
        self.flush(cx);
        self.done.push(part);
    }
}

impl<'s> Cx<'s> {
    /// The text of a string as it is written, which is not what the grammar has read, and its offset.
    fn written(&self, pair: &Pair<'_, Rule>) -> (&'s str, usize) {
        let place = pair.as_span();
        (&self.text[place.start()..place.end()], place.start())
    }

    /// Builds the text of a `Rule::line_string` or a `Rule::block_string`.
    pub(super) fn template(&mut self, pair: &Pair<'_, Rule>) -> Template {
        let span = self.span(pair);
        let (raw, at) = self.written(pair);
        let block = pair.as_rule() == Rule::block_string;
        let mut parts = Parts { done: Vec::new(), text: String::new(), start: at, end: at };
        if block {
            let inner = &raw[3..];
            let inner = inner.strip_suffix("\"\"\"").unwrap_or(inner);
            for (start, line) in dedent(inner) {
                self.line(line, at + 3 + start, true, &mut parts);
            }
        } else {
            let inner = raw[1..].strip_suffix('"').unwrap_or(&raw[1..]);
            self.line(inner, at + 1, false, &mut parts);
        }
        parts.flush(self);
        Template { parts: parts.done, span, block }
    }

    /// Builds a text in which braces have no meaning.
    pub(super) fn plain_text(&mut self, pair: &Pair<'_, Rule>) -> Spanned<String> {
        let span = self.span(pair);
        let (raw, at) = self.written(pair);
        if pair.as_rule() == Rule::block_string {
            let inner = raw[3..].strip_suffix("\"\"\"").unwrap_or(&raw[3..]);
            return Spanned::new(dedent(inner).iter().map(|(_, line)| *line).collect(), span);
        }
        let inner = raw[1..].strip_suffix('"').unwrap_or(&raw[1..]);
        let mut out = String::new();
        let mut i = 0;
        while let Some(c) = inner[i..].chars().next() {
            if c == '\\' {
                let (c, length) = self.escape(&inner[i..], at + 1 + i);
                out.extend(c);
                i += inner[i..].chars().take(length).map(char::len_utf8).sum::<usize>();
            } else {
                out.push(c);
                i += c.len_utf8();
            }
        }
        Spanned::new(out, span)
    }

    /// Adds a line of text with its line end; `raw` marks a block string, which has no escapes.
    fn line(&mut self, line: &str, at: usize, raw: bool, parts: &mut Parts) {
        let bytes = line.as_bytes();
        let mut paired: Option<Paired> = None;
        let mut i = 0;
        while i < bytes.len() {
            let plain = bytes[i..]
                .iter()
                .position(|b| matches!(b, b'{' | b'}') || *b == b'\\' && !raw)
                .map_or(bytes.len(), |n| i + n);
            if plain > i {
                parts.push(&line[i..plain], at + i, at + plain);
                i = plain;
                continue;
            }
            let doubled = bytes.get(i + 1) == Some(&bytes[i]);
            match bytes[i] {
                b'\\' => {
                    let (c, length) = self.escape(&line[i..], at + i);
                    let length = line[i..].chars().take(length).map(char::len_utf8).sum::<usize>();
                    let c = c.map(String::from).unwrap_or_default();
                    parts.push(&c, at + i, at + i + length);
                    i += length;
                }
                b'{' | b'}' if doubled => {
                    parts.push(&line[i..=i], at + i, at + i + 2);
                    i += 2;
                }
                b'{' => {
                    // A placeholder with plain quotes is read as it is written.
                    let end = placeholder_end(bytes, i, &mut Vec::new());
                    let close = match (end, &paired) {
                        (Some(end), _) => Some(end - 1),
                        (None, Some(known)) if i < known.end => known.close(i),
                        _ => close_of(&bytes[i..], !raw).map(|n| i + n),
                    };
                    if let Some(close) = close {
                        let as_written = raw || end.is_some();
                        let part = self.hole(&line[i..=close], at + i, as_written);
                        parts.add(self, part);
                        i = close + 1;
                    } else {
                        paired.get_or_insert_with(|| Paired::new(bytes, i));
                        parts.add(self, self.stray("{", raw, at + i));
                        i += 1;
                    }
                }
                _ => {
                    parts.add(self, self.stray("}", raw, at + i));
                    i += 1;
                }
            }
        }
    }

    fn stray(&self, brace: &str, raw: bool, at: usize) -> TemplatePart {
        let end = match (brace, raw) {
            ("{", true) => "opens no placeholder: its line has no `}` for it",
            ("{", false) => "opens no placeholder: the text ends before its `}`",
            _ => "closes no placeholder",
        };
        TemplatePart::Bad {
            text: brace.to_owned(),
            why: format!("this `{brace}` {end}"),
            span: self.range(at, at + 1),
        }
    }

    /// Builds a placeholder, `{…}`.
    fn hole(&mut self, text: &str, at: usize, raw: bool) -> TemplatePart {
        let inner = &text[1..text.len() - 1];
        if raw || !inner.contains('\\') {
            let origin = Origin {
                base: self.origin.base + at + 1,
                inside: self.origin.inside + 1,
                ..self.origin
            };
            if self.origin.map.is_none() {
                return self.placeholder(text, at, inner, origin);
            }
        }
        // Inside of another placeholder, offsets go through the map of the enclosing text, too.
        let (inner, map) = unescape(inner, !raw);
        let map: Vec<u32> = map
            .into_iter()
            .map(|offset| {
                let offset = at + 1 + offset;
                self.origin.map.map_or(offset as u32, |m| m[offset])
            })
            .collect();
        let origin = Origin { map: Some(&map), inside: self.origin.inside + 1, ..self.origin };
        self.placeholder(text, at, &inner, origin)
    }

    fn placeholder(&self, text: &str, at: usize, inner: &str, origin: Origin<'_>) -> TemplatePart {
        let span = self.range(at, at + text.len());
        read_hole(inner, origin).map_or_else(
            |why| TemplatePart::Bad { text: format!("{{{inner}}}"), why, span },
            |(expr, spec)| TemplatePart::Hole(Box::new(Hole { expr, spec, span })),
        )
    }
}

/// The lines of a block string with their offsets; each line end is a piece `\n` of its own. Drops the first and the last line if
/// they are blank, and the indentation that all other lines (and the last) share.
fn dedent(inner: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in inner.split('\n') {
        lines.push((at, line));
        at += line.len() + 1;
    }
    let blank = |line: &str| line.trim_matches([' ', '\t', '\r']).is_empty();
    // A block string on a single line has no indentation to remove.
    if lines.len() == 1 {
        return lines;
    }
    let last = lines.len() - 1;
    let mut common: Option<&str> = None;
    for (n, (_, line)) in lines.iter().enumerate().skip(1) {
        // The last line counts even if it is blank, because the closing quotes are in it.
        if n < last && blank(line) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        common = Some(common.map_or(indent, |known| {
            let same = known.bytes().zip(indent.bytes()).take_while(|(a, b)| a == b).count();
            &known[..same]
        }));
    }
    let common = common.unwrap_or_default();
    let ends_blank = blank(lines[last].1);
    let kept = if ends_blank { last } else { last + 1 };
    let starts_blank = blank(lines[0].1);
    let mut out = Vec::new();
    for (n, (at, line)) in lines.into_iter().enumerate().take(kept).skip(usize::from(starts_blank))
    {
        let cut = if n == 0 {
            0
        } else {
            line.bytes().zip(common.bytes()).take_while(|(a, b)| a == b).count()
        };
        let body = &line[cut..];
        out.push((at + cut, body.strip_suffix('\r').unwrap_or(body)));
        if n + 1 < kept {
            out.push((at + line.len(), "\n"));
        }
    }
    out
}
