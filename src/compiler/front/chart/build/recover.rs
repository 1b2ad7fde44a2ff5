//! Explains syntax errors: parses again what recovery skipped, to say what was expected where.
//!
//! The problem: the grammar skips an item that it cannot read, so that the rest of the file is still parsed. It therefore reports no error
//! for the item, and an error of the parser alone would be a list of rules. The idea: `report` gets the skipped text with its kind of body
//! (`BodyKind`), and looks for the likeliest mistake:
//!
//! 1. The first word decides, if it belongs elsewhere or is misspelled (`condition`, `misplaced`).
//! 2. Otherwise, the text is parsed again as a single item (`read_again`), together with the item before it if it may continue that one.
//!    `explain` turns the parser's error into words: what was expected, the likeliest first, and what was found.
//! 3. Hints are added for tokens of other languages (`token_hint`) and for cases in which one token is not enough (`context_hint`). A new
//!    hint for a token is an arm of `token_hint`.
//!
//! A `Fault` is such an error before it becomes a diagnostic. At most `MAX_ERRORS` are reported for a file. Two more searches are at the
//! end: for misspelled first words within an unreadable item (`report_typos`), and for `//` that is meant as a division (`lost`). For
//! example:
//!
//! ```text
//! stat idle { }        unknown keyword `stat` in a chart; did you mean `state`?
//! on go => idle        an arrow is `->`
//! x = a // 2           read as `x = a` and a comment, which reads like a divisor
//! ```

use super::Cx;
use crate::front::chart::expected::{self, describe};
use crate::front::chart::grammar::{Grammar, Rule};
use crate::front::chart::parse_expression;
use crate::front::chart::scan::{Comment, MAX_NESTING, plain};
use crate::rules::{SYNTAX, lost_division};
use crate::syntax::diagnostic::{Broken, Diagnostic, Fix, near, nearest};
use crate::syntax::source::{FileId, Span};
use crate::syntax::{
    Action, BinaryOp, Block, ChartItem, Expr, ExprKind, File, Item, Line, LineKind, Noted,
    StateItem, Step, StepItem, StepKind, Tail, UnaryOp, is_reserved,
};
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of syntax errors that are reported in one file.
pub(in crate::front::chart) const MAX_ERRORS: usize = 100;

/// The kind of a body, which decides which items are allowed in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// Outside charts.
    Top,
    /// In a chart.
    Chart,
    /// In a state.
    State,
    /// In `from`.
    From,
    /// In a step.
    Step,
    /// In a `code` step.
    Code,
    /// In an action block.
    Actions,
    /// In `limits`.
    Limits,
    /// In a client.
    Client,
    /// In a record type.
    Record,
    /// In an enum.
    Enum,
    /// In `meta`.
    Meta,
    /// In a test.
    Test,
}

impl BodyKind {
    /// Whether consecutive unreadable items are probably one.
    pub(in crate::front::chart) fn joins(self) -> bool {
        matches!(self, Self::Top | Self::Code | Self::Actions)
    }

    fn rule(self) -> Rule {
        match self {
            Self::Top => Rule::just_top,
            Self::Chart | Self::State => Rule::just_chart_item,
            Self::From => Rule::just_line,
            Self::Step => Rule::just_step_item,
            Self::Code => Rule::just_statement,
            Self::Actions => Rule::just_action,
            Self::Limits => Rule::just_limit,
            Self::Client => Rule::just_client_option,
            Self::Record => Rule::just_param,
            Self::Enum => Rule::just_enum_name,
            Self::Meta => Rule::just_meta_entry,
            Self::Test => Rule::just_test_item,
        }
    }

    /// The keywords that begin items here. Empty for bodies whose items begin with names.
    pub(in crate::front::chart) fn first_words(self) -> Vec<&'static str> {
        let lists: &[&[&'static str]] = match self {
            Self::Top => &[expected::TOP],
            Self::Chart => &[expected::LINES, expected::STATES, expected::DECLARATIONS],
            Self::State => &[expected::LINES, expected::STATES],
            Self::From => &[expected::LINES],
            Self::Step => &[expected::STEPS],
            Self::Test => &[expected::TESTS],
            _ => &[],
        };
        lists.concat()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Top => "outside charts",
            Self::Chart => "in a chart",
            Self::State => "in a state",
            Self::From => "in `from`",
            Self::Step => "in a step",
            Self::Code => "in a `code` step",
            Self::Actions => "in an action block",
            Self::Limits => "in `limits`",
            Self::Client => "in a client",
            Self::Record => "in a type",
            Self::Enum => "in an enum",
            Self::Meta => "in `meta`",
            Self::Test => "in a test",
        }
    }
}

