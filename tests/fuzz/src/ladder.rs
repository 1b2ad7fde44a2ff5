//! Answers of models from bytes, and the ladder held to a strict reader.

use super::strict;
use chartc_core::arena::ChoiceId;
use chartc_core::host::Offer;
use chartc_runtime::answer::{Rung, option, value};
use chartc_runtime::oracle::Alternative;

/// What answers are made of, beside the names and descriptions of the options.
const PIECES: &[&str] = &[
    " ",
    "\n",
    ". ",
    ", ",
    ": ",
    "? ",
    "! ",
    "\"",
    "'",
    "`",
    "**",
    "_",
    "-",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "/",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "<THINKING>",
    "</thinking>",
    "</reasoning>",
    "\"choice\": ",
    "\"choice\":\"",
    "{\"choice\":\"",
    "\"}",
    "{'choice': '",
    "'}",
    ",}",
    "\"arguments\": {",
    "\"answer\": \"x\"",
    "\"reasoning\": \"",
    "\"decision\": \"",
    "\"action\": \"",
    "{\"",
    "\": {}}",
    "\": false",
    "I will ",
    "I choose ",
    "I am not ",
    "not ",
    "n't ",
    "never ",
    "no ",
    "or ",
    "but ",
    "if ",
    "then ",
    "Final answer: ",
    "Draft: ",
    "maybe ",
    "instead of ",
    "shipping",
    "shipp",
    "ship_it_all",
    "\u{455}hip",
    "\u{ff53}hip",
    "sh\u{200b}ip",
    "n\u{43e}t ",
    "\u{274c} ",
    "null",
    "true",
    "7",
    "\\u0073hip",
    "nicht ",
    "I would ",
    "it",
    "a ",
    "the ",
    "/* ",
    " */",
    "// ",
];

/// Name, description, arguments of an option.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The options of the question: with one name in another, with names of common words, with arguments.
const OPTIONS: &[&[Row]] = &[
    &[
        ("continue", "keep working, but not for ever", &[]),
        ("pivot", "try something different", &[]),
        ("ship", "good enough", &[]),
    ],
    &[
        ("ship", "good enough", &[]),
        ("ship_it", "good enough", &[]),
        ("finish", "give the answer", &[("answer", "Text")]),
        ("web.search", "not in a hurry", &[("query", "Text?")]),
    ],
    &[
        ("yes", "", &[]),
        ("no", "", &[]),
        ("true", "", &[]),
        ("stop", "do not go on", &[]),
        ("a", "", &[]),
    ],
    &[("ab", "", &[]), ("a", "", &[]), ("b", "", &[]), ("null", "", &[])],
];

/// The options that the first byte of an input means.
pub fn alternatives(first: u8) -> Vec<Alternative> {
    let rows = OPTIONS[usize::from(first) % OPTIONS.len()];
    let text = |pair: &(&'static str, &'static str)| (pair.0.into(), pair.1.into());
    let row = |(i, (name, told, arguments)): (usize, &Row)| Alternative {
        offer: Offer {
            choice: ChoiceId::at(i),
            tool: None,
            name: (*name).into(),
            text: (*told).into(),
            arguments: arguments.iter().map(text).collect(),
        },
        schema: String::new(),
    };
    rows.iter().enumerate().map(row).collect()
}

/// The answer that bytes mean: most pick a piece, a name or a description; 255 takes what follows as it stands.
pub fn answer(data: &[u8], options: &[Alternative]) -> String {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(byte) = data.get(at).map(|b| usize::from(*b)) {
        at += 1;
        if byte == 255 {
            let count = data.get(at).map_or(0, |b| usize::from(*b) % 16);
            let end = (at + 1 + count).min(data.len());
            text.extend_from_slice(data.get(at + 1..end).unwrap_or_default());
            at = end.max(at + 1);
        } else if let Some(piece) = PIECES.get(byte) {
            text.extend_from_slice(piece.as_bytes());
        } else {
            let offer = &options[byte % options.len()].offer;
            let piece = if byte % 5 == 0 { &offer.text } else { &offer.name };
            text.extend_from_slice(piece.as_bytes());
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// An answer is read; an option is only taken from it where a strict reader would not dispute that. What rung it was.
///
/// # Panics
/// The strict reader disputes it.
pub fn read(data: &[u8]) -> Option<Rung> {
    let (first, rest) = data.split_first()?;
    let options = alternatives(*first);
    let text = answer(rest, &options);
    for wanted in
        ["", "{\"enum\":[\"good\",\"bad\"]}", "{\"type\":\"array\"}", "{\"type\":\"integer\"}"]
    {
        let _ = value(&text, wanted);
    }
    let reading = option(&text, &options).ok()?;
    let offer = &options[reading.meant.0].offer;
    assert_eq!(reading.meant.1.len(), offer.arguments.len(), "arguments of {text:?}");
    if let Err(why) = strict::agrees(&text, reading.meant.0, &options) {
        panic!("`{}` is read by {:?} in {text:?}: {why}", offer.name, reading.rung);
    }
    Some(reading.rung)
}

/// One input of the fuzzer.
pub fn ladder(data: &[u8]) {
    let _ = read(data);
}
