//! Finds the word at an offset, the region of the text that it stands in, and the role of the name there.
//!
//! **The problem.** The text at the cursor is being written, so its syntax tree is missing or wrong. Yet completion must know which word to
//! replace, and whether a state, an event, a type or a value is meant.
//!
//! **The idea.** Everything comes from tokens, which broken text has, too. [`Cursor::at`] finds the region (`region`), the word, the chain
//! of names with dots before it, and the tokens before that. In a placeholder of a text, the tokens begin behind the brace. Then [`role`]
//! asks several sources, and the first that knows decides:
//!
//! 1. the innermost open bracket of the item: `on done(` wants a step or a state, `P {` a field (`Inside::role`);
//! 2. the word before the cursor: behind `on` stands an event, behind `into` a variable (`by_word`);
//! 3. the sign before it: behind `->` stands a state, or a type in a declaration of a function or tool;
//! 4. the kind of the body: in `limits { }` stands a limit (`by_place`).
//!
//! [`Next`], from the grammar itself, tells apart what the tokens alone cannot, such as a name and an expression.
//!
//! **Example.** `state open { on reply(text) if ticket.la|` with the cursor at `|`:
//!
//! ```text
//! region Code   word `la`, prefix "la"   chain [ticket]   before [state open { on reply ( text ) if]
//! role          no open bracket in the item; `if` is no word of `by_word`; the grammar accepts an expression: Value
//! ```

use chartc_compiler::front::chart::completion_context::{BodyKind, Next};
use chartc_compiler::front::chart::scan::{Token, TokenKind, tokens};
use chartc_compiler::lower::CLIENT_OPTIONS;

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

// Determines from the tokens before the cursor which names are meant.

/// The role of the name at the cursor, which decides what is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// A new name, of which nothing is known.
    New,
    State,
    /// A descendant of the state around the cursor, for `initial`.
    Initial,
    /// An event. With `listens`, also the events that the run itself raises.
    Event {
        listens: bool,
    },
    /// The names of an event's data.
    Binding(String),
    /// A step or state as the subject of `done(…)`.
    Subject,
    Type,
    Chart,
    Client,
    Step,
    /// A step of a chart that the tested chart runs.
    ChildStep,
    /// The receiver of an event: a step that runs a chart, or the parent.
    Receiver,
    /// The id of a sent event, for `cancel`.
    SendId,
    /// A tool or, with `sets`, also a tool set.
    Tool {
        sets: bool,
    },
    /// A tool set and an argument of its tools.
    Passed,
    /// A variable that can be assigned.
    Assigned,
    /// A variable of any kind that a test can give or set.
    Given,
    /// A pure function of the host.
    Function,
    /// The start of an action.
    Action,
    /// An expression.
    Value,
    /// A param of the chart that a step runs, or an expression.
    RunParam(String),
    /// A field of a record value.
    Field(String),
    /// An answer of a model.
    Answer,
    /// A function or tool that a test expects to be called.
    Called,
    /// The status with which a run ends.
    Status,
    /// A property of a `check` line.
    Property,
    /// The argument of a property, which has this name.
    Subjected(String),
    Limit,
    /// An option of a client.
    ClientOption,
    /// The value of this option of a client.
    ClientValue(String),
    /// The kind of failure of a call.
    Why,
    /// The format of a placeholder.
    Format,
    /// Any name, because nothing says which is meant.
    Any,
}

/// The role of the name at the cursor. `item` has the tokens of the line or declaration that is being written, up to the cursor.
pub(super) fn role(cursor: &Cursor<'_>, item: &[Token], place: BodyKind, next: &Next) -> Role {
    let text = cursor.text;
    let words: Vec<&str> = item.iter().map(|token| token.text(text)).collect();
    let first = words.first().copied().unwrap_or_default();
    let brackets = open_brackets(item);
    if let Some(open) = brackets {
        let inside = Inside { words: &words, open, first, next };
        if let Some(role) = inside.role() {
            return role;
        }
    }
    let last = cursor.back(1);
    let previous = cursor.back(2);
    if let Some(role) = by_word(last, previous, first, place, next) {
        return role;
    }
    match last {
        "," => return listed(&words, first),
        ":" if first == "final" => return Role::Status,
        ":" if matches!(place, BodyKind::Record | BodyKind::Chart) => return Role::Type,
        "->" if matches!(first, "fn" | "tool") => return Role::Type,
        "->" => return Role::State,
        "|" if first == "from" => return Role::State,
        "|" | "=" | "-" if first == "tools" => return Role::Tool { sets: true },
        _ => {}
    }
    by_place(&words, first, place, next)
}

/// A position inside brackets of an item.
struct Inside<'w, 't> {
    words: &'w [&'t str],
    open: usize,
    first: &'t str,
    next: &'w Next,
}

impl Inside<'_, '_> {
    fn role(&self) -> Option<Role> {
        let head = &self.words[..self.open];
        let since = &self.words[self.open + 1..];
        let last = since.last().copied().unwrap_or_default();
        let (path, before) = path_before(head);
        let called = path.last().copied().unwrap_or_default();
        let names = matches!(since, [] | [.., ","]);
        match self.words[self.open] {
            "{" if called == "defaults" => None,
            "(" => Some(match (called, before) {
                ("List" | "Map", _) if self.next.name && !self.next.expression => Role::Type,
                ("done" | "error" | "doubt", "on") => Role::Subject,
                ("in" | "turns_in", _) => Role::State,
                ("streak" | "repeated", _) => Role::Passed,
                (name, "check") => Role::Subjected(name.to_owned()),
                (_, "on") => Role::Binding(path.join(".")),
                (_, "may" | "final" | "event" | "fn" | "do" | "tool") if !self.next.expression => {
                    if last == ":" {
                        Role::Type
                    } else {
                        Role::New
                    }
                }
                (chart, _) if self.first == "run" && names && !head.contains(&"(") => {
                    Role::RunParam(bare(chart).to_owned())
                }
                _ if self.next.expression => Role::Value,
                _ => return None,
            }),
            "{" if self.next.name && !called.is_empty() && last != ":" => {
                Some(Role::Field(bare(called).to_owned()))
            }
            _ if self.next.expression => Some(Role::Value),
            _ => None,
        }
    }
}

