//! Answers requests for declarations, uses and renaming. References and renames cover all files below the open folder, whether they
//! are open in the editor or not.

use super::{Refusal, View};
use crate::Compilation;
use crate::editor::names;
use chartc_text::span::{FileId, Span};
use gen_lsp_types as lsp;
use std::collections::{BTreeMap, HashMap};

/// The source of a file, and the offset of a position in it.
pub(super) fn place<'d>(
    view: &View<'_>,
    done: &'d Compilation,
    file: FileId,
    position: lsp::Position,
) -> (&'d chartc_text::source::Source, u32) {
    let source = done.sources.get(file);
    (source, view.client.encoding.offset(source, position))
}

pub(super) fn definition(
    view: &View<'_>,
    params: lsp::DefinitionParams,
) -> Result<Vec<lsp::Location>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (_, offset) = place(view, done, file, position);
    let mapper = view.mapper(done);
    let found = names::definition(done, file, offset as usize);
    Ok(found.into_iter().filter_map(|span| mapper.location(span)).collect())
}

pub(super) fn references(
    view: &View<'_>,
    params: lsp::ReferenceParams,
) -> Result<Vec<lsp::Location>, Refusal> {
    let (own, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, own, file, position);
    let with_declaration = params.context.include_declaration;
    let all = view.everything();
    // In the compilation of the whole folder the file has another id. If its text there differs, offsets would not fit.
    let same = all.as_ref().and_then(|all| {
        let mut sources = all.sources.iter();
        let (file, _) =
            sources.find(|(_, one)| one.name == source.name && one.text == source.text)?;
        Some((all, file))
    });
    let (done, file) = same.unwrap_or((own, file));
    let mapper = view.mapper(done);
    let found: Vec<Span> = names::references(done, file, offset as usize, with_declaration);
    Ok(found.into_iter().filter_map(|span| mapper.location(span)).collect())
}

pub(super) fn highlight(
    view: &View<'_>,
    params: lsp::DocumentHighlightParams,
) -> Result<Vec<lsp::DocumentHighlight>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let found = names::highlights(done, file, offset as usize);
    let shown = |one: names::Highlight| lsp::DocumentHighlight {
        range: view.client.encoding.range_in(source, one.at),
        kind: Some(if one.is_write {
            lsp::DocumentHighlightKind::Write
        } else {
            lsp::DocumentHighlightKind::Read
        }),
    };
    Ok(found.into_iter().map(shown).collect())
}

pub(super) fn prepare(
    view: &View<'_>,
    params: lsp::PrepareRenameParams,
) -> Result<lsp::PrepareRenamePlaceholder, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let (at, name) = names::prepare_rename(done, file, offset as usize)
        .map_err(|why| Refusal::Impossible(why.to_string()))?;
    let range = view.client.encoding.range_in(source, at);
    Ok(lsp::PrepareRenamePlaceholder { range, placeholder: name })
}

pub(super) fn rename(
    view: &View<'_>,
    params: lsp::RenameParams,
) -> Result<lsp::WorkspaceEdit, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (_, offset) = place(view, done, file, position);
    let overlay = view.overlay()?;
    let others = view.names();
    let renaming = names::rename(done, file, offset as usize, &params.new_name, &others, &overlay)
        .map_err(|why| Refusal::Impossible(why.to_string()))?;
    for note in &renaming.notes {
        view.tell(note.to_string());
    }
    let mut edits = BTreeMap::new();
    for changed in renaming.edits {
        let source = view.source(&changed.file, &overlay)?;
        let edit = |one: names::TextEdit| {
            let span = Span::new(FileId::default(), one.range.start, one.range.end);
            let range = view.client.encoding.range_in(&source, span);
            lsp::TextEdit { range, new_text: one.text }
        };
        let own: Vec<lsp::TextEdit> = changed.edits.into_iter().map(edit).collect();
        edits.insert(changed.file, own);
    }
    view.workspace_edit(edits)
}

impl View<'_> {
    /// Converts edits, by the names of files, to the form that the client takes.
    ///
    /// # Errors
    /// A file name cannot be written as an address.
    pub(super) fn workspace_edit(
        &self,
        edits: BTreeMap<String, Vec<lsp::TextEdit>>,
    ) -> Result<lsp::WorkspaceEdit, Refusal> {
        let mut changes = Vec::new();
        for (name, edits) in edits {
            let open = self.texts.named(&name);
            let version = open.map(|(_, open)| open.version);
            // For an open text, use the client's own spelling of the address: others may mean the same file.
            let uri = open.map(|(uri, _)| uri.clone()).or_else(|| self.places.uri(&name));
            let uri = uri.ok_or_else(|| Refusal::Impossible(format!("{name} is in no file")))?;
            changes.push((uri, version, edits));
        }
        if !self.client.versioned_edits {
            let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits));
            let changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = changes.collect();
            return Ok(lsp::WorkspaceEdit {
                changes: Some(changes),
                ..lsp::WorkspaceEdit::default()
            });
        }
        let versioned = changes.into_iter().map(|(uri, version, edits)| {
            let identifier = lsp::TextDocumentIdentifier { uri };
            lsp::DocumentChange::TextDocumentEdit(lsp::TextDocumentEdit {
                text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                    version,
                    text_document_identifier: identifier,
                },
                edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
            })
        });
        let document_changes = Some(versioned.collect());
        Ok(lsp::WorkspaceEdit { document_changes, ..lsp::WorkspaceEdit::default() })
    }
}
