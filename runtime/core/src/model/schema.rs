//! The JSON Schemas of answers, arguments and other values, for models and tools.

use super::declare::{Field, TypeDef, TypeKind, Within};
use super::{Chart, ChoiceKind, StepKind, Type};
use crate::arena::{ChoiceId, StepId, ToolId, TypeId};
use crate::value::Value;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};

/// The schema of the answer of an `llm` or `human` step. Empty if any JSON is accepted (an `llm` is then asked for an action object), if a
/// `human` step returns Text, and for other steps.
pub fn of_answer(chart: &Chart, step: StepId) -> String {
    let row = &chart.steps[step.index()];
    match (&row.kind, row.one_returns()) {
        (StepKind::Llm, Type::Json) => String::new(),
        (StepKind::Human(_), Type::Json | Type::Text) => String::new(),
        (StepKind::Llm | StepKind::Human(_), ty) => of_range(chart, ty, row.range.as_ref()),
        (StepKind::Code(_) | StepKind::Ask { .. } | StepKind::Call(..) | StepKind::Run(..), _) => {
            String::new()
        }
    }
}

/// The schema of an option's arguments; empty without arguments, and for a `may call`.
pub fn of_arguments(chart: &Chart, choice: ChoiceId) -> String {
    match &chart.choices[choice.index()].kind {
        ChoiceKind::Option(fields) => of_fields(chart, fields),
        ChoiceKind::Call(..) => String::new(),
    }
}

/// The schema of a tool's arguments; empty without arguments.
pub fn of_tool(chart: &Chart, tool: ToolId) -> String {
    of_fields(chart, &chart.tools[tool.index()].params)
}

fn of_fields(chart: &Chart, fields: &[Field]) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let mut used = BTreeSet::new();
    let body = object(chart, fields, &mut used);
    with_definitions(chart, body, used)
}

/// The schema of a type, with the definitions of the records and enums that it refers to.
pub fn of_type(chart: &Chart, ty: &Type) -> String {
    let mut used = BTreeSet::new();
    let body = schema(chart, ty, &mut used);
    with_definitions(chart, body, used)
}

/// The schema of a type with this range.
pub fn of_range(chart: &Chart, ty: &Type, range: Option<&Within>) -> String {
    bounded(of_type(chart, ty), range)
}

/// The schema of a number with its bounds.
fn bounded(schema: String, range: Option<&Within>) -> String {
    // The JSON form of a Duration is a text, which has no bounds.
    let (low, high) = match range {
        Some((Value::Int(low), Value::Int(high))) => (low.to_string(), high.to_string()),
        Some((Value::Float(low), Value::Float(high))) => (format!("{low:?}"), format!("{high:?}")),
        _ => return schema,
    };
    let open = schema.strip_suffix('}').unwrap_or(&schema);
    format!("{open},\"minimum\":{low},\"maximum\":{high}}}")
}

fn with_definitions(chart: &Chart, body: String, first: BTreeSet<TypeId>) -> String {
    // Types may refer to each other in cycles, so definitions are collected until no new one is found.
    let mut open = first;
    let mut definitions = alloc::collections::BTreeMap::new();
    while let Some(id) = open.pop_first() {
        let mut used = BTreeSet::new();
        let text = definition(chart, &chart.types[id.index()], &mut used);
        definitions.insert(id, text);
        open.extend(used.into_iter().filter(|u| !definitions.contains_key(u)));
    }
    if definitions.is_empty() {
        return body;
    }
    let rows: alloc::vec::Vec<String> = definitions
        .iter()
        .map(|(id, text)| format!("{}:{text}", quoted(&chart.types[id.index()].name)))
        .collect();
    // `$defs` becomes the first key of the object.
    let rest = body.strip_prefix('{').unwrap_or(&body);
    format!("{{\"$defs\":{{{}}},{rest}", rows.join(","))
}

fn definition(chart: &Chart, def: &TypeDef, used: &mut BTreeSet<TypeId>) -> String {
    match &def.kind {
        TypeKind::Record(fields) => object(chart, fields, used),
        TypeKind::Enum(names) => {
            let names: alloc::vec::Vec<String> = names.iter().map(|n| quoted(n)).collect();
            format!("{{\"enum\":[{}]}}", names.join(","))
        }
    }
}