/// The dotted name at the end of `words`, and the word before it.
fn path_before<'t>(words: &[&'t str]) -> (Vec<&'t str>, &'t str) {
    let mut path = Vec::new();
    let mut at = words.len();
    while let Some(name) = at.checked_sub(1).map(|n| words[n]).filter(|word| is_name(word)) {
        path.insert(0, name);
        at -= 1;
        if at < 1 || words[at - 1] != "." {
            break;
        }
        at -= 1;
    }
    (path, at.checked_sub(1).map_or("", |n| words[n]))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '`')
}

/// The index of the innermost bracket that is still open.
fn open_brackets(item: &[Token]) -> Option<usize> {
    let mut open = Vec::new();
    for (nth, token) in item.iter().enumerate() {
        if token.kind == TokenKind::Open {
            open.push(nth);
        } else if token.kind == TokenKind::Close {
            open.pop();
        }
    }
    open.pop()
}

/// The role that the word before the cursor implies.
fn by_word(last: &str, previous: &str, first: &str, place: BodyKind, next: &Next) -> Option<Role> {
    let only_name = next.name && !next.expression;
    Some(match last {
        "given" if first == "check" => Role::Subjected(last.to_owned()),
        "unless" | "before" | "state" | "do" | "tool" | "step" | "may" | "event"
            if first == "check" =>
        {
            Role::Subjected("never".to_owned())
        }
        "on" => Role::Event { listens: true },
        "raise" | "send" if only_name => Role::Event { listens: false },
        "to" if only_name => Role::Receiver,
        "cancel" if only_name => Role::SendId,
        "into" if first == "component" => Role::Step,
        "into" if only_name => Role::Assigned,
        "initial" if only_name => Role::Initial,
        "from" | "except" | "allow" if only_name => Role::State,
        "with" if only_name => Role::Client,
        "call" if previous == "may" => Role::Tool { sets: true },
        "tools" if place == BodyKind::Step => Role::Tool { sets: true },
        "tool" if place == BodyKind::Test => Role::Tool { sets: false },
        "returns" if place == BodyKind::Step => Role::Type,
        "check" if only_name => Role::Property,
        "for" if first == "test" => Role::Chart,
        "else" if only_name => Role::State,
        "fn" if place == BodyKind::Test => Role::Function,
        "answers" | "asked" | "asking" | "of" if place == BodyKind::Test => Role::Step,
        "fails" if place == BodyKind::Test && first == "fails" && previous != "fails" => {
            if previous.is_empty() || first == "fails" && next.name && !next.text {
                Role::Step
            } else {
                Role::Why
            }
        }
        "/" if place == BodyKind::Test
            && matches!(first, "answers" | "fails" | "until" | "expect") =>
        {
            Role::ChildStep
        }
        "called" if place == BodyKind::Test => Role::Called,
        "offered" | "only" if place == BodyKind::Test => Role::Answer,
        "given" | "set" if place == BodyKind::Test && only_name => Role::Given,
        "at" if place == BodyKind::Test => Role::State,
        "may" | "run" | "call" | "llm" | "ask" | "code" | "human" | "state" | "parallel"
        | "final" | "history" | "event" | "var" | "param" | "input" | "pred" | "fn" | "do"
        | "tool" | "tools" | "client" | "component" | "type" | "enum" | "chart"
        | "renamed_from" | "each" | "for" | "as"
            if only_name =>
        {
            Role::New
        }
        _ => return None,
    })
}

/// The role after a comma: that of the list before it.
fn listed(words: &[&str], first: &str) -> Role {
    let mut depth = 0_usize;
    for word in words.iter().rev() {
        match *word {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            "->" if matches!(first, "fn" | "tool") => return Role::Type,
            "->" | "at" => return Role::State,
            "initial" => return Role::Initial,
            "into" => return Role::Step,
            "offered" | "only" => return Role::Answer,
            "renamed_from" => return Role::New,
            _ => {}
        }
    }
    if first == "component" { Role::Step } else { Role::Any }
}

/// The role that the surrounding body implies.
fn by_place(words: &[&str], first: &str, place: BodyKind, next: &Next) -> Role {
    let last = words.last().copied().unwrap_or_default();
    if place == BodyKind::Test && first == "answers" && next.name {
        return Role::Answer;
    }
    if place == BodyKind::Test && next.name && next.text && !next.expression {
        return Role::Why;
    }
    if place == BodyKind::Client && next.name {
        let valued = CLIENT_OPTIONS.contains(&last) && (next.text || next.words.contains(&"true"));
        return if valued { Role::ClientValue(last.to_owned()) } else { Role::ClientOption };
    }
    if next.expression {
        return Role::Value;
    }
    if !next.name {
        return if next.known { Role::New } else { Role::Any };
    }
    match place {
        BodyKind::Actions => Role::Action,
        BodyKind::Code => Role::Assigned,
        BodyKind::Limits => Role::Limit,
        BodyKind::Enum | BodyKind::Record | BodyKind::Meta | BodyKind::Top | BodyKind::Client => {
            Role::New
        }
        BodyKind::Test => Role::Value,
        _ => match first {
            "call" => Role::Tool { sets: false },
            "run" => Role::Chart,
            "ask" => Role::Event { listens: true },
            _ => Role::Any,
        },
    }
}
