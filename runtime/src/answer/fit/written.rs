//! Reads values in words: numbers, yes and no, names of enums, lists, records.

use super::{Form, Wanted, fit, plain};
use crate::answer::claim::{Candidate, claim};
use crate::answer::words::{Token, tokens, without_bullet};
use crate::answer::{Unusable, json};
use chartc_core::expr::{Map, Value};

/// The maximum number of different numbers in a text. A text with more is not an answer.
const NUMBERS: usize = 16;
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const YES: &[&str] = &[
    "true",
    "yes",
    "y",
    "yep",
    "yeah",
    "yup",
    "sure",
    "ok",
    "okay",
    "yeah sure",
    "yes sure",
    "of course",
    "absolutely",
    "definitely",
    "certainly",
];
const NO: &[&str] = &[
    "false",
    "no",
    "n",
    "nope",
    "nah",
    "never",
    "no way",
    "absolutely not",
    "of course not",
    "definitely not",
    "certainly not",
];

/// Reads a JSON string as a value of the wanted type, such as `"7"` for an `Int`.
///
/// # Errors
/// The reason why the text is no such value.
pub(in crate::answer) fn inside(
    text: &str,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<Value, String> {
    let text = text.trim();
    let form = wanted.form();
    // Models often put JSON into a string where an object or a list is wanted.
    if matches!(form, Form::List(_) | Form::Record(_) | Form::Map(_))
        && let Some(read) =
            json::read(text, 0).filter(|read| read.end == text.len() && !read.is_cut)
    {
        repairs.push("JSON in a text".to_owned());
        return fit(&read.value, wanted, repairs, depth);
    }
    // Only within a value: an answer of one word is no list.
    if let Form::List(of) = form
        && depth > 1
        && !text.contains([',', '\n', ';'])
    {
        repairs.push("one item as a list".to_owned());
        let item = fit(&Value::Text(text.to_owned()), of, repairs, depth)?;
        return Ok(Value::List(vec![item]));
    }
    read(text, wanted, repairs, depth).map(|(value, _)| value).map_err(|why| why.why)
}

/// Reads a text as a value of the wanted type. Returns whether the value was found in prose.
///
/// # Errors
/// The text contains no such value, or may contain several.
pub(in crate::answer) fn read(
    text: &str,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<(Value, bool), Unusable> {
    let fits = |why: String| Unusable::none(why);
    let text = text.trim();
    match wanted.form() {
        Form::Names(names) => name(text, &names, &wanted.words(), repairs),
        Form::Bool => truth(text, repairs),
        Form::Int | Form::Float => {
            let is_whole = wanted.form() == Form::Int;
            let (value, in_prose) = number(text, is_whole, repairs)?;
            wanted.within(value).map(|value| (value, in_prose)).map_err(fits)
        }
        Form::List(of) => {
            let items = list(text, of)?;
            repairs.push("a list in lines".to_owned());
            let one = |item: &str| fit(&Value::Text(item.to_owned()), of, repairs, depth + 1);
            let items: Result<_, _> = items.into_iter().map(one).collect();
            Ok((Value::List(items.map_err(fits)?), false))
        }
        Form::Record(_) => {
            let map =
                fields(text).ok_or_else(|| Unusable::none("there is no JSON in the answer"))?;
            repairs.push("fields in lines".to_owned());
            fit(&Value::Map(map), wanted, repairs, depth + 1).map(|v| (v, false)).map_err(fits)
        }
        Form::Optional(of) => {
            let nothing = matches!(&*plain(text), "" | "null" | "none" | "na");
            if nothing && of.form() != Form::Text {
                return Ok((Value::None, false));
            }
            read(text, of, repairs, depth + 1)
        }
        Form::Text => Ok((Value::Text(text.to_owned()), false)),
        Form::Map(_) | Form::Any => Err(Unusable::none("there is no JSON in the answer")),
    }
}

/// Reads one of the names of an enum.
fn name(
    text: &str,
    names: &[&str],
    extra: &[String],
    repairs: &mut Vec<String>,
) -> Result<(Value, bool), Unusable> {
    let found = |name: &str| Value::Text(name.to_owned());
    if let Some(name) = names.iter().find(|name| **name == text) {
        return Ok((found(name), false));
    }
    let spelled = plain(text);
    // A mark such as `?` or a leading `!` changes the meaning of a name.
    let is_bare =
        !text.contains(['?', '!', '/', '~', '<', '>', '=', '{', '}', '\\']) || text.ends_with('!');
    let mut hits = names.iter().filter(|name| is_bare && plain(name) == spelled);
    if let Some(name) = hits.next().filter(|_| hits.next().is_none()) {
        return Ok((found(name), false));
    }
    let candidates: Vec<Candidate> = names.iter().map(|name| Candidate::new(name, "")).collect();
    let index = claim(text, &candidates, extra).map_err(|why| {
        if why.ambiguous { why } else { Unusable::none("none of the names is in the answer") }
    })?;
    repairs.push("prose around the answer".to_owned());
    Ok((found(names[index]), true))
}

/// Reads yes or no.
fn truth(text: &str, repairs: &mut Vec<String>) -> Result<(Value, bool), Unusable> {
    let said: Vec<String> = tokens(text).into_iter().map(|token| token.text).collect();
    let polite = |word: &&str| !matches!(*word, "please" | "thanks" | "thank" | "you" | ",");
    let said: Vec<&str> = said.iter().map(String::as_str).filter(polite).collect();
    let said = said.join(" ");
    if let Some(truth) =
        YES.contains(&&*said).then_some(true).or(NO.contains(&&*said).then_some(false))
    {
        repairs.push(format!("`{said}` as {truth}"));
        return Ok((Value::Bool(truth), false));
    }
    let mut candidates = [
        Candidate::spelled("yes", &["yes", "yep", "yeah", "yup", "true"]),
        Candidate::spelled("no", &["no", "nope", "nah", "false"]),
    ];
    for one in &mut candidates {
        // Before other words, `no` mostly negates them: only the end of the sentence, a mark or a reason may follow.
        one.stands_alone = true;
    }
    candidates[1].denies = true;
    let index = claim(text, &candidates, &[]).map_err(|why| {
        if why.ambiguous { why } else { Unusable::none("the answer says neither yes nor no") }
    })?;
    repairs.push("prose around the answer".to_owned());
    Ok((Value::Bool(index == 0), true))
}

/// Reads the single number of a text. The same number in digits and in words counts once.
fn number(text: &str, whole: bool, repairs: &mut Vec<String>) -> Result<(Value, bool), Unusable> {
    let none = || Unusable::none("the answer is not the value alone");
    let said = tokens(text);
    let mut found: Vec<(f64, Vec<String>)> = Vec::new();
    let mut at = 0;
    while at < said.len() {
        let next = said.get(at + 1).filter(|next| next.joined);
        let (spelling, value, length) = match digits(&said[at].text, whole) {
            Some(value) => (said[at].text.clone(), Some(value), 1),
            None => spelled(&said[at].text, next.map(|next| next.text.as_str())),
        };
        // `one` is mostly an article or a pronoun; it is a number only if it is the whole text.
        let is_article = spelling == "one" && said.len() > 1;
        if let Some(value) = value.filter(|_| said[at].is_word && !is_article) {
            // Different spellings of the same number are one candidate: `7 (seven)`.
            match found.iter_mut().find(|(known, _)| *known == value) {
                Some((_, spellings)) if spellings.contains(&spelling) => {}
                Some((_, spellings)) => spellings.push(spelling),
                None => found.push((value, vec![spelling])),
            }
        }
        if found.len() > NUMBERS || found.iter().any(|(_, spellings)| spellings.len() > NUMBERS) {
            return Err(none());
        }
        at += length;
    }
    if found.is_empty() {
        return Err(none());
    }
    let candidates: Vec<Candidate> = found
        .iter()
        .map(|(_, spellings)| {
            let all: Vec<&str> = spellings.iter().map(String::as_str).collect();
            let mut one = Candidate::spelled(all[0], &all);
            one.counts = true;
            one
        })
        .collect();
    let index = claim(text, &candidates, &[])?;
    let (value, spellings) = &found[index];
    let value = *value;
    let in_prose = plain(text) != plain(&spellings[0]);
    repairs.push("a number in words".to_owned());
    if !whole {
        return Ok((Value::Float(value), in_prose));
    }
    // Above 9e15, not every whole number is exact as an `f64`.
    if value.fract() != 0.0 || value.abs() > 9e15 {
        return Err(Unusable::none("expected Int, found Float"));
    }
    Ok((Value::Int(value as i64), in_prose))
}

/// Parses a number in digits. `1,234` may mean 1234 or 1.234, so it is a number only if a whole number is wanted.
fn digits(word: &str, whole: bool) -> Option<f64> {
    let bare = word.trim_start_matches(['-', '+']);
    if !bare.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
    {
        return None;
    }
    let mut groups = bare.split(',');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let grouped = !rest.is_empty()
        && (1..=3).contains(&first.len())
        && first != "0"
        && rest.iter().all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
    let text = match rest.as_slice() {
        [] => word.to_owned(),
        [_] if grouped && !whole && !bare.contains('.') => return None,
        _ if grouped => word.replace(',', ""),
        [_] if !whole && !bare.contains('.') => word.replace(',', "."),
        _ => return None,
    };
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Parses a number below a hundred in words. Returns its spelling, its value, and the number of words.
fn spelled(word: &str, next: Option<&str>) -> (String, Option<f64>, usize) {
    let unit = |word: &str| UNITS.iter().position(|unit| *unit == word);
    if let Some(ten) = TENS.iter().position(|ten| *ten == word) {
        let ten = 20 + 10 * ten;
        return match next.and_then(|next| Some((next, unit(next).filter(|n| (1..10).contains(n))?)))
        {
            Some((next, one)) => (format!("{word}-{next}"), Some((ten + one) as f64), 2),
            None => (word.to_owned(), Some(ten as f64), 1),
        };
    }
    (word.to_owned(), unit(word).map(|n| n as f64), 1)
}

// Reads lists and records that a model writes in lines instead of JSON.

/// The maximum number of fields of an object in lines.
const FIELDS: usize = 100;
/// The maximum number of words per item of a list without bullets.
const ITEM_WORDS: usize = 8;
/// Quotation marks around an item.
const QUOTES: &[char] = &['"', '\'', '`', '“', '”'];

/// Splits a list: one item per line, with or without bullets, or separated by commas.
pub(in crate::answer) fn list<'t>(text: &'t str, of: Wanted<'_>) -> Result<Vec<&'t str>, Unusable> {
    let all: Vec<&str> = text.lines().collect();
    let (first, last) = (all.iter().position(is_item), all.iter().rposition(is_item));
    if let (Some(first), Some(last)) = (first, last) {
        bulleted(&all, first, last)
    } else if all.len() > 1 {
        in_lines(&all)
    } else {
        separated(text, of)
    }
}

fn no_list() -> Unusable {
    Unusable::none("there is no list in the answer")
}

fn is_item(line: &&str) -> bool {
    without_bullet(line).is_some()
}

/// The items of a list with bullets, from the line `first` to the line `last`.
fn bulleted<'t>(all: &[&'t str], first: usize, last: usize) -> Result<Vec<&'t str>, Unusable> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let between = all[first..=last].iter().filter(|line| !line.trim().is_empty());
    let is_flat = between.clone().all(|line| is_item(line) && indent(line) == indent(all[first]));
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
    Ok(between.filter_map(|line| without_bullet(line)).map(bare).collect())
}

/// The items of a list without bullets, one in each line.
fn in_lines<'t>(all: &[&'t str]) -> Result<Vec<&'t str>, Unusable> {
    let is_plain = |line: &&str| !ends(line.trim()) && (1..=ITEM_WORDS).contains(&count(line));
    let is_list = all.iter().all(is_plain);
    if is_list { Ok(all.iter().map(|line| bare(line)).collect()) } else { Err(no_list()) }
}

/// The items of a list in one line, separated by commas.
fn separated<'t>(text: &'t str, of: Wanted<'_>) -> Result<Vec<&'t str>, Unusable> {
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

fn count(item: &str) -> usize {
    item.split_whitespace().count()
}

fn ends(item: &str) -> bool {
    item.ends_with(['.', ':', '!', '?', '…', ',', ';', '{', '}'])
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
pub(in crate::answer) fn fields(text: &str) -> Option<Map> {
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
