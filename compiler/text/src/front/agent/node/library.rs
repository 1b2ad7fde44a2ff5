//! Reads all of YAML with the library's deserializer: anchors and aliases, tags, merge keys. Reports errors.

use super::yaml_hints::yaml_hint;
use super::{MAX_DEPTH, MAX_NODES, Node, Scalar, YamlFile};
use crate::diagnostic::Diagnostic;
use crate::rules::SYNTAX;
use crate::span::{FileId, Span};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_yaml::options::{AliasLimits, DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{Location, Options, Spanned};
use std::fmt;

/// Reads a file, or reports its error.
pub(super) fn read(place: YamlFile<'_>, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    match serde_yaml::from_str_with_options(place.text, options()) {
        Ok(raw) => Some(resolve(raw, place)),
        Err(error) => {
            let span = error_span(place.file, place.text, error.location());
            findings.push(error_finding(place.text, span, &error.to_string()));
            None
        }
    }
}

/// The meaning of a text that is a single scalar; `None` for anything else.
pub(super) fn scalar(text: &str) -> Option<Scalar> {
    match serde_yaml::from_str_with_options(text, options()).ok()? {
        RawValue::Scalar(scalar) => Some(scalar),
        RawValue::List(_) | RawValue::Map(_) => None,
    }
}

fn options() -> Options {
    let mut options = Options::default();
    options.strict_booleans = true;
    options.with_snippet = false;
    // Keeps duplicate keys in the tree, so that they can be reported.
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    let mut limits = AliasLimits::default();
    // Aliases of aliases grow exponentially.
    limits.max_total_replayed_events = MAX_NODES;
    options.alias_limits = limits;
    if let Some(budget) = &mut options.budget {
        budget.max_depth = MAX_DEPTH;
        budget.flow_nesting_limit = MAX_DEPTH;
        budget.max_nodes = MAX_NODES;
        // Two, so that a second document is an error of its own rather than an exceeded limit.
        budget.max_documents = 2;
    }
    options
}

/// The finding for an error of the library: its message without the place, and help if the mistake is known. Exceeded limits get messages
/// of their own.
fn error_finding(text: &str, span: Span, error: &str) -> Diagnostic {
    let line = error.lines().next().unwrap_or_default();
    // The place is underlined in the source, and the library's advice is about its own options.
    let line = line.split(" at line ").next().unwrap_or(line);
    let line = line.split("; use ").next().unwrap_or(line);
    let said = |words: &str| line.contains(words);
    if said("Depth") || said("recursion limit") {
        return SYNTAX
            .at(span, format!("this nests deeper than {MAX_DEPTH}"))
            .help("an agent needs no more than a handful of levels: is a bracket never closed?");
    }
    if said("alias") && (said("limit") || said("ratio")) {
        return SYNTAX
            .at(span, "the aliases of this file repeat too much")
            .help("write out what `*` stands for, or repeat less of it");
    }
    if said("budget breached") {
        return SYNTAX
            .at(span, format!("this file has more than {MAX_NODES} parts"))
            .help("divide it into several files");
    }
    let finding = SYNTAX.at(span, format!("this is no YAML: {line}"));
    match yaml_hint(text, span.start as usize, line) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// The span of an error, at least one character if possible. The location may have only a line and a column.
fn error_span(file: FileId, text: &str, location: Option<Location>) -> Span {
    let (line, column) = location.map_or((1, 1), |l| (l.line().max(1), l.column().max(1)));
    let start = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..).unwrap_or_default();
    let row = rest.split(['\n', '\r']).next().unwrap_or_default();
    let offset = row.char_indices().nth(column as usize - 1).map_or(row.len(), |(i, _)| i);
    let width = row[offset..].chars().next().map_or(0, char::len_utf8);
    if width == 0 && offset > 0 {
        let back = row.chars().next_back().map_or(1, char::len_utf8);
        return Span::new(file, start + offset - back, start + offset);
    }
    Span::new(file, start + offset, start + offset + width)
}

/// A value with its place, as the library returns it.
struct Raw {
    value: RawValue,
    start: usize,
    len: usize,
}

enum RawValue {
    Scalar(Scalar),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<RawValue>::deserialize(deserializer)?;
        // The value of an alias has its text where the anchor is defined.
        let place = spanned.defined.span();
        let (Some(start), Some(len)) = (place.byte_offset(), place.byte_len()) else {
            return Err(D::Error::custom("a value without a place"));
        };
        Ok(Self { value: spanned.value, start: start as usize, len: len as usize })
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Null))
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        let scalar = i64::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Int);
        Ok(RawValue::Scalar(scalar))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Text(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Scalar::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}

/// Gives collections their whole spans and texts their offset maps. The library limits the depth of the recursion.
fn resolve(raw: Raw, place: YamlFile<'_>) -> Node {
    let range = raw.start..raw.start + raw.len;
    match raw.value {
        RawValue::Scalar(scalar) => place.scalar(scalar, range),
        RawValue::List(items) => {
            place.list(items.into_iter().map(|i| resolve(i, place)).collect(), range)
        }
        RawValue::Map(entries) => {
            let each = |(k, v)| (resolve(k, place), resolve(v, place));
            place.map(entries.into_iter().map(each).collect(), range)
        }
    }
}
