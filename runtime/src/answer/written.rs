//! Reads values in words: numbers, yes and no, names of enums, lists, records.

use super::claim::{Candidate, claim};
use super::fit::{Form, Wanted, fit, plain};
use super::tokens::tokens;
use super::{Unusable, json, lines};
use chartc_core::expr::Value;

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
pub(super) fn inside(
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
pub(super) fn read(
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
        Form::Int => number(text, true, repairs),
        Form::Float => number(text, false, repairs),
        Form::List(of) => {
            let items = lines::list(text, of)?;
            repairs.push("a list in lines".to_owned());
            let one = |item: &str| fit(&Value::Text(item.to_owned()), of, repairs, depth + 1);
            let items: Result<_, _> = items.into_iter().map(one).collect();
            Ok((Value::List(items.map_err(fits)?), false))
        }
        Form::Record(_) => {
            let map = lines::fields(text)
                .ok_or_else(|| Unusable::none("there is no JSON in the answer"))?;
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
