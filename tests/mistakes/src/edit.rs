//! A change of a text, and where it is.

use std::collections::BTreeSet;
use std::ops::Range;

/// Replacements that are one mistake.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    /// Byte ranges with what stands there instead: ascending, apart.
    parts: Vec<(usize, usize, String)>,
}

/// The text after it.
pub(crate) struct Changed {
    pub(crate) text: String,
    /// Numbers from 1 of the lines that were changed; where lines were taken out, of those around the gap.
    pub(crate) lines: BTreeSet<usize>,
    /// The words that were taken out or replaced.
    pub(crate) lost: BTreeSet<String>,
}

impl Edit {
    pub(crate) fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { parts: vec![(range.start, range.end, with.into())] }
    }

    pub(crate) fn remove(range: Range<usize>) -> Self {
        Self::replace(range, "")
    }

    /// Takes a piece out and puts it in elsewhere.
    pub(crate) fn shift(text: &str, range: Range<usize>, to: usize) -> Self {
        let piece = text[range.clone()].to_owned();
        let mut parts = vec![(range.start, range.end, String::new()), (to, to, piece)];
        parts.sort();
        Self { parts }
    }

    pub(crate) fn apply(&self, text: &str) -> Changed {
        let (mut out, mut lines, mut lost) = (String::new(), BTreeSet::new(), BTreeSet::new());
        let mut at = 0;
        for (start, end, with) in &self.parts {
            out.push_str(&text[at..*start]);
            let first = 1 + out.matches('\n').count();
            out.push_str(with);
            let whole = with.trim_end_matches('\n');
            lines.extend(first..=first + whole.matches('\n').count());
            if with.is_empty() {
                // A line that is gone: the one before it is as near as the one after.
                let gone = &text[*start..*end];
                if gone.ends_with('\n') {
                    lines.insert(first.saturating_sub(1).max(1));
                }
            }
            lost.extend(words(&text[*start..*end]));
            at = *end;
        }
        out.push_str(&text[at..]);
        Changed { text: out, lines, lost }
    }
}

/// The words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !word(c)).filter(|w| w.len() > 1).map(str::to_owned)
}
