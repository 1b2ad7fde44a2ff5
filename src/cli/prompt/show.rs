//! Formats questions.

use super::element::Element;
use crate::cli::output::StyledText;
use chartc_runtime::oracle::Question;

/// A question with the event that triggers it, if one does.
pub(super) struct ShownQuestion {
    pub(super) question: Question,
    pub(super) event: Option<String>,
    /// The list element that it is asked for, if the step has `each`.
    pub(super) element: Option<Element>,
}

/// Formats the questions as text, each part under a heading.
pub(super) fn text(shown: &[ShownQuestion]) -> StyledText {
    let mut out = StyledText::default();
    for ShownQuestion { question, event, element } in shown {
        if !out.is_empty() {
            out.line("");
        }
        let on = event.as_ref().map_or_else(String::new, |event| format!(" on {event}"));
        let model = if question.model.model.is_empty() { "" } else { ", " };
        out.line(format!(
            "{} {}{on} in {}{model}{}",
            question.kind.word(),
            question.step,
            question.state,
            question.model.model
        ));
        if let Some(element) = element {
            out.line(match element {
                Element::First => "--- the first element of its list".to_owned(),
                Element::Given(_) => "--- element".to_owned(),
                Element::Example(_) => "--- an example, since its list gives none".to_owned(),
            });
            if let Element::Given(value) | Element::Example(value) = element {
                out.line(serde_json::to_string(value).unwrap_or_default());
            }
        }
        out.line("--- prompt");
        for line in question.prompt.trim_end().split('\n') {
            // Text from a value must not look like a heading of this output.
            match line.strip_prefix("--- ") {
                Some(rest) => out.line(format!("\\u{{2d}}-- {rest}")),
                None => out.line(line),
            }
        }
        if !question.options.is_empty() {
            out.line("--- options");
        }
        for option in &question.options {
            let offer = &option.offer;
            let arguments: Vec<String> =
                offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            out.line(format!("{}{arguments}  {}", offer.name, offer.text).trim_end());
            if !option.schema.is_empty() {
                out.block("  ", &option.schema);
            }
        }
        let forbidden: Vec<&str> =
            question.forbidden.iter().map(|option| &*option.offer.name).collect();
        if !forbidden.is_empty() {
            out.line("--- may not be called now");
            out.line(forbidden.join(", "));
        }
        if !question.wanted().is_empty() {
            out.line("--- schema");
            out.block("", question.wanted());
        }
    }
    out
}

/// Formats the questions as a JSON array.
pub(super) fn json(shown: &[ShownQuestion]) -> miette::Result<String> {
    let schema = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let rows: Vec<serde_json::Value> = shown
        .iter()
        .map(|ShownQuestion { question: q, event, element }| {
            let options = q.options.iter().map(|o| {
                serde_json::json!({ "name": o.offer.name, "text": o.offer.text, "arguments": schema(&o.schema) })
            });
            let mut row = serde_json::json!({
                "step": q.step, "kind": q.kind.word(), "event": event, "state": q.state, "client": q.client, "model": q.model.model,
                "prompt": q.prompt, "options": options.collect::<Vec<_>>(), "schema": schema(q.wanted()),
            });
            if let Some(element) = element {
                row["element"] = match element {
                    Element::First => serde_json::json!({ "from": "list", "index": 0 }),
                    Element::Given(value) => {
                        serde_json::json!({ "from": "command line", "value": value })
                    }
                    Element::Example(value) => {
                        serde_json::json!({ "from": "example", "value": value })
                    }
                };
            }
            row
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(|fault| miette::miette!("{fault}"))?;
    Ok(text + "\n")
}
