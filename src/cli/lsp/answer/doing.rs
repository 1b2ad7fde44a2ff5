//! Answers requests for what can be done at a position: fixes, comments that allow findings, tests to run, pictures to show.
//!
//! An editor with chartc's extension carries out the extension's commands itself, such as `chartc.runTest`. For others the server
//! carries out commands of its own and shows a message.

use super::extension::{TestsParams, run_tests};
use super::{Refusal, View};
use crate::editor::actions::{Action, ActionKind, actions};
use crate::editor::lenses::{Lens, Task, lenses};
use chartc_text::diagnostic::Rule;
use chartc_text::span::Span;
use gen_lsp_types as lsp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The commands that the server carries out for editors without chartc's extension: run tests, and explain a rule.
pub(in crate::cli::lsp) const COMMANDS: [&str; 2] =
    ["chartc.server.runTests", "chartc.server.explain"];

pub(super) fn code_lens(
    view: &View<'_>,
    params: lsp::CodeLensParams,
) -> Result<Vec<lsp::CodeLens>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let uri = &params.text_document.uri;
    let shown = |lens: Lens| {
        let (own, server, argument) = match lens.task {
            Task::RunTest { name, .. } => ("chartc.runTest", Some(COMMANDS[0]), name),
            Task::RunTests { chart, .. } => ("chartc.runTests", None, chart),
            Task::ShowPicture { chart, .. } => ("chartc.showPicture", None, chart),
        };
        // Without the extension only commands that the server carries out can be offered.
        let command = if view.client.pictures { Some(own) } else { server }?;
        let command = lsp::Command {
            title: lens.title,
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(vec![json!(uri), json!(argument)]),
        };
        let range = view.client.encoding.range_in(source, lens.span);
        Some(lsp::CodeLens { range, command: Some(command), data: None })
    };
    Ok(lenses(done, file).into_iter().filter_map(shown).collect())
}

pub(super) fn code_action(
    view: &View<'_>,
    params: lsp::CodeActionParams,
) -> Result<Vec<lsp::CodeAction>, Refusal> {
    let (done, file) = view.compiled()?;
    if !view.client.literal_actions {
        // The editor accepts only commands as actions, and these are edits.
        return Ok(Vec::new());
    }
    let source = done.sources.get(file);
    let at = |place| view.client.encoding.offset(source, place) as usize;
    let (start, end) = (at(params.range.start), at(params.range.end));
    let span = Span::new(file, start.min(end), start.max(end));
    let mapper = view.mapper(done);
    let mut shown = Vec::new();
    for action in actions(done, span) {
        let kind = match action.kind {
            ActionKind::Fix { .. } | ActionKind::Allow | ActionKind::Explain(_) => {
                lsp::CodeActionKind::QuickFix
            }
            ActionKind::FixAll => lsp::CodeActionKind::SourceFixAll,
        };
        let is_wanted = |only: &Vec<lsp::CodeActionKind>| {
            only.iter().any(|only| {
                let (kind, only) = (kind.to_string(), only.to_string());
                kind == only || kind.starts_with(&format!("{only}."))
            })
        };
        if !params.context.only.as_ref().is_none_or(is_wanted) {
            continue;
        }
        let command = match action.kind {
            ActionKind::Explain(rule) => Some(explain(view, rule, &action)),
            ActionKind::Fix { .. } | ActionKind::Allow | ActionKind::FixAll => None,
        };
        let about = action.about.iter().filter_map(|nth| done.diagnostics.get(*nth));
        let diagnostics: Vec<lsp::Diagnostic> = about.map(|found| mapper.finding(found)).collect();
        let mut edits: BTreeMap<String, Vec<lsp::TextEdit>> = BTreeMap::new();
        for (place, text) in &action.edits {
            let name = done.sources.get(place.file).name.clone();
            let range = view.client.encoding.range(&done.sources, *place);
            let edit = lsp::TextEdit { range, new_text: text.clone() };
            edits.entry(name).or_default().push(edit);
        }
        let edit = if edits.is_empty() { None } else { Some(view.workspace_edit(edits)?) };
        shown.push(lsp::CodeAction {
            title: action.title,
            kind: Some(kind),
            diagnostics: (!diagnostics.is_empty()).then_some(diagnostics),
            is_preferred: matches!(action.kind, ActionKind::Fix { is_safe: true }).then_some(true),
            edit,
            command,
            ..lsp::CodeAction::default()
        });
    }
    Ok(shown)
}

fn explain(view: &View<'_>, rule: &Rule, action: &Action) -> lsp::Command {
    let command = if view.client.pictures { "chartc.explain" } else { COMMANDS[1] };
    lsp::Command {
        title: action.title.clone(),
        tooltip: None,
        command: command.to_owned(),
        arguments: Some(vec![json!(rule.code)]),
    }
}

/// Answers `chartc/explain`: the page of a rule, as Markdown.
pub(super) fn page(_: &View<'_>, params: Value) -> Result<String, Refusal> {
    let code = params.get("code").and_then(Value::as_str).unwrap_or_default();
    let rule = chartc_text::rules::named(code);
    let rule = rule.map_err(|_| Refusal::Params(format!("there is no rule {code}")))?;
    Ok(format!("# {} {}\n\n{}", rule.code, rule.name, rule.page))
}

/// Answers `workspace/executeCommand`, which editors without chartc's extension send.
pub(super) fn execute(
    view: &View<'_>,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>, Refusal> {
    let arguments = params.arguments.unwrap_or_default();
    let text = |nth: usize| arguments.get(nth).and_then(Value::as_str).unwrap_or_default();
    match params.command.as_str() {
        "chartc.server.explain" => {
            view.tell(page(view, json!({ "code": text(0) }))?);
            Ok(None)
        }
        "chartc.server.runTests" => {
            let asked = json!({ "uri": text(0), "names": [text(1)] });
            let asked: TestsParams =
                serde_json::from_value(asked).map_err(|why| Refusal::Params(why.to_string()))?;
            for played in run_tests(view, asked)? {
                view.tell(played.told());
            }
            Ok(None)
        }
        other => Err(Refusal::Params(format!("there is no command {other}"))),
    }
}
