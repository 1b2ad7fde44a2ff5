//! Answers `textDocument/formatting`, as `chartc fmt` formats.

use super::{Refusal, View};
use crate::cli::fmt::{Formatted, formatted};
use chartc_text::front::chart;
use chartc_text::source::Source;
use chartc_text::span::{FileId, Span};
use gen_lsp_types::{DocumentFormattingParams, TextEdit};

/// The edit that formats a text: it replaces the lines that differ. A text with syntax errors gets none.
pub(super) fn whole(
    view: &View<'_>,
    _: DocumentFormattingParams,
) -> Result<Vec<TextEdit>, Refusal> {
    let open = view.uri.and_then(|uri| view.texts.get(uri)).ok_or(Refusal::NotOpen)?;
    if !(chart::FRONTEND.takes)(&open.name) {
        return Ok(Vec::new());
    }
    match formatted(&open.name, &open.source.text) {
        Formatted::Same => Ok(Vec::new()),
        Formatted::Changed(new) => {
            let (span, text) = changed(&open.source, &new);
            let range = view.client.encoding.range_in(&open.source, span);
            Ok(vec![TextEdit { range, new_text: text.to_owned() }])
        }
        // The errors are shown as diagnostics already.
        Formatted::Broken(..) => Ok(Vec::new()),
        Formatted::Failed => Err(Refusal::Panic),
    }
}

/// The lines from the first to the last one that differ, in the old text, and their replacement.
fn changed<'n>(old: &Source, new: &'n str) -> (Span, &'n str) {
    let lines = |text: &str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let (before, after) = (lines(&old.text), lines(new));
    let same = |pair: &(&str, &str)| pair.0 == pair.1;
    let zipped = old.text.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let head = zipped.take_while(same).count();
    let backward = old.text.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    // Lines that are equal at both ends, as in a text of equal lines, must not count twice.
    let most = before.len().min(after.len()) - head;
    let tail = backward.take_while(same).count().min(most);
    let bytes = |lines: &[usize]| lines.iter().sum::<usize>();
    let start = bytes(&before[..head]);
    let end = old.text.len() - bytes(&before[before.len() - tail..]);
    let text = &new[start..new.len() - bytes(&after[after.len() - tail..])];
    (Span::new(FileId::default(), start, end), text)
}
