//! A reader of answers that would rather ask again than be wrong. It shares nothing with the reader that runs.
//!
//! An option is only accepted if the answer with reasoning and tags removed, apart from marks that quote, emphasise or end a sentence,
//!
//! - is the option's name as it stands or in other case, whatever joins its words, or its description; or
//! - is JSON, as `serde_json` reads it, that somewhere has the name, alone, as a key, or under a key that chooses, while no such key has
//!   another option; or
//! - has braces in it, and in them such a key followed by the name, or the name as a key, while no such key is followed by anything else;
//!   and outside of them names no other option, and no word that turns it down in the sentence before or anywhere behind; or
//! - has no braces, or is a JSON string, names this option and no other that it does not deny, is in plain letters, asks nothing, and has no
//!   other word that turns it down or doubts it, apart from the option's own description right behind its name. Behind `Final answer:`
//!   only what follows counts; or
//! - begins with the name of an option with arguments and a colon or parenthesis.

use chartc_runtime::oracle::Alternative;
use serde_json::Value as Json;

const CHOOSE: &[&str] = &["choice", "option", "decision", "selected"];
const NAME: &[&str] = &["tool", "action", "answer", "next", "name"];
const DOWN: &[&str] = &[
    "not", "no", "never", "nor", "neither", "none", "cannot", "without", "instead", "rather",
    "unless", "except", "if", "or", "but", "maybe", "perhaps", "could", "might", "then", "when",
    "nicht",
];
/// Of these, the ones that may deny another option.
const DENY: &[&str] =
    &["not", "no", "never", "nor", "neither", "cannot", "without", "instead", "rather"];
const TAGS: &[&str] = &["think", "thinking", "reasoning", "thought"];

/// Whether the strict reader accepts the option, or why not.
///
/// # Errors
/// What it disputes.
pub fn agrees(text: &str, index: usize, options: &[Alternative]) -> Result<(), String> {
    let name = &*options[index].offer.name;
    let text = text.trim();
    let spoken = without_reasoning(text);
    for text in [text, spoken.as_str()] {
        let inside = inside_fence(text);
        if plain(inside, name) {
            return Ok(());
        }
        match serde_json::from_str::<Json>(inside.trim()) {
            Ok(Json::String(said)) if !plain(&said, name) => return prose(&said, index, options),
            Ok(json) => return whole_json(&json, index, options),
            Err(_) => {}
        }
    }
    let inside = inside_fence(&spoken);
    if is_call(inside, &options[index]) {
        return Ok(());
    }
    if inside.contains('{') && broken_json(inside, index, options).is_ok() {
        return Ok(());
    }
    prose(inside, index, options)
}

/// The name of an option with arguments, and what they are behind `:` or in `(`.
fn is_call(text: &str, option: &Alternative) -> bool {
    let text = text.trim_matches('`').to_lowercase();
    let behind = text.strip_prefix(&option.offer.name.to_lowercase());
    !option.offer.arguments.is_empty() && behind.is_some_and(|b| b.trim().starts_with([':', '(']))
}

/// Blocks out, then all behind an open tag, then all before a closing one.
fn without_reasoning(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        loop {
            let low = text.to_ascii_lowercase();
            match (low.find(&open), low.find(&close)) {
                (None, None) => break,
                (Some(from), to) if to.is_none_or(|to| from < to) => match to {
                    Some(to) => text.replace_range(from..to + close.len(), ""),
                    None => text.truncate(from),
                },
                (_, Some(to)) => text.replace_range(..to + close.len(), ""),
                (Some(_), None) => break,
            }
        }
    }
    text.trim().to_owned()
}

fn inside_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) else {
        return text;
    };
    match inner.split_once('\n') {
        Some((head, body)) if head.trim().chars().all(char::is_alphanumeric) => body.trim(),
        _ => inner.trim(),
    }
}

fn joined(text: &str) -> String {
    let out: String = text.to_lowercase();
    out.chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' || c == '’' { c } else { ' ' })
        .collect()
}

fn split(text: &str) -> Vec<String> {
    joined(text)
        .split_whitespace()
        .map(|w| w.trim_matches(['\'', '’']).to_owned())
        .filter(|w| !w.is_empty())
        .collect()
}

