//! Folds of a YAML document, computed from its indentation: the parser rejects a document that is being edited.

use super::{FoldKind, lines};
use std::ops::Range;

struct YamlLine<'t> {
    start: usize,
    text: &'t str,
    indent: usize,
}

impl YamlLine<'_> {
    fn end(&self) -> usize {
        self.start + self.text.trim_end().len()
    }

    fn is_item(&self) -> bool {
        self.text[self.indent..].starts_with("- ") || self.text.trim() == "-"
    }

    fn is_comment(&self) -> bool {
        self.text[self.indent..].starts_with('#')
    }
}

pub(super) fn folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let all: Vec<YamlLine<'_>> = lines(text)
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(start, line)| YamlLine { start, text: line, indent: indent(line) })
        .collect();
    let mut found = Vec::new();
    // Lines whose parts are not complete, outermost first, each with the end of its part so far.
    let mut open: Vec<(&YamlLine<'_>, usize)> = Vec::new();
    for line in &all {
        while let Some((head, last)) = open.last().copied() {
            // A list may stand at the indentation of its key.
            let inside = line.indent > head.indent
                || line.indent == head.indent && line.is_item() && !head.is_item();
            if inside {
                break;
            }
            open.pop();
            found.push((head.start + head.indent..last, FoldKind::Region));
        }
        for (_, last) in &mut open {
            *last = line.end();
        }
        open.push((line, line.end()));
    }
    found.extend(
        open.iter().map(|(head, last)| (head.start + head.indent..*last, FoldKind::Region)),
    );
    comments(text, &all, &mut found);
    found
}

fn comments(text: &str, all: &[YamlLine<'_>], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    for line in all.iter().filter(|line| line.is_comment()) {
        let own = line.start + line.indent..line.end();
        run = match run.take() {
            Some(last) if text[last.end..own.start].matches('\n').count() == 1 => {
                Some(last.start..own.end)
            }
            last => {
                found.extend(last.map(|last| (last, FoldKind::Comment)));
                Some(own)
            }
        };
    }
    found.extend(run.map(|last| (last, FoldKind::Comment)));
}
