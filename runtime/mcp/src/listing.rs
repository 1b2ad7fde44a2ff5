//! The entries of a server's list of tools.

use serde_json::Value;

/// A server's list of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<Listing>,
    /// The problems of the list: entries that are no tools, and bounds that it exceeds.
    pub(crate) faults: Vec<String>,
}

/// A tool in a server's list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listing {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
}

/// Reads one entry of a list.
///
/// # Errors
/// It is no tool; the text says why.
pub(crate) fn listing(tool: &Value) -> Result<Listing, String> {
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
    // A title says more than no description.
    let doc = doc.or_else(|| tool.get("title").and_then(Value::as_str)).unwrap_or_default();
    Ok(Listing { name: name.to_owned(), doc: doc.to_owned(), input, output })
}
