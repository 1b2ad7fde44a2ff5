//! Explains syntax errors: parses again what recovery skipped, to say what was expected where.

use super::build::Cx;
use super::expected::{self, describe};
use super::fault::{Fault, Unexpected, push};
use super::foreign_syntax::{context_hint, token_hint};
use super::grammar::{Grammar, Rule};
use super::scan::{MAX_NESTING, plain};
use crate::diagnostic::{Diagnostic, near};
use crate::rules::SYNTAX;
use crate::span::Span;
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};

/// The maximum number of syntax errors that are reported in one file.
pub(super) const MAX_ERRORS: usize = 100;

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
    pub(super) fn joins(self) -> bool {
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
    pub(super) fn first_words(self) -> Vec<&'static str> {
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
pub(super) fn report(cx: &mut Cx<'_>, place: BodyKind, previous: Option<Span>, bad: Span) {
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
pub(super) fn misplaced(
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
        ErrorVariant::ParsingError { positives, .. } => expected(positives),
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
fn expected(rules: &[Rule]) -> Vec<&'static str> {
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
pub(super) fn placeholder_message(inner: &str, error: &Error<Rule>) -> String {
    let fault = explain(inner, inner.len(), "its end", error);
    format!("this placeholder cannot be read: {}", fault.message)
}

/// The diagnostic for an unreadable expression that stands alone.
pub(super) fn expression_fault(cx: &mut Cx<'_>, error: &Error<Rule>) -> Diagnostic {
    let fault = explain(cx.text, cx.text.len(), FILE_END, error);
    let end = fault.end.min(cx.text.len());
    let mut diagnostic = SYNTAX.at(cx.range(fault.start.min(end), end), fault.message);
    diagnostic.help = fault.help;
    diagnostic
}

/// The first word of a text; empty if the text begins with something else.
pub(super) fn first_word(text: &str) -> &str {
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

pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(37).chain("...".chars()).collect()
}
