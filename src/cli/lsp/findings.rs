//! Converts findings to the types of the protocol.

use super::places::Places;
use super::position::Encoding;
use super::texts::Texts;
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Severity, Stage};
use chartc_text::source::Sources;
use chartc_text::span::{FileId, Span};
use gen_lsp_types as lsp;

/// Converts findings and spans to the types of the protocol.
pub(super) struct LspMapper<'p> {
    /// The sources that the spans refer to.
    pub(super) sources: &'p Sources,
    /// The unit in which the client counts columns.
    pub(super) encoding: Encoding,
    /// The addresses of files.
    pub(super) places: &'p Places,
    /// The addresses of open texts.
    pub(super) texts: &'p Texts,
}

impl LspMapper<'_> {
    /// The address of a file of the compilation. An open text keeps the address that the client gave it.
    pub(super) fn uri(&self, file: FileId) -> Option<lsp::Uri> {
        let name = &self.sources.get(file).name;
        let open = self.texts.named(name).map(|(uri, _)| uri.clone());
        open.or_else(|| self.places.uri(name))
    }

    /// The location of a span; `None` if its file has no address.
    pub(super) fn location(&self, span: Span) -> Option<lsp::Location> {
        let range = self.encoding.range(self.sources, span);
        Some(lsp::Location { uri: self.uri(span.file)?, range })
    }

    /// Converts a finding.
    pub(super) fn finding(&self, found: &Diagnostic) -> lsp::Diagnostic {
        let mut message = visible::text(&found.message).into_owned();
        if let Some(help) = &found.help {
            message = format!("{message}\nhelp: {}", visible::text(help));
        }
        let related = |(span, why): &(Span, String)| {
            let location = self.location(*span)?;
            let message = visible::text(why).into_owned();
            Some(lsp::DiagnosticRelatedInformation { location, message })
        };
        let related: Vec<_> = found.related.iter().filter_map(related).collect();
        lsp::Diagnostic {
            range: self.encoding.range(self.sources, found.span),
            severity: Some(match found.severity {
                Severity::Error => lsp::DiagnosticSeverity::Error,
                Severity::Warning => lsp::DiagnosticSeverity::Warning,
                Severity::Note | Severity::Off => lsp::DiagnosticSeverity::Information,
            }),
            code: Some(lsp::Code::String(found.rule.code.to_owned())),
            code_description: None,
            source: Some("chartc".to_owned()),
            message: lsp::Message::String(message),
            tags: tag(found).map(|tag| vec![tag]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        }
    }
}

/// The tag of a finding: editors fade unnecessary text, and strike out deprecated text.
fn tag(found: &Diagnostic) -> Option<lsp::DiagnosticTag> {
    match found.rule.name {
        name if name.starts_with("unused-") || name.starts_with("needless-") => {
            Some(lsp::DiagnosticTag::Unnecessary)
        }
        "legacy" => Some(lsp::DiagnosticTag::Deprecated),
        _ => None,
    }
    .filter(|_| found.stage != Stage::Syntax)
}