/// Reports the unreadable item at `bad`; `previous` is the item directly before it.
pub(in crate::front::chart) fn report(
    cx: &mut Cx<'_>,
    place: BodyKind,
    previous: Option<Span>,
    bad: Span,
) {
    if cx.diagnostics.len() >= MAX_ERRORS {
        return;
    }
    let (start, end) = (bad.start as usize, bad.end as usize);
    let text = &cx.text[start..end];
    if text.starts_with('}') {
        return; // the scan has already reported this stray brace
    }
    let known = place.first_words();
    let word = first_word(text);
    let listed = known.contains(&word);
    let lone = previous.is_none_or(|p| cx.text[p.end as usize..start].contains('\n'));
    if let Some(fault) = condition(place, word, lone) {
        return push(cx, start, fault);
    }
    if !listed
        && !word.is_empty()
        && let Some(fault) = misplaced(place, text, &known, lone)
    {
        return push(cx, start, fault);
    }
    // Text after an item on its line, or that begins no item, may be a faulty continuation of the item: both are parsed together.
    let joined = if known.is_empty() { !lone } else { !listed };
    let from = previous.filter(|_| joined).map_or(start, |p| p.start as usize);
    let mut fault = read_again(place, cx, from, end, &known).unwrap_or_else(|| {
        let message = format!("`{}` cannot stand {}", shorten(word), place.text());
        Fault::at(0, word.len().max(1), message)
    });
    if word == "from" && !lone {
        fault.help = Some("quote both names: `from \"artifact\" \"method\"`".to_owned());
    }
    push(cx, from, fault);
}

/// Parses the text from `from` to `end` again. Returns the error, or `None` if there is none.
fn read_again(
    place: BodyKind,
    cx: &Cx<'_>,
    from: usize,
    end: usize,
    known: &[&str],
) -> Option<Fault> {
    let (text, end) = (&cx.text[from..], end - from);
    let read = |text: &str| Grammar::parse(place.rule(), &plain(text, cx.origin.file)).err();
    let error = read(&text[..end])?;
    let mut fault = explain(text, end, FILE_END, &error);
    // In `on e ->` with `state b` on the next line, the parser takes `state` for the missing name. The line alone has the real error.
    let line = text[..fault.start.min(end)].rfind('\n').map_or(0, |at| at + 1);
    let line = line + text[line..].len() - text[line..].trim_start().len();
    let eaten = first_word(&text[line..]);
    if line > 0
        && line + eaten.len() <= fault.start
        && known.contains(&eaten)
        && let Some(error) = read(&text[..line])
    {
        fault = explain(text, line, FILE_END, &error);
    }
    if place == BodyKind::Code && fault.unexpected.is_some_and(|found| found.opens) {
        fault.help = Some("`code` assigns; a call belongs in an action block".to_owned());
    }
    let wants_arrow = fault.unexpected.is_some_and(|found| found.expected == Some(ARROW));
    if first_word(text) == "history" && wants_arrow {
        let help = "`-> state` says what is entered as long as nothing is recorded";
        fault.help.get_or_insert(help.to_owned());
    }
    Some(fault)
}

/// The error for `when` in place of `if`: before actions, and after the first words of an outcome.
fn condition(place: BodyKind, word: &str, lone: bool) -> Option<Fault> {
    let before_actions = matches!(place, BodyKind::Actions | BodyKind::Code);
    let behind_outcome = place == BodyKind::Step && !lone;
    (word == "when" && (before_actions || behind_outcome)).then(|| {
        let fault = Fault::at(0, word.len(), "a condition is `if`, found `when`".to_owned());
        Fault { instead: Some("if"), ..fault.help("write `if`") }
    })
}

