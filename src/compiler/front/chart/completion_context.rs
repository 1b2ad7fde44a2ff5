//! Finds out what the grammar accepts at a place of a `.chart`, so that an editor can offer it.
//!
//! The text before the place is parsed as a file: recovery closes all open bodies at its end, so that the tree says where the place
//! lies. Then the item at the place is parsed alone, followed by a character that begins nothing, and the parser's error lists what it
//! would have accepted instead. After `state a { on go `, that is `if`, `->`, `(` or a block: the item in `state a` begins at `on`.

#[cfg(test)]
mod tests;

pub use super::build::recover::BodyKind;

use super::build::recover::first_word;
use super::grammar::{Grammar, Rule};
use super::scan::{TokenKind, plain, tokens, too_deep};
use crate::syntax::source::FileId;
use pest::Parser;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

/// A character that begins nothing in the language and continues nothing.
const END: char = '\u{1}';

/// The maximum number of items before a place that are tried as the beginning of the item at the place.
const TRIES: usize = 6;

/// The syntax around a place in a `.chart`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionContext {
    /// The bodies around the place, outermost first; outside charts there are none.
    pub open: Vec<Open>,
    /// The offset of the item that the place continues, or the place itself if an item may begin here.
    pub item: usize,
    /// The words and kinds of syntax that may stand here.
    pub next: Next,
}

impl CompletionContext {
    /// The kind of the innermost body.
    pub fn place(&self) -> BodyKind {
        self.open.last().map_or(BodyKind::Top, |open| open.place)
    }
}

/// A body whose brace is not closed before the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The kind of the body.
    pub place: BodyKind,
    /// The offset of the first word of the construct to which the body belongs.
    pub start: usize,
    /// The offset of its opening brace.
    pub brace: usize,
}

/// The syntax that the grammar accepts at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Next {
    /// The keywords that may stand here.
    pub words: Vec<&'static str>,
    /// Whether a name may stand here.
    pub name: bool,
    /// Whether an expression may stand here.
    pub expression: bool,
    /// Whether a text in quotes may stand here.
    pub text: bool,
    /// Whether the text before the place could be read. If not, all other fields are empty.
    pub known: bool,
}

/// Finds the context of the offset `at` in a text. The offset is at the beginning of a word, or where one could begin, and outside of
/// comments and texts in quotes. `None` if the text nests too deeply to be parsed.
pub fn spot(text: &str, at: usize) -> Option<CompletionContext> {
    let before = text.get(..at)?;
    let file = FileId::default();
    if too_deep(before) {
        return None;
    }
    let plain = plain(before, file);
    let pair = Grammar::parse(Rule::file, &plain).ok()?.next()?;
    let mut open = Vec::new();
    let mut items = Vec::new();
    descend(pair, None, &mut open, &mut items);
    let place = open.last().map_or(BodyKind::Top, |open| open.place);
    let (item, next) = continued(&plain, place, &items).unwrap_or_else(|| {
        let (found, item, next) = in_bad(&plain, place, items.last().copied());
        open.extend(found);
        (item, next)
    });
    Some(CompletionContext { open, item, next })
}

/// What may follow the beginning of an expression in a placeholder. `before` is the placeholder without its opening brace.
pub fn in_placeholder(before: &str) -> Next {
    if too_deep(before) {
        return Next::default();
    }
    ask(Rule::hole_body, &plain(before, FileId::default())).unwrap_or_default()
}

/// Collects the bodies that are open at the end of a text, and the offsets at which items of the innermost one begin.
fn descend(
    pair: Pair<'_, Rule>,
    owner: Option<usize>,
    open: &mut Vec<Open>,
    items: &mut Vec<usize>,
) {
    let rule = pair.as_rule();
    let start = pair.as_span().start();
    let owner = match rule {
        Rule::block | Rule::statements | Rule::state_body | Rule::step_body => owner,
        _ => Some(start),
    };
    let mut kids: Vec<Pair<'_, Rule>> = pair.into_inner().collect();
    let is_open = kids.last().is_some_and(|kid| kid.as_rule() == Rule::unclosed);
    if is_open {
        kids.pop();
    }
    kids.retain(|kid| kid.as_rule() != Rule::EOI);
    if is_open || rule == Rule::file {
        let brace = kids.iter().position(|kid| kid.as_rule() == Rule::open_brace);
        if let (Some(place), Some(nth)) = (place_of(rule), brace) {
            let brace = kids[nth].as_span().start();
            open.push(Open { place, start: owner.unwrap_or(start), brace });
        }
        let inside = kids.iter().skip(brace.map_or(0, |nth| nth + 1));
        *items = inside.map(|kid| kid.as_span().start()).collect();
    }
    if let Some(last) = kids.pop() {
        descend(last, owner, open, items);
    }
}