fn object(chart: &Chart, fields: &[Field], used: &mut BTreeSet<TypeId>) -> String {
    let mut properties = alloc::vec::Vec::new();
    let mut required = alloc::vec::Vec::new();
    for field in fields {
        let schema = bounded(schema(chart, &field.ty, used), field.range.as_ref());
        properties.push(format!("{}:{schema}", quoted(&field.name)));
        if !matches!(field.ty, Type::Optional(_)) {
            required.push(quoted(&field.name));
        }
    }
    format!(
        "{{\"type\":\"object\",\"properties\":{{{}}},\"required\":[{}],\"additionalProperties\":false}}",
        properties.join(","),
        required.join(",")
    )
}

// The recursion is as deep as the type in the source, which the parsers bound.
fn schema(chart: &Chart, ty: &Type, used: &mut BTreeSet<TypeId>) -> String {
    match ty {
        Type::Bool => r#"{"type":"boolean"}"#.to_string(),
        Type::Int => r#"{"type":"integer"}"#.to_string(),
        Type::Float => r#"{"type":"number"}"#.to_string(),
        Type::Text => r#"{"type":"string"}"#.to_string(),
        Type::Duration => r#"{"type":"string","pattern":"^[0-9]+(ms|s|m|h|d)$"}"#.to_string(),
        Type::Json => "{\"description\":\"any JSON\"}".to_string(),
        Type::List(of) => format!("{{\"type\":\"array\",\"items\":{}}}", schema(chart, of, used)),
        Type::Map(of) => {
            format!("{{\"type\":\"object\",\"additionalProperties\":{}}}", schema(chart, of, used))
        }
        Type::Optional(of) => {
            format!("{{\"anyOf\":[{},{{\"type\":\"null\"}}]}}", schema(chart, of, used))
        }
        Type::Named(id) => {
            used.insert(*id);
            format!("{{\"$ref\":{}}}", quoted(&format!("#/$defs/{}", chart.types[id.index()].name)))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::FailurePolicy;
    use super::*;
    use alloc::boxed::Box;
    use alloc::vec;

    fn chart() -> Chart {
        let field = |name: &str, ty| Field { name: name.into(), ty, range: None };
        Chart {
            name: "T".into(),
            doc: String::new(),
            meta: vec![],
            types: vec![
                TypeDef {
                    name: "Tree".into(),
                    doc: String::new(),
                    kind: TypeKind::Record(vec![
                        field("mood", Type::Named(TypeId(1))),
                        field("left", Type::Optional(Box::new(Type::Named(TypeId(0))))),
                    ]),
                },
                TypeDef {
                    name: "Mood".into(),
                    doc: String::new(),
                    kind: TypeKind::Enum(vec!["good".into(), "bad".into()]),
                },
            ],
            variables: vec![],
            events: vec![],
            functions: vec![],
            tools: vec![],
            tool_sets: vec![],
            predicates: vec![],
            clients: vec![],
            components: vec![],
            states: vec![],
            transitions: vec![],
            choices: vec![],
            steps: vec![],
            send_ids: vec![],
            permissions: vec![],
            calls_per_turn: Some(1),
            defaults: FailurePolicy {
                retry: crate::model::Retry::times(0),
                then: crate::model::Failure::Fail,
            },
            history_kept: None,
            turns_in_state: None,
            checks: vec![],
            reads_amounts: false,
            renames: vec![],
            alternative_texts: alloc::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn a_record_that_names_itself_is_defined_once() {
        assert_eq!(
            of_type(&chart(), &Type::List(Box::new(Type::Named(TypeId(0))))),
            concat!(
                r##"{"$defs":{"Tree":{"type":"object","properties":{"mood":{"$ref":"#/$defs/Mood"},"##,
                r##""left":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["mood"],"##,
                r##""additionalProperties":false},"Mood":{"enum":["good","bad"]}},"##,
                r##""type":"array","items":{"$ref":"#/$defs/Tree"}}"##
            )
        );
    }

    #[test]
    fn a_plain_type_needs_no_definitions() {
        assert_eq!(
            of_type(&chart(), &Type::Duration),
            r#"{"type":"string","pattern":"^[0-9]+(ms|s|m|h|d)$"}"#
        );
    }
}
