//! Writes `tool` declarations of charts from a server's list of tools.
//!
//! **The problem.** A server describes parameters in JSON Schema, which can express far more than the types of charts. Names of tools and
//! properties may be any text, and the server is not trusted: a schema may refer to itself, or be huge.
//!
//! **The idea.** A schema becomes a [`Shape`], the part that charts can express; everything else is [`Shape::Any`], which is `Json`.
//! Reading is bounded in depth and parts, and a reference that leads back to itself is `Json`. From a shape, `declaration` writes a chart,
//! with types and enums named after server, tool and property, and `view` writes a line for people. Names that are no identifiers get
//! back-quotes, and text is escaped, so nothing from the server can end a comment or a name.
//!
//! **Example.** From the server `files`:
//!
//! ```text
//! {"name": "find", "description": "Finds files.", "inputSchema": {"type": "object", "required": ["in"], "properties": {
//!   "in": {"type": "string"}, "kind": {"enum": ["file", "folder"]}, "max": {"type": "integer"}}}}
//!
//! enum FilesFindKind { file folder }
//! /// Finds files.
//! tool files.find(`in`: Text, kind: FilesFindKind?, max: Int?) -> Text
//! ```

use super::ToolView;
use chartc_core::model::RESERVED;
use chartc_core::visible;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use std::fmt;

/// The maximum length of a tool's description, in bytes.
const DOC: usize = 4000;
/// The maximum number of values of a declared enum. A parameter with more values is declared as `Text`.
const VALUES: usize = 100;

/// Describes a tool and its types for people. Records are written out, so they need no names.
pub(super) fn view(tool: &Listing, called: String) -> ToolView {
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
pub(super) fn declaration(
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

/// A chart that is being written: the declarations of types so far, and the names in use.
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
    let text = super::short(text.trim(), DOC);
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

// Types of JSON Schemas, as far as charts have a counterpart for them. Everything else is [`Shape::Any`].

/// The maximum depth of a schema, and the maximum number of its parts. Everything beyond is `Any`.
const DEPTH: usize = 24;
const PARTS: usize = 10_000;

/// The type of the values that a schema describes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Any value, or a type that charts cannot express.
    Any,
    Bool,
    Int,
    Float,
    Text,
    Enum(Vec<String>),
    List(Box<Shape>),
    Map(Box<Shape>),
    Record(Record),
    /// A value of the type, or null.
    Optional(Box<Shape>),
}

/// An object with named properties.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// The `title` of the schema; may be empty.
    pub(super) title: String,
    pub(super) parts: Vec<Part>,
    /// Whether `additionalProperties` allows properties that are not listed.
    pub(super) is_open: bool,
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
    /// The `description` of the property; may be empty.
    pub(super) doc: String,
}

impl Record {
    pub(super) fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }
}

/// Reads the type that a schema describes.
pub(super) fn shape(schema: &Value) -> Shape {
    Reading { root: schema, open: Vec::new(), left: PARTS }.shape(schema)
}

/// The parameters of a tool, from its `inputSchema`; `None` if that describes anything but an object with properties.
pub(super) fn parameters(schema: &Value) -> Option<Record> {
    match shape(schema) {
        Shape::Record(record) => Some(record),
        // An object without properties is a tool without parameters.
        Shape::Map(of) if *of == Shape::Any => {
            let schema = schema.as_object()?;
            let is_open = schema.get("additionalProperties").is_some_and(|more| more != false);
            Some(Record { title: String::new(), parts: Vec::new(), is_open })
        }
        _ => None,
    }
}

/// The value inside an object whose only property is `result`. FastMCP wraps results in such an object if they are no objects.
pub(super) fn wrapped(shape: &Shape) -> Option<&Shape> {
    let Shape::Record(record) = shape else { return None };
    match record.parts.as_slice() {
        [part] if part.name == "result" => Some(&part.shape),
        _ => None,
    }
}

struct Reading<'s> {
    root: &'s Value,
    /// The references and nested schemas that enclose the current one. A reference that leads back to one of them is read as `Any`, since
    /// types of charts cannot be infinite.
    open: Vec<&'s str>,
    left: usize,
}

impl<'s> Reading<'s> {
    fn shape(&mut self, schema: &'s Value) -> Shape {
        if self.left == 0 || self.open.len() > DEPTH {
            return Shape::Any;
        }
        self.left -= 1;
        let Some(schema) = schema.as_object() else { return Shape::Any };
        // Schemas without a reference are pushed, too, so that the length of `open` is the depth.
        self.open.push("");
        let shape = self.object(schema);
        self.open.pop();
        shape
    }

