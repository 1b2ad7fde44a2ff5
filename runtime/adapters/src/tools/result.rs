//! Conversion between JSON and the values of charts: arguments of tools, and their results.

use super::declare::{Record, Shape};
use super::{Fault, short};
use chartc_core::expr::Value;
use serde_json::{Map, Value as Json};

/// The maximum size of a failed tool's text in an error message, in bytes.
const SHOWN: usize = 4000;

/// The type of result that a chart declares, as a JSON Schema.
pub(super) struct Wanted {
    schema: Json,
}

impl Wanted {
    /// Parses [`ToolCall::result`](chartc_core::host::ToolCall::result). A malformed schema accepts everything.
    pub(super) fn of(schema: &str) -> Self {
        Self { schema: serde_json::from_str(schema).unwrap_or(Json::Bool(true)) }
    }

    fn is_text(&self) -> bool {
        self.schema.get("type").is_some_and(|ty| ty == "string")
            && self.schema.get("pattern").is_none()
    }

    /// Whether the declared type is a record with a field `result`. Then an object with this part is a value of it, and no wrapper.
    fn has_result(&self) -> bool {
        let schema = resolved(&self.schema, &self.schema);
        schema.get("properties").is_some_and(|parts| parts.get("result").is_some())
    }

    /// Converts the text of a tool. For a result of type `Text` it is taken as it is, otherwise it is parsed as JSON if possible.
    pub(super) fn text(&self, text: String) -> Value {
        if self.is_text() {
            return Value::Text(text);
        }
        match serde_json::from_str(&text) {
            Ok(json) => self.json(json),
            Err(_) => Value::Text(text),
        }
    }

    /// Converts a JSON value of a tool, without the parts that the declared type does not have.
    pub(super) fn json(&self, mut json: Json) -> Value {
        if !self.has_result()
            && let Json::Object(object) = &mut json
            && object.len() == 1
            && let Some(inner) = object.get_mut("result")
        {
            json = inner.take();
        }
        prune(&mut json, &self.schema, &self.schema);
        serde_json::from_value(json).unwrap_or_default()
    }
}

/// Converts the result of `tools/call` to the value that the chart gets.
///
/// # Errors
/// The tool failed, or its result is malformed or larger than `limit` bytes.
pub(super) fn brought(result: &Json, wanted: &Wanted, limit: usize) -> Result<Value, Fault> {
    let Some(object) = result.as_object() else {
        return Err(Fault::Protocol("its result is no object".into()));
    };
    let bytes = result.to_string().len();
    if bytes > limit {
        return Err(Fault::TooLong { bytes, limit });
    }
    let content = match object.get("content") {
        None | Some(Json::Null) => &[][..],
        Some(Json::Array(blocks)) => blocks,
        Some(_) => return Err(Fault::Protocol("the `content` of its result is no list".into())),
    };
    let structured = object.get("structuredContent").filter(|value| !value.is_null());
    let text = content.iter().map(block).collect::<Vec<_>>().join("\n");
    if object.get("isError").is_some_and(|is| is == true) {
        let mut text = short(&text, SHOWN);
        if let Some(data) = structured {
            text += &format!("; data: {}", short(&data.to_string(), SHOWN));
        }
        return Err(Fault::Failed(if text.is_empty() { "it failed".into() } else { text }));
    }
    if object.get("content").is_none() && structured.is_none() {
        return Err(Fault::Protocol(
            "its result has neither `content` nor `structuredContent`".into(),
        ));
    }
    // A chart that wants words gets `content`; one that wants data gets `structuredContent`. Each falls back to the other.
    Ok(match structured {
        Some(data) if wanted.is_text() && content.is_empty() => match data {
            Json::String(text) => Value::Text(text.clone()),
            _ => Value::Text(data.to_string()),
        },
        Some(data) if !wanted.is_text() => wanted.json(data.clone()),
        Some(_) | None => wanted.text(text),
    })
}

/// A block of content as text. Binary content is replaced by its kind and size.
fn block(block: &Json) -> String {
    let text = |key: &str| block.get(key).and_then(Json::as_str);
    let kind = text("type").unwrap_or("unknown");
    match kind {
        "text" => text("text").unwrap_or_default().to_owned(),
        "resource" => {
            let of = block.get("resource");
            let text = |key: &str| of.and_then(|of| of.get(key)).and_then(Json::as_str);
            match (text("text"), text("uri")) {
                (Some(text), _) => text.to_owned(),
                (None, uri) => format!("[resource {}]", uri.unwrap_or_default()),
            }
        }
        "resource_link" => format!("[resource {}]", text("uri").unwrap_or_default()),
        kind => {
            // Base64 encodes three bytes in four characters.
            let bytes = text("data").map_or(0, |data| data.len() / 4 * 3);
            format!("[{kind} {} {bytes} bytes]", text("mimeType").unwrap_or_default())
        }
    }
}

fn resolved<'s>(schema: &'s Json, root: &'s Json) -> &'s Json {
    let name = schema.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    name.and_then(|name| root.get("$defs")?.get(name)).unwrap_or(schema)
}

/// Removes the parts of objects that the declared record does not have, so that charts keep working when servers add parts. The recursion
/// is as deep as the value, and the JSON parser has limited that.
fn prune(value: &mut Json, schema: &Json, root: &Json) {
    let schema = resolved(schema, root);
    if let Some(Json::Array(all)) = schema.get("anyOf") {
        // Schemas of charts have `anyOf` only for an optional type: its type first, then null.
        if let (Some(of), false) = (all.first(), value.is_null()) {
            prune(value, of, root);
        }
        return;
    }
    match value {
        Json::Array(items) => {
            if let Some(of) = schema.get("items") {
                for item in items {
                    prune(item, of, root);
                }
            }
        }
        Json::Object(object) => {
            match (schema.get("properties"), schema.get("additionalProperties")) {
                (Some(Json::Object(parts)), _) => {
                    object.retain(|name, _| parts.contains_key(name));
                    for (name, value) in object.iter_mut() {
                        if let Some(of) = parts.get(name) {
                            prune(value, of, root);
                        }
                    }
                }
                (_, Some(of)) => object.values_mut().for_each(|value| prune(value, of, root)),
                (_, None) => {}
            }
        }
        _ => {}
    }
}

