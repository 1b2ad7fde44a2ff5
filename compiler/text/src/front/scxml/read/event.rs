//! Reads names of events.

use super::Reader;
use crate::front::scxml::document::{Descriptor, Event};
use crate::front::scxml::text::Text;
use crate::rules::{faulty_expression, left_out};
use crate::span::{Ident, Span, Spanned};

/// The built-in errors, by the second word of their names.
const ERRORS: [&str; 3] = ["execution", "livelock", "limit"];

impl Reader<'_> {
    /// Reads the descriptors in `event`.
    pub(super) fn descriptors(&mut self, text: &Text) -> Vec<Descriptor> {
        let mut found = Vec::new();
        for (word, span) in text.words() {
            found.extend(self.descriptor(word, span));
        }
        found
    }

    fn descriptor(&mut self, word: &str, span: Span) -> Option<Descriptor> {
        if word == "*" {
            return Some(Descriptor::All(span));
        }
        // `a.*` and `a.` mean the same as `a`, which matches by prefix.
        let stem = word.strip_suffix(".*").or_else(|| word.strip_suffix('.')).unwrap_or(word);
        let is_exact = (span.end - span.start) as usize == word.len();
        let place =
            if is_exact { Span { end: span.start + stem.len() as u32, ..span } } else { span };
        let names = self.dotted(stem, place)?;
        let words: Vec<&str> = names.iter().map(|n| n.node.as_str()).collect();
        match words.as_slice() {
            ["error"] => Some(Descriptor::Error(Spanned::new("error.*".to_owned(), span))),
            ["error", first, ..] if ERRORS.contains(first) => {
                Some(Descriptor::Error(Spanned::new(stem.to_owned(), span)))
            }
            ["error", "communication"] => Some(Descriptor::Communication(span)),
            ["error", ..] => {
                self.findings.push(left_out::never(stem, span));
                None
            }
            ["done"] => Some(Descriptor::Done(span)),
            ["done", "state"] => Some(Descriptor::DoneState(None, span)),
            ["done", "invoke"] => Some(Descriptor::DoneInvoke(None, span)),
            ["done", what @ ("state" | "invoke"), ..] => {
                let head = "done.".len() + what.len() + ".".len();
                let place = Span { start: span.start + head as u32, ..span };
                let id = Some(Ident::new(stem[head..].to_owned(), place));
                Some(if *what == "state" {
                    Descriptor::DoneState(id, span)
                } else {
                    Descriptor::DoneInvoke(id, span)
                })
            }
            _ => Some(Descriptor::Event(names, span)),
        }
    }

    /// Splits a dotted name into its parts; reports an invalid one.
    fn dotted(&mut self, word: &str, span: Span) -> Option<Vec<Ident>> {
        if word.is_empty() || word.split('.').any(|part| part.is_empty() || part == "*") {
            let message = format!("`{word}` names no event");
            self.findings.push(faulty_expression::at(span, message));
            return None;
        }
        // Character references make the text longer than its value; the parts then share the whole span.
        let exact = (span.end - span.start) as usize == word.len();
        let mut at = span.start;
        let parts = word.split('.').map(|part| {
            let end = at + part.len() as u32;
            let place = if exact { Span { start: at, end, ..span } } else { span };
            at = end + 1;
            Ident::new(part.to_owned(), place)
        });
        Some(parts.collect())
    }

    /// Reads the name of an event to raise or send.
    pub(super) fn event_name(&mut self, name: &str, span: Span) -> Option<Event> {
        let names = self.dotted(name, span)?;
        Some(Event { names, span })
    }
}
