//! Lowers the options of a client for its server: `options { num_ctx 8192 }`.

use super::context::Cx;
use super::declare::constant;
use chartc_core::expr::{Map, Value};
use chartc_core::model::Type;
use chartc_text::rules::TYPE_ERROR;
use chartc_text::rules::duplicate_name;
use chartc_text::syntax::{Entry, Expr, ExprKind, TemplatePart};

/// Names of options that each request sets itself. They are grouped by the help of the finding: where the chart sets the option.
const OF_REQUESTS: [(&str, &[&str]); 4] = [
    ("`model` names the model", &["model"]),
    (
        "`max_tokens` limits the answer",
        &["max_tokens", "max_completion_tokens", "maxOutputTokens", "num_predict", "n_predict"],
    ),
    ("`temperature` is an option of the client", &["temperature"]),
    (
        "the step says it",
        &[
            "messages",
            "prompt",
            "system",
            "contents",
            "systemInstruction",
            "generationConfig",
            "response_format",
            "responseMimeType",
            "responseJsonSchema",
            "responseSchema",
            "output_config",
            "format",
            "options",
            "stream",
            "tools",
            "tool_choice",
        ],
    ),
];

/// The options as the text of a JSON object; empty if there are none.
pub(super) fn read(cx: &mut Cx<'_>, written: &Expr) -> String {
    let ExprKind::Map(entries) = &written.kind else {
        let finding = TYPE_ERROR.at(written.span, "`options` is a block of options");
        cx.report(finding.help("write them in braces: `options { num_ctx 8192 }`"));
        return String::new();
    };
    for Entry { key, .. } in entries {
        let Some(name) = name(key) else { continue };
        let said = OF_REQUESTS.iter().find(|(_, names)| names.contains(&name));
        if let Some((cure, _)) = said {
            let message = format!("`options` cannot set `{name}`: each request sets it");
            cx.report(TYPE_ERROR.at(key.span, message).help(*cure));
        }
    }
    match object(cx, entries) {
        map if map.iter().next().is_none() => String::new(),
        map => serde_json::to_string(&Value::Map(map)).unwrap_or_default(),
    }
}

fn object(cx: &mut Cx<'_>, entries: &[Entry]) -> Map {
    let mut map = Map::new();
    for (nth, Entry { key, value }) in entries.iter().enumerate() {
        let Some(name) = name(key) else { continue };
        let before = entries[..nth].iter().find(|entry| self::name(&entry.key) == Some(name));
        if let Some(first) = before {
            cx.report(duplicate_name::twice("option", name, key.span, first.key.span));
            continue;
        }
        let value = if let ExprKind::Map(entries) = &value.kind {
            Some(Value::Map(object(cx, entries)))
        } else if let ExprKind::Duration(_) = &value.kind {
            let message = format!("`{name}` cannot be a duration");
            cx.report(TYPE_ERROR.at(value.span, message).help("write a number or a text"));
            None
        } else {
            constant(cx, value, &Type::Json, &format!("`{name}`"))
        };
        if let Some(value) = value {
            map.insert(name.into(), value);
        }
    }
    map
}

fn name(key: &Expr) -> Option<&str> {
    let ExprKind::Text(text) = &key.kind else { return None };
    let [TemplatePart::Text(name, _)] = text.parts.as_slice() else { return None };
    Some(name)
}