fn place_of(rule: Rule) -> Option<BodyKind> {
    Some(match rule {
        Rule::chart => BodyKind::Chart,
        Rule::state_body => BodyKind::State,
        Rule::from => BodyKind::From,
        Rule::step_body => BodyKind::Step,
        Rule::statements => BodyKind::Code,
        Rule::block => BodyKind::Actions,
        Rule::limits => BodyKind::Limits,
        Rule::client => BodyKind::Client,
        Rule::record_type => BodyKind::Record,
        Rule::enum_type => BodyKind::Enum,
        Rule::meta => BodyKind::Meta,
        Rule::scenario => BodyKind::Test,
        _ => return None,
    })
}

fn rule_of(place: BodyKind) -> Rule {
    match place {
        BodyKind::Top => Rule::top_so_far,
        BodyKind::Chart => Rule::chart_so_far,
        BodyKind::State => Rule::state_so_far,
        BodyKind::From => Rule::lines_so_far,
        BodyKind::Step => Rule::step_so_far,
        BodyKind::Code => Rule::statements_so_far,
        BodyKind::Actions => Rule::actions_so_far,
        BodyKind::Limits => Rule::limits_so_far,
        BodyKind::Client => Rule::client_so_far,
        BodyKind::Record => Rule::record_so_far,
        BodyKind::Enum => Rule::enum_so_far,
        BodyKind::Meta => Rule::meta_so_far,
        BodyKind::Test => Rule::test_so_far,
    }
}

/// The beginning of the item at the end of `before`, and what may follow it. Tries possible beginnings from the nearest one on.
fn continued(before: &str, place: BodyKind, items: &[usize]) -> Option<(usize, Next)> {
    let first_words = place.first_words();
    let last = items.last().copied().unwrap_or(before.len());
    let lines = before[last..].match_indices('\n').map(|(at, _)| last + at + 1);
    let lines: Vec<usize> = lines.map(|at| at + blanks(&before[at..])).collect();
    let begins = |at: &usize| first_words.contains(&first_word(&before[*at..]));
    let nearest = lines.into_iter().rev().filter(begins).take(TRIES);
    let outside = |at: &usize| unclosed(&before[last..*at]).is_none();
    let mut starts: Vec<usize> = nearest.filter(outside).collect();
    let own = items.iter().rev().take(TRIES);
    if first_words.is_empty() {
        // Where items begin with names, the rest of an item reads as the beginning of another one, so the farthest is tried first.
        starts.extend(own.rev());
    } else {
        starts.extend(own);
    }
    let found = starts.into_iter().find_map(|start| {
        let next = ask(rule_of(place), &before[start..])?;
        Some((start, next))
    });
    // After text that cannot be read, a new line may begin an item.
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let alone = items.is_empty() || before[line..].trim().is_empty();
    let alone = alone && unclosed(&before[last..]).is_none();
    found.or_else(|| alone.then(|| ask(rule_of(place), "").map(|next| (before.len(), next)))?)
}

