//! Writes `tool` declarations of charts from a server's list of tools.

use crate::listing::Listing;
use crate::shape::{Shape, parameters, shape, wrapped};
use crate::view::ToolView;
use chartc_core::model::RESERVED;
use chartc_core::visible;
use std::collections::BTreeSet;

/// The maximum length of a tool's description, in bytes.
const DOC: usize = 4000;
/// The maximum number of values of a declared enum. A parameter with more values is declared as `Text`.
const VALUES: usize = 100;

/// Describes a tool and its types for people. Records are written out, so they need no names.
pub(crate) fn view(tool: &Listing, called: String) -> ToolView {
    let parameters = parameters(&tool.input).map(|record| record.parts).unwrap_or_default();
    let parameters = parameters
        .into_iter()
        .map(|part| (part.name, part.shape.to_string(), part.is_required))
        .collect();
    let result = returned(tool).map_or_else(|| "Text".to_owned(), |shape| shape.to_string());
    ToolView { called, name: tool.name.clone(), doc: tool.doc.clone(), parameters, result }
}

/// The shape of the result; `None` for a plain text.
fn returned(tool: &Listing) -> Option<Shape> {
    // Some servers wrap a text in an object with one part.
    let whole = shape(tool.output.as_ref()?);
    if let Shape::Record(record) = &whole
        && let [part] = record.parts.as_slice()
        && part.shape == Shape::Text
        && matches!(part.name.as_str(), "content" | "result" | "text")
    {
        return None;
    }
    let inner = wrapped(&whole).cloned();
    Some(inner.unwrap_or(whole))
}

/// Writes the declaration of a tool, preceded by the declarations of the types that it needs. `called` is the tool's name in charts;
/// `taken` contains the type names in use, and gets the new ones.
pub(crate) fn declaration(
    server: &str,
    called: &str,
    tool: &Listing,
    taken: &mut BTreeSet<String>,
) -> String {
    let stem = format!("{}{}", upper(server), upper(called));
    let mut writing = Writing { types: String::new(), taken };
    let parts = parameters(&tool.input).map(|record| record.parts).unwrap_or_default();
    // Required parameters come first, as charts demand.
    let (required, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_required);
    let params: Vec<String> = required
        .into_iter()
        .chain(others)
        .map(|part| {
            let ty = writing.ty(&part.shape, &format!("{stem}{}", upper(&part.name)));
            let mark = if part.is_required || ty.ends_with('?') { "" } else { "?" };
            format!("{}: {ty}{mark}", lower(&part.name))
        })
        .collect();
    let result = returned(tool)
        .map_or_else(|| "Text".to_owned(), |shape| writing.ty(&shape, &format!("{stem}Result")));
    let types = writing.types;
    let path: Vec<String> = std::iter::once(server).chain(called.split('.')).map(lower).collect();
    let mut out = types;
    out.push_str(&doc(&tool.doc));
    out.push_str(&format!("tool {}({}) -> {result}\n", path.join("."), params.join(", ")));
    out
}

struct Writing<'t> {
    types: String,
    taken: &'t mut BTreeSet<String>,
}

impl Writing<'_> {
    fn ty(&mut self, shape: &Shape, name: &str) -> String {
        match shape {
            Shape::Any => "Json".into(),
            Shape::Bool => "Bool".into(),
            Shape::Int => "Int".into(),
            Shape::Float => "Float".into(),
            Shape::Text => "Text".into(),
            Shape::Enum(names) if names.len() > VALUES || names.iter().any(String::is_empty) => {
                "Text".into()
            }
            Shape::Enum(names) => {
                let name = self.free(name);
                let names: Vec<String> = names.iter().map(|name| lower(name)).collect();
                self.types.push_str(&format!("enum {name} {{ {} }}\n", names.join(" ")));
                name
            }
            Shape::List(of) => format!("List({})", self.ty(of, &format!("{name}Item"))),
            Shape::Map(of) if **of == Shape::Any => "Json".into(),
            Shape::Map(of) => format!("Map(Text, {})", self.ty(of, &format!("{name}Value"))),
            Shape::Record(record) if record.parts.iter().any(|part| part.name.is_empty()) => {
                "Json".into()
            }
            Shape::Record(record) => {
                let fields: Vec<String> = record
                    .parts
                    .iter()
                    .map(|part| {
                        let ty = self.ty(&part.shape, &format!("{name}{}", upper(&part.name)));
                        let mark = if part.is_required || ty.ends_with('?') { "" } else { "?" };
                        format!("{}: {ty}{mark}", lower(&part.name))
                    })
                    .collect();
                // The fields come first: their types must be declared before the record that uses them.
                let name = self.free(name);
                self.types.push_str(&format!("type {name} {{ {} }}\n", fields.join(", ")));
                name
            }
            Shape::Optional(of) => format!("{}?", self.ty(of, name)),
        }
    }

    /// Returns an unused name, with a number appended if necessary, and marks it as used.
    fn free(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        let mut nth = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}{nth}");
            nth += 1;
        }
        free
    }
}

/// The description as `///` lines. Control characters are escaped, so no description can end its comment.
fn doc(text: &str) -> String {
    let text = crate::fault::short(text.trim(), DOC);
    let line = |line: &str| {
        let line = visible::line(line.trim_end());
        if line.is_empty() { "///\n".to_owned() } else { format!("/// {line}\n") }
    };
    if text.is_empty() { String::new() } else { text.lines().map(line).collect() }
}

/// Writes the name of anything but a type: in back-quotes, unless it is an identifier.
fn lower(name: &str) -> String {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if starts && name.chars().all(plain) && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    let mut out = String::from("`");
    for c in visible::line(name).chars() {
        match c {
            '`' => out.push_str("\\`"),
            '"' | '{' | '}' => visible::escape(c, &mut out),
            c => out.push(c),
        }
    }
    out.push('`');
    out
}

/// Converts a name to the spelling of types: `read_file` becomes `ReadFile`.
fn upper(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    let name: String = words.filter_map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_uppercase()) { name } else { format!("T{name}") }
}
