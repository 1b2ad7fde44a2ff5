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

use super::Cx;
use crate::front::chart::grammar::{Grammar, Rule};
use crate::front::chart::scan::plain;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, Binding, CompareOp, Entry, Expr, ExprKind, UnaryOp};
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

/// Parses an expression that stands alone.
pub(in super::super) fn just(
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
                    if let (Some(item), Some(name), Some(source)) = (items.pop(), name, rest.next())
                    {
                        return ExprKind::Comprehension {
                            item: Box::new(item),
                            name,
                            source: Box::new(source),
                            filter: rest.next().map(Box::new),
                        };
                    }
                }
                _ => {}
            }
        }
        ExprKind::List(items)
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
        pair.as_str().parse().unwrap_or_else(|_| {
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