/// The name in some case, its words joined somehow.
fn plain(text: &str, name: &str) -> bool {
    let trimmed =
        text.trim_matches(|c: char| c.is_whitespace() || "\"'`*_#([-)].,;:!•“”‘’".contains(c));
    let letters =
        |text: &str| text.to_lowercase().replace(['_', '-', '.', ' ', '\n', '\t', '\r'], "\u{0}");
    let one = split(text).len() == 1 && split(text).concat() == split(name).concat();
    text.trim() == name
        || !text.starts_with(['!', ')', ']'])
            && (letters(trimmed)
                .split('\0')
                .filter(|p| !p.is_empty())
                .eq(letters(name).split('\0').filter(|p| !p.is_empty()))
                || one && trimmed.chars().all(|c| c.is_alphanumeric()))
}

fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Bool(_) | Json::Number(_) => Some(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn whole_json(json: &Json, index: usize, options: &[Alternative]) -> Result<(), String> {
    let mut seen = false;
    walk(json, true, index, options, &mut seen)?;
    if seen { Ok(()) } else { Err("nothing in the JSON chooses it".to_owned()) }
}

/// Goes through all of it; `chooses`, where a name by itself is a choice.
fn walk(
    json: &Json,
    chooses: bool,
    index: usize,
    options: &[Alternative],
    seen: &mut bool,
) -> Result<(), String> {
    let offer = &options[index].offer;
    match json {
        Json::Array(items) => {
            items.iter().try_for_each(|item| walk(item, chooses, index, options, seen))
        }
        Json::Object(map) => {
            for (key, value) in map {
                if offer.arguments.iter().any(|(name, _)| name == key) && !CHOOSE.contains(&&**key)
                {
                    *seen |= scalar(value).is_some_and(|text| plain(&text, &offer.name));
                    continue;
                }
                let known = joined(key).replace(' ', "");
                let is_key = CHOOSE.contains(&&*known) || NAME.contains(&&*known);
                *seen |=
                    plain(key, &offer.name) && !matches!(value, Json::Bool(false) | Json::Null);
                walk(value, is_key, index, options, seen)?;
            }
            Ok(())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            let Some(text) = scalar(json).filter(|_| chooses) else { return Ok(()) };
            if plain(&text, &offer.name) || prose(&text, index, options).is_ok() {
                *seen = true;
                return Ok(());
            }
            match options.iter().find(|other| plain(&text, &other.offer.name)) {
                Some(other) => Err(format!("`{}` is chosen", other.offer.name)),
                None => Ok(()),
            }
        }
    }
}

/// Whether `text` begins with one of the names, quoted or not; which.
fn begins<'n>(text: &str, names: &[&'n str]) -> Option<&'n str> {
    let text = text.trim_start().trim_start_matches(['"', '\'']).to_lowercase();
    let fits = |name: &&&str| {
        text.starts_with(&name.to_lowercase())
            && !text[name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    names.iter().filter(fits).max_by_key(|n| n.len()).copied()
}

/// The first string of `text`, or what stands before the next mark of JSON.
fn written(text: &str) -> &str {
    let text = text.trim_start();
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split(quote).next().unwrap_or_default(),
        Some(_) | None => text.split([':', ',', '}']).next().unwrap_or_default(),
    }
}

fn broken_json(text: &str, index: usize, options: &[Alternative]) -> Result<(), String> {
    let names: Vec<&str> = options.iter().map(|o| &*o.offer.name).collect();
    let mut named = false;
    for (at, _) in text.match_indices(['{', ',']) {
        let rest = &text[at + 1..];
        if let Some(key) = begins(rest, &[CHOOSE, NAME].concat()) {
            let Some((_, value)) = rest.split_once(':') else {
                continue;
            };
            let spelled = written(value);
            // An escape may be anything.
            let escaped = spelled.contains('\\');
            match begins(value, &names) {
                Some(name) if name == names[index] => named = true,
                _ if plain(spelled, names[index]) || escaped => named = true,
                Some(name) if !options[index].offer.arguments.iter().any(|(a, _)| a == key) => {
                    return Err(format!("`{key}` is `{name}`"));
                }
                Some(_) | None => {}
            }
        }
        let key = written(rest);
        named |= plain(key, names[index]) || key.contains('\\');
    }
    if !named {
        return Err("nothing in braces chooses it".to_owned());
    }
    let from = text.find('{').unwrap_or(0);
    let to = text.rfind('}').map_or(text.len(), |i| i + 1).max(from);
    let (before, after) = (&text[..from], &text[to..]);
    let sentence = before.rsplit(['.', '!', '?', ';']).next().unwrap_or_default();
    for (i, name) in names.iter().enumerate().filter(|(i, _)| *i != index) {
        if name.len() > 2
            && (mentions(before, name) || mentions(after, name))
            && !inside(names[index], name)
        {
            return Err(format!("`{}` is named beside it", names[i]));
        }
    }
    match split(sentence)
        .into_iter()
        .chain(split(after))
        .find(|w| DOWN.contains(&w.as_str()) || w.ends_with("n't"))
    {
        Some(word) => Err(format!("`{word}` stands beside it")),
        None => Ok(()),
    }
}