/// The error for a first word that begins no item here: it belongs elsewhere, or it is misspelled.
pub(in crate::front::chart) fn misplaced(
    place: BodyKind,
    text: &str,
    known: &[&'static str],
    lone: bool,
) -> Option<Fault> {
    let word = first_word(text);
    let fault = |message: String, help: Option<String>| {
        Some(Fault { help, ..Fault::at(0, word.len(), message) })
    };
    let here = place.text();
    if place == BodyKind::Top
        && (expected::STATES.contains(&word)
            || expected::LINES.contains(&word)
            || expected::DECLARATIONS.contains(&word))
    {
        let help = "it belongs between the braces of a `chart`: is there a `}` too many before it?";
        return fault(format!("`{word}` cannot stand {here}"), Some(help.to_owned()));
    }
    if matches!(place, BodyKind::State | BodyKind::From) && expected::DECLARATIONS.contains(&word) {
        let help = "declare it in the chart itself".to_owned();
        return fault(format!("`{word}` cannot stand {here}"), Some(help));
    }
    if place == BodyKind::From && expected::STATES.contains(&word) {
        let help = "`from` holds lines only: `on`, `when`, `after`, `may`".to_owned();
        return fault(format!("`{word}` cannot stand {here}"), Some(help));
    }
    if place == BodyKind::Step
        && (expected::STATES.contains(&word) || expected::LINES.contains(&word))
    {
        let help = match word {
            "after" if !lone => "the deadline of a step is `timeout`: `timeout 30s -> state`",
            _ => "it belongs in the state: is a `}` missing before it?",
        };
        let help = help.to_owned();
        return fault(format!("`{word}` cannot stand {here}"), Some(help));
    }
    if matches!(place, BodyKind::Chart | BodyKind::State | BodyKind::From)
        && expected::STEPS.contains(&word)
    {
        let help = "it belongs between the braces of a step".to_owned();
        return fault(format!("`{word}` cannot stand {here}"), Some(help));
    }
    if !lone || known.is_empty() {
        return None;
    }
    let near = near(word, known.iter().copied());
    let help = near.map(|near| format!("did you mean `{}`?", near.name));
    let message = format!("unknown keyword `{}` {here}", shorten(word));
    let instead = near.and_then(|near| known.iter().copied().find(|known| *known == near.name));
    fault(message, help).map(|fault| Fault {
        lost: second_name(&text[word.len()..]),
        instead,
        is_certain: near.is_some_and(|near| near.is_only),
        ..fault
    })
}

/// The name after the first word of a line, if there is one.
fn second_name(text: &str) -> Option<String> {
    let name = text.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
    let end = name.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(name.len());
    (end > 0).then(|| name[..end].to_owned())
}

/// The words in messages for the end of a file.
const FILE_END: &str = "the end of the file";

/// Explains a failed parse of `text[..end]`. The text after `end` only serves to say what was found; `last` stands for its end.
fn explain(text: &str, end: usize, last: &str, error: &Error<Rule>) -> Fault {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at.min(end),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expected_words(positives),
        ErrorVariant::CustomError { .. } => {
            let message = format!("brackets nest deeper than {MAX_NESTING}");
            return Fault::at(at, at, message);
        }
    };
    let (skipped, found) = token(&text[at..]);
    let at = at + skipped;
    if let Some(fault) = foreign_name(text, at) {
        return fault;
    }
    let before = text[..at - skipped].trim_end();
    let breaks = text[before.len()..at].contains('\n') || found.is_empty();
    let what = if found.is_empty() {
        last.to_owned()
    } else if breaks && !before.is_empty() {
        "the end of the line".to_owned()
    } else {
        format!("`{}`", shorten(found))
    };
    let message = match expected.as_slice() {
        [] => format!("unexpected {what}"),
        [one] => format!("expected {one}, found {what}"),
        [all @ .., last] => format!("expected {} or {last}, found {what}", all.join(", ")),
    };
    let (start, end) = if breaks && !before.is_empty() {
        let last = before.char_indices().next_back().map_or(0, |(i, _)| i);
        (last, before.len())
    } else {
        (at, at + found.len())
    };
    let help = if breaks { None } else { token_hint(found, &error.variant) };
    let help = help.or_else(|| context_hint(text, at, found, expected.is_empty()));
    let unexpected = Unexpected { expected: expected.first().copied(), opens: found == "(" };
    Fault { help, unexpected: Some(unexpected), ..Fault::at(start, end, message) }
}