    fn object(&mut self, schema: &'s Map<String, Value>) -> Shape {
        if let Some(name) = schema.get("$ref") {
            let Some(pointer) = name.as_str().and_then(|name| name.strip_prefix('#')) else {
                return Shape::Any;
            };
            if pointer.is_empty() || self.open.contains(&pointer) {
                return Shape::Any;
            }
            let Some(target) = self.root.pointer(pointer) else { return Shape::Any };
            self.open.push(pointer);
            let shape = self.shape(target);
            self.open.pop();
            return shape;
        }
        if let Some(Value::String(one)) = schema.get("const") {
            return Shape::Enum(vec![one.clone()]);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return names(values);
        }
        if let Some(all) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            return all.as_array().map_or(Shape::Any, |all| self.any_of(all));
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            return match all.as_slice() {
                [one] => self.shape(one),
                _ => Shape::Any,
            };
        }
        match schema.get("type") {
            Some(Value::String(word)) => self.typed(word, schema),
            Some(Value::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                let rest: Vec<&str> = words.iter().copied().filter(|w| *w != "null").collect();
                // JSON Schema counts integers as numbers, so the two together are a Float.
                let shape = match rest.as_slice() {
                    [one] => self.typed(one, schema),
                    ["integer", "number"] | ["number", "integer"] => Shape::Float,
                    _ => return Shape::Any,
                };
                if rest.len() < words.len() { optional(shape) } else { shape }
            }
            None if schema.contains_key("properties") => self.typed("object", schema),
            Some(_) | None => Shape::Any,
        }
    }

    fn typed(&mut self, word: &str, schema: &'s Map<String, Value>) -> Shape {
        match word {
            "boolean" => Shape::Bool,
            "integer" => Shape::Int,
            "number" => Shape::Float,
            "string" => Shape::Text,
            "array" if schema.contains_key("prefixItems") => Shape::Any,
            "array" => match schema.get("items") {
                Some(items) => Shape::List(Box::new(self.shape(items))),
                None => Shape::List(Box::new(Shape::Any)),
            },
            "object" => {
                let more = schema.get("additionalProperties");
                let parts = schema.get("properties").and_then(Value::as_object);
                let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
                    let of = more.map_or(Shape::Any, |more| self.shape(more));
                    return Shape::Map(Box::new(of));
                };
                let required = schema.get("required").and_then(Value::as_array);
                let required: HashSet<&str> =
                    required.into_iter().flatten().filter_map(Value::as_str).collect();
                let text = |schema: &Value, key: &str| {
                    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                let parts = parts.iter().map(|(name, of)| Part {
                    name: name.clone(),
                    shape: self.shape(of),
                    is_required: required.contains(name.as_str()),
                    doc: text(of, "description"),
                });
                let parts = parts.collect();
                let title = schema.get("title").and_then(Value::as_str).unwrap_or_default();
                let is_open = more.is_some_and(|more| more != &Value::Bool(false));
                Shape::Record(Record { title: title.to_owned(), parts, is_open })
            }
            _ => Shape::Any,
        }
    }

    fn any_of(&mut self, all: &'s [Value]) -> Shape {
        let is_null = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("null");
        let present: Vec<&Value> = all.iter().filter(|one| !is_null(one)).collect();
        let shapes: Vec<Shape> = present.iter().map(|one| self.shape(one)).collect();
        let shape = match shapes.as_slice() {
            [one] => one.clone(),
            [Shape::Int, Shape::Float] | [Shape::Float, Shape::Int] => Shape::Float,
            several => {
                let mut names = Vec::new();
                for shape in several {
                    let Shape::Enum(more) = shape else { return Shape::Any };
                    names.extend(more.iter().cloned());
                }
                each_once(&mut names);
                if names.is_empty() {
                    return Shape::Any;
                }
                Shape::Enum(names)
            }
        };
        if present.len() < all.len() { optional(shape) } else { shape }
    }
}

fn optional(shape: Shape) -> Shape {
    match shape {
        Shape::Any | Shape::Optional(_) => shape,
        _ => Shape::Optional(Box::new(shape)),
    }
}

/// Removes repeated names, in linear time because a server may send very many.
fn each_once(names: &mut Vec<String>) {
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
}

