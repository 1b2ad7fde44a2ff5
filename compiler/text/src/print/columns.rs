//! Columns: `may` lines that follow each other show their texts, conditions and targets below each other.

use super::out::{Out, WIDTH};

/// A line of columns.
#[derive(Debug)]
pub(super) struct Row {
    /// First byte of the line, indentation included.
    pub(super) start: usize,
    /// One past its last.
    pub(super) end: usize,
    /// Where each column but the last ends.
    pub(super) stops: Vec<usize>,
}

impl Row {
    /// The columns of the line in `text`.
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
    /// A column ends here.
    pub(super) fn stop(&mut self) {
        self.stops.push(self.text.len());
    }

    /// Makes the columns of `rows` as wide as their widest, unless lines would become too long: then a column may reach into an empty
    /// one behind it, and if that does not help either, the lines stay as they are. The rows are the last that were printed, but
    /// perhaps for one item; they are used up.
    pub(super) fn align(&mut self, rows: &mut Vec<Row>) {
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

/// How far a column may reach.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// To where the column behind it begins.
    Own,
    /// Over an empty column behind it, too.
    Empty,
}

/// The lines with blanks behind their columns, so that the next ones stand below each other.
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