fn inside(long: &str, short: &str) -> bool {
    mentions(long, short)
}

/// Whether the words of `name` stand in `text` one after the other.
fn mentions(text: &str, name: &str) -> bool {
    format!(" {} ", split(text).join(" ")).contains(&format!(" {} ", split(name).join(" ")))
}

/// `said` without the words of `name`, also where they follow each other.
fn without(said: &str, name: &str) -> String {
    let name = format!(" {name} ");
    let mut said = said.to_owned();
    while let Some(at) = said.find(&name) {
        said.replace_range(at..at + name.len(), "  ");
    }
    said
}

fn prose(text: &str, index: usize, options: &[Alternative]) -> Result<(), String> {
    let offer = &options[index].offer;
    let mut low = text.to_lowercase();
    for option in options {
        let spelled = option.offer.name.to_lowercase();
        low = low.replace(&spelled, &spelled.replace('.', " "));
    }
    let (name, told) = (split(&offer.name).join(" "), split(&offer.text).join(" "));
    let has = |part: &str| {
        let part = format!(" {} ", split(part).join(" "));
        part.contains(&format!(" {name} "))
            || !told.is_empty() && part.contains(&format!(" {told} "))
    };
    let last = low.rsplit_once("final answer:").map(|(_, last)| last);
    let text = last.filter(|last| has(last)).unwrap_or(&low);
    let odd = |c: char| c == '?' || !c.is_ascii() && !"’‘“”–—…•".contains(c);
    let parts: Vec<&str> = text.split_inclusive(['.', '!', ';', '\n', '?']).collect();
    let Some(last) = parts.iter().rposition(|part| has(part)) else {
        return Err("it is not named".to_owned());
    };
    if parts.iter().filter(|part| has(part)).all(|part| part.contains(odd)) {
        return Err("what names it asks, or has odd letters".to_owned());
    }
    // What stands before all that names it and does not is not looked into.
    let kept = parts.iter().enumerate().filter(|(nth, part)| *nth > last || has(part));
    let text: String = kept.map(|(_, part)| *part).collect();
    let text = text.as_str();
    let mut said = format!(" {} ", split(text).join(" "));
    let described = format!(" {name} {told} ");
    // What follows the first may begin with the blank that ends it. A description may hold its name.
    for _ in 0..said.len() {
        let Some(at) = said.find(&described).filter(|_| !told.is_empty()) else { break };
        said.replace_range(at..at + described.len(), &format!(" {name} "));
    }
    let mut rest = without(&said, &name);
    if !told.is_empty() {
        rest = without(&rest, &told);
    }
    for other in options.iter().filter(|o| o.offer.name != offer.name) {
        let about = split(&other.offer.text).join(" ");
        let name = split(&other.offer.name).join(" ");
        for (other, is_name) in [(&name, true), (&about, false)] {
            while let Some(at) = rest.find(&format!(" {other} ")).filter(|_| !other.is_empty()) {
                let before: Vec<&str> = rest[..at].split_whitespace().collect();
                let from = before.len().saturating_sub(4);
                let is_down = |word: &&str| DENY.contains(word) || word.ends_with("n't");
                let Some(down) = before[from..].iter().rposition(is_down) else {
                    if is_name {
                        return Err(format!("`{other}` is named, too"));
                    }
                    break;
                };
                let kept = before[..from + down].join(" ");
                rest = format!(" {kept} {} ", rest[at + other.len() + 2..].trim());
            }
        }
    }
    match rest.split_whitespace().find(|w| DOWN.contains(w) || w.ends_with("n't")) {
        Some(word) => Err(format!("`{word}` stands beside it")),
        None => Ok(()),
    }
}