/// The error for a name with a non-ASCII letter at byte `at`, where the grammar stopped, and without back-quotes.
fn foreign_name(text: &str, at: usize) -> Option<Fault> {
    let letter = text[at..].chars().next().filter(|c| !c.is_ascii() && c.is_alphabetic())?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = text[..at].rfind(|c| !is_word(c)).map_or(0, |i| i + char_len(&text[i..]));
    let end = text[at..].find(|c| !is_word(c)).map_or(text.len(), |len| at + len);
    let name = shorten(&text[start..end]);
    let message = format!("`{name}` is no bare name: `{letter}` is U+{:04X}", u32::from(letter));
    Some(Fault::at(start, end, message).help(format!(
        "a bare name has ASCII letters, digits and `_`; any other must be back-quoted: `{name}`"
    )))
}

fn char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The words in messages for a missing target.
const ARROW: &str = "`->`";

/// The words for the expected rules, without duplicates, the most likely one first.
fn expected_words(rules: &[Rule]) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = Vec::new();
    for rule in rules {
        all.extend(describe(*rule).filter(|w| !all.contains(w)));
    }
    if all.is_empty() && rules.contains(&Rule::infix) {
        all.push("an operator");
    }
    // A missing operand is more likely than a missing continuation.
    let order = |word: &&str| match *word {
        ARROW => 1,
        "`if`" => 2,
        "`{`" => 3,
        word if word.starts_with('`') => 4,
        _ => 0,
    };
    all.sort_by_key(order);
    all
}

/// The message for an unreadable placeholder.
pub(in crate::front::chart) fn placeholder_message(inner: &str, error: &Error<Rule>) -> String {
    let fault = explain(inner, inner.len(), "its end", error);
    format!("this placeholder cannot be read: {}", fault.message)
}

/// The diagnostic for an unreadable expression that stands alone.
pub(in crate::front::chart) fn expression_fault(
    cx: &mut Cx<'_>,
    error: &Error<Rule>,
) -> Diagnostic {
    let fault = explain(cx.text, cx.text.len(), FILE_END, error);
    let end = fault.end.min(cx.text.len());
    let mut diagnostic = SYNTAX.at(cx.range(fault.start.min(end), end), fault.message);
    diagnostic.help = fault.help;
    diagnostic
}

/// The first word of a text; empty if the text begins with something else.
pub(in crate::front::chart) fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The first token of a text, as a person sees it, and the length of the blanks and comments before it. The token is empty at the end.
fn token(text: &str) -> (usize, &str) {
    let mut rest = text.trim_start();
    while rest.starts_with("//") {
        rest = rest.find('\n').map_or("", |end| rest[end..].trim_start());
    }
    (text.len() - rest.len(), token_at(rest))
}

fn token_at(text: &str) -> &str {
    let word = first_word(text);
    if !word.is_empty() {
        return word;
    }
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let line = text.lines().next().unwrap_or(text);
        return line[1..].find(quote).map_or(line, |end| &line[..end + 2]);
    }
    let two = ["->", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "**", ".."];
    if let Some(two) = two.iter().find(|t| text.starts_with(**t)) {
        return &text[..two.len()];
    }
    text.chars().next().map_or("", |c| &text[..c.len_utf8()])
}

pub(in crate::front::chart) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(37).chain("...".chars()).collect()
}

// Syntax errors before they become diagnostics.

/// A syntax error in a text, with offsets into that text.
pub(in crate::front::chart) struct Fault {
    pub(in crate::front::chart) message: String,
    pub(in crate::front::chart) help: Option<String>,
    pub(in crate::front::chart) start: usize,
    pub(in crate::front::chart) end: usize,
    /// The replacement of the text at `start..end`, if one is known.
    pub(in crate::front::chart) instead: Option<&'static str>,
    /// Whether [`Self::instead`] is certainly what was meant.
    pub(in crate::front::chart) is_certain: bool,
    /// For errors of that kind: what was expected, and what was found.
    pub(in crate::front::chart) unexpected: Option<Unexpected>,
    /// The name that the text would declare if its first word were spelled correctly.
    pub(in crate::front::chart) lost: Option<String>,
}

