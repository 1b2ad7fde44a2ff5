//! Finds the word at an offset, and the region of the text that it stands in.

use chartc_text::front::chart::lex::{Token, TokenKind, tokens};

/// The kind of text that surrounds the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// A number, or a text in quotes outside of its placeholders.
    Nothing,
    Comment,
    /// The path of an import.
    Import,
    /// Anything outside of texts and comments.
    Code,
    /// A placeholder of a text.
    Placeholder {
        /// The offset of the text, with its quote.
        text: usize,
        /// The offset behind the brace.
        start: usize,
    },
}

/// A position in a text.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    /// The region that surrounds it.
    pub(super) region: Region,
    /// The start of the word that is being written.
    pub(super) start: usize,
    /// The end of that word.
    pub(super) end: usize,
    /// The part of the word before the cursor, without a back-quote.
    pub(super) prefix: String,
    /// The names before the word, each followed by a dot. `None` stands for a part that is not a name, such as a call.
    pub(super) chain: Vec<Option<String>>,
    /// The start of the chain, or of the word if there is none.
    pub(super) from: usize,
    /// The tokens before the chain, within the placeholder if the cursor is in one.
    pub(super) before: Vec<Token>,
}

impl<'t> Cursor<'t> {
    pub(super) fn at(text: &'t str, offset: usize) -> Self {
        let all = split(tokens(text), offset);
        let around = all.iter().rev().find(|token| token.start < offset).copied();
        let (region, base) = region(text, offset, &all, around);
        let mut cursor = Self {
            text,
            region,
            start: offset,
            end: offset,
            prefix: String::new(),
            chain: Vec::new(),
            from: offset,
            before: Vec::new(),
        };
        match region {
            Region::Nothing => {}
            Region::Comment | Region::Import => {
                let stop: &[char] =
                    if region == Region::Import { &['"', '/'] } else { &['(', ',', ' '] };
                let floor = around.map_or(0, |token| token.start);
                let start = text[floor..offset].rfind(stop).map_or(floor, |at| floor + at + 1);
                cursor.start = start;
                cursor.from = start;
                text[start..offset].clone_into(&mut cursor.prefix);
            }
            Region::Code => cursor.word(&all, offset),
            Region::Placeholder { .. } => {
                let line = text[base..].find('\n').map_or(text.len(), |at| base + at);
                let shift = |token: Token| Token {
                    start: token.start + base,
                    end: token.end + base,
                    ..token
                };
                let inside = tokens(&text[base..line]).into_iter().map(shift).collect();
                cursor.word(&split(inside, offset), offset);
            }
        }
        cursor
    }

    /// Finds the word at the offset, and the chain and tokens before it.
    fn word(&mut self, all: &[Token], offset: usize) {
        let is_name = |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
        let inside = |token: &&Token| token.start < offset && offset <= token.end && is_name(token);
        if let Some(word) = all.iter().find(inside) {
            (self.start, self.end) = (word.start, word.end);
            let written = &self.text[word.start..offset];
            written.trim_start_matches('`').clone_into(&mut self.prefix);
        }
        let mut before: Vec<Token> = all.iter().filter(|t| t.end <= self.start).copied().collect();
        self.from = self.start;
        while let Some((dot, rest)) = before.split_last() {
            let touches = dot.end == self.from && dot.text(self.text) == ".";
            if !touches {
                break;
            }
            let name = rest.last().filter(|token| token.end == dot.start);
            let Some(name) = name.copied() else { break };
            if is_name(&name) {
                self.chain.insert(0, Some(bare(name.text(self.text)).to_owned()));
                self.from = name.start;
                before.truncate(before.len() - 2);
            } else {
                self.chain.insert(0, None);
                self.from = opened(rest, self.text);
                before.retain(|token| token.end <= self.from);
                break;
            }
        }
        before.retain(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Doc));
        self.before = before;
    }

    /// The text of the `nth` token before the chain, counted backwards from 1.
    pub(super) fn back(&self, nth: usize) -> &'t str {
        let at = self.before.len().checked_sub(nth);
        at.map_or("", |at| self.before[at].text(self.text))
    }

    /// Whether `sign` follows the word.
    pub(super) fn followed_by(&self, sign: &str) -> bool {
        self.text[self.end..].starts_with(sign)
    }
}

