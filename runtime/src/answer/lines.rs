//! Reads lists and records that a model writes in lines instead of JSON.

use super::Unusable;
use super::fit::{Form, Wanted};
use super::tokens::{Token, tokens, without_bullet};
use chartc_core::expr::{Map, Value};

/// The maximum number of fields of an object in lines.
const FIELDS: usize = 100;
/// The maximum number of words per item of a list without bullets.
const ITEM_WORDS: usize = 8;
/// Quotation marks around an item.
const QUOTES: &[char] = &['"', '\'', '`', '“', '”'];

/// Splits a list: one item per line, with or without bullets, or separated by commas.
pub(super) fn list<'t>(text: &'t str, of: Wanted<'_>) -> Result<Vec<&'t str>, Unusable> {
    let no_list = || Unusable::none("there is no list in the answer");
    let all: Vec<&str> = text.lines().collect();
    let is_item = |line: &&str| without_bullet(line).is_some();
    let (first, last) = (all.iter().position(&is_item), all.iter().rposition(&is_item));
    if let (Some(first), Some(last)) = (first, last) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let between = all[first..=last].iter().filter(|line| !line.trim().is_empty());
        let is_flat =
            between.clone().all(|line| is_item(line) && indent(line) == indent(all[first]));
        let introduced = all[..first].iter().rfind(|line| !line.trim().is_empty());
        let is_introduced =
            introduced.is_none_or(|line| line.trim_end_matches(['*', '_', ' ']).ends_with(':'));
        let behind = &all[last + 1..];
        let is_over = behind.first().is_none_or(|line| line.trim().is_empty());
        let turns = |token: &Token| {
            matches!(
                token.text.as_str(),
                "rather"
                    | "instead"
                    | "scratch"
                    | "wrong"
                    | "ignore"
                    | "not"
                    | "no"
                    | "never"
                    | "actually"
                    | "wait"
                    | "but"
                    | "or"
                    | "?"
            )
        };
        // A word such as `instead` beside the list may take items back.
        let is_kept = !behind.iter().chain(introduced).any(|line| tokens(line).iter().any(turns));
        // `1. a 2. b` in one line is not split reliably.
        let is_one_line = |line: &&str| line.contains(" 2. ") || line.contains(" 2) ");
        if first == last && is_one_line(&all[first]) {
            return Err(no_list());
        }
        if !is_flat || !is_introduced || !is_over || !is_kept {
            return Err(Unusable::ambiguous("text stands between or beside the items of a list"));
        }
        return Ok(between.filter_map(|line| without_bullet(line)).map(bare).collect());
    }
    let count = |item: &str| item.split_whitespace().count();
    let ends = |item: &str| item.ends_with(['.', ':', '!', '?', '…', ',', ';', '{', '}']);
    if all.len() > 1 {
        let is_plain = |line: &&str| !ends(line.trim()) && (1..=ITEM_WORDS).contains(&count(line));
        let is_list = all.iter().all(is_plain);
        return if is_list {
            Ok(all.iter().map(|line| bare(line)).collect())
        } else {
            Err(no_list())
        };
    }
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_quoted =
        |item: &&str| item.len() > 1 && item.starts_with(QUOTES) && item.ends_with(QUOTES);
    let is_short = |item: &&str| (1..=3).contains(&count(item)) && !ends(item);
    let is_word = |item: &&str| count(item) == 1 && !item.contains(char::is_uppercase);
    let is_list = match of.form() {
        Form::Text | Form::Optional(_) => {
            items.iter().all(is_quoted)
                || items.iter().all(is_short) && (items.len() > 2 || items.iter().all(is_word))
        }
        Form::Names(_) | Form::Bool | Form::Int | Form::Float => true,
        _ => false,
    };
    if items.len() < 2 || !is_list {
        return Err(no_list());
    }
    Ok(items.into_iter().map(bare).collect())
}

/// Removes quotation marks and emphasis around the whole item.
fn bare(item: &str) -> &str {
    let mut item = item.trim();
    for marks in ["**", "__", "\"", "'", "`"] {
        let inner = item.strip_prefix(marks).and_then(|item| item.strip_suffix(marks));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty() && !inner.contains(marks)) {
            item = inner;
        }
    }
    match item.strip_prefix('“').and_then(|item| item.strip_suffix('”')) {
        Some(inner) => inner,
        None => item,
    }
}

/// Reads lines of the form `key: value` as an object of texts. The first line may introduce them, as in `Here it is:`.
pub(super) fn fields(text: &str) -> Option<Map> {
    let mut map = Map::new();
    let mut last: Option<String> = None;
    for (nth, line) in text.lines().enumerate() {
        let line = without_bullet(line).unwrap_or(line);
        if line.trim().is_empty() {
            last = None;
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            // A line without a colon continues the text of the field before it.
            if let Some(Value::Text(text)) = map.get_mut(last.as_deref()?) {
                text.push('\n');
                text.push_str(line.trim());
            }
            continue;
        };
        let key = key.trim_matches(|c: char| c.is_whitespace() || "*_`\"'#".contains(c));
        let value = value.trim().trim_start_matches(['*', '_']).trim();
        if value.is_empty() && nth == 0 {
            continue;
        }
        let is_key =
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || " _-".contains(c));
        if !is_key || key.split_whitespace().count() > 4 || map.len() == FIELDS {
            return None;
        }
        let value = Value::Text(bare(value).to_owned());
        // The same field with two values has no single meaning.
        if map.get(key).is_some_and(|other| *other != value) {
            return None;
        }
        last = Some(key.to_owned());
        map.insert(key.to_owned(), value);
    }
    (!map.is_empty()).then_some(map)
}
