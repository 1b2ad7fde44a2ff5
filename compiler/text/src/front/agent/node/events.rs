//! A fast reader for the common parts of YAML: texts, numbers, lists and mappings, from the events of the library's parser. It leaves
//! everything else to [`super::library`], which reads these with the same result at several times the cost.

use super::{MAX_DEPTH, MAX_NODES, Node, Scalar, Value, YamlFile, library};
use serde_yaml::granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput};
use std::borrow::Cow;
use std::ops::Range;

/// The maximum length of a file, in bytes. Longer files are left to the library's deserializer, which has limits for them.
const MAX_LEN: usize = 1 << 24;

/// Reads a file with a single document. `None` if it contains an error or anything that this reader does not support.
pub(super) fn read(place: YamlFile<'_>) -> Option<Node> {
    if place.text.len() > MAX_LEN {
        return None;
    }
    let mut options = Options::default();
    options.set_emit_comments(false);
    let events = Parser::new_from_str_with_options(place.text, options);
    let mut reader = Reader { events, place, nodes: 0 };
    let starts = (reader.next()?, reader.next()?);
    let (Event::StreamStart, Event::DocumentStart(..)) = starts else { return None };
    let node = reader.node(0)??;
    let ends = (reader.next()?, reader.next()?);
    (ends == (Event::DocumentEnd, Event::StreamEnd)).then_some(node)
}

struct Reader<'s> {
    events: Parser<'s, StrInput<'s>>,
    place: YamlFile<'s>,
    nodes: usize,
}

impl<'s> Reader<'s> {
    fn next(&mut self) -> Option<Event<'s>> {
        Some(self.events.next_event()?.ok()?.0)
    }

    /// Counts a node and returns its range.
    fn range(&mut self, at: &Span) -> Option<Range<usize>> {
        self.nodes += 1;
        let (start, end) = (at.start.byte_offset()?, at.end.byte_offset()?);
        // Past the limit, this reader gives up, and the other one reports it.
        (self.nodes <= MAX_NODES).then(|| start..end.max(start))
    }

    /// The next node inside of `depth` collections. `Some(None)` at the end of the innermost one; `None` gives up.
    fn node(&mut self, depth: usize) -> Option<Option<Node>> {
        // Destructured at once, because an event with its place is large to pass on.
        let Some(Ok((event, at))) = self.events.next_event() else { return None };
        if let Event::Scalar(text, style, 0, None) = event {
            return self.scalar(text, style, &at).map(Some);
        }
        if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
            return Some(None);
        }
        let range = self.range(&at).filter(|_| depth < MAX_DEPTH)?;
        if let Event::SequenceStart(_, 0, None) = event {
            let mut items = Vec::new();
            while let Some(item) = self.node(depth + 1)? {
                items.push(item);
            }
            return Some(Some(self.place.list(items, range)));
        }
        let Event::MappingStart(_, 0, None) = event else { return None };
        let mut entries = Vec::new();
        while let Some(key) = self.node(depth + 1)? {
            if !is_common_key(&key) {
                return None;
            }
            entries.push((key, self.node(depth + 1)??));
        }
        Some(Some(self.place.map(entries, range)))
    }

    fn scalar(&mut self, text: Cow<'s, str>, style: ScalarStyle, at: &Span) -> Option<Node> {
        let range = self.range(at)?;
        let scalar = if style == ScalarStyle::Plain { plain(&text) } else { None };
        let scalar = scalar.unwrap_or_else(|| Scalar::Text(text.into_owned()));
        Some(self.place.scalar(scalar, range))
    }
}

/// Whether a key is neither a collection nor the merge key `<<`.
fn is_common_key(key: &Node) -> bool {
    match &key.value {
        Value::Text(text) => text.value != "<<",
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::List(_) | Value::Map(_) => false,
    }
}

/// The meaning of a scalar without quotes; `None` if it is plain text.
fn plain(text: &str) -> Option<Scalar> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text.as_bytes() {
        [] | [b'~'] => Some(Scalar::Null),
        [b'n' | b'N', ..] => is("null").then_some(Scalar::Null),
        [b't' | b'T', ..] => is("true").then_some(Scalar::Bool(true)),
        [b'f' | b'F', ..] => is("false").then_some(Scalar::Bool(false)),
        // All numbers start with one of these. The library decides about all but the most common form.
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => {
            if let ([b'1'..=b'9', ..], Ok(i)) = (text.as_bytes(), text.parse()) {
                return Some(Scalar::Int(i));
            }
            let in_number = |b: u8| b.is_ascii_alphanumeric() || b"+-._".contains(&b);
            let marker = matches!(text, "---" | "...");
            (!marker && text.bytes().all(in_number)).then(|| library::scalar(text)).flatten()
        }
        _ => None,
    }
}