/// The expectation of a parser, and what it found instead.
#[derive(Clone, Copy)]
pub(in crate::front::chart) struct Unexpected {
    /// The most likely of the things that were expected.
    pub(in crate::front::chart) expected: Option<&'static str>,
    /// Whether `(` was found.
    pub(in crate::front::chart) opens: bool,
}

impl Fault {
    pub(in crate::front::chart) fn at(start: usize, end: usize, message: String) -> Self {
        Self {
            message,
            help: None,
            start,
            end,
            instead: None,
            is_certain: true,
            unexpected: None,
            lost: None,
        }
    }

    pub(in crate::front::chart) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Reports an error in the text that begins at byte `base`.
pub(in crate::front::chart) fn push(cx: &mut Cx<'_>, base: usize, fault: Fault) {
    let span = cx.range(base + fault.start, base + fault.end);
    let found = cx.error(span, fault.message);
    found.help = fault.help;
    found.breaks = fault.lost.into_iter().map(|name| Broken::Name(name, None)).collect();
    found.fix = fault.instead.map(|text| {
        Box::new(Fix {
            edits: vec![(span, text.to_owned())],
            pending: None,
            is_safe: fault.is_certain,
        })
    });
}

// Finds misspelled first words within an unreadable item. Recovery skips the lines after an error, so they are checked here.

/// Reports each line of an unreadable item, except the first, whose first word resembles one that begins items.
pub(in crate::front::chart) fn report_typos(cx: &mut Cx<'_>, place: BodyKind, bad: Span) {
    let known = place.first_words();
    if known.is_empty() {
        return;
    }
    let text = &cx.text[bad.start as usize..bad.end as usize];
    for at in lines(text) {
        if cx.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let word = first_word(&text[at..]);
        let slip = !known.contains(&word) && nearest(word, known.iter().copied()).is_some();
        if slip && let Some(fault) = misplaced(place, &text[at..], &known, true) {
            push(cx, bad.start as usize + at, fault);
        }
    }
}

/// The beginnings of lines, except the first, outside of braces, texts and comments.
fn lines(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let quote = ["\"\"\"", "\""].into_iter().find(|q| rest.starts_with(q));
        at += if let Some(quote) = quote {
            let inside = &rest[quote.len()..];
            // A text in single `"` ends with its line.
            let most = if quote.len() == 1 { inside.find('\n') } else { None };
            let inside = &inside[..most.unwrap_or(inside.len())];
            inside.find(quote).map_or(quote.len() + inside.len(), |end| end + 2 * quote.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('\n') {
            let next = rest.trim_start();
            if depth == 0 && !next.is_empty() {
                found.push(at + rest.len() - next.len());
            }
            rest.len() - next.len()
        } else {
            match rest.as_bytes()[0] {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    found
}

// Hints for authors who write the syntax of another language.

/// The hint for a token of another language, given what the grammar expected in its place.
pub(in crate::front::chart) fn token_hint(
    found: &str,
    variant: &ErrorVariant<Rule>,
) -> Option<String> {
    let rules: &[Rule] = match variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { .. } => &[],
    };
    let name =
        [Rule::name, Rule::path, Rule::target, Rule::event_use, Rule::param, Rule::step_event];
    let text = match found {
        "=" if rules.contains(&Rule::colon) => "it has a type, as in `x: Int = 1`",
        "=" if rules.contains(&Rule::infix) => {
            "`==` compares; only action blocks and `code` assign"
        }
        "if" if rules.contains(&Rule::kw_reenter) => {
            "a condition stands before the arrow: `on e if g -> state`"
        }
        "as" if rules.contains(&Rule::arrow) => {
            "only a line of a state names what came with the outcome: `on error(step) as why -> state`"
        }
        "with" if rules.contains(&Rule::kw_always) => {
            "the client comes right after the name of the step: `ask s with c on turn`"
        }
        "exact" if rules.contains(&Rule::kw_always) => {
            "`exact` comes right after the name of the step: `ask s exact on turn`"
        }
        "=>" | "→" => "an arrow is `->`",
        "&&" => "write `and`",
        "||" => "write `or`",
        "!" => "write `not`",
        ";" => "nothing stands between lines: remove it",
        "," if rules.contains(&Rule::infix) => {
            "nothing stands between actions, lines and settings: remove it"
        }
        "#" => "a comment begins with `//`",
        "“" | "”" | "‘" | "’" => "a text stands between `\"`",
        _ if found.starts_with('\'') => "a text stands between `\"`",
        _ if is_reserved(found) && rules.iter().any(|r| name.contains(r)) => {
            return Some(format!("`{found}` is a reserved word: as a name it must be back-quoted"));
        }
        _ if found.contains('_') && found.chars().all(|c| c.is_ascii_digit() || c == '_') => {
            "digits are in groups of three, as in `50_000`"
        }
        _ if found.starts_with(|c: char| c.is_ascii_digit())
            && found.contains(|c: char| c.is_ascii_alphabetic()) =>
        {
            "a duration is written as in `250ms`, `30s`, `5m`, `2h` or `7d`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// The hint in cases in which one token is not enough; `found` is at byte `at`.
pub(in crate::front::chart) fn context_hint(
    text: &str,
    at: usize,
    found: &str,
    unexpected: bool,
) -> Option<String> {
    let behind = text.get(at + found.len()..).unwrap_or_default().trim_start();
    if unexpected && behind.starts_with(':') {
        return Some(format!("write `{}` without `:`", shorten(found)));
    }
    // `x += 1`.
    let adds = matches!(found, "+" | "-" | "*" | "/") && behind.starts_with('=');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = text[..at].trim_end().rsplit(|c| !is_word(c)).next().unwrap_or_default();
    adds.then(|| format!("write `{name} = {name} {found} …`"))
}

// Finds `x = a // 2`, a division in Python, which here is `x = a` and a comment.

/// Functions that return numbers. After `//`, a call of any other undeclared name is probably a word of prose.
const FUNCTIONS: [&str; 8] = ["abs", "float", "int", "len", "max", "min", "round", "sum"];

/// Reports comments that directly follow an expression and read like its divisor.
pub(in crate::front::chart) fn lost(
    file: &File,
    text: &str,
    comments: &[Comment],
    found: &mut Vec<Diagnostic>,
) {
    let divisors: Vec<(Comment, Expr)> = comments
        .iter()
        .filter(|c| !text[c.line..c.start].trim().is_empty())
        .filter_map(|c| Some((*c, divisor(file, text, *c)?)))
        .collect();
    if divisors.is_empty() {
        return;
    }
    let mut seen = DeclaredNames::default();
    seen.file(file);
    for (comment, divisor) in divisors {
        let Some(divided) = seen.behind(&text[..comment.start]) else { continue };
        // `count = 0 // seen` is prose, whatever `seen` is.
        let literal = |e: &Expr| {
            matches!(e.kind, ExprKind::Int(_) | ExprKind::GroupedInt(_) | ExprKind::Float(_))
        };
        let named = matches!(divisor.kind, ExprKind::Name(_) | ExprKind::Field(..));
        let prose = literal(divided) && named;
        if !prose && is_number(divided, &seen.names) && is_number(&divisor, &seen.names) {
            let span = Span::new(file.id, comment.start, comment.end);
            found.push(lost_division::comment(&text[comment.start..comment.end], span));
        }
    }
}

/// The expression of which a comment consists, if it consists of one.
fn divisor(file: &File, text: &str, comment: Comment) -> Option<Expr> {
    let body = text[comment.start..comment.end].strip_prefix("//")?;
    expression(body, file.id, comment.start)
}

pub(in crate::front::chart) fn expression(body: &str, file: FileId, at: usize) -> Option<Expr> {
    let written = body.trim();
    if written.starts_with('/') || written.is_empty() || written.len() > 200 || is_prose(written) {
        return None;
    }
    parse_expression(written, file, at).ok()
}

/// Whether two words follow each other, as they never do in arithmetic. Most comments thus need no parser.
fn is_prose(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let follows = words.peek().is_some_and(|next| next.starts_with(char::is_alphanumeric));
        if follows && word.ends_with(char::is_alphanumeric) {
            return true;
        }
    }
    false
}

/// Whether the expression computes a number from literals and known variables and functions.
fn is_number(expr: &Expr, names: &BTreeSet<&str>) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::GroupedInt(_) | ExprKind::Float(_) => true,
        ExprKind::Name(name) => names.contains(name.as_str()),
        ExprKind::Field(base, _) => is_number(base, names),
        ExprKind::Index(base, _) => is_number(base, names),
        ExprKind::Call(function, _) => {
            let name = function.node.as_str();
            names.contains(name) || FUNCTIONS.contains(&name)
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => is_number(inner, names),
        ExprKind::Binary(op, a, b) => {
            !matches!(op, BinaryOp::And | BinaryOp::Or)
                && is_number(a, names)
                && is_number(b, names)
        }
        ExprKind::Compare(first, rest) => {
            is_number(rest.last().map_or(first, |(_, last)| last), names)
        }
        _ => false,
    }
}

/// The names that a file declares, and the ends of the expressions that a comment may follow.
#[derive(Default)]
struct DeclaredNames<'f> {
    names: BTreeSet<&'f str>,
    ends: BTreeMap<usize, &'f Expr>,
}

impl<'f> DeclaredNames<'f> {
    fn file(&mut self, file: &'f File) {
        for noted in &file.items {
            match &noted.node {
                Item::Chart(chart) => {
                    chart.items.iter().for_each(|item| self.item(&item.node));
                }
                Item::Function(function) => {
                    self.names.insert(&function.name.node);
                }
                _ => {}
            }
        }
    }

    fn item(&mut self, item: &'f ChartItem) {
        match item {
            ChartItem::Variable(variable) => {
                self.names.insert(&variable.name.node);
                self.expr(variable.default.as_ref());
            }
            ChartItem::Function(function) => {
                self.names.insert(&function.name.node);
            }
            ChartItem::Predicate(predicate) => self.expr(Some(&predicate.expr)),
            ChartItem::State(item) => self.states(item),
            _ => {}
        }
    }

    /// Collects from a state and its descendants, with an explicit stack, as states nest as deeply as the parser permits.
    fn states(&mut self, item: &'f StateItem) {
        let mut open = vec![item];
        while let Some(item) = open.pop() {
            match item {
                StateItem::State(state) => {
                    open.extend(state.body.iter().flat_map(|b| &b.items).map(|n| &n.node));
                }
                StateItem::Line(line) => self.line(line),
                StateItem::From(from) => from.lines.iter().for_each(|l| self.line(&l.node)),
                StateItem::Enter(block) | StateItem::Exit(block) => self.block(block),
                StateItem::Step(step) => self.step(step),
                StateItem::Initial(initial) => {
                    initial.actions.iter().for_each(|b| self.block(b));
                }
                StateItem::History(history) => {
                    history.actions.iter().for_each(|b| self.block(b));
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, line: &'f Line) {
        if let LineKind::When(condition) = &line.kind {
            self.expr(Some(condition));
        }
        self.tail(&line.tail);
    }

    fn tail(&mut self, tail: &'f Tail) {
        self.expr(tail.guard.as_ref());
        tail.actions.iter().for_each(|b| self.block(b));
    }

    fn block(&mut self, block: &'f Block) {
        self.actions(&block.actions);
    }

    fn step(&mut self, step: &'f Step) {
        self.expr(step.guard.as_ref());
        if let StepKind::Code(body) = &step.kind {
            self.actions(body);
        }
        for noted in &step.items {
            if let StepItem::Outcome(outcome) = &noted.node {
                self.tail(&outcome.tail);
            }
        }
    }

    fn actions(&mut self, body: &'f [Noted<Action>]) {
        let mut open = vec![body];
        while let Some(block) = open.pop() {
            for noted in block {
                match &noted.node {
                    Action::Assign(name, value) => {
                        self.names.insert(&name.node);
                        self.expr(Some(value));
                    }
                    Action::If(_, then, other) => open.extend([&then[..], other]),
                    Action::For(name, _, inner) => {
                        self.names.insert(&name.node);
                        open.push(inner);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The expression that ends where the text ends. Its span excludes its parentheses, so closing ones are skipped.
    fn behind(&self, text: &str) -> Option<&'f Expr> {
        let mut rest = text.trim_end_matches([' ', '\t']);
        loop {
            if let Some(found) = self.ends.get(&rest.len()) {
                return Some(found);
            }
            rest = rest.strip_suffix(')')?.trim_end_matches([' ', '\t']);
        }
    }

    fn expr(&mut self, expr: Option<&'f Expr>) {
        if let Some(expr) = expr {
            self.ends.insert(expr.span.end as usize, expr);
        }
    }
}