/// Splits a sign around the offset into two tokens: in `a..b` the name between the dots is missing.
fn split(tokens: Vec<Token>, offset: usize) -> Vec<Token> {
    let mut all = Vec::with_capacity(tokens.len() + 1);
    for token in tokens {
        if token.kind == TokenKind::Sign && token.start < offset && offset < token.end {
            all.push(Token { end: offset, ..token });
            all.push(Token { start: offset, ..token });
        } else {
            all.push(token);
        }
    }
    all
}

/// Removes the back-quotes around a name.
pub(super) fn bare(written: &str) -> &str {
    let inner = written.strip_prefix('`').unwrap_or(written);
    inner.strip_suffix('`').unwrap_or(inner)
}

/// The start of the operand that ends with the last token: a call, an index, a list.
fn opened(all: &[Token], text: &str) -> usize {
    let mut depth = 0_usize;
    for (nth, token) in all.iter().enumerate().rev() {
        if token.kind == TokenKind::Close {
            depth += 1;
        } else if token.kind == TokenKind::Open {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            let called = nth.checked_sub(1).map(|at| &all[at]);
            let named = called.filter(|t| t.kind == TokenKind::Word && t.end == token.start);
            return named.map_or(token.start, |t| t.start);
        }
    }
    all.last().map_or(text.len(), |token| token.start)
}

/// The region around an offset, and the offset where its tokens begin.
fn region(text: &str, offset: usize, all: &[Token], around: Option<Token>) -> (Region, usize) {
    let Some(token) = around else { return (Region::Code, 0) };
    let touches = offset <= token.end;
    // Offsets between the two slashes are not in the comment yet.
    match token.kind {
        TokenKind::Comment | TokenKind::Doc if touches && offset > token.start + 1 => {
            (Region::Comment, 0)
        }
        TokenKind::Text | TokenKind::Block if touches && is_inside(token, offset, text) => {
            let nth = all.iter().position(|one| one.start == token.start).unwrap_or_default();
            let previous = nth.checked_sub(1).map_or("", |at| all[at].text(text));
            if previous == "import" {
                return (Region::Import, 0);
            }
            match placeholder(text, token, offset) {
                Some(start) => (Region::Placeholder { text: token.start, start }, start),
                None => (Region::Nothing, 0),
            }
        }
        TokenKind::Int | TokenKind::Float | TokenKind::Duration | TokenKind::Other if touches => {
            (Region::Nothing, 0)
        }
        _ => (Region::Code, 0),
    }
}

/// Whether an offset is before the closing quotes of a text.
fn is_inside(token: Token, offset: usize, text: &str) -> bool {
    let written = token.text(text);
    let quotes = if token.kind == TokenKind::Block { 3 } else { 1 };
    let quote = &"\"\"\""[..quotes];
    let closed = written.len() >= 2 * quotes && written.ends_with(quote);
    let end = if closed { token.end - quotes } else { token.end };
    token.start + quotes <= offset && offset <= end
}

/// The offset behind the brace of the placeholder that contains `offset`.
fn placeholder(text: &str, token: Token, offset: usize) -> Option<usize> {
    let line = text[..offset].rfind('\n').map_or(0, |at| at + 1).max(token.start);
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut start) = (line, 0_usize, None);
    while at < offset {
        match bytes[at] {
            // `{{` is an escaped brace.
            b'{' if depth == 0 && at + 1 < offset && bytes[at + 1] == b'{' => at += 1,
            b'{' => {
                if depth == 0 {
                    start = Some(at + 1);
                }
                depth += 1;
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    start.filter(|_| depth > 0)
}
