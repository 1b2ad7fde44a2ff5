//! Finds the option of a question that an answer means.

mod arguments;
mod object;

use super::claim::{Candidate, claim, described, mentioned, taken_back};
use super::tokens::{Token, words};
use super::{Reading, Rung, Unusable, bounded, clean, json};
use crate::oracle::Alternative;
use arguments::{Given, complete};
use chartc_core::expr::Value;

/// The index of a chosen option, and its arguments in declared order.
pub(super) type Chosen = (usize, Vec<Value>);

/// The marks that may precede a name that stands alone.
const OPENING: &str = "\"'`*_#([-•“‘✅✓✔👉→";
/// The marks that may join the words of such a name.
const JOINING: &str = "_-.'’";
/// The marks that may follow such a name.
const CLOSING: &str = "\"'`*_)].,;:!”’";

pub use object::calls;

/// Reads `text` as one of `options`, and converts the arguments to their types.
///
/// # Errors
/// No option is meant, several may be, or an argument is missing or does not fit.
pub fn option(text: &str, options: &[Alternative]) -> Result<Reading<Chosen>, Unusable> {
    let text = bounded(text)?.trim();
    if let Some(index) = options.iter().position(|o| o.offer.name == text) {
        return complete(index, Given::Nothing, options, Rung::Whole, Vec::new());
    }
    let said = clean::said(text);
    if said.text.is_empty() {
        return Err(Unusable::none("there is nothing but reasoning"));
    }
    let rung = if said.repairs.is_empty() { Rung::Whole } else { Rung::Cleaned };
    let text = said.text.as_str();
    // Valid JSON comes first, as a text such as `"close"` is JSON and a name at once.
    let whole = json::read(text, 0).filter(|r| r.end == text.len() && r.repairs.is_empty());
    if let Some(read) = whole {
        return object::chosen(&read.value, options, rung, said.repairs);
    }
    if let Some(index) = named(text, options)? {
        return complete(index, Given::Nothing, options, rung, said.repairs);
    }
    if let Some(reading) = in_json(text, options, &said.repairs)? {
        return Ok(reading);
    }
    in_words(&clean::flat(text), options, said.repairs)
}

/// The option that JSON within the text chooses; `None` if there is no JSON.
fn in_json(
    text: &str,
    options: &[Alternative],
    repairs: &[String],
) -> Result<Option<Reading<Chosen>>, Unusable> {
    let mut objects = json::find(text, '{');
    // A scalar in prose is no answer; only a text that is one as a whole may be.
    if objects.is_empty() {
        objects.extend(json::read(text, 0).filter(|read| read.end == text.len()));
    }
    let (before, after) = clean::around(text, &objects);
    let mut readings: Vec<Reading<Chosen>> = Vec::new();
    let mut fault = None;
    for object in objects {
        if object.is_cut {
            return Err(Unusable::none("the JSON in the answer is cut off"));
        }
        let mut repairs = repairs.to_vec();
        repairs.extend(object.repairs);
        match object::chosen(&object.value, options, Rung::Cleaned, repairs) {
            Ok(reading) => readings.push(reading),
            Err(why) if why.ambiguous => return Err(why),
            Err(why) => fault = Some(why),
        }
    }
    let Some(first) = readings.first() else { return fault.map_or(Ok(None), Err) };
    if let Some(why) = fault {
        return Err(Unusable::ambiguous(format!("several answers, of one of which {}", why.why)));
    }
    if readings.iter().any(|reading| reading.meant != first.meant) {
        return Err(Unusable::ambiguous("several answers that differ"));
    }
    unopposed(before, &after, first.meant.0, options)?;
    let mut reading = readings.swap_remove(0);
    if !before.trim().is_empty() || !after.trim().is_empty() {
        reading.repairs.push("prose around the answer".to_owned());
    }
    Ok(Some(reading))
}

/// Checks that the text around an answer in JSON names no other option, contains no other JSON, and does not take the answer back.
fn unopposed(
    before: &str,
    after: &str,
    index: usize,
    options: &[Alternative],
) -> Result<(), Unusable> {
    let name = &options[index].offer.name;
    let candidates = candidates(options);
    for text in [before, after] {
        if clean::has_shreds(text) || text.contains(['[', ']']) {
            return Err(Unusable::ambiguous(format!("`{name}` stands beside shreds of JSON")));
        }
        if let Some(other) = mentioned(text, &candidates, index) {
            let other = &options[other].offer.name;
            return Err(Unusable::ambiguous(format!("both `{other}` and `{name}` are named")));
        }
    }
    match taken_back(before, after) {
        Some(word) => Err(beside(name, &word)),
        None => Ok(()),
    }
}