/// Converts arguments to JSON. An argument that is `none` is left out unless the server's schema requires it.
pub(super) fn arguments(given: &[(String, Value)], schema: Option<&Record>) -> Map<String, Json> {
    let mut object = Map::new();
    for (name, value) in given {
        let part = schema.and_then(|record| record.part(name));
        let mut json = serde_json::to_value(value).unwrap_or_default();
        if json.is_null() && part.is_none_or(|part| !part.is_required) {
            continue;
        }
        if let Some(part) = part {
            without_none(&mut json, &part.shape);
        }
        object.insert(name.clone(), json);
    }
    object
}

/// Removes parts that are null and not required, at any depth: a schema may allow a part to be absent, but not to be null.
fn without_none(value: &mut Json, shape: &Shape) {
    match (value, shape) {
        (value, Shape::Optional(of)) => without_none(value, of),
        (Json::Array(items), Shape::List(of)) => {
            for item in items {
                without_none(item, of);
            }
        }
        (Json::Object(object), Shape::Map(of)) => {
            object.values_mut().for_each(|value| without_none(value, of));
        }
        (Json::Object(object), Shape::Record(record)) => {
            object.retain(|name, value| {
                !value.is_null() || record.part(name).is_some_and(|part| part.is_required)
            });
            for (name, value) in object.iter_mut() {
                if let Some(part) = record.part(name) {
                    without_none(value, &part.shape);
                }
            }
        }
        (
            _,
            Shape::Any
            | Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_),
        ) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::declare::parameters;
    use super::*;
    use serde_json::json;

    const TEXT: &str = r#"{"type":"string"}"#;
    const ANY: &str = r#"{"description":"any JSON"}"#;
    const PAGE: &str = r##"{"$defs":{"Page":{"type":"object","properties":{"title":{"type":"string"}},
        "required":["title"],"additionalProperties":false}},"type":"array","items":{"$ref":"#/$defs/Page"}}"##;

    fn brings(result: Json, schema: &str) -> Result<Json, Fault> {
        brought(&result, &Wanted::of(schema), 1000).map(|v| serde_json::to_value(v).expect("JSON"))
    }

    #[test]
    fn text_is_what_the_blocks_say() {
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "x:y", "text": "b"}}, {"type": "later"}]);
        let result = json!({"content": blocks, "structuredContent": {"n": 1}});
        assert_eq!(
            brings(result, TEXT),
            Ok(json!("a\n[image image/png 3 bytes]\nb\n[later  0 bytes]"))
        );
        assert_eq!(
            brings(json!({"structuredContent": {"n": 1}, "content": []}), TEXT),
            Ok(json!("{\"n\":1}"))
        );
    }

    #[test]
    fn structure_wins_where_a_structure_is_wanted() {
        let result = json!({"content": [{"type": "text", "text": "[]"}],
            "structuredContent": {"result": [{"title": "t", "new": 1}]}});
        assert_eq!(brings(result, PAGE), Ok(json!([{"title": "t"}])));
        let text = json!({"content": [{"type": "text", "text": "{\"a\": 1}"}]});
        assert_eq!(brings(text.clone(), ANY), Ok(json!({"a": 1})));
        assert_eq!(brings(text, TEXT), Ok(json!("{\"a\": 1}")));
        let plain = json!({"content": [{"type": "text", "text": "not JSON"}]});
        assert_eq!(brings(plain, ANY), Ok(json!("not JSON")));
        let own =
            r#"{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}"#;
        let result = json!({"content": [], "structuredContent": {"result": 7}});
        assert_eq!(brings(result.clone(), own), Ok(json!({"result": 7})));
        assert_eq!(brings(result, r#"{"type":"integer"}"#), Ok(json!(7)));
    }

    #[test]
    fn failures_keep_their_data() {
        let failed = json!({"isError": true, "content": [{"type": "text", "text": "no"}], "structuredContent": {"code": 7}});
        assert_eq!(brings(failed, TEXT), Err(Fault::Failed("no; data: {\"code\":7}".into())));
        assert!(matches!(brings(json!({}), TEXT), Err(Fault::Protocol(_))));
        assert!(matches!(brings(json!({"content": 1}), TEXT), Err(Fault::Protocol(_))));
        let long = json!({"content": [{"type": "text", "text": "x".repeat(2000)}]});
        assert!(matches!(brings(long, TEXT), Err(Fault::TooLong { limit: 1000, .. })));
    }

    #[test]
    fn none_stays_away_unless_it_is_required() {
        let schema = json!({"type": "object", "required": ["b"], "properties": {
            "a": {"type": "string"}, "b": {"type": ["string", "null"]},
            "c": {"type": "object", "properties": {"d": {"type": "string"}}}}});
        let inner: chartc_core::expr::Map = [("d".to_owned(), Value::None)].into_iter().collect();
        let given = [
            ("a".to_owned(), Value::None),
            ("b".to_owned(), Value::None),
            ("c".to_owned(), Value::Map(inner)),
        ];
        let sent = Json::Object(arguments(&given, parameters(&schema).as_ref()));
        assert_eq!(sent, json!({"b": null, "c": {}}));
        assert_eq!(Json::Object(arguments(&given[..2], None)), json!({}));
    }
}
