//! Aligns columns: consecutive `may` transitions align their texts, guards and targets.

use super::out::{Out, WIDTH};

/// A printed line with columns.
#[derive(Debug)]
pub(super) struct ColumnLine {
    /// The offset at which the line begins, indentation included.
    pub(super) start: usize,
    /// The offset at which it ends.
    pub(super) end: usize,
    /// The offsets at which its columns end, except the last one.
    pub(super) stops: Vec<usize>,
}

impl ColumnLine {
    /// The texts of the columns, cut out of `text`.
    fn columns<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let starts = std::iter::once(self.start).chain(self.stops.iter().copied());
        let ends = self.stops.iter().copied().chain([self.end]);
        starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

impl Out {
    /// Ends a column of the current line.
    pub(super) fn stop(&mut self) {
        self.stops.push(self.text.len());
    }

    /// Aligns the columns of `rows`. If lines become too long, a column may extend into an empty one after it; if that does not
    /// help, the lines stay as they are. The rows must be the last lines printed, apart from one item. Empties `rows`.
    pub(super) fn align(&mut self, rows: &mut Vec<ColumnLine>) {
        let rows = std::mem::take(rows);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
        let lines: Vec<Vec<&str>> = rows.iter().map(|row| row.columns(&self.text)).collect();
        for reach in [Reach::Own, Reach::Empty] {
            let aligned = aligned(&lines, reach);
            if aligned.iter().all(|line| width(line) <= WIDTH) {
                let (start, end) = (first.start, last.end);
                self.text.replace_range(start..end, &aligned.join("\n"));
                return;
            }
        }
    }
}

/// The distance to which a column may extend.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// To the start of the next column.
    Own,
    /// Over an empty next column, too.
    Empty,
}

/// The lines with blanks added, so that their columns align.
fn aligned(lines: &[Vec<&str>], reach: Reach) -> Vec<String> {
    let mut texts = vec![String::new(); lines.len()];
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    for n in 0..count {
        let ends = |columns: &Vec<&str>| match reach {
            Reach::Own => columns.iter().skip(n).any(|c| !c.is_empty()),
            Reach::Empty => columns.get(n).is_some_and(|c| !c.is_empty()),
        };
        let all = texts.iter().zip(lines).filter(|(_, columns)| ends(columns));
        let stop = all.map(|(text, _)| width(text)).max().unwrap_or(0);
        for (text, columns) in texts.iter_mut().zip(lines).filter(|(_, columns)| ends(columns)) {
            let missing = stop.saturating_sub(width(text));
            text.extend(std::iter::repeat_n(' ', missing));
            text.push_str(columns.get(n).copied().unwrap_or_default());
        }
    }
    texts
}