fn beside(name: &str, word: &str) -> Unusable {
    Unusable::ambiguous(format!("`{name}` is named beside `{word}`, which may take it back"))
}

fn candidates(options: &[Alternative]) -> Vec<Candidate> {
    options.iter().map(|o| Candidate::new(&o.offer.name, &o.offer.text)).collect()
}

/// The option that prose chooses by its name or description, or in the form of a call.
fn in_words(
    text: &str,
    options: &[Alternative],
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let candidates = candidates(options);
    if let Some(index) = described(text, &candidates) {
        repairs.push("chosen by its description".to_owned());
        return complete(index, Given::Nothing, options, Rung::Mention, repairs);
    }
    if let Some((index, given)) = arguments::call(text, options)? {
        repairs.push("written as a call".to_owned());
        return complete(index, given, options, Rung::Cleaned, repairs);
    }
    let index = claim(text, &candidates, &[])?;
    repairs.push("prose around the answer".to_owned());
    complete(index, Given::Nothing, options, Rung::Mention, repairs)
}

/// The option whose name `text` is, exactly or word by word, ignoring case and the characters that join the words; `ShipIt` is `ship_it`,
/// too. Only marks that emphasise, quote or end a sentence may surround it.
fn named(text: &str, options: &[Alternative]) -> Result<Option<usize>, Unusable> {
    if let Some(index) = options.iter().position(|o| o.offer.name == text.trim()) {
        return Ok(Some(index));
    }
    if text.contains("```") {
        // The word after a fence is the language of the code.
        return Ok(None);
    }
    let inside = |c: char| c.is_alphanumeric();
    let (Some(start), Some(end)) = (text.find(inside), text.rfind(inside)) else { return Ok(None) };
    let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
    let is = |part: &str, marks: &str| part.chars().all(|c| c.is_whitespace() || marks.contains(c));
    let between: String = text[start..end].chars().filter(|c| !c.is_alphanumeric()).collect();
    if !is(&text[..start], OPENING) || !is(&between, JOINING) || !is(&text[end..], CLOSING) {
        return Ok(None);
    }
    let said = words(text);
    let joined =
        |words: &[Token]| -> String { words.iter().map(|word| word.text.as_str()).collect() };
    let is_it = |name: &str| {
        let spelled = words(name);
        spelled.iter().map(|w| &w.text).eq(said.iter().map(|w| &w.text))
            || said.len() == 1 && joined(&spelled) == said[0].text
    };
    // `Approved.` means `approve`, unless `approved` is an option itself.
    let is_past = |name: &str| match (words(name).as_slice(), said.as_slice()) {
        ([verb], [one]) => is_past_of(&one.text, &verb.text),
        _ => false,
    };
    let is_exact = options.iter().any(|o| is_it(&o.offer.name));
    let is_it = |name: &str| if is_exact { is_it(name) } else { is_past(name) };
    let mut hits = options.iter().enumerate().filter(|(_, o)| is_it(&o.offer.name));
    match (hits.next(), hits.next()) {
        (Some((_, a)), Some((_, b))) => Err(Unusable::ambiguous(format!(
            "`{}` and `{}` are spelled alike",
            a.offer.name, b.offer.name
        ))),
        (hit, _) => Ok(hit.map(|(index, _)| index)),
    }
}

/// Whether `word` is the regular past form of `verb`: `approved`, `shipped`, `denied`.
fn is_past_of(word: &str, verb: &str) -> bool {
    let Some(stem) = word.strip_suffix("ed") else { return false };
    let doubled = verb.chars().last().is_some_and(|last| stem == format!("{verb}{last}"));
    let from_y = verb.strip_suffix('y').is_some_and(|start| stem == format!("{start}i"));
    let from_e = verb.strip_suffix('e') == Some(stem);
    !verb.is_empty() && (stem == verb || doubled || from_y || from_e)
}

#[cfg(test)]
mod tests;