/// The offset of the innermost bracket that a text opens and does not close.
fn unclosed(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open => open.push(token.start),
            TokenKind::Close => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// For an item that cannot be read: the body that it opens, the first item there at the place, and what may follow.
fn in_bad(before: &str, place: BodyKind, last: Option<usize>) -> (Option<Open>, usize, Next) {
    let none = (None, before.len(), Next::default());
    let Some(last) = last else { return none };
    let bad = &before[last..];
    let brace = unclosed(bad).filter(|at| bad[*at..].starts_with('{'));
    let Some(brace) = brace else { return none };
    let line = bad[..brace].rfind('\n').map_or(0, |at| at + 1);
    let start = line + blanks(&bad[line..]);
    let inside = match (place, first_word(&bad[start..])) {
        (BodyKind::Top, "chart") => BodyKind::Chart,
        (BodyKind::Top, "test") => BodyKind::Test,
        (BodyKind::Top, "type") => BodyKind::Record,
        (BodyKind::Top, "enum") => BodyKind::Enum,
        (_, "client") => BodyKind::Client,
        (_, "state" | "parallel" | "final") => BodyKind::State,
        (_, "llm" | "ask" | "call" | "human" | "run") => BodyKind::Step,
        (_, "code") => BodyKind::Code,
        (_, "from") => BodyKind::From,
        (_, "limits") => BodyKind::Limits,
        (_, "meta") => BodyKind::Meta,
        _ => BodyKind::Actions,
    };
    let open = Open { place: inside, start: last + start, brace: last + brace };
    let from = last + brace + 1;
    let text = &before[from..];
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let mut starts: Vec<usize> = lines.map(|at| at + blanks(&text[at..])).collect();
    starts.reverse();
    let found = starts.into_iter().take(TRIES).find_map(|start| {
        let next = ask(rule_of(inside), &text[start.min(text.len())..])?;
        Some((from + start, next))
    });
    let (item, next) = found.unwrap_or((before.len(), Next::default()));
    (Some(open), item, next)
}

/// What the parser would accept after `before`; `None` if it stops earlier.
fn ask(rule: Rule, before: &str) -> Option<Next> {
    // Without the blank in front, the parser would stop at the first byte and name the whole rule, not its parts.
    let text = format!(" {before}{END}");
    let Err(error) = Grammar::parse(rule, &text) else { return None };
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    if at + END.len_utf8() != text.len() {
        return None;
    }
    let ErrorVariant::ParsingError { positives, .. } = error.variant else { return None };
    let mut next = Next { known: true, ..Next::default() };
    for rule in positives {
        add(&mut next, rule);
    }
    next.words.sort_unstable();
    next.words.dedup();
    Some(next)
}

/// Adds the words and kinds of syntax with which a rule can begin.
fn add(next: &mut Next, rule: Rule) {
    let words: &[&str] = match rule {
        Rule::name
        | Rule::path
        | Rule::target
        | Rule::type_expr
        | Rule::states
        | Rule::param
        | Rule::enum_name
        | Rule::record_field
        | Rule::insert
        | Rule::result
        | Rule::may_option
        | Rule::subject
        | Rule::client_option
        | Rule::limit
        | Rule::assign
        | Rule::do_call
        | Rule::asked
        | Rule::event_use
        | Rule::option_use
        | Rule::property
        | Rule::at_most
        | Rule::unless
        | Rule::before
        | Rule::checked
        | Rule::check_range => {
            next.name = true;
            &[]
        }
        Rule::approval => &["human"],
        Rule::tool_pattern | Rule::tool_sum => {
            next.name = true;
            &["any"]
        }
        Rule::any_tool => &["any"],
        Rule::expr | Rule::entry | Rule::run_arg => {
            next.expression = true;
            &["if", "not", "none", "true", "false"]
        }
        // No `if` may begin after an operator.
        Rule::chain => {
            next.expression = true;
            &["not", "none", "true", "false"]
        }
        Rule::named | Rule::record => {
            next.expression = true;
            &[]
        }
        Rule::kw_none => {
            next.expression = true;
            &["none"]
        }
        Rule::argument | Rule::bound => {
            next.name = true;
            next.expression = true;
            &[]
        }
        Rule::line_string | Rule::block_string => {
            next.text = true;
            &[]
        }
        Rule::infix => &["and", "or", "in", "not in", "div"],
        Rule::prefix => &["not"],
        Rule::client_value => {
            (next.name, next.text) = (true, true);
            &["true", "false", "none"]
        }
        Rule::meta_value => {
            next.text = true;
            &["true", "false", "none"]
        }
        Rule::why => {
            (next.name, next.text) = (true, true);
            &[]
        }
        Rule::place => &["start", "end", "replace"],
        Rule::end_status => &["ok", "partial", "stuck", "limit", "canceled", "error"],
        Rule::variable => &["var", "param", "input"],
        Rule::after_line => &["each", "after"],
        Rule::line => &["on", "when", "may", "each", "after"],
        Rule::policy => &["retry", "then", "skip", "fail"],
        Rule::guard => &["if"],
        Rule::given => &["given"],
        Rule::given_fn => &["fn"],
        Rule::test_turn => &["turn"],
        Rule::test_turns => &["turns"],
        Rule::told_at => &["at"],
        Rule::told_ended => &["ended"],
        Rule::told_offered => &["offered"],
        Rule::told_denied => &["denied"],
        Rule::told_called => &["called"],
        Rule::told_asked | Rule::told_asking => &["asked", "asking"],
        Rule::prompt_of => &["prompt"],
        Rule::told_text => {
            next.name = true;
            &["prompt"]
        }
        Rule::expectation => &["expect"],
        Rule::step_event => {
            next.name = true;
            &["turn"]
        }
        Rule::done_of => &["done"],
        Rule::error_of => &["error"],
        Rule::doubt_of => &["doubt"],
        Rule::otherwise | Rule::instead | Rule::lost => &["else"],
        Rule::may_call => &["call"],
        Rule::forward => &["events"],
        Rule::at_entry => &["at"],
        Rule::receiver => &["to"],
        Rule::with => &["with"],
        Rule::each_in => &["each"],
        Rule::except => &["except"],
        Rule::method => &["from"],
        Rule::renamed => &["renamed_from"],
        Rule::range => &["in"],
        Rule::comprehension => &["for"],
        Rule::else_if | Rule::else_if_action => &["else"],
        _ => {
            next.words.extend(super::expected::keyword_of(rule));
            return;
        }
    };
    next.words.extend(words);
}