fn names(values: &[Value]) -> Shape {
    let present: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let mut names = Vec::new();
    for value in &present {
        match value.as_str() {
            Some(name) => names.push(name.to_owned()),
            None => return Shape::Any,
        }
    }
    each_once(&mut names);
    if names.is_empty() {
        return Shape::Any;
    }
    let shape = Shape::Enum(names);
    if present.len() < values.len() { optional(shape) } else { shape }
}

/// Writes the type as in a chart, but with the fields of records and the values of enums in place of their names.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("Json"),
            Self::Bool => f.write_str("Bool"),
            Self::Int => f.write_str("Int"),
            Self::Float => f.write_str("Float"),
            Self::Text => f.write_str("Text"),
            Self::Enum(names) => {
                let some = names.iter().take(8).map(|name| format!("{name:?}"));
                let more = if names.len() > 8 { ", …" } else { "" };
                write!(f, "one of {}{more}", some.collect::<Vec<_>>().join(", "))
            }
            Self::List(of) => write!(f, "List({of})"),
            Self::Map(of) => write!(f, "Map(Text, {of})"),
            Self::Record(record) => {
                let some = record.parts.iter().take(8).map(|part| {
                    let mark = if part.is_required { "" } else { "?" };
                    format!("{}{mark}: {}", part.name, part.shape)
                });
                let more = if record.parts.len() > 8 { ", …" } else { "" };
                write!(f, "{{ {}{more} }}", some.collect::<Vec<_>>().join(", "))
            }
            Self::Optional(of) => write!(f, "{of}?"),
        }
    }
}

// The entries of a server's list of tools.

/// A server's list of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Listed {
    pub(super) tools: Vec<Listing>,
    /// The problems of the list: entries that are no tools, and bounds that it exceeds.
    pub(super) faults: Vec<String>,
}

/// A tool in a server's list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listing {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
}

/// Reads one entry of a list.
///
/// # Errors
/// It is no tool; the text says why.
pub(super) fn listing(tool: &Value) -> Result<Listing, String> {
    let tool = tool.as_object().ok_or("it is no object")?;
    let name = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or("it has no `name`")?;
    if name.len() > 256 {
        return Err("its name has more than 256 bytes".into());
    }
    let input = match tool.get("inputSchema") {
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return Err("its `inputSchema` is no object".into()),
        None => return Err("it has no `inputSchema`".into()),
    };
    let output = match tool.get("outputSchema") {
        None | Some(Value::Null) => None,
        Some(schema @ Value::Object(_)) => Some(schema.clone()),
        Some(_) => return Err("its `outputSchema` is no object".into()),
    };
    let doc = tool.get("description").and_then(Value::as_str);
    // Without a description, the title is better than nothing.
    let doc = doc.or_else(|| tool.get("title").and_then(Value::as_str)).unwrap_or_default();
    Ok(Listing { name: name.to_owned(), doc: doc.to_owned(), input, output })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_become_types() {
        let of = |schema: Value| shape(&schema).to_string();
        assert_eq!(of(json!({"type": ["integer", "null"]})), "Int?");
        assert_eq!(
            of(json!({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]})),
            r#"one of "a", "b"?"#
        );
        assert_eq!(of(json!({"type": "array", "items": {"type": "number"}})), "List(Float)");
        assert_eq!(
            of(json!({"type": "object", "additionalProperties": {"type": "boolean"}})),
            "Map(Text, Bool)"
        );
        assert_eq!(
            of(
                json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"enum": ["x", 1]}},
                      "required": ["a"], "$defs": {"A": {"type": "object", "properties": {"n": {"type": "integer"}}}}})
            ),
            "{ a: { n?: Int }, b?: Json }"
        );
        assert_eq!(of(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})), "Json");
        assert_eq!(of(json!(true)), "Json");
    }

    #[test]
    fn what_holds_itself_ends() {
        let tree = json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/T"}, "right": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}}}}});
        assert_eq!(shape(&tree).to_string(), "{ left?: Json, right?: Json }");
        let defs: Map<String, Value> = (0..60)
            .map(|n| {
                let next = json!({"$ref": format!("#/$defs/T{}", n + 1)});
                (format!("T{n}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
            })
            .collect();
        let text = shape(&json!({"$ref": "#/$defs/T0", "$defs": defs})).to_string();
        assert!(text.contains("Json"), "the rest is given up");
    }
}
