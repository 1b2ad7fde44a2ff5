//! Determines from the tokens before the cursor which names are meant.

use super::cursor::{Cursor, bare};
use chartc_check::lower::CLIENT_OPTIONS;
use chartc_text::front::chart::completion_context::{BodyKind, Next};
use chartc_text::front::chart::lex::{Token, TokenKind};

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

/// The role of the name at the cursor. `item` has the tokens of its item so far.
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
        "answers" | "asked" | "of" if place == BodyKind::Test => Role::Step,
        "fails" if place == BodyKind::Test && first == "fails" && previous != "fails" => {
            if previous.is_empty() || first == "fails" && next.name && !next.text {
                Role::Step
            } else {
                Role::Why
            }
        }
        "/" if place == BodyKind::Test && matches!(first, "answers" | "fails") => Role::ChildStep,
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
