//! The format for other programs. Within version 1, fields are only added.

use super::findings::{Findings, Report, cut, positions};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Fix};
use chartc_compiler::syntax::source::{Sources, Span};
use chartc_core::visible;
use serde::Serialize;
use std::borrow::Cow;

/// `{"version":1,"diagnostics":[…]}`; lines and columns from 1, columns in characters, the end exclusive.
pub(super) static REPORT: Report = Report {
    name: "json",
    format: |&Findings { diagnostics, sources, .. }| {
        let diagnostics = diagnostics.iter().map(|d| finding(d, sources)).collect();
        let text = serde_json::to_string_pretty(&Document { version: 1, diagnostics });
        let text = text.expect("strings and numbers always serialize");
        format!("{}\n", visible::json(&text))
    },
};

#[derive(Serialize)]
struct Document<'d> {
    version: u32,
    diagnostics: Vec<Finding<'d>>,
}

#[derive(Serialize)]
struct Finding<'d> {
    code: &'d str,
    name: &'d str,
    severity: &'d str,
    message: Cow<'d, str>,
    help: Option<Cow<'d, str>>,
    #[serde(flatten)]
    place: JsonSpan<'d>,
    related: Vec<Related<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<JsonFix<'d>>,
}

#[derive(Serialize)]
struct JsonFix<'d> {
    safe: bool,
    edits: Vec<Edit<'d>>,
}

#[derive(Serialize)]
struct Edit<'d> {
    replacement: &'d str,
    #[serde(flatten)]
    place: JsonSpan<'d>,
}

#[derive(Serialize)]
struct Related<'d> {
    message: Cow<'d, str>,
    #[serde(flatten)]
    place: JsonSpan<'d>,
}

#[derive(Serialize)]
struct JsonSpan<'d> {
    file: &'d str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

fn finding<'d>(found: &'d Diagnostic, sources: &'d Sources) -> Finding<'d> {
    Finding {
        code: found.rule.code,
        name: found.rule.name,
        severity: found.severity.word(),
        message: cut(&found.message),
        help: found.help.as_deref().map(cut),
        place: place(found.span, sources),
        related: found
            .related
            .iter()
            .map(|(span, message)| Related { message: cut(message), place: place(*span, sources) })
            .collect(),
        fix: found.fix.as_ref().map(|fix| change(fix, sources)),
    }
}

fn change<'d>(fix: &'d Fix, sources: &'d Sources) -> JsonFix<'d> {
    let edit =
        |(span, text): &'d (Span, String)| Edit { replacement: text, place: place(*span, sources) };
    JsonFix { safe: fix.is_safe, edits: fix.edits.iter().map(edit).collect() }
}

fn place(span: Span, sources: &Sources) -> JsonSpan<'_> {
    let (start, end) = positions(span, sources);
    JsonSpan {
        file: &sources.get(span.file).name,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
